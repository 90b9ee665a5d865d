"""Shares and means of weighted rows: linearised variances, and what few heavy rows do to them.

Weights that follow the outcome make Kish's number of rows wrong in either direction, so variances
here are those of the rows' influences ``w (y - mean) / sum w`` (Horvitz and Thompson, Hajek). They
come from sums that merge, do not depend on the unit of the weights, and with weights of 1 they are
those without weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.intervals import as_critical_t

_SQUARED = 4.0
"""Relative variance of squared weights over that of weights, where it is small (delta method)."""
_OF_SQUARES = 15.0
"""Kurtosis of the influences of normal values on their mean square."""
_ROUNDING = 1e-9
_DIGITS = 1e-12
"""The relative error of a sum."""
_NEGLIGIBLE = 0.02
"""Largest rounding error of a third moment, in units of the standard error cubed."""


class EffectiveShare(NamedTuple):
    """The independent rows that a weighted share rests on, and the degrees of freedom of its t."""

    n: Array
    degrees: Array


class PowerSums(NamedTuple):
    """Sums over rows of a weight, and of its products with a value and the value's powers."""

    zeroth: ArrayLike
    first: ArrayLike
    second: ArrayLike = 0.0
    third: ArrayLike = 0.0


class MeanMoments(NamedTuple):
    """A mean, and the variance and third central moment of its estimate.

    The third moment is the sum of the cubes of the rows' influences, for n rows alike ``m3 / n^2``
    with m3 the third central moment of the values. ``rows`` are the effective ones (Kish).
    """

    mean: ArrayLike
    variance: ArrayLike
    third: ArrayLike
    rows: ArrayLike


@quiet
def effective_share(
    sum_w: tuple[ArrayLike, ArrayLike],
    sum_w2: tuple[ArrayLike, ArrayLike],
    n: tuple[ArrayLike, ArrayLike],
) -> EffectiveShare:
    """Return the rows that a weighted share rests on, for Wilson's interval.

    The linearised number, from the variance ``sum w^2 (y - p)^2 / (sum w)^2``; where Kish's is
    smaller, the geometric mean of both, because few rows of the rarer outcome show too little of
    the spread of their weights. That spread also limits the degrees of freedom; equal weights give
    the rows themselves and inf, hence the interval without weights.

    Parameters
    ----------
    sum_w, sum_w2, n : pair of array-like
        Sum of weights, sum of squared weights and number of rows: of the rows inside the share,
        and of those of its denominator that are outside.

    Returns
    -------
    found : EffectiveShare
        Kish's number and inf degrees where the share is 0 or 1; 0 without rows.

    References
    ----------
    Horvitz & Thompson (1952), JASA 47, 663-685; Kish (1965), Survey Sampling; Korn & Graubard
    (1998), Survey Methodology 24, 193-201; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.

    Examples
    --------
    >>> found = effective_share((6.0, 14.0), (8.0, 30.0), (6, 14))
    >>> round(float(found.n), 3), round(float(found.degrees), 1)
    (11.557, 15.1)
    """
    w1, w0, q1, q0, n1, n0 = floats(*sum_w, *sum_w2, *n)
    total = w1 + w0
    share = w1 / total
    kish = np.where(total > 0, total**2 / (q1 + q0), 0.0)
    inside, outside = (1 - share) ** 2 * q1 / total**2, share**2 * q0 / total**2
    linearised = share * (1 - share) / (inside + outside)
    uneven = [np.maximum(q / w**2 - 1 / rows, 0.0) for q, w, rows in ((q1, w1, n1), (q0, w0, n0))]
    spread = _SQUARED * (inside**2 * uneven[0] + outside**2 * uneven[1])
    varies = spread > _ROUNDING * (inside**2 / n1 + outside**2 / n0)
    degrees = np.where(varies, np.maximum(2 * (inside + outside) ** 2 / spread, 1.0), np.inf)
    known = (w1 > 0) & (w0 > 0)
    rows = np.where(linearised > kish, np.sqrt(linearised * kish), linearised)
    return EffectiveShare(np.where(known, rows, kish), np.where(known, degrees, np.inf))


