"""Evidence: what an interval is made from, with rows counted at what they are worth.

Weighted rows, and rows that clusters tie together, are worth less than as many independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from fairgauge.inference.interval import NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.effective import weighted_n

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Cells, Need
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.inference.clusters import Clusters, SharedShare

Count: TypeAlias = "Callable[[ConfusionCounts], Array]"
"""Reads a number of rows off one side of many comparisons."""


@dataclass(frozen=True, slots=True)
class CellCount:
    """Counts a sum of cells over the rows where ``needs`` are known."""

    needs: frozenset[Need]
    cells: Cells

    def __call__(self, side: ConfusionCounts) -> Array:
        """Return the rows of every side."""
        return self.cells.count(side.counts(self.needs))


class Trials(NamedTuple):
    """A share as ``x`` successes of ``n`` trials, and what ties it to others where clusters do."""

    x: Array
    n: Array
    rate: Array
    shared: SharedShare | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One side of many comparisons.

    Attributes
    ----------
    side : sums of weights, of which the values are made (of cases, without weights).
    cases : the cases themselves.
    squares : sums of squared weights; None without weights.
    clusters : sums over clusters; None where rows are independent.
    """

    side: ConfusionCounts
    cases: ConfusionCounts
    squares: ConfusionCounts | None = None
    clusters: Clusters | None = None

    def share(self, of: Count, among: Count) -> Trials:
        """Return a share as successes and trials, of as many rows as the counted are worth.

        Raises
        ------
        NoInterval
            There are clusters, and it is no share of cells.
        """
        x, n = of(self.side), among(self.side)
        if self.clusters is not None:
            return self._clustered(of, among)
        if self.squares is not None:
            rate = np.nan_to_num(quotient(x, n))
            n = weighted_n(n, among(self.squares), among(self.cases), rate, of(self.squares))
            x = rate * n
        return Trials(x, n, quotient(x, n))

    def _clustered(self, of: Count, among: Count) -> Trials:
        assert self.clusters is not None
        if not (isinstance(of, CellCount) and isinstance(among, CellCount)):
            raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
        shared = self.clusters.share(among.needs, of.cells, among.cells, self._worth(among))
        rate, n = quotient(of(self.side), among(self.side)), shared.found.n
        return Trials(np.nan_to_num(rate) * n, n, rate, shared)

    def rows(self, count: Count) -> Array:
        """Return a number of rows, of as many as the weights are worth (Kish)."""
        return count(self.side) * self.worth(count)

    def cases_worth(self, count: Count) -> Array:
        """Return a number of rows as `rows` does, whatever ties them together."""
        return count(self.side) * self._worth(count)

    def worth(self, count: Count) -> Array:
        """Return the rows that a unit of weight stands for: 1 without weights.

        Raises
        ------
        NoInterval
            There are clusters: what they are worth depends on the number that is asked for.
        """
        if self.clusters is not None:
            raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
        return self._worth(count)

    def _worth(self, count: Count) -> Array:
        weight = count(self.side)
        if self.squares is None:
            return np.ones_like(weight)
        return np.asarray(np.nan_to_num(quotient(weight, count(self.squares))))

    def scored(self, label: int) -> Array:
        """Return the score histograms of the positive (0) or negative (1) labels; shape (n, B)."""

        def rows(side: ConfusionCounts) -> Array:
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
    name : the metric, by which random draws are seeded, beside the seed of the specification and
        what is counted.
    """

    group: Evidence
    reference: Evidence
    rest: Evidence | None
    margin: NDArray[np.bool_]
    name: str = ""

    @property
    def other(self) -> Evidence:
        """Return the side that shares no row with the group."""
        return self.rest or self.reference
