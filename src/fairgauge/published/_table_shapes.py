"""Grids of other shapes made into rows of categories: headers of two rows, blocks, wide tables.

A regular grid has one header, and below it a row for each category with its numbers. Published
tables also put a name above several columns, list categories below the name of another feature,
have columns for each group, or a column for each group and a row for each number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from fairgauge.errors import DataError, quote
from fairgauge.published._header_words import is_remark, names_share, role_of
from fairgauge.published._table_files import Grid
from fairgauge.published.printed_numbers import (
    Printed,
    adjacent_numbers,
    are_numbers,
    is_blank,
    is_whole,
    read_number,
    read_ratio,
)
from fairgauge.published.published_table import RATIOS, ColumnRole
from fairgauge.question.category_words import is_total, is_unknown

_FEWEST = 2
"""Fewest groups, blocks and rows that make a shape."""
_BOTH = re.compile(r"^(?P<count>[\d.,' ]+?)\s*\((?P<share>[\d.,]+\s*%)\)$")
_DOTTED = re.compile(r"[-−]?\d{1,3}(\.\d{3})+")
_COMMA = re.compile(r"\d+,(\d{1,2}|\d{4,})\s*%?|0,\d+|\d+,\d+\s*%")
_POINT = re.compile(r"\d*\.(\d{1,2}|\d{4,})\s*%?|0?\.\d+|\d+\.\d+\s*%")
_SIGNS = ("+", "-", "−")
_DIFFERENCE = re.compile(r"diff\.$|vs ")
_SHARE = re.compile(r"share|proportion|percent|^%|% of", re.IGNORECASE)
_NOT = re.compile(r"^no[nt][\s-]+", re.IGNORECASE)
_SEPARATORS = " -–—:|/,()[]"
_WORDS = {
    ColumnRole.N: "Number of people",
    ColumnRole.SELECTED: "Selected",
    ColumnRole.NOT_SELECTED: "Not selected",
    ColumnRole.RATE: "Selection rate",
    ColumnRole.DENIAL_RATE: "Denial rate",
    ColumnRole.RATIO: "Impact ratio",
    ColumnRole.DENIAL_RATIO: "Denial ratio",
}


def regular(grid: Grid, named: Collection[str] = ()) -> Grid:
    r"""Return a grid with one header and a row for each category.

    Parameters
    ----------
    grid : Grid
    named : headers
        Columns whose role is given: a table that has them is not rearranged.

    Examples
    --------
    >>> from fairgauge.published._table_files import grids_of_text
    >>> text = "race  men  men hired  women  women hired\nA  9  5  8  4\nB  7  3  6  2"
    >>> regular(grids_of_text(text)[0]).rows[1]
    ('B', 'men', '7', '3')
    """
    grid = _with_points(with_joined_header(grid))
    if any(name in grid.header for name in named):
        return grid
    grid = _without_misnamed(grid)
    return _from_wide(_from_blocks(_from_headings(_from_columns(_with_shares_apart(grid)))))


def with_joined_header(grid: Grid) -> Grid:
    """Join a header of two rows: the names above several columns, and those of each column.

    Or names that are broken over two lines, where those of the second line are of columns, too.
    """
    top, second = grid.header, grid.rows[0]
    roles = [role_of(cell) for cell in second[1:]]
    broken = None not in roles and len(set(roles)) == len(roles)
    spans = len(set(top)) < len(top) and not broken
    names = sum(1 for cell in second if cell)
    if (
        not (spans or broken)
        or names < _FEWEST
        or any(map(_is_number, second))
        or len(grid.rows) < _FEWEST
    ):
        return grid
    above, joined = "", []
    for i, (upper, lower) in enumerate(zip(top, second, strict=True)):
        above = upper or (above if i and spans else "")
        joined.append(" ".join(dict.fromkeys(filter(None, (above, lower)))))
    return replace(grid, header=tuple(joined), rows=grid.rows[1:], first=grid.first + 1)


def _without_misnamed(grid: Grid) -> Grid:
    """Take columns apart whose numbers are not what their headers name.

    Percentages without a sign below "selected" are no counts, and a share of all people is no rate.
    """
    roles = [role_of(header) for header in grid.header]
    kept = [
        i
        for i, role in enumerate(roles)
        if i == 0
        or role is None
        or not (
            misfits(grid, i, role)
            or (role is ColumnRole.SELECTED and _are_percentages(grid, i))
            or (role is ColumnRole.RATE and _are_shares_of_people(grid, i, roles))
        )
    ]
    if len(kept) == len(grid.header):
        return grid
    apart = [i for i in range(len(grid.header)) if i not in kept]
    shares = [i for i in apart if names_share(grid.header[i])]
    text = [i for i in kept if _is_text(grid, i)]
    return replace(
        grid,
        header=tuple(grid.header[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in grid.rows),
        apart=(*grid.apart, *(grid.header[i] for i in apart)),
        apart_shares=(*grid.apart_shares, *printed_shares(grid, shares, text)),
    )


def _numbers_of(grid: Grid, i: int) -> list[Printed]:
    return [number for row in grid.rows if (number := read_ratio(row[i])) is not None]


def misfits(grid: Grid, i: int, role: ColumnRole) -> bool:
    """Return whether most numbers of a column cannot have a role: differences, parts of people.

    Single ones that cannot are errors of the table.
    """
    known = _numbers_of(grid, i)
    if role in (ColumnRole.RATE, ColumnRole.DENIAL_RATE, *RATIOS):
        wrong = sum(number.text.startswith(_SIGNS) for number in known)
    else:
        wrong = sum(not _may_be_count(number) for number in known)
    return wrong * 2 > len(known)


def _may_be_count(number: Printed) -> bool:
    """Return whether a number is whole without a sign; dots may separate its thousands."""
    whole = is_whole(number.value) or _DOTTED.fullmatch(number.text) is not None
    return whole and not number.percent and not number.text.startswith("+")


def _are_percentages(grid: Grid, i: int) -> bool:
    """Return whether numbers are rates in per cent, as beside differences in reports of audits."""
    beside = any(map(_DIFFERENCE.match, grid.header))
    return beside and all("." in number.text for number in _numbers_of(grid, i))


def _are_shares_of_people(grid: Grid, i: int, roles: Sequence[ColumnRole | None]) -> bool:
    """Return whether a column is the share that each category has of all people, and no rate.

    That is in proportion to the people: of three categories, or of two that are all.
    """
    if ColumnRole.SELECTED in roles or not _SHARE.search(grid.header[i]):
        return False
    for at in (at for at, role in enumerate(roles) if role is ColumnRole.N):
        pairs = [(read_number(row[i]), read_number(row[at])) for row in grid.rows]
        known = [(share, n.exact) for share, n in pairs if share and n and share.low > 0]
        least = max((n / share.high for share, n in known), default=0)
        most = min((n / share.low for share, n in known), default=-1)
        total = sum(n for _, n in known)
        if least <= most and (len(known) > 2 or (len(known) == 2 and least <= total <= most)):
            return True
    return False


def _with_points(grid: Grid) -> Grid:
    """Write decimal points and no dots between thousands, where a table has decimal commas.

    "1,000" is 1 in a column that has "0,806", and else one thousand.
    """
    columns = list(zip(*grid.rows, strict=True))
    commas = [any(map(_COMMA.fullmatch, cells)) for cells in columns]
    if not any(commas) or any(_POINT.fullmatch(cell) for cells in columns for cell in cells):
        return grid
    written = [
        [_pointed(cell, comma=comma) for cell in cells]
        for cells, comma in zip(columns, commas, strict=True)
    ]
    return replace(grid, rows=tuple(zip(*written, strict=True)))


def _pointed(cell: str, *, comma: bool) -> str:
    if _DOTTED.fullmatch(cell):
        return cell.replace(".", "")
    return cell.replace(",", ".") if comma and _is_number(cell) else cell


def _with_shares_apart(grid: Grid) -> Grid:
    """Put a share in parentheses behind a count, as in "667 (48.0%)", into a column of its own."""
    header: list[str] = []
    columns: list[list[str]] = []
    for name, cells in zip(grid.header, zip(*grid.rows, strict=True), strict=True):
        found = [_BOTH.match(cell) for cell in cells]
        header.append(name)
        if sum(map(bool, found)) * 2 <= sum(not is_blank(cell) for cell in cells):
            columns.append(list(cells))
            continue
        columns.append([m["count"] if m else cell for m, cell in zip(found, cells, strict=True)])
        if role_of(name) in (ColumnRole.SELECTED, ColumnRole.RATE):
            header[-1] = name.replace("%", "").replace("rate", "").strip(_SEPARATORS) or "Selected"
            header.append(_WORDS[ColumnRole.RATE])
            columns.append([m["share"] if m else "" for m in found])
    return replace(grid, header=tuple(header), rows=tuple(zip(*columns, strict=True)))


def _from_columns(grid: Grid) -> Grid:
    """Turn a table with a column for each category, and a row for each number."""
    roles = [role_of(row[0]) for row in grid.rows]
    known = [role for role in roles if role]
    single = len(set(known)) == len(known) >= _FEWEST and len(known) * 2 > len(roles)
    if (
        not single
        or any(map(_names_numbers, grid.header[1:]))
        or any(map(_is_number, _first(grid)))
    ):
        return grid
    header = (grid.header[0] or "category", *_first(grid))
    rows = tuple(zip(grid.header[1:], *(row[1:] for row in grid.rows), strict=True))
    return replace(grid, header=header, rows=rows, first=1)


def _names_numbers(header: str) -> bool:
    return role_of(header) is not None and not is_total(header)


def _first(grid: Grid) -> list[str]:
    return [row[0] for row in grid.rows]


def _from_blocks(grid: Grid) -> Grid:
    """Give the names above blocks of the same categories a column of their own.

    ``Male, White, Black, Female, White, Black`` are the intersections of two features; a name that
    has numbers of its own is the total of its block.
    """
    starts, apart = _blocks(grid)
    rows, above = [], ""
    for i, row in enumerate(grid.rows):
        if i in starts:
            above = row[0]
        categories = (row[0], "") if i in starts or i in apart else (above, row[0])
        rows.append((*categories, *row[1:]))
    header = ("category", grid.header[0] or "category", *grid.header[1:])
    return replace(grid, header=header, rows=tuple(rows)) if starts else grid


def _from_headings(grid: Grid) -> Grid:
    """Give the names above nested blocks columns of their own, one for each level.

    ``Hispanic, Male ..., Female ..., Not Hispanic, Male, White ..., Female, White ...`` has two
    names above each other: one that stands alone takes the place of the innermost, or of one that
    it negates, or of one that stands above names as its own rows have.
    """
    headings = headings_of(grid)
    if not are_nested(grid) or _blocks(grid)[0]:
        return grid
    times = Counter(row[0].casefold() for row in grid.rows)
    paths: list[tuple[str, ...]] = []
    numbers, path = [], list[str]()
    levels: dict[str, int] = {}
    for at, row in enumerate(grid.rows):
        if at in headings:
            if at - 1 not in headings:
                end = min((i for i in headings if i > at), default=None)
                level = _level(row[0], [each[0] for each in grid.rows[at + 1 : end]], path, levels)
                if level is None:
                    raise DataError(
                        f"row {grid.number(at)}, {quote(row[0])}, is ambiguous: it may stand below "
                        f"{quote(path[0])} or in its place; write the levels in columns"
                    )
                path = path[:level]
            levels[row[0].casefold()] = len(path)
            path = [*path, row[0]]
            continue
        levels.setdefault(row[0].casefold(), len(path))
        alone = times[row[0].casefold()] == 1 and (is_total(row[0]) or is_unknown(row[0]))
        paths.append((row[0],) if alone else (*path, row[0]))
        numbers.append(at)
    width = max(map(len, paths))
    return replace(
        grid,
        header=(*["category"] * (width - 1), grid.header[0] or "category", *grid.header[1:]),
        rows=tuple(
            (*names, *[""] * (width - len(names)), *grid.rows[at][1:])
            for names, at in zip(paths, numbers, strict=True)
        ),
        numbers=tuple(map(grid.number, numbers)),
    )


def _level(
    name: str, below: Sequence[str], path: Sequence[str], levels: Mapping[str, int]
) -> int | None:
    """Return the level of a name below other rows, given its own rows; None where it is not clear.

    It is that of a name which it negates or repeats, else one above that of its rows.
    """
    if not below or len(path) <= 1:
        return 0
    opposite = [at for at, other in enumerate(path) if _NOT.sub("", other) == _NOT.sub("", name)]
    own = [each.casefold() for each in below if not is_total(each) and not is_unknown(each)]
    known = {levels[each] - 1 for each in own if each in levels}
    found = {*opposite[:1]} or known
    return found.pop() if len(found) == 1 and 0 <= max(found) < len(path) else None


def headings_of(grid: Grid) -> list[int]:
    """Return the rows that are names of those below them: their first cell alone is filled.

    One with adjacent numbers is a row that is not read.
    """
    alone = [
        bool(row[0]) and set(row[1:]) <= {"", row[0]} and not adjacent_numbers(row[0])
        for row in grid.rows
    ]
    last = max((i for i, heading in enumerate(alone) if not heading), default=0)
    return [i for i, heading in enumerate(alone) if heading and i < last]  # no notes below all


def are_nested(grid: Grid) -> bool:
    """Return whether names above blocks of rows make groups: they, or categories, are nested.

    Else they are names of different tables, of different categories. Rows above the first one are
    in no block, where the same categories stand below several.
    """
    headings = headings_of(grid)
    if len(headings) < _FEWEST:
        return False
    if headings[0] == 0 and any(i + 1 in headings for i in headings):
        return True
    blocks = [
        {row[0].casefold() for row in grid.rows[start + 1 : end] if row[0]}
        for start, end in pairwise([*headings, len(grid.rows)])
    ]
    names = Counter(name for block in blocks for name in block)
    return any(n > 1 and not is_total(name) and not is_unknown(name) for name, n in names.items())


def _blocks(grid: Grid) -> tuple[list[int], list[int]]:
    """Return the rows of the names of blocks, and those of all blocks: totals and unknown people.

    No names, where the rows below them are not the same categories.
    """
    labels = [row[0].casefold() for row in grid.rows]
    times = Counter(labels)
    single = [i for i, label in enumerate(labels) if label and times[label] == 1]
    apart = [i for i in single if is_total(labels[i]) or is_unknown(labels[i])]
    starts = [i for i in single if i not in apart]
    texts = [i for i in range(1, len(grid.header)) if _is_text(grid, i)]
    if texts or len(starts) < _FEWEST or starts[0] != 0:
        return [], apart
    blocks = [
        [labels[i] for i in range(start + 1, end) if i not in apart]
        for start, end in zip(starts, [*starts[1:], len(labels)], strict=True)
    ]
    same = len(blocks[0]) >= _FEWEST and all(block == blocks[0] for block in blocks)
    return (starts if same else []), apart


def _from_wide(grid: Grid) -> Grid:
    """Give every group of columns rows of its own: ``men hired, women hired`` become ``hired``."""
    numeric = [
        i
        for i, header in enumerate(grid.header)
        if is_numeric(grid, i)
        or (role_of(header) is not None and (is_empty_column(grid, i) or is_unknown(header)))
    ]
    apart: list[int] = []
    groups = _groups_of_columns([grid.header[i] for i in numeric])
    if not groups:  # one ratio of all groups, behind their columns, is that of no single group
        apart = [i for i in numeric if role_of(grid.header[i]) in RATIOS]
        numeric = [i for i in numeric if i not in apart]
        groups = _groups_of_columns([grid.header[i] for i in numeric]) if len(apart) == 1 else {}
    if not groups:
        return grid
    kept = [
        i
        for i in range(len(grid.header))
        if i not in (*numeric, *apart) and not is_empty_column(grid, i)
    ]
    roles = [role for role in _WORDS if any(role in of for of in groups.values())]
    rows, numbers = [], []
    for name, of in groups.items():
        for at, row in enumerate(grid.rows):
            cells = [row[numeric[of[role]]] if role in of else "" for role in roles]
            rows.append((*(row[i] for i in kept), name, *cells))
            numbers.append(grid.number(at))
    header = (*(grid.header[i] for i in kept), "group", *(_WORDS[role] for role in roles))
    return replace(
        grid,
        header=header,
        rows=tuple(rows),
        numbers=tuple(numbers),
        apart=tuple(grid.header[i] for i in apart),
        apart_shares=(*grid.apart_shares, *printed_shares(grid, apart, kept)),
    )


def printed_shares(
    grid: Grid, columns: Iterable[int], category: Sequence[int]
) -> tuple[tuple[str, str], ...]:
    """Return the ratios or rates in some columns: the header, and the categories of the row."""
    return tuple(
        (grid.header[i], " & ".join(cells[k] for k in category if cells[k]) or "(no name)")
        for i in columns
        for cells in grid.rows
        if read_ratio(cells[i]) is not None
    )


def _groups_of_columns(headers: Sequence[str]) -> dict[str, dict[ColumnRole, int]]:
    """Return the columns of every group by role; nothing where headers are not of groups."""
    by_role: dict[ColumnRole, list[int]] = {}
    for i, header in enumerate(headers):
        if (role := role_of(header)) is not None:
            by_role.setdefault(role, []).append(i)
    several = {role: of for role, of in by_role.items() if len(of) >= _FEWEST}
    if not several or len(several) < len(by_role):
        return {}
    names: dict[str, dict[ColumnRole, int]] = {}
    for role, of in several.items():
        for i, name in zip(of, _distinctive([headers[i] for i in of]), strict=True):
            names.setdefault(name, {})[role] = i
    unnamed = [i for i in range(len(headers)) if all(i not in of for of in several.values())]
    for i in unnamed:  # "men, men hired": the number of people has the name of the group alone
        columns = names.get(headers[i].casefold())
        if columns is None or ColumnRole.N in columns:
            return {}
        columns[ColumnRole.N] = i
    whole = {frozenset(of) for name, of in names.items() if not is_unknown(name)}
    if "" in names or len(whole) != 1:
        return {}  # people of unknown category may have fewer columns
    return {_as_printed(name, headers): of for name, of in names.items()}


def _distinctive(headers: Sequence[str]) -> list[str]:
    """Return headers without the words that all of them begin or end with."""
    words = [
        re.split(r"[\s()\[\]:|/,–—-]+", header.casefold().strip(_SEPARATORS)) for header in headers
    ]
    while min(map(len, words)) > 0 and len({each[0] for each in words}) == 1:
        words = [each[1:] for each in words]
    while min(map(len, words)) > 0 and len({each[-1] for each in words}) == 1:
        words = [each[:-1] for each in words]
    return [" ".join(each) for each in words]


def _as_printed(name: str, headers: Sequence[str]) -> str:
    """Return a name with the capitals that a header has."""
    for header in headers:
        at = header.casefold().find(name)
        if at >= 0:
            return header[at : at + len(name)]
    return name


def _is_text(grid: Grid, i: int) -> bool:
    filled = any(not is_blank(row[i]) for row in grid.rows)
    return filled and not is_numeric(grid, i) and not is_remark(grid.header[i])


def is_numeric(grid: Grid, i: int) -> bool:
    """Return whether a column holds numbers: most of its cells, or some below a header of numbers.

    The first column names categories unless most of it are numbers.
    """
    cells = [row[i] for row in grid.rows]
    if are_numbers(cells):
        return True
    return i > 0 and role_of(grid.header[i]) is not None and any(map(_is_number, cells))


def is_empty_column(grid: Grid, i: int) -> bool:
    """Return whether every cell of a column is blank."""
    return all(is_blank(row[i]) for row in grid.rows)


def _is_number(cell: str) -> bool:
    return read_number(cell) is not None
