"""pandas frames: every axis as small codes, combined and counted in chunks that stay in cache.

Every part of a Dask frame is a pandas frame, counted where it is; the counts are put together.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fairgauge.cube.build import Counted, build
from fairgauge.cube.levels import not_plain
from fairgauge.cube.plan import LARGEST, WEIGHTS
from fairgauge.enums import Uncounted
from fairgauge.errors import DataError, quote
from fairgauge.scan.row_codes import BATCH, Batch
from fairgauge.scan.source import (
    LEAST_LOG,
    Seen,
    check_counts,
    check_numbers,
    check_values,
    not_numeric,
)
from fairgauge.values import Value, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import dask.dataframe as dd
    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis, Moment, Plan
    from fairgauge.cube.plan import Factor as MomentFactor
    from fairgauge.scan.row_codes import Levels
    from fairgauge.scan.source import Fetched

    Codes = NDArray[np.integer[Any]]
    Floats = NDArray[np.float64]
    Cells = NDArray[np.int64]

_MOST_DENSE = 1 << 20
_MOST_SPARSE = 1 << 62


@dataclass(frozen=True)
class PandasFrame:
    """A pandas frame."""

    name: str
    frame: pd.DataFrame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(str(column) for column in self.frame.columns)

    at_hand: ClassVar[bool] = True

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        positions = [self.columns.index(name) for name in columns]
        return [self.frame.iloc[:most, at].tolist() for at in positions], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        return joined(plan, [self.scanned(plan, limit)], limit)

    def scanned(self, plan: Plan, limit: int) -> Scanned:
        """Count the rows of this frame, which may be a part of the data, in one scan."""
        column = self._held(plan)
        plain = {
            i: factor(column[axis.column], axis, limit)
            for i, axis in enumerate(plan.axes)
            if not axis.bins
        }
        totals = Totals()
        tables = [_Sums(plan, table, plain) for table in plan.tables]
        for part in parts(len(self.frame)):
            numbers = {c: _numbers(column[c].iloc[part], c) for c in plan.numeric_columns}
            check_numbers(plan, [_seen(c, values) for c, values in numbers.items()])
            digits = [
                _binned(axis, numbers[axis.column]) if axis.bins else plain[i].digits(part)
                for i, axis in enumerate(plan.axes)
            ]
            measures = totals.measures(plan, numbers)
            for table in tables:
                table.add(digits, measures)
        return Scanned(len(self.frame), totals, [table.counted() for table in tables])

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan, levels: Levels) -> Iterator[Batch]:
        """Yield the rows."""
        del levels
        column = self._held(plan)
        plain = {
            axis: factor(column[axis.column], axis, max(len(self.frame), 1))
            for axis in plan.axes
            if not axis.bins
        }
        for part in parts(len(self.frame)):
            yield Batch(
                {axis: (each.values, each.digits(part)) for axis, each in plain.items()},
                {c: _numbers(column[c].iloc[part], c) for c in plan.numeric_columns},
            )

    def _held(self, plan: Plan) -> dict[str, pd.Series[Any]]:
        return {c: self.frame.iloc[:, self.columns.index(c)] for c in plan.columns}


@dataclass(frozen=True)
class Scanned:
    """What was counted of some rows: how many they are, their totals, and the cells."""

    rows: int
    totals: Totals
    tables: list[Counted]


def joined(plan: Plan, parts: Sequence[Scanned], limit: int) -> Cube:
    """Make one cube of what was counted of the parts of the data."""
    rows = sum(part.rows for part in parts)
    totals = Totals()
    for part in parts:
        totals.add(part.totals)
    check_counts(plan, totals.fractional, totals.of("n"), totals.of("w"), rows)
    tables = [_together([part.tables[i] for part in parts]) for i in range(len(plan.tables))]
    return build(plan, tables, rows=rows, excluded=totals.excluded, limit=limit)


def _together(tables: Sequence[Counted]) -> Counted:
    keys = [
        [key for keys in axis for key in keys]
        for axis in zip(*(t.keys for t in tables), strict=False)
    ]
    return Counted(keys, {m: np.concatenate([t.sums[m] for t in tables]) for m in tables[0].sums})


def _numbers(column: pd.Series[Any], name: str) -> Floats:
    """Return a column as floats, NaN where missing."""
    if column.dtype == object:
        text = next((value for value in column if isinstance(value, str)), None)
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = column[numbers.isna() & column.notna()]
        if text is not None or len(wrong):
            shown = quote(text if text is not None else wrong.iloc[0])
            raise DataError(f"column {quote(name)} must hold numbers, but has {shown}")
        column = numbers
    if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
        raise not_numeric(name, column.dtype)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _seen(column: str, values: Floats) -> Seen:
    known = values[~np.isnan(values)]
    if not len(known):
        return Seen(column, None, None)
    return Seen(column, float(known.min()), float(known.max()))


def _binned(axis: Axis, values: Floats) -> Cells:
    """Return the number of each value's bin, from 1; 0 is missing."""
    return np.where(np.isnan(values), 0, axis.bins_of(values) + 1)


