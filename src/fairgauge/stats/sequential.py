"""Sequential monitoring with controlled false alarms: e-values from counts, and a detector.

A batch e-value tests "the rates lie in the tolerated set" and has expectation at most 1 anywhere in
that set, whatever the batch sizes and however the rates drift inside it.  The Shiryaev-Roberts
detector sums the e-values over all possible change points.

An interval that is looked at every day misses its value on some day far more often than once in
twenty times. Confidence sequences do not: with the probability of the confidence level every one of
them, however many there are, contains the running value of its period, whatever the sizes of the
batches and however the rates drift.

A search among retrainings of one recipe goes on, too: what more of them could find is bounded at
every number of them at once. They are exchangeable: other seeds, each measured, none excluded.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.start.records import dataclass
from fairgauge.stats._roots import rates_given_difference, rates_given_ratio
from fairgauge.stats.arrays import Array, Limits, Mask, floats, quiet
from fairgauge.stats.intervals import critical

HALF_LIFE = 5.0
"""Batches after which the weight of a past batch is halved in the alternative of recent rates."""

SHIFTS = (1.0, 2.0)
"""Distances of alternatives beyond each bound, in units of the shift to be detected early: a larger
change is found without first having been learnt from the batches after it."""

# evidence is held below, so that a batch with an e-value of 0 after many large ones makes it 0.
_LARGEST = 1e300

Contrasted = Literal["difference", "ratio", "rate"]
"""What is limited: the difference d - a, the ratio d / a, or the rate d alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Tolerated:
    """The tolerated set: ``low <= contrast <= high`` for d - a, d / a, or d alone.

    Bounds may be infinite, and the lower one of a ratio 0. For equality both agree. Arrays hold a
    set per comparison.

    Raises ``ValueError``: when ``low > high``, or a ratio's bound is negative.

    >>> bool(Tolerated(-0.05, 0.05).contains(0.30, 0.34))
    True
    """

    low: ArrayLike
    high: ArrayLike
    comparison: Contrasted = "difference"

    def __post_init__(self) -> None:
        """Raise ValueError for an empty set."""
        low, high = floats(self.low, self.high)
        if not (low <= high).all() or (self.comparison == "ratio" and (low < 0).any()):
            raise ValueError(f"no {self.comparison} lies between {low} and {high}")

    def contains(self, a: ArrayLike, d: ArrayLike) -> Mask:
        """Return whether the rates `a` and `d` are tolerated, bounds included."""
        return ~(self._beyond(a, d, self.low, -1) | self._beyond(a, d, self.high, 1))

    @quiet
    def project(self, a: ArrayLike, d: ArrayLike, n_a: ArrayLike, n_d: ArrayLike) -> Limits:
        """Return the tolerated rates nearest to (`a`, `d`) in n_a KL(a, a0) + n_d KL(d, d0).

        They are the restricted maximum likelihood rates of n_a a and n_d d successes.
        """
        a, d, n_a, n_d, low, high = floats(a, d, n_a, n_d, self.low, self.high)
        if self.comparison == "rate":
            return a, np.clip(d, low, high)
        near = rates_given_difference if self.comparison == "difference" else rates_given_ratio
        near_a, near_d = a, d
        for bound, side in ((low, -1), (high, 1)):
            beyond = self._beyond(a, d, bound, side)
            if beyond.any():
                edge_d, edge_a = near(d * n_d, n_d, a * n_a, n_a, bound)
                near_a, near_d = np.where(beyond, edge_a, near_a), np.where(beyond, edge_d, near_d)
        return near_a, near_d

    @quiet
    def _beyond(self, a: ArrayLike, d: ArrayLike, bound: ArrayLike, side: int) -> Mask:
        a, d, bound = floats(a, d, bound)
        limit = {"difference": a + bound, "ratio": a * bound, "rate": bound}[self.comparison]
        return np.asarray(side * (d - limit) > 0)  # never beyond an infinite bound


