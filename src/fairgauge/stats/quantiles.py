"""Quantiles of two samples: limits by order statistics, whose ranks are binomial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import two_sided

_LARGEST_Z = 8.0
_BISECTIONS = 40


class ComparedQuantiles(NamedTuple):
    """The difference or the ratio of a quantile of two samples; ends may be infinite."""

    value: float
    low: float
    high: float
    p: float


def quantile_limits(values: Array, q: float, z: float) -> tuple[float, float]:
    """Return the limits of a quantile: the values of two ranks, of whatever distribution.

    The chance that the quantile is beyond either of them is at most that beyond z. Without such a
    rank the limit is infinite.

    Parameters
    ----------
    values : array of shape (n,)
        A sample, ascending.

    References
    ----------
    David & Nagaraja (2003), Order Statistics, 3rd edition, section 7.1.

    Examples
    --------
    >>> quantile_limits(np.arange(1.0, 26.0), 0.5, 1.959964)
    (8.0, 18.0)
    """
    from scipy.special import bdtr, bdtrc, ndtr

    n, tail = len(values), float(ndtr(-z))
    reach = (z + 3) * np.sqrt(n * q * (1 - q)) + 3
    first, last = max(int(n * q - reach), 0), min(int(n * q + reach) + 1, n)
    ranks = np.arange(first, last + 1)
    below = ranks[(ranks > 0) & (bdtr(ranks - 1.0, n, q) <= tail)]
    above = ranks[(ranks > 0) & (bdtrc(ranks - 1.0, n, q) <= tail)]
    low = float(values[below[-1] - 1]) if len(below) else -np.inf
    return low, float(values[above[0] - 1]) if len(above) else np.inf


def compared_quantiles(
    ours: Array, theirs: Array, q: float, confidence: float, *, ratio: bool = False
) -> ComparedQuantiles:
    """Return the difference, or the ratio, of a quantile of two samples that share no row.

    Limits are those of both sides by MOVER, of a ratio on the log scale; the p-value is that at
    which they begin to include no difference.

    Examples
    --------
    >>> sample = np.arange(1.0, 26.0)
    >>> compared_quantiles(sample + 4, sample, 0.5, 0.95)[:3]
    (4.0, -3.0710678118654755, 11.071067811865476)
    """
    ours, theirs = np.sort(ours), np.sort(theirs)
    values = [float(np.quantile(each, q)) for each in (ours, theirs)]

    def scaled(numbers: tuple[float, ...]) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.maximum(numbers, 0.0)) if ratio else np.asarray(numbers)

    def limits(z: float) -> tuple[float, float]:
        sides = [
            scaled((value, *quantile_limits(each, q, z)))
            for each, value in zip((ours, theirs), values, strict=True)
        ]
        low, high = mover_difference(*sides[0], *sides[1])
        return float(low), float(high)

    inside, outside = 0.0, _LARGEST_Z
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        low, high = limits(middle)
        excluded = low > 0 or high < 0
        inside, outside = (middle, outside) if excluded else (inside, middle)
    low, high = limits(critical(confidence))
    if ratio:
        value = values[0] / values[1] if min(values) > 0 else np.nan
        low, high = float(np.exp(low)), float(np.exp(high))
    else:
        value = values[0] - values[1]
    return ComparedQuantiles(value, low, high, float(two_sided(inside)))
