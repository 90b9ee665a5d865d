"""Intervals of standardised differences: of means, and of selection rates."""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import TN, TP, Array, ConfusionCounts
from fairgauge.catalogue.distributions import OverallStandardisedDifference, StandardisedDifference
from fairgauge.enums import IntervalMethod
from fairgauge.inference.compared_counts import Comparisons, Evidence
from fairgauge.inference.interval import Intervals, Methods, insufficient_rows
from fairgauge.inference.one.drawn_tables import cells_table
from fairgauge.inference.one.regressions import ROUNDING, label_moments, prediction_moments
from fairgauge.inference.one.statistic_intervals import of_share
from fairgauge.inference.two.contrast_intervals import insufficient_sides
from fairgauge.inference.two.resampled_intervals import resampled_interval
from fairgauge.question.specification import Spec
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import invert
from fairgauge.stats.squares import (
    Moments,
    difference_in_overall_deviations,
    standardised_difference,
)

_OVERALL: Methods = (IntervalMethod.MOVER, IntervalMethod.WILSON)
_ROUNDED = 1e-9
"""The share of the weight of all rows below which what remains of it is a rounding error."""


def standardised_interval(
    metric: StandardisedDifference, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a difference of means in units of the spread inside both sides.

    Selection is of counts, and drawn. A group that is a part of its reference is
    compared with all other rows of it, so that no row counts twice.

    Raises
    ------
    NoInterval
        Rows are clustered.
    """
    sides = compared.group, compared.other
    cases = insufficient_rows(metric.sizes(*(each.cases for each in sides)))
    if metric.of == "selection":
        return resampled_interval(
            metric, cells_table((TP, TN), metric.needs), compared, spec, cases
        )

    def counted(side: ConfusionCounts) -> Array:
        return metric.sizes(side, side)[0]

    one, two = (_moments(metric, each.side) for each in sides)
    rows = compared.group.rows(counted), compared.other.rows(counted)
    inside = compared.rest is not None
    interval = standardised_difference(one, two, rows, spec.confidence, inside=inside)
    alone = inside & (two.n == 0)  # a group that is the whole is what it is compared with
    low, high = (np.where(alone, 0.0, each) for each in (interval.low, interval.high))
    methods = (IntervalMethod.INFLUENCE, IntervalMethod.STUDENT_T)
    return Intervals(low, high, interval.p, [methods] * len(low), cases, ROUNDING)


def overall_standardised_interval(
    metric: OverallStandardisedDifference, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a difference of selection rates in standard deviations of all rows.

    All rows are those of the group, those that it is compared with, and the remaining ones. A group
    that is a part of its reference is compared with all other rows of it.

    Raises
    ------
    NoInterval
        Rows are clustered.
    """
    parts = [compared.group, compared.other, _remaining(metric, compared)]
    rates = [of_share(part, metric.selected, metric.size) for part in parts]
    weights = np.stack([metric.size(part.side) for part in parts])
    shares = quotient(weights, weights.sum(axis=0))
    estimates = np.where(weights > 0, [rate.estimate for rate in rates], 0.0)
    contrast = np.array([[1.0], [-1.0], [0.0]])
    if compared.rest is not None:
        contrast = contrast * shares[1]

    def limits(z: Array) -> Limits:
        ends = [rate.at(z) for rate in rates]
        low, high = (
            np.where(weights > 0, [end[i] for end in ends], estimates)  # without rows, no part
            for i in range(2)
        )
        low, high = difference_in_overall_deviations(estimates, (low, high), shares, contrast)
        return 100 * low, 100 * high

    low, high = limits(np.asarray(critical(spec.confidence)))
    too_few = insufficient_sides(rates[0], rates[1])
    return Intervals(low, high, invert(limits), [_OVERALL] * len(low), too_few)


def _remaining(metric: OverallStandardisedDifference, compared: Comparisons) -> Evidence:
    sides = compared.group, compared.other

    def less(whole: ConfusionCounts | None, *parts: ConfusionCounts | None) -> ConfusionCounts:
        assert whole is not None
        every = whole.counts(metric.needs)
        left = every - sum(part.counts(metric.needs) for part in parts if part is not None)
        left = np.where(left > _ROUNDED * every, left, 0.0)
        return ConfusionCounts(size=left.sum(axis=-1), cells={metric.needs: left})

    side = less(compared.group.side.overall, *(each.side for each in sides))
    cases = less(compared.group.cases.overall, *(each.cases for each in sides))
    squares = compared.group.squares
    if squares is None:
        return Evidence(side, cases)
    return Evidence(side, cases, less(squares.overall, *(each.squares for each in sides)))


def _moments(metric: StandardisedDifference, side: ConfusionCounts) -> Moments:
    if metric.of == "score":
        return _score_moments(side)
    found = label_moments if metric.of == "label" else prediction_moments
    return found(side.moments_of(metric.needs))


def _score_moments(side: ConfusionCounts) -> Moments:
    assert side.scores is not None
    centre = side.scores.centre
    n = side.scores.every.sum(axis=-1)
    mean = quotient(side.scores.every @ centre, n)
    away = centre - mean[:, None]
    second, third, fourth = (
        quotient((side.scores.every * away**power).sum(axis=-1), n) for power in (2, 3, 4)
    )
    return Moments(n, mean, second, third, fourth)
