"""The document of a result that has none of its own: its first page, and its tables as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairgauge.render._document_tree import Cell, Column, DocumentTree, Table
from fairgauge.render.documents._document_parts import Made, document_of, listed
from fairgauge.render.words.display_names import capitalised, printable
from fairgauge.render.writers.flat_rows import FlatTable, table_of
from fairgauge.results.shown_result import ShownResult

if TYPE_CHECKING:

    class _Shown(Made, ShownResult):
        """A result that states when and by which fairgauge it was made."""


def plain_document(result: _Shown, *, full: bool = True) -> DocumentTree:
    """Build the document of a result, with a section for each of its tables."""
    del full  # it has no summary
    return document_of(
        result,
        title=result.KIND.title,
        beside="",
        sections=[
            listed(name, capitalised(name), _table(name, table_of(result, name)))
            for name in result.KIND.tables
        ],
        file_name=result.KIND.name,
    )


def _table(name: str, table: FlatTable) -> Table:
    rows = tuple(tuple(map(Cell, _texts(row))) for row in table.rows)
    return Table(capitalised(name), tuple(map(Column, table.columns)), rows)


def _texts(row: tuple[str | float | None, ...]) -> Iterator[str]:
    for value in row:
        if isinstance(value, str):
            yield printable(value)
        else:
            yield "" if value is None else f"{value:.6g}"
