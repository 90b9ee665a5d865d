"""Workbooks: a sheet of an .xlsx file as typed cells, below its header."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.object_stores import Place
from fairgauge.scan._column_arrays import open_columns
from fairgauge.scan.source import MOST_COLUMNS, Source, check_unique_names

_MOST_ABOVE = 50
"""Rows above the header that are looked at."""


def open_workbook(path: Place, name: str, sheet: str = "") -> Source:
    """Open a sheet of a workbook; the first row that names every column is its header.

    Raises
    ------
    DataError
        The file is damaged, has several sheets with rows and none is named, or no header.
    MissingExtra
        openpyxl is not installed.
    """
    if not isinstance(path, Path):
        raise DataError(f"{quote(path)} is read from this machine alone; copy it here")
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("reading workbooks", "xlsx", error) from None
    try:
        with path.open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheets = {each.title: _rows(each) for each in book.worksheets}
    except (OSError, ValueError, KeyError, SyntaxError, BadZipFile) as error:
        raise DataError(f"cannot read {quote(path)}: {type(error).__name__}") from None
    with_rows = {title: rows for title, rows in sheets.items() if any(map(_filled, rows))}
    if sheet and sheet not in sheets:
        raise DataError(f"{quote(path)} has no sheet {quote(sheet)}; it has {listing(sheets)}")
    if not sheet and len(with_rows) > 1:
        raise DataError(
            f"{quote(path)} has {len(with_rows)} sheets with rows, {listing(with_rows)}; name one "
            f"(--sheet {quote(next(iter(with_rows)))}, or {quote(f'{path}#SHEET')} in Python)"
        )
    rows = sheets[sheet] if sheet else next(iter(with_rows.values()), [])
    return open_columns(_columns(rows, quote(path)), name)


def _rows(sheet: Any) -> list[list[Any]]:
    """Return the rows of a sheet; a formula that failed has no value."""
    sheet.reset_dimensions()  # programs state A1 alone, and openpyxl would read no more
    return [
        [None if value in _FAILED else value for value in row]
        for row in sheet.iter_rows(values_only=True)
    ]


_FAILED = ("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


def _filled(row: Sequence[Any]) -> list[Any]:
    return [value for value in row if value is not None and value != ""]


def _columns(rows: Sequence[Sequence[Any]], where: str) -> dict[str, list[Any]]:
    """Return the columns below the first row that has as many names as any row has values."""
    width = max((_width(row) for row in rows), default=0)
    at = next((i for i, row in enumerate(rows[:_MOST_ABOVE]) if len(_filled(row)) == width), None)
    if not width or at is None or width > MOST_COLUMNS:
        raise DataError(f"{where} has no row that names every column; name each column in one row")
    names = [str(value).strip() for value in rows[at][:width]]
    check_unique_names(names, where)
    below = [row for row in rows[at + 1 :] if _filled(row)]
    if not below:
        raise DataError(f"{where} has no rows below its header, {listing(names)}")
    return dict(zip(names, map(list, zip_longest(*(row[:width] for row in below))), strict=True))


def _width(row: Sequence[Any]) -> int:
    return max(
        (i for i, value in enumerate(row, 1) if value is not None and value != ""), default=0
    )
