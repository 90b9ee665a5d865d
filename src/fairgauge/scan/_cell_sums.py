"""Rows counted one batch after the other by numpy: cells are numbered as they are met, and summed.

Where there are many cells, as of scores in fine bins, an engine's own table of them no longer fits
the processor's cache, and numpy is several times as fast: it adds up one measure at a time.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import mul
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.build import Coded, Counted, build, whole_array
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import LARGEST, WEIGHTS, Moment, Plan
from fairgauge.enums import Role, Uncounted
from fairgauge.errors import DataError
from fairgauge.scan.row_codes import Batch
from fairgauge.scan.source import (
    LEAST_LOG,
    Seen,
    check_counts,
    check_numbers,
    check_values,
    ranged_columns,
)
from fairgauge.start.records import dataclass, field
from fairgauge.stats.arrays import AnyArray, Integers, distinct

Codes: TypeAlias = Integers
Floats: TypeAlias = NDArray[np.float64]
Cells: TypeAlias = NDArray[np.int64]
Measures: TypeAlias = Mapping[str, Floats | None]

# cells that there may be, up to which a table holds the number of each
_MOST_DENSE = 1 << 24
# cells of all axes that there may be, up to which they are summed in place of several tables.
_MOST_JOINT = 1 << 20
# numbers of cells are whole numbers of 64 bits with a sign, and numpy checks no overflow
_MOST_SPARSE = 1 << 62
# bytes of an array after which the C library keeps the memory of smaller ones for the next batch;
# it would hand each back, and the system would clear it anew.
_KEPT = 1 << 24


@dataclass
class Totals:
    rows: int = 0
    excluded: Counter[Uncounted] = field(default_factory=Counter)
    fractional: float | None = None

    def add(self, other: Totals) -> None:
        self.rows += other.rows
        self.excluded += other.excluded
        self.fractional = other.fractional if self.fractional is None else self.fractional

    def measures(
        self, plan: Plan, numbers: Mapping[str, Floats], complete: frozenset[str]
    ) -> dict[str, Floats | None]:
        """Return what is summed in each row: None for 1, and 0 in rows that cannot be counted.

        ``complete`` are the columns that lack no number.
        """
        factors: list[Floats] = []
        counted: NDArray[np.bool_] | None = None
        columns = ((Uncounted.NO_COUNT, plan.count), (Uncounted.NO_WEIGHT, plan.weight))
        for reason, column in columns:
            if column is None:
                continue
            values = numbers[column]
            weights = plan.replicates if reason is Uncounted.NO_WEIGHT else ()
            if not complete.issuperset((column, *weights)):
                known = ~np.logical_or.reduce([np.isnan(numbers[c]) for c in (column, *weights)])
                cases = factors[0] if factors else np.ones(len(known))
                self.excluded[reason] += int(cases[~known].sum())
                counted = known if counted is None else counted & known
                values = np.where(known, values, 0.0)
            factors.append(values)
        ones = None if counted is None else counted.astype(np.float64)
        measures: dict[str, Floats | None] = {"rows": ones}
        times: Floats | float = 1.0 if ones is None else ones
        if plan.count:
            cases = factors[0]
            fractions = cases[cases != np.floor(cases)]
            self.fractional = float(fractions.max()) if len(fractions) else self.fractional
            measures[plan.cases] = times = times * cases
            if not plan.weight:
                measures["rows"] = (times > 0).astype(np.float64)
        if plan.weight:
            measures["n"] = np.multiply(times, factors[-1] > 0)
            for name in WEIGHTS:
                measures[name] = times = times * factors[-1]
        for moment in plan.moments:
            value = _moment_values(moment, numbers) if moment.columns else 1.0
            factor: Any = measures[WEIGHTS[moment.power - 1]] if plan.weight else times
            if moment.by:
                cases_of = measures[plan.cases]
                factor = numbers[moment.by] * (1.0 if cases_of is None else cases_of)
            product = value * factor
            if not complete.issuperset((*moment.columns, *([moment.by] if moment.by else []))):
                product = np.where(np.isnan(product), 0.0, product)
            measures[moment.name] = product
        return measures


def _moment_values(moment: Moment, numbers: Mapping[str, Floats]) -> Floats:
    x, y = (numbers[column] for column in (moment.columns * 2)[:2])
    if moment.limited:
        x, y = (np.clip(each, -LARGEST, LARGEST) for each in (x, y))
    about = x - moment.centre if moment.centre else x
    return reduce(mul, (
        about if each == "x" else y - x if each == "gap" else np.abs(y - x) if each == "distance"
        else np.log(np.maximum(x if each == "log" else 1 - x, LEAST_LOG))
        for each in moment.factors
    ))  # fmt: skip


@dataclass(frozen=True)
class Scanned:
    """What was counted of some rows: their totals, and the cells of every table."""

    totals: Totals
    tables: list[Counted]


def scan_batches(plan: Plan, batches: Iterable[Batch], limit: int) -> Scanned:
    sums = CellSums(plan, limit)
    for batch in batches:
        sums.add(batch)
    return sums.scanned()


def join_parts(
    plan: Plan,
    parts: Sequence[Scanned],
    limit: int,
    texts: Collection[str] = (),
    stated: Mapping[str, Sequence[object]] | None = None,
) -> Cube:
    """Make one cube of what was counted of the parts of the data; see `build`."""
    totals = Totals()
    for part in parts:
        totals.add(part.totals)
    tables = []
    for same in zip(*(part.tables for part in parts), strict=True):
        keys = [_joined_keys(of_axis) for of_axis in zip(*(t.keys for t in same), strict=True)]
        sums = {m: np.concatenate([table.sums[m] for table in same]) for m in same[0].sums}
        tables.append(Counted(keys, sums))
    check_counts(plan, totals.fractional, tables[0].sums, totals.rows)
    return build(
        plan, tables, rows=totals.rows, excluded=totals.excluded, texts=texts, limit=limit,
        stated=stated,
    )  # fmt: skip


def _joined_keys(parts: Sequence[Any]) -> Coded:
    if len(parts) == 1:
        return Coded(parts[0].values, parts[0].positions)
    starts = np.cumsum([0, *(len(part.values) for part in parts)])
    placed = zip((part.positions for part in parts), starts, strict=False)
    return Coded(
        [value for part in parts for value in part.values],
        np.concatenate([np.where(each < 0, -1, each + at) for each, at in placed]),
    )


class CellSums:
    """The sums of every table of a plan over the rows that were added.

    Where the cells of all axes are few, or make up a table anyway, these alone are summed.
    """

    def __init__(self, plan: Plan, limit: int) -> None:
        np.empty(_KEPT, dtype=np.uint8)
        self._plan, self._limit = plan, limit
        self._totals = Totals()
        self._digits = [None if axis.bins else _Digits() for axis in plan.axes]
        self._ranged = ranged_columns(plan)
        self._tables: list[_TableSums] = []

    @property
    def dense(self) -> bool:
        """Return whether there are so few cells that each is found at its place in a table."""
        return all(table.dense for table in self._tables)

    def add(self, batch: Batch) -> None:
        plan = self._plan
        seen = [_range_seen(*each) for each in batch.numbers.items()]
        check_numbers(plan, [each for each, _ in seen if each.column in self._ranged])
        complete = frozenset(each.column for each, whole in seen if whole)
        codes: list[Codes] = []
        sizes = []
        for axis, digits in zip(plan.axes, self._digits, strict=True):
            codes.append(digits.of(*batch.keys[axis]) if digits else batch.intervals(axis) + 1)
            if digits and axis.limited and len(digits.values) > self._limit:
                # before they fill the memory; a type may have more than occur
                occur = [digits.values[i - 1] for i in distinct(codes[-1]).tolist() if i]
                check_values({axis: occur}, (), self._limit)
            sizes.append(len(digits.values if digits else range(axis.bins)) + 1)
        columns = [*codes, *batch.numbers.values()]
        rows = len(columns[0]) if columns else 0
        self._totals.rows += rows
        measures = self._totals.measures(plan, batch.numbers, complete)
        self._tables = self._tables or self._tables_for(math.prod(sizes))
        for table in self._tables:
            table.add(rows, codes, sizes, measures)

    def _tables_for(self, cells: int) -> list[_TableSums]:
        # codes among numbers are in a table of their own, which would make one of all axes large
        coded = any(axis.role is Role.CODES for axis in self._plan.axes)
        whole = (self._plan.joint and not coded) or cells <= _MOST_JOINT
        tables = [tuple(range(len(self._plan.axes)))] if whole else self._plan.tables
        return [_TableSums(table, self._plan.measures) for table in tables]

    def scanned(self) -> Scanned:
        self._tables = self._tables or self._tables_for(0)  # there were no rows
        values = [
            digits.values if digits else range(axis.bins)
            for axis, digits in zip(self._plan.axes, self._digits, strict=True)
        ]
        return Scanned(self._totals, [table.counted(values) for table in self._tables])


def _range_seen(column: str, values: Floats) -> tuple[Seen, bool]:
    low, high = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
    whole = low <= high
    if not whole:
        low, high = (float(of.reduce(values, initial=np.nan)) for of in (np.fmin, np.fmax))
    return Seen(column, None if math.isnan(low) else (low, high)), whole


class _Digits:
    """The values of an axis met so far, each with its digit; 0 is a missing one."""

    def __init__(self) -> None:
        self.values: Sequence[object] = ()
        self._digit: dict[tuple[type, object], int] = {(type(None), None): 0}
        self._last: tuple[Sequence[object], int] = ((), 0)
        self._places: Codes = np.zeros(2, dtype=np.int8)
        self._in_order = False

    def of(self, values: Sequence[object], positions: Codes) -> Codes:
        """Return the digit of every row, from its position among the engine's values.

        The values of one list only grow.
        """
        last, many = self._last
        if many != len(values) or not (values is last or values == last):
            self._place(values)
        if not self._in_order:
            return np.take(self._places, positions)
        # in a type that holds the last one, too: of 128 positions the type of a byte does not
        digits: Codes = np.add(positions, 1, dtype=self._places.dtype, casting="unsafe")
        return digits

    def _place(self, values: Sequence[object]) -> None:
        found: Sequence[int] | Codes
        if isinstance(values, array) and isinstance(self.values, (tuple, array)):
            found = self._place_whole(np.asarray(values))
        else:
            if not isinstance(self.values, list):
                self.values = [*self.values]
                self._digit |= {(type(each), each): i for i, each in enumerate(self.values, 1)}
            found = []
            for value in values:
                known = None if isinstance(value, float) and value != value else value
                digit = self._digit.setdefault((type(known), known), len(self.values) + 1)
                if digit > len(self.values):
                    self.values.append(known)
                found.append(digit)
        kind = np.min_scalar_type(-len(self.values) - 1)
        self._places = np.append(found, 0).astype(kind)  # the last entry of a missing value, -1
        self._in_order = bool((self._places[:-1] == np.arange(1, len(values) + 1)).all())
        self._last = values, len(values)

    def _place_whole(self, numbers: Cells) -> Codes:
        # different whole numbers, without an object of Python for each
        known = np.asarray(self.values, dtype=np.int64)
        order = np.argsort(known)
        at = np.searchsorted(known, numbers, sorter=order)
        found = np.append(order, -1)[at]
        new = np.append(known, 0)[found] != numbers
        new |= found < 0
        found[new] = len(known) + np.arange(new.sum())
        self.values = whole_array(np.append(known, numbers[new]))
        return found + 1


class _TableSums:
    def __init__(self, table: tuple[int, ...], measures: Sequence[str]) -> None:
        self._table = table
        self._sizes: list[int] | None = None
        self._cells: Cells = np.zeros(0, dtype=np.int64)
        self._sums: dict[str, AnyArray] = {m: np.zeros(0) for m in measures}
        self._numbers: NDArray[np.int32] | None = None  # 1, 2, ... of the cells met, else 0
        self.dense = True

    def add(
        self, rows: int, codes: Sequence[Codes], sizes: Sequence[int], measures: Measures
    ) -> None:
        """Add the rows of a batch.

        ``codes, sizes``: of every axis the digits of the rows, and how many there are.
        ``measures``: what is summed; None is 1 for each row.
        """
        room = self._room_for([sizes[axis] for axis in self._table])
        cells: Codes = np.zeros(rows, dtype=np.int8)
        many = 1
        for axis, size in zip(self._table, room, strict=True):
            many *= size
            # as narrow as it may be: most of the axes have few values
            cells = np.multiply(cells, size, dtype=np.min_scalar_type(-1 - many))
            np.add(cells, codes[axis], out=cells, casting="unsafe")
        before, at = self._number_cells(cells)
        for measure, held in self._sums.items():
            sums = np.bincount(at, measures[measure], len(self._cells)).astype(float, copy=False)
            sums[before] += held
            self._sums[measure] = sums

    def _room_for(self, sizes: Sequence[int]) -> list[int]:
        held = self._sizes
        if held is not None and all(map(int.__le__, sizes, held)):
            return held
        # twice as much, so that values that come one by one rarely move the cells
        each = zip(sizes, held or sizes, strict=True)
        room = [n if n <= had else max(n, 2 * had) for n, had in each]
        cells = math.prod(room)
        if cells > _MOST_SPARSE:
            raise DataError(
                "the values of these columns combine to more cells than can be counted; "
                "ask for fewer features at once, or cut numeric columns into intervals"
            )
        if held is not None:
            positions: Any = np.unravel_index(self._cells, held)
            self._cells = np.ravel_multi_index(positions, room).astype(np.int64)
        self.dense = cells <= _MOST_DENSE
        self._numbers = np.zeros(cells, dtype=np.int32) if self.dense else None
        if self._numbers is not None:
            self._numbers[self._cells] = np.arange(1, len(self._cells) + 1)
        self._sizes = room
        return room

    def _number_cells(self, cells: Codes) -> tuple[slice | Codes, Codes]:
        known = len(self._cells)
        if self._numbers is None:
            self._cells, at = np.unique(np.concatenate([self._cells, cells]), return_inverse=True)
            return at[:known], at[known:]
        # every cell has its place, so that nothing is clipped: numpy checks no bounds
        found = np.take(self._numbers, cells, mode="clip")
        if not found.all():
            new = distinct(cells[found == 0])
            self._cells = np.concatenate([self._cells, new])
            self._numbers[new] = np.arange(known + 1, len(self._cells) + 1)
            found = np.take(self._numbers, cells)
        return slice(known), np.subtract(found, 1, dtype=np.intp)

    def counted(self, values: Sequence[Sequence[object]]) -> Counted:
        """Return the cells that were met, by the values of the digits of every axis."""
        held = np.flatnonzero(self._sums["rows"])
        sizes = self._sizes or [1] * len(self._table)  # there were no rows
        cells, keys = self._cells[held], []
        for i, size in zip(reversed(self._table), reversed(sizes), strict=True):
            cells, at = np.divmod(cells, size)
            keys.append(Coded(values[i], (at - 1).astype(np.min_scalar_type(-size))))
        keys.reverse()
        return Counted(keys, {measure: sums[held] for measure, sums in self._sums.items()})
