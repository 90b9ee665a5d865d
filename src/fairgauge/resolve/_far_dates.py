"""Dates that are far from all others, as those are that are written where no date is known."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

import numpy as np

from fairgauge.cube.cube import Sums
from fairgauge.values import Value, name_of

_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:[T ].*)?")
_YEAR = re.compile(r"(19|20)\d\d|9999")
_MONTHS, _DAYS = 12, 31
_YEARS_BEFORE, _YEARS_AFTER = 20, 10
"""Years without a date from which those before, and those after, are far from the others.

Decisions may be of long ago, while none is known for years to come.
"""
_YEARS_AHEAD = 2
"""Years from the beginning of this one, after which no decision is made yet."""


def far_dates(values: Sequence[Value], rows: Sums) -> tuple[tuple[Value, int], ...]:
    """Return the dates, or years, that are far from most of the others, with the rows of each.

    Other numbers than dates have none.

    >>> dates = ["1900-01-01", "2024-01-15", "2024-03-02", "9999-12-31"]
    >>> far_dates(dates, np.array([1, 20, 30, 4]))
    (('1900-01-01', 1), ('9999-12-31', 4))
    >>> far_dates([20240115, 20240302, 99991231], np.array([1, 1, 1]))
    ((99991231, 1),)
    >>> far_dates([1, 9999], np.array([1, 1]))
    ()
    """
    held = [(each, int(n)) for each, n in zip(values, rows.tolist(), strict=True) if n]
    years = [_in_years(name_of(value)) for value, _ in held]
    if not held or None in years:
        return ()
    at = np.array(years, dtype=np.float64)
    order = np.argsort(at, kind="stable")
    gaps = np.diff(at[order])
    part = np.empty(len(at), dtype=np.int64)
    part[order] = np.cumsum([0, *(gaps >= _YEARS_AFTER)])
    rows_of = np.array([n for _, n in held])
    most = int(np.argmax(np.bincount(part, 1 + rows_of / (1 + rows_of.sum()))))  # then of most rows
    low, high = at[part == most].min(), at[part == most].max()
    far = (at >= high + _YEARS_AFTER) | (at <= low - _YEARS_BEFORE)
    ahead = at > dt.date.today().year + _YEARS_AHEAD
    if rows_of[ahead].sum() < rows_of[~ahead].sum():  # else they are of a simulation
        far |= ahead
    return tuple(each for each, odd in zip(held, far, strict=True) if odd)


def _in_years(text: str) -> float | None:
    """Return a date or a year in years, about; None for any other text."""
    if _YEAR.fullmatch(text):
        return float(text)
    found = _DAY.fullmatch(text)
    if found is None:
        return None
    year, month, day = map(int, found.groups())
    if month not in range(1, _MONTHS + 1) or day not in range(1, _DAYS + 1):
        return None
    return year + (month - 1) / _MONTHS + (day - 1) / (_MONTHS * _DAYS)
