"""Effective sample sizes of clustered rows, and bounds under missing group labels.

All come from mergeable sums.  An effective sample size replaces n in any interval of `intervals`
and `contrasts`, with ``rate * n_eff`` for x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Clustered(NamedTuple):
    """An effective sample size and the degrees of freedom of its t quantile."""

    n: Array
    degrees: Array


@quiet
def clustered_n(
    clusters: ArrayLike,
    n: ArrayLike,
    rate: ArrayLike,
    sum_xx: ArrayLike,
    sum_xm: ArrayLike,
    sum_mm: ArrayLike,
) -> Clustered:
    """Return the effective sample size of clustered rows and the degrees of freedom of its t.

    A cluster c has x_c successes among m_c rows (or sums of their weights).

    Parameters
    ----------
    clusters : array-like
        Number of clusters with rows in the denominator.
    n : array-like
        Rows of the denominator, the sum of m_c; `n_eff` never exceeds it.
    rate : array-like in [0, 1]
        Sum of x_c over sum of m_c.
    sum_xx, sum_xm, sum_mm : array-like
        Sums over clusters of x_c squared, x_c m_c and m_c squared.

    Returns
    -------
    n_eff, degrees : array
        ``clusters - 1`` degrees of freedom, for `intervals.critical_t`.  One cluster gives
        ``n_eff = 0``.  A rate of 0 or 1 gives the effective number of clusters, because the
        correlation within clusters cannot be estimated.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193-201; Rao & Scott (1992), Biometrics 48,
    577-585.

    Examples
    --------
    >>> x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    >>> n_eff, degrees = clustered_n(4, 10, 0.6, x @ x, x @ m, m @ m)
    >>> round(float(n_eff), 3), float(degrees)
    (7.258, 3.0)
    """
    c, n, p, xx, xm, mm = floats(clusters, n, rate, sum_xx, sum_xm, sum_mm)
    scatter = np.maximum(xx - 2 * p * xm + p**2 * mm, 0.0)
    variance = c / (c - 1) * scatter / n**2
    robust = np.minimum(n, p * (1 - p) / variance)
    fallback = np.minimum(n, n**2 / mm)
    n_eff = np.where((p > 0) & (p < 1), robust, fallback)
    return Clustered(np.where((c > 1) & (n > 0), n_eff, 0.0), np.maximum(c - 1, 0.0))


@quiet
def clustered_correlation(
    clusters1: ArrayLike,
    clusters2: ArrayLike,
    n1: ArrayLike,
    n2: ArrayLike,
    variance1: ArrayLike,
    variance2: ArrayLike,
    sum_xx: ArrayLike,
    sum_xm: ArrayLike,
    sum_mx: ArrayLike,
    sum_mm: ArrayLike,
    rate1: ArrayLike,
    rate2: ArrayLike,
) -> Array:
    """Return the correlation of two rates whose sides share clusters.

    With x1_c successes among m1_c rows of the first side in cluster c, and x2_c among m2_c of the
    second, the covariance is ``C / (C - 1) sum (x1_c - p1 m1_c)(x2_c - p2 m2_c) / (n1 n2)``:
    clusters of one side only contribute 0. The factor is the geometric mean of those of both
    sides, so that the correlation is at most 1 with cluster-robust variances.

    Parameters
    ----------
    clusters1, clusters2 : array-like
        Numbers of clusters with rows in either denominator.
    n1, n2 : array-like
        Rows of both denominators.
    variance1, variance2 : array-like
        The variances behind the intervals of both sides.
    sum_xx, sum_xm, sum_mx, sum_mm : array-like
        Sums over clusters of x1_c x2_c, x1_c m2_c, m1_c x2_c and m1_c m2_c.
    rate1, rate2 : array-like in [0, 1]

    Returns
    -------
    r : array in [-1, 1]
        0 where a variance is 0, or a side has fewer than two clusters.

    References
    ----------
    Kish & Frankel (1974), JRSS B 36, 1-37; Zou (2007), Psychological Methods 12, 399-413.

    Examples
    --------
    Two sides that are equal in every cluster:

    >>> x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    >>> v = clustered_n(4, 10, 0.6, x @ x, x @ m, m @ m)
    >>> variance = 0.24 / float(v.n)
    >>> both = (x @ x, x @ m, m @ x, m @ m)
    >>> sides = (4, 4, 10, 10, variance, variance)
    >>> round(float(clustered_correlation(*sides, *both, 0.6, 0.6)), 9)
    1.0
    """
    c1, c2, n1, n2, v1, v2, xx, xm, mx, mm, p1, p2 = floats(
        clusters1, clusters2, n1, n2, variance1, variance2,
        sum_xx, sum_xm, sum_mx, sum_mm, rate1, rate2,
    )  # fmt: skip
    factor = np.sqrt(c1 / (c1 - 1) * c2 / (c2 - 1))
    r = factor * (xx - p2 * xm - p1 * mx + p1 * p2 * mm) / (n1 * n2) / np.sqrt(v1 * v2)
    return np.where((c1 > 1) & (c2 > 1) & np.isfinite(r), np.clip(r, -1.0, 1.0), 0.0)


@quiet
def missing_bounds(
    x: ArrayLike, n: ArrayLike, unknown_x: ArrayLike, unknown_n: ArrayLike
) -> Limits:
    """Return Manski's worst-case bounds of a group's rate when some rows have no group label.

    Parameters
    ----------
    x, n : array-like
        Successes and rows known to be of the group.
    unknown_x, unknown_n : array-like
        Successes and rows without a group label.

    Returns
    -------
    low, high : array in [0, 1]
        Sharp: some assignment of the unknown rows attains each.  [0, 1] where no row is known
        to be of the group.

    References
    ----------
    Manski (1989), Journal of Human Resources 24, 343-360.

    Examples
    --------
    >>> low, high = missing_bounds(30, 100, 4, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.283, 0.3269)
    """
    x, n, ux, un = floats(x, n, unknown_x, unknown_n)
    failures = n + un - ux
    low = np.where((n > 0) & (failures > 0), x / failures, 0.0)
    high = np.where(n > 0, (x + ux) / (n + ux), 1.0)
    return low, high
