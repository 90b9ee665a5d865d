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

The variance of each such change follows from the influence of every row on it. Where one item alone
may be the largest under either model, the interval is the plain one of one change. Where several
are equal, it is wider: how far the largest of several estimates exceeds the largest item depends on
how equal they are, which the rows do not show, and limits that hold whatever that is cover more
than 95%.

References
----------
Hsu (1996), Multiple Comparisons: Theory and Methods, chapter 4 (which items may be the best);
Andrews & Soares (2010), Econometrica 78, 119-157 (moments that are not binding are excluded).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    logarithm,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Index, Limits
from fairgauge.stats.intervals import as_critical_t, critical
from fairgauge.stats.significance import normal_quantile, two_sided

ZERO = -1
"""The coordinate that is 0 under both models."""
_EXCLUDED = 0.005
"""Probability that an item is excluded from the largest, under either model, although it is one."""
_MOST = 64
"""Items that a limit is sought among, so that the cost is linear in the number of pairs."""
_METHODS = (IntervalMethod.SIMULTANEOUS, IntervalMethod.INFLUENCE)


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


def spread_change(
    metric: Spread | Joint, changes: Sequence[StatisticChange]
) -> ExtremeChange | None:
    """Return the change of an extreme over groups, or of the worst or the mean of several.

    ``changes`` are of the statistic of each spread. Returns None where fewer groups are known than
    it takes.

    Raises
    ------
    NoInterval
        A ratio may be of 0, or there is no method.
    """
    spreads = (metric,) if isinstance(metric, Spread) else metric.of
    how = "worst" if isinstance(metric, Spread) else metric.how
    by, groups = spreads[0].by, len(changes[0].rows)
    ratio, of_gaps = by == "smallest_ratio", by in ("largest_gap", "smallest_ratio")
    if ratio and how == "mean":
        raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=metric.title)
    if ratio and any((model.value <= 0).any() for each in changes for model in each.models):
        raise NoInterval(ReasonCode.RATIO_MAY_BE_ZERO)
    coordinates = _Coordinates(metric.title, changes, np.arange(groups), logs=ratio)
    parts = []
    for start in range(0, groups * len(changes), groups):
        known = np.flatnonzero(np.isfinite(coordinates.values[:, start : start + groups]).all(0))
        first, second = start + known, np.full(len(known), ZERO)
        if of_gaps:  # between all pairs of groups, in both directions
            i, j = np.nonzero(~np.eye(len(known), dtype=bool))
            first, second = start + known[i], start + known[j]
        if not len(first):
            return None
        parts.append((second, first) if by == "minimum" else (first, second))
    shift, old, new = _largest([(coordinates, parts)], how, dependent=_are_dependent(changes))
    rows = np.min([change.rows for change in changes], axis=0)
    largest = max(parts, key=lambda part: coordinates.differences(*part)[1].max())
    one, two = _groups(coordinates, largest, rows, groups)
    if of_gaps:  # what rounding leaves of a gap is none, as in an audit
        old, new = (np.where(np.abs(gap) < SMALLEST_GAP, 0.0, gap) for gap in (old, new))
    apart = not of_gaps or bool((new != 0).any())
    if by in ("smallest_ratio", "minimum"):
        old, new, shift = -old, -new, shift.negated()
    if ratio:
        one, two, old, new = two, one, np.exp(old), np.exp(new)
    fewest = np.array([float(rows[[one, two]].min())])
    level = constant({"largest_gap": np.inf, "smallest_ratio": -np.inf}.get(by, np.nan))
    made = DisparityChanges(shift, level, (fewest, fewest), _METHODS)
    return ExtremeChange(made, (old, new), one, two, apart)


