"""Bootstrap and posterior draws of tables of counts, and intervals from them.

The bootstrap of rows draws N rows independently, each in cell c with probability n_c/N; so the
resampled cells are exactly multinomial, and no rows are needed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, floats, quotient, sum_of_cells
from fairgauge.stats.intervals import tail_of

# Jeffreys' prior of multinomial shares: half a row in every cell
_PRIOR_ROWS = 0.5


def multinomial_cells(counts: ArrayLike, replicates: int, rng: np.random.Generator) -> Array:
    """Draw bootstrap tables: the bootstrap of rows, from counts.

    ``counts``: shape (..., K): rows per cell. A total that is not whole (effective sample size) is
    drawn at the nearest whole size and scaled back.

    >>> draws = multinomial_cells([[30, 70], [20, 30]], 1000, np.random.default_rng(0))
    >>> draws.shape, draws.sum(-1).min(0).tolist()
    ((1000, 2, 2), [100.0, 50.0])
    """
    # Efron (1979), Annals of Statistics 7, 1-26.
    (table,) = floats(counts)
    total = table.sum(-1, keepdims=True)
    size = np.rint(total)
    share = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1 / table.shape[-1])
    drawn = rng.multinomial(
        size[..., 0].astype(np.int64), share, size=(replicates, *table.shape[:-1])
    )
    return np.asarray(drawn * np.where(size > 0, quotient(total, size), 0.0))


def dirichlet_cells(counts: ArrayLike, draws: int, rng: np.random.Generator) -> Array:
    """Draw cells from the Dirichlet posterior, with Jeffreys' prior, on the scale of the counts.

    ``counts``: shape (..., K): rows per cell, real numbers allowed.

    Shape (draws, ..., K): shares times the total number of rows, so that functions of counts apply.

    >>> draws = dirichlet_cells([30, 70, 0], 1000, np.random.default_rng(0))
    >>> draws.shape, bool(np.allclose(draws.sum(-1), 100)), bool(draws.min() >= 0)
    ((1000, 3), True, True)
    """
    (table,) = floats(counts)
    gamma = rng.standard_gamma(table + _PRIOR_ROWS, size=(draws, *table.shape))
    return np.asarray(gamma * (sum_of_cells(table)[..., None] / sum_of_cells(gamma)[..., None]))


def quantile_interval(draws: ArrayLike, confidence: float) -> Limits:
    """Return the equal-tailed interval of draws along the first axis.

    An undefined (nan) draw counts as -inf for the lower limit and as +inf for the upper one;
    infinite draws are ordinary values.

    ``draws``: shape (draws, ...)

    >>> low, high = quantile_interval(np.arange(1001.0), 0.95)
    >>> float(low), float(high)
    (24.0, 976.0)
    """
    # Draws themselves, not between two: those of a falling function of the draws are its values at
    # the other end, and a value is outside exactly where `tail_p` is below ``1 - confidence``;
    # infinite where there are too few draws for that (below 40 at 0.95, p being at least ``2 /
    # (draws + 1)``).
    (values,) = floats(draws)
    low = high = np.sort(values, axis=0)
    if (undefined := np.isnan(values)).any():
        low, high = (np.sort(np.where(undefined, end, values), axis=0) for end in (-np.inf, np.inf))
    beyond = math.ceil(round(tail_of(confidence) * (len(values) + 1), 6)) - 2
    if beyond < 0:  # too few draws to exclude anything
        return np.full(low.shape[1:], -np.inf), np.full(low.shape[1:], np.inf)
    return low[beyond], high[len(values) - 1 - beyond]


def tail_p(draws: ArrayLike, null: ArrayLike = 0.0) -> Array:
    """Return twice the smaller tail of posterior draws beyond the null, at most 1.

    It agrees with `quantile_interval`; an undefined draw counts on both sides.

    ``draws``: shape (draws, ...)

    At least ``2 / (draws + 1)``.

    >>> round(float(tail_p(np.arange(-50.0, 949.0))), 3)
    0.104
    """
    (values,) = floats(draws)
    centre = np.asarray(null, dtype=np.float64)
    beyond = np.minimum((~(values > centre)).sum(0), (~(values < centre)).sum(0))
    return np.asarray(np.minimum(2 * (beyond + 1) / (len(values) + 1), 1.0))


# rows below which numpy draws multivariate hypergeometric counts
_MOST_DRAWN = 1_000_000_000


def random_parts(counts: ArrayLike, rng: np.random.Generator) -> tuple[Array, Array]:
    """Split a table of whole counts into two random halves.

    ``counts``: whole numbers: any shape; of an odd number of rows, below 1,000,000,000, the second
        half has one more.

    >>> first, second = random_parts([[10, 4], [0, 6]], np.random.default_rng(0))
    >>> int(first.sum()), (first + second).tolist()
    (10, [[10.0, 4.0], [0.0, 6.0]])
    """
    # A random part of N rows has cell counts that are multivariate hypergeometric, so that no rows
    # are needed to draw one. From 1,000,000,000 rows on, every row is in either part by the toss of
    # a coin instead; the size of the first then is off by some ten thousand rows.
    table = np.asarray(counts).astype(np.int64)
    total = int(table.sum())
    if total < _MOST_DRAWN:
        flat = table.ravel()
        drawn = rng.multivariate_hypergeometric(flat, total // 2, method="marginals")
        first = drawn.reshape(table.shape).astype(np.float64)
    else:
        first = rng.binomial(table, 0.5).astype(np.float64)
    return first, table - first
