"""Column: one column of a table as codes and levels, whatever library held it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

MISSING_TEXTS = frozenset(
    {"", "NA", "N/A", "n/a", "<NA>", "#N/A", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None"}
)
"""Texts of a CSV cell that mean "no value"."""
_TRUTH = {"true": True, "false": False}


class Kind(StrEnum):
    """What the values of a column are, as a data frame would have it."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
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
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> int:
        """Return how many rows have a value."""
        return int((self.codes >= 0).sum())

    @property
    def first(self) -> Any:
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
    def used(self) -> tuple[Any, ...]:
        """Return the levels that occur."""
        return tuple(self.levels[i] for i in self.held.tolist())

    @property
    def held(self) -> Codes:
        """Return the positions of the levels that occur, rising."""
        counts = np.bincount(self.codes + 1, minlength=len(self.levels) + 1)
        return np.flatnonzero(counts[1:])

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN where missing; ValueError where one is no number."""
        values = np.array([float(level) for level in self.levels] + [math.nan])
        return values[self.codes]

    def relabel(self, levels: Sequence[Any], kind: Kind) -> Column:
        """Return the column with other values for its levels; equal ones become one."""
        position: dict[Any, int] = {}
        moved = [position.setdefault(_key(level), len(position)) for level in levels]
        kept = tuple({_key(level): level for level in reversed(levels)}[key] for key in position)
        return Column(self.name, kind, np.array([*moved, -1])[self.codes], kept)

    def take(self, rows: NDArray[Any]) -> Column:
        """Return the column of some rows, by position or mask; levels in their new order."""
        codes = self.codes[rows]
        held, first = np.unique(codes[codes >= 0], return_index=True)
        order = held[np.argsort(first, kind="stable")]
        mapping = np.full(len(self.levels) + 1, -1)
        mapping[order] = np.arange(len(order))
        levels = tuple(self.levels[i] for i in order.tolist())
        return Column(self.name, self.kind, mapping[codes], levels)


def from_series(series: Any, name: object = None) -> Column:
    """Read a pandas Series."""
    import pandas as pd

    codes, found = pd.factorize(series)
    levels = tuple(found.tolist())
    shown = str(series.name if name is None else name)
    return Column(shown, _kind_of(series.dtype), codes.astype(np.int64), levels)


def from_frame(frame: Any) -> list[Column]:
    """Read every column of a pandas frame."""
    return [from_series(frame.iloc[:, i], name) for i, name in enumerate(frame.columns)]


def from_values(name: str, values: Iterable[Any]) -> Column:
    """Read plain values: text, numbers, booleans and None, as a data frame would type them."""
    position: dict[Any, int] = {}
    levels: list[Any] = []
    codes = []
    for value in values:
        if value is None or value != value:
            codes.append(-1)
            continue
        key = _key(value)
        at = position.get(key)
        if at is None:
            at = position[key] = len(levels)
            levels.append(value)
        codes.append(at)
    raw = Column(name, Kind.OTHER, np.array(codes, dtype=np.int64), tuple(levels))
    return _typed(raw)


def from_texts(name: str, texts: Iterable[str]) -> Column:
    """Read the cells of a CSV column: numbers if all are, else text; an empty cell is missing."""
    values = (None if text in MISSING_TEXTS else text for text in texts)
    column = from_values(name, values)
    for read in (_integers, _floats, _booleans):
        levels = read(column)
        if levels is not None:
            return _typed(column.relabel(levels, Kind.OTHER))
    return column


def _typed(column: Column) -> Column:
    """Give a column of plain values the type that a data frame would give it."""
    kinds = {type(level) for level in column.levels}
    missing = bool((column.codes < 0).any())
    if kinds <= {int, float} and kinds | ({float} if missing else set()) != {int}:
        return column.relabel([float(level) for level in column.levels], Kind.FLOAT)
    if kinds == {int}:
        return column.relabel(column.levels, Kind.INTEGER)
    kind = Kind.BOOLEAN if kinds == {bool} and not missing else Kind.TEXT
    return column.relabel(column.levels, kind)


def _integers(column: Column) -> list[int] | None:
    try:
        return [_whole(text) for text in column.levels]
    except ValueError:
        return None


def _whole(text: str) -> int:
    if "_" in text:
        raise ValueError
    return int(text)


def _floats(column: Column) -> list[float] | None:
    try:
        return [float(text) if "_" not in text else _whole(text) for text in column.levels]
    except ValueError:
        return None


def _booleans(column: Column) -> list[bool] | None:
    found = [_TRUTH.get(text.lower()) for text in column.levels]
    if not found or None in found or (column.codes < 0).any():
        return None
    return [bool(each) for each in found]


def _key(value: Any) -> Any:
    """Return what tells values apart: true and 1 are two values."""
    if isinstance(value, (list, dict)):
        return (type(value), repr(value))
    return (isinstance(value, bool), value)


def _kind_of(dtype: Any) -> Kind:
    if dtype.name == "category":
        return Kind.CATEGORY
    if dtype.name in ("object", "str", "string"):
        return Kind.TEXT
    return {"b": Kind.BOOLEAN, "i": Kind.INTEGER, "u": Kind.INTEGER, "f": Kind.FLOAT}.get(
        dtype.kind, Kind.OTHER
    )
