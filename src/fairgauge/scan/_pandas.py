"""pandas frames: every axis as small codes, whose cells are summed part by part.

Every part of a Dask frame is a pandas frame, counted where it is; the counts are put together.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from fairgauge.cube.cube import reorder_levels
from fairgauge.cube.levels import nested_value_error
from fairgauge.scan._cell_sums import Scanned, count_batches, join_parts, scan_batches
from fairgauge.scan.row_codes import (
    BATCH,
    WIDEST,
    Batch,
    coded_whole,
    doubles,
    drop_codes,
    numbers_of,
    numbers_of_texts,
)
from fairgauge.scan.source import MOST_UNREADABLE, NotNumeric, UnreadableNumbers, check_values
from fairgauge.start.records import dataclass, replace
from fairgauge.values import Value, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import dask.dataframe as dd
    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis, Plan
    from fairgauge.scan.source import Fetched

    Codes = NDArray[np.integer[Any]]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PandasFrame:
    """A pandas frame."""

    name: str
    frame: pd.DataFrame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(str(column) for column in self.frame.columns)

    at_hand: ClassVar[bool] = True

    def with_missing(self, column: str) -> PandasFrame:
        """Return the frame with one more column, in which every value is missing."""
        return replace(self, frame=self.frame.assign(**{column: np.nan}))

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        positions = [self.columns.index(name) for name in columns]
        return [
            _widen_floats(_decode(self.frame.iloc[:most, at])).tolist() for at in positions
        ], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        cube = count_batches(plan, self.in_parts(plan, limit), limit)
        return reorder_levels(cube, self.stated_order)

    @property
    def stated_order(self) -> dict[str, list[object]]:
        """Return the categories of columns that state their order, and are not only sorted."""
        return _stated_order(self.frame)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows."""
        return self.in_parts(plan, max(len(self.frame), 1))

    def in_parts(self, plan: Plan, limit: int) -> Iterator[Batch]:
        """Yield the rows; at most ``limit`` values on an axis."""
        column = {c: _decode(self.frame.iloc[:, self.columns.index(c)]) for c in plan.columns}
        plain = {
            axis: factor(_widen_floats(column[axis.column]), axis, limit)
            for axis in plan.axes
            if not axis.bins
        }
        for part in parts(len(self.frame)):
            yield Batch(
                {axis: (values, codes[part]) for axis, (values, codes) in plain.items()},
                {
                    c: _numbers_of_column(column[c].iloc[part], c, plan)
                    for c in plan.numeric_columns
                },
            )


def _decode(column: pd.Series[Any]) -> pd.Series[Any]:
    if not isinstance(column.dtype, pd.ArrowDtype):
        return column
    from fairgauge.scan._plain_arrow import plain_column

    held = column.array.__arrow_array__()
    plain = plain_column(held)
    return column if plain is held else pd.Series(pd.arrays.ArrowExtensionArray(plain))


def _stated_order(frame: pd.DataFrame | dd.DataFrame) -> dict[str, list[object]]:
    kinds = {str(c): k for c, k in frame.dtypes.items() if isinstance(k, pd.CategoricalDtype)}
    return {
        column: list(kind.categories)
        for column, kind in kinds.items()
        if kind.ordered or not kind.categories.is_monotonic_increasing
    }


def _widen_floats(column: pd.Series[Any]) -> pd.Series[Any]:
    own = getattr(column.dtype, "numpy_dtype", column.dtype)  # of nullable columns, and of Arrow's
    if own not in (np.float32, np.float16):
        return column
    return pd.Series(doubles(column.to_numpy(dtype=own, na_value=np.nan)))


def _numbers_of_column(column: pd.Series[Any], name: str, plan: Plan) -> Floats:
    listed = plan.no_numbers.get(name, ())
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = pd.Series(column.cat.categories)
        if pd.api.types.is_numeric_dtype(categories):
            column = categories.reindex(column.cat.codes)
    numeric = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)
    found: Floats
    if listed and not numeric:
        codes, texts = pd.factorize(column)
        found = np.append(numbers_of_texts(texts.tolist(), plan, name), np.nan)[codes]
    else:
        if column.dtype == object:
            column = _numbers_of_objects(column, name, plan)
        elif not numeric:
            raise NotNumeric(name, column.dtype)
        found = _widen_floats(column).to_numpy(dtype=np.float64, na_value=np.nan)
    return drop_codes(found, plan, name)


