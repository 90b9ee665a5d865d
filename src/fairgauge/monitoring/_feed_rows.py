"""What is read of a period for the checks of a monitor's feed: ordinary counts of its values."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from fairgauge.checks.feed import OF_ALL, PARTS, Combination, FeedRows, Subject
from fairgauge.cube.cube import HANDFUL, CountTable, Cube, cases_of_no_weight, counts_together
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import decide_task, open_levels
from fairgauge.resolve.resolution import excluded_rows
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Array, Index
from fairgauge.values import Value, is_one_of, meaning, name_of

# the columns that are checked; one of two roles is counted in the first of them
_CHECKED = (
    Role.FEATURE, Role.LABEL, Role.PREDICTION, Role.SCORE, Role.STRATUM, Role.CLUSTER,
)  # fmt: skip
BY_DEFAULT = (0, 1)
"""The labels where no value is named as the positive one."""
_MOST_VALUES = 200
_Values: TypeAlias = dict[Subject, dict[str, int]]


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
    joint = joint.where(joint.sums["rows"] > 0)
    rows = joint.sums["rows"]
    known = rows.size > 0 and cube.rows > HANDFUL
    return FeedRows(
        [twin(cube), twin(cube, labelled=False)],
        cases.rows,
        cube.rows,
        complete,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        _rows_by_group(cases),
        int(np.gcd.reduce(rows.astype(np.int64))) if known else 1,
        _free_variances(joint),
        bool(cube.copies),
        _agreement(cases, question),
        _score_histograms(cases),
    )  # fmt: skip


def twin(cube: Cube, *, labelled: bool = True) -> tuple[str, float]:
    """Return the fingerprint of counts, and the log of the probability that others have it.

    Without labels, it is the same before and after these have come.
    """
    table, names = _joint(cube), ["rows"]
    if labelled:
        names = [*table.sums]
    else:
        table = cube.marginal([axis for axis in table.axes if axis.role is not Role.LABEL])
    found = hashlib.sha256(repr([cube.levels[axis] for axis in table.axes]).encode())
    for numbers in (table.codes, *map(table.sums.__getitem__, names)):
        found.update(numbers.tobytes())
    return found.hexdigest(), 0.0 if cube.rows <= HANDFUL else _coincidence(table)


def _counts_by_case(cube: Cube) -> Cube:
    # counts of which every case, person, or row without a count is a row
    if not cube.plan.count and not cube.asked.of_people:
        return cube
    tables = (replace(each, sums={**each.sums, "rows": each.cases}) for each in cube.tables)
    others = (n for why, n in cube.excluded.items() if why != Uncounted.SAME_PERSON)
    return replace(cube, tables=tuple(tables), rows=cube.cases + sum(others))


def _rows_of_values(cube: Cube, question: Spec) -> tuple[_Values, dict[str, int]]:
    # Those of groups and strata that are cut are the intervals, those of a score the decisions at
    # its threshold. Other numbers that are cut have none, nor have columns of many. Values that are
    # excluded or mean that nothing is known are none that could be new, nor are clusters; rows of
    # unknown groups are missing.
    values: _Values = {}
    missing: dict[str, int] = {}
    apart = {*map(name_of, question.unknown), *question.exclude_groups}
    binary = decide_task(cube, question) is Task.BINARY
    for axis in (axis for role in _CHECKED for axis in cube.plan.axes if axis.role is role):
        if axis.column in missing:
            continue
        unknown = np.append(unknown_levels(axis, cube.levels[axis], question), True)
        missing[axis.column] = int(cube.cases_by_level[axis][unknown].sum())
        if axis.role in (Role.SCORE, Role.CLUSTER) or not _has_names(cube, axis):
            continue
        outcome = axis.role in (Role.LABEL, Role.PREDICTION)
        if outcome and not axis.bounds and binary:
            names = [name_of(meaning(level)) for level in cube.levels[axis]]  # True counts as 1
        else:
            names = [*axis.names(cube.levels[axis])]
        numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
        places = {axis: np.array([numbers[name] for name in names], dtype=np.intp)}
        for (feature, group), counts in _count_by_subject(cube, places, of_groups=outcome):
            if group not in apart:
                held = dict(zip(numbers, map(int, counts), strict=True))
                values[Subject(axis.column, feature, group)] = {
                    name: n for name, n in held.items() if n and name not in apart
                }
    uncounted = {cube.plan.weight: Uncounted.NO_WEIGHT, cube.plan.count: Uncounted.NO_COUNT}
    for column, why in uncounted.items():
        if column is not None:
            missing.setdefault(column, cube.excluded.get(why, 0))
    return values, missing


def _rows_by_group(cube: Cube) -> dict[Combination, dict[Combination, int]]:
    # the rows of every combination of outcomes and strata, of each combination of groups
    roles = (Role.STRATUM, Role.LABEL, Role.PREDICTION)
    groups, others = (
        [axis for axis in cube.tables[0].axes if axis.role in some]
        for some in ((Role.FEATURE,), roles)
    )
    table = cube.tables[0].over([*groups, *others])
    columns = [
        [(*cube.levels[axis], None)[code] for code in codes.tolist()]
        for axis, codes in zip(table.axes, table.codes.T, strict=True)
    ]
    found = defaultdict[Combination, dict[Combination, int]](dict)
    for *cell, rows in zip(*columns, table.sums["rows"].tolist(), strict=True):
        found[tuple(cell[: len(groups)])][tuple(cell[len(groups) :])] = rows
    return found


def _has_names(cube: Cube, axis: Axis) -> bool:
    # whether the values of an axis have names: they are few, or intervals of groups
    if axis.cuts:
        return bool(axis.bounds) or axis.role in (Role.FEATURE, Role.STRATUM)
    return not axis.grid and len(cube.levels[axis]) <= _MOST_VALUES


def _count_by_subject(
    cube: Cube, places: Mapping[Axis, Index], *, of_groups: bool = True
) -> list[tuple[tuple[str | None, str | None], Array]]:
    # the rows by the places of levels, of all and of every group that is counted together with them
    shape = [int(place.max(initial=-1)) + 1 for place in places.values()]
    features = [
        axis for axis in cube.plan.axes
        if of_groups and axis.role is Role.FEATURE and counts_together(cube, axis, *places)
        and _has_names(cube, axis)
    ]  # fmt: skip
    found = []
    for feature in (None, *features):
        table = cube.marginal([*([feature] if feature else []), *places])
        known = (table.codes >= 0).all(axis=1)
        codes = table.codes[known].T
        names = feature.names(cube.levels[feature]) if feature else [None]
        at = [place[of] for place, of in zip(places.values(), codes[-len(places) :], strict=True)]
        counts = np.zeros((len(names), *shape))
        group = codes[0] if feature else np.zeros_like(codes[0])
        np.add.at(counts, (group, *at), table.sums["rows"][known])
        column = feature.column if feature else None
        found += [((column, name), of) for name, of in zip(names, counts, strict=True)]
    return found


def _score_histograms(cube: Cube) -> dict[Subject, dict[str, int]]:
    axis = cube.plan.axis(Role.SCORE)
    if axis is None or not axis.grid:
        return {}
    parts = np.arange(2 * axis.grid + 2) // 2 * PARTS // axis.grid
    counts = _count_by_subject(cube, {axis: np.minimum(parts, PARTS - 1)})
    return {
        Subject(axis.column, *of): {str(i): int(held[i]) for i in np.flatnonzero(held).tolist()}
        for of, held in counts
    }


def _agreement(cube: Cube, question: Spec) -> dict[Subject, tuple[int, int, float]]:
    # of all rows, and of those of every group; all positive values are one
    label, prediction = map(cube.plan.axis, (Role.LABEL, Role.PREDICTION))
    if label is None or prediction is None or decide_task(cube, question) is Task.REGRESSION:
        return {}
    if not (_has_names(cube, label) and _has_names(cube, prediction)):
        return {}
    words = question.words_of_predictions is not None and not prediction.bounds

    def outcome(axis: Axis, value: Value) -> str | bool:
        named = words and not axis.bounds
        return _is_positive(axis, value, question) or (named and name_of(meaning(value)))

    numbers: dict[str | bool, int] = {}
    places = {
        axis: np.array([numbers.setdefault(outcome(axis, v), len(numbers))
                        for v in cube.levels[axis]], dtype=np.intp)
        for axis in (label, prediction)
    }  # fmt: skip
    found, equal, known = {}, Counter[str | None](), Counter[str | None]()
    for of, counts in _count_by_subject(cube, places):
        n, both = counts.sum(), min(counts.shape)
        chance = float(counts.sum(axis=1)[:both] @ counts.sum(axis=0)[:both]) / max(n, 1) ** 2
        found[Subject(None, *of)] = int(n), int(np.trace(counts)), chance
        equal[of[0]] += chance * n
        known[of[0]] += n
    # groups may have unlike shares of both
    chance = min(equal[feature] / max(n, 1) for feature, n in known.items())
    return found | {OF_ALL: (*found[OF_ALL][:2], chance)}


def _is_positive(axis: Axis, value: Value, question: Spec) -> bool:
    # whether an outcome is positive: of a score, the decision at its threshold
    if not axis.bounds:
        wanted = question.positive_of(axis.column)
        return is_one_of(value, wanted if question.positive else BY_DEFAULT[1:])
    wanted = question.positive_of(question.label) or BY_DEFAULT[1:]
    return bool(value) == (question.score_of is None or is_one_of(question.score_of, wanted))


def _joint(cube: Cube) -> CountTable:
    others = {Role.CLUSTER, Role.CODES}
    apart = [t for t in cube.tables if others.isdisjoint([axis.role for axis in t.axes])]
    return max(apart, key=lambda table: len(table.codes))


def _free_variances(table: CountTable) -> Array:
    # of the counts by the last outcome, all but the largest one, where all others are fixed
    rows, places = table.sums["rows"], np.unique(table.codes[:, :-1], axis=0, return_inverse=True)
    of = places[1].ravel()
    order = np.lexsort((rows, of))
    free = order[:-1][of[order][:-1] == of[order][1:]]
    return np.asarray(rows[free] * (1 - rows[free] / np.bincount(of, rows)[of[free]]))


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
