"""What the checks of a feed read of each period: ordinary counts of its values, and nothing else.

Every field is a pure function of the counts of one period and of the question.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairgauge.cube.cube import HANDFUL, CountTable, Cube, cases_of_no_weight
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.resolve.excluded_rows import excluded_rows
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task, open_levels
from fairgauge.values import Value, is_one_of, meaning, name_of

# the columns that are checked; one of two roles is counted in the first of them
_CHECKED = (
    Role.FEATURE, Role.LABEL, Role.PREDICTION, Role.SCORE, Role.STRATUM, Role.CLUSTER,
)  # fmt: skip
BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""
PARTS = 100
"""The parts of the range of scores in which their rows are counted."""
_MOST_VALUES = 200


class FeedRows(NamedTuple):
    """The rows that a cube counts, and what distinguishes them from those of other periods.

    ``digest``: the fingerprint of the counts.
    ``rows, excluded``: all rows, and by reason those that the question excludes; of a count its
        cases and of persons these, here and below.
    ``read``: the rows that were read, whatever these stand for.
    ``complete``: whether no value is missing, or may be none, and none is excluded by name.
    ``values, missing``: the rows of every value of a column, and of none.
    ``divisor, cells``: the largest number that divides the rows of all cells, and how many cells;
        of rows also where these have a count.
    ``coincidence``: the log of the probability that other rows of the same groups have these
        counts.
    ``agreement``: the rows with label and prediction, those in which they are equal, and the share
        that would be if the two were independent; of a score its decision, and 0 of numbers.
    ``scores``: of a column of scores, the rows in every hundredth of their range that has some.
    ``unlabelled``: the fingerprint and the coincidence of the counts of rows without their labels.
    """

    digest: str
    rows: int
    read: int
    complete: bool
    excluded: dict[str, int]
    values: dict[str, dict[str, int]]
    missing: dict[str, int]
    divisor: int
    cells: int
    coincidence: float
    agreement: tuple[int, int, float]
    scores: Mapping[str, Mapping[str, int]]
    unlabelled: tuple[str, float]


def feed_rows(cube: Cube, question: Spec) -> FeedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason."""
    named = question.unknown or question.exclude_groups
    complete = (
        not (named or cube.excluded or cases_of_no_weight(cube))
        and all((table.codes >= 0).all() for table in cube.tables)
        and all(open_levels(cube, axis, question) is None for axis in cube.plan.outcomes)
    )
    excluded = {} if complete else excluded_rows(cube, question)
    cases = _counts_by_case(cube)
    joint = _joint(cube)
    rows = joint.sums["rows"][joint.sums["rows"] > 0]
    known = rows.size > 0 and cube.rows > HANDFUL
    return FeedRows(
        fingerprint(cube),
        cases.rows,
        cube.rows,
        complete,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        int(np.gcd.reduce(rows.astype(np.int64))) if known else 1,
        int(rows.size),
        _coincidence(joint) if known else 0.0,
        _agreement(cases, question),
        _score_histograms(cases),
        _fingerprint_without_labels(cube, joint),
    )


def fingerprint(cube: Cube) -> str:
    """Return what distinguishes counts from others of the same plan, as their digest does."""
    excluded = {str(reason): rows for reason, rows in cube.excluded.items()}
    found = hashlib.sha256(repr((cube.rows, excluded, [*cube.levels.values()])).encode())
    for table in cube.tables:
        found.update(table.codes.tobytes())
        for sums in table.sums.values():
            found.update(sums.tobytes())
    return found.hexdigest()


def _counts_by_case(cube: Cube) -> Cube:
    # counts of which every case, person, or row without a count is a row
    if not cube.plan.count and not cube.asked.of_people:
        return cube
    tables = (replace(each, sums={**each.sums, "rows": each.cases}) for each in cube.tables)
    others = (n for why, n in cube.excluded.items() if why != Uncounted.SAME_PERSON)
    return replace(cube, tables=tuple(tables), rows=cube.cases + sum(others))


def _rows_of_values(cube: Cube, question: Spec) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    # Those of groups and strata that are cut are the intervals, those of a score the decisions at
    # its threshold. Other numbers that are cut have none, nor have columns of many. Values that are
    # excluded or mean that nothing is known are none that could be new, nor are clusters; rows of
    # unknown groups are missing.
    values: dict[str, dict[str, int]] = {}
    missing: dict[str, int] = {}
    apart, rows = {*map(name_of, question.unknown), *question.exclude_groups}, cube.cases_by_level
    binary = decide_task(cube, question) is Task.BINARY
    for axis in (axis for role in _CHECKED for axis in cube.plan.axes if axis.role is role):
        if axis.column in missing:
            continue
        unknown = np.append(unknown_levels(axis, cube.levels[axis], question), True)
        missing[axis.column] = int(rows[axis][unknown].sum())
        if axis.role in (Role.SCORE, Role.CLUSTER) or not _has_names(cube, axis):
            continue
        names = axis.names(cube.levels[axis])
        if axis.role in (Role.LABEL, Role.PREDICTION) and not axis.bounds and binary:
            names = [name_of(meaning(level)) for level in cube.levels[axis]]  # True counts as 1
        held = values.setdefault(axis.column, {})
        for text, n in zip(names, rows[axis][:-1].tolist(), strict=True):
            if n and text not in apart:
                held[text] = held.get(text, 0) + int(n)
    uncounted = {cube.plan.weight: Uncounted.NO_WEIGHT, cube.plan.count: Uncounted.NO_COUNT}
    for column, why in uncounted.items():
        if column is not None:
            missing.setdefault(column, cube.excluded.get(why, 0))
    return values, missing


