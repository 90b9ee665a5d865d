"""Reports of fairgauge held against themselves: copies of a table, and sentences below it."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.published._table_files import Grid
from fairgauge.published.published_table import PublishedTable, RowKind
from fairgauge.results.check import Fault, FaultCode, Finding


def check_statements(table: PublishedTable) -> Iterator[Finding]:
    """Yield where the sentences of a report state other people than the rows of a table."""
    if table.own is None:
        return
    counted = [row for row in table.rows if row.n is not None and row.selected is not None]
    n = sum(row.n.value for row in counted if row.n is not None)
    selected = sum(row.selected.value for row in counted if row.selected is not None)
    for people, chosen in sorted(table.own.together):
        yield _stated("n", people, n)
        yield _stated("selected", chosen, selected)
    for more, every in sorted(table.own.lacking):
        yield _stated("all", every, n + more)
    without = [row for row in table.of(RowKind.UNKNOWN) if row not in counted and row.n is not None]
    if without:  # else a group has such a name
        for number in sorted(table.own.unknown):
            yield _stated("unknown", number, table.unknown or 0)


def _stated(what: str, stated: int, rows: float) -> Finding:
    if stated == rows:
        return None
    return Fault.of(FaultCode.SENTENCE_MISMATCH, None, what=what, stated=stated, rows=rows)


def check_copies(table: PublishedTable) -> Iterator[Fault]:
    """Yield the cells of a table in which another copy of it in the same report differs."""
    for row, column, printed, other in table.differing:
        yield Fault.of(FaultCode.COPY_DIFFERS, row, column=column, printed=printed, other=other)


def differing_cells(grid: Grid) -> Iterator[tuple[tuple[int, str] | None, str, str, str]]:
    """Yield every cell of a grid that is not that of a copy, as row, header and both texts.

    A row that one of them lacks, or another header, is one cell.
    """
    own = {row[0]: (grid.number(at), row) for at, row in enumerate(grid.rows)}
    for copy in grid.copies:
        if copy.header != grid.header:
            yield None, "header", " ".join(grid.header), " ".join(copy.header)
            continue
        theirs = {row[0]: row for row in copy.rows}
        for name in dict.fromkeys((*own, *theirs)):
            if name not in theirs:
                yield (own[name][0], name), grid.header[0], name, ""
            elif name not in own:
                yield None, grid.header[0], "", name
            else:
                number, row = own[name]
                cells = zip(grid.header, row, theirs[name], strict=True)
                for header, cell, other in cells:
                    if cell != other:
                        yield (number, name), header, cell, other
