"""The CSV format: a table of a report, the changes of a comparison, the periods of a monitor."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

from fairgauge.published.check_results import Check
from fairgauge.render.words.display_names import printable
from fairgauge.render.writers.flat_rows import (
    changes_of,
    checked_table,
    frontier_of,
    model_changes_of,
    periods_of,
    table_of,
)
from fairgauge.results.comparison import Comparison
from fairgauge.results.model_comparison import ModelComparison
from fairgauge.results.monitor_results import MonitorReport
from fairgauge.results.report import Report
from fairgauge.results.threshold_choice import ThresholdChoice

if TYPE_CHECKING:
    from fairgauge.render.writers.flat_rows import Cell
    from fairgauge.results.shown_result import ShownResult

_FORMULA = tuple("=+-@")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""A text such as the group ``-1``: there is nothing to compute."""
_NEEDS_QUOTES = frozenset('",;|')


def write(shown: ShownResult, *, table: str = "estimates") -> str:
    """Write a table as CSV with a header; texts can do no harm in a spreadsheet."""
    match shown:
        case Report():
            found = table_of(shown, table)
        case Check():
            found = checked_table(shown, "ratios" if table == "estimates" else table)
        case MonitorReport():
            found = periods_of(shown)
        case ModelComparison():
            found = model_changes_of(shown)
        case ThresholdChoice():
            found = frontier_of(shown)
        case Comparison():
            found = changes_of(shown)
        case _:
            raise TypeError(f"{type(shown).__name__} has no table")
    lines = [",".join(found.columns)]
    lines += [",".join(map(cell, row)) for row in found.rows]
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
