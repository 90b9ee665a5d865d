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

import numpy as np

from fairgauge.stats._roots import bisect
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet
from fairgauge.stats.intervals import wilson


@quiet
def rounding_variance(count: Array, noise: Array, base: Array) -> Array:
    """Return the greatest variance of the rounding of numbers that count so many rows together.

    All numbers together have at most ``base R - R^2 base^2 / (4 noise)``, R what they lie above
    multiples (Cauchy), which grows until R is half of all bases, where it is the noise.

    ``base``: the largest one.

    >>> counts = np.array([0.0, 4.0, 10.0, 900.0])
    >>> rounding_variance(counts, np.full(4, 50.0), np.full(4, 10.0)).tolist()
    [0.0, 32.0, 50.0, 50.0]
    """
    above = np.clip(count, 0.0, 2 * noise / base)
    return np.asarray(np.nan_to_num(base * above * (1 - above * base / (4 * noise))))


@quiet
def rounding_skewness(count: Array, noise: Array, base: Array) -> Array:
    """Return the third central moment over the variance, where all numbers are alike.

    It is 0 from half of all bases on, and negative nowhere: to count less is as likely there.
    """
    return np.asarray(base * np.nan_to_num(np.clip(1 - count * base / (2 * noise), 0.0, 1.0)))


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

    def within(p: Array) -> Mask:
        sides = ((n * p, x_noise, base), (n * (1 - p), f_noise, base))
        of_x, of_f = (1 - p) ** 2, p**2
        v_x, v_f = (rounding_variance(*side) for side in sides)
        s_x, s_f = (rounding_skewness(*side) for side in sides)
        variance = p * (1 - p) / n + (of_x * v_x + of_f * v_f) / n**2
        third = ((1 - p) * of_x * v_x * s_x - p * of_f * v_f * s_f) / n**3
        outwards = np.nan_to_num(np.maximum(np.where(p < rate, third, -third), 0.0) / variance)
        return np.asarray(abs(rate - p) <= z * np.sqrt(variance) + outwards * shift)

    ends = np.stack([np.zeros_like(rate), np.ones_like(rate)])
    low, high = bisect(within, np.stack([rate, rate]), ends)[1]
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


def _is_single(published: Array, high: Array, noise: Array) -> Mask:
    # of one number the greatest count is a base less one above it; of several the bases and not
    # their squares add up in the range, which is then wider for its noise
    return np.asarray((noise > 0) & ((high - published + 1) ** 2 <= 4 * noise))
