"""Means over nearest neighbours, also without blocks of rows (delete-a-group jackknife).

Equal points are merged, so that the order of rows has no effect; points at the distance of the
k-th neighbour are all included, with equal weights for the remaining neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, quiet, quotient
from fairgauge.stats.intervals import critical_t, wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from scipy.spatial import cKDTree

    Indices = NDArray[np.int64]

_SAME = 1e-9
"""Relative difference below which two distances are equal."""
_QUERIES = 100_000
"""Most points per look-up."""
BLOCKS = 40
"""Blocks of rows of the jackknife."""
_SPARE = 2
"""Neighbours looked up per neighbour needed, so that enough remain without a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """An index of points, equal ones merged.

    Attributes
    ----------
    points : array of shape (points, dimensions)
        The distinct points.
    at : array of shape (rows,)
        The point of every row.
    """

    tree: cKDTree
    points: Array
    at: Indices

    @classmethod
    def of(cls, points: Array) -> Neighbours:
        """Index the points of rows, shape (rows, dimensions).

        Examples
        --------
        >>> neighbours = Neighbours.of(np.array([[0.0], [1.0], [3.0], [1.0]]))
        >>> neighbours.mean(np.array([1.0, 0.0, 1.0, 1.0]), np.array([[0.0], [3.0]]), 2).tolist()
        [0.75, 0.75]
        """
        from scipy.spatial import cKDTree

        unique, inverse = np.unique(points, axis=0, return_inverse=True)
        return cls(cKDTree(unique), unique, inverse.reshape(-1))

    def sums(self, values: Array) -> Array:
        """Return the sum of the rows' values at every point."""
        sums = np.bincount(self.at, weights=values, minlength=len(self.points))
        return sums.astype(np.float64)

    def mean(self, values: Array, queries: Array, k: int) -> Array:
        """Return the mean value of the k rows nearest to every query, shape (queries,)."""
        unique, inverse = np.unique(queries, axis=0, return_inverse=True)
        counts, sums = self.sums(np.ones(len(values))), self.sums(values)
        means = [around.mean(counts, sums, k) for around in self.around(unique, k)]
        return np.asarray(np.concatenate(means)[inverse.reshape(-1)])

    def around(self, queries: Array, k: int) -> Iterator[Around]:
        """Look up the k nearest rows of every query, and all others at the distance of the k-th."""
        counts = self.sums(np.ones(len(self.at)))
        nearest = min(k, len(self.points))
        for start in range(0, len(queries), _QUERIES):
            block = queries[start : start + _QUERIES]
            distances, at = self.tree.query(block, k=nearest)
            distances, at = distances.reshape(len(block), -1), at.reshape(len(block), -1)
            enough = np.cumsum(counts[at], axis=1) >= min(k, counts.sum())
            radius = distances[np.arange(len(block)), enough.argmax(axis=1)]
            within = self.tree.query_ball_point(block, radius * (1 + _SAME) + _SAME**2)
            sizes = np.array([len(points) for points in within])
            points = np.fromiter(chain.from_iterable(within), np.int64, sizes.sum())
            yield Around.of(block, sizes, points, self.points)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The points around many queries, grouped by query and sorted by distance.

    Attributes
    ----------
    points : array of shape (pairs,)
    rings : array of shape (rings,)
        Starts of the points at one distance, in ``points``.
    queries : array of shape (queries,)
        Starts of the rings of each query, in ``rings``.
    """

    points: Indices
    rings: Indices
    queries: Indices

    @classmethod
    def of(cls, queries: Array, sizes: Indices, points: Indices, among: Array) -> Around:
        """Sort the points around queries, ``sizes`` of them per query, by distance."""
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

        ``counts`` and ``sums`` are rows and sums of their values at every indexed point.
        """
        rows = np.add.reduceat(counts[self.points], self.rings)
        total = np.add.reduceat(sums[self.points], self.rings)
        before = np.cumsum(rows) - rows
        before -= np.repeat(before[self.queries], np.diff([*self.queries, len(rows)]))
        used = np.clip(k - before, 0.0, rows)
        part = np.nan_to_num(quotient(used * total, rows))
        return quotient(np.add.reduceat(part, self.queries), np.add.reduceat(used, self.queries))


def disagreement(points: Array, decided: Array, k: int, rng: np.random.Generator) -> Array:
    """Return the mean difference of decisions from those of their nearest rows, and its replicates.

    Parameters
    ----------
    points : array of shape (rows, dimensions)
    decided : array of shape (rows,)
        1 or 0.
    k : int
        Neighbours, a row itself being one of its own.
    rng : numpy.random.Generator
        Assigns the rows, in the order of their values, to `BLOCKS` blocks of equal size.

    Returns
    -------
    means : array of shape (1 + blocks,)
        Of all rows, and without each block, its rows being neither queries nor neighbours.

    Examples
    --------
    >>> points, decided = np.array([[0.0], [1.0], [9.0], [9.5]]), np.array([1.0, 0.0, 1.0, 1.0])
    >>> disagreement(points, decided, 2, np.random.default_rng(0)).round(3).tolist()[0]
    0.25
    """
    neighbours = Neighbours.of(points)
    blocks = min(BLOCKS, len(points))
    block = np.empty(len(points), dtype=np.int64)
    block[np.lexsort((decided, neighbours.at))] = rng.permutation(np.arange(len(points)) % blocks)
    away, rows = np.zeros(1 + blocks), np.zeros(1 + blocks)
    start = 0
    for around in neighbours.around(neighbours.points, _SPARE * k):
        here = slice(start, start + len(around.queries))
        start = here.stop
        for i in range(1 + blocks):
            kept = (block != i - 1).astype(np.float64)
            counts = neighbours.sums(kept)
            positives = neighbours.sums(kept * decided)
            mean = np.nan_to_num(around.mean(counts, positives, k))
            ones, zeros = positives[here], (counts - positives)[here]
            away[i] += (ones * (1 - mean) + zeros * mean).sum()
            rows[i] += counts[here].sum()
    return quotient(away, rows)


@quiet
def jackknifed_share(values: Array, rows: int, confidence: float) -> Limits:
    """Return the interval of a mean of dependent numbers in [0, 1], from jackknife replicates.

    Wilson's interval at the effective sample size that the jackknife variance implies, with the
    critical value of t with one degree of freedom fewer than blocks.

    Parameters
    ----------
    values : array of shape (1 + blocks,)
        The mean of all rows, and without each block.
    rows : int
        Effective sample size where the jackknife variance is 0.

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
    n = mean * (1 - mean) / variance
    n = np.where(np.isfinite(n) & (n > 0), n, float(rows))
    return wilson(mean * n, n, critical_t(confidence, blocks - 1))
