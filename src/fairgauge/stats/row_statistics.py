"""Statistics of single rows: rankings, quantiles, and means over nearest neighbours.

Rows of equal score share their ranks: each has the mean of the values of these ranks. The exposures
of the ranks are fixed and concentrated in the top ranks; the group membership of the rows is
random. Student's intervals of the two means undercover: with 20 of 400 rows in the group they
contain the true ratio in 82 % of rankings.

Of neighbours, equal points are merged, so that the order of rows has no effect; points at the
distance of the k-th neighbour are all included, with equal weights for the remaining neighbours.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.start.records import dataclass
from fairgauge.stats import intervals
from fairgauge.stats._roots import bisect
from fairgauge.stats.arrays import Array, Index, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_ratio
from fairgauge.stats.sampling import deviations, rows_of_level
from fairgauge.stats.significance import invert, two_sided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.spatial import cKDTree


# exposures that differ by less are equal
_LEVEL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows in descending order of their scores.

    ``order``: array of shape (rows,): the row at each rank.
    ``ties``: array of shape (rows,): the number of the tie at each rank, increasing from 0.
    """

    order: Index
    ties: Index

    @classmethod
    def of(cls, score: Array) -> Ranking:
        """Rank rows by their scores.

        >>> ranking = Ranking.of(np.array([0.2, 0.9, 0.2]))
        >>> ranking.order.tolist(), ranking.ties.tolist()
        ([1, 0, 2], [0, 1, 1])
        """
        order = np.argsort(-score, kind="stable")
        return cls(order, np.concatenate([[0], np.cumsum(np.diff(score[order]) != 0)]))

    def shared(self, values: Array) -> Array:
        """Return the value of every row from values of the ranks, tied rows having their mean.

        >>> Ranking.of(np.array([0.2, 0.9, 0.2])).shared(np.array([4.0, 2.0, 1.0])).tolist()
        [1.5, 4.0, 1.5]
        """
        shared = np.empty(len(self.order))
        mean = np.bincount(self.ties, weights=values) / np.bincount(self.ties)
        shared[self.order] = mean[self.ties]
        return shared

    def exposure(self) -> Array:
        """Return 1 / log2(rank + 1) of every row."""
        return self.shared(1 / np.log2(np.arange(2.0, len(self.order) + 2.0)))

    def within(self, places: int) -> Array:
        """Return the fraction of each row among the first ranks: 1, 0, or a share of a tie."""
        return self.shared((np.arange(len(self.order)) < places).astype(np.float64))


@quiet
def top_ratio(
    held: ArrayLike, others: ArrayLike, n: ArrayLike, m: ArrayLike, z: ArrayLike
) -> Limits:
    """Return the interval of ``(held / n) / (others / m)``, a ratio of selection rates at the top.

    ``held, others``: top ranks of the group and of its reference; fractional with ties.
    ``n, m``: ranked rows of both.

    >>> low, high = top_ratio(30, 70, 400, 600, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.42, 0.983)
    """
    # The number of top ranks is fixed, so that ``held`` of ``held + others`` is a proportion; its
    # odds, divided by ``n / m``, are the ratio, and so are Wilson's limits of the odds.
    low, high = intervals.wilson_odds(held, others, z)
    times = quotient(m, n)
    return np.asarray(low * times), np.asarray(high * times)


@quiet
def top_p(held: ArrayLike, places: ArrayLike, n: ArrayLike, total: ArrayLike) -> Array:
    """Return the p-value of "as frequent as overall", which agrees with `top_ratio`, `top_skew`.

    >>> round(float(top_p(30, 100, 400, 1000)), 4)
    0.0412
    """
    held, places, n, total = floats(held, places, n, total)
    share = n / total
    spread = np.sqrt(places * share * (1 - share))
    return two_sided(np.where(spread > 0, (held - places * share) / spread, 0.0))


def exposure_interval(group: Array, reference: Array, z: float) -> tuple[float, float, float]:
    """Return the interval of the ratio of mean exposures of two sides, and its p-value.

    ``group, reference``: shape (rows,): exposure of the rows of both sides, which share no row.
    NaN where all exposures are equal.

    >>> exposure = 1 / np.log2(np.arange(2, 102))
    >>> low, high, p = exposure_interval(exposure[1::2], exposure[::2], 1.959964)
    >>> round(low, 2), round(high, 2), round(p, 1)
    (0.7, 1.25, 0.6)
    """
    # By MOVER of two skewed means (Johnson's), each with the larger skewness: its own, or that of
    # all rows. A few rows show too little of it, as the top ranks hold most of the exposure.
    group, reference = np.sort(group), np.sort(reference)  # sums in an order that rows do not have
    every = np.sort(np.concatenate([group, reference]))
    if np.ptp(every) < _LEVEL:
        return np.nan, np.nan, np.nan
    of_all = _moments_of_values(every)
    sides = [
        intervals.borrow_skewness(_moments_of_values(side), of_all) for side in (group, reference)
    ]

    def limits(z: Array) -> Limits:
        ends: list[ArrayLike] = []
        for moments in sides:
            low, high = intervals.mean_limits(moments, z)
            ends += [moments.mean, np.maximum(low, 0.0), high]
        return mover_ratio(*ends)

    low, high = limits(np.asarray(z))
    return float(low), float(high), float(invert(limits, 1.0))


