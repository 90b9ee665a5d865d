"""Numbers: the limits of what is made of scores, or of labels and predictions that are numbers.

Scores are spread over fine bins, and the mean of all scores in a bin stands for each of them. A
mean has Student's limits, of weighted rows from the squares and cubes of the weights, with the
skewness of all rows where that is larger. Mean squares, variances and their ratio have those of
`stats.squares`, which take fourth powers, on the log scale by the influences of rows. How far a
number could move with rows that may be of a group has ends of its own (`ends_of_number`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, singledispatch
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.score_statistics import (
    AveragePrecision,
    CalibrationError,
    ExplainedVariance,
    LabelMeanScore,
    Mean,
    MomentStatistic,
    RegressionTerm,
    RocAuc,
    RootMeanSquaredError,
    ScoreMean,
    ScoreStatistic,
    ScoreTerm,
    Sums,
    decile_counts,
    decile_membership,
    needs_of,
    scores_of,
)
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.interval import (
    LINEARISED,
    SKEWED_MEAN,
    Count,
    NoInterval,
    SideData,
    Sparseness,
    StatisticInterval,
    mean_interval_t,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import Limits, Mask, quiet, quotient
from fairgauge.stats.intervals import (
    MeanMoments,
    PowerSums,
    borrow_skewness,
    degrees_of_squares,
    effective_rows,
    mean_limits,
    mean_moments,
    t_from_z,
)
from fairgauge.stats.scores import (
    Bins,
    area_from_counts,
    area_score_interval,
    mean_error_limits,
    precision_from_counts,
    precision_interval,
)
from fairgauge.stats.squares import (
    FEWEST_ABSOLUTE,
    FEWEST_ABSOLUTE_ALL,
    FEWEST_SQUARED,
    FEWEST_SQUARED_ALL,
    Moments,
    central_moments,
    log_limits,
    stable_sum,
    tail_weight,
)

ROUNDING = Reason.of(ReasonCode.ROUNDING)
# sums of fourth powers beyond may be of numbers that were cut off before they were multiplied.
_LARGE = 1e270
_LEAST_SPREAD = 1e-6

SUMS_OF_POWERS: dict[RegressionTerm, tuple[str, ...]] = {
    RegressionTerm.LABEL: ("y", "yy", "y3"),
    RegressionTerm.PREDICTION: ("p", "pp", "p3"),
    RegressionTerm.ERROR: ("", "gap2", "gap3"),
    RegressionTerm.ABSOLUTE_ERROR: ("gap", "gap2", "distance3"),
    RegressionTerm.SQUARED_ERROR: ("gap2", "gap4"),
}
"""The sums of the powers of what a statistic is the mean of; those of errors are p less y."""
_FOURTH = {RegressionTerm.LABEL: "y4", RegressionTerm.PREDICTION: "p4"}


@singledispatch
def numeric_interval(statistic: Statistic, data: SideData) -> StatisticInterval:
    """Return the limits of a statistic of scores, labels or predictions by its kind."""
    del data
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@numeric_interval.register(Mean)
def _mean_interval(statistic: Mean, data: SideData) -> StatisticInterval:
    if statistic.of is RegressionTerm.SQUARED_ERROR:
        return _log_scale_interval(statistic, data, _MEAN_SQUARE)
    n = data.unclustered_rows(statistic.size)
    value = statistic.value(data.side, Profile.DOCUMENTED)
    absolute = statistic.of is RegressionTerm.ABSOLUTE_ERROR
    everyone = data.everyone or data
    own = borrow_skewness(
        _moments_of_term(statistic.of, data)._replace(mean=value),
        _moments_of_term(statistic.of, everyone),
    )
    if data.squares is None and not absolute:
        return mean_interval_t(own, _kurtosis(statistic.of, everyone.side))
    return StatisticInterval(
        value,
        n,
        partial(mean_limits, own),
        SKEWED_MEAN if data.squares is None else LINEARISED,
        sparse=_error_sparseness(data, n, FEWEST_ABSOLUTE, FEWEST_ABSOLUTE_ALL)
        if absolute
        else None,
    )


def _moments_of_term(term: RegressionTerm, data: SideData) -> MeanMoments:
    first, second, third = SUMS_OF_POWERS[term]
    sums = [
        side.moments_of(needs_of(term))
        for side in (data.side, data.squares or data.side, data.cubes or data.side)
    ]
    powers = [
        PowerSums(m["n"], m[first] if first else m["p"] - m["y"], m[second], m[third]) for m in sums
    ]
    return mean_moments(*powers)


def _kurtosis(term: RegressionTerm, side: ConfusionCounts) -> Array:
    # the kurtosis, nan where it is not counted, or lost to rounding errors
    sums = side.moments_of(needs_of(term))
    if _FOURTH.get(term, "gap4") not in sums:
        return np.full(sums["n"].shape, np.nan)
    found = _moments_about_mean(term, sums)
    return quotient(found.fourth, found.second**2)


def _error_sparseness(data: SideData, n: Array, fewest: int, fewest_together: int) -> Sparseness:
    rows = (data.everyone or data).unclustered_rows(lambda side: side.moments["n"])
    every = np.where(np.isinf(n), n, rows)
    together = Sparseness(ReasonCode.FEW_ERRORS_TOGETHER, every, fewest_together)
    return Sparseness(ReasonCode.FEW_ERRORS, n, fewest, together)


@numeric_interval.register(RootMeanSquaredError)
@numeric_interval.register(ExplainedVariance)
def _root_or_share_interval(statistic: MomentStatistic, data: SideData) -> StatisticInterval:
    if isinstance(statistic, ExplainedVariance):
        return _log_scale_interval(
            statistic, data, _UNEXPLAINED, lambda low, high: (1 - high, 1 - low)
        )
    return _log_scale_interval(
        statistic, data, _MEAN_SQUARE, lambda low, high: (np.sqrt(low), np.sqrt(high))
    )


def _log_scale_interval(
    statistic: MomentStatistic,
    data: SideData,
    of: _OfSquares,
    shape: Callable[[Array, Array], Limits] = lambda low, high: (low, high),
) -> StatisticInterval:
    # the larger spread is used, the group's or that of all rows
    kish = data.unclustered_rows(statistic.size)
    value = statistic.value(data.side, Profile.DOCUMENTED)
    sums, every = data.side.moments, (data.everyone or data).side.moments
    n, degrees = kish, np.full(kish.shape, np.inf)
    if data.squares is not None:
        linearised = of.influence(sums, data.squares.moments)
        n = effective_rows(of.influence(sums, sums), linearised, sums["n"], kish)
        degrees = degrees_of_squares(kish, statistic.size(data.cases))
    base, (own, normal) = of.value(sums), of.spread(sums, n)
    spread = np.fmax(own, of.spread(every, every["n"])[0])
    lost = np.isnan(own) & (base > 0) & (n > 1)

    def at(z: Array) -> Limits:
        low, high = shape(*log_limits(base, spread, normal, n, t_from_z(z, degrees)))
        return np.where(lost, np.nan, low), np.where(lost, np.nan, high)

    known = np.where(lost, np.inf, kish)  # without limits, rounding is the reason
    return StatisticInterval(
        value,
        kish,
        at,
        LINEARISED,
        reason=ROUNDING if lost.any() else None,
        sparse=_error_sparseness(data, known, FEWEST_SQUARED, FEWEST_SQUARED_ALL),
    )


def _moments_about_mean(term: RegressionTerm, m: Sums) -> Moments:
    if term is RegressionTerm.LABEL:
        return central_moments(m["n"], m["y"], m["yy"], m["y3"], _drop_unbounded(m["y4"]))
    if term is RegressionTerm.PREDICTION:
        return central_moments(m["n"], m["p"], m["pp"], m["p3"], _drop_unbounded(m["p4"]))
    return central_moments(m["n"], m["p"] - m["y"], m["gap2"], m["gap3"], _fourth_errors(m))


@dataclass(frozen=True, slots=True)
class _OfSquares:
    """A number above 0, made of squares, whose interval is made on the log scale.

    ``value``: of the sums over a group.
    ``spread``: the mean square of the influence of a row on its logarithm, of so many rows, nan
        where rounding errors dominate it; and that of normal values, inf where it is raised
        already.
    ``influence``: the sum of squares of what each row of a group moves it by, from the sums over
        the group, over the rows of the second sums, which may be weighed otherwise.
    """

    value: Callable[[Sums], Array]
    spread: Callable[[Sums, Array], tuple[Array, Array | float]]
    influence: Callable[[Sums, Sums], Array]


def _mean_square(m: Sums) -> Array:
    return quotient(m["gap2"], m["n"])


def _mean_square_spread(m: Sums, n: Array) -> tuple[Array, float]:
    return tail_weight(_mean_square(m), quotient(_fourth_errors(m), m["n"]), n) - 1, np.inf


def _mean_square_influence(m: Sums, rows: Sums) -> Array:
    square = _mean_square(m)
    return np.asarray(rows["gap4"] - 2 * square * rows["gap2"] + square**2 * rows["n"])


@quiet
def _unexplained_share(m: Sums) -> Array:
    return m["gap2"] / m["n"] / _moments_about_mean(RegressionTerm.LABEL, m).second


@quiet
def _unexplained_influence(m: Sums, rows: Sums) -> Array:
    mean, e = m["y"] / m["n"], m["gap2"] / m["n"]
    v = m["yy"] / m["n"] - mean**2
    y1, y2, y3, y4 = (rows[name] for name in ("y", "yy", "y3", "y4"))
    fourth = y4 - 4 * mean * y3 + 6 * mean**2 * y2 - 4 * mean**3 * y1 + mean**4 * rows["n"]
    both = rows["gap2_yy"] - 2 * mean * rows["gap2_y"] + mean**2 * rows["gap2"]  # of e²d²
    return np.asarray(rows["gap4"] / e**2 - 2 * both / (e * v) + fourth / v**2)


@quiet
def _unexplained_spread(m: Sums, n: Array) -> tuple[Array, Array]:
    # the mean square of that is of fourth moments: of e², of d², and of both together
    del n  # which raises it where limits are made
    label = _moments_about_mean(RegressionTerm.LABEL, m)
    mean, v, e = label.mean, label.second, m["gap2"] / m["n"]
    both = [m["gap2_yy"], -2 * mean * m["gap2_y"], mean**2 * m["gap2"]]  # of e²d²
    parts = [_fourth_errors(m) / e**2, *(-2 * part / (e * v) for part in both)]
    spread = stable_sum([part / m["n"] for part in parts] + [label.fourth / v**2], _LEAST_SPREAD)
    product = (m["pp"] + m["yy"] - m["gap2"]) / 2  # of label and prediction
    together = (product - m["yy"]) / m["n"] - mean * (m["p"] - m["y"]) / m["n"]  # of e and d
    return spread, 4 * np.maximum(1 - together**2 / (e * v), 0.0)


def _fourth_errors(m: Sums) -> Array:
    return m["gap4"] + 0.0 * (_drop_unbounded(m["y4"]) + _drop_unbounded(m["p4"]))


def _drop_unbounded(fourths: Array) -> Array:
    return np.where(fourths < _LARGE, fourths, np.nan)


_MEAN_SQUARE = _OfSquares(_mean_square, _mean_square_spread, _mean_square_influence)
_UNEXPLAINED = _OfSquares(_unexplained_share, _unexplained_spread, _unexplained_influence)


_LEAST = 2.0**-52  # keeps logarithms finite; the value of log loss is cut off there too
_HALF_A_ROW = 0.5  # corrects a count for continuity, or stands for what was not seen

RowNumber: TypeAlias = "Callable[[Array, Mask], Array]"

NUMBER_OF_A_ROW: dict[ScoreTerm, RowNumber] = {
    ScoreTerm.SCORE: lambda s, _: s,
    ScoreTerm.CALIBRATION_GAP: lambda s, y: s - y,
    ScoreTerm.SQUARED_ERROR: lambda s, y: (s - y) ** 2,
    ScoreTerm.LOG_LOSS: lambda s, y: -np.log(np.clip(np.where(y, s, 1 - s), _LEAST, 1.0)),
}
"""The number of rows, by their scores and labels, that a statistic is the mean of."""


def rows_of_mean(statistic: ScoreStatistic) -> Count | None:
    """Return the rows that a statistic is the mean of; None where it is no mean."""
    if isinstance(statistic, ScoreMean):
        return statistic.size
    if isinstance(statistic, LabelMeanScore):
        return partial(_rows_with_label, label=statistic.position)
    return None


def _rows_with_label(side: ConfusionCounts, label: int) -> Array:
    assert side.scores is not None
    return np.asarray(side.scores.counts[:, label].sum(axis=-1))


@numeric_interval.register(ScoreMean)
@numeric_interval.register(LabelMeanScore)
def _score_mean_interval(
    statistic: ScoreMean | LabelMeanScore, data: SideData
) -> StatisticInterval:
    held, one_label = scores_of(data.side), isinstance(statistic, LabelMeanScore)
    n = (
        data.scored(statistic.position).sum(axis=-1)
        if isinstance(statistic, LabelMeanScore)
        else data.unclustered_rows(statistic.size)
    )
    values, every = _numbers_of_bins(statistic, held.centre), held.counts.sum(axis=1)
    unseen = _HALF_A_ROW * quotient(every, every.sum(axis=1)[:, None])
    if not one_label:
        unseen = np.tile(unseen / 2, 2) if statistic.labelled else np.zeros_like(held.every)
    counts = partial(_rows_of_bins, statistic)
    moments = _mean_of_bins(statistic.from_scores(held), n, values, counts, unseen, data)
    if not statistic.labelled and data.squares is None:
        return mean_interval_t(moments)
    mean, rows = np.asarray(moments.mean), np.asarray(moments.rows)
    methods = SKEWED_MEAN if data.squares is None else LINEARISED
    positives = None
    if isinstance(statistic, ScoreMean) and statistic.labelled:
        positives = quotient(held.counts[:, 0].sum(axis=-1), every.sum(axis=-1)) * rows
    return StatisticInterval(
        mean, rows, partial(mean_limits, moments), methods, positives=positives
    )


def _rows_of_bins(statistic: ScoreStatistic, side: ConfusionCounts) -> Array:
    held = scores_of(side)
    if isinstance(statistic, LabelMeanScore):
        return held.counts[:, statistic.position]
    every, *shape = held.counts.shape  # of no group, too
    return held.counts.reshape(every, math.prod(shape)) if statistic.labelled else held.every


def _numbers_of_bins(statistic: ScoreMean | LabelMeanScore, scores: Array) -> Array:
    if isinstance(statistic, LabelMeanScore):
        return scores
    labels, of = (True, False) if statistic.labelled else (False,), NUMBER_OF_A_ROW[statistic.of]
    return np.concatenate([of(scores, np.full(scores.shape, y)) for y in labels])


def _mean_of_bins(
    mean: Array, n: Array, values: Array, counts: Count, unseen: Array, data: SideData
) -> MeanMoments:
    # Its spread is taken over the bins. Of weighted rows it is that of their influences, over bins
    # of squared and of cubed weights. What is ``unseen`` counts for the spread too: a group in
    # which a rare label or score happens not to occur would otherwise show too little of it, or
    # none.
    held = counts(data.side)
    total = held.sum(axis=1)
    away = values - quotient(held @ values, total)[:, None]
    unbiased = np.where(n > 1, quotient(n, n - 1), np.nan)  # undefined for one row

    def moment(side: ConfusionCounts, power: int) -> Array:
        """Return the sum of a power of the influences; what is unseen has a row's mean weight."""
        own, scale = counts(side), quotient(total, n) ** power
        sums = (own + scale[:, None] * unseen) * away**power
        return np.asarray(quotient(sums.sum(axis=1), total**power))

    variance = moment(data.squares or data.side, 2) * unbiased
    return MeanMoments(mean, variance, moment(data.cubes or data.side, 3), n)


