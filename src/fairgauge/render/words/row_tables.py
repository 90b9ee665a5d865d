"""The rows of a result as a table to look at: of a few columns, those that are filled.

To compute with them there is `to_pandas`, which has every column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fairgauge.render.words.numbers import count, plural

_MOST_ROWS = 20
_PLACE = ("stratum", "class_", "threshold")
_INTERVAL = ("value", "low", "high")
_COLUMNS = {
    "Estimate": ("metric", "feature", "group", "reference", *_PLACE, *_INTERVAL, "p_adjusted",
                 "n_group", "n_reference", "status"),
    "Group": ("feature", "group", *_PLACE, "n", "weight", "share"),
    "Verdict": ("rule", "feature", "group", *_PLACE, "outcome", "remains", *_INTERVAL),
    "GroupPair": ("rate", "feature", "group", "other", *_PLACE, "difference", "ratio",
                  "p_adjusted", "status"),
    "Finding": ("metric", "feature", "group", "reference", *_PLACE, *_INTERVAL, "p_adjusted"),
}  # fmt: skip
_SMALL, _LARGE = 1e-4, 1_000.0


def rows_as_text(rows: Sequence[Any]) -> str:
    """Return rows as lines of text, numbers to the right."""
    heads, cells = _table(rows[:_MOST_ROWS])
    if not heads:
        return "(no rows)" if not rows else repr(tuple(rows))
    columns = list(zip(heads, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numeric = [all(not cell or _is_number(cell) for cell in column[1:]) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in (heads, *cells)
    ]
    return "\n".join([*lines, *_more(rows)])


def rows_as_html(rows: Sequence[Any]) -> str:
    """Return rows as a plain table of HTML, without style or script."""
    heads, cells = _table(rows[:_MOST_ROWS])
    if not heads:
        return f"<pre>{escape(rows_as_text(rows))}</pre>"
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells
    )
    more = "".join(f"<p>{escape(line)}</p>" for line in _more(rows))
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{more}"


def _more(rows: Sequence[Any]) -> Iterator[str]:
    if (more := len(rows) - _MOST_ROWS) > 0:
        yield f"{count(more)} more {plural(more, 'row', 'rows')}; report.to_pandas() has all"


def _table(rows: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """Return the heads of the columns that are filled, and the cells of every row."""
    kinds = {type(row).__name__ for row in rows}
    names = _COLUMNS.get(kinds.pop(), ()) if len(kinds) == 1 else ()
    if not names:
        return [], []
    filled = [_fields(row, names) for row in rows]
    every = dict.fromkeys([*names, *(name for row in filled for name in row)])
    heads = [name for name in every if any(name in row for row in filled)]
    return [head.strip("_") for head in heads], [[row.get(h, "") for h in heads] for row in filled]


def _fields(row: Any, names: Iterable[str]) -> Mapping[str, str]:
    """Return the fields of a row that have a value; of a group its rates, too."""
    interval = getattr(row, "interval", None)
    values = {name: getattr(row, name, None) for name in names}
    if interval is not None:
        values |= {"low": interval.low, "high": interval.high}
    if hasattr(row, "estimate"):  # of a finding
        values["value"] = row.estimate.value
    values |= {name: rate.value for name, rate in getattr(row, "rates", {}).items()}
    return {name: _cell(value) for name, value in values.items() if value is not None}


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or abs(value) >= _LARGE:
        return f"{value:,.0f}" if isinstance(value, int) else f"{value:,.1f}"
    return f"{value:.4f}" if abs(value) >= _SMALL or not value else f"{value:.1e}"


def _is_number(text: str) -> bool:
    return text.replace(",", "").removeprefix("-").replace(".", "").replace("e-", "").isdigit()
