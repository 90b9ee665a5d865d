"""Sample sizes, detectable differences, and how likely a verdict is, exactly or from an estimate.

With more rows of the same composition an interval becomes shorter by the root of their factor, and
its middle approaches the estimate by the factor itself. With fewer it keeps its shape.

A rule passes where the whole interval lies inside its limits and fails where it lies outside; it is
not evaluated where rows or expected counts are too few. Normal formulas forget the last, and are
far off for rates near 0 and 1, so the probabilities here sum over the tables themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS
from fairgauge.stats.arrays import Array, Mask, floats, quiet
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical

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
) -> Array:
    """Return how many rows like these would decide a verdict with the wanted probability.

    They are those of an estimate that is the truth; inf where it lies on a limit.

    Parameters
    ----------
    estimate, low, high : array-like
        An estimate with its confidence interval.
    rows : array-like, > 0
        Rows (of both sides together) that it rests on.
    lower, upper : array-like
        The rule's limits, possibly infinite.
    logarithmic : bool
        Work on the scale of logarithms, as suits ratios; all numbers are then above 0.

    Examples
    --------
    >>> float(rows_to_decide(0.03, -0.02, 0.08, 1000, -np.inf, 0.06).round())
    5676.0
    """
    arrays = list(floats(estimate, low, high, rows, lower, upper))
    if logarithmic:
        arrays = [a if k == 3 else np.log(a) for k, a in enumerate(arrays)]
    value, low, high, rows, lower, upper = arrays
    z = critical(confidence)
    half, lean = (high - low) / 2, (low + high) / 2 - value
    return _factor(value, half, lean, lower, upper, z, power) * rows


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
) -> Array:
    """Return how many rows of both groups, like these, would decide a verdict on two rates.

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

    Examples
    --------
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
    evaluated = _until_evaluated(np.minimum(pooled, 1 - pooled), n1, n2, power)
    factor = _factor(value, half, lean, lower, upper, z, power)
    return np.asarray(np.maximum(factor, evaluated) * (n1 + n2))  # unknown stays unknown


def _until_evaluated(rarer: Array, n1: Array, n2: Array, power: float) -> Array:
    """Return by how many times the rows the rarer outcome is frequent enough for a verdict.

    With the wanted probability: its count over both groups varies by the root of what is expected.
    """
    smaller, share = np.minimum(n1, n2), np.minimum(n1, n2) / (n1 + n2)
    noise = NormalDist().inv_cdf(power) * share * np.sqrt((n1 + n2) * rarer)
    expected = smaller * rarer
    root = (noise + np.sqrt(noise**2 + 4 * expected * FEWEST_EXPECTED)) / (2 * expected)
    return np.asarray(np.maximum(FEWEST_ROWS / smaller, root**2))


def _factor(
    value: Array, half: Array, lean: Array, lower: Array, upper: Array, z: float, power: float
) -> Array:
    """Return by how many times the rows decide with the wanted power; inf on a limit."""
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
        return np.asarray(np.where(below | above, fails, passes) >= power)

    few, many = np.full(value.shape, -40.0), np.full(value.shape, 40.0)
    never = ~decided(many)
    for _ in range(40):
        doublings = (few + many) / 2
        enough = decided(doublings)
        few, many = np.where(enough, few, doublings), np.where(enough, doublings, many)
    unknown = np.isnan(value) | np.isnan(half) | np.isnan(lean)
    return np.where(unknown, np.nan, np.where(never, np.inf, 2.0**many))


Goal: TypeAlias = Literal["pass", "fail"]

_MOST_POINTS = 101
_REACH = 7.0
_MOST_ROWS = 10**8
_NODES = tuple((NormalDist().inv_cdf((k + 0.5) / 6), 1 / 6) for k in range(6))
"""Sizes in standard deviations off the expected one, as likely as each other."""
_LATER = (1.01, 1.02, 1.05, 1.1)
"""Sizes at which the power must hold too: it rises in small steps up and down."""


class VerdictPower(NamedTuple):
    """The probabilities of the verdicts; they sum to 1."""

    passes: float
    fails: float
    inconclusive: float
    not_evaluated: float


def verdict_power(
    p1: float,
    n1: float,
    p2: float,
    n2: float,
    lower: float,
    upper: float,
    comparison: Comparison = "difference",
    confidence: float = 0.95,
) -> VerdictPower:
    """Return the probabilities of the verdicts on ``p1 - p2`` or ``p1 / p2``.

    Parameters
    ----------
    p1, p2 : float in [0, 1]
        True rates of the group and of the reference.
    n1, n2 : float, >= 0
        Their rows, rounded to whole numbers.
    lower, upper : float
        The rule's limits, possibly infinite.
    comparison : {"difference", "ratio"}

    Returns
    -------
    power : VerdictPower
        Exact up to 100 rows; above, outcomes are grouped into 101 of equal width.

    Examples
    --------
    A ratio of at least 0.8, where 17 rows of either group never are evaluated:

    >>> verdict_power(0.95, 17, 0.95, 17, 0.8, np.inf, "ratio").not_evaluated
    1.0
    >>> round(verdict_power(0.95, 150, 0.95, 150, 0.8, np.inf, "ratio").passes, 3)
    0.888
    """
    n1, n2 = round(n1), round(n2)
    if min(n1, n2) < FEWEST_ROWS:
        return VerdictPower(0.0, 0.0, 0.0, 1.0)
    (x1, weight1), (x2, weight2) = binomial_outcomes(p1, n1), binomial_outcomes(p2, n2)
    x1, x2 = x1[:, None], x2[None, :]
    limits = newcombe if comparison == "difference" else mover_wilson_ratio
    low, high = limits(x1, n1, x2, n2, critical(confidence))
    pooled = (x1 + x2) / (n1 + n2)
    evaluated = min(n1, n2) * np.minimum(pooled, 1 - pooled) >= FEWEST_EXPECTED
    inside, outside = (low >= lower) & (high <= upper), (high < lower) | (low > upper)

    def probability(verdict: np.ndarray) -> float:
        return float(np.clip(weight1 @ verdict @ weight2, 0.0, 1.0))

    passes, fails = probability(evaluated & inside), probability(evaluated & outside)
    known = probability(evaluated)
    return VerdictPower(passes, fails, max(known - passes - fails, 0.0), 1 - known)


