"""Changes of the largest of several numbers, from one model to another.

The largest gap between the groups of a feature, the lowest rate of any group, the worse of two
gaps: each is the largest of some items, and the size of a gap is the larger of it and of its
negative.

An item is a number under each model, such as the gap between two groups. The largest item of the
candidate less the largest of the model in use is the change from item i to item j, where i is the
largest under the model in use and j under the candidate. Both are fixed, though unknown. So

- an item that is statistically significantly less than another under a model is not the largest
  under it; these are excluded, at a level that is small against 5%;
- the change is at least that from i to any j. For every i its lower limit is therefore the highest
  of those over j, simultaneous over them (Bonferroni); the lower limit of the change is the lowest
  of these over i. The upper limit is the converse.

Where one item alone may be the largest under either model, that is the plain interval of one
change. Where several are equal, it is wider: how far the largest of several estimates exceeds
the largest item depends on how equal they are, which the rows do not show, and limits that hold
whatever that is cover more than 95%.

References
----------
Hsu (1996), Multiple Comparisons: Theory and Methods, chapter 4 (which items may be the best);
Andrews & Soares (2010), Econometrica 78, 119-157 (moments that are not binding are excluded).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.across import ROUNDING, SMALLEST_GAP, Joint, Spread
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Combined
from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    Quantity,
    StatisticChange,
    constant,
    correlation_of_halves,
    logarithm,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Index, Limits, quiet, quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import normal_quantile, two_sided

ZERO = -1
"""The coordinate that is 0 under both models."""
_LEVEL = 0.95
_EXCLUDED = 0.005
"""Probability that an item is excluded from the largest, under either model, although it is one."""
_MOST = 64
"""Items that a lower limit is sought among, so that the cost is linear in the number of pairs."""
_BLOCK = 500_000
"""Changes that are computed at once."""


class LargestChange(Quantity):
    """The change of the largest of several numbers."""

    __slots__ = ()

    def p_value(self, null: float = 0.0) -> Array:
        """Return the p-value of a normal distribution with the limits at 95%.

        The limits take their shape from whichever items may be the largest, so that their inversion
        would cost many times what they do.
        """
        low, high = self._usual()
        half = np.where(self.value > null, self.value - low, high - self.value)
        away = np.abs(self.value - null)
        return two_sided(np.where(away > 0, critical(_LEVEL) * quotient(away, half), 0.0))

    def tested_at(self, z: ArrayLike) -> Limits:
        """Return the limits at 95%, widened as those of a normal distribution."""
        low, high = self._usual()
        times = np.asarray(z, dtype=float) / critical(_LEVEL)
        return self.value - times * (self.value - low), self.value + times * (high - self.value)

    def negated(self) -> LargestChange:
        """Return the change of the smallest of the numbers with the opposite sign."""
        made = super().negated()
        return LargestChange(made.value, made.at)

    def _usual(self) -> Limits:
        return self.at(np.full(self.value.shape, critical(_LEVEL)))


class Squares(NamedTuple):
    """Squared distances of the limits of coordinates from their values.

    Of the difference and the sum of both models, and of either model; arrays of shape
    (2, coordinates + 1, n): below and above. The last coordinate is 0.
    """

    difference: Array
    total: Array
    old: Array
    new: Array


@dataclass(frozen=True, slots=True, eq=False)
class LinearItems:
    """Numbers of which the largest counts: a coordinate less another, or less 0.

    Attributes
    ----------
    first, second : the coordinates of every item, arrays of shape (items,): the groups of a
        spread, or the one difference of two sides, and `ZERO`.
    old, new : the items under the model in use and the candidate, arrays of shape (items, n).
    squares : of the coordinates at critical values of shape (n,).
    shared : whether coordinates depend on each other, by how much is not known: errors then add
        up as if wholly.
    part : which metric each item is of, where it is the largest of several.
    dependent : whether those of several metrics may depend on each other.
    """

    first: Index
    second: Index
    old: Array
    new: Array
    squares: Callable[[Array], Squares]
    shared: bool = False
    part: Index | None = None
    dependent: bool = False

    def exchanged(self) -> LinearItems:
        """Return the items with both models exchanged."""

        def squares(z: Array) -> Squares:
            of = self.squares(z)
            return Squares(of.difference[::-1], of.total, of.new, of.old)

        return replace(self, old=self.new, new=self.old, squares=squares)

    def may_be_largest(self) -> _Sets:
        """Return the items that may be the largest under the candidate: none is above them."""

        def squares(z: Array) -> Squares:
            of = self.squares(z).new
            return Squares(np.zeros_like(of), 4 * of, of, of)

        items = replace(self, old=self.new, squares=squares)
        every = np.arange(len(self.first))
        z = normal_quantile(1 - _EXCLUDED / (2 * len(every)))
        of = squares(np.full(self.new.shape[1], z))
        return [
            np.flatnonzero(items.highest(every, every, of, at) <= 0)
            for at in range(self.new.shape[1])
        ]

    def highest(self, before: Index, after: Index, of: Squares, at: int) -> Array:
        """Return of items before the highest lower limit of the changes to items after."""
        likeliest = after[np.argsort(-self.new[after, at], kind="stable")[:_MOST]]
        blocks = max(math.ceil(len(before) * len(likeliest) / _BLOCK), 1)
        return np.concatenate(
            [
                self._lower(items[:, None], likeliest, of, at).max(axis=1)
                for items in np.array_split(before, blocks)
            ]
        )

    def _lower(self, i: Index, j: Index, of: Squares, at: int) -> Array:
        """Return the lower limits of the changes from items ``i`` to items ``j``.

        MOVER adds the squares of coordinates; what both items share is a paired change.
        """
        a, b, c, d = self.first[i], self.second[i], self.first[j], self.second[j]
        below, above = (Squares(*(each[side, :, at] for each in of)) for side in (0, 1))
        squares = np.stack([
            np.where(c == a, below.difference[c], np.where(c == b, below.total[c], below.new[c])),
            np.where(d == b, above.difference[d], np.where(d == a, above.total[d], above.new[d])),
            np.where((a == c) | (a == d), 0.0, above.old[a]),
            np.where((b == c) | (b == d), 0.0, below.old[b]),
        ])  # fmt: skip
        error = np.sqrt(squares).sum(axis=0) if self.shared else np.sqrt(squares.sum(axis=0))
        if self.dependent and self.part is not None:
            apart = np.sqrt(above.old[a] + below.old[b]) + np.sqrt(below.new[c] + above.new[d])
            error = np.where(self.part[i] == self.part[j], error, apart)
        return np.asarray(self.new[j, at] - self.old[i, at] - error)


_Sets: TypeAlias = "list[Index]"
"""Items, by comparison."""


def _joined(parts: Sequence[LinearItems], *, dependent: bool) -> LinearItems:
    """Return the items of several metrics as those of one, whose coordinates are of all."""
    sizes = [len(each.squares(np.zeros(each.old.shape[1])).old[0]) - 1 for each in parts]
    starts = np.cumsum([0, *sizes[:-1]])

    def placed(side: str) -> Index:
        of = [getattr(each, side) for each in parts]
        moved = [np.where(i == ZERO, ZERO, i + s) for i, s in zip(of, starts, strict=True)]
        return np.concatenate(moved)

    def squares(z: Array) -> Squares:
        every = zip(*(each.squares(z) for each in parts), strict=True)
        return Squares(
            *(np.concatenate([*(k[:, :-1] for k in of), of[0][:, -1:]], axis=1) for of in every)
        )

    part = np.repeat(np.arange(len(parts)), [len(each.first) for each in parts])
    old, new = (np.concatenate([getattr(each, of) for each in parts]) for of in ("old", "new"))
    return LinearItems(
        placed("first"),
        placed("second"),
        old,
        new,
        squares,
        any(each.shared for each in parts),
        part,
        dependent,
    )


def combined_change(
    parts: Sequence[LinearItems], how: str, *, dependent: bool
) -> tuple[LargestChange, Array, Array]:
    """Return the change of the largest of all items, and it under both models.

    Where ``how`` is ``mean``, it is the mean over parts of the largest item of each. ``dependent``
    is whether items of different parts may depend on each other.
    """
    if how != "mean":
        items = parts[0] if len(parts) == 1 else _joined(parts, dependent=dependent)
        return _largest_change(items), items.old.max(axis=0), items.new.max(axis=0)
    changes = [_largest_change(each) for each in parts]
    value = np.mean([each.value for each in changes], axis=0)

    def joined(distances: Array) -> Array:
        whole = distances.sum(axis=0) if dependent else np.sqrt((distances**2).sum(axis=0))
        return np.asarray(whole / len(parts))

    def at(z: ArrayLike) -> Limits:
        low, high = np.stack([each.at(z) for each in changes], axis=1)
        values = np.stack([each.value for each in changes])
        return value - joined(values - low), value + joined(high - values)

    old, new = (
        np.mean([getattr(each, of).max(axis=0) for each in parts], axis=0) for of in ("old", "new")
    )
    return LargestChange(value, at), old, new


def _largest_change(items: LinearItems) -> LargestChange:
    """Return the change of the largest item; its upper limit by exchange of the models."""
    value = items.new.max(axis=0) - items.old.max(axis=0)
    exchanged = items.exchanged()
    after, before = items.may_be_largest(), exchanged.may_be_largest()

    def lower(of: LinearItems, before: _Sets, after: _Sets, z: Array) -> Array:
        tests = np.array([len(each) for each in after])
        critical_values = [_simultaneous(*each) for each in zip(z.tolist(), tests, strict=True)]
        squares = of.squares(np.array(critical_values))
        limits = [
            of.highest(*both, squares, at).min() if np.isfinite(value[at]) else np.nan
            for at, both in enumerate(zip(before, after, strict=True))
        ]
        return np.array(limits, dtype=float)

    def at(z: ArrayLike) -> Limits:
        every = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        return lower(items, before, after, every), -lower(exchanged, after, before, every)

    return LargestChange(value, at)


def _simultaneous(z: float, times: int) -> float:
    """Return the critical value of several one-sided limits by Bonferroni's inequality."""
    return z if times <= 1 else -normal_quantile(float(two_sided(z)) / (2 * times))


