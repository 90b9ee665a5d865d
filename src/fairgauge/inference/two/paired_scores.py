"""Changes of a statistic of scores between two models that score the same rows.

A difference of areas under the ROC curve has DeLong's variance and Student's t with the degrees of
freedom of the rarer label; MOVER's interval of both areas, which their ratio has, covers up to 99 %
of differences. Means of a number of each row (Brier score, log loss, calibration) have Student's t
of the paired differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.score_statistics import RocAuc, ScoreMean, ScoreTerm
from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.two.paired_changes import Quantity, StatisticChange, logs_of
from fairgauge.reasons import ReasonCode
from fairgauge.stats.auc_interval import area_score_interval
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.paired import paired_areas

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.score_statistics import ScoreStatistic
    from fairgauge.stats.arrays import Limits

_SURE = 2.0**-52


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """The rows of one side with a label and both scores; arrays of shape (rows,)."""

    label: NDArray[np.bool_]
    old: Array
    new: Array


def score_change(statistic: ScoreStatistic, sides: Sequence[ScoredRows]) -> StatisticChange:
    """Return what becomes of a statistic of scores of every side.

    Raises
    ------
    NoInterval
        No method is known for it.
    """
    if isinstance(statistic, RocAuc):
        return _areas(sides)
    if isinstance(statistic, ScoreMean):
        return _means(partial(_term, statistic.of), sides)
    raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=statistic.title)


def _areas(sides: Sequence[ScoredRows]) -> StatisticChange:
    found = [paired_areas(each.label, each.old, each.new) for each in sides]
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
    made = _correlated(old, new, limits(0), limits(1), r, rows, methods)
    errors = np.array([math.sqrt(each.difference_variance) for each in found])

    def paired(z: ArrayLike) -> Limits:
        low, high = made.difference.at(z)
        t = as_critical_t(np.broadcast_to(np.asarray(z, dtype=float), rows.shape), rows - 1)
        half = t * errors
        known = errors > 0  # areas of 1 do not vary, though their difference may
        change = made.difference.value
        return (
            np.where(known, np.maximum(change - half, -1.0), low),
            np.where(known, np.minimum(change + half, 1.0), high),
        )

    difference = Quantity(made.difference.value, paired)
    own = (IntervalMethod.DELONG, IntervalMethod.STUDENT_T)
    return replace(made, difference=difference, methods=own)


def _means(
    of: Callable[[Array, NDArray[np.bool_]], Array], sides: Sequence[ScoredRows]
) -> StatisticChange:
    both = [np.stack([of(each.old, each.label), of(each.new, each.label)]) for each in sides]
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

    def around(value: Array, error: Array) -> Callable[[ArrayLike], Limits]:
        def at(z: ArrayLike) -> Limits:
            t = as_critical_t(np.broadcast_to(np.asarray(z, dtype=float), rows.shape), rows - 1)
            return value - t * error, value + t * error

        return at

    methods = (IntervalMethod.STUDENT_T,)
    made = _correlated(
        old, new, around(old, errors[0]), around(new, errors[1]), np.nan_to_num(r), rows, methods
    )
    difference = Quantity(new - old, around(new - old, paired))
    return StatisticChange(
        None, old, new, rows, difference, made.ratio, made.total, made.log_total, methods,
        made.ratio_methods, None, made.models,
    )  # fmt: skip


def _correlated(
    old: Array,
    new: Array,
    old_at: Callable[[ArrayLike], Limits],
    new_at: Callable[[ArrayLike], Limits],
    r: Array,
    rows: Array,
    methods: tuple[IntervalMethod, ...],
) -> StatisticChange:
    """Return the change of two correlated numbers from the limits of both."""

    def joined(sign: int, *, logs: bool) -> Callable[[ArrayLike], Limits]:
        def at(z: ArrayLike) -> Limits:
            first, second = new_at(z), old_at(z)
            values = new, old
            if logs:
                first, second, values = logs_of(first), logs_of(second), logs_of((new, old))
            low, high = second if sign < 0 else (-second[1], -second[0])
            return mover_difference(values[0], *first, -sign * values[1], low, high, -sign * r)

        return at

    log_new, log_old = logs_of((new, old))
    with np.errstate(invalid="ignore"):
        difference = Quantity(new - old, joined(-1, logs=False))
        ratio = Quantity(log_new - log_old, joined(-1, logs=True))
        total = Quantity(new + old, joined(1, logs=False))
        log_total = Quantity(log_new + log_old, joined(1, logs=True))
    return StatisticChange(
        None, old, new, rows, difference, ratio, total, log_total, methods, methods,
        None, (Quantity(old, old_at), Quantity(new, new_at)),
    )  # fmt: skip


def _term(term: ScoreTerm, score: Array, label: NDArray[np.bool_]) -> Array:
    """Return the number of each row that a statistic is the mean of."""
    if term is ScoreTerm.SQUARED_ERROR:
        return (score - label) ** 2
    if term is ScoreTerm.CALIBRATION_GAP:
        return score - label
    if term is ScoreTerm.LOG_LOSS:
        return np.asarray(-np.log(np.clip(np.where(label, score, 1 - score), _SURE, 1.0)))
    return score
