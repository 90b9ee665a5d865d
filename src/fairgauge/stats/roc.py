"""ROC curves of two groups: how far chance moves the area between them.

The area between two curves is a norm of their difference, so that what is said of norms holds: it
moves by no more than the difference does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.resampling import multinomial_cells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Array

_GRID = (np.arange(128) + 0.5) / 128


def curves(counts: ArrayLike) -> Array:
    """Return true positive rates at 128 evenly spaced false positive rates.

    Parameters
    ----------
    counts : array-like of shape (..., 2, B)
        Rows with a positive and with a negative label in each bin, scores rising.

    Returns
    -------
    rates : array of shape (..., 128)
        The curve is straight within a bin, as ties are; nan without either label.

    Examples
    --------
    >>> curves([[0, 1, 1], [1, 1, 0]])[[0, 63, 64, 127]].round(3).tolist()
    [0.504, 0.996, 1.0, 1.0]
    """
    table = np.asarray(counts, dtype=np.float64)[..., ::-1]
    flat = table.reshape(-1, 2, table.shape[-1])
    total = flat.sum(axis=-1)
    found = np.full((len(flat), len(_GRID)), np.nan)
    both = np.flatnonzero((total > 0).all(axis=-1))
    steps = np.zeros((len(both), 2, table.shape[-1] + 1))
    steps[..., 1:] = np.cumsum(flat[both], axis=-1) / total[both][..., None]
    for row, (true, false) in zip(both.tolist(), steps, strict=True):
        found[row] = np.interp(_GRID, false, true)
    return found.reshape(*table.shape[:-2], len(_GRID))


def area_radius(
    a: ArrayLike, d: ArrayLike, confidence: float, rng: np.random.Generator, draws: int = 500
) -> float:
    """Return how far the area between two curves may be from the true one.

    The quantile of ``integral |(ROC_a* - ROC_a) - (ROC_d* - ROC_d)|`` over bootstrap curves.

    Parameters
    ----------
    a, d : array-like of shape (2, B)
        As for `curves`, of both groups.
    confidence : float in (0, 1)
    rng : numpy.random.Generator
    draws : int

    Examples
    --------
    >>> a, d = [[5, 10, 25], [30, 15, 5]], [[8, 10, 22], [25, 15, 10]]
    >>> round(area_radius(a, d, 0.95, np.random.default_rng(0)), 2)
    0.13
    """
    moved = [curves(multinomial_cells(each, draws, rng)) - curves(each) for each in (a, d)]
    return float(np.nanquantile(np.abs(moved[0] - moved[1]).mean(axis=-1), confidence))


def areas_by_chance(
    a: ArrayLike, d: ArrayLike, rng: np.random.Generator, draws: int = 500
) -> Array:
    """Return areas between the curves of two groups that chance alone gives; shape (draws,).

    Both are drawn from the curve of both groups together, with their own numbers of rows.

    Examples
    --------
    >>> a, d = [[5, 10, 25], [30, 15, 5]], [[8, 10, 22], [25, 15, 10]]
    >>> round(float(areas_by_chance(a, d, np.random.default_rng(0)).mean()), 2)
    0.06
    """
    first, second = (np.asarray(each, dtype=np.float64) for each in (a, d))
    both = first + second
    share = both / both.sum(axis=-1, keepdims=True)
    drawn = [
        curves(multinomial_cells(share * each.sum(axis=-1, keepdims=True), draws, rng))
        for each in (first, second)
    ]
    areas: Array = np.abs(drawn[0] - drawn[1]).mean(axis=-1)
    return areas
