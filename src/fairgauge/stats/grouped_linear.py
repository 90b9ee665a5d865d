"""Linear regression of counts: the difference of means between two sides, adjusted for columns.

Rows, sums and sums of squares of every cell are sufficient: rows of a cell have one leverage, so
that the fit and its robust variance (HC3) are those of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.grouped_logistic import cells_of, equal_effects
from fairgauge.stats.intervals import as_critical_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class AdjustedMean(NamedTuple):
    """The effect of the side on the mean, adjusted.

    Attributes
    ----------
    difference, low, high, p : the mean over all rows of both sides.
    interaction : the p-value of equal effects of the columns on both sides; nan without a test.
    cells : how many cells have rows.
    """

    difference: float
    low: float
    high: float
    p: float
    interaction: float
    cells: int


@quiet
def adjusted_mean(
    x_d: ArrayLike,
    n_d: ArrayLike,
    x_a: ArrayLike,
    n_a: ArrayLike,
    squares: tuple[ArrayLike, ArrayLike],
    columns: Sequence[NDArray[np.int64] | Array],
    z: float,
    *,
    by_side: bool = False,
) -> AdjustedMean | None:
    """Return the difference of means adjusted for columns, with its robust interval.

    Parameters
    ----------
    x_d, n_d, x_a, n_a : array-like of shape (S,)
        Sums and rows of both sides in every cell.
    squares : pair of array-like of shape (S,)
        Sums of squares of both sides.
    columns : sequence of arrays of shape (S,)
        The level of each cell in each column, or its number; main effects are adjusted for.
    z : float
        The critical value, of which that of Student's t is taken.
    by_side : bool
        Whether the levels have effects of their own on each side.

    Returns
    -------
    effect : AdjustedMean or None
        None where a side has no rows, the design has too many columns, or no row is spare.

    References
    ----------
    MacKinnon & White (1985), Journal of Econometrics 29, 305-325 (HC3).

    Examples
    --------
    >>> found = adjusted_mean(
    ...     [30, 44], [3, 4], [60, 33], [5, 3], ([310, 494], [730, 375]), [np.arange(2)], 1.96
    ... )
    >>> round(found.difference, 3), round(found.high, 3)
    (-1.045, 1.659)
    """
    x_d, n_d, x_a, n_a, q_d, q_a = floats(x_d, n_d, x_a, n_a, *squares)
    cells = cells_of(n_d, n_a, columns, by_side=by_side)
    if cells is None:
        return None
    x, n, q = (cells.joined(*pair) for pair in ((x_d, x_a), (n_d, n_a), (q_d, q_a)))
    spare = n.sum() - cells.design.shape[1]
    if spare < 1:
        return None
    inverse = np.linalg.pinv((cells.design * n[:, None]).T @ cells.design, hermitian=True)
    leverage = cells.design @ inverse
    beta = leverage.T @ x
    fitted = cells.design @ beta
    hat = np.minimum((leverage * cells.design).sum(1), 1 - 1e-9)
    residual = np.maximum(q - 2 * fitted * x + n * fitted**2, 0.0)
    meat = residual / (1 - hat) ** 2
    covariance = (leverage * meat[:, None]).T @ leverage
    effect = (cells.of_group - cells.of_reference) @ beta
    total = n.sum()
    difference = float((n * effect).sum() / total)
    slope = (n[:, None] * (cells.of_group - cells.of_reference)).sum(0) / total
    of_rows = float((n * (effect - difference) ** 2).sum()) / total**2
    error = float(np.sqrt(slope @ covariance @ slope + of_rows))
    if not error > 0:
        return None
    from scipy.special import stdtr

    half = float(as_critical_t(z, spare)) * error
    return AdjustedMean(
        difference,
        difference - half,
        difference + half,
        float(2 * stdtr(spare, -abs(difference) / error)),
        equal_effects(beta, covariance, cells.own),
        len(n),
    )
