"""When the interval of a mean error is adequate: rows, and what the tail of the errors leaves.

A mean of values without a bound has no interval that holds for all distributions (Bahadur and
Savage, 1956), and a sample cannot show a tail that it has not drawn. A rule on the sample's own
kurtosis alone would accept exactly the samples that lack their large values, so the first condition
is a number of rows, which does not depend on the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEWEST_ERRORS = 200
"""Rows from which the interval of a mean absolute error covers 93 % and more for lognormal errors
(sigma 1) and with 3 % outliers ten times as large; with 1 % of them 91 %."""
FEWEST_EFFECTIVE_SQUARES = 20.0
"""Effective rows below which a mean square visibly rests on a few rows."""


@quiet
def effective_squares(second: ArrayLike, fourth: ArrayLike, n: ArrayLike) -> Array:
    """Return the rows that a mean of squares rests on: rows over kurtosis.

    As many rows of equal squares would have it: Kish's number with the squares as weights.

    Parameters
    ----------
    second, fourth : array-like
        Mean square and mean fourth power of the errors.
    n : array-like
        Rows.

    Examples
    --------
    >>> effective_squares(1.0, [1.0, 3.0, 50.0], 300).tolist()
    [300.0, 100.0, 6.0]
    """
    second, fourth, n = floats(second, fourth, n)
    return np.asarray(n * second**2 / fourth)


def squares_adequate(second: ArrayLike, fourth: ArrayLike, n: ArrayLike) -> NDArray[np.bool_]:
    """Tell where the interval of a mean square, its root or R^2 may be called adequate.

    Enough rows, and no visible heavy tail. It assumes that large errors show in the sample: with
    one error in a hundred ten times as large it covers far less, adequate or not.

    Parameters
    ----------
    second, fourth, n
        As for `effective_squares`.

    Examples
    --------
    >>> squares_adequate(1.0, 3.0, [40, 300]).tolist()
    [False, True]
    """
    rows = floats(n)[0]
    effective = effective_squares(second, fourth, n)
    return np.asarray((rows >= FEWEST_ERRORS) & (effective >= FEWEST_EFFECTIVE_SQUARES))
