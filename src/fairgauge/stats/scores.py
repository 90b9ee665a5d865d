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
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet
from fairgauge.stats.intervals import as_critical_t, wilson
from fairgauge.stats.resampling import multinomial_cells


@quiet
def precision_from_counts(pos: ArrayLike, neg: ArrayLike) -> tuple[Array, Array]:
    """Return the average precision and its variance, from counts per score bin.

    The variance is that of the influence function (derivatives by the count of each bin), but at
    least the binomial a (1 - a) / positives: with six positives intervals from the influence
    function alone cover 83 %.

    Parameters
    ----------
    pos, neg : array-like of shape (..., B)
        Positives and negatives in each bin, bins in ascending order of the score.

    Returns
    -------
    average, variance : array of shape (...)
        nan without positives.

    References
    ----------
    Boyd, Eng & Page (2013), ECML PKDD, 451-466, for the binomial on the logit scale.

    Examples
    --------
    >>> average, variance = precision_from_counts([0, 1, 2], [2, 1, 0])
    >>> round(float(average), 4), round(float(variance), 4)
    (0.9167, 0.0255)
    """
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

    Parameters
    ----------
    average, variance : array-like
        As returned by `precision_from_counts`.
    positives : array-like

    Examples
    --------
    >>> low, high = precision_interval(0.6, 0.004, 60, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.472, 0.715)
    """
    a, var, m, z = floats(average, variance, positives, z)
    step, odds = z * np.sqrt(var) / (a * (1 - a)), a / (1 - a)
    usable = (var > 0) & (a > 0) & (a < 1)
    low, high = wilson(np.nan_to_num(a) * m, m, z)
    low = np.where(usable, 1 / (1 + np.exp(step) / odds), low)
    return low, np.where(usable, 1 / (1 + np.exp(-step) / odds), high)


_GRID = (np.arange(128) + 0.5) / 128


def roc_curves(counts: ArrayLike) -> Array:
    """Return true positive rates at 128 evenly spaced false positive rates.

    Parameters
    ----------
    counts : array-like of shape (..., 2, B)
        Rows with a positive and with a negative label in each bin, in ascending order of the score.

    Returns
    -------
    rates : array of shape (..., 128)
        The curve is linear within a bin, as for ties; nan where a label is missing.

    Examples
    --------
    >>> roc_curves([[0, 1, 1], [1, 1, 0]])[[0, 63, 64, 127]].round(3).tolist()
    [0.504, 0.996, 1.0, 1.0]
    """
    table = np.asarray(counts, dtype=np.float64)[..., ::-1]
    flat = table.reshape(-1, 2, table.shape[-1])
    total = flat.sum(axis=-1)
    rates = np.full((len(flat), len(_GRID)), np.nan)
    both = np.flatnonzero((total > 0).all(axis=-1))
    steps = np.zeros((len(both), 2, table.shape[-1] + 1))
    steps[..., 1:] = np.cumsum(flat[both], axis=-1) / total[both][..., None]
    for row, (true, false) in zip(both.tolist(), steps, strict=True):
        rates[row] = np.interp(_GRID, false, true)
    return rates.reshape(*table.shape[:-2], len(_GRID))


def curve_errors(a: ArrayLike, d: ArrayLike, rng: np.random.Generator, draws: int = 500) -> Array:
    """Draw by how much, at most, the area between two curves is off; for `norm_ball.ball`.

    ``integral |(ROC_a* - ROC_a) - (ROC_d* - ROC_d)|`` over bootstrap curves that are defined.

    Parameters
    ----------
    a, d : array-like of shape (2, B)
        As for `roc_curves`, of both groups.

    Examples
    --------
    >>> a, d = [[5, 10, 25], [30, 15, 5]], [[8, 10, 22], [25, 15, 10]]
    >>> round(float(np.quantile(curve_errors(a, d, np.random.default_rng(0)), 0.95)), 2)
    0.13
    """
    moved = [roc_curves(multinomial_cells(side, draws, rng)) - roc_curves(side) for side in (a, d)]
    errors: Array = np.abs(moved[0] - moved[1]).mean(axis=-1)
    return errors[~np.isnan(errors)]


def null_areas(a: ArrayLike, d: ArrayLike, rng: np.random.Generator, draws: int = 500) -> Array:
    """Draw areas between the curves of two groups under no difference; shape (draws,).

    Both groups are drawn from the pooled counts, with their own numbers of rows.

    Examples
    --------
    >>> a, d = [[5, 10, 25], [30, 15, 5]], [[8, 10, 22], [25, 15, 10]]
    >>> round(float(null_areas(a, d, np.random.default_rng(0)).mean()), 2)
    0.06
    """
    first, second = (np.asarray(side, dtype=np.float64) for side in (a, d))
    pooled = first + second
    share = pooled / pooled.sum(axis=-1, keepdims=True)
    drawn = [
        roc_curves(multinomial_cells(share * side.sum(axis=-1, keepdims=True), draws, rng))
        for side in (first, second)
    ]
    return np.asarray(np.abs(drawn[0] - drawn[1]).mean(axis=-1))


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

    Parameters
    ----------
    pos, neg : array-like of shape (..., B)
        Positives and negatives in each bin, bins in ascending order of the score.

    Returns
    -------
    found : Area
        Arrays of shape (...); the area is nan without a class, a part with fewer than two rows.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> found = area_from_counts([0, 1, 2], [2, 1, 0])
    >>> round(float(found.area), 4), [round(float(part), 4) for part in found.variances]
    (0.9444, [0.0031, 0.0031])
    """
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

    Parameters
    ----------
    area : array-like in [0, 1]
    positives, negatives : array-like, > 0

    References
    ----------
    Newcombe (2006), Statistics in Medicine 25, 559-573 (method 5); Hanley & McNeil (1982),
    Radiology 143, 29-36.

    Examples
    --------
    >>> float(area_variance(0.5, 10, 10).round(6))
    0.0175
    """
    a, m, n = floats(area, positives, negatives)
    half = (m + n) / 2
    return np.asarray(a * (1 - a) / (m * n) * (2 * half - 1 - (3 * half - 3) / ((2 - a) * (1 + a))))


@quiet
def area_score_interval(
    area: ArrayLike,
    variances: tuple[ArrayLike, ArrayLike],
    positives: ArrayLike,
    negatives: ArrayLike,
    z: ArrayLike,
) -> Limits:
    """Score interval of an area under the ROC curve.

    Parameters
    ----------
    area : array-like in [0, 1]
    variances : pair of array-like
        The two parts of DeLong's variance, of the positives and of the negatives.
    positives, negatives : array-like
        Rows of both classes; without either the interval is [0, 1].
    z : array-like, >= 0
        Normal critical value; that of Student's t with Satterthwaite's degrees of DeLong's
        variance is used.

    Returns
    -------
    low, high : array in [0, 1]
        The estimate is always inside.

    References
    ----------
    Newcombe (2006), Statistics in Medicine 25, 559-573; DeLong, DeLong & Clarke-Pearson (1988),
    Biometrics 44, 837-845; Kottas, Kuss & Zapf (2014), BMC Medical Research Methodology 14, 26
    (score intervals of the area).

    Examples
    --------
    >>> low, high = area_score_interval(0.97, (0.0004, 0.00005), 20, 200, 1.959964)
    >>> round(float(low), 3), round(float(high), 3)
    (0.884, 0.992)
    """
    a, v1, v2, m, n, z = floats(area, *variances, positives, negatives, z)
    known = (m > 0) & (n > 0)
    smaller = np.minimum(m, n)
    observed = np.where(np.isfinite(v1 + v2), v1 + v2, 0.0)  # one row has no variance
    degrees = observed**2 / (v1**2 / (m - 1) + v2**2 / (n - 1))
    t = as_critical_t(z, np.where(observed > 0, degrees, np.maximum(smaller - 1, 1.0)))
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
