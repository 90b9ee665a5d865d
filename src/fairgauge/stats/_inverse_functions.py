"""Inverses of distribution functions to the full precision of floating-point numbers.

Versions of scipy solve for these two inverses to nine or to fifteen digits; the distribution
functions themselves agree. Newton's method takes the nine to fifteen, so that a report is
reproduced by any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import floats, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.stats.arrays import Array

_STEPS = 2  # the error is squared by each: 1e-9 at first


@quiet
def t_above(degrees: ArrayLike, tail: ArrayLike) -> Array:
    """Return the value that Student's t exceeds with a probability.

    Parameters
    ----------
    degrees : array-like, > 0
        Degrees of freedom.
    tail : array-like in (0, 0.5]

    Returns
    -------
    array, >= 0

    Examples
    --------
    The exact value for two degrees of freedom is 0.95 / sqrt(2 * 0.025 * 0.975):

    >>> round(float(t_above(2, 0.025) - 0.95 / np.sqrt(2 * 0.025 * 0.975)), 13)
    0.0
    """
    from scipy.special import gammaln, stdtr, stdtrit

    df, tail = floats(degrees, tail)
    value = np.abs(stdtrit(df, tail))  # the far tail may lose its sign
    scale = gammaln((df + 1) / 2) - gammaln(df / 2) - np.log(df * np.pi) / 2
    for _ in range(_STEPS):
        density = np.exp(scale - (df + 1) / 2 * np.log1p(value**2 / df))
        value = _stepped(value, (tail - stdtr(df, -value)) / density)
    return np.asarray(value)


@quiet
def noncentrality(x: ArrayLike, degrees: ArrayLike, below: ArrayLike) -> Array:
    """Return the noncentrality with which a chi-square variable is below `x` with a probability.

    Parameters
    ----------
    x : array-like, > 0
    degrees : array-like, > 0
        Degrees of freedom.
    below : array-like in (0, 1)
        At most the probability of the central distribution.

    Returns
    -------
    array, >= 0

    Examples
    --------
    >>> from scipy.special import chndtr
    >>> float(noncentrality(20, 3, chndtr(20, 3, 5)).round(12))
    5.0
    """
    from scipy.special import chndtr, chndtrinc

    x, df, below = floats(x, degrees, below)
    value = chndtrinc(x, df, below)
    for _ in range(_STEPS):
        probability = chndtr(x, df, value)
        slope = (chndtr(x, df + 2, value) - probability) / 2
        value = np.maximum(_stepped(value, (probability - below) / slope), 0.0)
    return np.asarray(value)


def _stepped(value: Array, step: Array) -> Array:
    """Return a value after a step, unless the step is no improvement of the last digits."""
    return np.where(np.abs(step) < 1e-6 * value, value - step, value)
