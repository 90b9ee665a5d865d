"""The delete-a-group jackknife over clusters, for any statistic.

Blocks of whole clusters are omitted in turn.  The variation of the statistic over these replicates
estimates its variance under clustered observations, whatever its formula.  Clusters are assigned to
blocks at random, independent of names, codes and the order of rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.stats.arrays import Array, Index, Limits, quiet

_ROUNDING = 1e-13
"""The relative error of a statistic of counts, at most."""


def deviations(values: Array) -> Array:
    """Return the change of a statistic without each block, scaled to sum to its variance.

    Parameters
    ----------
    values : array of shape (1 + B, ...)
        The statistic of all rows, then without each of the B blocks.

    Returns
    -------
    deviation : array of shape (B, ...)
        The sum of their squares is the jackknife variance ``(B - 1)/B sum (t_b - t)^2``; the sum
        of products with those of another statistic is their covariance.

    References
    ----------
    Tukey (1958), Annals of Mathematical Statistics 29, 614; Kott (2001), Journal of Official
    Statistics 17, 521-526 (blocks of clusters).

    Examples
    --------
    >>> rows = np.array([1.0, 2.0, 4.0, 5.0])
    >>> means = np.array([rows.mean(), *((rows.sum() - rows) / 3)])
    >>> round(float((deviations(means) ** 2).sum()), 6), round(float(rows.var(ddof=1) / 4), 6)
    (0.833333, 0.833333)
    """
    blocks = len(values) - 1
    with np.errstate(invalid="ignore"):
        moved = values[1:] - values[:1]
        # what does not vary by definition, such as a mean of shares that sum to 1, has no variance
        rounding = np.abs(moved) <= _ROUNDING * np.maximum(1.0, np.abs(values[:1]))
    return np.asarray(np.where(rounding, 0.0, moved) * np.sqrt((blocks - 1) / max(blocks, 1)))


@quiet
def scaled_limits(
    estimate: Array, error: Array, critical: Array, least: float, most: float
) -> Limits:
    """Return the interval from a standard error, on a scale that respects the statistic's range.

    The scale is the logit between two finite ends, the logarithm of the distance from one, the
    statistic itself without ends; the delta method transforms the standard error.

    Parameters
    ----------
    estimate, error : array
    critical : array
        Critical value of t; infinite gives the whole range.
    least, most : float
        The ends of the range.

    Returns
    -------
    low, high : array
        nan where the error is unknown or 0, and where the estimate lies on an end of its range,
        where the transformation is infinite.

    Examples
    --------
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


_Bits: TypeAlias = NDArray[np.uint64]
_ROUNDS = 2


def content_ranks(names: Index, axes: Sequence[Index], counts: Array) -> tuple[Index, Index]:
    """Rank clusters by their contents, not by names, codes or the order of their rows.

    A code is known by the cells that have it, so that another order of the values of an axis (or
    other names, which sort otherwise) changes nothing. Two values that have equal cells, and
    clusters with equal contents, are interchangeable; they rank by their codes.

    Parameters
    ----------
    names : array of shape (n,)
        The cluster of each entry.
    axes : sequence of arrays of shape (n,)
        Codes of each entry along every axis, from 0; a combination occurs once per cluster.
    counts : array of shape (n,)
        Count, or sum of weights, of the entry.

    Returns
    -------
    cluster : array of shape (n,)
        The clusters as 0 ... C - 1.
    ranks : array of shape (C,)
        Clusters with equal contents have adjacent ranks.

    Examples
    --------
    >>> names, cells = np.array([7, 7, 2, 9, 9]), np.array([3, 5, 3, 3, 5])
    >>> cluster, ranks = content_ranks(names, [cells], np.array([1.0, 2.0, 1.0, 1.0, 2.0]))
    >>> cluster.tolist(), abs(int(ranks[1] - ranks[2])), sorted(ranks.tolist())
    ([1, 1, 0, 2, 2], 1, [0, 1, 2])
    """
    distinct, cluster = np.unique(names, return_inverse=True)
    amounts = counts.astype(np.float32).view(np.uint32)  # sums of weights differ in the last digits
    cells = _mixed(amounts.astype(np.uint64))
    # values with equal totals differ in the cells that the first round marks them by
    for _ in range(_ROUNDS):
        values = [_sums(codes, cells, 1 + int(codes.max(initial=0)))[codes] for codes in axes]
        for of_value in values:  # one axis after the other: they do not commute
            cells = _mixed(cells + _mixed(of_value))
    content = _sums(cluster, cells, len(distinct))
    ranks = np.empty(len(distinct), dtype=np.int64)
    ranks[np.argsort(content, kind="stable")] = np.arange(len(distinct))
    return cluster, ranks


def rank_by_cells(cluster: Index, kinds: Index, size: int) -> Index:
    """Rank clusters by the kinds of cells that they have; those of the same kinds rank equally.

    >>> ranks = rank_by_cells(np.array([0, 1, 1, 2, 2]), np.array([5, 3, 5, 5, 3]), 3).tolist()
    >>> ranks[1] == ranks[2] != ranks[0]
    True
    """
    content = _sums(cluster, _mixed(kinds.astype(np.uint64) + np.uint64(1)), size)
    return np.asarray(np.unique(content, return_inverse=True)[1].reshape(-1))


def _sums(codes: Index, cells: _Bits, size: int) -> _Bits:
    """Return sums modulo 2^64 of the cells with each code, whatever the order of the cells."""
    sums = np.zeros(size, dtype=np.uint64)
    np.add.at(sums, codes, cells)
    return sums


def assign_blocks(ranks: Index, blocks: int, seed: int) -> Index:
    """Assign ranks to blocks at random, the blocks being of equal size (up to one).

    Parameters
    ----------
    ranks : array of shape (C,)
        As returned by `content_ranks`.
    blocks : int
    seed : int

    Returns
    -------
    block : array of shape (C,)
        Numbers from 0 to ``blocks`` - 1.

    Examples
    --------
    >>> block = assign_blocks(np.arange(10), 4, seed=0)
    >>> sorted(np.bincount(block).tolist())
    [2, 2, 3, 3]
    """
    rng = np.random.default_rng([seed, zlib.crc32(b"clusters")])
    return np.asarray((rng.permutation(len(ranks)) % blocks)[ranks])


def _mixed(bits: _Bits) -> _Bits:
    """Return hashes of numbers (the finaliser of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: _Bits = bits ^ (bits >> np.uint64(31))
    return mixed
