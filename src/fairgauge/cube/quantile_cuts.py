"""Cuts of numbers at their quantiles, found from counts of the values.

The values are counted by the engine that holds them, so that the rows need not fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.errors import DataError, quote
from fairgauge.question.features import Feature
from fairgauge.question.recoding import not_numbers
from fairgauge.values import Value, name_of, plain_number


def _is_number(value: Value) -> bool:
    return not isinstance(value, str) or plain_number(value) is not None


def quantile_cuts(cube: Cube, axis: Axis, intervals: int) -> tuple[float, ...]:
    """Return the cut points of a column into intervals of equally many cases, where values allow.

    Raises
    ------
    DataError
        A value is no number, or all are one.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({"y": [1, 0] * 50, "dti": range(100)})
    >>> cube = fg.count(rows, label="y", sensitive="dti")
    >>> quantile_cuts(cube, cube.plan.axes[0], 4)
    (24.0, 49.0, 74.0)
    """
    levels = cube.levels[axis]
    plain = [name_of(v) for v in levels if isinstance(v, bool) or not _is_number(v)]
    if plain:
        raise DataError(not_numbers(axis.column, plain))
    table = cube.marginal([axis])
    known = (table.codes[:, 0] >= 0) & (table.cases > 0)  # not of rows that weigh nothing
    values = np.array([float(levels[code] or 0) for code in table.codes[known, 0].tolist()])
    found = cuts_of(values, table.cases[known], intervals)
    if not found:
        raise too_few_numbers(axis.column)
    return found


def too_few_numbers(column: str) -> DataError:
    """Return the error of a column that cannot be cut."""
    return DataError(f"column {quote(column)} has too few different numbers to be cut")


def cuts_of(
    values: NDArray[np.float64], cases: NDArray[np.float64], intervals: int
) -> tuple[float, ...]:
    """Return the cut points of numbers, in any order; none where all are one."""
    order = np.argsort(values)
    values, reached = values[order], np.cumsum(cases[order])
    if not len(values):
        return ()
    wanted = [k * reached[-1] / intervals for k in range(1, intervals)]
    points = {float(values[np.searchsorted(reached, each)]) for each in wanted}
    return tuple(sorted(points - {float(values[-1])}))


class CountedNumbers:
    """Counts of the numbers of a column, of rows some at a time.

    Where there are more than ``most`` different ones, digits are cut off, of all alike and as few
    as will do, so that the order of the rows changes nothing.

    Examples
    --------
    >>> counts = CountedNumbers(most=3)
    >>> for part in ([1.0, 2.0, 2.5], [2.25, 4.0]):
    ...     counts.add(np.array(part), np.ones(len(part)))
    >>> counts.cuts(2)
    (2.0,)
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self._most, self._digits = most, 0
        self._values, self._cases = np.array([]), np.array([])
        self._waiting: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        self._held = 0

    def add(self, values: NDArray[np.float64], cases: NDArray[np.float64]) -> None:
        """Take some rows; NaN is missing."""
        known = ~np.isnan(values) & (cases > 0)
        self._waiting.append((values[known], cases[known]))
        self._held += int(known.sum())
        if self._held > self._most:
            self._settle()

    def cuts(self, intervals: int) -> tuple[float, ...]:
        """Return the cut points into intervals of equally many cases, where values allow."""
        self._settle()
        return cuts_of(self._values, self._cases, intervals)

    def _settle(self) -> None:
        """Add what waits to the counts."""
        parts = [(self._values, self._cases), *self._waiting]
        values, cases = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(values)
        digits = (values[order] + 0.0).view(np.int64)  # -0 is 0
        while True:  # what is in order stays so without its last digits
            cut = digits >> self._digits << self._digits
            first = np.flatnonzero(np.diff(cut, prepend=~cut[:1]))
            if len(first) <= self._most:
                break
            self._digits += 1
        self._values = cut[first].view(np.float64)
        self._cases = np.add.reduceat(cases[order], first) if len(first) else cases
        self._waiting, self._held = [], 0


def with_fewer_cuts(cube: Cube, features: Sequence[Feature]) -> Cube:
    """Return counts with some of the cuts of some columns alone; intervals are summed.

    A column of other cuts, or of none, is as it was: its intervals are not among those counted.
    """
    cuts = {each.column: each.cuts for each in features}
    tables, axes, levels = list(cube.tables), list(cube.plan.axes), dict(cube.levels)
    for i, axis in enumerate(axes):
        kept = cuts.get(axis.column, axis.cuts)
        if not kept or kept == axis.cuts or not set(kept) <= set(axis.cuts):
            continue
        axes[i] = fewer = replace(axis, cuts=kept)
        levels[fewer] = tuple(range(fewer.bins))
        # an interval is in the one that holds its upper end
        place = np.append(np.searchsorted(np.array(kept), np.array([*axis.cuts, np.inf])), -1)
        tables = [table.recoded(axis, place, fewer) for table in tables]
    plan = replace(cube.plan, axes=tuple(axes))
    return replace(cube, plan=plan, levels=levels, tables=tuple(tables))
