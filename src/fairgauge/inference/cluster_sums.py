"""Cluster sums: the totals of the clusters of every side, their products, and who shares which.

For every side in every slot the totals of its clusters, (TP, FP, FN, TN) of each, are summed with
their products: from those the variance between clusters of any share of cells follows. The rest of
a group is all clusters less its own rows, so only its own clusters are looked at. Products of what
a cluster has on two sides give their covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, count, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.resolve.group_counts import ClusterCells
    from fairgauge.resolve.sides import Index

BITS = np.array([1, 2, 4, 8])
PATTERNS = 16
"""Which of the four cells a cluster has rows in, as bits."""

_CELLS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over the clusters of every side in every slot; ``+`` and ``-`` are those of the sums.

    Attributes
    ----------
    first : array of shape (sides, slots, 4): of the totals of the cells.
    second : array of shape (sides, slots, 4, 4): of their products.
    having : array of shape (sides, slots, 16): clusters by the cells that they have rows in.
    """

    first: Array
    second: Array
    having: Array

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Sums) -> Sums:
        return Sums(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Return the three sums."""
        return self.first, self.second, self.having


class ClusterSums:
    """The clusters of every group, of the whole, and of the rest of every group.

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
        rest = whole - _moments(key, self._met, every[1][self._cluster], shape)
        rest += _moments(key, self._met - self._own, every[1][self._cluster] - rows, shape)
        parts = zip(mine.parts, whole.parts, rest.parts, strict=True)
        self.sums = Sums(*(np.concatenate(each) for each in parts))

    def shared(self, first: Index, second: Index, slots: Index) -> Array:
        """Return the products of what clusters have on two sides, by number; shape (n, 4, 4).

        The sides are two groups, or a group and its rest.
        """
        found = np.zeros((len(first), _CELLS, _CELLS))
        rest = second >= self._groups
        if rest.any():
            found[rest] = self._with_others[first[rest], slots[rest]]
        at = np.flatnonzero(~rest)
        low, high = np.minimum(first[at], second[at]), np.maximum(first[at], second[at])
        keys, products = self._pairs
        wanted = self._key(slots[at], low, high)
        place = np.searchsorted(keys, wanted)
        hit = place < len(keys)
        hit[hit] = keys[place[hit]] == wanted[hit]
        found[at[hit]] = products[place[hit]]
        turned = at[first[at] > second[at]]
        found[turned] = found[turned].transpose(0, 2, 1)
        return found

    def _key(self, slot: Index, low: Index, high: Index) -> Index:
        return (slot * self._groups + low) * self._groups + high

    @cached_property
    def _with_others(self) -> Array:
        key = self._group * self._slots + self._slot
        sums = _products(key, self._own, self._met - self._own, self._groups * self._slots)
        return sums.reshape(self._groups, self._slots, _CELLS, _CELLS)

    @cached_property
    def _pairs(self) -> tuple[Index, Array]:
        """Return the pairs of groups that share clusters, as sorted keys, and their products."""
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
        found, place = np.unique(np.concatenate(keys), return_inverse=True)
        sums = np.zeros((len(found), _CELLS, _CELLS))
        start = 0
        for first, second in zip(firsts, seconds, strict=True):
            part = place[start : start + len(first)]
            sums += _products(part, self._own[first], self._own[second], len(found))
            start += len(first)
        return found, sums


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


def _moments(key: Index, totals: Array, rows: Array, shape: tuple[int, int]) -> Sums:
    """Sum totals, their products, and the cells with rows, of all entries with one key."""
    size = shape[0] * shape[1]
    second = np.zeros((size, _CELLS, _CELLS))
    for i, j in combinations_with_replacement(_held(totals), 2):
        second[:, i, j] = np.bincount(key, totals[:, i] * totals[:, j], size)
        second[:, j, i] = second[:, i, j]
    having = np.bincount(key * PATTERNS + (rows > 0) @ BITS, minlength=size * PATTERNS)
    return Sums(
        _summed(key, totals, size).reshape(*shape, _CELLS),
        second.reshape(*shape, _CELLS, _CELLS),
        having.astype(np.float64).reshape(*shape, PATTERNS),
    )
