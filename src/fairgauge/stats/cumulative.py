"""Distances of two cumulative distributions over ordered cells: Kolmogorov-Smirnov, Wasserstein.

Both are norms of the difference of the distributions, so that what is said of norms holds: the
norm moves by no more than the difference does.  How far that moves is drawn as a Gaussian process
of the empirical covariance (the multiplier bootstrap), which asks for no whole counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet, quotient
from fairgauge.stats.intervals import tail_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

Cumulative: TypeAlias = Literal["ks", "wasserstein"]

BLOCK = 4_000_000
"""Numbers drawn at once: more strata are worked off in blocks."""
_MOST_CELLS = 512
"""Cells that limits are made from; of more values, cells of about equally many rows."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Two samples as counts over ordered cells, each cell standing at the mean of its values.

    Attributes
    ----------
    a, d : array of shape (B,)
    values : array of shape (B,), rising
    """

    a: Array
    d: Array
    values: Array

    @classmethod
    def of(cls, a: Array, d: Array) -> Cells:
        """Count two samples over their distinct values.

        Examples
        --------
        >>> cells = Cells.of(np.array([3.0, 1.0, 3.0]), np.array([2.0, 3.0]))
        >>> cells.values.tolist(), cells.a.tolist(), cells.d.tolist()
        ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0], [0.0, 1.0, 1.0])
        """
        values, at = np.unique(np.concatenate([a, d]), return_inverse=True)
        ours, theirs = (
            np.bincount(each, minlength=len(values)).astype(np.float64)
            for each in (at[: len(a)], at[len(a) :])
        )
        return cls(ours, theirs, values)

    @property
    def widths(self) -> Array:
        """Return the steps from each cell to the next."""
        return np.diff(self.values)

    def distance(self, kind: Cumulative) -> float:
        """Return the distance of the two samples."""
        return float(cumulative_distance(self.a, self.d, self.widths, kind))

    def merged(self, most: int = _MOST_CELLS) -> Cells:
        """Return at most so many cells: values of neighbouring ranks together.

        Examples
        --------
        >>> cells = Cells.of(np.arange(6.0), np.arange(6.0)).merged(3)
        >>> cells.values.tolist(), cells.a.tolist()
        ([0.5, 2.5, 4.5], [2.0, 2.0, 2.0])
        """
        if len(self.values) <= most:
            return self
        both = self.a + self.d
        _, cell = np.unique((np.cumsum(both) - 1) * most // both.sum(), return_inverse=True)
        a, d, sums = (
            np.bincount(cell, each).astype(np.float64)
            for each in (self.a, self.d, both * self.values)
        )
        return Cells(a, d, sums / (a + d))


@quiet
def cumulative_distance(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative
) -> Array:  # fmt: skip
    """Return the largest gap of two cumulative distributions, or the area between them.

    Parameters
    ----------
    a, d : array-like of shape (..., B)
        Rows in each cell, the cells in rising order; an empty side gives nan.
    widths : array-like of shape (B - 1,) or (B,)
        From the value of each cell to that of the next (of bins, from middle to middle), in the
        units of the values; what stands beyond the last cell is not read.
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


def cumulative_radius(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative, confidence: float,
    rng: np.random.Generator, draws: int = 2000,
) -> Array:  # fmt: skip
    """Return how far the observed difference of the distributions may lie from the true one.

    The quantile of the norm of a Gaussian process with the covariance that the two empirical
    distributions have, the divisors being n - 1.

    Parameters
    ----------
    a, d, widths, kind
        As for `cumulative_distance`; real numbers are welcome (effective rows).
    confidence : float in (0, 1)
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    radius : array of shape (...)
        inf where a side has one row or none: it says nothing.

    References
    ----------
    van der Vaart & Wellner (1996), Weak Convergence and Empirical Processes, chapter 2.9.

    Examples
    --------
    >>> even = np.full(100, 4)
    >>> rng = np.random.default_rng(0)
    >>> float(cumulative_radius(even, even, np.ones(99), "ks", 0.95, rng).round(2))
    0.09
    """
    level = 1 - 2 * tail_of(confidence)
    a, d = floats(a, d)
    steps = _steps(a, widths)

    def radius(a: Array, d: Array) -> Array:
        moved = _moved(a, rng, draws) - _moved(d, rng, draws)
        return np.asarray(np.quantile(_norm(moved, steps, kind), level, axis=0))

    known = np.minimum(a.sum(-1), d.sum(-1)) > 1
    return np.where(known, _blocks(radius, draws, a, d), np.inf)


