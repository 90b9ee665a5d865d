"""Randomly rounded counts: what they disclose of small ones, and intervals of rates of their sums.

An attacker knows how the counts were published, and takes the least and the greatest number of
persons of every cell over all tables that agree with everything published. Every period of a
history adds persons, so that totals rise: a total is at least all lower ends before it, and at most
all upper ends after it, and every number between is attained. References: Willenborg & de Waal
(2001), Elements of Statistical Disclosure Control, chapters 5 to 6 and 9.

A rate has successes and failures that are such sums. Every number was rounded to one of the two
nearest multiples of a base without bias, independently of all others, so that a sum of many is
nearly normal. At the true rate p, ``(1 - p) x - p f`` of the published successes x and failures f
has the expectation 0 and the variance ``n p (1 - p) + (1 - p)^2 v_x + p^2 v_f``: that of sampling,
and those of rounding. Without rounding the rates at which it is z standard errors are Wilson's
limits.

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


def rounded_randomly(counts: Array, base: int, random: np.random.Generator) -> Array:
    """Round counts to one of the two nearest multiples of a base, without bias.

    A multiple stays as it is; another count is rounded up with the probability of its distance from
    the multiple below, in units of the base, so that its expectation is the count.

    ``counts``: shape (n,); whole numbers
    ``base``: at least 2

    >>> rounded_randomly(np.array([0.0, 3.0, 20.0]), 10, np.random.default_rng(4)).tolist()
    [0.0, 0.0, 20.0]
    """
    below = counts // base
    up = random.random(len(counts)) < (counts - base * below) / base
    return np.asarray(base * (below + up))


def range_of_rounded(published: Array, base: int) -> Limits:
    """Return the least and the greatest count that may have been rounded to a multiple of a base.

    >>> low, high = range_of_rounded(np.array([0.0, 10.0, 20.0]), 10)
    >>> low.tolist(), high.tolist()
    ([0.0, 1.0, 11.0], [9.0, 19.0, 29.0])
    """
    return np.maximum(published - base + 1, 0.0), published + base - 1


def are_disclosive(low: Array, high: Array, minimum: int) -> Mask:
    """Return which inferred ranges disclose a small count, one of 1 to ``minimum`` - 1 persons.

    A range with a small count in it must hold at least ``minimum`` counts: then it holds 0 or
    ``minimum`` persons as well, and nobody can know that the count is small.

    >>> are_disclosive(np.array([0.0, 1, 1, 10]), np.array([9.0, 9.0, 10.0, 12.0]), 10).tolist()
    [False, True, False, False]
    """
    small = (low < minimum) & (high >= 1)
    return np.asarray(small & (high - low + 1 < minimum))


def disclosed_by_history(low: Array, high: Array, minimum: int) -> Mask:
    """Return which cells an attacker learns from all tables that were published of one history.

    The attacker looks at the persons of every run of periods: at those of each table, and at the
    differences between any two of them.

    ``low, high``: shape (T, n): the published range of every cell after every period; later ones
        hold the earlier rows.
    ``minimum``: counts of 1 to ``minimum`` - 1 persons are protected.

    >>> low, high = np.array([[11.0, 0.0], [1.0, 0.0]]), np.array([[29.0, 9.0], [19.0, 9.0]])
    >>> disclosed_by_history(low, high, 10).tolist()
    [True, False]
    """
    least = np.maximum.accumulate(low, axis=0)
    most = np.minimum.accumulate(high[::-1], axis=0)[::-1]
    if (least > most).any():  # no table agrees with everything published
        return np.ones(low.shape[1], dtype=bool)
    learned = np.zeros(low.shape[1], dtype=bool)
    nobody = learned.astype(np.float64)
    for last in range(len(low)):
        for fewest, greatest in ((nobody, nobody), *zip(least[:last], most[:last], strict=True)):
            added = np.maximum(least[last] - greatest, 0.0), most[last] - fewest
            learned |= are_disclosive(*added, minimum)
    return learned


def disclosed_by_repetition(low: Array, high: Array, minimum: int) -> Mask:
    """Return which cells are learned if the last tables of a history are of the same rows.

    ``low, high, minimum``: as of `disclosed_by_history`.

    >>> low, high = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[19.0, 19.0], [9.0, 19.0]])
    >>> disclosed_by_repetition(low, high, 10).tolist()
    [True, False]
    """
    learned = np.zeros(low.shape[1], dtype=bool)
    for first in range(len(low)):
        least, most = low[first:].max(axis=0), high[first:].min(axis=0)
        learned |= (least <= most) & are_disclosive(least, most, minimum)
    return learned


# ---- rates of sums

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
