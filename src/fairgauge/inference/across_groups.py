"""Intervals of the dispersion of a statistic over all groups of a feature.

The largest gap is picked from all pairs, so towards "no difference" every pair is covered at once,
at Tukey's critical value, and away from it each pair alone; the gap lies between the largest lower
and the largest upper limit of a pair. Sampling variation raises the variance and the like, so that
these get a ball.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, singledispatch
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.across import Across, DifferentialFairness, GroupSpread, Joint, Spread
from fairgauge.catalogue.cells import ALL, TN, TP, Array, ConfusionCounts
from fairgauge.catalogue.distributions import BENEFITS, InequalityPart
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import DiagnosticCode, IntervalMethod, Status
from fairgauge.inference.contrast_intervals import (
    EveryGroup,
    insufficient_sides,
    share_interval,
    side_interval,
)
from fairgauge.inference.families import Family
from fairgauge.inference.interval import (
    FEWEST_GROUPS,
    RATIO_MAY_BE_ZERO,
    CellCount,
    FeatureGroups,
    MappedProportion,
    Methods,
    NoInterval,
    Sparseness,
    StatisticInterval,
    concatenate_intervals,
    constant_scores,
    decidable,
    first_reasons,
    insufficient_clusters,
    insufficient_rows,
    insufficient_weights,
    stricter,
    unique_methods,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, Reason, ReasonCode
from fairgauge.results.estimates import GroupPair
from fairgauge.results.scopes import Diagnostic, Interval
from fairgauge.stats.arrays import Index, Limits, Mask, quiet, quotient
from fairgauge.stats.contrasts import expected_count, mover_difference, mover_ratio
from fairgauge.stats.distances import error_dispersion_quantile
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import invert_z, sidak, tukey_critical, tukey_p, two_sided

if TYPE_CHECKING:
    from fairgauge.inference.clusters import Clusters

_Mover: TypeAlias = "Callable[..., Limits]"
_OfPairs: TypeAlias = "Callable[[Index, Index], Mask]"
_MOST_PAIRS = 20_000_000
_PAIRS_AT_ONCE = (IntervalMethod.TUKEY, IntervalMethod.MOVER)
_BALL = IntervalMethod.BALL


class SlotIntervals(NamedTuple):
    """Limits in every slot, how they were made, and why there are none where there are none."""

    limits: Limits
    methods: Methods
    reason: Reason | None = None
    sparse: Sparseness | None = None
    shares: tuple[MappedProportion, ...] = ()

    def expected(self, spread: GroupSpread) -> Array:
        """Return the smallest count expected in the two groups that every slot compares."""
        slots = np.arange(len(spread.first))
        expected = np.full(len(slots), np.inf)
        for share in self.shares:
            x, n = (each.reshape(len(slots), -1) for each in (share.successes, share.rows))
            one, two = (
                (x[slots, group], n[slots, group]) for group in (spread.first, spread.second)
            )
            expected = np.fmin(expected, expected_count(*one, *two))
        return np.where(spread.first == spread.second, np.inf, expected)

    def counted(self, groups: NDArray[np.object_], spread: GroupSpread) -> NDArray[np.object_]:
        """Return what groups have that count: of shares the two compared, else all of a slot."""
        if not self.shares:
            return groups
        slots = np.arange(len(groups))
        return np.stack([groups[slots, spread.first], groups[slots, spread.second]], axis=1)


@singledispatch
def across_interval(metric: Across, groups: EveryGroup, spec: Spec) -> SlotIntervals:
    """Return the limits of a metric of all groups in every slot."""
    del groups, spec
    raise NoInterval(ReasonCode.NO_METHOD, of=metric.title)


@across_interval.register(Spread)
def _spread_interval(metric: Spread, groups: EveryGroup, spec: Spec) -> SlotIntervals:
    groups_interval = groups.interval(metric.of, spec)
    compares = metric.by in ("largest_gap", "smallest_ratio")
    shares = groups_interval.shares if compares else ()
    few = partial(_few_expected, shares, groups.slots) if groups.adequate else None
    slots, confidence = groups.slots, spec.confidence
    known = (~np.isnan(groups_interval.estimate)).reshape(slots, -1).sum(axis=1)
    own, reason = groups_interval.methods, groups_interval.reason
    methods, sparse = (*_PAIRS_AT_ONCE, *own), groups_interval.sparse
    if not compares:
        limits = _extreme(metric, groups_interval, known, confidence)
        return SlotIntervals(limits, (IntervalMethod.SIMULTANEOUS_GROUPS, *own), reason, sparse)
    gap = metric.by == "largest_gap"
    mover = mover_difference if gap else mover_ratio
    low, high = _most_apart(groups_interval, known, confidence, confidence, mover, few)
    if gap:
        return SlotIntervals((np.fmax(low, 0.0), high), methods, reason, sparse, shares)
    if metric.of.range[0] < 0:
        size = len(groups_interval.estimate) // slots
        least, _ = groups_interval.at(np.repeat(tukey_critical(known, confidence), size))
        above = (least > 0) | np.isnan(groups_interval.estimate)
        positive = above.reshape(slots, -1).all(axis=1)
        low, high = (np.where(positive, each, np.nan) for each in (low, high))
    limits, reason = (low, np.fmin(high, 1.0)), reason or RATIO_MAY_BE_ZERO
    return SlotIntervals(limits, methods, reason, sparse, shares)


@across_interval.register(Joint)
def _joint_interval(metric: Joint, groups: EveryGroup, spec: Spec) -> SlotIntervals:
    strict = stricter(spec, len(metric.of))
    parts = [across_interval(part, groups, strict) for part in metric.of]
    low, high = _stacked_limits(parts)
    if metric.how == "mean":
        joined = low.mean(axis=0), high.mean(axis=0)
    else:  # away from no difference the limit of each part alone holds for whichever is furthest
        alone = [across_interval(part, groups, spec) for part in metric.of]
        low_alone, high_alone = _stacked_limits(alone)
        joined = low.max(axis=0), high_alone.max(axis=0)
        if metric.neutral == 1:
            joined = low_alone.min(axis=0), high.min(axis=0)
    methods = unique_methods(IntervalMethod.SIMULTANEOUS, *parts[0].methods)
    shares = tuple(share for part in parts for share in part.shares)
    return SlotIntervals(joined, methods, sparse=parts[0].sparse, shares=shares)


def _stacked_limits(parts: Sequence[SlotIntervals]) -> Limits:
    low, high = zip(*(part.limits for part in parts), strict=True)
    return np.array(low), np.array(high)


@across_interval.register(DifferentialFairness)
def _differential_interval(
    metric: DifferentialFairness, groups: EveryGroup, spec: Spec
) -> SlotIntervals:
    low, high = [], []
    own: Methods = ()
    for outcome in (TP, TN):  # positive ones stand in TP, negative ones in TN
        of, among = (CellCount(metric.needs, each) for each in (outcome, ALL))
        groups_interval = share_interval(groups.data, of, among)
        known = (~np.isnan(groups_interval.estimate)).reshape(groups.slots, -1).sum(axis=1)
        alone, both = spec.confidence, stricter(spec, 2).confidence
        ratio = _most_apart(groups_interval, known, alone, both, mover_ratio)
        low.append(ratio[0])
        high.append(np.fmin(ratio[1], 1.0))
        own = groups_interval.methods
    with np.errstate(divide="ignore"):
        limits = -np.log(np.min(high, axis=0)), -np.log(np.min(low, axis=0))
    return SlotIntervals(limits, (IntervalMethod.SIMULTANEOUS, *_PAIRS_AT_ONCE, *own))


@across_interval.register(InequalityPart)
def _inequality_part_interval(
    metric: InequalityPart, groups: EveryGroup, spec: Spec
) -> SlotIntervals:
    data, slots = groups.data, groups.slots
    counts = data.side.counts(metric.needs).reshape(slots, -1, 4)
    rows_per_weight = data.unclustered_rows_per_weight(
        lambda side: side.counts(metric.needs).sum(axis=-1)
    )
    rows_per_weight = rows_per_weight.reshape(slots, -1)[..., None]
    rows = counts.sum(axis=-1)
    mean = quotient((counts * BENEFITS).sum(axis=-1), rows)
    weight = quotient(rows, rows.sum(axis=-1, keepdims=True))
    every = quotient((counts * BENEFITS).sum(axis=(1, 2)), rows.sum(axis=-1))
    smoothed = (counts * rows_per_weight + 0.5) / ((rows * rows_per_weight[..., 0])[..., None] + 2)
    of_rows = (smoothed * BENEFITS**2).sum(axis=-1) - (smoothed * BENEFITS).sum(axis=-1) ** 2
    error = np.where(rows > 0, np.sqrt(quotient(of_rows, rows * rows_per_weight[..., 0])), np.nan)
    z = np.full(len(rows), critical(spec.confidence))
    far = quotient(error_dispersion_quantile(error, weight, z), every) / np.sqrt(2)
    root = np.sqrt(np.maximum(metric.from_cells(counts), 0.0))
    known = np.isfinite(mean).sum(axis=-1) > 1
    low, high = np.maximum(root - far, 0.0) ** 2, (root + far) ** 2
    return SlotIntervals((np.where(known, low, np.nan), np.where(known, high, np.nan)), (_BALL,))


def rows_per_group(metric: Across, groups: ConfusionCounts) -> Array:
    """Return the rows that each group contributes to a metric."""
    sizes = [statistic.size(groups) for statistic in metric.statistics] or [groups.size]
    return np.asarray(np.min(sizes, axis=0))


def clusters_per_group(metric: Across, clusters: Clusters) -> Array:
    """Return the effective clusters that each group contributes to a metric."""
    from fairgauge.inference.clusters import clusters_of, effective_number

    parts = [clusters_of(statistic, clusters) for statistic in metric.statistics]
    if not parts:
        parts = [effective_number(clusters.block_sizes(lambda side: side.size))]
    return np.asarray(np.min(parts, axis=0))


def insufficient_groups(metric: Across, groups: EveryGroup, spec: Spec) -> list[Reason | None]:
    """Return why the data on each group are insufficient for a metric, None where they suffice.

    The largest gap of all groups is at least that of some of them, and the lowest rate at most
    theirs: what the groups with enough data show of an extreme holds whatever the others are like.
    """
    data, cases = groups.data, groups.data.cases
    few = insufficient_rows(rows_per_group(metric, cases))
    others = [insufficient_weights(data.effective_size, len(few))]
    if data.clusters is not None and "score" not in metric.needs:
        others.append(insufficient_clusters(clusters_per_group(metric, data.clusters)))
    if isinstance(metric, Spread):
        made = groups.interval(metric.of, spec)
        others += [] if made.sparse is None else [made.sparse.insufficient()]
        others += [] if made.constant is None else [constant_scores(made.constant)]
    return first_reasons(few, *others)


def _few_expected(
    shares: Sequence[MappedProportion], slots: int, first: Index, second: Index
) -> Mask:
    # whether a cell of two groups has a small expected count, of shape (slots, first, second)
    few = np.zeros((1, 1, 1), dtype=bool)
    for share in shares:
        x, n = (each.reshape(slots, -1) for each in (share.successes, share.rows))
        one, two = (x[:, first, None], n[:, first, None]), (x[:, None, second], n[:, None, second])
        few = few | (expected_count(*one, *two) < FEWEST_EXPECTED)
    return few


def _most_apart(
    groups_interval: StatisticInterval,
    groups: Array,
    confidence: float,
    simultaneous: float,
    mover: _Mover,
    few: _OfPairs | None = None,
) -> Limits:
    # Towards "no difference" all pairs hold at once (Tukey), at the level ``simultaneous``, because
    # the pair is the most extreme one of the sample. Away from it no pair needs to know of the
    # others: the two groups that are furthest apart in the population are one of them, and the most
    # extreme limit is not inside theirs. The pairs that ``few`` marks count towards it alone.
    slots = len(groups)
    c = tukey_critical(groups, simultaneous).repeat(len(groups_interval.estimate) // slots)
    towards = _furthest_limit(groups_interval, c, slots, mover, few, at_once=True)
    c = np.full_like(c, critical(confidence))
    away = _furthest_limit(groups_interval, c, slots, mover, None, at_once=False)
    return (away, towards) if mover is mover_ratio else (towards, away)


_FEW_GROUPS = 100
"""So many groups are compared each with each."""

_SEEDS = 8
"""Of more, so many at either end are compared first."""


def _furthest_limit(
    groups_interval: StatisticInterval,
    c: Array,
    slots: int,
    mover: _Mover,
    few: _OfPairs | None,
    *,
    at_once: bool,
) -> Array:
    # ``c`` holds the critical value of every group in every slot
    size = len(groups_interval.estimate) // slots
    if slots * size**2 > _MOST_PAIRS:
        raise NoInterval(ReasonCode.TOO_MANY_GROUPS)
    estimate = groups_interval.estimate.reshape(slots, size)
    low, high = (
        each.reshape(slots, size) for each in _limits_where_all_known(groups_interval, c, slots)
    )
    ratio, known = mover is mover_ratio, ~np.isnan(estimate)
    low = np.maximum(low, 0.0) if ratio else low
    at, sides = np.arange(slots * size).reshape(slots, size), (estimate, low, high)

    def limits(first: Index, second: Index) -> Array:  # of shape (slots, first, second)
        pairs = np.broadcast_arrays(at[:, first, None], at[:, None, second])
        one, two = (each.ravel() for each in pairs)
        r = groups_interval.correlation(groups_interval, one, two).reshape(pairs[0].shape)
        numbers = [
            *(each[:, first, None] for each in sides),
            *(each[:, None, second] for each in sides),
        ]
        made = mover(*numbers, r)[ratio if at_once else not ratio]
        pair = known[:, first, None] & known[:, None, second] & (first[:, None] != second)
        if few is not None:
            pair = pair & ~few(first, second)
        return np.where(pair, made, np.nan)

    first = second = np.arange(size)
    furthest = np.fmin if ratio else np.fmax
    # with infinite estimates limits are made otherwise
    finite = size > _FEW_GROUPS and np.isfinite(estimate[known]).all()
    if finite and groups_interval.dependence is None:
        first, second = _groups_far_apart(sides, limits, ratio, at_once)
    return np.asarray(furthest.reduce(limits(first, second), axis=(1, 2), initial=np.nan))


@quiet
def _groups_far_apart(
    sides: Sequence[Array], limits: Callable[[Index, Index], Array], ratio: bool, at_once: bool
) -> tuple[Index, Index]:
    # Most pairs cannot have the furthest limit. On the scale on which that is the least (of a ratio
    # the logarithm, of a gap its negative), the limit of two independent groups away from "no
    # difference" is at least ``low - high``, and the one towards it at least ``high - estimate``
    # and ``estimate - low``: a group whose least bound is above the limit of some pair has it not.
    estimate, low, high = sides
    low, high = estimate - np.abs(estimate - low), estimate + np.abs(high - estimate)
    scale = np.log if ratio else np.negative
    estimate, low, high = (scale(each) for each in (estimate, low, high))
    low, high = (low, high) if ratio else (high, low)
    bounds = [(high, estimate), (estimate, low)] if at_once else [(low, high)]
    one, two = (high, low) if at_once else (low, high)
    seeds = np.argsort(one.min(axis=0))[:_SEEDS], np.argsort(-two.max(axis=0))[:_SEEDS]
    least = np.fmin.reduce(scale(limits(*seeds)), axis=(1, 2), initial=np.inf)[:, None]
    least = np.where(np.isfinite(least), least + 1e-9 * (1 + np.abs(least)), least)
    first = second = ~np.isnan(sides[0])
    for one, two in bounds:
        first = first & ~(one - np.fmax.reduce(two, axis=1, keepdims=True) > least)
        second = second & ~(np.fmin.reduce(one, axis=1, keepdims=True) - two > least)
    return np.flatnonzero(first.any(axis=0)), np.flatnonzero(second.any(axis=0))


def _limits_where_all_known(groups_interval: StatisticInterval, c: Array, slots: int) -> Limits:
    low, high = groups_interval.at(c)
    missing = (np.isnan(low) | np.isnan(high)) & ~np.isnan(groups_interval.estimate)
    none = np.repeat(missing.reshape(slots, -1).any(axis=1), len(low) // slots)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def _extreme(
    metric: Spread, groups_interval: StatisticInterval, groups: Array, confidence: float
) -> Limits:
    # towards the other groups all groups are covered at once, away from them each alone: whichever
    # is the most extreme in the population, the most extreme limit is not inside its own
    slots = len(groups)
    size = len(groups_interval.estimate) // slots
    levels = {g: critical(1 - (1 - confidence) / max(g, 1)) for g in set(groups.tolist())}
    c = np.repeat([levels[g] for g in groups.tolist()], size)
    known = ~np.isnan(groups_interval.estimate.reshape(slots, size))
    (low, high), (low_at_once, high_at_once) = (
        tuple(
            np.where(known, each.reshape(slots, size), np.nan)
            for each in _limits_where_all_known(groups_interval, at, slots)
        )
        for at in (np.full_like(c, critical(confidence)), c)
    )
    if metric.by == "minimum":
        return np.fmin.reduce(low, axis=1), np.fmin.reduce(high_at_once, axis=1)
    return np.fmax.reduce(low_at_once, axis=1), np.fmax.reduce(high, axis=1)


MOST_LISTED = 435
"""Pairs kept of a rate: all of 30 groups; of more groups, those that differ most."""

_MOST_COMPARED = 1_000_000


class _PairIntervals(NamedTuple):
    """Pairs of groups in one rate; arrays of shape (pairs,), but ``groups``, a number."""

    groups: int
    first: Index
    second: Index
    rates: tuple[Array, Array]
    difference: Limits
    ratio: Limits
    methods: Methods


def pairwise(
    rates: Sequence[Rate], groups: FeatureGroups, spec: Spec, family: Family
) -> list[GroupPair]:
    """Compare every two groups in some rates, those that differ most first.

    Fewer than three groups with sufficient data give none: their comparison is an estimate already.
    Of very many pairs, `MOST_LISTED` of each rate are kept; all of them hold at once even so.
    """
    size = len(groups.names)
    if size < FEWEST_GROUPS or math.comb(size, 2) > _MOST_COMPARED:
        return []
    every = ((rate, _compare_pairs(rate, groups, spec.confidence)) for rate in rates)
    kept = [(rate, compared) for rate, compared in every if compared.groups >= FEWEST_GROUPS]
    return [
        pair
        for (rate, compared), (p, too_few) in zip(kept, _test_pairs(kept, groups), strict=True)
        for pair in _group_pairs(rate, compared, sidak(p, family.size), too_few, groups, spec)
    ]


def pairs_not_listed(groups: FeatureGroups) -> Iterator[Diagnostic]:
    """Note how many pairs of a feature are not listed, if any."""
    size = len(groups.names)
    every = math.comb(size, 2)
    if every <= MOST_LISTED:
        return
    listed = 0 if every > _MOST_COMPARED else MOST_LISTED
    yield Diagnostic.note(
        DiagnosticCode.PAIRS_LIMITED, groups.feature, pairs=every, groups=size, listed=listed
    )


def _compare_pairs(rate: Rate, groups: FeatureGroups, confidence: float) -> _PairIntervals:
    interval = side_interval(rate, groups.pick(np.arange(len(groups.names))))
    known = np.flatnonzero(decidable(interval))
    one, two = (known[i] for i in np.triu_indices(len(known), k=1))
    swapped = interval.estimate[one] > interval.estimate[two]
    first, second = np.where(swapped, two, one), np.where(swapped, one, two)
    c = np.full(len(interval.estimate), float(tukey_critical(len(known), confidence)))
    numbers = (interval.estimate, *interval.at(c))
    sides = [number[i] for i in (first, second) for number in numbers]
    correlated = (*sides, interval.correlation(interval, first, second))
    difference = mover_difference(*correlated)
    distance = np.nan_to_num(np.maximum(-difference[1], 0.0))
    at = np.lexsort((sides[0] - sides[3], -distance))[:MOST_LISTED]  # those that differ most
    return _PairIntervals(
        groups=len(known),
        first=first[at],
        second=second[at],
        rates=(sides[0][at], sides[3][at]),
        difference=(difference[0][at], difference[1][at]),
        ratio=mover_ratio(*(each[at] for each in correlated)),
        methods=unique_methods(IntervalMethod.TUKEY, IntervalMethod.MOVER, *interval.methods),
    )


def _test_pairs(
    kept: Sequence[tuple[Rate, _PairIntervals]], groups: FeatureGroups
) -> Iterator[tuple[Array, list[Reason | None]]]:
    ours, theirs = (
        [side_interval(rate, groups.pick(which)) for rate, which in sides]
        for sides in (
            [(rate, each.first) for rate, each in kept],
            [(rate, each.second) for rate, each in kept],
        )
    )
    at = [np.arange(len(each.first)) for _, each in kept]
    tied = [a.correlation(b, i, i) for a, b, i in zip(ours, theirs, at, strict=True)]
    r = np.concatenate([np.empty(0), *tied])
    one, two = concatenate_intervals(ours), concatenate_intervals(theirs)
    z = invert_z(lambda z: mover_difference(one.estimate, *one.at(z), two.estimate, *two.at(z), r))
    start = 0
    for (_, each), a, b in zip(kept, ours, theirs, strict=True):
        here = z[start : (start := start + len(each.first))]
        # the range is computed to some 1e-15; beyond, a pair alone is the better bound
        yield np.maximum(tukey_p(here, each.groups), two_sided(here)), insufficient_sides(a, b)


def _group_pairs(
    rate: Rate,
    kept: _PairIntervals,
    p: Array,
    too_few: Sequence[Reason | None],
    groups: FeatureGroups,
    spec: Spec,
) -> Iterator[GroupPair]:
    first, second = kept.rates
    ratio = quotient(first, second)
    for i, few in enumerate(too_few):
        rates = float(first[i]), float(second[i])
        difference, as_ratio = (
            Interval(float(low[i]), float(high[i]), spec.confidence, kept.methods)
            for low, high in (kept.difference, kept.ratio)
        )
        known = not math.isnan(ratio[i])
        group, other = (groups.names[which[i]] for which in (kept.first, kept.second))
        yield GroupPair(
            feature=groups.feature,
            rate=rate.name,
            definition=rate,
            group=group,
            other=other,
            class_scope=groups.class_scope,
            threshold=groups.threshold if "prediction" in rate.needs else None,
            rate_group=rates[0],
            rate_other=rates[1],
            difference=rates[0] - rates[1],
            difference_interval=difference,
            ratio=float(ratio[i]) if known else None,
            ratio_low=as_ratio.low if known else None,
            ratio_high=as_ratio.high if known else None,
            pairs=math.comb(kept.groups, 2),
            p_adjusted=float(p[i]),
            status=Status.TOO_FEW if few else Status.OK,
            reason=few and Reason(few.code, parameters=few.parameters),  # of the smaller of both
        )
