"""How far the sum of two absolute values may be off that vary independently.

A sum of absolute differences is positive under no difference too. It moves by no more than the
differences do, ``| |d1*| + |d2*| - |d1| - |d2| | <= |d1* - d1| + |d2* - d2|``, so that it, less and
plus the quantile of the latter, is an interval, and calibrated where there is no difference.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats._roots import falling_root
from fairgauge.stats.arrays import Array, floats, quiet, quotient
from fairgauge.stats.intervals import tail_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_FURTHEST = 9.0
_GRID = 65


@quiet
def absolute_sum_tail(value: ArrayLike, first: ArrayLike, second: ArrayLike) -> Array:
    """Return the probability that ``first |Z1| + second |Z2|`` exceeds a value.

    Parameters
    ----------
    value : array-like, >= 0
    first, second : array-like, >= 0
        Standard errors; Z1 and Z2 are independent standard normal.

    Examples
    --------
    >>> absolute_sum_tail([1.959964, 3.16235], [1, 1], [0, 1]).round(4).tolist()
    [0.05, 0.05]
    """
    from scipy.special import ndtr

    value, one, two = floats(value, first, second)
    large, small = np.maximum(one, two), np.minimum(one, two)
    end = np.minimum(np.where(value > 0, value / large, 0.0), _FURTHEST)[..., None]
    z = end * (1 + _NODES) / 2
    left = value[..., None] - large[..., None] * z
    beyond = np.where(small[..., None] > 0, 2 * ndtr(-left / small[..., None]), 0.0)
    density = 2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    inside = (_WEIGHTS * density * beyond).sum(-1) * end[..., 0] / 2
    return np.asarray(np.minimum(2 * ndtr(-end[..., 0]) + inside, 1.0))


def absolute_sum_quantile(first: ArrayLike, second: ArrayLike, confidence: float) -> Array:
    """Return the quantile of ``first |Z1| + second |Z2|``, to five digits.

    Examples
    --------
    >>> absolute_sum_quantile([1, 1, 3], [0, 1, 4], 0.95).round(3).tolist()
    [1.96, 3.163, 11.148]
    """
    one, two = floats(first, second)
    large, small = np.maximum(one, two), np.minimum(one, two)
    ratio = np.nan_to_num(quotient(small, large))
    return np.asarray(large * np.interp(ratio, *_table(confidence)))


@lru_cache(maxsize=32)
def _table(confidence: float) -> tuple[Array, Array]:
    """Return the quantile where the larger standard error is 1, by the smaller one."""
    tail = 2 * tail_of(confidence)
    ratio = np.linspace(0.0, 1.0, _GRID)
    ones = np.ones(_GRID)
    found = falling_root(
        lambda x: absolute_sum_tail(x, ones, ratio) - tail, 0.0 * ones, 2 * _FURTHEST * ones
    )
    return ratio, found
