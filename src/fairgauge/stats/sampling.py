"""Variances of weighted and clustered rows, and of survey designs.

The delete-a-group jackknife serves clusters, for any statistic: blocks of whole clusters are
omitted in turn, and how the statistic varies over these replicates is its variance. Clusters are
assigned to blocks at random, independent of names, codes and the order of rows. The usual sandwich
forgets that a large cluster pulls a share towards itself, which hides its own deviation; leaving
each out (CR3) does not. With a few large clusters the variance is known far less well than their
number suggests: its degrees of freedom follow from the sizes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.stats.arrays import Array, Index, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.intervals import effective_share, t_from_z, wilson

# the relative error of a statistic of counts, at most
_ROUNDING = 1e-13
_ROUNDING_OF_SUMS = 1e-11


def deviations(values: Array) -> Array:
    """Return the change of a statistic without each block, scaled to sum to its variance.

    ``values``: shape (1 + B, ...): the statistic of all rows, then without each of the B blocks.

    Shape (B, ...): the sum of their squares is the jackknife variance ``(B - 1)/B sum (t_b -
    t)^2``; the sum of products with those of another statistic is their covariance.

    >>> rows = np.array([1.0, 2.0, 4.0, 5.0])
    >>> means = np.array([rows.mean(), *((rows.sum() - rows) / 3)])
    >>> round(float((deviations(means) ** 2).sum()), 6), round(float(rows.var(ddof=1) / 4), 6)
    (0.833333, 0.833333)
    """
    # Tukey (1958), Annals of Mathematical Statistics 29, 614; Kott (2001), Journal of Official
    # Statistics 17, 521-526 (blocks of clusters).
    blocks = len(values) - 1
    with np.errstate(invalid="ignore"):
        moved = values[1:] - values[:1]
        # what does not vary by definition, such as a mean of shares that sum to 1, has no variance
        rounding = np.abs(moved) <= _ROUNDING * np.maximum(1.0, np.abs(values[:1]))
    return np.asarray(np.where(rounding, 0.0, moved) * np.sqrt((blocks - 1) / max(blocks, 1)))


def rows_of_blocks(rows: Array) -> Array:
    """Return the rows of every block, from those of all, then without each; shape (1 + B, ...).

    What rounding errors of sums of weights leave of none is none.
    """
    held = rows[:1] - rows[1:]
    return np.where(held > _ROUNDING_OF_SUMS * rows[:1], held, np.where(np.isnan(held), held, 0.0))


@quiet
def scaled_limits(
    estimate: Array, error: Array, critical: Array, least: float, most: float
) -> Limits:
    """Return the interval from a standard error, on a scale that respects the statistic's range.

    The scale is the logit between two finite ends, the logarithm of the distance from one, the
    statistic itself without ends; the delta method transforms the standard error.

    ``critical``: critical value of t; infinite gives the whole range.
    ``least, most``: the ends of the range.

    NaN where the error is unknown or 0, and where the estimate lies on an end of its range, where
    the transformation is infinite.

    >>> low, high = scaled_limits(np.array([0.9]), np.array([0.05]), np.array(2.0), 0.0, 1.0)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.748], [0.965])
    """
    below, above = estimate - least, most - estimate
    if np.isfinite(least) and np.isfinite(most):
        half = critical * error * (most - least) / (below * above)
        odds = below / above
        low, high = (least + (most - least) / (1 + np.exp(-s * half) / odds) for s in (-1, 1))
    elif np.isfinite(least):
        low, high = (least + below * np.exp(s * critical * error / below) for s in (-1, 1))
    elif np.isfinite(most):
        low, high = (most - above * np.exp(-s * critical * error / above) for s in (-1, 1))
    else:
        low, high = (estimate + s * critical * error for s in (-1, 1))
    known = (error > 0) & np.isfinite(error) & (below > 0) & (above > 0) & ~np.isnan(critical)
    low, high = np.where(np.isinf(critical), least, low), np.where(np.isinf(critical), most, high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def limits_at(
    estimate: Array, error: Array, rows: Array, critical: Array, ends: tuple[float, float]
) -> Limits:
    """Return the interval of a statistic: Wilson's of as many rows between two ends, else scaled.

    Between two finite ends it is that of a share of ``rows``, else that of `scaled_limits`.
    """
    least, most = ends
    if not (np.isfinite(least) and np.isfinite(most)):
        return scaled_limits(estimate, error, critical, least, most)
    span = most - least
    low, high = wilson(np.nan_to_num((estimate - least) / span) * rows, rows, critical)
    return least + span * low, least + span * high


_Bits: TypeAlias = NDArray[np.uint64]
_ROUNDS = 2


def content_ranks(names: Index, axes: Sequence[Index], counts: Array) -> tuple[Index, Index]:
    """Rank clusters by their contents, not by names, codes or the order of their rows.

    ``names``: shape (n,): the cluster of each entry.
    ``axes``: shape (n,): codes of each entry along every axis, from 0; a combination occurs once
        per cluster.
    ``counts``: shape (n,): count, or sum of weights, of the entry.

    Returns
    -------
    cluster : shape (n,): the clusters as 0 ... C - 1.
    ranks : shape (C,): clusters with equal contents have adjacent ranks.

    >>> names, cells = np.array([7, 7, 2, 9, 9]), np.array([3, 5, 3, 3, 5])
    >>> cluster, ranks = content_ranks(names, [cells], np.array([1.0, 2.0, 1.0, 1.0, 2.0]))
    >>> cluster.tolist(), abs(int(ranks[1] - ranks[2])), sorted(ranks.tolist())
    ([1, 1, 0, 2, 2], 1, [0, 1, 2])
    """
    # A code is known by the cells that have it, so that another order of the values of an axis (or
    # other names, which sort otherwise) changes nothing. Two values that have equal cells, and
    # clusters with equal contents, are interchangeable; they rank by their codes.
    distinct, cluster = np.unique(names, return_inverse=True)
    amounts = counts.astype(np.float32).view(np.uint32)  # sums of weights differ in the last digits
    cells = _mix_bits(amounts.astype(np.uint64))
    # values with equal totals differ in the cells that the first round marks them by
    for _ in range(_ROUNDS):
        values = [
            _sums_by_code(codes, cells, 1 + int(codes.max(initial=0)))[codes] for codes in axes
        ]
        for of_value in values:  # one axis after the other: they do not commute
            cells = _mix_bits(cells + _mix_bits(of_value))
    content = _sums_by_code(cluster, cells, len(distinct))
    ranks = np.empty(len(distinct), dtype=np.int64)
    ranks[np.argsort(content, kind="stable")] = np.arange(len(distinct))
    return cluster, ranks


def rank_by_cells(cluster: Index, kinds: Index, size: int) -> Index:
    """Rank clusters by the kinds of cells that they have; those of the same kinds rank equally.

    >>> ranks = rank_by_cells(np.array([0, 1, 1, 2, 2]), np.array([5, 3, 5, 5, 3]), 3).tolist()
    >>> ranks[1] == ranks[2] != ranks[0]
    True
    """
    content = _sums_by_code(cluster, _mix_bits(kinds.astype(np.uint64) + np.uint64(1)), size)
    return np.asarray(np.unique(content, return_inverse=True)[1].reshape(-1))


def _sums_by_code(codes: Index, cells: _Bits, size: int) -> _Bits:
    # sums modulo 2^64 of the cells with each code, whatever the order of the cells
    sums = np.zeros(size, dtype=np.uint64)
    np.add.at(sums, codes, cells)
    return sums


def assign_blocks(ranks: Index, blocks: int, seed: int) -> Index:
    """Assign ranks to blocks at random, the blocks being of equal size (up to one).

    ``ranks``: shape (C,): as returned by `content_ranks`.

    Shape (C,): numbers from 0 to ``blocks`` - 1.

    >>> block = assign_blocks(np.arange(10), 4, seed=0)
    >>> sorted(np.bincount(block).tolist())
    [2, 2, 3, 3]
    """
    rng = np.random.default_rng([seed, zlib.crc32(b"clusters")])
    return np.asarray((rng.permutation(len(ranks)) % blocks)[ranks])


def _mix_bits(bits: _Bits) -> _Bits:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: _Bits = bits ^ (bits >> np.uint64(31))
    return mixed


FEWEST_CLUSTERS = 5.0
"""Effective clusters below which an interval is not adequate: its t has too few degrees to be of
use. Coverage does not fall below the level with fewer, the interval becomes vacuous instead."""


class ShareVariance(NamedTuple):
    """The variance of the share of every side; arrays of shape (S,).

    ``rate, rows``: array
    ``variance``: array: the jackknife variance; nan with fewer than two clusters.
    ``degrees``: array: its degrees of freedom, by Satterthwaite; 0 with fewer than two clusters.
    ``clusters``: array: effective clusters: the number of equal ones with the same precision
        (Kish).
    """

    rate: Array
    rows: Array
    variance: Array
    degrees: Array
    clusters: Array


@quiet
def share_variance(x: Array, m: Array, clusters: Array) -> tuple[ShareVariance, Array]:
    """Return the jackknife variance of the share of every side, and its deviations.

    Leaving out a cluster moves a share by ``(x - p m) / (n - m)``.

    ``x, m``: shape (1 + B, S): successes and rows of all, then without each block of clusters.
    ``clusters``: shape (S,): the effective number of clusters.

    >>> x, m = np.array([[6.0], [5], [6], [3], [4]]), np.array([[10.0], [8], [8], [6], [8]])
    >>> found, _ = share_variance(x, m, np.array([3.5714]))
    >>> [round(float(each[0]), 4) for each in found[2:]]
    [0.0323, 2.4414, 3.5714]
    """
    # Bell & McCaffrey (2002), Survey Methodology 28, 169-181 (leverage, Satterthwaite's degrees);
    # MacKinnon, Nielsen & Webb (2023), Journal of Econometrics 232, 272-299 (the jackknife, CV3).
    share, sizes = x / m, rows_of_blocks(m)
    blocks, held = len(sizes), np.count_nonzero(sizes > 0, axis=0)  # in all, and of the side
    moved = deviations(share) * np.sqrt((1 - 1 / held) / (1 - 1 / blocks))
    degrees = satterthwaite_degrees(sizes.T)
    several = degrees > 0
    return ShareVariance(
        share[0], m[0], np.where(several, (moved**2).sum(axis=0), np.nan),
        np.where(several, degrees, 0.0), clusters,
    ), moved  # fmt: skip


@quiet
def effective_clusters(sizes: Array, blocks: Array, clusters: Array) -> Array:
    """Return the effective number of clusters (Kish) that are in random blocks.

    The squared coefficient of variation of blocks is that of clusters over how many are in a block.

    ``sizes``: shape (B, S): the rows of every block.
    ``blocks, clusters``: shape (S,): in how many blocks a side has rows, and how many clusters.

    >>> effective_clusters(np.array([[2.0], [2], [4], [2]]), np.array([4]), np.array([4])).round(4)
    array([3.5714])
    """
    kish = sizes.sum(axis=0) ** 2 / (sizes**2).sum(axis=0)
    uneven = np.maximum(blocks / kish - 1, 0.0)
    found = np.where(kish > 0, clusters / (1 + uneven * clusters / blocks), 0.0)
    return np.where(np.isnan(sizes).any(axis=0), np.nan, found)


@quiet
def effective_rows(found: ShareVariance, rows: ArrayLike, correlation: ArrayLike = 0.0) -> Array:
    """Return the independent rows of which a share would have this variance.

    ``rows``: independent rows that the side has at most: its rows, or their effective number by
        weight.
    ``correlation``: the intra-cluster correlation of all groups together, as of
        `intracluster_correlation`. Where the variance that follows from it is larger than the
        jackknife's, their geometric mean is taken: rare outcomes that lie in few clusters show too
        little of how alike a cluster's rows are.
    """
    # Where no cluster deviates (a share of 0 or 1) the effective clusters, because the data do not
    # show how alike the rows of one cluster are; 0 with fewer than two clusters.
    # Korn & Graubard (1998), Survey Methodology 24, 193-201.
    (rows, correlation) = floats(rows, correlation)
    p, independent = found.rate, found.rate * (1 - found.rate)
    size = quotient(found.rows, found.clusters)  # of a cluster, on average of rows
    scale = quotient(rows, found.rows)
    expected = independent / rows * (1 + correlation * np.maximum(size * scale - 1, 0.0))
    raised = np.where(expected > found.variance, np.sqrt(expected * found.variance), found.variance)
    deviates = (p > 0) & (p < 1) & (found.variance > 0)
    n_eff = np.minimum(np.where(deviates, independent / raised, found.clusters), rows)
    return np.where(found.degrees > 0, np.nan_to_num(n_eff), 0.0)


def largest_design_effect(rows: Array) -> float:
    """Return by how much clusters of so many rows raise a variance if the rows of each are alike.

    It is at least 1.

    >>> largest_design_effect(np.array([4.0, 4.0, 8.0]))
    6.0
    """
    return max(float((rows**2).sum() / max(rows.sum(), 1.0)), 1.0)


@quiet
def intracluster_correlation(found: ShareVariance, rows_per_weight: Array | float = 1.0) -> Array:
    """Return the correlation in clusters at which a share would have its jackknife variance.

    0 where no cluster has several rows.
    """
    # Kish (1965), Survey Sampling (design effect).
    rows = found.rows * rows_per_weight
    independent = found.rate * (1 - found.rate) / (rows - 1)
    at_one = independent * np.maximum(rows / found.clusters - 1, 0.0)
    known = (rows > 1) & np.isfinite(found.variance) & (at_one > 0)
    return np.where(known, np.clip((found.variance - independent) / at_one, 0.0, 1.0), 0.0)


@quiet
def satterthwaite_degrees(m: ArrayLike) -> Array:
    """Return the degrees of freedom of the jackknife variance of a share, from cluster sizes.

    Those of the chi-square with the mean and the variance that the variance estimate has for
    independent normal rows: the clusters less one where they are equal, 1 where one outweighs all.

    ``m``: shape (..., C): rows of every cluster.

    0 with fewer than two clusters.

    >>> satterthwaite_degrees([[5, 5, 5, 5], [5, 5, 5, 85]]).round(3).tolist()
    [3.0, 1.039]
    """
    # Bell & McCaffrey (2002), Survey Methodology 28, 169-181; Satterthwaite (1946), Biometrics
    # Bulletin 2, 110-114.
    (m,) = floats(m)
    share = m / m.sum(-1, keepdims=True)
    leverage = share / (1 - share)
    squares = (leverage**2).sum(-1)
    degrees = leverage.sum(-1) ** 2 / (squares + squares**2 - (leverage**4).sum(-1))
    return np.where(np.count_nonzero(m > 0, axis=-1) > 1, degrees, 0.0)


class Strata(NamedTuple):
    """The strata of a sample.

    ``of_unit``: array of shape (units,): the stratum of every sampling unit.
    ``units``: array of shape (strata,): how many units of the sample each has.
    """

    of_unit: Index
    units: Array

    @property
    def lonely(self) -> Mask:
        """Return which strata show no variance: with one unit."""
        return np.asarray(self.units <= 1)

    @property
    def factors(self) -> Array:
        """Return what squared deviations from the mean of a stratum are multiplied by."""
        return np.where(self.units > 1, self.units / np.maximum(self.units - 1, 1), 0.0)


class Deviations(NamedTuple):
    """What adds up to the variances and covariances of statistics: ``sign * by * by``.

    ``by`` is of shape (parts, n), ``sign`` of shape (parts,), or 1 for all.
    """

    by: Array
    sign: Array | float = 1.0

    def covariance(self, first: Index, other: Deviations, second: Index) -> Array:
        signed = np.reshape(self.sign, (-1, 1)) * self.by[:, first]
        return np.asarray(np.einsum("pn,pn->n", signed, other.by[:, second]))

    def correlation(self, first: Index, other: Deviations, second: Index) -> Array:
        """Return the correlation of some statistics with some of others, 0 where it is unknown."""
        product = self.variance[first] * other.variance[second]
        found = quotient(self.covariance(first, other, second), np.sqrt(product))
        return np.asarray(np.nan_to_num(np.clip(found, -1.0, 1.0)))

    @property
    def variance(self) -> Array:
        at = np.arange(self.by.shape[1])
        return np.maximum(self.covariance(at, self, at), 0.0)


def deviations_of_units(totals: Array, strata: Strata) -> Deviations:
    """Return the deviations of influences from the mean of their stratum.

    A stratum with a single unit enters with the unit itself: the mean of all influences is 0.

    ``totals``: array of shape (units, n): the sum of the influences in every sampling unit.

    >>> totals = np.array([[1.0], [3.0], [0.0], [1.0]])
    >>> strata = Strata(np.array([0, 0, 1, 1]), np.array([2.0, 2.0]))
    >>> deviations_of_units(totals, strata).variance.round(9).tolist()
    [5.0]
    """
    # Binder (1983), International Statistical Review 51, 279-292; Lumley (2010), Complex Surveys,
    # appendix A (lonely units).
    sums = np.zeros((len(strata.units), totals.shape[1]))
    np.add.at(sums, strata.of_unit, totals)
    several = (strata.units > 1)[strata.of_unit, None]
    means = np.where(several, (sums / strata.units[:, None])[strata.of_unit], 0.0)
    factors = np.where(strata.lonely, 1.0, strata.factors)[strata.of_unit]
    return Deviations(np.sqrt(factors)[:, None] * (totals - means))


def deviations_of_rows(squares: Array, totals: Array, strata: Strata, stratum: Index) -> Deviations:
    """Return the same of rows that are units themselves, from cells of alike ones.

    ``squares``: array of shape (cells, n): the root of the sum of the squared influences of a cell.
    ``totals``: array of shape (strata, n): the sum of the influences in every stratum.
    ``stratum``: array of shape (cells,)
    """
    by = [
        np.sqrt(strata.factors[stratum])[:, None] * squares,
        np.sqrt(strata.factors / strata.units)[:, None] * totals,
    ]
    return Deviations(np.concatenate(by), np.repeat([1.0, -1.0], [len(squares), len(totals)]))


def replicate_deviations(values: Array, factors: Array) -> Deviations:
    """Return the deviations of replicates from the full estimate, the first of ``values``."""
    # Wolter (2007), Introduction to Variance Estimation; Fay and Train (1995), Proceedings of the
    # Section on Government Statistics (successive differences).
    return Deviations(np.sqrt(factors)[:, None] * (values[1:] - values[:1]))


@quiet
def rows_of_level(level: Array, variance: Array, units: Array) -> Array:
    """Return the independent rows of which a level between 0 and 1 would have this variance.

    Where the sample shows no variance, ``units`` stand for them.
    """
    shown = (level > 0) & (level < 1) & (variance > 0)
    return np.where(shown, level * (1 - level) / np.where(shown, variance, 1.0), units)


@quiet
def design_limits(
    estimate: Array, variance: Array, units: Array, degrees: Array, ends: tuple[float, float],
    z: Array,
) -> Limits:  # fmt: skip
    """Return the limits of a statistic of dependent rows from its variance, by Student's t.

    Between two ends they are Wilson's at the effective sample size, else `jackknife.scaled_limits`;
    ``units`` stand for the rows where the sample shows no variance. NaN without degrees of freedom.
    """
    # Korn and Graubard (1998), Survey Methodology 24, 193-201 (degrees of freedom of a domain).
    t = t_from_z(z, degrees)
    known = (degrees > 0) & np.isfinite(variance)
    span = ends[1] - ends[0]
    n = rows_of_level((estimate - ends[0]) / span, variance / span**2, units)
    low, high = limits_at(estimate, np.sqrt(variance), n, t, ends)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


class SquaredWeights(NamedTuple):
    """Sums over the rows of a side in every stratum of squared weights, and of their products.

    Without weights they are the rows, the successes and the successes.

    ``rows, values, squares``: arrays of shape (..., S): times 1, the value and the squared value.
    """

    rows: Array
    values: Array
    squares: Array

    def variance(self, level: Array, slope: Array) -> Array:
        """Return the sum of the squared influences of independent rows, over the strata."""
        return np.asarray(
            (level**2 * self.rows + 2 * level * slope * self.values + slope**2 * self.squares)
            .sum(-1)
        )  # fmt: skip

    def about(self, mean: Array) -> SquaredWeights:
        """Return the same of the values less a mean in every stratum."""
        values = self.values - mean * self.rows
        squares = self.squares - 2 * mean * self.values + mean**2 * self.rows
        return SquaredWeights(self.rows, values, np.maximum(squares, 0.0))


class ClusterTotals(NamedTuple):
    """The totals of every cluster on both sides of every stratum where it has rows.

    ``cluster, side, stratum``: arrays of int, shape (C,): 0 is the group's side, 1 the reference's.
    ``rows, values``: arrays of shape (C,): sums of weights, and of weights times values.
    """

    cluster: Index
    side: Index
    stratum: Index
    rows: Array
    values: Array

    @property
    def shares(self) -> Array:
        """Return the share of every entry's cluster in its side."""
        clusters = 1 + int(self.cluster.max(initial=0))
        key = self.side * clusters + self.cluster
        of_cluster = np.bincount(key, self.rows, 2 * clusters)
        return np.asarray(of_cluster[key] / np.bincount(self.side, self.rows, 2)[self.side])

    @property
    def degrees(self) -> float:
        """Return the degrees of freedom of variances between clusters."""
        of_side = np.bincount(self.side, self.rows, 2)
        sizes = np.bincount(self.cluster, self.rows / of_side[self.side])
        return float(satterthwaite_degrees(sizes))


