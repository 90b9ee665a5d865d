"""Division and subtraction with the edge rules of each profile, and how amounts are written.

``documented``: x/0 is a signed infinity, 0/0 and inf - inf are undefined (NaN here, a status
above).
``clarify``: as smclarify 0.5, where 0/0 and inf - inf are 0.
"""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.enums import Profile


def divide(over: Array, under: Array, profile: Profile) -> Array:
    """Divide arrays of counts elementwise; the same shape comes back."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.true_divide(over, under)
    return (
        np.nan_to_num(result, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if profile.rules.zero_over_zero_is_zero
        else result
    )


def subtract(left: Array, right: Array, profile: Profile) -> Array:
    """Subtract arrays elementwise; the same shape comes back."""
    with np.errstate(invalid="ignore"):
        result: Array = left - right
    if profile.rules.zero_over_zero_is_zero:
        result = np.where(np.isinf(left) & (left == right), 0.0, result)
    return result


def amount(number: float, digits: int = 3, sign: str = "") -> str:
    """Write a number with a few digits, or as a whole number where it has more before the point.

    Examples
    --------
    >>> amount(0.12345), amount(12610.4), amount(262.0, 2), amount(1234.5, sign="+")
    ('0.123', '12,610', '262', '+1,234')
    """
    large = abs(number) >= 10**digits
    return f"{number:{sign},.0f}" if large else f"{number:{sign}.{digits}g}"
