"""The cluster jackknife: intervals from what a number becomes without some clusters.

Proportions have cluster-robust intervals of their own. Any other number of counts is computed
again with each block of clusters omitted, by its own formula; a comparison leaves it out of both
sides at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.pooling import pool
from fairgauge.catalogue.statistics import Blend, Rate
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.evidence import generator
from fairgauge.inference.group_intervals import statistic_interval
from fairgauge.inference.interval import (
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    THIN_STRATA,
    Intervals,
    NoInterval,
    StatisticInterval,
    insufficient_clusters,
    insufficient_rows,
    strata_are_thin,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.cluster_robust import cluster_interval, satterthwaite_degrees
from fairgauge.stats.intervals import as_critical_t, critical
from fairgauge.stats.jackknife import deviations, jackknife_norm_interval, scaled_limits
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import ComparisonMetric, Metric
    from fairgauge.catalogue.representation import Representation
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.clusters import Clusters
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.question.specification import Spec
    from fairgauge.reasons import Reason
    from fairgauge.resolve.sides import Index
    from fairgauge.stats.arrays import Limits


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


def clustered_interval(statistic: Statistic, evidence: Evidence) -> StatisticInterval:
    """Return the interval of a statistic of clustered rows.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    assert evidence.clusters is not None
    try:
        robust = statistic_interval(statistic, evidence)
    except NoInterval:
        return _jackknife(statistic, evidence, evidence.clusters)
    return robust if robust.clustered else _jackknife(statistic, evidence, evidence.clusters)


def _jackknife(statistic: Statistic, evidence: Evidence, clusters: Clusters) -> StatisticInterval:
    refuse_scores(statistic)
    values = clusters.leave_out(lambda side: statistic.value(side, Profile.DOCUMENTED))
    estimate = statistic.value(evidence.side, Profile.DOCUMENTED)
    sizes = smallest_blocks(statistic, clusters)
    deviation = deviations(values)

    def at(z: Array) -> Limits:
        found = cluster_interval(estimate, deviation.T, sizes.T, statistic.range, z)
        known = (found.degrees > 0) & np.isfinite(found.variance)
        return np.where(known, found.low, np.nan), np.where(known, found.high, np.nan)

    rows = evidence.effective_cases(statistic.size)
    return replace(
        StatisticInterval(estimate, rows, at, JACKKNIFE),
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
    """Refuse what needs the scores themselves.

    Raises
    ------
    NoInterval
        It does.
    """
    if "score" in of.needs:
        raise NoInterval(ReasonCode.SCORES_NOT_BY_CLUSTER)


_BALL = (IntervalMethod.NORM_BALL, *JACKKNIFE)


def jackknife_interval(metric: ComparisonMetric, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a comparison from its values without some clusters.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    refuse_scores(metric)
    group, reference = _clusters(compared.group), _clusters(compared.reference)
    sizes = _block_sizes(metric, compared)
    rows = metric.sizes(compared.group.cases, compared.other.cases)
    too_few = _insufficient((rows[0], rows[1]), sizes)
    if isinstance(metric, Distance):
        return _distance(metric, compared, _degrees(sizes), too_few, spec)
    values = metric.value(group.sides(), reference.sides(), Profile.DOCUMENTED)
    deviation = deviations(group.by_block(values))
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    return _of_values(metric, value, deviation, _degrees(sizes), too_few, spec)


def pooled_jackknife_interval(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast pooled over strata, from its values without some clusters.

    ``weights`` are of shape (groups, strata), 0 where a stratum is excluded.
    """
    refuse_scores(metric)
    strata = weights.shape[1]
    clusters = _clusters(compared.group), _clusters(compared.reference)
    sides = [each.sides() for each in clusters]
    every = pool(metric, sides[0], sides[1], strata, Profile.DOCUMENTED).value
    inside = clusters[0].by_block(sides[0].size)
    deviation = deviations(every.reshape(len(inside), -1))
    if np.isnan(inside).any():
        deviation = np.full_like(deviation, np.nan)
    # a cluster may have rows in many strata, and is one cluster even so
    blocks = [each[:, ::strata] for each in _block_sizes(metric, compared, margin=True)]
    sizes = metric.sizes(compared.group.cases, compared.other.cases)
    rows = [np.where(weights > 0, each.reshape(weights.shape), 0.0) for each in sizes]
    too_few = _insufficient((rows[0].sum(axis=1), rows[1].sum(axis=1)), blocks)
    if not isinstance(metric.of, Rate):
        too_thin = strata_are_thin(rows, weights)
        deviation = np.where(too_thin, np.nan, deviation)
        too_few = [
            THIN_STRATA if each else few for each, few in zip(too_thin, too_few, strict=True)
        ]
    return _of_values(metric, value, deviation, _degrees(blocks), too_few, spec)


def share_jackknife_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of groups' shares of the rows against given ones."""
    sides = [_clusters(each) for each in (ours, every)]
    sizes = [each.leave_out(lambda side: side.size) for each in sides]
    deviation = deviations(quotient(*sizes))
    blocks = [_clusters(every).block_sizes(lambda side: side.size)]
    share = divide(ours.side.size, every.side.size, Profile.DOCUMENTED)
    at = limits_at(share, deviation, _degrees(blocks), (0.0, 1.0))

    def limits(z: Array) -> tuple[Array, Array]:
        low, high = at(z)
        return metric.value(low, target), metric.value(high, target)

    low, high = limits(np.asarray(critical(spec.confidence)))
    too_few = _insufficient(every.cases.size, blocks)
    p = invert(limits, metric.neutral)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), too_few, JACKKNIFE_UNDEFINED)


def _of_values(
    metric: ComparisonMetric,
    value: Array,
    deviation: Array,
    degrees: Array,
    too_few: list[Reason | None],
    spec: Spec,
) -> Intervals:
    limits = limits_at(value, deviation, degrees, metric.range)
    low, high = limits(np.asarray(critical(spec.confidence)))
    inside = metric.range[0] < metric.neutral < metric.range[1]  # else never reached
    p = invert(limits, metric.neutral) if inside else np.full(len(low), np.nan)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), too_few, JACKKNIFE_UNDEFINED)


