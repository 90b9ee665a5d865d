"""Changes of the largest of several numbers, from one model to another.

The largest gap between the groups of a feature, the lowest rate of any group, the worse of two
gaps: each is the largest of some items. Whichever item is the largest under the model in use, it is
at most the largest under the candidate; whichever is the largest under the candidate was at most
the largest before. So the change of the largest lies between the changes of these two items. Which
items they may be follows from simultaneous intervals under each model; the two items themselves are
fixed, though unknown, so that their changes need no adjustment for how many items there are.

References
----------
Hsu (1996), Multiple Comparisons: Theory and Methods, chapter 4 (which items may be the best).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.paired_changes import (
    DisparityChanges,
    Quantity,
    constant,
    correlation_of_halves,
    distance_limits,
    logs_of,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.many import tukey_critical
from fairgauge.stats.significance import normal_quantile, two_sided

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from fairgauge.catalogue.across import Joint, Spread
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Combined
    from fairgauge.inference.paired_changes import StatisticChange
    from fairgauge.resolve.sides import Index
    from fairgauge.stats.arrays import Limits

NORMS = {"tvd": 1.0, "ks": 1.0, "lp": math.sqrt(2)}
"""The distances of two distributions over two values, for a difference of 1 of either's share."""
_LEVEL = 0.95
_EXCLUDED = 0.005
"""Probability that an item is excluded from the largest, under either model, although it is one."""


class _Largest(Quantity):
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

    def _usual(self) -> Limits:
        return self.at(np.full(self.value.shape, critical(_LEVEL)))


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """Numbers of which the largest counts; arrays of shape (items, n).

    Attributes
    ----------
    old, new : under the model in use and the candidate.
    old_limits, new_limits : simultaneous limits of them.
    change : limits of new less old at critical values of shape (n,), each by itself.
    first, second : the groups that an item is of.
    """

    old: Array
    new: Array
    old_limits: Limits
    new_limits: Limits
    change: Callable[[ArrayLike], Limits]
    first: Index
    second: Index

    def largest(self) -> Quantity:
        """Return the change of the largest."""
        before, after = (
            high >= low.max(axis=0) for low, high in (self.old_limits, self.new_limits)
        )

        def at(z: ArrayLike) -> Limits:
            low, high = self.change(z)
            return (
                np.where(before, low, np.inf).min(axis=0),
                np.where(after, high, -np.inf).max(axis=0),
            )

        return _Largest(self.new.max(axis=0) - self.old.max(axis=0), at)


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeChange:
    """The change of a metric of all groups of a feature.

    Attributes
    ----------
    made, values : the change and the metric under both models; arrays of one number.
    first, second : the two groups that it comes from under the candidate, the higher one first
        (for a lowest ratio or rate, the lower one).
    """

    made: DisparityChanges
    values: tuple[Array, Array]
    first: int
    second: int


def spread_change(metric: Spread, change: StatisticChange) -> ExtremeChange | None:
    """Return the change of a largest gap, smallest ratio, maximum or minimum over groups.

    Returns None where fewer groups are known than it takes.

    Raises
    ------
    NoInterval
        The groups may share clusters, and how much they depend on each other is not known; or no
        method is known.
    """
    return _of_items([(metric, change)], metric.by, [_items(metric, change, 1)], "worst")


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
    items = [_items(spread, change, len(parts)) for spread, change in parts]
    return _of_items(parts, metric.of[0].by, items, metric.how)


