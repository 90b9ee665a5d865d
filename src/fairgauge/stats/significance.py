"""Tests of "no difference": p-values by inverting an interval, exact, chi-square, permutation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet, whole
from fairgauge.stats.contrasts import newcombe, welch_degrees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Statistic: TypeAlias = Callable[[Array], Array]

Z_MAX = 37.0
"""Largest critical value searched: its two-sided p, 6e-300, is the smallest one reported."""

_MOST_STEPS = 100
_TURNS = 5
_SETTLED = 1e-12

_erfc = np.frompyfunc(math.erfc, 1, 1)


def two_sided(z: ArrayLike) -> Array:
    """Return the two-sided normal p-value of `z`.

    Examples
    --------
    >>> round(float(two_sided(1.959964)), 6)
    0.05
    """
    (value,) = floats(z)
    return np.asarray(_erfc(np.abs(value) / math.sqrt(2)), dtype=np.float64)


def invert_z(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the critical value at which an interval just touches the null.

    Parameters
    ----------
    interval : callable
        From a critical value z to (low, high): the estimate at ``z = 0``, wider as z grows.
        Called with a scalar once, then with an array of the shape that it answered.
    null : array-like
        The value under test: 0 for a difference, 1 for a ratio.

    Returns
    -------
    z : array in [0, 37]
        nan where the limits are nan.

    Examples
    --------
    >>> z = invert_z(lambda z: (3.0 - 2.0 * z, 3.0 + 2.0 * z))
    >>> round(float(z), 6)
    1.5
    """
    low, high, value = floats(*interval(np.asarray(0.0)), null)
    undefined = np.isnan(low) | np.isnan(high)
    above = low > value

    def beyond(z: Array) -> Array:
        """Return how far the null still lies outside the limits; falls with z, 0 at the answer."""
        low, high = interval(z)
        return np.where(above, low - value, value - high)

    return np.where(undefined, np.nan, _root(beyond, value.shape))