@quiet
def e_value(
    tolerated: Tolerated, a: ArrayLike, d: ArrayLike,
    x_a: ArrayLike, n_a: ArrayLike, x_d: ArrayLike, n_d: ArrayLike,
) -> Array:  # fmt: skip
    """Return the e-value of one batch (a group may be empty) against "the rates are tolerated".

    ``a, d``: the alternative hypothesis, chosen before the batch was observed.

    Its expectation is at most 1 at every tolerated pair of rates; 1 where the alternative is itself
    tolerated.

    >>> round(float(e_value(Tolerated(-0.05, 0.05), 0.30, 0.42, 60, 200, 45, 100)), 4)
    3.7014
    """
    # Turner & Grunwald (2023), Statistics & Probability Letters 198, 109835; Turner, Ly & Grunwald
    # (2024), Journal of Statistical Planning and Inference 230, 106116.
    a, d, x_a, n_a, x_d, n_d = floats(a, d, x_a, n_a, x_d, n_d)
    e = np.exp(_log_likelihood_ratio(tolerated, a, d, x_a, n_a, x_d, n_d))
    return np.where(tolerated.contains(a, d), 1.0, e)


@quiet
def evidence_of_change(
    tolerated: Tolerated, x_a: ArrayLike, n_a: ArrayLike, x_d: ArrayLike, n_d: ArrayLike,
    shift: float = 0.05,
) -> Array:  # fmt: skip
    """Return the evidence that the contrast has left the tolerated set, after every batch.

    ``x_a, n_a, x_d, n_d``: shape (batches, ...): one entry per monitored comparison.
    ``shift``: distance beyond the bound at which a change should be detected early: of a ratio or
        of its inverse, whichever is below 1, so that both have the same evidence.

    >>> x_d = [30] * 20 + [50] * 20
    >>> found = evidence_of_change(Tolerated(-0.05, 0.05), [60] * 40, [200] * 40, x_d, [100] * 40)
    >>> int(np.argmax(found >= 365 / 0.05))
    23
    """
    # It is a Shiryaev-Roberts sum R_t = (1 + R_{t-1}) e_t, on average over five alternatives:
    # recent rates, and by each of `SHIFTS` too high and too low. With E[e_t | past] <= 1 wherever
    # the rates are tolerated, R_t - t is a supermartingale that starts at 0; so R_t + N - t is a
    # nonnegative one over N batches, and by Ville's inequality P(R_t >= T / alpha for some t <= N)
    # is at most alpha N / T: `alpha` within a horizon of T batches, twice that within two.
    # Shin, Ramdas & Rinaldo (2023), E-detectors, New England Journal of Statistics in Data Science.
    counts = np.stack(np.broadcast_arrays(*floats(x_a, n_a, x_d, n_d)))
    recent = np.zeros_like(counts)  # before every batch
    for t in range(1, counts.shape[1]):
        recent[:, t] = recent[:, t - 1] * 0.5 ** (1 / HALF_LIFE) + counts[:, t - 1]
    of_both = counts[:2] + counts[2:]
    a, d = _tested_rates(tolerated, shift, recent, of_both.cumsum(axis=1) - of_both, counts)
    e = e_value(tolerated, a, d, *counts)
    return np.asarray(_shiryaev_roberts(np.moveaxis(e, 1, 0)).mean(axis=1))


def _tested_rates(
    tolerated: Tolerated, shift: float, recent: Array, total: Array, counts: Array
) -> Limits:
    # where a bound is infinite there is no such alternative: it is of tolerated rates, whose
    # e-value is 1
    _, n_a, _, n_d = counts
    pooled = (total[0] + 0.5) / (total[1] + 1)
    share_d = np.where(n_a + n_d > 0, n_d / (n_a + n_d), 0.5)
    first, second = ([(recent[i] + 0.5) / (recent[i + 1] + 1)] for i in (0, 2))
    beyond = [(tolerated.high, times * shift) for times in SHIFTS]
    beyond += [(tolerated.low, -times * shift) for times in SHIFTS]
    for bound, further in beyond:
        edge = np.asarray(bound, dtype=np.float64)
        if tolerated.comparison == "difference":
            a = pooled - (edge + further) * share_d
            d = a + edge + further
        elif tolerated.comparison == "ratio":
            near = np.maximum(1 - abs(further) / np.minimum(edge, 1 / edge), 0.5)
            ratio = edge / near if further > 0 else edge * near
            a = pooled / (1 - share_d + ratio * share_d)
            d = ratio * a
        else:
            a, d = pooled, edge + further + 0 * n_d
        first.append(np.where(np.isfinite(edge), a, pooled))
        second.append(np.where(np.isfinite(edge), d, pooled))
    return np.clip(np.stack(first), 0.001, 0.999), np.clip(np.stack(second), 0.001, 0.999)


