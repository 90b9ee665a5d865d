"""Several comparisons, and many groups: adjusted p-values, simultaneous levels, partial pooling.

Groups lie along the last axis; groups without trials (``n = 0``) are excluded.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.stats._roots import bisect
from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.intervals import tail_of
from fairgauge.stats.significance import normal_quantile, normal_tail, two_sided


def holm(p: ArrayLike) -> Array:
    """Return Holm's step-down adjustment: strong control of the family-wise error rate.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan]).tolist()
    [0.02, 0.04, nan]
    """
    ordered, order, count = _sorted_p(p)
    factor = count - np.arange(ordered.shape[-1])
    return _unsorted_p(np.maximum.accumulate(ordered * np.maximum(factor, 1), axis=-1), order)


def holm_levels(p: ArrayLike, level: float) -> Array:
    """Return the level at which Holm's procedure tests each p-value.

    An interval of one minus this level excludes a value just where Holm's adjusted p-value of it is
    at most ``level``, so that all intervals together exclude a true value with at most that
    probability.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.
    level : float
        Of the whole family.

    Returns
    -------
    levels : array of shape (..., m)
        The level over how many hypotheses are left where one is tested; of those that are not
        rejected, all the same.

    Examples
    --------
    >>> holm_levels([0.2, 0.001, 0.3, np.nan], 0.06).tolist()
    [0.03, 0.02, 0.03, nan]
    """
    ordered, order, count = _sorted_p(p)
    step = np.arange(ordered.shape[-1])
    rejected = holm(ordered) <= level
    left = count - np.where(rejected, step, rejected.sum(axis=-1, keepdims=True))
    levels = np.where(np.isnan(ordered), np.nan, level / np.maximum(left, 1))
    return _unsorted_p(levels, order)


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Return the step-up adjustment of Benjamini and Hochberg for the false discovery rate.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, np.nan]).round(4).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    ordered, order, count = _sorted_p(p)
    steps = count / np.arange(1, ordered.shape[-1] + 1)
    raised = np.where(np.isnan(ordered), np.inf, ordered * steps)
    adjusted = np.minimum.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return _unsorted_p(np.where(np.isnan(ordered), np.nan, adjusted), order)


def sidak(p: ArrayLike, comparisons: int) -> Array:
    """Return p-values adjusted in a single step: the levels of `simultaneous_level`, inverted.

    An interval at that level excludes a value just where its adjusted p-value is below one minus
    the confidence level.

    Parameters
    ----------
    p : array-like; nan is kept.
    comparisons : int, >= 1
        How many are judged together.

    References
    ----------
    Sidak (1967), JASA 62, 626-633.

    Examples
    --------
    >>> sidak([0.01, 0.2], 5).round(3).tolist()
    [0.049, 0.672]
    """
    (single,) = floats(p)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(comparisons * np.log1p(-single)))


def simultaneous_level(comparisons: int, confidence: float) -> float:
    """Return the level of single intervals at which several hold together, however they correlate.

    For what is shown because it is the most extreme of several: a headline, a finding, the worst
    class. All pairs of groups have Tukey's, which is lower.

    Parameters
    ----------
    comparisons : int, >= 1

    References
    ----------
    Sidak (1967), JASA 62, 626-633.

    Examples
    --------
    >>> simultaneous_level(1, 0.95), round(simultaneous_level(12, 0.95), 5)
    (0.95, 0.99573)
    """
    return math.exp(math.log(confidence) / comparisons)


def _sorted_p(p: ArrayLike) -> tuple[Array, NDArray[np.intp], Array]:
    values = np.atleast_1d(np.asarray(p, dtype=np.float64))
    order = np.argsort(values, axis=-1, kind="stable")  # nan sorts last
    count = np.count_nonzero(~np.isnan(values), axis=-1, keepdims=True).astype(np.float64)
    return np.take_along_axis(values, order, axis=-1), order, count


def _unsorted_p(ordered: Array, order: NDArray[np.intp]) -> Array:
    restored = np.empty_like(ordered)
    np.put_along_axis(restored, order, np.minimum(ordered, 1.0), axis=-1)
    return restored


_FURTHEST, _STEP = 9.0, 1 / 16
_LARGEST_RANGE = 60.0


def tukey_critical(groups: ArrayLike, confidence: float) -> Array:
    """Return Tukey's critical value for simultaneous intervals of all pairs, q / sqrt(2).

    q is the quantile of the range of that many independent standard normals (the studentized range
    with infinite degrees of freedom).

    Parameters
    ----------
    groups : array-like of int
        Numbers of groups; fewer than two give 0.

    References
    ----------
    Tukey (1953), The problem of multiple comparisons; Agresti, Bini, Bertaccini & Ryu (2008),
    Biometrics 64, 1270-1275, for proportions.

    Examples
    --------
    >>> tukey_critical([2, 5, 50], 0.95).round(3).tolist()
    [1.96, 2.728, 3.992]
    """
    tail = tail_of(confidence)
    groups = np.asarray(groups, dtype=np.int64)
    distinct, index = np.unique(groups, return_inverse=True)
    values = np.array([_critical(int(size), 2 * tail) for size in distinct])
    return np.asarray(values[index.reshape(groups.shape)])


def tukey_p(z: ArrayLike, groups: ArrayLike) -> Array:
    """Return the p-value of a pairwise `z`, adjusted for all pairs of that many groups.

    Examples
    --------
    >>> tukey_p([1.959964, 2.727774], [2, 5]).round(4).tolist()
    [0.05, 0.05]
    """
    z, groups = floats(z, groups)
    p = np.empty_like(z)
    for size in set(groups.flat):
        at = groups == size
        p[at] = _range_tail(z[at] * np.sqrt(2), int(size))
    return p


def tukey_level(groups: int, confidence: float) -> float:
    """Return the level of single intervals at which those of all pairs of groups hold together.

    Examples
    --------
    >>> round(tukey_level(2, 0.95), 6), round(tukey_level(12, 0.95), 5)
    (0.95, 0.99892)
    """
    return float(1 - two_sided(tukey_critical(groups, confidence)))


def tukey_adjusted(p: ArrayLike, groups: int) -> Array:
    """Return p-values of single pairs, adjusted for all pairs of that many groups.

    Below one minus a confidence where the interval at `tukey_level` of it excludes "no difference";
    never below the p-value of the pair alone. nan stays nan.

    Examples
    --------
    >>> tukey_adjusted([0.05, 0.001], 5).round(4).tolist()
    [0.2858, 0.0089]
    """
    (alone,) = floats(p)
    known = ~np.isnan(alone)
    z = -np.vectorize(normal_quantile, otypes=[float])(np.where(known, alone, 1.0) / 2)
    return np.where(known, np.maximum(tukey_p(z, np.full(z.shape, groups)), alone), np.nan)


@quiet
def between_variance(x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Return the variance of the rates between groups, observed and without sampling variance.

    Parameters
    ----------
    x, n : array-like of shape (..., G)
        Groups with fewer than two trials are excluded.

    Returns
    -------
    naive, corrected : array of shape (...)
        `corrected` is unbiased and may be negative; nan with fewer than two groups.

    References
    ----------
    Method of moments; compare Lum, Zhang & Bower (2022), De-biasing "bias" measurement, FAccT.

    Examples
    --------
    >>> naive, corrected = between_variance([20, 26, 31, 18, 24], 100)
    >>> round(float(naive), 5), round(float(corrected), 5)
    (0.00262, 0.00081)
    """
    x, n = floats(x, n)
    included = n > 1
    rate = np.where(included, x / n, 0.0)
    groups = np.count_nonzero(included, axis=-1)
    mean = rate.sum(-1, keepdims=True) / groups[..., None]
    naive = np.where(included, (rate - mean) ** 2, 0.0).sum(-1) / (groups - 1)
    sampling = np.where(included, rate * (1 - rate) / (n - 1), 0.0).sum(-1) / groups
    single = groups < 2
    return np.where(single, np.nan, naive), np.where(single, np.nan, naive - sampling)


