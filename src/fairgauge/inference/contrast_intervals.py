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

from collections.abc import Callable, Sequence
from functools import partial, singledispatch

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.distributions import is_odds_ratio, tested_statistic
from fairgauge.catalogue.lookup import FormKind, closed_form
from fairgauge.catalogue.score_statistics import Mean, MomentStatistic, ScoreStatistic
from fairgauge.catalogue.statistics import (
    Agreement,
    Averaged,
    Blend,
    DrawnStatistic,
    Kappa,
    Quotient,
    Rate,
    Statistic,
)
from fairgauge.enums import IntervalMethod, Method, Profile
from fairgauge.inference.interval import (
    FEWEST_EFFECTIVE,
    JACKKNIFE_UNDEFINED,
    RATIO_MAY_BE_ZERO,
    THIN_STRATA,
    At,
    CellCount,
    Comparisons,
    Count,
    Formula,
    Intervals,
    MappedProportion,
    Methods,
    NoInterval,
    Shape,
    SideData,
    Sparseness,
    StatisticInterval,
    concatenate_intervals,
    constant_scores,
    first_reasons,
    insufficient_clusters,
    insufficient_expected,
    insufficient_rows,
    strata_are_thin,
    unique_methods,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, Reason, ReasonCode
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Limits, Mask, quiet, quotient
from fairgauge.stats.contrasts import (
    difference_from_whole,
    expected_count,
    far_apart,
    mover_difference,
    mover_odds_ratio,
    mover_ratio,
    odds_ratio_to_whole,
    ratio_to_whole,
    score_difference,
    score_ratio,
    welch_degrees,
)
from fairgauge.stats.intervals import (
    critical,
    critical_t,
    effective_rows,
    odds,
    paired_ratio,
    t_from_z,
    weighted_share,
    wilson,
)
from fairgauge.stats.significance import boschloo, invert, score_p, welch_p


@singledispatch
def statistic_interval(statistic: Statistic, data: SideData) -> StatisticInterval:
    """Return the limits of a statistic."""
    del data
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@statistic_interval.register(Rate)
def _rate_interval(statistic: Rate, data: SideData) -> StatisticInterval:
    needs = statistic.needs
    return share_interval(data, CellCount(needs, statistic.of), CellCount(needs, statistic.among))


@statistic_interval.register(Agreement)
def _agreement_interval(statistic: Agreement, data: SideData) -> StatisticInterval:
    return share_interval(data, statistic.agreed, statistic.size)


@statistic_interval.register(Averaged)
@statistic_interval.register(Kappa)
def _average_interval(statistic: Averaged | Kappa, data: SideData) -> StatisticInterval:
    from fairgauge.inference._whole_tables import agreement_shape, class_interval, is_of_agreement

    if not data.side.table.any():
        raise NoInterval(ReasonCode.NEEDS_COLUMNS, columns="label and prediction")
    if not isinstance(statistic, Averaged) or not is_of_agreement(statistic):
        return class_interval(statistic, data)
    of, among, shape = agreement_shape(statistic, len(data.side.per_class))
    return share_interval(data, of, among, shape)


def is_resampled(statistic: Statistic) -> bool:
    """Return whether no closed form fits a statistic, so that its tables are resampled."""
    if isinstance(statistic, Quotient):
        return closed_form(statistic) is None
    return isinstance(statistic, DrawnStatistic)


@statistic_interval.register(Quotient)
def _quotient_interval(statistic: Quotient, data: SideData) -> StatisticInterval:
    form = closed_form(statistic)
    if form is None:
        raise NoInterval(ReasonCode.NO_METHOD, of=statistic.formula)
    needs = statistic.needs
    counts = [CellCount(needs, each) for each in form.sums]
    if form.kind is FormKind.PAIRED:
        return _paired_quotient_interval(statistic, counts, data)
    if form.kind is FormKind.ODDS:
        return share_interval(data, counts[0], counts[1], odds)
    return share_interval(data, counts[0], counts[1], partial(weighted_share, times=form.times))


@statistic_interval.register(Blend)
def _blend_interval(statistic: Blend, data: SideData) -> StatisticInterval:
    if closed_form(statistic) is None:
        raise NoInterval(ReasonCode.SHARED_ROWS, of=statistic.title)
    if data.clusters is not None:
        raise NoInterval(ReasonCode.SHARED_ROWS, of=statistic.title, clusters=True)
    parts = [statistic_interval(rate, data) for rate in statistic.of]
    estimate: Array = np.mean([part.estimate for part in parts], axis=0)

    def at(z: Array) -> Limits:
        limits = [part.at(z) for part in parts]
        below = [(part.estimate - low) ** 2 for part, (low, _) in zip(parts, limits, strict=True)]
        above = [(high - part.estimate) ** 2 for part, (_, high) in zip(parts, limits, strict=True)]
        low = estimate - np.sqrt(np.sum(below, axis=0)) / len(parts)
        return low, estimate + np.sqrt(np.sum(above, axis=0)) / len(parts)

    n: Array = np.min([part.n for part in parts], axis=0)
    shares = tuple(
        replace(share, part=rate.title)
        for rate, part in zip(statistic.of, parts, strict=True) for share in part.shares
    )  # fmt: skip
    sparse = None
    if all(part.sparse is not None for part in parts):
        least = np.min([part.sparse.rows for part in parts if part.sparse is not None], axis=0)
        sparse = Sparseness(ReasonCode.FEW_EFFECTIVE_ROWS, least, FEWEST_EFFECTIVE)
    methods = (IntervalMethod.MOVER, IntervalMethod.WILSON)
    return StatisticInterval(estimate, n, at, methods, shares, sparse=sparse)


@statistic_interval.register(ScoreStatistic)
@statistic_interval.register(MomentStatistic)
def _numeric_interval(statistic: Statistic, data: SideData) -> StatisticInterval:
    from fairgauge.inference._numeric_statistics import numeric_interval

    return numeric_interval(statistic, data)


def share_interval(
    data: SideData, of: Count, among: Count, shape: Shape = np.asarray
) -> StatisticInterval:
    """Return a number that stands for a share of rows, by Wilson's limits."""
    x, n, rate, degrees, shared = data.share(of, among)
    share = MappedProportion(x, n, shape, among(data.cases))
    if data.rounded is not None:
        from fairgauge.stats.rounded_counts import limits_of_sums

        every = [data.side, *data.rounded[:3]]
        sums = [each for side in every for each in (of(side), among(side) - of(side))]
        formula = Formula(limits_of_sums, (*sums, np.full_like(x, data.rounded.base)), shape)
        methods = (IntervalMethod.WILSON, IntervalMethod.ROUNDING)
        return StatisticInterval(shape(rate), n, formula, methods, (share,))
    sparse = None
    if data.squares is not None:
        sparse = Sparseness(ReasonCode.FEW_EFFECTIVE_ROWS, data.kish_rows(among), FEWEST_EFFECTIVE)
    if shared is None:
        formula = Formula(wilson, (x, n), shape)
        if degrees is not None:
            formula = Formula(
                lambda x, n, degrees, z: wilson(x, n, t_from_z(z, degrees)), (x, n, degrees), shape
            )
        return StatisticInterval(
            shape(rate), n, formula, (IntervalMethod.WILSON,), (share,), sparse=sparse
        )

    degrees = shared.of.degrees

    def at(z: Array) -> Limits:
        low, high = wilson(x, n, t_from_z(z, degrees))
        known = degrees > 0
        return share.limits((np.where(known, low, np.nan), np.where(known, high, np.nan)))

    return StatisticInterval(
        shape(rate),
        n,
        at,
        (IntervalMethod.JACKKNIFE, IntervalMethod.WILSON),
        (share,),
        clusters=shared.of.clusters,
        dependence=shared.dependence,
    )


def denominator(statistic: Statistic) -> Count | None:
    """Return the rows by which a statistic of a whole is the mean of its parts', if it is one.

    ``statistic(whole) = sum of rows(part) statistic(part) / sum of rows(part)``.
    """
    if isinstance(statistic, Rate):
        return CellCount(statistic.needs, statistic.among)
    if isinstance(statistic, Quotient):
        return CellCount(statistic.needs, statistic.under)
    if isinstance(statistic, ScoreStatistic):
        from fairgauge.inference._numeric_statistics import rows_of_mean

        return rows_of_mean(statistic)
    if isinstance(statistic, Averaged):
        from fairgauge.inference._whole_tables import is_of_agreement

        return statistic.size if is_of_agreement(statistic) else None
    if isinstance(statistic, (Agreement, Mean)):
        return statistic.size
    return None


@quiet
def _paired_quotient_interval(
    statistic: Quotient, cells: Sequence[Count], data: SideData
) -> StatisticInterval:
    shared, above, below = (count(data.side) for count in cells)
    per_weight = data.unclustered_rows_per_weight(statistic.size)
    if data.squares is not None:
        # a row moves the logarithm by one over each count that it is in, with opposite signs
        over, under = quotient(1.0, shared + above), quotient(1.0, shared + below)
        moved = np.stack([over - under, over, -under]) ** 2
        spread, linearised = (
            (moved * np.stack([count(side) for count in cells])).sum(axis=0)
            for side in (data.side, data.squares)
        )
        per_weight = effective_rows(spread, linearised, 1.0, per_weight)
    return StatisticInterval(
        quotient((shared + above) * per_weight, (shared + below) * per_weight),
        data.unclustered_rows(statistic.size),
        Formula(paired_ratio, tuple(each * per_weight for each in (shared, above, below))),
        (IntervalMethod.MOVER,),
    )


def side_interval(statistic: Statistic, data: SideData) -> StatisticInterval:
    """Return the interval of a statistic of one side, robust to clusters where there are any.

    Raises ``NoInterval``: no method gives a valid interval from what is counted.
    """
    if data.clusters is not None:
        from fairgauge.inference.clusters import SampledSides, sampled_interval

        if isinstance(data.clusters, SampledSides):
            return sampled_interval(statistic, data)
    try:
        interval = statistic_interval(statistic, data)
        if interval.clusters is not None or data.clusters is None:
            return interval
    except NoInterval:
        if data.clusters is None:
            raise
    return sampled_interval(statistic, data)


def interval_of_groups(
    statistic: Statistic, data: SideData, margin: Mask, spec: Spec
) -> StatisticInterval:
    """Return the interval of a statistic of every group, at any critical value.

    ``margin`` states which groups are of all rows.
    """
    if data.clusters is None and is_resampled(statistic):
        from fairgauge.inference._whole_tables import resampled_statistic, table_of

        table = table_of(statistic)
        if table is not None:
            return resampled_statistic(statistic, table, data, margin, spec)
    return side_interval(statistic, data)


class EveryGroup:
    """All groups of a feature in every slot, and the intervals of their statistics, each made once.

    ``data`` holds the groups of each slot, slot by slot. With ``adequate``, pairs of groups
    with too few expected rows show nothing towards "no difference".
    """

    def __init__(self, data: SideData, slots: int, *, adequate: bool = False) -> None:
        self.data = data
        self.slots = slots
        self.adequate = adequate
        self._intervals: dict[tuple[Statistic, float], StatisticInterval] = {}

    def interval(self, statistic: Statistic, spec: Spec) -> StatisticInterval:
        key = statistic, spec.confidence
        if key not in self._intervals:
            size = len(self.data.side.size)
            margin = np.arange(size) < size // self.slots  # the first slot is of all rows
            self._intervals[key] = interval_of_groups(statistic, self.data, margin, spec)
        return self._intervals[key]


# tables that an exact test enumerates; of more rows the limits are exact enough
_MOST_TABLES = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class StatisticComparison:
    """One statistic of two sides that share no row, and what is common to all contrasts of it.

    ``ends``: the limits of both sides at the confidence, where they are made beforehand.
    ``p``: of "no difference".
    ``mover_p``: the same of MOVER limits, where others are made of some.
    ``score``: which comparisons get score limits.
    ``too_few``: why each has insufficient data; None where there is enough.
    ``correlation``: of the two sides.
    """

    group: StatisticInterval
    other: StatisticInterval
    p: Array
    score: Mask
    too_few: list[Reason | None]
    correlation: Array
    mover_p: Array | None = None
    ends: tuple[Limits, Limits] | None = None


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
            comparisons[statistic] = interval_sides(statistic, compared, spec)
        except NoInterval as why:
            refused[statistic] = why.reason
    means = {}
    for statistic, each in comparisons.items():
        one, two = each.group, each.other
        if one.variance is not None and two.variance is not None:
            p = welch_p(one.estimate, one.variance, one.n, two.estimate, two.variance, two.n)
            means[statistic] = replace(each, p=p)
    others = {k: each for k, each in comparisons.items() if k not in means}
    exact = compared.margin & (spec.method is Method.EXACT)
    tested = _add_p_values(list(others.values()), spec, exact) if others else []
    return refused | means | dict(zip(others, tested, strict=True))


def interval_sides(statistic: Statistic, compared: Comparisons, spec: Spec) -> StatisticComparison:
    """Return what all contrasts of a statistic have in common but their p-values."""
    other = compared.reference if denominator(statistic) is None else compared.other
    ours, theirs = (side_interval(statistic, each) for each in (compared.group, other))
    at = np.arange(len(ours.n))
    correlation = ours.correlation(theirs, at, at)
    inside = compared.rest is not None and other is compared.reference
    if inside and ours.clusters is None and isinstance(statistic, (Averaged, Kappa)):
        from fairgauge.inference._whole_tables import correlation_with_whole

        correlation = correlation_with_whole(statistic, compared)
    score = np.zeros(len(ours.n), dtype=bool)
    one, two = ours.share, theirs.share
    default = spec.method is Method.DEFAULT and ours.clusters is None
    default &= compared.group.rounded is None
    if default and one and two and one.plain and two.plain:  # else not of the number
        score = far_apart(one.x, one.n, two.x, two.n)
    few, p = insufficient_sides(ours, theirs), np.full(len(ours.n), np.nan)
    return StatisticComparison(ours, theirs, p, score, few, correlation)


def contrast_interval(
    metric: Contrast, comparison: StatisticComparison, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a difference or a ratio of a statistic."""
    sides = (comparison.group, comparison.other)
    first, second = sides if metric.order == "group - reference" else sides[::-1]
    low, high = _contrast_limits(metric, comparison, spec)
    method = [_name(metric, first, spec.method)] * len(low)
    tested = tested_statistic(metric)
    of_odds = tested is not metric.of
    at = np.flatnonzero(comparison.score & (not of_odds))
    if len(at) and first.share is not None and second.share is not None:
        x1, n1, x2, n2 = (of[at] for side in (first.share, second.share) for of in (side.x, side.n))
        made = score_difference if metric.by == "difference" else score_ratio
        low[at], high[at] = made(x1, n1, x2, n2, critical(spec.confidence))
        for i in at:
            method[i] = (IntervalMethod.SCORE,)
    count = denominator(tested) if compared.rest is not None else None
    if count is not None:
        part = quotient(count(compared.group.side), count(compared.reference.side))
        if of_odds:
            share = tested.value(compared.reference.side, Profile.DOCUMENTED)
            low, high = odds_ratio_to_whole(low, high, part, share)
        elif metric.by == "ratio":
            low, high = ratio_to_whole(low, high, part)
        else:
            low, high = difference_from_whole(low, high, part)
    p = comparison.p
    if of_odds and comparison.mover_p is not None:
        p = np.where(comparison.score, comparison.mover_p, p)
    p = np.where(np.isnan(low) | np.isnan(high), np.nan, p)
    reason = comparison.group.reason or comparison.other.reason or RATIO_MAY_BE_ZERO
    if comparison.group.clusters is not None and comparison.group.reason is None:
        reason = JACKKNIFE_UNDEFINED
    return Intervals(low, high, p, method, comparison.too_few, reason)


def _contrast_limits(metric: Contrast, comparison: StatisticComparison, spec: Spec) -> Limits:
    one, two = comparison.group, comparison.other
    if one.variance is not None and two.variance is not None:
        c = critical_t(spec.confidence, welch_degrees(one.variance, one.n, two.variance, two.n))
        sides = one.at(c), two.at(c)
    elif comparison.ends is None or one.needs_other_formula(spec.method):
        ours, theirs = (each.limits(spec.confidence, spec.method)[0] for each in (one, two))
        sides = ours, theirs
    else:
        sides = comparison.ends
    statistics, correlation = (comparison.group, comparison.other), comparison.correlation
    reversed_order = metric.order == "reference - group"
    (low1, high1), (low2, high2) = sides[::-1] if reversed_order else sides
    first, second = statistics[::-1] if reversed_order else statistics
    e1, e2 = first.estimate, second.estimate
    made: Callable[..., Limits] = mover_difference
    if metric.by == "ratio":
        made = mover_odds_ratio if is_odds_ratio(metric) else mover_ratio
        if metric.of.range[0] >= 0:
            low1, low2 = np.maximum(low1, 0.0), np.maximum(low2, 0.0)
    low, high = made(e1, low1, high1, e2, low2, high2, correlation)
    if metric.by == "difference" or metric.of.range[0] >= 0:
        return np.array(low), np.array(high)
    above = (low1 > 0) & (low2 > 0)  # a ratio of numbers that may be 0 has no limits
    return np.where(above, low, np.nan), np.where(above, high, np.nan)


def _add_p_values(
    every: list[StatisticComparison], spec: Spec, exact: Mask
) -> list[StatisticComparison]:
    both = concatenate_intervals([each.group for each in every] + [each.other for each in every])
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
        tested = np.array(p[here])
        if each.group.share is not None and each.other.share is not None:
            sides_of = each.group.share, each.other.share
            x1, n1, x2, n2 = counts = [of for side in sides_of for of in (side.x, side.n)]
            if exact.any():
                whole = np.all([count == np.floor(count) for count in counts], axis=0)
                at = np.flatnonzero(exact & whole & ((n1 + 1) * (n2 + 1) <= _MOST_TABLES))
                tested[at] = boschloo(x1[at], n1[at], x2[at], n2[at])
            at = np.flatnonzero(each.score)
            tested[at] = score_p(x1[at], n1[at], x2[at], n2[at])
        made.append(replace(each, p=tested, mover_p=p[here], ends=(ends[0], ends[1])))
    return made


def insufficient_sides(ours: StatisticInterval, theirs: StatisticInterval) -> list[Reason | None]:
    """Return where rows, or those that make up the variance, are insufficient.

    What weights leave of the rows is named before expected counts, which they distort.
    """
    expected = np.full(len(ours.n), np.inf)
    for one, two in zip(ours.shares, theirs.shares, strict=True):
        counts = expected_count(one.successes, one.rows, two.successes, two.rows)
        expected = np.fmin(expected, counts)
    if ours.positives is not None and theirs.positives is not None:
        counts = expected_count(ours.positives, ours.n, theirs.positives, theirs.n)
        expected = np.fmin(expected, counts)
    few, rare = insufficient_rows((ours.rows, theirs.rows)), insufficient_expected(expected)
    for i, reason in enumerate(few):
        if reason is not None:
            of = (theirs if reason.side == "reference" else ours).shares
            part = min(of, key=lambda share: share.rows.item(i)).part if of else None
            few[i] = Reason.of(reason.code, **dict(reason.parameters), part=part).on(
                str(reason.side)
            )
    if ours.clusters is not None and theirs.clusters is not None:
        return first_reasons(insufficient_clusters((ours.clusters, theirs.clusters)), few, rare)
    for mine, other in ((ours.sparse, theirs.sparse), (ours.compared, theirs.compared)):
        if mine is not None and other is not None:
            few = first_reasons(few, mine.insufficient(other))
    if ours.constant is not None and theirs.constant is not None:
        few = first_reasons(few, constant_scores(ours.constant & theirs.constant))
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
    return unique_methods(IntervalMethod.MOVER, *how)


def pooled_interval(
    metric: Contrast, compared: Comparisons, weights: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast adjusted for strata.

    ``compared``: the sides of each group, stratum after stratum.
    ``weights``: shape (groups, strata)
    """
    from fairgauge.stats.stratified import stratified_difference, stratified_ratio

    if is_odds_ratio(metric):
        return _pooled_odds_ratio(metric, compared, weights, spec)
    share = quotient(weights, weights.sum(axis=1, keepdims=True))
    if compared.rest is not None:
        count = denominator(metric.of)
        if count is None or metric.by == "ratio":
            raise NoInterval(ReasonCode.NO_POOLED_METHOD, whole=True)
        part = quotient(count(compared.group.side), count(compared.reference.side))
        share = share * (1 - part.reshape(weights.shape))
    ours, theirs = (
        statistic_interval(metric.of, compared.group),
        statistic_interval(metric.of, compared.other),
    )
    rows = [np.where(weights > 0, b.n.reshape(weights.shape), 0.0) for b in (ours, theirs)]
    if ours.share is None or theirs.share is None or not ours.share.plain:
        made = _mover_of_sides(metric, (ours, theirs), share, rows, compared, spec)
        return withhold_thin(made, strata_are_thin(rows, weights))
    x = [np.where(weights > 0, s.x.reshape(weights.shape), 0.0) for s in (ours.share, theirs.share)]
    sides = [(x[0], rows[0]), (x[1], rows[1])][:: 1 if metric.order == "group - reference" else -1]
    limits = stratified_difference if metric.by == "difference" else stratified_ratio
    scored = limits(*sides[0], *sides[1], share, critical(spec.confidence))
    few = insufficient_rows((rows[0].sum(axis=1), rows[1].sum(axis=1)))
    score = Intervals(*scored, [(IntervalMethod.SCORE,)] * len(few), few)
    enough = _least_expected(x, rows) >= FEWEST_EXPECTED
    if enough.all():
        return score
    made = _mover_of_sides(metric, (ours, theirs), share, rows, compared, spec)
    made = withhold_thin(made, strata_are_thin(rows, weights))
    low, high, p = (
        np.where(enough, getattr(score, name), getattr(made, name)) for name in ("low", "high", "p")
    )
    methods, too_few = (
        [each[0] if each[2] else each[1] for each in zip(*pair, enough, strict=True)]
        for pair in ((score.methods, made.methods), (score.too_few, made.too_few))
    )
    return Intervals(low, high, p, methods, too_few, made.reason)


def withhold_thin(intervals: Intervals, too_thin: Mask, reason: Reason = THIN_STRATA) -> Intervals:
    """Return intervals, none of the groups whose strata are too thin."""
    low, high, p = (
        np.where(too_thin, np.nan, each) for each in (intervals.low, intervals.high, intervals.p)
    )
    too_few = [
        reason if thin else few for thin, few in zip(too_thin, intervals.too_few, strict=True)
    ]
    return replace(intervals, low=low, high=high, p=p, too_few=too_few)


def _pooled_odds_ratio(
    metric: Contrast, compared: Comparisons, weights: Array, spec: Spec
) -> Intervals:
    from fairgauge.stats.stratified import mantel_haenszel_odds_ratio

    if compared.rest is not None:
        raise NoInterval(ReasonCode.NO_POOLED_METHOD, whole=True)
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
    too_few = first_reasons(insufficient_rows(rows), insufficient_expected(_least_expected(x, n)))
    method = [(IntervalMethod.MANTEL_HAENSZEL,)] * len(low)
    return Intervals(low, high, p, method, too_few, RATIO_MAY_BE_ZERO)


def _least_expected(x: list[Array], rows: list[Array]) -> Array:
    n = [row.sum(axis=1) for row in rows]
    pooled = quotient(x[0].sum(axis=1) + x[1].sum(axis=1), n[0] + n[1])
    return np.asarray(np.nan_to_num(np.minimum(*n) * np.minimum(pooled, 1 - pooled)))


def _mover_of_sides(
    metric: Contrast,
    sides: tuple[StatisticInterval, StatisticInterval],
    share: Array,
    rows: list[Array],
    compared: Comparisons,
    spec: Spec,
) -> Intervals:
    n = [row.sum(axis=1) for row in rows]
    first, second = (_mean_of_side(b, share, total) for b, total in zip(sides, n, strict=True))

    def interval(z: Array) -> Limits:
        return mover_difference(first.estimate, *first.at(z), second.estimate, *second.at(z))

    none = np.zeros(len(share), dtype=bool)
    comparison = StatisticComparison(
        first, second, invert(interval), none, insufficient_rows((n[0], n[1])), np.zeros(len(share))
    )
    margin = np.ones(len(share), dtype=bool)
    apart = Comparisons(compared.group, compared.reference, None, margin)
    made = contrast_interval(metric, comparison, apart, spec)
    methods = [(IntervalMethod.STRATIFIED, *method) for method in made.methods]
    return Intervals(made.low, made.high, made.p, methods, made.too_few, made.reason)


def _mean_of_side(side: StatisticInterval, share: Array, n: Array) -> StatisticInterval:
    limits = _borrow_variance_for_single_rows(side, share)

    def weighted(numbers: Array) -> Array:
        return np.asarray(share * np.where(share > 0, numbers.reshape(share.shape), 0.0))

    estimate = weighted(side.estimate).sum(axis=1)

    def at(z: Array) -> Limits:
        # one critical value for each mean, the same in all of its strata
        low, high = limits(np.repeat(np.broadcast_to(z, (len(share),)), share.shape[1]))
        with np.errstate(invalid="ignore", over="ignore"):  # infinite on both sides: undefined
            below, above = (
                np.sqrt((weighted(each) ** 2).sum(axis=1))
                for each in (side.estimate - low, high - side.estimate)
            )
            return estimate - below, estimate + above

    return StatisticInterval(estimate, n, at, side.methods, reason=side.reason)


def _borrow_variance_for_single_rows(side: StatisticInterval, share: Array) -> At:
    # nothing in its stratum shows how a single number varies: by itself it would leave the mean
    # over all strata without limits, however many rows these have
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
