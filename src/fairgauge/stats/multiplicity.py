"""Several comparisons: p-values adjusted for them, and the level of simultaneous intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from fairgauge.stats.arrays import Array, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Adjustment: TypeAlias = Literal["holm", "benjamini-hochberg"]

HOLM_LIMIT = 20
"""Most comparisons with control of the family-wise error; above, of the false discovery rate."""


def holm(p: ArrayLike) -> Array:
    """Return Holm's step-down adjustment: strong control of the family-wise error rate.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, np.nan]).tolist()
    [0.02, 0.04, nan]
    """
    ordered, order, count = _sorted_p(p)
    factor = count - np.arange(ordered.shape[-1])
    return _unsorted_p(np.maximum.accumulate(ordered * np.maximum(factor, 1), axis=-1), order)


def holm_levels(p: ArrayLike, level: float) -> Array:
    """Return the level at which Holm's procedure tests each p-value.

    An interval of one minus this level excludes a value just where Holm's adjusted p-value of it is
    at most ``level``, so that all intervals together exclude a true value with at most that
    probability.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.
    level : float
        Of the whole family.

    Returns
    -------
    levels : array of shape (..., m)
        The level over how many hypotheses are left where one is tested; of those that are not
        rejected, all the same.

    Examples
    --------
    >>> holm_levels([0.2, 0.001, 0.3, np.nan], 0.06).tolist()
    [0.03, 0.02, 0.03, nan]
    """
    ordered, order, count = _sorted_p(p)
    step = np.arange(ordered.shape[-1])
    rejected = holm(ordered) <= level
    left = count - np.where(rejected, step, rejected.sum(axis=-1, keepdims=True))
    levels = np.where(np.isnan(ordered), np.nan, level / np.maximum(left, 1))
    return _unsorted_p(levels, order)


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Return Benjamini and Hochberg's step-up adjustment: control of the false discovery rate.

    scipy.stats.false_discovery_control refuses nan and takes 4 times as long, besides its import.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.

    References
    ----------
    Benjamini & Hochberg (1995), JRSS B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    ordered, order, count = _sorted_p(p)
    scaled = ordered * np.maximum(count / np.arange(1, ordered.shape[-1] + 1), 1)
    backwards = np.fmin.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    return _unsorted_p(np.where(np.isnan(ordered), np.nan, backwards), order)


def adjust(p: ArrayLike) -> tuple[Array, Adjustment]:
    """Adjust one family: Holm up to 20 comparisons, Benjamini-Hochberg above.

    Parameters
    ----------
    p : array-like of shape (m,)

    Returns
    -------
    adjusted : array of shape (m,)
    method : {"holm", "benjamini-hochberg"}

    Raises
    ------
    ValueError
        When `p` has more than one axis.

    Examples
    --------
    >>> adjust([0.01, 0.04])
    (array([0.02, 0.04]), 'holm')
    """
    (family,) = floats(p)
    if family.ndim > 1:
        raise ValueError(f"one family is a list of p-values; found shape {family.shape}")
    if np.count_nonzero(~np.isnan(family)) <= HOLM_LIMIT:
        return holm(family), "holm"
    return benjamini_hochberg(family), "benjamini-hochberg"


def simultaneous_level(comparisons: int, confidence: float) -> float:
    """Return the level of single intervals at which several hold together, however they correlate.

    For what is shown because it is the most extreme of several: a headline, a finding, the worst
    class. All pairs of groups have Tukey's, which is lower.

    Parameters
    ----------
    comparisons : int, >= 1
    confidence : float in (0, 1)

    References
    ----------
    Sidak (1967), JASA 62, 626-633.

    Examples
    --------
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
