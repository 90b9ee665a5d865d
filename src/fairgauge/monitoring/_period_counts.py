"""What is read of a period for the checks of a feed, and for every monitored comparison.

Counts of several periods are stacked as those of one cube, whose strata are the periods: groups,
outcomes and sides are then resolved once for many periods.

References are chosen by the numbers of rows of the first period, and not by outcomes, so that the
promise holds: the largest group where that is asked for, and of two groups that would each be
compared with the other the larger, so that they are one comparison with the limits of both.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.statistics import agreement
from fairgauge.checks.feed import OF_ALL, PARTS, Combination, FeedRows, Numbers, Subject
from fairgauge.cube.cube import (
    HANDFUL,
    CountTable,
    Cube,
    add_with_shared_people,
    aggregate,
    cases_of_no_weight,
    counts_together,
    join_observed,
    round_sums,
    stack_tables,
)
from fairgauge.cube.plan import Axis, centre_of
from fairgauge.enums import Missing, ReferenceRule, Role, Task, Uncounted
from fairgauge.errors import CubeError, DataError, SpecError, ValuesError, cells, listing, quote
from fairgauge.identity import is_named
from fairgauge.monitoring.monitor_spec import (
    MonitoredRate,
    MonitorRule,
    MonitorSpec,
    Rates,
    contrasted_rate,
    is_exact,
)
from fairgauge.question.specification import Spec
from fairgauge.resolve.group_counts import GroupCounts, count_groups, refuse_missing, unknown_levels
from fairgauge.resolve.outcomes import (
    MOMENTS,
    ROUNDING,
    OutcomeMasks,
    decide_task,
    open_levels,
    outcome_masks,
    ways_of_writing,
)
from fairgauge.resolve.references import CountsBySide, resolve_references
from fairgauge.resolve.resolution import excluded_rows
from fairgauge.scan.identifiers import CLUSTER_KEY, NUMBERED
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array, Index
from fairgauge.values import MISSING_NAME, Value, is_one_of, meaning, name_of

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
    rows = joint.sums["rows"]
    return FeedRows(
        [twin(cube), twin(cube, labelled=False)],
        cases.rows,
        cube.rows,
        complete,
        {why: n for why, n in excluded.items() if n and why != Uncounted.SAME_PERSON},
        *_rows_of_values(cases, question),
        _rows_by_group(cases),
        int(np.gcd.reduce(rows.astype(np.int64))) if rows.sum() > HANDFUL else 1,
        _free_variances(joint),
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


def _free_variances(table: CountTable) -> Array:
    # of the counts by the last outcome, all but the largest one, where all others are fixed
    rows, places = table.sums["rows"], np.unique(table.codes[:, :-1], axis=0, return_inverse=True)
    of = places[1].ravel()
    order = np.lexsort((rows, of))
    free = order[:-1][of[order][:-1] == of[order][1:]]
    return np.asarray(rows[free] * (1 - rows[free] / np.bincount(of, rows)[of[free]]))


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


_Answer = TypeVar("_Answer")
_ONCE = math.log(1e-3)
"""The log of the chance below which what is looked at once in a history is no coincidence."""


class PeriodCubes(tuple[Cube, ...]):
    """The counts of periods."""

    @cached_property
    def _sums(self) -> dict[tuple[int, ...], Cube]:
        return {}

    def together(self, some: Sequence[int]) -> Cube:
        """Return the counts of some periods as one; made once for all alarms."""
        key = tuple(some)
        if key not in self._sums:
            self._sums[key] = sum_cubes([self[t] for t in key])
        return self._sums[key]

    def find_same(self, cube: Cube) -> range:
        """Return the periods in a row that have these counts together, if there are any."""
        rows, ends, own = 0, 0, twin(cube)
        for first, each in enumerate(self):
            while rows < cube.rows and ends < len(self):
                rows, ends = rows + self[ends].rows, ends + 1
            some = range(first, ends)
            rare = own[1] + math.log(first + 1) < _ONCE or len(some) == 1
            if rows == cube.rows > 0 and rare and twin(self.together(some))[0] == own[0]:
                return some
            rows -= each.rows
        return range(0)

    @cached_property
    def blank(self) -> Cube:
        """Return the values of all periods and the groups that cross columns, without rows."""
        return sum_cubes([drop_rows(cube) for cube in self])

    def knowing_all(self, cube: Cube) -> Cube:
        """Return counts with the values of all periods: one may lack what the question names."""
        return sum_cubes([cube, self.blank])

    def knowing_outcomes(self, cube: Cube) -> Cube:
        """Return counts with the outcomes of all periods, and with their own groups alone."""
        own, every = drop_rows(cube), self.blank
        levels = {**own.levels, **{axis: every.levels[axis] for axis in cube.plan.outcomes}}
        return sum_cubes([cube, replace(every, levels=levels, tables=own.tables)])

    def answer(self, cube: Cube, ask: Callable[[Cube], _Answer]) -> _Answer:
        """Return what counts answer, with the values of all periods where they lack one."""
        try:
            return ask(cube)
        except SpecError:
            return ask(self.knowing_all(cube))


def levels_of(cube: Cube, axes: Sequence[Axis]) -> str:
    """Return what distinguishes the levels of some axes of a cube from others, as a key."""
    return repr([cube.levels[axis] for axis in axes])  # True and 1 are equal in Python


def sum_cubes(cubes: Sequence[Cube]) -> Cube:
    """Return the counts of several periods as one; two may well hold the same counts."""
    alike: dict[str, list[Cube]] = {}
    for cube in cubes:
        key = f"{levels_of(cube, cube.plan.axes)} {centre_of(cube.plan)}"
        alike.setdefault(key, []).append(cube)
    sums = [*map(_sum_alike, alike.values())]  # at once: one after the other takes far longer
    if len(sums) > 1:
        sums = [*map(_merge_spellings, sums)]
    return reduce(add_with_shared_people, sums)


def _merge_spellings(cube: Cube) -> Cube:
    # counts of rows that write one outcome in two ways stay as they are, so that they are refused
    if decide_task(cube, cube.asked) is not Task.BINARY:
        return cube
    levels = {**cube.levels}
    for axis in cube.plan.outcomes:
        meant = tuple(map(meaning, cube.levels[axis]))
        if not axis.bins and (len({*meant}) == len(meant) or not cube.rows):
            levels[axis] = meant
    return replace(cube, levels=levels)


def _sum_alike(cubes: Sequence[Cube]) -> Cube:
    first = cubes[0]
    if len(cubes) == 1:
        return first
    if first.clusters == NUMBERED:
        return first.add(cubes[1], allow_duplicates=True)  # which states why they do not add up
    excluded: Counter[Uncounted] = Counter()
    for cube in cubes:
        excluded.update(cube.excluded)
    tables = [
        round_sums(first.plan, stack_tables(same).over(same[0].axes))
        for same in zip(*(cube.tables for cube in cubes), strict=True)
    ]
    return replace(
        first,
        tables=tuple(tables),
        rows=sum(cube.rows for cube in cubes),
        excluded=dict(sorted(excluded.items())),
        observed=join_observed([cube.observed for cube in cubes]),
    )


def drop_rows(cube: Cube) -> Cube:
    """Return the levels of a cube with no rows: adding it makes values known that no row has.

    Combinations of features that occur are kept, for intersections; clusters are not.
    """
    levels = {axis: () if axis.role is Role.CLUSTER else held for axis, held in cube.levels.items()}
    tables = []
    for table in cube.tables:
        of_features = [axis.role is Role.FEATURE for axis in table.axes]
        nothing = {m: np.zeros_like(sums) for m, sums in table.sums.items()}
        tables.append(aggregate(table.axes, np.where(of_features, table.codes, -1), nothing))
    return replace(cube, levels=levels, tables=tuple(tables), rows=0, excluded={}, observed=())


def check_values(names: Sequence[str], cubes: Sequence[Cube], question: Spec) -> None:
    """Refuse periods whose labels or predictions have other values than those of other periods.

    They have none in common, or write one outcome in two ways; or hold values that are recoded.
    """
    _check_recoded(names, cubes, question)
    if len(cubes) < 2 or decide_task(cubes[0], question) is Task.REGRESSION:
        return
    columns: dict[tuple[int, ...], list[str]] = {}
    for axis in cubes[0].plan.outcomes:
        recoding = question.recoding(axis.column)
        held = [
            {name_of(meaning(v)) for v in (recoding.apply(of) if recoding else of) if v is not None}
            for of in [_levels(cube, axis) for cube in cubes]
        ]
        positive = {name_of(v) for v in question.positive_of(axis.column) or BY_DEFAULT[1:]}
        ways = ways_of_writing([*chain(*held), *positive], positive)
        shared = Counter(chain(*held))  # which of several periods have a value
        right = next((way for way in ways if way & {each.casefold() for each in positive}), set())
        odd = tuple(
            t for t, own in enumerate(held)
            if (len(ways) > 1 and {each.casefold() for each in own} - right)
            # no value of any other period; a handful of rows may have none by coincidence
            or (own and cubes[t].rows > HANDFUL and own.isdisjoint(positive)
                and max(shared[v] for v in own) == 1 and shared.keys() - own - positive)
        )  # fmt: skip
        if odd and len(odd) < len(held):
            others = [t for t in range(len(held)) if t not in odd]
            usual = next((t for t in others if held[t]), others[0])
            found = sorted({*chain(*(held[t] for t in odd))} - {*held[usual]})
            columns.setdefault(odd, []).append(
                f"column {quote(axis.column)} holds {cells(found)}, and none of these is known "
                f"from {names[usual]} ({cells(sorted(held[usual]))})"
            )
    if columns:
        stated = (
            f"the {'period' if len(odd) == 1 else 'periods'} "
            f"{names[odd[0]] if len(odd) == 1 else listing([names[t] for t in odd])}: "
            f"{' and '.join(texts)}"
            for odd, texts in columns.items()
        )
        raise ValuesError(
            f"{'; '.join(stated)}; use the same values in all periods: correct the wrong rows and "
            "count them again (--replace, if they are stored), or list with each stored value "
            "those that mean the same, below [recode] in the specification",
            {names[t] for t in chain(*columns)},
        )


def _levels(cube: Cube, axis: Axis) -> list[Value]:
    # the values of a column that rows have, without missing ones; none of cut numbers
    if axis.bins:
        return []
    rows = cube.cases_by_level[axis][:-1]
    return [level for level, n in zip(cube.levels[axis], rows, strict=True) if n > 0]


def _check_recoded(names: Sequence[str], cubes: Sequence[Cube], question: Spec) -> None:
    for recoding in question.recode:
        late: dict[str, list[str]] = {}
        for name, cube in zip(names, cubes, strict=True):
            texts: list[str] = []
            for axis in cube.plan.axes if recoding.column else ():
                held = _levels(cube, axis) if axis.column == recoding.column else []
                outcome = axis.role in (Role.LABEL, Role.PREDICTION)  # of which True counts as 1
                texts += [name_of(meaning(v) if outcome else v) for v in held]
            categories = zip(texts, recoding.categories_of(texts), strict=True)
            if raw := [text for text, category in categories if category not in (None, text)]:
                late[name] = raw
        if late:
            raise ValuesError(
                f"{quote(recoding.column)} holds {cells(dict.fromkeys(chain(*late.values())))} in "
                f"the rows of {listing(late)}, which the specification recodes; values are recoded "
                "while rows are counted, so add these periods again from their rows (--replace)",
                late,
            )


PERIODS = Axis(Role.STRATUM, "period")
_MOST_CELLS = 500_000
"""Cells of periods by groups, labels and predictions that are resolved at once."""
_KEPT = (Role.FEATURE, Role.LABEL, Role.PREDICTION)
_CASES = ("rows", "cases", "n")


def stacks(cubes: Sequence[Cube]) -> Iterator[tuple[list[int], Cube]]:
    """Yield stacks of cubes of the same levels, each with the positions of its cubes."""
    alike: dict[str, list[int]] = {}
    for position, cube in enumerate(cubes):
        alike.setdefault(levels_of(cube, _axes(cube)), []).append(position)
    for positions in alike.values():
        first = cubes[positions[0]]
        cells = math.prod(len(first.levels[axis]) + 1 for axis in _axes(first))
        most = max(1, _MOST_CELLS // cells)
        for begin in range(0, len(positions), most):
            some = positions[begin : begin + most]
            yield some, _stack([cubes[position] for position in some])


def _axes(cube: Cube) -> tuple[Axis, ...]:
    return tuple(axis for axis in cube.plan.axes if axis.role in _KEPT)


def _stack(cubes: Sequence[Cube]) -> Cube:
    first, kept = cubes[0], _axes(cubes[0])
    apart = (Role.SCORE, Role.CLUSTER, Role.CODES)
    counted = [
        i for i, table in enumerate(first.tables) if not any(a.role in apart for a in table.axes)
    ]
    axes = (*kept, PERIODS)
    tables = [_stacked_table([cube.tables[i] for cube in cubes], kept) for i in counted]
    positions = tuple(tuple(map(axes.index, table.axes)) for table in tables)
    return Cube(plan=replace(first.plan, axes=axes, tables=positions, moments=()),
        levels={axis: first.levels[axis] for axis in kept} | {PERIODS: tuple(range(len(cubes)))},
        tables=tuple(tables), rows=sum(cube.rows for cube in cubes))  # fmt: skip


def _stacked_table(tables: Sequence[CountTable], kept: Sequence[Axis]) -> CountTable:
    columns = [i for i, axis in enumerate(tables[0].axes) if axis in kept]
    stacked = stack_tables(tables)
    period = np.repeat(np.arange(len(tables)), [len(table.codes) for table in tables])
    return CountTable(
        (*(tables[0].axes[i] for i in columns), PERIODS),
        np.column_stack([stacked.codes[:, columns], period]),
        {measure: stacked.sums[measure] for measure in _CASES if measure in stacked.sums},
    )


ACCURACY = agreement()


class ComparisonId(NamedTuple):
    """A rule, by its number, for a group of a feature, and a class that is held against all."""

    rule: int
    feature: str
    group: str
    class_: str | None = None


class SideCounts(NamedTuple):
    """Successes and rows of the two rates of a contrast; ``d`` is the first of its formula."""

    x_d: float
    n_d: float
    x_a: float
    n_a: float


class RuleCounts(NamedTuple):
    """The counts of a rule for the groups of a feature in some periods.

    ``counts`` have shape (periods, groups, 4): x_d, n_d, x_a, n_a; 0 where one is not ``present``.
    """

    rule: int
    feature: str
    class_: str | None
    groups: tuple[str, ...]
    references: tuple[str, ...]
    counts: Array
    present: NDArray[np.bool_]

    @property
    def ids(self) -> list[ComparisonId]:
        return [ComparisonId(self.rule, self.feature, group, self.class_) for group in self.groups]


@dataclass(slots=True)
class ComparisonCounts:
    """The counts of all comparisons over all periods, shape (periods, comparisons, 4).

    ``arrivals`` are the number of the first period of each; -1 where a baseline has it.
    ``baselines`` are the counts of those whose rule has one that holds them.
    """

    ids: list[ComparisonId]
    arrivals: list[int]
    references: list[str]
    counts: Array
    baselines: dict[ComparisonId, SideCounts]


def collect_counts(
    cubes: PeriodCubes, names: Sequence[str], spec: MonitorSpec, rates: Rates
) -> ComparisonCounts:
    """Collect the counts of all comparisons of ``rates`` from the cubes of all periods."""
    arrivals: dict[ComparisonId, int] = {}
    references: dict[ComparisonId, str] = {}
    baselines: dict[ComparisonId, SideCounts] = {}
    for i, rule in enumerate(spec.rules):
        cube = rule.baseline.cube if rule.baseline else None
        for held in () if cube is None else _baseline_counts(cube, spec, rates, cubes):
            arrivals |= dict.fromkeys(held.ids, -1)
            references |= dict(zip(held.ids, held.references, strict=True))
            if held.rule == i:
                rows = (SideCounts(*row) for row in held.counts[0].tolist())
                baselines |= dict(zip(held.ids, rows, strict=True))
    found = list(_period_counts(cubes, names, spec, rates, every=cubes))
    first: dict[ComparisonId, int] = {}
    for positions, held in found:
        for each, reference, present in zip(held.ids, held.references, held.present.T, strict=True):
            references.setdefault(each, reference)
            if present.any():
                period = positions[int(np.argmax(present))]
                first[each] = min(period, first.get(each, period))
    for each, period in sorted(first.items(), key=lambda item: item[1]):
        arrivals.setdefault(each, period)
    column = {each: i for i, each in enumerate(arrivals)}
    counts = np.zeros((len(cubes), len(column), 4))
    for positions, held in found:
        known = [i for i, each in enumerate(held.ids) if each in column]
        columns = np.array([column[held.ids[i]] for i in known], dtype=np.int64)
        counts[np.array(positions)[:, np.newaxis], columns] = held.counts[:, known]
    return ComparisonCounts([*column], [*arrivals.values()], [references[each] for each in column],
        counts, baselines)  # fmt: skip


def _baseline_counts(
    baseline: Cube, spec: MonitorSpec, rates: Rates, cubes: PeriodCubes
) -> list[RuleCounts]:
    # a baseline may lack a positive value, but no group that is named
    def counted(cube: Cube) -> list[RuleCounts]:
        return [held for _, held in _period_counts([cube], [""], spec, rates)]

    try:
        return counted(baseline)
    except DataError:
        return counted(cubes.knowing_outcomes(baseline))


def _period_counts(
    cubes: Sequence[Cube],
    names: Sequence[str],
    spec: MonitorSpec,
    rates: Rates,
    *,
    every: PeriodCubes | None = None,
) -> Iterator[tuple[list[int], RuleCounts]]:
    # ``every`` holds all periods: one of them may lack a value that the question names
    for cube in cubes:
        refuse_unfit(cube)
        if spec.question.missing is Missing.ERROR:
            refuse_missing(cube)
    for positions, stack in stacks(cubes) if rates else ():
        try:
            held = list(_rule_counts(stack, spec, rates))
        except SpecError as error:
            if every is None:
                named = names[positions[0]]
                raise DataError(f"the period {named}: {error}" if named else str(error)) from None
            wider = [every.knowing_all(cubes[position]) for position in positions]
            some = [names[position] for position in positions]
            for within, each in _period_counts(wider, some, spec, rates):
                yield [positions[i] for i in within], each
        else:
            yield from ((positions, each) for each in held)


def refuse_unfit(cube: Cube) -> None:
    """Refuse counts that are known within ranges alone, and clusters that no other period names."""
    if cube.min_cell is not None:
        raise CubeError("protected counts cannot be monitored; give the exact counts")
    if cube.clusters == NUMBERED:
        raise CubeError(
            f"a monitor needs one name of a cluster in all periods: set {CLUSTER_KEY} in the "
            "environment to 16 random characters or more (openssl rand -hex 32), keep it beside "
            "the rows, and count them again"
        )


def _rule_counts(stack: Cube, spec: MonitorSpec, rates: Rates) -> Iterator[RuleCounts]:
    question = spec.question
    periods = len(stack.levels[PERIODS])
    for counted in count_groups(stack, question):
        size = len(counted.groups)
        groups = np.tile(np.arange(size), periods)
        slots = np.repeat(np.arange(1, periods + 1), size)  # the first slot is all periods together
        # a period may be held against the values of all, and have no rows of a group
        present = counted.counts[stack.plan.cases][:size, 1:].sum(axis=(2, 3)).T > 0
        for class_, sides in sides_by_class(counted, stack, question):
            references = resolve_references(counted, sides, None, question)
            own, theirs = sides.pick(groups, slots), sides.pick(references.sides[groups], slots)
            for i, rate in rates.items():
                rule = spec.rules[i]
                feature = counted.feature, counted.feature_id
                if rule.features and not is_named(rule.features, *feature):
                    continue
                if sides.of_classes and rate.rate.name != ACCURACY.name:
                    continue  # of all classes together, only accuracy is a share of rows
                held = [
                    g
                    for g, of in enumerate(zip(counted.groups, counted.group_ids, strict=True))
                    if (not rule.groups or is_named(rule.groups, *of))
                    and (rate.by == "rate" or references.sides[g] != g)  # compared with nothing
                ]
                first, second = (theirs, own) if rate.turned else (own, theirs)
                columns = (*counts_of(first, rate), *counts_of(second, rate))
                named = ("" if rate.by == "rate" else str(references.each[g]) for g in held)
                here = np.stack(columns, axis=-1).reshape(periods, size, 4) * present[..., None]
                yield RuleCounts(i, counted.feature, class_, tuple(counted.groups[g] for g in held),
                    tuple(named), here[:, held], present[:, held])  # fmt: skip


def sides_by_class(
    counted: GroupCounts, cube: Cube, question: Spec
) -> Iterator[tuple[str | None, CountsBySide]]:
    """Yield the counts of all sides: of two outcomes, or of every class and of all classes."""
    task = decide_task(cube, question)
    masks = outcome_masks(cube, question, task)
    if task is Task.BINARY:
        yield None, CountsBySide(counted, masks[0], question.profile)
        return
    for mask in masks:
        yield mask.class_scope.name, CountsBySide(counted, mask, question.profile)
    nothing = OutcomeMasks(np.zeros_like(masks[0].labels), np.zeros_like(masks[0].predictions))
    yield None, CountsBySide(counted, nothing, question.profile, masks)


def counts_of(side: ConfusionCounts, rate: MonitoredRate) -> tuple[Array, Array]:
    """Return the successes and rows of a rate; of all classes together, of overall accuracy."""
    if side.per_class:
        return ACCURACY.agreed(side), ACCURACY.size(side)
    cells = side.counts(rate.rate.needs)
    return rate.rate.of.count(cells), rate.rate.among.count(cells)


def exact_rates(spec: MonitorSpec) -> dict[int, MonitoredRate]:
    """Return the rules that counts of independent rows decide exactly, each with its rate."""
    rates = [contrasted_rate(spec.catalogue.row(rule.metric)) for rule in spec.rules]
    return {i: rate for i, rate in enumerate(rates) if rate and is_exact(rate, spec.question)}


def fix_references(spec: MonitorSpec, cubes: PeriodCubes) -> tuple[Spec, frozenset[str]]:
    """Return a question with references that the first period chooses, and features of two.

    These are the largest groups, where they are asked for, and of two groups that would each be
    compared with the other, the one that is the reference of both.
    """
    question = spec.question
    if question.reference is ReferenceRule.LARGEST:

        def largest(cube: Cube) -> Iterator[tuple[str, str]]:
            for counted in count_groups(cube, question):
                _, sides = next(sides_by_class(counted, cube, question))
                for each in resolve_references(counted, sides, None, question).each[:1]:
                    yield counted.feature, str(each.group)

        named = cubes.answer(cubes[0], lambda cube: tuple(largest(cube)))
        return replace(question, reference=named), frozenset()
    stated = question.reference if isinstance(question.reference, tuple) else ()
    chosen = bool(stated) or question.reference is ReferenceRule.OTHERS
    if not chosen or all(e.groups for e in spec.rules) or not all(map(_is_for_both, spec.rules)):
        return question, frozenset()
    of_rules = {group for rule in spec.rules for group in rule.groups}
    of_two = {}
    for counted in cubes.answer(cubes[0], lambda cube: [*count_groups(cube, question)]):
        rows = counted.cases[: len(counted.groups)]
        # of two groups of the same size, the second is the reference, as in an audit
        larger = sorted(np.flatnonzero(rows > 0).tolist(), key=lambda g: (rows[g], g), reverse=True)
        names = [counted.groups[g] for g in larger if counted.groups[g] not in of_rules]
        plain = len(counted.feature_id.columns) == 1 and MISSING_NAME not in counted.groups
        if plain and len(larger) == 2 and names and counted.feature not in dict(stated):
            of_two[counted.feature] = names[0]
    if not of_two:
        return question, frozenset()
    return replace(question, reference=(*stated, *of_two.items())), frozenset(of_two)


def _is_for_both(rule: MonitorRule) -> bool:
    metric = rule.definition
    if metric is None or metric.scope != "group":
        return True
    neutral = metric.neutral if rule.baseline is None else 0.0
    return metric.turn is not None and rule.low <= neutral <= rule.high
