"""Statistics of clustered rows whose clusters differ in size: jackknife variance, few degrees.

The usual sandwich forgets that a large cluster pulls the share towards itself, which hides its own
deviation; leaving each cluster out (CR3) does not. And with a few large clusters the variance is
known far less well than their number suggests: its degrees of freedom follow from the sizes. What
is needed are the totals of every cluster, or any statistic without each of them; clusters lie along
the last axis, and one without rows takes no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet, quotient
from fairgauge.stats.intervals import as_critical_t, wilson
from fairgauge.stats.jackknife import scaled_limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FEWEST_CLUSTERS = 5.0
"""Effective clusters below which an interval is not adequate: its t has too few degrees to be of
use. Coverage does not fall below the level with fewer, the interval becomes vacuous instead."""


class ClusterInterval(NamedTuple):
    """A statistic of clustered rows with its confidence interval, without the axis of clusters.

    Attributes
    ----------
    estimate, low, high : array
    variance : array
        The jackknife variance, nan with fewer than two clusters.
    n_eff : array
        Independent rows of which a share with this estimate would have this variance; nan for a
        statistic without two finite ends.
    degrees : array
        Degrees of freedom of the variance, at most the clusters less one.
    clusters : array
        Effective clusters: as many equal ones as the sizes are worth (Kish).
    """

    estimate: Array
    low: Array
    high: Array
    variance: Array
    n_eff: Array
    degrees: Array
    clusters: Array


@quiet
def cluster_share(
    x: ArrayLike, m: ArrayLike, z: ArrayLike, correlation: ArrayLike | None = None
) -> ClusterInterval:
    """Return a share of clustered rows with its confidence interval.

    Wilson's interval of the effective number of rows, never more than there are, at Student's t.

    Parameters
    ----------
    x, m : array-like of shape (..., C)
        Successes and rows (or their weights) of every cluster.
    z : array-like of shape (...), >= 0
        Normal critical value.
    correlation : array-like of shape (...), optional
        The intra-cluster correlation of all groups together, as of `pooled_correlation`. Where the
        variance that follows from it is larger than the jackknife's, their geometric mean is taken:
        rare outcomes that lie in few clusters show too little of how alike a cluster's rows are.

    Returns
    -------
    share : ClusterInterval
        [0, 1] with fewer than two clusters. Where no cluster deviates (a share of 0 or 1) the rows
        are counted as the effective clusters, because the data do not show how alike the rows of
        one cluster are.

    References
    ----------
    Bell & McCaffrey (2002), Survey Methodology 28, 169-181 (leverage, Satterthwaite's degrees);
    MacKinnon, Nielsen & Webb (2023), Journal of Econometrics 232, 272-299 (the jackknife, CV3);
    Korn & Graubard (1998), Survey Methodology 24, 193-201.

    Examples
    --------
    >>> share = cluster_share([1, 0, 3, 2], [2, 2, 4, 2], 1.959964)
    >>> round(float(share.low), 3), round(float(share.high), 3)
    (0.139, 0.933)
    >>> round(float(share.degrees), 3), round(float(share.clusters), 3)
    (2.441, 3.571)
    """
    x, m = floats(x, m)
    total = m.sum(-1)
    p, moved = quotient(x.sum(-1), total), share_deviations(x, m)
    if correlation is not None:
        (rho,) = floats(correlation)
        variance = (moved**2).sum(-1)
        expected = p * (1 - p) * (1 + rho * _excess(m)) / total
        raised = (variance > 0) & (expected > variance)
        moved = moved * np.where(raised, (expected / variance) ** 0.25, 1.0)[..., None]
    return cluster_interval(p, moved, m, (0, 1), z, total)


@quiet
def cluster_interval(
    estimate: ArrayLike,
    deviations: ArrayLike,
    m: ArrayLike,
    ends: tuple[float, float],
    z: ArrayLike,
    most: ArrayLike = np.inf,
) -> ClusterInterval:
    """Return the confidence interval of any statistic from its jackknife deviations.

    Between two finite ends, Wilson's of the effective number of rows; else as
    `jackknife.scaled_limits`. At Student's t with the degrees of freedom that the sizes leave.

    Parameters
    ----------
    estimate : array-like of shape (...)
    deviations : array-like of shape (..., C)
        By how much leaving out each cluster (or block of clusters) moves the statistic, scaled so
        that their squares sum to the variance: as `share_deviations` and `jackknife.deviations`.
    m : array-like of shape (..., C)
        Rows (or their weights) of every cluster.
    ends : (float, float)
        The statistic's range; infinite ends are allowed.
    z : array-like of shape (...), >= 0
        Normal critical value.
    most : array-like of shape (...)
        The effective rows that `n_eff` may reach: those of independent rows.

    Returns
    -------
    interval : ClusterInterval
        The whole range with fewer than two clusters; the effective clusters stand for `n_eff` where
        nothing deviates or the estimate is at an end.

    Examples
    --------
    >>> x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    >>> found = cluster_interval(0.6, share_deviations(x, m), m, (0, 1), 1.959964)
    >>> round(float(found.low), 3), round(float(found.high), 3)
    (0.139, 0.933)
    """
    (value,), (moved,), (m,) = floats(estimate), floats(deviations), floats(m)
    total, variance = m.sum(-1), (moved**2).sum(-1)
    clusters = np.nan_to_num(quotient(total**2, (m**2).sum(-1)))
    degrees = satterthwaite_degrees(m)
    t = as_critical_t(z, degrees)
    least, greatest = ends
    if not (np.isfinite(least) and np.isfinite(greatest)):
        low, high = scaled_limits(value, np.sqrt(variance), t, least, greatest)
        rows = np.full(variance.shape, np.nan)
        return ClusterInterval(value, low, high, variance, rows, degrees, clusters)
    span = greatest - least
    level = (value - least) / span
    deviates = (level > 0) & (level < 1) & (variance > 0)
    n_eff = np.where(deviates, level * (1 - level) * span**2 / variance, clusters)
    n_eff = np.where(degrees > 0, np.minimum(n_eff, floats(most)[0]), 0.0)
    low, high = wilson(np.nan_to_num(level) * n_eff, n_eff, t)
    return ClusterInterval(
        value, least + span * low, least + span * high, variance, n_eff, degrees, clusters
    )


@quiet
def share_deviations(x: ArrayLike, m: ArrayLike) -> Array:
    """Return by how much leaving out each cluster moves a share, scaled to sum to its variance.

    Parameters
    ----------
    x, m : array-like of shape (..., C)

    Returns
    -------
    moved : array of shape (..., C)
        The sum of their squares is the jackknife variance; the sum of products with those of
        another share over the same clusters is the covariance of both. nan where one cluster has
        all rows.

    Examples
    --------
    >>> moved = share_deviations([1, 0, 3, 2], [2, 2, 4, 2])
    >>> round(float((moved**2).sum()), 5)
    0.03234
    """
    x, m = floats(x, m)
    total = m.sum(-1, keepdims=True)
    count = np.count_nonzero(m > 0, axis=-1)[..., None]
    p = x.sum(-1, keepdims=True) / total
    return np.asarray(np.sqrt((count - 1) / count) * (x - p * m) / (total - m))


@quiet
def pooled_correlation(x: ArrayLike, m: ArrayLike) -> Array:
    """Return the intra-cluster correlation that groups have together.

    That at which the variances expected of all groups' shares sum to their jackknife variances.

    Parameters
    ----------
    x, m : array-like of shape (..., G, C)
        Successes and rows of every cluster of every group.

    Returns
    -------
    correlation : array of shape (...), in [0, 1]
        0 where no cluster has several rows.

    References
    ----------
    Kish (1965), Survey Sampling (design effect); Donner & Klar (2000), Design and Analysis of
    Cluster Randomization Trials in Health Research (pooling over groups).

    Examples
    --------
    >>> alike = [[[10, 0, 10, 0, 0], [0, 10, 10, 0, 0]]]
    >>> pooled_correlation(alike, [[[10] * 5, [10] * 5]]).round(6).tolist()
    [1.0]
    """
    x, m = floats(x, m)
    total = m.sum(-1)
    p, variance = quotient(x.sum(-1), total), (share_deviations(x, m) ** 2).sum(-1)
    known = (total > 0) & np.isfinite(variance)
    independent = np.where(known, p * (1 - p) / total, 0.0)
    beyond = np.where(known, variance - independent, 0.0).sum(-1)
    at_one = np.where(known, independent * _excess(m), 0.0).sum(-1)
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
def shared_correlation(x1: ArrayLike, m1: ArrayLike, x2: ArrayLike, m2: ArrayLike) -> Array:
    """Return the correlation of two shares that have clusters in common, for MOVER.

    Parameters
    ----------
    x1, m1, x2, m2 : array-like of shape (..., C)
        Successes and rows of both shares in the same clusters; a cluster that one of them lacks
        has no rows there.

    Returns
    -------
    r : array in [-1, 1]
        0 where a variance is 0 or unknown.

    References
    ----------
    Zou (2007), Psychological Methods 12, 399-413.

    Examples
    --------
    >>> x, m = [1, 0, 3, 2], [2, 2, 4, 2]
    >>> float(shared_correlation(x, m, x, m)), float(shared_correlation(x, m, [1, 2, 1, 0], m))
    (1.0, -1.0)
    """
    first, second = share_deviations(x1, m1), share_deviations(x2, m2)
    scale = np.sqrt((first**2).sum(-1) * (second**2).sum(-1))
    r = (first * second).sum(-1) / scale
    return np.where(np.isfinite(r), np.clip(r, -1.0, 1.0), 0.0)


def _excess(m: Array) -> Array:
    """Return by how much a correlation of 1 raises the variance of independent rows, less one."""
    return np.asarray(quotient((m**2).sum(-1), m.sum(-1)) - 1)