def _numbers_of_objects(column: pd.Series[Any], name: str, plan: Plan) -> pd.Series[Any]:
    numbers = pd.to_numeric(column, errors="coerce")
    texts = {value for value in column if isinstance(value, str)}
    unread = {text for text in texts if np.isnan(numbers_of([text])[0])}
    wrong = unread or column[numbers.isna() & column.notna()].head(MOST_UNREADABLE)
    if len(wrong):
        raise UnreadableNumbers(plan, name, map(str, wrong))
    if texts:
        raise NotNumeric(name, column.dtype)
    return numbers


Coded: TypeAlias = "tuple[Sequence[object], Codes]"
"""The values of a column, and the position of each row among them; -1 is missing."""


def factor(column: pd.Series[Any], axis: Axis, limit: int) -> Coded:
    """Give every value of a column its position, the fastest way that its type allows."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return [*_widen_floats(pd.Series(dtype.categories))], column.cat.codes.to_numpy()
    objects = isinstance(dtype, np.dtype) and dtype.kind == "O"
    plain = isinstance(dtype, np.dtype) and dtype.kind in "biufO"
    values: Any = np.ascontiguousarray(column.to_numpy()) if plain else column.array
    if plain and (whole := coded_whole(values)):
        return whole
    levels, codes = _Levels(axis, limit), np.empty(len(values), dtype=np.int32)
    for part in parts(len(values)):
        codes[part] = levels.of_objects(values[part]) if objects else levels.of(values[part])
    return levels.values, codes


class _Levels:
    """The values found so far, each with its position; -1 is missing."""

    def __init__(self, axis: Axis, limit: int) -> None:
        self._axis, self._limit = axis, limit
        self._codes: dict[tuple[bool, Value], int] = {}
        self._known: dict[int, int] = {}

    @property
    def values(self) -> list[Value]:
        """Return the values in the order of their positions."""
        return [value for _, value in self._codes]

    def of(self, values: Any) -> Codes:
        """Return the positions of rows, by hashing values."""
        try:
            found, unique = pd.factorize(values)
        except NotImplementedError:  # Arrow's, of lists and structs
            raise nested_value_error(self._axis) from None
        return np.append(self._codes_of(unique), np.int32(-1))[found]

    def of_objects(self, values: NDArray[np.object_]) -> Codes:
        """Return the positions of objects by their addresses: rows mostly share those of values."""
        held = (ctypes.c_int64 * len(values)).from_address(values.ctypes.data)
        found, unique = pd.factorize(np.ctypeslib.as_array(held))
        if len(unique) <= WIDEST:
            first = np.empty(len(unique), dtype=np.int64)
            first[found] = np.arange(len(found))
            for address, at in zip(unique.tolist(), first.tolist(), strict=True):
                if address not in self._known:
                    self._known[address] = self._code(values[at])
            self._check()
            return np.array([*map(self._known.__getitem__, unique.tolist())], np.int32)[found]
        if pd.api.types.infer_dtype(values, skipna=True) == "string":  # every row has its own
            return self.of(values)
        return self._codes_of(values)  # 1 and True are equal in Python, not in data

    def _codes_of(self, raw: Iterable[object]) -> NDArray[np.int32]:
        found = np.fromiter(map(self._code, raw), dtype=np.int32)
        self._check()
        return found

    def _code(self, raw: object) -> int:
        try:
            hash(raw)
        except TypeError:
            raise nested_value_error(self._axis) from None
        value = canonical(raw)
        if value is None:
            return -1
        return self._codes.setdefault((isinstance(value, bool), value), len(self._codes))

    def _check(self) -> None:
        check_values({self._axis: self.values}, (), self._limit)


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
        count = dask.delayed(_scan_partition)
        parts = [count(part, plan, limit) for part in self._parts(plan)]
        return reorder_levels(join_parts(plan, dask.compute(*parts), limit), self.stated_order)

    @property
    def stated_order(self) -> dict[str, list[object]]:
        return _stated_order(self.frame)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows, one part after the other."""
        for part in self._parts(plan):
            yield from PandasFrame(self.name, part.compute()).batches(plan)

    def _parts(self, plan: Plan) -> list[Any]:
        wanted = [c for c in self.frame.columns if str(c) in plan.columns]
        return list(self.frame[wanted].to_delayed())


def _scan_partition(part: pd.DataFrame, plan: Plan, limit: int) -> Scanned:
    return scan_batches(plan, PandasFrame("Dask frame", part).in_parts(plan, limit), limit)
