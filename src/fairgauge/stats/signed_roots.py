"""The signed root of the likelihood ratio of two rates, its exact tails, and what inverts it.

Many groups are each compared with all other rows, and one critical value serves all of them: it
bounds the summed probabilities that any statistic exceeds it, whatever their dependence.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairgauge.stats._roots import falling_root, fewest_holding, rates_given_difference
from fairgauge.stats.arrays import Array, Limits, floats, quiet
from fairgauge.stats.significance import normal_quantile, normal_tail

_BLOCK_OF_TERMS = 64
# less than half the last digit of a double: a term of it leaves the sum as it is
_NEGLIGIBLE = 1e-17
_BLOCK_OF_ROOTS = 500_000
_ROUNDING = 1e-12
_FARTHEST = 10.0
_FEW_ENDS = 64


@quiet
def signed_root(
    x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, difference: ArrayLike = 0.0
) -> Array:
    """Return the signed root of the likelihood ratio of ``p1 - p2 = difference``.

    It falls as the difference rises, is 0 at the observed one, and is infinite where the difference
    is impossible for the counts.

    >>> signed_root(30, 100, 50, 400).round(4).tolist()
    4.0101
    >>> signed_root(30, 100, 50, 400, 0.175).round(4).tolist()
    0.0
    """
    x1, n1, x2, n2, d = floats(x1, n1, x2, n2, difference)
    pooled = (x1 + x2) / (n1 + n2)
    ratio = _log_ratio(x1, n1, x2, n2, pooled, pooled)
    if d.any():
        # the cubic is exact but for rounding, which matters where the best rates are 0 or 1
        p1, p2 = rates_given_difference(x1, n1, x2, n2, d)
        inside = _log_ratio(x1, n1, x2, n2, p1, p2)
        at_zero = _log_ratio(x1, n1, x2, n2, np.maximum(d, 0), np.maximum(-d, 0))
        at_one = _log_ratio(x1, n1, x2, n2, 1 - np.maximum(-d, 0), 1 - np.maximum(d, 0))
        ratio = np.where(d == 0, ratio, np.fmin(inside, np.fmin(at_zero, at_one)))
    return np.asarray(np.sign(x1 / n1 - x2 / n2 - d) * np.sqrt(np.maximum(2 * ratio, 0.0)))


def _log_ratio(x1: Array, n1: Array, x2: Array, n2: Array, p1: Array, p2: Array) -> Array:
    return _deviance(x1, n1, p1) + _deviance(x2, n2, p2)


def _deviance(x: Array, n: Array, p: Array) -> Array:
    # x log((x / n) / p) and that of the other outcome, infinite where the count is impossible
    y = n - x
    of = np.where(x > 0, x * np.log(x / n / p), 0.0)
    return np.asarray(of + np.where(y > 0, y * np.log(y / n / (1 - p)), 0.0))


def lower_end(x1: ArrayLike, n1: ArrayLike, x2: ArrayLike, n2: ArrayLike, c: ArrayLike) -> Array:
    """Return the differences below which the signed root exceeds a critical value.

    >>> end = lower_end(30, 100, 50, 400, 3.0)
    >>> end.round(4).tolist(), signed_root(30, 100, 50, 400, end).round(6).tolist()
    (0.0401, 3.0)
    """
    x1, n1, x2, n2 = floats(x1, n1, x2, n2)

    def above(difference: Array) -> Array:
        # bounded, so that secants never meet infinities
        return np.asarray(np.clip(signed_root(x1, n1, x2, n2, difference), -1e3, 1e3) - c)

    return falling_root(above, np.full(x1.shape, -1.0), x1 / n1 - x2 / n2)


def score_limits(x1: Array, n1: Array, x2: Array, n2: Array, c: float, other_c: float) -> Limits:
    """Return the lower ends at c, and the upper ones at another critical value, in one search.

    >>> counts = [np.array([count], dtype=float) for count in (30, 100, 50, 400)]
    >>> [end.round(4).tolist() for end in score_limits(*counts, 3.0, 2.0)]
    [[0.0401], [0.2762]]
    """
    groups, others = np.concatenate([n1, n1]), np.concatenate([n2, n2])
    events = np.concatenate([x1, n1 - x1]), np.concatenate([x2, n2 - x2])
    values = np.repeat([c, other_c], len(n1))
    low, high = np.split(lower_end(events[0], groups, events[1], others, values), 2)
    return low, -high


def fewest_exceeding(n: ArrayLike, events: float, total: float, c: float) -> Array:
    """Return the fewest events of groups of n trials whose signed root exceeds c, given all events.

    One more than the group can have where none does.

    >>> fewest_exceeding([30, 100], 400, 4000, 3.0).tolist()
    [9.0, 20.0]
    """
    (n,) = floats(n)
    share = np.floor(np.maximum(n * events / total, n + events - total))
    # a group with no more than its share never exceeds
    most = np.minimum(n, events) + 1
    return fewest_holding(lambda x: signed_root(x, n, events - x, total - n) > c, share, most)


@quiet
def hypergeometric_tail(x: ArrayLike, n: ArrayLike, events: float, total: float) -> Array:
    """Return the probability of at least x events among n of all rows, from the smallest terms on.

    ``scipy.stats.hypergeom.sf`` takes 100 times as long for many groups.

    >>> hypergeometric_tail([10, 20, 60], [30, 100, 400], 400, 4000).round(8).tolist()
    [0.00042702, 0.00172191, 0.00055545]
    """
    x, n = floats(x, n)
    shape = x.shape
    x, n = x.ravel(), n.ravel()
    most = np.minimum(n, events)
    tail = np.zeros(x.shape)
    held = np.flatnonzero(x <= most)
    at, size = x[held], n[held]
    first = _hypergeometric(at, size, events, total)
    steps = np.arange(_BLOCK_OF_TERMS)
    while len(held):
        # each term is the one before it times the ratio of the two
        k = at[:, None] + steps
        ratios = (
            (size[:, None] - k)
            * (events - k)
            / ((k + 1) * (total - events - size[:, None] + k + 1))
        )
        terms = first[:, None] * np.cumprod(np.maximum(ratios, 0.0), axis=1)
        tail[held] += first + terms[:, :-1].sum(axis=1)
        going = terms[:, -1] > _NEGLIGIBLE * tail[held]
        held, at, size = held[going], at[going] + _BLOCK_OF_TERMS, size[going]
        first = terms[going, -1]
    return np.minimum(tail, 1.0).reshape(shape)


def _hypergeometric(x: Array, n: Array, events: float, total: float) -> Array:
    ways = _log_choose(events, x) + _log_choose(total - events, n - x) - _log_choose(total, n)
    return np.asarray(np.exp(ways))


def _log_choose(n: ArrayLike, k: Array) -> Array:
    from scipy.special import gammaln

    n = np.asarray(n, dtype=np.float64)
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


class SimultaneousTails:
    """The summed exact tails of the signed roots of many groups, each against all other rows.

    ``n``: the trials of every group.
    ``events, total``: the events and trials of all rows.
    """

    def __init__(self, n: Array, events: float, total: float) -> None:
        # tails depend on the number of trials alone
        self.sizes, self.groups = np.unique(n, return_counts=True)
        self.events, self.total = events, total
        self.tests = int(self.groups.sum())

    def _fewest_of_groups(self, c: float) -> Array:
        return fewest_exceeding(self.sizes, self.events, self.total, c)

    def exceeding(self, c: float) -> float:
        """Return the sum over all groups of the probability that the signed root exceeds c."""
        tails = hypergeometric_tail(self._fewest_of_groups(c), self.sizes, self.events, self.total)
        return float((self.groups * tails).sum())

    def _roots_between(self, low: float, high: float) -> Iterator[Limits]:
        first = self._fewest_of_groups(low)
        numbers = (self._fewest_of_groups(high) - first).astype(np.int64)
        blocks = 1 + int(numbers.sum()) // _BLOCK_OF_ROOTS
        for at in np.array_split(np.arange(len(first)), blocks):
            steps = numbers[at]
            before = np.repeat(np.cumsum(steps) - steps - first[at], steps)
            x, of = np.arange(len(before)) - before, np.repeat(at, steps)
            n = self.sizes[of]
            roots = signed_root(x, n, self.events - x, self.total - n)
            yield roots, self.groups[of] * _hypergeometric(x, n, self.events, self.total)

    def critical_value(self, alpha: float) -> float:
        """Return the smallest c whose tails sum to alpha at most; the normal quantile at least."""
        # The normal quantile is that of Bonferroni: a group that cannot reach c at no difference
        # can where rates differ.
        low = -normal_quantile(alpha / max(self.tests, 1))
        if self.exceeding(low) <= alpha:
            return low
        step = 0.05
        while (beyond := self.exceeding(low + step)) > alpha:
            low, step = low + step, 2 * step
        roots, probabilities = map(
            np.concatenate, zip(*self._roots_between(low, low + step), strict=True)
        )
        order = np.argsort(-roots)
        below = np.cumsum(probabilities[order])
        allowed = int((beyond + np.append(0.0, below[:-1]) <= alpha).sum())
        # above the rounding of the same root that is computed among others
        return float(roots[order[allowed - 1]]) * (1 + _ROUNDING)

    def adjusted(self, roots: Array, c: float) -> Array:
        """Return p-values adjusted for all groups: below alpha where a root exceeds c."""
        # The larger of the summed exact tails and of Bonferroni's normal tail. Beyond a root of ten
        # the exact tails are those of ten.
        normal = self.tests * normal_tail(roots)
        points = np.unique(np.append(roots[normal < 1], c)) * (1 - _ROUNDING)
        high = max(min(float(points[-1]), _FARTHEST), c)
        sums = np.append(np.zeros(len(points)), self.exceeding(high))
        for found, probabilities in self._roots_between(float(points[0]) * (1 - _ROUNDING), high):
            at = np.searchsorted(points, found, side="right")
            sums += np.bincount(at, probabilities, len(sums))
        # what is at least a point: all that is at or after it
        exact = np.append(1.0, np.cumsum(sums[::-1])[::-1][1:])
        at = np.searchsorted(points, roots, side="right")
        return np.asarray(np.minimum(np.maximum(exact[at], normal), 1.0))


def detectable_gap(
    n: float, total: float, rate: float, c: float, tolerance: float, power: float
) -> float | None:
    """Return the smallest difference of a group of n trials to others that is probably found.

    >>> round(detectable_gap(100, 1000, 0.2, 3.0, 0.0, 0.8), 3)
    0.178
    """
    # The power is that of the fewest events of the group that exceed c where the others have a
    # rate; what it must exceed them by is larger because the events of the others vary, too. None
    # where no count exceeds c.
    others = total - n
    events = rate * others

    from scipy.special import betaincinv

    most = np.floor(n)
    if not signed_root(most, n, events, others, tolerance) > c:
        return None
    share = np.asarray(np.floor(n * rate))
    high = float(
        fewest_holding(lambda x: signed_root(x, n, events, others, tolerance) > c, share, most)
    )
    needed = float(betaincinv(high, n - high + 1, power))
    together = (high + events) / total
    spread = np.sqrt(together * (1 - together) * (1 / n + 1 / others))
    # a count of the others that is higher also makes the same difference less significant
    slope = 1 + c * (1 - 2 * together) * (1 / n + 1 / others) / (2 * spread)
    of_others = slope**2 * rate * (1 - rate) / others
    more = np.sqrt(1 + of_others / (needed * (1 - needed) / n))
    return float(min(high / n + more * (needed - high / n), 1.0) - rate)


def largest_upper_end(x1: Array, n1: Array, x2: Array, n2: Array, c: float) -> float:
    """Return the largest of all upper ends, without computing them all.

    >>> n, x = np.array([100.0, 50.0, 20.0]), np.array([30.0, 10.0, 1.0])
    >>> round(largest_upper_end(x, n, 50.0 - x, 400.0 - n, 3.0), 4)
    0.3851
    """
    difference = x1 / n1 - x2 / n2
    width = np.sqrt((x1 + 1) * (n1 - x1 + 1) / n1**3 + (x2 + 1) * (n2 - x2 + 1) / n2**3)
    likely = np.argsort(-(difference + c * width))[:_FEW_ENDS]

    def ends(at: NDArray[np.intp]) -> Array:
        # the upper end mirrors the lower one of the failures
        failures = n1[at] - x1[at], n1[at], n2[at] - x2[at], n2[at]
        return -lower_end(*failures, c)

    largest = float(ends(likely).max())
    beyond = signed_root(x1, n1, x2, n2, min(largest, 1.0)) > -c
    beyond[likely] = False
    others = np.flatnonzero(beyond)
    return max(largest, float(ends(others).max())) if len(others) else largest
