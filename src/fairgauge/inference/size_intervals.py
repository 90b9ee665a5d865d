"""Intervals of how large a group is: against its reference, a population, within strata."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import Intervals, insufficient_rows
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Imbalance
    from fairgauge.catalogue.conditional import ConditionalDisparity
    from fairgauge.catalogue.representation import Representation
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

_FEWEST = 5
_MOST_WEAK = 0.1


def imbalance_interval(metric: Imbalance, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a difference in size over the sum: Wilson's of the group's share."""
    sides = [_size(each) for each in (compared.group, compared.other)]
    x, n = sides[0], sides[0] + sides[1]

    def limits(z: Array) -> Limits:
        low, high = (_imbalance(each, compared) for each in wilson(x, n, z))
        return (low, high) if metric.order == "group - reference" else (-high, -low)

    low, high = limits(np.asarray(critical(spec.confidence)))
    methods = [(IntervalMethod.WILSON_TRANSFORMED,)] * len(x)
    return Intervals(low, high, invert(limits), methods, insufficient_rows(n))


def _imbalance(share: Array, compared: Comparisons) -> Array:
    """Return (n_d - n_a) / (n_d + n_a) of the group's share of all; its reference may be all."""
    if compared.rest is None:
        return 2 * share - 1
    return quotient(share - 1, share + 1)


def _size(evidence: Evidence) -> Array:
    return evidence.rows(lambda side: side.size)


def representation_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of a share of the rows against a given one: Wilson's, carried over."""
    n = _size(every)
    x = quotient(ours.side.size, every.side.size) * n

    def limits(z: Array) -> Limits:
        low, high = wilson(x, n, z)
        return metric.value(low, target), metric.value(high, target)

    low, high = limits(np.asarray(critical(spec.confidence)))
    p = invert(limits, metric.neutral)
    methods = [(IntervalMethod.WILSON,)] * len(x)
    return Intervals(
        low, high, p, methods, insufficient_rows(n, n * np.minimum(target, 1 - target))
    )


def conditional_interval(
    metric: ConditionalDisparity, compared: Comparisons, spec: Spec
) -> Intervals:
    """Return the interval of a disparity within strata, where the strata hold enough."""
    both = sum(each.cases.strata[metric.of] for each in (compared.group, compared.other))
    assert not isinstance(both, int)
    rows = both.sum(axis=-1)
    weak = np.where((both < _FEWEST).any(axis=-1), rows, 0.0).sum(axis=-1)
    insufficient = quotient(weak, rows.sum(axis=-1)) > _MOST_WEAK
    sizes = metric.sizes(compared.group.cases, compared.other.cases)
    too_few = [
        Reason.of(ReasonCode.THIN_STRATA, minimum=_FEWEST, share=_MOST_WEAK, of=metric.of)
        if thin
        else few_rows
        for thin, few_rows in zip(insufficient, insufficient_rows(sizes), strict=True)
    ]
    if compared.group.clusters is None:
        from fairgauge.inference.resampling import resampled_interval, strata_table

        intervals = resampled_interval(metric, strata_table(metric.of), compared, spec, too_few)
    else:
        from fairgauge.inference.cluster_jackknife import jackknife_interval

        intervals = jackknife_interval(metric, compared, spec)
        too_few = [a or b for a, b in zip(too_few, intervals.too_few, strict=True)]
    low, high, p = (
        np.where(insufficient, np.nan, each)
        for each in (intervals.low, intervals.high, intervals.p)
    )
    return Intervals(low, high, p, intervals.methods, too_few, intervals.reason)
