"""A run states what is new since the runs before, of whatever period, and does not repeat it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, RATIO, asked, day_names

import fairgauge as fg
from fairgauge.render import render

if TYPE_CHECKING:
    from collections.abc import Iterator

RECALL = {"metric": "true_positive_rate.difference", "between": [-0.4, 0.4], "groups": "F"}


def rows_of(day: int) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    size = int(rng.poisson(400))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    rows["prediction"] = rng.integers(0, 2, size)
    rows["label"] = rng.integers(0, 2, size).astype(float)
    return rows


def unlabelled(day: int) -> pd.DataFrame:
    return rows_of(day).assign(label=None)


def told(report: fg.MonitorReport) -> list[tuple[str, str, str]]:
    """Return what an alert on the newest period is of."""
    found = report.concerning(report.periods[-1])
    return [(each.problem.value, each.period, each.last) for each in found]


def nights(history: fg.History, steps: Iterator[tuple[int, pd.DataFrame]], spec) -> Iterator:
    """Yield the report after each step, a day and its rows."""
    names = day_names(60)
    for day, rows in steps:
        history.add(names[day], fg.count(rows, **QUESTION), replace=True)
        yield fg.monitor(history, spec)


def test_what_later_periods_show_of_the_first_one_is_stated_once(tmp_path: Path) -> None:
    """Of a lasting finding, each of its periods is stated once."""
    steps = ((t, rows_of(t).assign(sex="M") if t == 0 else rows_of(t)) for t in range(14))
    reports = [*nights(fg.History(tmp_path), steps, asked(RATIO))]
    found = [t for t, each in enumerate(reports) if each.findings]
    first = ("vanished value", day_names(1)[0], day_names(1)[0])
    assert [(t, told(each)) for t, each in enumerate(reports) if told(each)] == [
        (found[0], [first])
    ]
    assert 0 < found[0] < 10
    assert found == [*range(found[0], 14)]


@pytest.mark.parametrize("first", ["rows", "labels"])
def test_what_late_labels_show_is_stated_whichever_run_brings_it(tmp_path, first) -> None:
    """The message of a night may be sent after its last run: what both runs found is in it."""
    spec = asked(RECALL, labels="later", labels_within=3)

    def steps() -> Iterator[tuple[int, pd.DataFrame]]:
        for t in range(30):
            late = [(t - 2, rows_of(t - 2))] if t >= 2 else []
            if t == 22:  # every label of the day equals its prediction
                late = [(20, rows_of(20).assign(label=lambda rows: rows["prediction"] * 1.0))]
            both = [(t, unlabelled(t)), *late]
            yield from both if first == "rows" else reversed(both)

    reports = [*nights(fg.History(tmp_path), steps(), spec)]
    by_night = [each for t, each in enumerate(reports) if t in (0, 1) or t % 2 == 1]
    stated = [each.periods[-1] for each in by_night if told(each)]
    names = day_names(30)
    assert stated == (names[22:24] if first == "rows" else names[22:23])
    assert all(each.findings for each in by_night[23:])


def test_a_query_or_a_run_that_is_repeated_states_the_same(tmp_path: Path) -> None:
    history, spec = fg.History(tmp_path), asked(RATIO)
    steps = ((t, rows_of(t).assign(sex="M") if t == 0 else rows_of(t)) for t in range(14))
    for report in nights(history, steps, spec):
        again = fg.monitor(history, spec)
        assert again.findings == report.findings
        text = render(again, "openmetrics")
        assert f'problem="vanished value"}} {len(told(report))}' in text
        assert fg.monitor_doctor(history, spec).findings == report.findings
        loaded = fg.MonitorReport.from_dict(json.loads(json.dumps(report.to_dict())))
        assert told(loaded) == told(report)


@pytest.mark.parametrize("damage", ["", "[", "[]", "{}", '{"newest": 1, "known": 3}'])
def test_of_a_history_that_no_run_has_followed_nothing_is_new(tmp_path: Path, damage) -> None:
    history = fg.History(tmp_path)
    for t, name in enumerate(day_names(14)):
        rows = rows_of(t).assign(sex="M") if t == 0 else rows_of(t)
        history.add(name, fg.count(rows, **QUESTION))
    (tmp_path / "_findings.json").write_text(damage)
    report = fg.monitor(history, asked(RATIO))
    assert [each.new for each in report.findings] == [False]
    assert told(report) == []
    history.add(day_names(15)[-1], fg.count(rows_of(14), **QUESTION))
    assert told(fg.monitor(history, asked(RATIO))) == []


def test_a_run_that_is_killed_loses_no_finding(tmp_path: Path) -> None:
    """What its period showed is new with the next one."""
    history, spec = fg.History(tmp_path), asked(RATIO)
    names = day_names(22)
    for t in range(20):
        history.add(names[t], fg.count(rows_of(t), **QUESTION))
        assert told(fg.monitor(history, spec)) == []
    history.add(names[20], fg.count(pd.concat([rows_of(20)] * 4), **QUESTION))  # and no decision
    history.add(names[21], fg.count(rows_of(21), **QUESTION))
    assert {each[1] for each in told(fg.monitor(history, spec))} == {names[20]}


def test_periods_without_a_label_are_not_stated_again_when_labels_come(tmp_path: Path) -> None:
    """They were "no labels", then "missing values" of the same days, as if of the good night."""
    steps = ((t, unlabelled(t) if 9 <= t < 12 else rows_of(t)) for t in range(14))
    reports = [*nights(fg.History(tmp_path), steps, asked(RECALL))]
    assert [t for t, each in enumerate(reports) if told(each)] == [9, 10, 11]
    assert [each.problem.value for each in reports[12].findings] == ["missing values"]


@pytest.mark.parametrize("labelled", [0, 2])
def test_periods_that_wait_for_labels_lack_no_value(tmp_path: Path, labelled) -> None:
    """Nor do those with too few labels to show it; what one night lost was told of later ones."""

    def day(t: int) -> pd.DataFrame:
        rows = rows_of(t)
        if t >= 17:
            rows["label"] = 1.0
        return rows.assign(label=rows["label"].where(rows.index < labelled)) if t > 17 else rows

    history = fg.History(tmp_path)
    for t, name in enumerate(day_names(22)):
        history.add(name, fg.count(day(t), **QUESTION))
    (found,) = (
        each
        for each in fg.monitor_doctor(history, asked(RECALL, labels="later")).findings
        if each.problem.value == "vanished value"
    )
    assert (found.value, found.period, found.last) == ("0", *2 * day_names(18)[-1:])
