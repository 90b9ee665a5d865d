"""Tests of no difference: inversion of an interval, score, Welch, chi-square, Fisher."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import falling_root
from fairgauge.stats.arrays import Array, Limits, floats, quiet, whole
from fairgauge.stats.contrasts import newcombe, welch_degrees

Z_MAX = 37.0
"""Largest critical value; its two-sided p, 6e-300, is the smallest one reported."""

_erfc = np.frompyfunc(math.erfc, 1, 1)


def two_sided(z: ArrayLike) -> Array:
    """Return the two-sided normal p-value of `z`.

    Examples
    --------
    >>> round(float(two_sided(1.959964)), 6)
    0.05
    """
    return 2 * normal_tail(np.abs(z))


def normal_tail(z: ArrayLike) -> Array:
    """Return the probability that a standard normal variable exceeds z.

    >>> normal_tail([0.0, 1.6449]).round(4).tolist()
    [0.5, 0.05]
    """
    (value,) = floats(z)
    return np.asarray(_erfc(value / math.sqrt(2)), dtype=np.float64) / 2


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution; infinite at 0 and 1.

    >>> round(normal_quantile(0.975), 4), normal_quantile(1.0)
    (1.96, inf)
    """
    if 0 < probability < 1:
        return NormalDist().inv_cdf(probability)
    return math.inf if probability >= 1 else -math.inf


