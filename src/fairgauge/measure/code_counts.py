"""Counts of columns that are codes, and metrics of counts without intervals.

Replaying the job of another system needs its numbers at the speed of counting; intervals and
sentences are those of `fairgauge.audit` of the same counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import BOTH, ConfusionCounts
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.catalogue.lookup import find_metric, find_rate
from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import plan
from fairgauge.enums import Task
from fairgauge.identity import GroupId, ValueSet
from fairgauge.question.specification import ask
from fairgauge.reasons import Reason
from fairgauge.resolve.group_counts import count_everyone, count_groups
from fairgauge.resolve.outcomes import outcome_masks
from fairgauge.resolve.references import CountsBySide
from fairgauge.start.records import replace
from fairgauge.values import Value, sort_key

Codes = NDArray[np.int64]
# cells up to which counting each of them is faster than sorting the rows
_MOST_CELLS = 4_000_000


def count_codes(columns: Mapping[str, tuple[Codes, Sequence[Value]]], **question: object) -> Cube:
    """Count columns that are codes of their levels.

    ``columns`` has for every column that the question names an array of the positions of the rows'
    values in the levels, -1 where the value is missing; and the levels, which may have no row. The
    question is options of `fairgauge.count`.
    """
    asked = ask(None, None, **question, task="binary")
    counting = plan(replace(asked, max_groups=10**9))  # the levels are at hand already
    coded = [_sort_levels(*columns[axis.column]) for axis in counting.axes]
    rows = max((len(codes) for codes, _ in coded), default=0)
    tables = []
    for positions in counting.tables:
        held, counts = _count_cells([coded[i] for i in positions], rows)
        axes = tuple(counting.axes[i] for i in positions)
        tables.append(CountTable(axes, held, {"rows": counts.astype(np.float64)}))
    levels = {axis: of for axis, (_, of) in zip(counting.axes, coded, strict=True)}
    return Cube(counting, levels, tuple(tables), rows)


def _sort_levels(codes: Codes, levels: Sequence[Value]) -> tuple[Codes, tuple[Value, ...]]:
    order = sorted(range(len(levels)), key=lambda i: sort_key(levels[i]))
    place = np.append(np.argsort(order), -1).astype(np.int64)
    return place[codes], tuple(levels[i] for i in order)


def _count_cells(
    coded: Sequence[tuple[Codes, Sequence[Value]]], rows: int
) -> tuple[Codes, NDArray[np.int64]]:
    sizes = [len(levels) + 1 for _, levels in coded]
    combined = np.zeros(rows, dtype=np.int64)
    for (codes, _), size in zip(coded, sizes, strict=True):
        combined = combined * size + (codes + 1)
    if np.prod(sizes, dtype=float) <= _MOST_CELLS:
        counts = np.bincount(combined)
        held = np.flatnonzero(counts)
        counts = counts[held]
    else:
        held, counts = np.unique(combined, return_counts=True)
    return np.stack(np.unravel_index(held, sizes), axis=-1) - 1, counts


class MetricValues:
    """Metrics of counts of a binary question, of each group against all others, no intervals."""

    def __init__(self, counts: Cube) -> None:
        spec = counts.plan.asked
        self.profile = spec.profile
        outcome = outcome_masks(counts, spec, Task.BINARY)[0]
        counted = count_groups(counts, spec)
        self._sides = [CountsBySide(each, outcome, spec.profile) for each in counted]
        self._groups = [each.group_ids for each in counted]
        everyone = CountsBySide(count_everyone(counts), outcome, spec.profile)
        self._everyone = everyone.pick(np.array([0]), np.array([0]))

    def value(self, metric: str, feature: int, group: Value) -> tuple[float | None, Reason | None]:
        """Return a metric of a group of a feature (by position); the reason where it has none."""
        row = find_metric(metric)
        assert isinstance(row, ComparisonMetric)
        ours = theirs = self._everyone
        if row.scope != "table":
            sides, at = self._sides[feature], self._place(feature, group)
            pooled = row.scope == "pooled"
            ours = sides.pick(at, np.array([0]), pooled=pooled)
            theirs = sides.pick(sides.others + at, np.array([0]), pooled=pooled)
        value = float(row.value(ours, theirs, self.profile)[0])
        return (value, None) if value == value else (None, row.why_undefined(ours, theirs, 0))

    def cells(self, feature: int, group: Value) -> tuple[float, ...]:
        """Return TP, FP, FN and TN of a group."""
        return tuple(self._side(feature, group).counts(BOTH)[0].tolist())

    def size(self, feature: int, group: Value | None = None) -> int:
        """Return the rows of a group, or those that are compared."""
        return int(self._side(feature, group).size[0])

    def rate(self, rate: str, feature: int, group: Value) -> float:
        """Return a rate of a group, NaN where it is undefined."""
        return float(find_rate(rate).value(self._side(feature, group), self.profile)[0])

    def _side(self, feature: int, group: Value | None) -> ConfusionCounts:
        sides = self._sides[feature]
        at = np.array([sides.whole]) if group is None else self._place(feature, group)
        return sides.pick(at, np.array([0]))

    def _place(self, feature: int, group: Value) -> NDArray[np.int64]:
        return np.array([self._groups[feature].index(GroupId.of(ValueSet((group,))))])
