"""Scored: the limits of the statistics of score_statistics, each by what it is.

Scores are spread over fine bins, and the mean of all scores in a bin stands for each of them:
exactly, where they are one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts, Scores
from fairgauge.catalogue.score_statistics import (
    AveragePrecision,
    CalibrationError,
    FalsePositiveRateAtRecall,
    LabelMeanScore,
    PrecisionAtK,
    Ranked,
    Recalibration,
    RocAuc,
    ScoreMean,
    ScoreStatistic,
    ScoreTerm,
    in_deciles,
    logits,
    recalibration,
    scores_of,
)
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.compared_counts import Count, Evidence
from fairgauge.inference.interval import (
    LINEARISED,
    SKEWED_MEAN,
    ConstantScores,
    Methods,
    NoInterval,
    StatisticInterval,
    of_mean,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Limits, Mask, quotient
from fairgauge.stats.calibration import (
    Bins,
    largest_error_limits,
    mean_error_limits,
    recalibration_variances,
)
from fairgauge.stats.intervals import wilson
from fairgauge.stats.scores import (
    area_from_counts,
    area_score_interval,
    precision_from_counts,
    precision_interval,
)
from fairgauge.stats.weighted import MeanMoments, mean_limits

_LEAST = 2.0**-52  # keeps logarithms finite; the value of log loss is cut off there too
_HALF_A_ROW = 0.5  # corrects a count for continuity, or stands for what was not seen
_OF_CUT = (IntervalMethod.WILSON, IntervalMethod.MOVER)

RowNumber: TypeAlias = "Callable[[Array, Mask], Array]"

NUMBER_OF_A_ROW: dict[ScoreTerm, RowNumber] = {
    ScoreTerm.SCORE: lambda s, _: s,
    ScoreTerm.CALIBRATION_GAP: lambda s, y: s - y,
    ScoreTerm.SQUARED_ERROR: lambda s, y: (s - y) ** 2,
    ScoreTerm.LOG_LOSS: lambda s, y: -np.log(np.clip(np.where(y, s, 1 - s), _LEAST, 1.0)),
}
"""The number of rows, by their scores and labels, that a statistic is the mean of."""


@singledispatch
def score_interval(statistic: ScoreStatistic, evidence: Evidence) -> StatisticInterval:
    """Return the limits of a statistic of scores by its kind."""
    del evidence
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


def rows_of_mean(statistic: ScoreStatistic) -> Count | None:
    """Return the rows that a statistic is the mean of; None where it is no mean."""
    if isinstance(statistic, ScoreMean):
        return statistic.size
    if isinstance(statistic, LabelMeanScore):
        return partial(_labelled, label=statistic.position)
    return None


def _labelled(side: ConfusionCounts, label: int) -> Array:
    assert side.scores is not None
    return np.asarray(side.scores.counts[:, label].sum(axis=-1))


@score_interval.register(ScoreMean)
def _score_mean_interval(statistic: ScoreMean, evidence: Evidence) -> StatisticInterval:
    of, held = NUMBER_OF_A_ROW[statistic.of], scores_of(evidence.side)
    centre, n = held.centre, evidence.rows(statistic.size)
    labels = (True, False) if statistic.labelled else (False,)
    values = np.stack([of(centre, np.full(centre.shape, y)) for y in labels]).ravel()

    def counts(side: ConfusionCounts) -> Array:
        scores = scores_of(side)
        return scores.counts.reshape(len(n), len(values)) if statistic.labelled else scores.every

    if not statistic.labelled and evidence.squares is None:
        away = centre - quotient(held.every @ centre, n)[:, None]
        about2, about3 = (quotient((held.every * away**k).sum(axis=1), n) for k in (2, 3))
        return of_mean(statistic.of_scores(held), about2, about3, n)
    unseen = np.tile(_half_a_row(held) / 2, 2) if statistic.labelled else np.zeros_like(held.every)
    return _mean_of_bins(statistic.of_scores(held), n, values, counts, unseen, evidence)


def _half_a_row(held: Scores) -> Array:
    every = held.counts.sum(axis=1)
    return _HALF_A_ROW * quotient(every, every.sum(axis=1)[:, None])


def _mean_of_bins(
    mean: Array, n: Array, values: Array, counts: Count, unseen: Array, evidence: Evidence
) -> StatisticInterval:
    """Return a mean of what rows in bins have; ``counts`` reads the bins of a side.

    Its spread is taken over the bins. Of weighted rows it is that of their influences, over bins of
    squared and of cubed weights. What is ``unseen`` counts for the spread too: a group in which a
    rare label or score happens not to occur would otherwise show too little of it, or none.
    """
    held = counts(evidence.side)
    total = held.sum(axis=1)
    away = values - quotient(held @ values, total)[:, None]
    unbiased = np.where(n > 1, quotient(n, n - 1), np.nan)  # undefined for one row

    def moment(side: ConfusionCounts, power: int) -> Array:
        """Return the sum of a power of the influences; what is unseen has a row's mean weight."""
        own, scale = counts(side), quotient(total, n) ** power
        sums = (own + scale[:, None] * unseen) * away**power
        return np.asarray(quotient(sums.sum(axis=1), total**power))

    variance = moment(evidence.squares or evidence.side, 2) * unbiased
    third = np.zeros_like(variance)
    if evidence.squares is None or evidence.cubes is not None:
        third = moment(evidence.cubes or evidence.side, 3)
    moments = MeanMoments(mean, variance, third, n)
    methods = SKEWED_MEAN if evidence.squares is None else LINEARISED
    return StatisticInterval(mean, n, partial(mean_limits, moments), methods)


