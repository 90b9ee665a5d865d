"""Division and subtraction with the edge rules of each profile.

``documented``: x/0 is a signed infinity, 0/0 and inf - inf are undefined (NaN here, a status
above).
``clarify``: as smclarify 0.5, where 0/0 and inf - inf are 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.words import Profile

if TYPE_CHECKING:
    from fairgauge.metrics.symbols import Array


def divide(over: Array, under: Array, profile: Profile) -> Array:
    """Divide arrays of counts elementwise; the same shape comes back."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.true_divide(over, under)
    return (
        np.nan_to_num(result, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if (profile is Profile.CLARIFY)
        else result
    )


def subtract(left: Array, right: Array, profile: Profile) -> Array:
    """Subtract arrays elementwise; the same shape comes back."""
    with np.errstate(invalid="ignore"):
        result: Array = left - right
    if profile is Profile.CLARIFY:
        result = np.where(np.isinf(left) & (left == right), 0.0, result)
    return result
