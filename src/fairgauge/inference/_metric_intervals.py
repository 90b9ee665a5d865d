"""Intervals of comparisons that are no contrast of one statistic: sizes and distances.

The sampling variation of a distance of scores hardly depends on how fine the bins are, so it is
drawn over cells of equal mass; the distance itself is of the fine bins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.comparisons import ComparisonMetric, Imbalance
from fairgauge.catalogue.distributions import (
    ConditionalDisparity,
    Distance,
    OverallStandardisedDifference,
)
from fairgauge.enums import IntervalMethod
from fairgauge.inference._whole_tables import TOO_MANY_GROUPS, resampled_comparisons
from fairgauge.inference.contrast_intervals import insufficient_sides, share_interval, withhold_thin
from fairgauge.inference.interval import (
    FEWEST_IN_STRATUM,
    MOST_THIN,
    Comparisons,
    Intervals,
    Methods,
    NoInterval,
    SideData,
    canonical_pair,
    generator,
    insufficient_rows,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.distances import (
    HALF_A_ROW,
    distance_ball,
    divergence_interval,
    expected_divergence,
    norm,
    two_shares,
)
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.significance import invert
from fairgauge.stats.squares import difference_in_overall_deviations
from fairgauge.stats.stratified import conditional_disparity

_TWO = 2
_BALL: Methods = (IntervalMethod.BALL, IntervalMethod.BOOTSTRAP)


def distance_interval(metric: Distance, compared: Comparisons, spec: Spec) -> Intervals:
    by = metric.by
    of_norm = by not in ("kl", "js")
    other = compared.other if of_norm else compared.reference
    a, d = _category_counts(metric, other), _category_counts(metric, compared.group)
    held = (a + d).sum(axis=0) > 0  # of categories that no comparison has, two are left at least
    held[: max(0, _TWO - held.sum())] |= True
    a, d = (a[:, held], d[:, held]) if held.sum() >= _TWO else (a, d)
    size, kinds = a.shape
    rows, apart = (d.sum(axis=1), a.sum(axis=1)), np.ones(size)
    if of_norm and compared.rest is not None:  # the others' share of what holds the group, too
        sides = compared.group, compared.reference
        ours, whole = (_category_counts(metric, side).sum(axis=1) for side in sides)
        apart = np.asarray(1 - quotient(ours, whole))
    if of_norm and kinds == _TWO:
        methods: Methods = (IntervalMethod.BALL, IntervalMethod.NEWCOMBE)
        assert by != "kl"
        assert by != "js"
        low, high, p, expected = two_shares(a, d, by, spec.confidence)
        return Intervals(
            low * apart, high * apart, p, [methods] * size, insufficient_rows(rows),
            expected=expected * apart,
        )  # fmt: skip

    at = resampled_comparisons(compared, 2 * kinds, spec)
    at = at[(a.sum(axis=1) > 0)[at] & (d.sum(axis=1) > 0)[at]]
    pairs = [canonical_pair(a[i], d[i], symmetric=by != "kl") for i in at]
    rngs = [generator(spec, metric.name, *pair) for pair in pairs]
    numbers = np.full((4, size), np.nan)
    if by == "kl" or by == "js":
        one, two = np.reshape(pairs, (-1, 2, kinds)).swapaxes(0, 1)
        limits = divergence_interval(one, two, by, spec.confidence, rngs, spec.replicates)
        numbers[:, at] = *limits, expected_divergence(one, two, by)
    else:
        for i, (one, two), rng in zip(at, pairs, rngs, strict=True):
            distance = float(norm(one / one.sum() - two / two.sum(), by))
            numbers[:, i] = distance_ball(
                one, two, distance, lambda gaps: norm(gaps, by), spec.confidence, rng,
                spec.replicates, added=HALF_A_ROW,
            )  # fmt: skip
    low, high, p, expected = numbers
    methods = _BALL if of_norm else (IntervalMethod.SCORE, IntervalMethod.JEFFREYS)
    made = Intervals(
        low * apart, high * apart, p, [methods] * size, insufficient_rows(rows),
        TOO_MANY_GROUPS, expected * apart,
    )  # fmt: skip
    if of_norm:
        return made
    value = metric.value(compared.group.side, compared.reference.side, spec.profile)
    return replace(made, corrected=np.maximum(value - expected, 0.0))


def _category_counts(metric: Distance, data: SideData) -> Array:
    return data.effective(lambda side: side.classes[metric.of])


def imbalance_interval(metric: Imbalance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a difference in size over the sum: Wilson's of the group's share."""
    sides = [
        each.unclustered_rows(lambda side: side.size) for each in (compared.group, compared.other)
    ]
    x, n = sides[0], sides[0] + sides[1]

    def limits(z: Array) -> Limits:
        # (n_d - n_a) / (n_d + n_a) of the group's share of all; its reference may be all
        low, high = (
            2 * each - 1 if compared.rest is None else quotient(each - 1, each + 1)
            for each in wilson(x, n, z)
        )
        return (low, high) if metric.order == "group - reference" else (-high, -low)

    low, high = limits(np.asarray(critical(spec.confidence)))
    methods = [(IntervalMethod.WILSON,)] * len(x)
    return Intervals(low, high, invert(limits), methods, insufficient_rows(n))


