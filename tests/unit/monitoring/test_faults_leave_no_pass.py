"""A feed with rows that are there twice, or without a group, is not green, whatever it shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render
from monitored_days import day_names

QUESTION = {"prediction": "p", "positive": 1, "sensitive": "g"}
RULE = {"metric": "selection_rate.difference", "between": [-0.3, 0.3]}
ASKED = QUESTION | {"monitor": {"rules": [RULE]}}


def rows(day: int, rate: float = 0.5) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    g = rng.choice(["F", "M", "X"], int(rng.normal(600, 15)))
    return pd.DataFrame({"g": g, "p": (rng.random(len(g)) < np.where(g == "F", rate, 0.5)) * 1})


def monitored(change=None, at: int = 19, days: int = 20, rate: float = 0.5) -> fg.MonitorReport:
    """Return what a monitor states of days, of which one, or several, are changed."""
    parts = {name: rows(i, rate) for i, name in enumerate(day_names(days))}
    for name in day_names(days)[at:] if change is without_x else day_names(days)[at : at + 1]:
        parts[name] = change(parts[name]) if change else parts[name]
    return fg.monitor({name: fg.count(each, **QUESTION) for name, each in parts.items()}, ASKED)


def doubled(part: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([part, part])


def without_x(part: pd.DataFrame) -> pd.DataFrame:
    return part[part.g != "X"]


def test_a_sound_feed_passes():
    report = monitored()
    assert (report.exit_code, report.verdict, report.faults) == (0, Outcome.PASS, ())


@pytest.mark.parametrize(
    ("change", "at"), [(doubled, 19), (doubled, 12), (without_x, 19), (without_x, 17)]
)
def test_a_feed_with_a_fault_is_not_green(change, at):
    report = monitored(change, at)
    assert report.faults
    assert (report.exit_code, report.verdict) == (3, Outcome.INCONCLUSIVE)
    assert "nothing passes until they are corrected" in " ".join(str(report).split())
    assert 'skipped="0" errors="0"' not in render(report, "junit")
    assert "<failure" not in render(report, "junit")


def test_the_same_counts_on_two_days_are_not_green():
    parts = {name: rows(i) for i, name in enumerate(day_names(20))}
    parts[day_names(20)[19]] = parts[day_names(20)[18]]
    report = fg.monitor({n: fg.count(each, **QUESTION) for n, each in parts.items()}, ASKED)
    assert report.exit_code == 3


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("of", [3, 4])
def test_a_doubled_day_is_found_with_two_others_that_are_alike(first, of):
    """Six cells whose rows are all even are one day that came twice, also on the third day."""
    days = [f"2026-03-{day:02d}" for day in range(2, 2 + of)]  # from Monday on
    parts = {day: rows(i) for i, day in enumerate(days)}
    whole = {day: fg.count(each, **QUESTION) for day, each in parts.items()}
    assert fg.monitor(whole, ASKED).exit_code == 0
    twice = whole | {days[first]: fg.count(doubled(parts[days[first]]), **QUESTION)}
    report = fg.monitor(twice, ASKED)
    assert (report.exit_code, [each.period for each in report.faults]) == (3, [days[first]])


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_group_of_a_few_days_withholds_the_pass_for_a_week_alone(times):
    """Of five days with 20 rows, the finding came back 17 days after the last of them."""
    rng = np.random.default_rng(3)

    def day(i: int) -> fg.Cube:
        cells = [*rng.poisson([40, 60, 80, 120]).tolist()]
        found = {"F": dict(zip(("tp", "fn"), cells[:2], strict=True)),
                 "M": dict(zip(("tp", "fn"), cells[2:], strict=True))}  # fmt: skip
        if 4 <= i < 4 + times:
            found["X"] = {"tp": 8 + i % 3, "fn": 12 - i % 2}
        return fg.confusion("g", found)

    question = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "g"}
    counts = {name: day(i) for i, name in enumerate(day_names(34))}
    for last in range(11 + times, 34):
        shown = {name: counts[name] for name in day_names(last)}
        report = fg.monitor(shown, question | {"monitor": {"rules": [RULE]}})
        assert (report.faults, report.exit_code) == ((), 0)


def test_an_alarm_stays_one():
    assert monitored(doubled, 19, rate=0.05).exit_code == 1
