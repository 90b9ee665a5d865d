"""pandas frames: every axis as small codes, whose cells are summed part by part.

Every part of a Dask frame is a pandas frame, counted where it is; the counts are put together.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from fairgauge.cube.cube import in_stated_order
from fairgauge.cube.levels import not_plain
from fairgauge.scan._cell_sums import Scanned, count_batches, joined, scanned
from fairgauge.scan._short_floats import doubles
from fairgauge.scan.row_access import numbers_of
from fairgauge.scan.row_codes import BATCH, Batch, numbers_of_texts, without_listed
from fairgauge.scan.source import MOST_UNREADABLE, NotNumeric, UnreadableNumbers, check_values
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
        return [_as_doubles(_plain(self.frame.iloc[:most, at])).tolist() for at in positions], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        cube = count_batches(plan, self._batches(plan, limit), limit)
        return in_stated_order(cube, _stated_order(self.frame))

    def scanned(self, plan: Plan, limit: int) -> Scanned:
        """Count the rows of this frame, a part of the data, in one scan."""
        return scanned(plan, self._batches(plan, limit), limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows."""
        return self._batches(plan, max(len(self.frame), 1))

    def _batches(self, plan: Plan, limit: int) -> Iterator[Batch]:
        column = {c: _plain(self.frame.iloc[:, self.columns.index(c)]) for c in plan.columns}
        plain = {
            axis: factor(_as_doubles(column[axis.column]), axis, limit)
            for axis in plan.axes
            if not axis.bins
        }
        for part in parts(len(self.frame)):
            yield Batch(
                {axis: (each.values, each.digits(part)) for axis, each in plain.items()},
                {c: _numbers(column[c].iloc[part], c, plan) for c in plan.numeric_columns},
            )


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column, in a plain type if it is one of Arrow's others."""
    if not isinstance(column.dtype, pd.ArrowDtype):
        return column
    from fairgauge.scan._plain_arrow import plain_column

    held = column.array.__arrow_array__()
    plain = plain_column(held)
    return column if plain is held else pd.Series(pd.arrays.ArrowExtensionArray(plain))


def _stated_order(frame: pd.DataFrame | dd.DataFrame) -> dict[str, list[object]]:
    """Return the categories of columns that state their order, and are not only sorted."""
    kinds = {str(c): k for c, k in frame.dtypes.items() if isinstance(k, pd.CategoricalDtype)}
    return {
        column: list(kind.categories)
        for column, kind in kinds.items()
        if kind.ordered or not kind.categories.is_monotonic_increasing
    }


def _as_doubles(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column, as doubles if it is of floats of less than double precision."""
    own = getattr(column.dtype, "numpy_dtype", column.dtype)  # of nullable columns, and of Arrow's
    if own not in (np.float32, np.float16):
        return column
    return pd.Series(doubles(column.to_numpy(dtype=own, na_value=np.nan)))


def _numbers(column: pd.Series[Any], name: str, plan: Plan) -> Floats:
    """Return a column as floats, NaN where missing or listed as no number."""
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
            column = _of_objects(column, name, plan)
        elif not numeric:
            raise NotNumeric(name, column.dtype, plan)
        found = _as_doubles(column).to_numpy(dtype=np.float64, na_value=np.nan)
    return without_listed(found, plan, name)


def _of_objects(column: pd.Series[Any], name: str, plan: Plan) -> pd.Series[Any]:
    """Return a column of objects that are all numbers, or missing."""
    numbers = pd.to_numeric(column, errors="coerce")
    texts = {value for value in column if isinstance(value, str)}
    unread = {text for text in texts if np.isnan(numbers_of([text])[0])}
    wrong = unread or column[numbers.isna() & column.notna()].head(MOST_UNREADABLE)
    if len(wrong):
        raise UnreadableNumbers(plan, name, map(str, wrong))
    if texts:
        raise NotNumeric(name, column.dtype, plan)
    return numbers


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
        low = np.array(self.low).astype(smallest)  # both wrap around, and their difference fits
        found: Codes = np.subtract(self.codes[part], low, dtype=smallest, casting="unsafe")
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
        categories = _as_doubles(pd.Series(dtype.categories))
        return Factor(column.cat.codes.to_numpy(), -1, [None, *categories])
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
        return in_stated_order(joined(plan, dask.compute(*parts), limit), _stated_order(self.frame))

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows, one part after the other."""
        for part in self._parts(plan):
            yield from PandasFrame(self.name, part.compute()).batches(plan)

    def _parts(self, plan: Plan) -> list[Any]:
        wanted = [c for c in self.frame.columns if str(c) in plan.columns]
        return list(self.frame[wanted].to_delayed())


def _scanned(part: pd.DataFrame, plan: Plan, limit: int) -> Scanned:
    return PandasFrame("Dask frame", part).scanned(plan, limit)
