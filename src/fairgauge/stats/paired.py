"""A difference of two paired shares: the same rows, judged twice.

Only the rows that the two judgements decide differently count: ``better`` where the second one
alone says yes, ``worse`` where the first one alone does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.significance import two_sided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_HALVINGS = 60


@quiet
def paired_difference(better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Tango's score limits of ``(better - worse) / n``.

    Parameters
    ----------
    better, worse : array-like, >= 0
        Rows that the two judgements decide differently, by direction.
    n : array-like
        All rows; 0 gives [-1, 1].
    z : array-like, >= 0

    Returns
    -------
    low, high : array in [-1, 1]
        Of positive width also where no row is decided differently.

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
        As for `paired_difference`; 1 where there are none.

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
    """Bisect for the least difference that the score, falling in it, does not reject."""
    low, high = np.full(n.shape, -1.0), (better - worse) / n
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rejected = _score(better, worse, n, middle) > z
        low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
    return high


def _score(better: Array, worse: Array, n: Array, gap: Array) -> Array:
    """Return how many standard deviations the difference lies above ``gap``.

    The chance q of ``worse`` is the most likely one where that of ``better`` is q + gap: the root
    of 2 n q^2 + b q - worse gap (1 - gap), to which the trinomial likelihood's equation comes down.
    """
    b = (2 * n - better + worse) * gap - better - worse
    q = (np.sqrt(b**2 + 8 * n * worse * gap * (1 - gap)) - b) / (4 * n)
    away = better - worse - n * gap
    return np.where(away == 0, 0.0, away / np.sqrt(n * (2 * q + gap * (1 - gap))))
