"""Labels that stop coming: a monitor waits for them, and is never green without them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.render import render
from fairgauge.results.monitor_results import MonitorState

if TYPE_CHECKING:
    from pathlib import Path

RECALL = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1], "groups": "F"}
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
    settings = {"monitor": {"rules": [WIDE, WIDE_RECALL], "labels": "later"} | start}
    report = fg.monitor(crossed_days(unlabelled), CROSSED | settings | reference)
    assert (report.exit_code, report.unmatched) == (1, ())
    assert ("sex*age", "F & young") in {(each.feature, each.group) for each in report.alarms}
    recalls = [each for each in report.comparisons if each.metric == WIDE_RECALL["metric"]]
    assert {each.feature for each in recalls} == {"sex", "age", "sex*age"}
    assert {each.state for each in recalls} == {MonitorState.WAITING}


def test_a_period_may_have_no_row_of_the_reference_of_an_intersection() -> None:
    counts = crossed_days("sex == ''", absent="sex == 'M' and age == 'old'")
    report = fg.monitor(counts, CROSSED | {"monitor": {"rules": [WIDE]}, "reference": MEN})
    assert ("sex*age", "F & young") in {(each.feature, each.group) for each in report.alarms}
    assert report.unmatched == ()


@pytest.mark.parametrize("complete", [1, 10])
@pytest.mark.parametrize("without", [0, 1, 8])
def test_a_monitor_waits_for_the_first_label_that_is_missing(complete: int, without: int) -> None:
    report = fg.monitor(stalled(complete, without), asked(*RULES, labels="later"))
    waits = without > 0
    state = MonitorState.WAITING if waits else MonitorState.NO_ALARM
    assert [each.state for each in report.comparisons] == [state, state, MonitorState.NO_ALARM]
    assert (report.state, report.exit_code) == (state, 3 if waits else 0)
    assert report.labels_due == 0
    assert report.overdue == tuple(day_names(complete + without)[complete:])
    text = render(report, "openmetrics")
    assert f'fairgauge_monitor_state{{model="counts",state="no alarm"}} {int(not waits)}' in text
    if waits:
        line = render(report, "text", quiet=True)
        assert line.startswith(
            "WAITING FOR LABELS: 2 of 3 comparisons wait for labels that are due, of "
            f"{'1 day' if without == 1 else '8 days'} from {report.overdue[0]} on"
        )
        assert "No run has seen labels come after their rows" in " ".join(str(report).split())


def test_before_the_first_label_nothing_is_due() -> None:
    report = fg.monitor(stalled(0, 3), asked(RECALL, labels="later"))
    assert (report.state, report.exit_code) == (MonitorState.WAITING, 3)
    assert (report.labels_due, report.overdue, report.findings) == (None, (), ())


@pytest.mark.parametrize(("labelled", "waits"), [(0.0, True), (0.3, True), (0.9, False)])
def test_a_due_period_that_enters_with_hardly_a_label_is_not_seen(
    labelled: float, waits: bool
) -> None:
    counts = stalled(10, 6, labelled)
    report = fg.monitor(counts, asked(RECALL, labels="later", labels_within=3))
    assert (report.state is MonitorState.WAITING) == waits
    assert report.overdue == (tuple(day_names(13)[10:]) if waits else ())
    assert report.labels_due == 3
    if waits:
        due = "They are due once 3 later days are there (labels_within)."
        assert due in " ".join(str(report).split())


@pytest.mark.parametrize(("wait", "first"), [(1, "rows"), (5, "labels")])
def test_labels_are_due_once_they_wait_longer_than_runs_saw(
    tmp_path: Path, wait: int, first: str
) -> None:
    """Whether a night brings first the new rows or first the labels of earlier ones."""
    history, spec = fg.History(tmp_path), asked(RECALL, labels="later")
    names, states = day_names(60), []

    def night(today: int, labelled: int | None) -> None:
        steps = {"rows": (names[today], day(today, 0.0), False)}
        if labelled is not None and labelled >= 0:
            steps["labels"] = (names[labelled], day(labelled), True)
        for step in sorted(steps, key=lambda each: each != first):
            name, counts, replace = steps[step]
            history.add(name, counts, replace=replace)
            states.append(fg.monitor(history, spec).state)

    for today in range(16):
        night(today, today - wait)
    assert MonitorState.WAITING not in states[2 * wait + 2 :]
    due = wait + (first == "rows")
    assert fg.monitor(history, spec).labels_due == due
    before = fg.monitor(history, spec, at=names[14])
    assert (before.labels_due, before.overdue) == (due, ())
    for today in range(16, 19):  # no labels any more
        night(today, None)
        late = today - 16 + wait >= due
        assert states[-1] is (MonitorState.WAITING if late else MonitorState.NO_ALARM)
    (tmp_path / "_labels.json").write_text("[")
    assert fg.monitor(history, spec).labels_due == 0
    assert json.loads((tmp_path / "_labels.json").read_text())


def test_one_repaired_day_of_an_outage_leaves_the_others_overdue(tmp_path: Path) -> None:
    history, spec, names = fg.History(tmp_path), asked(RECALL, labels="later"), day_names(14)
    for t, name in enumerate(names):
        history.add(name, day(t, 1.0 if t < 10 else 0.0))
        report = fg.monitor(history, spec)
    assert report.overdue == tuple(names[10:])
    history.add(names[10], day(10), replace=True)
    report = fg.monitor(history, spec)
    assert (report.overdue, report.exit_code) == (tuple(names[11:13]), 3)


def test_an_alarm_stays_one_when_labels_stop() -> None:
    def worse(seed: int) -> fg.Cube:
        rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": 1.0})
        rows["prediction"] = [0, 1] * 100 + [1, 1] * 100
        return fg.count(rows, **QUESTION)

    counts = {name: worse(i) for i, name in enumerate(day_names(10))}
    later = {name: day(1, 0.0) for name in day_names(20)[10:]}
    report = fg.monitor(counts | later, asked(RECALL, labels="later"))
    assert (report.state, report.exit_code) == (MonitorState.ALARM, 1)
    assert len(report.overdue) == 10


@pytest.mark.parametrize("metric", ["true_positive_rate", "balanced_accuracy", "auc"])
@pytest.mark.parametrize(("rows", "state"), [(191, "waiting for labels"), (9, "insufficient data")])
def test_a_new_group_without_a_label_yet_waits_and_is_not_small(
    metric: str, rows: int, state: str
) -> None:
    """It had "fewer rows than min_n (20)" where 191 had no label yet."""
    question = {k: v for k, v in QUESTION.items() if k != "prediction"} | {"score": "score"}
    question |= {"threshold": 0.5, "reference": {"sex": "M"}}
    draw = np.random.default_rng(1)

    def counted(group: str, *, labelled: bool) -> fg.Cube:
        table = pd.DataFrame(
            {"sex": [group] * rows + ["M"] * 400, "score": draw.random(rows + 400)}
        )
        return fg.count(table.assign(label=(draw.random(rows + 400) < 0.5) if labelled else None),
                        **question)  # fmt: skip

    counts = {name: counted("M", labelled=True) for name in day_names(8)}
    counts["2026-01-09"] = counted("f", labelled=False)
    rule = {"metric": f"{metric}.difference", "between": [-0.5, 0.5], "groups": "f"}
    settings = {"rules": [rule], "labels": "later", "labels_within": 3}
    report = fg.monitor(counts, question | {"monitor": settings})
    assert [(str(each.state), each.group) for each in report.comparisons] == [(state, "f")]
    assert report.exit_code == 3
    line = render(report, "text", quiet=True)
    if rows < 20:
        assert "1 of 1 comparison has fewer rows than min_n (20)" in line
        return
    assert line.startswith(
        "WAITING FOR LABELS: 1 of 1 comparison has no period with all labels; 1 period waits"
    )
