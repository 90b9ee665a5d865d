"""Rankings: exposure, representation among the top ranks and divergence over all prefixes.

Rows of equal score share their ranks: each has the mean of the values of these ranks.

The exposures of the ranks are fixed and concentrated in the top ranks; the group membership of the
rows is random. Student's intervals of the two means undercover: with 20 of 400 rows in the group
they contain the true ratio in 82 % of rankings (`docs/coverage.md`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import BLOCK, Array, Index, Limits, floats, quiet, quotient
from fairgauge.stats.intervals import wilson, wilson_odds
from fairgauge.stats.significance import two_sided

_SINGLE = 256
"""Largest of the consecutive prefixes that are simulated; larger ones grow by `_GROWTH`."""
_GROWTH = 1.02
_ROWS_PER_CELL = 10
"""Rows that can be shuffled in the time that drawing one cell of a table takes, about."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Rows in descending order of their scores.

    Attributes
    ----------
    order : array of shape (rows,)
        The row at each rank.
    ties : array of shape (rows,)
        The number of the tie at each rank, increasing from 0.
    """

    order: Index
    ties: Index

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

    def shared(self, values: Array) -> Array:
        """Return the value of every row from values of the ranks, tied rows having their mean.

        Examples
        --------
        >>> Ranking.of(np.array([0.2, 0.9, 0.2])).shared(np.array([4.0, 2.0, 1.0])).tolist()
        [1.5, 4.0, 1.5]
        """
        shared = np.empty(len(self.order))
        shared[self.order] = self._tied(values)
        return shared

    def exposure(self) -> Array:
        """Return 1 / log2(rank + 1) of every row."""
        return self.shared(_discount(len(self.order)))

    def within(self, places: int) -> Array:
        """Return the fraction of each row among the first ranks: 1, 0, or a share of a tie."""
        return self.shared((np.arange(len(self.order)) < places).astype(np.float64))

    def divergence(self, codes: Index, groups: int) -> float:
        """Return the normalised discounted KL divergence of group shares in prefixes from overall.

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
        return max(float((kl * discount).sum() / discount.sum()), 0.0)  # rounding errors

    def _tied(self, values: Array) -> Array:
        mean: Array = np.bincount(self.ties, weights=values) / np.bincount(self.ties)
        return mean[self.ties]


