"""Curves of scores: the area under the precision-recall curve, and between two ROC curves.

From the counts of positives and negatives per score bin. An interval of the area under the ROC
curve holds near 1 and for few positives: an area of .97 from 20 positives rests on one or two
misranked ones, and DeLong's variance is then often far too small, the more so the higher the area
looks. Its interval on the logit scale covers 74 to 90 %. Newcombe's variance as a function of the
true area does not have this flaw, but assumes a shape of the scores. Here DeLong's variance scales
Newcombe's; where the expected number of misranked rows is small, it may raise it, but not lower it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import bisect
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet, quotient
from fairgauge.stats.intervals import t_from_z, wilson
from fairgauge.stats.sampling import scaled_limits


@quiet
def precision_from_counts(pos: ArrayLike, neg: ArrayLike) -> tuple[Array, Array]:
    """Return the average precision and its variance, from counts per score bin.

    The variance is that of the influence function (derivatives by the count of each bin), but at
    least the binomial a (1 - a) / positives: with six positives intervals from the influence
    function alone cover 83 %.

    ``pos, neg``: shape (..., B): positives and negatives in each bin, bins in ascending order of
    the score.

    NaN without positives.

    >>> average, variance = precision_from_counts([0, 1, 2], [2, 1, 0])
    >>> round(float(average), 4), round(float(variance), 4)
    (0.9167, 0.0255)
    """
    # Boyd, Eng & Page (2013), ECML PKDD, 451-466, for the binomial on the logit scale.
    pos, neg = (counts[..., ::-1] for counts in floats(pos, neg))
    hits, rows = np.cumsum(pos, axis=-1), np.cumsum(pos + neg, axis=-1)
    total = hits[..., -1:]
    some = rows > 0
    precision = np.where(some, hits / rows, 0.0)
    average = (pos * precision).sum(-1, keepdims=True) / total

    def from_here_down(values: Array) -> Array:
        return np.cumsum(np.where(some, values, 0.0)[..., ::-1], axis=-1)[..., ::-1]

    lost = from_here_down(pos * hits / rows**2)  # by one more row in a bin
    gained = precision - average + from_here_down(pos / rows) - lost
    variance = ((pos * gained**2 + neg * lost**2).sum(-1, keepdims=True) / total**2)[..., 0]
    average, positives = average[..., 0], total[..., 0]
    return average, np.maximum(variance, average * (1 - average) / positives)


@quiet
def precision_interval(
    average: ArrayLike, variance: ArrayLike, positives: ArrayLike, z: ArrayLike
) -> Limits:
    """Return the interval of an average precision, symmetric on the logit scale; Wilson's at 1.

    At 1, or where the variance is 0 or unknown, the interval is that of a share of the positives.

    ``average, variance``: as returned by `precision_from_counts`.

    >>> low, high = precision_interval(0.6, 0.004, 60, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.472, 0.715)
    """
    a, var, m, z = floats(average, variance, positives, z)
    both = zip(
        scaled_limits(a, np.sqrt(var), z, 0.0, 1.0), wilson(np.nan_to_num(a) * m, m, z), strict=True
    )
    low, high = (np.where(np.isnan(scaled), share, scaled) for scaled, share in both)
    return low, high


_ASSUMED, _OBSERVED = 2.0, 6.0
"""Rows of the smaller class times the smaller of the area and its complement: up to the first,
DeLong's variance cannot lower Newcombe's; from the second, it stands alone."""


class Area(NamedTuple):
    """An area under the ROC curve with both parts of DeLong's variance and the rows behind it."""

    area: Array
    variances: tuple[Array, Array]
    positives: Array
    negatives: Array


@quiet
def area_from_counts(pos: ArrayLike, neg: ArrayLike) -> Area:
    """Return the area under the ROC curve and the parts of its variance, from counts per bin.

    ``pos, neg``: as of `precision_from_counts`.

    The area is nan without a class, a part with fewer than two rows.

    >>> found = area_from_counts([0, 1, 2], [2, 1, 0])
    >>> round(float(found.area), 4), [round(float(part), 4) for part in found.variances]
    (0.9444, [0.0031, 0.0031])
    """
    # DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845.
    pos, neg = floats(pos, neg)
    m, n = pos.sum(-1), neg.sum(-1)
    below = (np.cumsum(neg, axis=-1) - neg / 2) / n[..., None]
    above = 1 - (np.cumsum(pos, axis=-1) - pos / 2) / m[..., None]
    area = (pos * below).sum(-1) / m
    parts = (
        (rows * (beaten - area[..., None]) ** 2).sum(-1) / (total - 1) / total
        for rows, beaten, total in ((pos, below, m), (neg, above, n))
    )
    first, second = parts
    return Area(area, (first, second), m, n)


