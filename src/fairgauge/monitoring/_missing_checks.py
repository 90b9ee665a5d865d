"""Checks of missing values: shares that jump or drift, of all rows or of a group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fairgauge.monitoring._period_rows import CountedRows
from fairgauge.monitoring._suspected import (
    DEVIATIONS,
    DRIFT,
    FEWEST_PERIODS,
    LAGS,
    RECENT_PERIODS,
    SHARE,
    WEEK,
    Suspected,
    dispersion,
    kind_of,
    ordinal,
    slot_of,
)
from fairgauge.monitoring.periods import Length, Period
from fairgauge.results.monitor_results import HistoryProblem
from fairgauge.stats.arrays import Array

_FEW = 5
_DESIGN, _ALIKE = 3.3, 192
"""Until the periods show it, the variance is supposed to be 3.3 times that of sampling.

With six deviations this is as 10 times with 3.5. A period of more than 634 rows is supposed to vary
as much as one of 192 does by sampling, as shares vary by period however many rows there are.
"""


class _MissingShares(NamedTuple):
    """Shares of missing values by period, and where they are not the usual ones."""

    rows: Array
    share: Array
    usual: Array
    suspect: Array


def check_missing(
    periods: Sequence[Period],
    counted: Sequence[CountedRows],
    later: Mapping[str, int],
    overdue: set[str],
) -> Iterator[Suspected]:
    """Yield shares of missing values that jump, or that drift from those of the first weeks.

    Labels and predictions may be missing in one group alone: it is then named, also where it is
    too small to move the share of all rows. Periods whose values are not due yet are not looked at.
    """
    for column in dict.fromkeys(name for each in counted for name in each.missing):
        due = max(len(counted) - later.get(column, 0), 0)
        if not due:
            continue
        held = counted[:due]
        every = _shares(
            periods, [each.missing.get(column, 0) for each in held], [e.rows for e in held]
        )
        named = [*_missing_in_groups(periods, held, column, every)]
        problem = HistoryProblem.MISSING_VALUES
        if column in later:
            problem = HistoryProblem.MISSING_LABELS
        yield from (each._replace(problem=problem) for each in named)
        apart = {each.at for each in named}
        for t in np.flatnonzero(every.suspect).tolist():
            if t in apart or (column in later and str(periods[t]) in overdue):
                continue
            yield Suspected(
                t, problem, column, rows=int(every.rows[t]),
                share=float(every.share[t]), expected=float(every.usual[t]),
            )  # fmt: skip


def _missing_in_groups(
    periods: Sequence[Period], counted: Sequence[CountedRows], column: str, every: _MissingShares
) -> Iterator[Suspected]:
    """Yield the groups whose shares of missing values are not usual, where all rows' is not it."""
    for feature in dict.fromkeys(f for each in counted for f in each.lacking.get(column, {})):
        groups = [each.lacking.get(column, {}).get(feature, {}) for each in counted]
        sizes = [each.values.get(feature, {}) for each in counted]
        found: dict[str, _MissingShares] = {}
        for group in dict.fromkeys(name for each in sizes for name in each):
            if not any(group in each for each in groups):
                continue
            missing, rows = ([each.get(group, 0) for each in held] for held in (groups, sizes))
            found[group] = _shares(periods, missing, rows)
        for t in range(len(counted)):
            suspect = {name: each for name, each in found.items() if each.suspect[t]}
            if every.suspect[t] and not any(_apart(each, every, t) for each in suspect.values()):
                continue
            for name, each in suspect.items():
                yield Suspected(
                    t, HistoryProblem.MISSING_VALUES, column, name, feature, int(each.rows[t]),
                    float(each.share[t]), float(each.usual[t]),
                )  # fmt: skip


