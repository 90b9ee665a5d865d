"""Columns as small codes: every value of a pandas column gets a whole number, chunk by chunk."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairgauge.cube.levels import not_plain
from fairgauge.scan.row_codes import BATCH
from fairgauge.scan.source import check_values
from fairgauge.values import Value, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.cube.plan import Axis

    Codes = NDArray[np.integer[Any]]

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
