"""Lines of a table whose columns have one space between them, as text pasted from a PDF has."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from fairgauge.published.header_words import role_of
from fairgauge.published.printed_numbers import is_blank, read_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_WORDS = 16
_MOST_NUMBERS = 4


def single_spaced(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines: a name and the numbers behind it, below a header.

    Nothing where the lines do not end in the same number of numbers, or where the words of the
    header cannot be divided among them in one way.

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
    header = _header(lines[first - 1].split(), numbers)
    if header is None or any(size not in (0, numbers) for size in sizes[first:]):
        return []
    return [*([each] for each in lines[: first - 1]), header, *body[first:]]


def _cells(line: str) -> list[str]:
    """Return the words of a line that are no numbers as one cell, and the numbers behind them."""
    words = line.replace(" %", "%").split()
    at = len(words)
    while at > 1 and (read_number(words[at - 1]) is not None or is_blank(words[at - 1])):
        at -= 1
    return [" ".join(words[:at]), *words[at:]]


def _header(words: Sequence[str], numbers: int) -> list[str] | None:
    """Divide the words of a header so that every number has another role, if there is one way."""
    if not numbers < len(words) <= _MOST_WORDS:
        return None
    found: dict[tuple[str, ...], list[list[str]]] = {}
    marked = {i for i, word in enumerate(words) if word.startswith("#")}  # "# of applicants"
    for starts in combinations(range(1, len(words)), numbers):
        if not marked.issubset(starts):
            continue
        ends = [*starts[1:], len(words)]
        cells = [" ".join(words[a:b]) for a, b in zip(starts, ends, strict=True)]
        roles = [role_of(cell) for cell in cells]
        if None not in roles and len(set(roles)) == numbers:
            header = [" ".join(words[: starts[0]]), *cells]
            found.setdefault(tuple(map(str, roles)), []).append(header)
    if len(found) != 1:
        return None
    (divisions,) = found.values()
    return min(divisions, key=lambda header: max(len(cell.split()) for cell in header[1:]))
