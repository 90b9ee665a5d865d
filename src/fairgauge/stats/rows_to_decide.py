"""Sample sizes that decide a verdict, and detectable differences.

With more rows of the same composition an interval becomes shorter by the root of their factor, and
its middle approaches the estimate by the factor itself. With fewer it keeps its shape.

A rule passes where the whole interval lies inside its limits and fails where it lies outside; it is
not evaluated where rows or expected counts are too few.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS
from fairgauge.stats._roots import bisect
from fairgauge.stats.arrays import Array, Mask, floats, quiet
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical

Comparison: TypeAlias = Literal["difference", "ratio"]

_MOST_STEPS = 50
_SETTLED = 1e-4
# by how much more is expected, since the count of a rare outcome is skewed
_SKEW = 0.35
_MOST_ROWS = 1e8


@quiet
def detectable_difference(
    p1: ArrayLike, n1: ArrayLike, p2: ArrayLike, n2: ArrayLike, confidence: float = 0.95,
    power: float = 0.8,
) -> Array:  # fmt: skip
    """Return the smallest true difference of rates that a test detects with the given power.

    Of rates and sizes of both groups; an empty group gives inf.

    >>> round(float(detectable_difference(0.3, 290.41, 0.2, 290.41)), 3)
    0.1
    """
    p1, n1, p2, n2 = floats(p1, n1, p2, n2)
    spread = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    known = (n1 > 0) & (n2 > 0)
    z = critical(confidence) + _power_quantile(power)
    return np.where(known, z * np.sqrt(spread), np.inf)


def times_the_rows(
    z: ArrayLike, comparisons: int = 1, confidence: float = 0.95, power: float = 0.8
) -> Array:
    """Return how many times the rows would show an effect, if it is as large as estimated.

    ``z``: how many standard errors the estimate lies from the null, in the direction to be shown;
        it grows with the root of the rows. 0 and below gives inf.
    ``comparisons``: comparisons that are adjusted for, by Bonferroni's level.

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


@quiet
def rows_to_decide(
    estimate: ArrayLike, low: ArrayLike, high: ArrayLike, rows: ArrayLike, lower: ArrayLike,
    upper: ArrayLike, confidence: float = 0.95, power: float = 0.8, *, logarithmic: bool = False,
) -> Array:  # fmt: skip
    """Return how many rows like these would decide a verdict with the wanted probability.

    They are those of an estimate that is the truth; inf where it lies on a limit.

    ``rows``: rows (of both sides together) that the estimate rests on.
    ``lower, upper``: the rule's limits, possibly infinite.
    ``logarithmic``: work on the scale of logarithms, as suits ratios; all numbers are then above 0.

    >>> float(rows_to_decide(0.03, -0.02, 0.08, 1000, -np.inf, 0.06).round())
    5676.0
    """
    arrays = list(floats(estimate, low, high, rows, lower, upper))
    if logarithmic:
        arrays = [a if k == 3 else np.log(a) for k, a in enumerate(arrays)]
    value, low, high, rows, lower, upper = arrays
    z = critical(confidence)
    half, lean = (high - low) / 2, (low + high) / 2 - value
    return _deciding_factor(value, half, lean, lower, upper, z, power) * rows