def invert_z(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the critical value at which an interval just touches the null.

    Parameters
    ----------
    interval : callable
        From a critical value z to (low, high): the estimate at ``z = 0``, wider as z grows.
        Called with a scalar first, then with arrays of the shape that it returned.
    null : array-like
        The value under test: 0 for a difference, 1 for a ratio.

    Returns
    -------
    z : array in [0, 37]
        nan where the interval is nan.

    Examples
    --------
    >>> z = invert_z(lambda z: (3.0 - 2.0 * z, 3.0 + 2.0 * z))
    >>> round(float(z), 6)
    1.5
    """
    low, high, value = floats(*interval(np.asarray(0.0)), null)
    undefined = np.isnan(low) | np.isnan(high)
    above, inner = low > value, np.zeros(value.shape)

    def beyond(z: Array) -> Array:
        """Return the distance of the null outside the interval; falls with z, 0 at the root."""
        low, high = interval(z)
        return np.where(above, low - value, value - high)

    return np.where(undefined, np.nan, falling_root(beyond, inner, np.full_like(inner, Z_MAX)))


def invert(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the p-value at which an interval just touches the null.

    Interval and p-value agree: ``p < 1 - confidence`` exactly when the interval at
    that confidence excludes `null`.

    Parameters
    ----------
    interval, null
        As for `invert_z`.

    Returns
    -------
    p : array in [6e-300, 1]
        nan where the interval is nan.

    Examples
    --------
    >>> p = invert(lambda z: newcombe(56, 70, 48, 80, z))
    >>> round(float(p), 6)
    0.008133
    """
    return two_sided(invert_z(interval, null))


def newcombe_p(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the p-value of equal rates by inverting `newcombe`: of no difference, a ratio of 1.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials; an empty group gives nan.

    Examples
    --------
    >>> newcombe_p([56, 50], [70, 200], [48, 35], [80, 200]).round(6).tolist()
    [0.008133, 0.067203]
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    p = invert(lambda z: newcombe(x1, n1, x2, n2, z))
    return np.where((n1 > 0) & (n2 > 0), p, np.nan)


@quiet
def score_p(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, *, skewness: bool = True
) -> Array:
    """Return the p-value of equal rates that agrees with the score intervals.

    The level at which `score_difference` touches 0, and `score_ratio` 1.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials; an empty group gives nan, rates that are both 0 or both 1 give 1.
    skewness : bool
        As for `score_difference`; without it this is the N - 1 chi-square test (Campbell 2007,
        Statistics in Medicine 26, 3661-3675).

    References
    ----------
    Laud (2017), Pharmaceutical Statistics 16, 334-348.

    Examples
    --------
    >>> score_p([7, 56], [25, 70], [2, 48], [25, 80]).round(4).tolist()
    [0.0685, 0.008]
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    n, pooled = n1 + n2, (x1 + x2) / (n1 + n2)
    spread = pooled * (1 - pooled)
    sd = np.sqrt(spread * (1 / n1 + 1 / n2) * n / (n - 1))
    third = spread * (1 - 2 * pooled) * (1 / n1**2 - 1 / n2**2)
    bend = third / (6 * sd**3) if skewness else np.zeros_like(n)
    shifted = (x1 / n1 - x2 / n2) / sd + bend  # then bend z^2 + z = shifted, and z >= 0
    z = 2 * np.abs(shifted) / (1 + np.sqrt(np.maximum(1 + 4 * bend * shifted, 0.0)))
    p = np.where(spread > 0, two_sided(np.where(np.isnan(z), 0.0, z)), 1.0)
    return np.where((n1 > 0) & (n2 > 0), p, np.nan)


@quiet
def welch_p(
    mean1: ArrayLike,
    var1: ArrayLike,
    n1: ArrayLike,
    mean2: ArrayLike,
    var2: ArrayLike,
    n2: ArrayLike,
) -> Array:
    """Return the p-value of Welch's test of equal means.

    Parameters
    ----------
    mean1, var1, n1, mean2, var2, n2 : array-like
        Sample means, sample variances (divisor n - 1) and sizes; a group of fewer than two gives
        nan.

    Examples
    --------
    >>> round(float(welch_p(5.0, 4.0, 30, 4.0, 9.0, 20)), 4)
    0.2003
    """
    from scipy.special import stdtr

    mean1, var1, n1, mean2, var2, n2 = floats(mean1, var1, n1, mean2, var2, n2)
    error = np.sqrt(var1 / n1 + var2 / n2)
    t = np.where(mean1 == mean2, 0.0, np.abs(mean1 - mean2) / error)
    p = np.where(error > 0, 2 * stdtr(welch_degrees(var1, n1, var2, n2), -t), t == 0)
    return np.where((n1 > 1) & (n2 > 1), p, np.nan)


def chi_square_tail(statistic: ArrayLike, degrees: ArrayLike) -> Array:
    """Return the probability that a chi-square variable exceeds `statistic`.

    For whole degrees of freedom it is a finite sum of positive terms (`scipy.special`, which has
    it too, takes longer to import than most audits take to compute).

    Parameters
    ----------
    statistic : array-like, not negative
    degrees : array-like of whole numbers from 1

    References
    ----------
    Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 26.4.4 and 26.4.5.

    Examples
    --------
    >>> chi_square_tail([3.841459, 9.487729], [1, 4]).round(6).tolist()
    [0.05, 0.05]
    """
    half, degrees = floats(statistic, degrees)
    half = np.clip(half[..., None] / 2, 1e-300, 1e300)  # the logarithm of 0 and inf is infinite
    degrees = degrees[..., None]
    odd = degrees % 2
    steps = np.arange(1, degrees.max(initial=1) // 2 + 1) - odd / 2
    logs = np.cumsum(np.log(half / steps), axis=-1) - half - odd * np.log(np.pi * half) / 2
    terms = np.where(steps < degrees / 2, np.exp(logs), 0.0).sum(-1)
    first = np.where(odd > 0, 2 * normal_tail(np.sqrt(2 * half)), np.exp(-half))[..., 0]
    return np.asarray(np.minimum(first + terms, 1.0))


def homogeneity(x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Test that all groups share one rate (Pearson's chi-square, G - 1 degrees of freedom).

    Parameters
    ----------
    x, n : array-like of shape (..., G)
        Successes and trials; groups without trials are excluded.

    Returns
    -------
    stat, p : array of shape (...)
        nan with fewer than two groups; 0 and 1 when all rates are 0 or all are 1.

    Examples
    --------
    >>> stat, p = homogeneity([20, 26, 31, 18, 24], 100)
    >>> round(float(stat), 4), round(float(p), 4)
    (5.7787, 0.2163)
    """
    x, n = floats(x, n)
    return homogeneity_table(np.stack([x, n - x], axis=-1))


@quiet
def homogeneity_table(counts: ArrayLike) -> tuple[Array, Array]:
    """Test that all groups share one distribution (Pearson's chi-square).

    Parameters
    ----------
    counts : array-like of shape (..., G, K)
        Rows per group and category; empty groups and categories are excluded.

    Returns
    -------
    stat, p : array of shape (...)
        nan with fewer than two groups; 0 and 1 with fewer than two categories.

    Examples
    --------
    >>> stat, p = homogeneity_table([[50, 30, 20], [20, 18, 22]])
    >>> round(float(stat), 4), round(float(p), 4)
    (6.3492, 0.0418)
    """
    (table,) = floats(counts)
    groups, categories = table.sum(-1, keepdims=True), table.sum(-2, keepdims=True)
    expected = groups * categories / categories.sum(-1, keepdims=True)
    stat = np.where(expected > 0, (table - expected) ** 2 / expected, 0.0).sum((-1, -2))
    g, k = np.count_nonzero(groups, axis=(-1, -2)), np.count_nonzero(categories, axis=(-1, -2))
    degrees = (g - 1) * (k - 1)
    p = np.where(degrees > 0, chi_square_tail(stat, np.maximum(degrees, 1)), 1.0)
    return np.where(g > 1, stat, np.nan), np.where(g > 1, p, np.nan)


def fisher(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the two-sided p-value of Fisher's exact test.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like of whole numbers
        Successes and trials.

    Returns
    -------
    p : array in (0, 1]

    Raises
    ------
    ValueError
        A count is not whole.

    References
    ----------
    Fisher (1935), Journal of the Royal Statistical Society 98, 39-82.

    Examples
    --------
    >>> round(float(fisher(48, 80, 12, 40)), 4), round(float(fisher(3, 20, 1, 10)), 4)
    (0.0034, 1.0)
    """
    from scipy.stats import fisher_exact

    counts = np.stack(whole("Fisher's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    p = [
        fisher_exact([[a, m - a], [b, n - b]]).pvalue
        for a, m, b, n in counts.reshape(-1, 4).tolist()
    ]
    return np.asarray(p, dtype=np.float64).reshape(counts.shape[:-1])