@lru_cache(maxsize=512)
def _critical(groups: int, alpha: float) -> float:
    if groups < 2:
        return 0.0
    low, high = np.zeros(()), np.full((), _LARGEST_RANGE)
    _, q = bisect(lambda q: _range_tail(q, groups) > alpha, low, high)
    return float(q / np.sqrt(2))


@cache
def _quadrature() -> tuple[Array, Array]:
    """Return evenly spaced points and the normal density at them, times their spacing.

    The trapezoidal rule is exact to rounding for densities that vanish at both ends, and uses no
    linear algebra and hence none of its threads.
    """
    points = np.arange(-_FURTHEST, _FURTHEST + _STEP / 2, _STEP)
    return points, np.exp(-(points**2) / 2) * _STEP / np.sqrt(2 * np.pi)


def _range_tail(q: Array, groups: int) -> Array:
    """Return P(range of `groups` standard normals > q), by quadrature over their minimum.

    scipy.stats.studentized_range.sf takes 4 to 7 times as long, besides the import of scipy.stats.
    """
    if groups < 2:
        return np.where(np.isnan(q), np.nan, 1.0)
    points, density = _quadrature()
    beyond = normal_tail(points)
    between = np.maximum(beyond - normal_tail(points + q[..., None]), 0.0)
    outside = beyond ** (groups - 1) - between ** (groups - 1)
    return np.asarray(np.clip((groups * density * outside).sum(-1), 0.0, 1.0))
