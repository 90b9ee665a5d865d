"""How far a total variation distance may be off where categories are sparse.

The distance moves by no more than the difference of the two distributions does, so that it, less
and plus the quantile of ``||d* - d||`` over resampled differences, is an interval. A category that
no row of the sample has never varies in the plain bootstrap, and one with a single row varies too
little: with many such categories the ball is too small. Half a row added to every category, in the
tables that are drawn from, makes up for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, floats, quotient
from fairgauge.stats.resampling import multinomial_cells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ADDED = 0.5


def total_variation_radius(
    a: ArrayLike, d: ArrayLike, confidence: float, rng: np.random.Generator, replicates: int = 2000
) -> Array:
    """Return the radius of the interval around a total variation distance.

    Parameters
    ----------
    a, d : array-like of shape (..., K)
        Rows of both groups in each category; a category without rows in either takes no part.
    confidence : float in (0, 1)
    rng : numpy.random.Generator
    replicates : int

    Returns
    -------
    radius : array of shape (...)
        nan where a group is empty.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 21 (parametric bootstrap);
    Jeffreys (1946), Proceedings of the Royal Society A 186, 453-461 (half a row).

    Examples
    --------
    >>> many = [30, 8, 3, 1, 1, 0, 0, 1, 0, 0], [90, 30, 15, 9, 6, 4, 3, 1, 1, 1]
    >>> round(float(total_variation_radius(*many, 0.95, np.random.default_rng(0))), 2)
    0.22
    """
    first, second = floats(a, d)
    seen = first + second > 0
    moved = [_moved(side, seen, replicates, rng) for side in (first, second)]
    sizes = np.abs(moved[0] - moved[1]).sum(axis=-1) / 2
    radius = np.quantile(sizes, confidence, axis=0)
    empty = (first.sum(axis=-1) <= 0) | (second.sum(axis=-1) <= 0)
    return np.where(empty, np.nan, radius)


def _moved(counts: Array, seen: np.ndarray, replicates: int, rng: np.random.Generator) -> Array:
    """Return how far the shares of resampled tables lie off the table they are drawn from."""
    rows = counts.sum(axis=-1, keepdims=True)
    raised = counts + _ADDED * seen
    raised = raised * quotient(rows, raised.sum(axis=-1, keepdims=True))
    drawn = multinomial_cells(np.nan_to_num(raised), replicates, rng)
    return np.asarray(quotient(drawn - raised, rows))
