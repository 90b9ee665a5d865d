"""A group that is too small to be decided is never a pass, also where all groups are compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import day_names

import fairgauge as fg
from fairgauge.render.grammar import describe_reason

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
@pytest.mark.parametrize("every", [4])
def test_a_tiny_group_is_no_pass(metric, every):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    counts = days(lambda day: int(day % every == 0), 28)
    report = fg.monitor(counts, asked)
    assert (report.exit_code, report.findings) == (3, ())
    assert str(report.state) == "insufficient data"
    without = fg.monitor(counts, asked | {"exclude_groups": "X"})
    assert (without.exit_code, without.findings) == (0, ())


@pytest.mark.parametrize("metric", ["selection_rate.difference", "selection_rate.largest_gap"])
def test_groups_that_grow_or_are_gone_are_not_found(metric):
    between = [0, 0.4] if metric.endswith("largest_gap") else [-0.4, 0.4]
    asked = ASKED | {"monitor": {"rules": [{"metric": metric, "between": between}]}}
    for tiny in (lambda _: 35, lambda day: int(day == 3), lambda _: 0):
        report = fg.monitor(days(tiny), asked)
        assert (report.exit_code, report.findings) == (0, ())


TPR = {"metric": "true_positive_rate.difference", "between": [-0.4, 0.4]}


def days_without_labels(lacks, count=25):
    """Return days of 200 rows; of some rows the label is unknown."""
    rng, found = np.random.default_rng(4), {}
    for day in range(count):
        rows = {"g": rng.choice(["F", "M"], 200, p=[0.3, 0.7])}
        rows |= {"y": rng.integers(0, 2, 200).astype(object)}
        frame = pd.DataFrame(rows | {"p": rng.integers(0, 2, 200)})
        found[NAMES[day]] = lacks(frame, day)
    return {name: fg.count(frame, **ASKED) for name, frame in found.items()}


def no_label_of_women(frame, _day):
    return frame.assign(y=frame["y"].where(frame["g"] == "M"))


def test_each_period_without_a_value_may_have_its_own_reason():
    """Men have labels; what they are compared with has none, and then no rows."""
    counts = days_without_labels(
        lambda frame, day: no_label_of_women(frame, day) if day < 6 else frame[frame["g"] == "M"],
        8,
    )
    report = fg.monitor(counts, ASKED | {"monitor": {"rules": [TPR | {"groups": "M"}]}})
    (men,) = [each for each in report.comparisons if each.group == "M"]
    assert men.points[0].reason.side == "reference"
    assert men.points[0].reason.code.value == "lacking_values"
    assert men.points[7].reason.code.value != "lacking_values"
    assert men.points[7].reason.side == "reference"


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


def heavy(others=1.0):
    return np.array([1e5, *[others] * 99])


EVEN, SPREAD, TWO = np.ones(100), np.arange(100) % 30, np.arange(100) % 2
UNEVEN = {
    "a heavy woman": ("weight", "w", heavy(), "the weights leave 1 effective row in the group"),
    "two clusters": ("cluster", "site", TWO, "2 effective clusters in the group, below 5"),
}
FEW = {"weight": "too few effective rows by the weights",
       "cluster": "too few effective clusters"}  # fmt: skip


def monitored(role, column, frames):
    rule = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}
    asked = ASKED | {"label": None, role: column, "reference": {"g": "M"}}
    counts = {name: fg.count(frame, **asked) for name, frame in frames.items()}
    return fg.monitor(counts, asked | {"monitor": {"rules": [rule]}})


@pytest.mark.parametrize("case", list(UNEVEN))
def test_few_effective_rows_or_clusters_are_insufficient(case, monkeypatch):
    """One woman of 1e5 was an alarm, and two clusters no alarm; an audit evaluated neither."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    role, column, women, why = UNEVEN[case]
    report = monitored(role, column, uneven_days([women] * 3, column))
    (each,) = report.comparisons
    assert (report.exit_code, each.state.value, each.alarm) == (3, "insufficient data", None)
    assert describe_reason(each.points[-1].reason).startswith(why)
    assert f"1 of 1 comparison has {FEW[role]}: " in " ".join(str(report).split())
    assert all(point.sparse and point.value is not None for point in each.points)


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
        monitored(role or "label", column if role else None, some).comparisons[0]
        for some in (frames, first)
    )
    assert [e.value for e in whole.points[:2]] == [e.value for e in before.points]
    undefined = absent == "reference"
    assert (whole.points[2].value is None) is undefined
    assert whole.state.value == ("undefined" if undefined else "no alarm")


