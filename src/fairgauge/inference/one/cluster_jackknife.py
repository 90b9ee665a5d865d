"""The cluster jackknife: intervals from what a number becomes without some clusters.

Proportions have cluster-robust intervals of their own. Any other number of counts is computed
again with each block of clusters omitted, by its own formula; a comparison leaves it out of both
sides at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.statistics import Blend, Rate, Statistic
from fairgauge.enums import Profile
from fairgauge.inference.clusters import Clusters
from fairgauge.inference.compared_counts import Evidence
from fairgauge.inference.interval import (
    JACKKNIFE,
    NoInterval,
    StatisticInterval,
    insufficient_clusters,
    insufficient_rows,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Index, Limits, quotient
from fairgauge.stats.cluster_robust import cluster_limits, satterthwaite_degrees
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.jackknife import deviations, scaled_limits


@dataclass(frozen=True, slots=True, eq=False)
class BlockDeviations:
    """The deviations of a statistic of many sides without each block; shape (blocks, n)."""

    by: Array

    def correlation(self, other: BlockDeviations, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""
        mine, yours = (
            quotient(each.by, np.sqrt((each.by**2).sum(axis=0))) for each in (self, other)
        )
        total = np.zeros(len(first))
        for one, two in zip(mine, yours, strict=True):
            total += one[first] * two[second]
        return np.nan_to_num(np.clip(total, -1.0, 1.0))


def jackknifed(statistic: Statistic, evidence: Evidence) -> StatisticInterval:
    """Return the interval of a statistic of clustered rows from its values without each block.

    Raises
    ------
    NoInterval
        It needs the scores themselves.
    """
    refuse_scores(statistic)
    clusters = clusters_of(evidence)
    values = clusters.leave_out(lambda side: statistic.value(side, Profile.DOCUMENTED))
    estimate = statistic.value(evidence.side, Profile.DOCUMENTED)
    sizes = smallest_blocks(statistic, clusters)
    deviation = deviations(values)

    def at(z: Array) -> Limits:
        return cluster_limits(estimate, deviation.T, sizes.T, statistic.range, z)

    return StatisticInterval(
        estimate,
        evidence.effective_cases(statistic.size),
        at,
        JACKKNIFE,
        clusters=effective_number(sizes),
        dependence=BlockDeviations(deviation),
    )


def smallest_blocks(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the rows of every block in the denominator with the fewest effective clusters."""
    parts = statistic.of if isinstance(statistic, Blend) else (statistic,)
    every = np.stack([clusters.block_sizes(part.size) for part in parts])
    least = np.argmin([effective_number(each) for each in every], axis=0)
    return np.asarray(np.take_along_axis(every, least[None, None, :], axis=0)[0])


def effective_number(sizes: Array) -> Array:
    """Return the effective number of blocks, from their sizes of shape (blocks, n) (Kish)."""
    number = np.nan_to_num(quotient(sizes.sum(axis=0) ** 2, (sizes**2).sum(axis=0)))
    return np.asarray(np.where(np.isnan(sizes).any(axis=0), np.nan, number))


def effective_clusters(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the effective number of clusters of a statistic, nan where it is not known."""
    if isinstance(statistic, Rate):
        return clusters.effective(statistic.needs, statistic.among)
    return effective_number(smallest_blocks(statistic, clusters))


def limits_at(
    estimate: Array, deviation: Array, degrees: Array, ends: tuple[float, float]
) -> Callable[[Array], Limits]:
    """Return limits at any normal critical value, by t; nan without degrees of freedom."""
    with np.errstate(invalid="ignore"):
        error = np.where(degrees > 0, np.sqrt((deviation**2).sum(axis=0)), np.nan)

    def at(z: Array) -> Limits:
        return scaled_limits(estimate, error, as_critical_t(z, degrees), *ends)

    return at


def refuse_scores(of: Statistic | Metric) -> None:
    """Refuse what needs the scores themselves."""
    if "score" in of.needs:
        raise NoInterval(ReasonCode.SCORES_NOT_BY_CLUSTER)


def clusters_of(evidence: Evidence) -> Clusters:
    """Return the clusters of a side, which has some."""
    assert evidence.clusters is not None
    return evidence.clusters


def degrees_of_blocks(sizes: Sequence[Array]) -> Array:
    """Return the degrees of freedom of the side that has fewer."""
    return np.asarray(np.min([satterthwaite_degrees(each.T) for each in sizes], axis=0))


def insufficient_blocks(
    rows: Array | tuple[Array, Array], sizes: Sequence[Array]
) -> list[Reason | None]:
    """Return why the clusters or the rows of comparisons are insufficient; None where they suffice.

    ``sizes`` are the rows of every block on each side.
    """
    clusters = np.min([effective_number(each) for each in sizes], axis=0)
    return [
        a or b
        for a, b in zip(insufficient_clusters(clusters), insufficient_rows(rows), strict=True)
    ]
