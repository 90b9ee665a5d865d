"""How many rows would decide an open verdict, from its estimate, and what the data leave open.

With more rows of the same composition an interval becomes shorter by the root of their factor, and
its middle approaches the estimate by the factor itself. With fewer it keeps its shape.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.verdict_power import FEWEST_EXPECTED, FEWEST_ROWS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fairgauge.stats.power import Comparison

PLAUSIBLE = 0.85
"""The level of the joint region of what an estimate leaves open: of both rates, or of a value and
its standard error. More than the 80 % that are promised, because verdicts are open in some samples
alone, and a range at that level would hold the number in fewer of these."""


def _region(directions: int, circles: int) -> tuple[Array, Array]:
    """Return points of a disc that holds two independent normal numbers at the level `PLAUSIBLE`.

    The centre stands first.
    """
    angle = np.arange(directions) * 2 * np.pi / directions
    radius = math.sqrt(-2 * math.log(1 - PLAUSIBLE)) * np.arange(1, circles + 1) / circles
    at = np.outer(radius, np.stack([np.cos(angle), np.sin(angle)])).reshape(circles, 2, directions)
    x, y = at.swapaxes(0, 1).reshape(2, -1)
    return np.append(0.0, x), np.append(0.0, y)


_REGION = _region(32, 5)


class RowsToDecide(NamedTuple):
    """Rows that would decide a verdict, with the range that the estimate leaves open.

    Attributes
    ----------
    rows : array
        If the estimate is the truth; inf where it lies on a limit.
    fewest, most : array
        For whatever the data leave plausible (`PLAUSIBLE`); ``most`` is inf where a limit is.
    """

    rows: Array
    fewest: Array
    most: Array


@quiet
def rows_to_decide(
    estimate: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    rows: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    confidence: float = 0.95,
    power: float = 0.8,
    *,
    logarithmic: bool = False,
) -> RowsToDecide:
    """Return how many rows like these would decide a verdict with the wanted probability.

    Parameters
    ----------
    estimate, low, high : array-like
        An estimate with its confidence interval.
    rows : array-like, > 0
        Rows (of both sides together) that it rests on.
    lower, upper : array-like
        The rule's limits, possibly infinite.
    confidence, power : float in (0, 1)
    logarithmic : bool
        Work on the scale of logarithms, as suits ratios; all numbers are then above 0.

    Returns
    -------
    needed : RowsToDecide
        The estimate's own error is large where a verdict is open: state the range with the number.

    Examples
    --------
    >>> found = rows_to_decide(0.03, -0.02, 0.08, 1000, -np.inf, 0.06)
    >>> [float(np.round(each)) for each in found]
    [5676.0, 804.0, inf]
    """
    arrays = list(floats(estimate, low, high, rows, lower, upper))
    if logarithmic:
        arrays = [a if k == 3 else np.log(a) for k, a in enumerate(arrays)]
    value, low, high, rows, lower, upper = arrays
    z = critical(confidence)
    x, y = (each.reshape(-1, *[1] * value.ndim) for each in _REGION)
    values = value + x * np.where(x > 0, high - value, value - low) / z
    half = (high - low) / 2 * np.exp(y / np.sqrt(2 * rows))  # as of normal observations
    lean = (low + high) / 2 - value
    return _open_range(values, half, lean, rows, lower, upper, z, power)


@quiet
def rows_to_decide_rates(
    p1: ArrayLike,
    n1: ArrayLike,
    p2: ArrayLike,
    n2: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    comparison: Comparison = "difference",
    confidence: float = 0.95,
    power: float = 0.8,
) -> RowsToDecide:
    """Return how many rows like these would decide a verdict on two rates.

    From rates follows more than from an interval of their difference or ratio: how its length
    changes with them, and how many rows a verdict needs at all.

    Parameters
    ----------
    p1, n1, p2, n2 : array-like
        Rates and (effective) rows of the first and the second group.
    lower, upper : array-like
        Limits of ``p1 - p2`` or ``p1 / p2``, possibly infinite.
    comparison : {"difference", "ratio"}
        Ratios are of rates above 0.
    confidence, power : float in (0, 1)

    Returns
    -------
    needed : RowsToDecide
        Rows of both groups together, of which each has its share of these.

    Examples
    --------
    >>> found = rows_to_decide_rates(0.3, 300, 0.3, 300, -0.05, 0.05)
    >>> [float(np.round(each)) for each in found]
    [3503.0, 3256.0, inf]
    """
    p1, n1, p2, n2, lower, upper = floats(p1, n1, p2, n2, lower, upper)
    z = critical(confidence)
    first, second = (_moved(p, n, by) for p, n, by in zip((p1, p2), (n1, n2), _REGION, strict=True))
    if comparison == "difference":
        value, limits = first - second, newcombe(first * n1, n1, second * n2, n2, z)
    else:
        value = np.log(first / second)
        low, high = mover_wilson_ratio(first * n1, n1, second * n2, n2, z)
        limits = np.log(low), np.log(high)
        lower, upper = np.log(lower), np.log(upper)
    half, lean = (limits[1] - limits[0]) / 2, (limits[0] + limits[1]) / 2 - value
    pooled = (first * n1 + second * n2) / (n1 + n2)
    evaluated = _until_evaluated(np.minimum(pooled, 1 - pooled), n1, n2, power)
    return _open_range(value, half, lean, n1 + n2, lower, upper, z, power, evaluated)


def _until_evaluated(rarer: Array, n1: Array, n2: Array, power: float) -> Array:
    """Return by how many times the rows the rarer outcome is frequent enough for a verdict.

    With the wanted probability: its count over both groups varies by the root of what is expected.
    """
    smaller, share = np.minimum(n1, n2), np.minimum(n1, n2) / (n1 + n2)
    noise = NormalDist().inv_cdf(power) * share * np.sqrt((n1 + n2) * rarer)
    expected = smaller * rarer
    root = (noise + np.sqrt(noise**2 + 4 * expected * FEWEST_EXPECTED)) / (2 * expected)
    return np.asarray(np.maximum(FEWEST_ROWS / smaller, root**2))


def _moved(p: Array, n: Array, by: Array) -> Array:
    """Return a rate moved by standard errors of what it would then be (Wilson's limits)."""
    by = by.reshape(-1, *[1] * p.ndim)
    low, high = wilson(p * n, n, np.abs(by))
    return np.where(by == 0, p, np.where(by > 0, high, low))


def _open_range(
    value: Array,
    half: Array,
    lean: Array,
    rows: Array,
    lower: Array,
    upper: Array,
    z: float,
    power: float,
    least: ArrayLike = 0.0,
) -> RowsToDecide:
    """Return the rows for plausible values along the first axis, of which the first is estimated.

    ``half`` is half the length of the interval, ``lean`` how far its middle is from the value;
    ``least`` is the least factor of the rows.
    """
    factor = _factor(value, half, lean, lower, upper, z, power)
    needed = np.maximum(factor, least) * rows  # unknown stays unknown
    inside = (value >= lower) & (value <= upper)
    crossed = inside.any(axis=0) & ~inside.all(axis=0)
    most = np.where(crossed, np.inf, np.fmax.reduce(needed))
    return RowsToDecide(needed[0], np.fmin.reduce(needed), most)


def _factor(
    value: Array, half: Array, lean: Array, lower: Array, upper: Array, z: float, power: float
) -> Array:
    """Return by how many times the rows decide with the wanted power; inf on a limit."""
    from scipy.special import ndtr

    below, above = value < lower, value > upper

    def decided(doublings: Array) -> NDArray[np.bool_]:
        factor = 2.0**doublings
        root = np.sqrt(factor)
        length, middle = half / root, value + lean / np.maximum(root, factor)
        error = length / z
        low, high = middle - length, middle + length
        passes = ndtr((low - lower) / error) + ndtr((upper - high) / error) - 1
        fails = np.where(below, ndtr((lower - high) / error), 0.0)
        fails = np.where(above, ndtr((low - upper) / error), fails)
        return np.asarray(np.where(below | above, fails, passes) >= power)

    few, many = np.full(value.shape, -40.0), np.full(value.shape, 40.0)
    never = ~decided(many)
    for _ in range(40):
        doublings = (few + many) / 2
        enough = decided(doublings)
        few, many = np.where(enough, few, doublings), np.where(enough, doublings, many)
    unknown = np.isnan(value) | np.isnan(half) | np.isnan(lean)
    return np.where(unknown, np.nan, np.where(never, np.inf, 2.0**many))
