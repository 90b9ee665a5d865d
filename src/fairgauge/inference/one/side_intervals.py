"""The interval of a statistic of one side: of independent rows, of clusters, or drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.inference.one.statistic_intervals import is_resampled, statistic_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.evidence import Evidence
    from fairgauge.inference.interval import StatisticInterval
    from fairgauge.question.specification import Spec


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
