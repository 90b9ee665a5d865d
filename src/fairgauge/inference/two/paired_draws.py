"""Changes of what no closed form describes: values over joint tables that are drawn.

The cells of a side by label and both decisions have a Dirichlet posterior with half a row of prior
each (of classes, as many rows in all); clusters have the weights of a Bayesian bootstrap. A
statistic (lift) or a metric of several sides (average odds, Gini) is computed under either model
from every draw, so that the dependence of the two models is that of the draws.

Draws suit smooth functions of the counts alone: the size of a gap, or the larger of two, is too
large in a table that is drawn from a table, because both add sampling variation
(`fairgauge.inference.groups.paired_extremes` has limits for those).

References
----------
Rubin (1981), The Annals of Statistics 9, 130-134 (the Bayesian bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.across import Across
from fairgauge.catalogue.cells import Array, ConfusionCounts
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Metric
from fairgauge.catalogue.pooling import ConditionalDisparity
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.compared_counts import generator
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    Quantity,
    StatisticChange,
    constant,
)
from fairgauge.inference.two.paired_tables import (
    ClusterCounts,
    PairedTable,
    confusion,
    joined_clusters,
)
from fairgauge.question.specification import Spec
from fairgauge.stats.arrays import Limits, quotient
from fairgauge.stats.jackknife import assign_blocks, content_ranks
from fairgauge.stats.significance import two_sided

_PRIOR_ROWS = 4.0
"""Of a side, in equal parts in the cells of known labels: half a row in each of two outcomes."""
_MOST_BLOCKS = 2_000
"""More clusters are joined at random into so many blocks, which are as independent."""
_FURTHEST = 3.0
"""Critical value up to which quantiles of the draws are limits; beyond, limits widen as those of a
normal distribution."""


def drawn_change(statistic: Statistic, table: PairedTable, spec: Spec) -> StatisticChange:
    """Return what becomes of a statistic of every side, by draws."""

    def value(margin: Array) -> Array:
        flat = confusion(margin.reshape(-1, *margin.shape[-2:]), classes=table.classes)
        return statistic.value(flat, Profile.DOCUMENTED).reshape(margin.shape[:-2])

    old, new = (value(margin) for margin in table.margins)
    tables = _drawn(table, spec, statistic.name)
    drawn = [value(tables.sum(axis=axis)) for axis in (-1, -2)]
    both = (confusion(margin, classes=table.classes) for margin in table.margins)
    rows = np.minimum(*(statistic.size(each) for each in both))
    methods = _methods(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log(each) for each in (old, new, *drawn)]
        difference = _quantity(new - old, drawn[1] - drawn[0])
        return StatisticChange(
            None if table.clusters is None else table,
            old,
            new,
            rows,
            difference,
            _quantity(logs[1] - logs[0], logs[3] - logs[2]),
            _quantity(new + old, drawn[1] + drawn[0]),
            _quantity(logs[1] + logs[0], logs[3] + logs[2]),
            methods,
            methods,
            None,
            (_quantity(old, drawn[0]), _quantity(new, drawn[1])),
        )


def drawn_disparity(
    metric: ComparisonMetric, table: PairedTable, spec: Spec, *, inside: bool = False
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a metric of two sides, and its values under both models.

    ``table`` holds all groups, and then for each group its reference; with ``inside`` all others,
    which together with the group are its reference.
    """

    def value(margins: Array) -> Array:
        ours, theirs = np.split(margins, 2, axis=-3)
        sides = [ours, theirs + ours if inside else theirs]
        flat = [
            confusion(side.reshape(-1, *side.shape[-2:]), classes=table.classes) for side in sides
        ]
        found = metric.value(flat[0], flat[1], Profile.DOCUMENTED)
        return found.reshape((*margins.shape[:-3], -1))

    pairs = len(table.weights) // 2
    cases = table.cases.sum(axis=(1, 2, 3))
    rows = (cases[:pairs], cases[pairs:] + cases[:pairs] * inside)
    by_ratio = isinstance(metric, Contrast) and metric.by == "ratio"
    return _changes(value, table, spec, metric, rows, by_ratio=by_ratio)