@score_interval.register(LabelMeanScore)
def _label_mean_interval(statistic: LabelMeanScore, evidence: Evidence) -> StatisticInterval:
    held, label = scores_of(evidence.side), statistic.position
    rows, n = _labelled(evidence.side, label), evidence.scored(label).sum(axis=-1)
    mean = quotient(held.moments["s"][:, label], rows)

    def counts(side: ConfusionCounts) -> Array:
        return np.asarray(scores_of(side).counts[:, label])

    centre, unseen = held.centre, _half_a_row(held)
    return _mean_of_bins(mean, n, centre, counts, unseen, evidence)


@score_interval.register(RocAuc)
def _area_interval(statistic: RocAuc, evidence: Evidence) -> StatisticInterval:
    del statistic  # there is one; its counts are scaled to the effective sample size
    area = area_from_counts(evidence.scored(0), evidence.scored(1))
    rows = np.minimum(area.positives, area.negatives)
    held = scores_of(evidence.side)
    filled = held.counts.sum(axis=1) > 0
    single = (filled.sum(axis=-1) == 1) & (filled & (held.low == held.high)).any(axis=-1)
    return StatisticInterval(
        area.area,
        rows,
        lambda z: area_score_interval(*area, z),
        (IntervalMethod.DELONG,),
        constant=ConstantScores(single),
    )


@score_interval.register(AveragePrecision)
def _average_precision_interval(
    statistic: AveragePrecision, evidence: Evidence
) -> StatisticInterval:
    pos, neg = evidence.scored(0), evidence.scored(1)
    positives = pos.sum(axis=-1)
    _, variance = precision_from_counts(pos, neg)
    average = statistic.value(evidence.side, Profile.DOCUMENTED)

    def at(z: Array) -> Limits:
        return precision_interval(average, variance, positives, z)

    rows = np.minimum(positives, neg.sum(axis=-1))
    return StatisticInterval(average, rows, at, (IntervalMethod.INFLUENCE,))


@score_interval.register(CalibrationError)
def _calibration_interval(statistic: CalibrationError, evidence: Evidence) -> StatisticInterval:
    if statistic.over_bins == "mean":
        limits: Callable[[Bins, Array], Limits] = mean_error_limits
        method: Methods = (IntervalMethod.BALL,)
    else:
        limits = largest_error_limits
        method = (IntervalMethod.SIMULTANEOUS, IntervalMethod.CLOPPER_PEARSON)
    held = scores_of(evidence.side)
    per_weight = evidence.rows_per_weight(statistic.size)
    counts = held.counts * per_weight[:, None, None]
    centre = held.centre
    squares = counts[:, 0] * (centre - 1) ** 2 + counts[:, 1] * centre**2
    inside = in_deciles(held)
    bins = Bins(
        *(
            each @ inside
            for each in (
                counts.sum(axis=1),
                counts[:, 0],
                held.sums.sum(axis=1) * per_weight[:, None],
                squares,
            )
        )
    )
    rows = bins.rows.sum(axis=-1)
    return StatisticInterval(
        statistic.value(evidence.side, Profile.DOCUMENTED),
        rows,
        lambda z: limits(bins, np.broadcast_to(z, rows.shape)),
        method,
    )


