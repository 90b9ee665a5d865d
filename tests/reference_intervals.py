"""Intervals and p-values computed anew, from scipy and the published formulas.

Nothing of the library takes part: what `fg.audit` reports is held against these.
"""

import math

import numpy as np
from scipy import optimize, stats

Z = float(stats.norm.ppf(0.975))
Ends = tuple[float, float]


def wilson(x: float, n: float, z: float = Z) -> Ends:
    """Wilson (1927); also of effective, fractional numbers of rows."""
    centre, half = x + z * z / 2, z * math.sqrt(x * (n - x) / n + z * z / 4)
    return (centre - half) / (n + z * z), (centre + half) / (n + z * z)


def odds(x: float, n: float) -> Ends:
    """Wilson's limits of a share, as odds."""
    low, high = (min(max(end, 0.0), 1.0) for end in wilson(x, n))
    return low / (1 - low), math.inf if x == n else high / (1 - high)


def jeffreys(x: float, n: float) -> Ends:
    low, high = stats.beta.ppf([0.025, 0.975], x + 0.5, n - x + 0.5)
    return float(low), float(high)


def mover(e1: float, ends1: Ends, e2: float, ends2: Ends) -> Ends:
    """Zou and Donner (2008): limits of a difference from those of its sides."""
    (low1, high1), (low2, high2) = ends1, ends2
    return (
        e1 - e2 - math.hypot(e1 - low1, high2 - e2),
        e1 - e2 + math.hypot(high1 - e1, e2 - low2),
    )


def newcombe(x1: float, n1: float, x2: float, n2: float, z: float = Z) -> Ends:
    """Newcombe (1998), Statistics in Medicine 17, 873-890, method 10."""
    return mover(x1 / n1, wilson(x1, n1, z), x2 / n2, wilson(x2, n2, z))


def odds_ratio(x1: float, n1: float, x2: float, n2: float) -> Ends:
    """Where Newcombe's interval of shares moved halfway towards each other touches 0."""

    def moved(x: float, n: float, by: float) -> list[float]:
        shares = (min(max(each, 0.0), 1.0) for each in (x / n, *wilson(x, n)))
        return [p * by / (1 - p + p * by) for p in shares]

    def low(x1: float, n1: float, x2: float, n2: float) -> float:
        def touches(t: float) -> float:
            (e1, *one), (e2, *two) = moved(x1, n1, math.exp(-t)), moved(x2, n2, math.exp(t))
            return mover(e1, (one[0], one[1]), e2, (two[0], two[1]))[0]

        return math.exp(2 * optimize.brentq(touches, -15, 15, xtol=1e-14)) if x1 and x2 < n2 else 0

    least, other = low(x1, n1, x2, n2), low(x2, n2, x1, n1)
    return least, 1 / other if other else math.inf


def newcombe_p(x1: float, n1: float, x2: float, n2: float) -> float:
    """The level at which Newcombe's interval just touches 0."""
    end = 0 if x1 / n1 > x2 / n2 else 1
    root = optimize.brentq(lambda z: newcombe(x1, n1, x2, n2, z)[end], 1e-9, 40)
    return float(2 * stats.norm.sf(root))


def scas(x1: int, n1: int, x2: int, n2: int, *, ratio: bool = False) -> Ends:
    """Laud (2017), Pharmaceutical Statistics 16, 334-348: skewness-corrected score limits.

    The rates under the restriction are found by maximising the likelihood numerically.
    """

    def restricted(theta: float) -> Ends:
        def first(p2: float) -> float:
            return p2 * theta if ratio else p2 + theta

        def loss(p2: float) -> float:
            p = np.clip([first(p2), p2], 1e-12, 1 - 1e-12)
            return -float(np.sum(stats.binom.logpmf([x1, x2], [n1, n2], p)))

        low, high = (0.0, min(1.0, 1 / theta)) if ratio else (max(0.0, -theta), min(1.0, 1 - theta))
        p2 = optimize.minimize_scalar(loss, bounds=(low, high), options={"xatol": 1e-12}).x
        return first(p2), p2

    def excess(theta: float, side: float) -> float:
        p1, p2 = restricted(theta)
        factor = theta if ratio else 1.0
        v1, v2 = p1 * (1 - p1) / n1, p2 * (1 - p2) / n2
        variance = (v1 + factor**2 * v2) * (n1 + n2) / (n1 + n2 - 1)
        third = v1 * (1 - 2 * p1) / n1 - factor**3 * v2 * (1 - 2 * p2) / n2
        skew = third / (6 * variance**1.5)
        score = x1 / n1 - x2 / n2 * (theta if ratio else 1) - (0 if ratio else theta)
        return score / math.sqrt(variance) - skew * (Z * Z - 1) - side * Z

    estimate = (x1 / n1) / (x2 / n2) if ratio else x1 / n1 - x2 / n2
    least, most = (estimate / 50, estimate * 50) if ratio else (-1 + 1e-9, 1 - 1e-9)
    return (
        optimize.brentq(excess, least, estimate, args=(1,)),
        optimize.brentq(excess, estimate, most, args=(-1,)),
    )


def tango(better: int, worse: int, n: int) -> Ends:
    """Tango (1998), Statistics in Medicine 17, 891-908: limits of a paired difference."""

    def excess(delta: float, side: float) -> float:
        a, c = 2 * n, -worse * delta * (1 - delta)
        b = -better - worse + (2 * n - better + worse) * delta
        q = (math.sqrt(b * b - 4 * a * c) - b) / (2 * a)
        variance = n * (2 * q + delta * (1 - delta))
        return (better - worse - n * delta) / math.sqrt(variance) - side * Z

    estimate = (better - worse) / n
    return (
        optimize.brentq(excess, -1 + 1e-9, estimate, args=(1,)),
        optimize.brentq(excess, estimate, 1 - 1e-9, args=(-1,)),
    )
