"""Pooled: the interval of a contrast with strata held fixed, by stratified MOVER.

Each side is a weighted mean over strata; the distances of its limits are the root of the summed
squares of the strata's own, weighted alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.significance import invert
from fairgauge.uncertainty.bounds import Bounds, bounds, denominator
from fairgauge.uncertainty.contrasts import Versus, contrast, few
from fairgauge.uncertainty.evidence import Comparisons
from fairgauge.uncertainty.interval import Interval, NoInterval

if TYPE_CHECKING:
    from fairgauge.metrics.comparisons import Contrast
    from fairgauge.metrics.symbols import Array
    from fairgauge.spec import Spec
    from fairgauge.stats.arrays import Limits

_FEWEST = 5
_MOST_THIN = 0.1


def pooled(metric: Contrast, compared: Comparisons, weights: Array, spec: Spec) -> Interval:
    """Return the interval of a pooled contrast.

    Parameters
    ----------
    compared : the sides of each group, stratum after stratum.
    weights : array of shape (groups, strata), 0 where a stratum is left out.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    share = quotient(weights, weights.sum(axis=1, keepdims=True))
    if compared.rest is not None:
        share = share * _apart(metric, compared, weights)
    ours, theirs = bounds(metric.of, compared.group), bounds(metric.of, compared.other)
    thin = np.minimum(ours.n, theirs.n).reshape(weights.shape) < _FEWEST
    too_thin = quotient(np.where(thin, weights, 0.0).sum(axis=1), weights.sum(axis=1)) > _MOST_THIN
    rows = [np.where(weights > 0, b.n.reshape(weights.shape), 0.0).sum(1) for b in (ours, theirs)]
    first, second = _joined(ours, share, rows[0]), _joined(theirs, share, rows[1])

    def interval(z: Array) -> Limits:
        return mover_difference(first.estimate, *first.at(z), second.estimate, *second.at(z))

    none = np.zeros(len(weights), dtype=bool)
    found = Versus(first, second, invert(interval), none, few(np.minimum(*rows)))
    margin = np.ones(len(weights), dtype=bool)
    sides = Comparisons(compared.group, compared.reference, None, margin, compared.key)
    made = contrast(metric, found, sides, spec)
    low, high, p = (np.where(too_thin, np.nan, each) for each in (made.low, made.high, made.p))
    few_rows = [
        (
            "strata with fewer than 5 rows on a side hold more than 10% of the weight: merge strata"
            if thin
            else said
        )
        for thin, said in zip(too_thin, found.too_few, strict=True)
    ]
    return Interval(low, high, p, [f"stratified {m}" for m in made.method], few_rows)


def _joined(found: Bounds, share: Array, n: Array) -> Bounds:
    """Return the weighted mean over strata of a number of one side."""
    used = share > 0

    def mean(values: Array) -> Array:
        joined: Array = (share * np.where(used, values.reshape(share.shape), 0.0)).sum(axis=1)
        return joined

    def far(distances: Array) -> Array:
        squares = (share * np.where(used, distances.reshape(share.shape), 0.0)) ** 2
        root: Array = np.sqrt(squares.sum(axis=1))
        return root

    estimate = mean(found.estimate)

    def at(z: Array) -> Limits:
        # one critical value for each group, the same in all of its strata
        c = np.broadcast_to(z, (len(share),)).repeat(share.shape[1])
        low, high = found.at(c)
        with np.errstate(invalid="ignore"):  # infinite on both sides: nothing is known
            below, above = far(found.estimate - low), far(high - found.estimate)
            return estimate - below, estimate + above

    return Bounds(estimate, n, at, found.method)


def _apart(metric: Contrast, compared: Comparisons, weights: Array) -> Array:
    """Return how much of "group less whole" is "group less rest" in every stratum."""
    count = denominator(metric.of)
    if count is None or metric.by == "ratio":
        raise NoInterval("no interval is known for a pooled contrast with a whole of strata")
    part = quotient(count(compared.group.side), count(compared.reference.side))
    return np.asarray(1 - part.reshape(weights.shape))
