"""Estimates as flat rows: the CSV format, and what data frames are made of."""

from __future__ import annotations

import math
import unicodedata
from typing import TYPE_CHECKING

from fairgauge.render.display_names import printable
from fairgauge.report.plain_values import number, plain_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.report.report import Report

TEXTS = ("metric", "set", "feature", "group", "reference", "reference_kind", "scope", "stratum",
         "class_scope", "class", "average", "method", "status", "reason", "says")  # fmt: skip
"""The columns that hold text; the others hold numbers."""

COLUMNS = ("metric", "set", "feature", "group", "reference", "reference_kind", "scope", "stratum",
           "class_scope", "class", "average", "threshold", "value", "low", "high", "confidence", "method", "p_value", "p_adjusted", "n_group",
           "n_reference", "rate_group", "rate_reference", "status", "reason", "says")  # fmt: skip
"""The columns of a row, in order."""

_FORMULA = tuple("=+-@")
_NEEDS_QUOTES = frozenset('",;|')

Cell = str | float | None


def rows(report: Report) -> Iterator[tuple[Cell, ...]]:
    """Return one row for every estimate, in the order of `COLUMNS`."""
    for estimate in report.estimates:
        fields = plain_estimate(estimate)
        fields["method"] = ", ".join(fields["method"]) or None
        fields["reason"] = fields["reason"] and fields["reason"]["message"]
        yield tuple(number(fields[name]) for name in COLUMNS)


def to_csv(report: Report) -> str:
    """Write the estimates as CSV with a header; texts can do no harm in a spreadsheet."""
    lines = [",".join(COLUMNS)]
    lines += [",".join(map(cell, row)) for row in rows(report)]
    return "\n".join(lines) + "\n"


def cell(value: Cell) -> str:
    """Return a cell as it stands in CSV, with nothing that a spreadsheet would compute."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return _number(value)
    text = printable(value)
    if unicodedata.normalize("NFKC", text).lstrip().startswith(_FORMULA):
        text = f"'{text}"  # a spreadsheet shows it instead of computing it
    if _NEEDS_QUOTES.intersection(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _number(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)
