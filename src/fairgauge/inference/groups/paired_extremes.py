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
from collections.abc import Callable, Iterable, Sequence
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


class Covariances(NamedTuple):
    """Covariances of the coordinates, of shape (coordinates + 1, coordinates + 1)."""

    old: Array
    new: Array
    both: Array
    """Of the model in use, in rows, with the candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearItems:
    """Numbers of which the largest counts: a coordinate less another, or less 0.

    Attributes
    ----------
    first, second : the coordinates of every item, arrays of shape (items,): the groups of a
        spread, or the one difference of two sides, and `ZERO`.
    old, new : the items under the model in use and the candidate, arrays of shape (items, n).
    squares : of the coordinates at critical values of shape (n,).
    covariances : where the coordinates depend on each other.
    """

    first: Index
    second: Index
    old: Array
    new: Array
    squares: Callable[[Array], Squares]
    covariances: Covariances | None = None

    def exchanged(self) -> LinearItems:
        """Return the items with both models exchanged."""

        def squares(z: Array) -> Squares:
            of = self.squares(z)
            return Squares(of.difference[::-1], of.total, of.new, of.old)

        known = self.covariances
        return replace(
            self,
            old=self.new,
            new=self.old,
            squares=squares,
            covariances=known and Covariances(known.new, known.old, known.both.T),
        )

    def under_candidate(self) -> LinearItems:
        """Return items whose changes are the differences of these under the candidate."""

        def squares(z: Array) -> Squares:
            of = self.squares(z).new
            return Squares(np.zeros_like(of), 4 * of, of, of)

        known = self.covariances
        return replace(
            self,
            old=self.new,
            squares=squares,
            covariances=known and Covariances(known.new, known.new, known.new),
        )

    def change(self, i: Index, j: Index, of: Squares, at: int) -> tuple[Array, Array]:
        """Return the change from items ``i`` to items ``j``, in one comparison.

        Also the squared distance of its lower limit: MOVER adds the squares of coordinates, and
        what both items share is a paired change.
        """
        a, b, c, d = self.first[i], self.second[i], self.first[j], self.second[j]
        below, above = (Squares(*(each[side, :, at] for each in of)) for side in (0, 1))
        squared = (
            np.where(c == a, below.difference[c], np.where(c == b, below.total[c], below.new[c]))
            + np.where(d == b, above.difference[d], np.where(d == a, above.total[d], above.new[d]))
            + np.where((a == c) | (a == d), 0.0, above.old[a])
            + np.where((b == c) | (b == d), 0.0, below.old[b])
        )
        if self.covariances is not None:
            squared = squared * _inflation(
                _variance(new, c, d) + _variance(old, a, b)
                - 2 * (both[a, c] - both[a, d] - both[b, c] + both[b, d])
                for old, new, both in zip(*map(_apart, self.covariances), strict=True)
            )  # fmt: skip
        return self.new[j, at] - self.old[i, at], squared


def combined_change(
    parts: Sequence[LinearItems], how: str, *, dependent: bool
) -> tuple[LargestChange, Array, Array]:
    """Return the change of the largest of all items, and it under both models.

    Where ``how`` is ``mean``, it is the mean over parts of the largest item of each. ``dependent``
    is whether items of different parts may depend on each other.
    """
    mean = how == "mean"
    total = np.mean if mean else np.max
    old, new = (
        total([largest.max(axis=0) for largest in under], axis=0)
        for under in ([part.old for part in parts], [part.new for part in parts])
    )

    def highest(some: Sequence[_Candidates]) -> list[Array]:
        return [
            np.maximum.reduce([
                one.highest(),
                *(one.towards(other, dependent=dependent)
                  for other in some if not mean and other is not one),
            ])
            for one in some
        ]  # fmt: skip

    def lowest(some: Sequence[_Candidates]) -> float:
        if not mean:
            return min(float(limits.min(initial=np.inf)) for limits in highest(some))
        gaps, errors = np.zeros(1), np.zeros(1)
        for one in some:
            gap, squared = _frontier(*one.best())
            error = np.sqrt(squared) if dependent else squared
            gaps, errors = _frontier(
                np.add.outer(gaps, gap).ravel(), np.add.outer(errors, error).ravel()
            )
        return float((gaps - (errors if dependent else np.sqrt(errors))).min()) / len(some)

    return _change(new - old, parts, highest, lowest, np.prod if mean else np.sum), old, new


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Items of a part that may be the largest, in one comparison.

    Attributes
    ----------
    before, after : items that may be the largest under the model in use, and the candidate.
    squares : of the coordinates.
    at : the comparison.
    """

    items: LinearItems
    before: Index
    after: Index
    squares: Squares
    at: int

    def best(self) -> tuple[Array, Array]:
        """Return of each item before the change with the highest lower limit, as in `change`."""
        if not len(self.after):
            return np.full(len(self.before), -np.inf), np.zeros(len(self.before))
        blocks = math.ceil(len(self.before) * len(self.after) / _BLOCK)
        gaps, squares = [np.empty(0)], [np.empty(0)]
        for i in np.array_split(self.before, max(blocks, 1)):
            gap, squared = self.items.change(i[:, None], self.after, self.squares, self.at)
            chosen = np.arange(len(i)), (gap - np.sqrt(squared)).argmax(axis=1)
            gaps.append(gap[chosen])
            squares.append(squared[chosen])
        return np.concatenate(gaps), np.concatenate(squares)

    def highest(self) -> Array:
        """Return of each item before the highest lower limit of its changes."""
        gap, squared = self.best()
        return gap - np.sqrt(squared)

    def towards(self, other: _Candidates, *, dependent: bool) -> Array:
        """Return of each item before the highest lower limit of its changes to another part's."""
        i, j = self.before[:, None], other.after
        old, new = (
            of[0, one, self.at] + of[1, less, self.at]
            for of, one, less in (
                (self.squares.old, self.items.second[i], self.items.first[i]),
                (other.squares.new, other.items.first[j], other.items.second[j]),
            )
        )
        error = np.sqrt(old) + np.sqrt(new) if dependent else np.sqrt(old + new)
        gap = other.items.new[j, self.at] - self.items.old[i, self.at]
        return np.asarray((gap - error).max(axis=1, initial=-np.inf))


