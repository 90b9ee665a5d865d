"""Tables that go on behind a gap or a page break, without a header of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from fairgauge.published.printed_numbers import is_blank, read_number, read_ratio
from fairgauge.question.category_words import is_unknown

Line = TypeVar("Line")

_PAGE = re.compile(r"\W*(\d+\W*|.*\bcont(inued|[.'’]?d)?\b.*|.*\bpage\b.*)", re.IGNORECASE)
"""What stands between the parts of a table: the number of a page, or that the table goes on."""


def whole_tables(
    blocks: Iterable[list[Line]], cells: Callable[[Line], Sequence[str]]
) -> list[list[Line]]:
    """Return blocks of lines, those that go on joined to the table above them.

    A block goes on where its first line is a row of the block above: as many cells, with numbers in
    the same places; or where it is one row alone that counts people of unknown category.

    Parameters
    ----------
    blocks : the lines between gaps.
    cells : what returns the cells of a line.

    Examples
    --------
    >>> blocks = [["sex n hired", "A 9 5"], ["Page 2"], ["B 8 4"], ["race n hired", "C 7 3"]]
    >>> whole_tables(blocks, str.split)
    [['sex n hired', 'A 9 5', 'B 8 4'], ['race n hired', 'C 7 3']]
    """
    found: list[list[Line]] = []
    for block in blocks:
        rest = list(block)
        while rest and _PAGE.fullmatch(" ".join(filter(None, cells(rest[0])))):
            rest = rest[1:]
        above = reversed(found[-1]) if found else ()
        counted = len(rest) == 1 and _counts_unknown(cells(rest[0]))
        if rest and any(counted or _is_like(cells(rest[0]), cells(row)) for row in above):
            found[-1] += rest
        elif rest:
            found.append(block)
    return found


def _counts_unknown(row: Sequence[str]) -> bool:
    """Return whether a row is how many people are of unknown category, and nothing else."""
    name, *others = [cell for cell in row if cell] or [""]
    return is_unknown(name) and len(others) == 1 and read_number(others[0]) is not None


def _is_like(row: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two rows have numbers in the same places, in two at least of more columns."""
    numbers = [_is_number(cell) for cell in row]
    enough = min(2, len(row) - 1)
    return (
        len(row) == len(other)
        and sum(read_ratio(cell) is not None for cell in row) >= enough > 0
        and all(
            number is _is_number(cell) or not (cell and own)
            for number, own, cell in zip(numbers, row, other, strict=True)
        )
    )


def _is_number(cell: str) -> bool:
    return read_ratio(cell) is not None or is_blank(cell)
