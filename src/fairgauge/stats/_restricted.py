"""Restricted maximum likelihood estimates of two rates, in closed form.

For score intervals, which invert a test of each difference or ratio, and for sequential e-values,
which project an alternative onto the null hypothesis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Limits, floats, quiet


@quiet
def under_difference(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, difference: ArrayLike
) -> Limits:
    """Return the maximum likelihood rates (p1, p2) with ``p1 - p2 = difference``.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials, real numbers allowed.
    difference : array-like in [-1, 1]

    References
    ----------
    Miettinen & Nurminen (1985), Statistics in Medicine 4, 213-226 (the cubic of appendix I).

    Examples
    --------
    >>> p1, p2 = under_difference(60, 200, 42, 100, -0.05)
    >>> round(float(p1), 4), round(float(p2), 4)
    (0.3223, 0.3723)
    """
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
def under_ratio(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, ratio: ArrayLike
) -> Limits:
    """Return the maximum likelihood rates (p1, p2) with ``p1 = ratio * p2``.

    Parameters
    ----------
    x1, n1, x2, n2 : array-like
        Successes and trials, real numbers allowed.
    ratio : array-like in (0, inf)

    References
    ----------
    Miettinen & Nurminen (1985); Koopman (1984), Biometrics 40, 513-517.

    Examples
    --------
    >>> p1, p2 = under_ratio(30, 100, 50, 100, 0.8)
    >>> round(float(p1 / p2), 6), round(float(p2), 4)
    (0.8, 0.4491)
    """
    x1, n1, x2, n2, r = floats(x1, n1, x2, n2, ratio)
    a = (n1 + n2) * r
    b = n1 * r + x1 + n2 + x2 * r
    root = np.sqrt(np.maximum(b * b - 4 * a * (x1 + x2), 0.0))
    p2 = np.clip(2 * (x1 + x2) / (b + root), 0, np.minimum(1, 1 / r))
    return np.clip(r * p2, 0, 1), p2
