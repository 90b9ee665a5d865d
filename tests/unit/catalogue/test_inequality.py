"""Benefits and standardised differences; every number by hand."""

import math
from typing import Any

import numpy as np
import pytest

import fairgauge as fg

COUNTS = {
    "a": {"tp": 4, "fp": 3, "fn": 1, "tn": 2},
    "b": {"tp": 5, "fp": 0, "fn": 3, "tn": 7},
    "c": {"tp": 1, "fp": 2, "fn": 0, "tn": 2},
}
BENEFIT = {"tp": 1, "fp": 2, "fn": 0, "tn": 1}


def benefits() -> list[tuple[str, int]]:
    return [
        (group, BENEFIT[cell])
        for group, cells in COUNTS.items()
        for cell, n in cells.items()
        for _ in range(n)
    ]


def entropy(values: list[float], alpha: float) -> float:
    mean = sum(values) / len(values)
    shares = [v / mean for v in values]
    if alpha == 1:
        return sum(s * math.log(s) for s in shares if s) / len(shares)
    return sum(s**alpha - 1 for s in shares) / (len(shares) * alpha * (alpha - 1))


def values(*metrics: str) -> dict[str, Any]:
    report = fg.audit(fg.confusion("g", COUNTS), metrics=list(metrics))
    return {e.metric: e.value for e in report.estimates}


@pytest.mark.parametrize("alpha", [1, 2, 3, 0.5])
def test_between_groups_is_the_entropy_of_their_means(alpha: float) -> None:
    names = [
        f"{name}(alpha={alpha})"
        for name in ("generalized_entropy", "between_group_generalized_entropy")
    ]
    whole, between = (values(*names)[name] for name in names)
    own = [float(b) for _, b in benefits()]
    assert whole == pytest.approx(entropy(own, alpha), rel=1e-12)
    of_group = {g: [b for h, b in benefits() if h == g] for g in COUNTS}
    smoothed = [sum(of_group[g]) / len(of_group[g]) for g, _ in benefits()]
    assert between == pytest.approx(entropy(smoothed, alpha), rel=1e-12)


LENDING = {"Black": (1065, 1337), "White": (13142, 14461), "Asian": (1224, 1286), "NA": (81, 94)}
"""Approvals and applicants of a sample of published mortgage data."""


def lending(**options: object) -> fg.Report:
    counts = {name: {"tp": yes, "tn": n - yes} for name, (yes, n) in LENDING.items()}
    return fg.audit(fg.confusion("race", counts), metrics="selection_smd_overall", **options)


@pytest.mark.parametrize("group", ["Black", "Asian", "NA"])
def test_the_smd_of_fair_lending_divides_by_the_deviation_of_all_applicants(group: str) -> None:
    """100 (mean_g - mean_ref) / SD of all: the applicants of every other group are among all."""
    every = [np.repeat([1.0, 0.0], [yes, n - yes]) for yes, n in LENDING.values()]
    (yes, n), (others, m) = LENDING[group], LENDING["White"]
    found = lending(reference="largest")["selection_smd_overall", "race", group]
    deviation = np.concatenate(every).std()
    assert found.value == pytest.approx(100 * (yes / n - others / m) / deviation, rel=1e-12)
    assert found.interval.low < found.value < found.interval.high


def test_an_index_of_inequality_has_an_interval_but_no_p_value() -> None:
    """It is 0 for a perfect prediction alone, so that a test of 0 would reject all others."""
    names = ["GE", "theil_index", "coefficient_of_variation"]
    table = fg.confusion("g", {"a": {"tp": 30, "fn": 10}, "b": {"fp": 20, "tn": 60}})
    estimates = fg.audit(table, metrics=names).estimates
    assert sorted(each.metric for each in estimates) == sorted(names)
    assert all(each.interval and each.interval.low > 0 for each in estimates)
    assert {each.p_value for each in estimates} == {None}


def test_both_directions_of_kl_are_one_test() -> None:
    table = fg.confusion("g", {"a": {"tp": 30, "fn": 10, "tn": 20}, "b": {"tp": 25, "tn": 60}})
    a, b = (fg.audit(table, metrics="KL")["KL", "g", group] for group in "ab")
    assert a.value != pytest.approx(b.value)
    assert a.p_value is not None
    assert a.p_value == pytest.approx(a.p_adjusted)
    assert a.p_adjusted == pytest.approx(b.p_adjusted)


def test_entropy_of_order_0_is_the_mean_log_deviation() -> None:
    counts = {"a": {"tp": 4, "fp": 3, "tn": 2}, "b": {"tp": 5, "fp": 1, "tn": 7}}
    values = [BENEFIT[cell] for cells in counts.values() for cell, n in cells.items()
              for _ in range(n)]  # fmt: skip
    mean = sum(values) / len(values)
    by_hand = -sum(math.log(value / mean) for value in values) / len(values)
    asked = "generalized_entropy(0)"
    (found,) = fg.audit(fg.confusion("g", counts), metrics=asked).estimates
    assert found.value == pytest.approx(by_hand)
    assert fg.metric(asked).formula.startswith("-mean(ln(b / mean(b)))")
