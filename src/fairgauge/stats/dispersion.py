"""Dispersion: limits of how far the numbers of many groups spread, noise reckoned with.

A spread of noisy numbers is above 0 even where all groups are equal, so that limits around its
value would miss 0 always.  A standard deviation is a norm, which moves by no more than the noise's
own: ``| sd(x^) - sd(x) | <= sd(x^ - x)``.

Groups lie along the last axis; nan takes no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quiet
def noise_beyond(deviation: ArrayLike, weight: ArrayLike, z: ArrayLike) -> Array:
    """Return the standard deviation over groups that noise alone exceeds as rarely as two tails.

    The square is a sum of weighted chi-squares, fitted by one of the same mean and variance
    (exact for two groups).

    Parameters
    ----------
    deviation : array-like of shape (..., G)
        Standard error of each group's number; nan for groups that take no part.
    weight : array-like of shape (..., G)
        Shares of the groups in the mean, with a sum of 1 over those that take part.
    z : array-like of shape (...), >= 0
        Normal critical value: 1.96 leaves 5 %.

    Returns
    -------
    quantile : array of shape (...)

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2, 110-114.

    Examples
    --------
    >>> float(noise_beyond([0.03, 0.04], [0.5, 0.5], 1.959964).round(4))  # of |e1 - e2| / 2
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
    """Return limits of the variance over groups, divisor G.

    Parameters
    ----------
    value, deviation : array-like of shape (..., G)
        The groups' numbers and their standard errors.
    z : array-like of shape (...), >= 0

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
    known, weight = _taking_part(value)
    mean = (np.where(known, value, 0.0) * weight).sum(-1, keepdims=True)
    spread = np.sqrt((weight * np.where(known, value - mean, 0.0) ** 2).sum(-1))
    far = noise_beyond(np.where(known, deviation, np.nan), weight, z)
    far = np.where(known.sum(-1) > 1, far, np.nan)
    return np.maximum(spread - far, 0.0) ** 2, (spread + far) ** 2


@quiet
def gini_limits(value: ArrayLike, deviation: ArrayLike, z: ArrayLike) -> Limits:
    """Return limits of the Gini index over groups, sum |x_g - x_h| / (2 G^2 mean).

    The mean difference is a norm as well, at most sqrt((G^2 - 1) / 3) / G of the standard
    deviation; it and the mean have limits of their own, joined as a ratio.

    Parameters
    ----------
    value, deviation : array-like of shape (..., G)
        Numbers from 0, and their standard errors.
    z : array-like of shape (...), >= 0

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
    known, weight = _taking_part(value)
    groups = known.sum(-1)
    pairs = np.abs(value[..., :, None] - value[..., None, :])
    both = known[..., :, None] & known[..., None, :]
    half = quotient(np.where(both, pairs, 0.0).sum((-1, -2)), 2.0 * groups**2)
    most = np.sqrt((groups**2 - 1) / 3) / np.maximum(groups, 1)
    deviation = np.where(known, deviation, np.nan)
    far = most * noise_beyond(deviation, weight, z)
    mean = (np.where(known, value, 0.0) * weight).sum(-1)
    step = np.asarray(z) * np.sqrt((weight**2 * np.where(known, deviation, 0.0) ** 2).sum(-1))
    low, high = mover_ratio(
        half, np.maximum(half - far, 0.0), half + far, mean, np.maximum(mean - step, 0.0),
        mean + step,
    )  # fmt: skip
    alone = groups < 2
    return np.where(alone, np.nan, low), np.where(alone, np.nan, high)


def _taking_part(value: Array) -> tuple[np.ndarray, Array]:
    known = ~np.isnan(value)
    return known, np.where(known, quotient(1.0, known.sum(-1, keepdims=True)), 0.0)