@quiet
def mean_moments(weights: PowerSums, squared: PowerSums, cubed: PowerSums | None) -> MeanMoments:
    """Return a weighted mean with the moments of its estimate, from merged sums.

    Those of the rows' influences ``w (y - mean) / sum w``. Without weights all three sums are the
    same, and the variance is the sample variance over the number of rows.

    Parameters
    ----------
    weights : PowerSums
        Sums of w and w y; the higher ones are not needed.
    squared : PowerSums
        Sums of w^2, w^2 y and w^2 y^2.
    cubed : PowerSums, optional
        Sums of w^3, w^3 y, w^3 y^2 and w^3 y^3; without them the third moment is 0.

    Returns
    -------
    moments : MeanMoments
        The variance is nan where the effective sample size is one row; the third moment 0 where
        rounding errors dominate it.

    References
    ----------
    Hajek (1971), comment in Foundations of Statistical Inference, 236; Kish (1965), Survey
    Sampling (degrees of freedom from the effective number of rows).

    Examples
    --------
    >>> w, y = np.array([1.0, 1, 2, 4, 0.5, 3]), np.array([2.0, 3, 5, 4, 1, 6])
    >>> sums = [PowerSums(*(float((w**p * y**k).sum()) for k in range(4))) for p in (1, 2, 3)]
    >>> found = mean_moments(*sums)
    >>> [round(float(moment), 4) for moment in found]
    [4.3043, 0.3865, 0.0747, 4.232]
    """
    w, wy = floats(weights.zeroth, weights.first)
    q, qy, qyy = floats(squared.zeroth, squared.first, squared.second)
    mean = wy / w
    kish = w**2 / q
    spread = np.maximum(qyy - 2 * mean * qy + mean**2 * q, 0.0) / w**2
    variance = np.where(kish > 1 + _ROUNDING, spread * kish / (kish - 1), np.nan)
    third = np.zeros_like(mean)
    if cubed is not None:
        c, cy, cyy, cyyy = floats(*cubed)
        terms = np.stack([cyyy, -3 * mean * cyy, 3 * mean**2 * cy, -(mean**3) * c]) / w**3
        error = _DIGITS * np.abs(terms).sum(axis=0)
        third = np.where(error < _NEGLIGIBLE * variance**1.5, terms.sum(axis=0), 0.0)
    return MeanMoments(mean, variance, third, kish)


@quiet
def mean_limits(of: MeanMoments, z: ArrayLike) -> Limits:
    """Limits of a mean whose rows are skewed: Student's t, with the end in the long tail raised.

    A sample without its rare large values shows both too small a mean and too small a variance.
    Like Wilson's, the raised end allows for that: the variance at a true mean further off is
    larger by ``third / variance`` for each unit. The other end stays Student's.

    Parameters
    ----------
    of : MeanMoments
        Fewer than two effective rows give [-inf, inf].

    Notes
    -----
    No interval of a mean holds its level for all distributions (Bahadur and Savage): values that
    are larger than any that was seen cannot be ruled out. Measured for absolute errors in
    docs/coverage.md.

    References
    ----------
    Johnson (1978), JASA 73, 536-544; Bahadur & Savage (1956), Annals of Mathematical Statistics
    27, 1115-1122.

    Examples
    --------
    >>> low, high = mean_limits(MeanMoments(2.0, 0.04, [0.0, 0.008], 100), 1.959964)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.603, 1.603], [2.397, 2.953])
    """
    mean, variance, third, rows, z = floats(*of, z)
    t = as_critical_t(z, rows - 1)
    slope = np.where(variance > 0, third / variance, 0.0)

    def reach(slope: Array) -> Array:
        towards = t**2 * np.maximum(slope, 0.0)
        return np.asarray((towards + np.sqrt(towards**2 + 4 * t**2 * variance)) / 2)

    known = (rows > 1) & ~np.isnan(variance)
    low = np.where(known, mean - reach(-slope), -np.inf)
    return low, np.where(known, mean + reach(slope), np.inf)


@quiet
def effective_rows(
    spread: ArrayLike, linearised: ArrayLike, total: ArrayLike, kish: ArrayLike
) -> Array:
    """Return the rows that a weighted statistic rests on, from the squares of its influences.

    The linearised number; where Kish's is smaller, the geometric mean of both, as for shares.

    Parameters
    ----------
    spread, linearised : array-like
        Sums of w d^2 and of w^2 d^2, d being what a row moves the statistic by.
    total, kish : array-like
        Sum of the weights, and Kish's number of rows, which is returned where the first two are
        not positive numbers.

    Examples
    --------
    >>> effective_rows([8.0, 8.0, 0.0], [16.0, 4.0, 0.0], 16.0, 12.0).round(2).tolist()
    [8.0, 19.6, 12.0]
    """
    s, q, total, kish = floats(spread, linearised, total, kish)
    rows = s * total / q
    rows = np.where(rows > kish, np.sqrt(rows * kish), rows)
    return np.where((s > 0) & (q > 0) & np.isfinite(rows), rows, kish)


@quiet
def degrees_of_squares(kish: ArrayLike, rows: ArrayLike) -> Array:
    """Return the degrees of freedom of the variance of a mean square of weighted rows.

    Few heavy rows with large errors make most of that variance, so that its estimate varies more
    than the number of rows suggests: by the spread of the squared weights, times the kurtosis of
    the influences of normal errors (Satterthwaite). Equal weights give inf.

    Parameters
    ----------
    kish, rows : array-like
        Kish's number of rows, and the rows themselves.

    Examples
    --------
    >>> degrees_of_squares([242.0, 400.0], 400.0).round(1).tolist()
    [20.4, inf]
    """
    kish, rows = floats(kish, rows)
    uneven = np.maximum(1 / kish - 1 / rows, 0.0)
    varies = uneven > _ROUNDING / rows
    return np.where(varies, 2 / (_SQUARED * _OF_SQUARES * uneven), np.inf)
