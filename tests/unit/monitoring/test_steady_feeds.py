"""Steady feeds are silent, other volumes are found, and features as strata change nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryFinding, HistoryProblem, MonitorState

NIGHTS = 13
RULES = [
    {"metric": "selection_rate.difference", "between": [-0.15, 0.15]},
    {"metric": "true_positive_rate.difference", "between": [-0.2, 0.2]},
]
SCORED = {k: v for k, v in QUESTION.items() if k != "prediction"}
FEEDS = {
    "labels with the rows": (QUESTION, {}, 0),
    "strata": (QUESTION | {"strata": "branch"}, {}, 0),
    "labels after three days": (QUESTION, {"labels_within": 7}, 3),
    "labels due after five": (QUESTION | {"strata": "branch"},
                              {"labels_within": 5}, 4),
    "scores": (SCORED | {"score": "score", "threshold": 0.5}, {"labels_within": 7}, 2),
}  # fmt: skip


def rows_of(day: int) -> pd.DataFrame:
    """Return the rows of a day: a third at weekends, and up to 5% more or less at random."""
    rng = np.random.default_rng([0, day])
    usual = 600 if day % 7 < 5 else 200
    size = int(rng.poisson(usual * rng.lognormal(0, 0.05)))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M", "X"], size, p=[0.45, 0.45, 0.1])})
    rows["branch"] = rng.choice(list("abcd"), size, p=[0.4, 0.3, 0.2, 0.1])
    rows["score"] = rng.random(size).round(3)
    rows["prediction"] = (rows["score"] > 0.5).astype(int)
    rows["label"] = (rng.random(size) < 0.25 + 0.5 * rows["score"]).astype(float)
    return rows


@pytest.mark.parametrize("feed", list(FEEDS))
def test_every_night_of_a_steady_feed_is_silent(tmp_path: Path, feed: str) -> None:
    question, settings, wait = FEEDS[feed]
    history, names = fg.History(tmp_path), day_names(NIGHTS)
    spec = question | {"monitor": {"rules": RULES, **settings}}
    for t, name in enumerate(names):
        rows = rows_of(t)
        history.add(name, fg.count(rows.assign(label=None) if wait else rows, **question))
        if wait and t >= wait:
            late = fg.count(rows_of(t - wait), **question)
            history.add(names[t - wait], late, replace=True)
        report = fg.monitor(history, spec)
        assert report.findings == report.alarms == report.concerning(name) == ()
        if t > 2 * wait:  # a first period has its labels, and a run saw for how long it had none
            assert (report.state, report.exit_code) == (MonitorState.NO_ALARM, 0)


RULE = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}


def day(number: int, times: float = 1.0) -> fg.Cube:
    """Return other rows on every day: 60% at weekends, and a fifth on Sundays."""
    rng = np.random.default_rng([number, int(10 * times)])
    weekday = (number + 3) % 7
    usual = 1500 * (1.0 if weekday < 5 else 0.6 if weekday == 5 else 0.2)
    cells = rng.poisson(usual * times * rng.lognormal(0, 0.04) / 8, (2, 4))
    held = [dict(zip(("tp", "fn", "fp", "tn"), map(int, of), strict=True)) for of in cells]
    return fg.confusion("sex", dict(zip("FM", held, strict=True)))


@pytest.mark.parametrize("times", [0.4, 1.0, 2.0])
def test_a_day_of_another_volume_is_found_in_the_second_week(times: float) -> None:
    names, spec = day_names(18), QUESTION | {"monitor": {"rules": [RULE]}}
    usual = [day(i) for i in range(18)]
    for last in range(7, 18):
        counts = dict(zip(names, [*usual[:last], day(last, times)], strict=False))
        found = [(each.problem, each.period) for each in fg.monitor(counts, spec).findings]
        volume = [(HistoryProblem.VOLUME, names[last])]
        # the Sunday before might have been a holiday: twice its rows are fewer than Saturday's
        unknown = times == 1.0 or (last, times) == (10, 2.0)
        assert (last, found) == (last, [] if unknown else volume)


@pytest.mark.parametrize("holidays", [(0, 7), (1, 15)])
def test_no_later_day_of_a_weekday_is_suspected_after_early_holidays(holidays) -> None:
    names, spec = day_names(30), QUESTION | {"monitor": {"rules": [RULE]}}
    counts = {name: day(i, 0.5 if i in holidays else 1.0) for i, name in enumerate(names)}
    found = {(each.period, each.last) for each in fg.monitor(counts, spec).findings}
    assert found <= {(names[i], names[i]) for i in holidays}


DAYS = 10
SELECTED = {"metric": "selection_rate.difference", "between": [-0.5, 0.5]}
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5]}
Spoil = Callable[[pd.DataFrame], pd.DataFrame]


def spoilt(column: str, value: object, rows: int, region: str) -> Spoil:
    """Return what gives the first rows of a region another value in a column."""

    def spoil(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[table.index[table.region == region][:rows], column] = value
        return table

    return spoil


SPOILT: dict[str, tuple[HistoryProblem, Spoil]] = {
    "a new group": (HistoryProblem.NEW_VALUE, spoilt("region", "Centre", 40, "North")),
    "no label": (HistoryProblem.MISSING_VALUES, spoilt("label", None, 120, "South")),
    "doubled rows": (HistoryProblem.DOUBLED_ROWS, lambda rows: pd.concat([rows, rows])),
}


def findings(spoil: Spoil, strata: str | None) -> tuple[HistoryFinding, ...]:
    question = QUESTION | {"sensitive": ["sex", "region"], "strata": strata}
    draw = np.random.default_rng(1)
    days = {}
    for i, name in enumerate(day_names(DAYS)):
        held = {"sex": draw.choice(["F", "M"], 400), "region": draw.choice(["North", "South"], 400)}
        for each in ("label", "prediction"):
            held[each] = draw.integers(0, 2, 400).astype(object)
        rows = pd.DataFrame(held)
        days[name] = fg.count(spoil(rows) if i == DAYS - 1 else rows, **question)
    monitor: dict[str, Any] = {"rules": [SELECTED, RECALL], "labels_within": 1}
    later = fg.count(rows, **question)
    days["2026-01-11"] = later  # so that the labels of the last day are due
    return fg.monitor_doctor(days, question | {"monitor": monitor}).findings


@pytest.mark.parametrize("case", SPOILT)
def test_findings_with_a_feature_as_stratum_are_those_without_strata(case: str) -> None:
    """Each row of it counted twice: "80 rows with Centre" where there were 40."""
    problem, spoil = SPOILT[case]
    expected = findings(spoil, None)
    assert problem in {each.problem for each in expected}
    assert findings(spoil, "region") == expected
