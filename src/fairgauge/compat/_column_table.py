"""ColumnTable: columns by name, read from their files when they are first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.compat._coded_column import CodedColumn, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fairgauge.scan.ordered_files import OrderedFiles

    Read = Callable[[list[str]], Iterable[CodedColumn]]


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

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> ColumnTable:
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