def combined_changes(
    metric: Combined, changes: Sequence[StatisticChange], *, inside: bool
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of the larger, or of the mean, of the sizes of several contrasts.

    ``changes`` hold for each contrast all groups, and then the reference of each, which holds the
    group where ``inside``.

    Raises
    ------
    NoInterval
        There is no method.
    """
    pairs = len(changes[0].rows) // 2
    # the size of a difference is the larger of it and of its negative
    parts = [(np.array([i, i + 1]), np.array([i + 1, i])) for i in range(0, 2 * len(changes), 2)]
    comparisons = [
        (_Coordinates(metric.title, changes, np.array([i, pairs + i]), inside=inside), parts)
        for i in range(pairs)
    ]
    shift, old, new = _largest(comparisons, metric.how, dependent=_are_dependent(changes))
    rows = np.min([change.rows for change in changes], axis=0)
    level = constant(np.inf, pairs)
    made = DisparityChanges(shift, level, (rows[:pairs], rows[pairs:]), _METHODS)
    return made, (old, new)


_Items = tuple[Index, Index]
"""Numbers of which the largest counts: coordinates, and those that are subtracted from them."""


class _Coordinates:
    """Statistics of some sides under both models, one statistic after another.

    Attributes
    ----------
    values : array of shape (2, coordinates + 1): of either model, and the number 0.
    covariance : of all of them under the model in use, then under the candidate.
    """

    def __init__(
        self,
        title: str,
        changes: Sequence[StatisticChange],
        sides: Index,
        *,
        logs: bool = False,
        inside: bool = False,
    ) -> None:
        table, values, influences = changes[0].table, [], []
        for which in range(2):
            for change in changes:
                model = logarithm(change.models[which]) if logs else change.models[which]
                values.append(model.value[sides])
                influences.append(None if model.influence is None else model.influence[sides])
        self.values = np.pad(np.reshape(values, (2, -1)), ((0, 0), (0, 1)))
        size = self.values.shape[1] - 1
        self.covariance = np.zeros((2, size + 1, 2, size + 1))
        self._degrees = np.inf
        if table is not None:
            every = np.stack([each for each in influences if each is not None])
            found = table.covariances(every, sides, inside=inside)
            self.covariance[:, :size, :, :size] = found.reshape(2, size, 2, size)
            self._degrees = float(table.degrees[sides].min())
        elif len(changes) == 1 and not inside:
            self._of_limits(changes[0], sides, logs=logs)
        else:
            raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=title)

    def _of_limits(self, change: StatisticChange, sides: Index, *, logs: bool) -> None:
        """Set the covariance of scores, of which only limits are known."""
        z = np.full(len(change.rows), critical(0.95))
        old, new = (logarithm(model) if logs else model for model in change.models)
        both = change.ratio if logs else change.difference
        of_old, of_new, of_both = (
            ((high - low)[sides] / (2 * z[sides])) ** 2
            for low, high in (each.at(z) for each in (old, new, both))
        )
        at = np.arange(len(sides))
        self.covariance[0, at, 0, at], self.covariance[1, at, 1, at] = of_old, of_new
        shared = (of_old + of_new - of_both) / 2
        self.covariance[0, at, 1, at] = self.covariance[1, at, 0, at] = shared

    def differences(self, first: Index, second: Index) -> Array:
        """Return items under both models; shape (2, items)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.values[:, first] - self.values[:, second])

    def errors(self, before: _Items, after: _Items, models: tuple[int, int]) -> Array:
        terms = [
            (sign, model, at)
            for sign, model, at in (
                (1.0, models[1], after[0][None, :]),
                (-1.0, models[1], after[1][None, :]),
                (-1.0, models[0], before[0][:, None]),
                (1.0, models[0], before[1][:, None]),
            )
        ]
        variance = sum(
            s * t * self.covariance[m, i, n, j] for s, m, i in terms for t, n, j in terms
        )
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def critical(self, z: float, times: int) -> float:
        each = z if times <= 1 else -normal_quantile(float(two_sided(z)) / (2 * times))
        return float(as_critical_t(each, self._degrees))


