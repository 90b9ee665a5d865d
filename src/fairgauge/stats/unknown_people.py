"""How far rates and their ratio can move when the group of some people is not known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Limits, floats, quiet, quotient


def pair_bounds(x: float, n: float, y: float, m: float, unknown: float) -> tuple[float, float]:
    """Return bounds of the ratio of rates x / n and y / m, wherever unknown people belong.

    It is not known who of them was selected.

    >>> low, high = pair_bounds(40, 100, 60, 100, 10)
    >>> round(low, 3), round(high, 3)
    (0.606, 0.758)
    """
    low, inverse = _least_ratio(x, n, y, m, unknown), _least_ratio(y, m, x, n, unknown)
    return float(np.nan_to_num(low, nan=1.0)), float(quotient(1.0, inverse) if inverse else np.inf)


def _least_ratio(x: float, n: float, y: float, m: float, unknown: float) -> float:
    # nobody is in both: the logarithm of the ratio is convex in how many are in the first, and its
    # derivative is 0 at a root of a quadratic equation
    whole = m + unknown
    inside = whole**2 + whole * (n - y - unknown) - (y + unknown) * n
    rejected = min(max(whole - max(inside, 0.0) ** 0.5, 0.0), unknown)
    chosen = unknown - rejected
    return float(quotient(quotient(x, n + rejected), quotient(y + chosen, m + chosen)))


@quiet
def missing_bounds(
    x: ArrayLike, n: ArrayLike, unknown_x: ArrayLike, unknown_n: ArrayLike
) -> Limits:
    """Return Manski's worst-case bounds of a group's rate when some rows have no group label.

    ``x, n``: successes and rows known to be of the group.
    ``unknown_x, unknown_n``: successes and rows without a group label.

    Sharp: some assignment of the unknown rows attains each. [0, 1] where no row is known to be of
    the group.

    >>> low, high = missing_bounds(30, 100, 4, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.283, 0.3269)
    """
    # Manski (1989), Journal of Human Resources 24, 343-360.
    x, n, ux, un = floats(x, n, unknown_x, unknown_n)
    failures = n + un - ux
    low = np.where((n > 0) & (failures > 0), x / failures, 0.0)
    high = np.where(n > 0, (x + ux) / (n + ux), 1.0)
    return low, high
