"""Variances of differences of rates in strata, for tests of what is unlike the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairgauge.stats._restricted import under_difference


def rate_variances(x_d: Any, n_d: Any, x_a: Any, n_a: Any) -> tuple[Any, Any]:
    """Return the differences of rates, and their variances at the common one."""
    difference, n = x_d / n_d - x_a / n_a, n_d + n_a
    common = np.average(difference, weights=n_d * n_a / n, axis=-1)
    p_d, p_a = under_difference(x_d, n_d, x_a, n_a, np.asarray(common)[..., None])
    return difference, (p_d * (1 - p_d) / n_d + p_a * (1 - p_a) / n_a) * n / (n - 1)