@numeric_interval.register(RocAuc)
def _area_interval(statistic: RocAuc, data: SideData) -> StatisticInterval:
    del statistic  # there is one; its counts are scaled to the effective sample size
    area = area_from_counts(data.scored(0), data.scored(1))
    rows = np.minimum(area.positives, area.negatives)
    held = scores_of(data.side)
    filled = held.counts.sum(axis=1) > 0
    single = (filled.sum(axis=-1) == 1) & (filled & (held.low == held.high)).any(axis=-1)
    return StatisticInterval(
        area.area,
        rows,
        lambda z: area_score_interval(*area, z),
        (IntervalMethod.DELONG,),
        constant=single,
    )


@numeric_interval.register(AveragePrecision)
def _average_precision_interval(statistic: AveragePrecision, data: SideData) -> StatisticInterval:
    pos, neg = data.scored(0), data.scored(1)
    positives = pos.sum(axis=-1)
    _, variance = precision_from_counts(pos, neg)
    average = statistic.value(data.side, Profile.DOCUMENTED)

    def at(z: Array) -> Limits:
        return precision_interval(average, variance, positives, z)

    rows = np.minimum(positives, neg.sum(axis=-1))
    return StatisticInterval(average, rows, at, (IntervalMethod.INFLUENCE,))


