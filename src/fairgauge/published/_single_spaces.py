"""Lines of a table whose columns have one space between them, as text pasted from a PDF has."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

from fairgauge.published._header_words import role_of
from fairgauge.published.printed_numbers import is_blank, read_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.published.published_table import ColumnRole

_LAST_MARK = re.compile(r"(?<=\d)\s+(\(\w\)|\[\w\]|[*†‡§]+)\s*$")
"""The mark of a footnote behind the last number of a line."""
_WIDE_SPACE = re.compile(r"\t|\s{2,}")
_MOST_WORDS = 16
_MOST_NUMBERS = 4


def single_spaced(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines: a name and the numbers behind it, below a header.

    Nothing where the lines do not end in the same number of numbers, or where it is not clear which
    words of the header belong to which.

    Examples
    --------
    >>> text = ["Sex # of Applicants # Selected Rate", "Two or more 80 48 60%", "Male 40 12 30%"]
    >>> single_spaced(text)[:2]
    [['Sex', '# of Applicants', '# Selected', 'Rate'], ['Two or more', '80', '48', '60%']]
    """
    body = [_cells(line) for line in lines]
    sizes = [len(cells) - 1 for cells in body]
    numbers = max(sizes, default=0)
    first = next((i for i, size in enumerate(sizes) if size), 0)
    if not 1 <= numbers <= _MOST_NUMBERS or first == 0:
        return []
    wide = _WIDE_SPACE.split(lines[first - 1].strip())
    header = wide if len(wide) == numbers + 1 else _header(lines[first - 1].split(), numbers)
    if header is None or any(size not in (0, numbers) for size in sizes[first:]):
        return []
    titles = [[each] for each in lines[: first - 1]]
    again = [
        _repeated(header, line) or cells
        for line, cells in zip(lines[first:], body[first:], strict=True)
    ]
    return [*titles, header, *again]


def _repeated(header: Sequence[str], line: str) -> list[str] | None:
    """Return the cells of a line that is the header again, its first name aside; else None."""
    words, columns = line.split(), " ".join(header[1:])
    at = len(words) - len(columns.split())
    same = at > 0 and " ".join(words[at:]).casefold() == columns.casefold()
    return [" ".join(words[:at]), *header[1:]] if same else None


def _cells(line: str) -> list[str]:
    """Return the words of a line that are no numbers as one cell, and the numbers behind them."""
    words = _LAST_MARK.sub(r"\1", line.replace(" %", "%")).split()
    at = len(words)
    while at > 1 and (read_ratio(words[at - 1]) is not None or is_blank(words[at - 1])):
        at -= 1
    return [" ".join(words[:at]), *words[at:]]


def _header(words: Sequence[str], numbers: int) -> list[str] | None:
    """Divide the words of a header most evenly so that every number has a role of its own.

    A rate or a ratio is not parted from the word before it, nor "# of" from the word behind it,
    where it can be avoided. None where two such divisions give the numbers different roles.
    """
    if not numbers < len(words) <= _MOST_WORDS:
        return None
    divisions: list[tuple[tuple[int, int], list[str], list[ColumnRole | None]]] = []
    marked = {i for i, word in enumerate(words) if word.startswith("#")}  # "# of applicants"
    for starts in combinations(range(1, len(words)), numbers):
        if not marked.issubset(starts):
            continue
        ends = [*starts[1:], len(words)]
        cells = [" ".join(words[a:b]) for a, b in zip(starts, ends, strict=True)]
        roles = [role_of(cell) for cell in cells]
        if None not in roles and len(set(roles)) == numbers:
            longest = max(b - a for a, b in zip(starts, ends, strict=True))
            parted = sum(cell.casefold().startswith(("rate", "ratio")) for cell in cells)
            parted += sum(cell.casefold().endswith(" of") for cell in cells)
            header = [" ".join(words[: starts[0]]), *cells]
            divisions.append(((parted, longest), header, roles))
    even = [each for each in divisions if each[0] == min(rank for rank, _, _ in divisions)]
    if not even or any(roles != even[0][2] for _, _, roles in even):
        return None
    return even[0][1]
