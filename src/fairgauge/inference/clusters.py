"""Clusters: what the rows of a side are worth where clusters (users, sessions) tie them together.

Shares of rows go by the sums over clusters, any other number of counts by what it becomes with a
block of clusters left out. Two sides that share clusters are not independent, and how far they move
together is told by both.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.confusion_counts import ConfusionCounts
from fairgauge.enums import DiagnosticCode, Profile
from fairgauge.inference.cluster_sums import BITS, PATTERNS, ClusterSums
from fairgauge.inference.interval import NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.report.results import Diagnostic
from fairgauge.resolve.sides import BOTH, COUNTS, LABEL, PREDICTION, CountsBySide, with_others
from fairgauge.stats.arrays import quotient
from fairgauge.stats.blocks import assign_blocks
from fairgauge.stats.effective import Clustered, clustered_correlation, clustered_n

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Cells, Need
    from fairgauge.resolve.group_counts import ClusterCells, GroupCounts
    from fairgauge.resolve.outcomes import OutcomeMasks
    from fairgauge.resolve.sides import Index, Measure

BLOCKS = 40
"""Blocks of clusters that are left out one after another; of fewer clusters each is one."""

_MOST_CELLS = 4_000_000
_YES, _NO, _MISSING = range(3)
_EVERY: frozenset[Need] = frozenset()
_CELL_OF = {
    BOTH: ((0, 2, -1), (1, 3, -1), (-1, -1, -1)),
    LABEL: ((0, 0, 0), (3, 3, 3), (-1, -1, -1)),
    PREDICTION: ((0, 3, -1), (0, 3, -1), (0, 3, -1)),
    _EVERY: ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
}
"""The cell (of TP, FP, FN, TN) of a row by its label and prediction: yes, no or missing."""


def _patterns() -> ConfusionCounts:
    """Return one side for each set of cells that a cluster may have rows in, one row in each."""
    cells = (np.arange(PATTERNS)[:, None] & BITS > 0).astype(float)
    some = cells.max(axis=1)
    return ConfusionCounts(
        size=some,
        cells=dict.fromkeys((BOTH, LABEL, PREDICTION), cells),
        classes={"label": some[:, None], "prediction": some[:, None]},
        strata={"label": some[:, None, None], "prediction": some[:, None, None]},
        moments=defaultdict(lambda: some),
    )


_PATTERNS = _patterns()


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of one side of many comparisons.

    Attributes
    ----------
    of : the clusters of all sides.
    which, slots : the side of each comparison by number, and its slot (0: margin).
    pooled : whether its strata are wanted too.
    """

    of: ClustersBySide
    which: Index
    slots: Index
    pooled: bool = False

    def share(self, needs: frozenset[Need], of: Cells, among: Cells, worth: Array) -> SharedShare:
        """Return what a share of cells is worth; ``worth`` is of a unit of weight."""
        sums = self.of.sums(needs).sums
        first, second = (each[self.which, self.slots] for each in (sums.first, sums.second))
        x, m = (np.array(cells.coefficients, dtype=float) for cells in (of, among))
        n = first @ m
        rate = np.nan_to_num(quotient(first @ x, n))
        clusters = self.behind(needs, lambda side: among.count(side.counts(needs)))
        found = clustered_n(
            clusters,
            n * worth,
            rate,
            *(
                np.einsum("i,sij,j->s", one, second, two) * worth**2
                for one, two in ((x, x), (x, m), (m, m))
            ),
        )
        return SharedShare(self, needs, (x, m), n, rate, clusters, found)

    def behind(self, needs: frozenset[Need], size: Callable[[ConfusionCounts], Array]) -> Array:
        """Return how many clusters have rows in a denominator."""
        having = self.of.sums(needs).sums.having[self.which, self.slots]
        counted: Array = having @ (size(_PATTERNS) > 0)
        return counted

    def left_out(self, value: Callable[[ConfusionCounts], Array]) -> Array:
        """Return a number with no block left out, and with each; shape (1 + blocks, n).

        Raises
        ------
        NoInterval
            There are too many cells to leave clusters out of.
        """
        return self.shaped(value(self.sides()))

    def sides(self) -> ConfusionCounts:
        """Return the sides with no block left out, then those without each; (1 + blocks) n rows."""
        return self.of.without(self.which, self.slots, pooled=self.pooled)

    def shaped(self, values: Array) -> Array:
        """Return values of `sides` by block, NaN where clusters are not left out of strata."""
        found = values.reshape(1 + self.of.blocks, -1)
        if self.of.by_stratum:
            return found
        inside = (self.slots > 0) | self.pooled
        return np.where(inside.reshape(found.shape[1], -1).any(axis=1), np.nan, found)

    @property
    def margin(self) -> Clusters:
        """Return the same sides over all rows."""
        return replace(self, slots=np.zeros_like(self.slots))


