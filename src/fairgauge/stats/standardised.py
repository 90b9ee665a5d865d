"""Confidence intervals of standardised differences: of two means, and of two rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.contrasts import welch_degrees
from fairgauge.stats.intervals import critical_t
from fairgauge.stats.squares import tail_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Limits
    from fairgauge.stats.squares import Moments


class Standardised(NamedTuple):
    """A standardised difference, its interval, and the p-value of no difference."""

    value: Array
    low: Array
    high: Array
    p: Array


@quiet
def standardised_difference(
    one: Moments,
    two: Moments,
    rows: tuple[ArrayLike, ArrayLike],
    confidence: float,
    *,
    inside: bool = False,
) -> Standardised:
    """Return the difference of two means over their pooled standard deviation, and its interval.

    By the delta method: the influence on d of a row with the deviation u from the mean of its side
    is ``a u + b (u^2 - v)``, v being the variance of the side. For separate sides a is +-1/s and b
    is -d w / (2 s^2), w being the side's share of all rows and s^2 the pooled variance. The
    variance of d is the sum over the sides of the variance of the influence over their rows;
    Student's t has Welch's degrees of freedom. Neither normality nor equal variances are assumed.

    With ``inside``, the first side is compared with both together: with q its share of them, n its
    rows and N all, ``d = (1 - q)(m1 - m2) / s`` where s^2 pools the first side with all rows, whose
    sum of squares is that within both sides plus ``n (1 - q)(m1 - m2)^2``.

    Parameters
    ----------
    one, two : Moments
        Of the two sides, which share no row.
    rows : pair of array-like
        The effective sample size of each side.
    confidence : float in (0, 1)
    inside : bool
        Whether the reference is both sides together.

    Returns
    -------
    difference : Standardised
        Limits and p are nan where a side has fewer than two rows or no value varies. The interval
        excludes 0 exactly when ``p < 1 - confidence``.

    References
    ----------
    Hedges & Olkin (1985), Statistical Methods for Meta-Analysis, chapter 5, for normal values.

    Examples
    --------
    >>> from fairgauge.stats.squares import central_moments
    >>> sides = [np.arange(10.0), np.arange(3.0, 15.0)]
    >>> moments = [central_moments(len(x), *((x**k).sum() for k in range(1, 5))) for x in sides]
    >>> difference = standardised_difference(*moments, (10, 12), 0.95)
    >>> [round(float(number), 3) for number in difference]
    [-1.191, -2.121, -0.262, 0.015]
    """
    from scipy.special import stdtr

    n, m = floats(*rows)
    total, gap = one.n + two.n, one.mean - two.mean
    share = one.n / total
    if inside:
        between = one.n * (1 - share) * gap**2
        pooled = 2 * one.n * one.second + two.n * two.second + between
        s = np.sqrt(pooled / (one.n + total - 2))
        slope = (1 - share) / s
        value = slope * gap
        weights = 2 * one.n / (one.n + total), two.n / (one.n + total)
        bend = value / s**2 * one.n * (1 - share) / (one.n + total) * gap
    else:
        s = np.sqrt((one.n * one.second + two.n * two.second) / (total - 2))
        slope = 1 / s
        value = slope * gap
        weights = share, 1 - share
        bend = np.zeros_like(value)
    errors = [
        _row_variance(sign * (slope - bend), -value * weight / (2 * s**2), side, of) / (of - 1)
        for sign, weight, side, of in zip((1, -1), weights, (one, two), (n, m), strict=True)
    ]
    error = np.sqrt(errors[0] + errors[1])
    degrees = welch_degrees(errors[0] * n, n, errors[1] * m, m)
    known = (np.minimum(n, m) > 1) & (error > 0)
    half = np.where(known, critical_t(confidence, degrees) * error, np.nan)
    p = np.where(known, 2 * stdtr(degrees, -np.abs(value) / error), np.nan)
    return Standardised(value, value - half, value + half, p)


@quiet
def difference_in_overall_deviations(
    rates: Array, limits: Limits, shares: Array, contrast: Array
) -> Limits:
    """Return limits of ``D / s``: a contrast of rates over the standard deviation of all rows.

    All rows fall into K parts that share none, with the rates ``p_k``. ``D = sum a_k p_k`` is the
    contrast, ``p = sum w_k p_k`` the rate of all rows, and ``s = sqrt(p (1 - p))``. By MOVER for a
    linear combination, with the slopes of ``D / s`` as coefficients,
    ``c_k = a_k / s - D (1 - 2 p) w_k / (2 s^3)``: the distance of a limit is the root of the summed
    squares of ``c_k`` times the distances of the limits of the rates. Unlike the delta method's
    intervals, these hold where a rate is near 0 or 1.

    Parameters
    ----------
    rates : array of shape (K, n)
    limits : pair of arrays of shape (K, n)
        Of the rates.
    shares : array of shape (K, n)
        ``w_k``, the share of every part in all rows.
    contrast : array of shape (K, n)
        ``a_k``.

    Returns
    -------
    low, high : array of shape (n,)
        nan where all rows have the same outcome.

    References
    ----------
    Zou, Huang & Zhang (2009), Computational Statistics & Data Analysis 53, 1080-1085, for linear
    combinations of rates.

    Examples
    --------
    >>> from fairgauge.stats.intervals import wilson
    >>> x, n = np.array([[12.0], [48.0]]), np.array([[40.0], [80.0]])
    >>> limits = wilson(x, n, 1.959964)
    >>> contrast = np.array([[1.0], [-1.0]])
    >>> low, high = difference_in_overall_deviations(x / n, limits, n / n.sum(), contrast)
    >>> [round(float(end[0]), 3) for end in (low, high)]
    [-0.912, -0.222]
    """
    overall = (shares * rates).sum(axis=0)
    variance = overall * (1 - overall)
    spread = np.sqrt(variance)
    value = (contrast * rates).sum(axis=0) / spread
    slopes = (contrast - value * (1 - 2 * overall) / (2 * spread) * shares) / spread
    below, above = rates - limits[0], limits[1] - rates
    down = slopes * np.where(slopes > 0, below, above)
    up = slopes * np.where(slopes > 0, above, below)
    low, high = (np.sqrt((each**2).sum(axis=0)) for each in (down, up))
    known = variance > 0
    return np.where(known, value - low, np.nan), np.where(known, value + high, np.nan)


def _row_variance(linear: Array, square: Array, side: Moments, rows: Array) -> Array:
    """Return the variance of ``linear u + square (u^2 - v)`` over the rows of a side."""
    squares = side.second**2 * (tail_weight(side.second, side.fourth, rows) - 1)
    squares = np.where(side.second > 0, squares, 0.0)
    variance = linear**2 * side.second + 2 * linear * square * side.third + square**2 * squares
    return np.asarray(np.maximum(variance, 0.0))
