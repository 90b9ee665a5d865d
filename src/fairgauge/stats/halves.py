"""Halving counts at random, as halving the rows that they count would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Array

_MOST_DRAWN = 1_000_000_000
"""Rows below which numpy draws multivariate hypergeometric counts."""


def halves(counts: ArrayLike, rng: np.random.Generator) -> tuple[Array, Array]:
    """Split a table of whole counts into two random halves.

    A random half of N rows has cell counts that are multivariate hypergeometric, so that no rows
    are needed to draw one. From 1,000,000,000 rows on, every row is in either half by the toss of
    a coin instead; the halves then differ by some ten thousand rows.

    Parameters
    ----------
    counts : array-like of whole numbers
        Any shape; of an odd number of rows, below 1,000,000,000, the second half has one more.
    rng : numpy.random.Generator

    Returns
    -------
    first, second : array of the shape of counts

    Examples
    --------
    >>> first, second = halves([[10, 4], [0, 6]], np.random.default_rng(0))
    >>> int(first.sum()), (first + second).tolist()
    (10, [[10.0, 4.0], [0.0, 6.0]])
    """
    table = np.asarray(counts).astype(np.int64)
    total = int(table.sum())
    if total < _MOST_DRAWN:
        flat = table.ravel()
        drawn = rng.multivariate_hypergeometric(flat, total // 2, method="marginals")
        first = drawn.reshape(table.shape).astype(np.float64)
    else:
        first = rng.binomial(table, 0.5).astype(np.float64)
    return first, table - first
