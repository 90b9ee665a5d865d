"""Two groups that are each compared with the other are one comparison with one share of alpha."""

from dataclasses import replace
from typing import Any

import pytest
from tests.monitored_days import asked, day_names

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
def test_one_comparison_stands_for_both_groups(rule: dict[str, Any]) -> None:
    """It has the evidence and the alarm of either side, whichever is worse off."""
    days = of_days(*[40] * 10, *[90] * 30)
    (one,) = monitored(days, rule).comparisons
    (alone,) = monitored(days, rule | {"groups": "F"}).comparisons
    assert (one.group, one.reference) == ("F", "M")  # of fewer rows
    assert (one.alpha, one.threshold) == (alone.alpha, alone.threshold)
    assert one.alarm is not None


def test_limits_hold_for_both_groups() -> None:
    days = of_days(*[40] * 3)
    for rule, limits in (
        (RATIO, (0.8, 1.25)),
        ({"metric": "DPPL", "at_most": 0.1}, (-0.1, 0.1)),
        ({"metric": "DI", "between": [0.5, 1.25]}, (0.8, 1.25)),
    ):
        (each,) = monitored(days, rule).comparisons
        assert (each.low, each.high) == pytest.approx(limits)


@pytest.mark.parametrize("rule", [RULES[0], RULES[3]], ids=str)
def test_a_later_group_is_compared_with_the_same_one_and_takes_no_alarm_back(
    rule: dict[str, Any],
) -> None:
    selected = [40] * 10 + [90] * 30
    (before,) = monitored(of_days(*selected), rule).comparisons
    report = monitored(of_days(*selected, third=35), rule)
    after = by_group(report)
    assert {each.reference for each in report.comparisons} == {"M"}
    assert after["F"] == replace(before, points=after["F"].points, alarm=after["F"].alarm)
    assert after["X"].alpha == pytest.approx(0.05 * 0.2 * 0.8)
    one, other = before.alarm, after["F"].alarm
    assert one is not None
    assert other is not None
    assert (one.period, one.since) == (other.period, other.since)
