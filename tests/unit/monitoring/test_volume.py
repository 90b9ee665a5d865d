"""The volume of a feed: a disturbed day is found, and no other day is named in its place."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from fairgauge.monitoring._history_checks import _jumps
from fairgauge.monitoring.periods import Length, Period

MONDAY = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
FEEDS = {
    "small": [300] * 7,
    "large": [3_000] * 7,
    "weekly": [2_000, 2_100, 2_000, 1_900, 1_700, 700, 500],
    "weekends": [2_000] * 5 + [600] * 2,
}
FACTORS = [0.1, 1 / 3, 0.5, 2.0, 3.0]


def feed(name: str, length: int, seed: int) -> np.ndarray:
    """Return the rows of days that vary by 4% beside sampling."""
    rng = np.random.default_rng([seed, 2])
    usual = np.array([FEEDS[name][t % 7] for t in range(length)])
    return rng.poisson(usual * rng.lognormal(0, 0.04, length)).astype(float)


def named(rows: np.ndarray) -> set[int]:
    """Return the days that are far from what is usual."""
    periods = [Period(MONDAY + dt.timedelta(days=t), Length.DAY) for t in range(len(rows))]
    return {*np.flatnonzero(np.isfinite(_jumps(periods, np.log(np.maximum(rows, 1))))).tolist()}


@pytest.mark.parametrize("name", FEEDS)
def test_a_steady_feed_has_no_jump_at_any_night(name: str) -> None:
    for seed in range(4):
        rows = feed(name, 45, seed)
        assert [named(rows[:n]) for n in range(8, 46)] == [set()] * 38


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", ["small", "large"])
def test_a_disturbed_day_is_found_and_no_other(name: str, factor: float) -> None:
    """Also one of the first two weeks, by the three weeks after it."""
    found = 0
    for day in range(28):
        rows = feed(name, 50, 1)
        rows[day] *= factor
        assert named(rows) <= {day}, day
        found += day in named(rows)
    assert found >= 27


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", ["weekly", "weekends"])
def test_no_other_day_is_named_where_volume_has_a_weekly_course(name: str, factor: float) -> None:
    found = 0
    for day in range(28):
        rows = feed(name, 50, 3)
        rows[day] *= factor
        assert named(rows) <= {day}, day
        assert day in named(rows) or day % 7 >= 5, day  # a weekend has few days to be known by
        found += day in named(rows)
    assert found >= 20


@pytest.mark.parametrize("factor", [1 / 3, 0.5, 2.0])
@pytest.mark.parametrize("name", FEEDS)
def test_no_other_day_is_named_at_any_night(name: str, factor: float) -> None:
    """A day a week after a bad one is no jump: it is the bad one that is none of its weekday."""
    for day in range(7, 14):
        rows = feed(name, 40, 5)
        rows[day] *= factor
        for night in range(day + 1, 41):
            assert named(rows[:night]) <= {day}, (day, night)


@pytest.mark.parametrize("factor", [0.05, 1 / 3, 0.5, 2.0, 3.0])
@pytest.mark.parametrize("begin", [10, 17, 19])
def test_a_lasting_change_accuses_no_day_before_it(begin: int, factor: float) -> None:
    for name in FEEDS:
        rows = feed(name, 45, 1)
        rows[begin:] *= factor
        nights = [named(rows[:night]) for night in range(begin + 1, 46)]
        assert all(min(each, default=begin) >= begin for each in nights), name
        assert sum(begin + i in each for i, each in enumerate(nights)) >= 0.8 * len(nights)
