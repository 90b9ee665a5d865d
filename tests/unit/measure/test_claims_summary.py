"""The summary of a search: the subgroups that account for the others."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

ASKED = {"prediction": "p", "positive": 1, "metrics": "selection_rate", "worse": "higher"}
FEATURES = ["race", "branch", "sex", "age"]


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
    found = fg.find(frame, sensitive=FEATURES, **ASKED)
    other_names = {"black": "w", "white": "x", "F": "z", "M": "a"}
    again = fg.find(
        frame.sample(fraction=1, shuffle=True, seed=1).with_columns(
            pl.col("race", "sex").replace(other_names)
        ),
        sensitive=FEATURES[::-1],
        **ASKED,
    )
    expected = [
        {(feature, other_names.get(value, value)) for feature, value in each.conditions.items()}
        for each in found.worse
        if each.explained_by is None
    ]
    members = [set(each.conditions.items()) for each in again.worse if each.explained_by is None]
    assert sorted(map(sorted, members)) == sorted(map(sorted, expected))
