"""Across groups: gaps, ratios and spreads where some group is undefined; criteria; epsilon."""

import math
from typing import Any

import pytest

import fairgauge as fg
from fairgauge.enums import ReferenceKind
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import Reference

COUNTS = {
    "a": {"tp": 8, "fn": 2, "fp": 1, "tn": 9},  # TPR .8, FPR .1
    "b": {"tp": 3, "fn": 3, "fp": 6, "tn": 6},  # TPR .5, FPR .5
    "c": {"fp": 3, "tn": 7},  # no positives: TPR undefined, FPR .3
    "d": {"tp": 9, "fn": 1},  # no negatives: TPR .9, FPR undefined
}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    report = fg.audit(fg.confusion("g", COUNTS), metrics="all")
    return {e.metric: e for e in report.estimates if e.metric.count(".") == 1 or e.group == "all"}


def test_gaps_and_ratios_leave_undefined_groups_out(found: dict[str, Any]) -> None:
    gap = found["true_positive_rate.largest_gap"]
    assert gap.value == pytest.approx(0.4)
    assert (gap.group, gap.reference) == ("d", Reference(ReferenceKind.GROUP, "b"))
    ratio = found["true_positive_rate.smallest_ratio"]
    assert ratio.value == pytest.approx(5 / 9)
    assert (ratio.group, ratio.reference) == ("b", Reference(ReferenceKind.GROUP, "d"))
    assert found["false_positive_rate.largest_gap"].value == pytest.approx(0.4)


def test_extremes_name_their_group(found: dict[str, Any]) -> None:
    assert (found["true_positive_rate.minimum"].value, "b") == (
        0.5,
        found["true_positive_rate.minimum"].group,
    )
    assert found["true_positive_rate.maximum"].group == "d"
    assert found["false_positive_rate.maximum"].group == "b"


def test_equalized_odds(found: dict[str, Any]) -> None:
    assert found["equalized_odds.largest_gap"].value == pytest.approx(0.4)
    assert found["equalized_odds.mean_gap"].value == pytest.approx((0.4 + 0.4) / 2)
    ratios = (5 / 9, 1 / 5)
    assert found["equalized_odds.smallest_ratio"].value == pytest.approx(min(ratios))
    assert found["equalized_odds.mean_ratio"].value == pytest.approx(sum(ratios) / 2)
    says = found["equalized_odds.smallest_ratio"].says
    assert says.startswith(
        "Equalized odds smallest ratio 0.200, between a and b (simultaneous 95% CI "
    )


def test_epsilon_of_differential_fairness() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "tn": 1}, "b": {"tp": 1, "tn": 7}})
    (found,) = fg.audit(table, metrics="label.differential_fairness").estimates
    # smoothed: (3 + .5) / 5 against (1 + .5) / 9, and 1.5 / 5 against 7.5 / 9
    positive, negative = math.log((3.5 / 5) / (1.5 / 9)), math.log((7.5 / 9) / (1.5 / 5))
    assert positive > negative
    assert found.value == pytest.approx(positive, rel=1e-12)
    assert (found.group, found.reference) == ("a", Reference(ReferenceKind.GROUP, "b"))


def test_one_group_alone_has_no_gap() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "tn": 1}, "b": {}})
    (found,) = fg.audit(table, metrics="accuracy.largest_gap").estimates
    assert found.status == "undefined"
    assert found.reason == Reason.of(ReasonCode.FEWER_THAN_TWO_GROUPS)


@pytest.mark.parametrize(("means", "stated"), [
    ((-2.0, -4.0), False), ((-2.0, 4.0), False), ((0.0, 4.0), False), ((2.0, 4.0), True),
])  # fmt: skip
def test_ratios_of_numbers_that_may_be_negative_need_all_of_them_above_0(
    means: tuple[float, float], *, stated: bool
) -> None:
    rows = {"g": ["a"] * 4 + ["b"] * 4, "y": [m + x for m in means for x in (-1, -1, 1, 1)]}
    metrics = ["mean_label.smallest_ratio"]
    (each,) = fg.audit(rows, label="y", sensitive="g", task="regression", metrics=metrics).estimates
    if stated:
        assert each.value == pytest.approx(0.5)
    else:
        assert each.value is None
        assert each.reason is not None
        assert each.reason.code is ReasonCode.RATIO_NOT_ABOVE_ZERO
