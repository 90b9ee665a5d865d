"""Score interval of the ratio of mean exposures of two groups of a ranking.

The exposures of the ranks are fixed and concentrated in the top ranks; the group membership of the
rows is random. Student's intervals of the two means undercover: with 20 of 400 rows in the group
they contain the true ratio in 82 % of rankings (`docs/coverage.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.rankings import spaced
from fairgauge.stats.significance import two_sided

if TYPE_CHECKING:
    from fairgauge.stats.arrays import Array

_STEEPEST = 30.0
"""A tilt at which the ranking separates the groups almost completely."""
_LARGEST_LOGIT = 50.0
_ROUNDING = 1e-9


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
    z : float, > 0
        Critical value.

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
    if np.ptp(tilt.exposure) < _ROUNDING:
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
    if spread - 1 < _ROUNDING:
        return z
    sign = np.copysign(1.0, skewness)
    ratio = sign * z * (spread * (spread - 1)) ** 0.5 + spread**0.5
    return float(sign * np.log(max(ratio, _ROUNDING)) / np.log(spread) ** 0.5)
