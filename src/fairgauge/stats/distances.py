"""Distances of two distributions: their values, and intervals by what sampling alone moves them by.

A distance of equal groups is above 0 in every sample, so an interval around its value would always
exclude 0. A norm of the difference of two distributions moves by no more than the difference does
(triangle inequality), so that it, less and plus the quantile of the norm of the errors, is an
interval: calibrated at equality, conservative far from it. Errors are drawn as a Gaussian process
with the empirical covariance (multiplier bootstrap), of real-valued counts too. A permutation test,
drawn likewise, states what no difference gives; the lower limit is above 0 only where both reject.

A divergence is inverted from its noncentral chi-square; its upper limit is a posterior quantile.

References: van der Vaart & Wellner (1996), Weak Convergence and Empirical Processes, chapter 2.9;
Efron & Tibshirani (1993), An Introduction to the Bootstrap; Kullback (1959), Information Theory and
Statistics, chapter 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import noncentrality
from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient, sum_of_cells
from fairgauge.stats.contrasts import fold, newcombe
from fairgauge.stats.intervals import critical, tail_of
from fairgauge.stats.multinomial import dirichlet_cells
from fairgauge.stats.significance import newcombe_p

Norm: TypeAlias = Literal["tvd", "ks", "lp"]
Divergence: TypeAlias = Literal["kl", "js"]
Size: TypeAlias = Callable[[Array], Array]
"""From differences of shares, along the last axis, to their norm."""

HALF_A_ROW = 0.5
"""Added to each category: one that no row has would not vary, and one of a single row too little
(Jeffreys 1946, Proceedings of the Royal Society A 186, 453-461)."""
_ROUNDING = 1e-12


# ---- values -------------------------------------------------------------------------------------


@quiet
def kl(p: Array, q: Array) -> Array:
    """Return the Kullback-Leibler divergence of shares along the last axis, in nats."""
    return sum_of_cells(np.where(p == 0, 0.0 * q, p * np.log(p / q)))


def js(p: Array, q: Array) -> Array:
    """Return the Jensen-Shannon divergence of shares along the last axis, in nats."""
    middle = (p + q) / 2
    return (kl(p, middle) + kl(q, middle)) / 2


def norm(gaps: Array, kind: Norm) -> Array:
    """Return half the sum of the absolute values (tvd), the largest (ks), or the Euclidean norm.

    >>> gaps = np.array([0.3, -0.3, 0.0])
    >>> float(norm(gaps, "tvd")), float(norm(gaps, "ks")), round(float(norm(gaps, "lp")), 4)
    (0.3, 0.3, 0.4243)
    """
    if kind == "lp":
        return np.asarray(np.sqrt(sum_of_cells(gaps**2)))
    sizes = np.abs(gaps)
    return np.asarray(sizes.max(axis=-1) if kind == "ks" else sum_of_cells(sizes) / 2)


# ---- intervals of norms -------------------------------------------------------------------------


class Ball(NamedTuple):
    """The interval of a distance, the p-value of none, and what sampling alone gives under none."""

    low: float
    high: float
    p: float
    expected: float


def ball(errors: Array, null: Array, value: float, confidence: float) -> Ball:
    """Return the interval of a distance from drawn errors and distances under no difference.

    ``low`` is above 0 exactly where ``p < 1 - confidence``.

    >>> draws = np.arange(1.0, 1000.0)
    >>> ball(draws, draws, 960.0, 0.95)
    Ball(low=9.0, high=1911.0, p=0.041, expected=500.0)
    """
    if np.isnan(value) or np.isnan(errors).any():
        return Ball(math.nan, math.nan, math.nan, math.nan)
    draws, level = len(errors), 2 * tail_of(confidence)
    beyond = math.ceil(round(level * (draws + 1), 6)) - 2
    radius = np.sort(errors)[draws - 1 - beyond] if beyond >= 0 else np.inf
    # Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9, 39: a
    # p-value of random draws is never 0
    p = max(
        (1 + np.count_nonzero(of >= value * (1 - _ROUNDING))) / (len(of) + 1)
        for of in (errors, null)
    )
    low = max(value - radius, 0.0) if p < level - _ROUNDING else 0.0
    return Ball(float(low), float(value + radius), float(p), float(null.mean()))


@quiet
def distance_ball(
    one: Array, two: Array, value: float, size: Size, confidence: float, rng: np.random.Generator,
    draws: int = 2000, *, added: float = 0.0,
) -> Ball:  # fmt: skip
    """Return the interval of the norm of the difference of two distributions.

    ``one, two``: shape (K,): rows of both groups in each category or cell; an empty group gives
        nan.
    ``value``: the norm, which may be known more finely than the cells are.
    ``added``: rows that are added to each category that either group has, before errors are drawn.

    >>> one, two = np.array([50.0, 30, 20]), np.array([20.0, 18, 22])
    >>> gaps = two / two.sum() - one / one.sum()
    >>> value, rng = float(norm(gaps, "tvd")), np.random.default_rng(0)
    >>> found = distance_ball(one, two, value, lambda gaps: norm(gaps, "tvd"), 0.95, rng)
    >>> round(found.low, 1), round(found.high, 1), round(found.expected, 1)
    (0.0, 0.3, 0.1)
    """
    rows, seen = np.array([one.sum(), two.sum()]), one + two > 0
    if not rows.min() > 0:
        return Ball(math.nan, math.nan, math.nan, math.nan)
    raised = [(side + added * seen) / (side + added * seen).sum() for side in (one, two)]
    moved = [
        _draw_errors(share, 1 / max(n - 1, 0.0) if n > 1 else np.inf, rng, draws)
        for share, n in zip(raised, rows, strict=True)
    ]
    null = size(_draw_errors((one + two) / rows.sum(), _null_variance(*rows), rng, draws))
    errors = size(moved[0] - moved[1]) if rows.min() > 1 else np.full(draws, np.inf)
    return ball(errors, null, value, confidence)


def _draw_errors(
    share: Array, variance: Array | float, rng: np.random.Generator, draws: int
) -> Array:
    # independent normal numbers of variance p, less p times their sum, have it
    normal = rng.standard_normal((draws, len(share))) * np.sqrt(share * variance)
    normal -= share * normal.sum(axis=-1, keepdims=True)
    return normal


@quiet
def _null_variance(n: ArrayLike, m: ArrayLike) -> Array:
    n, m = floats(n, m)
    every = n + m
    return np.where(every > 1, quotient(every, every - 1), 1.0) * (1 / n + 1 / m)


@quiet
def two_shares(
    one: Array, two: Array, kind: Norm, confidence: float
) -> tuple[Array, Array, Array, Array]:
    """Return limits, p-values and expected values of the norms of two categories; rows (n, 2).

    They are multiples of ``|p1 - p2|``: Newcombe's interval is folded. The expected values are
    those of normal differences.
    """
    widest = np.sqrt(2) if kind == "lp" else 1.0
    (x1, n1), (x2, n2) = ((side[:, 1], side.sum(axis=1)) for side in (one, two))
    low, high = fold(*newcombe(x1, n1, x2, n2, critical(confidence)))
    pooled = quotient(x1 + x2, n1 + n2)
    spread = np.sqrt(2 / np.pi * pooled * (1 - pooled) * _null_variance(n1, n2))
    p = _p_of_equal(np.stack([x1, n1, x2, n2]).tobytes())
    return low * widest, high * widest, p, spread * widest


@lru_cache(maxsize=1)
def _p_of_equal(rates: bytes) -> Array:
    # all norms of two categories, which are asked for in turn, have the same
    return newcombe_p(*np.frombuffer(rates).reshape(4, -1))


# ---- intervals of divergences -------------------------------------------------------------------


def expected_divergence(a: Array, d: Array, kind: Divergence) -> Array:
    """Return the mean divergence of two samples of one distribution, of counts of shape (..., K).

    >>> expected = expected_divergence(np.array([50, 30, 20]), np.array([20, 18, 22]), "kl")
    >>> round(float(expected), 4)
    0.0267
    """
    seen, sizes = np.count_nonzero(a + d, axis=-1), 1 / a.sum(axis=-1) + 1 / d.sum(axis=-1)
    return np.asarray((seen - 1) / (2 if kind == "kl" else 8) * sizes)


_MOST_DRAWN = 300_000


@quiet
def divergence_interval(
    a: ArrayLike, d: ArrayLike, kind: Divergence, confidence: float,
    rngs: Sequence[np.random.Generator], draws: int = 2000,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return the limits of divergences, and the p-values of equality; counts of shape (n, K).

    ``rngs``: of each of the n divergences its own random numbers.

    >>> low, high, p = divergence_interval(
    ...     [[90, 10]], [[40, 60]], "js", 0.95, [np.random.default_rng(0)])
    >>> round(float(low[0]), 2), round(float(high[0]), 1), bool(p[0] < 0.001)
    (0.08, 0.2, True)
    """
    # Lower limit: the noncentral chi-square inverted at the observed value, smoothed by 0.5 per
    # cell; above 0 exactly where the chi-square test of equality rejects, and ``p`` is below ``1 -
    # confidence``. Upper limit: a quantile of the Dirichlet posterior, infinite where the estimate
    # is. The estimate is always inside; an empty group gives the full range.
    from scipy.special import chdtrc, chdtri

    a, d = floats(a, d)
    value = kl if kind == "kl" else js
    plug_in = np.maximum(value(*_shares_of_both(a, d)), 0.0)
    tail = tail_of(confidence)
    # Smoothed M = kappa chi2(K - 1, lambda) is solved for kappa lambda. Equality has no direction:
    # of KL, whose two directions differ, the smaller statistic counts. Equality can be missed on
    # one side alone, all else on both: the limit is the larger of that at one tail, and of a ball
    # around the root that holds 0 at both (no root is further from that of lambda than a central
    # chi, by the triangle inequality).
    degrees = a.shape[-1] - 1
    scaled, statistic = _scaled_divergence(a, d, kind)
    if kind == "kl":
        statistic = np.minimum(statistic, _scaled_divergence(d, a, kind)[1])
    p = chdtrc(degrees, statistic)
    significant = p < tail
    safe = np.where(significant, statistic, 1e3)
    at_tail = np.where(significant, noncentrality(safe, degrees, 1 - tail), 0.0)
    of_ball = np.maximum(np.sqrt(statistic) - np.sqrt(chdtri(degrees, 2 * tail)), 0.0) ** 2
    low = quotient(scaled, statistic) * np.fmax(at_tail, of_ball)
    high = np.empty(len(a))
    at_once = max(1, _MOST_DRAWN // (draws * a.shape[-1]))  # of all they would fill the memory
    for start in range(0, len(a), at_once):
        some = range(start, min(start + at_once, len(a)))
        pairs = [[dirichlet_cells(counts[i], draws, rngs[i]) for counts in (a, d)] for i in some]
        drawn = value(*_shares_of_both(*np.stack(pairs, axis=1)))
        high[start : start + at_once] = np.quantile(drawn, 1 - tail, axis=-1)
    empty = np.isnan(plug_in)
    high = np.where(empty, np.inf if kind == "kl" else np.log(2), high)
    p = np.where(empty, np.nan, p)
    return np.where(empty, 0.0, np.fmin(low, plug_in)), np.fmax(high, plug_in), p


def _shares_of_both(a: Array, d: Array) -> Limits:
    return quotient(a, sum_of_cells(a)[..., None]), quotient(d, sum_of_cells(d)[..., None])


def _scaled_divergence(a: Array, d: Array, kind: Divergence) -> tuple[Array, Array]:
    na, nd = a.sum(-1), d.sum(-1)
    p, q = _shares_of_both(a + 0.5, d + 0.5)
    middle = (p + q) / 2
    if kind == "kl":
        value, along_p, along_q = kl(p, q), np.log(p / q), p / q
    else:
        value, along_p, along_q = js(p, q), np.log(p / middle) / 2, np.log(q / middle) / 2
    value = np.maximum(value, 0.0)
    variance = _weighted_variance(p, along_p) / na + _weighted_variance(q, along_q) / nd
    null = (1 / na + 1 / nd) / (2 if kind == "kl" else 8)
    return value, value / np.fmax(variance / (4 * value), null)


def _weighted_variance(p: Array, values: Array) -> Array:
    mean = (p * values).sum(-1, keepdims=True)
    return np.asarray((p * (values - mean) ** 2).sum(-1))


@quiet
def error_dispersion_quantile(deviation: ArrayLike, weight: ArrayLike, z: ArrayLike) -> Array:
    """Return the upper quantile of the standard deviation of sampling errors over groups.

    ``deviation``: shape (..., G): standard error of each group's statistic; nan excludes a group.
    ``weight``: shape (..., G): weights of the groups in the mean, with a sum of 1 over those
        included.
    ``z``: normal critical value; the quantile is exceeded with the probability of both its tails.

    Of two groups it is that of |e1 - e2| / 2:

    >>> float(error_dispersion_quantile([0.03, 0.04], [0.5, 0.5], 1.959964).round(4))
    0.049
    """
    # The square is a weighted sum of chi-squares, approximated by one of the same mean and variance
    # (exact for two groups).
    # Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
    from scipy.special import gammainccinv, ndtr

    s, w = floats(deviation, weight)
    known = ~np.isnan(s)
    s2, w = np.where(known, s**2, 0.0), np.where(known, w, 0.0)
    mean = (w * (1 - w) * s2).sum(-1)
    twice = (w**2 * s2**2 * (1 - 2 * w)).sum(-1) + ((w * w * s2).sum(-1)) ** 2
    degrees = mean**2 / twice
    square = twice / mean * 2 * gammainccinv(degrees / 2, 2 * ndtr(-np.asarray(z, dtype=float)))
    return np.where(mean > 0, np.sqrt(square), np.where(np.isnan(mean), np.nan, 0.0))
