"""Intervals of a difference or a ratio, from the intervals of both sides (MOVER).

Difference and ratio come from one equation, so they agree on "no difference" and share their
p-value. Where the group is a part of its reference, it is compared with all other rows of it and
the interval is transformed: of a mean, ``group - whole`` is ``(1 - s)(group - others)``, s the
group's share.

Adjusted for strata, proportions are pooled by their score, which many thin strata do not mislead.
Other statistics, and rare outcomes, by stratified MOVER: each side is a weighted mean over strata,
and the distances of its limits are the root of the summed squares of the strata's own, weighted
alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgauge.catalogue.averages import Averaged, Kappa
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.pooling import is_odds_ratio
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import IntervalMethod, Method
from fairgauge.inference.compared_counts import Comparisons
from fairgauge.inference.interval import (
    JACKKNIFE_UNDEFINED,
    RATIO_MAY_BE_ZERO,
    THIN_STRATA,
    At,
    Intervals,
    Methods,
    NoInterval,
    StatisticInterval,
    concatenated,
    each_once,
    first_reasons,
    insufficient_clusters,
    insufficient_rows,
    strata_are_thin,
)
from fairgauge.inference.one.statistic_intervals import (
    denominator,
    side_interval,
    statistic_interval,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, Reason, ReasonCode
from fairgauge.stats.arrays import Limits, Mask, quiet, quotient
from fairgauge.stats.contrasts import (
    difference_from_whole,
    expected_count,
    far_apart,
    mover_difference,
    mover_ratio,
    ratio_to_whole,
    score_difference,
    score_ratio,
    welch_degrees,
)
from fairgauge.stats.exact import boschloo
from fairgauge.stats.intervals import critical, critical_t
from fairgauge.stats.significance import invert, score_p, welch_p
from fairgauge.stats.stratified import (
    mantel_haenszel_odds_ratio,
    stratified_difference,
    stratified_ratio,
)

_MOST_TABLES = 50_000
"""Tables that an exact test enumerates; of more rows the limits are exact enough."""


@dataclass(frozen=True, slots=True, eq=False)
class StatisticComparison:
    """One statistic of two sides that share no row, and what is common to all contrasts of it.

    Attributes
    ----------
    ends : the limits of both sides at the confidence, where they are made beforehand.
    p : of "no difference".
    score : which comparisons get score limits.
    too_few : why each has insufficient data; None where there is enough.
    correlation : of the two sides.
    """

    group: StatisticInterval
    other: StatisticInterval
    p: Array
    score: Mask
    too_few: list[Reason | None]
    correlation: Array
    ends: tuple[Limits, Limits] | None = None

    @property
    def of_means(self) -> bool:
        """Return whether both sides are means, which Welch's test compares."""
        return self.group.variance is not None and self.other.variance is not None


def compare_statistics(
    statistics: Sequence[Statistic], compared: Comparisons, spec: Spec
) -> dict[Statistic, StatisticComparison | Reason]:
    """Return what is common to all contrasts of each statistic, made for all of them at once.

    In place of a statistic that has no interval stands the reason.
    """
    comparisons: dict[Statistic, StatisticComparison] = {}
    refused: dict[Statistic, StatisticComparison | Reason] = {}
    for statistic in statistics:
        try:
            comparisons[statistic] = _sides(statistic, compared, spec)
        except NoInterval as why:
            refused[statistic] = why.reason
    means = {k: replace(each, p=_welch(each)) for k, each in comparisons.items() if each.of_means}
    others = {k: each for k, each in comparisons.items() if not each.of_means}
    exact = compared.margin & (spec.method is Method.EXACT)
    tested = _with_p_values(list(others.values()), spec, exact) if others else []
    return refused | means | dict(zip(others, tested, strict=True))