def _has_names(cube: Cube, axis: Axis) -> bool:
    # whether the values of an axis have names: they are few, or intervals of groups
    if axis.cuts:
        return bool(axis.bounds) or axis.role in (Role.FEATURE, Role.STRATUM)
    return not axis.grid and len(cube.levels[axis]) <= _MOST_VALUES


def _score_histograms(cube: Cube) -> dict[str, dict[str, int]]:
    axis = cube.plan.axis(Role.SCORE)
    if axis is None or not axis.grid:
        return {}
    table = cube.marginal([axis])
    held = (table.codes[:, 0] >= 0) & (table.sums["rows"] > 0)
    parts = np.minimum(table.codes[held, 0] // 2 * PARTS // axis.grid, PARTS - 1)
    rows = np.bincount(parts, table.sums["rows"][held], PARTS).astype(int)
    return {axis.column: {str(part): int(rows[part]) for part in np.flatnonzero(rows).tolist()}}


def _agreement(cube: Cube, question: Spec) -> tuple[int, int, float]:
    # all positive values are one
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None or decide_task(cube, question) is Task.REGRESSION:
        return 0, 0, 0.0
    if not all(_has_names(cube, axis) for axis in (label, prediction)):
        return 0, 0, 0.0
    words = question.words_of_predictions is not None and not prediction.bounds

    def outcome(axis: Axis, value: Value) -> str | bool:
        named = words and not axis.bounds
        return _is_positive(axis, value, question) or (named and name_of(meaning(value)))

    table = cube.marginal([label, prediction])
    outcomes = [[outcome(axis, v) for v in cube.levels[axis]] for axis in (label, prediction)]
    labels, predictions = Counter[str | bool](), Counter[str | bool]()
    same = 0
    for codes, rows in zip(table.codes.tolist(), table.sums["rows"].tolist(), strict=True):
        if min(codes) >= 0:
            one, two = (each[code] for each, code in zip(outcomes, codes, strict=True))
            labels[one] += int(rows)
            predictions[two] += int(rows)
            same += int(rows) * (one == two)
    n = labels.total()
    return n, same, sum(labels[e] * predictions[e] for e in labels) / n**2 if n else 0.0


def _is_positive(axis: Axis, value: Value, question: Spec) -> bool:
    # whether an outcome is positive: of a score, the decision at its threshold
    if not axis.bounds:
        wanted = question.positive_of(axis.column)
        return is_one_of(value, wanted if question.positive else BY_DEFAULT[1:])
    wanted = question.positive_of(question.label) or BY_DEFAULT[1:]
    return bool(value) == (question.score_of is None or is_one_of(question.score_of, wanted))


def _fingerprint_without_labels(cube: Cube, joint: CountTable) -> tuple[str, float]:
    # it is the same before and after the labels have come
    axes = [axis for axis in joint.axes if axis.role is not Role.LABEL]
    table = cube.marginal(axes)
    found = hashlib.sha256(repr([cube.levels[axis] for axis in axes]).encode())
    found.update(table.codes.tobytes())
    found.update(table.sums["rows"].tobytes())
    return found.hexdigest(), 0.0 if cube.rows <= HANDFUL else _coincidence(table)


def _joint(cube: Cube) -> CountTable:
    others = (Role.CLUSTER, Role.CODES)
    apart = [t for t in cube.tables if not any(a.role in others for a in t.axes)]
    return max(apart, key=lambda table: len(table.codes))


def _coincidence(table: CountTable) -> float:
    # it is that of multinomial counts being the same twice, within groups of given sizes: of more
    # freedom, it would be smaller
    held = table.sums["rows"] > 0
    rows = table.sums["rows"][held]
    columns = [i for i, axis in enumerate(table.axes) if axis.role is Role.FEATURE]
    of_group = np.unique(table.codes[held][:, columns], axis=0, return_inverse=True)[1].ravel()
    sizes, cells = np.bincount(of_group, rows), np.bincount(of_group)
    logs = np.bincount(of_group, np.log(rows))
    twins = (np.log(sizes) - logs - (cells - 1) * math.log(4 * math.pi)) / 2
    return float(np.minimum(twins, 0.0).sum())
