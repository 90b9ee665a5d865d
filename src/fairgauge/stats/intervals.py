"""Confidence intervals of a rate, an odds and a ratio of paired counts; critical values.

Closed forms take the critical value ``z``, so that inversion (p-values), Tukey's critical value
and t quantiles apply to the same interval.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import t_above
from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient

ROUNDING = 1e-9
"""By this much, relative to numbers above 1, a limit may miss its value by rounding."""


def critical(confidence: float) -> float:
    """Return the two-sided normal critical value.

    Raises
    ------
    ValueError
        When `confidence` is not inside (0, 1).

    Examples
    --------
    >>> round(critical(0.95), 6)
    1.959964
    """
    return -NormalDist().inv_cdf(tail_of(confidence))


def critical_t(confidence: float, degrees: ArrayLike) -> Array:
    """Return the two-sided critical value of Student's t.

    Parameters
    ----------
    degrees : array-like
        Degrees of freedom; inf gives the normal value, zero or less gives inf.

    Examples
    --------
    >>> critical_t(0.95, [10, np.inf]).round(3).tolist()
    [2.228, 1.96]
    """
    tail = tail_of(confidence)
    (df,) = floats(degrees)
    value = t_above(np.where(df > 0, df, 1.0), tail)
    return np.where(df > 0, np.where(np.isinf(df), critical(confidence), value), np.inf)


@quiet
def as_critical_t(z: ArrayLike, degrees: ArrayLike) -> Array:
    """Return the critical value of Student's t with the tails of the normal one `z`.

    Parameters
    ----------
    degrees : array-like
        Degrees of freedom; zero or less gives inf, nan gives nan.

    Examples
    --------
    >>> as_critical_t(critical(0.95), [10, np.inf]).round(3).tolist()
    [2.228, 1.96]
    """
    from scipy.special import ndtr

    z, df = floats(z, degrees)
    value = t_above(np.where(df > 0, df, 1.0), ndtr(-z))
    known = np.where(np.isinf(df), z, np.where(np.isnan(df), np.nan, value))
    return np.where(df <= 0, np.inf, known)


@quiet
def wilson(x: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Return Wilson's score interval of a rate.

    Parameters
    ----------
    x, n : array-like, 0 <= x <= n
        Successes and trials, real numbers allowed.  ``n = 0`` gives [0, 1].
    z : array-like, >= 0
        Critical value; inf gives [0, 1].

    Returns
    -------
    low, high : array in [0, 1]
        ``low`` is exactly 0 at ``x = 0`` and ``high`` exactly 1 at ``x = n``.

    References
    ----------
    Wilson (1927), JASA 22, 209-212.

    Examples
    --------
    >>> low, high = wilson(15, 148, critical(0.95))
    >>> round(float(low), 4), round(float(high), 4)
    (0.0624, 0.1605)
    """
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

    Parameters
    ----------
    over, under : array-like, >= 0

    Returns
    -------
    low, high : array in [0, inf]
        ``under = 0`` gives ``high = inf``; 0/0 gives [0, inf].

    Examples
    --------
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

    Examples
    --------
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

    Parameters
    ----------
    both, only_over, only_under : array-like, >= 0

    Returns
    -------
    low, high : array in [0, inf]
        An empty denominator gives ``high = inf``, an empty table [0, inf].

    References
    ----------
    Bonett & Price (2006), Statistics in Medicine 25, 3039-3047.

    Examples
    --------
    >>> low, high = paired_ratio(30, 8, 6, critical(0.95))
    >>> round(float(low), 4), round(float(high), 4)
    (0.8608, 1.2944)
    """
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

    Examples
    --------
    >>> odds([0.5, 0.8, 1.0]).round(3).tolist()
    [1.0, 4.0, inf]
    """
    (share,) = floats(share)
    return quotient(share, 1 - share)


def weighted_share(share: ArrayLike, times: int) -> Array:
    """Return ``kA / (kA + B)`` from the share ``A / (A + B)``.

    Examples
    --------
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

    Examples
    --------
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

    Parameters
    ----------
    x, n : array-like, 0 <= x <= n
        ``n = 0`` gives [0, 1].

    Returns
    -------
    low, high : array in [0, 1]
        ``low`` is 0 at ``x = 0`` and ``high`` 1 at ``x = n``, so the estimate is always inside.

    References
    ----------
    Brown, Cai & DasGupta (2001), Statistical Science 16, 101-133.

    Examples
    --------
    >>> low, high = jeffreys(15, 148, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0604, 0.1576)
    """
    return _beta(x, n, tail_of(confidence), add_low=0.5, add_high=0.5)


def clopper_pearson(x: ArrayLike, n: ArrayLike, confidence: float) -> Limits:
    """Return Clopper and Pearson's exact interval of a rate (coverage never below the level).

    Parameters
    ----------
    x, n : array-like, 0 <= x <= n
        ``n = 0`` gives [0, 1].

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 20, 0.95)
    >>> float(low), round(float(high), 4)
    (0.0, 0.1684)
    """
    return exact_rate_limits(x, n, tail_of(confidence))


def exact_rate_limits(x: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Limits:
    """Return Clopper and Pearson's limits, each with its own error of ``tail``.

    Examples
    --------
    >>> low, high = exact_rate_limits(3, 20, [0.025, 0.05])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.032, 0.042], [0.379, 0.344])
    """
    return _beta(x, n, tail, add_low=0.0, add_high=1.0)


def tail_of(confidence: float) -> float:
    """Return the probability of one tail.

    Raises
    ------
    ValueError
        When `confidence` is not inside (0, 1).

    Examples
    --------
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
