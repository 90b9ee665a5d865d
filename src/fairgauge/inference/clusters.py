"""Clustered observations: sums over clusters, and the effective sample sizes that follow.

For every side in every slot the totals of its clusters, (TP, FP, FN, TN) of each, are summed with
their products: from those the variance between clusters of any proportion follows. All other groups
are all clusters less the group's own rows, so that only its own clusters are looked at. Products of
what a cluster has on two sides give their covariance. Any other statistic of counts is computed
again with each block of clusters omitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, count, product
from typing import NamedTuple

import numpy as np

from fairgauge.catalogue.cells import BOTH, LABEL, PREDICTION, Array, Cells, ConfusionCounts, Need
from fairgauge.enums import DiagnosticCode, Profile
from fairgauge.inference.interval import NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.resolve.group_counts import ClusterCells, GroupCounts
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import COUNTS, CountsBySide, Measure, with_others
from fairgauge.results.scopes import Diagnostic
from fairgauge.stats.arrays import Index, Mask, quotient
from fairgauge.stats.cluster_robust import (
    ShareSums,
    ShareVariance,
    effective_rows,
    pooled_correlation,
    share_variance,
    shared_correlation,
)
from fairgauge.stats.jackknife import assign_blocks

BITS = np.array([1, 2, 4, 8])
PATTERNS = 16
"""Which of the four cells a cluster has rows in, as bits."""

_CELLS = 4


class ClusterMoments(NamedTuple):
    """Sums over the clusters of every side in every slot.

    Attributes
    ----------
    first : array of shape (sides, slots, 4): of the totals of the cells.
    second : array of shape (sides, slots, 4, 4): of their products.
    having : array of shape (sides, slots, 16): clusters by the cells that they have rows in.
    """

    first: Array
    second: Array
    having: Array


class LargeClusters(NamedTuple):
    """Large clusters one by one: which side and slot each is of, and its totals of the cells.

    ``side`` is ``side * slots + slot``, of shape (L,); ``totals`` of shape (L, 4).
    """

    side: Index
    totals: Array


class ClusterSums:
    """The clusters of every group, of all rows, and of all others of every group.

    Parameters
    ----------
    cells : the cells by cluster.
    cell : array of shape (cells,): which of TP, FP, FN, TN each is, -1 if none.
    measure : what is summed, cases or weights.
    groups, slots : how many there are, known values of no group among the groups and the margin
        among the slots.
    """

    def __init__(
        self, cells: ClusterCells, cell: Index, measure: str, groups: int, slots: int
    ) -> None:
        kept = cell >= 0
        at = [codes[kept] for codes in (cells.group, cells.cluster, cells.stratum, cell)]
        counts = [cells.counts[m][kept] for m in (measure, "n")]
        slot = np.zeros_like(at[0])
        if slots > 1:  # all rows once at the margin, and once in their stratum
            inside = at[2] < slots - 1
            slot = np.concatenate([slot, at[2][inside] + 1])
            at = [np.concatenate([codes, codes[inside]]) for codes in at]
            counts = [np.concatenate([each, each[inside]]) for each in counts]
        group, cluster, _, cell = at
        _, cluster = np.unique(slot * (1 + cluster.max(initial=0)) + cluster, return_inverse=True)
        held, first, place = np.unique(
            cluster * groups + group, return_index=True, return_inverse=True
        )
        self._groups, self._slots = groups, slots
        self._cluster, self._group = np.divmod(held, groups)  # sorted by cluster, then by group
        self._slot = slot[first]
        self._own, rows = (_totals(place, cell, each, len(held)) for each in counts)
        of = 1 + int(cluster.max(initial=-1))
        every = [_summed(self._cluster, each, of) for each in (self._own, rows)]
        self._met = every[0][self._cluster]
        key = self._group * slots + self._slot
        shape = (groups, slots)
        mine = _moments(key, self._own, rows, shape)
        slot_of = np.zeros(of, dtype=np.int64)
        slot_of[self._cluster] = self._slot
        whole = _moments(slot_of, every[0], every[1], (1, slots))
        # the clusters of a group count in its rest with what they hold beside it
        met = _moments(key, self._met, every[1][self._cluster], shape)
        beside = _moments(key, self._met - self._own, every[1][self._cluster] - rows, shape)
        sums = zip(mine, whole, met, beside, strict=True)
        self.sums = ClusterMoments(
            *(np.concatenate([own, of_all, of_all - of_met + less])
              for own, of_all, of_met, less in sums)
        )  # fmt: skip
        self.large = self._large(every[0], slot_of)

    def _large(self, whole: Array, slot_of: Index) -> LargeClusters:
        slots, groups = self._slots, self._groups
        most = int(np.clip(_MOST_LARGE // max(groups * slots, 1), *_LARGE_OF_A_CELL))
        key = self._group * slots + self._slot
        mine = _largest(key, self._own, most)
        of_all = _largest(slot_of, whole, most)
        totals = [self._own[mine], whole[of_all]]
        keys = [key[mine], groups * slots + slot_of[of_all]]
        place = np.full(len(whole), -1)
        place[of_all] = np.arange(len(of_all))
        order = np.argsort(self._group, kind="stable")
        starts = np.searchsorted(self._group[order], np.arange(groups + 1))
        for group in range(groups):
            own = order[starts[group] : starts[group + 1]]
            own = own[place[self._cluster[own]] >= 0]
            others = whole[of_all].copy()
            others[place[self._cluster[own]]] -= self._own[own]
            kept = others.any(axis=1)
            totals.append(others[kept])
            keys.append((groups + 1 + group) * slots + slot_of[of_all][kept])
        return LargeClusters(np.concatenate(keys), np.concatenate(totals))

    def shared(self, first: Index, second: Index, slots: Index) -> Array:
        """Return the products of what clusters have on two sides, by number; shape (n, 4, 4).

        The sides are two groups, or a group and its rest.
        """
        products = np.zeros((len(first), _CELLS, _CELLS))
        rest = second >= self._groups
        if rest.any():
            products[rest] = self._with_others[first[rest], slots[rest]]
        at = np.flatnonzero(~rest)
        low, high = np.minimum(first[at], second[at]), np.maximum(first[at], second[at])
        keys, of_pairs = self._pairs
        wanted = self._key(slots[at], low, high)
        place = np.searchsorted(keys, wanted)
        hit = place < len(keys)
        hit[hit] = keys[place[hit]] == wanted[hit]
        products[at[hit]] = of_pairs[place[hit]]
        swapped = at[first[at] > second[at]]
        products[swapped] = products[swapped].transpose(0, 2, 1)
        return products

    def _key(self, slot: Index, low: Index, high: Index) -> Index:
        return (slot * self._groups + low) * self._groups + high

    @cached_property
    def _with_others(self) -> Array:
        key = self._group * self._slots + self._slot
        sums = _products(key, self._own, self._met - self._own, self._groups * self._slots)
        return sums.reshape(self._groups, self._slots, _CELLS, _CELLS)

    @cached_property
    def _pairs(self) -> tuple[Index, Array]:
        keys, firsts, seconds = [], [], []
        for lag in count(1):  # entries of one cluster stand side by side
            at = np.flatnonzero(self._cluster[lag:] == self._cluster[:-lag])
            if not len(at):
                break
            keys.append(self._key(self._slot[at], self._group[at], self._group[at + lag]))
            firsts.append(at)
            seconds.append(at + lag)
        if not keys:
            return np.zeros(0, dtype=np.int64), np.zeros((0, _CELLS, _CELLS))
        held_keys, place = np.unique(np.concatenate(keys), return_inverse=True)
        sums = np.zeros((len(held_keys), _CELLS, _CELLS))
        start = 0
        for first, second in zip(firsts, seconds, strict=True):
            part = place[start : start + len(first)]
            sums += _products(part, self._own[first], self._own[second], len(held_keys))
            start += len(first)
        return held_keys, sums


def _totals(place: Index, cell: Index, counts: Array, rows: int) -> Array:
    """Return the totals of each cell in every place; shape (rows, 4)."""
    total = np.bincount(place * _CELLS + cell, counts, rows * _CELLS)
    return total.astype(np.float64).reshape(rows, _CELLS)


def _summed(key: Index, columns: Array, size: int) -> Array:
    """Sum the columns of all rows with one key; shape (size, columns)."""
    return np.stack([np.bincount(key, column, size) for column in columns.T], axis=-1).astype(float)


def _held(totals: Array) -> list[int]:
    """Return the cells that any cluster has rows in: without labels or predictions, two at most."""
    return np.flatnonzero(totals.any(axis=0)).tolist()


def _products(key: Index, one: Array, two: Array, size: int) -> Array:
    """Sum the products of all columns with all others; shape (size, 4, 4)."""
    sums = np.zeros((size, _CELLS, _CELLS))
    for i, j in product(_held(one), _held(two)):
        sums[:, i, j] = np.bincount(key, one[:, i] * two[:, j], size)
    return sums


def _moments(key: Index, totals: Array, rows: Array, shape: tuple[int, int]) -> ClusterMoments:
    size = shape[0] * shape[1]
    second = np.zeros((size, _CELLS, _CELLS))
    for i, j in combinations_with_replacement(_held(totals), 2):
        second[:, i, j] = np.bincount(key, totals[:, i] * totals[:, j], size)
        second[:, j, i] = second[:, i, j]
    having = np.bincount(key * PATTERNS + (rows > 0) @ BITS, minlength=size * PATTERNS)
    return ClusterMoments(
        _summed(key, totals, size).reshape(*shape, _CELLS),
        second.reshape(*shape, _CELLS, _CELLS),
        having.astype(np.float64).reshape(*shape, PATTERNS),
    )


def _largest(key: Index, totals: Array, most: int) -> Index:
    """Return the largest entries of each key by each cell, up to ``most`` of a cell.

    Every other entry has less than ``1 / most`` of any sum of cells: of several shares, that of
    their sum is between the least and the greatest.
    """
    if not len(key) or np.bincount(key).max() <= most:
        return np.arange(len(key))
    kept = np.zeros(len(key), dtype=bool)
    for cell in _held(totals):
        order = np.lexsort((-totals[:, cell], key))
        ordered = key[order]
        rank = np.arange(len(key)) - np.searchsorted(ordered, ordered)
        kept[order[rank < most]] = True
    return np.flatnonzero(kept)


_MOST_LARGE = 400_000
_LARGE_OF_A_CELL = (4, 128)
"""Large clusters of each cell that are distinguished: as many as memory allows."""

BLOCKS = 40
"""Blocks of clusters that are omitted one after another; of fewer clusters each is one."""

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
    pooled, overall : whether its strata, and the counts of all rows, are wanted too.
    """

    of: ClustersBySide
    which: Index
    slots: Index
    pooled: bool = False
    overall: bool = False

    def share(
        self, needs: frozenset[Need], of: Cells, among: Cells, rows_per_weight: Array
    ) -> ClusteredProportion:
        """Return a proportion of cells; ``rows_per_weight`` is the rows per unit of weight."""
        found = self.of.shares(needs, of, among)
        at = self.which * len(self.of.slots) + self.slots
        mine = ShareVariance(*(each[at] for each in found.variance))
        rows = mine.rows * rows_per_weight
        correlation = found.correlation[self.slots]
        n = effective_rows(mine, rows, correlation)
        x, m = (np.array(cells, dtype=float) for cells in (of, among))
        return ClusteredProportion(self, needs, (x, m), mine, n, found.sandwich[at])

    def effective(self, needs: frozenset[Need], among: Cells) -> Array:
        """Return the effective number of clusters of a denominator (Kish)."""
        clusters = self.of.shares(needs, among, among).variance.clusters
        return np.asarray(clusters[self.which * len(self.of.slots) + self.slots])

    def block_sizes(self, size: Callable[[ConfusionCounts], Array]) -> Array:
        """Return the rows of every block in a denominator; shape (blocks, n)."""
        sizes = self.leave_out(size)
        return np.maximum(sizes[:1] - sizes[1:], 0.0)

    def leave_out(self, value: Callable[[ConfusionCounts], Array]) -> Array:
        """Return a number with no block omitted, and with each; shape (1 + blocks, n).

        Raises
        ------
        NoInterval
            There are too many cells to leave clusters out of.
        """
        return self.by_block(value(self.sides()))

    def sides(self) -> ConfusionCounts:
        """Return the sides with no block omitted, then those without each; (1 + blocks) n rows."""
        return self.of.without(self.which, self.slots, pooled=self.pooled, overall=self.overall)

    def by_block(self, values: Array) -> Array:
        """Return values of `sides` by block, NaN where clusters are not omitted from strata."""
        blocks = values.reshape(1 + self.of.blocks, -1)
        if self.of.by_stratum:
            return blocks
        inside = (self.slots > 0) | self.pooled
        return np.where(inside.reshape(blocks.shape[1], -1).any(axis=1), np.nan, blocks)

    @property
    def margin(self) -> Clusters:
        """Return the same sides over all rows."""
        return replace(self, slots=np.zeros_like(self.slots))


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredProportion:
    """A proportion of rows of many sides, correlated with that of others by shared clusters.

    Attributes
    ----------
    clusters : of the sides.
    needs, cells : the columns that a row must have; numerator and denominator as coefficients.
    of : its rate, rows, degrees of freedom of t and effective clusters.
    n : its effective sample size.
    sandwich : its variance without regard to leverage, as that of products of sides.
    """

    clusters: Clusters
    needs: frozenset[Need]
    cells: tuple[Array, Array]
    of: ShareVariance
    n: Array
    sandwich: Array

    def correlation(self, other: ClusteredProportion, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""
        mine, yours = self.clusters, other.clusters
        products = mine.of.sums(self.needs).shared(
            mine.which[first], yours.which[second], mine.slots[first]
        )
        (x, m), p, q = (
            self.cells,
            *(np.nan_to_num(each) for each in (self.of.rate[first], other.of.rate[second])),
        )
        xx, xm, mx, mm = (
            np.einsum("i,sij,j->s", a, products, b) for a, b in ((x, x), (x, m), (m, x), (m, m))
        )
        return shared_correlation(
            self.sandwich[first], other.sandwich[second],
            quotient(
                xx - q * xm - p * mx + p * q * mm, self.of.rows[first] * other.of.rows[second]
            ),
        )  # fmt: skip


class _Shares(NamedTuple):
    """A share of every side in every slot, by ``side * slots + slot``; and what groups have alike.

    ``correlation`` is that of the clusters of all values of the feature together, by slot.
    """

    variance: ShareVariance
    sandwich: Array
    correlation: Array


def _variances(sums: ClusterSums, of: Cells, among: Cells) -> tuple[ShareVariance, Array]:
    """Return the variance of a share of every side in every slot, and that without leverage."""
    x, m = (np.array(cells, dtype=float) for cells in (of, among))
    first, second, having = (part.reshape(-1, *part.shape[2:]) for part in sums.sums)
    pattern = among.count(_PATTERNS.counts(BOTH)) > 0
    products = [np.einsum("i,sij,j->s", a, second, b) for a, b in ((x, x), (x, m), (m, m))]
    every = ShareSums(having @ pattern, first @ x, first @ m, *products)
    large = sums.large
    variance = share_variance(every, large.totals @ x, large.totals @ m, large.side)
    rate = np.nan_to_num(variance.rate)
    xx, xm, mm = products
    squared = np.maximum(xx - 2 * rate * xm + rate**2 * mm, 0.0)
    return variance, quotient(squared, variance.rows**2)


class ClustersBySide:
    """Selects the clusters of both sides of many comparisons, as `CountsBySide` their rows."""

    def __init__(
        self,
        counted: GroupCounts,
        outcome: OutcomeMasks,
        profile: Profile,
        per_class: Sequence[OutcomeMasks] = (),
        seed: int = 0,
    ) -> None:
        self._counted = counted
        self._outcome = outcome
        self._profile = profile
        self._per_class = per_class
        self._seed = seed
        self._measure: Measure = "w" if counted.weighted else "n"
        self._sums: dict[frozenset[Need], ClusterSums] = {}
        self._sums_of_values: dict[frozenset[Need], ClusterSums] = {}
        self._last: tuple[object, ConfusionCounts] | None = None
        self._shares: dict[tuple[frozenset[Need], Cells, Cells], _Shares] = {}

    @property
    def slots(self) -> Sequence[object]:
        """Return the slots: the margin and the strata."""
        return (None, *self._counted.strata)

    def shares(self, needs: frozenset[Need], of: Cells, among: Cells) -> _Shares:
        """Return a share of every side in every slot."""
        if (needs, of, among) not in self._shares:
            self._shares[needs, of, among] = self._share(needs, of, among)
        return self._shares[needs, of, among]

    def _share(self, needs: frozenset[Need], of: Cells, among: Cells) -> _Shares:
        sums = self.sums(needs)
        found, sandwich = _variances(sums, of, among)
        by_value, groups = found, len(self._counted.groups)
        if self._by_values is not None:
            # of the values, whichever groups are asked for: a group alone is as it is beside others
            by_value, groups = _variances(self._values_of(needs), of, among)[0], self._values
        slots = len(self.slots)
        of_values = ShareVariance(*(e[: groups * slots].reshape(groups, slots) for e in by_value))
        rows = of_values.rows * self._rows_per_weight
        return _Shares(found, sandwich, pooled_correlation(of_values, rows))

    @cached_property
    def _by_values(self) -> ClusterCells | None:
        """Return the cells by the values of the feature; None where each value is a group."""
        return self._cells.by_values(len(self._counted.groups)) if self._counted.groups else None

    @property
    def _values(self) -> int:
        assert self._by_values is not None
        return 1 + int(self._by_values.group.max(initial=-1))

    @cached_property
    def _rows_per_weight(self) -> float:
        """Return the rows per unit of weight, of all rows: 1 without weights."""
        counts = self._cells.counts
        weight = counts[self._measure].sum()
        return float(counts["n"].sum() / weight) if weight > 0 else 1.0

    def pick(
        self, which: Index, slots: Index, *, pooled: bool = False, overall: bool = False
    ) -> Clusters:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin)."""
        return Clusters(self, which, slots, pooled, overall)

    def sums(self, needs: frozenset[Need]) -> ClusterSums:
        """Return the sums over clusters of the rows where ``needs`` are known."""
        if needs not in self._sums:
            groups = len(self._counted.groups) + 1
            self._sums[needs] = self._summed(self._cells, needs, groups)
        return self._sums[needs]

    def _values_of(self, needs: frozenset[Need]) -> ClusterSums:
        assert self._by_values is not None
        if needs not in self._sums_of_values:
            self._sums_of_values[needs] = self._summed(self._by_values, needs, self._values + 1)
        return self._sums_of_values[needs]

    def _summed(self, cells: ClusterCells, needs: frozenset[Need], groups: int) -> ClusterSums:
        cell = self._cell_of(cells, needs)
        return ClusterSums(cells, cell, self._measure, groups, 1 + len(self._counted.strata))

    def _cell_of(self, cells: ClusterCells, needs: frozenset[Need]) -> Index:
        """Return which of TP, FP, FN, TN each cell is, -1 where what is needed is missing."""
        label = _state(cells.label, self._outcome.labels, self._profile)
        prediction = _state(cells.prediction, self._outcome.predictions, self._profile)
        return np.asarray(np.array(_CELL_OF[needs])[label, prediction])

    def cells(self, needs: frozenset[Need]) -> tuple[Index, Index, Index, Index, Array]:
        """Return group, cluster, stratum, which of TP, FP, FN, TN, and the rows of every cell.

        Rows are by weight; a stratum that is missing is the last.
        """
        cells = self._cells
        rows = cells.counts[self._measure]
        return cells.group, cells.cluster, cells.stratum, self._cell_of(cells, needs), rows

    @property
    def blocks(self) -> int:
        """Return the number of blocks that are omitted one after another."""
        return min(BLOCKS, max(len(self._cells.ranks[1]), 1))

    @cached_property
    def by_stratum(self) -> bool:
        """Return whether clusters are omitted from strata too, not from all rows alone."""
        return self._size(1 + len(self._counted.strata)) <= _MOST_CELLS

    def without(
        self, which: Index, slots: Index, *, pooled: bool, overall: bool
    ) -> ConfusionCounts:
        """Return sides with no block omitted, then without each.

        The last ones are kept: values and sizes of one metric are both read off them.
        """
        key = (which.tobytes(), slots.tobytes(), pooled, overall)
        if self._last is None or self._last[0] != key:
            self._last = key, self._without(which, slots, pooled=pooled, overall=overall)
        return self._last[1]

    def _without(
        self, which: Index, slots: Index, *, pooled: bool, overall: bool
    ) -> ConfusionCounts:
        each = 1 + len(self._counted.strata) if self.by_stratum else 1
        copies = 1 + self.blocks
        if not self.by_stratum:
            slots = np.zeros_like(slots)
        moved = np.add.outer(np.arange(copies) * each, slots).ravel()
        return self._sides.pick(np.tile(which, copies), moved, pooled=pooled, overall=overall)

    @property
    def _cells(self) -> ClusterCells:
        cells = self._counted.clusters
        assert cells is not None
        return cells

    def _size(self, slots: int) -> int:
        groups, _, labels, predictions = self._counted.counts["rows"].shape
        return int((1 + self.blocks) * groups * slots * labels * predictions)

    @cached_property
    def _sides(self) -> CountsBySide:
        strata = self._counted.strata if self.by_stratum else ()
        slots = len(strata) + 1
        if self._size(slots) > _MOST_CELLS:
            raise NoInterval(ReasonCode.TOO_MANY_GROUPS)
        shape = self._counted.counts["rows"].shape
        cluster, ranks = self._cells.ranks
        block = assign_blocks(ranks, self.blocks, self._seed)[cluster]
        names = [self._measure, *(m for m in self._cells.counts if m not in COUNTS)]
        counts = {m: self._stacked(self._cells.counts[m], block, shape, slots) for m in names}
        alone = replace(self._counted, strata=strata, counts=counts, histogram=None, clusters=None)
        return CountsBySide(alone, self._outcome, self._profile, self._per_class, self._measure)

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
        every = with_others(held)[self.blocks :]  # all rows, and all rows without each block
        return every.swapaxes(0, 1).reshape(groups, -1, labels, predictions)


def clusters_spanning_groups(
    counted: GroupCounts, column: str | None, *, people: bool
) -> Iterator[Diagnostic]:
    """Note where clusters have rows in several groups, so that two sides are not independent.

    Of ``people`` it is a warning: their rows contradict each other.
    """
    cells = counted.clusters
    if cells is None or not counted.groups:
        return
    pairs = np.unique(np.stack([cells.cluster, cells.group]), axis=1)
    clusters, groups = np.unique(pairs[0], return_counts=True)
    spread = int(np.count_nonzero(groups > 1))
    if spread:
        make = Diagnostic.warning if people else Diagnostic.note
        yield make(
            DiagnosticCode.CLUSTERS_SPAN_GROUPS,
            counted.feature,
            clusters=spread,
            total=len(clusters),
            column=column,
            **({"people": True} if people else {}),
        )


def _state(codes: Index, positive: Mask, profile: Profile) -> Index:
    missing = _NO if profile.rules.missing_outcome_is_negative else _MISSING  # as in `sides`
    return np.asarray(np.append(np.where(positive, _YES, _NO), missing)[codes])
