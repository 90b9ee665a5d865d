"""Tests of no difference: inversion of an interval, score, Welch, chi-square, Fisher, Boschloo.

Intervals made for estimates (Newcombe's, MOVER's) are right on average over sample sizes and rates.
A promise that must hold at every one of them, such as the false alarm rate of a monitor whose
baseline is itself an estimate, needs exact limits, whose coverage is never below the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.stats._roots import bisect, falling_root
from fairgauge.stats.arrays import Array, Limits, floats, quiet, whole_counts
from fairgauge.stats.contrasts import newcombe, welch_degrees
from fairgauge.stats.intervals import exact_rate_limits, tail_of

if TYPE_CHECKING:
    from fairgauge.stats.sequential import Contrasted

Z_MAX = 37.0
"""Largest critical value; its two-sided p, 6e-300, is the smallest one reported."""


def two_sided(z: ArrayLike) -> Array:
    """Return the two-sided normal p-value of `z`.

    >>> round(float(two_sided(1.959964)), 6)
    0.05
    """
    return 2 * normal_tail(np.abs(z))


def normal_tail(z: ArrayLike) -> Array:
    """Return the probability that a standard normal variable exceeds z.

    >>> normal_tail([0.0, 1.6449]).round(4).tolist()
    [0.5, 0.05]
    """
    (value,) = floats(z)
    scaled = (value / math.sqrt(2)).ravel().tolist()
    return np.fromiter(map(math.erfc, scaled), np.float64, len(scaled)).reshape(value.shape) / 2


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution; infinite at 0 and 1.

    >>> round(normal_quantile(0.975), 4), normal_quantile(1.0)
    (1.96, inf)
    """
    if 0 < probability < 1:
        return NormalDist().inv_cdf(probability)
    return math.inf if probability >= 1 else -math.inf