_Highest: TypeAlias = "Callable[[Sequence[_Candidates]], list[Array]]"
"""Of the items before of every part, the highest lower limit of their changes."""


def _change(
    value: Array,
    parts: Sequence[LinearItems],
    highest: _Highest,
    lowest: Callable[[Sequence[_Candidates]], float],
    combinations: Callable[[list[int]], np.integer],
) -> LargestChange:
    """Return a change with ``lowest`` as its lower limit; the upper one by exchange of the models.

    ``combinations`` counts the changes that are simultaneous, of the items after of every part.
    """
    known = np.flatnonzero(np.isfinite(value)).tolist()
    exchanged = [of.exchanged() for of in parts]
    after, before = (_may_be_largest(of, highest, known) for of in (parts, exchanged))

    def lower(of: Sequence[LinearItems], before: _Sets, after: _Sets, z: Array) -> Array:
        critical_values, limits = np.zeros(len(value)), np.full(len(value), np.nan)
        for at in known:
            many = int(combinations([len(each) for each in after[at]]))
            critical_values[at] = _simultaneous(float(z[at]), many)
        squares = [each.squares(critical_values) for each in of]
        for at in known:
            likeliest = [_likeliest(*each, at) for each in zip(of, after[at], strict=True)]
            sets = zip(of, before[at], likeliest, squares, strict=True)
            limits[at] = lowest([_Candidates(*each, at) for each in sets])
        return limits

    def at(z: ArrayLike) -> Limits:
        every = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        return lower(parts, before, after, every), -lower(exchanged, after, before, every)

    return LargestChange(value, at)


_Sets: TypeAlias = "dict[int, list[Index]]"
"""Items of every part, by comparison."""


def _may_be_largest(parts: Sequence[LinearItems], highest: _Highest, known: Sequence[int]) -> _Sets:
    """Return the items that may be the largest under the candidate: none is significantly more."""
    items = [of.under_candidate() for of in parts]
    every = [np.arange(len(of.first)) for of in items]
    z = normal_quantile(1 - _EXCLUDED / (2 * sum(map(len, every))))
    squares = [of.squares(np.full(of.new.shape[1], z)) for of in items]
    found = {}
    for at in known:
        likeliest = [_likeliest(*each, at) for each in zip(items, every, strict=True)]
        sets = zip(items, every, likeliest, squares, strict=True)
        limits = highest([_Candidates(*each, at) for each in sets])
        found[at] = [np.flatnonzero(limit <= 0) for limit in limits]
    return found


def _likeliest(items: LinearItems, among: Index, at: int) -> Index:
    """Return the items that are largest under the candidate; not more than `_MOST`."""
    return among[np.argsort(-items.new[among, at], kind="stable")[:_MOST]]


def _simultaneous(z: float, times: int) -> float:
    """Return the critical value of several one-sided limits by Bonferroni's inequality."""
    return z if times <= 1 else -normal_quantile(float(two_sided(z)) / (2 * times))


def _frontier(gap: Array, spread: Array) -> tuple[Array, Array]:
    """Return the pairs of which none other has both a lower gap and a larger spread."""
    order = np.lexsort((-spread, gap))
    gap, spread = gap[order], spread[order]
    kept = np.diff(np.maximum.accumulate(spread), prepend=-np.inf) > 0
    return gap[kept], spread[kept]


def _variance(covariance: Array, first: Index, second: Index) -> Array:
    """Return the variance of one coordinate less another."""
    found: Array = (
        covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    )
    return found


def _apart(covariance: Array) -> tuple[Array, Array]:
    """Return covariances as they are, and of coordinates that are independent."""
    return covariance, np.diag(np.diagonal(covariance))


def _inflation(variances: Iterable[Array]) -> Array:
    """Return how many times larger a variance is than that of independent coordinates."""
    dependent, independent = variances
    return np.where(independent > 0, quotient(dependent, independent), 1.0)


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
        The groups may share clusters, and how much they depend on each other is not known; or no
        method is known.
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
        shift, constant(sides), (rows, rows), (IntervalMethod.LARGEST_OF_SEVERAL, *methods)
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
    methods = (IntervalMethod.LARGEST_OF_SEVERAL, *sides[0].methods)
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
    if metric.by in ("gini", "variance"):
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
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
    covariances = _between_groups(change, under) if _are_clustered(change) else None
    return LinearItems(*pairs, old, new, squares, covariances)


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


def _are_clustered(change: StatisticChange) -> bool:
    return change.table is not None and change.table.clusters is not None


def _are_dependent(changes: Sequence[StatisticChange]) -> bool:
    """Return whether statistics of the same rows may depend on each other.

    Of two decisions these are rates of the rows of either label, which are independent.
    """
    return any(
        _are_clustered(change) or change.table is None or change.table.classes for change in changes
    )


def _between_groups(change: StatisticChange, under: tuple[Quantity, Quantity]) -> Covariances:
    """Return the covariances of a statistic of groups that share clusters."""
    old, new = under
    if change.table is None or old.influence is None or new.influence is None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of="groups")
    before, after = (
        np.pad(change.table.totals(of), ((0, 1), (0, 0))) for of in (old.influence, new.influence)
    )
    return Covariances(before @ before.T, after @ after.T, before @ after.T)
