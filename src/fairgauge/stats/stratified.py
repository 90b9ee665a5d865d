"""Weighted differences and ratios of two rates over strata, also with many sparse strata.

Strata lie along the last axis; a stratum of weight 0 is excluded.

The conditional demographic disparity of a stratum is a difference of two rates, the group's share
of the rejected less its share of the accepted, so that the weighted sum is a pooled difference of
rates over strata. There is no prior that could outweigh the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import rates_given_difference
from fairgauge.stats.arrays import Array, Mask, floats, quiet, quotient
from fairgauge.stats.significance import chi_square_tail, two_sided


class Stratified(NamedTuple):
    """The interval of a pooled contrast, and the p-value at which it touches no difference."""

    low: Array
    high: Array
    p: Array


@quiet
def stratified_difference(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, weights: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of ``sum w (x1/n1 - x2/n2)``, assuming a common difference.

    ``weights``: shape (..., S): Mantel and Haenszel's, ``n1 n2 / (n1 + n2)`` over their sum, for
        their risk difference.

    >>> weights = [0.5, 0.5]
    >>> low, high, p = stratified_difference([30, 40], 100, [50, 60], 100, weights, 1.959964)
    >>> round(float(low), 4), round(float(high), 4), round(float(p), 6)
    (-0.2931, -0.103, 7.5e-05)
    """
    # Sato's variance is linear in the difference and unbiased in every stratum, so that it is valid
    # for many sparse strata; inverting the score (Klingenberg) makes it valid for rare outcomes.
    # Sato (1989), Biometrics 45, 1323-1324; Klingenberg (2014), Statistics in Medicine 33,
    # 2968-2983.
    x1, n1, x2, n2, w = floats(x1, n1, x2, n2, weights)
    n = n1 + n2
    slope = (n1**2 * x2 - n2**2 * x1 + n1 * n2 * (n2 - n1) / 2) / n**2
    level = (x1 * (n2 - x2) + x2 * (n1 - x1)) / (2 * n)
    gap = _weighted_sum(w, x1 / n1 - x2 / n2)
    factor = (w * n / (n1 * n2)) ** 2
    steepness = _weighted_sum(factor, slope) / w.sum(-1)
    variance = _weighted_sum(factor, level)
    z = np.asarray(z, dtype=np.float64)
    centre = gap + z**2 * steepness / 2
    half = np.sqrt(np.maximum(centre**2 - gap**2 + z**2 * variance, 0.0))
    most = w.sum(-1)  # of few rows the variance is linear beyond the differences that there may be
    low, high = np.maximum(centre - half, -most), np.minimum(centre + half, most)
    return Stratified(np.asarray(low), np.asarray(high), _p(gap, variance))


