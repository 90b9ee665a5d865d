"""Confidence intervals of calibration errors over bins, and variances of a recalibration.

A calibration error cannot be negative and its estimate is above 0 even for a calibrated score, so
an interval centred on the estimate would never contain 0.  The mean over bins uses bounds on the
effect of the sampling errors of the bins, the maximum over bins simultaneous intervals of the bins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, floats, quiet, quotient
from fairgauge.stats.contrasts import fold
from fairgauge.stats.intervals import exact_rate_limits
from fairgauge.stats.significance import two_sided

_FAR = 3.0
"""Standard errors from which on the sign of a bin's error is known."""
_STEPS = 8
"""Fixed-point steps for the degrees of freedom of chi."""


class Bins(NamedTuple):
    """Rows in bins of the score, arrays of shape (..., B).

    Attributes
    ----------
    rows, positives
        Rows in each bin, and those with a positive label.
    score
        Sum of the scores.
    squares
        Sum of (score - label) squared.
    """

    rows: Array
    positives: Array
    score: Array
    squares: Array


def mean_error_limits(bins: Bins, z: ArrayLike) -> Limits:
    """Return the interval of the expected calibration error, sum_b n_b / n |score_b - share_b|.

    With e_b the sampling error of ``v_b = n_b / n (score_b - share_b)`` and s_b the sign of v_b,
    the estimate is at least ``sum |v_b| + s_b e_b`` and at most ``sum |v_b| + |e_b|``.  The upper
    limit therefore adds a normal quantile to the estimate.  The lower limit subtracts a quantile of
    the sum of the absolute errors, but of ``s_b e_b`` in bins so far from 0 that their sign is
    known.

    Errors are nearly independent and normal, each with the variance of its bin (half a row of
    either label at the bin's mean score is added, so that a bin of one label has a variance too); a
    multiple of chi approximates the sum of absolute values, exact for a single bin, and both kinds
    of bins are joined as by MOVER.

    Returns
    -------
    low, high : array of shape (...), from 0
        nan without rows.

    Examples
    --------
    >>> bins = Bins(*np.array([[100., 100], [20, 70], [25, 75], [17, 20]]))
    >>> [round(float(limit), 3) for limit in mean_error_limits(bins, 1.96)]
    [0.0, 0.11]
    """
    gap = bins.score - bins.positives
    n = bins.rows.sum(-1)
    mean = np.where(bins.rows > 0, quotient(bins.score, bins.rows), 0.0)
    occupied = bins.rows > 0
    smoothed = bins.squares + np.where(occupied, ((1 - mean) ** 2 + mean**2) / 2, 0.0)
    size, every = np.abs(gap), n[..., None]
    of_bin = _standard_error(smoothed, size, every)
    far = quotient(size, every) > _FAR * of_bin
    near = np.where(far, 0.0, of_bin)
    of_far, of_all = (
        np.asarray(z) * _standard_error((smoothed * some).sum(-1), (size * some).sum(-1), n)
        for some in (far, np.ones_like(size))
    )
    bias, of_near = np.sqrt(2 / np.pi) * near.sum(-1), _absolute_sum_quantile(near, z)
    joined = np.where(of_near > bias, bias + np.hypot(of_near - bias, of_far), of_near + of_far)
    below = np.where((near > 0).any(-1), joined, of_far)
    value = quotient(size.sum(-1), n)
    return np.maximum(value - below, 0.0), value + of_all


def largest_error_limits(bins: Bins, z: ArrayLike) -> Limits:
    """Return the interval of the maximum calibration error, max_b |score_b - share_b|.

    The share of each bin has a Clopper-Pearson interval at Sidak's level, so that all cover
    simultaneously; the maximum error then lies between the largest lower and the largest upper
    limit.

    Returns
    -------
    low, high : array of shape (...), in [0, 1]
        nan without rows.

    References
    ----------
    Sidak (1967), JASA 62, 626-633.

    Examples
    --------
    >>> bins = Bins(*np.array([[100., 100], [20, 70], [25, 75], [17, 20]]))
    >>> [round(float(limit), 3) for limit in largest_error_limits(bins, 1.96)]
    [0.0, 0.164]
    """
    occupied = bins.rows > 0
    tail = two_sided(z)
    tail = -np.expm1(np.log1p(-np.minimum(tail, 1 - 1e-16)) / np.maximum(occupied.sum(-1), 1))
    below, above = exact_rate_limits(bins.positives, bins.rows, tail[..., None] / 2)
    mean = np.where(occupied, quotient(bins.score, bins.rows), 0.0)
    low, high = fold(mean - above, mean - below)
    low, high = (np.where(occupied, limit, 0.0).max(-1) for limit in (low, high))
    empty = ~occupied.any(-1)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, np.minimum(high, 1.0))


