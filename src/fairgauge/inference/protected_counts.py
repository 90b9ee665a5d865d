"""Protected counts: the bounds of rates and of their comparisons, and confidence intervals on top.

Every cell of protected counts is known within a range, and the ranges of cells are independent. A
rate increases in its successes and decreases in its failures, so that its least and greatest values
are at corners: all successes at one end of their ranges, all failures at the other. A difference or
a ratio of two rates of groups that share no row has its ends at corners of both.

The confidence interval is the union of those at all corner tables, at which it is widest or
furthest out: Wilson's limits move with successes and against failures as the rate does. That of the
sum of several tables allows for the rounding as for sampling (`stats.rounded_counts`): their
corners move further apart the more there are, while roundings cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import Profile, Status
from fairgauge.inference.interval import (
    Comparisons,
    Intervals,
    SideData,
    first_reasons,
    insufficient_rows,
)
from fairgauge.inference.possible import contrast_range
from fairgauge.inference.uncertainty import Uncertainty, values_with
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import RateValue
from fairgauge.results.scopes import Bounds
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Limits, Mask, quotient
from fairgauge.stats.rounded_counts import likely_limits
from fairgauge.stats.unrecorded_rates import missing_bounds

CountRange: TypeAlias = tuple[ConfusionCounts, ConfusionCounts]
"""The least and the greatest counts of one side of many comparisons."""
_RARELY = 1_000


def corners(rate: Rate, side: CountRange) -> list[ConfusionCounts]:
    """Return the counts with the successes and the failures of a rate at the ends of their ranges.

    Successes and failures are: least and least, least and most, most and least, most and most.
    """
    counted = np.array(rate.of, dtype=bool)
    cells = [each.counts(rate.needs) for each in side]
    return [
        replace(side[0], cells={**side[0].cells, rate.needs: np.where(counted, of, others)})
        for of, others in product(cells, cells)
    ]


def rate_bounds(rate: Rate, side: CountRange) -> Limits:
    """Return the least and the greatest rate; NaN where there may be no row that it is of."""
    of_corners = corners(rate, side)
    empty = rate.size(of_corners[0]) == 0
    low, high = (rate.value(of_corners[at], Profile.DOCUMENTED) for at in (1, 2))
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def likely_rate_bounds(rate: Rate, side: CountRange, data: SideData, sides: int = 1) -> Limits:
    """Return bounds of the rates of sums over sites, wrong one time in a thousand at most.

    ``sides``: how many of them hold together.
    """
    low, high = rate_bounds(rate, side)
    if data.rounded is None:
        return low, high
    parts = [each.counts(rate.needs) for each in (data.side, data.rounded.noise)]
    x, x_noise, n, noise = (of.count(part) for of in (rate.of, rate.among) for part in parts)
    likely = likely_limits(x, n - x, x_noise, noise - x_noise, 1 / (sides * _RARELY))
    return np.maximum(low, likely[0]), np.minimum(high, likely[1])


def contrast_bounds(metric: Contrast, first: Limits, second: Limits) -> Limits:
    """Return the least and the greatest difference or ratio of the rates of disjoint groups.

    NaN where one of both rates may be undefined, and where both may be 0 throughout.
    """
    if metric.order == "reference - group":
        first, second = second, first
    if metric.by == "difference":
        return first[0] - second[1], first[1] - second[0]
    low, high = quotient(first[0], second[1]), quotient(first[1], second[0])
    unknown = np.isnan(first[0]) | np.isnan(second[0]) | np.isnan(low)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def protected_contrasts(
    metric: ComparisonMetric,
    group: CountRange,
    reference: CountRange,
    data: Comparisons,
    how: Uncertainty,
) -> tuple[list[Bounds | None], Intervals]:
    """Return the bounds of a contrast, and the union of its intervals at all corner tables.

    The p-value is the largest at any corner, and 1 where "no difference" agrees with the counts.
    There is neither where the contrast is undefined at a corner.
    """
    assert isinstance(metric, Contrast)
    assert isinstance(metric.of, Rate)
    margin = data.margin
    low, high = contrast_bounds(metric, *(rate_bounds(metric.of, e) for e in (group, reference)))
    if data.group.rounded is not None:
        both = ((group, data.group), (reference, data.reference))
        likely = contrast_bounds(metric, *(likely_rate_bounds(metric.of, *e, 2) for e in both))
        published = metric.value(data.group.side, data.reference.side, Profile.DOCUMENTED)
        intervals = how.metric_intervals(metric, data, published)
        certain = np.isnan(intervals.low)  # whose method states that bounds are likely ones
        low, high = (np.where(certain, *ends) for ends in zip((low, high), likely, strict=True))
        return _bounds_or_none((low, high)), intervals
    sides = product(corners(metric.of, group), corners(metric.of, reference))
    ours, theirs = (_stacked(each) for each in zip(*sides, strict=True))
    every = np.tile(margin, len(ours.size) // len(margin))
    compared = Comparisons(SideData(ours, ours), SideData(theirs, theirs), None, every)
    value = metric.value(ours, theirs, Profile.DOCUMENTED)
    made = how.anew().metric_intervals(metric, compared, value)
    p = made.p.reshape(-1, len(margin)).max(axis=0)
    none = (low <= metric.neutral) & (metric.neutral <= high)

    def together(confidence: float) -> Limits:
        alone = Uncertainty(replace(how.spec, confidence=confidence))
        _, wider = protected_contrasts(metric, group, reference, data, alone)
        return wider.low, wider.high

    p = np.where(none & ~np.isnan(p), 1.0, p)
    return _bounds_or_none((low, high)), replace(_union(made, len(margin)), p=p, together=together)


def protected_rates(
    statistics: Sequence[Statistic],
    side: CountRange,
    data: SideData,
    margin: Mask,
    how: Uncertainty,
) -> dict[str, list[RateValue | None]]:
    """Return statistics of every group by name, with bounds; of what is no rate, why not."""
    values: dict[str, list[RateValue | None]] = {}
    rates = [each for each in statistics if isinstance(each, Rate)] if data.rounded else []
    of_sums = dict(zip(rates, how.rate_intervals(rates, data, margin), strict=True))
    for statistic in statistics:
        if not isinstance(statistic, Rate) or how.spec.profile is Profile.CLARIFY:
            reason = Reason.of(ReasonCode.PROTECTED)
            none = RateValue(value=None, status=Status.NOT_APPLICABLE, reason=reason)
            values[statistic.name] = [none] * len(margin)
            continue
        every, made = data.cases, of_sums.get(statistic)
        if made is None:
            every = _stacked(corners(statistic, side))
            tables = np.tile(margin, len(every.size) // len(margin))
            [made] = how.rate_intervals([statistic], SideData(every, every), tables)
        rows = insufficient_rows(statistic.size(every))
        made = replace(made, too_few=first_reasons(made.too_few, rows))
        made = made if rates else _union(made, len(margin))
        bounds = _bounds_or_none(likely_rate_bounds(statistic, side, data))
        level, profile = how.spec.confidence, Profile.DOCUMENTED
        values[statistic.name] = values_with(made, statistic, data, margin, level, profile, bounds)
    return values


def most_of_sum(published: Array, noise: Array, high: Array) -> Array:
    """Return the most rows that sums of rounded numbers count, but for one time in a thousand.

    Hoeffding's inequality holds for numbers of any base, however few.
    """
    above = math.sqrt(2 * math.log(_RARELY)) * np.sqrt(noise)
    return np.asarray(np.minimum(published + above, high))


def protected_worst_cases(
    metric: Contrast,
    group: CountRange,
    reference: CountRange,
    unknown: CountRange,
    published: Array,
) -> Limits:
    """Return how far rows without a group could move a contrast from its published value.

    ``unknown`` holds the most rows without a group that may be of each side. The move is the
    largest at any corner table: a difference of a difference, a factor of a ratio.
    """
    assert isinstance(metric.of, Rate)
    sides = (corners(metric.of, group), corners(metric.of, reference))
    counted, needs = (metric.of.of, metric.of.among), metric.of.needs
    lows, highs = [], []
    for ours, theirs in product(*sides):
        value = metric.value(ours, theirs, Profile.DOCUMENTED)
        # both ends are attained: the same rows take one side as low and the other as high as can be
        ends = [
            missing_bounds(*(each.count(row.counts(needs)) for row in rows for each in counted))
            for rows in ((ours, unknown[0]), (theirs, unknown[1]))
        ]
        low, high = contrast_range(metric, *ends)
        if metric.by == "difference":
            lows.append(published + low - value)
            highs.append(published + high - value)
        else:
            with np.errstate(invalid="ignore"):  # of 0 times infinity
                lows.append(published * quotient(low, value))
                highs.append(published * quotient(high, value))
    least = -np.inf if metric.by == "difference" else 0.0
    low, high = (
        np.nan_to_num(np.array(ends), nan=unknown, posinf=np.inf)
        for ends, unknown in ((lows, least), (highs, np.inf))
    )
    return low.min(axis=0), high.max(axis=0)


def _bounds_or_none(limits: Limits) -> list[Bounds | None]:
    each = zip(*(end.tolist() for end in limits), strict=True)
    return [Bounds(low, high) if low <= high else None for low, high in each]


def _stacked(corner_tables: Sequence[ConfusionCounts]) -> ConfusionCounts:
    # the tables of all corners, one after the other, so that they have one array of intervals
    cells = {
        needs: np.concatenate([each.cells[needs] for each in corner_tables])
        for needs in corner_tables[0].cells
    }
    return ConfusionCounts(size=np.concatenate([e.size for e in corner_tables]), cells=cells)


def _union(made: Intervals, sides: int) -> Intervals:
    # intervals that hold those at all corner tables of each side; none where one is missing
    lows, highs = made.low.reshape(-1, sides), made.high.reshape(-1, sides)
    too_few = [made.too_few[at : at + sides] for at in range(0, len(made.too_few), sides)]
    few = [
        replace(reason, parameters=tuple(sorted((*reason.parameters, ("at_least", True)))))
        if reason is not None and reason.code is ReasonCode.FEW_ROWS
        else reason
        for reason in first_reasons(*too_few)
    ]
    return Intervals(
        lows.min(axis=0),
        highs.max(axis=0),
        np.full_like(lows[0], np.nan),
        made.methods[:sides],
        few,
        Reason.of(ReasonCode.PROTECTED_UNDEFINED),
    )