def drawn_conditional(
    metric: ConditionalDisparity, table: PairedTable, strata: int, spec: Spec
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a metric of two sides within strata.

    ``table`` holds the strata of every group one after another, and then those of its reference.
    """

    def value(margins: Array) -> Array:
        accepted = margins.sum(axis=-2)
        by_stratum = accepted.reshape(*accepted.shape[:-2], 2, -1, strata, 2)
        ours, theirs = (by_stratum[..., i, :, :, :] for i in range(2))
        flat = [_of_strata(side.reshape(-1, strata, 2)) for side in (ours, theirs)]
        found = metric.value(flat[0], flat[1], Profile.DOCUMENTED)
        return found.reshape((*margins.shape[:-3], -1))

    cases = table.cases.sum(axis=(1, 2, 3)).reshape(2, -1, strata).sum(axis=-1)
    return _changes(value, table, spec, metric, (cases[0], cases[1]))


def drawn_feature(
    metric: Across | ComparisonMetric, table: PairedTable, spec: Spec
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a metric of all groups at once, or of all rows."""

    def value(margins: Array) -> Array:
        flat = confusion(margins.reshape(-1, *margins.shape[-2:]), classes=table.classes)
        if isinstance(metric, Across):
            many = len(flat.size) // margins.shape[-3]
            return metric.across(flat, many, Profile.DOCUMENTED).value.reshape(
                (*margins.shape[:-3], 1)
            )
        return metric.value(flat, flat, Profile.DOCUMENTED).reshape((*margins.shape[:-3], 1))

    rows = table.cases.sum(axis=(1, 2, 3))
    least = rows[rows > 0].min(initial=np.inf, keepdims=True)
    return _changes(value, table, spec, metric, (least, least))


def _changes(
    value: Callable[[Array], Array],
    table: PairedTable,
    spec: Spec,
    metric: Metric,
    rows: tuple[Array, Array],
    *,
    by_ratio: bool = False,
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a value of the margins of each model, and it under both models."""
    old, new = (value(margin) for margin in table.margins)
    tables = _drawn(table, spec, metric.name)
    drawn = [value(tables.sum(axis=axis)) for axis in (-1, -2)]
    scaled = [old, new, *drawn]
    with np.errstate(divide="ignore", invalid="ignore"):
        if by_ratio:
            scaled = [np.log(each) for each in scaled]
        shift = _quantity(scaled[1] - scaled[0], scaled[3] - scaled[2])
        level = _quantity(scaled[1] + scaled[0], scaled[3] + scaled[2])
    if metric.range[0] == metric.neutral:  # on one side of "no difference" by definition
        level = constant(np.inf, len(old))
    return DisparityChanges(shift, level, rows, _methods(table)), (old, new)


def _methods(table: PairedTable) -> tuple[IntervalMethod, ...]:
    clustered = table.clusters is not None
    draws = IntervalMethod.CLUSTER_BOOTSTRAP if clustered else IntervalMethod.DIRICHLET_POSTERIOR
    return (draws, IntervalMethod.PERCENTILE)


def _of_strata(counts: Array) -> ConfusionCounts:
    """Return the accepted and the rejected rows of every stratum as counts of decisions."""
    return ConfusionCounts(counts.sum(axis=(1, 2)), strata={"prediction": counts})


def _drawn(table: PairedTable, spec: Spec, name: str) -> Array:
    """Return drawn tables; shape (draws, n, C + 1, C, C).

    They do not depend on the order of the sides.
    """
    order = np.lexsort(table.weights.reshape(len(table.weights), -1).T)
    drawn = np.empty((spec.replicates, *table.weights.shape))
    if table.clusters is not None:
        clusters = [table.clusters[i] for i in order.tolist()]
        drawn[:, order] = _cluster_weighted(clusters, table, spec, name)
        return drawn
    unit = quotient(table.weights.sum(axis=(1, 2, 3)), table.squares.sum(axis=(1, 2, 3)))
    counts = (table.weights * np.nan_to_num(unit)[:, None, None, None])[order]
    labelled = slice(None, -1) if counts[:, :-1].any() else slice(-1, None)
    prior = np.zeros(counts.shape[1:])
    prior[labelled] = _PRIOR_ROWS / prior[labelled].size
    rng = generator(spec, name, counts)
    scale = quotient(1.0, np.nan_to_num(unit))[order, None, None, None]
    drawn[:, order] = rng.standard_gamma(counts + prior, (spec.replicates, *counts.shape)) * scale
    return drawn


def _cluster_weighted(
    clusters: Sequence[ClusterCounts], table: PairedTable, spec: Spec, name: str
) -> Array:
    """Return tables in which every cluster has a random weight, in all sides the same."""
    cells = table.weights[0].size
    every = joined_clusters(clusters, cells)
    member, ranks = content_ranks(every.cluster, [every.cell], every.weights)
    block = ranks
    if len(ranks) > _MOST_BLOCKS:
        block = assign_blocks(ranks, _MOST_BLOCKS, spec.seed)
    blocks = int(block.max(initial=-1)) + 1
    width = len(clusters) * cells
    held = np.bincount(block[member] * width + every.cell, every.weights, blocks * width)
    rng = generator(spec, name, table.weights.sum(axis=0))
    drawn = rng.standard_exponential((spec.replicates, blocks)) @ held.reshape(blocks, width)
    return drawn.reshape(spec.replicates, len(clusters), *table.weights.shape[1:])


def _quantity(value: Array, drawn: Array) -> Quantity:
    """Return a number with the quantiles of its draws as limits."""
    spread = np.std(drawn, axis=0)

    def at(z: ArrayLike) -> Limits:
        z = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        tails = two_sided(np.minimum(z, _FURTHEST)) / 2
        beyond = np.maximum(z - _FURTHEST, 0.0) * spread
        low = np.array([np.quantile(drawn[:, i], t) for i, t in enumerate(tails)])
        high = np.array([np.quantile(drawn[:, i], 1 - t) for i, t in enumerate(tails)])
        return np.minimum(low, value) - beyond, np.maximum(high, value) + beyond

    return Quantity(value, at)
