"""Confidence intervals of a difference or a ratio of two estimates.

MOVER (method of variance estimates recovery) constructs the interval of a contrast from the
intervals of its two sides, of any kind, and their correlation.  At a ratio of 1 and a difference of
0 it solves one equation, so that both intervals agree on equality.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import bisect, falling_root, rates_given_difference, rates_given_ratio
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.intervals import wilson


@quiet
def mover_difference(
    e1: ArrayLike, low1: ArrayLike, high1: ArrayLike, e2: ArrayLike, low2: ArrayLike,
    high2: ArrayLike, correlation: ArrayLike = 0.0,
) -> Limits:  # fmt: skip
    """Return the interval of ``e1 - e2`` from the estimates and intervals of both sides.

    Where an estimate is infinite or undefined, the limits are ``low1 - high2`` and ``high1 -
    low2``, so that one limit of an infinite estimate remains finite.

    >>> low, high = mover_difference(0.8, 0.69, 0.88, 0.6, 0.49, 0.70)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0513, 0.336)
    >>> low, high = mover_difference(0.8, 0.69, 0.88, 0.6, 0.49, 0.70, correlation=0.5)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0946, 0.2985)
    """
    # Zou & Donner (2008), Statistics in Medicine 27, 1693-1702; Zou (2007), Psychological Methods
    # 12, 399-413 (correlated sides).
    e1, low1, high1, e2, low2, high2, r = floats(e1, low1, high1, e2, low2, high2, correlation)
    gap, known = e1 - e2, np.isfinite(e1) & np.isfinite(e2)
    low = np.where(known, gap - _joint_margin(e1 - low1, high2 - e2, r), low1 - high2)
    high = np.where(known, gap + _joint_margin(high1 - e1, e2 - low2, r), high1 - low2)
    return low, high


@quiet
def mover_shared_difference(
    e1: ArrayLike, low1: ArrayLike, high1: ArrayLike, e2: ArrayLike, low2: ArrayLike,
    high2: ArrayLike, correlation: ArrayLike,
) -> Limits:  # fmt: skip
    """Return the interval of ``e1 - e2`` from estimates whose errors are partly the same.

    >>> skewed = (0.9, 0.8, 0.95)
    >>> mover_shared_difference(*skewed, *skewed, 1.0)
    (array(0.), array(0.))
    >>> [round(float(limit), 4) for limit in mover_difference(*skewed, *skewed, 1.0)]
    [-0.05, 0.05]
    """
    # As `mover_difference`, where the correlation r is 0 or less. Where it is positive, a share r
    # of either variance comes from errors that both estimates have, which move both the same way:
    # of these the distances to the limits on the *same* side are subtracted. `mover_difference`
    # subtracts distances on opposite sides, so that two equal estimates with skewed limits that
    # depend on each other fully have a difference of positive width; here it is 0. With symmetric
    # limits both are the same.
    e1, low1, high1, e2, low2, high2, r = floats(e1, low1, high1, e2, low2, high2, correlation)
    low, high = mover_difference(e1, low1, high1, e2, low2, high2, r)
    below1, above1, below2, above2 = e1 - low1, high1 - e1, e2 - low2, high2 - e2
    falls = np.maximum(np.maximum(below1 - below2, above2 - above1), 0.0)
    rises = np.maximum(np.maximum(above1 - above2, below2 - below1), 0.0)
    below = np.sqrt((1 - r) * (below1**2 + above2**2) + r * falls**2)
    above = np.sqrt((1 - r) * (above1**2 + below2**2) + r * rises**2)
    shared = (r > 0) & np.isfinite(below) & np.isfinite(above)
    return np.where(shared, e1 - e2 - below, low), np.where(shared, e1 - e2 + above, high)


@quiet
def mover_ratio(
    e1: ArrayLike, low1: ArrayLike, high1: ArrayLike, e2: ArrayLike, low2: ArrayLike,
    high2: ArrayLike, correlation: ArrayLike = 0.0,
) -> Limits:  # fmt: skip
    """Return the interval of ``e1 / e2`` from estimates and intervals of non-negative sides.

    The lower limit is the ratio R at which the lower limit of ``e1 - R e2`` is 0, which with
    distances ``a = e1 - low1`` and ``b = high2 - e2`` is the smaller root of
    ``(e1 - R e2)^2 = a^2 + R^2 b^2 - 2 r R a b``; the upper limit likewise.

    ``e1, low1, high1, e2, low2, high2``: estimates with their confidence limits. ``low1 = 0`` gives
        0, ``low2 = 0`` gives inf. Where an estimate is infinite or undefined: ``low1 / high2`` and
        ``high1 / low2``.
    ``correlation``: of the two estimates; 0 where the sides are independent.

    >>> low, high = mover_ratio(0.3, 0.2, 0.4, 0.5, 0.4, 0.6)
    >>> round(float(low), 3), round(float(high), 3)
    (0.386, 0.864)
    """
    # Donner & Zou (2012), Statistical Methods in Medical Research 21, 347-359.
    e1, low1, high1, e2, low2, high2, r = floats(e1, low1, high1, e2, low2, high2, correlation)
    known, product = np.isfinite(e1) & np.isfinite(e2), e1 * e2

    def half(a: Array, b: Array) -> Array:  # of the sum of both roots, times c
        return np.where(r == 0, product, product - r * a * b)

    b, c, p = low1 * (2 * e1 - low1), high2 * (2 * e2 - high2), half(e1 - low1, high2 - e2)
    low = b / (p + np.sqrt(np.maximum(p**2 - b * c, 0)))  # stable where c is near 0
    b, c, p = high1 * (2 * e1 - high1), low2 * (2 * e2 - low2), half(high1 - e1, e2 - low2)
    high = (p + np.sqrt(np.maximum(p**2 - b * c, 0))) / c
    low = np.where(low1 == 0, 0.0, np.where(known, low, low1 / high2))
    high = np.where(low2 == 0, np.inf, np.where(known, high, high1 / low2))
    return low, high


@quiet
def mover_odds_ratio(
    p1: ArrayLike, low1: ArrayLike, high1: ArrayLike, p2: ArrayLike, low2: ArrayLike,
    high2: ArrayLike, correlation: ArrayLike = 0.0,
) -> Limits:  # fmt: skip
    """Return the interval of the odds ratio of two shares, from their intervals.

    A limit is the odds ratio R at which the difference of both shares, the odds of the first
    divided and those of the second multiplied by the root of R, has a limit of 0. So it excludes 1
    exactly when `mover_difference` excludes 0, swapped sides and complements mirror it, and a share
    of 0 or 1 needs no correction. An undefined share gives [0, inf].

    >>> low, high = mover_odds_ratio(0.8, 0.69, 0.88, 0.6, 0.49, 0.70)
    >>> round(float(low), 3), round(float(high), 3)
    (1.276, 5.655)
    """
    # MOVER of odds depends on which outcome is called positive, and that of their logarithms
    # has no estimate at 0: of 15 in 800 and 0 in 400 it gives 1.20 to inf; this 1.83, the
    # conditional exact test 1.82, and of 16 in 800 less than a second case more in 400.
    p1, low1, high1, p2, low2, high2, r = floats(p1, low1, high1, p2, low2, high2, correlation)
    known = np.isfinite(p1) & np.isfinite(p2)
    low = np.where(known, _least_odds_ratio(p1, low1, p2, high2, r), 0.0)
    high = np.where(known, 1 / _least_odds_ratio(p2, low2, p1, high1, r), np.inf)
    return low, high


def newcombe(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike) -> Limits:
    """Return Newcombe's interval (method 10) of ``x1/n1 - x2/n2``: MOVER of Wilson intervals.

    An empty group contributes the interval [0, 1].

    >>> low, high = newcombe(56, 70, 48, 80, 1.959964)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0524, 0.3339)
    """
    # Newcombe (1998), Statistics in Medicine 17, 873-890.
    low, high = mover_difference(*_wilson_sides(x1, n1, x2, n2, z))
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def mover_wilson_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike
) -> Limits:
    """Return the MOVER interval of ``(x1/n1) / (x2/n2)`` from Wilson intervals.

    ``x1 = 0`` gives a lower limit 0, ``x2 = 0`` an upper limit inf. It excludes 1 exactly when
    `newcombe` excludes 0.

    >>> low, high = mover_wilson_ratio(24, 73, 53, 65, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.282, 0.563)
    """
    # Donner & Zou (2012); Fagerland & Newcombe (2013), Statistics in Medicine 32, 2823-2836.
    return mover_ratio(*_wilson_sides(x1, n1, x2, n2, z))


@quiet
def score_difference(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: float, *,
    skewness: bool = True, small_sample: bool = True,
) -> Limits:  # fmt: skip
    """Return the score interval of ``x1/n1 - x2/n2``: SCAS, or Miettinen-Nurminen.

    An empty group gives [-1, 1]; the estimate is always inside.

    ``skewness``: correct the score for its skewness (SCAS), which balances the two tails; without
        it the interval is Miettinen and Nurminen's.
    ``small_sample``: use the variance factor N/(N-1), which Gart and Nam's own interval lacks.

    >>> low, high = score_difference(56, 70, 48, 80, 1.959964, skewness=False)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0528, 0.3382)
    """
    # Miettinen & Nurminen (1985), Statistics in Medicine 4, 213-226; Gart & Nam (1990), Biometrics
    # 46, 637-643; Laud (2017), Pharmaceutical Statistics 16, 334-348.
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    inflate = _inflation(n1 + n2, small_sample)

    def score(d: Array) -> Array:
        q1, q2 = rates_given_difference(x1, n1, x2, n2, d)
        v1, v2 = q1 * (1 - q1) / n1, q2 * (1 - q2) / n2
        skew = v1 * (1 - 2 * q1) / n1 - v2 * (1 - 2 * q2) / n2
        return _correct_skewness(x1 / n1 - x2 / n2 - d, (v1 + v2) * inflate, skew * skewness, z)

    gap = x1 / n1 - x2 / n2
    known = (n1 > 0) & (n2 > 0)
    low = _crossing(score, z, np.full_like(gap, -1.0), gap)
    high = _crossing(score, -z, gap, np.ones_like(gap))
    return np.where(known, low, -1.0), np.where(known, high, 1.0)


@quiet
def score_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: float, *,
    skewness: bool = True, small_sample: bool = True,
) -> Limits:  # fmt: skip
    """Return the score interval of ``(x1/n1) / (x2/n2)``: SCAS, or Miettinen-Nurminen.

    ``x1 = 0`` gives a lower limit 0, ``x2 = 0`` an upper limit inf, both or an empty group [0,
    inf]. Where the rates are 1 and 0 the skewness correction diverges and is omitted.

    >>> low, high = score_ratio(7, 18, 1, 18, 1.959964, skewness=False)
    >>> round(float(low), 3), round(float(high), 3)
    (1.296, 42.544)
    """
    # Koopman (1984), Biometrics 40, 513-517; Gart & Nam (1988), Biometrics 44, 323-338; Laud
    # (2017).
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    inflate = _inflation(n1 + n2, small_sample)
    extreme = ((x1 >= n1) & (x2 <= 0)) | ((x1 <= 0) & (x2 >= n2))
    corrected = np.where(extreme, 0.0, float(skewness))

    def score(angle: Array) -> Array:
        r = np.tan(angle)
        q1, q2 = rates_given_ratio(x1, n1, x2, n2, r)
        v1, v2 = q1 * (1 - q1) / n1, r * r * q2 * (1 - q2) / n2
        skew = v1 * (1 - 2 * q1) / n1 - v2 * r * (1 - 2 * q2) / n2
        return _correct_skewness(x1 / n1 - r * x2 / n2, (v1 + v2) * inflate, skew * corrected, z)

    known = (n1 > 0) & (n2 > 0) & (x1 + x2 > 0)
    centre = np.where(known, np.arctan2(x1 * n2, x2 * n1), np.pi / 4)
    low = np.tan(_crossing(score, z, np.zeros_like(centre), centre))
    high = np.tan(_crossing(score, -z, centre, np.full_like(centre, np.pi / 2)))
    low, high = np.where(known & (x1 > 0), low, 0.0), np.where(known & (x2 > 0), high, np.inf)
    return low, high


_SMALL, _FAR = 50, 0.5


def far_apart(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Mask:
    """Return where two rates of few rows are so far apart that Newcombe's limits undercover.

    Score limits are made there: below 50 rows, and from a difference of one half on.

    >>> far_apart([9, 90, 6], [10, 100, 10], [1, 10, 4], [10, 100, 10]).tolist()
    [True, False, False]
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    gap = quotient(x1, n1) - quotient(x2, n2)
    return np.asarray((np.minimum(n1, n2) < _SMALL) & (np.abs(gap) > _FAR))