def cumulative_floor(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative, rng: np.random.Generator,
    draws: int = 2000,
) -> Array:  # fmt: skip
    """Return the distance to expect between two groups that do not differ at all.

    Parameters
    ----------
    a, d, widths, kind, rng, draws
        As for `cumulative_radius`.

    Returns
    -------
    floor : array of shape (...)
        nan where a side is empty.

    Examples
    --------
    >>> even = np.full(100, 4)
    >>> rng = np.random.default_rng(0)
    >>> float(cumulative_floor(even, even, np.ones(99), "ks", rng).round(2))
    0.06
    """
    a, d = floats(a, d)
    steps = _steps(a, widths)

    def floor(a: Array, d: Array) -> Array:
        return np.asarray(_norm(_by_chance(a, d, rng, draws), steps, kind).mean(axis=0))

    return _blocks(floor, draws, a, d)


def cumulative_p(
    a: ArrayLike, d: ArrayLike, widths: ArrayLike, kind: Cumulative, rng: np.random.Generator,
    draws: int = 2000,
) -> Array:  # fmt: skip
    """Return the p-value of "one distribution": how often chance alone gives such a distance.

    Chance moves the difference as permuting the rows' groups would, drawn as a Gaussian process.

    Parameters
    ----------
    a, d, widths, kind, rng, draws
        As for `cumulative_radius`.

    Returns
    -------
    p : array of shape (...)
        At least ``1 / (draws + 1)``; nan where a side is empty.

    Examples
    --------
    >>> a, d = [30, 40, 30, 0], [10, 30, 40, 20]
    >>> bool(cumulative_p(a, d, [1, 1, 1], "ks", np.random.default_rng(0)) < 0.01)
    True
    """
    a, d = floats(a, d)
    steps = _steps(a, widths)

    def extreme(a: Array, d: Array) -> Array:
        observed = cumulative_distance(a, d, steps, kind)
        chance = _norm(_by_chance(a, d, rng, draws), steps, kind)
        return np.asarray((chance >= observed * (1 - _ROUNDING)).sum(axis=0), dtype=np.float64)

    p = (1 + _blocks(extreme, draws, a, d)) / (draws + 1)
    return np.where(np.minimum(a.sum(-1), d.sum(-1)) > 0, p, np.nan)


def _steps(a: Array, widths: ArrayLike) -> Array:
    (steps,) = floats(widths)
    return steps[: a.shape[-1] - 1]


def _norm(gaps: Array, steps: Array, kind: Cumulative) -> Array:
    """Return the norm of a difference of cumulative distributions, of its steps at every cell."""
    away = np.cumsum(gaps, axis=-1)
    np.abs(away, out=away)
    return np.asarray(away.max(axis=-1) if kind == "ks" else away[..., :-1] @ steps)


@quiet
def _moved(counts: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw how far the shares of a sample may be off; shape (draws, ..., B).

    Independent normal numbers of variance p / (n - 1), less p times their sum, have the covariance
    (p - p p') / (n - 1) of the cells.
    """
    n = counts.sum(axis=-1, keepdims=True)
    share = np.nan_to_num(quotient(counts, n))
    spread = np.sqrt(share / np.where(n > 1, n - 1, np.inf))
    return _centred(rng.standard_normal((draws, *counts.shape)) * spread, share)


@quiet
def _by_chance(a: Array, d: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw the difference of shares that permuting the rows' groups gives; (draws, ..., B).

    Its covariance is (p - p p') N / (N - 1) (1/n_a + 1/n_d), p being the shares of both together.
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


def _blocks(function: Callable[..., Array], draws: int, *arrays: Array) -> Array:
    """Apply `function` along the strata (leading axes), few enough at a time to fit in memory."""
    strata = arrays[0].shape[:-1]
    flat = [x.reshape(-1, x.shape[-1]) for x in arrays]
    step = max(1, BLOCK // (draws * arrays[0].shape[-1]))
    parts = [function(*(x[i : i + step] for x in flat)) for i in range(0, len(flat[0]), step)]
    return np.concatenate([np.empty(0), *parts]).reshape(strata)