@score_interval.register(Recalibration)
def _recalibration_interval(statistic: Recalibration, evidence: Evidence) -> StatisticInterval:
    held = scores_of(evidence.side)
    weights = held if evidence.squares is None else scores_of(evidence.squares)
    (pos, neg), squares = (np.moveaxis(each.counts, 1, 0) for each in (held, weights))
    intercepts, slopes = recalibration_variances(
        pos, neg, logits(held), *recalibration(held), (squares[0], squares[1])
    )
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    variance = intercepts if statistic.coefficient == "intercept" else slopes
    error = np.sqrt(np.where(variance >= 0, variance, np.nan))
    rows = np.minimum(*(evidence.scored(label).sum(axis=-1) for label in (0, 1)))
    return StatisticInterval(
        value, rows, lambda z: (value - z * error, value + z * error), (IntervalMethod.INFLUENCE,)
    )


@score_interval.register(PrecisionAtK)
def _precision_at_k_interval(statistic: PrecisionAtK, evidence: Evidence) -> StatisticInterval:
    """Return MOVER's limits of two errors: of the labels of the top, and of where the top ends.

    The number of rows above the population's cut is binomial, so the sample's cut may lie at
    ``k ± z sqrt(k (1 - k / n))`` rows; how far precision moves over these is the second error.
    """
    held = scores_of(evidence.side)
    ranked, rows, total = Ranked.of(held), statistic.rows(held), held.counts.sum(axis=(1, 2))
    per_weight = evidence.rows_per_weight(statistic.size)
    value, k = statistic.value(evidence.side, Profile.DOCUMENTED), rows * per_weight

    def precision(cut: Array) -> Array:
        return quotient(ranked.positives_among(cut), cut)

    def at(z: Array) -> Limits:
        within = wilson(np.nan_to_num(value * k), k, z)
        beyond = z * np.sqrt(np.maximum(k * (1 - quotient(rows, total)), 0.0))
        cuts = (np.clip(k + way * beyond, 1.0, total * per_weight) / per_weight for way in (-1, 1))
        ends = [value, *map(precision, cuts)]
        return _both_errors(value, within, (np.min(ends, axis=0), np.max(ends, axis=0)))

    return StatisticInterval(value, k, at, _OF_CUT)


@score_interval.register(FalsePositiveRateAtRecall)
def _rate_at_recall_interval(
    statistic: FalsePositiveRateAtRecall, evidence: Evidence
) -> StatisticInterval:
    """Return MOVER's limits of two errors: of the negatives above the cut, and of the cut.

    The positives above the population's cut are binomial, so the sample's recall there may be
    ``r ± (z sqrt(P r (1 - r)) + 1/2) / P``; how far the rate moves over these is the second error.

    Between tied scores the rate jumps, to a rate whose own error is another. The limits therefore
    also include those of the negatives above these cuts, both errors at ``z / sqrt(2)``, which lie
    within MOVER's where the rate moves evenly: ``(a + b) / sqrt(2) <= hypot(a, b)``.
    """
    ranked = Ranked.of(scores_of(evidence.side))
    positives, negatives = (evidence.scored(label).sum(axis=-1) for label in (0, 1))
    value, recall = statistic.value(evidence.side, Profile.DOCUMENTED), statistic.recall

    def rate_at(reached: Array) -> Array:
        found = ranked.false_positive_rate(ranked.at_recall(np.clip(reached, 0.0, 1.0)))
        return np.where(reached > 1, 1.0, found)  # below the lowest positive lies any rate

    def of_negatives(rate: Array, z: Array) -> Limits:
        return wilson(np.nan_to_num(rate * negatives), negatives, z)

    def at_cuts(z: Array) -> Limits:
        beyond = z * np.sqrt(positives * recall * (1 - recall)) + _HALF_A_ROW
        beyond = np.where(np.isfinite(beyond), quotient(beyond, positives), 1.0)
        return rate_at(recall - beyond), rate_at(recall + beyond)

    def at(z: Array) -> Limits:
        low, high = _both_errors(value, of_negatives(value, z), at_cuts(z))
        part = z / np.sqrt(2)
        fewer, more = at_cuts(part)
        return (
            np.minimum(low, of_negatives(fewer, part)[0]),
            np.maximum(high, of_negatives(more, part)[1]),
        )

    return StatisticInterval(value, np.minimum(positives, negatives), at, _OF_CUT)


def _both_errors(value: Array, one: Limits, other: Limits) -> Limits:
    below = np.hypot(value - one[0], value - other[0])
    return value - below, value + np.hypot(one[1] - value, other[1] - value)
