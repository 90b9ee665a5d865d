"""The states of a monitor, and how OpenMetrics and JUnit distinguish them."""

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
    report = fg.monitor(counts, asked(rule, labels_within=7))
    text = render(report, "openmetrics")
    assert [each.state for each in report.comparisons] == [state]
    assert states(text, "fairgauge_state") == [state]
    assert states(text, "fairgauge_monitor_state") == [state]
    assert len(re.findall(r"^fairgauge_state{", text, re.MULTILINE)) == len(MonitorState)
    outcomes = {MonitorState.ALARM: Outcome.FAIL, MonitorState.NO_ALARM: Outcome.PASS}
    assert report.verdict is outcomes.get(state, Outcome.INCONCLUSIVE)
    assert str(state).upper() in str(report)


UNDECIDED = (MonitorState.UNDEFINED, MonitorState.INSUFFICIENT, MonitorState.WAITING)


def code_of_junit(report) -> int:
    """Return the exit code that the cases of JUnit stand for."""
    suites = ET.fromstring(render(report, "junit"))
    assert int(suites.get("tests", 0)) > 0
    return 1 if suites.get("failures") != "0" else 3 if suites.get("errors") != "0" else 0


MEN_ONLY = {"2026-01-01": fg.confusion("sex", {"M": {"tp": 40, "fn": 60}})}
TO_MEN = {"reference": {"sex": "M"}}
GAP = {"metric": "selection_rate.largest_gap", "at_most": 0.1}
OF_ALL = {"metric": "selection_rate.ratio", "at_least": 0.8}
ONE_GROUP = "compares nothing in sex: it is defined in fewer than two groups."
NOTHING_COMPARED = {
    "misspelt": (
        days(2, 0, 0.1), asked(OF_ALL | {"groups": "f"}), "which no period has. Did you mean F?",
    ),
    "misspelt beside a rule that decides": (
        days(2, 9, 0.4), asked(OF_ALL | {"groups": "Fem"}, "selection_rate.ratio >= 0.1"),
        "which no period has.",
    ),
    "the reference": (
        days(2, 0, 0.1), asked(OF_ALL | {"groups": "M"}) | TO_MEN, "which is the reference",
    ),
    "the largest group": (
        days(2, 0, 0.1), asked(OF_ALL | {"groups": "M"}) | {"reference": "largest"},
        "which is the reference",
    ),
    "one group": (MEN_ONLY, asked(OF_ALL) | TO_MEN, ONE_GROUP),
    "one group and no others": (MEN_ONLY, asked(OF_ALL), ONE_GROUP),
    "one group that is named": (MEN_ONLY, asked(OF_ALL | {"groups": "M"}), ONE_GROUP),
    "a gap of one group": (MEN_ONLY, asked(GAP), ONE_GROUP),
    "no period": ({}, asked(RATIO), "no period is considered."),
    "before the start": (
        days(2, 0, 0.1), asked(RATIO, start="2026-02-01"), "no period is considered.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.PASS])
@pytest.mark.parametrize("case", list(NOTHING_COMPARED))
def test_a_rule_that_compares_nothing_is_never_a_pass(case, outcome, tmp_path):
    """With `--inconclusive pass` it was one, and JUnit had no case for it."""
    counts, spec, why = NOTHING_COMPARED[case]
    report = replace(fg.monitor(counts, spec), inconclusive=outcome)
    assert report.state is MonitorState.INSUFFICIENT
    assert report.exit_code == code_of_junit(report) == (1 if outcome is Outcome.FAIL else 3)
    assert why in render(report, "junit")
    counted = "INSUFFICIENT DATA (counted as fail): "
    line = render(report, "text", quiet=True)
    assert line.startswith(counted if outcome is Outcome.FAIL else "INSUFFICIENT DATA: ")
    report.save(tmp_path / "report.json")
    again = fg.load(tmp_path / "report.json")
    assert (again.exit_code, again.unmatched) == (report.exit_code, report.unmatched)


def lasting(group, periods):
    """Return days of women, and of another group of four rows in some of them."""
    few, women = {"tp": 2, "fn": 2}, {"tp": 40, "fn": 60}
    return {
        name: fg.confusion("sex", {"F": women} | ({group: few} if i in periods else {}))
        for i, name in enumerate(day_names(20))
    }


ANY = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}
HIDDEN = {
    "a small group that a gap leaves out": (
        {name: fg.confusion("sex", {"F": {"tp": 40, "fn": 60}, "M": {"tp": 40, "fn": 60},
                                    "X": {"fn": int(i % 10 == 0)}})
         for i, name in enumerate(day_names(20))},
        asked(GAP | {"at_most": 0.4}),
    ),
    "the other of two groups is gone": (lasting("X", range(3, 6)), asked(ANY)),
    "the other of two groups is small": (lasting("X", range(0, 20, 7)), asked(ANY)),
}  # fmt: skip


@pytest.mark.parametrize("outcome", [Outcome.INCONCLUSIVE, Outcome.FAIL, Outcome.PASS])
@pytest.mark.parametrize("case", [*CASES, *HIDDEN])
def test_exit_code_and_junit_agree(case, outcome):
    """A small group that a gap leaves out was no case of JUnit, nor was one of two that mirror."""
    if case in HIDDEN:
        counts, spec = HIDDEN[case]
        undecided = True
    else:
        counts, spec = CASES[case][0], asked(CASES[case][1], labels_within=7)
        undecided = case in UNDECIDED
    report = replace(fg.monitor(counts, spec), inconclusive=outcome)
    assert report.exit_code == code_of_junit(report)
    assert (report.state in UNDECIDED) is undecided
    assert "no period has a group" not in str(report)
