"""What a search for subgroups means in the counts: cells by the values of features and by outcome.

Numbers without cuts are cut into fifths of the rows, and of many values the most frequent ones are
kept: both without looking at outcomes, so that no chance finding enters by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.statistics import Rate
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis, cuts_of
from fairgauge.enums import Role, SearchedValues, Task
from fairgauge.errors import Problem, SpecError
from fairgauge.identity import GroupId, MissingValue, Part, ValueSet, bins, group_names
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import Grouping, group_columns
from fairgauge.resolve.outcomes import decide_task, kinds_of_rows, outcome_masks
from fairgauge.results.subgroup_search import SearchedFeature
from fairgauge.scan.row_codes import CodedRows, numbers_of
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import Index, Integers
from fairgauge.values import is_number, is_one_of, name_of

Levels = Integers

# different numbers of a column up to which each is a value of its own
_MOST_NUMBERS = 12
_MOST_VALUES = 50
OTHER_VALUES = "other values"

NOT_COUNTED, COUNTED, EVENT = 0, 1, 2
OUTCOMES = 3
"""What a row is to a rate: not among those that it is a share of, among them, one it counts."""


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeRows:
    """Rows, or cells of a table: the values of every feature, and what they are to a rate."""

    # for each feature an array: the value; one above the last where it is none that can be a
    # condition
    codes: tuple[Levels, ...]
    outcomes: Index  # array: what they are to the rate
    cases: Array | None  # array: how many rows each stands for; None where each is one


@dataclass(frozen=True, slots=True, eq=False)
class SearchedRows:
    """All rows of a search, in one part or in many that are read again each time."""

    sizes: tuple[int, ...]  # the number of values of each feature
    # for each feature an array: the rows of each value; the last entry is of no value
    rows_of: tuple[Array, ...]
    outcomes: Array  # array: the rows of each outcome
    parts: Callable[[], Iterable[OutcomeRows]]  # reads the rows
    # of rows in many parts the digest of the counts by each feature alone, None of cells
    counted: str | None = None
    # by each outcome that the statistic needs and some rows lack, for each feature an array: how
    # many rows of each value lack it
    lacking: Mapping[str, tuple[Array, ...]] = field(default_factory=dict)

    @property
    def rows(self) -> float:
        return float(self.outcomes.sum())

    @property
    def n(self) -> float:
        return float(self.outcomes[COUNTED:].sum())

    @property
    def events(self) -> float:
        return float(self.outcomes[EVENT])

    def changed(self, change: Callable[[OutcomeRows], OutcomeRows], **fields: Any) -> SearchedRows:
        return replace(self, parts=lambda: map(change, self.parts()), **fields)

    def turned(self) -> SearchedRows:
        """Return the rows with those events that were none, and the reverse."""
        other = np.array([NOT_COUNTED, EVENT, COUNTED])
        return self.changed(
            lambda part: replace(part, outcomes=other[part.outcomes]), outcomes=self.outcomes[other]
        )


def searched_rows(
    cube: Cube, spec: Spec, rate: Rate, read: Callable[[], Iterable[CodedRows]] | None = None
) -> tuple[SearchedRows, tuple[SearchedFeature, ...]]:
    """Return the rows of a rate by the values of all features, and these values.

    ``read`` yields the rows by the positions in the levels of ``cube``, which then holds the counts
    by each feature alone, and those by the outcomes; without it the cube holds the counts by all
    together, and its cells are the rows.
    """
    features = [_feature_of_values(part, cube) for part in group_columns(cube, spec).values()]
    task, axes = decide_task(cube, spec), cube.plan.outcomes
    masks = outcome_masks(cube, spec, task)
    if task is not Task.BINARY or len(masks) > 1:
        raise SpecError(Problem("positive" if task is not Task.BINARY else "threshold", (
            "a search takes one binary outcome: name the favourable values (positive, "
            "--positive VALUE), and one threshold of a score"
        )))  # fmt: skip
    outcomes = np.maximum(kinds_of_rows(cube, masks[0], rate), NOT_COUNTED)

    def part_of(rows: CodedRows) -> OutcomeRows:
        return OutcomeRows(
            codes=tuple(feature.of_level[rows.codes[feature.axis]] for feature in features),
            outcomes=outcomes[tuple(rows.codes[axis] for axis in axes)],
            cases=rows.cases,
        )

    if read is None:
        crossed = dict.fromkeys([*(each.axis for each in features), *axes])
        together = _coded_rows_by(cube, [*crossed])
        cells = part_of(together)
    alone = _coded_rows_by(cube, axes)
    absent = [axis for axis in axes if axis.role in rate.needs and (alone.codes[axis] < 0).any()]
    kinds = outcomes[tuple(alone.codes.values())]
    lacking = {}
    if absent:
        lacking = _lacking(features, absent, [together] if read is None else read())
    every = SearchedRows(
        sizes=tuple(len(feature.feature.values) for feature in features),
        rows_of=tuple(feature.rows for feature in features), lacking=lacking,
        outcomes=_sum_cases(kinds, alone, OUTCOMES),
        parts=(lambda: [cells]) if read is None else (lambda: map(part_of, read())),
        counted=None if read is None else cube.digest,
    )  # fmt: skip
    return every, tuple(
        replace(of.feature, unknown=tuple(
            name_of(v) for v in spec.unknown if is_one_of(v, cube.levels[of.axis])))
        for of in features
    )  # fmt: skip


def _lacking(
    features: Sequence[_SearchedColumn], absent: Sequence[Axis], parts: Iterable[CodedRows]
) -> dict[str, tuple[Array, ...]]:
    sizes = [len(feature.feature.values) + 1 for feature in features]
    found = {axis: [np.zeros(size) for size in sizes] for axis in absent}
    for part in parts:
        for axis, by_feature in found.items():
            rows = part.codes[axis] < 0
            cases = None if part.cases is None else part.cases[rows]
            for feature, lacking in zip(features, by_feature, strict=True):
                values = feature.of_level[part.codes[feature.axis][rows]]
                lacking += np.bincount(values, cases, len(lacking))
    return {str(axis.role): tuple(by_feature) for axis, by_feature in found.items()}


def _coded_rows_by(cube: Cube, axes: Sequence[Axis]) -> CodedRows:
    table = cube.marginal(axes)
    return CodedRows(dict(zip(axes, table.codes.T, strict=True)), table.cases)


def _sum_cases(values: Index, cells: CodedRows, number: int) -> Array:
    return np.bincount(values, cells.cases, number).astype(np.float64)


def most_cells(cube: Cube) -> float:
    """Return how many cells all features and outcomes may make together, of the counts by each."""
    axes = (axis for axis in cube.plan.axes if axis.role is not Role.CODES)
    return float(min(cube.rows, math.prod([len(cube.levels[axis]) + 1 for axis in axes])))


@dataclass(frozen=True, slots=True, eq=False)
class _SearchedColumn:
    """The values that conditions on a feature are made of."""

    feature: SearchedFeature  # the values
    axis: Axis  # the column that they are made of
    # the value of each level, the last of a missing one; one above the last value where it is none
    # that can be a condition
    of_level: Levels
    rows: Array  # array: the rows of each value, and of none


def _feature_of_values(part: Grouping, cube: Cube) -> _SearchedColumn:
    cells = _coded_rows_by(cube, [part.axis])
    (codes,) = cells.codes.values()
    levels = len(part.group_of) - 1
    rows = _sum_cases(np.where(codes < 0, levels, codes), cells, levels + 1)
    groups, group_of, made = list(part.groups), part.group_of, SearchedValues.VALUES
    cuts: tuple[float, ...] = part.axis.stated_cuts
    if cuts:
        made = SearchedValues.CUTS
    elif (numbers := _many_numbers(groups)) is not None:
        inside = group_of >= 0
        weights = np.bincount(group_of[inside], rows[inside], len(numbers))
        order = np.argsort(numbers)[: np.count_nonzero(~np.isnan(numbers))]  # NaN is last
        cuts = cuts_of(numbers[order].tolist(), weights[order].tolist(), 5)
        # the intervals in place of numbers; missing values stay a group of their own
        rest = [group for group in groups if not isinstance(group, ValueSet)]
        place = np.where(np.isnan(numbers), len(cuts) + 1, np.searchsorted(cuts, numbers))
        place = np.append(place, len(place))  # missing values, where no row has any
        groups = [*bins(cuts), *rest]
        group_of = np.where(group_of < 0, group_of, place[np.maximum(group_of, 0)])
        made = SearchedValues.QUINTILES
    ids = [GroupId.of(group) for group in groups]
    names = list(group_names(ids))
    first = ((each.to_plain() or [None])[0] for each in ids)
    conditions = dict(zip(names, first, strict=True))
    if len(groups) > _MOST_VALUES:
        group_of, names = _most_frequent(group_of, names, groups, rows)
        made = SearchedValues.MOST_FREQUENT
    # as narrow as possible: this is what is read for every set of features
    of_level = np.where(group_of < 0, len(names), group_of).astype(np.min_scalar_type(len(names)))
    feature = SearchedFeature(
        name=part.axis.column, made=made, values=tuple(names), cuts=tuple(map(float, cuts)),
        conditions={name: conditions[name] for name in names if name in conditions},
    )  # fmt: skip
    of_value = np.bincount(of_level, rows, len(names) + 1).astype(np.float64)
    return _SearchedColumn(feature, part.axis, of_level, of_value)


def _many_numbers(groups: Sequence[Part]) -> Array | None:
    # the number of each group, NaN of missing values; None of few numbers, and of other values
    values = [group.values for group in groups if isinstance(group, ValueSet)]
    if len(values) <= _MOST_NUMBERS or not all(len(v) == 1 and is_number(v[0]) for v in values):
        return None
    return numbers_of([each.values[0] if isinstance(each, ValueSet) else None for each in groups])


def _most_frequent(
    group_of: Index, names: list[str], groups: Sequence[Part], rows: Array
) -> tuple[Index, list[str]]:
    # the most frequent values, and all others as one; ties are decided by their order
    inside = group_of >= 0
    counts = np.bincount(group_of[inside], rows[inside], len(names))
    missing = [i for i, group in enumerate(groups) if isinstance(group, MissingValue)]
    counts[missing] = np.inf  # not a value to be pooled with others
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_VALUES])
    position = np.full(len(names) + 1, len(kept))
    position[kept] = np.arange(len(kept))
    position[-1] = -1
    left = [names[i] for i in kept.tolist()]
    others = OTHER_VALUES
    while others in left:
        others = f'"{others}"'
    return np.where(inside, position[group_of], -1), [*left, others]
