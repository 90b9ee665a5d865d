"""How far rates and their ratio can move when the group of some people is not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.stats.arrays import Array, Index, Limits, Mask, floats, quiet

_STEPS = 200
_GOLDEN = (5**0.5 - 1) / 2


def ratio_bounds(
    selected: Sequence[float],
    n: Sequence[float],
    unknown: float,
    unknown_selected: float | None = None,
    fewest: float = 0.0,
) -> tuple[Array, Array]:
    """Return the smallest and largest ratio to the highest rate, over all places of the unknown.

    People of unknown category may belong to any category, and all categories may gain some at once:
    the smallest ratio of a category takes the rejected ones for it and the selected ones for
    another, which may become the highest, and large enough to be it.

    Parameters
    ----------
    selected, n : sequence of numbers, of the same length, at least two
        Selected people and all people of every category; ``n`` above 0.
    unknown : number
        People whose category is not known.
    unknown_selected : number, optional
        How many of them were selected; where it is not known, any number may be.
    fewest : number, default 0
        The people that a category must have, those of unknown category who belong to it among them,
        for its rate to be the highest that ratios compare with. Where none has as many, they
        compare with that of the largest category.

    Returns
    -------
    low, high : arrays in [0, 1]; of a category that may have too few people, in [0, inf]
        A value for every category. People may be split, so that the bounds hold and are reached to
        within one person, unless a category has too few people and the selected people among the
        unknown are known in number: then bounds hold, and may be wider. nan where nobody is
        selected anywhere.

    Examples
    --------
    >>> low, high = ratio_bounds([60, 40], [100, 100], 10)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([1.0, 0.606], [1.0, 0.758])
    """
    rates = np.asarray(selected, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not rates[0].any() and not (unknown_selected is None and unknown):
        nowhere = np.full(len(rates[1]), np.nan)
        return nowhere, nowhere.copy()
    smallest = min(fewest, float(rates[1].max()))
    places = _Places(*rates, unknown, unknown_selected, smallest, rates[1] >= fewest)
    bounds = [(places.lowest(at), places.highest(at)) for at in range(len(rates[1]))]
    low, high = np.asarray(bounds, dtype=np.float64).T
    return low, high


def pair_bounds(
    own: tuple[tuple[float, float], float],
    other: tuple[tuple[float, float], float],
    unknown: float,
    unknown_selected: float | None = None,
) -> tuple[float, float]:
    """Return the smallest and largest ratio of two rates, over all places of the unknown.

    Parameters
    ----------
    own, other : the fewest and the most selected people of a category, and its people.
    unknown, unknown_selected : as of `ratio_bounds`.

    Examples
    --------
    >>> low, high = pair_bounds(((40, 40), 100), ((60, 60), 100), 10)
    >>> round(low, 3), round(high, 3)
    (0.606, 0.758)
    """
    least = _least_ratio((own[0][0], own[1]), (other[0][1], other[1]), unknown, unknown_selected)
    turned = _least_ratio((other[0][0], other[1]), (own[0][1], own[1]), unknown, unknown_selected)
    return least, 1 / turned if turned > 0 else math.inf


def _least_ratio(
    own: tuple[float, float], other: tuple[float, float], unknown: float, chosen: float | None
) -> float:
    if chosen is not None:
        return _split_between(own, other, unknown, unknown - chosen)
    return _least(partial(_split_between, own, other, unknown), unknown)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where people of unknown category may belong.

    Attributes
    ----------
    fewest : the people of a category that may have the highest rate.
    large : which categories have as many without the unknown.
    """

    selected: Array
    n: Array
    unknown: float
    unknown_selected: float | None
    fewest: float
    large: Mask

    def lowest(self, at: int) -> float:
        ratios = [self._lowest_to(at, int(other)) for other in self._others(at)]
        return min([*ratios, *[1.0] * (self._may_be_large(at) or not ratios)])

    def _lowest_to(self, at: int, other: int) -> float:
        """Return the smallest ratio to another category, which must be or become large enough."""
        own, rival = ((self.selected[i], self.n[i]) for i in (at, other))
        needed, chosen = max(self.fewest - self.n[other], 0.0), self.unknown_selected
        if chosen is None:  # quasi-convex in the split of the unknown
            split = partial(_split_between, own, rival, self.unknown)
            return _least(split, self.unknown - needed)
        rejected = max(needed - chosen, 0.0)
        if rejected > self.unknown - chosen:
            return math.inf
        rate = (rival[0] + chosen) / (rival[1] + chosen + rejected)
        least = own[0] / (own[1] + self.unknown - chosen - rejected)
        return float(least / rate) if rate > 0 else 1.0

    def highest(self, at: int) -> float:
        """Return the largest ratio of a category; above 1 only where it may have too few people."""
        large = np.flatnonzero(self.large & (np.arange(len(self.n)) != at))
        # without one, any of those that the unknown make large enough may be the only one
        rivals = [large] if len(large) else [np.array([other]) for other in self._others(at)]
        if not rivals or (self.large[at] and not len(large)):
            return 1.0
        highest = max(self._highest_to(at, each, self.unknown) for each in rivals)
        if self.large[at]:
            return min(highest, 1.0)
        if not len(large):
            return max(highest, 1.0) if self._may_be_large(at) else highest
        too_few = min(self.unknown, math.ceil(self.fewest - self.n[at]) - 1)
        small = self._highest_to(at, large, too_few)
        return max(small, min(highest, 1.0)) if self._may_be_large(at) else small

    def _highest_to(self, at: int, rivals: Index, most: float) -> float:
        """Return the largest ratio to others where at most some of the unknown belong to it."""

        def ratio(chosen: float, rejected: float) -> float:
            highest = _lowered(self.selected[rivals], self.n[rivals], rejected)
            rate = (self.selected[at] + chosen) / (self.n[at] + chosen)
            return float(rate / highest) if highest > 0 else math.inf

        chosen = self.unknown_selected
        if chosen is None:  # of one other category quasi-convex in the split of the unknown
            return -_least(lambda k: -ratio(k, self.unknown - k), most)
        return ratio(min(chosen, most), self.unknown - chosen)

    def _others(self, at: int) -> Index:
        """Return the other categories that may have the highest rate."""
        others = [i for i in range(len(self.n)) if i != at and self._may_be_large(i)]
        return np.array(others, dtype=np.int64)

    def _may_be_large(self, at: int) -> bool:
        return bool(self.n[at] + self.unknown >= self.fewest)


