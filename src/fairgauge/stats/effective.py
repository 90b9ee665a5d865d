"""Effective sample sizes of weighted rows, and bounds under missing group labels.

All come from mergeable sums.  An effective sample size replaces n in any interval of `intervals`
and `contrasts`, with ``rate * n_eff`` for x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quiet
def weighted_n(
    sum_w: ArrayLike, sum_w2: ArrayLike, n: ArrayLike, rate: ArrayLike, sum_w2_of: ArrayLike
) -> Array:
    """Return the effective sample size of weighted rows: the smaller of Kish's and the linearised.

    Parameters
    ----------
    sum_w, sum_w2, n : array-like
        Sum of weights, sum of squared weights and number of rows of the rate's denominator.
    rate : array-like in [0, 1]
        The weighted rate.
    sum_w2_of : array-like
        Sum of squared weights of the rate's numerator.

    Returns
    -------
    n_eff : array
        Kish's alone where the rate is 0 or 1 or there is one row; 0 without rows.

    References
    ----------
    Kish (1965), Survey Sampling; Korn & Graubard (1998), Survey Methodology 24, 193-201.

    Examples
    --------
    >>> w, y = np.array([1, 1, 2, 4, 0.5, 3, 1, 2]), np.array([1, 0, 1, 1, 0, 0, 1, 0])
    >>> rate = w @ y / w.sum()
    >>> round(float(weighted_n(w.sum(), w @ w, 8, rate, (w * w) @ y)), 4)
    5.1949
    """
    w, w2, n, p, w2_of = floats(sum_w, sum_w2, n, rate, sum_w2_of)
    kish = np.where(w2 > 0, w**2 / w2, 0.0)
    variance = n / (n - 1) * ((1 - p) ** 2 * w2_of + p**2 * (w2 - w2_of)) / w**2
    linearised = p * (1 - p) / variance
    usable = (n > 1) & (p > 0) & (p < 1) & (variance > 0)
    return np.where(usable, np.minimum(kish, linearised), kish)


@quiet
def missing_bounds(
    x: ArrayLike, n: ArrayLike, unknown_x: ArrayLike, unknown_n: ArrayLike
) -> Limits:
    """Return Manski's worst-case bounds of a group's rate when some rows have no group label.

    Parameters
    ----------
    x, n : array-like
        Successes and rows known to be of the group.
    unknown_x, unknown_n : array-like
        Successes and rows without a group label.

    Returns
    -------
    low, high : array in [0, 1]
        Sharp: some assignment of the unknown rows attains each.  [0, 1] where no row is known
        to be of the group.

    References
    ----------
    Manski (1989), Journal of Human Resources 24, 343-360.

    Examples
    --------
    >>> low, high = missing_bounds(30, 100, 4, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.283, 0.3269)
    """
    x, n, ux, un = floats(x, n, unknown_x, unknown_n)
    failures = n + un - ux
    low = np.where((n > 0) & (failures > 0), x / failures, 0.0)
    high = np.where(n > 0, (x + ux) / (n + ux), 1.0)
    return low, high
