"""pandas frames: every axis as small codes, whose cells are summed part by part.

Every part of a Dask frame is a pandas frame, counted where it is; the counts are put together.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from fairgauge.cube.plan import nested_value_error
from fairgauge.scan._cell_sums import Scanned, join_parts, scan_batches
from fairgauge.scan.row_codes import (
    BATCH,
    WIDEST,
    Batch,
    coded_whole,
    doubles,
    drop_codes,
    numbers_of,
    numbers_of_texts,
    whole_numbers,
)
from fairgauge.scan.source import MOST_UNREADABLE, NotNumeric, UnreadableNumbers
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Integers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import dask.dataframe as dd
    from numpy.typing import NDArray

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis, Plan
    from fairgauge.scan.source import Fetched

    Codes = Integers
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Frame:
    name: str
    frame: Any

    streams: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(str(column) for column in self.frame.columns)

    @property
    def stated_order(self) -> dict[str, list[object]]:
        types = {str(column): kind for column, kind in self.frame.dtypes.items()}
        return {
            column: list(kind.categories)
            for column, kind in types.items()
            if isinstance(kind, pd.CategoricalDtype)
            and (kind.ordered or not kind.categories.is_monotonic_increasing)
        }


@dataclass(frozen=True)
class PandasFrame(_Frame):
    frame: pd.DataFrame

    at_hand: ClassVar[bool] = True

    def with_missing(self, column: str) -> PandasFrame:
        return replace(self, frame=self.frame.assign(**{column: np.nan}))

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        held = (self.frame.iloc[:most, self.columns.index(name)] for name in columns)
        return [_widen_floats(_decode(each)).tolist() for each in held], False

    def count(self, plan: Plan, limit: int) -> Cube:
        parts = [_scan_partition(self.frame, plan, limit)]
        return join_parts(plan, parts, limit, stated=self.stated_order)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        column = {c: _decode(self.frame.iloc[:, self.columns.index(c)]) for c in plan.columns}
        plain = {
            axis: factor(_widen_floats(column[axis.column]), axis)
            for axis in plan.axes
            if not axis.bins
        }
        for start in range(0, len(self.frame), BATCH):
            part = slice(start, start + BATCH)
            rows = {c: column[c].iloc[part] for c in plan.numeric_columns}
            yield Batch(
                {axis: (values, codes[part]) for axis, (values, codes) in plain.items()},
                {name: _numbers_of_column(values, name, plan) for name, values in rows.items()},
            )


def _decode(column: pd.Series[Any]) -> pd.Series[Any]:
    if not isinstance(column.dtype, pd.ArrowDtype):
        return column
    from fairgauge.scan._plain_arrow import plain_column

    held = column.array.__arrow_array__()
    plain = plain_column(held)
    return column if plain is held else pd.Series(pd.arrays.ArrowExtensionArray(plain))


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


def factor(column: pd.Series[Any], axis: Axis) -> Coded:
    """Give every value of a column its position, the fastest way that its type allows."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return [*_widen_floats(pd.Series(dtype.categories))], column.cat.codes.to_numpy()
    plain = isinstance(dtype, np.dtype) and dtype.kind in "biufO"
    values: Any = np.ascontiguousarray(column.to_numpy()) if plain else column.array
    if plain and (whole := coded_whole(values)):
        return whole
    try:
        if plain and values.dtype.kind == "O":
            return _factor_objects(values)
        codes, different = pd.factorize(values)
    except (NotImplementedError, TypeError):  # of lists and structs, by Arrow and by Python
        raise nested_value_error(axis) from None
    return whole_numbers(different) or [*different], codes


def _factor_objects(values: NDArray[np.object_]) -> Coded:
    # by their addresses: rows mostly share the objects of values. Values are not compared: 1 and
    # True are equal in Python, not in data
    held = (ctypes.c_int64 * len(values)).from_address(values.ctypes.data)
    codes, addresses = pd.factorize(np.ctypeslib.as_array(held))
    if len(addresses) > WIDEST and pd.api.types.infer_dtype(values, skipna=True) == "string":
        codes, different = pd.factorize(values)  # every row has its own
        return different.tolist(), codes
    first = np.empty(len(addresses), dtype=np.int64)
    first[codes] = np.arange(len(codes))
    known = values[first].tolist()
    hash(tuple(known))
    return known, codes


@dataclass(frozen=True)
class DaskFrame(_Frame):
    frame: dd.DataFrame

    def count(self, plan: Plan, limit: int) -> Cube:
        dask = import_module("dask")
        count = dask.delayed(_scan_partition)
        parts = [count(part, plan, limit) for part in self._parts(plan)]
        return join_parts(plan, dask.compute(*parts), limit, stated=self.stated_order)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        for part in self._parts(plan):
            yield from PandasFrame(self.name, part.compute()).batches(plan)

    def _parts(self, plan: Plan) -> list[Any]:
        wanted = [c for c in self.frame.columns if str(c) in plan.columns]
        return list(self.frame[wanted].to_delayed())


def _scan_partition(part: pd.DataFrame, plan: Plan, limit: int) -> Scanned:
    return scan_batches(plan, PandasFrame("Dask frame", part).batches(plan), limit)
