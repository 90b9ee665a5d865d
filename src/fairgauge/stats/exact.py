"""Boschloo's exact test of two rates, and exact limits of a rate, a difference and a ratio.

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
    from numpy.typing import ArrayLike

    from fairgauge.stats.sequential import Contrasted


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
        When a count is not whole (exact tests need counts, not effective sample sizes), or when
        there are more successes than trials.

    References
    ----------
    Boschloo (1970), Statistica Neerlandica 24(1).

    Examples
    --------
    >>> round(float(boschloo(7, 25, 2, 25)), 4)
    0.0786
    """
    from scipy.stats import boschloo_exact

    tables = np.stack(whole("Boschloo's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    if np.any((tables[..., 0] > tables[..., 1]) | (tables[..., 2] > tables[..., 3])):
        raise ValueError("Boschloo's test needs no more successes than trials")
    distinct, index = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = [
        min(boschloo_exact([[a, b], [n - a, m - b]], n=64).pvalue, 1.0) if n and m else np.nan
        for a, n, b, m in distinct.tolist()
    ]
    return np.asarray(p, dtype=np.float64)[index.reshape(tables.shape[:-1])]


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
