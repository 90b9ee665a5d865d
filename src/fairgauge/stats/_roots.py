"""Where functions of one variable cross a level, and inverses of distribution functions.

Versions of scipy solve for these two inverses to nine or to fifteen digits; the distribution
functions themselves agree. Newton's method takes the nine to fifteen, so that a report is
reproduced by any version.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet

_HALVINGS = 60
_MOST_STEPS = 100
_STEPS_PER_HALVING = 5
_TOLERANCE = 1e-12


def bisect(holds: Callable[[Array], Mask], inside: Array, outside: Array) -> Limits:
    """Narrow brackets down to where a condition stops to hold.

    Parameters
    ----------
    holds : callable
        From points of the brackets' shape to booleans of that shape: true near `inside`, false
        near `outside`.
    inside, outside : array
        Ends of the brackets, in either order.

    Returns
    -------
    inside, outside : array
        The brackets after 60 halvings: neighbouring numbers, unless the condition never changes;
        then one of them is the end of the bracket.

    Examples
    --------
    >>> target = np.array([2.0, 9.0])
    >>> inside, outside = bisect(lambda x: x**2 < target, np.zeros(2), np.full(2, 4.0))
    >>> inside.round(6).tolist(), outside.round(6).tolist()
    ([1.414214, 3.0], [1.414214, 3.0])
    """
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        holding = holds(middle)
        inside, outside = np.where(holding, middle, inside), np.where(holding, outside, middle)
    return inside, outside


@quiet
def falling_root(falling: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return where falling functions reach 0, by secants inside a bracket.

    scipy.optimize.elementwise.find_root needs 1.7 ms where this needs 0.6 ms (one interval, and
    1.4 times as long for 2,000), besides the import of scipy.optimize in every audit.

    Parameters
    ----------
    falling : callable
        From points of the brackets' shape to values of that shape; infinite ones are allowed.
    low, high : array
        Ends of the brackets.

    Returns
    -------
    root : array
        `low` where a function is positive nowhere, `high` where it is positive throughout.

    Examples
    --------
    >>> falling_root(lambda x: 2 - x**2, np.zeros(()), np.full((), 37.0)).round(6).tolist()
    1.414214
    """
    inner, outer = low, high
    last, point = low, np.minimum(low + 1.0, high)
    before, here = falling(low), falling(point)
    never, always = ~(before > 0), falling(high) > 0
    done, root, short = never | always, point, np.zeros(point.shape, np.bool_)
    for step in range(_MOST_STEPS):
        positive = here > 0
        inner, outer = np.where(positive, point, inner), np.where(positive, outer, point)
        least = _TOLERANCE * (1 + np.abs(point))
        secant = point - here * (point - last) / (here - before)
        root = np.where(done, root, np.where(np.isnan(secant), point, secant))
        # a bracket that is closed proves a root; a short step may be one along a steep function
        done = done | (here == 0) | (outer - inner <= 2 * least)
        if done.all():
            break
        ahead, closing = np.abs(secant - point), short
        short = ahead < least
        secant = np.where(short, point + np.where(positive, least, -least), secant)
        # the middle replaces a secant that leaves the bracket or keeps advancing at one end
        halving = step % _STEPS_PER_HALVING == _STEPS_PER_HALVING - 1
        near = np.where(short, ~closing, ahead < np.abs(point - last) / _STEPS_PER_HALVING)
        usable = (secant > inner) & (secant < outer) & (near | (not halving))
        last, before = point, here
        point = np.where(done, point, np.where(usable, secant, (inner + outer) / 2))
        here = falling(point)
    root = np.clip(root, inner, outer)
    return np.where(never, low, np.where(always, high, root))


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
