"""Boschloo's exact test of two rates, and exact limits of a rate, a difference and a ratio.

Every table is enumerated: milliseconds per comparison, where the closed forms of `significance`
take microseconds.  scipy.stats.boschloo_exact returns the same p-value in 2.3 to 8 times as long.

Intervals made for estimates (Newcombe's, MOVER's) are right on average over sample sizes and rates.
A promise that must hold at every one of them, such as the false alarm rate of a monitor whose
baseline is itself an estimate, needs limits whose coverage is never below the level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet, whole
from fairgauge.stats.intervals import exact_rate_limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fairgauge.stats.sequential import Contrasted

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


_STEPS = 240
"""Steps in which an error is divided between two rates; more would narrow limits by under 1 %."""


@quiet
def exact_limits(
    x_d: ArrayLike,
    n_d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    alpha: ArrayLike,
    comparison: Contrasted = "difference",
) -> Limits:
    """Return confidence limits of d - a, d / a or d whose coverage is at least 1 - alpha.

    For one rate they are those of Clopper and Pearson.  For two, let p_d and p_a be the p-values of
    the one-sided binomial tests of the two rates towards the limit.  They are independent and
    stochastically no smaller than uniform, so that P(p_d p_a <= k) <= k (1 - ln k) (Fisher's
    combination).  With k such that this is alpha / 2, the rates with p_d p_a > k are a confidence
    region, and the limit is the contrast's extreme value over it.  The region is searched in cells
    of p_d, in each of which both rates take their extremes, so that no value is missed.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like
        Successes and trials of both groups, independent; a group may be empty.
    alpha : array-like in (0, 1)
        The error of the two limits together.
    comparison : {"difference", "ratio", "rate"}

    Returns
    -------
    low, high : array
        ``high`` of a ratio is infinite where the denominator may be 0.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413; Fisher (1932), Statistical Methods for
    Research Workers, section 21.1; Buehler (1957), JASA 52, 482-493.

    Examples
    --------
    >>> low, high = exact_limits(30, 100, 120, 400, 0.05)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.113, 0.127)
    """
    x_d, n_d, x_a, n_a, alpha = floats(x_d, n_d, x_a, n_a, alpha)
    if comparison == "rate":
        return exact_rate_limits(x_d, n_d, alpha / 2)
    product = _fisher_product(alpha / 2)
    tails = np.exp(np.linspace(1.0, 0.0, _STEPS + 1).reshape(-1, *(1,) * alpha.ndim)
                   * np.log(product))  # fmt: skip
    of_d, of_a = tails[:-1], np.minimum(product / tails[1:], 1.0)
    furthest = np.subtract if comparison == "difference" else np.divide
    low_d, high_d = exact_rate_limits(x_d, n_d, of_d)
    low_a, high_a = exact_rate_limits(x_a, n_a, of_a)
    return furthest(low_d, high_a).min(axis=0), furthest(high_d, low_a).max(axis=0)


def _fisher_product(alpha: Array) -> Array:
    """Return k with P(p q <= k) = k (1 - ln k) = alpha for two independent uniform p-values."""
    from scipy import special  # when needed

    return np.asarray(np.exp(1 + np.real(special.lambertw(-alpha / np.e, k=-1))))
