"""Confidence intervals of a rate, an odds and a ratio of paired counts; critical values.

Closed forms take the critical value ``z``, so that inversion (p-values), Tukey's critical value
and t quantiles apply to the same interval.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import t_above
from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient

ROUNDING = 1e-9
"""By this much, relative to numbers above 1, a limit may miss its value by rounding."""


def critical(confidence: float) -> float:
    """Return the two-sided normal critical value.

    Raises ``ValueError``: when `confidence` is not inside (0, 1).

    >>> round(critical(0.95), 6)
    1.959964
    """
    return -NormalDist().inv_cdf(tail_of(confidence))


def critical_t(confidence: float, degrees: ArrayLike) -> Array:
    """Return the two-sided critical value of Student's t; inf of no degrees of freedom.

    >>> critical_t(0.95, [10, np.inf]).round(3).tolist()
    [2.228, 1.96]
    """
    tail = tail_of(confidence)
    (df,) = floats(degrees)
    value = t_above(np.where(df > 0, df, 1.0), tail)
    return np.where(df > 0, np.where(np.isinf(df), critical(confidence), value), np.inf)


@quiet
def t_from_z(z: ArrayLike, degrees: ArrayLike) -> Array:
    """Return the critical value of Student's t with the tails of `z`; inf of no degrees.

    >>> t_from_z(critical(0.95), [10, np.inf]).round(3).tolist()
    [2.228, 1.96]
    """
    from scipy.special import ndtr

    z, df = floats(z, degrees)
    value = t_above(np.where(df > 0, df, 1.0), ndtr(-z))
    known = np.where(np.isinf(df), z, np.where(np.isnan(df), np.nan, value))
    return np.where(df <= 0, np.inf, known)


@quiet
def wilson(x: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Return Wilson's score interval of a rate; [0, 1] without trials, and where z is infinite.

    ``low`` is exactly 0 at ``x = 0`` and ``high`` exactly 1 at ``x = n``.

    >>> low, high = wilson(15, 148, critical(0.95))
    >>> round(float(low), 4), round(float(high), 4)
    (0.0624, 0.1605)
    """
    # Wilson (1927), JASA 22, 209-212.
    x, n, z = floats(x, n, z)
    z2 = z * z
    centre = (x + z2 / 2) / (n + z2)
    half = z * np.sqrt(np.maximum(x * (1 - x / n), 0) + z2 / 4) / (n + z2)
    vacuous = (n <= 0) | np.isinf(z)
    low = np.where(vacuous | (x <= 0), 0.0, np.maximum(centre - half, 0.0))
    high = np.where(vacuous | (x >= n), 1.0, np.minimum(centre + half, 1.0))
    return low, high


def wilson_odds(over: ArrayLike, under: ArrayLike, z: ArrayLike) -> Limits:
    """Return the interval of the odds ``over / under`` of two counts, such as FN/FP.

    Given their sum, ``over`` is binomial with probability q; q/(1-q) maps the Wilson limits of q.

    ``under = 0`` gives ``high = inf``; 0/0 gives [0, inf].

    >>> low, high = wilson_odds([8, 3, 0], [6, 0, 0], critical(0.95))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.483, 0.781, 0.0], [3.677, inf, inf])
    """
    over, under = floats(over, under)
    low, high = wilson(over, over + under, z)
    under_low, under_high = wilson(under, over + under, z)  # 1 - high and 1 - low, without rounding
    return quotient(low, under_high), quotient(high, under_low)


@quiet
def wilson_trials(rate: ArrayLike, width: ArrayLike, z: ArrayLike) -> Array:
    """Return the number of trials whose Wilson interval at a rate has a width.

    >>> low, high = wilson(15, 148, critical(0.95))
    >>> round(float(wilson_trials(15 / 148, high - low, critical(0.95))), 6)
    148.0
    """
    rate, width, z = floats(rate, width, z)
    square, spread = width**2, 2 * rate * (1 - rate)
    root = np.sqrt((spread - square) ** 2 + square * (1 - square))
    # trials / z^2, the inverse of the root of a quadratic, in the form that no width cancels
    return np.asarray(z**2 * (root + spread - square) / square)


@quiet
def paired_ratio(
    both: ArrayLike, only_over: ArrayLike, only_under: ArrayLike, z: ArrayLike
) -> Limits:
    """Return Bonett and Price's interval of ``(both + only_over) / (both + only_under)``.

    The two counts share the rows of `both`, so their ratio is one of *paired* proportions; for
    (TP+FN)/(TP+FP) pass TP, FN, FP, for the rejection form TN, FP, FN.

    An empty denominator gives ``high = inf``, an empty table [0, inf].

    >>> low, high = paired_ratio(30, 8, 6, critical(0.95))
    >>> round(float(low), 4), round(float(high), 4)
    (0.8608, 1.2944)
    """
    # Bonett & Price (2006), Statistics in Medicine 25, 3039-3047.
    b, f, g, z = floats(both, only_over, only_under, z)
    n, x1, x2 = b + f + g, b + f, b + g
    joint = np.sqrt((f + g + 2) / ((x1 + 1) * (x2 + 1)))
    alone1 = np.sqrt((1 - (x1 + 1) / (n + 2)) / (x1 + 1))
    alone2 = np.sqrt((1 - (x2 + 1) / (n + 2)) / (x2 + 1))
    shared_z = z * joint / (alone1 + alone2)
    low1, high1 = wilson(x1, n, shared_z)
    low2, high2 = wilson(x2, n, shared_z)
    return low1 / high2, high1 / low2