def _moment(moment: Moment, numbers: Mapping[str, Floats]) -> Floats:
    x, y = (numbers[column] for column in (moment.columns * 2)[:2])
    if moment.limited:
        x, y = (np.clip(each, -LARGEST, LARGEST) for each in (x, y))
    return reduce(mul, (_factor(factor, x, y) for factor in moment.factors))


def _factor(factor: MomentFactor, x: Floats, y: Floats) -> Floats:
    if factor == "x":
        return x
    if factor == "gap":
        return y - x
    if factor == "distance":
        return np.abs(y - x)
    return np.log(np.maximum(x if factor == "log" else 1 - x, LEAST_LOG))


@dataclass
class Totals:
    """What is known of the rows so far, apart from the cells."""

    excluded: dict[Uncounted, int] = field(default_factory=dict)
    fractional: float | None = None
    sums: dict[str, float] = field(default_factory=dict)

    def of(self, measure: str) -> float:
        """Return the sum of a measure over all rows."""
        return self.sums.get(measure, 0.0)

    def add(self, other: Totals) -> None:
        """Add what is known of other rows."""
        for reason, rows in other.excluded.items():
            self.excluded[reason] = self.excluded.get(reason, 0) + rows
        for measure, value in other.sums.items():
            self.sums[measure] = self.of(measure) + value
        self.fractional = other.fractional if self.fractional is None else self.fractional

    def measures(self, plan: Plan, numbers: Mapping[str, Floats]) -> dict[str, Floats | None]:
        """Return what is summed in each row: None for 1, and 0 in rows that cannot be counted."""
        factors: list[Floats] = []
        counted: NDArray[np.bool_] | None = None
        columns = ((Uncounted.NO_COUNT, plan.count), (Uncounted.NO_WEIGHT, plan.weight))
        for reason, column in columns:
            if column is not None:
                known = np.isfinite(numbers[column])
                self.excluded[reason] = self.excluded.get(reason, 0) + int((~known).sum())
                counted = known if counted is None else counted & known
                factors.append(np.where(known, numbers[column], 0.0))
        ones = None if counted is None else counted.astype(np.float64)
        measures: dict[str, Floats | None] = {"rows": ones}
        times: Floats | float = 1.0 if ones is None else ones
        if plan.count:
            cases = factors[0]
            fractions = cases[cases != np.floor(cases)]
            self.fractional = float(fractions.max()) if len(fractions) else self.fractional
            measures["n"] = times = times * cases
        if plan.weight:
            for name in WEIGHTS:
                measures[name] = times = times * factors[-1]
        for moment in plan.moments:
            value = _moment(moment, numbers)
            factor = measures[WEIGHTS[moment.power - 1]] if plan.weight else times
            measures[moment.name] = np.where(np.isnan(value), 0.0, value) * factor
        for measure in ("n", "w"):
            values = measures.get(measure)
            if values is not None:
                self.sums[measure] = self.of(measure) + float(values.sum())
        return measures