def _shiryaev_roberts(e: Array) -> Array:
    sums = np.empty_like(e)
    evidence = np.zeros_like(e[0])
    for t in range(len(e)):
        evidence = sums[t] = np.minimum((evidence + 1) * e[t], _LARGEST)
    return sums


SLOPES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Alternatives of estimates: how many standard errors a batch lies beyond a limit."""
LEVEL_OF_ERRORS = 0.9999
"""The level of the intervals of which the standard errors of estimates are taken."""


def deviations(
    value: ArrayLike, low: ArrayLike, high: ArrayLike, least: float, most: float
) -> tuple[Array, Array]:
    """Return how many standard errors estimates lie below and above what is tolerated.

    ``value, low, high``: shape (batches,): estimates with intervals of the level `LEVEL_OF_ERRORS`;
        nan where a batch decides nothing.
    ``least, most``: the tolerated values.
    """
    # The standard error is that of a normal distribution with the half of the interval that faces
    # the limit, at a level so high that the tails of few clusters are in it. Beyond the ends of
    # that interval nothing is known of the tails, so that no deviation counts for more.
    value, low, high = floats(value, low, high)
    furthest = critical(LEVEL_OF_ERRORS)
    found = []
    for beyond, half in ((least - value, high - value), (value - most, value - low)):
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(half > 0, beyond / half, np.sign(beyond) * np.inf) * furthest
        found.append(np.where(np.isnan(value + low + high), np.nan, np.minimum(z, furthest)))
    return found[0], found[1]


def asymptotic_evidence(below: Array, above: Array) -> Array:
    """Return the evidence that estimates have left the tolerated values, after every batch.

    >>> z = np.array([-0.5] * 20 + [3.0] * 4)
    >>> asymptotic_evidence(-4 - z, z)[[19, 21, 23]].round().tolist()
    [1.0, 656.0, 1860761.0]
    """
    # It is that of `evidence_of_change`, of e-values exp(s z - s^2 / 2) for each of `SLOPES` and
    # both sides, z being the deviations of `deviations`. Where z is normal with a mean of at most
    # 0, as it is asymptotically wherever the true value is tolerated, their expectation is at most
    # 1.
    z = np.stack([below, above])[:, np.newaxis]
    slopes = np.array(SLOPES)[:, np.newaxis]
    with np.errstate(invalid="ignore", over="ignore"):
        e = np.exp(slopes * z - slopes**2 / 2)
    e = np.where(np.isnan(e), 1.0, e).reshape(2 * len(SLOPES), -1).T
    return np.asarray(_shiryaev_roberts(e).mean(axis=1))


def likeliest_deviation(z: Array) -> int:
    """Return the batch since which estimates most likely lie beyond a limit, by their deviations.

    >>> likeliest_deviation(np.array([0.1, -0.5, 2.0, 3.0]))
    2
    """
    known = np.nan_to_num(z)[::-1]
    sums = np.maximum(known.cumsum(), 0.0) ** 2 / np.arange(1, len(z) + 1)
    return len(z) - 1 - int(np.argmax(sums))


@quiet
def likeliest_start(
    tolerated: Tolerated, x_a: ArrayLike, n_a: ArrayLike, x_d: ArrayLike, n_d: ArrayLike
) -> int:
    """Return the batch since which the rates most likely are outside the tolerated set.

    It maximises the likelihood ratio of constant rates since then against tolerated ones. Batches
    up to the alarm are counted from 0.

    >>> x_d = [30] * 20 + [50] * 8
    >>> likeliest_start(Tolerated(-0.05, 0.05), [60] * 28, [200] * 28, x_d, [100] * 28)
    20
    """
    x_a, n_a, x_d, n_d = (each[::-1].cumsum()[::-1] for each in floats(x_a, n_a, x_d, n_d))
    a, d = x_a / n_a, x_d / n_d
    ratio = _log_likelihood_ratio(tolerated, a, d, x_a, n_a, x_d, n_d)
    return int(np.argmax(np.nan_to_num(ratio, nan=0.0)))


def _log_likelihood_ratio(
    tolerated: Tolerated, a: Array, d: Array, x_a: Array, n_a: Array, x_d: Array, n_d: Array
) -> Array:
    # of two rates, against the tolerated ones that are nearest
    near_a, near_d = tolerated.project(a, d, n_a, n_d)
    gain = _log_likelihood(x_a, n_a, a) + _log_likelihood(x_d, n_d, d)
    null = _log_likelihood(x_a, n_a, near_a) + _log_likelihood(x_d, n_d, near_d)
    return np.where(np.isneginf(gain), -np.inf, gain - null)


@quiet
def _log_likelihood(x: Array, n: Array, p: Array) -> Array:
    success, failure = x * np.log(p), (n - x) * np.log1p(-p)
    return np.where(x > 0, success, 0.0) + np.where(n > x, failure, 0.0)


BETS = tuple(2.0**-k for k in range(1, 13))
"""Slopes of the lines of which the boundary is the lowest: for variances from 10 to 1e8."""


@quiet
def running_contrast(
    comparison: Contrasted, x_a: ArrayLike, n_a: ArrayLike, x_d: ArrayLike, n_d: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the contrast of running rates, and both limits of a 95% confidence sequence.

    With this probability all intervals contain the running contrast of the true rates. Arrays are
    of shape (periods, ...), nan until a period has rows of all that is contrasted.

    >>> found = running_contrast("difference", [60] * 90, [200] * 90, [36] * 90, [100] * 90)
    >>> [round(float(each[-1]), 3) for each in found]
    [0.06, 0.036, 0.084]
    """
    # A running rate is the mean of the rates of all periods so far, weighted by n_a n_d / (n_a +
    # n_d) (the rate of one group alone by n_d). Both sides have the weights of the same periods, so
    # that their difference is the mean of the differences of the periods, and no mix of periods.
    # Let every row of a period have the weight c <= 1 and let m be the rate of the periods before.
    # For X in {0, 1} with mean p and 0 <= b < 1, exp(b c (X - p) - psi(b) c^2 (X - m)^2) has an
    # expectation of at most 1, with psi(b) = -log(1 - b) - b (Fan, Grama and Liu 2015). The product
    # over all rows is a nonnegative supermartingale, for any sizes of periods and rates that
    # change, and by Ville's inequality S b - psi(b) V stays below log(2 K / error) at all times for
    # each of K slopes b and both signs, S being the sum of the weighted deviations and V that of
    # the squares. A ratio has the limits of its two rates, each with half of the error.
    # Howard, Ramdas, McAuliffe & Sekhon (2021), Annals of Statistics 49, 1055-1080 (theorem 4).
    # Fan, Grama & Liu (2015), Electronic Journal of Probability 20, 1-22.
    x_a, n_a, x_d, n_d = floats(x_a, n_a, x_d, n_d)
    error = 1 - 0.95  # of all intervals together
    if comparison == "rate":
        d = _running_side(x_d, n_d, n_d)
        radius = boundary(d.variance, error) / d.weight
        return _clip_contrast(d.rate, d.rate - radius, d.rate + radius, 0.0, 1.0)
    weights = np.where(n_a + n_d > 0, n_a * n_d / (n_a + n_d), 0.0)
    a, d = _running_side(x_a, n_a, weights), _running_side(x_d, n_d, weights)
    if comparison == "difference":
        radius = boundary(a.variance + d.variance, error) / d.weight
        value = d.rate - a.rate
        return _clip_contrast(value, value - radius, value + radius, -1.0, 1.0)
    of_a, of_d = (boundary(each.variance, error / 2) / each.weight for each in (a, d))
    low = np.maximum(d.rate - of_d, 0) / np.minimum(a.rate + of_a, 1)
    high = np.minimum(d.rate + of_d, 1) / np.maximum(a.rate - of_a, 0)
    return _clip_contrast(d.rate / a.rate, low, high, 0.0, np.inf)


