"""Curves of scores: the area under the precision-recall curve, and between two ROC curves.

From the counts of positives and negatives per score bin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.intervals import wilson
from fairgauge.stats.resampling import multinomial_cells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Array


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
    z : array-like, >= 0

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
    rng : numpy.random.Generator
    draws : int

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
    areas: Array = np.abs(drawn[0] - drawn[1]).mean(axis=-1)
    return areas
