"""Fisher's exact test of two rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def fisher(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike) -> Array:
    """Return the two-sided p-value of Fisher's exact test.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like of whole numbers
        Successes and trials.

    Returns
    -------
    p : array in (0, 1]

    Raises
    ------
    ValueError
        A count is not whole.

    References
    ----------
    Fisher (1935), Journal of the Royal Statistical Society 98, 39-82.

    Examples
    --------
    >>> round(float(fisher(48, 80, 12, 40)), 4), round(float(fisher(3, 20, 1, 10)), 4)
    (0.0034, 1.0)
    """
    from scipy.stats import fisher_exact

    counts = np.stack(whole("Fisher's test", x1, n1, x2, n2), axis=-1).astype(np.int64)
    p = [
        fisher_exact([[a, m - a], [b, n - b]]).pvalue
        for a, m, b, n in counts.reshape(-1, 4).tolist()
    ]
    return np.asarray(p, dtype=np.float64).reshape(counts.shape[:-1])
