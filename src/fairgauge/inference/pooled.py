"""Pooled: the interval of a contrast with strata held fixed.

Shares of rows are pooled by their score, which many thin strata do not mislead. Other numbers, and
rare outcomes, by stratified MOVER: each side is a weighted mean over strata, and the distances of
its limits are the root of the summed squares of the strata's own, weighted alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod
from fairgauge.inference.bound import Bounds
from fairgauge.inference.bounds import bounds, denominator
from fairgauge.inference.contrast_intervals import Versus, contrast, few
from fairgauge.inference.evidence import Comparisons
from fairgauge.inference.interval import FEWEST_EXPECTED, Intervals, NoInterval
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import invert
from fairgauge.stats.stratified import Stratified, stratified_difference, stratified_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

_FEWEST = 5
_MOST_THIN = 0.1
THIN = Reason.of(ReasonCode.THIN_STRATA, minimum=_FEWEST, share=_MOST_THIN)


def pooled(metric: Contrast, compared: Comparisons, weights: Array, spec: Spec) -> Intervals:
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
    rows = [np.where(weights > 0, b.n.reshape(weights.shape), 0.0) for b in (ours, theirs)]
    found = _mover(metric, (ours, theirs), share, rows, compared, spec)
    too_thin = are_thin(rows, weights)
    if ours.share is not None and theirs.share is not None and ours.share.plain:
        x = [
            np.where(weights > 0, s.x.reshape(weights.shape), 0.0)
            for s in (ours.share, theirs.share)
        ]
        enough = _expected(x, rows) >= FEWEST_EXPECTED
        found = _where(enough, _score(metric, x, rows, share, spec), found)
        too_thin &= ~enough
    low, high, p = (np.where(too_thin, np.nan, each) for each in (found.low, found.high, found.p))
    insufficient = [
        THIN if thin else few_rows for thin, few_rows in zip(too_thin, found.too_few, strict=True)
    ]
    return Intervals(low, high, p, found.methods, insufficient, found.reason)


def are_thin(rows: Sequence[Array], weights: Array) -> NDArray[np.bool_]:
    """Tell for which groups strata of few rows on a side, shape (groups, strata), weigh much."""
    thin = np.where(np.minimum(*rows) < _FEWEST, weights, 0.0).sum(axis=1)
    return np.asarray(quotient(thin, weights.sum(axis=1)) > _MOST_THIN)


def _score(
    metric: Contrast, x: list[Array], rows: list[Array], share: Array, spec: Spec
) -> Stratified:
    sides = [x[0], rows[0], x[1], rows[1]]
    if metric.order == "reference - group":
        sides = sides[2:] + sides[:2]
    made = stratified_difference if metric.by == "difference" else stratified_ratio
    return made(sides[0], sides[1], sides[2], sides[3], share, critical(spec.confidence))


def _where(enough: NDArray[np.bool_], score: Stratified, otherwise: Intervals) -> Intervals:
    """Return the score limits where there is enough, the others elsewhere."""
    old = (otherwise.low, otherwise.high, otherwise.p)
    low, high, p = (np.where(enough, a, b) for a, b in zip(score, old, strict=True))
    score_method = (IntervalMethod.STRATIFIED_SCORE,)
    methods = [score_method if e else m for e, m in zip(enough, otherwise.methods, strict=True)]
    return Intervals(low, high, p, methods, otherwise.too_few)


def _expected(x: list[Array], rows: list[Array]) -> Array:
    """Return the fewest rows that a cell would hold, strata together, without a difference."""
    n = [each.sum(axis=1) for each in rows]
    pooled = quotient(x[0].sum(axis=1) + x[1].sum(axis=1), n[0] + n[1])
    return np.asarray(np.nan_to_num(np.minimum(*n) * np.minimum(pooled, 1 - pooled)))


def _mover(
    metric: Contrast,
    sides: tuple[Bounds, Bounds],
    share: Array,
    rows: list[Array],
    compared: Comparisons,
    spec: Spec,
) -> Intervals:
    n = [each.sum(axis=1) for each in rows]
    first, second = (_joined(b, share, total) for b, total in zip(sides, n, strict=True))

    def interval(z: Array) -> Limits:
        return mover_difference(first.estimate, *first.at(z), second.estimate, *second.at(z))

    none = np.zeros(len(share), dtype=bool)
    zero = np.zeros(len(share))
    found = Versus(first, second, invert(interval), none, few(np.minimum(*n)), zero)
    margin = np.ones(len(share), dtype=bool)
    apart = Comparisons(compared.group, compared.reference, None, margin)
    made = contrast(metric, found, apart, spec)
    methods = [(IntervalMethod.STRATIFIED, *each) for each in made.methods]
    return Intervals(made.low, made.high, made.p, methods, made.too_few, made.reason)


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

    return Bounds(estimate, n, at, found.method, reason=found.reason)


def _apart(metric: Contrast, compared: Comparisons, weights: Array) -> Array:
    """Return how much of "group less whole" is "group less rest" in every stratum."""
    count = denominator(metric.of)
    if count is None or metric.by == "ratio":
        raise NoInterval(ReasonCode.POOLED_WITH_WHOLE)
    part = quotient(count(compared.group.side), count(compared.reference.side))
    return np.asarray(1 - part.reshape(weights.shape))
