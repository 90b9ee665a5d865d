"""What the checks of a feed read of the counts of a period."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fairgauge.checks.feed import OF_ALL, PARTS, Combination, FeedRows, Numbers, Subject
from fairgauge.cube.cube import HANDFUL, CountTable, Cube, cases_of_no_weight, counts_together
from fairgauge.cube.plan import Axis, centre_of
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import unknown_levels
from fairgauge.resolve.outcomes import MOMENTS, ROUNDING, decide_task, open_levels
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
_LARGEST = 1e70
"""Numbers whose fourth powers can be computed with."""
_Values: TypeAlias = dict[Subject, dict[str, int]]


def feed_rows(cube: Cube, question: Spec) -> FeedRows:
    """Return the rows that a cube counts, and those that the question excludes, by reason."""
    named = question.unknown or question.exclude_groups
    complete = (
        not (named or cube.excluded or cube.without_condition or cases_of_no_weight(cube))
        and all((table.codes >= 0).all() for table in cube.tables)
        and all(open_levels(cube, axis, question) is None for axis in cube.plan.outcomes)
    )
    excluded = {} if complete else excluded_rows(cube, question)
    cases = _counts_by_case(cube)
    joint = _joint(cube)
    joint = joint.where(joint.sums["rows"] > 0)
    rows, places = joint.sums["rows"], np.unique(joint.codes[:, :-1], axis=0, return_inverse=True)
    # of the counts by the last outcome, all but the largest one, where all others are fixed
    of = places[1].ravel()
    order = np.lexsort((rows, of))
    free = order[:-1][of[order][:-1] == of[order][1:]]
    return FeedRows(
        [twin(cube), twin(cube, labelled=False)],
        cases.rows,
        cube.rows,
        complete,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        _rows_by_group(cases),
        int(np.gcd.reduce(rows.astype(np.int64))) if rows.sum() > HANDFUL else 1,
        np.asarray(rows[free] * (1 - rows[free] / np.bincount(of, rows)[of[free]])),
        bool(cube.copies),
        _agreement(cases, question),
        _score_histograms(cases),
        _describe_numbers(cases, question),
    )  # fmt: skip


def twin(cube: Cube, *, labelled: bool = True) -> tuple[str, float]:
    """Return the fingerprint of counts, and the log of the probability that others have it.

    Without labels, it is the same before and after these have come.
    """
    table, names = _joint(cube), ["rows"]
    if labelled:
        names = [*table.sums]
    else:
        table = table.over([axis for axis in table.axes if axis.role is not Role.LABEL])
    found = hashlib.sha256(repr([cube.levels[axis] for axis in table.axes]).encode())
    for numbers in (table.codes, *map(table.sums.__getitem__, names)):
        found.update(numbers.tobytes())
    if table.sums["rows"].sum() <= HANDFUL:
        return found.hexdigest(), 0.0
    return found.hexdigest(), _coincidence(table) + labelled * _coincidence_of_sums(table)


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
    groups, others = (
        [axis for axis in cube.tables[0].axes if axis.role in some]
        for some in ((Role.FEATURE,), (Role.STRATUM, Role.LABEL, Role.PREDICTION))
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
    features = _features_counted_with(cube, places) if of_groups else []
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


def _features_counted_with(cube: Cube, axes: Iterable[Axis]) -> list[Axis]:
    features = (axis for axis in cube.plan.axes if axis.role is Role.FEATURE)
    return [e for e in features if counts_together(cube, e, *axes) and _has_names(cube, e)]


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
    if label is None or prediction is None:
        return {}
    if decide_task(cube, question) is Task.REGRESSION:
        # the fewest rows with an error, by the inequality of Cauchy and Schwarz
        return {
            of: (rows, int(rows - rows * e["gap"] / e["w"] * e["gap"] / (e["gap2"] or 1.0)), 0.0)
            for of, rows, e in _sums_by_subject(cube, [label, prediction])
        }
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


def _describe_numbers(cube: Cube, question: Spec) -> dict[Subject, Numbers]:
    # of what a regression averages
    found = {}
    for axis in cube.plan.outcomes if question.task is Task.REGRESSION else ():
        first, second = MOMENTS[axis.role]
        for of, rows, sums in _sums_by_subject(cube, [axis]):
            powers = (sums[name] / sums["w"] for name in (first, second, f"{first}3", f"{first}4"))
            mean, squares, third, fourth = powers
            if not (abs(mean) < _LARGEST and squares < _LARGEST**2):
                continue
            variance, value = max(squares - mean**2, 0.0), mean + centre_of(cube.plan)
            apart = fourth - 4 * mean * third + 6 * mean**2 * squares - 3 * mean**4
            # of two values, these show how many rows have the rarer one; of others, more have it
            part = variance**2 / max(apart, variance**2, 1e-300)
            unlike = rows * (1 - math.sqrt((1 - part) / (1 + 3 * part))) / 2
            found[of._replace(column=axis.column)] = (
                rows, value, math.hypot(value, math.sqrt(variance)),
                math.ceil(unlike) if variance > ROUNDING * squares else 0,
            )  # fmt: skip
    return found


def _sums_by_subject(
    cube: Cube, axes: Sequence[Axis]
) -> Iterator[tuple[Subject, int, dict[str, float]]]:
    # the rows that have a value of every axis and their sums, of all and of every group
    for feature in (None, *_features_counted_with(cube, axes)):
        table = cube.marginal([*([feature] if feature else []), *axes]).known(axes)
        for code, name in enumerate(feature.names(cube.levels[feature]) if feature else [None]):
            held = table.where(table.codes[:, 0] == code) if feature else table
            sums = {measure: float(each.sum()) for measure, each in held.sums.items()}
            if weight := sums.get("n", sums["rows"]):
                of = Subject(None, feature.column if feature else None, name)
                yield of, int(sums[cube.plan.cases]), {"w": weight, **sums}


def _is_positive(axis: Axis, value: Value, question: Spec) -> bool:
    # whether an outcome is positive: of a score, the decision at its threshold
    if not axis.bounds:
        wanted = question.positive_of(axis.column)
        return is_one_of(value, wanted if question.positive else BY_DEFAULT[1:])
    wanted = question.positive_of(question.label) or BY_DEFAULT[1:]
    return bool(value) == (question.score_of is None or is_one_of(question.score_of, wanted))


def _joint(cube: Cube) -> CountTable:
    # of a table of counts, a row of which may be any part of a cell, every case is a row
    others = {Role.CLUSTER, Role.CODES}
    apart = [t for t in cube.tables if others.isdisjoint([axis.role for axis in t.axes])]
    table = max(apart, key=lambda table: len(table.codes))
    if not cube.plan.count:
        return table
    return replace(table, sums={**table.sums, "rows": table.sums[cube.plan.cases]})


def _coincidence(table: CountTable) -> float:
    # it is that of multinomial counts being the same twice, within groups of given sizes: of more
    # freedom, it would be smaller; of counts that are rounded, it is larger
    held = table.sums["rows"] > 0
    rows = table.sums["rows"][held]
    columns = [i for i, axis in enumerate(table.axes) if axis.role is Role.FEATURE]
    of_group = np.unique(table.codes[held][:, columns], axis=0, return_inverse=True)[1].ravel()
    sizes, cells = np.bincount(of_group, rows), np.bincount(of_group)
    logs = np.bincount(of_group, np.log(rows))
    step = max(int(np.gcd.reduce(rows.astype(np.int64))), 1)
    twins = (np.log(sizes) - logs - (cells - 1) * math.log(4 * math.pi / step**2)) / 2
    return float(np.minimum(twins, 0.0).sum())


def _coincidence_of_sums(table: CountTable) -> float:
    # that of sums of numbers being the same twice in each cell, as if of one digit after the point
    found = 0.0
    for total, squares in (("y", "yy"), ("p", "pp"), ("gap2", "gap4")):
        if total in table.sums and squares in table.sums:
            sums, weights = table.sums[total], table.sums.get("n", table.sums["rows"])
            varies = np.maximum(table.sums[squares] - sums**2 / np.maximum(weights, 1), 0.0)
            varies *= 1.0 if (sums == np.rint(sums)).all() else 100.0
            found -= float(np.log(np.maximum(4 * math.pi * varies, 1.0)).sum()) / 2
    return found