def _distance(
    metric: Distance,
    compared: Comparisons,
    degrees: Array,
    too_few: list[Reason | None],
    spec: Spec,
) -> Intervals:
    """Return the ball of a norm, around the shares of both sides without some clusters."""
    if metric.by == "kl" or metric.by == "js":
        raise NoInterval(ReasonCode.DIVERGENCE_WITH_CLUSTERS)
    sides = [_clusters(each).sides() for each in (compared.reference, compared.group)]
    shares = [_shares(side.classes[metric.of]) for side in sides]
    gaps = shares[1] - shares[0]
    deviation = deviations(gaps.reshape(-1, len(degrees), gaps.shape[1]))
    here = [_shares(each.side.classes[metric.of]) for each in (compared.reference, compared.group)]
    limits = jackknife_norm_interval(
        here[1] - here[0],
        np.where(degrees[:, None] > 0, deviation, np.nan),
        metric.by,
        spec.confidence,
        degrees,
        generator(spec, metric.name),
        spec.replicates,
    )
    return Intervals(*limits, [_BALL] * len(degrees), too_few, JACKKNIFE_UNDEFINED)


def _shares(counts: Array) -> Array:
    return quotient(counts, counts.sum(axis=-1, keepdims=True))


def _clusters(evidence: Evidence) -> Clusters:
    assert evidence.clusters is not None
    return evidence.clusters


def _block_sizes(
    metric: ComparisonMetric, compared: Comparisons, *, margin: bool = False
) -> list[Array]:
    """Return the rows of every block on each side; arrays of shape (blocks, n)."""
    sides = [_clusters(each) for each in (compared.group, compared.other)]
    if margin:
        sides = [each.margin for each in sides]
    if isinstance(metric, Contrast):
        return [smallest_blocks(metric.of, each) for each in sides]
    ours = sides[0].block_sizes(lambda side: metric.sizes(side, side)[0])
    if metric.scope == "table":
        return [ours]
    return [ours, sides[1].block_sizes(lambda side: metric.sizes(side, side)[1])]


def _degrees(sizes: Sequence[Array]) -> Array:
    """Return the degrees of freedom of the side that has fewer."""
    fewest: Array = np.min([satterthwaite_degrees(each.T) for each in sizes], axis=0)
    return fewest


def _insufficient(rows: Array | tuple[Array, Array], sizes: Sequence[Array]) -> list[Reason | None]:
    clusters = np.min([effective_number(each) for each in sizes], axis=0)
    return [
        a or b
        for a, b in zip(insufficient_clusters(clusters), insufficient_rows(rows), strict=True)
    ]
