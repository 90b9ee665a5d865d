"""Jackknifed: comparisons of groups whose clusters are left out of both sides at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.arithmetic import divide
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.pooling import pool
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.cluster_jackknife import clusters_behind, limits_at, refuse_scores
from fairgauge.inference.contrast_intervals import few
from fairgauge.inference.draws import generator
from fairgauge.inference.interval import (
    FEWEST_CLUSTERS,
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    Intervals,
    NoInterval,
    few_clusters,
)
from fairgauge.inference.pooled import THIN, are_thin
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.jackknife import deviations, jackknife_norm_interval
from fairgauge.stats.significance import invert

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import ComparisonMetric
    from fairgauge.catalogue.representation import Representation
    from fairgauge.inference.clusters import Clusters
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.reasons import Reason
    from fairgauge.spec.specification import Spec

_BALL = (IntervalMethod.NORM_BALL, *JACKKNIFE)


def jackknifed(metric: ComparisonMetric, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a comparison from its values without some clusters.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    refuse_scores(metric)
    group, reference = _clusters(compared.group), _clusters(compared.reference)
    behind = _behind(metric, compared)
    rows = metric.sizes(compared.group.cases, compared.other.cases)
    said = _few(np.fmin(*rows), behind)
    if isinstance(metric, Distance):
        return _distance(metric, compared, behind, said, spec)
    values = metric.value(group.sides(), reference.sides(), Profile.DOCUMENTED)
    moved = deviations(group.shaped(values))
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    return _of_values(metric, value, moved, behind, said, spec)


def jackknifed_pool(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast pooled over strata, from its values without some clusters.

    ``weights`` are of shape (groups, strata), 0 where a stratum is left out.
    """
    refuse_scores(metric)
    strata = weights.shape[1]
    clusters = _clusters(compared.group), _clusters(compared.reference)
    sides = [each.sides() for each in clusters]
    every = pool(metric, sides[0], sides[1], strata, Profile.DOCUMENTED).value
    inside = clusters[0].shaped(sides[0].size)
    moved = deviations(every.reshape(len(inside), -1))
    if np.isnan(inside).any():
        moved = np.full_like(moved, np.nan)
    # a cluster may have rows in many strata, and is one cluster even so
    behind = _behind(metric, compared, margin=True)[::strata]
    sizes = metric.sizes(compared.group.cases, compared.other.cases)
    rows = [np.where(weights > 0, each.reshape(weights.shape), 0.0) for each in sizes]
    said = _few(np.minimum(*(each.sum(axis=1) for each in rows)), behind)
    if not isinstance(metric.of, Rate):
        too_thin = are_thin(rows, weights)
        moved = np.where(too_thin, np.nan, moved)
        said = [THIN if each else few for each, few in zip(too_thin, said, strict=True)]
    return _of_values(metric, value, moved, behind, said, spec)


def jackknifed_share(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of groups' shares of the rows against given ones."""
    sides = [_clusters(each) for each in (ours, every)]
    sizes = [each.left_out(lambda side: side.size) for each in sides]
    moved = deviations(quotient(*sizes))
    behind = _clusters(every).behind(frozenset(), lambda side: side.size)
    share = divide(ours.side.size, every.side.size, Profile.DOCUMENTED)
    at = limits_at(share, moved, behind, (0.0, 1.0))

    def limits(z: Array) -> tuple[Array, Array]:
        low, high = at(z)
        return metric.value(low, target), metric.value(high, target)

    low, high = limits(np.asarray(critical(spec.confidence)))
    said = _few(every.cases.size, behind)
    p = invert(limits, metric.neutral)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), said, JACKKNIFE_UNDEFINED)


def _of_values(
    metric: ComparisonMetric,
    value: Array,
    moved: Array,
    behind: Array,
    said: list[Reason | None],
    spec: Spec,
) -> Intervals:
    limits = limits_at(value, moved, behind, metric.range)
    low, high = limits(np.asarray(critical(spec.confidence)))
    inside = metric.range[0] < metric.neutral < metric.range[1]  # else never reached
    p = invert(limits, metric.neutral) if inside else np.full(len(low), np.nan)
    return Intervals(low, high, p, [JACKKNIFE] * len(low), said, JACKKNIFE_UNDEFINED)


def _distance(
    metric: Distance, compared: Comparisons, behind: Array, said: list[Reason | None], spec: Spec
) -> Intervals:
    """Return the ball of a norm, around the shares of both sides without some clusters."""
    if metric.by == "kl" or metric.by == "js":
        raise NoInterval(ReasonCode.DIVERGENCE_WITH_CLUSTERS)
    sides = [_clusters(each).sides() for each in (compared.reference, compared.group)]
    shares = [_shares(side.classes[metric.of]) for side in sides]
    gaps = shares[1] - shares[0]
    moved = deviations(gaps.reshape(-1, len(behind), gaps.shape[1]))
    here = [_shares(each.side.classes[metric.of]) for each in (compared.reference, compared.group)]
    degrees = np.where(behind < FEWEST_CLUSTERS, 0.0, np.minimum(behind, len(moved)) - 1)
    limits = jackknife_norm_interval(
        here[1] - here[0],
        np.where(behind[:, None] < FEWEST_CLUSTERS, np.nan, moved),
        metric.by,
        spec.confidence,
        degrees,
        generator(spec, metric.name),
        spec.replicates,
    )
    return Intervals(*limits, [_BALL] * len(behind), said, JACKKNIFE_UNDEFINED)


def _shares(counts: Array) -> Array:
    return quotient(counts, counts.sum(axis=-1, keepdims=True))


def _clusters(evidence: Evidence) -> Clusters:
    assert evidence.clusters is not None
    return evidence.clusters


def _behind(metric: ComparisonMetric, compared: Comparisons, *, margin: bool = False) -> Array:
    """Return the fewest clusters that either side rests on."""
    sides = [_clusters(each) for each in (compared.group, compared.other)]
    if margin:
        sides = [each.margin for each in sides]
    if isinstance(metric, Contrast):
        return np.minimum(*(clusters_behind(metric.of, each) for each in sides))
    ours = sides[0].behind(metric.needs, lambda side: metric.sizes(side, side)[0])
    if metric.scope == "table":
        return ours
    return np.minimum(ours, sides[1].behind(metric.needs, lambda s: metric.sizes(s, s)[1]))


def _few(rows: Array, behind: Array) -> list[Reason | None]:
    return [a or b for a, b in zip(few_clusters(behind), few(rows), strict=True)]
