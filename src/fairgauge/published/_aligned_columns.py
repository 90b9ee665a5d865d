"""Lines of a table whose columns stand below each other, as a terminal prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fairgauge.published._header_words import role_of
from fairgauge.published.printed_numbers import is_empty, read_number

_WIDE_SPACE = re.compile(r"\s{2,}")
_CONTINUED = re.compile(r" \S")
"""Later lines of a name that takes several lines are indented by one place, its first is not."""


def aligned(lines: Sequence[str]) -> list[list[str]]:
    r"""Return the cells of lines by their place, the header of several lines as one row.

    Nothing where spaces do not separate the same columns in all lines: where a column has cells of
    two, or numbers but no header. A title above the table, and a heading or a note below its
    header, stays one cell.

    Examples
    --------
    >>> lines = ["             hire", "sex       n  rate   gap", "Female  400   30%", "Male     80         5%"]
    >>> aligned(lines)
    [['sex', 'n', 'hire rate', 'gap'], ['Female', '400', '30%', ''], ['Male', '80', '', '5%']]
    """  # noqa: E501 - the lines of a table
    cells = [len(_WIDE_SPACE.split(line.strip())) for line in lines]
    whole = [not line.startswith(" ") for line in lines]
    wide = [at for at, n in enumerate(cells) if n > 1]
    numbers = [at for at in wide if _has_number(_WIDE_SPACE.split(lines[at].strip()))]
    head = [at for at in wide if at < min(numbers, default=len(lines))]
    first = next((at for at in head or wide if whole[at]), head[-1] if head else len(lines))
    body = [at for at, n in enumerate(cells) if n > 1 or (at < first and not whole[at])]
    spans = _columns([lines[at] for at in body])
    found = {at: [lines[at][start:end].strip() for start, end in spans] for at in body}
    if _has_joined_cells(found.values()):
        begin = min(numbers, default=len(lines))
        head, below = ([at for at in body if (at < begin) is above] for above in (True, False))
        found = _apart_from_names(lines, head, below, max(cells))
    if any("\t" in line for line in lines) or not found or _has_joined_cells(found.values()):
        return []
    above: list[list[str]] | None = []
    place = 0
    rows, header = list[list[str]](), list[str]()
    for at, line in enumerate(lines):
        if at not in body:
            begun = bool(rows) and len(rows[-1]) > 1 and whole[max(i for i in body if i < at)]
            if at > first and begun and _CONTINUED.match(line):
                rows[-1][0] += line.rstrip()
            else:
                rows.append([line.strip()])
            continue
        row = found[at]
        if above is not None and not _has_number(row):
            place = place if above else len(rows)
            above.append(row)
            continue
        if above:  # above the headings of the first row
            header = [" ".join(filter(None, parts)) for parts in zip(*above, strict=True)]
            rows.insert(place, header)
        above = None
        rows.append(row)
    return rows if header and not _lacks_header(header, found.values()) else []


def _apart_from_names(
    lines: Sequence[str], head: Sequence[int], body: Sequence[int], most: int
) -> dict[int, list[str]]:
    """Return the cells of lines where names end behind the place at which other cells begin.

    The names are the first cells of the rows. The header may have none above them, and its other
    cells, as many as the rows have, are of these in their order. Nothing where it is not so.
    """
    names = {at: _WIDE_SPACE.split(lines[at].strip())[0] for at in body}
    others = {at: lines[at].replace(name, " " * len(name), 1) for at, name in names.items()}
    spans, own = _columns([*others.values()]), _columns([lines[at] for at in head])
    starts = [lines[at].index(name) for at, name in names.items()]
    if not (own and spans) or max(starts) >= min(spans[0][0], own[-len(spans) :][0][0]):
        return {}
    if len(own) == len(spans):
        own = [(0, 0), *own]
    if not most <= len(spans) + 1 == len(own):
        return {}
    header = {at: [lines[at][start:end].strip() for start, end in own] for at in head}
    rows = {at: [line[start:end].strip() for start, end in spans] for at, line in others.items()}
    return header | {at: [names[at], *row] for at, row in rows.items()}


def stacked(lines: Sequence[str]) -> list[list[str]]:
    """Return the parts of a table whose columns are broken over several, below each other.

    Each has a header of its own, with the same first column, above which its upper lines are.
    """
    names = [_WIDE_SPACE.split(line.rstrip()) for line in lines]
    headers = [at for at, cells in enumerate(names) if len(cells) > 1 and cells[0]]
    first = next(iter(headers), 0)
    starts = [0]
    for at in headers:
        same = names[at][0] == names[first][0] and names[at] != names[first]
        if same and not _has_number(names[at]):
            while lines[at - 1].startswith("  "):
                at -= 1
            starts.append(at)
    return [list(lines[a:b]) for a, b in zip(starts, [*starts[1:], None], strict=True)]


def _has_joined_cells(rows: Iterable[Sequence[str]]) -> bool:
    return any(_WIDE_SPACE.search(cell) for row in rows for cell in row)


def _lacks_header(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return whether a column of numbers has none: it is right or left of where that stands."""
    return any(
        not name and read_number(cell) is not None
        for row in rows
        for name, cell in zip(header[1:], row[1:], strict=True)
    )


def _has_number(row: Sequence[str]) -> bool:
    """Return whether a line has numbers, or marks in their place that are no headers, as "#" is."""
    marks = [cell for cell in row[1:] if cell and is_empty(cell) and role_of(cell) is None]
    return bool(marks) or any(read_number(cell) is not None for cell in row[1:])


def _columns(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return where columns begin and end: between them, two places are blank in all lines."""
    width = max(map(len, lines), default=0)
    filled = "".join(
        " " if all(line[at : at + 1] in ("", " ") for line in lines) else "x" for at in range(width)
    )
    return [found.span() for found in re.finditer(r"x+( x+)*", filled)]
