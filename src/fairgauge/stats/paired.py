"""Two classifications of the same rows: proportions compared in pairs.

Of two classifications only discordant rows carry information: ``better`` counts rows that only the
second one accepts, ``worse`` those that only the first one accepts. The normal approximation of
Tango's test rejects up to twice as often as stated where few rows are decided differently and
nearly all of them in one direction: its p-value and power are also enumerated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats._roots import bisect, falling_root, fewest_holding
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet
from fairgauge.stats.intervals import exact_rate_limits
from fairgauge.stats.significance import two_sided


@quiet
def paired_difference(better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike) -> Limits:
    """Return Tango's score interval of ``(better - worse) / n``, of n rows in all.

    Of positive width also without discordant rows; without rows [-1, 1].

    >>> low, high = paired_difference(1, 7, 21, 1.959964)  # Fagerland, Lydersen and Laake 2014
    >>> round(float(low), 3), round(float(high), 3)
    (-0.517, -0.026)
    """
    # Tango (1998), Statistics in Medicine 17, 891-908.
    better, worse, n, z = floats(better, worse, n, z)
    # the upper limit is the lower one of the exchanged classifications; both are solved at once
    gained, lost = np.stack([better, worse]), np.stack([worse, better])
    every, level = floats(n, z, gained)[:2]

    def rejected(gap: Array) -> Array:
        score = tango_score(gained, lost, every, gap)
        return np.where(np.isnan(score), np.inf, score) - level  # its variance is 0 at -1

    low, other = falling_root(rejected, np.full(every.shape, -1.0), (gained - lost) / every)
    return np.where(n > 0, low, -1.0), np.where(n > 0, -other, 1.0)


@quiet
def paired_score_ratio(
    both: ArrayLike, better: ArrayLike, worse: ArrayLike, n: ArrayLike, z: ArrayLike
) -> Limits:
    """Return Tang's score interval of ``(both + better) / (both + worse)``.

    An empty denominator gives ``high = inf``, an empty table [0, inf]. They exclude 1 just where
    `paired_difference` excludes 0.

    >>> low, high = paired_score_ratio(1, 1, 7, 21, 1.959964)  # Fagerland, Lydersen and Laake 2014
    >>> round(float(low), 3), round(float(high), 3)
    (0.065, 0.907)
    """
    # Tang, Tang & Chan (2003), Statistics in Medicine 22, 1217-1233; Nam & Blackwelder (2002),
    # Statistics in Medicine 21, 689-699.
    both, better, worse, n, z = floats(both, better, worse, n, z)
    gained, lost = np.stack([better, worse]), np.stack([worse, better])
    # the probability q of ``worse`` is its maximum likelihood estimate where those of ``both`` and
    # ``better`` are such that the ratio is R: the root of (1 + R) n q^2 + ((both + worse) (R^2 - 1)
    # - better - worse) q - worse (R - 1) w, with the share w of rows that either classification
    # accepts
    new, old = both + gained, both + lost
    accepted = (both + gained + lost) / n
    estimate = np.where(new > 0, new / (new + old), 0.0)

    def rejected(share: Array) -> Array:
        ratio = share / (1 - share)
        a = n * (1 + ratio)
        b = old * (ratio**2 - 1) - gained - lost
        q = (np.sqrt(b**2 + 4 * a * lost * (ratio - 1) * accepted) - b) / (2 * a)
        excess = new - ratio * old
        score = excess / np.sqrt(n * ((ratio - 1) * accepted + (1 + ratio) * q))
        score = np.where(np.isnan(score), np.inf, score)  # its variance is 0 at a ratio of 0
        return np.where(share >= estimate, 0.0, score) - z

    share = falling_root(rejected, np.zeros(estimate.shape), estimate)
    low, other = share / (1 - share)
    return np.where(n > 0, low, 0.0), np.where((n > 0) & (other > 0), 1 / other, np.inf)


@quiet
def paired_p(better: ArrayLike, worse: ArrayLike) -> Array:
    """Return McNemar's p-value of no difference, which agrees with `paired_difference`.

    Without discordant rows it is 1.

    >>> round(float(paired_p(1, 7)), 4)
    0.0339
    """
    # McNemar (1947), Psychometrika 12, 153-157.
    better, worse = floats(better, worse)
    score = (better - worse) / np.sqrt(better + worse)
    return two_sided(np.where(better + worse > 0, score, 0.0))


def tango_score(better: Array, worse: Array, n: Array, gap: Array) -> Array:
    """Return how many standard deviations the difference lies above ``gap``.

    The probability q of ``worse`` is its maximum likelihood estimate where that of ``better`` is
    q + gap: the root of 2 n q^2 + b q - worse gap (1 - gap), from the trinomial likelihood.
    """
    b = (2 * n - better + worse) * gap - better - worse
    q = (np.sqrt(b**2 + 8 * n * worse * gap * (1 - gap)) - b) / (4 * n)
    excess = better - worse - n * gap
    return np.where(excess == 0, 0.0, excess / np.sqrt(n * (2 * q + gap * (1 - gap))))


# standard deviations of a count that are enumerated
_REACH = 8.0
# the probability that the share of discordant rows is outside the interval that is searched.
_UNSURE = 5e-4
_SHARES = 25
_STEPS = 20


@quiet
def exact_p(better: float, worse: float, n: float, gap: float) -> float:
    """Return the one-sided p-value of a difference of ``gap`` or more.

    Of all shares of discordant rows in their 99.95% interval, the greatest probability of a score
    as low as that observed, and .0005 for the shares outside.

    ``better, worse``: discordant rows, by direction; effective numbers where rows have weights.

    >>> round(exact_p(0, 9, 200, -0.02), 4)  # normal approximation: 0.0134
    0.0259
    """
    # Berger & Boos (1994), Journal of the American Statistical Association 89, 1012-1016.
    from scipy.special import betainc
    from scipy.stats import binom

    rows = round(n)
    least, most = (
        max(float(e), abs(gap)) for e in exact_rate_limits(better + worse, n, _UNSURE / 2)
    )
    shares = np.linspace(least, most, _SHARES)[:, None]
    gained, lost = (shares + gap) / 2, (shares - gap) / 2
    # the lower tail is the upper one of the exchanged classifications
    z = -float(tango_score(*map(np.asarray, (better, worse, n, gap))))
    ends = gained[[0, -1], 0]
    spread = _REACH * np.sqrt(rows * ends * (1 - ends)) + _REACH
    first, last = max(0.0, rows * ends[0] - spread[0]), min(rows, rows * ends[1] + spread[1])
    likely = np.arange(math.floor(first), math.ceil(last) + 1, dtype=float)
    # of each, the fewest rows of the other direction that exceed it: the score rises with them
    whole, opposite = np.asarray(float(rows)), np.asarray(-gap)
    many = fewest_holding(
        lambda other: tango_score(other, likely, whole, opposite) >= z - 1e-9,
        np.full(likely.shape, -1.0), rows - likely + 1,
    )  # fmt: skip
    rest = rows - likely
    share = np.minimum(np.where(gained < 1, lost / (1 - gained), 0.0), 1.0)
    above = betainc(many, rest - many + 1, share)
    above = np.where(many > rest, 0.0, np.where(many <= 0, 1.0, above))
    p = (binom.pmf(likely, rows, gained) * above).sum(axis=-1)
    return min(1.0, float(p.max()) + _UNSURE)


def exact_upper(better: float, worse: float, n: float, low: float, alpha: float) -> float:
    """Return the greatest difference that `exact_p` does not reject at ``alpha``.

    -1 where it rejects ``low``, above which it is sought.
    """
    if exact_p(better, worse, n, low) <= alpha:
        return -1.0

    def kept(gap: Array) -> Mask:
        return np.asarray(exact_p(better, worse, n, float(gap)) > alpha)

    return float(bisect(kept, np.asarray(low), np.ones(()), _STEPS)[1])
