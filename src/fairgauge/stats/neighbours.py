"""Nearest neighbours: what the nearest points say, also where some rows are left out.

Equal points are merged, so that the order of rows cannot matter; points at the distance of the
k-th all have a say, by equal shares of the places left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.stats.arrays import Array, Limits, quiet, quotient
from fairgauge.stats.intervals import critical_t, wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

_SAME = 1e-9
"""Two distances closer than this share of them are one distance."""
_QUERIES = 100_000
"""Points whose neighbours are looked up at once."""
BLOCKS = 40
"""Blocks of rows that the jackknife leaves out, one at a time."""
_SPARE = 2
"""Neighbours looked up for each that is needed, so that enough are left without a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Points to search among, equal ones merged.

    Attributes
    ----------
    points : array of shape (points, dimensions)
        The distinct points.
    at : array of shape (rows,)
        The point of every row.
    """

    tree: Any
    points: Array
    at: Indices

    @classmethod
    def of(cls, points: Array) -> Neighbours:
        """Prepare the points of rows, shape (rows, dimensions).

        Examples
        --------
        >>> found = Neighbours.of(np.array([[0.0], [1.0], [3.0], [1.0]]))
        >>> found.mean(np.array([1.0, 0.0, 1.0, 1.0]), np.array([[0.0], [3.0]]), 2).tolist()
        [0.75, 0.75]
        """
        from scipy.spatial import cKDTree

        unique, inverse = np.unique(points, axis=0, return_inverse=True)
        return cls(cKDTree(unique), unique, inverse.reshape(-1))

    def sums(self, values: Array) -> Array:
        """Return the sum of the rows' values at every point."""
        found = np.bincount(self.at, weights=values, minlength=len(self.points))
        return found.astype(np.float64)

    def mean(self, values: Array, queries: Array, k: int) -> Array:
        """Return the mean value of the k rows nearest to every query, shape (queries,)."""
        unique, inverse = np.unique(queries, axis=0, return_inverse=True)
        counts, sums = self.sums(np.ones(len(values))), self.sums(values)
        found = [each.mean(counts, sums, k) for each in self.around(unique, k)]
        answer: Array = np.concatenate(found)[inverse.reshape(-1)]
        return answer

    def around(self, queries: Array, k: int) -> Iterator[Around]:
        """Look up the k nearest rows of every query, with all at the distance of the k-th."""
        counts = self.sums(np.ones(len(self.at)))
        nearest = min(k, len(self.points))
        for start in range(0, len(queries), _QUERIES):
            asked = queries[start : start + _QUERIES]
            distances, at = self.tree.query(asked, k=nearest)
            distances, at = distances.reshape(len(asked), -1), at.reshape(len(asked), -1)
            enough = np.cumsum(counts[at], axis=1) >= min(k, counts.sum())
            radius = distances[np.arange(len(asked)), enough.argmax(axis=1)]
            within = self.tree.query_ball_point(asked, radius * (1 + _SAME) + _SAME**2)
            sizes = np.array([len(each) for each in within])
            points = np.fromiter(chain.from_iterable(within), np.int64, sizes.sum())
            yield Around.of(asked, sizes, points, self.points)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The points around many queries, those of one query together, the nearest first.

    Attributes
    ----------
    points : array of shape (pairs,)
    rings : array of shape (rings,)
        Where those at one distance begin, in ``points``.
    queries : array of shape (queries,)
        Where the rings of a query begin, in ``rings``.
    """

    points: Indices
    rings: Indices
    queries: Indices

    @classmethod
    def of(cls, queries: Array, sizes: Indices, points: Indices, among: Array) -> Around:
        """Sort the points found around queries, ``sizes`` of them each, by their distance."""
        owner = np.repeat(np.arange(len(queries)), sizes)
        distance = np.sqrt(((among[points] - queries[owner]) ** 2).sum(axis=1))
        order = np.lexsort((distance, owner))
        points, distance = points[order], distance[order]
        new = np.ones(len(points), dtype=bool)
        new[1:] = distance[1:] > distance[:-1] * (1 + _SAME) + _SAME**2
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        new[first] = True
        rings = np.flatnonzero(new)
        return cls(points, rings, np.searchsorted(rings, first))

    def mean(self, counts: Array, sums: Array, k: int) -> Array:
        """Return the mean value of the k nearest rows of every query.

        ``counts`` and ``sums`` are rows and values at every point that could be found.
        """
        held = np.add.reduceat(counts[self.points], self.rings)
        total = np.add.reduceat(sums[self.points], self.rings)
        before = np.cumsum(held) - held
        before -= np.repeat(before[self.queries], np.diff([*self.queries, len(held)]))
        taken = np.clip(k - before, 0.0, held)
        part = np.nan_to_num(quotient(taken * total, held))
        both = (np.add.reduceat(each, self.queries) for each in (part, taken))
        return quotient(*both)


def disagreement(points: Array, decided: Array, k: int, rng: np.random.Generator) -> Array:
    """Return how far decisions lie from the mean of their nearest rows, all and without blocks.

    Parameters
    ----------
    points : array of shape (rows, dimensions)
    decided : array of shape (rows,)
        1 or 0.
    k : int
        Neighbours, a row itself being one of its own.
    rng : numpy.random.Generator
        Deals the rows, in the order of their values, into `BLOCKS` blocks of equal size.

    Returns
    -------
    means : array of shape (1 + blocks,)
        Of all rows, and without each block: neither asked nor among the neighbours.

    Examples
    --------
    >>> points, decided = np.array([[0.0], [1.0], [9.0], [9.5]]), np.array([1.0, 0.0, 1.0, 1.0])
    >>> disagreement(points, decided, 2, np.random.default_rng(0)).round(3).tolist()[0]
    0.25
    """
    found = Neighbours.of(points)
    blocks = min(BLOCKS, len(points))
    block = np.empty(len(points), dtype=np.int64)
    block[np.lexsort((decided, found.at))] = rng.permutation(np.arange(len(points)) % blocks)
    away, rows = np.zeros(1 + blocks), np.zeros(1 + blocks)
    start = 0
    for around in found.around(found.points, _SPARE * k):
        here = slice(start, start + len(around.queries))
        start = here.stop
        for i in range(1 + blocks):
            kept = (block != i - 1).astype(np.float64)
            counts, yes = found.sums(kept), found.sums(kept * decided)
            mean = np.nan_to_num(around.mean(counts, yes, k))
            away[i] += (yes[here] * (1 - mean) + (counts[here] - yes[here]) * mean).sum()
            rows[i] += counts[here].sum()
    return quotient(away, rows)


@quiet
def jackknifed_share(values: Array, rows: int, confidence: float) -> Limits:
    """Limits of a mean of numbers in [0, 1] that are tied to each other, from blocks left out.

    The variance of the jackknife tells how many independent rows the mean is worth, and Wilson's
    limits of so many are taken, at the critical value of t with a degree for all but one block.

    Parameters
    ----------
    values : array of shape (1 + blocks,)
        The mean of all rows, and without each block.
    rows : int
        What the mean is worth where leaving out a block changes nothing.
    confidence : float in (0, 1)

    References
    ----------
    Kott (2001), Journal of Official Statistics 17, 521-526 (delete-a-group); Korn and Graubard
    (1998), Survey Methodology 24, 193-201 (effective rows).

    Examples
    --------
    >>> low, high = jackknifed_share(np.zeros(41), 100, 0.95)
    >>> float(low), round(float(high), 3)
    (0.0, 0.039)
    """
    mean, without = values[0], values[1:]
    blocks = len(without)
    variance = ((without - mean) ** 2).sum() * (blocks - 1) / blocks
    worth = mean * (1 - mean) / variance
    worth = np.where(np.isfinite(worth) & (worth > 0), worth, float(rows))
    return wilson(mean * worth, worth, critical_t(confidence, blocks - 1))