@numeric_interval.register(CalibrationError)
def _calibration_interval(statistic: CalibrationError, data: SideData) -> StatisticInterval:
    held = scores_of(data.side)
    per_weight = data.unclustered_rows_per_weight(statistic.size)
    counts = held.counts * per_weight[:, None, None]
    centre = held.centre
    squares = counts[:, 0] * (centre - 1) ** 2 + counts[:, 1] * centre**2
    sums = decile_counts(held) * per_weight[:, None]
    bins = Bins._make([*sums, squares @ decile_membership(held)])
    rows = bins.rows.sum(axis=-1)
    return StatisticInterval(
        statistic.value(data.side, Profile.DOCUMENTED),
        rows,
        lambda z: mean_error_limits(bins, np.broadcast_to(z, rows.shape)),
        (IntervalMethod.BALL,),
        positives=counts[:, 0].sum(axis=-1),
    )


# ---- with rows that may be of a side -----------------------------------------------------------


@singledispatch
def ends_of_number(of: Statistic, known: ConfusionCounts, more: ConfusionCounts) -> Array | None:
    """Return the ends of a number of sides that any of ``more`` rows are added to.

    Shape (4, n): the least and the greatest number, its variance now, and the most that this could
    be. None where they are not known: of R², the calibration error and the average precision.
    """
    del of, known, more
    return None


