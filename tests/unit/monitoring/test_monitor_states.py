"""The states of a monitor, and how OpenMetrics and JUnit distinguish them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, cube, day_names, days

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorState


def without_labels() -> dict[str, fg.Cube]:
    """Return two days of which no row of the last ten has its label."""
    rows = pd.DataFrame(
        {"sex": ["F"] * 50 + ["M"] * 50, "label": [1.0] * 90 + [None] * 10,
         "prediction": [1, 0] * 50}
    )  # fmt: skip
    return {name: fg.count(rows, **QUESTION) for name in day_names(2)}


def states(text: str, name: str) -> list[str]:
    """Return the states that a gauge of OpenMetrics has the value 1 for."""
    return re.findall(rf'^{name}{{.*state="([^"]*)"}} 1$', text, re.MULTILINE)


RECALL = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"}
BALANCED = {"metric": "balanced_accuracy.difference", "between": [-0.1, 0.1], "groups": "F"}
CASES = {
    MonitorState.ALARM: (days(40, 25, 0.22), RATIO),
    MonitorState.NO_ALARM: (days(3, 9, 0.4), RATIO),
    MonitorState.UNDEFINED: ({day_names(1)[0]: cube(0, others=0)}, RATIO),
    MonitorState.INSUFFICIENT: ({day_names(1)[0]: cube(3, of=6)}, RATIO),
    MonitorState.WAITING: (without_labels(), RECALL),
}


@pytest.mark.parametrize("state", list(CASES))
def test_openmetrics_distinguishes_every_state(state):
    counts, rule = CASES[state]
    report = fg.monitor(counts, asked(rule, labels="later"))
    text = render(report, "openmetrics")
    assert [each.state for each in report.comparisons] == [state]
    assert states(text, "fairgauge_state") == [state]
    assert states(text, "fairgauge_monitor_state") == [state]
    assert len(re.findall(r"^fairgauge_state{", text, re.MULTILINE)) == len(MonitorState)
    outcomes = {MonitorState.ALARM: Outcome.FAIL, MonitorState.NO_ALARM: Outcome.PASS}
    assert report.verdict is outcomes.get(state, Outcome.INCONCLUSIVE)
    assert str(state).upper() in str(report)


def test_openmetrics_has_a_state_and_a_time_without_comparisons():
    nobody = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "X"}
    report = fg.monitor({"2026-01-01": cube(40)}, asked(nobody))
    assert not report.comparisons
    text = render(report, "openmetrics")
    assert states(text, "fairgauge_monitor_state") == ["insufficient data"]
    moment = 1_767_225_600.0  # 2026-01-01T00:00:00Z
    assert f'fairgauge_last_period_timestamp_seconds{{model="counts"}} {moment}' in text
    assert "last_period_timestamp" not in render(fg.monitor({}, asked(nobody)), "openmetrics")


@pytest.mark.parametrize("rule", [RECALL, BALANCED], ids=["counts", "intervals"])
def test_a_rule_that_waits_for_labels_says_so(rule):
    report = fg.monitor(without_labels(), asked(rule, labels="later"))
    assert report.comparisons[0].state is MonitorState.WAITING
    suites = ET.fromstring(render(report, "junit"))
    error = suites.find(".//error")
    assert error is not None
    assert "waiting for labels" in error.get("message", "")
    assert "insufficient" not in error.get("message", "")
    assert (suites.get("failures"), suites.get("errors"), suites.get("skipped")) == ("0", "1", "0")


QUIET = {
    MonitorState.INSUFFICIENT: "INSUFFICIENT DATA: 1 of 1 comparison has fewer rows than "
    "min_n (20)",
    MonitorState.WAITING: "WAITING FOR LABELS: 1 of 1 comparison has no period with all labels; "
    "2 periods wait",
}


@pytest.mark.parametrize("state", list(QUIET))
def test_one_line_states_how_many_comparisons_are_undecided_and_why(state):
    counts, rule = CASES[state]
    line = render(fg.monitor(counts, asked(rule, labels="later")), "text", quiet=True)
    assert line.startswith(QUIET[state])


def test_a_large_group_without_its_reference_has_no_fewer_rows_than_min_n():
    """Of 100 rows a day the line stated fewer than 20: those of the reference were renamed."""
    group = {"tp": 40, "fn": 60}
    counts = {
        name: fg.confusion("sex", {"F": group, "M" if i < 20 else "Male": group})
        for i, name in enumerate(day_names(24))
    }
    rule = {"metric": "selection_rate.ratio", "at_least": 0.5}
    report = fg.monitor(counts, asked(rule) | {"reference": {"sex": "M"}})
    line = render(report, "text", quiet=True)
    assert line.startswith(
        "INSUFFICIENT DATA: 1 of 2 comparisons has fewer rows than min_n (20) in periods that have "
        "both sides: selection rate ratio, sex: men (Male) vs M"
    )
    assert "No monitored comparison has a value now." in " ".join(str(report).split())


def test_one_line_names_what_else_is_insufficient():
    nobody = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "X"}
    line = render(fg.monitor({"2026-01-01": cube(40)}, asked(nobody)), "text", quiet=True)
    assert line.startswith("INSUFFICIENT DATA: 1 rule names a group that no period has")
    nothing = render(fg.monitor({}, asked(RATIO)), "text", quiet=True)
    assert nothing.startswith("INSUFFICIENT DATA: no period has a group that a rule is for")


UNDECIDED = (MonitorState.UNDEFINED, MonitorState.INSUFFICIENT, MonitorState.WAITING)


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.PASS])
@pytest.mark.parametrize("state", UNDECIDED)
def test_junit_states_what_an_undecided_comparison_counts_as(state, outcome):
    counts, rule = CASES[state]
    report = fg.monitor(counts, asked(rule, labels="later"))
    (case,) = ET.fromstring(render(replace(report, inconclusive=outcome), "junit"))[0]
    (child,) = case
    assert child.tag == {Outcome.FAIL: "failure", Outcome.PASS: "system-out"}[outcome]
    message = child.get("message") or child.text or ""
    assert message.startswith(f"{state}, counted as {outcome}: ")
    assert "no alarm" not in message
    if state is MonitorState.UNDEFINED:
        assert ": undefined on 2026-01-01, because " in message