class Sampling(NamedTuple):
    """How the rows of both sides were sampled: their squared weights, and clusters if any."""

    group: SquaredWeights
    reference: SquaredWeights
    clusters: ClusterTotals | None = None

    def critical(self, z: float) -> float:
        """Return the critical value, of Student's t where there are clusters."""
        return z if self.clusters is None else float(t_from_z(z, self.clusters.degrees))

    @quiet
    def design_effect(self, level: Sequence[Array], slope: Sequence[Array]) -> float:
        """Return by how much clusters raise the variance of a statistic, at least 1.

        ``level, slope``: the influences of rows of the group, and of the reference, in every
        stratum.
        """
        # A cluster's influence is raised by what omitting it would add (jackknife).
        found = self.clusters
        if found is None:
            return 1.0
        at = found.side, found.stratum
        first, by_value = (np.stack(floats(*each))[at] for each in (level, slope))
        moved = (first * found.rows + by_value * found.values) / (1 - found.shares)
        totals = np.bincount(found.cluster, moved)
        clusters = len(np.unique(found.cluster))
        if not clusters:
            return float("inf")
        between = (clusters - 1) / clusters * float((totals**2).sum())
        sides = zip((self.group, self.reference), level, slope, strict=True)
        independent = sum(float(side.variance(*each)) for side, *each in sides)
        if not np.isfinite(between):
            return float("inf")
        return max(between / independent, 1.0) if independent > 0 else 1.0


@quiet
def effective_values(
    x: Array, n: Array, squared: SquaredWeights, *, rates: bool
) -> tuple[Array, Array, Array]:
    """Return values, rows and squares of as many independent rows as the means vary like.

    Of rates the rows are those of `fairgauge.stats.intervals.effective_share`, of other means
    Kish's, and the squares have the spread of the weighted values.

    >>> x, n = np.array([60.0]), np.array([200.0])  # 30 of 100 rows of weight 2
    >>> _, rows, _ = effective_values(x, n, SquaredWeights(2 * n, 2 * x, 2 * x), rates=True)
    >>> rows.round(6)
    array([100.])
    """
    mean = np.where(n > 0, x / n, 0.0)
    if rates:
        outside = np.maximum(squared.rows - squared.values, 0.0)
        rows = effective_share((x, n - x), (squared.values, outside), (n, n)).n
        return mean * rows, rows, mean * rows
    rows = np.where(n > 0, n**2 / squared.rows, 0.0)
    spread = np.where(n > 0, squared.about(mean).squares / squared.rows, 0.0)
    return mean * rows, rows, rows * (spread + mean**2)
