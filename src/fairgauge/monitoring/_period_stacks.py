"""Period stacks: the counts of several periods as those of one cube, whose strata are the periods.

Groups, outcomes and sides are then resolved once for many periods, as an audit resolves them once
for all strata.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.cube.cube import CountTable, Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PERIODS = Axis(Role.STRATUM, "period")
_MOST_CELLS = 500_000
"""Cells of periods by groups, labels and predictions that are resolved at once."""
_KEPT = (Role.FEATURE, Role.LABEL, Role.PREDICTION)
_CASES = ("rows", "n")


def stacks(cubes: Sequence[Cube]) -> Iterator[tuple[list[int], Cube]]:
    """Yield stacks of cubes of one plan, each with the positions of its cubes.

    The cubes of a stack have the same levels, so that a group is in all of them or in none.
    """
    alike: dict[str, list[int]] = {}
    for position, cube in enumerate(cubes):
        alike.setdefault(levels_of(cube, _axes(cube)), []).append(position)
    for positions in alike.values():
        most = max(1, _MOST_CELLS // _cells(cubes[positions[0]]))
        for begin in range(0, len(positions), most):
            some = positions[begin : begin + most]
            yield some, _stack([cubes[position] for position in some])


def levels_of(cube: Cube, axes: Sequence[Axis]) -> str:
    """Return what distinguishes the levels of some axes of a cube from others, as a key."""
    return repr([cube.levels[axis] for axis in axes])  # True and 1 are equal in Python


def _axes(cube: Cube) -> tuple[Axis, ...]:
    return tuple(axis for axis in cube.plan.axes if axis.role in _KEPT)


def _cells(cube: Cube) -> int:
    return math.prod(len(cube.levels[axis]) + 1 for axis in _axes(cube))


def _stack(cubes: Sequence[Cube]) -> Cube:
    """Return cubes of the same levels as one, without the axes of strata, scores and clusters."""
    first, kept = cubes[0], _axes(cubes[0])
    apart = (Role.SCORE, Role.CLUSTER)
    counted = [
        i for i, table in enumerate(first.tables) if not any(a.role in apart for a in table.axes)
    ]
    axes = (*kept, PERIODS)
    tables = [_stacked_table([cube.tables[i] for cube in cubes], kept) for i in counted]
    positions = tuple(tuple(map(axes.index, table.axes)) for table in tables)
    return Cube(
        plan=replace(first.plan, axes=axes, tables=positions, moments=()),
        levels={axis: first.levels[axis] for axis in kept} | {PERIODS: tuple(range(len(cubes)))},
        tables=tuple(tables),
        rows=sum(cube.rows for cube in cubes),
    )


def _stacked_table(tables: Sequence[CountTable], kept: Sequence[Axis]) -> CountTable:
    """Return the tables of several periods one after the other; cells may stand several times."""
    columns = [i for i, axis in enumerate(tables[0].axes) if axis in kept]
    period = np.repeat(np.arange(len(tables)), [len(table.codes) for table in tables])
    codes = np.concatenate([table.codes for table in tables])[:, columns]
    return CountTable(
        (*(tables[0].axes[i] for i in columns), PERIODS),
        np.column_stack([codes, period]),
        {
            measure: np.concatenate([table.sums[measure] for table in tables])
            for measure in _CASES
            if measure in tables[0].sums
        },
    )
