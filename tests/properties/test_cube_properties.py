"""Cubes of one plan are a commutative monoid, and counting shards is counting the whole."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.cube.build import Counted, build, code_values
from fairgauge.cube.cube import Cube, read_cube
from fairgauge.cube.plan import plan
from fairgauge.question.specification import ask
from fairgauge.scan import open_source

VALUES = st.sampled_from(["a", "b", "c ", "", None])
NUMBERS = st.sampled_from([0, 1, 2, 2.5, None])
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 2.25, None])
ROWS = st.lists(st.tuples(VALUES, NUMBERS, NUMBERS, WEIGHTS), min_size=1, max_size=30)
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "weight": "w"}
PLAN = plan(ask(**ASKED))
NONE = {"rows": np.zeros(0), "w": np.zeros(0), "w2": np.zeros(0)}
EMPTY = build(PLAN, [Counted([code_values(axis, []) for axis in PLAN.axes], NONE)], rows=0)


def frame(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    columns = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=object)
            for name, values in zip("gypw", columns, strict=True)
        }
    )


def count(rows: list[tuple[object, ...]]) -> Cube:
    """Count rows; a row that is sure to have a weight goes with them, as none may have one."""
    return open_source(frame([*rows, ("z", 1, 1, 1.0)])).count(PLAN, 1_000)


@pytest.mark.filterwarnings("ignore::fairgauge.errors.DuplicateCountsWarning")
@given(ROWS, ROWS, ROWS)
def test_adding_is_associative_and_commutative(one, two, three):
    a, b, c = count(one), count(two), count(three)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).digest == (b + a).digest


@given(ROWS)
def test_the_cube_of_no_rows_changes_nothing(rows):
    assert count(rows) + EMPTY == count(rows)


@given(ROWS, st.data())
def test_shards_add_up_to_the_whole(rows, data):
    cut = data.draw(st.integers(0, len(rows)))
    last = [("z", 1, 1, 1.0)]
    assert count(rows[:cut]) + count(rows[cut:]) == count(rows + last)


@given(ROWS)
def test_a_file_holds_all_of_a_cube(rows):
    cube = count(rows)
    assert read_cube(cube.to_json(), "file") == cube


@given(ROWS)
def test_marginals_keep_the_sums(rows):
    cube = count(rows)
    for axis in cube.plan.axes:
        table = cube.marginal([axis])
        for measure, sums in table.sums.items():
            assert abs(sums.sum() - cube.tables[0].sums[measure].sum()) < 1e-9


TEXTS = st.lists(st.sampled_from(["1", "2", "x", ""]), min_size=1, max_size=8)


@given(TEXTS, TEXTS)
def test_csv_shards_add_up_whatever_they_look_like_alone(tmp_path_factory, one, two):
    folder = tmp_path_factory.mktemp("shards")

    def csv(name: str, values: list[str]) -> str:
        path = folder / name
        path.write_text("g,y\n" + "".join(f"{value},1\n" for value in values))
        return str(path)

    asked = {"label": "y", "sensitive": "g"}
    added = fg.count(csv("1.csv", one), **asked) + fg.count(csv("2.csv", two), **asked)
    assert added == fg.count(csv("3.csv", one + two), **asked)
