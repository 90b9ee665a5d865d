"""Intervals of how large a group is: against its reference, and within strata."""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Imbalance
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.enums import IntervalMethod
from fairgauge.inference.compared_counts import Comparisons
from fairgauge.inference.interval import Intervals, NoInterval, insufficient_rows
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.significance import invert
from fairgauge.stats.stratified import conditional_disparity

_FEWEST = 5
_MOST_WEAK = 0.1


def imbalance_interval(metric: Imbalance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a difference in size over the sum: Wilson's of the group's share."""
    sides = [each.rows(lambda side: side.size) for each in (compared.group, compared.other)]
    x, n = sides[0], sides[0] + sides[1]

    def limits(z: Array) -> Limits:
        low, high = (_imbalance(each, compared) for each in wilson(x, n, z))
        return (low, high) if metric.order == "group - reference" else (-high, -low)

    low, high = limits(np.asarray(critical(spec.confidence)))
    methods = [(IntervalMethod.WILSON,)] * len(x)
    return Intervals(low, high, invert(limits), methods, insufficient_rows(n))


def _imbalance(share: Array, compared: Comparisons) -> Array:
    """Return (n_d - n_a) / (n_d + n_a) of the group's share of all; its reference may be all."""
    if compared.rest is None:
        return 2 * share - 1
    return quotient(share - 1, share + 1)


def conditional_interval(
    metric: ConditionalDisparity, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a disparity within strata, by the score of its pooled difference."""
    if compared.group.clusters is not None:
        return _conditional_jackknife(metric, compared, spec)
    if compared.rest is not None:
        raise NoInterval(ReasonCode.POOLED_WITH_WHOLE)
    rows = _rows_per_weight_of_both(compared)[:, None, None]
    ours, theirs = (
        each.side.strata[metric.of] * rows for each in (compared.group, compared.reference)
    )
    low, high, p = conditional_disparity(ours, theirs, np.asarray(critical(spec.confidence)))
    sizes = metric.sizes(compared.group.cases, compared.reference.cases)
    methods = [(IntervalMethod.SCORE,)] * len(low)
    return Intervals(low, high, p, methods, insufficient_rows(sizes))


def _rows_per_weight_of_both(compared: Comparisons) -> Array:
    weight = compared.group.side.size + compared.reference.side.size
    if compared.group.squares is None or compared.reference.squares is None:
        return np.ones_like(weight)
    squares = compared.group.squares.size + compared.reference.squares.size
    return np.asarray(np.nan_to_num(quotient(weight, squares)))


def _conditional_jackknife(
    metric: ConditionalDisparity, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval from omitting clusters, where the strata hold enough."""
    from fairgauge.inference.one.omitted_clusters import jackknife_interval

    both = sum(each.cases.strata[metric.of] for each in (compared.group, compared.other))
    assert not isinstance(both, int)
    rows = both.sum(axis=-1)
    weak = np.where((both < _FEWEST).any(axis=-1), rows, 0.0).sum(axis=-1)
    thin = quotient(weak, rows.sum(axis=-1)) > _MOST_WEAK
    reason = Reason.of(ReasonCode.THIN_STRATA, minimum=_FEWEST, share=_MOST_WEAK, of=metric.of)
    made = jackknife_interval(metric, compared, spec)
    too_few = [reason if each else few for each, few in zip(thin, made.too_few, strict=True)]
    low, high, p = (np.where(thin, np.nan, each) for each in (made.low, made.high, made.p))
    return Intervals(low, high, p, made.methods, too_few, made.reason)