def expected_count(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the smallest count expected of two proportions that do not differ.

    >>> float(expected_count(3, 10, 27, 90))
    3.0
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    pooled = quotient(x1 + x2, n1 + n2)
    return np.asarray(np.minimum(n1, n2) * np.minimum(pooled, 1 - pooled))


@quiet
def difference_from_whole(low: ArrayLike, high: ArrayLike, part: ArrayLike) -> Limits:
    """Return the limits of ``group - whole`` from those of ``group - others``.

    ``part``: the group's share of the whole; a group that is the whole has no others.

    >>> [each.tolist() for each in difference_from_whole([0.1, 0.1], [0.3, 0.3], [0.5, 1.0])]
    [[0.05, 0.0], [0.15, 0.0]]
    """
    low, high, part = floats(low, high, part)
    whole = part >= 1
    return np.where(whole, 0.0, (1 - part) * low), np.where(whole, 0.0, (1 - part) * high)


@quiet
def ratio_to_whole(low: ArrayLike, high: ArrayLike, part: ArrayLike) -> Limits:
    """Return the limits of ``group / whole`` from those of ``group / others``.

    >>> [round(float(each), 3) for each in ratio_to_whole(0.5, 1.0, 0.5)]
    [0.667, 1.0]
    """
    low, high, part = floats(low, high, part)
    whole = part >= 1
    below = np.where(whole, 0.0, (1 - part) * quotient(1.0, low))
    above = np.where(whole, 0.0, (1 - part) * quotient(1.0, high))
    return quotient(1.0, part + below), quotient(1.0, part + above)


@quiet
def odds_ratio_to_whole(low: ArrayLike, high: ArrayLike, part: ArrayLike, p: ArrayLike) -> Limits:
    """Return the limits of the odds ratio of a group and the whole from those of it and the others.

    ``p``: the share of the whole, taken as known, as is the ``part`` that the group is of it.

    >>> [round(float(each), 3) for each in odds_ratio_to_whole(0.5, 1.0, 0.5, 0.5)]
    [0.707, 1.0]
    """
    low, high, part, p = floats(low, high, part, p)

    def own(up: Array, p: Array) -> Array:  # the share of the group, by a quadratic equation
        a, b, c = part * (1 - 2 * up), (1 - up) * (1 - part - p) + up * (p + part), up * p
        root = np.sqrt(b * b + 4 * a * c)
        solved = np.where(b < 0, (root - b) / (2 * a), 2 * c / (b + root))
        return np.asarray(np.nan_to_num(np.clip(solved, 0, None)))

    def from_others(ratio: Array) -> Array:
        up = np.where(np.isinf(ratio), 1.0, ratio / (1 + ratio))
        found = quotient(own(up, p) * (1 - p), own(1 - up, 1 - p) * p)
        return np.where(np.isnan(ratio), np.nan, np.where(part < 1, found, 1.0))

    return from_others(low), from_others(high)


def fold(low: ArrayLike, high: ArrayLike) -> Limits:
    """Return the interval of ``|d|`` from that of ``d``.

    >>> low, high = fold([-0.3, -0.1, 0.1], [-0.1, 0.2, 0.4])
    >>> low.tolist(), high.tolist()
    ([0.1, 0.0, 0.1], [0.3, 0.2, 0.4])
    """
    low, high = floats(low, high)
    return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))


