"""Published tables: of files, folders and texts, by the columns that are stated."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from fairgauge.errors import DataError, Problem, SpecError, display, listing, quote, refuse
from fairgauge.plugins import is_total, is_unknown, local_path, read_limited
from fairgauge_check.check_result import UnreadTable
from fairgauge_check.printed import (
    ColumnRole,
    Printed,
    PublishedRow,
    PublishedTable,
    RowKind,
    has_number,
    is_empty,
    is_like_a_row,
    read_number,
    read_ratio,
    strip_marks,
)
from fairgauge_check.table_files import SUFFIXES, Grid, NoTable, grids_of_text, read_grids

Stated: TypeAlias = Mapping[ColumnRole, Sequence[str]]
Source: TypeAlias = "tuple[str | None, list[PublishedTable]]"
"""A file, None of a text; its tables in order, which are of the same people."""
THE_TEXT = "the text"
_MOST_TABLES = 100
_MOST_MAPPED = 100_000
OWN: Stated = {
    ColumnRole.N: ("n",),
    ColumnRole.SELECTED: ("selected", "above median"),
    ColumnRole.RATE: ("selection rate", "scoring rate"),
    ColumnRole.RATIO: (
        "impact ratio", "adverse impact ratio", "ratio to the highest rate", "AIR",
        "selection rate ratio",
    ),
}  # fmt: skip
"""The headers of the tables to publish of a report of fairgauge."""
_UNWEIGHTED = re.compile("unweighted .*")
_DOTTED = re.compile(r"[-−]?\d{1,3}(\.\d{3})+")
_RATIO_LIKE = re.compile(r"\s*[01]?[.,]\d{1,3}\s*")
# what a header of ratios or rates holds
_OF_RATIOS = re.compile(r"ratio|\brates?\b|impact|\bair\b", re.IGNORECASE)
# text that stands alone in a row, such as a note, and is no category without numbers
_NO_CATEGORY = re.compile(
    r"\W|.*[.:]$|(notes?|source|page|data)\b|.*\bcontinued|.{60}", re.IGNORECASE | re.DOTALL
)


# ---- files, folders and texts


def read_sources(
    source: str | Path | Iterable[str | Path],
    columns: str | Path | Mapping[str, str | Sequence[str]] | None,
    per: int | None = None,
) -> tuple[list[Source], list[UnreadTable]]:
    """Return published tables, and what could not be read.

    That is of a folder what of a file that is named itself is an error, and other tables of a file
    that has one. ``columns`` are the roles of headers, or the path of a TOML file of them; by
    default the headers that fairgauge prints itself. Rates are printed ``per`` so many people.

    Raises ``DataError``: A file cannot be read, or no table of it has columns that are stated.
    Raises ``SpecError``: the mapping has an unknown role, or no header.
    """
    stated = _read_mapping(columns)
    unread: list[UnreadTable] = []
    sources: list[Source] = []
    for name, place, lenient, read in _readers(source):
        try:
            grids = read()
            if not grids:
                raise NoTable(f"{place} holds no table of at least two columns and two rows")
            placed = [(grid, _stated_columns(grid, stated)) for grid in grids]
            others = [grid for grid, places in placed if not places]
            if len(others) == len(grids) and not any(grid.own for grid in grids):
                raise _unreadable_headers_error(grids, stated, name)
            if len(grids) - len(others) > _MOST_TABLES:  # each is held against the others
                many = f"holds more than {_MOST_TABLES} tables of the columns stated"
                raise DataError(f"{place} {many}; check it in parts")  # noqa: TRY301
            tables = [_table(grid, places, per) for grid, places in placed if places]
        except DataError as error:
            if not lenient:
                raise
            counts = not isinstance(error, NoTable)
            unread.append(UnreadTable(str(name), str(error), counts=counts))
            continue
        sources.append((name, tables))
        is_own = any(grid.own for grid in grids)
        beside = "the tables outside its document to file: not checked"
        lost = [(beside, False)] if is_own else []
        for grid in (of for of in others if not of.own or _has_numbers(of)):
            reason = f"{_headers_found([grid])}: it has no columns that are stated"
            if not grid.rows:
                reason = f"{quote(grid.header[0])} is a row of no table"
            lost.append((reason, _has_numbers(grid)))
        lost += [(f"{quote(table.name)}, {text}: not read", True)
                 for table in tables for text in table.lost]  # fmt: skip
        unread += [UnreadTable(name or THE_TEXT, reason, counts) for reason, counts in lost]
    if not sources:
        reasons = "; ".join(f"{each.source}: {each.reason}" for each in unread[:3])
        raise DataError(f"no table can be read: {reasons}")
    return sources, unread


def _unreadable_headers_error(grids: Sequence[Grid], stated: Stated, name: str | None) -> DataError:
    named = ", ".join(f"{role}: {' or '.join(map(quote, each))}" for role, each in stated.items())
    words = "those of a report of fairgauge, since none are named" if stated is OWN else named
    command = f"fairgauge check {shlex.quote(name or 'FILE')} --n HEADER --selected HEADER"
    return DataError(
        f"no table has the columns that are stated ({words}). Found: {_headers_found(grids)}. Name "
        f"those that it has: {command} (and --rate, --ratio, --group; or a TOML file of them for "
        "all tables: --columns FILE)"
    )


def _read_mapping(columns: str | Path | Mapping[str, str | Sequence[str]] | None) -> Stated:
    if columns is None or (isinstance(columns, Mapping) and not columns):
        return OWN
    if not isinstance(columns, Mapping):
        try:
            columns = tomllib.loads(read_limited(columns, _MOST_MAPPED, "a mapping").decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read the mapping {quote(columns)} as TOML: {error}") from None
    roles, problems = [*ColumnRole], list[Problem]()
    stated = {role: [of] if isinstance(of, str) else of for role, of in columns.items()}
    for role, of in stated.items():
        texts = of if isinstance(of, Sequence) else [of]
        if role not in roles:
            problems.append(Problem(f"columns.{role}", f"unknown role; use {', '.join(roles)}"))
        elif not all(isinstance(each, str) and each.strip() for each in texts):
            problems.append(Problem(f"columns.{role}", f"must be a header, not {display(of)}"))
    refuse(problems)
    if stated.keys() <= {ColumnRole.GROUP}:
        raise SpecError(Problem("columns", "name a column of numbers, such as n and selected"))
    return {ColumnRole(role): of for role, of in stated.items()}


def _readers(
    source: str | Path | Iterable[str | Path],
) -> Iterator[tuple[str | None, str, bool, Callable[[], list[Grid]]]]:
    # what reads the tables of each file, with its name, its path and whether it is of a folder
    if isinstance(source, str) and "\n" in source.strip():
        yield None, THE_TEXT, False, partial(grids_of_text, source)
        return
    # the items of a mapping, or of a frame, are names of columns
    is_table = isinstance(source, Mapping) or hasattr(source, "columns")
    if is_table or not isinstance(source, (str, Path, Iterable)):
        raise DataError(
            "a check is of the path of a file, several paths, a folder, or the text of a table, "
            f"not of {display(source)}"
        )
    files: list[tuple[Path, bool]] = []
    for path in map(local_path, [source] if isinstance(source, (str, Path)) else source):
        if not path.is_dir():
            files.append((path, False))
            continue
        below = [(each, each.relative_to(path).parts) for each in sorted(path.rglob("*"))]
        inside = [e for e, parts in below if e.is_file() and not any(p[0] == "." for p in parts)]
        if not any(each.suffix.casefold() in SUFFIXES for each in inside):
            raise DataError(f"the folder {quote(path)} holds no {', '.join(SUFFIXES)} file")
        files += [(each, True) for each in inside]
    if not files:
        raise DataError("no file to check; give at least one")
    names = [path.name for path, _ in files]
    for path, in_folder in files:
        name = path.name if names.count(path.name) == 1 else str(path)
        yield name, quote(path), in_folder, partial(read_grids, path)


# ---- columns


def _stated_columns(grid: Grid, stated: Stated) -> dict[ColumnRole, tuple[int, ...]]:
    # Where the columns are that are stated, by what they hold; none where too few are. Categories
    # that are not stated are all columns in front of the first one that is.
    headers = [_fold_header(name) for name in grid.header]
    if stated is OWN:  # of weighted rows
        headers = [_UNWEIGHTED.sub("n", name).removeprefix("weighted ") for name in headers]
    found: dict[ColumnRole, tuple[int, ...]] = {}
    for role, names in stated.items():
        held = [headers.index(name) for name in map(_fold_header, names) if name in headers]
        if held:
            found[role] = tuple(held) if role is ColumnRole.GROUP else (held[0],)
    if grid.own and (ColumnRole.RATE not in found or "share" in headers):  # of another kind
        return {}
    first = min((at for role, (at, *_) in found.items() if role is not ColumnRole.GROUP), default=0)
    unstated = stated is OWN and ColumnRole.N not in found
    if unstated and any(_is_numeric(grid, i) for i in range(1, first)):
        return {}  # "scored" may be people, and no category
    if first:
        found.setdefault(ColumnRole.GROUP, tuple(range(first)))
    enough = found.keys() >= {ColumnRole.N, ColumnRole.SELECTED} or ColumnRole.RATE in found
    return found if enough and ColumnRole.GROUP in found else {}


def _fold_header(header: str) -> str:
    return " ".join(header.split()).casefold()


def _table(grid: Grid, found: dict[ColumnRole, tuple[int, ...]], per: int | None) -> PublishedTable:
    category = found.pop(ColumnRole.GROUP)
    columns = {role: places[0] for role, places in found.items()}
    # rows that are a name alone, but for notes below all
    alone = [bool(row[0]) and {*row[1:]} <= {"", row[0]} for row in grid.rows]
    last = max((i for i, heading in enumerate(alone) if not heading), default=0)
    headings = [row[0] for row, heading in zip(grid.rows[:last], alone, strict=False) if heading]
    if len(headings) > 1:
        raise DataError(
            f"{_table_name(grid)} has categories below others, such as {quote(headings[0])}; write "
            "each level in a column of its own, or each table below a header of its own"
        )
    # take footnote marks off the names of categories, unless two rows differ in them alone
    plain = tuple(
        tuple(strip_marks(cell) if i in category else cell for i, cell in enumerate(cells))
        for cells in grid.rows
    )
    before, after = ({tuple(row[i] for i in category) for row in e} for e in (grid.rows, plain))
    grid = replace(grid, rows=plain) if len(before) == len(after) else grid
    rows, lost = _read_rows(grid, category, columns, per)
    if not rows:
        raise DataError(f"{_table_name(grid)} has no row with a number")
    for role in (ColumnRole.N, ColumnRole.SELECTED):
        known = [row for row in rows if getattr(row, role) is not None]
        wrong = [row for row in known if role in row.impossible_counts]
        # a publisher errs in some rows; where most are wrong, it is another column
        if 2 * len(wrong) > len(known):
            such = f"{quote(wrong[0].impossible_counts[role].text)} of {quote(wrong[0].name)}"
            raise DataError(
                f"the column {quote(grid.header[columns[role]])} of {_table_name(grid)} holds no "
                f"counts of people, such as {such}; name the column that does"
            )
    read = {*category, *columns.values()}
    ignored = [i for i in range(len(grid.header)) if i not in read and _is_numeric(grid, i)]
    dimensions = tuple(grid.header[i] or "category" for i in category)
    return PublishedTable(
        grid=grid,
        name=grid.name or " × ".join(dimensions),
        dimensions=dimensions,
        columns={role: grid.header[i] for role, i in columns.items()},
        rows=rows,
        ignored=tuple(grid.header[i] for i in ignored),
        lost=(*lost, *(f"column {quote(grid.header[i])}" for i in ignored
                       if _is_of_ratios(grid, i, columns))),
    )  # fmt: skip


def _is_of_ratios(grid: Grid, place: int, columns: Mapping[ColumnRole, int]) -> bool:
    # whether a column that is not read holds rates or ratios, by its header or numbers
    if _OF_RATIOS.search(grid.header[place]) or not grid.header[place]:
        return True
    cells = [row[place] for row in grid.rows if not is_empty(row[place])]
    like = sum(bool(_RATIO_LIKE.fullmatch(cell)) for cell in cells)
    return ColumnRole.RATIO not in columns and 2 * like > len(cells)


# ---- rows


def _read_rows(
    grid: Grid, category: Sequence[int], columns: Mapping[ColumnRole, int], per: int | None
) -> tuple[tuple[PublishedRow, ...], list[str]]:
    # the rows of categories, and the rows and cells with numbers that are not read
    cells_of = {role: [row[i] for row in grid.rows] for role, i in columns.items()}
    numbered = {role: _read_numbers(role, texts, per) for role, texts in cells_of.items()}
    unit = min((rate.unit for rate in numbered.get(ColumnRole.RATE, ()) if rate), default=None)
    header = grid.header[columns[ColumnRole.N]] if ColumnRole.N in columns else ""
    rows: list[PublishedRow] = []
    lost: list[str] = []
    above = [""] * len(category)
    for at, cells in enumerate(grid.rows):
        values = ["" if not cells[i].strip("-–— ") else cells[i] for i in category]
        named = [i for i, value in enumerate(values) if value]
        if named and not any(map(is_total, values)):  # an empty cell repeats the one above
            values = [*above[: named[0]], *values[named[0] :]]
        above = values if named else above
        texts = {role: cells[i] for role, i in columns.items()
                 if cells[i] and numbered[role][at] is None}  # fmt: skip
        # a note stands in all cells where they are merged, and a header may stand again
        worded = any(text not in (grid.header[columns[role]], cells[0])
                     for role, text in texts.items())  # fmt: skip
        if not any(each[at] for each in numbered.values()) and not (named and worded):
            text = " ".join(dict.fromkeys(filter(None, cells)))
            alone = at and text and text == cells[0] and not _NO_CATEGORY.match(text)
            if alone or is_like_a_row(text):
                lost.append(f"row {at + 1}, {quote(text)}")
            continue
        kinds = {RowKind.UNKNOWN: is_unknown, RowKind.TOTAL: is_total}
        rows.append(PublishedRow(
            number=at + 1,
            categories=tuple(values),
            kind=next((k for k, of in kinds.items() if any(map(of, values))), RowKind.GROUP),
            texts=texts,
            weighted="unweighted" in header.casefold(),
            rate_unit=unit,
            **{str(role): column[at] for role, column in numbered.items()},
        ))  # fmt: skip
        lost += [f"row {at + 1}, {quote(t)}" for t in texts.values() if has_number(t)]
    return tuple(_classify_rows(rows, own=grid.own)), lost


def _classify_rows(rows: Sequence[PublishedRow], *, own: bool) -> Iterator[PublishedRow]:
    # Of two features, a row without a category of the second is the total of the first one's rows.
    # In a report of fairgauge every row with a rate is that of a group, whatever its name.
    apart = own or any(row.kind is RowKind.UNKNOWN and row.n and not row.rate and not row.ratio
                       for row in rows)  # fmt: skip
    for row in rows:
        whole = row.kind is RowKind.GROUP and "" in row.categories
        others = [each for each in rows if each is not row and each.kind is RowKind.GROUP]
        answered = own or (row.kind is RowKind.UNKNOWN and row.ratio is not None)
        if whole and any(map(row.includes, others)):
            yield replace(row, kind=RowKind.TOTAL)
        # a remark, such as "total", beside a category
        elif (row.kind is RowKind.TOTAL and others and not any(map(row.includes, others))) or (
            apart and answered and row.rates
        ):
            yield replace(row, kind=RowKind.GROUP)
        else:
            yield row


def _read_numbers(role: ColumnRole, cells: Sequence[str], per: int | None) -> list[Printed | None]:
    # dots in counts separate thousands; most rates above 1 are percentages
    if role is ColumnRole.RATIO:
        return [*map(read_ratio, cells)]
    if role is not ColumnRole.RATE:
        plain = (text.replace(".", "") if _DOTTED.fullmatch(text) else text for text in cells)
        return [*map(read_number, plain)]
    rates = [read_number(text, decimal=True) for text in cells]
    bare = [rate for rate in rates if rate is not None and rate.per == 1]
    if per is None:
        per = 100 if sum(rate.value > 1 for rate in bare) * 2 > len(bare) else 1
    return [
        rate if rate is None or rate.per > 1
        else Printed(rate.text, rate.exact / per, rate.unit / per, per)
        for rate in rates
    ]  # fmt: skip


def _is_numeric(grid: Grid, place: int) -> bool:
    cells = [row[place] for row in grid.rows if not is_empty(row[place])]
    return sum(read_ratio(cell) is not None for cell in cells) * 2 > len(cells)


def _has_numbers(grid: Grid) -> bool:
    numbered = any(_is_numeric(grid, i) for i in range(len(grid.header)))
    percent = any(re.search(r"\d ?%", cell) for row in grid.rows for cell in row)
    return numbered or percent or is_like_a_row(" ".join(grid.header))


def _table_name(grid: Grid) -> str:
    return f"the table {quote(grid.name)}" if grid.name else "the table"


def _headers_found(grids: Sequence[Grid]) -> str:
    return "; ".join(
        f"{_table_name(grid)} ({len(grid.rows):,} {'row' if len(grid.rows) == 1 else 'rows'}): "
        f"{listing(name or '(no header)' for name in grid.header)}"
        for grid in grids
    )
