"""Where published tables come from: pasted text, files, and folders of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fairgauge.errors import DataError, Problem, listing, nearest, quote, refuse, shown
from fairgauge.object_stores import local_path
from fairgauge.published._column_roles import parts_of, table_of
from fairgauge.published._table_files import (
    MOST_BYTES,
    SUFFIXES,
    Grid,
    NoTable,
    grids_of_text,
    read_grids,
    why_no_table,
)
from fairgauge.published.published_table import ColumnRole, PublishedTable
from fairgauge.results.check import UnreadTable

__all__ = ["MOST_BYTES", "PublishedSource", "read_sources"]


@dataclass(frozen=True, slots=True)
class PublishedSource:
    """The tables of one file, or of pasted text, which are of the same people.

    Attributes
    ----------
    name : the file; None of pasted text.
    tables : its tables in order.
    """

    name: str | None
    tables: tuple[PublishedTable, ...]


def read_sources(
    source: str | Path | Iterable[str | Path], columns: Mapping[str, str]
) -> tuple[list[PublishedSource], list[UnreadTable]]:
    """Read published tables.

    Parameters
    ----------
    source : path, several paths, a folder, or the text of a table
    columns : mapping of roles to headers
        What the columns hold, of those tables that have them.

    Returns
    -------
    sources : list of PublishedSource
    unread : list of UnreadTable
        What could not be read in a folder, which of a file that is named itself is an error; and
        single lines with numbers, of any file.

    Raises
    ------
    DataError
        A file cannot be read, holds no table, or its columns cannot be distinguished; or a folder
        holds no table at all.
    SpecError
        No table has a column that is named.
    """
    unread: list[UnreadTable] = []
    grids = list(_grids(source, unread))
    _check_columns(columns, [grid for _, _, found in grids for grid in found])
    sources = []
    for name, lenient, found in grids:
        tables = []
        for grid in found:
            try:
                tables.append(table_of(grid, _roles(columns, grid)))
            except DataError as error:
                if not lenient:
                    raise
                unread.append(UnreadTable(str(name), str(error), counts=True))
        if tables:
            sources.append(PublishedSource(name, tuple(tables)))
        reason = "holds a number that is not read"
        unread += [
            UnreadTable(name or "pasted text", f"{line}, {reason}", counts=True)
            for table in tables
            for line in table.lost
        ]
    if not sources:
        reasons = "; ".join(f"{each.source}: {each.reason}" for each in unread[:3])
        raise DataError(f"no table can be read: {reasons}")
    return sources, unread


def _grids(
    source: str | Path | Iterable[str | Path], unread: list[UnreadTable]
) -> Iterator[tuple[str | None, bool, list[Grid]]]:
    """Yield the name of every source, whether it is of a folder, and its grids."""
    if isinstance(source, str) and "\n" in source.strip():
        found = _parts(grids_of_text(source))
        if not found:
            raise DataError(f"the text {why_no_table(source)}")
        yield None, False, found
        return
    if (
        isinstance(source, Mapping)
        or hasattr(source, "columns")
        or not isinstance(source, (str, Path, Iterable))
    ):  # the items of a mapping, or of a frame, are names of columns
        raise DataError(
            "a check is of the path of a file, several paths, a folder, or the text of a table, "
            f"not of {shown(source)}"
        )
    files = list(_files([source] if isinstance(source, (str, Path)) else source))
    if not files:
        raise DataError("no file to check; give at least one")
    names = [path.name for path, _ in files]
    for path, in_folder in files:
        name = path.name if names.count(path.name) == 1 else str(path)
        try:
            yield name, in_folder, _parts(read_grids(path))
        except DataError as error:
            if not in_folder:
                raise
            unread.append(UnreadTable(name, str(error), counts=not isinstance(error, NoTable)))


def _files(paths: Iterable[str | Path]) -> Iterator[tuple[Path, bool]]:
    """Yield every file, and whether it was found in a folder or in one of its folders."""
    for path in map(local_path, paths):
        if not path.is_dir():
            yield path, False
            continue
        inside = sorted(
            each
            for each in path.rglob("*")
            if each.is_file() and not any(part[0] == "." for part in each.relative_to(path).parts)
        )
        if not any(each.suffix.casefold() in SUFFIXES for each in inside):
            raise DataError(f"the folder {quote(path)} holds no {', '.join(SUFFIXES)} file")
        yield from ((each, True) for each in inside)


def _parts(grids: Iterable[Grid]) -> list[Grid]:
    return [part for grid in grids for part in parts_of(grid)]


def _check_columns(columns: Mapping[str, str], grids: list[Grid]) -> None:
    """Refuse a named column that no table has."""
    headers = list(dict.fromkeys(name for grid in grids for name in grid.header if name))
    of = "the table; it has" if len(grids) == 1 else "any table; they have"
    problems = [
        Problem(str(role), f"no column {quote(name)} in {of} {listing(headers)}."
                + nearest(name, headers))
        for role, names in columns.items()
        for name in _named(role, names, headers)
        if name not in headers
    ]  # fmt: skip
    refuse(problems)


def _named(role: str, names: str, headers: Iterable[str]) -> list[str]:
    """Return the headers that one role is given to; several categories stand between commas."""
    several = role == ColumnRole.CATEGORY and names not in headers
    return [name.strip() for name in names.split(",")] if several else [names.strip()]


def _roles(columns: Mapping[str, str], grid: Grid) -> dict[str, ColumnRole]:
    """Return what the named columns of a grid hold."""
    return {
        name: ColumnRole(role)
        for role, names in columns.items()
        for name in _named(role, names, grid.header)
        if name in grid.header
    }
