"""The counts of periods, alone and together, and the values that any of them has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import TypeVar, overload

import numpy as np

from fairgauge.cube.cube import Cube, aggregate, pooled, settled, values_together, with_cases
from fairgauge.cube.identifiers import NUMBERED
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role, Task, Uncounted
from fairgauge.errors import SpecError
from fairgauge.monitoring.periods import Period
from fairgauge.resolve.outcomes import decide_task
from fairgauge.values import meaning

_Answer = TypeVar("_Answer")


class PeriodCubes(Sequence[Cube]):
    """The counts of periods, each parsed when it is first needed.

    Attributes
    ----------
    texts : the texts of the cubes.
    """

    def __init__(
        self,
        periods: Sequence[Period],
        texts: list[str],
        parse: Callable[[Period, str], Cube],
    ) -> None:
        self.texts = texts
        self._periods = periods
        self._parse = parse
        self._parsed: dict[int, Cube] = {}
        self._sums: dict[tuple[int, ...], Cube] = {}

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, at: int) -> Cube: ...

    @overload
    def __getitem__(self, at: slice) -> list[Cube]: ...

    def __getitem__(self, at: int | slice) -> Cube | list[Cube]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        i = range(len(self))[at]
        if i not in self._parsed:
            self._parsed[i] = self._parse(self._periods[i], self.texts[i])
        return self._parsed[i]

    def together(self, some: Sequence[int]) -> Cube:
        """Return the counts of some periods as one; made once for all alarms."""
        key = tuple(some)
        if key not in self._sums:
            self._sums[key] = sum_cubes([self[t] for t in key])
        return self._sums[key]

    @cached_property
    def blank(self) -> Cube:
        """Return the values of all periods and the groups that cross columns, without rows."""
        return sum_cubes([without_rows(cube) for cube in self])

    def knowing_all(self, cube: Cube) -> Cube:
        """Return counts with the values of all periods: one may lack what the question names."""
        return sum_cubes([cube, self.blank])

    def knowing_outcomes(self, cube: Cube) -> Cube:
        """Return counts with the outcomes of all periods, and with their own groups alone."""
        own, every = without_rows(cube), self.blank
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
        alike.setdefault(levels_of(cube, cube.plan.axes), []).append(cube)
    sums = [*map(_sum_alike, alike.values())]  # at once: one after the other takes far longer
    if len(sums) > 1:
        sums = [*map(_by_meaning, sums)]
    return reduce(pooled, sums)


def _by_meaning(cube: Cube) -> Cube:
    """Return counts with outcomes by what their values mean: one period may write 1, one True.

    Counts of rows that write one outcome in two ways stay as they are, so that they are refused.
    """
    if decide_task(cube, cube.asked) is not Task.BINARY:
        return cube
    levels = {**cube.levels}
    for axis in cube.plan.outcomes:
        meant = tuple(map(meaning, cube.levels[axis]))
        if not axis.bins and (len({*meant}) == len(meant) or not cube.rows):
            levels[axis] = meant
    return replace(cube, levels=levels)


def _sum_alike(cubes: Sequence[Cube]) -> Cube:
    """Return the counts of cubes of the same levels as one."""
    first = cubes[0]
    if len(cubes) == 1:
        return first
    if first.clusters == NUMBERED:
        return first.add(cubes[1], allow_duplicates=True)  # which states why they do not add up
    excluded: Counter[Uncounted] = Counter()
    for cube in cubes:
        excluded.update(cube.excluded)
    tables = []
    for same in zip(*(cube.tables for cube in cubes), strict=True):
        held = with_cases(same)
        codes = np.concatenate([table.codes for table in held])
        sums = {m: np.concatenate([table.sums[m] for table in held]) for m in held[0].sums}
        tables.append(settled(first.plan, aggregate(held[0].axes, codes, sums)))
    rows = sum(cube.rows for cube in cubes)
    return replace(
        first,
        tables=tuple(tables),
        rows=rows,
        excluded=dict(sorted(excluded.items())),
        undecided=values_together(cube.undecided for cube in cubes),
    )


def without_rows(cube: Cube) -> Cube:
    """Return the levels of a cube with no rows: adding it makes values known that no row has.

    So are the combinations of values of features that occur, of which intersections have groups.
    Clusters are not among them: of these those count that have rows.
    """
    levels = {axis: () if axis.role is Role.CLUSTER else held for axis, held in cube.levels.items()}
    tables = []
    for table in cube.tables:
        of_features = [axis.role is Role.FEATURE for axis in table.axes]
        nothing = {m: np.zeros_like(sums) for m, sums in table.sums.items()}
        tables.append(aggregate(table.axes, np.where(of_features, table.codes, -1), nothing))
    return replace(cube, levels=levels, tables=tuple(tables), rows=0, excluded={}, undecided=())
