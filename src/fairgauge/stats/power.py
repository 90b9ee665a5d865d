"""Sample sizes and detectable differences, for planning."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.intervals import critical

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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


def _power_quantile(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"power must lie inside (0, 1); found {probability!r}")
    return NormalDist().inv_cdf(probability)