_GAPS = ("largest_gap", "smallest_ratio")


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeChange:
    """The change of a metric of all groups of a feature.

    Attributes
    ----------
    made, values : the change and the metric under both models; arrays of one number.
    first, second : the two groups that it comes from under the candidate, the higher one first
        (for a lowest ratio or rate, the lower one).
    apart : whether they differ by more than rounding there, or it is the rate of one group.
    """

    made: DisparityChanges
    values: tuple[Array, Array]
    first: int
    second: int
    apart: bool


def spread_change(metric: Spread, change: StatisticChange) -> ExtremeChange | None:
    """Return the change of a largest gap, smallest ratio, maximum or minimum over groups.

    Returns None where fewer groups are known than it takes.

    Raises
    ------
    NoInterval
        A ratio may be of 0.
    """
    return _of_items([(metric, change)], metric.by, [_items(metric, change)], "worst")


def joint_change(metric: Joint, changes: Sequence[StatisticChange]) -> ExtremeChange | None:
    """Return the change of the worst, or of the mean, of several spreads; as `spread_change`."""
    if metric.how == "mean" and metric.neutral == 1:
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
    parts = list(zip(metric.of, changes, strict=True))
    items = [_items(spread, change) for spread, change in parts]
    return _of_items(parts, metric.of[0].by, items, metric.how)


