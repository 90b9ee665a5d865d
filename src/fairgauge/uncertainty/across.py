"""Across: simultaneous intervals of the furthest groups of a feature.

The largest gap is picked from all pairs, so every pair is covered at once, at Tukey's critical
value; the gap then lies between the largest lower and the largest upper limit of a pair.
"""

from __future__ import annotations

from functools import partial, singledispatch
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairgauge.metrics.across import Across, DifferentialFairness, Joint, Spread
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.intervals import critical
from fairgauge.stats.many import tukey_critical
from fairgauge.uncertainty.bound import Bounds, of_share
from fairgauge.uncertainty.bounds import bounds
from fairgauge.uncertainty.interval import NoInterval

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array, Need
    from fairgauge.stats.arrays import Limits
    from fairgauge.uncertainty.evidence import Evidence

Made: TypeAlias = "tuple[Limits, str]"
_MOST_PAIRS = 20_000_000


_NOISE = "noise alone raises it, the more the smaller the groups"


@singledispatch
def across(metric: Across, evidence: Evidence, slots: int, confidence: float) -> Made:
    """Return the limits of a metric of all groups in every slot, and how they were made.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    del evidence, slots, confidence
    raise NoInterval(f"no interval is known for {metric.title}: {_NOISE}")


@across.register(Spread)
def _(metric: Spread, evidence: Evidence, slots: int, confidence: float) -> Made:
    found = bounds(metric.of, evidence)
    groups = (~np.isnan(found.estimate)).reshape(slots, -1).sum(axis=1)
    if metric.by in ("minimum", "maximum"):
        return _extreme(metric, found, groups, confidence), f"{found.method}, simultaneous"
    if metric.by == "largest_gap":
        low, high = _pairs(found, groups, confidence, mover_difference)
        limits = np.fmax(np.fmax.reduce(low, axis=(1, 2)), 0.0), np.fmax.reduce(high, axis=(1, 2))
        return limits, f"tukey, {found.method}, mover difference"
    if metric.by == "smallest_ratio" and metric.of.range[0] >= 0:
        low, high = _pairs(found, groups, confidence, mover_ratio)
        limits = np.fmin.reduce(low, axis=(1, 2)), np.fmin(np.fmin.reduce(high, axis=(1, 2)), 1.0)
        return limits, f"tukey, {found.method}, mover ratio"
    raise NoInterval(f"no interval is known for {metric.title}: {_NOISE}")


@across.register(Joint)
def _(metric: Joint, evidence: Evidence, slots: int, confidence: float) -> Made:
    each = 1 - (1 - confidence) / len(metric.of)  # all parts at once
    parts = [across(part, evidence, slots, each) for part in metric.of]
    limits = np.array([limits for limits, _ in parts])
    if metric.how == "mean":
        joined = limits.mean(axis=0)
    else:
        joined = limits.max(axis=0) if metric.neutral == 0 else limits.min(axis=0)
    return (joined[0], joined[1]), f"{parts[0][1]}, all parts at once"


@across.register(DifferentialFairness)
def _(metric: DifferentialFairness, evidence: Evidence, slots: int, confidence: float) -> Made:
    low, high = [], []
    for outcome in (0, 3):  # positive ones stand in TP, negative ones in TN
        found = of_share(
            evidence,
            partial(_outcome, needs=metric.needs, at=outcome),
            lambda side: np.asarray(side.counts(metric.needs).sum(axis=1)),
        )
        groups = (~np.isnan(found.estimate)).reshape(slots, -1).sum(axis=1)
        pairs = _pairs(found, groups, 1 - (1 - confidence) / 2, mover_ratio)
        low.append(np.fmin.reduce(pairs[0], axis=(1, 2)))
        high.append(np.fmin(np.fmin.reduce(pairs[1], axis=(1, 2)), 1.0))
    with np.errstate(divide="ignore"):
        limits = -np.log(np.min(high, axis=0)), -np.log(np.min(low, axis=0))
    return limits, "tukey, wilson, mover ratio, both outcomes at once"


def _outcome(side: Side, needs: frozenset[Need], at: int) -> Array:
    return side.counts(needs)[:, at]


def rows_behind(metric: Across, groups: Side) -> Array:
    """Return the rows that each group contributes to a metric."""
    if isinstance(metric, Spread):
        return metric.of.size(groups)
    if isinstance(metric, Joint):
        rows: Array = np.min([part.of.size(groups) for part in metric.of], axis=0)
        return rows
    return groups.size


def _pairs(
    found: Bounds,
    groups: Array,
    confidence: float,
    mover: Callable[[Array, Array, Array, Array, Array, Array], Limits],
) -> Limits:
    """Return the limits of every ordered pair of groups, NaN where it is none; (slots, G, G)."""
    slots = len(groups)
    size = len(found.estimate) // slots
    if slots * size**2 > _MOST_PAIRS:
        raise NoInterval("there are too many pairs of groups and strata to compare each")
    c = np.repeat(tukey_critical(groups, confidence), size)
    low, high = (each.reshape(slots, size) for each in found.at(c))
    estimate = found.estimate.reshape(slots, size)
    if mover is mover_ratio:
        low = np.maximum(low, 0.0)
    first = [each[:, :, None] for each in (estimate, low, high)]
    second = [each[:, None, :] for each in (estimate, low, high)]
    low, high = mover(*first, *second)
    known = ~np.isnan(estimate)
    pair = known[:, :, None] & known[:, None, :] & ~np.eye(size, dtype=bool)
    return np.where(pair, low, np.nan), np.where(pair, high, np.nan)


def _extreme(metric: Spread, found: Bounds, groups: Array, confidence: float) -> Limits:
    """Return the limits of the least or greatest, every group being covered at once."""
    slots = len(groups)
    size = len(found.estimate) // slots
    levels = {g: critical(1 - (1 - confidence) / max(g, 1)) for g in set(groups.tolist())}
    c = np.repeat([levels[g] for g in groups.tolist()], size)
    low, high = (each.reshape(slots, size) for each in found.at(c))
    known = ~np.isnan(found.estimate.reshape(slots, size))
    least = metric.by == "minimum"
    reduce = np.fmin.reduce if least else np.fmax.reduce
    low, high = (np.where(known, each, np.nan) for each in (low, high))
    return reduce(low, axis=1), reduce(high, axis=1)
