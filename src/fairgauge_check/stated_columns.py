"""Published tables of grids: by the columns that are stated, or those that fairgauge prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fairgauge.errors import DataError, listing, quote
from fairgauge.plugins import is_total, is_unknown
from fairgauge_check.printed_numbers import (
    Printed,
    complement,
    has_number,
    is_blank,
    is_dash,
    is_like_a_row,
    is_whole,
    read_number,
    read_ratio,
    without_marks,
)
from fairgauge_check.published_table import (
    RATIOS,
    ColumnRole,
    PublishedRow,
    PublishedTable,
    RowKind,
)
from fairgauge_check.table_files import Grid

OWN: Mapping[ColumnRole, tuple[str, ...]] = {
    ColumnRole.N: ("n",),
    ColumnRole.SELECTED: ("selected", "above median"),
    ColumnRole.RATE: ("selection rate", "scoring rate"),
    ColumnRole.DENIAL_RATE: ("denial rate",),
    ColumnRole.RATIO: (
        "impact ratio",
        "adverse impact ratio",
        "ratio to the highest rate",
        "AIR",
        "selection rate ratio",
    ),
    ColumnRole.DENIAL_RATIO: ("denial ratio",),
}
"""The headers of the tables to publish of a report of fairgauge."""
_COUNTS = {ColumnRole.N, ColumnRole.SELECTED, ColumnRole.NOT_SELECTED}
_SHARES = {ColumnRole.RATE, ColumnRole.DENIAL_RATE}
_UNWEIGHTED = re.compile("unweighted .*")
_DOTTED = re.compile(r"[-−]?\d{1,3}(\.\d{3})+")
_COMMA = re.compile(r"\d+,(\d{1,2}|\d{4,})\s*%?|0,\d+|\d+,\d+\s*%")
_RATIO_LIKE = re.compile(r"\s*[01]?[.,]\d{1,3}\s*")
_OF_RATIOS = re.compile(r"ratio|\brates?\b|impact|\bair\b", re.IGNORECASE)
"""What a header of ratios or rates holds."""
_OWN_OTHERS = re.compile(
    r"(selection rate difference|.*odds ratio|standardised mean difference.*|SMD)(, pp)?", re.I
)
"""Metrics of our own tables to publish, beside the counts and rates that they are made of."""
_NO_CATEGORY = re.compile(
    r"\W|.*[.:]$|(notes?|source|page|data)\b|.*\bcontinued|.{60}", re.IGNORECASE | re.DOTALL
)
"""Text that stands alone in a row, such as a note, and is no category without numbers."""
_POINT = re.compile(r"\d*\.(\d{1,2}|\d{4,})\s*%?|0?\.\d+|\d+\.\d+\s*%")


def stated_columns(
    grid: Grid, stated: Mapping[ColumnRole, Sequence[str]]
) -> dict[ColumnRole, tuple[int, ...]]:
    """Return where the columns are that are stated, by what they hold; none where too few are.

    Of several headers of one role, which are of several tables, the first one that the table has
    counts. Categories that are not stated are all columns in front of the first one that is.
    """
    headers = [_plain(name) for name in grid.header]
    if stated is OWN:  # of weighted rows
        headers = [_UNWEIGHTED.sub("n", name).removeprefix("weighted ") for name in headers]
    places = {name: i for i, name in reversed([*enumerate(headers)])}
    found: dict[ColumnRole, tuple[int, ...]] = {}
    for role, names in stated.items():
        held = [places[_plain(name)] for name in names if _plain(name) in places]
        if held:
            found[role] = tuple(held) if role is ColumnRole.CATEGORY else (held[0],)
    if stated is OWN and (at := found.get(ColumnRole.SELECTED)) is not None:
        numbers = [row[at[0]] for row in grid.rows if read_number(row[at[0]]) is not None]
        if numbers and all("." in text for text in numbers):  # rates in per cent, not to publish
            return {}
    counted = [place for role, (place, *_) in found.items() if role is not ColumnRole.CATEGORY]
    first = min(counted, default=0)
    unstated = stated is OWN and ColumnRole.N not in found
    if unstated and any(_is_numeric(grid, i) for i in range(1, first)):
        return {}  # "scored" may be people, and no category
    if first and ColumnRole.CATEGORY not in found:
        found[ColumnRole.CATEGORY] = tuple(range(first))
    enough = len(found.keys() & _COUNTS) > 1 or bool(found.keys() & _SHARES)
    return found if enough and ColumnRole.CATEGORY in found else {}


def _plain(header: str) -> str:
    return " ".join(header.split()).casefold()


def tables_of(
    grid: Grid, stated: Mapping[ColumnRole, Sequence[str]] = OWN
) -> Iterator[PublishedTable]:
    r"""Yield the tables of a grid: one, or those that stand below one header, each with its name.

    Raises
    ------
    DataError
        A cell of a number column is no number in any row, or categories are nested in headings.

    Examples
    --------
    >>> from fairgauge_check.table_files import grids_of_text
    >>> (grid,) = grids_of_text("sex,applied,hired,share\nMale,80,48,60%\nFemale,40,12,30%")
    >>> stated = {ColumnRole.N: ["applied"], ColumnRole.SELECTED: ["hired"]}
    >>> (table,) = tables_of(grid, stated)
    >>> table.dimensions, table.rows[1].selected.value, table.ignored
    (('sex',), 12.0, ('share',))
    """
    found = stated_columns(grid, stated)
    category = found.pop(ColumnRole.CATEGORY)
    columns = {role: places[0] for role, places in found.items()}
    for part in _parts(grid):
        yield _table(_without_marks(_with_points(part), category), category, columns)


def _table(
    grid: Grid, category: Sequence[int], columns: Mapping[ColumnRole, int]
) -> PublishedTable:
    rows, lost = _rows(grid, category, columns)
    if not rows:
        raise DataError(f"{called_grid(grid)} has no row with a number")
    _check_possible(grid, columns, rows)
    read = {*category, *columns.values()}
    ignored = [i for i in range(len(grid.header)) if i not in read and _is_numeric(grid, i)]
    dimensions = tuple(grid.header[i] or "category" for i in category)
    return PublishedTable(
        name=grid.name or " × ".join(dimensions),
        dimensions=dimensions,
        columns={role: grid.header[i] for role, i in columns.items()},
        rows=rows,
        ignored=tuple(grid.header[i] for i in ignored),
        excludes=grid.excludes,
        preset=grid.preset,
        lost=(*lost, *(f"column {quote(grid.header[i])}" for i in ignored
                       if _is_of_ratios(grid, i, columns))),
    )  # fmt: skip


def _is_of_ratios(grid: Grid, place: int, columns: Mapping[ColumnRole, int]) -> bool:
    """Return whether a column that is not read holds rates or ratios, by its header or numbers."""
    if _OWN_OTHERS.fullmatch(grid.header[place]):
        return False
    if _OF_RATIOS.search(grid.header[place]) or not grid.header[place]:
        return True
    cells = [row[place] for row in grid.rows if not is_blank(row[place])]
    like = sum(bool(_RATIO_LIKE.fullmatch(cell)) for cell in cells)
    return not columns.keys() & {*RATIOS} and 2 * like > len(cells)


def _parts(grid: Grid) -> list[Grid]:
    """Return the tables that stand below one header, each under a row that is its name alone."""
    alone = [bool(row[0]) and {*row[1:]} <= {"", row[0]} for row in grid.rows]
    last = max((i for i, heading in enumerate(alone) if not heading), default=0)
    starts = [i for i, heading in enumerate(alone) if heading and i < last]  # no notes below all
    if len(starts) < 2:
        return [grid]
    ends = [*starts[1:], len(grid.rows)]
    blocks = [grid.rows[start + 1 : end] for start, end in zip(starts, ends, strict=True)]
    names = [{row[0].casefold() for row in block if row[0]} for block in blocks]
    known = [{n for n in each if not is_total(n) and not is_unknown(n)} for each in names]
    if starts[0] or not all(blocks) or len(set().union(*known)) < sum(map(len, known)):
        raise DataError(
            f"{called_grid(grid)} has categories below others, such as "
            f"{quote(grid.rows[starts[0]][0])}; write each level in a column of its own"
        )
    return [
        replace(grid, name=": ".join(filter(None, (grid.name, grid.rows[start][0]))), rows=block,
                first=grid.first + start + 1)
        for start, block in zip(starts, blocks, strict=True)
    ]  # fmt: skip


def _with_points(grid: Grid) -> Grid:
    """Write decimal points and no dots between thousands, where a table has decimal commas.

    "1,000" is 1 in a column that has "0,806", and else one thousand.
    """
    columns = list(zip(*grid.rows, strict=True))
    commas = [any(map(_COMMA.fullmatch, cells)) for cells in columns]
    if not any(commas) or any(_POINT.fullmatch(cell) for cells in columns for cell in cells):
        return grid

    def pointed(cell: str, comma: bool) -> str:
        if _DOTTED.fullmatch(cell):
            return cell.replace(".", "")
        return cell.replace(",", ".") if comma and read_number(cell) is not None else cell

    rows = (tuple(map(pointed, row, commas)) for row in grid.rows)
    return replace(grid, rows=tuple(rows))


def _rows(
    grid: Grid, category: Sequence[int], columns: Mapping[ColumnRole, int]
) -> tuple[tuple[PublishedRow, ...], list[str]]:
    """Return the rows of categories, and the rows and cells with numbers that are not read."""
    numbered = _numbers(grid, columns)
    unit = min((rate.unit for rate in numbered.get(ColumnRole.RATE, ()) if rate), default=None)
    header = grid.header[columns[ColumnRole.N]] if ColumnRole.N in columns else ""
    rows: list[PublishedRow] = []
    lost: list[str] = []
    above = [""] * len(category)
    for at, cells in enumerate(grid.rows):
        values = ["" if is_dash(cells[i]) else cells[i] for i in category]
        named = [i for i, value in enumerate(values) if value]
        if named and not any(map(is_total, values)):  # an empty cell repeats the one above
            values = [*above[: named[0]], *values[named[0] :]]
        texts = {role: cells[i] for role, i in columns.items()
                 if cells[i] and numbered[role][at] is None}  # fmt: skip
        # a note stands in all cells where they are merged, and a header may stand again
        worded = any(text not in (grid.header[columns[role]], cells[0])
                     for role, text in texts.items())  # fmt: skip
        if any(each[at] for each in numbered.values()) or (named and worded):
            row = PublishedRow(
                number=grid.first + at,
                categories=tuple(values),
                kind=_kind(values),
                texts=texts,
                weighted="unweighted" in header.casefold(),
                rate_unit=unit,
                **{str(role): column[at] for role, column in numbered.items()},
            )
            rows.append(_with_counts(row, columns))
            lost += [f"row {grid.first + at}, {quote(text)}" for text in texts.values()
                     if has_number(text)]  # fmt: skip
        else:
            text = " ".join(dict.fromkeys(filter(None, cells)))
            alone = at and text and text == cells[0] and not _NO_CATEGORY.match(text)
            if alone or is_like_a_row(text):
                lost.append(f"row {grid.first + at}, {quote(text)}")
        above = values if named else above
    return tuple(_with_kinds(rows, own=grid.own)), lost


def _with_kinds(rows: Sequence[PublishedRow], *, own: bool) -> Iterator[PublishedRow]:
    """Yield rows, those that are the total of others as totals, and answers with a ratio as groups.

    Of two features, a row without a category of the second is the total of the first one's rows. In
    a report of fairgauge every row with a rate is that of a group, whatever its name.
    """
    apart = own or any(row.kind is RowKind.UNKNOWN and row.n and not row.rate and not row.ratio
                       for row in rows)  # fmt: skip
    for row in rows:
        whole = row.kind is RowKind.GROUP and "" in row.categories
        others = [each for each in rows if each is not row and each.kind is RowKind.GROUP]
        answered = own or (row.kind is RowKind.UNKNOWN and row.ratio is not None)
        if whole and any(row.includes(other) for other in others):
            yield replace(row, kind=RowKind.TOTAL)
        elif row.kind is RowKind.TOTAL and others and not any(map(row.includes, others)):
            yield replace(row, kind=RowKind.GROUP)  # a remark, such as "total", beside a category
        elif apart and answered and row.rates:
            yield replace(row, kind=RowKind.GROUP)
        else:
            yield row


def _without_marks(grid: Grid, category: Sequence[int]) -> Grid:
    """Take footnote marks off the names of categories, unless two rows differ in them alone."""
    rows = [
        tuple(without_marks(cell) if i in category else cell for i, cell in enumerate(cells))
        for cells in grid.rows
    ]
    before, after = (
        {tuple(row[i] for i in category) for row in each} for each in (grid.rows, rows)
    )
    return replace(grid, rows=tuple(rows)) if len(before) == len(after) else grid


def _kind(categories: Sequence[str]) -> RowKind:
    if any(map(is_unknown, categories)):
        return RowKind.UNKNOWN
    return RowKind.TOTAL if any(map(is_total, categories)) else RowKind.GROUP


def _numbers(
    grid: Grid, columns: Mapping[ColumnRole, int]
) -> dict[ColumnRole, list[Printed | None]]:
    """Return the printed numbers of every number column; text in their place is not stated."""
    found: dict[ColumnRole, list[Printed | None]] = {}
    for role, i in columns.items():
        read = read_ratio if role in RATIOS else read_number
        cells = [row[i] for row in grid.rows]
        numbers = [None if is_blank(text) else read(text) for text in cells]
        words = [at for at, text in enumerate(cells) if not is_blank(text)]
        if words and not any(numbers):
            raise DataError(
                f"row {grid.first + words[0]} of {called_grid(grid)} has "
                f"{quote(cells[words[0]])} as the {_WORDS[role]} (column "
                f"{quote(grid.header[i])}), and no row has a number; name another column, or none"
            )
        bare = [rate for rate in numbers if rate is not None and not rate.percent]
        if role in _SHARES and sum(rate.value > 1 for rate in bare) * 2 > len(bare):
            numbers = [rate if rate is None or rate.percent else rate.as_percentage()
                       for rate in numbers]  # fmt: skip
        found[role] = numbers
    return found


def _with_counts(row: PublishedRow, columns: Mapping[ColumnRole, int]) -> PublishedRow:
    """Return a row with the number, or the rate, that follows from the others it has."""
    n, selected, denied, rate = row.n, row.selected, row.not_selected, row.rate
    if ColumnRole.N not in columns and selected and denied:
        text = f"{selected.text} + {denied.text}"
        n = replace(selected, text=text, exact=selected.exact + denied.exact)
    if ColumnRole.SELECTED not in columns and n and denied:
        selected = replace(n, text=f"{n.text} - {denied.text}", exact=n.exact - denied.exact)
    if ColumnRole.RATE not in columns and (selected is None or n is None) and row.denial_rate:
        rate = complement(row.denial_rate)
    return replace(row, n=n, selected=selected, rate=rate)


def _check_possible(
    grid: Grid, columns: Mapping[ColumnRole, int], rows: Sequence[PublishedRow]
) -> None:
    """Refuse a column in which most numbers cannot be what they are stated to be.

    A publisher errs in some rows; most are wrong where another column is named, which must not be
    reported as errors of the publisher.
    """
    for role, place in columns.items():
        known = [row for row in rows if getattr(row, role) is not None]
        wrong = [row for row in known if role not in RATIOS and _is_impossible(row, role)]
        if len(wrong) < 2 or len(wrong) * 2 <= len(known):
            continue
        allowed = "between 0 and 1" if role in _SHARES else "a possible count"
        raise DataError(
            f"the column {quote(grid.header[place])} of {called_grid(grid)} is not the "
            f"{_WORDS[role]}: {len(wrong)} of {len(known)} rows would not be {allowed}, such "
            f"as {quote(getattr(wrong[0], role).text)} of {quote(wrong[0].name)}"
        )


def _is_impossible(row: PublishedRow, role: ColumnRole) -> bool:
    """Return whether a printed number of a row is no share, no count, or more than all people."""
    printed: Printed = getattr(row, role)
    if role in _SHARES:
        return not 0 <= printed.value <= 1
    more = row.n is not None and is_whole(row.n.value) and printed.value > row.n.value
    return more or printed.percent or printed.value < 0


def _is_numeric(grid: Grid, place: int) -> bool:
    cells = [row[place] for row in grid.rows if not is_blank(row[place])]
    return sum(read_ratio(cell) is not None for cell in cells) * 2 > len(cells)


def has_numbers(grid: Grid) -> bool:
    """Return whether a table holds numbers: in a column, its first row, or percentages in text."""
    numbered = any(_is_numeric(grid, i) for i in range(len(grid.header)))
    percent = any(re.search(r"\d ?%", cell) for row in grid.rows for cell in row)
    return numbered or percent or is_like_a_row(" ".join(grid.header))


def called_grid(grid: Grid) -> str:
    """Return what a table is called in a message."""
    return f"the table {quote(grid.name)}" if grid.name else "the table"


def headers_found(grids: Sequence[Grid]) -> str:
    """Return the headers of tables, with their rows."""
    return "; ".join(
        f"{called_grid(grid)} ({len(grid.rows):,} rows): "
        f"{listing(name or '(no header)' for name in grid.header)}"
        for grid in grids
    )


_WORDS = {
    ColumnRole.N: "number of people",
    ColumnRole.SELECTED: "number selected",
    ColumnRole.NOT_SELECTED: "number not selected",
    ColumnRole.RATE: "selection rate",
    ColumnRole.DENIAL_RATE: "denial rate",
    ColumnRole.RATIO: "impact ratio",
    ColumnRole.DENIAL_RATIO: "denial ratio",
}
