"""The states of a monitor, and how OpenMetrics and JUnit distinguish them."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
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


# ---- labels that stop coming: a monitor waits for them, and is never green without them
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


BALANCED = {"metric": "balanced_accuracy.difference", "between": [-0.3, 0.3], "groups": "F"}
SELECTED = {"metric": "selection_rate.difference", "between": [-0.5, 0.5], "groups": "F"}
RULES = (RECALL, BALANCED, SELECTED)


def day(seed: int, labelled: float = 1.0) -> fg.Cube:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 400).astype(float)
    rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": label})
    rows["prediction"] = np.where(rng.random(400) < 0.8, label, 1 - label).astype(int)
    rows.loc[rng.random(400) >= labelled, "label"] = None
    return fg.count(rows, **QUESTION)


def stalled(complete: int, without: int, labelled: float = 0.0) -> dict[str, fg.Cube]:
    """Return days with all their labels, and then days with some or none."""
    return {
        name: day(i, 1.0 if i < complete else labelled)
        for i, name in enumerate(day_names(complete + without))
    }


CROSSED = QUESTION | {"sensitive": ["sex", "age"], "intersections": [["sex", "age"]]}
MEN = {"sex": "M", "age": "old"}
WIDE = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
WIDE_RECALL = {"metric": "true_positive_rate.difference", "between": [-0.3, 0.3]}


def crossed_days(unlabelled: str, *, absent: str = "", count: int = 6) -> dict[str, fg.Cube]:
    """Return days on which few young women are selected, and the rows of a query have no label.

    On the third those of the query ``absent`` are of another sex.
    """
    rng, counts = np.random.default_rng(1), {}
    for t, name in enumerate(day_names(count)):
        rows = pd.DataFrame(
            {"sex": ["F", "M"] * 400, "age": ["old", "old", "young", "young"] * 200}
        )
        few = rows.eval("sex == 'F' and age == 'young'")
        rows["prediction"] = (rng.random(800) < np.where(few, 0.05, 0.5)).astype(int)
        rows["label"] = rng.integers(0, 2, 800).astype(float)
        rows.loc[rows.query(unlabelled).index, "label"] = None
        if absent and t == 2:
            rows.loc[rows.query(absent).index, "sex"] = "X"
        counts[name] = fg.count(rows, **CROSSED)
    return counts


@pytest.mark.parametrize(
    ("unlabelled", "reference", "start"),
    [
        ("sex != ''", {}, {}),
        ("sex == 'M'", {"reference": MEN}, {"start": "2026-01-03"}),
        ("sex == 'M' and age == 'old'", {"reference": MEN}, {}),
        ("age == 'young'", {}, {"start": "2026-01-03"}),
    ],
)
def test_groups_of_an_intersection_are_known_before_their_labels(
    unlabelled: str, reference: dict[str, object], start: dict[str, str]
) -> None:
    """Rules of predictions decide at once, and those of labels wait."""
    settings = {"monitor": {"rules": [WIDE, WIDE_RECALL], "labels_within": 7} | start}
    report = fg.monitor(crossed_days(unlabelled), CROSSED | settings | reference)
    assert (report.exit_code, report.unmatched) == (1, ())
    assert ("sex*age", "F & young") in {(each.feature, each.group) for each in report.alarms}
    recalls = [each for each in report.comparisons if each.metric == WIDE_RECALL["metric"]]
    assert {each.feature for each in recalls} == {"sex", "age", "sex*age"}
    assert {each.state for each in recalls} == {MonitorState.WAITING}


@pytest.mark.parametrize("complete", [1, 10])
@pytest.mark.parametrize("without", [0, 1, 2, 8])
def test_a_monitor_waits_for_labels_that_are_due(complete: int, without: int) -> None:
    """They are due once one later period is there; until then the periods before decide."""
    report = fg.monitor(stalled(complete, without), asked(*RULES, labels_within=1))
    waits = without > 1
    state = MonitorState.WAITING if waits else MonitorState.NO_ALARM
    assert [each.state for each in report.comparisons] == [state, state, MonitorState.NO_ALARM]
    assert (report.state, report.exit_code) == (state, 3 if waits else 0)
    assert report.overdue == tuple(day_names(complete + without - 1)[complete:])
    text = render(report, "openmetrics")
    assert f'fairgauge_monitor_state{{model="counts",state="no alarm"}} {int(not waits)}' in text
    if waits:
        line = render(report, "text", quiet=True)
        assert line.startswith(
            "WAITING FOR LABELS: 2 of 3 comparisons wait for labels that are due, of "
            f"{'1 day' if without == 2 else '7 days'} from {report.overdue[0]} on"
        )
        assert "They are due once 1 later day is there" in " ".join(str(report).split())


def test_an_alarm_stays_one_when_labels_stop() -> None:
    def worse(seed: int) -> fg.Cube:
        rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": 1.0})
        rows["prediction"] = [0, 1] * 100 + [1, 1] * 100
        return fg.count(rows, **QUESTION)

    counts = {name: worse(i) for i, name in enumerate(day_names(10))}
    later = {name: day(1, 0.0) for name in day_names(20)[10:]}
    report = fg.monitor(counts | later, asked(RECALL, labels_within=1))
    assert (report.state, report.exit_code) == (MonitorState.ALARM, 1)
    assert len(report.overdue) == 9


@pytest.mark.parametrize("came", [1, 3], ids=["before they are due", "when they are due"])
def test_late_labels_that_are_copies_leave_no_pass_until_they_are_due(came: int) -> None:
    def run(night: int) -> int:
        counts = {}
        for i, name in enumerate(day_names(night + 1)):
            rng = np.random.default_rng(i)
            rows = pd.DataFrame({"sex": ["F", "M"] * 200, "prediction": rng.integers(0, 2, 400)})
            right = (rng.random(400) < 0.8) | (i == 20)
            rows["label"] = np.where(right, rows.prediction, 1 - rows.prediction).astype(float)
            counts[name] = fg.count(rows.assign(label=None) if i > night - came else rows,
                                    **QUESTION)  # fmt: skip
        return fg.monitor(counts, asked(WIDE_RECALL, labels_within=3)).exit_code

    assert [run(20 + later) for later in range(5)] == [0] * came + [3] * (4 - came) + [0]
