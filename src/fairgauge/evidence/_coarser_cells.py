"""Counts of groups that nobody recorded, from which no person's probabilities can be read.

A cell of few persons shows their probabilities, and so their surname and address. It is merged with
its neighbours on a coarser grid; the mean probabilities of a coarser cell are probabilities as
right as those of a finer one, and all sums stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import CountTable, Cube, aggregate
from fairgauge.cube.plan import Axis, Plan
from fairgauge.enums import Role
from fairgauge.errors import CubeError, quote
from fairgauge.scan.probability_columns import cells_of, digits_of
from fairgauge.stats.arrays import Array
from fairgauge.stats.group_probabilities import merged_cells

Index = NDArray[np.int64]


def coarsened(cube: Cube, min_cell: int, published: Sequence[object]) -> Cube:
    """Return counts in which every cell has no person or at least ``min_cell``.

    Raises
    ------
    CubeError
        The counts hold more than one feature, or have too few persons.
    """
    obstacle = next(_obstacles(cube.plan, published), None)
    if obstacle:
        raise CubeError(f"these counts cannot be protected: {obstacle}")
    (proxy,) = (axis for axis in cube.plan.axes if axis.role is Role.PROXY)
    table = next(each for each in cube.tables if proxy in each.axes)
    groups = len(cube.plan.asked.probabilities[0].groups)
    numbers = [int(level or 0) for level in cube.levels[proxy]]
    digits, _ = digits_of(numbers, groups)
    persons, missing = _persons(table, proxy, len(numbers))
    which = _merged(digits, persons, min_cell)
    if which is None or _few(missing, min_cell):
        what = "rows without probabilities" if which is not None else "rows"
        raise CubeError(
            f"these counts cannot be protected: they have fewer than {min_cell:,} persons of some "
            f"decision, label or known group among the {what}; count more rows, or fewer columns"
        )
    cells = cells_of(digits, which)
    levels = sorted(set(cells))
    position = np.array([levels.index(cell) for cell in cells] + [-1])
    return replace(
        cube,
        levels={**cube.levels, proxy: tuple(levels)},
        tables=tuple(_recoded(each, proxy, position) for each in cube.tables),
    )


def _obstacles(plan: Plan, published: Sequence[object]) -> Iterator[str]:
    if published:
        yield (
            "cells of probabilities are merged for these counts alone; two such tables of the same "
            "people may show those who are in one of them, so publish one"
        )
    if len(plan.asked.probabilities) > 1:
        yield "count one feature of probabilities at a time"
    allowed = (Role.LABEL, Role.PREDICTION, Role.KNOWN, Role.PROXY)
    others = [axis.column for axis in plan.axes if axis.role not in allowed]
    others += [plan.weight] if plan.weight else []
    if others:
        yield (
            f"beside probabilities of groups they hold {', '.join(map(quote, others))}; count "
            "labels, decisions and known groups alone"
        )


def _persons(table: CountTable, proxy: Axis, cells: int) -> tuple[Array, Array]:
    """Return the persons of every cell by what else is counted, and those without probabilities."""
    at = table.axes.index(proxy)
    _, other = np.unique(np.delete(table.codes, at, axis=1), axis=0, return_inverse=True)
    other = other.reshape(-1)
    persons = np.zeros((cells + 1, int(other.max(initial=0)) + 1))
    counted = table.sums.get("n", table.sums["rows"])
    np.add.at(persons, (table.codes[:, at], other), counted)  # the last is of missing ones
    return persons[:-1], persons[-1]


def _few(persons: Array, min_cell: int) -> bool:
    return bool(((persons > 0) & (persons < min_cell)).any())


def _merged(digits: Index, persons: Array, min_cell: int) -> Index | None:
    """Return the number of the merged cell of each; None if all together are too few.

    What is left of few persons at last goes into the smallest cells.
    """
    which = merged_cells(digits, persons, min_cell)
    sums = np.zeros((int(which.max(initial=0)) + 1, persons.shape[1]))
    np.add.at(sums, which, persons)
    few = next((i for i, each in enumerate(sums) if _few(each, min_cell)), None)
    if few is None:
        return which
    for other in np.argsort(sums.sum(axis=1), kind="stable"):
        if other != few:
            which = np.where(which == other, few, which)
            sums[few] += sums[other]
        if not _few(sums[few], min_cell):
            return which
    return None


def _recoded(table: CountTable, proxy: Axis, position: Index) -> CountTable:
    if proxy not in table.axes:
        return table
    codes = table.codes.copy()
    at = table.axes.index(proxy)
    codes[:, at] = position[codes[:, at]]
    return aggregate(table.axes, codes, table.sums)
