"""Several classes: averages over them, kappa, the worst of them; every number by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import fairgauge as fg

#            prediction:  a  b  c     label
TABLES = {
    "G": {"a": (3, 1, 0), "b": (1, 4, 0), "c": (0, 1, 0)},
    "H": {"a": (2, 0, 2), "b": (0, 2, 0), "c": (1, 0, 3)},
}
"""Rows by group, label and prediction; nobody in G is predicted c."""


@pytest.fixture(scope="module")
def report() -> fg.Report:
    rows = [
        {"g": g, "y": label, "p": prediction}
        for g, by_label in TABLES.items()
        for label, counts in by_label.items()
        for prediction, n in zip("abc", counts, strict=True)
        for _ in range(n)
    ]
    return fg.audit(
        pl.DataFrame(rows),
        label="y",
        prediction="p",
        sensitive="g",
        reference={"g": "H"},
        metrics="all",
        task="multiclass",
    )


def rates(report: fg.Report, group: str, class_: str | None) -> dict[str, Any]:
    (found,) = [g for g in report.groups if (g.group, g.class_) == (group, class_)]
    return {name: rate.value for name, rate in found.rates.items()}


def one(report: fg.Report, metric: str, class_: str | None) -> Any:
    (found,) = [e for e in report.estimates if (e.metric, e.class_) == (metric, class_)]
    return found


def test_macro_leaves_out_the_class_in_which_it_is_undefined(report: fg.Report) -> None:
    assert rates(report, "G", "c")["positive_predictive_value"] is None
    macro = rates(report, "G", "macro")["positive_predictive_value"]
    assert macro == pytest.approx((3 / 4 + 4 / 6) / 2, rel=1e-15)


def test_micro_sums_the_cells_and_weighted_weighs_by_labels(report: fg.Report) -> None:
    assert rates(report, "G", "micro")["positive_predictive_value"] == pytest.approx(7 / 10)
    recall = rates(report, "G", "weighted")["true_positive_rate"]
    assert recall == pytest.approx((4 * 3 / 4 + 5 * 4 / 5 + 0) / 10, rel=1e-15)
    precision = rates(report, "G", "weighted")["positive_predictive_value"]
    assert precision == pytest.approx((4 * 3 / 4 + 5 * 4 / 6) / 9, rel=1e-15)


def test_accuracy_of_all_classes(report: fg.Report) -> None:
    assert rates(report, "G", None)["accuracy"] == 0.7
    assert one(report, "accuracy.difference", None).value == pytest.approx(0.0, abs=1e-15)
    gap = one(report, "true_positive_rate.largest_gap", "macro")
    ours = (Fraction(3, 4) + Fraction(4, 5) + 0) / 3
    theirs = (Fraction(2, 4) + 1 + Fraction(3, 4)) / 3
    assert gap.value == pytest.approx(float(theirs - ours), rel=1e-12)
    assert (gap.group, gap.reference) == ("H", "G")


def test_kappa_of_all_classes_and_of_one(report: fg.Report) -> None:
    chance = Fraction(4 * 4 + 5 * 6 + 1 * 0, 100)  # labels times predictions, class by class
    expected = (Fraction(7, 10) - chance) / (1 - chance)
    assert rates(report, "G", None)["cohen_kappa"] == pytest.approx(float(expected), rel=1e-14)
    chance = Fraction(4 * 4 + 6 * 6, 100)  # a against the rest: 3 and 5 rows agree
    expected = (Fraction(8, 10) - chance) / (1 - chance)
    assert rates(report, "G", "a")["cohen_kappa"] == pytest.approx(float(expected), rel=1e-14)


def test_kappa_is_undefined_where_there_is_one_class_alone() -> None:
    table = fg.confusion("g", {"x": {"tp": 5}, "y": {"tp": 2, "fp": 1, "fn": 1, "tn": 2}})
    found = {g.group: g.rates["cohen_kappa"] for g in fg.audit(table).groups}
    assert found["x"].value is None
    assert found["x"].reason == "labels and predictions all of one class"
    assert found["y"].value == pytest.approx(1 / 3)


def test_distances_are_over_all_classes(report: fg.Report) -> None:
    # labels .4 .5 .1 against .4 .2 .4; predictions .4 .6 0 against .3 .2 .5
    assert one(report, "TVD", None).value == pytest.approx(0.3)
    assert one(report, "prediction.tvd", None).value == pytest.approx(0.5)
    assert one(report, "prediction.ks", None).value == pytest.approx(0.5)
    assert one(report, "prediction.kl", None).value == float("inf")
    assert one(report, "prediction.lp", None).value == pytest.approx(0.42**0.5)


def test_the_worst_class(report: fg.Report) -> None:
    worst = one(report, "true_positive_rate.difference", "worst")
    assert worst.value == -0.75
    assert worst.says.endswith("(class c)")
    lowest = one(report, "true_positive_rate.minimum", "worst")
    assert lowest.value == 0
    highest = one(report, "false_positive_rate.maximum", "worst")
    assert highest.value == pytest.approx(2 / 5)  # in G, 2 of 5 rows that are not b


def test_limits_of_the_worst_class_hold_for_all_classes_at_once() -> None:
    rows = [
        {"g": g, "y": label, "p": prediction}
        for g, by_label in TABLES.items()
        for label, counts in by_label.items()
        for prediction, n in zip("abc", counts, strict=True)
        for _ in range(30 * n)
    ]
    asked: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": "g"}
    asked |= {"reference": {"g": "H"}, "metrics": "true_positive_rate.difference"}
    every = fg.audit(pl.DataFrame(rows), **asked)
    worst = one(every, "true_positive_rate.difference", "worst")
    strict = fg.audit(pl.DataFrame(rows), confidence=1 - 0.05 / 3, **asked)
    alone = one(strict, "true_positive_rate.difference", "c")
    assert (worst.low, worst.high) == pytest.approx((alone.low, alone.high))
    assert worst.confidence == 0.95
    assert worst.method == f"{alone.method}, all classes at once"
    assert worst.p_value == pytest.approx(min(1, 3 * alone.p_value))
    assert "; 95% interval" in worst.says