def ratio_over_lists(
    group: Array, group_lists: Index, reference: Array, reference_lists: Index, confidence: float
) -> tuple[float, float, float, int]:
    """Return the interval of the ratio of two means over clusters, its p-value, and their number.

    ``group, reference``: values of the rows of both sides, which share no row; ``..._lists``: the
    cluster of each. The logarithm is linearised, with Student's distribution of one degree less
    than there are clusters (Cochran 1977, section 6.3). NaN where a side has only zeros.

    >>> lists, held = np.arange(40) // 2, np.tile([1.0, 0.0], 20)
    >>> low, high, p, n = ratio_over_lists(held, lists, held[::-1] * 1.0, lists, 0.95)
    >>> low, high, n
    (1.0, 1.0, 20)
    """
    from scipy.special import stdtr

    number = len(np.unique(np.concatenate([group_lists, reference_lists])))
    most = int(max(group_lists.max(), reference_lists.max())) + 1
    if number < 2 or not group.sum() or not reference.sum():
        return np.nan, np.nan, np.nan, number
    moved = np.zeros(most)
    for values, lists, sign in ((group, group_lists, 1), (reference, reference_lists, -1)):
        moved += sign * np.bincount(lists, values, most) / values.sum()
        moved -= sign * np.bincount(lists, minlength=most) / len(values)
    error = float(np.sqrt(number / (number - 1) * (moved**2).sum()))
    ratio = float(np.log(group.mean() / reference.mean()))
    away = float(intervals.critical_t(confidence, number - 1)) * error
    p = float(2 * stdtr(number - 1, -abs(ratio) / error)) if error else float(ratio == 0)
    return float(np.exp(ratio - away)), float(np.exp(ratio + away)), p, number


def _moments_of_values(values: Array) -> intervals.MeanMoments:
    sums = intervals.PowerSums(*((values**power).sum() for power in range(4)))
    return intervals.mean_moments(sums, sums, sums)


# 40 halvings of 0 to 8 find a critical value to 7e-12; the tail beyond 8 is 6e-16
_LARGEST_Z = 8.0
_BISECTIONS = 40


class ComparedQuantiles(NamedTuple):
    """The difference or the ratio of a quantile of two samples; ends may be infinite."""

    value: float
    low: float
    high: float
    p: float


def quantile_limits(values: Array, q: float, z: float) -> tuple[float, float]:
    """Return the limits of a quantile: the values of two ranks, of whatever distribution.

    The chance that the quantile is beyond either of them is at most that beyond z. Without such a
    rank the limit is infinite.

    ``values``: shape (n,): a sample, ascending.

    >>> quantile_limits(np.arange(1.0, 26.0), 0.5, 1.959964)
    (8.0, 18.0)
    """
    # David & Nagaraja (2003), Order Statistics, 3rd edition, section 7.1.
    from scipy.special import bdtr, bdtrc, ndtr

    n, tail = len(values), float(ndtr(-z))
    reach = (z + 3) * np.sqrt(n * q * (1 - q)) + 3
    first, last = max(int(n * q - reach), 0), min(int(n * q + reach) + 1, n)
    ranks = np.arange(first, last + 1)
    below = ranks[(ranks > 0) & (bdtr(ranks - 1.0, n, q) <= tail)]
    above = ranks[(ranks > 0) & (bdtrc(ranks - 1.0, n, q) <= tail)]
    low = float(values[below[-1] - 1]) if len(below) else -np.inf
    return low, float(values[above[0] - 1]) if len(above) else np.inf


