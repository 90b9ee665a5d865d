"""The cluster jackknife: intervals from what a number becomes without some clusters.

Proportions have cluster-robust intervals of their own. Any other number of counts is computed
again with each block of clusters omitted, by its own formula; a comparison leaves it out of both
sides at once. What a block moves it by is its influence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Metric, Representation
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.pooling import pool
from fairgauge.catalogue.statistics import Blend, Rate, Statistic
from fairgauge.enums import Profile
from fairgauge.inference.clusters import Clusters
from fairgauge.inference.compared_counts import Comparisons, Evidence
from fairgauge.inference.interval import (
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    THIN_STRATA,
    At,
    Intervals,
    NoInterval,
    StatisticInterval,
    first_reasons,
    insufficient_clusters,
    insufficient_rows,
    strata_are_thin,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Index, Limits, quotient
from fairgauge.stats.cluster_robust import cluster_limits, satterthwaite_degrees
from fairgauge.stats.intervals import as_critical_t, critical
from fairgauge.stats.jackknife import deviations, scaled_limits
from fairgauge.stats.significance import invert


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
    clusters = _clusters_of(evidence, statistic)
    values = clusters.leave_out(lambda side: statistic.value(side, Profile.DOCUMENTED))
    estimate = statistic.value(evidence.side, Profile.DOCUMENTED)
    sizes = _smallest_blocks(statistic, clusters)
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


def jackknife_interval(metric: ComparisonMetric, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a comparison from its values without some clusters.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    if isinstance(metric, Distance):
        raise NoInterval(ReasonCode.DISTANCE_WITH_CLUSTERS)
    group, reference = (_clusters_of(side, metric) for side in (compared.group, compared.reference))
    values = metric.value(group.sides(), reference.sides(), Profile.DOCUMENTED)
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    rows = metric.sizes(compared.group.cases, compared.other.cases)
    sizes = _block_sizes(metric, compared)
    return _of_values(metric, value, group.by_block(values), sizes, (rows[0], rows[1]), spec)


def pooled_jackknife_interval(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast pooled over strata, from its values without some clusters.

    ``weights`` are of shape (groups, strata), 0 where a stratum is excluded.
    """
    strata = weights.shape[1]
    clusters = [_clusters_of(side, metric) for side in (compared.group, compared.reference)]
    sides = [each.sides() for each in clusters]
    every = pool(metric, sides[0], sides[1], strata, Profile.DOCUMENTED).value
    inside = clusters[0].by_block(sides[0].size)
    by_block = every.reshape(len(inside), -1)
    if np.isnan(inside).any():
        by_block = np.full_like(by_block, np.nan)
    # a cluster may have rows in many strata, and is one cluster even so
    blocks = [each[:, ::strata] for each in _block_sizes(metric, compared, margin=True)]
    sizes = metric.sizes(compared.group.cases, compared.other.cases)
    rows = [np.where(weights > 0, each.reshape(weights.shape), 0.0) for each in sizes]
    thin = np.zeros(len(weights), dtype=bool)
    if not isinstance(metric.of, Rate):
        thin = strata_are_thin(rows, weights)
        by_block = np.where(thin, np.nan, by_block)
    totals = rows[0].sum(axis=1), rows[1].sum(axis=1)
    reasons = [THIN_STRATA if each else None for each in thin]
    return _of_values(metric, value, by_block, blocks, totals, spec, reasons)


def share_jackknife_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of groups' shares of the rows against given ones."""
    sizes = [_clusters_of(each, metric).leave_out(lambda side: side.size) for each in (ours, every)]
    shares = quotient(*sizes)
    blocks = [_clusters_of(every, metric).block_sizes(lambda side: side.size)]
    at = _limits(shares[0], shares, blocks, (0.0, 1.0))

    def limits(z: Array) -> Limits:
        # on the scale of the share itself: of small shares that of its difference covers too little
        low, high = at(z)
        return metric.value(low, target), metric.value(high, target)

    return _intervals(metric, limits, blocks, every.cases.size, spec)


