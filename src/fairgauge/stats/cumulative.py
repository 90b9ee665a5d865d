"""Kolmogorov-Smirnov and Wasserstein distances of two samples over ordered cells.

Both are norms of the difference of the cumulative distributions, so that the triangle inequality
bounds their sampling error by the norm of the error of that difference.  The error is simulated as
a Gaussian process with the empirical covariance (multiplier bootstrap), for real-valued counts too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, floats, quiet, quotient

Cumulative: TypeAlias = Literal["ks", "wasserstein"]

_MOST_CELLS = 512
"""Most cells that are simulated; more values are merged into cells of about equal counts."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class TwoSamples:
    """Two samples as counts over ordered cells, each represented by the mean of its values.

    Attributes
    ----------
    a, d : array of shape (B,)
        Rows of each sample.
    values : array of shape (B,), increasing
    """

    a: Array
    d: Array
    values: Array

    @classmethod
    def of(cls, a: Array, d: Array) -> TwoSamples:
        """Count two samples over their distinct values.

        Examples
        --------
        >>> cells = TwoSamples.of(np.array([3.0, 1.0, 3.0]), np.array([2.0, 3.0]))
        >>> cells.values.tolist(), cells.a.tolist(), cells.d.tolist()
        ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0], [0.0, 1.0, 1.0])
        """
        values, at = np.unique(np.concatenate([a, d]), return_inverse=True)
        of_a, of_d = (
            np.bincount(cells, minlength=len(values)).astype(np.float64)
            for cells in (at[: len(a)], at[len(a) :])
        )
        return cls(of_a, of_d, values)

    @property
    def widths(self) -> Array:
        """Return the steps from each cell to the next."""
        return np.diff(self.values)

    def distance(self, kind: Cumulative) -> float:
        """Return the distance of the two samples."""
        return float(cumulative_distance(self.a, self.d, self.widths, kind))

    def merged(self, most: int = _MOST_CELLS) -> TwoSamples:
        """Return at most so many cells, merging values of neighbouring ranks.

        Examples
        --------
        >>> cells = TwoSamples.of(np.arange(6.0), np.arange(6.0)).merged(3)
        >>> cells.values.tolist(), cells.a.tolist()
        ([0.5, 2.5, 4.5], [2.0, 2.0, 2.0])
        """
        if len(self.values) <= most:
            return self
        both = self.a + self.d
        _, cell = np.unique((np.cumsum(both) - 1) * most // both.sum(), return_inverse=True)
        a, d, sums = (
            np.bincount(cell, weights).astype(np.float64)
            for weights in (self.a, self.d, both * self.values)
        )
        return TwoSamples(a, d, sums / (a + d))


@quiet
def cumulative_distance(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative
) -> Array:  # fmt: skip
    """Return the largest difference of two cumulative distributions, or the area between them.

    Parameters
    ----------
    a, d : array-like of shape (..., B)
        Rows in each cell, cells in increasing order; an empty sample gives nan.
    widths : array-like of shape (B - 1,) or (B,)
        From the value of each cell to that of the next (of bins, from centre to centre), in the
        units of the values; a width after the last cell is ignored.
    kind : {"ks", "wasserstein"}

    Returns
    -------
    distance : array of shape (...)
        "ks" in [0, 1], "wasserstein" in the units of the values.

    Examples
    --------
    >>> a, d = [2, 1, 1], [0, 1, 3]
    >>> float(cumulative_distance(a, d, [1, 2], "ks"))
    0.5
    >>> float(cumulative_distance(a, d, [1, 2], "wasserstein"))
    1.5
    """
    a, d = floats(a, d)
    shares = [quotient(side, side.sum(-1, keepdims=True)) for side in (a, d)]
    return _norm(np.asarray(shares[1] - shares[0]), _steps(a, widths), kind)


def cumulative_errors(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative, rng: np.random.Generator,
    draws: int = 2000,
) -> Array:  # fmt: skip
    """Draw by how much, at most, the observed distance is off; for `norm_ball.ball`.

    The norm of a Gaussian process with the covariance that the two empirical distributions have,
    the divisors being n - 1.

    Parameters
    ----------
    a, d, widths, kind
        As for `cumulative_distance`; counts may be real numbers (effective sample sizes).

    Returns
    -------
    errors : array of shape (draws, ...)
        inf where a sample has fewer than two rows.

    References
    ----------
    van der Vaart & Wellner (1996), Weak Convergence and Empirical Processes, chapter 2.9.

    Examples
    --------
    >>> even = np.full(100, 4)
    >>> errors = cumulative_errors(even, even, np.ones(99), "ks", np.random.default_rng(0))
    >>> float(np.quantile(errors, 0.95).round(2))
    0.09
    """
    a, d = floats(a, d)
    moved = _share_errors(a, rng, draws) - _share_errors(d, rng, draws)
    known = np.minimum(a.sum(-1), d.sum(-1)) > 1
    return np.where(known, _norm(moved, _steps(a, widths), kind), np.inf)


def cumulative_test(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative, rng: np.random.Generator,
    draws: int = 2000,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the p-value of "both samples have one distribution", and the distance expected then.

    A permutation test of the distance, simulated as a Gaussian process.

    Parameters
    ----------
    a, d, widths, kind, rng, draws
        As for `cumulative_errors`.

    Returns
    -------
    p, expected : array of shape (...)
        ``p`` is at least ``1 / (draws + 1)``; nan where a sample is empty.

    Examples
    --------
    >>> a, d = [30, 40, 30, 0], [10, 30, 40, 20]
    >>> p, expected = cumulative_test(a, d, [1, 1, 1], "ks", np.random.default_rng(0))
    >>> bool(p < 0.01), float(expected.round(1))
    (True, 0.1)
    """
    a, d = floats(a, d)
    steps = _steps(a, widths)
    permuted = _norm(_permuted_gaps(a, d, rng, draws), steps, kind)
    observed = cumulative_distance(a, d, steps, kind) * (1 - _ROUNDING)
    p = (1 + (permuted >= observed).sum(axis=0)) / (draws + 1)
    known = np.minimum(a.sum(-1), d.sum(-1)) > 0
    return np.where(known, p, np.nan), np.where(known, permuted.mean(axis=0), np.nan)


def _steps(a: Array, widths: ArrayLike) -> Array:
    (steps,) = floats(widths)
    return steps[: a.shape[-1] - 1]


def _norm(gaps: Array, steps: Array, kind: Cumulative) -> Array:
    distance = np.cumsum(gaps, axis=-1)
    np.abs(distance, out=distance)
    return np.asarray(distance.max(axis=-1) if kind == "ks" else distance[..., :-1] @ steps)


@quiet
def _share_errors(counts: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw errors of the shares of a sample; shape (draws, ..., B).

    Independent normal numbers of variance p / (n - 1), less p times their sum, have the covariance
    (p - p p') / (n - 1) of the cells.
    """
    n = counts.sum(axis=-1, keepdims=True)
    share = np.nan_to_num(quotient(counts, n))
    spread = np.sqrt(share / np.where(n > 1, n - 1, np.inf))
    return _centred(rng.standard_normal((draws, *counts.shape)) * spread, share)


@quiet
def _permuted_gaps(a: Array, d: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw differences of shares under permuted group labels; shape (draws, ..., B).

    Its covariance is (p - p p') N / (N - 1) (1/n_a + 1/n_d), p being the pooled shares.
    """
    n_a, n_d = a.sum(axis=-1, keepdims=True), d.sum(axis=-1, keepdims=True)
    n = n_a + n_d
    share = quotient(a + d, n)
    factor = np.where(n > 1, n / (n - 1), 1.0) * (1 / n_a + 1 / n_d)
    spread = np.sqrt(share * np.where(np.isfinite(factor), factor, np.nan))
    return _centred(rng.standard_normal((draws, *a.shape)) * spread, share)


def _centred(normal: Array, share: Array) -> Array:
    normal -= share * normal.sum(axis=-1, keepdims=True)
    return normal