def odds(share: ArrayLike) -> Array:
    """Return the odds of a share.

    >>> odds([0.5, 0.8, 1.0]).round(3).tolist()
    [1.0, 4.0, inf]
    """
    (share,) = floats(share)
    return quotient(share, 1 - share)


def weighted_share(share: ArrayLike, times: int) -> Array:
    """Return ``kA / (kA + B)`` from the share ``A / (A + B)``.

    >>> weighted_share([0.0, 0.5], 2).round(3).tolist()
    [0.0, 0.667]
    """
    (share,) = floats(share)
    return quotient(times * share, times * share + 1 - share)


@quiet
def containing(
    value: ArrayLike, low: ArrayLike, high: ArrayLike, least: float, most: float
) -> Limits:
    """Return the limits, clipped to a range, that contain a value; NaN where they do not.

    Limits that miss the value by rounding alone are moved to it.

    >>> low, high = containing([0.5, 0.5], [-0.1, 0.6], [0.7, 0.9], 0.0, 1.0)
    >>> low.tolist(), high.tolist()
    ([0.0, nan], [0.7, nan])
    """
    value, low, high = floats(value, low, high)
    low, high = np.minimum(np.maximum(low, least), most), np.minimum(np.maximum(high, least), most)
    slack = ROUNDING * np.maximum(1.0, np.abs(np.where(np.isfinite(value), value, 1.0)))
    held = (low - slack <= value) & (value <= high + slack)
    low, high = np.minimum(low, value), np.maximum(high, value)
    return np.where(held, low, np.nan), np.where(held, high, np.nan)


def jeffreys(x: ArrayLike, n: ArrayLike, confidence: float) -> Limits:
    """Return Jeffreys' interval of a rate: equal tails of the Beta(x + 1/2, n - x + 1/2) posterior.

    ``low`` is 0 at ``x = 0`` and ``high`` 1 at ``x = n``, so the estimate is always inside.

    >>> low, high = jeffreys(15, 148, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0604, 0.1576)
    """
    # Brown, Cai & DasGupta (2001), Statistical Science 16, 101-133.
    return _beta(x, n, tail_of(confidence), add_low=0.5, add_high=0.5)


def clopper_pearson(x: ArrayLike, n: ArrayLike, confidence: float) -> Limits:
    """Return Clopper and Pearson's exact interval of a rate (coverage never below the level).

    >>> low, high = clopper_pearson(0, 20, 0.95)
    >>> float(low), round(float(high), 4)
    (0.0, 0.1684)
    """
    # Clopper & Pearson (1934), Biometrika 26, 404-413.
    return exact_rate_limits(x, n, tail_of(confidence))