class _LargestItem:
    """The change of the largest of some items."""

    def __init__(self, of: _Coordinates, items: _Items) -> None:
        self._of = of
        old, new = of.differences(*items)
        self.old, self.new = old.max(), new.max()
        if not np.isfinite(self.new - self.old):
            return
        before, after = (self._may_be_largest(items, k, each) for k, each in enumerate((old, new)))
        self._sizes = len(before), len(after)

        def changes(of_before: Index, of_after: Index) -> tuple[Array, Array]:
            sides = [(items[0][at], items[1][at]) for at in (of_before, of_after)]
            return new[of_after] - old[of_before][:, None], of.errors(sides[0], sides[1], (0, 1))

        self._below = changes(before, after[:_MOST])
        self._above = changes(before[:_MOST], after)

    def _may_be_largest(self, items: _Items, model: int, values: Array) -> Index:
        order = np.argsort(-values, kind="stable")
        every, top = ((items[0][at], items[1][at]) for at in (order, order[:_MOST]))
        errors = self._of.errors(every, top, (model, model))
        z = self._of.critical(normal_quantile(1 - _EXCLUDED / 2), len(values))
        above = values[order[:_MOST]] - values[order][:, None] > z * errors
        return order[~above.any(axis=1)]

    def limits(self, z: float) -> tuple[float, float]:
        if not np.isfinite(self.new - self.old):
            return np.nan, np.nan
        before, after = (self._of.critical(z, size) for size in self._sizes)
        (lower, below), (upper, above) = self._below, self._above
        low = (lower - after * below).max(axis=1).min()
        return float(low), float((upper + before * above).min(axis=0).max())


def _largest(
    comparisons: Sequence[tuple[_Coordinates, Sequence[_Items]]], how: str, *, dependent: bool
) -> tuple[Quantity, Array, Array]:
    """Return the change of the largest of all items of each comparison, and it under both models.

    Where ``how`` is ``mean``, it is the mean over parts of the largest item of each. ``dependent``
    is whether items of different parts may depend on each other.
    """
    every = []
    for of, parts in comparisons:
        joined = parts
        if how != "mean":
            first, second = (np.concatenate(side) for side in zip(*parts, strict=True))
            joined = [(first, second)]
        every.append([_LargestItem(of, items) for items in joined])
    old, new = (
        np.array([np.mean([getattr(part, of) for part in parts]) for parts in every])
        for of in ("old", "new")
    )

    def at(z: ArrayLike) -> Limits:
        ends = np.empty((2, len(every)))
        for i, (of_z, parts) in enumerate(
            zip(np.broadcast_to(z, len(every)).tolist(), every, strict=True)
        ):
            values = np.array([[part.new - part.old] for part in parts])
            distances = np.array([part.limits(of_z) for part in parts]) - values
            whole = np.abs(distances).sum(0) if dependent else np.sqrt((distances**2).sum(0))
            ends[:, i] = np.array([-1.0, 1.0]) * whole / len(parts)
        return new - old + ends[0], new - old + ends[1]

    return Quantity(new - old, at), old, new


def _groups(of: _Coordinates, items: _Items, rows: Array, groups: int) -> tuple[int, int]:
    """Return the two groups of the largest item under the candidate; one group twice.

    Of equal items that of the groups with most rows is taken: names decide nothing.
    """
    new = of.differences(*items)[1]
    equal = np.flatnonzero(new >= new.max() - SMALLEST_GAP - ROUNDING * abs(new.max()))
    both = np.stack([each[equal] for each in items])
    both = np.where(both == ZERO, both[::-1], both) % groups
    sizes = rows[both]
    at = np.lexsort((-sizes[1], -sizes[0], -sizes.min(axis=0)))[0]
    first, second = both[:, at].tolist()
    return first, second


def _are_dependent(changes: Sequence[StatisticChange]) -> bool:
    """Return whether statistics of the same rows may depend on each other.

    Of two decisions these are rates of the rows of either label, which are independent.
    """
    return any(
        each.table is None or each.table.clusters is not None or each.table.classes
        for each in changes
    )
