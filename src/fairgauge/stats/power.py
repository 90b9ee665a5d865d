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


def times_the_rows(
    z: ArrayLike, comparisons: int = 1, confidence: float = 0.95, power: float = 0.8
) -> Array:
    """Return how many times the rows would show an effect, if it is as large as estimated.

    Parameters
    ----------
    z : array-like
        How many standard errors the estimate lies from the null, in the direction to be shown; it
        grows with the root of the rows. 0 and below gives inf.
    comparisons : int, >= 1
        Comparisons that are adjusted for, by Bonferroni's level.
    confidence, power : float in (0, 1)

    Examples
    --------
    >>> round(float(times_the_rows(1.0)), 2)  # (1.96 + 0.84) ** 2
    7.85
    """
    (observed,) = floats(z)
    wanted = critical(1 - (1 - confidence) / comparisons) + _power_quantile(power)
    with np.errstate(divide="ignore"):
        return np.where(observed > 0, (wanted / observed) ** 2, np.inf)


def _power_quantile(probability: float) -> float:
    if not 0 < probability < 1:
        raise ValueError(f"power must lie inside (0, 1); found {probability!r}")
    return NormalDist().inv_cdf(probability)