@ends_of_number.register(RocAuc)
@quiet
def _ends_of_area(of: RocAuc, known: ConfusionCounts, more: ConfusionCounts) -> Array:
    # Every pair of an added row may be in the right order, or in the wrong one. How often a row
    # beats the other class moves by the share of that which is added; of an added row it is no
    # further from the mean than 0 or 1 is.
    del of
    area = area_from_counts(*np.moveaxis(scores_of(known).counts, 1, 0))
    rows = np.array([area.positives, area.negatives])
    added = scores_of(more).counts.sum(axis=-1).T
    kept = (rows / (rows + added)).prod(axis=0)
    low, high = area.area * kept, 1 - (1 - area.area) * kept
    moved = (added / (rows + added))[::-1] / np.sqrt(rows - 1)
    joined = added * np.maximum(high, 1 - low) ** 2 / (rows * (rows - 1))
    most = (np.sqrt(area.variances) + moved) ** 2 + joined
    return np.array([low, high, np.sum(area.variances, axis=0), most.sum(axis=0)])


@ends_of_number.register(Mean)
@ends_of_number.register(RootMeanSquaredError)
@quiet
def _ends_of_moments(of: MomentStatistic, known: ConfusionCounts, more: ConfusionCounts) -> Array:
    term = of.of if isinstance(of, Mean) else RegressionTerm.SQUARED_ERROR
    first, second, *_ = SUMS_OF_POWERS[term]
    (n, total, squares), (m, more_total, more_squares) = (
        (sums["n"], sums[first] if first else sums["p"] - sums["y"], sums[second])
        for sums in (side.moments_of(needs_of(term)) for side in (known, more))
    )
    mean = total / n
    away = more_total - m * mean
    apart = np.maximum(more_squares - 2 * mean * more_total + m * mean**2, 0.0)
    reach = np.sqrt(m * apart)  # the most that numbers of these squares are from the mean together
    moved = (reach - away) / 2, (reach + away) / 2
    ends = _ends_of_mean(mean, n, moved, np.maximum(squares - n * mean**2, 0.0), apart)
    if of.range[0] >= 0:
        ends[0] = np.maximum(ends[0], total / (n + m))
        ends[1] = np.minimum(ends[1], (total + more_total) / n)
    if isinstance(of, RootMeanSquaredError):
        return np.array([*np.sqrt(ends[:2]), ends[2] / (4 * mean), ends[3] / (4 * ends[0])])
    ends[:2] += of.centre(known)
    return ends