class _Sums:
    """The sums of one table: an array over all cells while they are few, else those met."""

    def __init__(self, plan: Plan, table: tuple[int, ...], plain: Mapping[int, Factor]) -> None:
        self._table = table
        self._measures = plan.measures
        self._values: list[Sequence[object]] = [
            plain[i].values if i in plain else [None, *range(plan.axes[i].bins)] for i in table
        ]
        self._sizes = [max(len(values), 1) for values in self._values]
        cells = int(np.prod(self._sizes, dtype=float)) if table else 1
        if cells > _MOST_SPARSE:
            raise DataError(
                "the values of these columns combine to more cells than can be counted; "
                "ask for fewer features at once, or cut numeric columns into intervals"
            )
        self._kind = np.min_scalar_type(-cells)  # narrow numbers are fast to combine
        self._dense = cells <= _MOST_DENSE
        held = cells if self._dense else 0
        self._cells: Cells = np.arange(held)
        self._sums: dict[str, Floats] = {measure: np.zeros(held) for measure in plan.measures}

    def add(self, digits: Sequence[Codes], measures: Mapping[str, Floats | None]) -> None:
        """Add the rows of a chunk."""
        rows = len(digits[0]) if digits else 0
        cells: Codes = np.zeros(rows, dtype=self._kind)
        for axis, size in zip(self._table, self._sizes, strict=True):
            np.multiply(cells, size, out=cells)
            np.add(cells, digits[axis], out=cells, casting="unsafe")
        if self._dense:
            for measure in self._measures:
                self._sums[measure] += np.bincount(cells, measures[measure], len(self._cells))
            return
        merged, at = np.unique(np.concatenate([self._cells, cells]), return_inverse=True)
        for measure in self._measures:
            values = measures[measure]
            added = np.ones(rows) if values is None else values
            every = np.concatenate([self._sums[measure], added])
            self._sums[measure] = np.bincount(at, every, len(merged)).astype(np.float64)
        self._cells = merged

    def counted(self) -> Counted:
        """Return the cells that were met."""
        held = np.flatnonzero(self._sums["rows"])
        positions = np.unravel_index(self._cells[held], self._sizes) if self._table else ()
        keys = [
            [values[i] for i in column.tolist()]
            for values, column in zip(self._values, positions, strict=True)
        ]
        return Counted(keys, {measure: sums[held] for measure, sums in self._sums.items()})


_WIDEST = 4_096


@dataclass(frozen=True, slots=True)
class Factor:
    """A column as codes.

    Attributes
    ----------
    codes : array of shape (rows,)
    low : the smallest code that there may be.
    values : the values of the codes low, low + 1, ...
    """

    codes: Codes
    low: int
    values: Sequence[object]

    def digits(self, part: slice) -> Codes:
        """Return the codes of some rows, counted from 0, in the smallest type that holds them."""
        smallest = np.min_scalar_type(-max(len(self.values), 1))
        found: Codes = np.subtract(self.codes[part], self.low, dtype=smallest, casting="unsafe")
        return found


