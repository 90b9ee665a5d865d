"""Searches of which a part of the rows chooses, and lists that tell nothing of a few people."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import SpecError

FEATURES = ["sex", "town", "branch", "age"]
ASKED = {"label": "y", "prediction": "p", "positive": 1, "rate": "false_positive_rate",
         "features": FEATURES}  # fmt: skip


def people(rows=6_000, seed=1, worse=0.3):
    """Rows of which nearly each town has one branch of its own, and one subgroup is worse."""
    rng = np.random.default_rng(seed)
    sex, town = rng.choice(["F", "M"], rows), rng.integers(0, 6, rows)
    branch = np.where(rng.random(rows) < 0.005, rng.integers(0, 6, rows), town)
    rate = 0.1 + worse * ((sex == "F") & (town == 2))
    return pl.DataFrame({
        "sex": sex, "town": [f"t{each}" for each in town],
        "branch": [f"b{each}" for each in branch], "age": rng.choice(["old", "young"], rows),
        "y": np.zeros(rows, dtype=int), "p": (rng.random(rows) < rate).astype(int),
    })  # fmt: skip


PEOPLE = people()


def rows_of(conditions):
    return PEOPLE.filter(*(pl.col(name) == value for name, value in conditions.items())).height


def close_by_hand(listed, few):
    """Return the names of subgroups that differ by few rows from all, or from a listed one."""
    held = {frozenset(each.conditions.items()): rows_of(each.conditions) for each in listed}
    held[frozenset()] = PEOPLE.height
    return {
        each.name
        for each in listed
        for k in range(len(each.conditions))
        for some in itertools.combinations(each.conditions.items(), k)
        if 0 < held.get(frozenset(some), 0) - rows_of(each.conditions) < few
    }


def test_a_list_states_how_many_subgroups_differ_from_another_by_few():
    found = fg.find(PEOPLE, **ASKED)
    expected = close_by_hand((*found.worse, *found.undecided), 10)
    assert found.close == len(expected) > 10
    text = f"{found.close:,} subgroups differ from a listed one, or from all, by fewer than 10 rows"
    assert text in " ".join(str(found).split())
    apart = fg.find(PEOPLE, **{**ASKED, "features": ["sex", "town", "age"]})
    assert apart.close == 0
    assert "by fewer than 10" not in str(apart)


@pytest.mark.parametrize("worse", ["higher", "lower"])
@pytest.mark.parametrize("min_cell", [7, 25])
def test_a_list_that_may_be_shared_tells_nothing_of_few_people(min_cell, worse):
    exact = fg.find(PEOPLE, **ASKED, worse=worse, min_rows=max(20, min_cell))
    found = fg.find(PEOPLE, **ASKED, worse=worse, min_cell=min_cell)
    listed = (*found.worse, *found.undecided)
    assert found.close > 0
    assert len(listed) == len(exact.worse) + len(exact.undecided) - found.close
    assert close_by_hand(listed, min_cell) == set()
    assert found.question.min_rows == max(20, min_cell)
    by_name = {each.name: each for each in (*exact.worse, *exact.undecided)}
    for each in listed:
        whole = by_name[each.name]
        for name in ("rows", "n", "events"):
            count = getattr(each, name)
            assert count % min_cell == 0
            assert abs(count - getattr(whole, name)) <= min_cell / 2
        assert each.rate == round(whole.rate, 2)
        assert whole.low - 0.01 <= each.low <= whole.low
        assert whole.high <= each.high <= whole.high + 0.01
    for mark in found.funnel.marks:
        assert mark.n % min_cell == 0
    assert found.overall.rows % min_cell == found.data.rows % min_cell == 0
    assert {each.explained_by for each in found.worse} <= {None, *(e.name for e in found.worse)}
    if worse == "higher":
        assert found.summary
        assert found.largest.guaranteed in {each.name for each in found.worse}
        assert found.largest.by_at_least <= exact.largest.by_at_least
    assert f"rounded to multiples of {min_cell}" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_cell": 1}, "min_cell: must be a number of at least 2"),
    ],
)
def test_mistakes_are_refused(options, message):
    with pytest.raises(SpecError, match=message):
        fg.find(PEOPLE, **{**ASKED, **options})
