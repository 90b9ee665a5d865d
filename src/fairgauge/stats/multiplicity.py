"""Several comparisons: p-values adjusted for them, and the level of simultaneous intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
    """Return the step-up adjustment of Benjamini and Hochberg for the false discovery rate.

    Parameters
    ----------
    p : array-like of shape (..., m)
        p-values of one family along the last axis; nan is kept and not counted.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, np.nan]).round(4).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    ordered, order, count = _sorted_p(p)
    steps = count / np.arange(1, ordered.shape[-1] + 1)
    raised = np.where(np.isnan(ordered), np.inf, ordered * steps)
    adjusted = np.minimum.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return _unsorted_p(np.where(np.isnan(ordered), np.nan, adjusted), order)


def sidak(p: ArrayLike, comparisons: int) -> Array:
    """Return p-values adjusted in a single step: the levels of `simultaneous_level`, inverted.

    An interval at that level excludes a value just where its adjusted p-value is below one minus
    the confidence level.

    Parameters
    ----------
    p : array-like; nan is kept.
    comparisons : int, >= 1
        How many are judged together.

    References
    ----------
    Sidak (1967), JASA 62, 626-633.

    Examples
    --------
    >>> sidak([0.01, 0.2], 5).round(3).tolist()
    [0.049, 0.672]
    """
    (single,) = floats(p)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(comparisons * np.log1p(-single)))


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
