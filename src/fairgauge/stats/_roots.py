"""Where functions of one variable cross a level, and inverses of distribution functions.

Versions of scipy solve for these two inverses to nine or to fifteen digits; the distribution
functions themselves agree. Newton's method brings nine digits to fifteen, so that a report is
reproduced by any version.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet

# a double has 53 binary digits: after 60 halvings the ends of a bracket of rates are neighbours
_HALVINGS = 60
_MOST_STEPS = 100
_STEPS_PER_HALVING = 5
_TOLERANCE = 1e-12


def bisect(
    holds: Callable[[Array], Mask], inside: Array, outside: Array, halvings: int = _HALVINGS
) -> Limits:
    """Narrow brackets down to where a condition that holds `inside` stops holding.

    After 60 halvings their ends are neighbouring numbers, unless the condition never changes; then
    one of them is the end of the bracket.

    >>> target = np.array([2.0, 9.0])
    >>> inside, outside = bisect(lambda x: x**2 < target, np.zeros(2), np.full(2, 4.0))
    >>> inside.round(6).tolist(), outside.round(6).tolist()
    ([1.414214, 3.0], [1.414214, 3.0])
    """
    for _ in range(halvings):
        middle = (inside + outside) / 2
        holding = holds(middle)
        inside, outside = np.where(holding, middle, inside), np.where(holding, outside, middle)
    return inside, outside


def fewest_holding(holds: Callable[[Array], Mask], below: Array, most: Array) -> Array:
    """Return the smallest whole numbers above `below` for which a condition holds; else `most`.

    >>> fewest_holding(lambda x: x**2 > 50, np.zeros(2), np.array([20.0, 5.0])).tolist()
    [8.0, 5.0]
    """
    while (most - below > 1).any():
        middle = np.floor((below + most) / 2)
        holding = holds(middle)
        most = np.where(holding, middle, most)
        below = np.where(holding, below, np.minimum(middle, most - 1))
    return np.asarray(most)


@quiet
def falling_root(
    falling: Callable[[Array], Array], low: Array, high: Array, at_low: Array | None = None
) -> Array:
    """Return where falling functions, whose values may be infinite, reach 0, by secants.

    `low` where a function is positive nowhere, `high` where it is positive throughout. ``at_low``
    are its values at `low`, where they are known.

    >>> falling_root(lambda x: 2 - x**2, np.zeros(()), np.full((), 37.0)).round(6).tolist()
    1.414214
    """
    # scipy.optimize.elementwise.find_root needs 1.7 ms where this needs 0.6 ms (one interval, and
    # 1.4 times as long for 2,000), besides the import of scipy.optimize in every audit.
    inner, outer = low, high
    last, point = low, np.minimum(low + 1.0, high)
    before, here = falling(low) if at_low is None else at_low, falling(point)
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
        value = _take_step(value, (tail - stdtr(df, -value)) / density)
    return np.asarray(value)


@quiet
def noncentrality(x: ArrayLike, degrees: ArrayLike, below: ArrayLike) -> Array:
    """Return the noncentrality with which a chi-square variable is below `x` with a probability.

    ``below``: at most the probability of the central distribution.

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
        value = np.maximum(_take_step(value, (probability - below) / slope), 0.0)
    return np.asarray(value)


def _take_step(value: Array, step: Array) -> Array:
    # a value after a step, unless the step is no improvement of the last digits
    return np.where(np.abs(step) < 1e-6 * value, value - step, value)


@quiet
def rates_given_difference(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, difference: ArrayLike
) -> Limits:
    """Return the maximum likelihood rates (p1, p2) with ``p1 - p2 = difference``.

    >>> p1, p2 = rates_given_difference(60, 200, 42, 100, -0.05)
    >>> round(float(p1), 4), round(float(p2), 4)
    (0.3223, 0.3723)
    """
    # Miettinen & Nurminen (1985), Statistics in Medicine 4, 213-226 (the cubic of appendix I).
    x1, n1, x2, n2, d = floats(x1, n1, x2, n2, difference)
    n = n1 + n2
    c2 = ((n1 + 2 * n2) * d - n - x1 - x2) / (3 * n)
    c1 = ((n2 * d - n - 2 * x2) * d + x1 + x2) / (3 * n)
    c0 = x2 * d * (1 - d) / n
    q = c2**3 - 1.5 * c1 * c2 + c0 / 2
    radius = np.sqrt(np.maximum(c2**2 - c1, 0.0))
    signed = np.where(q < 0, -radius, radius)
    angle = (np.pi + np.arccos(np.clip(q / signed**3, -1, 1))) / 3
    root = 2 * signed * np.cos(angle) - c2
    p2 = np.clip(np.where(radius > 0, root, -c2), np.maximum(0, -d), np.minimum(1, 1 - d))
    return np.clip(p2 + d, 0, 1), p2


@quiet
def rates_given_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, ratio: ArrayLike
) -> Limits:
    """Return the maximum likelihood rates (p1, p2) with ``p1 = ratio * p2``.

    >>> p1, p2 = rates_given_ratio(30, 100, 50, 100, 0.8)
    >>> round(float(p1 / p2), 6), round(float(p2), 4)
    (0.8, 0.4491)
    """
    # Miettinen & Nurminen (1985); Koopman (1984), Biometrics 40, 513-517.
    x1, n1, x2, n2, r = floats(x1, n1, x2, n2, ratio)
    a = (n1 + n2) * r
    b = n1 * r + x1 + n2 + x2 * r
    root = np.sqrt(np.maximum(b * b - 4 * a * (x1 + x2), 0.0))
    p2 = np.clip(2 * (x1 + x2) / (b + root), 0, np.minimum(1, 1 / r))
    return np.clip(r * p2, 0, 1), p2
