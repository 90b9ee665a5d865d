"""Rows of pasted text whose cells are read in their order, as their places show no columns."""

from __future__ import annotations

from collections.abc import Sequence

from fairgauge.published._header_words import role_of
from fairgauge.published._single_spaces import counts_unknown, line_cells
from fairgauge.published.printed_numbers import read_number
from fairgauge.published.published_table import ColumnRole

_FEWEST_NUMBERS = 2
"""Fewest numbers of a row; a heading or a note may have one."""


def has_joined_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a header names the categories, and has fewer cells than all rows have.

    >>> has_joined_headings([["sex", "n hired"], ["Male", "9", "5"], ["Female", "8", "4"]])
    True
    """
    header = _header(rows)
    return bool(header) and role_of(header[0]) is None and len(header) < _fewest(rows)


def with_names_header(
    rows: Sequence[Sequence[str]], lines: Sequence[str]
) -> Sequence[Sequence[str]]:
    """Put an empty cell above the names, where a header has cells of numbers alone.

    It is indented, some line below it less, and every row has one cell more than it.

    >>> lines = ["     n  hired", "A  9  5"]
    >>> with_names_header([["n", "hired"], ["A", "9", "5"]], lines)
    [['', 'n', 'hired'], ['A', '9', '5']]
    """
    header = _header(rows)
    if not header or role_of(header[0]) is None:
        return rows
    at = [*rows].index(header)
    starts = [len(line) - len(line.lstrip(" ")) for line in lines]
    lacks = {len(row) for row in rows[at + 1 :]} - {1} == {len(header) + 1}
    if not lacks or starts[at] <= min(starts[at + 1 :]):
        return rows
    return [*rows[:at], ["", *header], *rows[at + 1 :]]


def in_order(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return rows with whole names, without those that lack a cell and it is not known which.

    These are named as lines that are not read.

    >>> in_order([["sex", "n", "hired"], ["Non-", "binary", "9", "5"]])
    [['sex', 'n', 'hired'], ['Non- binary', '9', '5']]
    """
    width = len(_header(rows))
    whole = [_with_name_whole(row, width) for row in rows]
    columns = zip(*(row[:width] for row in whole if len(row) >= width), strict=True)
    forms = [{*map(_form, cells)} - {None} for cells in columns]
    return [row for row in whole if len(row) >= width or not _is_shifted(row, forms)]


def with_unknown_placed(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Put a number that stands alone behind a name of people of unknown category among the people.

    >>> with_unknown_placed([["sex", "hired", "n"], ["A", "5", "9"], ["Unknown 3"]])[-1]
    ['Unknown', '', '3']
    """
    roles = next(
        (roles for row in rows if ColumnRole.N in (roles := [*map(role_of, row)][1:])), None
    )
    if roles is None:
        return list(rows)
    before = [""] * roles.index(ColumnRole.N)
    found: list[Sequence[str]] = []
    for row in rows:
        cells = line_cells(" ".join(row))
        alone = len(row) <= len(roles) and counts_unknown(cells)
        found.append([cells[0], *before, cells[1]] if alone else row)
    return found


def _header(rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the longest row above the first row of numbers."""
    first = next((i for i, row in enumerate(rows) if _numbers(row)), 0)
    return max(rows[:first], key=len, default=())


def _fewest(rows: Sequence[Sequence[str]]) -> int:
    """Return the fewest cells up to the last number that a row of numbers has."""
    ends = [numbers[-1] + 1 for row in rows if len(numbers := _numbers(row)) >= _FEWEST_NUMBERS]
    return min(ends, default=0)


def _numbers(row: Sequence[str]) -> list[int]:
    return [i for i, cell in enumerate(row) if i and read_number(cell) is not None]


def _with_name_whole(row: Sequence[str], width: int) -> Sequence[str]:
    """Join the parts of a name that has wide spaces, in a row of more cells than the header."""
    extra = len(row) - width
    first = min(_numbers(row), default=0)
    joined = extra > 0 < width and first == extra + 1
    return [" ".join(row[:first]), *row[first:]] if joined else row


def _is_shifted(row: Sequence[str], forms: Sequence[set[tuple[bool, bool] | None]]) -> bool:
    """Return whether a number is not as those of its column, because a cell before it is missing.

    The column has percentages, fractions or whole numbers.
    """
    numbers = _numbers(row)
    other = any(forms[i] and _form(row[i]) not in forms[i] for i in numbers)
    return len(numbers) >= _FEWEST_NUMBERS and other


def _form(cell: str) -> tuple[bool, bool] | None:
    """Return whether a number is a percentage, and whether it is whole; None of other text."""
    number = read_number(cell)
    return None if number is None else (number.percent, number.percent or number.unit == 1)
