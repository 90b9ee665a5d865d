"""The summary of a search: the subgroups by which the others are worse, and no wider ones."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

ASKED = {"prediction": "p", "positive": 1, "rate": "selection_rate", "worse": "higher"}
FEATURES = ["race", "branch", "sex", "age"]


def counts(black_here, black_elsewhere, n, branches, rate):
    """Return counts in which black people of branch B0 alone are worse, of others a tenth is.

    Exactly: ``n`` people in every branch, sex and age, of whom that share is black.
    """
    rows = []
    for branch in range(branches):
        black = round(n * (black_elsewhere if branch else black_here))
        for race, size, p in (("black", black, 0.1 if branch else rate), ("white", n - black, 0.1)):
            worse = round(size * p)
            rows += [(race, f"B{branch}", s, a, 1, worse) for s in "FM" for a in "ymo"]
            rows += [(race, f"B{branch}", s, a, 0, size - worse) for s in "FM" for a in "ymo"]
    return pl.DataFrame(rows, schema=[*FEATURES, "p", "n"], orient="row")


@pytest.mark.parametrize(
    "table", [(0.7, 0.1, 40, 6, 0.3), (0.7, 0.05, 40, 10, 0.3), (0.7, 0.05, 40, 3, 0.3)]
)
@pytest.mark.parametrize("features", [FEATURES, FEATURES[::-1]])
def test_where_two_features_overlap_alone_neither_is_named(table, features):
    """Most of the people of B0 are black, or most black people are in B0."""
    found = fg.find(counts(*table), features=features, count="n", **ASKED)
    parents = {"race = black", "branch = B0"}
    assert parents & {each.name for each in found.worse}
    (name,) = found.summary
    assert set(name.split(" & ")) == parents


def people(rng, n, rate):
    """Return people of whom most in one branch are black, where the others are a third."""
    branch = rng.integers(0, 12, n)
    black = rng.random(n) < np.where(branch == 7, 0.7, 0.3)
    return pl.DataFrame({
        "race": np.where(black, "black", "white"),
        "branch": [f"B{each:02}" for each in branch],
        "sex": rng.choice(["F", "M"], n),
        "age": rng.choice(["y", "m", "o"], n),
        "p": (rng.random(n) < rate(black, branch == 7)).astype(int),
    })  # fmt: skip


CELL, BLACK, BRANCH = "race = black & branch = B07", "race = black", "branch = B07"
LAWS = {
    "the overlap": (lambda black, here: np.where(black & here, 0.4, 0.1), {CELL}),
    "one feature": (lambda black, here: np.where(black, 0.2, 0.1), {BLACK}),
    "the other": (lambda black, here: np.where(here, 0.3, 0.1), {BRANCH}),
    "both": (lambda black, here: 0.1 + 0.12 * black + 0.2 * here, {BLACK, BRANCH}),
    "one and the overlap": (lambda black, here: 0.1 + 0.1 * black + 0.5 * (black & here),
                            {BLACK, CELL}),
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_no_order_and_no_name_decides_the_summary(law):
    frame = people(np.random.default_rng(32), 3_000, LAWS[law][0])
    found = fg.find(frame, features=FEATURES, **ASKED)
    other_names = {"black": "w", "white": "x", "F": "z", "M": "a"}
    again = fg.find(
        frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
            pl.col("race", "sex").replace(other_names)
        ),
        features=FEATURES[::-1],
        **ASKED,
    )
    expected = [
        {(feature, other_names.get(value, value)) for feature, value in each.conditions.items()}
        for each in found.worse
        if each.explained_by is None
    ]
    members = [set(each.conditions.items()) for each in again.worse if each.explained_by is None]
    assert sorted(map(sorted, members)) == sorted(map(sorted, expected))
