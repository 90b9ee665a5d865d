"""Attribution: what an alarm is about, and what is now.

The periods from the beginning of a change to its alarm are chosen by their values, which overstate
the change: an interval of them would miss its value too often, so they have none. The periods after
the alarm are not chosen, and their interval is an ordinary one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import ReferenceKind
from fairgauge.monitoring._comparison_counts import (
    ComparisonId,
    SideCounts,
    counts_of,
    sides_by_class,
)
from fairgauge.monitoring._period_cubes import PeriodCubes, sum_cubes, without_rows
from fairgauge.monitoring.monitor_spec import MonitoredRate
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.references import resolve_references
from fairgauge.resolve.sides import CountsBySide
from fairgauge.results.estimates import as_number
from fairgauge.results.monitor_results import (
    PERIODS_NOW,
    Alarm,
    ChangeParts,
    Currently,
    PooledPeriods,
)
from fairgauge.stats.arrays import Array
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.decomposition import kitagawa
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.sequential import Contrasted, Tolerated, likeliest_start

LEVEL = 0.95


def estimates(counts: Array, by: Contrasted) -> tuple[Array, Array, Array]:
    """Return contrasts with their 95% confidence intervals.

    Parameters
    ----------
    counts : array of shape (..., 4)
        x_d, n_d, x_a, n_a.
    by : {"difference", "ratio", "rate"}

    Returns
    -------
    value, low, high : arrays of shape (...)
        nan where undefined.
    """
    x_d, n_d, x_a, n_a = np.moveaxis(counts, -1, 0)
    z = critical(LEVEL)
    with np.errstate(divide="ignore", invalid="ignore"):
        d, a = x_d / n_d, x_a / n_a
        if by == "rate":
            value, (low, high) = d, wilson(x_d, n_d, z)
        elif by == "difference":
            value, (low, high) = d - a, newcombe(x_d, n_d, x_a, n_a, z)
        else:
            value, (low, high) = d / a, mover_wilson_ratio(x_d, n_d, x_a, n_a, z)
    known = ~np.isnan(value)
    return value, np.where(known, low, np.nan), np.where(known, high, np.nan)


def pooled(
    counts: Array,
    rate: MonitoredRate,
    first: str | None,
    last: str | None,
    *,
    chosen: bool = True,
) -> PooledPeriods:
    """Return a comparison over several periods, from their counts of shape (periods, 4).

    Periods that were ``chosen`` by their values have no interval.
    """
    total = counts.sum(axis=0)
    value, low, high = (as_number(float(each)) for each in estimates(total, rate.by))
    group, reference = (as_number(float(each)) for each in rates_of(total, rate))
    n_group, n_reference = (int(each) for each in sizes_of(total, rate))
    return PooledPeriods(
        first=first,
        last=last,
        value=value,
        low=None if chosen else low,
        high=None if chosen else high,
        rate_group=group,
        rate_reference=reference,
        n_group=n_group,
        n_reference=n_reference,
    )


def rates_of(counts: Array, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the rates of the group and of its reference, nan where undefined.

    ``counts`` has shape (..., 4); of a rate alone the reference is nan.
    """
    x_d, n_d, x_a, n_a = np.moveaxis(counts, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        d, a = x_d / n_d, x_a / n_a
    if rate.by == "rate":
        return d, np.full_like(d, np.nan)
    return (a, d) if rate.turned else (d, a)


def sizes_of(counts: Array, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the denominators of the group and of its reference; 0 where there is none."""
    _, n_d, _, n_a = np.moveaxis(counts, -1, 0)
    if rate.by == "rate":
        return n_d, np.zeros_like(n_d)
    return (n_a, n_d) if rate.turned else (n_d, n_a)


def attribute(
    each: ComparisonId,
    rate: MonitoredRate,
    counts: Array,
    periods: Sequence[str],
    at: int,
    tolerated: Tolerated,
    cubes: PeriodCubes,
    question: Spec,
    baseline: tuple[SideCounts, Cube] | None,
) -> Alarm:
    """Return what an alarm is about.

    Parameters
    ----------
    each, rate : the comparison and the rate that it contrasts.
    counts : array of shape (periods, 4)
    periods : the names of the periods.
    at : the number of the period of the alarm.
    tolerated : the tolerated values.
    cubes : the counts of the periods.
    question : the specification of an audit.
    baseline : the counts that the rule is held against, if it is.

    Returns
    -------
    Alarm
        The periods of the change are held against the baseline, or without one against the periods
        before. A period that lacks the group is in none of the numbers.
    """
    held_periods = np.flatnonzero(counts[:, [1, 3]].any(axis=1)).tolist()
    start = _start(counts[: at + 1], tolerated)
    end = len(counts) - _start(counts[start:][::-1], tolerated)  # the same, from the other side
    later = [t for t in held_periods if start <= t < end]
    since, end = later[0], later[-1] + 1  # not on days on which the group is absent
    changed, earlier_periods = counts[since:end], [t for t in held_periods if t < since]
    after = pooled(changed, rate, periods[since], periods[end - 1])
    before, earlier = None, None
    if baseline is not None:
        held, earlier = baseline
        before_counts = np.array([[held.x_d, held.n_d, held.x_a, held.n_a]])
        before = pooled(before_counts, rate, None, None)
    elif earlier_periods:
        first, last = earlier_periods[0], earlier_periods[-1]
        before_counts = counts[first : last + 1]
        before = pooled(before_counts, rate, periods[first], periods[last])
        earlier = cubes.together(earlier_periods)
    alarm = _with_present(
        Alarm(period=periods[at], since=periods[since], after=after, before=None),
        rate, counts, periods, at, tolerated,
    )  # fmt: skip
    if before is None or earlier is None or before.value is None or after.value is None:
        return alarm
    by: Contrasted = "rate" if rate.by == "rate" else "difference"
    old, new = (float(estimates(some.sum(axis=0), by)[0]) for some in (before_counts, changed))
    return replace(
        alarm,
        before=before,
        change=new - old,
        decomposition=cubes.answer(
            cubes.together(later), partial(_decompose, each, rate, earlier, question=question)
        ),
    )


def _with_present(
    alarm: Alarm,
    rate: MonitoredRate,
    counts: Array,
    periods: Sequence[str],
    at: int,
    tolerated: Tolerated,
) -> Alarm:
    """Return an alarm with what is now."""
    begin = first_now(at, len(counts))
    if begin >= len(counts):
        return alarm
    now = pooled(counts[begin:], rate, periods[begin], periods[-1], chosen=False)
    limits = float(np.max(tolerated.low)), float(np.min(tolerated.high))
    return replace(alarm, now=now, currently=Currently.of(now, limits))


def first_now(at: int, periods: int) -> int:
    """Return the number of the first period that states what is now, after an alarm.

    It depends on the numbers of periods alone, so that no value chooses it.
    """
    fewest, most = PERIODS_NOW
    later = periods - at - 1
    return periods - min(later, most, max(fewest, later // 2))


def _start(counts: Array, tolerated: Tolerated) -> int:
    """Return the number of the period with which a change most likely began."""
    x_d, n_d, x_a, n_a = counts.T
    if tolerated.comparison == "rate":
        x_a = n_a = np.zeros_like(n_d)
    return likeliest_start(tolerated, x_a, n_a, x_d, n_d)


class _Parts(NamedTuple):
    """The successes and rows of both sides by stratum, and of a reference by its groups."""

    group: tuple[Array, Array]
    reference: tuple[Array, Array]
    several: bool


def _decompose(
    each: ComparisonId, rate: MonitoredRate, before: Cube, after: Cube, question: Spec
) -> ChangeParts | None:
    """Divide the change of the difference of the rates into composition and treatment."""
    every = sum_cubes([before, after])
    cells = (replace(cell, sums={m: 0 * s for m, s in cell.sums.items()}) for cell in every.tables)
    # the same groups and strata in both, those that only one has as a crossing included
    blank = replace(without_rows(every), tables=tuple(cells))
    old, new = (_parts(each, rate, sum_cubes([cube, blank]), question) for cube in (before, after))
    composition, treatment = kitagawa(*old.group, *new.group)
    if rate.by != "rate":
        mix, within = kitagawa(*old.reference, *new.reference)
        composition, treatment = composition - mix, treatment - within
    if rate.turned:
        composition, treatment = -composition, -treatment
    if math.isnan(composition + treatment):
        return None
    by = [column.column for column in question.strata]
    by += [each.feature] if new.several and rate.by != "rate" else []
    return ChangeParts(
        change=composition + treatment,
        composition=composition,
        treatment=treatment,
        by=tuple(by),
    )


def _parts(each: ComparisonId, rate: MonitoredRate, cube: Cube, question: Spec) -> _Parts:
    counted = next(c for c in count_groups(cube, question) if c.feature == each.feature)
    sides = dict(sides_by_class(counted, cube, question))[each.class_]
    references = resolve_references(counted, sides, None, question)
    g = counted.groups.index(each.group)
    of_reference = [int(references.sides[g])]
    if references.each[g].kind is ReferenceKind.OTHERS:
        of_reference = [i for i in range(len(counted.groups) + counted.has_others) if i != g]
    slots = 1 + len(counted.strata)
    return _Parts(
        _by_stratum(sides, [g], slots, rate),
        _by_stratum(sides, of_reference, slots, rate),
        len(of_reference) > 1,
    )


def _by_stratum(
    sides: CountsBySide, which: Sequence[int], slots: int, rate: MonitoredRate
) -> tuple[Array, Array]:
    """Return the counts of some sides in every stratum, and in no stratum."""
    chosen, margin = np.array(which), np.zeros(len(which), dtype=np.int64)
    x, n = counts_of(sides.pick(chosen, margin), rate)
    if slots == 1:
        return x, n
    grid_side, grid_slot = np.repeat(chosen, slots - 1), np.tile(np.arange(1, slots), len(which))
    x_in, n_in = counts_of(sides.pick(grid_side, grid_slot), rate)
    rest_x = x - x_in.reshape(len(which), -1).sum(axis=1)
    rest_n = n - n_in.reshape(len(which), -1).sum(axis=1)
    return np.concatenate([x_in, rest_x]), np.concatenate([n_in, rest_n])