@dataclass(frozen=True, slots=True, eq=False)
class SharedShare:
    """A share of the rows of many sides, tied to the same share of others by common clusters.

    Attributes
    ----------
    clusters : of the sides.
    needs, cells : the columns that a row must have; numerator and denominator as coefficients.
    n, rate : weights in the denominator, and the share.
    behind : clusters with rows in the denominator.
    found : the rows that it is worth, and the degrees of freedom of its t.
    """

    clusters: Clusters
    needs: frozenset[Need]
    cells: tuple[Array, Array]
    n: Array
    rate: Array
    behind: Array
    found: Clustered

    def correlation(self, other: SharedShare, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""
        mine, yours = self.clusters, other.clusters
        products = mine.of.sums(self.needs).shared(
            mine.which[first], yours.which[second], mine.slots[first]
        )
        (x, m), p, q = self.cells, self.rate[first], other.rate[second]
        xx, xm, mx, mm = (
            np.einsum("i,sij,j->s", a, products, b) for a, b in ((x, x), (x, m), (m, x), (m, m))
        )
        variance1 = quotient(p * (1 - p), self.found.n[first])
        variance2 = quotient(q * (1 - q), other.found.n[second])
        return clustered_correlation(
            self.behind[first], other.behind[second], self.n[first], other.n[second],
            variance1, variance2, xx, xm, mx, mm, p, q,
        )  # fmt: skip


class ClustersBySide:
    """Picks the clusters of the two sides of many comparisons, as `CountsBySide` does their rows."""

    def __init__(
        self,
        counted: GroupCounts,
        reading: OutcomeMasks,
        profile: Profile,
        per_class: Sequence[OutcomeMasks] = (),
        seed: int = 0,
    ) -> None:
        self._tally = counted
        self._reading = reading
        self._profile = profile
        self._per_class = per_class
        self._seed = seed
        self._measure: Measure = "w" if counted.weighted else "n"
        self._sums: dict[frozenset[Need], ClusterSums] = {}

    def pick(self, which: Index, slots: Index, *, pooled: bool = False) -> Clusters | None:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin).

        None where rows are independent.
        """
        return None if self._tally.clusters is None else Clusters(self, which, slots, pooled)

    def sums(self, needs: frozenset[Need]) -> ClusterSums:
        """Return the sums over clusters of the rows where ``needs`` are known."""
        if needs not in self._sums:
            cells = self._cells
            label = _state(cells.label, self._reading.labels, self._profile)
            prediction = _state(cells.prediction, self._reading.predictions, self._profile)
            cell = np.array(_CELL_OF[needs])[label, prediction]
            groups, slots = len(self._tally.groups) + 1, len(self._tally.scopes)
            self._sums[needs] = ClusterSums(cells, cell, self._measure, groups, slots)
        return self._sums[needs]

    @property
    def blocks(self) -> int:
        """Return the number of blocks that are left out one after another."""
        return min(BLOCKS, max(len(self._cells.ranks[1]), 1))

    @cached_property
    def by_stratum(self) -> bool:
        """Return whether clusters are left out of strata too, not of all rows alone."""
        return self._size(len(self._tally.scopes)) <= _MOST_CELLS

    def without(self, which: Index, slots: Index, *, pooled: bool) -> ConfusionCounts:
        """Return sides with no block left out, then without each."""
        each = len(self._tally.scopes) if self.by_stratum else 1
        copies = 1 + self.blocks
        if not self.by_stratum:
            slots = np.zeros_like(slots)
        moved = np.add.outer(np.arange(copies) * each, slots).ravel()
        return self._sides.pick(np.tile(which, copies), moved, pooled=pooled)

    @property
    def _cells(self) -> ClusterCells:
        cells = self._tally.clusters
        assert cells is not None
        return cells

    def _size(self, slots: int) -> int:
        groups, _, labels, predictions = self._tally.counts["rows"].shape
        return int((1 + self.blocks) * groups * slots * labels * predictions)

    @cached_property
    def _sides(self) -> CountsBySide:
        """Return the counts with no block left out and with each, as further slots."""
        strata = self._tally.strata if self.by_stratum else ()
        slots = len(strata) + 1
        if self._size(slots) > _MOST_CELLS:
            raise NoInterval(ReasonCode.TOO_MANY_GROUPS)
        shape = self._tally.counts["rows"].shape
        cluster, ranks = self._cells.ranks
        block = assign_blocks(ranks, self.blocks, self._seed)[cluster]
        names = [self._measure, *(m for m in self._cells.counts if m not in COUNTS)]
        counts = {m: self._stacked(self._cells.counts[m], block, shape, slots) for m in names}
        alone = replace(self._tally, strata=strata, counts=counts, histogram=None, clusters=None)
        return CountsBySide(alone, self._reading, self._profile, self._per_class, self._measure)

    def _stacked(self, sums: Array, block: Index, shape: Sequence[int], slots: int) -> Array:
        """Return counts of shape (groups, (1 + blocks) slots, labels, predictions)."""
        cells = self._cells
        groups, _, labels, predictions = shape
        inside = (self.blocks, groups, slots, labels, predictions)
        at = np.minimum(cells.stratum, slots - 1)
        codes = (block, cells.group, at, cells.label, cells.prediction)
        index = np.ravel_multi_index(codes, inside)
        held = np.bincount(index, sums, int(np.prod(inside))).astype(np.float64)
        held = held.reshape(inside)
        # strata stand before the rows that miss theirs, which the margin alone counts
        held = np.concatenate([held.sum(axis=2, keepdims=True), held[:, :, :-1]], axis=2)
        every = with_others(held)[self.blocks :]  # the whole, and the rest of every block
        return every.swapaxes(0, 1).reshape(groups, -1, labels, predictions)


def clusters_spanning_groups(counted: GroupCounts, column: str | None) -> Iterator[Diagnostic]:
    """Note where clusters have rows in several groups, so that two sides are not independent."""
    cells = counted.clusters
    if cells is None or not counted.groups:
        return
    pairs = np.unique(np.stack([cells.cluster, cells.group]), axis=1)
    clusters, groups = np.unique(pairs[0], return_counts=True)
    spread = int(np.count_nonzero(groups > 1))
    if spread:
        yield Diagnostic.note(
            DiagnosticCode.CLUSTERS_SPAN_GROUPS,
            counted.feature,
            clusters=spread,
            total=len(clusters),
            column=column,
        )


def _state(codes: Index, positive: NDArray[np.bool_], profile: Profile) -> Index:
    """Return whether each code is positive, negative or missing."""
    missing = _NO if profile is Profile.CLARIFY else _MISSING  # as in `sides`
    state: Index = np.append(np.where(positive, _YES, _NO), missing)[codes]
    return state