def _split_between(
    own: tuple[float, float], other: tuple[float, float], unknown: float, rejected: float
) -> float:
    chosen = unknown - rejected
    rate = (other[0] + chosen) / (other[1] + chosen)
    return own[0] / (own[1] + rejected) / rate if rate > 0 else 1.0


def _lowered(selected: Array, n: Array, rejected: float) -> float:
    """Return the highest rate after rejected people joined so that it is as low as can be."""
    order = np.argsort(-selected / n)
    x, size = np.cumsum(selected[order]), np.cumsum(n[order])
    levels = x / (size + rejected)
    following = np.append((selected / n)[order][1:], 0.0)
    reached = np.flatnonzero(levels >= following)
    return float(levels[reached[0]])


def _least(of: Callable[[float], float], end: float) -> float:
    low, high = 0.0, float(end)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = of(a), of(b)
    for _ in range(_STEPS):
        if high - low <= 1e-9 * max(end, 1.0):
            break
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = of(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = of(b)
    return min(of(0.0), of(float(end)), at_a, at_b)


@quiet
def missing_bounds(
    x: ArrayLike, n: ArrayLike, unknown_x: ArrayLike, unknown_n: ArrayLike
) -> Limits:
    """Return Manski's worst-case bounds of a group's rate when some rows have no group label.

    Parameters
    ----------
    x, n : array-like
        Successes and rows known to be of the group.
    unknown_x, unknown_n : array-like
        Successes and rows without a group label.

    Returns
    -------
    low, high : array in [0, 1]
        Sharp: some assignment of the unknown rows attains each.  [0, 1] where no row is known
        to be of the group.

    References
    ----------
    Manski (1989), Journal of Human Resources 24, 343-360.

    Examples
    --------
    >>> low, high = missing_bounds(30, 100, 4, 10)
    >>> round(float(low), 4), round(float(high), 4)
    (0.283, 0.3269)
    """
    x, n, ux, un = floats(x, n, unknown_x, unknown_n)
    failures = n + un - ux
    low = np.where((n > 0) & (failures > 0), x / failures, 0.0)
    high = np.where(n > 0, (x + ux) / (n + ux), 1.0)
    return low, high
