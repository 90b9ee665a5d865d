"""Confidence sequences: intervals of running contrasts that hold in all periods together.

An interval that is looked at every day misses its value on some day far more often than once in
twenty times. These do not: with the probability of the confidence level every one of them, however
many there are, contains the running value of its period, whatever the sizes of the batches and
however the rates drift.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.sequential import Contrasted

BETS = tuple(2.0**-k for k in range(1, 13))
"""Slopes of the lines of which the boundary is the lowest: for variances from 10 to 1e8."""


class RunningContrast(NamedTuple):
    """A running contrast and its confidence sequence, arrays of shape (periods, ...).

    All three are nan until a period has rows of all that is contrasted.
    """

    value: Array
    low: Array
    high: Array


@quiet
def running_contrast(
    comparison: Contrasted,
    x_a: ArrayLike,
    n_a: ArrayLike,
    x_d: ArrayLike,
    n_d: ArrayLike,
    confidence: float = 0.95,
) -> RunningContrast:
    """Return the contrast of running rates with a confidence sequence.

    A running rate is the mean of the rates of all periods so far, weighted by n_a n_d / (n_a + n_d)
    (the rate of one group alone by n_d). Both sides have the weights of the same periods, so that
    their difference is the mean of the differences of the periods, and no mix of periods.

    Parameters
    ----------
    comparison : {"difference", "ratio", "rate"}
        d - a, d / a, or d alone.
    x_a, n_a, x_d, n_d : array-like of shape (periods, ...)
        Successes and rows of both groups in every period; a period may lack a group.
    confidence : float in (0, 1)
        Smallest probability that all intervals contain the running contrast of the true rates.

    Returns
    -------
    RunningContrast

    Notes
    -----
    Let every row of a period have the weight c <= 1 and let m be the rate of the periods before.
    For X in {0, 1} with mean p and 0 <= b < 1, exp(b c (X - p) - psi(b) c^2 (X - m)^2) has an
    expectation of at most 1, with psi(b) = -log(1 - b) - b (Fan, Grama and Liu 2015). The product
    over all rows is a nonnegative supermartingale, for any sizes of periods and rates that change,
    and by Ville's inequality S b - psi(b) V stays below log(2 K / error) at all times for each of K
    slopes b and both signs, S being the sum of the weighted deviations and V that of the squares.
    A ratio has the limits of its two rates, each with half of the error.

    References
    ----------
    Howard, Ramdas, McAuliffe & Sekhon (2021), Annals of Statistics 49, 1055-1080 (theorem 4).
    Fan, Grama & Liu (2015), Electronic Journal of Probability 20, 1-22.

    Examples
    --------
    >>> found = running_contrast("difference", [60] * 90, [200] * 90, [36] * 90, [100] * 90)
    >>> [round(float(each[-1]), 3) for each in found]
    [0.06, 0.036, 0.084]
    """
    x_a, n_a, x_d, n_d = floats(x_a, n_a, x_d, n_d)
    error = 1 - confidence
    if comparison == "rate":
        d = _side(x_d, n_d, n_d)
        radius = boundary(d.variance, error) / d.weight
        return _within(d.rate, d.rate - radius, d.rate + radius, 0.0, 1.0)
    weights = np.where(n_a + n_d > 0, n_a * n_d / (n_a + n_d), 0.0)
    a, d = _side(x_a, n_a, weights), _side(x_d, n_d, weights)
    if comparison == "difference":
        radius = boundary(a.variance + d.variance, error) / d.weight
        value = d.rate - a.rate
        return _within(value, value - radius, value + radius, -1.0, 1.0)
    of_a, of_d = (boundary(each.variance, error / 2) / each.weight for each in (a, d))
    low = np.maximum(d.rate - of_d, 0) / np.minimum(a.rate + of_a, 1)
    high = np.minimum(d.rate + of_d, 1) / np.maximum(a.rate - of_a, 0)
    return _within(d.rate / a.rate, low, high, 0.0, np.inf)


@quiet
def boundary(variance: ArrayLike, error: float) -> Array:
    """Return what the size of a sum of deviations never exceeds, but for a probability of `error`.

    Parameters
    ----------
    variance : array-like, >= 0
        The sum of the squared deviations so far.
    error : float in (0, 1)

    Examples
    --------
    >>> boundary([100, 10_000], 0.05).round(1).tolist()
    [39.8, 357.1]
    """
    v = np.asarray(variance, dtype=np.float64)
    needed = math.log(2 * len(BETS) / error)
    lowest = np.full_like(v, np.inf)
    for bet in BETS:
        np.minimum(lowest, (needed + (-math.log1p(-bet) - bet) * v) / bet, out=lowest)
    return lowest


class _RunningSide(NamedTuple):
    """The running rate of a side, the sum of its weights, and that of its squared deviations."""

    rate: Array
    weight: Array
    variance: Array


def _side(x: Array, n: Array, weights: Array) -> _RunningSide:
    share = np.where(n > 0, weights / n, 0.0)  # the weight of a row
    x_before, n_before = x.cumsum(axis=0) - x, n.cumsum(axis=0) - n
    expected = (x_before + 0.5) / (n_before + 1)
    squares = share**2 * (x * (1 - expected) ** 2 + (n - x) * expected**2)
    total = weights.cumsum(axis=0)
    return _RunningSide((share * x).cumsum(axis=0) / total, total, squares.cumsum(axis=0))


def _within(value: Array, low: Array, high: Array, least: float, most: float) -> RunningContrast:
    """Return a contrast with limits that are possible values, and none where it is undefined."""
    known = ~np.isnan(value)
    return RunningContrast(
        value,
        np.where(known, np.clip(low, least, most), np.nan),
        np.where(known, np.clip(high, least, most), np.nan),
    )