@quiet
def boundary(variance: ArrayLike, error: float) -> Array:
    """Return what the size of a sum of deviations never exceeds, but for a probability of `error`.

    ``variance``: the sum of the squared deviations so far.

    >>> boundary([100, 10_000], 0.05).round(1).tolist()
    [39.8, 357.1]
    """
    v = np.asarray(variance, dtype=np.float64)
    needed = math.log(2 * len(BETS) / error)
    lowest = np.full_like(v, np.inf)
    for bet in BETS:
        np.minimum(lowest, (needed + (-math.log1p(-bet) - bet) * v) / bet, out=lowest)
    return lowest


class _RunningSide(NamedTuple):
    """The running rate of a side, the sum of its weights, and that of its squared deviations."""

    rate: Array
    weight: Array
    variance: Array


def _running_side(x: Array, n: Array, weights: Array) -> _RunningSide:
    share = np.where(n > 0, weights / n, 0.0)  # the weight of a row
    x_before, n_before = x.cumsum(axis=0) - x, n.cumsum(axis=0) - n
    expected = (x_before + 0.5) / (n_before + 1)
    squares = share**2 * (x * (1 - expected) ** 2 + (n - x) * expected**2)
    total = weights.cumsum(axis=0)
    return _RunningSide((share * x).cumsum(axis=0) / total, total, squares.cumsum(axis=0))


