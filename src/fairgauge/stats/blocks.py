"""Blocks of clusters: dealt out by chance, yet the same whatever clusters are called."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.stats.arrays import Array

Index: TypeAlias = NDArray[np.int64]
_Bits: TypeAlias = NDArray[np.uint64]


def content_ranks(names: Index, cells: Sequence[Index], counts: Array) -> tuple[Index, Index]:
    """Rank clusters by what they hold, not by their names or the order of their rows.

    Parameters
    ----------
    names : array of shape (n,)
        The cluster of each entry.
    cells : sequence of arrays of shape (n,)
        Codes of the cell that the entry is, each cell once for a cluster.
    counts : array of shape (n,)
        What the cell holds.

    Returns
    -------
    cluster : array of shape (n,)
        The clusters as 0 ... C - 1.
    ranks : array of shape (C,)
        Clusters with the same cells and counts stand side by side, so that it does not matter
        which of them has which rank.

    Examples
    --------
    >>> names, cells = np.array([7, 7, 2, 9, 9]), np.array([3, 5, 3, 3, 5])
    >>> cluster, ranks = content_ranks(names, [cells], np.array([1.0, 2.0, 1.0, 1.0, 2.0]))
    >>> cluster.tolist(), abs(int(ranks[1] - ranks[2])), sorted(ranks.tolist())
    ([1, 1, 0, 2, 2], 1, [0, 1, 2])
    """
    every, cluster = np.unique(names, return_inverse=True)
    cell = np.ravel_multi_index(tuple(cells), [1 + int(code.max(initial=0)) for code in cells])
    amounts = counts.astype(np.float32).view(np.uint32)  # sums of weights differ in the last digits
    mixed = _mixed(_mixed(cell.astype(np.uint64)) ^ amounts.astype(np.uint64))
    order = np.argsort(cluster, kind="stable")
    start = np.searchsorted(cluster[order], np.arange(len(every)))
    # sums modulo 2^64, whatever the order of the cells
    content = np.add.reduceat(mixed[order], start) if len(start) else mixed
    ranks = np.empty(len(every), dtype=np.int64)
    ranks[np.argsort(content, kind="stable")] = np.arange(len(every))
    return cluster, ranks


def deal(ranks: Index, blocks: int, seed: int) -> Index:
    """Return the block of every rank, by chance, each block of as many as any other.

    Examples
    --------
    >>> dealt = deal(np.arange(10), 4, seed=0)
    >>> sorted(np.bincount(dealt).tolist())
    [2, 2, 3, 3]
    """
    rng = np.random.default_rng([seed, zlib.crc32(b"clusters")])
    dealt: Index = (rng.permutation(len(ranks)) % blocks)[ranks]
    return dealt


def _mixed(bits: _Bits) -> _Bits:
    """Return bits with every one of them spread over all (the finalizer of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: _Bits = bits ^ (bits >> np.uint64(31))
    return mixed