def invert(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the p-value at which an interval just touches the null.

    So interval and p-value never disagree: ``p < 1 - confidence`` exactly when the interval at
    that confidence excludes `null`.

    Parameters
    ----------
    interval, null
        As for `invert_z`.

    Returns
    -------
    p : array in [6e-300, 1]
        nan where the limits are nan.

    Examples
    --------
    >>> p = invert(lambda z: newcombe(56, 70, 48, 80, z))
    >>> round(float(p), 6)
    0.008133
    """
    return two_sided(invert_z(interval, null))


@quiet
def _root(falling: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """Return where a falling function of z in [0, Z_MAX] reaches 0, by secants kept in a bracket.

    The ends are returned where it never is positive, or always.
    """
    inner, outer = np.zeros(shape), np.full(shape, Z_MAX)
    last, z = inner, np.ones(shape)
    before, here = falling(inner), falling(z)
    never, always = ~(before > 0), falling(outer) > 0
    done = never | always
    for step in range(_MOST_STEPS):
        positive = here > 0
        inner, outer = np.where(positive, z, inner), np.where(positive, outer, z)
        secant = z - here * (z - last) / (here - before)
        middle = (inner + outer) / 2
        # a secant that leaves the bracket, or creeps along one end, gives way to its middle
        usable = (secant > inner) & (secant < outer) & (step % _TURNS != _TURNS - 1)
        new = np.where(done | (here == 0), z, np.where(usable, secant, middle))
        done = done | (np.abs(new - z) <= _SETTLED * (1 + z))
        if done.all():
            break
        last, before, z = z, here, new
        here = falling(z)
    return np.where(never, 0.0, np.where(always, Z_MAX, new))


def newcombe_p(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, null: ArrayLike = 0.0
) -> Array:
    """Return the p-value of ``x1/n1 - x2/n2 = null`` by inverting `newcombe`.

    For ``null = 0`` it is also the p-value of "the ratio is 1": both are the same condition.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials; an empty group gives nan.
    null : array-like in [-1, 1]

    Examples
    --------
    >>> newcombe_p([56, 50], [70, 200], [48, 35], [80, 200]).round(6).tolist()
    [0.008133, 0.067203]
    """
    x1, n1, x2, n2, null = floats(x1, n1, x2, n2, null)
    p = invert(lambda z: newcombe(x1, n1, x2, n2, z), null)
    return np.where((n1 > 0) & (n2 > 0), p, np.nan)


@quiet
def score_p(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, *, skewness: bool = True
) -> Array:
    """Return the p-value of equal rates that agrees with the score limits.

    The level at which `score_difference` touches 0, and `score_ratio` 1.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials; an empty group gives nan, rates that are both 0 or both 1 give 1.
    skewness : bool
        As for `score_difference`; without it this is `n_minus_1_chi2`.

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
    """Return the p-value of equal means that agrees with `welch_difference`.

    Parameters
    ----------
    mean1, var1, n1, mean2, var2, n2 : array-like
        As for `welch_difference`; a group of fewer than two gives nan.

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


def homogeneity(x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Test that all groups share one rate (Pearson's chi-square, G - 1 degrees of freedom).

    Parameters
    ----------
    x, n : array-like of shape (..., G)
        Successes and trials; groups without trials are left out.

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
        Rows per group and category; empty groups and categories are left out.

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
    from scipy.special import chdtrc

    (table,) = floats(counts)
    groups, categories = table.sum(-1, keepdims=True), table.sum(-2, keepdims=True)
    expected = groups * categories / categories.sum(-1, keepdims=True)
    stat = np.where(expected > 0, (table - expected) ** 2 / expected, 0.0).sum((-1, -2))
    g, k = np.count_nonzero(groups, axis=(-1, -2)), np.count_nonzero(categories, axis=(-1, -2))
    degrees = (g - 1) * (k - 1)
    p = np.where(degrees > 0, chdtrc(np.maximum(degrees, 1), stat), 1.0)
    return np.where(g > 1, stat, np.nan), np.where(g > 1, p, np.nan)


def permutation_p(
    counts: ArrayLike, statistic: Statistic, rng: np.random.Generator, replicates: int = 2000
) -> Array:
    """Return the permutation p-value of "group labels do not matter", from counts alone.

    Permuting the labels of rows is a multivariate hypergeometric draw of the cells.

    Parameters
    ----------
    counts : array-like of whole numbers, shape (G, K)
        Rows per group and cell.
    statistic : callable
        From tables of shape (..., G, K) to values of shape (...); large values are evidence
        against the null.  A difference of a metric must be studentised, or the test is invalid
        where the metric is equal and the distributions are not (DiCiccio et al. 2020).
    rng : numpy.random.Generator
    replicates : int
        The smallest possible p is 1 / (replicates + 1).

    Returns
    -------
    p : array of shape ()
        nan where the observed statistic is nan; undefined draws count as extreme.

    Raises
    ------
    ValueError
        When the counts are not whole.

    Examples
    --------
    >>> table = [[40, 10], [20, 30]]
    >>> gap = lambda tables: np.abs(tables[..., 0, 0] - tables[..., 1, 0])
    >>> bool(permutation_p(table, gap, np.random.default_rng(0)) < 0.01)
    True
    """
    (table,) = whole("a permutation test", counts)
    observed = np.asarray(statistic(table))
    draws = np.asarray(statistic(permuted(table, rng, replicates)))
    tolerance = 1e-12 * np.abs(np.where(np.isfinite(observed), observed, 0.0))
    extreme = np.count_nonzero(~(draws < observed - tolerance), axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + extreme) / (replicates + 1))


def permuted(table: Array, rng: np.random.Generator, replicates: int) -> Array:
    """Draw tables of shape (replicates, G, K) with the margins of `table`.

    Examples
    --------
    >>> draws = permuted(np.array([[3.0, 2.0], [1.0, 4.0]]), np.random.default_rng(0), 100)
    >>> draws.shape, draws.sum(1).min(0).tolist()
    ((100, 2, 2), [4.0, 6.0])
    """
    groups, cells = table.shape
    left = np.broadcast_to(table.sum(0).astype(np.int64), (replicates, cells)).copy()
    drawn = np.zeros((replicates, groups, cells), dtype=np.int64)
    for g in range(groups - 1):
        need = np.full(replicates, int(table[g].sum()))
        rest = left.sum(-1)
        for k in range(cells - 1):
            rest = rest - left[:, k]
            drawn[:, g, k] = rng.hypergeometric(left[:, k], rest, need)
            need = need - drawn[:, g, k]
        drawn[:, g, -1] = need
        left = left - drawn[:, g]
    drawn[:, -1] = left
    return drawn.astype(np.float64)
