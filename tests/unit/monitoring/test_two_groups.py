"""Two groups that are each compared with the other are one comparison with one share of alpha."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

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


# ---- labels that come for all groups but one, or for rows of one decision alone
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.4, 0.4]}


def day(seed: int, labelled: dict[str, float]) -> fg.Cube:
    """Return the counts of a day of which shares of the groups have their labels."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], int(rng.poisson(400)))})
    rows["prediction"] = rng.integers(0, 2, len(rows))
    label = rng.integers(0, 2, len(rows)).astype(float)
    rows["label"] = np.where(rng.random(len(rows)) < rows["sex"].map(labelled), label, np.nan)
    return fg.count(rows, **QUESTION)


def test_rows_whose_labels_come_one_by_one_are_no_finding() -> None:
    """No period has all its labels yet, and one group has somewhat fewer."""
    counts = {
        name: day(t, {"F": 0.6 * (30 - t) / 30, "M": 0.9 * (30 - t) / 30})
        for t, name in enumerate(day_names(30))
    }
    assert fg.monitor_doctor(counts, asked(RECALL, labels_within=30)).findings == ()


def of_one_decision(days: int, decision: int, share: float = 0.0) -> dict[str, fg.Cube]:
    """Count days on which rows of one decision alone have labels, but for a share of the others."""
    rng, counts = np.random.default_rng(5), {}
    for name in day_names(days):
        rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 400)})
        rows[["label", "prediction"]] = rng.integers(0, 2, (400, 2))
        lacks = (rows["prediction"] != decision) & (rng.random(400) >= share)
        counts[name] = fg.count(rows.assign(label=rows["label"].where(~lacks)), **QUESTION)
    return counts


@pytest.mark.parametrize(("decision", "rate", "open_"), [
    (1, "true_positive_rate", True), (1, "accuracy", True), (0, "true_positive_rate", True),
    (1, "positive_predictive_value", False), (0, "negative_predictive_value", False),
    (1, "selection_rate", False),
])  # fmt: skip
def test_labels_of_one_decision_say_nothing_of_rates_of_both(decision, rate, open_):
    """A true positive rate of 100% and 100% was no alarm, exit 0, though no other is possible."""
    rule = {"metric": f"{rate}.difference", "between": [-0.5, 0.5]}
    report = fg.monitor(of_one_decision(9, decision), asked(rule))
    state = "insufficient data" if open_ else "no alarm"
    assert {(e.state.value, e.open is None) for e in report.comparisons} == {(state, not open_)}
    assert report.exit_code == (3 if open_ else 0)
    if open_:
        assert "rows without a value that is needed" in " ".join(str(report).split())


def harmed(night: int, since: int = 8) -> pd.DataFrame:
    """Return the rows of a night; from one on, true positive rates are 35 points apart."""
    rng = np.random.default_rng(night)
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], 600), "label": rng.integers(0, 2, 600)})
    rate = np.where((rows["sex"] == "F") & (night >= since), 0.45, 0.8)
    rows["prediction"] = rng.random(600) < np.where(rows["label"] == 1, rate, 0.6)
    return rows


@pytest.mark.parametrize("settings", [{}, {"labels_within": 2}])
def test_labels_that_are_of_one_decision_from_some_period_on_withhold_a_pass(settings):
    """With labels of approvals alone a true positive rate of 100% in each group was no alarm."""
    rule = {"metric": "true_positive_rate.difference", "between": [-0.15, 0.15]}
    spec, counts = asked(rule, **settings), {}
    for night, name in enumerate(day_names(16)):
        rows = harmed(night)
        approved = rows["prediction"] | (night < 8)
        counts[name] = fg.count(rows.assign(label=rows["label"].where(approved)), **QUESTION)
    assert fg.monitor(dict(list(counts.items())[:8]), spec).exit_code == 0
    for seen in (12, 16):
        report = fg.monitor(dict(list(counts.items())[:seen]), spec)
        assert (report.exit_code, report.alarms) == (3, ())
        (each,) = report.comparisons
        assert each.open is not None
