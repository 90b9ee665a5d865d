"""The delete-a-group jackknife over clusters, for any statistic.

Blocks of whole clusters are omitted in turn.  The variation of the statistic over these replicates
estimates its variance under clustered observations, whatever its formula.
"""

from __future__ import annotations

import numpy as np

from fairgauge.stats.arrays import Array, Limits, quiet
from fairgauge.stats.intervals import critical_t
from fairgauge.stats.norm_ball import Norm, norm

_ROUNDING = 1e-13
"""The relative error of a statistic of counts, at most."""


def deviations(values: Array) -> Array:
    """Return the change of a statistic without each block, scaled to sum to its variance.

    Parameters
    ----------
    values : array of shape (1 + B, ...)
        The statistic of all rows, then without each of the B blocks.

    Returns
    -------
    deviation : array of shape (B, ...)
        The sum of their squares is the jackknife variance ``(B - 1)/B sum (t_b - t)^2``; the sum
        of products with those of another statistic is their covariance.

    References
    ----------
    Tukey (1958), Annals of Mathematical Statistics 29, 614; Kott (2001), Journal of Official
    Statistics 17, 521-526 (blocks of clusters).

    Examples
    --------
    >>> rows = np.array([1.0, 2.0, 4.0, 5.0])
    >>> means = np.array([rows.mean(), *((rows.sum() - rows) / 3)])
    >>> round(float((deviations(means) ** 2).sum()), 6), round(float(rows.var(ddof=1) / 4), 6)
    (0.833333, 0.833333)
    """
    blocks = len(values) - 1
    with np.errstate(invalid="ignore"):
        moved = values[1:] - values[:1]
        # what does not vary by definition, such as a mean of shares that sum to 1, has no variance
        rounding = np.abs(moved) <= _ROUNDING * np.maximum(1.0, np.abs(values[:1]))
    return np.asarray(np.where(rounding, 0.0, moved) * np.sqrt((blocks - 1) / max(blocks, 1)))


@quiet
def scaled_limits(
    estimate: Array, error: Array, critical: Array, least: float, most: float
) -> Limits:
    """Return the interval from a standard error, on a scale that respects the statistic's range.

    The scale is the logit between two finite ends, the logarithm of the distance from one, the
    statistic itself without ends; the delta method transforms the standard error.

    Parameters
    ----------
    estimate, error : array
    critical : array
        Critical value of t; infinite gives the whole range.
    least, most : float
        The ends of the range.

    Returns
    -------
    low, high : array
        nan where the error is unknown or 0, and where the estimate lies on an end of its range,
        where the transformation is infinite.

    Examples
    --------
    >>> low, high = scaled_limits(np.array([0.9]), np.array([0.05]), np.array(2.0), 0.0, 1.0)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.748], [0.965])
    """
    below, above = estimate - least, most - estimate
    if np.isfinite(least) and np.isfinite(most):
        half = critical * error * (most - least) / (below * above)
        odds = below / above
        low, high = (least + (most - least) / (1 + np.exp(-s * half) / odds) for s in (-1, 1))
    elif np.isfinite(least):
        low, high = (least + below * np.exp(s * critical * error / below) for s in (-1, 1))
    elif np.isfinite(most):
        low, high = (most - above * np.exp(-s * critical * error / above) for s in (-1, 1))
    else:
        low, high = (estimate + s * critical * error for s in (-1, 1))
    known = (error > 0) & np.isfinite(error) & (below > 0) & (above > 0) & ~np.isnan(critical)
    low, high = np.where(np.isinf(critical), least, low), np.where(np.isinf(critical), most, high)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


@quiet
def jackknife_norm_interval(
    gaps: Array, deviation: Array, kind: Norm, confidence: float, degrees: Array,
    rng: np.random.Generator, draws: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return the interval of a norm of the difference of two distributions, from the jackknife.

    By the triangle inequality ``| ||d*|| - ||d|| | <= ||d* - d||``, so that the norm -/+ the
    quantile of ``||d* - d||`` is valid, and calibrated where the two distributions are equal.
    ``d* - d`` is drawn as a multivariate t with the jackknife covariance: the deviations times
    independent normal numbers, over the root of a chi-square.

    Parameters
    ----------
    gaps : array of shape (n, K)
        Differences of the shares of K categories.
    deviation : array of shape (B, n, K)
        Their deviations, as `deviations` gives them.
    kind : {"tvd", "ks", "lp"}
        As for `norm_ball.norm`.
    degrees : array of shape (n,)
        Degrees of freedom of t.

    Returns
    -------
    low, high, p : array of shape (n,)
        ``p`` is the share of draws at least as large as the observed norm, the level at which
        `low` is 0. Two categories are one number, and need no draws. nan where a deviation is
        unknown.

    References
    ----------
    Liu (1988), Annals of Statistics 16, 1696-1708 (multipliers).

    Examples
    --------
    >>> gaps, deviation = np.array([[0.1, -0.1]]), np.array([[[0.03, -0.03]], [[-0.04, 0.04]]])
    >>> rng, degrees = np.random.default_rng(0), np.array([30.0])
    >>> low, high, p = jackknife_norm_interval(gaps, deviation, "tvd", 0.95, degrees, rng, 9)
    >>> low.round(3).tolist(), high.round(3).tolist(), p.round(3).tolist()
    ([0.0], [0.202], [0.055])
    """
    from scipy.special import stdtr

    value = norm(gaps, kind)
    if gaps.shape[1] == 2:
        error = norm(np.sqrt((deviation**2).sum(axis=0)), kind)
        reach = critical_t(confidence, degrees) * error
        p = 2 * stdtr(np.maximum(degrees, 1.0), -value / error)
        known = np.isfinite(error) & (error > 0)
    else:
        reach, p = np.full(len(gaps), np.nan), np.full(len(gaps), np.nan)
        known = (
            np.isfinite(deviation).all(axis=(0, 2))
            & (deviation != 0).any(axis=(0, 2))
            & (degrees > 0)
        )
        seed = int(rng.integers(2**62))
        for i in np.flatnonzero(known):
            # every comparison by the same draws, so that two sides that mirror each other agree
            rng = np.random.default_rng(seed)
            drawn = rng.standard_normal((draws, len(deviation))) @ deviation[:, i]
            drawn /= np.sqrt(rng.chisquare(degrees[i], (draws, 1)) / degrees[i])
            sizes = norm(drawn, kind)
            reach[i] = np.quantile(sizes, confidence)
            p[i] = (1 + np.count_nonzero(sizes >= value[i])) / (draws + 1)
    low, high = np.maximum(value - reach, 0.0), value + reach
    return (
        np.where(known, low, np.nan), np.where(known, high, np.nan), np.where(known, p, np.nan),
    )  # fmt: skip
