"""Scored: the limits of the statistics of score_statistics, each by what it is.

Scores are spread over fine bins, and a bin's middle stands for its scores (exactly, where scores
lie on an edge).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue import score_statistics
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.bound import Bounds, of_mean
from fairgauge.inference.interval import NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.calibration import (
    Bins,
    largest_error_limits,
    mean_error_limits,
    recalibration_variances,
)
from fairgauge.stats.scores import (
    Auc,
    auc_from_counts,
    auc_interval,
    precision_from_counts,
    precision_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.confusion_counts import ConfusionCounts, Scores
    from fairgauge.catalogue.score_statistics import ScoreStatistic
    from fairgauge.inference.evidence import Count, Evidence
    from fairgauge.inference.interval import Methods
    from fairgauge.stats.arrays import Limits

_SURE = 1e-12  # keeps logarithms finite, as log loss does

_OF_A_ROW: dict[Callable[..., Array], Callable[[Array, float], Array]] = {
    score_statistics.mean_score: lambda s, _: s,
    score_statistics.calibration_gap: lambda s, y: s - y,
    score_statistics.brier_score: lambda s, y: (s - y) ** 2,
    score_statistics.log_loss: lambda s, y: -np.log(np.clip(s if y else 1 - s, _SURE, 1.0)),
}
"""What a statistic is the mean of: a number of a row's score and label."""
_OF_ONE_LABEL: dict[Callable[..., Array], int] = {
    score_statistics.mean_score_of_positives: 0,
    score_statistics.mean_score_of_negatives: 1,
}
"""The label of the rows whose mean score a statistic is: positive (0) or negative (1)."""


def scored(statistic: ScoreStatistic, evidence: Evidence) -> Bounds:
    """Return the limits of a statistic of score_statistics.

    Raises
    ------
    NoInterval
        There are clusters, of which scores are not counted, or nothing is known of how it varies.
    """
    compute = statistic.compute
    if compute in _OF_A_ROW:
        mean, variance = _spread(statistic, _held(evidence))
        return of_mean(mean, variance, evidence.rows(statistic.size))
    if compute in _OF_ONE_LABEL:
        return _mean_of_label(_OF_ONE_LABEL[compute], evidence)
    if compute not in _MADE:
        raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)
    return _MADE[compute](statistic, evidence)


def rows_of_mean(statistic: ScoreStatistic) -> Count | None:
    """Return the rows that a statistic is the mean of; None where it is no mean."""
    if statistic.compute in _OF_A_ROW:
        return statistic.size
    label = _OF_ONE_LABEL.get(statistic.compute)
    return None if label is None else partial(_labelled, label=label)


def _labelled(side: ConfusionCounts, label: int) -> Array:
    assert side.scores is not None
    total: Array = side.scores.counts[:, label].sum(axis=-1)
    return total


def _held(evidence: Evidence) -> Scores:
    assert evidence.side.scores is not None
    return evidence.side.scores


def _spread(statistic: ScoreStatistic, held: Scores) -> tuple[Array, Array]:
    """Return the value of a statistic and the variance (divisor n) of what it is the mean of."""
    of, middle = _OF_A_ROW[statistic.compute], (held.low + held.high) / 2
    if statistic.labelled:
        counts, values = held.counts, np.stack([of(middle, 1.0), of(middle, 0.0)])
    else:
        counts, values = held.every[:, None], of(middle, 0.0)[None]
    rows = counts.sum(axis=(1, 2))
    mean = quotient((counts * values).sum(axis=(1, 2)), rows)
    away = (values - mean[:, None, None]) ** 2
    return statistic.compute(held), quotient((counts * away).sum(axis=(1, 2)), rows)


def _mean_of_label(label: int, evidence: Evidence) -> Bounds:
    """Return the mean score of the rows with one label."""
    held = _held(evidence)
    rows = _labelled(evidence.side, label)
    mean, mean_square = (quotient(held.moments[m][:, label], rows) for m in ("s", "s2"))
    n = evidence.scored(label).sum(axis=-1)
    return of_mean(mean, np.maximum(mean_square - mean**2, 0.0), n)


def _area(statistic: ScoreStatistic, evidence: Evidence) -> Bounds:
    """Return the area under the curve, its counts scaled to what the weights are worth."""
    del statistic
    area: Auc = auc_from_counts(evidence.scored(0), evidence.scored(1))
    rows = np.minimum(area.positives, area.negatives)
    return Bounds(
        area.auc,
        rows,
        lambda z: auc_interval(area, z),
        (IntervalMethod.DELONG, IntervalMethod.LOGIT),
    )


def _precision(statistic: ScoreStatistic, evidence: Evidence) -> Bounds:
    pos, neg = evidence.scored(0), evidence.scored(1)
    positives = pos.sum(axis=-1)
    _, variance = precision_from_counts(pos, neg)
    average = statistic.value(evidence.side, Profile.DOCUMENTED)

    def at(z: Array) -> Limits:
        return precision_interval(average, variance, positives, z)

    rows = np.minimum(positives, neg.sum(axis=-1))
    return Bounds(average, rows, at, (IntervalMethod.INFLUENCE, IntervalMethod.LOGIT))


def _error(
    statistic: ScoreStatistic,
    evidence: Evidence,
    limits: Callable[[Bins, Array], Limits],
    method: Methods,
) -> Bounds:
    """Return a calibration error over ten bins."""
    held = _held(evidence)
    worth = evidence.worth(statistic.size)
    counts = held.counts * worth[:, None, None]
    middle = (held.low + held.high) / 2
    squares = counts[:, 0] * (middle - 1) ** 2 + counts[:, 1] * middle**2
    inside = score_statistics.in_deciles(held)
    bins = Bins(
        *(
            each @ inside
            for each in (
                counts.sum(axis=1),
                counts[:, 0],
                held.sums.sum(axis=1) * worth[:, None],
                squares,
            )
        )
    )
    rows = bins.rows.sum(axis=-1)
    return Bounds(
        statistic.value(evidence.side, Profile.DOCUMENTED),
        rows,
        lambda z: limits(bins, np.broadcast_to(z, rows.shape)),
        method,
    )


def _recalibration(statistic: ScoreStatistic, evidence: Evidence, which: int) -> Bounds:
    """Return the intercept (0) or the slope (1) of a logistic recalibration."""
    held, pos, neg = _held(evidence), evidence.scored(0), evidence.scored(1)
    fit = score_statistics.calibration_intercept(held), score_statistics.calibration_slope(held)
    variance = recalibration_variances(pos, neg, score_statistics.logits(held), *fit)[which]
    value, error = statistic.value(evidence.side, Profile.DOCUMENTED), np.sqrt(variance)
    rows = np.minimum(pos.sum(axis=-1), neg.sum(axis=-1))
    return Bounds(
        value, rows, lambda z: (value - z * error, value + z * error), (IntervalMethod.SANDWICH,)
    )


_MADE: dict[Callable[..., Array], Callable[[ScoreStatistic, Evidence], Bounds]] = {
    score_statistics.roc_auc: _area,
    score_statistics.average_precision: _precision,
    score_statistics.expected_calibration_error: partial(
        _error, limits=mean_error_limits, method=(IntervalMethod.CALIBRATION_BALL,)
    ),
    score_statistics.maximum_calibration_error: partial(
        _error,
        limits=largest_error_limits,
        method=(IntervalMethod.SIMULTANEOUS_BINS, IntervalMethod.CLOPPER_PEARSON),
    ),
    score_statistics.calibration_intercept: partial(_recalibration, which=0),
    score_statistics.calibration_slope: partial(_recalibration, which=1),
}