def _apart(group: _MissingShares, every: _MissingShares, t: int) -> bool:
    """Return whether a group lacks values in another share of its rows than all rows do."""
    variance = every.share[t] * (1 - every.share[t]) / group.rows[t]
    far = max(SHARE, DEVIATIONS * math.sqrt(variance))
    return bool(abs(group.share[t] - every.share[t]) > far)


def _shares(
    periods: Sequence[Period], missing: Sequence[int], sizes: Sequence[int]
) -> _MissingShares:
    """Return shares of missing values: what is usual, and which are suspect.

    Each period is compared with those of its kind before it that are not suspect; the first ones,
    where only more may be missing, also with those after them. What does not jump may drift.
    """
    rows = np.maximum(sizes, 1).astype(np.float64)
    share, usual = np.array(missing) / rows, np.full(len(rows), np.nan)
    order, counts = [t for t in range(len(sizes)) if sizes[t]], [*zip(missing, sizes, strict=False)]
    lag, at = LAGS[periods[0].length][0], {ordinal(each): t for t, each in enumerate(periods)}
    known = np.zeros(len(rows), dtype=int)
    for forward, times in ((True, order), (False, order[::-1])):
        alike: dict[int, list[int]] = {}
        for t in times:
            pool = alike.setdefault(kind_of(periods[t]), [])
            others = pool[-RECENT_PERIODS:]
            known[t] = len(others) if forward else known[t]
            looked = (forward or known[t] < _FEW) and np.isnan(usual[t])
            before = at.get(ordinal(periods[t]) - lag, t)
            of_weekday = usual[before:t]  # what comes back after a week is of the weekday
            again = len(of_weekday) and not np.isnan(of_weekday[0]) and np.isnan(of_weekday).any()
            if looked and not again and _differ([counts[t]], [counts[s] for s in others], SHARE):
                ours = sum(missing[s] for s in others) / sum(sizes[s] for s in others)
                if share[t] > ours or (forward and len(others) >= FEWEST_PERIODS):
                    usual[t] = ours
            if np.isnan(usual[t]):
                pool.append(t)
    _drifts(periods, order, counts, usual)
    return _MissingShares(rows, share, usual, ~np.isnan(usual))


def _drifts(
    periods: Sequence[Period],
    order: Sequence[int],
    counts: Sequence[tuple[int, int]],
    usual: Array,
) -> None:
    """Compare seven periods together with the first 14, of hours the same, none of them suspect."""
    lines: dict[int, list[int]] = {}
    for t in [t for t in order if np.isnan(usual[t])]:
        line = lines.setdefault(slot_of(periods[t]) if periods[t].length is Length.HOUR else 0, [])
        line.append(t)
        first = [counts[s] for s in line[: min(2 * WEEK, len(line) - WEEK)]]
        recent = [counts[s] for s in line[-WEEK:]]
        if len(first) >= FEWEST_PERIODS and _differ(recent, first, DRIFT):
            usual[t] = sum(of for of, _ in first) / sum(every for _, every in first)


def _differ(
    some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]], least: float
) -> bool:
    """Return whether the share of rows in some periods is not that of others, two or more.

    It differs by more than ``least`` and by six deviations: the log of the likelihood ratio of two
    shares to one is half the square of their number where the share varies by sampling alone, and
    as many times that as it varies more. Each period is the number of such rows, and of all.
    """
    if len(others) < 2:
        return False
    sums = [[sum(each) for each in zip(*periods, strict=True)] for periods in (some, others)]
    shares = [of / every for of, every in sums]
    if abs(shares[0] - shares[1]) <= least:
        return False
    both = sum(of for of, _ in sums) / sum(every for _, every in sums)
    ratio = sum(
        every * sum(a * math.log(a / b) for a, b in ((p, both), (1 - p, 1 - both)) if a > 0)
        for (_, every), p in zip(sums, shares, strict=True)
    )
    typical = max(every for _, every in (*some, *others))
    varied = dispersion([others], max(_DESIGN, typical / _ALIKE))
    return bool(2 * ratio > DEVIATIONS**2 * varied)
