"""Intervals of groups' shares of the rows against those of a population."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.interval import (
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    Intervals,
    insufficient_rows,
)
from fairgauge.inference.one.cluster_jackknife import (
    clusters_of,
    degrees_of_blocks,
    insufficient_blocks,
    limits_at,
)
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.jackknife import deviations
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.representation import Representation
    from fairgauge.inference.evidence import Evidence
    from fairgauge.question.specification import Spec
    from fairgauge.stats.arrays import Limits


def representation_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of a share of the rows against a given one: Wilson's, carried over."""
    n = every.rows(lambda side: side.size)
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


def share_jackknife_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of groups' shares of the rows against given ones."""
    sides = [clusters_of(each) for each in (ours, every)]
    sizes = [each.leave_out(lambda side: side.size) for each in sides]
    deviation = deviations(quotient(*sizes))
    blocks = [clusters_of(every).block_sizes(lambda side: side.size)]
    share = divide(ours.side.size, every.side.size, Profile.DOCUMENTED)
    at = limits_at(share, deviation, degrees_of_blocks(blocks), (0.0, 1.0))

    def limits(z: Array) -> tuple[Array, Array]:
        low, high = at(z)
        return metric.value(low, target), metric.value(high, target)

    low, high = limits(np.asarray(critical(spec.confidence)))
    too_few = insufficient_blocks(every.cases.size, blocks)
    p = invert(limits, metric.neutral)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), too_few, JACKKNIFE_UNDEFINED)
