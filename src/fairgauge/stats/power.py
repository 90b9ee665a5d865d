"""Sample sizes and detectable differences, for planning."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.roots import bisect

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Comparison: TypeAlias = Literal["difference", "ratio"]

MAX_DOUBLINGS = 40
"""An interval that 2**40 times the rows would not decide is on the bound: it needs inf."""


@quiet
def detectable_difference(
    p1: ArrayLike,
    n1: ArrayLike,
    p2: ArrayLike,
    n2: ArrayLike,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Array:
    """Return the smallest true difference of rates that a test detects with the given power.

    Parameters
    ----------
    p1, n1, p2, n2 : array-like
        Rates in [0, 1] and sizes of both groups; an empty group gives inf.
    confidence, power : float in (0, 1)

    Returns
    -------
    difference : array

    Examples
    --------
    >>> round(float(detectable_difference(0.3, 290.41, 0.2, 290.41)), 3)
    0.1
    """
    p1, n1, p2, n2 = floats(p1, n1, p2, n2)
    spread = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    known = (n1 > 0) & (n2 > 0)
    z = critical(confidence) + _power_quantile(power)
    return np.where(known, z * np.sqrt(spread), np.inf)


@quiet
def n_to_detect(
    p1: ArrayLike,
    p2: ArrayLike,
    confidence: float = 0.95,
    power: float = 0.8,
    allocation: ArrayLike = 1.0,
) -> Array:
    """Return the rows of group 2 needed to detect rates `p1` and `p2` as different.

    Parameters
    ----------
    p1, p2 : array-like in [0, 1]
        Equal rates give inf.
    confidence, power : float in (0, 1)
    allocation : array-like, > 0
        Rows of group 2 per row of group 1.

    Returns
    -------
    n2 : array
        A real number; round up.  Group 1 needs ``n2 / allocation``.

    Examples
    --------
    >>> round(float(n_to_detect(0.30, 0.20)), 2)
    290.41
    """
    p1, p2, share = floats(p1, p2, allocation)
    z = critical(confidence) + _power_quantile(power)
    spread = p1 * (1 - p1) * share + p2 * (1 - p2)
    return np.where(p1 == p2, np.inf, z**2 * spread / (p1 - p2) ** 2)


@quiet
def n_to_pass_difference(
    rate: ArrayLike,
    tolerance: ArrayLike,
    confidence: float = 0.95,
    power: float = 0.8,
    allocation: ArrayLike = 1.0,
) -> Array:
    """Return the rows of group 2 needed to show that equal rates are equal within a tolerance.

    The whole interval must lie inside ``[-tolerance, tolerance]``.  Optimistic where the
    tolerance is as large as the rate.

    Parameters
    ----------
    rate : array-like in [0, 1]
        The rate both groups share.
    tolerance : array-like, >= 0
        0 gives inf.
    confidence, power, allocation
        As for `n_to_detect`.

    References
    ----------
    Chow, Shao & Wang (2008), Sample Size Calculations in Clinical Research, chapter 4.

    Examples
    --------
    >>> round(float(n_to_pass_difference(0.3, 0.05)), 2)
    1765.25
    """
    rate, tolerance, share = floats(rate, tolerance, allocation)
    z = critical(confidence) + _power_quantile((1 + power) / 2)
    return np.where(tolerance > 0, z**2 * (1 + share) * rate * (1 - rate) / tolerance**2, np.inf)


@quiet
def n_to_pass_ratio(
    rate: ArrayLike,
    margin: ArrayLike = 0.8,
    confidence: float = 0.95,
    power: float = 0.8,
    allocation: ArrayLike = 1.0,
) -> Array:
    """Return the rows of group 2 needed to show that the ratio of equal rates exceeds `margin`.

    Parameters
    ----------
    rate : array-like in [0, 1]
        The rate both groups share; 0 gives inf.
    margin : array-like in (0, inf)
        1 gives inf.
    confidence, power, allocation
        As for `n_to_detect`.

    Examples
    --------
    >>> np.ceil(n_to_pass_ratio([0.1, 0.3, 0.5])).tolist()
    [2838.0, 736.0, 316.0]
    """
    rate, margin, share = floats(rate, margin, allocation)
    z = critical(confidence) + _power_quantile(power)
    needed = z**2 * (1 + share) * (1 - rate) / rate / np.log(margin) ** 2
    return np.where((margin == 1) | (rate <= 0), np.inf, needed)


def design_effect(cluster_size: ArrayLike, icc: ArrayLike) -> Array:
    """Return the factor by which clusters raise the sample size needed, 1 + (m - 1) ICC.

    Parameters
    ----------
    cluster_size : array-like, >= 1
        Mean rows per cluster.
    icc : array-like in [0, 1]
        Intra-cluster correlation.

    References
    ----------
    Kish (1965), Survey Sampling.

    Examples
    --------
    >>> float(design_effect(21, 0.1))
    3.0
    """
    size, correlation = floats(cluster_size, icc)
    return 1 + (size - 1) * correlation


def factor_to_decide(
    interval: Callable[[Array], Limits], lower: ArrayLike, upper: ArrayLike
) -> Array:
    """Return the multiple of the rows that would decide a verdict at the same proportions.

    Parameters
    ----------
    interval : callable
        From a factor (an array; 1 is the present data) to an interval that narrows as it grows.
    lower, upper : array-like
        The allowed set; bounds may be infinite.

    Returns
    -------
    factor : array, >= 1
        1 where the interval already lies inside or outside, inf where the estimate is on a
        bound, nan where the interval is.

    Examples
    --------
    >>> factor = factor_to_decide(lambda k: newcombe(60 * k, 200 * k, 59 * k, 200 * k, 1.96),
    ...                           -0.05, 0.05)
    >>> round(float(factor), 1)
    4.0
    """
    low, high, lower, upper = floats(*interval(np.asarray(1.0)), lower, upper)
    undefined = np.isnan(low) | np.isnan(high)

    def decided(doublings: Array) -> NDArray[np.bool_]:
        low, high = interval(2.0**doublings)
        return np.asarray(((low >= lower) & (high <= upper)) | (low > upper) | (high < lower))

    none, most = np.zeros(low.shape), np.full(low.shape, float(MAX_DOUBLINGS))
    _, doublings = bisect(lambda doublings: ~decided(doublings), none, most)
    factor = np.where(decided(none), 1.0, np.where(decided(most), 2.0**doublings, np.inf))
    return np.where(undefined, np.nan, factor)


def n_to_decide(
    x1: ArrayLike,
    n1: ArrayLike,
    x2: ArrayLike,
    n2: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    confidence: float = 0.95,
    comparison: Comparison = "difference",
) -> Array:
    """Return the rows (both groups together) at which an inconclusive verdict would be decided.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials; proportions and allocation are kept.
    lower, upper : array-like
        The allowed set of the difference or ratio.
    confidence : float in (0, 1)
    comparison : {"difference", "ratio"}

    Returns
    -------
    rows : array
        ``n1 + n2`` where the verdict is decided already, inf where the estimate is on a bound,
        nan for an empty group.

    Examples
    --------
    >>> round(float(n_to_decide(60, 200, 59, 200, -0.05, 0.05)), -1)
    1580.0
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    limits = newcombe if comparison == "difference" else mover_wilson_ratio
    z = critical(confidence)
    factor = factor_to_decide(lambda k: limits(x1 * k, n1 * k, x2 * k, n2 * k, z), lower, upper)
    return np.where((n1 > 0) & (n2 > 0), np.ceil(factor * (n1 + n2)), np.nan)


def _power_quantile(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"power must lie inside (0, 1); found {probability!r}")
    return NormalDist().inv_cdf(probability)
