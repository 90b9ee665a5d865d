"""Intervals of contrasts of clustered rows, from what they become without some clusters.

A comparison leaves a block of clusters out of both sides at once.
"""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.pooling import pool
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Profile
from fairgauge.inference.compared_counts import Comparisons
from fairgauge.inference.interval import (
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    THIN_STRATA,
    At,
    Intervals,
    NoInterval,
    strata_are_thin,
)
from fairgauge.inference.one.cluster_jackknife import (
    clusters_of,
    degrees_of_blocks,
    insufficient_blocks,
    limits_at,
    refuse_scores,
    smallest_blocks,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Limits
from fairgauge.stats.intervals import critical
from fairgauge.stats.jackknife import deviations
from fairgauge.stats.significance import invert


def jackknife_interval(metric: ComparisonMetric, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a comparison from its values without some clusters.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    refuse_scores(metric)
    if isinstance(metric, Distance):
        raise NoInterval(ReasonCode.DISTANCE_WITH_CLUSTERS)
    group, reference = clusters_of(compared.group), clusters_of(compared.reference)
    sizes = _block_sizes(metric, compared)
    rows = metric.sizes(compared.group.cases, compared.other.cases)
    too_few = insufficient_blocks((rows[0], rows[1]), sizes)
    values = metric.value(group.sides(), reference.sides(), Profile.DOCUMENTED)
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    by_block = group.by_block(values)
    return _of_values(metric, value, by_block, degrees_of_blocks(sizes), too_few, spec)


def pooled_jackknife_interval(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast pooled over strata, from its values without some clusters.

    ``weights`` are of shape (groups, strata), 0 where a stratum is excluded.
    """
    refuse_scores(metric)
    strata = weights.shape[1]
    clusters = clusters_of(compared.group), clusters_of(compared.reference)
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
    too_few = insufficient_blocks((rows[0].sum(axis=1), rows[1].sum(axis=1)), blocks)
    if not isinstance(metric.of, Rate):
        too_thin = strata_are_thin(rows, weights)
        by_block = np.where(too_thin, np.nan, by_block)
        too_few = [
            THIN_STRATA if each else few for each, few in zip(too_thin, too_few, strict=True)
        ]
    return _of_values(metric, value, by_block, degrees_of_blocks(blocks), too_few, spec)


def _of_values(
    metric: ComparisonMetric,
    value: Array,
    by_block: Array,
    degrees: Array,
    too_few: list[Reason | None],
    spec: Spec,
) -> Intervals:
    """Return the interval of a metric from its values with no block omitted, and without each."""
    if metric.neutral == 1 and metric.range == (0, np.inf):
        limits = _limits_of_ratio(value, by_block, degrees)
    else:
        limits = limits_at(value, deviations(by_block), degrees, metric.range)
    low, high = limits(np.asarray(critical(spec.confidence)))
    inside = metric.range[0] < metric.neutral < metric.range[1]  # else never reached
    p = invert(limits, metric.neutral) if inside else np.full(len(low), np.nan)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), too_few, JACKKNIFE_UNDEFINED)


def _limits_of_ratio(value: Array, by_block: Array, degrees: Array) -> At:
    with np.errstate(divide="ignore"):
        logs, log_deviations = np.log(value), deviations(np.log(by_block))
    of_logs = limits_at(logs, log_deviations, degrees, (-np.inf, np.inf))

    def at(z: Array) -> Limits:
        low, high = of_logs(z)
        return np.exp(low), np.exp(high)

    return at


def _block_sizes(
    metric: ComparisonMetric, compared: Comparisons, *, margin: bool = False
) -> list[Array]:
    """Return the rows of every block on each side; arrays of shape (blocks, n)."""
    sides = [clusters_of(each) for each in (compared.group, compared.other)]
    if margin:
        sides = [each.margin for each in sides]
    if isinstance(metric, Contrast):
        return [smallest_blocks(metric.of, each) for each in sides]
    ours = sides[0].block_sizes(lambda side: metric.sizes(side, side)[0])
    if metric.scope == "table":
        return [ours]
    return [ours, sides[1].block_sizes(lambda side: metric.sizes(side, side)[1])]
