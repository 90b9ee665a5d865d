"""The counts of all periods, with one spelling of each value; several are stacked as one cube.

The strata of a stack are the periods: groups, outcomes and sides are then resolved once for many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain
from typing import TypeVar

import numpy as np

from fairgauge.cube.cube import (
    HANDFUL,
    CountTable,
    Cube,
    add_with_shared_people,
    aggregate,
    join_observed,
    round_sums,
    stack_tables,
)
from fairgauge.cube.plan import Axis, centre_of
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.errors import SpecError, ValuesError, cells, listing, quote
from fairgauge.monitoring._feed_rows import BY_DEFAULT, twin
from fairgauge.question.specification import Spec
from fairgauge.resolve.outcomes import decide_task, ways_of_writing
from fairgauge.scan.identifiers import NUMBERED
from fairgauge.start.records import replace
from fairgauge.values import Value, meaning, name_of

_Answer = TypeVar("_Answer")
_ONCE = math.log(1e-3)
"""The log of the chance below which what is looked at once in a history is no coincidence."""


class PeriodCubes(tuple[Cube, ...]):
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
