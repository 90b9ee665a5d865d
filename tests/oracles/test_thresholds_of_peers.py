"""Thresholds by group, and weights for retraining, against fairlearn, error-parity and AIF360.

fairlearn and error-parity may decide at random between two thresholds of a group, so that they meet
a constraint exactly; thresholds of fairgauge decide every row. So with the same disparity allowed
theirs are at least as accurate, and with as much as their thresholds have without randomness, ours.
Both halves of so many rows are alike, so that what is chosen in one holds in the other.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from vendor import FOLDER

import fairgauge as fg

TABLES = ("scores_alike", "scores_apart")
CONSTRAINTS = {
    "demographic_parity": "selection_rate",
    "true_positive_rate_parity": "true_positive_rate",
    "false_positive_rate_parity": "false_positive_rate",
}
"""The constraints on one rate, which a goal can state, and that rate."""
MANY = 2_000_000
"""Cases that every row stands for."""
ALIKE = 5e-4
"""How much more is allowed, because two halves are not quite the same and keep a margin."""


def read(name: str) -> tuple[pl.DataFrame, Any]:
    """Return the rows of a table, and what every tool makes of them."""
    found = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    frame = pl.DataFrame(found["table"]["counts"], schema=found["table"]["columns"], orient="row")
    return frame, found["results"]


def accuracy(frame: pl.DataFrame, rate: str, allowed: float) -> float:
    """Return the accuracy of the most accurate thresholds by group within a disparity."""
    allowed += ALIKE
    return accuracy_of(frame, f"-{allowed} <= {rate}.difference <= {allowed}")


def accuracy_of(frame: pl.DataFrame, goal: str) -> float:
    """Return the accuracy of the most accurate thresholds by group that meet a goal."""
    found = fg.thresholds(
        frame.with_columns(n=pl.col("n") * MANY), label="label", score="score", sensitive="group",
        count="n", rules=goal, margins={"accuracy": 0.999},
    )  # fmt: skip
    effect = found["group"].by_group
    assert effect is not None
    assert effect.value_meets
    return effect.performance.new


def without_randomness(frame: pl.DataFrame, rate: str, thresholds: Any) -> tuple[float, float]:
    """Return accuracy and disparity where every group takes the better of its two thresholds."""
    rates, right = [], 0
    for group, each in thresholds.items():
        of_group = frame.filter(group=group)
        best = max(each["above"], key=lambda above: correct(of_group, above))
        right += correct(of_group, best)
        among = {"true_positive_rate": [1], "false_positive_rate": [0]}.get(rate, [0, 1])
        inside = of_group.filter(pl.col("label").is_in(among))
        rates.append(inside.filter(pl.col("score") > best)["n"].sum() / inside["n"].sum())
    return right / frame["n"].sum(), max(rates) - min(rates)


def correct(frame: pl.DataFrame, above: float) -> int:
    """Return the rows that are decided as their label is."""
    return int(frame.filter((pl.col("score") > above) == (pl.col("label") == 1))["n"].sum())


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_as_accurate_as_fairlearn_at_the_disparity_of_its_thresholds(
    table: str, constraint: str
) -> None:
    frame, results = read(table)
    theirs, rate = results["fairlearn"][constraint], CONSTRAINTS[constraint]
    decided, disparity = without_randomness(frame, rate, theirs["thresholds"])
    assert decided >= theirs["accuracy"] - 1e-9
    ours = accuracy(frame, rate, disparity)
    assert ours >= decided - ALIKE
    assert ours >= theirs["accuracy"] - ALIKE


@pytest.mark.parametrize("table", TABLES)
def test_equalized_odds_as_accurate_as_fairlearn_without_its_randomness(table: str) -> None:
    """Fairlearn ignores the score of some rows at random, so that both rates are just equal."""
    frame, results = read(table)
    theirs = results["fairlearn"]["equalized_odds"]
    assert any(each["ignored"] > 0 for each in theirs["thresholds"].values())
    gaps = [
        without_randomness(frame, rate, theirs["thresholds"])
        for rate in ("true_positive_rate", "false_positive_rate")
    ]
    decided, largest = gaps[0][0], max(gap for _, gap in gaps)
    ours = accuracy_of(frame, f"worst_odds <= {largest + ALIKE}")
    assert ours >= decided - ALIKE
    assert ours >= theirs["accuracy"] - ALIKE
    assert accuracy_of(frame, f"worst_odds <= {largest / 2}") <= ours + ALIKE


@pytest.mark.parametrize("table", TABLES)
def test_the_frontier_of_equalized_odds_is_that_of_error_parity_less_its_randomness(
    table: str,
) -> None:
    frame, results = read(table)
    frontier = results["error_parity"]["equalized_odds"]
    reached = [accuracy_of(frame, f"worst_odds <= {each['tolerance']}") for each in frontier[2:]]
    best = [1 - each["error_rate"] for each in frontier[2:]]
    assert all(ours <= theirs + ALIKE for ours, theirs in zip(reached, best, strict=True))
    assert min(np.diff(reached)) > -ALIKE
    assert reached[-1] == pytest.approx(best[-1], abs=ALIKE)


@pytest.mark.parametrize("table", TABLES)
def test_fairlearn_meets_its_constraints_by_decisions_at_random(table: str) -> None:
    """Nowhere do both groups have one threshold; ours decide equal rows equally."""
    _, results = read(table)
    for constraint, found in results["fairlearn"].items():
        chances = [
            min(each["chances"]) > 1e-6 or each["ignored"] > 0
            for each in found["thresholds"].values()
        ]
        assert any(chances), constraint


@pytest.mark.one_in(3)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_frontier_is_that_of_error_parity_less_its_randomness(
    table: str, constraint: str
) -> None:
    """At most as accurate at every disparity, and equally where no constraint binds."""
    frame, results = read(table)
    rate = CONSTRAINTS[constraint]
    frontier = results["error_parity"][constraint]
    reached = [accuracy(frame, rate, each["tolerance"]) for each in frontier[1:]]
    best = [1 - each["error_rate"] for each in frontier[1:]]
    assert all(ours <= theirs + ALIKE for ours, theirs in zip(reached, best, strict=True))
    assert min(np.diff(reached)) > -ALIKE
    assert reached[-1] == pytest.approx(best[-1], abs=ALIKE)


@pytest.mark.parametrize("table", TABLES)
def test_error_parity_and_fairlearn_agree_where_nothing_is_tolerated(table: str) -> None:
    _, results = read(table)
    for constraint, found in results["fairlearn"].items():
        exactly = results["error_parity"][constraint][0]
        assert 1 - exactly["error_rate"] == pytest.approx(found["accuracy"], abs=5e-4)


@pytest.mark.parametrize("table", TABLES)
def test_weights_are_those_of_aif360(table: str) -> None:
    frame, results = read(table)
    for name, weight in (("plain", None), ("weighted", "weight")):
        found = fg.thresholds(
            frame, label="label", score="score", sensitive="group", count="n", weight=weight,
            rules="selection_rate.ratio >= 0.8",
        )  # fmt: skip
        for group, theirs in results["aif360"][name].items():
            assert found["group"].reweighing[group] == pytest.approx(theirs, rel=1e-12)
