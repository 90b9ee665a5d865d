"""How far a ratio of selection rates can move when the category of some people is not known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairgauge.stats.arrays import Array

_STEPS = 200
_GOLDEN = (5**0.5 - 1) / 2


def ratio_bounds(
    selected: Sequence[float],
    n: Sequence[float],
    unknown: float,
    unknown_selected: float | None = None,
    eligible: Sequence[bool] | None = None,
) -> tuple[Array, Array]:
    """Return the smallest and largest ratio to the highest rate, over all places of the unknown.

    People of unknown category may belong to any category, and all categories may gain some at once:
    the smallest ratio of a category takes the rejected ones for it and the selected ones for
    another, which may become the highest.

    Parameters
    ----------
    selected, n : sequence of numbers, of the same length, at least two
        Selected people and all people of every category; ``n`` above 0.
    unknown : number
        People whose category is not known.
    unknown_selected : number, optional
        How many of them were selected; where it is not known, any number may be.
    eligible : sequence of bool, optional
        The categories whose rate may be the highest that ratios compare with; all by default.

    Returns
    -------
    low, high : arrays in [0, 1]; of a category that is not eligible, in [0, inf]
        A value for every category. People may be split, so that the bounds hold and are reached to
        within one person. nan where nobody is selected anywhere.

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
    allowed = np.ones(len(rates[1]), dtype=bool) if eligible is None else np.asarray(eligible)
    bounds = [
        _bounds(*rates, allowed, at, unknown, unknown_selected) for at in range(len(rates[1]))
    ]
    low, high = np.asarray(bounds, dtype=np.float64).T
    return low, high


def _bounds(
    selected: Array,
    n: Array,
    eligible: NDArray[np.bool_],
    at: int,
    unknown: float,
    unknown_selected: float | None,
) -> tuple[float, float]:
    own, others = (selected[at], n[at]), eligible & (np.arange(len(n)) != at)
    most = 1.0 if eligible[at] else np.inf
    if not others.any():
        return 1.0, 1.0

    def lowest(rejected: float, chosen: float) -> float:
        highest = ((selected[others] + chosen) / (n[others] + chosen)).max()
        return float(own[0] / (own[1] + rejected) / highest) if highest > 0 else 1.0

    def largest(chosen: float, rejected: float) -> float:
        highest = _lowered(selected[others], n[others], rejected)
        rate = (own[0] + chosen) / (own[1] + chosen)
        return float(rate / highest) if highest > 0 else np.inf

    if unknown_selected is not None:
        refused = unknown - unknown_selected
        ends = lowest(refused, unknown_selected), largest(unknown_selected, refused)
    else:
        # of one other category both are (quasi-)convex in the split of the unknown
        ends = (
            min(
                _least(partial(_split_between, own, (selected[other], n[other]), unknown), unknown)
                for other in np.flatnonzero(others)
            ),
            -_least(lambda k: -largest(k, unknown - k), unknown),
        )
    return min(ends[0], most), min(ends[1], most)


def _split_between(
    own: tuple[float, float], other: tuple[float, float], unknown: float, rejected: float
) -> float:
    """Return the ratio of two categories: rejected people join one, the others the other."""
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
    """Return the smallest value of a quasi-convex function on [0, end], by golden sections."""
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
