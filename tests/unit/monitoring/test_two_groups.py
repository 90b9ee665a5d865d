"""Two groups that are each compared with the other are one comparison with one share of alpha."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.monitored_days import QUESTION, asked, cube, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import MonitoredComparison, MonitorReport

GAP = {"metric": "selection_rate.difference", "between": [-0.1, 0.1]}
RATIO = {"metric": "selection_rate.ratio", "at_least": 0.8}
RULES = [
    GAP,
    RATIO,
    {"metric": "DPPL", "at_most": 0.1},  # the reference less the group
    {"metric": "f1.difference", "between": [-0.05, 0.05]},  # by estimates
    {"metric": "DI", "between": [0.8, 1.4]},
]


def of_days(*selected: int, third: int | None = None) -> dict[str, fg.Cube]:
    """Return days with so many in 100 of 400 women selected, and from one on a third group."""
    days = {}
    for t, (name, chosen) in enumerate(zip(day_names(len(selected)), selected, strict=True)):
        women, others = 2 * chosen, 200 - 2 * chosen
        counts = {
            "F": {"tp": women, "fn": others, "fp": women, "tn": others},
            "M": {"tp": 120, "fn": 180, "fp": 120, "tn": 180},
        }
        if third is not None and t >= third:
            counts["X"] = {"tp": 8, "fn": 12, "fp": 8, "tn": 12}
        days[name] = fg.confusion("sex", counts)
    return days


def monitored(days: dict[str, fg.Cube], *rules: Any, **settings: Any) -> MonitorReport:
    return fg.monitor(days, asked(*rules, **settings))


def by_group(report: MonitorReport) -> dict[str, MonitoredComparison]:
    return {each.group: each for each in report.comparisons}


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("after", [90])
def test_one_comparison_stands_for_both_groups(rule: dict[str, Any], after: int) -> None:
    """It has the evidence and the alarm of either side, whichever is worse off."""
    days = of_days(*[40] * 10, *[after] * 30)
    (one,) = monitored(days, rule).comparisons
    (alone,) = monitored(days, rule | {"groups": "F"}).comparisons
    assert (one.group, one.reference) == ("F", "M")  # of fewer rows
    assert (one.alpha, one.threshold) == (alone.alpha, alone.threshold)
    assert one.alarm is not None


@pytest.mark.parametrize("metric", ["selection_rate.difference", "f1.difference"])
@pytest.mark.parametrize("after", [4])
def test_its_evidence_is_that_of_either_side(metric: str, after: int) -> None:
    days = of_days(*[40] * 10, *[after] * 20)
    rule = {"metric": metric, "between": [-0.1, 0.1]}
    one, other = (monitored(days, rule | side).comparisons[0] for side in ({}, {"groups": "M"}))
    assert other.evidence == pytest.approx(one.evidence)
    assert one.alarm is not None
    assert other.alarm is not None
    assert other.alarm.period == one.alarm.period


def test_limits_hold_for_both_groups() -> None:
    days = of_days(*[40] * 3)
    for rule, limits in (
        (RATIO, (0.8, 1.25)),
        ({"metric": "DPPL", "at_most": 0.1}, (-0.1, 0.1)),
        ({"metric": "DI", "between": [0.5, 1.25]}, (0.8, 1.25)),
    ):
        (each,) = monitored(days, rule).comparisons
        assert (each.low, each.high) == pytest.approx(limits)


def test_a_rule_that_no_two_groups_can_both_keep_is_two_comparisons() -> None:
    sides = by_group(monitored(of_days(*[40] * 3), {"metric": "DPPL", "at_least": 0.02}))
    assert [each.alpha for each in sides.values()] == pytest.approx([0.02] * 2)
    assert {each.reference for each in sides.values()} == {"others"}


def test_two_groups_are_one_comparison_before_their_labels_come() -> None:
    """They were two until then: the share of alpha that was printed changed with the labels."""
    sex = ["F", "M"] * 100
    rows = pl.DataFrame({"sex": sex, "prediction": [0, 0, 1, 1] * 50, "label": [1.0, 0.0] * 100})
    late = rows.with_columns(label=pl.lit(None, pl.Float64))
    recall = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
    names = day_names(6)
    for labelled, of in ((0, 1), (0, 2), (3, 6)):
        counts = {n: fg.count(rows if i < labelled else late, **QUESTION)
                  for i, n in enumerate(names[:of])}  # fmt: skip
        (each,) = fg.monitor(counts, asked(recall, labels="later", labels_within=3)).comparisons
        assert each.alpha == pytest.approx(0.04)


@pytest.mark.parametrize("rule", [RULES[0], RULES[3]], ids=str)
def test_a_later_group_makes_two_of_one_and_takes_no_alarm_back(rule: dict[str, Any]) -> None:
    selected = [40] * 10 + [90] * 30
    (before,) = monitored(of_days(*selected), rule).comparisons
    report = monitored(of_days(*selected, third=35), rule)
    after = by_group(report)
    assert report.late_groups == (("sex", "X", "2026-02-05"),)
    assert after["F"].reference == "others"
    assert (after["F"].threshold, after["F"].low, after["F"].high) == (
        before.threshold, before.low, before.high,
    )  # fmt: skip
    assert after["M"].alpha == after["X"].alpha == pytest.approx(0.05 * 0.2 * 0.8 / 2)
    one, other = before.alarm, after["F"].alarm
    assert one is not None
    assert other is not None
    assert (one.period, one.since) == (other.period, other.since)
    if after["M"].alarm is not None:  # never before the period with which it has a share of alpha
        assert after["M"].alarm.period >= day_names(36)[-1]


def test_a_history_that_is_resumed_comes_to_the_same(tmp_path: Any) -> None:
    days = of_days(*[40] * 10, *[65] * 8, third=14)
    question = asked(RATIO, GAP)
    history = fg.History(tmp_path / "held")
    for name, counts in days.items():
        history.add(name, counts)
        resumed = fg.monitor(history, question)
        anew = fg.monitor({n: days[n] for n in days if n <= name}, question)
        assert resumed.comparisons == anew.comparisons


def test_limits_around_a_baseline_hold_for_both_groups(tmp_path: Any) -> None:
    cube(40).save(tmp_path / "baseline.json")
    rule = {"metric": "selection_rate.ratio", "within": 0.1, "of": str(tmp_path / "baseline.json")}
    days = {name: cube(40) for name in day_names(4)}
    (each,) = fg.monitor(days, QUESTION | {"monitor": {"rules": [rule]}}).comparisons
    baseline = each.baseline
    assert baseline is not None
    assert each.low == pytest.approx(max(baseline.low - 0.1, 1 / (1 / baseline.low + 0.1)))
    assert each.high == pytest.approx(min(baseline.high + 0.1, 1 / (1 / baseline.high - 0.1)))