def conditional_interval(
    metric: ConditionalDisparity, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a disparity within strata, by the score of its pooled difference."""
    if compared.group.clusters is not None:
        return _conditional_jackknife(metric, compared, spec)
    if compared.rest is not None:
        raise NoInterval(ReasonCode.NO_POOLED_METHOD, whole=True)
    size = compared.group.side.size + compared.reference.side.size
    per_weight = np.ones_like(size)
    if compared.group.squares is not None and compared.reference.squares is not None:
        squares = compared.group.squares.size + compared.reference.squares.size
        per_weight = np.nan_to_num(quotient(size, squares))
    rows = per_weight[:, None, None]
    ours, theirs = (
        each.side.strata[metric.of] * rows for each in (compared.group, compared.reference)
    )
    low, high, p = conditional_disparity(ours, theirs, np.asarray(critical(spec.confidence)))
    sizes = metric.sizes(compared.group.cases, compared.reference.cases)
    return Intervals(low, high, p, [(IntervalMethod.SCORE,)] * len(low), insufficient_rows(sizes))


def _conditional_jackknife(
    metric: ConditionalDisparity, compared: Comparisons, spec: Spec
) -> Intervals:
    from fairgauge.inference.clusters import jackknife_interval

    both = sum(each.cases.strata[metric.of] for each in (compared.group, compared.other))
    assert not isinstance(both, int)
    rows = both.sum(axis=-1)
    weak = np.where((both < FEWEST_IN_STRATUM).any(axis=-1), rows, 0.0).sum(axis=-1)
    thin = quotient(weak, rows.sum(axis=-1)) > MOST_THIN
    reason = Reason.of(
        ReasonCode.THIN_STRATA, minimum=FEWEST_IN_STRATUM, share=MOST_THIN, of=metric.of
    )
    return withhold_thin(jackknife_interval(metric, compared, spec), thin, reason)


_OVERALL: Methods = (IntervalMethod.MOVER, IntervalMethod.WILSON)
# the share of the weight of all rows below which what remains of it is a rounding error
_ROUNDED = 1e-9


def overall_standardised_interval(
    metric: OverallStandardisedDifference, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a difference of selection rates in standard deviations of all rows.

    All rows are those of the group, those that it is compared with, and the remaining ones. A group
    that is a part of its reference is compared with all other rows of it.
    """
    parts = [compared.group, compared.other, _remaining(metric, compared)]
    rates = [share_interval(part, metric.selected, metric.size) for part in parts]
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


def _remaining(metric: OverallStandardisedDifference, compared: Comparisons) -> SideData:
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
        return SideData(side, cases)
    return SideData(side, cases, less(squares.overall, *(each.squares for each in sides)))


OF_KINDS: Mapping[type[ComparisonMetric], Callable[[Any, Comparisons, Spec], Intervals]] = {
    Imbalance: imbalance_interval,
    ConditionalDisparity: conditional_interval,
    Distance: distance_interval,
    OverallStandardisedDifference: overall_standardised_interval,
}
