"""Table: columns by name, read from their files when they are first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairgauge.compat.columns import Column, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from fairgauge.scan.ordered_files import OrderedFiles

    Read = Callable[[list[str]], Iterable[Column]]


class Table:
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
        self._columns: dict[str, Column] = {}

    @classmethod
    def of_files(cls, files: OrderedFiles, names: Sequence[str]) -> Table:
        """Name the columns of files."""
        place = {name: i for i, name in reversed(list(enumerate(names)))}

        def read(asked: list[str]) -> Iterable[Column]:
            found = files.encode([place[name] for name in asked])
            for name, each in zip(asked, found, strict=True):
                yield Column(name, Kind(each.type), each.codes, each.levels)

        return cls(names, lambda: files.rows, read)

    @classmethod
    def of_columns(cls, columns: Iterable[Column]) -> Table:
        """Put columns that are in memory together."""
        known = {column.name: column for column in columns}
        rows = len(next(iter(known.values()), ()))
        return cls(list(known), lambda: rows, lambda asked: [known[name] for name in asked])

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else self._rows()

    def column(self, name: str) -> Column:
        """Return a column."""
        return self.columns([name])[0]

    def columns(self, names: Sequence[str]) -> list[Column]:
        """Return several columns, those not yet known read together."""
        unread = [name for name in dict.fromkeys(names) if name not in self._columns]
        if unread:
            self._columns |= {column.name: column for column in self._read(unread)}
        return [self._columns[name] for name in names]

    def take(self, rows: NDArray[Any]) -> Table:
        """Return some rows, by position or mask."""
        count = int(rows.sum()) if rows.dtype == bool else len(rows)
        return Table(
            self.names,
            lambda: count,
            lambda asked: [column.take(rows) for column in self.columns(asked)],
        )

    def beside(self, other: Table) -> Table:
        """Return the columns of both; the other's must have other names."""

        def read(asked: list[str]) -> Iterable[Column]:
            parts: Mapping[bool, Table] = {True: self, False: other}
            for mine, table in parts.items():
                table.columns([name for name in asked if (name in self.names) is mine])
            return [parts[name in self.names].column(name) for name in asked]

        return Table([*self.names, *other.names], lambda: self.rows, read)

    def without(self, name: str) -> Table:
        """Return all columns but one."""
        names = [each for each in self.names if each != name]
        return Table(names, lambda: self.rows, self.columns)