@quiet
def recalibration_variances(
    positives: ArrayLike, negatives: ArrayLike, logit: ArrayLike, intercept: ArrayLike,
    slope: ArrayLike, squares: tuple[ArrayLike, ArrayLike] | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Return the variances of intercept and slope of a logistic recalibration.

    The larger of the robust (sandwich) variance, since the model need not hold, and the
    model-based one, which is more accurate in small samples; times n / (n - 2).

    Parameters
    ----------
    positives, negatives : array-like of shape (..., B)
        Rows, or sums of their weights, in bins of the score.
    logit : array-like of shape (..., B)
        Log odds of the bins' scores.
    intercept, slope : array-like of shape (...)
        The fit.
    squares : pair of array-like of shape (..., B)
        Sums of squared weights of the positives and of the negatives; of unweighted rows their
        numbers. n is then the effective number of rows (Kish).

    Returns
    -------
    intercept, slope : array of shape (...)
        nan where the fit is, and where intercept and slope are not identified.

    References
    ----------
    White (1982), Econometrica 50, 1-25; Binder (1983), International Statistical Review 51,
    279-292 (weights).

    Examples
    --------
    >>> pair = recalibration_variances([30, 70], [70, 30], [-1, 1], 0.0, 0.8473)
    >>> [round(float(variance), 4) for variance in pair]
    [0.0241, 0.0241]
    """
    pos, neg, x = floats(positives, negatives, logit)
    pos2, neg2 = (pos, neg) if squares is None else floats(*squares)
    a, b = (np.asarray(value, dtype=float)[..., None] for value in (intercept, slope))
    p = 1 / (1 + np.exp(-(a + b * x)))
    information = (pos + neg) * p * (1 - p)
    (h0, h1, h2), robust, expected = (
        tuple((factor * x**k).sum(-1) for k in range(3))
        for factor in (
            information, pos2 * (1 - p) ** 2 + neg2 * p**2, (pos2 + neg2) * p * (1 - p),
        )
    )  # fmt: skip
    determinant = h0 * h2 - h1 * h1
    n = (pos + neg).sum(-1) ** 2 / (pos2 + neg2).sum(-1)
    small = np.where((n > 2) & (determinant > 0), n / (n - 2), np.nan) / determinant**2
    of_intercept, of_slope = (
        np.maximum(*(u * u * m0 - 2 * u * v * m1 + v * v * m2 for m0, m1, m2 in (robust, expected)))
        for u, v in ((h2, h1), (h1, h0))
    )
    return of_intercept * small, of_slope * small


def _standard_error(squares: Array, total: Array, n: Array) -> Array:
    """Return the standard error of ``total / n``, ``squares`` those of what the rows add."""
    return quotient(np.sqrt(np.maximum(squares - quotient(total**2, n), 0.0)), n)


@quiet
def _absolute_sum_quantile(deviation: Array, z: ArrayLike) -> Array:
    """Return the quantile of sum |N(0, deviation^2)| that two normal tails beyond `z` exceed."""
    from scipy.special import gammainccinv, gammaln, ndtr

    mean = np.sqrt(2 / np.pi) * deviation.sum(-1)
    square = mean**2 + (1 - 2 / np.pi) * (deviation**2).sum(-1)
    ratio = np.clip(mean**2 / square, 2 / np.pi, 1 - 1e-9)

    def share(degrees: Array) -> Array:  # E(chi)^2 / E(chi^2)
        return np.asarray(
            np.exp(2 * (gammaln((degrees + 1) / 2) - gammaln(degrees / 2))) * 2 / degrees
        )

    degrees = 1 / (2 * (1 - ratio))
    for _ in range(_STEPS):  # 1 - share is close to 1 / (2 degrees)
        degrees = degrees * (1 - share(degrees)) / (1 - ratio)
    tail = 2 * ndtr(-np.asarray(z, dtype=float))
    quantile = np.sqrt(square / degrees * 2 * gammainccinv(degrees / 2, tail))
    return np.where(square > 0, quantile, np.where(np.isnan(square), np.nan, 0.0))
