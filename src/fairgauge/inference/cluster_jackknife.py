"""Jackknife: the limits of a number of one group, from what it becomes without some clusters.

Shares of rows have cluster-robust limits of their own. Any other number of counts is computed
again with each block of clusters left out, by its own formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.statistics import Blend
from fairgauge.enums import Profile
from fairgauge.inference.bound import Bounds
from fairgauge.inference.bounds import bounds
from fairgauge.inference.interval import FEWEST_CLUSTERS, JACKKNIFE, NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.jackknife import deviations, scaled_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.clusters import Clusters
    from fairgauge.inference.evidence import Evidence
    from fairgauge.resolve.sides import Index
    from fairgauge.stats.arrays import Limits


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """How far leaving out each block moves a number of many sides; shape (blocks, n)."""

    by: Array

    def correlation(self, other: Moved, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""
        mine, yours = (
            quotient(each.by, np.sqrt((each.by**2).sum(axis=0))) for each in (self, other)
        )
        total = np.zeros(len(first))
        for one, two in zip(mine, yours, strict=True):
            total += one[first] * two[second]
        return np.nan_to_num(np.clip(total, -1.0, 1.0))


def clustered_bounds(statistic: Statistic, evidence: Evidence) -> Bounds:
    """Return the limits of a statistic, whether or not clusters tie rows together.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    if evidence.clusters is None:
        return bounds(statistic, evidence)
    try:
        found = bounds(statistic, evidence)
    except NoInterval:
        return _without_blocks(statistic, evidence, evidence.clusters)
    return found if found.clustered else _without_blocks(statistic, evidence, evidence.clusters)


def _without_blocks(statistic: Statistic, evidence: Evidence, clusters: Clusters) -> Bounds:
    refuse_scores(statistic)
    values = clusters.left_out(lambda side: statistic.value(side, Profile.DOCUMENTED))
    estimate = statistic.value(evidence.side, Profile.DOCUMENTED)
    behind = clusters_behind(statistic, clusters)
    moved = deviations(values)
    at = limits_at(estimate, moved, behind, statistic.range)
    rows = evidence.cases_worth(statistic.size)
    return replace(Bounds(estimate, rows, at, JACKKNIFE), clusters=behind, ties=Moved(moved))


def clusters_behind(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the clusters that a statistic rests on: the fewest of any of its denominators."""
    parts = statistic.of if isinstance(statistic, Blend) else (statistic,)
    fewest: Array = np.min([clusters.behind(p.needs, p.size) for p in parts], axis=0)
    return fewest


def limits_at(
    estimate: Array, moved: Array, behind: Array, ends: tuple[float, float]
) -> Callable[[Array], Limits]:
    """Return limits at any normal critical value, by t of one degree less than there are blocks.

    NaN below the fewest clusters.
    """
    with np.errstate(invalid="ignore"):
        error = np.sqrt((moved**2).sum(axis=0))
    error = np.where(behind < FEWEST_CLUSTERS, np.nan, error)
    degrees = np.minimum(behind, len(moved)) - 1

    def at(z: Array) -> Limits:
        return scaled_limits(estimate, error, as_critical_t(z, degrees), *ends)

    return at


def refuse_scores(of: Statistic | Metric) -> None:
    """Refuse what needs the scores themselves.

    Raises
    ------
    NoInterval
        It does.
    """
    if "score" in of.needs:
        raise NoInterval(ReasonCode.SCORES_NOT_BY_CLUSTER)