def _clip_contrast(
    value: Array, low: Array, high: Array, least: float, most: float
) -> tuple[Array, Array, Array]:
    low, high = (np.where(np.isnan(value), value, np.clip(e, least, most)) for e in (low, high))
    return value, low, high


# ---- retrainings


def chance_of_better(searched: int, further: int) -> float:
    """Return the probability that the least of ``further`` draws is below that of those searched.

    Exact for exchangeable draws without ties, before any is looked at.

    >>> round(chance_of_better(60, 10), 3)
    0.143
    """
    return further / (searched + further)


def better_share(searched: int, alpha: float, looks: int | None = None) -> float:
    """Return an upper bound of the probability that one more draw is below the least so far.

    ``looks``: None for a bound that holds at every number of draws at once, however the search is
    stopped; else at how many numbers of draws, planned before, it holds: 1 of a fixed number.

    >>> [round(better_share(70, 0.05, looks), 3) for looks in (None, 6, 1)]
    [0.099, 0.066, 0.042]
    """
    # If the probability of a better draw is p, none of t is better with probability (1 - p)^t. The
    # mixture of 1 / (1 - p)^t over p, uniform, is a martingale that reaches 1 / alpha where p is
    # this bound (Ville's inequality); it is the bound of arXiv 2512.23943.
    if looks is not None:
        return -math.expm1(math.log(alpha / looks) / searched)
    if searched == 1:
        return -math.expm1(-1 / alpha)
    return -math.expm1(-math.log1p((searched - 1) / alpha) / (searched - 1))


def mean_least(values: ArrayLike) -> Array:
    """Return the mean of the least of j of these values, for j = 1 ... K: a rarefaction curve.

    Unbiased for every j, where draws are exchangeable.

    >>> mean_least([3.0, 1.0, 2.0]).round(3).tolist()
    [2.0, 1.333, 1.0]
    """
    (ordered,) = floats(np.sort(np.asarray(values, dtype=np.float64)))
    size, means = len(ordered), []
    for drawn in range(1, size + 1):
        # the i-th least is the least of those drawn with probability C(K - i, j - 1) / C(K, j)
        i = np.arange(size - 1)
        kept = np.maximum(size - i - drawn, 0) / np.maximum(size - i - 1, 1)
        weights = drawn / size * np.concatenate([[1.0], np.cumprod(kept)])
        means.append(float(weights @ ordered))
    return np.array(means)


def records_p(values: ArrayLike) -> float:
    """Return the p-value of so many records or more, if the order of the draws means nothing.

    The t-th of exchangeable draws is a record, below all before, with probability 1 / t,
    independently of the others (Rényi 1962).

    >>> round(records_p([5.0, 4.0, 3.0, 2.0, 1.0]), 4), records_p([1.0, 2.0, 3.0])
    (0.0083, 1.0)
    """
    (draws,) = floats(values)
    seen = 1 + int((draws[1:] < np.minimum.accumulate(draws)[:-1]).sum())
    chances = np.ones(1)
    for t in range(1, len(draws) + 1):
        chances = np.convolve(chances, [1 - 1 / t, 1 / t])
    return float(min(1.0, chances[seen:].sum()))