def _of_items(
    parts: Sequence[tuple[Spread, StatisticChange]],
    by: str,
    items: Sequence[LinearItems | None],
    how: str,
) -> ExtremeChange | None:
    known = [each for each in items if each is not None]
    if len(known) < len(items):
        return None
    dependent = _are_dependent([change for _, change in parts])
    shift, old, new = combined_change(known, how, dependent=dependent)
    worst = known[int(np.argmax([each.new.max() for each in known]))]
    first, second = _groups(worst, np.min([change.rows for _, change in parts], axis=0))
    if by in _GAPS:  # what rounding leaves of a gap is none, as in an audit
        old, new = (np.where(np.abs(gap) < SMALLEST_GAP, 0.0, gap) for gap in (old, new))
    apart = by not in _GAPS or bool((new != 0).any())
    if by == "smallest_ratio":
        first, second = second, first
    if by in ("smallest_ratio", "minimum"):
        old, new, shift = -old, -new, shift.negated()
    if by == "smallest_ratio":
        old, new = np.exp(old), np.exp(new)
    sides = {"largest_gap": np.inf, "smallest_ratio": -np.inf}.get(by, np.nan)
    rows = np.array([min(float(change.rows[[first, second]].min()) for _, change in parts)])
    ratio = by == "smallest_ratio"
    methods = parts[0][1].ratio_methods if ratio else parts[0][1].methods
    made = DisparityChanges(
        shift, constant(sides), (rows, rows), (IntervalMethod.SIMULTANEOUS, *methods)
    )
    return ExtremeChange(made, (old, new), first, second, apart)


