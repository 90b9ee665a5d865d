"""The flip test, which compares rows: every row of a facet with its neighbours outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat._coded_column import CodedColumn, Kind
from fairgauge.compat._service_texts import NOT_NUMERIC, error_text
from fairgauge.enums import Profile
from fairgauge.scan.row_access import feature_matrix
from fairgauge.stats.neighbours import Neighbours

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Flags = NDArray[np.bool_]

NEIGHBOURS = 5
FEWEST_FOR_SEVERAL = 10
"""Rows outside the facet from which on several neighbours vote."""

_NUMERIC = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The columns by which rows are near each other, read when they are needed."""

    columns: Callable[[], Sequence[CodedColumn]]

    def flip(self, inside: Flags, positive: Flags, profile: Profile = Profile.CLARIFY) -> float:
        """Return the flip test of the rows inside a facet.

        The five nearest rows outside the facet vote on every row inside it; all rows at the
        distance of the fifth share its vote, so that the order of the rows does not matter.

        Parameters
        ----------
        inside, positive : array of bool, of shape (rows,)
            Which rows are in the facet, and which are predicted positive.

        Returns
        -------
        float in [-1, 1]
            ``clarify``: the share of the rows inside that are positive where their neighbours are
            negative, less the share of the reverse; ``documented``: the negative of that.
        """
        if not inside.any() or inside.all():
            rows = float(inside.sum())
            raise ValueError(error_text("FT", rows, len(inside) - rows))
        points = _points(self.columns(), profile)
        known = ~np.isnan(points).any(axis=1)
        ours, theirs = inside & known, ~inside & known
        if not ours.any() or not theirs.any():
            raise ValueError("no row of one side has a value in every feature")
        k = NEIGHBOURS if theirs.sum() >= FEWEST_FOR_SEVERAL else 1
        outcomes = positive.astype(np.float64)
        votes = Neighbours.of(points[theirs]).mean(outcomes[theirs], points[ours], k)
        favoured = int((positive[ours] & (votes < 1 / 2)).sum())
        disfavoured = int((~positive[ours] & (votes > 1 / 2)).sum())
        flips = favoured - disfavoured
        return float((flips if profile.rules.flips_are_favoured else -flips) / ours.sum())


def _points(columns: Sequence[CodedColumn], profile: Profile) -> Array:
    """Return the rows as points: numbers as they are (``clarify``), or every feature scaled."""
    if not profile.rules.features_are_scaled and any(c.kind not in _NUMERIC for c in columns):
        raise ValueError(NOT_NUMERIC)
    if not columns:
        raise ValueError("there are no features to compare rows by")
    if not profile.rules.features_are_scaled:
        return np.stack([column.numbers() for column in columns], axis=1)
    return feature_matrix([column.cells() for column in columns], scaled=True)[0]