@ends_of_number.register(ScoreMean)
@ends_of_number.register(LabelMeanScore)
@quiet
def _ends_of_mean_score(
    of: ScoreMean | LabelMeanScore, known: ConfusionCounts, more: ConfusionCounts
) -> Array:
    # within a bin a number rises or falls with the score, so its ends are at those of the bin
    held, mean = scores_of(known), of.value(known, Profile.DOCUMENTED)
    edges = np.sort([_numbers_of_bins(of, held.low), _numbers_of_bins(of, held.high)], axis=0)
    low, high = edges[:, None] - mean[:, None]
    rows, added = (_rows_of_bins(of, side) for side in (known, more))
    moved = tuple((added * np.maximum(away, 0.0)).sum(axis=-1) for away in (-low, high))
    squares = (rows * ((low + high) / 2) ** 2).sum(axis=-1)
    apart = (added * np.maximum(low**2, high**2)).sum(axis=-1)
    return _ends_of_mean(mean, rows.sum(axis=-1), moved, squares, apart)


def _ends_of_mean(
    mean: Array, n: Array, moved: tuple[Array, ...], squares: Array, apart: Array
) -> Array:
    # ``moved``: how far added rows are below and above the mean, together; ``squares, apart``: sums
    # of squares about it, of the rows and of those added. More rows only divide by more.
    below, above = moved
    return np.array([mean - below / n, mean + above / n, squares / n**2, (squares + apart) / n**2])