@quiet
def stratified_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, weights: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of ``sum w x1/n1`` over ``sum w x2/n2``, assuming a common ratio.

    The limits are 0 and inf where group 1 and group 2 have no successes.

    >>> weights = [0.5, 0.5]
    >>> low, high, p = stratified_ratio([30, 40], 100, [50, 60], 100, weights, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.508, 0.797)
    """
    # Greenland and Robins's variance of the difference ``sum w (p1 - r p2)``, inverted in r.
    # Greenland & Robins (1985), Biometrics 41, 55-68; Sato (1990), Biometrics 46, 71-80.
    x1, n1, x2, n2, w = floats(x1, n1, x2, n2, weights)
    n = n1 + n2
    over, under = _weighted_sum(w, x1 / n1), _weighted_sum(w, x2 / n2)
    spread = (n1 * n2 * (x1 + x2) - x1 * x2 * n) / n**2
    variance = _weighted_sum((w * n / (n1 * n2)) ** 2, spread)
    z = np.asarray(z, dtype=np.float64)
    middle = over * under + z**2 * variance / 2
    root = np.sqrt(np.maximum(middle**2 - (over * under) ** 2, 0.0))
    low = np.where(over == 0, 0.0, over**2 / (middle + root))
    high = np.where(under == 0, np.inf, (middle + root) / under**2)
    return Stratified(low, high, _p(over - under, variance))


@quiet
def mantel_haenszel_odds_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, z: ArrayLike
) -> Stratified:
    """Return the interval of Mantel and Haenszel's common odds ratio over strata.

    Strata without trials on a side are excluded. NaN where the odds ratio is 0, infinite or
    undefined.

    >>> low, high, p = mantel_haenszel_odds_ratio([30, 40], 100, [50, 60], 100, 1.959964)
    >>> round(float(low), 3), round(float(high), 3), round(float(p), 6)
    (0.291, 0.655, 6.1e-05)
    """
    # Robins, Breslow and Greenland's variance of its logarithm is consistent both for few large and
    # for many sparse strata.
    # Mantel & Haenszel (1959), Journal of the National Cancer Institute 22, 719-748; Robins,
    # Breslow & Greenland (1986), Biometrics 42, 311-323.
    a, n, c, m = floats(x1, n1, x2, n2)
    b, d, total = n - a, m - c, n + m
    used = ((n > 0) & (m > 0)).astype(np.float64)
    agree, differ = (a + d) / total, (b + c) / total
    over, under = a * d / total, b * c / total
    top, bottom = _weighted_sum(used, over), _weighted_sum(used, under)
    variance = (
        _weighted_sum(used, agree * over) / (2 * top**2)
        + _weighted_sum(used, agree * under + differ * over) / (2 * top * bottom)
        + _weighted_sum(used, differ * under) / (2 * bottom**2)
    )
    log_ratio = np.log(top / bottom)
    half = np.asarray(z, dtype=np.float64) * np.sqrt(variance)
    return Stratified(
        np.asarray(np.exp(log_ratio - half)),
        np.asarray(np.exp(log_ratio + half)),
        _p(log_ratio, variance),
    )


def _weighted_sum(weights: Array, values: Array) -> Array:
    return np.asarray(np.where(weights > 0, weights * values, 0.0).sum(-1))


def _p(gap: Array, variance: Array) -> Array:
    z = np.where(gap == 0, 0.0, np.abs(gap) / np.sqrt(variance))
    return two_sided(np.minimum(z, 37.0))


def conditional_disparity(group: ArrayLike, others: ArrayLike, z: ArrayLike) -> Stratified:
    """Limits of the group's share of the rejected less its share of the accepted, over strata.

    ``group, others``: shape (..., S, 2): accepted and rejected rows of the group, and of all
    others, in every stratum. A stratum without accepted or without rejected rows takes no part, as
    in the statistic.

    NaN where no stratum takes part. The p-value is that of no disparity in any stratum.

    >>> low, high, p = conditional_disparity([[20, 30], [10, 40]], [[40, 30], [60, 60]], 1.959964)
    >>> round(float(low), 4), round(float(high), 4), round(float(p), 4)
    (0.1123, 0.3199, 0.0001)
    """
    # Wachter, Mittelstadt & Russell (2021), Computer Law & Security Review 41, 105567 (the
    # statistic); Sato (1989), Biometrics 45, 1323-1324; Klingenberg (2014), Statistics in Medicine
    # 33, 2968-2983 (the interval).
    ours, theirs = floats(group, others)
    both = ours + theirs
    part = (both > 0).all(axis=-1)
    rows = np.where(part, both.sum(-1), 0.0)
    weights = quotient(rows, rows.sum(-1, keepdims=True))
    limits = stratified_difference(
        ours[..., 1], both[..., 1], ours[..., 0], both[..., 0], weights, z
    )
    known = part.any(axis=-1)
    return Stratified(*(np.where(known, limit, np.nan) for limit in limits))


FEWEST_EXPECTED = 5.0
"""A stratum with fewer expected successes or failures on a side is never named."""
FEWEST_ROWS = 10
"""Nor is one whose mean is of fewer rows on a side."""
FEWEST_STRATA = 6
"""Of fewer strata, how far the others vary can hardly be seen, and none is named."""


class HeterogeneityTest(NamedTuple):
    """The test that the difference is the same in all strata; arrays of shape (...).

    ``statistic, degrees, p``: chi-square; nan with fewer than two strata.
    ``spread``: the standard deviation of the true differences beyond sampling variation.
    """

    statistic: Array
    degrees: Array
    p: Array
    spread: Array


class Outlying(NamedTuple):
    """Each stratum against all others; arrays of shape (..., S), nan where it is not tested.

    ``others``: the mean difference of the other strata.
    ``z``: the distance from it in standard errors.
    ``p``: of no difference from the others.
    """

    others: Array
    z: Array
    p: Array


@quiet
def heterogeneity(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences vary over strata, and each stratum against all others.

    Strata without trials on a side are excluded.

    >>> women = [89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341]
    >>> men = [512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373]
    >>> whole, each = heterogeneity(*women, *men)
    >>> round(float(whole.statistic), 2), round(float(each.p[0]), 6)
    (18.98, 6.4e-05)
    """
    # Variances are those of Farrington and Manning, restricted to the common difference (Mantel and
    # Haenszel). A stratum is tested against the others with the spread of these (DerSimonian and
    # Laird), so that where differences vary everywhere the largest of them is not outlying.
    # Farrington & Manning (1990), Statistics in Medicine 9, 1447-1454; DerSimonian & Laird (1986),
    # Controlled Clinical Trials 7, 177-188; Viechtbauer & Cheung (2010), Research Synthesis Methods
    # 1, 112-125.
    x_d, n_d, x_a, n_a = floats(x_d, n_d, x_a, n_a)
    held = (n_d > 0) & (n_a > 0)
    d = np.where(held, x_d / n_d - x_a / n_a, 0.0)
    n = n_d + n_a
    pooling = np.where(held, n_d * n_a / n, 0.0)

    def at(difference: Array) -> tuple[Array, Mask]:
        """Return variances where strata differ by a number, and which have data enough.

        Enough is by the fewest successes or failures that a side is expected to have.
        """
        p_d, p_a = rates_given_difference(x_d, n_d, x_a, n_a, np.clip(difference, -1, 1))
        variance = (p_d * (1 - p_d) / n_d + p_a * (1 - p_a) / n_a) * n / (n - 1)
        expected = [n_d * p_d, n_d * (1 - p_d), n_a * p_a, n_a * (1 - p_a)]
        return variance, np.minimum.reduce(expected) >= FEWEST_EXPECTED

    variance, _ = at(np.asarray((pooling * d).sum(-1) / pooling.sum(-1))[..., None])
    weight = np.where(held & (variance > 0), 1 / variance, 0.0)
    strata = held.sum(-1).astype(np.float64)
    against = _compare_with_others(d, weight, held, at, np.inf)
    return _test_all_strata(_power_sums(weight, d), strata), against