def exact_rate_limits(x: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Limits:
    """Return Clopper and Pearson's limits, each with its own error of ``tail``.

    >>> low, high = exact_rate_limits(3, 20, [0.025, 0.05])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.032, 0.042], [0.379, 0.344])
    """
    return _beta(x, n, tail, add_low=0.0, add_high=1.0)


def tail_of(confidence: float) -> float:
    """Return the probability of one tail.

    Raises ``ValueError``: when `confidence` is not inside (0, 1).

    >>> round(tail_of(0.95), 3)
    0.025
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie inside (0, 1); found {confidence!r}")
    return (1 - confidence) / 2


@quiet
def _beta(x: ArrayLike, n: ArrayLike, tail: ArrayLike, add_low: float, add_high: float) -> Limits:
    from scipy.special import betaincinv

    x, n = floats(x, n)
    low = betaincinv(x + add_low, n - x + add_high, tail)
    high = betaincinv(x + add_high, n - x + add_low, 1 - np.asarray(tail))
    return np.where(x <= 0, 0.0, low), np.where(x >= n, 1.0, high)


# relative variance of squared weights over that of weights, where it is small (delta method).
_SQUARED = 4.0
# kurtosis of the influences of normal values on their mean square
_OF_SQUARES = 15.0
_ROUNDING = 1e-9
# the relative error of a sum
_DIGITS = 1e-12
# largest rounding error of a third moment, in units of the standard error cubed
_NEGLIGIBLE = 0.02


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

    ``sum_w, sum_w2, n``: sum of weights, sum of squared weights and number of rows: of the rows
    inside the share, and of those of its denominator that are outside.

    Kish's number and inf degrees where the share is 0 or 1; 0 without rows.

    >>> found = effective_share((6.0, 14.0), (8.0, 30.0), (6, 14))
    >>> round(float(found.n), 3), round(float(found.degrees), 1)
    (11.557, 15.1)
    """
    # The linearised number, from the variance ``sum w^2 (y - p)^2 / (sum w)^2``; where Kish's is
    # smaller, the geometric mean of both, because few rows of the rarer outcome show too little of
    # the spread of their weights. That spread also limits the degrees of freedom; equal weights
    # give the rows themselves and inf, hence the interval without weights.
    # Horvitz & Thompson (1952), JASA 47, 663-685; Kish (1965), Survey Sampling; Korn & Graubard
    # (1998), Survey Methodology 24, 193-201; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
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
def mean_moments(weights: PowerSums, squared: PowerSums, cubed: PowerSums) -> MeanMoments:
    """Return a weighted mean with the moments of its estimate, from merged sums.

    Those of the rows' influences ``w (y - mean) / sum w``. Without weights all three sums are the
    same, and the variance is the sample variance over the number of rows.

    ``weights, squared, cubed``: sums of w, w^2 and w^3 times y^0, y^1, ..., as far as the same.

    The variance is nan where the effective sample size is one row; the third moment 0 where
    rounding errors dominate it.

    >>> w, y = np.array([1.0, 1, 2, 4, 0.5, 3]), np.array([2.0, 3, 5, 4, 1, 6])
    >>> sums = [PowerSums(*(float((w**p * y**k).sum()) for k in range(4))) for p in (1, 2, 3)]
    >>> found = mean_moments(*sums)
    >>> [round(float(moment), 4) for moment in found]
    [4.3043, 0.3865, 0.0747, 4.232]
    """
    # Hajek (1971), comment in Foundations of Statistical Inference, 236; Kish (1965), Survey
    # Sampling (degrees of freedom from the effective number of rows).
    w, wy = floats(weights.zeroth, weights.first)
    q, qy, qyy = floats(squared.zeroth, squared.first, squared.second)
    mean = wy / w
    kish = w**2 / q
    spread = np.maximum(qyy - 2 * mean * qy + mean**2 * q, 0.0) / w**2
    variance = np.where(kish > 1 + _ROUNDING, spread * kish / (kish - 1), np.nan)
    c, cy, cyy, cyyy = floats(*cubed)
    terms = np.stack([cyyy, -3 * mean * cyy, 3 * mean**2 * cy, -(mean**3) * c]) / w**3
    error = _DIGITS * np.abs(terms).sum(axis=0)
    third = np.where(error < _NEGLIGIBLE * variance**1.5, terms.sum(axis=0), 0.0)
    return MeanMoments(mean, variance, third, kish)


@quiet
def borrow_skewness(own: MeanMoments, every: MeanMoments) -> MeanMoments:
    """Return a mean with the larger skewness of a single row: that of a group, or of all rows.

    >>> own, alike = MeanMoments(2.0, 0.04, 0.0016, 100), MeanMoments(2.0, 0.004, 8e-5, 1000)
    >>> float(borrow_skewness(own, alike).third.round(6))
    0.008
    """
    variance, third, rows, all_variance, all_third, all_rows = floats(*own[1:], *every[1:])
    borrowed = all_third * np.sqrt(all_rows / rows) * (variance / all_variance) ** 1.5
    heavier = (all_variance > 0) & (np.abs(borrowed) > np.abs(third))
    return own._replace(third=np.where(heavier, borrowed, third))


@quiet
def mean_limits(of: MeanMoments, z: ArrayLike) -> Limits:
    """Limits of a mean whose rows are skewed: Student's t, with the end in the long tail raised.

    Fewer than two effective rows give [-inf, inf].

    >>> low, high = mean_limits(MeanMoments(2.0, 0.04, [0.0, 0.008], 100), 1.959964)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.603, 1.603], [2.397, 2.953])
    """
    # A sample without its rare large values shows both too small a mean and too small a variance.
    # Like Wilson's, the raised end allows for that: the variance at a true mean further off is
    # larger by ``third / variance`` for each unit. The other end stays Student's.
    # No interval of a mean holds its level for all distributions (Bahadur and Savage): values that
    # are larger than any that was seen cannot be ruled out. Measured for absolute errors in
    # docs/coverage.md.
    # Johnson (1978), JASA 73, 536-544; Bahadur & Savage (1956), Annals of Mathematical Statistics
    # 27, 1115-1122.
    mean, variance, third, rows, z = floats(*of, z)
    t = t_from_z(z, rows - 1)
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

    ``spread, linearised``: sums of w d^2 and of w^2 d^2, d being what a row moves the statistic by.
    ``total, kish``: sum of the weights, and Kish's number of rows, which is returned where the
        first two are not positive numbers.

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

    ``kish, rows``: Kish's number of rows, and the rows themselves.

    >>> degrees_of_squares([242.0, 400.0], 400.0).round(1).tolist()
    [20.4, inf]
    """
    # Few heavy rows with large errors make most of that variance, so that its estimate varies more
    # than the number of rows suggests: by the spread of the squared weights, times the kurtosis of
    # the influences of normal errors (Satterthwaite). Equal weights give inf.
    kish, rows = floats(kish, rows)
    uneven = np.maximum(1 / kish - 1 / rows, 0.0)
    varies = uneven > _ROUNDING / rows
    return np.where(varies, 2 / (_SQUARED * _OF_SQUARES * uneven), np.inf)