@quiet
def welch_degrees(var1: ArrayLike, n1: ArrayLike, var2: ArrayLike, n2: ArrayLike) -> Array:
    """Return Welch and Satterthwaite's degrees of freedom of a difference of two means.

    Of sample variances (divisor n - 1) and sizes; infinite where both variances are 0.

    >>> round(float(welch_degrees(4.0, 30, 9.0, 20)), 2)
    30.19
    """
    # Welch (1947), Biometrika 34, 28-35.
    var1, n1, var2, n2 = floats(var1, n1, var2, n2)
    v1, v2 = var1 / n1, var2 / n2
    degrees = (v1 + v2) ** 2 / (v1**2 / (n1 - 1) + v2**2 / (n2 - 1))
    return np.where(v1 + v2 > 0, degrees, np.inf)


@quiet
def _wilson_sides(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike
) -> tuple[ArrayLike, ...]:
    x1, n1, x2, n2, z = floats(x1, n1, x2, n2, z)
    return x1 / n1, *wilson(x1, n1, z), x2 / n2, *wilson(x2, n2, z)


def _joint_margin(a: Array, b: Array, r: Array) -> Array:
    joint = np.hypot(a - r * b, np.sqrt(1 - r * r) * b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, joint)


_LARGEST_LOG_ROOT = 40.0


