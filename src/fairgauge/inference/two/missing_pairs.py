"""How far the change of a rate could move, whatever the rows hold that two models' change excludes.

Manski's worst cases of two models on the same rows. A row without a label, or that a model does not
decide, may have either value, and a row without a group may be of any group that the values which
it has allow, or of none. Both sides of a comparison are taken as far as they can go by themselves,
so that the ends hold, and may be wider than any one table reaches. Nothing is assumed of why a
value is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.statistics import Rate
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.sides import with_others
from fairgauge.stats.arrays import Index, Limits, Mask, quiet, quotient

_MISSING = 2
"""The state of an outcome that is neither positive (0) nor negative (1)."""
_VALUES = (-1, 0, 1)
"""What a row adds to a rate, or to its change."""
_Counted = tuple[int, int]
"""Whether a row is among those that a rate counts in, and whether it is counted."""
_STATES = {0: (0,), 1: (1,), _MISSING: (0, 1)}


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The ends of a rate under the model in use, and of its change, of every side."""

    old: Limits
    change: Limits

    @quiet
    def in_logarithms(self) -> RateLimits:
        """Return the ends of the logarithm of the rate, and of its change."""
        (low, high), (least, most) = self.old, self.change
        down = quotient(least, np.where(least < 0, low, high))
        up = quotient(most, np.where(most > 0, low, high))
        of_change = (np.log1p(np.maximum(each, -1.0)) for each in (down, up))
        return RateLimits((np.log(low), np.log(high)), (next(of_change), next(of_change)))


class MissingPairs:
    """The rows of every side by label and both decisions, each of which may be missing.

    Parameters
    ----------
    groups : array of shape (groups + 1, labels + 1, K + 1, K + 1), missing values last; the last
        group holds known values of no group.
    without : likewise of the kinds of rows without a group.
    sides : which sides each kind may be of, of shape (kinds, sides).
    """

    def __init__(self, groups: Array, without: Array, sides: Mask, outcome: OutcomeMasks) -> None:
        labels, decisions = _as_states(outcome.labels), _as_states(outcome.predictions)

        def collapsed(cells: Array) -> Array:
            states: Array = np.einsum(
                "glpq,la,pb,qc->gabc", cells, labels, decisions, decisions, optimize=True
            )
            return states

        self._known = with_others(collapsed(groups))
        self._without = np.tensordot(1.0 * sides.T, collapsed(without), 1)

    def limits(self, rate: Rate, which: Index, *, missing: bool = True) -> RateLimits:
        """Return the ends of a rate and of its change; those of complete rows alone are equal."""
        old = self._ends(rate, which, "old", missing=missing)
        if _same_rows(rate):
            change = self._ends(rate, which, "change", missing=missing)
        else:
            new = self._ends(rate, which, "new", missing=missing)
            change = new[0] - old[1], new[1] - old[0]
        return RateLimits(old, change)

    @quiet
    def _ends(
        self, rate: Rate, which: Index, of: Literal["old", "new", "change"], *, missing: bool
    ) -> Limits:
        """Return the ends of the mean of what each row adds: by its old or new decision, or both.

        A row that may be one of several takes the value that moves the mean furthest, or is not
        among those that count.
        """
        total = n = np.zeros(len(which))
        lowest, highest = ({value: np.zeros_like(n) for value in _VALUES} for _ in range(2))
        for cell, options in _options(rate):
            values = {
                {"old": x_old, "new": x_new, "change": x_new - x_old}[of]
                for (among_old, x_old), (among_new, x_new) in options
                if (among_new if of == "new" else among_old)
            }
            if not values:
                continue
            known, without = self._known[(which, *cell)], self._without[(which, *cell)]
            if len(options) == 1:
                (value,) = values
                total, n = total + value * known, n + known
                open_ = without
            else:
                open_ = known + without
            if missing:
                lowest[min(values)] = lowest[min(values)] + open_
                highest[-max(values)] = highest[-max(values)] + open_
        return _least_mean(total, n, lowest), -_least_mean(-total, n, highest)


def _least_mean(total: Array, n: Array, more: dict[int, Array]) -> Array:
    """Return the least mean that some of ``more`` rows, by their values, can bring about."""
    for value in _VALUES:
        added = np.where((n == 0) | (total > value * n), more[value], 0.0)
        total, n = total + value * added, n + added
    return quotient(total, n)


def _as_states(positive: Mask) -> Array:
    """Return which level is which state; the last is missing."""
    states = np.where(positive, 0, 1)
    return np.asarray(np.eye(_MISSING + 1)[np.append(states, _MISSING).astype(np.int64)])


def _same_rows(rate: Rate) -> bool:
    """Return whether a rate counts among the same rows whatever is decided."""
    tp, fp, fn, tn = rate.among
    return bool(tp == fn and fp == tn)


def _options(rate: Rate) -> Iterator[tuple[tuple[int, int, int], set[tuple[_Counted, _Counted]]]]:
    """Yield what each state of label and both decisions may be, under either model.

    Of a rate of decisions alone any label is the same.
    """
    counted = list(zip(rate.among, rate.of, strict=True))
    for label, old, new in product(_STATES, repeat=3):
        yield (
            (label, old, new),
            {
                (counted[2 * before + y], counted[2 * after + y])
                for y, before, after in product(_STATES[label], _STATES[old], _STATES[new])
            },
        )


@quiet
def furthest(group: RateLimits, reference: RateLimits) -> Array:
    """Return the most by which a difference of two sides may get further from 0.

    Its distance is ``|old + change| - |old|``, which is greatest at a corner. Where old is infinite
    (the logarithm of a rate of 0), it tends to the change in the direction of old. It is nan, which
    is any distance, where a rate may have no value, or where both rates may be 0.
    """
    old = group.old[0] - reference.old[1], group.old[1] - reference.old[0]
    change = group.change[0] - reference.change[1], group.change[1] - reference.change[0]
    corners = [
        np.where(np.isinf(x), np.sign(x) * c, np.abs(x + c) - np.abs(x))
        for x in old
        for c in change
    ]
    return np.asarray(np.max(corners, axis=0))
