"""Standardised: the interval of a difference of means in units of the spread inside the sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.cells import TN, TP
from fairgauge.enums import IntervalMethod
from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import drawn
from fairgauge.inference.interval import Intervals
from fairgauge.inference.regressions import ROUNDING, label_moments, prediction_moments
from fairgauge.inference.resampled_tables import cells_table
from fairgauge.stats.arrays import quotient
from fairgauge.stats.squares import Moments
from fairgauge.stats.standardised import standardised_difference

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.standardised_differences import StandardisedDifference
    from fairgauge.inference.evidence import Comparisons
    from fairgauge.spec.specification import Spec


def standardised(metric: StandardisedDifference, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a standardised difference.

    Selection is of counts, and drawn. Of the others a group that is a part of its reference is told
    apart from the rest of it, so that no row counts twice as evidence.

    Raises
    ------
    NoInterval
        Rows are tied by clusters.
    """
    sides = compared.group, compared.other
    cases = few(np.minimum(*metric.sizes(*(each.cases for each in sides))))
    if metric.of == "selection":
        return drawn(metric, cells_table((TP, TN), metric.needs), compared, spec, cases)

    def counted(side: ConfusionCounts) -> Array:
        return metric.sizes(side, side)[0]

    one, two = (_moments(metric, each.side) for each in sides)
    rows = compared.group.rows(counted), compared.other.rows(counted)
    inside = compared.rest is not None
    found = standardised_difference(one, two, rows, spec.confidence, inside=inside)
    alone = inside & (two.n == 0)  # a group that is the whole is what it is compared with
    low, high = (np.where(alone, 0.0, each) for each in (found.low, found.high))
    methods = (IntervalMethod.DELTA, IntervalMethod.STUDENT_T)
    return Intervals(low, high, found.p, [methods] * len(low), cases, ROUNDING)


def _moments(metric: StandardisedDifference, side: ConfusionCounts) -> Moments:
    if metric.of == "score":
        return _of_scores(side)
    return (label_moments if metric.of == "label" else prediction_moments)(side.moments)


def _of_scores(side: ConfusionCounts) -> Moments:
    """Return the moments of scores, each in the middle of its bin."""
    assert side.scores is not None
    middle = (side.scores.low + side.scores.high) / 2
    n = side.scores.every.sum(axis=-1)
    mean = quotient(side.scores.every @ middle, n)
    away = middle - mean[:, None]
    second, third, fourth = (
        quotient((side.scores.every * away**power).sum(axis=-1), n) for power in (2, 3, 4)
    )
    return Moments(n, mean, second, third, fourth)
