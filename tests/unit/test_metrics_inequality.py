"""Benefits, populations and standardised differences; every number by hand."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
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
def test_between_and_within_make_the_whole(alpha: float) -> None:
    names = [
        f"{name}(alpha={alpha})"
        for name in (
            "generalized_entropy",
            "between_group_generalized_entropy",
            "within_group_generalized_entropy",
        )
    ]
    whole, between, within = (values(*names)[name] for name in names)
    own = [float(b) for _, b in benefits()]
    assert whole == pytest.approx(entropy(own, alpha), rel=1e-12)
    of_group = {g: [b for h, b in benefits() if h == g] for g in COUNTS}
    smoothed = [sum(of_group[g]) / len(of_group[g]) for g, _ in benefits()]
    assert between == pytest.approx(entropy(smoothed, alpha), rel=1e-12)
    assert within == pytest.approx(whole - between, rel=1e-12)
    mean = sum(own) / len(own)
    inside = sum(
        len(of) / len(own) * (sum(of) / len(of) / mean) ** alpha * entropy(of, alpha)
        for of in of_group.values()
    )
    assert within == pytest.approx(inside, rel=1e-10)


def test_relatives_of_entropy() -> None:
    own = [float(b) for _, b in benefits()]
    found = values("theil_index", "coefficient_of_variation", "atkinson", "GE")
    assert found["theil_index"] == pytest.approx(entropy(own, 1), rel=1e-12)
    assert found["GE"] == pytest.approx(entropy(own, 2), rel=1e-12)
    assert found["coefficient_of_variation"] == pytest.approx(math.sqrt(2 * found["GE"]), rel=1e-12)
    mean = sum(own) / len(own)
    atkinson = 1 - (sum(math.sqrt(b) for b in own) / len(own)) ** 2 / mean
    assert found["atkinson"] == pytest.approx(atkinson, rel=1e-12)


def test_representation_against_counts_and_shares() -> None:
    table = fg.confusion("g", {"a": {"tp": 30}, "b": {"tp": 60}, "c": {"tn": 10}})
    for population in ({"a": 200, "b": 200, "c": 400}, {"a": 0.25, "b": 0.25, "c": 0.5}):
        report = fg.audit(table, population={"g": population}, metrics="all")
        difference, ratio = (
            {e.group: e.value for e in report.estimates if e.metric == f"representation.{by}"}
            for by in ("difference", "ratio")
        )
        expected = {"a": 0.05, "b": 0.35, "c": -0.4}
        assert difference == {g: pytest.approx(v, rel=1e-12) for g, v in expected.items()}
        assert ratio == {"a": pytest.approx(1.2), "b": pytest.approx(2.4), "c": pytest.approx(0.2)}


def test_standardised_mean_differences() -> None:
    frame = pl.DataFrame(
        {"g": ["a", "a", "a", "b", "b", "b"], "y": [1.0, 2, 3, 2, 4, 6], "p": [1.0, 3, 5, 2, 2, 8]}
    )
    report = fg.audit(
        frame,
        label="y",
        prediction="p",
        sensitive="g",
        metrics=["label_smd", "prediction_smd"],
        task="regression",
    )
    assert report["label_smd", "g", "a"].value == pytest.approx(-2 / math.sqrt(2.5), rel=1e-12)
    assert report["prediction_smd", "g", "a"].value == pytest.approx(-1 / math.sqrt(8), rel=1e-12)


def test_standardised_difference_of_selection() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "tn": 1}, "b": {"fp": 2, "tn": 6}})
    found = fg.audit(table, metrics="selection_smd")["selection_smd", "g", "a"]
    spread = math.sqrt((4 * 0.75 * 0.25 + 8 * 0.25 * 0.75) / 10)  # sums of squares over n - 2
    assert found.value == pytest.approx(0.5 / spread, rel=1e-12)
    assert found.says.startswith("a: selection rate 0.75 vs 0.25 for others, ")


def test_an_index_of_inequality_has_an_interval_but_no_p_value() -> None:
    """It is 0 for a perfect prediction alone, so that a test of 0 would reject all others."""
    names = ["GE", "theil_index", "coefficient_of_variation", "atkinson"]
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
    assert a.p_value == a.p_adjusted == pytest.approx(b.p_adjusted)


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
