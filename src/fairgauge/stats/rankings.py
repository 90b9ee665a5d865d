"""Rankings: what places are worth, who holds the top of them, and how even every top is.

Rows of one score share their places: each holds the mean of what the places are worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient
from fairgauge.stats.intervals import wilson, wilson_odds
from fairgauge.stats.significance import permuted, two_sided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Codes = NDArray[np.int64]

_SINGLE = 256
"""Tops that are looked at one by one under chance; beyond, they grow by `_GROWTH`."""
_GROWTH = 1.02
_BLOCK = 4_000_000
"""Numbers drawn at once."""
_DEARER = 10
"""How many rows can be shuffled while one cell of a table is drawn, about."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows, the highest score first.

    Attributes
    ----------
    order : array of shape (rows,)
        Where the row of each place stands.
    ties : array of shape (rows,)
        The number of the tie that holds each place, rising from 0.
    """

    order: Codes
    ties: Codes

    @classmethod
    def of(cls, score: Array) -> Ranking:
        """Rank rows by their scores.

        Examples
        --------
        >>> ranking = Ranking.of(np.array([0.2, 0.9, 0.2]))
        >>> ranking.order.tolist(), ranking.ties.tolist()
        ([1, 0, 2], [0, 1, 1])
        """
        order = np.argsort(-score, kind="stable")
        return cls(order, np.concatenate([[0], np.cumsum(np.diff(score[order]) != 0)]))

    def shared(self, worth: Array) -> Array:
        """Return what every row holds where the places are worth so much, ties sharing theirs.

        Examples
        --------
        >>> Ranking.of(np.array([0.2, 0.9, 0.2])).shared(np.array([4.0, 2.0, 1.0])).tolist()
        [1.5, 4.0, 1.5]
        """
        found = np.empty(len(self.order))
        found[self.order] = self._tied(worth)
        return found

    def exposure(self) -> Array:
        """Return 1 / log2(rank + 1) of every row."""
        return self.shared(_discount(len(self.order)))

    def within(self, places: int) -> Array:
        """Return how much of each row is among the first places: 1, 0, or a share in a tie."""
        return self.shared((np.arange(len(self.order)) < places).astype(np.float64))

    def divergence(self, codes: Codes, groups: int) -> float:
        """Return the normalised discounted KL divergence of the groups in every top from in all.

        Parameters
        ----------
        codes : array of shape (rows,)
            The group of every row, from 0 to ``groups`` - 1.

        References
        ----------
        Geyik, Ambler & Kenthapadi (2019), KDD, 2221-2231.

        Examples
        --------
        >>> ranking = Ranking.of(np.array([0.9, 0.8, 0.7, 0.6]))
        >>> round(ranking.divergence(np.array([0, 0, 1, 1]), 2), 4)
        0.4524
        """
        n = len(codes)
        kl = np.zeros(n)
        for group in range(groups):
            marks = self._tied((codes[self.order] == group).astype(np.float64))
            kl += _divergence(np.cumsum(marks) / np.arange(1, n + 1), marks.sum() / n)
        discount = _discount(n)
        return max(float((kl * discount).sum() / discount.sum()), 0.0)  # not below by rounding

    def _tied(self, worth: Array) -> Array:
        """Return what is worth so much at each place, the mean of its tie."""
        mean: Array = np.bincount(self.ties, weights=worth) / np.bincount(self.ties)
        return mean[self.ties]


@dataclass(frozen=True, slots=True, eq=False)
class Tops:
    """The tops of a ranking at which chance is looked at, and the groups between their ends.

    Attributes
    ----------
    table : array of shape (groups, stretches)
        Rows of each group in the stretches of the ranking; no tie reaches over the end of one.
    ends : array of shape (stretches,)
        The place at which each ends.
    places, weights : array of shape (tops,)
        The size of every top, and the share of its discount.
    """

    table: Array
    ends: Codes
    places: Codes
    weights: Array

    @classmethod
    def of(cls, ranking: Ranking, codes: Codes, groups: int) -> Tops:
        """Choose the tops: all of the first, then ever further apart."""
        n = len(codes)
        places = spaced(n)
        discount = np.cumsum(_discount(n))[places - 1]
        weights = np.diff(discount, prepend=0.0) / discount[-1]
        last = np.cumsum(np.bincount(ranking.ties))  # the last place of every tie
        tie = ranking.ties[places - 1]
        before = np.where(tie > 0, last[tie - 1], 0)
        ends = np.unique(np.concatenate([before[before > 0], last[tie]]))
        stretch = np.searchsorted(ends, np.arange(1, n + 1))
        flat = np.bincount(codes[ranking.order] * len(ends) + stretch, minlength=groups * len(ends))
        return cls(flat.reshape(groups, -1).astype(np.float64), ends, places, weights)

    def divergence(self, table: Array) -> Array:
        """Return the divergence of tables of shape (..., groups, stretches)."""
        upper = np.searchsorted(self.ends, self.places)
        start = np.where(upper > 0, self.ends[upper - 1], 0)
        part = (self.places - start) / (self.ends[upper] - start)
        total = np.zeros(table.shape[:-2])
        for group in range(table.shape[-2]):
            rows = table[..., group, :]
            reached = np.cumsum(rows, axis=-1)
            held = reached[..., upper] - (1 - part) * rows[..., upper]
            share = reached[..., -1:] / self.ends[-1]
            total += _divergence(held / self.places, share) @ self.weights
        return np.maximum(total, 0.0)

    @property
    def cost(self) -> int:
        """Return about how many numbers one draw of chance takes."""
        return min(int(self.ends[-1]), _DEARER * self.table.size)

    def by_chance(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw the divergence of rankings in which groups do not matter; shape (draws,).

        The rows' groups are permuted, or, of long rankings, how many rows of each group fall into
        each stretch is drawn at once.
        """
        step = max(1, _BLOCK // self.table.size)
        sizes = [min(step, draws - start) for start in range(0, draws, step)]
        draw = permuted if self.cost < self.ends[-1] else _shuffled
        return np.concatenate([self.divergence(draw(self.table, rng, size)) for size in sizes])


def _shuffled(table: Array, rng: np.random.Generator, draws: int) -> Array:
    """Draw tables with the margins of `table` row by row; shape (draws, groups, stretches)."""
    groups, stretches = table.shape
    codes = np.repeat(np.arange(groups) * stretches, table.sum(axis=1).astype(np.int64))
    stretch = np.repeat(np.arange(stretches), table.sum(axis=0).astype(np.int64))
    found = [
        np.bincount(rng.permutation(codes) + stretch, minlength=table.size) for _ in range(draws)
    ]
    return np.array(found, dtype=np.float64).reshape(draws, groups, stretches)


def divergence_interval(
    value: float, tops: Tops, confidence: float, rng: np.random.Generator, draws: int
) -> tuple[float, float, float, float]:
    """Return the limits of a divergence of rankings, its p-value and what chance alone would give.

    The root of the divergence behaves as a norm of how far every top is from the whole, so that
    it moves by no more than chance moves the tops: the root -/+ q, q^2 being the quantile of the
    divergence over random rankings. Exact where groups do not matter, conservative elsewhere.

    Parameters
    ----------
    value : float, >= 0
    tops : Tops
    confidence : float in (0, 1)
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    low, high, p, floor : float

    Examples
    --------
    >>> codes = np.arange(200) // 100  # all of one group first
    >>> ranking = Ranking.of(-np.arange(200.0))
    >>> tops, rng = Tops.of(ranking, codes, 2), np.random.default_rng(0)
    >>> value = ranking.divergence(codes, 2)
    >>> low, high, p, floor = divergence_interval(value, tops, 0.95, rng, 500)
    >>> round(value, 2), round(low, 1), round(high, 1), round(p, 3), round(floor, 2)
    (0.47, 0.2, 0.9, 0.002, 0.04)
    """
    chance = tops.by_chance(draws, rng)
    reach = np.sqrt(np.quantile(chance, confidence))
    seen = float(tops.divergence(tops.table)) * (1 - _ROUNDING)
    p = (1 + np.count_nonzero(chance >= seen)) / (draws + 1)
    low, high = max(np.sqrt(value) - reach, 0.0) ** 2, (np.sqrt(value) + reach) ** 2
    return float(low), float(high), float(p), float(chance.mean())


@quiet
def top_ratio(
    held: ArrayLike, others: ArrayLike, n: ArrayLike, m: ArrayLike, z: ArrayLike
) -> Limits:
    """Limits of ``(held / n) / (others / m)``: how many times as often rows are among the top.

    The places are given, so that ``held`` of ``held + others`` is a share, and its odds over those
    of all rows, ``n / m``, are the ratio: Wilson's limits of the odds, carried over.

    Parameters
    ----------
    held, others : array-like, >= 0
        Places in the top that the group and its reference hold; in ties not whole.
    n, m : array-like, > 0
        Ranked rows of both.
    z : array-like, >= 0

    Returns
    -------
    low, high : array in [0, inf]

    Examples
    --------
    >>> low, high = top_ratio(30, 70, 400, 600, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.42, 0.983)
    """
    low, high = wilson_odds(held, others, z)
    times = quotient(m, n)
    return np.asarray(low * times), np.asarray(high * times)


@quiet
def top_skew(
    held: ArrayLike, places: ArrayLike, n: ArrayLike, total: ArrayLike, z: ArrayLike
) -> Limits:
    """Limits of ``log((held / places) / (n / total))``: Wilson's of the share of the places.

    Parameters
    ----------
    held : array-like, >= 0
        Of the ``places`` in the top, those of the group.
    n, total : array-like, > 0
        Ranked rows of the group, and all.
    z : array-like, >= 0

    Returns
    -------
    low, high : array
        ``low`` is -inf where the group holds no place.

    Examples
    --------
    >>> low, high = top_skew([30, 0], 100, 400, 1000, 1.959964)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-0.603, -inf], [-0.01, -2.381])
    """
    low, high = wilson(held, places, z)
    share = quotient(n, total)
    return np.asarray(np.log(low / share)), np.asarray(np.log(high / share))


@quiet
def top_p(held: ArrayLike, places: ArrayLike, n: ArrayLike, total: ArrayLike) -> Array:
    """Return the p-value of "as in all rows", which agrees with `top_ratio` and `top_skew`.

    Examples
    --------
    >>> round(float(top_p(30, 100, 400, 1000)), 4)
    0.0412
    """
    held, places, n, total = floats(held, places, n, total)
    share = n / total
    spread = np.sqrt(places * share * (1 - share))
    return two_sided(np.where(spread > 0, (held - places * share) / spread, 0.0))


def spaced(n: int) -> Codes:
    """Return the sizes of tops that tell a ranking of n rows: each of the first, then every 2 %.

    Examples
    --------
    >>> spaced(3).tolist(), len(spaced(1_000_000)), spaced(1_000_000)[-3:].tolist()
    ([1, 2, 3], 674, [968080, 987441, 1000000])
    """
    steps = np.arange(1, max(np.log(n / _SINGLE) / np.log(_GROWTH), 0) + 1)
    far = np.floor(_SINGLE * _GROWTH**steps)
    return np.unique([*range(1, min(n, _SINGLE) + 1), *far[far < n], n]).astype(np.int64)


def _discount(places: int) -> Array:
    worth: Array = np.reciprocal(np.log2(np.arange(2.0, places + 2.0)))
    return worth


@quiet
def _divergence(held: Array, share: ArrayLike) -> Array:
    return np.where(held > 0, held * np.log(quotient(held, share)), 0.0)
