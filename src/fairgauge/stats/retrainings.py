"""What more retrainings of one recipe could find: chance, curve and bounds of the smallest value.

Retrainings are exchangeable: the same recipe with other seeds, each measured, none excluded.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, floats


def chance_of_better(searched: int, further: int) -> float:
    """Return the probability that the least of ``further`` draws is below that of those searched.

    Exact for exchangeable draws without ties, before any is looked at.

    >>> round(chance_of_better(60, 10), 3)
    0.143
    """
    return further / (searched + further)


def better_share(searched: int, alpha: float, looks: int | None = None) -> float:
    """Return an upper bound of the probability that one more draw is below the least so far.

    ``looks``: None for a bound that holds at every number of draws at once, however the search is
    stopped; else at how many numbers of draws, planned before, it holds: 1 of a fixed number.

    >>> [round(better_share(70, 0.05, looks), 3) for looks in (None, 6, 1)]
    [0.099, 0.066, 0.042]
    """
    # If the probability of a better draw is p, none of t is better with probability (1 - p)^t. The
    # mixture of 1 / (1 - p)^t over p, uniform, is a martingale that reaches 1 / alpha where p is
    # this bound (Ville's inequality); it is the bound of arXiv 2512.23943.
    if looks is not None:
        return -math.expm1(math.log(alpha / looks) / searched)
    if searched == 1:
        return -math.expm1(-1 / alpha)
    return -math.expm1(-math.log1p((searched - 1) / alpha) / (searched - 1))


def mean_least(values: ArrayLike) -> Array:
    """Return the mean of the least of j of these values, for j = 1 ... K: a rarefaction curve.

    Unbiased for every j, where draws are exchangeable.

    >>> mean_least([3.0, 1.0, 2.0]).round(3).tolist()
    [2.0, 1.333, 1.0]
    """
    (ordered,) = floats(np.sort(np.asarray(values, dtype=np.float64)))
    size, means = len(ordered), []
    for drawn in range(1, size + 1):
        # the i-th least is the least of those drawn with probability C(K - i, j - 1) / C(K, j)
        i = np.arange(size - 1)
        kept = np.maximum(size - i - drawn, 0) / np.maximum(size - i - 1, 1)
        weights = drawn / size * np.concatenate([[1.0], np.cumprod(kept)])
        means.append(float(weights @ ordered))
    return np.array(means)


def records_p(values: ArrayLike) -> float:
    """Return the p-value of so many records or more, if the order of the draws means nothing.

    The t-th of exchangeable draws is a record, below all before, with probability 1 / t,
    independently of the others (Rényi 1962).

    >>> round(records_p([5.0, 4.0, 3.0, 2.0, 1.0]), 4), records_p([1.0, 2.0, 3.0])
    (0.0083, 1.0)
    """
    (draws,) = floats(values)
    seen = 1 + int((draws[1:] < np.minimum.accumulate(draws)[:-1]).sum())
    chances = np.ones(1)
    for t in range(1, len(draws) + 1):
        chances = np.convolve(chances, [1 - 1 / t, 1 / t])
    return float(min(1.0, chances[seen:].sum()))