def test_numbered_clusters_are_refused_before_an_alarm_needs_them_together():
    frames = uneven_days([SPREAD] * 2, "site")
    with pytest.raises(fg.CubeError, match="FAIRGAUGE_CLUSTER_KEY"):
        monitored("cluster", "site", frames)


@pytest.mark.parametrize("case", list(UNEVEN))
def test_periods_with_sufficient_data_decide_whatever_the_others_are(case, monkeypatch):
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    role, column, few, _ = UNEVEN[case]
    enough = EVEN if role == "weight" else SPREAD
    frames = uneven_days([enough, enough, few, few], column)
    (each,) = monitored(role, column, frames).comparisons
    assert each.state.value == "no alarm"
    assert [point.sparse for point in each.points] == [False, False, True, True]
    for name in NAMES[:2]:
        frames[name]["p"] = np.where(frames[name]["g"] == "F", 0, 1)
    (each,) = monitored(role, column, frames).comparisons
    assert (each.state.value, each.alarm.period) == ("alarm", NAMES[1])
    assert each.alarm.now is None  # that of the other days is of insufficient data


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
        assert describe_reason(reason) == "scores are not counted by cluster"
    else:
        assert each.points[0].value == pytest.approx(audited.value)


@pytest.mark.parametrize("more", [{"weight": "w"}, {"cluster": "w"}, {"reference": "overall"}])
def test_a_baseline_of_rows_that_no_count_decides_is_refused_at_once(more, monkeypatch, tmp_path):
    """It was an error about the syntax of the rule, after the period was stored."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    (frame,) = uneven_days([EVEN], "w").values()
    asked = {"prediction": "p", "positive": 1, "sensitive": "g", **more}
    cube = fg.count(frame, **asked)
    rule = {
        "metric": "selection_rate.difference",
        "within": 0.1,
        "of": str(tmp_path / "b.cube.json"),
    }
    cube.save(rule["of"])
    with pytest.raises(fg.SpecError, match=r"rules\[0\].within: a baseline needs rows"):
        fg.monitor({NAMES[0]: cube}, asked | {"monitor": {"rules": [rule]}})


def test_a_period_without_clusters_has_no_interval_and_is_undefined(monkeypatch):
    """Women fell from 50% to none, and every night was NO ALARM: no interval could be outside."""
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "0123456789abcdef0123")
    frames = uneven_days([SPREAD] * 3, "site")
    last = frames[NAMES[2]]
    frames[NAMES[2]] = last.assign(site=None, p=(last["g"] == "M") * 1)
    report = monitored("cluster", "site", frames)
    (each,) = report.comparisons
    assert (each.state.value, report.exit_code) == ("undefined", 3)
    reason = describe_reason(each.undefined[-1].reason)
    assert reason.startswith("0 effective clusters in the group, below 5")


@pytest.mark.parametrize("metric", ["selection_rate.difference", "f1.difference"])
def test_a_stray_group_is_named_from_its_first_day_on_also_where_intervals_decide(metric):
    """Only rules that counts decide exactly named it: the others did after two weeks."""
    rule = {"metric": metric, "between": [-0.4, 0.4]}
    weighted = ASKED | {"weight": "w"}
    frame = pd.DataFrame({"g": [*"FM" * 100, *"XXX"], "y": [1, 1, 0] * 67 + [1, 1]})
    counts = {NAMES[0]: fg.count(frame.assign(p=frame["y"], w=1.0), **weighted)}
    report = fg.monitor(counts, weighted | {"monitor": {"rules": [rule]}})
    (stray,) = report.sparse_groups
    assert (stray.group, stray.first) == ("X", NAMES[0])