def _sides(statistic: Statistic, compared: Comparisons, spec: Spec) -> StatisticComparison:
    """Return the statistic intervals of both sides, without p-values."""
    other = compared.reference if denominator(statistic) is None else compared.other
    ours, theirs = (side_interval(statistic, each) for each in (compared.group, other))
    at = np.arange(len(ours.n))
    correlation = ours.correlation(theirs, at, at)
    if compared.rest is not None and other is compared.reference and not ours.clustered:
        correlation = _with_whole(statistic, compared)
    score = np.zeros(len(ours.n), dtype=bool)
    one, two = ours.share, theirs.share
    default = spec.method is Method.DEFAULT and not ours.clustered
    if default and one and two and one.plain and two.plain:  # else not of the number
        score = far_apart(one.x, one.n, two.x, two.n)
    return StatisticComparison(
        ours, theirs, np.empty(0), score, insufficient_sides(ours, theirs), correlation
    )


def _with_whole(statistic: Statistic, compared: Comparisons) -> Array:
    """Return the correlation of groups with the references that hold them, 0 where unknown."""
    if not isinstance(statistic, (Averaged, Kappa)):
        return np.zeros(len(compared.margin))
    from fairgauge.inference.one.class_averages import correlation_with_whole

    return correlation_with_whole(statistic, compared)


