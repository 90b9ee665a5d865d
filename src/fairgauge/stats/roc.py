"""Sampling variation of the area between the ROC curves of two groups.

The area is a norm of the difference of the curves, so that the triangle inequality bounds its
error by the norm of the error of the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.resampling import multinomial_cells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Array

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
