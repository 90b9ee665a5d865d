"""One side of many comparisons at once: what is known of the groups, or of their references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import Array, Need


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Histograms of scores, one per comparison, over bins that all comparisons share.

    Attributes
    ----------
    low, high : array of shape (B,)
        The edges of the bins; equal where a bin is a single value (scores that lie on an edge).
    centre : array of shape (B,)
        The mean score of all rows in each bin.
    counts : array of shape (n, 2, B)
        Rows with a positive and with a negative label.
    every : array of shape (n, B)
        All rows with a score, whatever their label.
    sums : array of shape (n, 2, B)
        Sum of the scores in each bin, by label.
    moments : mapping to arrays of shape (n, 2)
        Sums over rows by label: score, its square, ln(score), ln(1 - score).
    total, squares : array of shape (n,)
        Sum of the scores, and of their squares, of all rows.
    """

    low: Array
    high: Array
    centre: Array
    counts: Array
    every: Array
    sums: Array
    moments: Mapping[str, Array]
    total: Array
    squares: Array

    @property
    def open(self) -> NDArray[np.bool_]:
        """Return which bins hold an interval of scores, not a single value."""
        return self.high > self.low


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCounts:
    """Sufficient statistics of ``n`` groups, one row per comparison.

    Attributes
    ----------
    size : array of shape (n,)
        Rows of each group (weighted when there are weights), whatever else they miss.
    cells : mapping to arrays of shape (n, 4)
        TP, FP, FN, TN over the rows where the needed columns are known, by those columns. A row
        with a label and no prediction is counted in TP or TN by its label; a row with a prediction
        and no label likewise.
    classes : mapping to arrays of shape (n, K)
        Rows in each category of the labels or of the predictions.
    strata : mapping to arrays of shape (n, S, 2)
        Positive and negative rows in each stratum, of labels or of predictions.
    per_class : tuple of ConfusionCounts
        In a multiclass audit, the same groups with each class against all others.
    moments : mapping to arrays of shape (n,)
        In a regression, sums over rows: n, y, p, yy, pp, gap = |p - y| and gap2 = (p - y)².
    scores : Scores, optional
        Histograms of the scores.
    joint : array of shape (n, K, K), optional
        In a multiclass audit, rows by class of label and prediction, where both are known.
    overall : ConfusionCounts, optional
        All rows of the same slots, for metrics that need these beside both sides.
    """

    size: Array
    cells: Mapping[frozenset[Need], Array] = field(default_factory=dict)
    classes: Mapping[Need, Array] = field(default_factory=dict)
    strata: Mapping[Need, Array] = field(default_factory=dict)
    per_class: tuple[ConfusionCounts, ...] = ()
    moments: Mapping[str, Array] = field(default_factory=dict)
    scores: Scores | None = None
    joint: Array | None = None
    overall: ConfusionCounts | None = None

    def counts(self, needs: frozenset[Need]) -> Array:
        """Return the confusion cells over rows where ``needs`` are known; shape (n, 4)."""
        return self.cells[needs]

    def every_cell(self) -> Array:
        """Return all that is counted of each group by label and prediction; shape (n, cells)."""
        return np.concatenate([self.size[:, None], *self.cells.values()], axis=1)
