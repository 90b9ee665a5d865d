"""A score interval of the area under the ROC curve that holds near 1 and for few positives.

An area of .97 from 20 positives rests on one or two misranked ones: DeLong's variance is then often
far too small, and the more so the higher the area looks. Its interval on the logit scale covers 74
to 90 %. Newcombe's variance as a function of the true area does not have this flaw, but assumes a
shape of the scores. Here DeLong's variance scales Newcombe's; where the expected number of
misranked rows is small, it may raise it, but not lower it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.intervals import as_critical_t

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_ASSUMED, _OBSERVED = 2.0, 6.0
"""Rows of the smaller class times the smaller of the area and its complement: up to the first,
DeLong's variance cannot lower Newcombe's; from the second, it stands alone."""
_STEPS = 52


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
    observed = np.where(np.isnan(v1 + v2), 0.0, v1 + v2)
    degrees = observed**2 / (v1**2 / (m - 1) + v2**2 / (n - 1))
    t = as_critical_t(z, np.where(observed > 0, degrees, np.maximum(smaller - 1, 1.0)))
    inside = np.clip(a, 0.5 / (m * n), 1 - 0.5 / (m * n))  # half a pair off both ends
    factor = observed / area_variance(inside, m, n)
    misranked = smaller * np.minimum(a, 1 - a)
    assumed = np.clip((_OBSERVED - misranked) / (_OBSERVED - _ASSUMED), 0.0, 1.0)
    factor = np.where(factor < 1, assumed + (1 - assumed) * factor, factor)

    both_ends = np.stack([a, t**2 * factor, m, n])[:, None].repeat(2, axis=1)
    estimate, reach, *rows = both_ends

    def holds(true: Array) -> Array:
        return np.asarray((estimate - true) ** 2 <= reach * area_variance(true, *rows))

    outside = np.stack([np.zeros_like(a), np.ones_like(a)])
    low, high = _furthest(holds, estimate, outside)
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def _furthest(holds: Callable[[Array], Array], inside: Array, outside: Array) -> Array:
    """Bisect for the value furthest from `inside`, towards `outside`, that still holds."""
    end = np.asarray(holds(outside))
    beyond = outside
    for _ in range(_STEPS):
        middle = (inside + beyond) / 2
        held = holds(middle)
        inside, beyond = np.where(held, middle, inside), np.where(held, beyond, middle)
    return np.where(end, outside, inside)
