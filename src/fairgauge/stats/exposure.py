"""The ratio of the mean exposures of two groups of a ranking: limits from its score.

What the places of a ranking are worth is given, and few places hold most of it; which rows are of
the group is what chance decides. Student's limits of both means therefore miss: of 20 rows among
400 they hold the truth in 82 of 100 rankings (`docs/coverage.md`).
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
"""A tilt that orders the groups all but completely."""
_SURE = 50.0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """How the total exposure of a group varies where higher rows are likelier of the group.

    The chance that a row is of the group is logistic in ``a + b g``, g being the normal score of
    its rank: with normal scores in both groups, b is how far they are shifted. For every b, a is
    what gives the group its number of rows, and given those the total has the mean
    ``sum p e``, the variance ``sum p q (e - c)^2`` and the third moment ``sum p q (q - p) (e -
    c)^3``, c being the mean of e weighted by p q.

    Attributes
    ----------
    rows, worth, score : array of shape (cells,)
        Rows of alike rank, their mean exposure e and normal score g.
    n, total : float
        Rows of the group, and their exposure.
    least : float
        The variance of the total in a random ranking.
    """

    rows: Array
    worth: Array
    score: Array
    n: float
    total: float
    least: float

    @classmethod
    def of(cls, ours: Array, theirs: Array) -> Tilt:
        """Arrange the exposures of the rows of both sides."""
        from scipy.special import ndtri

        both = np.concatenate([ours, theirs])
        ordered = np.sort(both)[::-1]
        n, size = len(ours), len(both)
        cell = np.searchsorted(spaced(size), np.arange(1, size + 1))
        rows = np.bincount(cell).astype(np.float64)
        score = -ndtri((np.arange(size) + 0.5) / size)
        _, tie = np.unique(-ordered, return_inverse=True)
        score = (np.bincount(tie, weights=score) / np.bincount(tie))[tie]
        worth, score = (np.bincount(cell, weights=each) / rows for each in (ordered, score))
        least = n * (size - n) / size * float(ordered.var(ddof=1))
        return cls(rows, worth, score, float(n), float(np.sort(ours).sum()), least)

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the mean, the variance and the skewness of the total at a tilt b.

        The variance is never taken to be below that of a random ranking: the tilt is a model.
        """
        from scipy.optimize import brentq
        from scipy.special import expit

        def surplus(level: float) -> float:
            return float(self.rows @ expit(level + tilt * self.score)) - self.n

        far = _SURE + abs(tilt) * float(np.abs(self.score).max())
        p = expit(brentq(surplus, -far, far, xtol=1e-10) + tilt * self.score)
        weight = self.rows * p * (1 - p)
        away = self.worth - weight @ self.worth / max(weight.sum(), np.finfo(float).tiny)
        size = self.rows.sum()
        variance = max(float(weight @ away**2) * size / (size - 1), self.least)
        third = float((weight * (1 - 2 * p)) @ away**3)
        return float((self.rows * p) @ self.worth), variance, third / variance**1.5

    def standing(self, tilt: float) -> float:
        """Return the normal quantile at which the observed total stands under a tilt b."""
        mean, variance, skewness = self.moments(tilt)
        return as_normal((self.total - mean) / variance**0.5, skewness)

    def furthest(self, z: float) -> float:
        """Return the mean total under which the observed one stands at the quantile z.

        ``z`` above 0 gives the lower limit, below 0 the upper one; where no tilt reaches it, the
        total of a group that stands last, or first.
        """
        from scipy.optimize import brentq

        end = -_STEEPEST if z > 0 else _STEEPEST
        if (self.standing(end) - z) * z < 0:
            order = slice(None, None, -1 if z > 0 else 1)
            rows, worth = self.rows[order], self.worth[order]
            return float(np.clip(self.n - np.cumsum(rows) + rows, 0.0, rows) @ worth)
        at = brentq(lambda b: self.standing(b) - z, -_STEEPEST, _STEEPEST, xtol=1e-8)
        return self.moments(at)[0]

    def ratio(self, total: float) -> float:
        """Return the ratio of mean exposures at a total exposure of the group."""
        others = float(self.rows @ self.worth) - total
        return (total / self.n) / (others / (float(self.rows.sum()) - self.n))


def exposure_interval(ours: Array, theirs: Array, z: float) -> tuple[float, float, float]:
    """Return the limits of the ratio of mean exposures, and its p-value.

    Score limits: the ratios under which the observed total exposure of the group stands at the
    quantiles -/+ z, as `Tilt` has them. The p-value is that of a random ranking, and agrees with
    the limits.

    Parameters
    ----------
    ours, theirs : array of shape (rows,)
        Exposure of the rows of the group and of its reference, which share no row.
    z : float, > 0
        Critical value.

    Returns
    -------
    low, high, p : float
        nan where all exposures are one.

    Examples
    --------
    >>> worth = 1 / np.log2(np.arange(2, 102))
    >>> low, high, p = exposure_interval(worth[1::2], worth[::2], 1.959964)
    >>> round(low, 2), round(high, 2), round(p, 1)
    (0.76, 1.18, 0.6)
    """
    tilt = Tilt.of(ours, theirs)
    if np.ptp(tilt.worth) < _ROUNDING:
        return np.nan, np.nan, np.nan
    low, high = (tilt.ratio(tilt.furthest(each)) for each in (z, -z))
    return low, high, float(two_sided(tilt.standing(0.0)))


def as_normal(z: float, skewness: float) -> float:
    """Return the normal quantile of a standardised number, from the log-normal of its skewness.

    Unlike the expansions in powers of z it rises with z everywhere.

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
    side = np.copysign(1.0, skewness)
    place = side * z * (spread * (spread - 1)) ** 0.5 + spread**0.5
    return float(side * np.log(max(place, _ROUNDING)) / np.log(spread) ** 0.5)