def _of_items(
    parts: Sequence[tuple[Spread, StatisticChange]],
    by: str,
    items: Sequence[_Items | None],
    how: str,
) -> ExtremeChange | None:
    known = [each for each in items if each is not None]
    if len(known) < len(items):
        return None
    if how == "mean":
        old, new = (
            np.mean([of.max(axis=0) for of in every], axis=0)
            for every in ([each.old for each in known], [each.new for each in known])
        )
        shift = _mean([each.largest() for each in known])
    else:
        together = _joined(known)
        old, new, shift = together.old.max(axis=0), together.new.max(axis=0), together.largest()
    worst = known[int(np.argmax([each.new.max() for each in known]))]
    at = int(worst.new[:, 0].argmax())
    first, second = int(worst.first[at]), int(worst.second[at])
    if by in ("smallest_ratio", "minimum"):
        old, new, shift = -old, -new, _negated(shift)
    if by == "smallest_ratio":
        old, new = np.exp(old), np.exp(new)
    sides = {"largest_gap": np.inf, "smallest_ratio": -np.inf}.get(by, np.nan)
    rows = np.array([min(float(change.rows[[first, second]].min()) for _, change in parts)])
    ratio = by == "smallest_ratio"
    methods = parts[0][1].ratio_methods if ratio else parts[0][1].methods
    made = DisparityChanges(
        shift, constant(sides), (rows, rows), (IntervalMethod.LARGEST_OF_SEVERAL, *methods)
    )
    return ExtremeChange(made, (old, new), first, second)


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
    items = [_sizes(change, len(sides), inside=inside) for change in sides]
    if metric.how == "mean":
        values = tuple(
            np.mean([getattr(each, name)[0] for each in items], axis=0) for name in ("old", "new")
        )
        shift = _mean([each.largest() for each in items])
    else:
        together = _joined(items)
        values = together.old.max(axis=0), together.new.max(axis=0)
        shift = together.largest()
    pairs = len(sides[0].rows) // 2
    rows = np.min([change.rows for change in sides], axis=0)
    methods = (IntervalMethod.LARGEST_OF_SEVERAL, *sides[0].methods)
    level = constant(np.inf, pairs)
    made = DisparityChanges(shift, level, (rows[:pairs], rows[pairs:]), methods)
    return made, (values[0], values[1])


