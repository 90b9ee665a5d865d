"""Tests of paired proportions by enumeration: their power, and the p-value of Tango's test.

The normal approximation of Tango's test rejects up to twice as often as stated where few rows are
decided differently and nearly all of them in one direction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats.arrays import quiet
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.paired import paired_difference, tango_score
from fairgauge.stats.rows_to_decide import binomial_outcomes

if TYPE_CHECKING:
    from fairgauge.stats.arrays import Array

_REACH = 8.0
"""Standard deviations of a count that are enumerated."""
_UNSURE = 5e-4
"""The probability that the share of discordant rows is outside the interval that is searched."""
_SHARES = 25
_STEPS = 20
_POINTS = 41
_LEAST = 1e-7


def score_power(n: int, better: float, worse: float, gap: float, z: float) -> float:
    """Return the probability that Tango's score of a difference above ``gap`` exceeds ``z``.

    Parameters
    ----------
    n : int
        All rows.
    better, worse : float in [0, 1]
        Probabilities of the discordant rows, by direction.
    gap : float in (-1, 1)
        The difference ``better - worse`` that is tested.
    z : float

    Examples
    --------
    That a model of equal accuracy is not worse by .01, where 10% of 7,849 rows are discordant:

    >>> round(score_power(7849, 0.05, 0.05, -0.01, 1.959964), 3)
    0.799
    """
    return float(_Region(n, gap, z, worse, worse).probability(better, worse))


def change_power(
    n_group: int, n_reference: int, discordant: float, change: float, z: float
) -> float:
    """Return the probability that the interval of a disparity's change excludes no change.

    Half of the change is the group's gain, the other half its reference's loss.

    Parameters
    ----------
    n_group, n_reference : int
        Rows that the rate is counted among.
    discordant : float in (0, 1)
        The share of rows of either that are decided differently.
    change : float in (0, 1)
        0 where so few discordant rows cannot come to as much.
    z : float

    Returns
    -------
    power : float
        Exact up to 41 likely numbers of discordant rows of each direction and side; more are
        grouped into 41.

    Examples
    --------
    >>> round(change_power(1000, 1000, 0.1, 0.05, 1.959964), 2)
    0.94
    """
    if change / 2 > discordant:
        return 0.0
    sides = [
        _changes(n, (discordant + moved) / 2, (discordant - moved) / 2, z)
        for n, moved in ((n_group, change / 2), (n_reference, -change / 2))
    ]
    (weight1, *ours), (weight2, *theirs) = sides
    low, _ = mover_difference(*(each[:, None] for each in ours), *theirs)
    return float(weight1 @ (low > 0) @ weight2)


def _changes(n: int, better: float, worse: float, z: float) -> tuple[Array, ...]:
    """Return probabilities of the changes of one side, these changes, and their limits."""
    lost, chances = binomial_outcomes(worse, n, _POINTS)
    found = []
    for each, chance in zip(lost.tolist(), chances.tolist(), strict=True):
        gained, given = binomial_outcomes(better / (1 - worse), n - round(each), _POINTS)
        found.append((chance * given, gained, np.full(gained.shape, each)))
    weight, gained, lost = (np.concatenate(parts) for parts in zip(*found, strict=True))
    likely = weight > _LEAST
    gained, lost = gained[likely], lost[likely]
    limits = paired_difference(gained, lost, n, z)
    return weight[likely], (gained - lost) / n, *limits


def exact_p(better: float, worse: float, n: float, gap: float) -> float:
    """Return the one-sided p-value of a difference of ``gap`` or more.

    Of all shares of discordant rows in their 99.95% interval, the greatest probability of a score
    as low as that observed, and .0005 for the shares outside.

    Parameters
    ----------
    better, worse : float, >= 0
        Discordant rows, by direction; effective numbers where rows have weights.
    n : float
    gap : float in (-1, 1)

    References
    ----------
    Berger & Boos (1994), Journal of the American Statistical Association 89, 1012-1016.

    Examples
    --------
    >>> round(exact_p(0, 9, 200, -0.02), 4)  # normal approximation: 0.0134
    0.0259
    """
    from scipy.special import betaincinv

    rows, discordant = round(n), better + worse
    least = betaincinv(discordant, n - discordant + 1, _UNSURE / 2) if discordant > 0 else 0.0
    most = betaincinv(discordant + 1, n - discordant, 1 - _UNSURE / 2) if discordant < n else 1.0
    shares = np.linspace(max(least, abs(gap)), max(most, abs(gap)), _SHARES)
    gained, lost = (shares + gap) / 2, (shares - gap) / 2
    # the lower tail is the upper one of the exchanged classifications
    z = -float(tango_score(*map(np.asarray, (better, worse, n, gap))))
    region = _Region(rows, -gap, z, float(gained[0]), float(gained[-1]), closed=True)
    return min(1.0, float(region.probability(lost, gained).max()) + _UNSURE)


def exact_upper(better: float, worse: float, n: float, low: float, alpha: float) -> float:
    """Return the greatest difference that `exact_p` does not reject at ``alpha``.

    -1 where it rejects ``low``, above which it is sought.
    """
    if exact_p(better, worse, n, low) <= alpha:
        return -1.0
    high = 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if exact_p(better, worse, n, middle) > alpha:
            low = middle
        else:
            high = middle
    return high


class _Region:
    """Tables whose score exceeds a critical value, over the likely numbers of ``worse`` rows."""

    def __init__(
        self, n: int, gap: float, z: float, least: float, most: float, *, closed: bool = False
    ) -> None:
        spread = [_REACH * math.sqrt(n * p * (1 - p)) + _REACH for p in (least, most)]
        first, last = max(0.0, n * least - spread[0]), min(float(n), n * most + spread[1])
        self.n, self.worse = n, np.arange(math.floor(first), math.ceil(last) + 1, dtype=float)
        # of each, the fewest ``better`` rows that exceed it: the score rises with them
        few, many = np.full(self.worse.shape, -1.0), n - self.worse + 1
        while (many - few > 1).any():
            middle = np.floor((few + many) / 2)
            score = tango_score(middle, self.worse, np.asarray(float(n)), np.asarray(gap))
            exceeds = score >= z - 1e-9 if closed else score > z
            many = np.where(exceeds, middle, many)
            few = np.where(exceeds, few, middle)
        self.fewest = many

    @quiet
    def probability(self, better: Array | float, worse: Array | float) -> Array:
        """Return its probability, of every pair of probabilities of the discordant rows."""
        from scipy.special import betainc
        from scipy.stats import binom

        p, q = (np.asarray(each, dtype=float)[..., None] for each in (better, worse))
        rest = self.n - self.worse
        share = np.minimum(np.where(q < 1, p / (1 - q), 0.0), 1.0)
        above = betainc(self.fewest, rest - self.fewest + 1, share)
        above = np.where(self.fewest > rest, 0.0, np.where(self.fewest <= 0, 1.0, above))
        return np.asarray((binom.pmf(self.worse, self.n, q) * above).sum(axis=-1))
