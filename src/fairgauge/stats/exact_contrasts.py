"""Exact confidence limits of a rate, and of a difference or ratio of two, at any sample size.

Intervals made for estimates (Newcombe's, MOVER's) are right on average over sample sizes and rates.
A promise that must hold at every one of them, such as the false alarm rate of a monitor whose
baseline is itself an estimate, needs limits whose coverage is never below the level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.sequential import Contrasted

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
        return _lowest(x_d, n_d, alpha / 2), _highest(x_d, n_d, alpha / 2)
    product = fisher_product(alpha / 2)
    tails = np.exp(np.linspace(1.0, 0.0, _STEPS + 1).reshape(-1, *(1,) * alpha.ndim)
                   * np.log(product))  # fmt: skip
    of_d, of_a = tails[:-1], np.minimum(product / tails[1:], 1.0)
    furthest = np.subtract if comparison == "difference" else np.divide
    high = furthest(_highest(x_d, n_d, of_d), _lowest(x_a, n_a, of_a)).max(axis=0)
    low = furthest(_lowest(x_d, n_d, of_d), _highest(x_a, n_a, of_a)).min(axis=0)
    return low, high


def fisher_product(alpha: ArrayLike) -> Array:
    """Return k with P(p q <= k) = alpha for two independent uniform p-values.

    Examples
    --------
    >>> k = float(fisher_product(0.05))
    >>> round(float(k * (1 - np.log(k))), 6)
    0.05
    """
    (error,) = floats(alpha)
    from scipy import special  # when needed

    root: Array = np.real(special.lambertw(-error / np.e, k=-1))
    return np.asarray(np.exp(1 + root))


def _lowest(x: Array, n: Array, tail: Array) -> Array:
    """Return Clopper and Pearson's lower limit with an error of ``tail``."""
    from scipy import special  # when needed

    inside = special.betaincinv(np.maximum(x, 1e-9), n - x + 1, tail)
    return np.where(x > 0, inside, 0.0)


def _highest(x: Array, n: Array, tail: Array) -> Array:
    """Return Clopper and Pearson's upper limit with an error of ``tail``."""
    from scipy import special  # when needed

    inside = special.betaincinv(x + 1, np.maximum(n - x, 1e-9), 1 - tail)
    return np.where(x < n, inside, 1.0)