@lru_cache(maxsize=256)
def rows_for_verdict(
    p1: float,
    p2: float,
    lower: float,
    upper: float,
    goal: Goal,
    comparison: Comparison = "difference",
    confidence: float = 0.95,
    power: float = 0.8,
    *,
    share: float = 0.5,
    among: float = 1.0,
) -> float:
    """Return the rows of a table with which a verdict is reached with the wanted probability.

    Rows are sampled: how many of them are of the group, and count for the rate, varies too.

    Parameters
    ----------
    p1, p2, lower, upper, comparison, confidence
        As for `verdict_power`.
    goal : {"pass", "fail"}
        The wanted verdict.
    share : float in (0, 1)
        The group's share of the rows; all others are the reference.
    among : float in (0, 1]
        The share of rows that the rates are counted among.

    Returns
    -------
    rows : float
        A whole number from which on the power holds. inf where the true difference or ratio is not
        inside (outside) the limits, or 1e8 rows do not suffice.

    Examples
    --------
    >>> rows_for_verdict(0.3, 0.3, -0.05, 0.05, "pass")
    3540.0
    >>> rows_for_verdict(0.95, 0.95, 0.8, np.inf, "pass", "ratio")
    272.0
    """
    if not _possible(p1, p2, lower, upper, goal, comparison):
        return math.inf
    rates = (p1, p2, lower, upper, comparison, confidence)

    def reached(rows: int) -> bool:
        return _sampled_power(rows, (share * among, (1 - share) * among), rates, goal) >= power

    return rows_from_which(reached, 2 * FEWEST_ROWS)


def rows_from_which(reached: Callable[[int], bool], many: int) -> float:
    """Return the rows from which on a power is reached, which rises in small steps up and down.

    ``many`` are the first rows that are tried; inf where 1e8 rows do not suffice.
    """
    known = cache(reached)

    def settled(rows: int) -> bool:
        return known(rows) and all(known(math.ceil(rows * later)) for later in _LATER)

    few = 1
    while not settled(many):
        few, many = many, 2 * many
        if many > _MOST_ROWS:
            return math.inf
    while many - few > max(1, many // 500):
        middle = (few + many) // 2
        few, many = (few, middle) if settled(middle) else (middle, many)
    return float(many)


def _sampled_power(
    rows: int,
    shares: tuple[float, float],
    rates: tuple[float, float, float, float, Comparison, float],
    goal: Goal,
) -> float:
    """Return the probability of a verdict where the sizes of both groups are sampled.

    Over evenly likely quantiles of the bivariate normal that sizes follow.
    """
    p1, p2, lower, upper, comparison, confidence = rates
    first, second = shares
    spread = math.sqrt(rows * first * (1 - first))
    slope = -second / (1 - first)
    rest = math.sqrt(max(rows * second * (1 - second / (1 - first)), 0.0))
    total = 0.0
    for step1, weight1 in _NODES:
        moved = step1 * spread
        for step2, weight2 in _NODES if rest > 0 else ((0.0, 1.0),):
            n1 = rows * first + moved
            n2 = rows * second + slope * moved + step2 * rest
            found = verdict_power(p1, n1, p2, n2, lower, upper, comparison, confidence)
            total += weight1 * weight2 * (found.passes if goal == "pass" else found.fails)
    return total


def _possible(
    p1: float, p2: float, lower: float, upper: float, goal: Goal, comparison: Comparison
) -> bool:
    """Return whether the truth lies strictly where the verdict puts it."""
    if comparison == "ratio" and not p2 > 0:
        return False
    truth = p1 - p2 if comparison == "difference" else p1 / p2
    return lower < truth < upper if goal == "pass" else not lower <= truth <= upper


@lru_cache(maxsize=1024)
def binomial_outcomes(p: float, n: int, most: int = _MOST_POINTS) -> tuple[Array, Array]:
    """Return numbers of successes and their probabilities, neighbours grouped where many."""
    from scipy.special import bdtr

    spread = _REACH * math.sqrt(n * p * (1 - p)) + _REACH
    first, last = max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread))
    step = max(1, math.ceil((last - first + 1) / most))
    starts = np.arange(first, last + 1, step)
    ends = np.minimum(starts + step - 1, last)
    beyond = np.where(starts > 0, bdtr(np.maximum(starts - 1, 0), n, p), 0.0)
    return np.asarray((starts + ends) / 2), np.asarray(bdtr(ends, n, p) - beyond)
