"""Intervals with closed left edges: counts and metrics of single rows are those of a column."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg

AGES = st.lists(st.integers(38, 42) | st.none(), min_size=12, max_size=30)


def table(ages):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": pd.Series(ages, dtype="float64")})
    frame["y"] = np.resize([0, 1, 1], len(ages))
    frame["p"] = np.resize([1, 0, 1, 1], len(ages))
    frame["x"] = rng.random(len(ages))
    older = frame.age >= 40
    frame["older"] = older.map({True: "[40, inf)", False: "[-inf, 40)"}).where(frame.age.notna())
    return frame


@given(AGES)
def test_a_cut_is_the_column_that_it_makes(ages):
    frame = table(ages)
    asked = {
        "label": "y",
        "prediction": "p",
        "features": ["x"],
        "metrics": ["DI", "RD", "FT", "CI"],
    }
    cut = fg.audit(frame, sensitive=fg.cut("age", 40, closed="left"), **asked)
    column = fg.audit(frame, sensitive="older", **asked)
    values = {(e.metric, e.group): (e.value, e.status) for e in column.estimates}
    for each in cut.estimates:
        if (each.metric, each.group) in values:  # an empty interval is a group of a cut alone
            assert (each.value, each.status) == values[each.metric, each.group]
    assert {g.group: g.n for g in cut.groups if g.n} == {g.group: g.n for g in column.groups}


def test_both_edges_in_a_cube_are_two_questions():
    frame = table([39, 40, 41, 40] * 3)
    left, right = (
        fg.count(frame, label="y", sensitive=fg.cut("age", 40, closed=edge))
        for edge in ("left", "right")
    )
    assert left != right
    with pytest.raises(fg.CubeError, match=r"^these cubes|sensitive is"):
        left + right


def test_a_column_of_known_groups_has_any_name():
    asked = fg.probabilities(F="p_f", M="p_m", known="unknown").to_dict()
    assert asked["known"] == "unknown"
