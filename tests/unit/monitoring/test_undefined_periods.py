"""The last period without a value: undefined with a reason, never the value of an earlier one."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest_monitoring import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
from fairgauge.report.monitor_results import MonitorState

BALANCED = {"metric": "balanced_accuracy.difference", "between": [-0.5, 0.5], "groups": "F"}
MEN = {"M": {"tp": 80, "fn": 120}}
WOMEN = {"F": {"tp": 40, "fn": 60}}
CASES = {
    "nobody is selected": (cube(0, others=0), "selection rate is 0 on both sides"),
    "no group": (fg.confusion("sex", MEN), "the group has no rows"),
    "no reference": (fg.confusion("sex", WOMEN), "the reference has no rows"),
}


def shown_as(report, kind: str) -> str:
    return " ".join(render(report, kind).split())


@pytest.mark.parametrize(("last", "why"), CASES.values(), ids=list(CASES))
def test_the_last_period_is_undefined_with_its_reason(last, why):
    name = day_names(4)[-1]
    counts = days(3, 9, 0.4) | {name: last}
    spec = asked(RATIO) | {"reference": {"sex": "M"}}
    report = fg.monitor(counts, spec)
    (each,) = report.comparisons
    assert (each.state, report.verdict) == (MonitorState.NO_ALARM, Outcome.PASS)
    assert (each.undefined, each.points[-1].value) == (each.points[-1], None)
    assert f"It is undefined in {name}, because {why}" in each.says
    for kind in ("text", "markdown", "html"):
        text = shown_as(report, kind)
        assert "NO ALARM; 1 comparison is undefined in the last period" in text
        assert f"undefined in {name}" in text
    gauges = render(report, "openmetrics")
    assert "fairgauge_metric" not in gauges
    assert "fairgauge_ci_low" not in gauges
    assert 'rule="selection_rate.ratio >= 0.8"} 1.0' in gauges.partition("fairgauge_undefined{")[2]
    point = report.to_dict()["comparisons"][0]["points"][-1]
    assert (point["value"], point["waits"]) == (None, False)
    assert point["reason"]["message"].startswith(why)


def test_a_last_period_that_waits_for_labels_is_not_undefined():
    rows = [("F", 1, 1), ("F", 1, 0), ("M", 1, 1), ("M", 0, 1)] * 30
    labelled = pd.DataFrame(rows, columns=["sex", "label", "prediction"])
    waiting = fg.count(labelled.assign(label=[None] * len(rows)), **QUESTION)
    recall = {"metric": "true_positive_rate.difference", "between": [-0.9, 0.9], "groups": "F"}
    counts = dict(zip(day_names(2), [fg.count(labelled, **QUESTION), waiting], strict=True))
    report = fg.monitor(counts, asked(recall, labels="later"))
    (each,) = report.comparisons
    assert [point.waits for point in each.points] == [False, True]
    assert (each.state, each.undefined) == (MonitorState.NO_ALARM, None)
    assert "waits for labels" in shown_as(report, "markdown")
    assert "fairgauge_metric" not in render(report, "openmetrics")


def test_a_rule_that_intervals_decide_is_undefined_too():
    counts = days(3, 9, 0.4) | {day_names(4)[-1]: fg.confusion("sex", MEN)}
    (each,) = fg.monitor(counts, asked(BALANCED)).comparisons
    assert each.undefined is not None
    assert each.points[-1].reason is not None


@pytest.mark.parametrize("rule", [RATIO, BALANCED], ids=["counts", "intervals"])
def test_a_last_period_with_a_value_is_shown_as_before(rule):
    counts = {
        name: fg.confusion("sex", {g: {"tp": 30, "fn": 20, "fp": 10, "tn": 40} for g in "FM"})
        for name in day_names(2)
    }
    report = fg.monitor(counts, asked(rule))
    assert not report.undefined
    assert "undefined" not in render(report, "text")
    assert all(point.reason is None for point in report.comparisons[0].points)
