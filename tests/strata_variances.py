"""Variances of differences of rates in strata, for tests of what is unlike the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairgauge.stats.outlying_strata import _CellsOfLevels


def rate_variances(x_d: Any, n_d: Any, x_a: Any, n_a: Any) -> tuple[Any, Any]:
    """Return the differences of rates, and their variances at the common one."""
    cells = _CellsOfLevels.of(x_d, n_d, x_a, n_a, None)
    common = (cells.pooled * cells.difference).sum(-1) / cells.pooled.sum(-1)
    return cells.difference, cells.at(np.asarray(common)[..., None])[0]
