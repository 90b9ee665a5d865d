"""What a search for subgroups means in the counts: cells by the values of features and by outcome.

Numbers without cuts are cut into fifths of the rows, and of many values the most frequent ones are
kept: both without looking at outcomes, so that no chance finding enters by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import Role, SearchedValues, Task
from fairgauge.errors import Problem, SpecError, quote
from fairgauge.identity import GroupId, MissingValue, ValueSet, bins, group_names
from fairgauge.resolve.group_counts import group_columns
from fairgauge.resolve.outcomes import decide_task, outcome_masks
from fairgauge.results.subgroup_search import SearchedFeature
from fairgauge.values import MISSING_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.statistics import Rate
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis
    from fairgauge.identity import Part
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.group_counts import Grouping

    Codes = NDArray[np.int64]

_MOST_NUMBERS = 12
"""Different numbers of a column up to which each is a value of its own."""
_FIFTHS = (0.2, 0.4, 0.6, 0.8)
_MOST_VALUES = 50
SCORE_SUM = "s"
"""The sum of the scores in a cell, as `fairgauge.cube.plan` names it."""
SCORE_BINS = 10
"""Parts of the range of scores in which calibration is searched."""
OTHER_VALUES = "other values"
NONE_OF_THESE = "none of these"
_MISSING, _EXCLUDED = 2, 3
_ONES_AND_ZEROS = {"1": 1, "true": 1, "True": 1, "0": 0, "false": 0, "False": 0}
_NEGATIVE, _POSITIVE, _UNKNOWN = 0, 1, 2
_CELL_OF = np.array([[3, 1, 3], [2, 0, 0], [3, 0, 0]])
"""TP, FP, FN or TN by label and prediction; where one is not known, by the other alone."""


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeCells:
    """The cells of a table: the values of every feature, and what the rows are to a rate.

    Attributes
    ----------
    codes : array of shape (cells, features): the value of each feature; one above the last where
        it is none that can be a condition.
    sizes : the number of values of each feature.
    rows, n, events : arrays of shape (cells,): rows, those that the rate is a share of, and those
        of them that it counts.
    """

    codes: Codes
    sizes: tuple[int, ...]
    rows: Array
    n: Array
    events: Array


@dataclass(frozen=True, slots=True, eq=False)
class ScoredCells:
    """The cells of a table: the values of every feature, the bin of the scores, and the labels.

    Attributes
    ----------
    codes, sizes, rows : as of `OutcomeCells`; rows have a label and a score.
    bins : array of shape (cells,): the tenth of the range of scores.
    events, scores : arrays of shape (cells,): positive labels, and the sum of the scores.
    """

    codes: Codes
    sizes: tuple[int, ...]
    bins: Codes
    rows: Array
    events: Array
    scores: Array


def searched_cells(
    cube: Cube, spec: Spec, rate: Rate, one_hot: Mapping[str, Sequence[str]]
) -> tuple[OutcomeCells, tuple[SearchedFeature, ...]]:
    """Return the cells of a rate by the values of all features, and these values.

    Columns of ``one_hot`` are values of one feature, which is at the place of the first of them.

    Raises
    ------
    SpecError
        The outcomes are not binary, a value is asked for that the data do not have, or columns are
        not one-hot.
    CubeError
        The counts do not hold all features together.
    """
    outcomes = [axis for role in (Role.LABEL, Role.PREDICTION) if (axis := cube.plan.axis(role))]
    groupings = list(group_columns(cube, spec).values())
    columns = [part.axis for part in groupings]
    table = cube.marginal([*columns, *outcomes])
    rows = table.sums.get("n", table.sums["rows"])
    codes, searched = _features(groupings, table.codes, rows, one_hot)
    n, events = _events(cube, spec, rate, table.codes[:, len(columns) :])
    sizes = tuple(len(feature.values) for feature in searched)
    return OutcomeCells(codes, sizes, rows, n * rows, events * rows), searched


def scored_cells(
    cube: Cube, spec: Spec, one_hot: Mapping[str, Sequence[str]]
) -> tuple[ScoredCells, tuple[SearchedFeature, ...]]:
    """Return the cells of labels and scores by the values of all features, and these values.

    Raises
    ------
    SpecError, CubeError
        As of `searched_cells`, and where scores are no probabilities of the positive value.
    """
    axes = [cube.plan.axis(role) for role in (Role.LABEL, Role.SCORE)]
    label, score = axes
    task = decide_task(cube, spec)
    masks = outcome_masks(cube, spec, task)
    of_positive = task is Task.BINARY and masks[0].turned is None
    if label is None or score is None or spec.score_range != (0.0, 1.0) or not of_positive:
        message = (
            "calibration is searched of binary labels (label) and of scores (score) that are "
            "probabilities, from 0 to 1, of the favourable value (positive)"
        )
        raise SpecError(Problem("score", message))
    groupings = list(group_columns(cube, spec).values())
    table = cube.marginal([*(part.axis for part in groupings), label, score])
    labels, scores = table.codes[:, -2:].T
    known = (labels >= 0) & (scores >= 0)
    codes, rows = table.codes[known], table.sums.get("n", table.sums["rows"])[known]
    values, searched = _features(groupings, codes, rows, one_hot)
    cells = ScoredCells(
        codes=values,
        sizes=tuple(len(feature.values) for feature in searched),
        bins=np.minimum((scores[known] - 1) // 2 * SCORE_BINS // score.grid, SCORE_BINS - 1),
        rows=rows,
        events=rows * masks[0].labels[labels[known]],
        scores=table.sums[SCORE_SUM][known],
    )
    return cells, (*searched, _parts_of(score))


def _parts_of(score: Axis) -> SearchedFeature:
    """Return the parts of the range of scores, as the last feature of a search of calibration."""
    edges = [f"{i / SCORE_BINS:g}" for i in range(SCORE_BINS + 1)]
    names = [f"[{low}, {high})" for low, high in pairwise(edges)]
    return SearchedFeature(
        name=score.column,
        made=SearchedValues.SCORE_BINS,
        values=(*names[:-1], f"{names[-1][:-1]}]"),
    )


def _features(
    groupings: Sequence[Grouping],
    codes: Codes,
    rows: Array,
    one_hot: Mapping[str, Sequence[str]],
) -> tuple[Codes, tuple[SearchedFeature, ...]]:
    """Return the values of every feature in the cells, and what the values are."""
    codes_of = {part.axis.column: column for part, column in zip(groupings, codes.T, strict=False)}
    by_column = {part.axis.column: part for part in groupings}
    of_feature = {column: name for name, columns in one_hot.items() for column in columns}
    found = [
        _from_one_hot(name, [(by_column[c], codes_of[c]) for c in one_hot[name]], rows)
        if name in one_hot
        else _values(by_column[name], codes_of[name], rows)
        for name in dict.fromkeys(of_feature.get(column, column) for column in by_column)
    ]
    values = np.stack([each for each, _ in found], axis=-1)
    return values, tuple(feature for _, feature in found)


def _events(cube: Cube, spec: Spec, rate: Rate, codes: Codes) -> tuple[Array, Array]:
    """Return which cells the rate is a share of, and which of them it counts."""
    task = decide_task(cube, spec)
    masks = outcome_masks(cube, spec, task)
    if task is not Task.BINARY or len(masks) > 1:
        message = (
            "a search takes one binary outcome: name the favourable values (positive, "
            "--positive VALUE), and one threshold of a score"
        )
        raise SpecError(Problem("positive" if task is not Task.BINARY else "threshold", message))
    column = 0
    known: dict[str, Codes] = {}
    for role, mask in ((Role.LABEL, masks[0].labels), (Role.PREDICTION, masks[0].predictions)):
        if cube.plan.axis(role) is None:
            known[role] = np.full(len(codes), _UNKNOWN)
            continue
        states = np.append(np.where(mask, _POSITIVE, _NEGATIVE), _UNKNOWN)
        known[role] = states[codes[:, column]]  # code -1 reads the last entry
        column += 1
    cell = _CELL_OF[known[Role.LABEL], known[Role.PREDICTION]]
    counted = np.ones(len(codes), dtype=bool)
    for need in rate.needs:
        counted &= known[Role(need)] != _UNKNOWN
    of, among = (np.array(each.coefficients)[cell] * counted for each in (rate.of, rate.among))
    return among.astype(np.float64), of.astype(np.float64)


def _from_one_hot(
    name: str, columns: Sequence[tuple[Grouping, Codes]], rows: Array
) -> tuple[Codes, SearchedFeature]:
    """Return the value of every cell by which of several columns is 1, and the values."""
    states = np.stack([_ones_and_zeros(part)[codes] for part, codes in columns])
    ones = (states == 1).sum(axis=0)
    if (several := float(rows[ones > 1].sum())) > 0:
        message = (
            f"{several:,.0f} rows have 1 in more than one of the columns {quote(name + '_*')}, "
            "which are not one-hot; name the columns themselves (--features)"
        )
        raise SpecError(Problem("features", message))
    names = [part.axis.column for part, _ in columns]
    values = [column.removeprefix(f"{name}_") for column in names]
    found = np.where(ones == 1, (states == 1).argmax(axis=0), len(values))
    conditions = dict.fromkeys(values, 1)
    neither = ones == 0
    for other, cells in (
        (NONE_OF_THESE, neither & (states == 0).all(axis=0)),
        (MISSING_NAME, neither & (states == _MISSING).any(axis=0)),
    ):
        if cells.any():
            found[cells] = len(values)
            values.append(_unlike(other, values))
    found[(states == _EXCLUDED).any(axis=0)] = len(values)
    return found, SearchedFeature(
        name=name,
        made=SearchedValues.ONE_HOT,
        values=tuple(values),
        conditions=dict(conditions),
        columns=tuple(names),
    )


def _ones_and_zeros(part: Grouping) -> Codes:
    """Return what each level of a one-hot column is."""
    states = []
    for group in part.groups:
        text = group.name() if isinstance(group, ValueSet) else None
        if group == MissingValue():
            states.append(_MISSING)
        elif text in _ONES_AND_ZEROS:
            states.append(_ONES_AND_ZEROS[text])
        else:
            message = (
                f"{quote(part.axis.column)} has the value {quote(str(group.name()))}; one-hot "
                "columns hold 0 and 1. Name the column itself (--features)"
            )
            raise SpecError(Problem("features", message))
    return np.array([*states, _EXCLUDED])[part.group_of]


def _unlike(name: str, others: Sequence[str]) -> str:
    """Return a name of ours, in as many quotation marks as it takes to be no value of the data."""
    while name in others:
        name = f'"{name}"'
    return name


def _values(part: Grouping, codes: Codes, rows: Array) -> tuple[Codes, SearchedFeature]:
    """Return the value of every cell, and the values that conditions are made of."""
    groups, group_of, made = list(part.groups), part.group_of, SearchedValues.VALUES
    cuts: tuple[float, ...] = part.axis.cuts
    if cuts:
        made = SearchedValues.CUTS
    elif _are_many_numbers(groups):
        cuts = _fifths(groups, group_of[codes], rows)
        groups, group_of = _cut(groups, group_of, cuts)
        made = SearchedValues.QUINTILES
    of_cells = group_of[codes]
    ids = [GroupId.of(group) for group in groups]
    names = list(group_names(ids))
    conditions = {
        name: (each.to_plain() or [None])[0] for name, each in zip(names, ids, strict=True)
    }
    if len(groups) > _MOST_VALUES:
        of_cells, names = _most_frequent(of_cells, names, groups, rows)
        made = SearchedValues.MOST_FREQUENT
    of_cells = np.where(of_cells < 0, len(names), of_cells)
    return of_cells, SearchedFeature(
        name=part.axis.column,
        made=made,
        values=tuple(names),
        cuts=tuple(map(float, cuts)),
        conditions={name: conditions[name] for name in names if name in conditions},
    )


def _are_many_numbers(groups: Sequence[Part]) -> bool:
    values = [group.values for group in groups if isinstance(group, ValueSet)]
    return len(values) > _MOST_NUMBERS and all(
        len(each) == 1 and isinstance(each[0], (int, float)) and not isinstance(each[0], bool)
        for each in values
    )


def _number_of(group: Part) -> float:
    assert isinstance(group, ValueSet)
    (number,) = group.values
    assert isinstance(number, (int, float))
    return float(number)


def _fifths(groups: Sequence[Part], of_cells: Codes, rows: Array) -> tuple[float, ...]:
    """Return the cuts that leave about a fifth of the rows in each interval."""
    at = np.array([i for i, group in enumerate(groups) if isinstance(group, ValueSet)])
    numbers = np.array([_number_of(groups[i]) for i in at.tolist()])
    inside = of_cells >= 0
    weights = np.bincount(of_cells[inside], rows[inside], len(groups))[at]
    order = np.argsort(numbers)
    numbers, below = numbers[order], np.cumsum(weights[order])
    positions = np.searchsorted(below, np.array(_FIFTHS) * below[-1])
    cuts = np.unique(numbers[positions])
    return tuple(cuts[cuts < numbers[-1]].tolist())


def _cut(
    groups: Sequence[Part], group_of: Codes, cuts: tuple[float, ...]
) -> tuple[list[Part], Codes]:
    """Return the intervals in place of numbers; missing values stay a group of their own."""
    intervals: list[Part] = [*bins(cuts)]
    rest = [group for group in groups if not isinstance(group, ValueSet)]
    edges = np.array(cuts)
    position = np.array(
        [
            np.searchsorted(edges, _number_of(group), side="left")
            if isinstance(group, ValueSet)
            else len(intervals)
            for group in groups
        ]
    )
    position = np.append(position, len(position))  # missing values, where no row has any
    return [*intervals, *rest], np.where(group_of < 0, group_of, position[np.maximum(group_of, 0)])


def _most_frequent(
    of_cells: Codes, names: list[str], groups: Sequence[Part], rows: Array
) -> tuple[Codes, list[str]]:
    """Return the most frequent values, and all others as one; ties are decided by their order."""
    inside = of_cells >= 0
    counts = np.bincount(of_cells[inside], rows[inside], len(names))
    missing = [i for i, group in enumerate(groups) if isinstance(group, MissingValue)]
    counts[missing] = np.inf  # not a value to be pooled with others
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_VALUES])
    position = np.full(len(names) + 1, len(kept))
    position[kept] = np.arange(len(kept))
    position[-1] = -1
    left = [names[i] for i in kept.tolist()]
    others = _unlike(OTHER_VALUES, left)
    return np.where(inside, position[of_cells], -1), [*left, others]
