"""Changes of a statistic of scores between two models that score the same rows.

A difference of areas under the ROC curve has DeLong's variance and Student's t with the degrees of
freedom of the rarer label; MOVER's interval of both areas, which their ratio has, covers up to 99 %
of differences. Means of a number of each row (Brier score, log loss, calibration) have Student's t
of the paired differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.score_statistics import RocAuc, ScoreMean, ScoreStatistic
from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.one.scored import NUMBER_OF_A_ROW, RowNumber
from fairgauge.inference.two.paired_changes import (
    Quantity,
    StatisticChange,
    correlated_change,
    student_limits,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Limits
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.paired import paired_areas
from fairgauge.stats.scores import area_score_interval


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """The rows of one side with a label and both scores; arrays of shape (rows,)."""

    label: NDArray[np.bool_]
    old: Array
    new: Array


def score_change(statistic: ScoreStatistic, sides: Sequence[ScoredRows]) -> StatisticChange:
    """Return what becomes of a statistic of scores of every side."""
    if isinstance(statistic, RocAuc):
        return _areas(sides)
    if isinstance(statistic, ScoreMean):
        return _means(NUMBER_OF_A_ROW[statistic.of], sides)
    raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=statistic.title)


def _areas(sides: Sequence[ScoredRows]) -> StatisticChange:
    found = [paired_areas(side.label, side.old, side.new) for side in sides]
    r = np.array([each.correlation for each in found])
    areas = [[each.old for each in found], [each.new for each in found]]

    def limits(which: int) -> Callable[[ArrayLike], Limits]:
        of = areas[which]
        area, positives, negatives = (
            np.array([float(getattr(each, name)) for each in of])
            for name in ("area", "positives", "negatives")
        )
        parts = tuple(np.array([float(each.variances[i]) for each in of]) for i in range(2))

        def at(z: ArrayLike) -> Limits:
            return area_score_interval(area, (parts[0], parts[1]), positives, negatives, z)

        return at

    old, new = (np.array([float(each.area) for each in of]) for of in areas)
    rows = np.array([float(min(each.positives, each.negatives)) for each in areas[0]])
    methods = (IntervalMethod.PAIRED_MOVER, IntervalMethod.DELONG, IntervalMethod.AUC_SCORE)
    models = (Quantity(old, limits(0)), Quantity(new, limits(1)))
    made = correlated_change(models, r, rows, methods, mover_difference)
    errors = np.array([math.sqrt(each.difference_variance) for each in found])

    by_student = student_limits(made.difference.value, errors, rows - 1)

    def paired(z: ArrayLike) -> Limits:
        low, high = made.difference.at(z)
        below, above = by_student(z)
        known = errors > 0  # areas of 1 do not vary, though their difference may
        return (
            np.where(known, np.maximum(below, -1.0), low),
            np.where(known, np.minimum(above, 1.0), high),
        )

    difference = Quantity(made.difference.value, paired)
    own = (IntervalMethod.DELONG, IntervalMethod.STUDENT_T)
    return replace(made, difference=difference, methods=own)


def _means(of: RowNumber, sides: Sequence[ScoredRows]) -> StatisticChange:
    both = [np.stack([of(side.old, side.label), of(side.new, side.label)]) for side in sides]
    rows = np.array([float(each.shape[1]) for each in both])
    spread = np.array([np.cov(each) if each.shape[1] > 1 else np.full((2, 2), np.nan)
                       for each in both])  # fmt: skip
    old, new = (
        np.array([each[i].mean() if each.shape[1] else np.nan for each in both]) for i in range(2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        r = spread[:, 0, 1] / np.sqrt(spread[:, 0, 0] * spread[:, 1, 1])
        errors = [np.sqrt(spread[:, i, i] / rows) for i in range(2)]
        paired = np.sqrt(
            np.maximum(spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1], 0.0) / rows
        )

    models = (
        Quantity(old, student_limits(old, errors[0], rows - 1)),
        Quantity(new, student_limits(new, errors[1], rows - 1)),
    )
    methods = (IntervalMethod.STUDENT_T,)
    made = correlated_change(models, np.nan_to_num(r), rows, methods, mover_difference)
    difference = Quantity(new - old, student_limits(new - old, paired, rows - 1))
    return replace(made, difference=difference)