def combined_changes(
    metric: Combined, sides: Sequence[StatisticChange], *, inside: bool
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of the larger, or of the mean, of the sizes of several contrasts.

    ``sides`` holds for each contrast all groups, and then the reference of each.

    Raises
    ------
    NoInterval
        How much the sides depend on each other is not known.
    """
    items = [_sizes(change, inside=inside) for change in sides]
    shift, old, new = combined_change(items, metric.how, dependent=_are_dependent(sides))
    pairs = len(sides[0].rows) // 2
    rows = np.min([change.rows for change in sides], axis=0)
    methods = (IntervalMethod.SIMULTANEOUS, *sides[0].methods)
    level = constant(np.inf, pairs)
    made = DisparityChanges(shift, level, (rows[:pairs], rows[pairs:]), methods)
    return made, (old, new)


def _items(metric: Spread, change: StatisticChange) -> LinearItems | None:
    """Return the items of a spread: pairs of groups, or groups; None with too few of them."""
    logs = metric.by == "smallest_ratio"
    if logs and any((model.value <= 0).any() for model in change.models):
        raise NoInterval(ReasonCode.RATIO_MAY_BE_ZERO)
    under = [logarithm(model) if logs else model for model in change.models]
    with np.errstate(invalid="ignore"):
        known = np.isfinite(under[0].value) & np.isfinite(under[1].value)
    groups = np.flatnonzero(known)
    extreme = metric.by in ("maximum", "minimum")
    if len(groups) < (1 if extreme else 2):
        return None
    if extreme:
        zero = np.full(len(groups), ZERO)
        pairs = (zero, groups) if metric.by == "minimum" else (groups, zero)
    else:  # the gaps between all pairs of groups, in both directions
        first, second = np.nonzero(~np.eye(len(groups), dtype=bool))
        pairs = groups[first], groups[second]
    return _of_groups(change, (under[0], under[1]), pairs, logs=logs)


def _of_groups(
    change: StatisticChange,
    under: tuple[Quantity, Quantity],
    pairs: tuple[Index, Index],
    *,
    logs: bool,
) -> LinearItems:
    """Return items of groups, whose coordinates are the groups' rates or their logarithms."""
    shift, total = (change.ratio, change.log_total) if logs else (change.difference, change.total)
    size = len(change.rows)

    def squares(z: Array) -> Squares:
        every = np.full(size, float(np.max(z)))
        return Squares(
            *(
                _squared(of.value[:, None], *(limit[:, None] for limit in of.at(every)))
                for of in (shift, total, *under)
            )
        )

    old, new = (_differences(of.value[:, None], *pairs) for of in under)
    return LinearItems(*pairs, old, new, squares, _share_clusters(change))


def _sizes(change: StatisticChange, *, inside: bool) -> LinearItems:
    """Return the difference of a statistic between groups and references, in both directions."""
    quantities = [
        of.between_halves(correlation_of_halves(change.table, of, inside=inside))
        for of in (change.difference, change.total, *change.models)
    ]

    def squares(z: Array) -> Squares:
        return Squares(*(_squared(of.value[None], *(limit[None] for limit in of.at(z)))
                         for of in quantities))  # fmt: skip

    first, second = np.array([0, ZERO]), np.array([ZERO, 0])
    old, new = (_differences(of.value[None], first, second) for of in quantities[2:])
    return LinearItems(first, second, old, new, squares)


@quiet
def _squared(value: Array, low: Array, high: Array) -> Array:
    """Return the squared distances of limits, below and above; of the constant 0 last."""
    distances = np.stack([value - low, high - value])
    return np.concatenate([distances**2, np.zeros((2, 1, value.shape[1]))], axis=1)


def _differences(values: Array, first: Index, second: Index) -> Array:
    """Return values less others; the last value is the constant 0."""
    every = np.concatenate([values, np.zeros((1, values.shape[1]))])
    return np.asarray(every[first] - every[second])


def _groups(items: LinearItems, rows: Array) -> tuple[int, int]:
    """Return the two groups of the largest item under the candidate; one group twice.

    Of equal items that of the groups with most rows is taken: names decide nothing.
    """
    new, most = items.new[:, 0], items.new[:, 0].max()
    equal = np.flatnonzero(new >= most - SMALLEST_GAP - ROUNDING * abs(most))
    both = np.stack([items.first[equal], items.second[equal]])
    sizes = np.where(both == ZERO, np.inf, rows[both])
    at = np.lexsort((-sizes[1], -sizes[0], -sizes.min(axis=0)))[0]
    first, second = both[:, at].tolist()
    return (second if first == ZERO else first), (first if second == ZERO else second)


def _share_clusters(change: StatisticChange) -> bool:
    """Return whether a cluster has rows in several groups, which then depend on each other."""
    if change.table is None or change.table.clusters is None:
        return False
    sides = [np.unique(each.cluster) for each in change.table.clusters]
    return len(np.unique(np.concatenate(sides))) < sum(map(len, sides))


def _are_dependent(changes: Sequence[StatisticChange]) -> bool:
    """Return whether statistics of the same rows may depend on each other.

    Of two decisions these are rates of the rows of either label, which are independent.
    """
    return any(
        each.table is None or each.table.clusters is not None or each.table.classes
        for each in changes
    )
