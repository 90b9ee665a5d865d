"""The flip test, which compares rows: every row of a facet with its neighbours outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.compat.columns import Column, Kind
from fairgauge.compat.wording import NOT_NUMERIC, error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

_NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The columns by which rows are near each other."""

    columns: Sequence[Column]

    def flip(self, inside: Flags, positive: Flags) -> float:
        """Return smclarify's flip test of the rows inside a facet.

        Raises
        ------
        ValueError
            A side is empty, or a feature is not numeric.
        """
        if not inside.any() or inside.all():
            rows = float(inside.sum())
            raise ValueError(error_text("FT", rows, len(inside) - rows, None))
        if any(column.kind not in _NUMERIC for column in self.columns):
            raise ValueError(NOT_NUMERIC)
        raise ValueError("FT is not computed")
