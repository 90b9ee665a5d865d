"""Evidence: what an interval is made from, with weighted rows counted at what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairgauge.stats.arrays import quotient
from fairgauge.stats.effective import weighted_n

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array

Count: TypeAlias = "Callable[[Side], Array]"
"""Reads a number of rows off one side of many comparisons."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One side of many comparisons.

    Attributes
    ----------
    side : sums of weights, of which the values are made (of cases, without weights).
    cases : the cases themselves.
    squares : sums of squared weights; None without weights.
    """

    side: Side
    cases: Side
    squares: Side | None = None

    def share(self, of: Count, among: Count) -> tuple[Array, Array]:
        """Return a share as successes and trials, of as many rows as the weights are worth."""
        x, n = of(self.side), among(self.side)
        if self.squares is None:
            return x, n
        rate = np.nan_to_num(quotient(x, n))
        n = weighted_n(n, among(self.squares), among(self.cases), rate, of(self.squares))
        return rate * n, n

    def rows(self, count: Count) -> Array:
        """Return a number of rows, of as many as the weights are worth (Kish)."""
        return count(self.side) * self.worth(count)

    def worth(self, count: Count) -> Array:
        """Return the rows that a unit of weight stands for: 1 without weights."""
        weight = count(self.side)
        if self.squares is None:
            return np.ones_like(weight)
        return np.asarray(np.nan_to_num(quotient(weight, count(self.squares))))

    def scored(self, label: int) -> Array:
        """Return the score histograms of the positive (0) or negative (1) labels; shape (n, B)."""

        def rows(side: Side) -> Array:
            assert side.scores is not None
            total: Array = side.scores.counts[:, label].sum(axis=-1)
            return total

        assert self.side.scores is not None
        return self.side.scores.counts[:, label] * self.worth(rows)[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Both sides of many comparisons.

    Attributes
    ----------
    group, reference : the two sides.
    rest : the reference without the group, where the group is a part of its reference.
    margin : array of bool, shape (n,): which comparisons are of all rows, not within a stratum.
    key : what random draws are seeded by, beside the seed of the specification.
    """

    group: Evidence
    reference: Evidence
    rest: Evidence | None
    margin: NDArray[np.bool_]
    key: str

    @property
    def other(self) -> Evidence:
        """Return the side that shares no row with the group."""
        return self.rest or self.reference