@quiet
def heterogeneity_of_means(
    difference: ArrayLike, v_d: ArrayLike, v_a: ArrayLike, n_d: ArrayLike, n_a: ArrayLike
) -> tuple[HeterogeneityTest, Outlying]:
    """Test whether differences of means vary over strata, and each stratum against all others.

    ``v_d, v_a``: variances of both sides; strata in which they are 0 are excluded.

    >>> rows, variances = [50, 50, 50, 0], [0.5, 0.5, 0.5, 0]
    >>> whole, each = heterogeneity_of_means([0, 0, 4, 9], variances, variances, rows, rows)
    >>> round(float(whole.statistic), 2), round(float(whole.p), 4)
    (10.67, 0.0056)
    """
    # Variances of few rows are uncertain, so that the small ones among them would let differences
    # seem to vary; the statistic allows for it, and has the distribution F of Welch.
    # Welch (1951), Biometrika 38, 330-336.
    from scipy.special import fdtrc

    d, v_d, v_a, n_d, n_a = floats(difference, v_d, v_a, n_d, n_a)
    held = np.isfinite(d) & (v_d + v_a > 0)
    variance = np.where(held, v_d + v_a, 0.0)
    weight = np.where(held, 1 / variance, 0.0)
    strata, d = held.sum(-1).astype(np.float64), np.where(held, d, 0.0)
    found = _test_all_strata(_power_sums(weight, d), strata)
    # of freedom (Satterthwaite), which two rows of the prior add to
    degrees = variance**2 / (v_d**2 / (n_d + 1) + v_a**2 / (n_a + 1))
    share = weight / weight.sum(-1)[..., None]
    uncertain = np.where(held, (1 - share) ** 2 / degrees, 0.0).sum(-1) / (strata**2 - 1)
    ratio = found.statistic / (strata - 1) / (1 + 2 * (strata - 2) * uncertain)
    p = fdtrc(strata - 1, 1 / (3 * uncertain), ratio)
    named = held & (np.minimum(n_d, n_a) >= FEWEST_ROWS)
    each = _compare_with_others(d, weight, held, lambda _: (variance, named), degrees)
    return found._replace(p=np.where(strata > 1, p, np.nan)), each


