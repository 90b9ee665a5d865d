"""Changes of the largest of several numbers, from one model to another.

The largest gap between the groups of a feature, the lowest rate of any group, the worse of two
gaps: each is the largest of some items, and the size of a gap is the larger of it and of its
negative. `fairgauge.inference.groups._paired_largest` has their limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.across import ROUNDING, SMALLEST_GAP
from fairgauge.enums import IntervalMethod
from fairgauge.inference.groups._paired_largest import (
    ZERO,
    Covariances,
    LargestChange,
    LinearItems,
    Squares,
    largest_change,
    mean_change,
)
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    Quantity,
    constant,
    correlation_of_halves,
    logarithm,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from fairgauge.catalogue.across import Joint, Spread
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Combined
    from fairgauge.inference.two.paired_changes import StatisticChange
    from fairgauge.resolve.sides import Index
    from fairgauge.stats.arrays import Limits

NORMS = {"tvd": 1.0, "ks": 1.0, "lp": math.sqrt(2)}
"""The distances of two distributions over two values, for a difference of 1 of either's share."""
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
    """Return the change of the worst, or of the mean, of several spreads; as `spread_change`.

    Raises
    ------
    NoInterval
        The metric is a mean of ratios: these change by factors, of which the mean has none.
    """
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
    combine, total = (mean_change, np.mean) if how == "mean" else (largest_change, np.max)
    shift = combine(known, dependent=_are_dependent([change for _, change in parts]))
    old, new = (
        total([largest.max(axis=0) for largest in every], axis=0)
        for every in ([each.old for each in known], [each.new for each in known])
    )
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
    combine, total = (mean_change, np.mean) if metric.how == "mean" else (largest_change, np.max)
    shift = combine(items, dependent=_are_dependent(sides))
    old, new = (
        total([largest.max(axis=0) for largest in every], axis=0)
        for every in ([each.old for each in items], [each.new for each in items])
    )
    pairs = len(sides[0].rows) // 2
    rows = np.min([change.rows for change in sides], axis=0)
    methods = (IntervalMethod.LARGEST_OF_SEVERAL, *sides[0].methods)
    level = constant(np.inf, pairs)
    made = DisparityChanges(shift, level, (rows[:pairs], rows[pairs:]), methods)
    return made, (old, new)


def norm_changes(
    sides: StatisticChange, scale: float, *, inside: bool
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of the distance between the decisions of groups and references.

    Of two decisions that is the size of the difference of one rate, times ``scale``. ``sides``
    holds the rate of all groups, and then of the reference of each.
    """
    sizes = _sizes(sides, inside=inside)
    change = largest_change([sizes], dependent=False)

    def at(z: ArrayLike) -> Limits:
        low, high = change.at(z)
        return scale * low, scale * high

    pairs = len(sides.rows) // 2
    made = DisparityChanges(
        LargestChange(scale * change.value, at),
        constant(np.inf, pairs),
        (sides.rows[:pairs], sides.rows[pairs:]),
        (IntervalMethod.FOLDED, IntervalMethod.MOVER, *sides.methods),
    )
    return made, (scale * sizes.old.max(axis=0), scale * sizes.new.max(axis=0))


def _items(metric: Spread, change: StatisticChange) -> LinearItems | None:
    """Return the items of a spread: pairs of groups, or groups; None with too few of them."""
    logs = metric.by == "smallest_ratio"
    under = [logarithm(each) if logs else each for each in change.models]
    with np.errstate(invalid="ignore"):
        known = np.isfinite(under[0].value) & np.isfinite(under[1].value)
    groups = np.flatnonzero(known)
    if metric.by in ("maximum", "minimum"):
        return _extremes(change, groups, lowest=metric.by == "minimum")
    if metric.by == "gini":
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
    return _gaps(change, (under[0], under[1]), groups, logs=logs)


def _extremes(change: StatisticChange, groups: Index, *, lowest: bool) -> LinearItems | None:
    if not len(groups):
        return None
    zero = np.full(len(groups), ZERO)
    pairs = (zero, groups) if lowest else (groups, zero)
    return _of_groups(change, change.models, pairs, logs=False)


def _gaps(
    change: StatisticChange, under: tuple[Quantity, Quantity], groups: Index, *,
    logs: bool,
) -> LinearItems | None:  # fmt: skip
    """Return the gaps between all pairs of groups, in both directions."""
    if len(groups) < 2:
        return None
    first, second = (groups[i] for i in np.nonzero(~np.eye(len(groups), dtype=bool)))
    return _of_groups(change, under, (first, second), logs=logs)


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
    return any(_are_clustered(each) or each.table is None or each.table.classes for each in changes)


def _between_groups(change: StatisticChange, under: tuple[Quantity, Quantity]) -> Covariances:
    """Return the covariances of a statistic of groups that share clusters."""
    old, new = under
    if change.table is None or old.influence is None or new.influence is None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of="groups")
    before, after = (
        np.pad(change.table.totals(of), ((0, 1), (0, 0))) for of in (old.influence, new.influence)
    )
    return Covariances(before @ before.T, after @ after.T, before @ after.T)
