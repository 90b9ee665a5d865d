"""Score interval and test of a difference of two paired proportions.

The same rows are classified twice.  Only discordant rows carry information: ``better`` counts rows
that only the second classification accepts, ``worse`` those that only the first one accepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.roots import falling_root
from fairgauge.stats.significance import two_sided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quiet
def paired_difference(better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Return Tango's score interval of ``(better - worse) / n``.

    Parameters
    ----------
    better, worse : array-like, >= 0
        Discordant rows, by direction.
    n : array-like
        All rows; 0 gives [-1, 1].
    z : array-like, >= 0

    Returns
    -------
    low, high : array in [-1, 1]
        Of positive width also without discordant rows.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> low, high = paired_difference(1, 7, 21, 1.959964)  # Fagerland, Lydersen and Laake 2014
    >>> round(float(low), 3), round(float(high), 3)
    (-0.517, -0.026)
    """
    better, worse, n, z = floats(better, worse, n, z)
    low = _furthest(better, worse, n, z)
    high = -_furthest(worse, better, n, z)
    return np.where(n > 0, low, -1.0), np.where(n > 0, high, 1.0)


@quiet
def paired_p(better: ArrayLike, worse: ArrayLike) -> Array:
    """Return McNemar's p-value of no difference, which agrees with `paired_difference`.

    Parameters
    ----------
    better, worse : array-like, >= 0
        As for `paired_difference`; without discordant rows the p-value is 1.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157.

    Examples
    --------
    >>> round(float(paired_p(1, 7)), 4)
    0.0339
    """
    better, worse = floats(better, worse)
    score = (better - worse) / np.sqrt(better + worse)
    return two_sided(np.where(better + worse > 0, score, 0.0))


def _furthest(better: Array, worse: Array, n: Array, z: Array) -> Array:
    """Return the smallest difference that the score, which falls in it, does not reject."""

    def rejected(gap: Array) -> Array:
        score = _score(better, worse, n, gap)
        return np.where(np.isnan(score), np.inf, score) - z  # its variance is 0 at -1

    return falling_root(rejected, np.full(n.shape, -1.0), (better - worse) / n)


def _score(better: Array, worse: Array, n: Array, gap: Array) -> Array:
    """Return how many standard deviations the difference lies above ``gap``.

    The probability q of ``worse`` is its maximum likelihood estimate where that of ``better`` is
    q + gap: the root of 2 n q^2 + b q - worse gap (1 - gap), from the trinomial likelihood.
    """
    b = (2 * n - better + worse) * gap - better - worse
    q = (np.sqrt(b**2 + 8 * n * worse * gap * (1 - gap)) - b) / (4 * n)
    excess = better - worse - n * gap
    return np.where(excess == 0, 0.0, excess / np.sqrt(n * (2 * q + gap * (1 - gap))))