def invert_z(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the critical value at which an interval just touches the null.

    ``interval``: from a critical value z to (low, high): the estimate at ``z = 0``, wider as z
        grows. Called with a scalar first, then with arrays of the shape that it returned.
    ``null``: the value under test: 0 for a difference, 1 for a ratio.

    NaN where the interval is nan.

    >>> z = invert_z(lambda z: (3.0 - 2.0 * z, 3.0 + 2.0 * z))
    >>> round(float(z), 6)
    1.5
    """
    low, high, value = floats(*interval(np.asarray(0.0)), null)
    undefined = np.isnan(low) | np.isnan(high)
    above, inner = low > value, np.zeros(value.shape)

    def outside(low: Array, high: Array) -> Array:
        """Return the distance of the null outside the interval; falls with z, 0 at the root."""
        return np.where(above, low - value, value - high)

    root = falling_root(
        lambda z: outside(*interval(z)), inner, np.full_like(inner, Z_MAX), outside(low, high)
    )
    return np.where(undefined, np.nan, root)


def invert(interval: Callable[[Array], Limits], null: ArrayLike = 0.0) -> Array:
    """Return the p-value at which an interval just touches the null.

    Interval and p-value agree: ``p < 1 - confidence`` exactly when the interval at that confidence
    excludes `null`. NaN where the interval is nan.

    >>> p = invert(lambda z: newcombe(56, 70, 48, 80, z))
    >>> round(float(p), 6)
    0.008133
    """
    return two_sided(invert_z(interval, null))


def newcombe_p(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the p-value of equal rates by inverting `newcombe`; an empty group gives nan.

    >>> newcombe_p([56, 50], [70, 200], [48, 35], [80, 200]).round(6).tolist()
    [0.008133, 0.067203]
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    return np.where((n1 > 0) & (n2 > 0), invert(lambda z: newcombe(x1, n1, x2, n2, z)), np.nan)


@quiet
def score_p(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, *, skewness: bool = True
) -> Array:
    """Return the p-value of equal rates that agrees with the score intervals.

    The level at which `score_difference` touches 0, and `score_ratio` 1. An empty group gives nan,
    rates that are both 0 or both 1 give 1.

    ``skewness``: as for `score_difference`; without it this is the N - 1 chi-square test (Campbell
        2007, Statistics in Medicine 26, 3661-3675).

    >>> score_p([7, 56], [25, 70], [2, 48], [25, 80]).round(4).tolist()
    [0.0685, 0.008]
    """
    # Laud (2017), Pharmaceutical Statistics 16, 334-348.
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)
    n, pooled = n1 + n2, (x1 + x2) / (n1 + n2)
    spread = pooled * (1 - pooled)
    sd = np.sqrt(spread * (1 / n1 + 1 / n2) * n / (n - 1))
    third = spread * (1 - 2 * pooled) * (1 / n1**2 - 1 / n2**2)
    bend = third / (6 * sd**3) if skewness else np.zeros_like(n)
    shifted = (x1 / n1 - x2 / n2) / sd + bend  # then bend z^2 + z = shifted, and z >= 0
    z = 2 * np.abs(shifted) / (1 + np.sqrt(np.maximum(1 + 4 * bend * shifted, 0.0)))
    p = np.where(spread > 0, two_sided(np.where(np.isnan(z), 0.0, z)), 1.0)
    return np.where((n1 > 0) & (n2 > 0), p, np.nan)


@quiet
def welch_p(
    mean1: ArrayLike, var1: ArrayLike, n1: ArrayLike,
    mean2: ArrayLike, var2: ArrayLike, n2: ArrayLike,
) -> Array:  # fmt: skip
    """Return the p-value of Welch's test of equal means.

    Variances have the divisor n - 1; a group of fewer than two gives nan.

    >>> round(float(welch_p(5.0, 4.0, 30, 4.0, 9.0, 20)), 4)
    0.2003
    """
    from scipy.special import stdtr

    mean1, var1, n1, mean2, var2, n2 = floats(mean1, var1, n1, mean2, var2, n2)
    error = np.sqrt(var1 / n1 + var2 / n2)
    t = np.where(mean1 == mean2, 0.0, np.abs(mean1 - mean2) / error)
    p = np.where(error > 0, 2 * stdtr(welch_degrees(var1, n1, var2, n2), -t), t == 0)
    return np.where((n1 > 1) & (n2 > 1), p, np.nan)


def chi_square_tail(statistic: ArrayLike, degrees: ArrayLike) -> Array:
    """Return the probability that a chi-square variable exceeds `statistic`.

    ``degrees``: whole numbers

    >>> chi_square_tail([3.841459, 9.487729], [1, 4]).round(6).tolist()
    [0.05, 0.05]
    """
    # For whole degrees of freedom it is a finite sum of positive terms (`scipy.special`, which has
    # it too, takes longer to import than most audits take to compute).
    # Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 26.4.4 and 26.4.5.
    half, degrees = floats(statistic, degrees)
    half = np.clip(half[..., None] / 2, 1e-300, 1e300)  # the logarithm of 0 and inf is infinite
    degrees = degrees[..., None]
    odd = degrees % 2
    steps = np.arange(1, degrees.max(initial=1) // 2 + 1) - odd / 2
    logs = np.cumsum(np.log(half / steps), axis=-1) - half - odd * np.log(np.pi * half) / 2
    terms = np.where(steps < degrees / 2, np.exp(logs), 0.0).sum(-1)
    first = np.where(odd > 0, 2 * normal_tail(np.sqrt(2 * half)), np.exp(-half))[..., 0]
    return np.asarray(np.minimum(first + terms, 1.0))


def homogeneity(x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Test that all groups share one rate (Pearson's chi-square); groups are along the last axis.

    NaN with fewer than two groups that have trials; 0 and 1 when all rates are 0 or all are 1.

    >>> stat, p = homogeneity([20, 26, 31, 18, 24], 100)
    >>> round(float(stat), 4), round(float(p), 4)
    (5.7787, 0.2163)
    """
    x, n = floats(x, n)
    return homogeneity_table(np.stack([x, n - x], axis=-1))


@quiet
def homogeneity_table(counts: ArrayLike) -> tuple[Array, Array]:
    """Test that all groups share one distribution (Pearson's chi-square).

    ``counts``: shape (..., G, K): rows per group and category; empty groups and categories are
    excluded.

    NaN with fewer than two groups; 0 and 1 with fewer than two categories.

    >>> stat, p = homogeneity_table([[50, 30, 20], [20, 18, 22]])
    >>> round(float(stat), 4), round(float(p), 4)
    (6.3492, 0.0418)
    """
    (table,) = floats(counts)
    groups, categories = table.sum(-1, keepdims=True), table.sum(-2, keepdims=True)
    expected = groups * categories / categories.sum(-1, keepdims=True)
    stat = np.where(expected > 0, (table - expected) ** 2 / expected, 0.0).sum((-1, -2))
    g, k = np.count_nonzero(groups, axis=(-1, -2)), np.count_nonzero(categories, axis=(-1, -2))
    degrees = (g - 1) * (k - 1)
    p = np.where(degrees > 0, chi_square_tail(stat, np.maximum(degrees, 1)), 1.0)
    return np.where(g > 1, stat, np.nan), np.where(g > 1, p, np.nan)


def fisher(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the two-sided p-value of Fisher's exact test.

    Raises ``ValueError``: A count is not whole.

    >>> round(float(fisher(48, 80, 12, 40)), 4), round(float(fisher(3, 20, 1, 10)), 4)
    (0.0034, 1.0)
    """
    # Fisher (1935), Journal of the Royal Statistical Society 98, 39-82.
    from scipy.stats import fisher_exact

    counts = np.stack(whole_counts("Fisher's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    p = [
        fisher_exact([[a, m - a], [b, n - b]]).pvalue
        for a, m, b, n in counts.reshape(-1, 4).tolist()
    ]
    return np.asarray(p, dtype=np.float64).reshape(counts.shape[:-1])


def holm(p: ArrayLike) -> Array:
    """Return Holm's step-down adjustment: strong control of the family-wise error rate.

    ``p``: those of one family along the last axis; nan is kept and not counted.

    >>> holm([0.01, 0.04, np.nan]).tolist()
    [0.02, 0.04, nan]
    """
    # Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    ordered, order, count = _sorted_p(p)
    factor = count - np.arange(ordered.shape[-1])
    return _unsorted_p(np.maximum.accumulate(ordered * np.maximum(factor, 1), axis=-1), order)


def holm_levels(p: ArrayLike, level: float) -> Array:
    """Return the level at which Holm's procedure tests each p-value, for ``level`` of the family.

    An interval of one minus this level excludes a value just where Holm's adjusted p-value of it is
    at most ``level``, so that all intervals together exclude a true value with at most that
    probability. It is the level over how many hypotheses are left where one is tested; of those
    that are not rejected, all the same.

    ``p``: as of `holm`.

    >>> holm_levels([0.2, 0.001, 0.3, np.nan], 0.06).tolist()
    [0.03, 0.02, 0.03, nan]
    """
    ordered, order, count = _sorted_p(p)
    step = np.arange(ordered.shape[-1])
    rejected = holm(ordered) <= level
    left = count - np.where(rejected, step, rejected.sum(axis=-1, keepdims=True))
    levels = np.where(np.isnan(ordered), np.nan, level / np.maximum(left, 1))
    return _unsorted_p(levels, order)


def sidak(p: ArrayLike, comparisons: int) -> Array:
    """Return p-values adjusted in a single step: the levels of `simultaneous_level`, inverted.

    An interval at that level excludes a value just where its adjusted p-value is below one minus
    the confidence level.

    ``comparisons``: how many are judged together.

    >>> sidak([0.01, 0.2], 5).round(3).tolist()
    [0.049, 0.672]
    """
    # Sidak (1967), JASA 62, 626-633.
    (single,) = floats(p)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(comparisons * np.log1p(-single)))


def simultaneous_level(comparisons: int, confidence: float) -> float:
    """Return the level of single intervals at which several hold together, however they correlate.

    For what is shown because it is the most extreme of several: a headline, a finding.

    >>> simultaneous_level(1, 0.95), round(simultaneous_level(12, 0.95), 5)
    (0.95, 0.99573)
    """
    return math.exp(math.log(confidence) / comparisons)


def _sorted_p(p: ArrayLike) -> tuple[Array, NDArray[np.intp], Array]:
    values = np.atleast_1d(np.asarray(p, dtype=np.float64))
    order = np.argsort(values, axis=-1, kind="stable")  # nan sorts last
    count = np.count_nonzero(~np.isnan(values), axis=-1, keepdims=True).astype(np.float64)
    return np.take_along_axis(values, order, axis=-1), order, count


def _unsorted_p(ordered: Array, order: NDArray[np.intp]) -> Array:
    restored = np.empty_like(ordered)
    np.put_along_axis(restored, order, np.minimum(ordered, 1.0), axis=-1)
    return restored


_STEP = 1 / 16
_POINTS = np.arange(-9.0, 9.0 + _STEP / 2, _STEP)
# of the trapezoidal rule, exact to rounding for densities that vanish at both ends
_DENSITY = np.exp(-(_POINTS**2) / 2) * _STEP / np.sqrt(2 * np.pi)
_BEYOND = normal_tail(_POINTS)
_LARGEST_RANGE = 60.0


def tukey_critical(groups: ArrayLike, confidence: float) -> Array:
    """Return Tukey's critical value for simultaneous intervals of all pairs, q / sqrt(2).

    q is the quantile of the range of that many independent standard normals (the studentized range
    with infinite degrees of freedom).

    ``groups``: numbers of groups; fewer than two give 0.

    >>> tukey_critical([2, 5, 50], 0.95).round(3).tolist()
    [1.96, 2.728, 3.992]
    """
    # Tukey (1953), The problem of multiple comparisons; Agresti, Bini, Bertaccini & Ryu (2008),
    # Biometrics 64, 1270-1275, for proportions.
    tail = tail_of(confidence)
    groups = np.asarray(groups, dtype=np.int64)
    distinct, index = np.unique(groups, return_inverse=True)
    values = np.array([_critical(int(size), 2 * tail) for size in distinct])
    return np.asarray(values[index.reshape(groups.shape)])


def tukey_p(z: ArrayLike, groups: ArrayLike) -> Array:
    """Return the p-value of a pairwise `z`, adjusted for all pairs of that many groups.

    >>> tukey_p([1.959964, 2.727774], [2, 5]).round(4).tolist()
    [0.05, 0.05]
    """
    z, groups = floats(z, groups)
    p = np.empty_like(z)
    for size in set(groups.flat):
        at = groups == size
        p[at] = _range_tail(z[at] * np.sqrt(2), int(size))
    return p


def tukey_level(groups: int, confidence: float) -> float:
    """Return the level of single intervals at which those of all pairs of groups hold together.

    >>> round(tukey_level(2, 0.95), 6), round(tukey_level(12, 0.95), 5)
    (0.95, 0.99892)
    """
    return float(1 - two_sided(tukey_critical(groups, confidence)))


def tukey_adjusted(p: ArrayLike, groups: int) -> Array:
    """Return p-values of single pairs, adjusted for all pairs of that many groups.

    Below one minus a confidence where the interval at `tukey_level` of it excludes "no difference";
    never below the p-value of the pair alone. nan stays nan.

    >>> tukey_adjusted([0.05, 0.001], 5).round(4).tolist()
    [0.2858, 0.0089]
    """
    (alone,) = floats(p)
    known = ~np.isnan(alone)
    z = -np.vectorize(normal_quantile, otypes=[float])(np.where(known, alone, 1.0) / 2)
    return np.where(known, np.maximum(tukey_p(z, np.full(z.shape, groups)), alone), np.nan)


@quiet
def between_variance(x: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Return the variance of the rates between groups, observed and without sampling variance.

    The latter is unbiased and may be negative. Groups of fewer than two trials are excluded; nan
    with fewer than two others.

    >>> naive, corrected = between_variance([20, 26, 31, 18, 24], 100)
    >>> round(float(naive), 5), round(float(corrected), 5)
    (0.00262, 0.00081)
    """
    # Method of moments; compare Lum, Zhang & Bower (2022), De-biasing "bias" measurement, FAccT.
    x, n = floats(x, n)
    included = n > 1
    rate = np.where(included, x / n, 0.0)
    groups = np.count_nonzero(included, axis=-1)
    mean = rate.sum(-1, keepdims=True) / groups[..., None]
    naive = np.where(included, (rate - mean) ** 2, 0.0).sum(-1) / (groups - 1)
    sampling = np.where(included, rate * (1 - rate) / (n - 1), 0.0).sum(-1) / groups
    single = groups < 2
    return np.where(single, np.nan, naive), np.where(single, np.nan, naive - sampling)


@lru_cache(maxsize=512)
def _critical(groups: int, alpha: float) -> float:
    if groups < 2:
        return 0.0
    low, high = np.zeros(()), np.full((), _LARGEST_RANGE)
    _, q = bisect(lambda q: _range_tail(q, groups) > alpha, low, high)
    return float(q / np.sqrt(2))


def _range_tail(q: Array, groups: int) -> Array:
    if groups < 2:
        return np.where(np.isnan(q), np.nan, 1.0)
    between = np.maximum(_BEYOND - normal_tail(_POINTS + q[..., None]), 0.0)
    outside = _BEYOND ** (groups - 1) - between ** (groups - 1)
    return np.asarray(np.clip((groups * _DENSITY * outside).sum(-1), 0.0, 1.0))


def boschloo(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return Boschloo's exact unconditional p-value: twice the smaller one-sided one, at most 1.

    NaN where a group is empty.

    Raises ``ValueError``: when a count is not whole (exact tests need counts, not effective sample
        sizes), or when there are more successes than trials.

    >>> round(float(boschloo(7, 25, 2, 25)), 4)
    0.0786
    """
    # Its size never exceeds the level, and it is uniformly more powerful than Fisher's test.
    # Boschloo (1970), Statistica Neerlandica 24(1).
    from scipy.stats import boschloo_exact

    tables = np.stack(whole_counts("Boschloo's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    if np.any((tables[..., 0] > tables[..., 1]) | (tables[..., 2] > tables[..., 3])):
        raise ValueError("Boschloo's test needs no more successes than trials")
    distinct, index = np.unique(tables.reshape(-1, 4), axis=0, return_inverse=True)
    p = [
        min(boschloo_exact([[a, b], [n - a, m - b]], n=64).pvalue, 1.0) if n and m else np.nan
        for a, n, b, m in distinct.tolist()
    ]
    return np.asarray(p, dtype=np.float64)[index.reshape(tables.shape[:-1])]


# steps in which an error is divided between two rates; more would narrow limits by under 1 %.
_STEPS = 240


@quiet
def exact_limits(
    x_d: ArrayLike, n_d: ArrayLike, x_a: ArrayLike, n_a: ArrayLike, alpha: ArrayLike,
    comparison: Contrasted = "difference",
) -> Limits:  # fmt: skip
    """Return confidence limits of d - a, d / a or d whose coverage is at least 1 - alpha.

    A group may be empty; the upper limit of a ratio is infinite where the denominator may be 0.

    >>> low, high = exact_limits(30, 100, 120, 400, 0.05)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.113, 0.127)
    """
    # For one rate they are those of Clopper and Pearson. For two, let p_d and p_a be the p-values
    # of the one-sided binomial tests of the two rates towards the limit. They are independent and
    # stochastically no smaller than uniform, so that P(p_d p_a <= k) <= k (1 - ln k) (Fisher's
    # combination). With k such that this is alpha / 2, the rates with p_d p_a > k are a confidence
    # region, and the limit is the contrast's extreme value over it. The region is searched in cells
    # of p_d, in each of which both rates take their extremes, so that no value is missed.
    # Clopper & Pearson (1934), Biometrika 26, 404-413; Fisher (1932), Statistical Methods for
    # Research Workers, section 21.1; Buehler (1957), JASA 52, 482-493.
    x_d, n_d, x_a, n_a, alpha = floats(x_d, n_d, x_a, n_a, alpha)
    if comparison == "rate":
        return exact_rate_limits(x_d, n_d, alpha / 2)
    from scipy.special import lambertw  # when needed

    # k with P(p q <= k) = k (1 - ln k) = alpha / 2 for two independent uniform p-values
    product = np.exp(1 + np.real(lambertw(-alpha / 2 / np.e, k=-1)))
    tails = np.exp(np.linspace(1.0, 0.0, _STEPS + 1).reshape(-1, *(1,) * alpha.ndim)
                   * np.log(product))  # fmt: skip
    of_d, of_a = tails[:-1], np.minimum(product / tails[1:], 1.0)
    furthest = np.subtract if comparison == "difference" else np.divide
    low_d, high_d = exact_rate_limits(x_d, n_d, of_d)
    low_a, high_a = exact_rate_limits(x_a, n_a, of_a)
    return furthest(low_d, high_a).min(axis=0), furthest(high_d, low_a).max(axis=0)


MOST_SELECTIONS = 200_000
"""Numbers of selections beyond which no exact test is made."""
_SLACK = 1 + 1e-7  # numbers this close to the observed one in probability count as equally likely


def expected_selections(
    n: ArrayLike, n_reference: ArrayLike, selected_of_both: ArrayLike
) -> tuple[float, float]:
    """Return the mean and the variance of a group's selections if nobody's group matters.

    Of the applicants of the group and of the reference, and the selections of both, in each
    requisition.

    >>> mean, variance = expected_selections([100], [100], [100])
    >>> mean, round(variance, 4)
    (50.0, 12.5628)
    """
    n, m, s = floats(n, n_reference, selected_of_both)
    people = np.maximum(n + m, 1.0)
    variance = n * m * s * (people - s) / (people**2 * np.maximum(people - 1, 1.0))
    return float((n * s / people).sum()), float(variance.sum())


def exact_selection_test(
    n: ArrayLike, n_reference: ArrayLike, selected: ArrayLike, selected_reference: ArrayLike
) -> float | None:
    """Return the two-sided exact p-value of the selections of a group, given those of both sides.

    Of whole numbers in each requisition; None where there are more than `MOST_SELECTIONS`.

    >>> round(exact_selection_test([10], [12], [2], [9]), 6)
    0.029973
    """
    # It sums the probabilities of all numbers of selections that are at most as likely as the
    # observed one: in one requisition Fisher's exact test.
    from scipy.stats import hypergeom

    sides = floats(n, n_reference, selected, selected_reference)
    n, m, s, t = (np.atleast_1d(side).astype(int) for side in sides)
    low, high = np.maximum(0, s + t - m), np.minimum(n, s + t)
    if (high - low).sum() > MOST_SELECTIONS:
        return None
    each = (
        hypergeom(n_ + m_, n_, both).pmf(np.arange(low_, high_ + 1))
        for n_, m_, both, low_, high_ in zip(n, m, s + t, low, high, strict=True)
    )
    likely = reduce(np.convolve, each, np.ones(1))
    observed = likely[int((s - low).sum())]
    return float(min(1.0, likely[likely <= observed * _SLACK].sum()))
