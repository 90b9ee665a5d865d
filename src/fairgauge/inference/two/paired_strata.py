"""Changes of what is adjusted for strata, with the weights of Mantel and Haenszel.

A statistic of a side is its weighted mean over the strata; a difference or a ratio is of two such
means. The rows of all strata are one table, so that clusters may have rows in several strata. An
odds ratio is Mantel and Haenszel's, which is no ratio of two numbers of the sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.pooling import pool
from fairgauge.catalogue.statistics import Quotient
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.two.contrast_intervals import mean_over_strata
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    Quantity,
    StatisticChange,
    change_of_discordant,
    change_of_models,
    discordant_rows,
    student_limits,
)
from fairgauge.inference.two.paired_tables import confusion, of_both
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import as_critical_t

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.two.paired_tables import PairedTable
    from fairgauge.stats.arrays import Limits


def pooled_change(
    statistic: Statistic, change: StatisticChange, weights: tuple[Array, Array]
) -> StatisticChange:
    """Return what becomes of the weighted mean over strata of a statistic.

    Parameters
    ----------
    change : of the strata of each side one after another.
    weights : arrays of shape (sides, strata)
        Of the strata under the model in use and under the candidate, 0 where one is excluded.

    References
    ----------
    Greenland & Robins (1985), Biometrics 41, 55-68 (the weights); Zou & Donner (2008), Statistics
    in Medicine 27, 1693-1702 (MOVER).
    """
    assert change.table is not None
    shares = [quotient(each, each.sum(axis=1, keepdims=True)) for each in weights]
    joined = change.table.joined(shares[0].shape[1])
    old, new = (_mean(of, share, joined) for of, share in zip(change.models, shares, strict=True))
    rows = np.where(shares[0] > 0, change.rows.reshape(shares[0].shape), 0.0).sum(axis=1)
    methods = (IntervalMethod.STRATIFIED, *change.methods)
    pooled = change_of_models(joined, (old, new), rows, methods)
    discordant = discordant_rows(statistic, change.table, shares[0])
    if discordant is None:
        return pooled
    return change_of_discordant(pooled, discordant, IntervalMethod.STRATIFIED)


def _mean(of: Quantity, share: Array, joined: PairedTable) -> Quantity:
    """Return the weighted mean over strata of a number: MOVER, no narrower than by influences."""
    assert of.influence is not None
    value, distances = mean_over_strata(of.value, of.at, share)
    influence = (share.reshape(-1, 1, 1, 1) * of.influence).reshape(joined.weights.shape)
    degrees, correction = joined.degrees, joined.correction
    error = np.sqrt(correction * joined.covariance(influence, influence))

    def at(z: ArrayLike) -> Limits:
        critical = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        below, above = distances(critical)
        with np.errstate(invalid="ignore"):
            usual = np.sqrt((below**2 + above**2) / 2)
        # limits of thin strata are too close to the middle; clusters may have rows in several
        wider = quotient(as_critical_t(critical, degrees) * error, usual)
        wider = np.maximum(np.nan_to_num(wider), 1.0)
        return value - wider * below, value + wider * above

    return Quantity(value, at, influence)


def pooled_odds_change(
    metric: Contrast, table: PairedTable, strata: int
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of Mantel and Haenszel's odds ratio, and it under both models.

    ``table`` holds for every comparison the strata of the group and then those of its reference.
    The variance of the change of its logarithm is of the influences of all rows.
    """
    pair = table.joined(2 * strata, strata)
    shape = (-1, 2, strata, *table.weights.shape[1:3])
    (old, h_old), (new, h_new) = (
        _odds_ratio(metric, margin.reshape(shape), classes=table.classes)
        for margin in table.margins
    )
    both = of_both(*(h.reshape(-1, *shape[3:]) for h in (h_old, h_new)))
    before, after = (h.reshape(pair.weights.shape) for h in both)
    degrees, correction = pair.degrees, pair.correction
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(old), np.log(new)
        shift, level = (
            _normal(value, correction * pair.covariance(h, h, smoothed=True), degrees)
            for value, h in (
                (logs[1] - logs[0], after - before),
                (logs[1] + logs[0], after + before),
            )
        )
    rows = table.cases.sum(axis=(1, 2, 3)).reshape(-1, 2, strata).sum(axis=2)
    clustered = () if pair.clusters is None else (IntervalMethod.CLUSTER_ROBUST,)
    methods = (*clustered, IntervalMethod.STRATIFIED, IntervalMethod.LOG_DELTA)
    return DisparityChanges(shift, level, (rows[:, 0], rows[:, 1]), methods), (old, new)


def _normal(value: Array, variance: Array, degrees: Array) -> Quantity:
    """Return a number with limits of a normal distribution, or of Student's t."""
    error = np.sqrt(np.where(variance > 0, variance, np.nan))
    return Quantity(value, student_limits(value, error, degrees))


def _odds_ratio(metric: Contrast, margins: Array, *, classes: bool) -> tuple[Array, Array]:
    """Return Mantel and Haenszel's odds ratio, and the derivatives of its logarithm by the counts.

    ``margins`` and the derivatives are of shape (n, 2, strata, C + 1, C): group and reference.
    """
    assert isinstance(metric.of, Quotient)
    n, _, strata, *cells = margins.shape
    sides = [confusion(margins[:, i].reshape(-1, *cells), classes=classes) for i in range(2)]
    value = pool(metric, sides[0], sides[1], strata, Profile.DOCUMENTED).value
    unit = np.eye(int(np.prod(cells))).reshape(-1, *cells)
    each = confusion(unit, classes=classes).counts(metric.of.needs)
    over, under = (of.count(each).reshape(cells) for of in (metric.of.over, metric.of.under))
    first, second = (0, 1) if metric.order == "group - reference" else (1, 0)
    (a, c), (b, d) = (
        [(margins[:, i] * of).sum(axis=(-2, -1)) for i in (first, second)] for of in (over, under)
    )
    total = a + b + c + d
    agree, differ = quotient(a * d, total), quotient(b * c, total)
    of_agree, of_differ = (np.nan_to_num(x).sum(axis=1)[:, None] for x in (agree, differ))

    def slope(of_a: Array, of_b: Array) -> Array:
        """Return the derivative by a count that multiplies these in either product."""
        one = quotient(quotient(of_a - agree, total), of_agree)
        two = quotient(quotient(of_b - differ, total), of_differ)
        return np.asarray(np.nan_to_num(one - two))[..., None, None]

    none = np.zeros_like(a)
    influence = np.empty(margins.shape)
    influence[:, first] = slope(d, none) * over + slope(none, c) * under
    influence[:, second] = slope(none, b) * over + slope(a, none) * under
    return value, influence.reshape(n, 2, strata, *cells)
