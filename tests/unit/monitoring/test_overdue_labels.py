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


@pytest.mark.parametrize(("without", "waits"), [(7, False), (8, True), (20, True)])
def test_labels_that_stop_are_waited_for_once_they_are_due(without: int, waits: bool) -> None:
    report = fg.monitor(stalled(10, without), asked(*RULES, labels="later"))
    state = MonitorState.WAITING if waits else MonitorState.NO_ALARM
    assert [each.state for each in report.comparisons] == [state, state, MonitorState.NO_ALARM]
    assert (report.state, report.exit_code) == (state, 3 if waits else 0)
    assert report.labels_due == 7
    assert report.overdue == tuple(day_names(10 + without)[10 : 3 + without])
    text = render(report, "openmetrics")
    assert f'fairgauge_monitor_state{{model="counts",state="no alarm"}} {int(not waits)}' in text
    if waits:
        line = render(report, "text", quiet=True)
        days = "1 day" if without == 8 else "13 days"
        assert line.startswith(
            f"WAITING FOR LABELS: 2 of 3 comparisons wait for labels that are due, of {days} "
            "from 2026-01-11 on"
        )
        assert "waiting for labels that are due." in report.comparisons[0].says
        assert "They are due 7 later days after their own." in " ".join(str(report).split())


@pytest.mark.parametrize(("labelled", "waits"), [(0.0, True), (0.3, True), (0.9, False)])
def test_a_due_period_that_enters_with_hardly_a_label_is_not_seen(
    labelled: float, waits: bool
) -> None:
    counts = stalled(10, 6, labelled)
    report = fg.monitor(counts, asked(RECALL, labels="later", labels_within=3))
    assert (report.state is MonitorState.WAITING) == waits
    assert report.overdue == (tuple(day_names(13)[10:]) if waits else ())
    fewer = fg.monitor(dict(list(counts.items())[:12]), asked(RECALL, labels="later"))
    assert fewer.overdue == ()


def test_the_longest_delay_that_runs_saw_decides_when_labels_are_due(tmp_path: Path) -> None:
    history, spec = fg.History(tmp_path), asked(RECALL, labels="later")
    names = day_names(40)
    for i, name in enumerate(names[:15]):
        history.add(name, day(i, 0.0))
        if i >= 9:
            history.add(names[i - 9], day(i - 9), replace=True)  # nine days later
        report = fg.monitor(history, spec)
    assert report.labels_due == 9
    assert report.overdue == ()
    for i in (15, 16):
        history.add(names[i], day(i, 0.0))
        report = fg.monitor(history, spec)
    assert report.overdue == (names[6], names[7])
    assert fg.monitor(history, spec, at=names[14]).labels_due == 7  # what runs saw is not of then
    (tmp_path / "_labels.json").write_text("[")
    assert fg.monitor(history, spec).labels_due == 7
    assert json.loads((tmp_path / "_labels.json").read_text())[0] == 0


def test_an_alarm_stays_one_when_labels_stop() -> None:
    def worse(seed: int) -> fg.Cube:
        rows = pd.DataFrame({"sex": ["F", "M"] * 200, "label": 1.0})
        rows["prediction"] = [0, 1] * 100 + [1, 1] * 100
        return fg.count(rows, **QUESTION)

    counts = {name: worse(i) for i, name in enumerate(day_names(10))}
    later = {name: day(1, 0.0) for name in day_names(20)[10:]}
    report = fg.monitor(counts | later, asked(RECALL, labels="later"))
    assert (report.state, report.exit_code) == (MonitorState.ALARM, 1)
    assert len(report.overdue) == 3
