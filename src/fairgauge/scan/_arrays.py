"""Arrays of numpy by name, counted without an engine: one costs more than some thousand rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, quote
from fairgauge.scan._cell_sums import count_batches
from fairgauge.scan.row_codes import WIDEST, Batch, numbers_of_texts, without_listed
from fairgauge.scan.source import Fetched, NotNumeric

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from fairgauge.scan._duckdb_relation import Relation

_NAME = "arrays"


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays of one length and of one type each; ``held`` gives them by name."""

    held: Mapping[str, NDArray[Any]]
    name: str = _NAME

    at_hand: ClassVar[bool] = True
    streams: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.held)

    def with_missing(self, column: str) -> Arrays:
        """Return the arrays with one more, in which every value is missing."""
        rows = len(next(iter(self.held.values())))
        return replace(self, held={**self.held, column: np.full(rows, np.nan)})

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        return [self.held[name][:most].tolist() for name in columns], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows at once."""
        return count_batches(plan, self.batches(plan), limit)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows, all of them: they are in memory already."""
        coded = {a.column: _coded(self.held[a.column]) for a in plan.axes if not a.bins}
        yield Batch(
            {axis: coded[axis.column] for axis in plan.axes if not axis.bins},
            {column: self._numbers(column, plan) for column in plan.numeric_columns},
        )

    def _numbers(self, column: str, plan: Plan) -> NDArray[np.float64]:
        """Return an array as floats, NaN where missing or listed as no number."""
        values = self.held[column]
        if values.dtype.kind != "O":
            return without_listed(values.astype(np.float64), plan, column)
        texts, positions = _coded(values)
        if column in plan.no_numbers and texts and isinstance(texts[0], str):
            numbers = numbers_of_texts(texts, plan, column)
        elif kinds := {type(each) for each in texts} - {int}:
            kind = "true/false" if kinds == {bool} else "text"
            raise NotNumeric(column, kind, plan)
        else:
            numbers = np.array(texts, dtype=np.float64)
        return np.take(np.append(numbers, np.nan), positions)

    def relation(self) -> Relation:
        """Return the arrays as a relation of DuckDB."""
        names = {name.casefold(): name for name in self.held}
        for name in self.held:
            if names[name.casefold()] != name:
                both = f"{quote(name)} and {quote(names[name.casefold()])}"
                message = f"the arrays {both} have names that differ only in case; rename one"
                raise DataError(message)
        from fairgauge.scan._duckdb_relation import Relation

        connection = _connection().cursor()  # sees its own arrays alone
        connection.register(_NAME, {n: each.view(_Objects) for n, each in self.held.items()})
        return Relation(_NAME, self.columns, connection.table(_NAME), connection)


def _coded(values: NDArray[Any]) -> tuple[Sequence[object], NDArray[np.integer[Any]]]:
    """Return the different values, and the position of each row among them; -1 is missing."""
    kind = values.dtype.kind
    if kind == "b":
        return [False, True], values.view(np.int8)
    if kind == "O":
        listed = values.tolist()
        known = [value for value in dict.fromkeys(listed) if value is not None]
        place = {value: i for i, value in enumerate(known)} | {None: -1}
        return known, np.array([*map(place.__getitem__, listed)], dtype=np.int32)
    if kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < WIDEST:
            whole = values.astype(np.int64)  # may wrap around, and all differences with it
            return range(low, high + 1), whole - whole[values.argmin()]
    different, positions = np.unique(values, return_inverse=True)
    if kind == "f" and len(different) and np.isnan(different[-1]):  # the greatest, and only one
        different = different[:-1]
        positions = np.where(positions == len(different), -1, positions)
    return different.tolist(), positions


class _Objects(np.ndarray[Any, Any]):
    """An array that DuckDB asks for a known value, as it asks a Series: it looks at a sample."""

    def first_valid_index(self) -> int | None:
        return next((i for i, value in enumerate(self) if value is not None), None)


@cache
def _connection() -> DuckDBPyConnection:
    import duckdb

    return duckdb.connect()
