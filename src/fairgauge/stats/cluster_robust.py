"""Statistics of clustered rows whose clusters differ in size: jackknife variance, few degrees.

The usual sandwich forgets that a large cluster pulls the share towards itself, which hides its own
deviation; leaving each cluster out (CR3) does not. And with a few large clusters the variance is
known far less well than their number suggests: its degrees of freedom follow from the sizes. What
is needed of a share are sums over clusters and the totals of the large ones, of another statistic
its values without each cluster (or block of them), which then lie along the last axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Index, Limits, floats, quiet, quotient
from fairgauge.stats.intervals import as_critical_t, wilson
from fairgauge.stats.jackknife import scaled_limits

FEWEST_CLUSTERS = 5.0
"""Effective clusters below which an interval is not adequate: its t has too few degrees to be of
use. Coverage does not fall below the level with fewer, the interval becomes vacuous instead."""

_ROUNDING = 1e-12


class ShareSums(NamedTuple):
    """Sums over the clusters of every side, each with x successes among m rows (or weights).

    Attributes
    ----------
    clusters : array of shape (S,)
        Clusters with rows.
    x, m, xx, xm, mm : array of shape (S,)
        Sums of the totals and of their products.
    """

    clusters: Array
    x: Array
    m: Array
    xx: Array
    xm: Array
    mm: Array


class ShareVariance(NamedTuple):
    """The variance of the share of every side; arrays of shape (S,).

    Attributes
    ----------
    rate, rows : array
    variance : array
        The jackknife variance; nan with fewer than two clusters.
    degrees : array
        Its degrees of freedom, by Satterthwaite; 0 with fewer than two clusters.
    clusters : array
        Effective clusters: the number of equal ones with the same precision (Kish).
    """

    rate: Array
    rows: Array
    variance: Array
    degrees: Array
    clusters: Array


@quiet
def share_variance(every: ShareSums, x: ArrayLike, m: ArrayLike, side: Index) -> ShareVariance:
    """Return the jackknife variance of the share of every side.

    Leaving out a cluster moves a share by ``(x - p m) / (n - m)``. For the clusters that are not
    given one by one, ``m`` in ``n - m`` is their mean.

    Parameters
    ----------
    every : ShareSums
        Of all clusters.
    x, m : array-like of shape (L,)
        Successes and rows of large clusters.
    side : array of int, shape (L,)
        The side that each of them is of.

    References
    ----------
    Bell & McCaffrey (2002), Survey Methodology 28, 169-181 (leverage, Satterthwaite's degrees);
    MacKinnon, Nielsen & Webb (2023), Journal of Econometrics 232, 272-299 (the jackknife, CV3).

    Examples
    --------
    >>> x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    >>> every = ShareSums(*(np.array([v]) for v in (4, 6, 10, x @ x, x @ m, m @ m)))
    >>> found = share_variance(every, x, m, np.zeros(4, dtype=int))
    >>> [round(float(each[0]), 4) for each in found[2:]]
    [0.0323, 2.4414, 3.5714]
    """
    x, m = floats(x, m)
    count, total_x, n, xx, xm, mm = floats(*every)

    def over_large(values: Array) -> Array:
        return np.bincount(side, values, len(n)).astype(np.float64)

    p = quotient(total_x, n)
    left = n[side] - m
    leverage, moved = m / left, (x - p[side] * m) / left
    small = [a - over_large(b) for a, b in ((xx, x * x), (xm, x * m), (mm, m * m))]
    scatter = small[0] - 2 * p * small[1] + p**2 * small[2]
    scatter = np.where(scatter > _ROUNDING * mm, scatter, 0.0)
    small_m = n - over_large(m)
    share = np.nan_to_num(quotient(small[2], small_m * n))  # of a small cluster, of the rows
    by_one = share / (1 - share)
    variance = (count - 1) / count * (over_large(moved**2) + scatter / (n * (1 - share)) ** 2)
    sum1 = over_large(leverage) + small_m / (n * (1 - share))
    sum2 = over_large(leverage**2) + np.maximum(small[2], 0.0) / (n * (1 - share)) ** 2
    sum4 = over_large(leverage**4) + small_m / (n * (1 - share)) * by_one**3
    degrees = sum1**2 / (sum2 + sum2**2 - sum4)
    several = count > 1
    return ShareVariance(
        p, n, np.where(several, variance, np.nan),
        np.where(several, np.nan_to_num(degrees, nan=1.0), 0.0),
        np.nan_to_num(quotient(n**2, mm)),
    )  # fmt: skip


@quiet
def effective_rows(found: ShareVariance, rows: ArrayLike, correlation: ArrayLike = 0.0) -> Array:
    """Return the independent rows of which a share would have this variance.

    Parameters
    ----------
    rows : array-like
        Independent rows that the side has at most: its rows, or their effective number by weight.
    correlation : array-like
        The intra-cluster correlation of all groups together, as of `pooled_correlation`. Where the
        variance that follows from it is larger than the jackknife's, their geometric mean is taken:
        rare outcomes that lie in few clusters show too little of how alike a cluster's rows are.

    Returns
    -------
    n_eff : array
        Where no cluster deviates (a share of 0 or 1) the effective clusters, because the data do
        not show how alike the rows of one cluster are; 0 with fewer than two clusters.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201.
    """
    (rows, correlation) = floats(rows, correlation)
    p, independent = found.rate, found.rate * (1 - found.rate)
    size = quotient(found.rows, found.clusters)  # of a cluster, on average of rows
    scale = quotient(rows, found.rows)
    expected = independent / rows * (1 + correlation * np.maximum(size * scale - 1, 0.0))
    raised = np.where(expected > found.variance, np.sqrt(expected * found.variance), found.variance)
    deviates = (p > 0) & (p < 1) & (found.variance > 0)
    n_eff = np.minimum(np.where(deviates, independent / raised, found.clusters), rows)
    return np.where(found.degrees > 0, np.nan_to_num(n_eff), 0.0)


@quiet
def cluster_limits(
    estimate: ArrayLike,
    deviations: ArrayLike,
    m: ArrayLike,
    ends: tuple[float, float],
    z: ArrayLike,
) -> Limits:
    """Return the confidence limits of any statistic from its jackknife deviations.

    Between two finite ends, Wilson's of the effective number of rows; else as
    `jackknife.scaled_limits`. At Student's t with the degrees of freedom that the sizes leave.

    Parameters
    ----------
    estimate : array-like of shape (...)
    deviations : array-like of shape (..., C)
        By how much leaving out each cluster (or block of clusters) moves the statistic, scaled so
        that their squares sum to the variance: as `jackknife.deviations`.
    m : array-like of shape (..., C)
        Rows (or their weights) of every cluster.
    ends : (float, float)
        The statistic's range; infinite ends are allowed.

    Returns
    -------
    low, high : array
        nan with fewer than two clusters. Where nothing deviates or the estimate is at an end, the
        effective clusters (Kish) stand for the effective rows.

    Examples
    --------
    >>> moved, m = np.array([-0.02, -0.13, 0.09, 0.09]), np.array([2, 2, 4, 2])
    >>> low, high = cluster_limits(0.6, moved, m, (0, 1), 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.135, 0.935)
    """
    (value,), (moved,), (m,) = floats(estimate), floats(deviations), floats(m)
    variance, degrees = (moved**2).sum(-1), satterthwaite_degrees(m)
    t = as_critical_t(z, degrees)
    least, greatest = ends
    if np.isfinite(least) and np.isfinite(greatest):
        span = greatest - least
        level = (value - least) / span
        deviates = (level > 0) & (level < 1) & (variance > 0)
        clusters = np.nan_to_num(quotient(m.sum(-1) ** 2, (m**2).sum(-1)))
        n_eff = np.where(deviates, level * (1 - level) * span**2 / variance, clusters)
        n_eff = np.where(degrees > 0, n_eff, 0.0)
        low, high = wilson(np.nan_to_num(level) * n_eff, n_eff, t)
        low, high = least + span * low, least + span * high
    else:
        low, high = scaled_limits(value, np.sqrt(variance), t, least, greatest)
    known = (degrees > 0) & np.isfinite(variance)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def largest_design_effect(rows: Array) -> float:
    """Return by how much clusters of so many rows raise a variance if the rows of each are alike.

    It is at least 1.

    >>> largest_design_effect(np.array([4.0, 4.0, 8.0]))
    6.0
    """
    return max(float((rows**2).sum() / max(rows.sum(), 1.0)), 1.0)


@quiet
def pooled_correlation(groups: ShareVariance, rows: ArrayLike) -> Array:
    """Return the intra-cluster correlation that groups have together.

    That at which the variances expected of all groups' totals sum to their jackknife variances, so
    that large groups count for more.

    Parameters
    ----------
    groups : ShareVariance
        Arrays of shape (G, ...).
    rows : array-like of shape (G, ...)
        As for `effective_rows`.

    Returns
    -------
    correlation : array of shape (...), in [0, 1]
        0 where no cluster has several rows.

    References
    ----------
    Kish (1965), Survey Sampling (design effect); Donner & Klar (2000), Design and Analysis of
    Cluster Randomization Trials in Health Research (pooling over groups).
    """
    (rows,) = floats(rows)
    size = quotient(rows, groups.clusters)
    known = (rows > 1) & np.isfinite(groups.variance)
    independent = groups.rate * (1 - groups.rate) * rows * rows / (rows - 1)
    beyond = np.where(known, groups.variance * rows**2 - independent, 0.0).sum(axis=0)
    at_one = np.where(known, independent * np.maximum(size - 1, 0.0), 0.0).sum(axis=0)
    return np.where(at_one > 0, np.clip(beyond / at_one, 0.0, 1.0), 0.0)


@quiet
def satterthwaite_degrees(m: ArrayLike) -> Array:
    """Return the degrees of freedom of the jackknife variance of a share, from cluster sizes.

    Those of the chi-square with the mean and the variance that the variance estimate has for
    independent normal rows: the clusters less one where they are equal, 1 where one outweighs all.

    Parameters
    ----------
    m : array-like of shape (..., C)
        Rows of every cluster.

    Returns
    -------
    degrees : array of shape (...)
        0 with fewer than two clusters.

    References
    ----------
    Bell & McCaffrey (2002), Survey Methodology 28, 169-181; Satterthwaite (1946), Biometrics
    Bulletin 2, 110-114.

    Examples
    --------
    >>> satterthwaite_degrees([[5, 5, 5, 5], [5, 5, 5, 85]]).round(3).tolist()
    [3.0, 1.039]
    """
    (m,) = floats(m)
    share = m / m.sum(-1, keepdims=True)
    leverage = share / (1 - share)
    squares = (leverage**2).sum(-1)
    degrees = leverage.sum(-1) ** 2 / (squares + squares**2 - (leverage**4).sum(-1))
    return np.where(np.count_nonzero(m > 0, axis=-1) > 1, degrees, 0.0)


@quiet
def shared_correlation(variance1: ArrayLike, variance2: ArrayLike, covariance: ArrayLike) -> Array:
    """Return the correlation of two shares that have clusters in common, for MOVER.

    Parameters
    ----------
    variance1, variance2, covariance : array-like
        Sums over clusters of ``(x1 - p1 m1)^2 / n1^2``, of ``(x2 - p2 m2)^2 / n2^2``, and of the
        products of both.

    Returns
    -------
    r : array in [-1, 1]
        0 where a variance is 0 or unknown.

    References
    ----------
    Kish & Frankel (1974), JRSS B 36, 1-37; Zou (2007), Psychological Methods 12, 399-413.

    Examples
    --------
    >>> float(shared_correlation(0.04, 0.09, 0.03))
    0.5
    """
    first, second, both = floats(variance1, variance2, covariance)
    r = both / np.sqrt(first * second)
    return np.where(np.isfinite(r), np.clip(r, -1.0, 1.0), 0.0)