def factor(column: pd.Series[Any], axis: Axis, limit: int) -> Factor:
    """Give every value of a column its code, the fastest way that its type allows.

    Raises
    ------
    DataError
        The column has more than ``limit`` values, or values that are not plain.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Factor(column.cat.codes.to_numpy(), -1, [None, *dtype.categories])
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufO":
        return _by_value(column.array, axis, limit)
    values = column.to_numpy()
    if dtype.kind == "b":
        return Factor(values.view(np.int8), 0, [False, True])
    if dtype.kind == "O":
        return _by_object(values, axis, limit)
    if dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < _WIDEST:
            return Factor(values, low, range(low, high + 1))
    return _by_value(values, axis, limit)


class _Levels:
    """The values found so far, each with its code; -1 is missing."""

    def __init__(self, axis: Axis, limit: int) -> None:
        self._axis = axis
        self._limit = limit
        self._codes: dict[tuple[bool, Value], int] = {}

    def code(self, raw: object) -> int:
        """Return the code of a value, a new one if it was not met before."""
        try:
            hash(raw)
        except TypeError:
            raise not_plain(self._axis) from None
        value = canonical(raw)
        if value is None:
            return -1
        return self._codes.setdefault((isinstance(value, bool), value), len(self._codes))

    def coded(self, raw: Iterable[object]) -> NDArray[np.int32]:
        """Return the codes of different values."""
        found = np.fromiter((self.code(value) for value in raw), dtype=np.int32)
        check_values({self._axis: self.values()}, (), self._limit)
        return found

    def values(self) -> list[Value]:
        """Return the values in the order of their codes."""
        return [value for _, value in self._codes]


def _by_value(values: Any, axis: Axis, limit: int) -> Factor:
    """Factorise by hashing values."""
    levels = _Levels(axis, limit)
    codes = np.empty(len(values), dtype=np.int32)
    for part in parts(len(values)):
        try:
            found, unique = pd.factorize(values[part])
        except NotImplementedError:  # Arrow's, of lists and structs
            raise not_plain(axis) from None
        mapping = np.append(levels.coded(unique), np.int32(-1))  # code -1 reads the last entry
        codes[part] = mapping[found]
    return Factor(codes, -1, [None, *levels.values()])


def _by_object(values: NDArray[np.object_], axis: Axis, limit: int) -> Factor:
    """Factorise by the address of each object: rows mostly share the objects of a few values."""
    levels = _Levels(axis, limit)
    codes = np.empty(len(values), dtype=np.int32)
    values = np.ascontiguousarray(values)
    known: dict[int, int] = {}
    for part in parts(len(values)):
        addresses = _addresses(values[part])
        found, unique = pd.factorize(addresses)
        if len(unique) > _WIDEST:  # every row owns its object
            codes[part] = _by_hash(values[part], levels)
            continue
        for address, at in _unseen(found, unique, known):
            known[address] = levels.code(values[part][at])
        check_values({axis: levels.values()}, (), limit)
        codes[part] = np.array([known[a] for a in unique.tolist()], dtype=np.int32)[found]
    return Factor(codes, -1, [None, *levels.values()])


def _addresses(values: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the memory addresses that an array of objects consists of."""
    held = (ctypes.c_int64 * len(values)).from_address(values.ctypes.data)
    return np.ctypeslib.as_array(held)


def _unseen(
    found: NDArray[np.intp], unique: NDArray[np.int64], known: dict[int, int]
) -> Iterator[tuple[int, int]]:
    """Return addresses that are new, each with a position where it occurs."""
    new = [(i, a) for i, a in enumerate(unique.tolist()) if a not in known]
    if new:
        at = np.empty(len(unique), dtype=np.int64)
        at[found] = np.arange(len(found))
        yield from ((address, int(at[i])) for i, address in new)


def _by_hash(values: NDArray[np.object_], levels: _Levels) -> NDArray[np.int32]:
    if pd.api.types.infer_dtype(values, skipna=True) == "string":
        found, unique = pd.factorize(values)
        return np.append(levels.coded(unique), np.int32(-1))[found]
    return levels.coded(values)  # 1 and True are equal in Python, not in data


def parts(rows: int) -> Iterator[slice]:
    """Cut rows into chunks."""
    for start in range(0, rows, BATCH):
        yield slice(start, min(start + BATCH, rows))


@dataclass(frozen=True)
class DaskFrame:
    """A frame of Dask."""

    name: str
    frame: dd.DataFrame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(str(column) for column in self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan, all parts at once."""
        dask = import_module("dask")
        count = dask.delayed(_scanned)
        parts = [count(part, plan, limit) for part in self._parts(plan)]
        return joined(plan, dask.compute(*parts), limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan, levels: Levels) -> Iterator[Batch]:
        """Yield the rows, one part after the other."""
        for part in self._parts(plan):
            yield from PandasFrame(self.name, part.compute()).batches(plan, levels)

    def _parts(self, plan: Plan) -> list[Any]:
        wanted = [c for c in self.frame.columns if str(c) in plan.columns]
        return list(self.frame[wanted].to_delayed())


def _scanned(part: pd.DataFrame, plan: Plan, limit: int) -> Scanned:
    return PandasFrame("Dask frame", part).scanned(plan, limit)