@quiet
def rows_to_decide_rates(
    p1: ArrayLike, n1: ArrayLike, p2: ArrayLike, n2: ArrayLike, lower: ArrayLike,
    upper: ArrayLike, comparison: Comparison = "difference", confidence: float = 0.95,
    power: float = 0.8,
) -> Array:  # fmt: skip
    """Return how many rows of both groups, like these, would decide a verdict on two rates.

    From rates follows more than from an interval of their difference or ratio: how its length
    changes with them, and how many rows a verdict needs at all.

    ``lower, upper``: limits of ``p1 - p2`` or ``p1 / p2`` (of rates above 0), possibly infinite.

    >>> float(rows_to_decide_rates(0.3, 300, 0.3, 300, -0.05, 0.05).round())
    3503.0
    """
    p1, n1, p2, n2, lower, upper = floats(p1, n1, p2, n2, lower, upper)
    z = critical(confidence)
    if comparison == "difference":
        value, limits = p1 - p2, newcombe(p1 * n1, n1, p2 * n2, n2, z)
    else:
        value = np.log(p1 / p2)
        low, high = mover_wilson_ratio(p1 * n1, n1, p2 * n2, n2, z)
        limits = np.log(low), np.log(high)
        lower, upper = np.log(lower), np.log(upper)
    half, lean = (limits[1] - limits[0]) / 2, (limits[0] + limits[1]) / 2 - value
    pooled = (p1 * n1 + p2 * n2) / (n1 + n2)
    evaluated = partial(_chance_of_enough_rows, rarer=np.minimum(pooled, 1 - pooled), n1=n1, n2=n2)
    return _deciding_factor(value, half, lean, lower, upper, z, power, evaluated) * (n1 + n2)


def _chance_of_enough_rows(times: Array, rarer: Array, n1: Array, n2: Array) -> Array:
    # both the rarer outcome and the size of the smaller group vary from table to table
    from scipy.special import ndtr

    smaller, every = times * np.minimum(n1, n2), times * (n1 + n2)
    of_rate = smaller**2 * rarer * (1 - rarer) / every
    of_size = rarer**2 * smaller * (1 - smaller / every)
    enough = ndtr((smaller * rarer - FEWEST_EXPECTED - _SKEW) / np.sqrt(of_rate + of_size))
    return np.asarray(np.where(smaller >= FEWEST_ROWS, enough, 0.0))


def _deciding_factor(
    value: Array, half: Array, lean: Array, lower: Array, upper: Array, z: float, power: float,
    evaluated: Callable[[Array], ArrayLike] = np.ones_like,
) -> Array:  # fmt: skip
    # by how many times the rows decide with the wanted power; inf on a limit
    from scipy.special import ndtr

    below, above = value < lower, value > upper

    def decided(doublings: Array) -> Mask:
        factor = 2.0**doublings
        root = np.sqrt(factor)
        length, middle = half / root, value + lean / np.maximum(root, factor)
        error = length / z
        low, high = middle - length, middle + length
        passes = ndtr((low - lower) / error) + ndtr((upper - high) / error) - 1
        fails = np.where(below, ndtr((lower - high) / error), 0.0)
        fails = np.where(above, ndtr((low - upper) / error), fails)
        open_ = 1 - np.asarray(evaluated(factor))
        return np.asarray(np.where(below | above, fails, passes) - open_ >= power)

    many = np.full(value.shape, 40.0)
    never = ~decided(many)
    many, _ = bisect(decided, many, -many, halvings=40)
    unknown = np.isnan(value) | np.isnan(half) | np.isnan(lean)
    return np.where(unknown, np.nan, np.where(never, np.inf, 2.0**many))


def rows_for_verdict(
    p1: float, p2: float, lower: float, upper: float, comparison: Comparison = "difference",
    confidence: float = 0.95, power: float = 0.8, *, share: float = 0.5, among: float = 1.0,
) -> float:  # fmt: skip
    """Return the rows of a table with which rates like these are probably decided.

    They pass where their difference or ratio is inside the limits, and fail where it is outside.

    ``share``: the group's share of the rows; all others are the reference.
    ``among``: the share of rows that the rates are counted among.

    >>> rows_for_verdict(0.3, 0.3, -0.05, 0.05)
    3526.0
    """
    if comparison == "ratio" and not min(p1, p2) > 0:
        return math.inf
    sides, rows = (share * among, (1 - share) * among), 1000.0
    for _ in range(_MOST_STEPS):  # the interval is shorter by the root of the rows only near them
        n1, n2 = (rows * side for side in sides)
        found = float(
            rows_to_decide_rates(p1, n1, p2, n2, lower, upper, comparison, confidence, power)
        )
        before, rows = rows, found / among
        if not rows < _MOST_ROWS:
            return math.inf
        if abs(rows - before) < _SETTLED * rows:
            break
    return float(math.ceil(rows))