def _power_sums(weight: Array, d: Array) -> list[Array]:
    return [np.asarray((weight**k * d**j).sum(-1)) for k, j in ((1, 0), (1, 1), (1, 2), (2, 0))]


def _test_all_strata(sums: Sequence[Array], strata: Array) -> HeterogeneityTest:
    statistic, spread = _heterogeneity(sums, strata)
    return HeterogeneityTest(
        np.where(strata > 1, statistic, np.nan),
        strata - 1,
        np.where(strata > 1, chi_square_tail(statistic, np.maximum(strata - 1, 1.0)), np.nan),
        np.where(strata > 1, np.sqrt(spread), np.nan),
    )


# returns the variances of strata that do not differ from a mean, and which have data enough.
_Tested = Callable[[Array], tuple[Array, Mask]]


def _compare_with_others(
    d: Array, weight: Array, held: Mask, at: _Tested, degrees: ArrayLike
) -> Outlying:
    # Where these do not vary the distance is normal, else Student's. ``degrees`` are those of
    # freedom of the variances; weights are 0 where a side has no rows.
    own = (weight, weight * d, weight * d**2, weight**2)
    rest = [
        total[..., None] - mine for total, mine in zip(_power_sums(weight, d), own, strict=True)
    ]
    others = held.sum(-1)[..., None] - held.astype(np.float64)
    _, spread = _heterogeneity(rest, others)
    total, moment = np.zeros_like(spread), np.zeros_like(spread)
    own_variance = np.where(weight > 0, 1 / weight, np.inf)
    for s in range(spread.shape[-1]):  # the spread differs with the stratum that is omitted
        with_spread = 1 / (own_variance + spread[..., s : s + 1])
        with_spread[..., s] = 0.0
        total[..., s] = with_spread.sum(-1)
        moment[..., s] = (with_spread * d).sum(-1)
    mean = moment / total
    variance, enough = at(mean)
    tested = held & enough & (others >= FEWEST_STRATA - 1)
    from scipy.special import stdtr

    z = np.where(tested, (d - mean) / np.sqrt(variance + spread + 1 / total), np.nan)
    degrees = np.where(spread > 0, np.minimum(degrees, np.maximum(others - 1, 1.0)), degrees)
    p = np.where(
        np.isinf(degrees),
        two_sided(np.minimum(np.abs(z), 37.0)),
        2 * stdtr(np.maximum(degrees, 1.0), -np.abs(z)),
    )
    mean = np.where(held & (others > 0), mean, np.nan)
    return Outlying(mean, z, np.where(tested, p, np.nan))


def _heterogeneity(sums: Sequence[Array], strata: Array) -> tuple[Array, Array]:
    w, wd, wdd, ww = sums
    statistic = np.maximum(wdd - wd**2 / w, 0.0)
    excess = (statistic - (strata - 1)) / (w - ww / w)
    return statistic, np.where(strata > 1, np.maximum(np.nan_to_num(excess), 0.0), 0.0)
