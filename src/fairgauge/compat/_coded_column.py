"""Columns as codes and levels, whatever held them, and tables that read them when first asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.scan.ordered_files import OrderedFiles
from fairgauge.stats.arrays import Index, Mask

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionDtype

Read = Callable[[list[str]], "Iterable[CodedColumn]"]
Codes = NDArray[np.int64]


class Kind(StrEnum):
    """What the values of a column are, as a data frame would have it."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column.

    Attributes
    ----------
    name : its name.
    kind : what its values are.
    codes : array of shape (rows,): positions in ``levels``, -1 where missing.
    levels : its values, each once, in the order in which they first appear.
    """

    name: str
    kind: Kind
    codes: Codes
    levels: tuple[object, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> int:
        """Return how many rows have a value."""
        return int((self.codes >= 0).sum())

    @property
    def first(self) -> object:
        """Return the value of the first row; NaN where it is missing, or without rows."""
        return self.levels[self.codes[0]] if len(self.codes) and self.codes[0] >= 0 else math.nan

    @property
    def levels_before_missing(self) -> int | None:
        """Return how many levels appear before the first missing value; None without any."""
        missing = np.flatnonzero(self.codes < 0)
        if not len(missing):
            return None
        return int(self.codes[: missing[0]].max(initial=-1)) + 1

    @property
    def used(self) -> tuple[object, ...]:
        """Return the levels that occur."""
        return tuple(self.levels[i] for i in self.held.tolist())

    @property
    def held(self) -> Codes:
        """Return the positions of the levels that occur, rising."""
        counts = np.bincount(self.codes + 1, minlength=len(self.levels) + 1)
        return np.flatnonzero(counts[1:])

    def cells(self) -> list[Any]:
        """Return the value of every row; None where it is missing."""
        levels = [*self.levels, None]
        return [levels[code] for code in self.codes.tolist()]

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN where missing; ValueError where one is no number."""
        values = np.array([as_float(level) for level in self.levels] + [math.nan])
        return values[self.codes]

    def renamed(self, name: str) -> CodedColumn:
        """Return the column under another name."""
        return CodedColumn(name, self.kind, self.codes, self.levels)

    def relabel(self, levels: Sequence[object], kind: Kind) -> CodedColumn:
        """Return the column with other values for its levels; equal ones become one."""
        position: dict[tuple[object, object], int] = {}
        kept: list[object] = []
        moved = []
        for level in levels:
            at = position.setdefault(_key(level), len(kept))
            if at == len(kept):
                kept.append(level)
            moved.append(at)
        return CodedColumn(self.name, kind, np.array([*moved, -1])[self.codes], tuple(kept))

    def take(self, rows: Mask | Index) -> CodedColumn:
        """Return the column of some rows, by position or mask; levels in their new order."""
        codes = self.codes[rows]
        held, first = np.unique(codes[codes >= 0], return_index=True)
        order = held[np.argsort(first, kind="stable")]
        mapping = np.full(len(self.levels) + 1, -1)
        mapping[order] = np.arange(len(order))
        levels = tuple(self.levels[i] for i in order.tolist())
        return CodedColumn(self.name, self.kind, mapping[codes], levels)


def as_float(level: object) -> float:
    """Return ``float(level)``, with its errors: TypeError for what is neither number nor text."""
    return float(level)  # type: ignore[arg-type]


def as_int(level: object) -> int:
    """Return ``int(level)``, with its errors: TypeError for what is neither number nor text."""
    return int(level)  # type: ignore[call-overload, no-any-return]


def from_series(series: pd.Series, name: object = None) -> CodedColumn:
    """Read a pandas Series."""
    import pandas as pd

    codes, levels = pd.factorize(series)
    shown = str(series.name if name is None else name)
    return CodedColumn(
        shown, _kind_of(series.dtype), codes.astype(np.int64), tuple(levels.tolist())
    )


def from_frame(frame: pd.DataFrame) -> list[CodedColumn]:
    """Read every column of a pandas frame."""
    return [from_series(frame.iloc[:, i], name) for i, name in enumerate(frame.columns)]


