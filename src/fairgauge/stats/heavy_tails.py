"""Mean errors with heavy tails: their shape is borrowed from all rows.

A sample without its rare large errors shows too small a mean, too small a variance and too small a
kurtosis, so that no rule on the sample's own moments can distinguish it from a harmless one:
those that look harmless are the ones that mislead. The rows of all groups together show more of the
tail. An interval here is made with the heavier of the two shapes, the group's and that of all rows
(each in units of its own standard deviation), and adequacy depends on numbers of rows alone.

Values that are larger than any that was seen cannot be ruled out by any method (Bahadur and Savage,
1956): the measured coverage holds for tails that all rows together have shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.squares import square_limits, tail_weight, unexplained_limits
from fairgauge.stats.weighted import mean_limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.weighted import MeanMoments

FEWEST_ABSOLUTE, FEWEST_ABSOLUTE_ALL = 100, 200
"""Rows of a group, and of all together, for an adequate interval of a mean absolute error."""
FEWEST_SQUARED, FEWEST_SQUARED_ALL = 200, 1000
"""The same for a mean squared error and what is made of it."""


@quiet
def heavier_third(
    second: ArrayLike, third: ArrayLike, all_second: ArrayLike, all_third: ArrayLike
) -> Array:
    """Return a third central moment: that of the larger skewness, of a group or of all rows.

    Parameters
    ----------
    second, third, all_second, all_third : array-like
        Central moments of the group, and of all rows.

    Examples
    --------
    >>> heavier_third([4.0, 4.0], [2.0, 2.0], 1.0, [3.0, 0.1]).tolist()
    [24.0, 2.0]
    """
    m2, m3, all2, all3 = floats(second, third, all_second, all_third)
    borrowed = np.where(all2 > 0, all3 * (m2 / all2) ** 1.5, 0.0)
    return np.where(np.abs(borrowed) > np.abs(m3), borrowed, m3)


@quiet
def absolute_error_limits(own: MeanMoments, every: MeanMoments, z: ArrayLike) -> Limits:
    """Limits of a mean absolute error.

    Those of `weighted.mean_limits`, with the larger of the group's skewness and that of all rows,
    each that of a single row.

    Parameters
    ----------
    own, every : MeanMoments
        Of the mean absolute error of the group, and of all rows.
    z : array-like, >= 0

    Returns
    -------
    low, high : array in [0, inf]
        [0, inf] where there are fewer than two effective rows.

    References
    ----------
    Johnson (1978), JASA 73, 536-544; Bahadur & Savage (1956), Annals of Mathematical Statistics
    27, 1115-1122.

    Examples
    --------
    >>> from fairgauge.stats.weighted import MeanMoments
    >>> own, alike = MeanMoments(2.0, 0.04, 0.0016, 100), MeanMoments(2.0, 0.004, 1.6e-5, 1000)
    >>> [round(float(end), 3) for end in absolute_error_limits(own, alike, 1.959964)]
    [1.603, 2.483]
    >>> heavier = MeanMoments(2.0, 0.004, 8e-5, 1000)
    >>> [round(float(end), 3) for end in absolute_error_limits(own, heavier, 1.959964)]
    [1.603, 2.953]
    """
    variance, third, rows, all_variance, all_third, all_rows = floats(*own[1:], *every[1:])
    borrowed = all_third * np.sqrt(all_rows / rows) * (variance / all_variance) ** 1.5
    heavier = np.maximum(np.fmax(third, np.where(all_variance > 0, borrowed, 0.0)), 0.0)
    low, high = mean_limits(own._replace(third=heavier), z)
    return np.maximum(low, 0.0), high


@quiet
def squared_error_limits(
    second: ArrayLike,
    fourth: ArrayLike,
    n: ArrayLike,
    every: tuple[ArrayLike, ArrayLike, ArrayLike],
    z: ArrayLike,
) -> Limits:
    """Limits of a mean squared error.

    Those of `squares.square_limits`, with the larger of the group's kurtosis and that of all rows.

    Parameters
    ----------
    second, fourth : array-like
        Mean square and mean fourth power of the group's errors.
    n : array-like
        Rows of the group.
    every : three array-likes
        Mean square, mean fourth power and number of all rows.
    z : array-like, >= 0

    Returns
    -------
    low, high : array in [0, inf]

    Examples
    --------
    >>> limits = squared_error_limits(4.0, 48.0, 200, (4.0, 160.0, 1000), 1.959964)
    >>> [round(float(end), 2) for end in limits]
    [2.62, 6.85]
    """
    weight = np.fmax(tail_weight(second, fourth, n), tail_weight(*every))
    return square_limits(second, weight, n, z)


def unexplained_error_limits(
    share: ArrayLike,
    spread: ArrayLike,
    normal: ArrayLike,
    n: ArrayLike,
    all_spread: ArrayLike,
    z: ArrayLike,
) -> Limits:
    """Limits of a mean squared error over the variance of the labels, 1 - R^2.

    Those of `squares.unexplained_limits`, with the larger spread, of the group or of all rows.

    Parameters
    ----------
    share, spread, normal, n, z
        As for `squares.unexplained_limits`, of the group.
    all_spread : array-like
        The mean square of what a row moves the logarithm by, of all rows and with their own mean
        squared error and variance.

    Returns
    -------
    low, high : array in [0, inf]

    Examples
    --------
    >>> limits = unexplained_error_limits(0.4, 2.0, 2.0, 100, 6.0, 1.959964)
    >>> [round(float(end), 3) for end in limits]
    [0.21, 0.76]
    """
    return unexplained_limits(share, np.fmax(*floats(spread, all_spread)), normal, n, z)
