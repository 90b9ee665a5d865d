"""Confidence limits of a standardised difference of two means (Cohen's d), whatever is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.contrasts import welch_degrees
from fairgauge.stats.intervals import critical_t
from fairgauge.stats.squares import tail_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.squares import Moments


class Standardised(NamedTuple):
    """A standardised difference, its limits, and the p-value of "no difference"."""

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
    """Return the difference of two means over their pooled standard deviation, and its limits.

    A row of a side, u off its mean, moves the difference d by ``a u + b (u^2 - v)``, v being the
    variance of the side: its mean is moved by u, the pooled variance s^2 by a share w of u^2 - v.
    Of separate sides a is +-1/s and b is -d w / (2 s^2), w the side's share of all rows. The
    variance of d is the sum over the sides of the variance of that over their rows, and Student's t
    has Welch's degrees of freedom. Nothing is taken to be normal, nor the spreads to be equal.

    With ``inside``, the first side is compared with both together: with q its share of them, n its
    rows and N all, ``d = (1 - q)(m1 - m2) / s`` where s^2 pools the first side with all, whose
    squares hold ``n (1 - q)(m1 - m2)^2`` beside those inside the two.

    Parameters
    ----------
    one, two : Moments
        Of the two sides, which share no row.
    rows : pair of array-like
        The rows that each side is worth.
    confidence : float in (0, 1)
    inside : bool

    Returns
    -------
    found : Standardised
        Limits and p are nan where a side has fewer than two rows or nothing varies. The interval
        excludes 0 exactly when ``p < 1 - confidence``.

    References
    ----------
    Hedges & Olkin (1985), Statistical Methods for Meta-Analysis, chapter 5, for normal values.

    Examples
    --------
    >>> from fairgauge.stats.squares import central_moments
    >>> sides = [np.arange(10.0), np.arange(3.0, 15.0)]
    >>> moments = [central_moments(len(x), *((x**k).sum() for k in range(1, 5))) for x in sides]
    >>> found = standardised_difference(*moments, (10, 12), 0.95)
    >>> [round(float(each), 3) for each in found]
    [-1.191, -2.121, -0.262, 0.015]
    """
    from scipy.special import stdtr

    n, m = floats(*rows)
    every, gap = one.n + two.n, one.mean - two.mean
    share = one.n / every
    if inside:
        between = one.n * (1 - share) * gap**2
        pooled = 2 * one.n * one.second + two.n * two.second + between
        s = np.sqrt(pooled / (one.n + every - 2))
        far = (1 - share) / s
        value = far * gap
        weights = 2 * one.n / (one.n + every), two.n / (one.n + every)
        bend = value / s**2 * one.n * (1 - share) / (one.n + every) * gap
    else:
        s = np.sqrt((one.n * one.second + two.n * two.second) / (every - 2))
        far = 1 / s
        value = far * gap
        weights = share, 1 - share
        bend = np.zeros_like(value)
    errors = [
        _variance(sign * (far - bend), -value * weight / (2 * s**2), side, of) / (of - 1)
        for sign, weight, side, of in zip((1, -1), weights, (one, two), (n, m), strict=True)
    ]
    error = np.sqrt(errors[0] + errors[1])
    degrees = welch_degrees(errors[0] * n, n, errors[1] * m, m)
    known = (np.minimum(n, m) > 1) & (error > 0)
    half = np.where(known, critical_t(confidence, degrees) * error, np.nan)
    p = np.where(known, 2 * stdtr(degrees, -np.abs(value) / error), np.nan)
    return Standardised(value, value - half, value + half, p)


def _variance(linear: Array, square: Array, side: Moments, rows: Array) -> Array:
    """Return the variance of ``linear u + square (u^2 - v)`` over the rows of a side."""
    squares = side.second**2 * (tail_weight(side.second, side.fourth, rows) - 1)
    squares = np.where(side.second > 0, squares, 0.0)
    found = linear**2 * side.second + 2 * linear * square * side.third + square**2 * squares
    return np.asarray(np.maximum(found, 0.0))
