"""How far a norm of two distributions, or a sum of absolute values, may be off.

The distance moves by no more than the difference of the two distributions does, so that it, less
and plus the quantile of ``||d* - d||`` over resampled differences, is an interval. A category that
no row of the sample has never varies in the plain bootstrap, and one with a single row varies too
little: with many such categories the ball is too small. Half a row added to every category, in the
tables that are drawn from, makes up for it.

A sum of absolute differences is positive under no difference too. It moves by no more than the
differences do, ``| |d1*| + |d2*| - |d1| - |d2| | <= |d1* - d1| + |d2* - d2|``, so that it, less and
plus the quantile of the latter, is an interval, and calibrated where there is no difference.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import falling_root
from fairgauge.stats.arrays import Array, floats, quiet, quotient, sum_of_cells
from fairgauge.stats.intervals import tail_of
from fairgauge.stats.resampling import multinomial_cells

Norm: TypeAlias = Literal["tvd", "ks", "lp"]

_ADDED = 0.5
_FURTHEST = 9.0
"""Standard errors beyond which nothing is: no level below 1 is so high."""


def norm_errors(
    a: ArrayLike, d: ArrayLike, kind: Norm, rng: np.random.Generator, replicates: int = 2000
) -> Array:
    """Draw by how much, at most, a norm of the difference of two distributions is off.

    Parameters
    ----------
    a, d : array-like of shape (..., K)
        Rows of both groups in each category; a category without rows in either takes no part.
    kind : {"tvd", "ks", "lp"}
        As for `norm`.

    Returns
    -------
    errors : array of shape (replicates, ...)
        nan where a group is empty.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 6.5 (the parametric one);
    Jeffreys (1946), Proceedings of the Royal Society A 186, 453-461 (half a row).

    Examples
    --------
    >>> many = [30, 8, 3, 1, 1, 0, 0, 1, 0, 0], [90, 30, 15, 9, 6, 4, 3, 1, 1, 1]
    >>> errors = norm_errors(*many, "tvd", np.random.default_rng(0))
    >>> round(float(np.quantile(errors, 0.95)), 2)
    0.22
    """
    first, second = floats(a, d)
    seen = first + second > 0
    moved = [_moved(side, seen, replicates, rng) for side in (first, second)]
    empty = (first.sum(axis=-1) <= 0) | (second.sum(axis=-1) <= 0)
    return np.where(empty, np.nan, norm(moved[0] - moved[1], kind))


def ball(errors: Array, value: ArrayLike, confidence: float) -> tuple[Array, Array]:
    """Return the radius of the interval around a distance, and the p-value of no distance.

    Parameters
    ----------
    errors : array of shape (draws, ...)
        By how much, at most, the distance is off in each draw.
    value : array-like of shape (...)
        The distance.

    Returns
    -------
    radius, p : array of shape (...)
        ``p < 1 - confidence`` exactly where ``value > radius``; nan where an error is.

    Examples
    --------
    >>> radius, p = ball(np.arange(1.0, 1000.0), 960.0, 0.95)
    >>> float(radius), round(float(p), 3)
    (951.0, 0.041)
    """
    draws, level = len(errors), 2 * tail_of(confidence)
    (distance,) = floats(value)
    p = (1 + (errors >= distance).sum(axis=0)) / (draws + 1)
    beyond = math.ceil(round(level * (draws + 1), 6)) - 2  # errors beyond the radius
    radius = np.sort(errors, axis=0)[draws - 1 - beyond] if beyond >= 0 else np.inf
    known = ~np.isnan(errors).any(axis=0) & ~np.isnan(distance)
    return np.where(known, radius, np.nan), np.where(known, p, np.nan)


def norm(gaps: Array, kind: Norm) -> Array:
    """Return a norm of differences of category shares, along the last axis.

    Parameters
    ----------
    gaps : array of shape (..., K)
    kind : {"tvd", "ks", "lp"}
        Half the sum of the absolute values, the largest of them, the root of the sum of squares.

    Examples
    --------
    >>> gaps = np.array([0.3, -0.3, 0.0])
    >>> float(norm(gaps, "tvd")), float(norm(gaps, "ks")), round(float(norm(gaps, "lp")), 4)
    (0.3, 0.3, 0.4243)
    """
    if kind == "lp":
        return np.asarray(np.sqrt(sum_of_cells(gaps**2)))
    sizes = np.abs(gaps)
    return np.asarray(sizes.max(axis=-1) if kind == "ks" else sum_of_cells(sizes) / 2)


def _moved(counts: Array, seen: np.ndarray, replicates: int, rng: np.random.Generator) -> Array:
    rows = counts.sum(axis=-1, keepdims=True)
    raised = counts + _ADDED * seen
    raised = raised * quotient(rows, raised.sum(axis=-1, keepdims=True))
    drawn = multinomial_cells(np.nan_to_num(raised), replicates, rng)
    return np.asarray(quotient(drawn - raised, rows))


@quiet
def absolute_sum_tail(value: ArrayLike, first: ArrayLike, second: ArrayLike) -> Array:
    """Return the probability that ``first |Z1| + second |Z2|`` exceeds a value.

    It is that of lying outside a rhombus, each side of which is two of Owen's wedges.

    Parameters
    ----------
    value : array-like, >= 0
    first, second : array-like, >= 0
        Standard errors; Z1 and Z2 are independent standard normal.

    References
    ----------
    Owen (1956), Annals of Mathematical Statistics 27, 1075-1090.

    Examples
    --------
    >>> absolute_sum_tail([1.959964, 3.16235], [1, 1], [0, 1]).round(4).tolist()
    [0.05, 0.05]
    """
    from scipy.special import owens_t

    value, one, two = floats(value, first, second)
    distance = np.where(value > 0, value / np.hypot(one, two), 0.0)
    slope = np.where(one == two, 1.0, one / two)  # also of two that are 0
    return np.asarray(4 * (owens_t(distance, slope) + owens_t(distance, 1 / slope)))


@quiet
def absolute_sum_quantile(first: ArrayLike, second: ArrayLike, confidence: float) -> Array:
    """Return the quantile of ``first |Z1| + second |Z2|``.

    Examples
    --------
    >>> absolute_sum_quantile([1, 1, 3], [0, 1, 4], 0.95).round(3).tolist()
    [1.96, 3.163, 11.148]
    """
    one, two = floats(first, second)
    large, small = np.maximum(one, two), np.minimum(one, two)
    tail, unit = 2 * tail_of(confidence), np.ones_like(large)
    ratio = np.nan_to_num(quotient(small, large))
    above = falling_root(
        lambda x: absolute_sum_tail(x, unit, ratio) - tail, 0 * unit, 2 * _FURTHEST * unit
    )
    return np.asarray(large * above)
