"""Two groups that are each compared with the other are one comparison with one share of alpha."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.render.grammar import describe_reason
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


# ---- A group that is too small to be decided is never a pass, also where all groups are compared
ASKED = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
NAMES = day_names(30)


def days(tiny, count=30):
    """Return days of 200 rows, with as many rows of X as ``tiny`` has of the day."""
    rng, found = np.random.default_rng(4), {}
    for day in range(count):
        groups = [*rng.choice(["F", "M"], 200), *"X" * tiny(day)]
        size = len(groups)
        rows = {"g": groups, "y": rng.integers(0, 2, size), "p": rng.integers(0, 2, size)}
        found[NAMES[day]] = fg.count(pd.DataFrame(rows), **ASKED)
    return found


@pytest.mark.parametrize(
    "metric", ["selection_rate.difference", "f1.difference", "selection_rate.largest_gap",
               "accuracy.largest_gap"]
)  # fmt: skip
def test_a_tiny_group_is_no_pass(metric):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    counts = days(lambda day: int(day % 4 == 0), 28)
    report = fg.monitor(counts, asked)
    assert (report.exit_code, report.findings) == (3, ())
    assert str(report.state) == "insufficient data"
    without = fg.monitor(counts, asked | {"exclude_groups": "X"})
    assert (without.exit_code, without.findings) == (0, ())


def uneven_days(women, column):
    """Return days of 200 rows; ``women`` has the weights or clusters of 100 women of each day."""
    rng, found = np.random.default_rng(6), {}
    for name, values in zip(NAMES, women, strict=False):
        frame = pd.DataFrame({"g": ["F", "M"] * 100, "p": rng.integers(0, 2, 200)})
        frame[column] = np.arange(200) % 60 if column == "site" else 1.0
        frame.loc[frame["g"] == "F", column] = values
        frame.loc[1, "p"], frame.loc[0, "p"] = 1, 0  # the first woman has the heavy weight
        found[name] = frame
    return found


EVEN, SPREAD, TWO = np.ones(100), np.arange(100) % 30, np.arange(100) % 2


def monitored_small(role, column, frames):
    rule = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}
    asked = ASKED | {"label": None, role: column, "reference": {"g": "M"}}
    counts = {name: fg.count(frame, **asked) for name, frame in frames.items()}
    return fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})


@pytest.mark.parametrize("role", ["weight", "cluster", None])
@pytest.mark.parametrize("absent", ["reference", "outcome"])
def test_a_period_that_lacks_a_named_value_leaves_the_others_as_they_are(role, absent, monkeypatch):
    """It was an error, from that day on every night, where intervals decide."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    column = "site" if role == "cluster" else "w"
    frames = uneven_days([SPREAD if role == "cluster" else EVEN] * 3, column)
    last = frames[NAMES[2]]
    if absent == "reference":
        frames[NAMES[2]] = last[last["g"] == "F"]
    elif absent == "outcome":
        last["p"] = 0
    first = {name: frames[name] for name in NAMES[:2]}
    whole, before = (
        monitored_small(role or "label", column if role else None, some).comparisons[0]
        for some in (frames, first)
    )
    assert [e.value for e in whole.points[:2]] == [e.value for e in before.points]
    undefined = absent == "reference"
    assert (whole.points[2].value is None) is undefined
    assert whole.state.value == ("undefined" if undefined else "no alarm")


@pytest.mark.parametrize(
    ("metric", "role"),
    [
        ("selection_rate.ratio", "weight"),
        ("f1.ratio", None),
        ("calibration_gap.difference", "cluster"),
    ],
)
def test_intervals_decide_by_what_an_audit_is_judged_by_not_by_what_is_adjusted(
    metric, role, monkeypatch
):
    """Women ask for what is granted less often: within strata both are treated alike."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    rng = np.random.default_rng(8)
    sex, hard = np.repeat(["F", "M"], 400), np.tile([True, True, True, True, False] * 80, 2)
    hard[400:] = ~hard[400:]
    granted = rng.random(800) < np.where(hard, 0.2, 0.8)
    frame = pd.DataFrame({"sex": sex, "hard": hard, "p": granted * 1, "s": rng.random(800)})
    frame = frame.assign(y=np.where(rng.random(800) < 0.9, granted, ~granted) * 1, one=1.0)
    frame["who"] = range(800)
    asked = {"label": "y", "sensitive": "sex", "reference": {"sex": "M"}, "positive": 1}
    asked |= {"score": "s"} if metric.startswith("cal") else {"prediction": "p"}
    asked |= {role: "one" if role == "weight" else "who"} if role else {}
    rule = {"metric": metric, "at_least": 0.8}
    report = fg.monitor(
        {NAMES[0]: fg.count(frame, **asked, strata="hard")},
        asked | {"strata": "hard", "monitor": {"rules": [rule]}},
    )
    (audited,) = fg.audit(frame, **asked, metrics=metric, rules=[f"{metric} >= 0.8"]).verdicts
    (each,) = report.comparisons
    if role == "cluster" and "s" in asked.values():  # scores have no interval
        assert audited.outcome.value == "not_evaluated"
        assert (each.state.value, report.exit_code) == ("undefined", 3)
        reason = each.undefined[-1].reason
        assert describe_reason(reason) == "no cluster-robust method is known for it"
    else:
        assert each.points[0].value == pytest.approx(audited.value)


@pytest.mark.parametrize(("column", "lacking"), [("g", "a group"), ("y", "a label or score")])
def test_what_has_no_worst_case_does_not_claim_one(column, lacking):
    """Of average precision none is computed: that rows "could change that" was untrue."""
    asked = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"}
    rng, counts = np.random.default_rng(5), {}
    for name in NAMES[:8]:
        rows = pd.DataFrame({"g": ["F", "M"] * 200, "s": rng.random(400).round(2)})
        rows["y"] = (rng.random(400) < rows.s) * 1.0
        rows.loc[:15, column] = None
        counts[name] = fg.count(rows, **asked)
    rule = {"metric": "average_precision.difference", "between": [-0.5, 0.5]}
    report = fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})
    (says,) = {each.says.partition(",")[2].partition(" could")[0] for each in report.comparisons}
    because = f"because how far the 112 rows of the last 7 periods without {lacking}"
    assert says.endswith(f"{because} (1% of a group or more)")
