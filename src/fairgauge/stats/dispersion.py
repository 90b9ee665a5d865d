"""Confidence intervals of the dispersion of a statistic over groups.

The dispersion of estimates is above 0 even where all groups are equal, so that an interval centred
on it would never contain 0.  A standard deviation is a norm, whose error is at most that of the
sampling errors: ``| sd(x^) - sd(x) | <= sd(x^ - x)``.

Groups lie along the last axis; nan is excluded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, floats, quiet


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
