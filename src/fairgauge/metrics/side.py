"""One side of many comparisons at once: what is known of the groups, or of their references."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairgauge.metrics.symbols import Array, Need


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Sufficient statistics of ``n`` groups, one row per comparison.

    Attributes
    ----------
    size : array of shape (n,)
        Rows of each group (weighted when there are weights), whatever else they miss.
    cells : mapping to arrays of shape (n, 4)
        TP, FP, FN, TN over the rows where the needed columns are known, by those columns. A row
        known by its label alone stands in TP or TN by its label; by its prediction likewise.
    classes : mapping to arrays of shape (n, K)
        Rows in each category of the labels or of the predictions.
    strata : mapping to arrays of shape (n, S, 2)
        Positive and negative rows in each stratum, of labels or of predictions.
    """

    size: Array
    cells: Mapping[frozenset[Need], Array] = field(default_factory=dict)
    classes: Mapping[Need, Array] = field(default_factory=dict)
    strata: Mapping[Need, Array] = field(default_factory=dict)

    def counts(self, needs: frozenset[Need]) -> Array:
        """Return the confusion cells over rows where ``needs`` are known; shape (n, 4)."""
        return self.cells[needs]