def norm_changes(
    sides: StatisticChange, scale: float, *, inside: bool
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of the distance between the decisions of groups and references.

    Of two decisions that is the size of the difference of one rate, times ``scale``. ``sides``
    holds the rate of all groups, and then of the reference of each.
    """
    sizes = _sizes(sides, 1, inside=inside)
    change = sizes.largest()

    def at(z: ArrayLike) -> Limits:
        low, high = change.at(z)
        return scale * low, scale * high

    pairs = len(sides.rows) // 2
    made = DisparityChanges(
        _Largest(scale * change.value, at),
        constant(np.inf, pairs),
        (sides.rows[:pairs], sides.rows[pairs:]),
        (IntervalMethod.FOLDED, IntervalMethod.MOVER, *sides.methods),
    )
    return made, (scale * sizes.old[0], scale * sizes.new[0])


def _joined(items: Sequence[_Items]) -> _Items:
    def stacked(limits: Sequence[Limits]) -> Limits:
        low, high = zip(*limits, strict=True)
        return np.concatenate(low), np.concatenate(high)

    return _Items(
        np.concatenate([each.old for each in items]),
        np.concatenate([each.new for each in items]),
        stacked([each.old_limits for each in items]),
        stacked([each.new_limits for each in items]),
        lambda z: stacked([each.change(z) for each in items]),
        np.concatenate([each.first for each in items]),
        np.concatenate([each.second for each in items]),
    )


def _mean(parts: Sequence[Quantity]) -> Quantity:
    """Return the mean of the changes of several numbers.

    Their limits add up as those of numbers with the correlation 1 do: the size of a gap is not
    centred in its limits, so that the smaller distances of independent numbers cover too little
    (89 to 92 % where a gap vanishes).
    """

    def at(z: ArrayLike) -> Limits:
        low, high = zip(*(each.at(z) for each in parts), strict=True)
        return np.mean(low, axis=0), np.mean(high, axis=0)

    return _Largest(np.mean([each.value for each in parts], axis=0), at)


def _negated(change: Quantity) -> Quantity:
    made = change.negated()
    return _Largest(made.value, made.at)


def _items(metric: Spread, change: StatisticChange, parts: int) -> _Items | None:
    """Return the items of a spread: pairs of groups, or groups; None with too few of them."""
    logs = metric.by == "smallest_ratio"
    under = [_log(each) if logs else each for each in change.models]
    with np.errstate(invalid="ignore"):
        known = np.isfinite(under[0].value) & np.isfinite(under[1].value)
    groups = np.flatnonzero(known)
    if metric.by in ("maximum", "minimum"):
        return _extremes(change, groups, parts, lowest=metric.by == "minimum")
    if metric.by == "gini":
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
    return _gaps(change, (under[0], under[1]), groups, parts, logs=logs)


def _extremes(change: StatisticChange, groups: Index, parts: int, *, lowest: bool) -> _Items | None:
    if not len(groups):
        return None
    z = normal_quantile(1 - _EXCLUDED / (4 * parts * len(groups)))

    def signed(limits: Limits) -> Limits:
        low, high = (limit[groups, None] for limit in limits)
        return (-high, -low) if lowest else (low, high)

    def at(z: ArrayLike) -> Limits:
        return signed(change.difference.at(np.full(len(change.old), float(np.max(z)))))

    sign = -1.0 if lowest else 1.0
    limits = [signed(of.at(np.full(len(change.old), z))) for of in change.models]
    old, new = (sign * of.value[groups, None] for of in change.models)
    return _Items(old, new, limits[0], limits[1], at, groups, groups)


def _gaps(
    change: StatisticChange, under: tuple[Quantity, Quantity], groups: Index, parts: int, *,
    logs: bool,
) -> _Items | None:  # fmt: skip
    """Return the sizes of the gaps between all pairs of groups."""
    if len(groups) < 2:
        return None
    first, second = (groups[i] for i in np.triu_indices(len(groups), 1))
    clustered = change.table is not None and change.table.clusters is not None
    error = _EXCLUDED / (2 * parts)
    c = float(tukey_critical(len(groups), 1 - error))
    if clustered:  # under any dependence (Bonferroni)
        c = normal_quantile(1 - error / (2 * len(first)))
    shift, total = (change.ratio, change.log_total) if logs else (change.difference, change.total)
    r = {id(of): _correlations(change, of, first, second) for of in (*under, shift, total)}

    def pairs(of: Quantity, z: float) -> Limits:
        low, high = of.at(np.full(of.value.shape, z))
        made = mover_difference(of.value[first], low[first], high[first], of.value[second],
                                low[second], high[second], r[id(of)])  # fmt: skip
        return made[0][:, None], made[1][:, None]

    def at(z: ArrayLike) -> Limits:
        each = float(np.max(z))
        return distance_limits(pairs(shift, each), pairs(total, each))

    gaps = [np.abs(of.value[first] - of.value[second])[:, None] for of in under]
    limits = [fold(*pairs(of, c)) for of in under]
    higher = under[1].value[first] >= under[1].value[second]
    if logs:
        higher = ~higher
    return _Items(gaps[0], gaps[1], limits[0], limits[1], at, np.where(higher, first, second),
                  np.where(higher, second, first))  # fmt: skip


def _sizes(change: StatisticChange, parts: int, *, inside: bool) -> _Items:
    """Return the sizes of the difference of a statistic between groups and references."""
    z = normal_quantile(1 - _EXCLUDED / (4 * parts))
    pairs = len(change.rows) // 2
    shift, total, old, new = (
        of.between_halves(correlation_of_halves(change.table, of, inside=inside))
        for of in (change.difference, change.total, *change.models)
    )

    def at(z: ArrayLike) -> Limits:
        low, high = distance_limits(shift.at(z), total.at(z))
        return low[None], high[None]

    limits = [fold(*(limit[None] for limit in of.at(np.full(pairs, z)))) for of in (old, new)]
    groups = np.arange(1)
    return _Items(np.abs(old.value)[None], np.abs(new.value)[None], limits[0], limits[1], at,
                  groups, groups)  # fmt: skip


def _log(of: Quantity) -> Quantity:
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(of.value)
        influence = None
        if of.influence is not None:
            influence = np.nan_to_num(of.influence / of.value[:, None, None, None],
                                      posinf=0.0, neginf=0.0)  # fmt: skip
    return Quantity(value, lambda z: logs_of(of.at(z)), influence)


def _correlations(change: StatisticChange, of: Quantity, first: Index, second: Index) -> Array:
    """Return the correlation of a number of two groups, for pairs of groups that share clusters."""
    if change.table is None or change.table.clusters is None:
        return np.zeros(len(first))
    if of.influence is None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of="groups")
    return change.table.correlations(of.influence)[first, second]
