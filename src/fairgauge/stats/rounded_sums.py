"""Intervals of a rate whose successes and failures are sums of randomly rounded numbers.

Every number was rounded to one of the two nearest multiples of a base without bias, independently
of all others, so that a sum of many is nearly normal. At the true rate p, ``(1 - p) x - p f`` of
the published successes x and failures f has the expectation 0 and the variance
``n p (1 - p) + (1 - p)^2 v_x + p^2 v_f``: that of sampling, and those of rounding. Without rounding
the rates at which it is z standard errors are Wilson's limits.

What a number lies above a multiple is unknown. One that lies r above it has the variance
r (base - r), at most base^2 / 4; the sum of these maxima is the ``noise`` of a sum. A sum that
counts few rows has less, as so few rows are above multiples.
"""

from __future__ import annotations

import math

import numpy as np

from fairgauge.stats._roots import falling_root
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet
from fairgauge.stats.intervals import wilson

_TINY = 1e-300


@quiet
def rounding_moments(count: Array, noise: Array, base: Array) -> tuple[Array, Array]:
    """Return the variance and the third moment of the rounding of numbers that count so many rows.

    The variance is the greatest one: all numbers together have at most
    ``base R - R^2 base^2 / (4 noise)``, R what they lie above multiples (Cauchy), which grows until
    R is half of all bases, where it is the noise. The third moment is that of numbers that are all
    alike, 0 from there on.

    ``base``: the largest one.

    >>> counts = np.array([0.0, 4.0, 10.0, 900.0])
    >>> variance, third = rounding_moments(counts, np.full(4, 50.0), np.full(4, 10.0))
    >>> variance.tolist(), third.tolist()
    ([0.0, 32.0, 50.0, 50.0], [0.0, 192.0, 0.0, 0.0])
    """
    half = 2 * noise / base
    part = np.minimum(count / np.where(half > 0, half, 1.0), 1.0)
    variance = noise * part * (2 - part)
    return variance, base * variance * (1 - part)


@quiet
def rounded_rate_limits(
    x: Array, f: Array, x_noise: Array, f_noise: Array, base: Array, z: Array
) -> Limits:
    """Return the limits of the rate x / (x + f) of sums of rounded numbers.

    Where rare successes are rounded in few sums, the normal limits miss on one side; the expansion
    of Cornish and Fisher adds what the skewness of the rounding moves them. Nothing published gives
    [0, 1].

    >>> x, f, none, base = (np.array([each]) for each in (15.0, 133.0, 0.0, 10.0))
    >>> low, high = rounded_rate_limits(x, f, none, none, base, 1.959964)
    >>> round(float(low[0]), 4), round(float(high[0]), 4)
    (0.0624, 0.1605)
    >>> low, high = rounded_rate_limits(x, f, none + 250, none + 250, base, 1.959964)
    >>> round(float(low[0]), 4), round(float(high[0]), 4)
    (0.0134, 0.2767)
    """
    x, f, x_noise, f_noise, base, z = floats(x, f, x_noise, f_noise, base, z)
    known = x + f > 0
    n = np.where(known, x + f, 1.0)
    rate = np.where(known, np.clip(x / n, 0.0, 1.0), 0.5)
    shift = np.maximum(z * z - 1, 0.0) / 6
    ends, way = np.stack([-rate, 1 - rate]), np.array([[1.0], [-1.0]])  # to rates of 0 and of 1

    def inside(part: Array) -> Array:  # how much further the limits are than this part of the way
        p = rate + part * ends
        q = 1 - p
        v_x, third_x = rounding_moments(n * p, x_noise, base)
        v_f, third_f = rounding_moments(n * q, f_noise, base)
        variance = p * q / n + (q * q * v_x + p * p * v_f) / (n * n)
        third = (q * q * q * third_x - p * p * p * third_f) / (n * n * n)
        outwards = np.maximum(third * way, 0.0) / np.maximum(variance, _TINY)
        return np.asarray(z * np.sqrt(variance) + outwards * shift - part * abs(ends))

    none = np.zeros_like(ends)  # where a rate of 0 or 1 has no variance, though it is inside
    low, high = rate + falling_root(inside, none, none + 1, none + 1) * ends
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def limits_of_sums(
    x: Array, f: Array, low_x: Array, low_f: Array, high_x: Array, high_f: Array, x_noise: Array,
    f_noise: Array, base: Array, z: Array,
) -> Limits:  # fmt: skip
    """Return the limits of a rate of sums of rounded numbers, and of a single number.

    The rounding of one number alone is far from normal: limits are then the widest of Wilson's over
    all counts that agree with what is published.
    """
    low, high = rounded_rate_limits(x, f, x_noise, f_noise, base, z)
    alone = _is_single(x, high_x, x_noise) | _is_single(f, high_f, f_noise)
    least, _ = wilson(low_x, low_x + high_f, z)
    _, most = wilson(high_x, high_x + low_f, z)
    return np.where(alone, least, low), np.where(alone, most, high)


@quiet
def likely_limits(x: Array, f: Array, x_noise: Array, f_noise: Array, alpha: float) -> Limits:
    """Return limits of the rate of the counted rows themselves, wrong at most `alpha` of the time.

    Hoeffding's inequality for ``(1 - p) e_x - p e_f`` of the errors of rounding, a sum of
    independent bounded numbers, whatever they are: a quadratic in the rate p of the rows.

    >>> of_ten = [np.array([each]) for each in (500.0, 500.0, 250.0, 250.0)]
    >>> [round(float(end[0]), 3) for end in likely_limits(*of_ten, alpha=0.001)]
    [0.456, 0.544]
    """
    n, most = x + f, 2 * math.log(2 / alpha)
    a, b, c = n * n - most * (x_noise + f_noise), n * x - most * x_noise, x * x - most * x_noise
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    known = (a > 0) & (n > 0)
    low, high = (np.clip(end / a, 0.0, 1.0) for end in (b - root, b + root))
    return np.where(known, low, 0.0), np.where(known, high, 1.0)


def _is_single(published: Array, high: Array, noise: Array) -> Mask:
    # of one number the greatest count is a base less one above it; of several the bases and not
    # their squares add up in the range, which is then wider for its noise
    return np.asarray((noise > 0) & ((high - published + 1) ** 2 <= 4 * noise))
