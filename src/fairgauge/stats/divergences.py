"""Confidence intervals of distances between two distributions over categories.

Functions take counts of shape (..., K); a category without rows has probability 0 and is never
excluded, so a category seen in one group only makes the Kullback-Leibler divergence infinite.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import noncentrality
from fairgauge.stats.arrays import Array, floats, in_blocks, quiet, quotient, sum_of_cells
from fairgauge.stats.contrasts import fold, newcombe
from fairgauge.stats.intervals import critical, tail_of
from fairgauge.stats.norm_ball import Norm, ball, norm, norm_errors
from fairgauge.stats.resampling import dirichlet_cells, multinomial_cells
from fairgauge.stats.significance import newcombe_p

Divergence: TypeAlias = Literal["kl", "js"]


@quiet
def expected_distance(
    a: ArrayLike,
    d: ArrayLike,
    kind: Divergence | Norm,
    rng: np.random.Generator | None = None,
    replicates: int = 2000,
) -> Array:
    """Return the mean distance of two samples of one distribution: expected under no difference.

    KL and JS have closed forms, (K-1)/2 (1/na + 1/nd) and a quarter of it, K counting the
    categories observed.  The norms are simulated from the pooled distribution.

    Parameters
    ----------
    a, d : array-like of shape (..., K)
    kind : {"kl", "js", "tvd", "ks", "lp"}
    rng : numpy.random.Generator, optional
        Needed for the norms only.

    Returns
    -------
    expected : array of shape (...)

    Raises
    ------
    ValueError
        When `rng` is missing for a norm.

    Examples
    --------
    >>> round(float(expected_distance([50, 30, 20], [20, 18, 22], "kl")), 4)
    0.0267
    """
    a, d = floats(a, d)
    na, nd = a.sum(-1), d.sum(-1)
    if kind == "kl" or kind == "js":
        seen = np.count_nonzero(a + d, axis=-1)
        return np.asarray((seen - 1) / (2 if kind == "kl" else 8) * (1 / na + 1 / nd))
    if rng is None:
        raise ValueError(f"the expected distance {kind!r} is simulated: pass rng")
    pooled = (a + d) / (na + nd)[..., None]

    def expected(share: Array, na: Array, nd: Array) -> Array:
        draws = (multinomial_cells(share * n[..., None], replicates, rng) for n in (na, nd))
        return np.asarray(norm(np.subtract(*_shares(*draws)), kind).mean(0))

    return in_blocks(expected, replicates, pooled, na, nd)


def bias_corrected(value: ArrayLike, expected: ArrayLike) -> Array:
    """Return a plug-in distance less the one expected under no difference, at least 0.

    Examples
    --------
    >>> bias_corrected([0.08, 0.01], 0.03).round(2).tolist()
    [0.05, 0.0]
    """
    value, expected = floats(value, expected)
    return np.maximum(value - expected, 0.0)


@quiet
def divergence_interval(
    a: ArrayLike,
    d: ArrayLike,
    kind: Divergence,
    confidence: float,
    rng: np.random.Generator,
    draws: int = 2000,
) -> tuple[Array, Array, Array]:
    """Return the interval of the Kullback-Leibler or the Jensen-Shannon divergence, in nats.

    Lower limit: the noncentral chi-square inverted at the observed value, smoothed by 0.5 per
    cell; above 0 exactly where the chi-square test of equality rejects.  Upper limit: a quantile of
    the Dirichlet posterior.

    Parameters
    ----------
    a, d : array-like of shape (..., K)
        An empty group gives the full range.
    kind : {"kl", "js"}
    draws : int
        Posterior draws.

    Returns
    -------
    low, high, p : array of shape (...)
        ``high`` is inf where the estimate is; the estimate is always inside. ``p`` is below
        ``1 - confidence`` exactly where `low` is above 0.

    References
    ----------
    Kullback (1959), Information Theory and Statistics, chapter 6.

    Examples
    --------
    >>> low, high, p = divergence_interval(
    ...     [90, 10], [40, 60], "js", 0.95, np.random.default_rng(0))
    >>> round(float(low), 2), round(float(high), 1), bool(p < 0.001)
    (0.08, 0.2, True)
    """
    a, d = floats(a, d)
    value = _kl if kind == "kl" else _js
    plug_in = value(*_shares(a, d))
    tail = tail_of(confidence)
    low, p = _noncentral_limit(a, d, kind, tail)

    def upper(a: Array, d: Array) -> Array:
        posterior = (dirichlet_cells(counts, draws, rng) for counts in (a, d))
        return np.asarray(np.quantile(value(*_shares(*posterior)), 1 - tail, axis=0))

    widest = np.inf if kind == "kl" else np.log(2)
    empty = np.isnan(plug_in)
    high = np.where(empty, widest, in_blocks(upper, draws, a, d))
    p = np.where(empty, np.nan, p)
    return np.where(empty, 0.0, np.fmin(low, plug_in)), np.fmax(high, plug_in), p


@quiet
def norm_interval(
    a: ArrayLike,
    d: ArrayLike,
    kind: Norm,
    confidence: float,
    rng: np.random.Generator,
    replicates: int = 2000,
) -> tuple[Array, Array, Array]:
    """Return the interval of a norm of the difference of two distributions.

    By the triangle inequality a norm changes by no more than the difference does, so ``M -/+ q``
    with q the bootstrap quantile of ``||d* - d||`` is valid: calibrated at equality, conservative
    far from it.  With two categories the distance is a multiple of abs(p1 - p2), and Newcombe's
    interval is folded.

    Parameters
    ----------
    a, d : array-like of shape (..., K)
        An empty group gives the full range.
    kind : {"tvd", "ks", "lp"}
        As for `norm`.

    Returns
    -------
    low, high, p : array of shape (...)
        ``p`` is below ``1 - confidence`` exactly where `low` is above 0; nan for an empty group.

    Examples
    --------
    >>> low, high, p = norm_interval(
    ...     [50, 30, 20], [20, 18, 22], "tvd", 0.95, np.random.default_rng(0))
    >>> round(float(low), 1), round(float(high), 1)
    (0.0, 0.3)
    """
    a, d = floats(a, d)
    widest = np.sqrt(2) if kind == "lp" else 1.0
    if a.shape[-1] == 2:
        low, high, p = _of_two(a.tobytes(), d.tobytes(), a.shape, confidence)
        return low * widest, high * widest, p.copy()
    plug_in = norm(np.subtract(*_shares(a, d)), kind)

    reach, p = ball(norm_errors(a, d, kind, rng, replicates), plug_in, confidence)
    empty = np.isnan(plug_in)
    low = np.where(empty, 0.0, np.maximum(plug_in - reach, 0.0))
    return low, np.where(empty, widest, np.minimum(plug_in + reach, widest)), p


@lru_cache(maxsize=64)
def _of_two(a: bytes, d: bytes, shape: tuple[int, ...], confidence: float) -> tuple[Array, ...]:
    """Return the folded interval of two categories, once for the norms: one is sqrt(2) others."""
    x1, n1, x2, n2 = (
        of for each in (a, d) for counts in (np.frombuffer(each).reshape(shape),)
        for of in (counts[..., 1], counts.sum(-1))
    )  # fmt: skip
    low, high = fold(*newcombe(x1, n1, x2, n2, critical(confidence)))
    return low, high, newcombe_p(x1, n1, x2, n2)


@quiet
def _shares(a: Array, d: Array) -> tuple[Array, Array]:
    return a / sum_of_cells(a)[..., None], d / sum_of_cells(d)[..., None]


@quiet
def _kl(p: Array, q: Array) -> Array:
    terms = np.where(p == 0, 0.0, p * np.log(p / q))
    return np.asarray(np.maximum(sum_of_cells(terms + 0.0 * q), 0.0))


def _js(p: Array, q: Array) -> Array:
    middle = (p + q) / 2
    return (_kl(p, middle) + _kl(q, middle)) / 2


def _noncentral_limit(a: Array, d: Array, kind: Divergence, tail: float) -> tuple[Array, Array]:
    """Return the lower limit and the p-value of equality, that of a chi-square test.

    Smoothed M = kappa chi2(K - 1, lambda) is solved for kappa lambda. Equality has no direction: of
    KL, whose two directions differ, the smaller statistic counts.

    Equality can be missed on one side alone, all else on both: the limit is the larger of that at
    one tail, and of a ball around the root that holds 0 at both (no root is further from that of
    lambda than a central chi, by the triangle inequality).
    """
    from scipy.special import chdtrc, chdtri

    degrees = a.shape[-1] - 1
    value, statistic = _scaled_divergence(a, d, kind)
    if kind == "kl":
        statistic = np.minimum(statistic, _scaled_divergence(d, a, kind)[1])
    p = chdtrc(degrees, statistic)
    significant = p < tail
    safe = np.where(significant, statistic, 1e3)
    at_tail = np.where(significant, noncentrality(safe, degrees, 1 - tail), 0.0)
    of_ball = np.maximum(np.sqrt(statistic) - np.sqrt(chdtri(degrees, 2 * tail)), 0.0) ** 2
    return quotient(value, statistic) * np.fmax(at_tail, of_ball), p


def _scaled_divergence(a: Array, d: Array, kind: Divergence) -> tuple[Array, Array]:
    na, nd = a.sum(-1), d.sum(-1)
    p, q = _shares(a + 0.5, d + 0.5)
    middle = (p + q) / 2
    if kind == "kl":
        value, along_p, along_q = _kl(p, q), np.log(p / q), p / q
    else:
        value, along_p, along_q = _js(p, q), np.log(p / middle) / 2, np.log(q / middle) / 2
    variance = _weighted_variance(p, along_p) / na + _weighted_variance(q, along_q) / nd
    null = (1 / na + 1 / nd) / (2 if kind == "kl" else 8)
    return value, value / np.fmax(variance / (4 * value), null)


def _weighted_variance(p: Array, values: Array) -> Array:
    mean = (p * values).sum(-1, keepdims=True)
    return np.asarray((p * (values - mean) ** 2).sum(-1))
