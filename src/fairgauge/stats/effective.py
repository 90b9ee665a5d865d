"""Bounds under missing group labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Limits, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
