"""The CSV format: one of the tables of a result."""

from __future__ import annotations

import math
import re
import unicodedata

from fairgauge.render.words.display_names import printable
from fairgauge.render.writers.flat_rows import Cell, FlatTable, table_of
from fairgauge.results.shown_result import ShownResult

_FORMULA = tuple("=+-@")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A text such as the group ``-1``: there is nothing to compute."""
_NEEDS_QUOTES = frozenset('",;|')


def write(shown: ShownResult, *, table: str | None = None) -> str:
    """Write a table as CSV with a header; texts can do no harm in a spreadsheet."""
    return table_text(table_of(shown, table))


def table_text(found: FlatTable) -> str:
    """Return a table as CSV, its header with columns of the user among others."""
    lines = [",".join(map(cell, row)) for row in (found.columns, *found.rows)]
    return "\n".join(lines) + "\n"


def cell(value: Cell) -> str:
    """Return a cell as it stands in CSV, with nothing that a spreadsheet would compute.

    >>> cell("=1+1"), cell("-1"), cell(-0.5), cell(None), cell("a;b"), cell(True)
    ("'=1+1", '-1', '-0.5', '', '"a;b"', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return _number(value)
    text = printable(value)
    as_read = unicodedata.normalize("NFKC", text).lstrip()
    if as_read.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"  # a spreadsheet shows it instead of computing it
    if _NEEDS_QUOTES.intersection(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _number(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)