@dataclass(frozen=True, slots=True, eq=False)
class Tops:
    """Prefixes (tops) of a ranking, and the group counts between their ends, for simulation.

    Attributes
    ----------
    table : array of shape (groups, stretches)
        Rows of each group in stretches of consecutive ranks; no tie spans two stretches.
    ends : array of shape (stretches,)
        The last rank of each stretch.
    places, weights : array of shape (tops,)
        The size of every prefix, and the share of its discount.
    """

    table: Array
    ends: Index
    places: Index
    weights: Array

    @classmethod
    def of(cls, ranking: Ranking, codes: Index, groups: int) -> Tops:
        """Choose the prefixes: all short ones, then at growing distances."""
        n = len(codes)
        places = spaced(n)
        discount = np.cumsum(_discount(n))[places - 1]
        weights = np.diff(discount, prepend=0.0) / discount[-1]
        last = np.cumsum(np.bincount(ranking.ties))  # the last rank of every tie
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
            counts = reached[..., upper] - (1 - part) * rows[..., upper]
            share = reached[..., -1:] / self.ends[-1]
            total += _divergence(counts / self.places, share) @ self.weights
        return np.maximum(total, 0.0)

    @property
    def cost(self) -> int:
        """Return about how many numbers one random ranking takes."""
        return min(int(self.ends[-1]), _ROWS_PER_CELL * self.table.size)

    def random_divergences(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw the divergence of random rankings (permuted group labels); shape (draws,)."""
        from scipy.stats import random_table

        rows, columns = (self.table.sum(axis=axis).astype(np.int64) for axis in (1, 0))
        tables = random_table(rows, columns)
        step = max(1, BLOCK // self.table.size)
        sizes = [min(step, draws - start) for start in range(0, draws, step)]
        drawn = (tables.rvs(size, random_state=rng).astype(np.float64) for size in sizes)
        return np.concatenate([self.divergence(table) for table in drawn])


def ranking_divergence_interval(
    value: float, tops: Tops, confidence: float, rng: np.random.Generator, draws: int
) -> tuple[float, float, float, float]:
    """Return the interval of a ranking's divergence, its p-value and the expected value.

    The root of the divergence behaves as a norm of the differences of prefixes from overall, so
    that its error is at most that of the prefixes: the limits are the root -/+ q, q^2 being the
    quantile of the divergence of random rankings. Exact for random rankings, conservative
    elsewhere.

    Parameters
    ----------
    value : float, >= 0

    Returns
    -------
    low, high, p, expected : float
        The last is the mean divergence of random rankings: expected under no difference.

    Examples
    --------
    >>> codes = np.arange(200) // 100  # all of one group first
    >>> ranking = Ranking.of(-np.arange(200.0))
    >>> tops, rng = Tops.of(ranking, codes, 2), np.random.default_rng(0)
    >>> value = ranking.divergence(codes, 2)
    >>> low, high, p, expected = ranking_divergence_interval(value, tops, 0.95, rng, 500)
    >>> round(value, 2), round(low, 1), round(high, 1), round(p, 3), round(expected, 2)
    (0.47, 0.2, 0.9, 0.002, 0.04)
    """
    random = tops.random_divergences(draws, rng)
    reach = np.sqrt(np.quantile(random, confidence))
    observed = float(tops.divergence(tops.table)) * (1 - _ROUNDING)
    p = (1 + np.count_nonzero(random >= observed)) / (draws + 1)
    low, high = max(np.sqrt(value) - reach, 0.0) ** 2, (np.sqrt(value) + reach) ** 2
    return float(low), float(high), float(p), float(random.mean())


@quiet
def top_ratio(
    held: ArrayLike, others: ArrayLike, n: ArrayLike, m: ArrayLike, z: ArrayLike
) -> Limits:
    """Return the interval of ``(held / n) / (others / m)``, a ratio of selection rates at the top.

    The number of top ranks is fixed, so that ``held`` of ``held + others`` is a proportion; its
    odds, divided by ``n / m``, are the ratio, and so are Wilson's limits of the odds.

    Parameters
    ----------
    held, others : array-like, >= 0
        Top ranks of the group and of its reference; fractional with ties.
    n, m : array-like, > 0
        Ranked rows of both.

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
    """Return the interval of ``log((held / places) / (n / total))``, from Wilson's of the share.

    Parameters
    ----------
    held : array-like, >= 0
        Of the ``places`` top ranks, those of the group.
    n, total : array-like, > 0
        Ranked rows of the group, and all.

    Returns
    -------
    low, high : array
        ``low`` is -inf where the group has none.

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
    """Return the p-value of "as frequent as overall", which agrees with `top_ratio`, `top_skew`.

    Examples
    --------
    >>> round(float(top_p(30, 100, 400, 1000)), 4)
    0.0412
    """
    held, places, n, total = floats(held, places, n, total)
    share = n / total
    spread = np.sqrt(places * share * (1 - share))
    return two_sided(np.where(spread > 0, (held - places * share) / spread, 0.0))


def spaced(n: int) -> Index:
    """Return the prefix sizes that represent a ranking of n rows: all short ones, then every 2 %.

    Examples
    --------
    >>> spaced(3).tolist(), len(spaced(1_000_000)), spaced(1_000_000)[-3:].tolist()
    ([1, 2, 3], 674, [968080, 987441, 1000000])
    """
    steps = np.arange(1, max(np.log(n / _SINGLE) / np.log(_GROWTH), 0) + 1)
    far = np.floor(_SINGLE * _GROWTH**steps)
    return np.unique([*range(1, min(n, _SINGLE) + 1), *far[far < n], n]).astype(np.int64)


def _discount(places: int) -> Array:
    return np.asarray(np.reciprocal(np.log2(np.arange(2.0, places + 2.0))))


@quiet
def _divergence(observed: Array, share: ArrayLike) -> Array:
    return np.where(observed > 0, observed * np.log(quotient(observed, share)), 0.0)


_STEEPEST = 30.0
"""A tilt at which the ranking separates the groups almost completely."""
_LARGEST_LOGIT = 50.0
_LEVEL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """The distribution of the total exposure of a group whose rows tend to rank higher or lower.

    The probability that a row belongs to the group is logistic in ``a + b g``, g being the normal
    score of its rank: with normal scores in both groups, b is their shift. For every tilt b, a
    gives the group its number of rows n; conditional on n the total has the mean ``sum p e``, the
    variance ``sum p q (e - c)^2`` and the third moment ``sum p q (q - p) (e - c)^3``, c being the
    mean of e weighted by p q.

    Attributes
    ----------
    rows, exposure, score : array of shape (cells,)
        Rows of similar rank, their mean exposure e and normal score g.
    n, total : float
        Rows of the group, and their total exposure.
    least : float
        The variance of the total in a random ranking.
    """

    rows: Array
    exposure: Array
    score: Array
    n: float
    total: float
    least: float

    @classmethod
    def of(cls, group: Array, reference: Array) -> Tilt:
        """Arrange the exposures of the rows of both sides."""
        from scipy.special import ndtri

        both = np.concatenate([group, reference])
        ordered = np.sort(both)[::-1]
        n, size = len(group), len(both)
        cell = np.searchsorted(spaced(size), np.arange(1, size + 1))
        rows = np.bincount(cell).astype(np.float64)
        score = -ndtri((np.arange(size) + 0.5) / size)
        _, tie = np.unique(-ordered, return_inverse=True)
        score = (np.bincount(tie, weights=score) / np.bincount(tie))[tie]
        exposure, score = (np.bincount(cell, weights=of) / rows for of in (ordered, score))
        least = n * (size - n) / size * float(ordered.var(ddof=1))
        return cls(rows, exposure, score, float(n), float(np.sort(group).sum()), least)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the mean, the variance and the skewness of the total at a tilt b.

        The variance is at least that of a random ranking, because the tilt is only a model.
        """
        from scipy.optimize import brentq
        from scipy.special import expit

        def surplus(level: float) -> float:
            return float(self.rows @ expit(level + tilt * self.score)) - self.n

        far = _LARGEST_LOGIT + abs(tilt) * float(np.abs(self.score).max())
        p = expit(brentq(surplus, -far, far, xtol=1e-10) + tilt * self.score)
        weight = self.rows * p * (1 - p)
        away = self.exposure - weight @ self.exposure / max(weight.sum(), np.finfo(float).tiny)
        size = self.rows.sum()
        variance = max(float(weight @ away**2) * size / (size - 1), self.least)
        third = float((weight * (1 - 2 * p)) @ away**3)
        return float((self.rows * p) @ self.exposure), variance, third / variance**1.5

    def quantile(self, tilt: float) -> float:
        """Return the normal quantile of the observed total under a tilt b."""
        mean, variance, skewness = self.moments(tilt)
        return as_normal((self.total - mean) / variance**0.5, skewness)

    def limit(self, z: float) -> float:
        """Return the mean total under which the observed one is at the quantile z.

        ``z`` above 0 gives the lower limit, below 0 the upper one; where no tilt reaches it, the
        total of a group that occupies the last ranks, or the first.
        """
        from scipy.optimize import brentq

        end = -_STEEPEST if z > 0 else _STEEPEST
        if (self.quantile(end) - z) * z < 0:
            order = slice(None, None, -1 if z > 0 else 1)
            rows, exposure = self.rows[order], self.exposure[order]
            return float(np.clip(self.n - np.cumsum(rows) + rows, 0.0, rows) @ exposure)
        at = brentq(lambda b: self.quantile(b) - z, -_STEEPEST, _STEEPEST, xtol=1e-8)
        return self.moments(at)[0]

    def ratio(self, total: float) -> float:
        """Return the ratio of mean exposures at a total exposure of the group."""
        others = float(self.rows @ self.exposure) - total
        return (total / self.n) / (others / (float(self.rows.sum()) - self.n))


def exposure_interval(group: Array, reference: Array, z: float) -> tuple[float, float, float]:
    """Return the score interval of the ratio of mean exposures, and its p-value.

    The limits are the ratios under which the observed total exposure of the group is at the
    quantiles -/+ z under `Tilt`. The p-value is that of a random ranking and agrees with the
    interval.

    Parameters
    ----------
    group, reference : array of shape (rows,)
        Exposure of the rows of both sides, which share no row.

    Returns
    -------
    low, high, p : float
        nan where all exposures are equal.

    Examples
    --------
    >>> exposure = 1 / np.log2(np.arange(2, 102))
    >>> low, high, p = exposure_interval(exposure[1::2], exposure[::2], 1.959964)
    >>> round(low, 2), round(high, 2), round(p, 1)
    (0.76, 1.18, 0.6)
    """
    tilt = Tilt.of(group, reference)
    if np.ptp(tilt.exposure) < _LEVEL:
        return np.nan, np.nan, np.nan
    low, high = (tilt.ratio(tilt.limit(value)) for value in (z, -z))
    return low, high, float(two_sided(tilt.quantile(0.0)))


def as_normal(z: float, skewness: float) -> float:
    """Return the normal quantile of a standardised value of a skewed distribution.

    By the shifted log-normal of that skewness, which, unlike expansions in powers of z, is
    monotone.

    References
    ----------
    Johnson (1949), Biometrika 36, 149-176.

    Examples
    --------
    >>> [round(as_normal(z, 1.0), 2) for z in (-1.5, 0.0, 2.5)], as_normal(2.0, 0.0)
    ([-1.94, 0.16, 2.04], 2.0)
    """
    a = 1 + skewness**2 / 2
    root = (a * a - 1) ** 0.5
    spread = (a + root) ** (1 / 3) + (a + root) ** (-1 / 3) - 1  # exp of the variance of the log
    if spread - 1 < _LEVEL:
        return z
    sign = np.copysign(1.0, skewness)
    ratio = sign * z * (spread * (spread - 1)) ** 0.5 + spread**0.5
    return float(sign * np.log(max(ratio, _LEVEL)) / np.log(spread) ** 0.5)
