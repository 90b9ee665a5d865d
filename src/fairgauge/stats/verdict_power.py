"""How likely a verdict on two rates is, and how many rows it needs: by enumeration, not by formula.

A rule passes where the whole interval lies inside its limits and fails where it lies outside; it is
not evaluated where rows or expected counts are too few. Normal formulas forget the last, and are
far off for rates near 0 and 1, so the probabilities here sum over the tables themselves.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.stats.arrays import Array
    from fairgauge.stats.power import Comparison

Goal: TypeAlias = Literal["pass", "fail"]

FEWEST_ROWS, FEWEST_EXPECTED = 20, 5
"""A rule is not evaluated where a rate has fewer rows, or a cell without a difference expects fewer
rows: the same limits as those of an audit."""
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
    confidence : float in (0, 1)

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
    power : float in (0, 1)
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