def _least_odds_ratio(p1: Array, low1: Array, p2: Array, high2: Array, r: Array) -> Array:
    def gap(log_root: Array) -> Array:
        down, up = np.exp(-log_root), np.exp(log_root)
        one, lower, two, upper = (
            p * by / (1 - p + p * by) for p, by in ((p1, down), (low1, down), (p2, up), (high2, up))
        )
        return one - two - _joint_margin(one - lower, upper - two, r)

    end = np.full(np.broadcast(p1, low1, p2, high2, r).shape, _LARGEST_LOG_ROOT)
    root = falling_root(gap, -end, end)
    ratio = np.select([root <= -end, root >= end], [0.0, np.inf], np.exp(2 * root))
    return np.where(np.isnan(low1) | np.isnan(high2), np.nan, ratio)


def _inflation(n: Array, small_sample: bool) -> Array:
    return np.where(n > 1, n / (n - 1), 1.0) if small_sample else np.ones_like(n)


def _correct_skewness(gap: Array, variance: Array, skew: Array, z: float) -> Array:
    # the score less its skewness at `z`; 0/0 is 0 (the data agree with the contrast)
    sd = np.sqrt(variance)
    value = gap / sd - (z * z - 1) * skew / (6 * sd**3)
    return np.where(sd > 0, value, np.where(gap == 0, 0.0, np.sign(gap) * np.inf))


def _crossing(score: Callable[[Array], Array], level: float, low: Array, high: Array) -> Array:
    # by bisection: of tables with few rows the skewness-corrected score of a ratio is not monotone,
    # and scipy's find_root returns crossings far beyond the first
    above, below = bisect(lambda value: score(value) > level, low, high)
    return below if level > 0 else above
