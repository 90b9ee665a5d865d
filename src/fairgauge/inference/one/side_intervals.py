"""The interval of a statistic of one side: of independent rows, of clusters, or drawn."""

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
from fairgauge.inference.one.statistic_intervals import is_resampled, statistic_interval
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.jackknife import deviations
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Representation
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.compared_counts import Evidence
    from fairgauge.inference.interval import StatisticInterval
    from fairgauge.question.specification import Spec
    from fairgauge.stats.arrays import Limits


def side_interval(statistic: Statistic, evidence: Evidence) -> StatisticInterval:
    """Return the interval of a statistic of one side, robust to clusters where there are any.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    if evidence.clusters is None:
        return statistic_interval(statistic, evidence)
    from fairgauge.inference.one.cluster_jackknife import clustered_interval

    return clustered_interval(statistic, evidence)


def interval_of_groups(
    statistic: Statistic, evidence: Evidence, margin: NDArray[np.bool_], spec: Spec
) -> StatisticInterval:
    """Return the interval of a statistic of every group, at any critical value.

    ``margin`` states which groups are of all rows.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    if evidence.clusters is None and is_resampled(statistic):
        from fairgauge.inference.one.drawn_tables import resampled_statistic, table_of

        table = table_of(statistic)
        if table is not None:
            return resampled_statistic(statistic, table, evidence, margin, spec)
    return side_interval(statistic, evidence)


class EveryGroup:
    """All groups of a feature in every slot, and the intervals of their statistics, each made once.

    ``evidence`` holds the groups of each slot, slot by slot. With ``adequate``, pairs of groups
    with too few expected rows show nothing towards "no difference".
    """

    def __init__(self, evidence: Evidence, slots: int, *, adequate: bool = False) -> None:
        self.evidence = evidence
        self.slots = slots
        self.adequate = adequate
        self._intervals: dict[tuple[Statistic, float], StatisticInterval] = {}

    def interval(self, statistic: Statistic, spec: Spec) -> StatisticInterval:
        """Return the interval of a statistic of every group.

        Raises
        ------
        NoInterval
            No method gives a valid interval from what is counted.
        """
        key = statistic, spec.confidence
        if key not in self._intervals:
            size = len(self.evidence.side.size)
            margin = np.arange(size) < size // self.slots  # the first slot is of all rows
            self._intervals[key] = interval_of_groups(statistic, self.evidence, margin, spec)
        return self._intervals[key]


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
    from fairgauge.inference.one.cluster_jackknife import (
        clusters_of,
        degrees_of_blocks,
        insufficient_blocks,
        limits_at,
    )

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