def from_values(name: str, values: Iterable[object]) -> CodedColumn:
    """Read plain values: text, numbers, booleans and None, typed as a data frame types them."""
    position: dict[tuple[object, object], int] = {}
    levels: list[object] = []
    codes = []
    for value in values:
        if value is None or value != value:
            codes.append(-1)
            continue
        at = position.setdefault(_key(value), len(levels))
        if at == len(levels):
            levels.append(value)
        codes.append(at)
    column = CodedColumn(name, Kind.TEXT, np.array(codes, dtype=np.int64), tuple(levels))
    kinds, missing = {type(level) for level in levels}, column.known < len(codes)
    if kinds <= {int, float}:
        whole = kinds == {int} and not missing
        numbers = [as_int(level) if whole else as_float(level) for level in levels]
        return column.relabel(numbers, Kind.INTEGER if whole else Kind.FLOAT)
    return column.relabel(levels, Kind.BOOLEAN) if kinds == {bool} and not missing else column


def _key(value: object) -> tuple[object, object]:
    """Return what distinguishes values: true and 1 are two values."""
    if isinstance(value, (list, dict)):
        return (type(value), repr(value))
    return (isinstance(value, bool), value)


def _kind_of(dtype: np.dtype[np.generic] | ExtensionDtype) -> Kind:
    if dtype.name == "category":
        return Kind.CATEGORY
    if dtype.name in ("object", "str", "string"):
        return Kind.TEXT
    return {"b": Kind.BOOLEAN, "i": Kind.INTEGER, "u": Kind.INTEGER, "f": Kind.FLOAT}.get(
        dtype.kind, Kind.OTHER
    )


class ColumnTable:
    """Columns of the same rows; each is read once, several in one pass.

    Parameters
    ----------
    names : sequence of str
    rows : function
        Returns the number of rows.
    read : function
        Returns the columns of some names, in their order.
    """

    def __init__(self, names: Sequence[str], rows: Callable[[], int], read: Read) -> None:
        self.names = list(names)
        self._rows = rows
        self._read = read
        self._columns: dict[str, CodedColumn] = {}

    @classmethod
    def of_files(cls, files: OrderedFiles, names: Sequence[str]) -> ColumnTable:
        """Name the columns of files."""
        place = {name: i for i, name in reversed(list(enumerate(names)))}

        def read(asked: list[str]) -> Iterable[CodedColumn]:
            found = files.encode([place[name] for name in asked])
            for name, each in zip(asked, found, strict=True):
                yield CodedColumn(name, Kind(each.type), each.codes, each.levels)

        return cls(names, lambda: files.rows, read)

    @classmethod
    def of_columns(cls, columns: Iterable[CodedColumn]) -> ColumnTable:
        """Put columns that are in memory together."""
        known = {column.name: column for column in columns}
        rows = len(next(iter(known.values()), ()))
        return cls(list(known), lambda: rows, lambda asked: [known[name] for name in asked])

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else self._rows()

    def column(self, name: str) -> CodedColumn:
        """Return a column."""
        return self.columns([name])[0]

    def columns(self, names: Sequence[str]) -> list[CodedColumn]:
        """Return several columns, those not yet known read together."""
        unread = [name for name in dict.fromkeys(names) if name not in self._columns]
        if unread:
            self._columns |= {column.name: column for column in self._read(unread)}
        return [self._columns[name] for name in names]

    def take(self, rows: Mask | Index) -> ColumnTable:
        """Return some rows, by position or mask."""
        count = int(rows.sum()) if rows.dtype == bool else len(rows)
        return ColumnTable(
            self.names,
            lambda: count,
            lambda asked: [column.take(rows) for column in self.columns(asked)],
        )

    def beside(self, other: ColumnTable) -> ColumnTable:
        """Return the columns of both; the other's must have other names."""

        def read(asked: list[str]) -> Iterable[CodedColumn]:
            parts: Mapping[bool, ColumnTable] = {True: self, False: other}
            for mine, table in parts.items():
                table.columns([name for name in asked if (name in self.names) is mine])
            return [parts[name in self.names].column(name) for name in asked]

        return ColumnTable([*self.names, *other.names], lambda: self.rows, read)

    def without(self, name: str) -> ColumnTable:
        """Return all columns but one."""
        names = [each for each in self.names if each != name]
        return ColumnTable(names, lambda: self.rows, self.columns)
