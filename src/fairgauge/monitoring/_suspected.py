"""What may be wrong with one period, the kinds of periods, and how much their shares vary."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fairgauge.monitoring.periods import MONTHS, Length, Period
from fairgauge.results.monitor_results import HistoryProblem

RARE = math.log(1e-6)
"""The log of the probability below which something is no coincidence."""
FEWEST_PERIODS = 7
RECENT_PERIODS = 14
DEVIATIONS = 6.0
SHARE, DRIFT = 0.05, 0.03
WEEK = 7
SATURDAY = 5
_SUPPOSED = 4
"""How many degrees of freedom count as showing the variation that is supposed beforehand."""
LAGS = {
    Length.HOUR: tuple(168 * k for k in (1, 2, 3, 4)),
    Length.DAY: (7, 14, 21, 28),
    Length.WEEK: (1, 2, 3, 4),
    **dict.fromkeys(MONTHS, (1, 2, 3, 4)),
}
"""The same weekdays before a period: by how many periods they are earlier."""


class Suspected(NamedTuple):
    """What may be wrong with one period, by its number."""

    at: int
    problem: HistoryProblem
    column: str | None = None
    value: str | None = None
    other: str | None = None
    rows: int | None = None
    share: float | None = None
    expected: float | None = None


def kind_of(period: Period) -> int:
    """Return which periods one is compared with: working days or weekends, of hours the same."""
    hour = period.start.hour if period.length is Length.HOUR else 0
    return 2 * hour + at_weekend(period)


def at_weekend(period: Period) -> bool:
    """Return whether a day or an hour is on a Saturday or Sunday."""
    days = period.length in (Length.HOUR, Length.DAY)
    return days and period.start.weekday() >= SATURDAY


def slot_of(period: Period) -> int:
    """Return the weekday of a day, and the hour of an hour."""
    if period.length is Length.DAY:
        return period.start.weekday()
    return period.start.hour if period.length is Length.HOUR else 0


def ordinal(period: Period) -> int:
    """Return the number of a period among all of its length."""
    start = period.start
    if period.length in MONTHS:
        return (start.year * 12 + start.month - 1) // MONTHS[period.length]
    hours = int((start - dt.datetime(1970, 1, 5, tzinfo=dt.UTC)).total_seconds()) // 3_600
    return hours // {Length.HOUR: 1, Length.DAY: 24, Length.WEEK: 168}[period.length]


def all_among(rows: float, some: float, every: float) -> float:
    """Return the log of the probability that so many of all rows are all among some of them."""
    if rows > some:
        return -math.inf
    logs = [math.lgamma(n + 1) - math.lgamma(n - rows + 1) for n in (some, every)]
    return logs[0] - logs[1]


def dispersion(series: Iterable[Sequence[tuple[int, int]]], supposed: float) -> float:
    """Return by how much shares of rows vary more by period than by sampling; 1 if not.

    It is Pearson's statistic by its degrees of freedom, with four more of what is ``supposed``,
    which decides where the periods are few, or hardly any row is of one of the two kinds. Each of
    the ``series`` is the rows of a value and all rows, by period.
    """
    squares, freedom = 0.0, 0.0
    for counts in series:
        of, every = np.array(counts, dtype=np.float64).reshape(-1, 2).T
        of, every = of[every > 0], every[every > 0]
        share = float(of.sum() / every.sum()) if len(every) > 1 else 0.0
        if 0 < share < 1:
            found = float(((of - every * share) ** 2 / (every * share * (1 - share))).sum())
            known = min(len(every) - 1, float(min(of.sum(), (every - of).sum())) / supposed)
            squares += found * known / (len(every) - 1)
            freedom += known
    return max(1.0, (squares + _SUPPOSED * supposed) / (freedom + _SUPPOSED))
