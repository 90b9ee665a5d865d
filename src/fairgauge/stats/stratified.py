"""Weighted differences and ratios of two rates over strata, also with many sparse strata.

Strata lie along the last axis; a stratum of weight 0 is excluded.

The conditional demographic disparity of a stratum is a difference of two rates, the group's share
of the rejected less its share of the accepted, so that the weighted sum is a pooled difference of
rates over strata. There is no prior that could outweigh the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, floats, quiet, quotient
from fairgauge.stats.significance import two_sided


class Stratified(NamedTuple):
    """The interval of a pooled contrast, and the p-value at which it touches no difference."""

    low: Array
    high: Array
    p: Array


@quiet
def stratified_difference(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, weights: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of ``sum w (x1/n1 - x2/n2)``, assuming a common difference.

    Sato's variance is linear in the difference and unbiased in every stratum, so that it is valid
    for many sparse strata; inverting the score (Klingenberg) makes it valid for rare outcomes.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like of shape (..., S)
        Successes and trials of both groups in every stratum.
    weights : array-like of shape (..., S), >= 0
        Mantel and Haenszel's, ``n1 n2 / (n1 + n2)`` over their sum, for their risk difference.

    Returns
    -------
    limits : Stratified
        Arrays of shape (...).

    References
    ----------
    Sato (1989), Biometrics 45, 1323-1324; Klingenberg (2014), Statistics in Medicine 33, 2968-2983.

    Examples
    --------
    >>> weights = [0.5, 0.5]
    >>> low, high, p = stratified_difference([30, 40], 100, [50, 60], 100, weights, 1.959964)
    >>> round(float(low), 4), round(float(high), 4), round(float(p), 6)
    (-0.2931, -0.103, 7.5e-05)
    """
    x1, n1, x2, n2, w = floats(x1, n1, x2, n2, weights)
    n = n1 + n2
    slope = (n1**2 * x2 - n2**2 * x1 + n1 * n2 * (n2 - n1) / 2) / n**2
    level = (x1 * (n2 - x2) + x2 * (n1 - x1)) / (2 * n)
    gap = _sum(w, x1 / n1 - x2 / n2)
    factor = (w * n / (n1 * n2)) ** 2
    steepness = _sum(factor, slope) / w.sum(-1)
    variance = _sum(factor, level)
    z = np.asarray(z, dtype=np.float64)
    centre = gap + z**2 * steepness / 2
    half = np.sqrt(np.maximum(centre**2 - gap**2 + z**2 * variance, 0.0))
    most = w.sum(-1)  # of few rows the variance is linear beyond the differences that there may be
    low, high = np.maximum(centre - half, -most), np.minimum(centre + half, most)
    return Stratified(np.asarray(low), np.asarray(high), _p(gap, variance))