def compared_quantiles(
    ours: Array, theirs: Array, q: float, confidence: float, *, ratio: bool = False
) -> ComparedQuantiles:
    """Return the difference, or the ratio, of a quantile of two samples that share no row.

    Limits are those of both sides by MOVER, of a ratio on the log scale; the p-value is that at
    which they begin to include no difference.

    >>> sample = np.arange(1.0, 26.0)
    >>> compared_quantiles(sample + 4, sample, 0.5, 0.95)[:3]
    (4.0, -3.0710678118654755, 11.071067811865476)
    """
    ours, theirs = np.sort(ours), np.sort(theirs)
    values = [float(np.quantile(each, q)) for each in (ours, theirs)]

    def scaled(numbers: tuple[float, ...]) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.maximum(numbers, 0.0)) if ratio else np.asarray(numbers)

    def limits(z: float) -> tuple[float, float]:
        sides = [
            scaled((value, *quantile_limits(each, q, z)))
            for each, value in zip((ours, theirs), values, strict=True)
        ]
        low, high = mover_difference(*sides[0], *sides[1])
        return float(low), float(high)

    def excludes(z: Array) -> Mask:
        low, high = limits(float(z))
        return np.asarray(low > 0 or high < 0)

    inside, _ = bisect(excludes, np.zeros(()), np.full((), _LARGEST_Z), _BISECTIONS)
    low, high = limits(intervals.critical(confidence))
    if ratio:
        value = values[0] / values[1] if min(values) > 0 else np.nan
        low, high = float(np.exp(low)), float(np.exp(high))
    else:
        value = values[0] - values[1]
    return ComparedQuantiles(value, low, high, float(two_sided(inside)))


# relative difference below which two distances are equal
_SAME = 1e-9
# most points per look-up
_QUERIES = 100_000
BLOCKS = 40
"""Blocks of rows of the jackknife."""
# neighbours looked up per neighbour needed, so that enough remain without a block
_SPARE = 2


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """An index of points, equal ones merged.

    ``points``: array of shape (points, dimensions): the distinct points.
    ``at``: array of shape (rows,): the point of every row.
    """

    tree: cKDTree
    points: Array
    at: Index

    @classmethod
    def of(cls, points: Array) -> Neighbours:
        """Index the points of rows, shape (rows, dimensions).

        >>> neighbours = Neighbours.of(np.array([[0.0], [1.0], [3.0], [1.0]]))
        >>> neighbours.mean(np.array([1.0, 0.0, 1.0, 1.0]), np.array([[0.0], [3.0]]), 2).tolist()
        [0.75, 0.75]
        """
        from scipy.spatial import cKDTree

        unique, inverse = np.unique(points, axis=0, return_inverse=True)
        return cls(cKDTree(unique), unique, inverse.reshape(-1))

    def sums(self, values: Array) -> Array:
        """Return the sum of the rows' values at every point."""
        return np.bincount(self.at, weights=values, minlength=len(self.points)).astype(np.float64)

    def mean(self, values: Array, queries: Array, k: int) -> Array:
        """Return the mean value of the k rows nearest to every query, shape (queries,)."""
        unique, inverse = np.unique(queries, axis=0, return_inverse=True)
        counts, sums = self.sums(np.ones(len(values))), self.sums(values)
        means = [around.mean(counts, sums, k) for around in self.around(unique, k)]
        return np.asarray(np.concatenate(means)[inverse.reshape(-1)])

    def around(self, queries: Array, k: int) -> Iterator[NearbyPoints]:
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
            owner = np.repeat(np.arange(len(block)), sizes)
            distance = np.sqrt(((self.points[points] - block[owner]) ** 2).sum(axis=1))
            order = np.lexsort((distance, owner))
            points, distance = points[order], distance[order]
            new = np.ones(len(points), dtype=bool)
            new[1:] = distance[1:] > distance[:-1] * (1 + _SAME) + _SAME**2
            first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
            new[first] = True
            rings = np.flatnonzero(new)
            yield NearbyPoints(points, rings, np.searchsorted(rings, first))


@dataclass(frozen=True, slots=True, eq=False)
class NearbyPoints:
    """The points around many queries, grouped by query and sorted by distance.

    ``points``: array of shape (pairs,)
    ``rings``: array of shape (rings,): starts of the points at one distance, in ``points``.
    ``queries``: array of shape (queries,): starts of the rings of each query, in ``rings``.
    """

    points: Index
    rings: Index
    queries: Index

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

    ``points``: shape (rows, dimensions)
    ``decided``: shape (rows,): 1 or 0.
    ``k``: neighbours, a row itself being one of its own.
    ``rng``: assigns the rows, in the order of their values, to `BLOCKS` blocks of equal size.

    Shape (1 + blocks,): of all rows, and without each block, its rows being neither queries nor
    neighbours.

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

    ``values``: shape (1 + blocks,): the mean of all rows, and without each block.
    ``rows``: effective sample size where the jackknife variance is 0.

    >>> low, high = jackknifed_share(np.zeros(41), 100, 0.95)
    >>> float(low), round(float(high), 3)
    (0.0, 0.039)
    """
    # Kott (2001), Journal of Official Statistics 17, 521-526 (delete-a-group); Korn and Graubard
    # (1998), Survey Methodology 24, 193-201 (effective rows).
    n = rows_of_level(values[0], (deviations(values) ** 2).sum(), np.asarray(float(rows)))
    return intervals.wilson(values[0] * n, n, intervals.critical_t(confidence, len(values) - 2))
