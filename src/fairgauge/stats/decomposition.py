"""Decomposing the change of a rate into a change of composition and one of rates within parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quiet
def kitagawa(
    x_before: ArrayLike, n_before: ArrayLike, x_after: ArrayLike, n_after: ArrayLike
) -> tuple[float, float]:
    """Return the change of a rate as (composition, treatment), which add up to it exactly.

    Composition weights the change of each part's share by its mean rate, treatment the change of
    each part's rate by its mean share.  A part without rows at one of the two times has no rate
    there: it takes the other time's, so that its coming or going is composition.

    Parameters
    ----------
    x_before, n_before, x_after, n_after : array-like of shape (parts,)
        Successes and trials of every part, before and after.

    Returns
    -------
    composition, treatment : float
        nan where there are no rows at all at one of the two times.

    References
    ----------
    Kitagawa (1955), JASA 50, 1168-1194.

    Examples
    --------
    >>> composition, treatment = kitagawa([30, 20], [100, 100], [60, 5], [200, 50])
    >>> round(composition, 4), round(treatment, 4), round(65 / 250 - 50 / 200, 4)
    (0.045, -0.035, 0.01)
    """
    x0, n0, x1, n1 = floats(x_before, n_before, x_after, n_after)
    r0, r1 = x0 / n0, x1 / n1
    r0, r1 = np.where(n0 > 0, r0, r1), np.where(n1 > 0, r1, r0)
    r0, r1 = np.nan_to_num(r0), np.nan_to_num(r1)
    w0, w1 = n0 / n0.sum(), n1 / n1.sum()
    composition = ((w1 - w0) * (r0 + r1) / 2).sum()
    treatment = ((r1 - r0) * (w0 + w1) / 2).sum()
    return float(composition), float(treatment)