@quiet
def stratified_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, weights: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of ``sum w x1/n1`` over ``sum w x2/n2``, assuming a common ratio.

    Greenland and Robins's variance of the difference ``sum w (p1 - r p2)``, inverted in r.

    Parameters
    ----------
    x1, n1, x2, n2, weights, z
        As for `stratified_difference`.

    Returns
    -------
    limits : Stratified
        Arrays of shape (...); 0 and inf where group 1 and group 2 have no successes.

    References
    ----------
    Greenland & Robins (1985), Biometrics 41, 55-68; Sato (1990), Biometrics 46, 71-80.

    Examples
    --------
    >>> weights = [0.5, 0.5]
    >>> low, high, p = stratified_ratio([30, 40], 100, [50, 60], 100, weights, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.508, 0.797)
    """
    x1, n1, x2, n2, w = floats(x1, n1, x2, n2, weights)
    n = n1 + n2
    over, under = _sum(w, x1 / n1), _sum(w, x2 / n2)
    spread = (n1 * n2 * (x1 + x2) - x1 * x2 * n) / n**2
    variance = _sum((w * n / (n1 * n2)) ** 2, spread)
    z = np.asarray(z, dtype=np.float64)
    middle = over * under + z**2 * variance / 2
    root = np.sqrt(np.maximum(middle**2 - (over * under) ** 2, 0.0))
    low = np.where(over == 0, 0.0, over**2 / (middle + root))
    high = np.where(under == 0, np.inf, (middle + root) / under**2)
    return Stratified(low, high, _p(over - under, variance))


@quiet
def mantel_haenszel_odds_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of Mantel and Haenszel's common odds ratio over strata.

    Robins, Breslow and Greenland's variance of its logarithm is consistent both for few large and
    for many sparse strata.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like of shape (..., S)
        Successes and trials of both groups in every stratum; a stratum without trials on a side is
        excluded.

    Returns
    -------
    limits : Stratified
        Arrays of shape (...); nan where the odds ratio is 0, infinite or undefined.

    References
    ----------
    Mantel & Haenszel (1959), Journal of the National Cancer Institute 22, 719-748; Robins, Breslow
    & Greenland (1986), Biometrics 42, 311-323.

    Examples
    --------
    >>> low, high, p = mantel_haenszel_odds_ratio([30, 40], 100, [50, 60], 100, 1.959964)
    >>> round(float(low), 3), round(float(high), 3), round(float(p), 6)
    (0.291, 0.655, 6.1e-05)
    """
    a, n, c, m = floats(x1, n1, x2, n2)
    b, d, total = n - a, m - c, n + m
    used = ((n > 0) & (m > 0)).astype(np.float64)
    agree, differ = (a + d) / total, (b + c) / total
    over, under = a * d / total, b * c / total
    top, bottom = _sum(used, over), _sum(used, under)
    variance = (
        _sum(used, agree * over) / (2 * top**2)
        + _sum(used, agree * under + differ * over) / (2 * top * bottom)
        + _sum(used, differ * under) / (2 * bottom**2)
    )
    log_ratio = np.log(top / bottom)
    half = np.asarray(z, dtype=np.float64) * np.sqrt(variance)
    return Stratified(
        np.asarray(np.exp(log_ratio - half)),
        np.asarray(np.exp(log_ratio + half)),
        _p(log_ratio, variance),
    )


def _sum(weights: Array, values: Array) -> Array:
    return np.asarray(np.where(weights > 0, weights * values, 0.0).sum(-1))


def _p(gap: Array, variance: Array) -> Array:
    z = np.where(gap == 0, 0.0, np.abs(gap) / np.sqrt(variance))
    return two_sided(np.minimum(z, 37.0))


def conditional_disparity(group: ArrayLike, others: ArrayLike, z: ArrayLike) -> Stratified:
    """Limits of the group's share of the rejected less its share of the accepted, over strata.

    Parameters
    ----------
    group, others : array-like of shape (..., S, 2)
        Accepted and rejected rows of the group, and of all others, in every stratum. A stratum
        without accepted or without rejected rows takes no part, as in the statistic.

    Returns
    -------
    limits : Stratified
        Arrays of shape (...); nan where no stratum takes part. The p-value is that of no disparity
        in any stratum.

    References
    ----------
    Wachter, Mittelstadt & Russell (2021), Computer Law & Security Review 41, 105567 (the
    statistic); Sato (1989), Biometrics 45, 1323-1324; Klingenberg (2014), Statistics in Medicine
    33, 2968-2983 (the interval).

    Examples
    --------
    >>> low, high, p = conditional_disparity([[20, 30], [10, 40]], [[40, 30], [60, 60]], 1.959964)
    >>> round(float(low), 4), round(float(high), 4), round(float(p), 4)
    (0.1123, 0.3199, 0.0001)
    """
    ours, theirs = floats(group, others)
    both = ours + theirs
    part = (both > 0).all(axis=-1)
    rows = np.where(part, both.sum(-1), 0.0)
    weights = quotient(rows, rows.sum(-1, keepdims=True))
    limits = stratified_difference(
        ours[..., 1], both[..., 1], ours[..., 0], both[..., 0], weights, z
    )
    known = part.any(axis=-1)
    return Stratified(*(np.where(known, each, np.nan) for each in limits))