@quiet
def area_variance(area: ArrayLike, positives: ArrayLike, negatives: ArrayLike) -> Array:
    """Newcombe's variance of an estimated area, as a function of the true one.

    That of exponential scores (Hanley and McNeil), with both classes as large as their mean.

    >>> float(area_variance(0.5, 10, 10).round(6))
    0.0175
    """
    # Newcombe (2006), Statistics in Medicine 25, 559-573 (method 5); Hanley & McNeil (1982),
    # Radiology 143, 29-36.
    a, m, n = floats(area, positives, negatives)
    half = (m + n) / 2
    return np.asarray(a * (1 - a) / (m * n) * (2 * half - 1 - (3 * half - 3) / ((2 - a) * (1 + a))))


@quiet
def area_score_interval(
    area: ArrayLike, variances: tuple[ArrayLike, ArrayLike], positives: ArrayLike,
    negatives: ArrayLike, z: ArrayLike,
) -> Limits:  # fmt: skip
    """Return the score interval of an area under the ROC curve; [0, 1] where a class has no rows.

    ``variances``: the two parts of DeLong's variance, of the positives and of the negatives.
    ``z``: that of Student's t with Satterthwaite's degrees of DeLong's variance is used.

    The estimate is always inside.

    >>> low, high = area_score_interval(0.97, (0.0004, 0.00005), 20, 200, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.884, 0.992)
    """
    # Newcombe (2006), Statistics in Medicine 25, 559-573; DeLong, DeLong & Clarke-Pearson (1988),
    # Biometrics 44, 837-845; Kottas, Kuss & Zapf (2014), BMC Medical Research Methodology 14, 26
    # (score intervals of the area).
    a, v1, v2, m, n, z = floats(area, *variances, positives, negatives, z)
    known = (m > 0) & (n > 0)
    smaller = np.minimum(m, n)
    observed = np.where(np.isfinite(v1 + v2), v1 + v2, 0.0)  # one row has no variance
    degrees = observed**2 / (v1**2 / (m - 1) + v2**2 / (n - 1))
    t = t_from_z(z, np.where(observed > 0, degrees, np.maximum(smaller - 1, 1.0)))
    inside = np.clip(a, 0.5 / (m * n), 1 - 0.5 / (m * n))  # half a pair off both ends
    factor = observed / area_variance(inside, m, n)
    misranked = smaller * np.minimum(a, 1 - a)
    assumed = np.clip((_OBSERVED - misranked) / (_OBSERVED - _ASSUMED), 0.0, 1.0)
    factor = np.where(factor < 1, assumed + (1 - assumed) * factor, factor)

    both_ends = np.stack([a, t**2 * factor, m, n])[:, None].repeat(2, axis=1)
    estimate, reach, *rows = both_ends

    def holds(true: Array) -> Mask:
        return np.asarray((estimate - true) ** 2 <= reach * area_variance(true, *rows))

    outside = np.stack([np.zeros_like(a), np.ones_like(a)])
    inside, _ = bisect(holds, estimate, outside)
    low, high = np.where(holds(outside), outside, inside)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


# standard errors from which on the sign of a bin's error is known
_FAR = 3.0
# fixed-point steps for the degrees of freedom of chi
_STEPS = 8


class Bins(NamedTuple):
    """Rows in bins of the score, arrays of shape (..., B).

    ``rows, positives``: rows in each bin, and those with a positive label.
    ``score``: sum of the scores.
    ``squares``: sum of (score - label) squared.
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

    NaN without rows.

    >>> bins = Bins(*np.array([[100., 100], [20, 70], [25, 75], [17, 20]]))
    >>> [round(float(limit), 3) for limit in mean_error_limits(bins, 1.96)]
    [0.0, 0.11]
    """
    # Errors are nearly independent and normal, each with the variance of its bin (half a row of
    # either label at the bin's mean score is added, so that a bin of one label has a variance too);
    # a multiple of chi approximates the sum of absolute values, exact for a single bin, and both
    # kinds of bins are joined as by MOVER.
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


def _standard_error(squares: Array, total: Array, n: Array) -> Array:
    return quotient(np.sqrt(np.maximum(squares - quotient(total**2, n), 0.0)), n)


@quiet
def _absolute_sum_quantile(deviation: Array, z: ArrayLike) -> Array:
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
