"""Disclosure: what an attacker can infer about counts of which only ranges are published.

The attacker knows how the counts were published, and takes the least and the greatest number of
persons of every cell over all tables that agree with everything published. Every period of a
history adds persons, so that totals rise: a total is at least all lower ends before it, and at most
all upper ends after it, and every number between is attained.

References: Willenborg & de Waal (2001), Elements of Statistical Disclosure Control, chapters 5 to 6
and 9.
"""

from __future__ import annotations

import numpy as np

from fairgauge.stats.arrays import Array, Limits, Mask


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