def effective_number(sizes: Array) -> Array:
    """Return the effective number of blocks, from their sizes of shape (blocks, n) (Kish)."""
    number = np.nan_to_num(quotient(sizes.sum(axis=0) ** 2, (sizes**2).sum(axis=0)))
    return np.asarray(np.where(np.isnan(sizes).any(axis=0), np.nan, number))


def effective_clusters(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the effective number of clusters of a statistic, nan where it is not known."""
    if isinstance(statistic, Rate):
        return clusters.effective(statistic.needs, statistic.among)
    return effective_number(_smallest_blocks(statistic, clusters))


def _of_values(
    metric: ComparisonMetric,
    value: Array,
    by_block: Array,
    sizes: Sequence[Array],
    rows: tuple[Array, Array],
    spec: Spec,
    reasons: Sequence[Reason | None] | None = None,
) -> Intervals:
    """Return the interval of a metric from its values with no block omitted, and without each."""
    if metric.neutral != 1 or metric.range != (0, np.inf):
        limits = _limits(value, by_block, sizes, metric.range)
        return _intervals(metric, limits, sizes, rows, spec, reasons)
    with np.errstate(divide="ignore"):
        logs = _limits(np.log(value), np.log(by_block), sizes, (-np.inf, np.inf))

    def of_ratio(z: Array) -> Limits:
        low, high = logs(z)
        return np.exp(low), np.exp(high)

    return _intervals(metric, of_ratio, sizes, rows, spec, reasons)


def _limits(value: Array, by_block: Array, sizes: Sequence[Array], ends: tuple[float, float]) -> At:
    """Return limits at any critical value, by t; nan without degrees of freedom.

    ``sizes`` are the rows of every block on each side, of which the one with fewer degrees counts.
    """
    degrees = np.min([satterthwaite_degrees(each.T) for each in sizes], axis=0)
    with np.errstate(invalid="ignore"):
        error = np.where(degrees > 0, np.sqrt((deviations(by_block) ** 2).sum(axis=0)), np.nan)
    return lambda z: scaled_limits(value, error, as_critical_t(z, degrees), *ends)


def _intervals(
    metric: ComparisonMetric | Representation,
    limits: At,
    sizes: Sequence[Array],
    rows: Array | tuple[Array, Array],
    spec: Spec,
    reasons: Sequence[Reason | None] | None = None,
) -> Intervals:
    low, high = limits(np.asarray(critical(spec.confidence)))
    inside = metric.range[0] < metric.neutral < metric.range[1]  # else never reached
    p = invert(limits, metric.neutral) if inside else np.full(len(low), np.nan)
    clusters = np.min([effective_number(each) for each in sizes], axis=0)
    few = first_reasons(
        reasons or [None] * len(low), insufficient_clusters(clusters), insufficient_rows(rows)
    )
    return Intervals(low, high, p, [JACKKNIFE] * len(low), few, JACKKNIFE_UNDEFINED)


def _clusters_of(evidence: Evidence, of: Statistic | Metric) -> Clusters:
    """Return the clusters of a side; what needs the scores themselves is refused."""
    if "score" in of.needs:
        raise NoInterval(ReasonCode.SCORES_NOT_BY_CLUSTER)
    assert evidence.clusters is not None
    return evidence.clusters


def _smallest_blocks(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the rows of every block in the denominator with the fewest effective clusters."""
    parts = statistic.of if isinstance(statistic, Blend) else (statistic,)
    every = np.stack([clusters.block_sizes(part.size) for part in parts])
    least = np.argmin([effective_number(each) for each in every], axis=0)
    return np.asarray(np.take_along_axis(every, least[None, None, :], axis=0)[0])


def _block_sizes(
    metric: ComparisonMetric, compared: Comparisons, *, margin: bool = False
) -> list[Array]:
    """Return the rows of every block on each side; arrays of shape (blocks, n)."""
    sides = [_clusters_of(each, metric) for each in (compared.group, compared.other)]
    if margin:
        sides = [each.margin for each in sides]
    if isinstance(metric, Contrast):
        return [_smallest_blocks(metric.of, each) for each in sides]
    ours = sides[0].block_sizes(lambda side: metric.sizes(side, side)[0])
    if metric.scope == "table":
        return [ours]
    return [ours, sides[1].block_sizes(lambda side: metric.sizes(side, side)[1])]