def contrast_interval(
    metric: Contrast, comparison: StatisticComparison, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a difference or a ratio of a statistic."""
    sides = (comparison.group, comparison.other)
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    low, high = _limits(metric, comparison, spec)
    method = [_name(metric, first, spec.method)] * len(low)
    at = np.flatnonzero(comparison.score)
    if len(at) and first.share is not None and second.share is not None:
        x1, n1, x2, n2 = (of[at] for side in (first.share, second.share) for of in (side.x, side.n))
        made = score_difference if metric.by == "difference" else score_ratio
        low[at], high[at] = made(x1, n1, x2, n2, critical(spec.confidence))
        for i in at:
            method[i] = (IntervalMethod.SCORE,)
    if compared.rest is not None:
        low, high = _against_whole(metric, compared, low, high)
    unknown = np.isnan(low) | np.isnan(high)
    p = np.where(unknown, np.nan, comparison.p)
    reason = comparison.group.reason or comparison.other.reason or RATIO_MAY_BE_ZERO
    if comparison.group.clustered:
        reason = JACKKNIFE_UNDEFINED
    return Intervals(low, high, p, method, comparison.too_few, reason)


def _limits(metric: Contrast, comparison: StatisticComparison, spec: Spec) -> Limits:
    sides = _limits_of_sides(comparison, spec)
    statistics, correlation = (comparison.group, comparison.other), comparison.correlation
    reversed_order = metric.order == "reference - group"
    (low1, high1), (low2, high2) = sides[::-1] if reversed_order else sides
    first, second = statistics[::-1] if reversed_order else statistics
    e1, e2 = first.estimate, second.estimate
    made = mover_difference
    if metric.by == "ratio":
        made = mover_ratio
        if metric.of.range[0] >= 0:
            low1, low2 = np.maximum(low1, 0.0), np.maximum(low2, 0.0)
    low, high = made(e1, low1, high1, e2, low2, high2, correlation)
    if metric.by == "difference" or metric.of.range[0] >= 0:
        return np.array(low), np.array(high)
    above = (low1 > 0) & (low2 > 0)  # a ratio of numbers that may be 0 has no limits
    return np.where(above, low, np.nan), np.where(above, high, np.nan)


def _limits_of_sides(comparison: StatisticComparison, spec: Spec) -> tuple[Limits, Limits]:
    one, two = comparison.group, comparison.other
    if one.variance is not None and two.variance is not None:
        c = critical_t(spec.confidence, welch_degrees(one.variance, one.n, two.variance, two.n))
        return one.at(c), two.at(c)
    if comparison.ends is None or one.needs_other_formula(spec.method):
        ours, theirs = (each.limits(spec.confidence, spec.method)[0] for each in (one, two))
        return ours, theirs
    return comparison.ends


def _welch(tested: StatisticComparison) -> Array:
    one, two = tested.group, tested.other
    assert one.variance is not None
    assert two.variance is not None
    return welch_p(one.estimate, one.variance, one.n, two.estimate, two.variance, two.n)


def _with_p_values(
    every: list[StatisticComparison], spec: Spec, exact: Mask
) -> list[StatisticComparison]:
    both = concatenated([each.group for each in every] + [each.other for each in every])
    size = len(both.n) // 2
    correlation = np.concatenate([each.correlation for each in every])

    def sides(z: Array) -> tuple[Limits, Limits]:
        low, high = both.at(np.concatenate([z, z]))
        return (low[:size], high[:size]), (low[size:], high[size:])

    def interval(z: Array) -> Limits:
        ours, theirs = sides(np.broadcast_to(z, (size,)))
        e1, e2 = both.estimate[:size], both.estimate[size:]
        return mover_difference(e1, *ours, e2, *theirs, correlation)

    p, made, start = invert(interval), [], 0
    ours, theirs = sides(np.full(size, critical(spec.confidence)))
    for each in every:
        here = slice(start, start := start + len(each.score))
        ends = tuple((low[here], high[here]) for low, high in (ours, theirs))
        shares = _proportion_p_values(each, np.array(p[here]), exact)
        made.append(replace(each, p=shares, ends=(ends[0], ends[1])))
    return made


def _proportion_p_values(each: StatisticComparison, p: Array, exact: Mask) -> Array:
    """Return p-values; those of proportions by an exact or a score test where due."""
    if each.group.share is None or each.other.share is None:
        return p
    one, two = each.group.share, each.other.share
    x1, n1, x2, n2 = one.x, one.n, two.x, two.n
    if exact.any():
        whole = np.all([each == np.floor(each) for each in (x1, n1, x2, n2)], axis=0)
        at = np.flatnonzero(exact & whole & ((n1 + 1) * (n2 + 1) <= _MOST_TABLES))
        p[at] = boschloo(x1[at], n1[at], x2[at], n2[at])
    at = np.flatnonzero(each.score)
    p[at] = score_p(x1[at], n1[at], x2[at], n2[at])
    return p


def _against_whole(metric: Contrast, compared: Comparisons, low: Array, high: Array) -> Limits:
    count = denominator(metric.of)
    if count is None:
        return low, high
    part = quotient(count(compared.group.side), count(compared.reference.side))
    if metric.by == "ratio" and metric.order == "group - reference":
        return ratio_to_whole(low, high, part)
    low, high = difference_from_whole(low, high, part)
    return (low, high) if metric.by == "difference" else (part + low, part + high)


def insufficient_sides(ours: StatisticInterval, theirs: StatisticInterval) -> list[Reason | None]:
    """Return where rows, or those that make up the variance, are insufficient.

    What weights leave of the rows is named before expected counts, which they distort.
    """
    expected = np.full(len(ours.n), np.inf)
    for one, two in zip(ours.shares, theirs.shares, strict=True):
        counts = expected_count(one.successes, one.rows, two.successes, two.rows)
        expected = np.fmin(expected, counts)
    few = insufficient_rows((ours.rows, theirs.rows))
    rare = insufficient_rows(np.full(len(few), np.inf), expected)
    if ours.clusters is not None and theirs.clusters is not None:
        return first_reasons(insufficient_clusters((ours.clusters, theirs.clusters)), few, rare)
    for mine, other in ((ours.sparse, theirs.sparse), (ours.compared, theirs.compared)):
        if mine is not None and other is not None:
            few = first_reasons(few, mine.insufficient(other))
    if ours.constant is not None:
        few = first_reasons(few, ours.constant.insufficient(theirs.constant))
    return first_reasons(few, rare)


def _name(metric: Contrast, side: StatisticInterval, method: Method) -> Methods:
    if side.variance is not None:
        return (IntervalMethod.STUDENT_T,)
    how = side.methods
    if side.share is not None and method in (Method.EXACT, Method.BAYES):
        exact = method is Method.EXACT
        how = (IntervalMethod.CLOPPER_PEARSON if exact else IntervalMethod.JEFFREYS,)
    of_rates = side.share is None or side.share.plain
    if how == (IntervalMethod.WILSON,) and of_rates and metric.by == "difference":
        return (IntervalMethod.NEWCOMBE,)
    return each_once(IntervalMethod.MOVER, *how)


def pooled_interval(
    metric: Contrast, compared: Comparisons, weights: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast adjusted for strata.

    Parameters
    ----------
    compared : the sides of each group, stratum after stratum.
    weights : array of shape (groups, strata), 0 where a stratum is excluded.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    if is_odds_ratio(metric):
        return _pooled_odds_ratio(metric, compared, weights, spec)
    share = quotient(weights, weights.sum(axis=1, keepdims=True))
    if compared.rest is not None:
        share = share * _distance_to_others(metric, compared, weights)
    ours, theirs = (
        statistic_interval(metric.of, compared.group),
        statistic_interval(metric.of, compared.other),
    )
    rows = [np.where(weights > 0, b.n.reshape(weights.shape), 0.0) for b in (ours, theirs)]
    if ours.share is None or theirs.share is None or not ours.share.plain:
        made = _mover(metric, (ours, theirs), share, rows, compared, spec)
        return _unless_thin(made, strata_are_thin(rows, weights))
    x = [np.where(weights > 0, s.x.reshape(weights.shape), 0.0) for s in (ours.share, theirs.share)]
    score = _pooled_score(metric, x, rows, share, spec)
    enough = _least_expected(x, rows) >= FEWEST_EXPECTED
    if enough.all():
        return score
    made = _mover(metric, (ours, theirs), share, rows, compared, spec)
    made = _unless_thin(made, strata_are_thin(rows, weights))
    return _score_where_sufficient(enough, score, made)


def _unless_thin(intervals: Intervals, too_thin: Mask) -> Intervals:
    """Return the intervals, without those of groups whose strata are too thin."""
    low, high, p = (
        np.where(too_thin, np.nan, each) for each in (intervals.low, intervals.high, intervals.p)
    )
    too_few = [
        THIN_STRATA if thin else few for thin, few in zip(too_thin, intervals.too_few, strict=True)
    ]
    return replace(intervals, low=low, high=high, p=p, too_few=too_few)


def _pooled_odds_ratio(
    metric: Contrast, compared: Comparisons, weights: Array, spec: Spec
) -> Intervals:
    if compared.rest is not None:
        raise NoInterval(ReasonCode.POOLED_WITH_WHOLE)
    shares = [statistic_interval(metric.of, e).share for e in (compared.group, compared.reference)]
    first, second = shares if metric.order == "group - reference" else shares[::-1]
    assert first is not None
    assert second is not None
    x, n = (
        [np.where(weights > 0, each.reshape(weights.shape), 0.0) for each in pair]
        for pair in ((first.x, second.x), (first.n, second.n))
    )
    low, high, p = mantel_haenszel_odds_ratio(x[0], n[0], x[1], n[1], critical(spec.confidence))
    rows = n[0].sum(axis=1), n[1].sum(axis=1)
    too_few = insufficient_rows(rows, _least_expected(x, n))
    method = [(IntervalMethod.MANTEL_HAENSZEL,)] * len(low)
    return Intervals(low, high, p, method, too_few, RATIO_MAY_BE_ZERO)


def _pooled_score(
    metric: Contrast, x: list[Array], rows: list[Array], share: Array, spec: Spec
) -> Intervals:
    sides = [x[0], rows[0], x[1], rows[1]]
    if metric.order == "reference - group":
        sides = sides[2:] + sides[:2]
    limits = stratified_difference if metric.by == "difference" else stratified_ratio
    made = limits(sides[0], sides[1], sides[2], sides[3], share, critical(spec.confidence))
    too_few = insufficient_rows((rows[0].sum(axis=1), rows[1].sum(axis=1)))
    method = [(IntervalMethod.SCORE,)] * len(too_few)
    return Intervals(*made, method, too_few)


def _score_where_sufficient(enough: Mask, score: Intervals, otherwise: Intervals) -> Intervals:
    """Return the score limits where there is enough, the others elsewhere."""
    low, high, p = (
        np.where(enough, getattr(score, name), getattr(otherwise, name))
        for name in ("low", "high", "p")
    )
    both = zip(
        enough, score.methods, score.too_few, otherwise.methods, otherwise.too_few, strict=True
    )
    chosen = [each[1:3] if each[0] else each[3:] for each in both]
    methods, too_few = [each[0] for each in chosen], [each[1] for each in chosen]
    return Intervals(low, high, p, methods, too_few, otherwise.reason)


def _least_expected(x: list[Array], rows: list[Array]) -> Array:
    n = [each.sum(axis=1) for each in rows]
    pooled = quotient(x[0].sum(axis=1) + x[1].sum(axis=1), n[0] + n[1])
    return np.asarray(np.nan_to_num(np.minimum(*n) * np.minimum(pooled, 1 - pooled)))


def _mover(
    metric: Contrast,
    sides: tuple[StatisticInterval, StatisticInterval],
    share: Array,
    rows: list[Array],
    compared: Comparisons,
    spec: Spec,
) -> Intervals:
    n = [each.sum(axis=1) for each in rows]
    first, second = (_mean_of_side(b, share, total) for b, total in zip(sides, n, strict=True))

    def interval(z: Array) -> Limits:
        return mover_difference(first.estimate, *first.at(z), second.estimate, *second.at(z))

    none = np.zeros(len(share), dtype=bool)
    zero = np.zeros(len(share))
    comparison = StatisticComparison(
        first, second, invert(interval), none, insufficient_rows((n[0], n[1])), zero
    )
    margin = np.ones(len(share), dtype=bool)
    apart = Comparisons(compared.group, compared.reference, None, margin)
    made = contrast_interval(metric, comparison, apart, spec)
    methods = [(IntervalMethod.STRATIFIED, *method) for method in made.methods]
    return Intervals(made.low, made.high, made.p, methods, made.too_few, made.reason)


def _mean_of_side(side: StatisticInterval, share: Array, n: Array) -> StatisticInterval:
    estimate, distances = mean_over_strata(side.estimate, _with_single_rows(side, share), share)

    def at(z: Array) -> Limits:
        below, above = distances(np.broadcast_to(z, (len(share),)))
        with np.errstate(invalid="ignore"):  # infinite on both sides: undefined
            return estimate - below, estimate + above

    return StatisticInterval(estimate, n, at, side.methods, reason=side.reason)


def _with_single_rows(side: StatisticInterval, share: Array) -> At:
    """Return the limits of a number in strata, those of single rows by the variance within others.

    Nothing in its stratum shows how a single number varies: by itself it would leave the mean over
    all strata without limits, however many rows these have.
    """
    n = side.n.reshape(share.shape)

    def at(z: Array) -> Limits:
        low, high = side.at(z)
        alone = np.isneginf(low) & np.isposinf(high)
        if not alone.any():
            return low, high
        freedom = np.where((share > 0) & ~alone.reshape(share.shape), np.maximum(n - 1, 0), 0.0)

        @quiet  # estimates and limits that are undefined, or infinite, are of no single row
        def filled(limit: Array) -> Array:
            apart = np.where(freedom > 0, (limit - side.estimate).reshape(share.shape), 0.0)
            of_one = np.sqrt(quotient((freedom * n * apart**2).sum(1), freedom.sum(1)))
            distance = np.copysign((of_one[:, None] / np.sqrt(n)).ravel(), limit)
            known = alone & np.isfinite(distance)
            return np.where(known, side.estimate + distance, limit)

        return filled(low), filled(high)

    return at


def mean_over_strata(values: Array, at: At, share: Array) -> tuple[Array, At]:
    """Return weighted means over strata, and the distances of their limits at critical values.

    Parameters
    ----------
    values, at : the numbers, stratum after stratum, and their limits.
    share : array of shape (n, strata)
        The weights of the strata, which sum to 1; 0 where a stratum is excluded.
    """
    used = share > 0

    def weighted(numbers: Array) -> Array:
        return np.asarray(share * np.where(used, numbers.reshape(share.shape), 0.0))

    def distances(z: Array) -> Limits:
        # one critical value for each mean, the same in all of its strata
        low, high = at(np.repeat(z, share.shape[1]))
        with np.errstate(invalid="ignore"):
            below, above = weighted(values - low) ** 2, weighted(high - values) ** 2
        return np.sqrt(below.sum(axis=1)), np.sqrt(above.sum(axis=1))

    return weighted(values).sum(axis=1), distances


def _distance_to_others(metric: Contrast, compared: Comparisons, weights: Array) -> Array:
    count = denominator(metric.of)
    if count is None or metric.by == "ratio":
        raise NoInterval(ReasonCode.POOLED_WITH_WHOLE)
    part = quotient(count(compared.group.side), count(compared.reference.side))
    return np.asarray(1 - part.reshape(weights.shape))
