"""The signed root of the likelihood ratio of one rate against a known one, and its exact tails.

Labels that are drawn from calibrated scores vary less than binomial counts of their mean score do
(Hoeffding 1956), so that binomial tails bound how often a root of a calibrated group exceeds a
critical value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.stats._roots import falling_root
from fairgauge.stats.arrays import Array, floats, quiet
from fairgauge.stats.signed_roots import SummedTails, deviance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@quiet
def binomial_root(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """Return the signed root of the likelihood ratio of a rate p, positive above it.

    Examples
    --------
    >>> binomial_root([30, 20, 5], 100, 0.2).round(4).tolist()
    [2.3735, 0.0, -4.3346]
    """
    x, n, p = floats(x, n, p)
    ratio = deviance(x, n, p) + deviance(n - x, n, 1 - p)
    return np.asarray(np.sign(x / n - p) * np.sqrt(np.maximum(2 * ratio, 0.0)))


def lower_rate(x: ArrayLike, n: ArrayLike, c: float) -> Array:
    """Return the rates below which the signed root exceeds c.

    Examples
    --------
    >>> end = lower_rate([30, 0], 100, 3.0)
    >>> end.round(4).tolist(), binomial_root(30, 100, end[0]).round(6).tolist()
    ([0.177, 0.0], 3.0)
    """
    x, n = floats(x, n)

    def above(rate: Array) -> Array:
        return np.asarray(np.clip(binomial_root(x, n, rate), -1e3, 1e3) - c)

    return np.where(x > 0, falling_root(above, np.zeros(x.shape), x / n), 0.0)


class BinomialTails(SummedTails):
    """The summed exact tails of the signed roots of many groups, each against its own rate.

    Parameters
    ----------
    n, p : array
        The trials of every group, and its rate.
    """

    def __init__(self, n: Array, p: Array) -> None:
        self.n, self.p = floats(n, p)
        self.tests = len(self.n)

    def exceeding(self, c: float) -> float:
        """Return the sum over all groups of the probability that the signed root exceeds c."""
        from scipy.special import betainc  # not for what needs no critical value

        fewest = fewest_above(self.n, self.p, c)
        held = fewest <= self.n
        n, p, k = self.n[held], self.p[held], fewest[held]
        return float(np.sum(betainc(k, n - k + 1, p)))


def fewest_above(n: ArrayLike, p: ArrayLike, c: float) -> Array:
    """Return the fewest events of n trials whose signed root exceeds c; n + 1 where none does.

    Examples
    --------
    >>> fewest_above([100, 10, 2], [0.2, 0.2, 0.9], 3.0).tolist()
    [33.0, 7.0, 3.0]
    """
    n, p = floats(n, p)
    fewest, most = np.floor(n * p), n + 1
    while (most - fewest > 1).any():
        middle = np.floor((fewest + most) / 2)
        exceeding = binomial_root(middle, n, p) > c
        most = np.where(exceeding, middle, most)
        fewest = np.where(exceeding, fewest, np.minimum(middle, most - 1))
    return np.asarray(most)


def detectable_excess(n: float, p: float, c: float, tolerance: float, power: float) -> float | None:
    """Return the smallest excess over a rate p that is probably found among n trials; or None.

    Examples
    --------
    >>> round(detectable_excess(100, 0.2, 3.0, 0.0, 0.8), 3)
    0.166
    """
    from scipy.special import betaincinv

    fewest = float(fewest_above(n, min(p + tolerance, 1.0), c))
    return float(betaincinv(fewest, n - fewest + 1, power)) - p if fewest <= n else None
