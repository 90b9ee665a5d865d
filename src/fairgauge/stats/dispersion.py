"""Confidence intervals of the dispersion of a statistic over groups.

The dispersion of estimates is above 0 even where all groups are equal, so that an interval centred
on it would never contain 0.  A standard deviation is a norm, whose error is at most that of the
sampling errors: ``| sd(x^) - sd(x) | <= sd(x^ - x)``.

Groups lie along the last axis; nan is excluded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_ratio


@quiet
def error_dispersion_quantile(deviation: ArrayLike, weight: ArrayLike, z: ArrayLike) -> Array:
    """Return the upper quantile of the standard deviation of sampling errors over groups.

    The square is a weighted sum of chi-squares, approximated by one of the same mean and variance
    (exact for two groups).

    Parameters
    ----------
    deviation : array-like of shape (..., G)
        Standard error of each group's statistic; nan excludes a group.
    weight : array-like of shape (..., G)
        Weights of the groups in the mean, with a sum of 1 over those included.
    z : array-like of shape (...), >= 0
        Normal critical value; the quantile is exceeded with the probability of both its tails.

    Returns
    -------
    quantile : array of shape (...)

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114.

    Examples
    --------
    Of two groups it is that of |e1 - e2| / 2:

    >>> float(error_dispersion_quantile([0.03, 0.04], [0.5, 0.5], 1.959964).round(4))
    0.049
    """
    from scipy.special import gammainccinv, ndtr

    s, w = floats(deviation, weight)
    known = ~np.isnan(s)
    s2, w = np.where(known, s**2, 0.0), np.where(known, w, 0.0)
    mean = (w * (1 - w) * s2).sum(-1)
    twice = (w**2 * s2**2 * (1 - 2 * w)).sum(-1) + ((w * w * s2).sum(-1)) ** 2
    degrees = mean**2 / twice
    square = twice / mean * 2 * gammainccinv(degrees / 2, 2 * ndtr(-np.asarray(z, dtype=float)))
    return np.where(mean > 0, np.sqrt(square), np.where(np.isnan(mean), np.nan, 0.0))


@quiet
def variance_limits(value: ArrayLike, deviation: ArrayLike, z: ArrayLike) -> Limits:
    """Return the interval of the variance over groups, divisor G.

    Parameters
    ----------
    value, deviation : array-like of shape (..., G)
        The groups' estimates and their standard errors.

    Returns
    -------
    low, high : array of shape (...), from 0
        nan with fewer than two groups.

    Examples
    --------
    >>> low, high = variance_limits([0.2, 0.5, 0.6], [0.04, 0.05, 0.05], 1.959964)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0107, 0.0559)
    """
    value, deviation = floats(value, deviation)
    known, weight = _weights(value)
    mean = (np.where(known, value, 0.0) * weight).sum(-1, keepdims=True)
    spread = np.sqrt((weight * np.where(known, value - mean, 0.0) ** 2).sum(-1))
    reach = error_dispersion_quantile(np.where(known, deviation, np.nan), weight, z)
    reach = np.where(known.sum(-1) > 1, reach, np.nan)
    return np.maximum(spread - reach, 0.0) ** 2, (spread + reach) ** 2


@quiet
def gini_limits(value: ArrayLike, deviation: ArrayLike, z: ArrayLike) -> Limits:
    """Return the interval of the Gini index over groups, sum |x_g - x_h| / (2 G^2 mean).

    The mean difference is a norm too, at most sqrt((G^2 - 1) / 3) / G times the standard
    deviation; its interval and that of the mean are combined by MOVER.

    Parameters
    ----------
    value, deviation : array-like of shape (..., G)
        Non-negative estimates and their standard errors.

    Returns
    -------
    low, high : array of shape (...)
        ``high`` is inf where the mean may be 0.

    References
    ----------
    Glasser (1962), JASA 57, 648-654, for the largest mean difference.

    Examples
    --------
    >>> low, high = gini_limits([0.2, 0.5, 0.6], [0.04, 0.05, 0.05], 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.12, 0.296)
    """
    value, deviation = floats(value, deviation)
    known, weight = _weights(value)
    groups = known.sum(-1)
    pairs = np.abs(value[..., :, None] - value[..., None, :])
    both = known[..., :, None] & known[..., None, :]
    half = quotient(np.where(both, pairs, 0.0).sum((-1, -2)), 2.0 * groups**2)
    most = np.sqrt((groups**2 - 1) / 3) / np.maximum(groups, 1)
    deviation = np.where(known, deviation, np.nan)
    reach = most * error_dispersion_quantile(deviation, weight, z)
    mean = (np.where(known, value, 0.0) * weight).sum(-1)
    step = np.asarray(z) * np.sqrt((weight**2 * np.where(known, deviation, 0.0) ** 2).sum(-1))
    low, high = mover_ratio(
        half, np.maximum(half - reach, 0.0), half + reach, mean, np.maximum(mean - step, 0.0),
        mean + step,
    )  # fmt: skip
    alone = groups < 2
    return np.where(alone, np.nan, low), np.where(alone, np.nan, high)


def _weights(value: Array) -> tuple[Mask, Array]:
    """Return which groups are included, and equal weights of these."""
    known = ~np.isnan(value)
    return known, np.where(known, quotient(1.0, known.sum(-1, keepdims=True)), 0.0)
