"""Boschloo's exact test of two rates, for whole counts.

Every table is enumerated: milliseconds per comparison, where the closed forms of `significance`
take microseconds.  scipy.stats.boschloo_exact returns the same p-value in 2.3 to 8 times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, quiet, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_TABLES = 20_000_000
"""Most tables (n1 + 1)(n2 + 1) to enumerate."""

_SLACK = 1 + 1e-7  # tables this close to the observed one count as equally extreme


def boschloo(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return Boschloo's exact unconditional p-value: twice the smaller one-sided one, at most 1.

    Its size never exceeds the level, and it is uniformly more powerful than Fisher's test.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like of whole numbers
        Successes and trials.

    Returns
    -------
    p : array
        nan where a group is empty.

    Raises
    ------
    ValueError
        When a count is not whole (exact tests need counts, not effective sample sizes), when
        there are more successes than trials, or more than `MAX_TABLES` tables.

    References
    ----------
    Boschloo (1970), Statistica Neerlandica 24(1).

    Examples
    --------
    >>> round(float(boschloo(7, 25, 2, 25)), 4)
    0.0786
    """
    tables = np.stack(whole("Boschloo's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    if np.any((tables[..., 0] > tables[..., 1]) | (tables[..., 2] > tables[..., 3])):
        raise ValueError("Boschloo's test needs no more successes than trials")
    distinct, index = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = [_boschloo(*row) if row[1] and row[3] else np.nan for row in distinct.tolist()]
    return np.asarray(p, dtype=np.float64)[index.reshape(tables.shape[:-1])]


def _boschloo(x1: int, n1: int, x2: int, n2: int) -> float:
    greater = _fisher_tail(n1, n2)
    less = _fisher_tail(n2, n1).T
    tails = (_supremum(tail <= tail[x1, x2] * _SLACK) for tail in (greater, less))
    return min(1.0, 2 * min(tails))


def _log_choose(n: int) -> Array:
    """Return logarithms of the binomial coefficients of `n`, shifted so that the largest is 0."""
    from scipy.special import gammaln

    k = np.arange(n + 1)
    logs = -np.asarray(gammaln(k + 1.0)) - gammaln(n - k + 1.0)
    return np.asarray(logs - logs.max())


@quiet
def _fisher_tail(n1: int, n2: int) -> Array:
    """Return Fisher's p of "group 1 is higher" for every table, shape (n1 + 1, n2 + 1)."""
    if (n1 + 1) * (n2 + 1) > MAX_TABLES:
        raise ValueError(f"{n1} and {n2} rows are too many to enumerate; use newcombe_p")
    a, b = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)
    log_mass = _log_choose(n1)[:, None] + _log_choose(n2)
    mass = np.zeros((n1 + 1, n1 + n2 + 1))
    mass[a, a + b] = np.exp(log_mass)
    tail = np.cumsum(mass[::-1], axis=0)[::-1]
    return np.asarray((tail / tail[0])[a, a + b])


def _supremum(region: NDArray[np.bool_]) -> float:
    """Return the largest probability of the region (n1 + 1, n2 + 1) over all common rates."""
    angles = np.linspace(0, np.pi / 2, 257)
    best = 0.0
    for _ in range(4):
        probabilities = _probability(region, np.sin(angles) ** 2)
        top = int(np.argmax(probabilities))
        best = max(best, float(probabilities[top]))
        angles = np.linspace(angles[max(top - 1, 0)], angles[min(top + 1, len(angles) - 1)], 33)
    return best


def _probability(region: NDArray[np.bool_], rates: Array) -> Array:
    n1, n2 = region.shape[0] - 1, region.shape[1] - 1
    first, second = _binomial(n1, rates), _binomial(n2, rates)
    return np.asarray(np.einsum("ri,ri->r", first, second @ region.T.astype(np.float64)))


@quiet
def _binomial(n: int, rates: Array) -> Array:
    """Return binomial probabilities of shape (rates, n + 1)."""
    from scipy.special import xlog1py, xlogy

    k = np.arange(n + 1)
    p = rates[:, None]
    logs = _log_choose(n) + xlogy(k, p) + xlog1py(n - k, -p)
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))
