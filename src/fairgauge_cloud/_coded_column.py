"""Columns as codes and levels, whatever held them; a table is a mapping of names to columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionDtype

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


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
    """A column: ``codes`` are positions in its values, in the order in which they first appear.

    A missing one is -1.
    """

    name: str
    kind: Kind
    codes: Codes
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> int:
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
        return tuple(self.levels[i] for i in self.held.tolist())

    @property
    def held(self) -> Codes:
        """Return the positions of the levels that occur, rising."""
        counts = np.bincount(self.codes + 1, minlength=len(self.levels) + 1)
        return np.flatnonzero(counts[1:])

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN where missing; ValueError where one is no number."""
        values = np.array([*map(float, self.levels), math.nan])
        return values[self.codes]

    def relabel(self, levels: Sequence[object], kind: Kind) -> CodedColumn:
        """Return the column with other values for its levels; equal ones become one."""
        position: dict[tuple[object, object], int] = {}
        kept: list[object] = []
        moved = []
        for level in levels:
            at = position.setdefault(_level_key(level), len(kept))
            if at == len(kept):
                kept.append(level)
            moved.append(at)
        return CodedColumn(self.name, kind, np.array([*moved, -1])[self.codes], tuple(kept))


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
    levels: list[Any] = []
    codes = []
    for value in values:
        if value is None or value != value:
            codes.append(-1)
            continue
        at = position.setdefault(_level_key(value), len(levels))
        if at == len(levels):
            levels.append(value)
        codes.append(at)
    column = CodedColumn(name, Kind.TEXT, np.array(codes, dtype=np.int64), tuple(levels))
    kinds, missing = {type(level) for level in levels}, column.known < len(codes)
    if kinds <= {int, float}:
        if kinds == {int} and not missing:
            return column.relabel(levels, Kind.INTEGER)
        return column.relabel([*map(float, levels)], Kind.FLOAT)
    return column.relabel(levels, Kind.BOOLEAN) if kinds == {bool} and not missing else column


def _level_key(value: object) -> tuple[object, object]:
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


Table = dict[str, CodedColumn]
"""Columns of the same rows, by their names."""
