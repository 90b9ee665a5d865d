"""Where published tables come from: the text of a table, files, and folders of files."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from fairgauge.errors import DataError, Problem, SpecError, quote, refuse, shown
from fairgauge.plugins import local_path, read_limited
from fairgauge_check.check_result import UnreadTable
from fairgauge_check.published_table import ColumnRole, PublishedTable
from fairgauge_check.stated_columns import (
    OWN,
    has_numbers,
    headers_found,
    stated_columns,
    tables_of,
)
from fairgauge_check.table_files import (
    NO_TABLE,
    SUFFIXES,
    Grid,
    NoTable,
    grids_of_text,
    read_grids,
)

Stated: TypeAlias = Mapping[ColumnRole, Sequence[str]]
Source: TypeAlias = "tuple[str | None, tuple[PublishedTable, ...]]"
"""A file, None of a text, and its tables in order, which are of the same people."""
_MOST_MAPPED = 100_000


def read_sources(
    source: str | Path | Iterable[str | Path],
    columns: str | Path | Mapping[str, str | Sequence[str]] | None,
) -> tuple[list[Source], list[UnreadTable]]:
    """Return published tables, and what could not be read.

    That is of a folder what of a file that is named itself is an error, and other tables of a file
    that has one. ``columns`` are the roles of headers, or the path of a TOML file of them; by
    default the headers that fairgauge prints itself.

    Raises
    ------
    DataError
        A file cannot be read, or no table of it has columns that are stated.
    SpecError
        The mapping has an unknown role, or no header.
    """
    stated = _stated(columns)
    unread: list[UnreadTable] = []
    sources: list[Source] = []
    for name, lenient, grids in _grids(source, unread):
        known = [grid for grid in grids if stated_columns(grid, stated)]
        try:
            if not known:
                raise _not_stated(grids, stated, name)
            tables = tuple(table for grid in known for table in tables_of(grid, stated))
        except DataError as error:
            if not lenient:
                raise
            unread.append(UnreadTable(str(name), str(error), counts=True))
            continue
        sources.append((name, tables))
        unread += [
            UnreadTable(
                name or "the text",
                f"{headers_found([grid])}: it has no columns that are stated"
                if grid.rows
                else f"{quote(grid.header[0])} is a row of no table",
                counts=has_numbers(grid),
            )
            for grid in grids
            if grid not in known
        ]
        unread += [
            UnreadTable(name or "the text", f"{quote(table.name)}, {lost}: not read", counts=True)
            for table in tables
            for lost in table.lost
        ]
    if not sources:
        reasons = "; ".join(f"{each.source}: {each.reason}" for each in unread[:3])
        raise DataError(f"no table can be read: {reasons}")
    return sources, unread


def _not_stated(grids: Sequence[Grid], stated: Stated, name: str | None) -> DataError:
    """Return the error that names the headers that were found, with the command to map them."""
    words = ", ".join(f"{role}: {' or '.join(map(quote, each))}" for role, each in stated.items())
    if stated is OWN:
        words = "those of a report of fairgauge, since none are named"
    command = f"fairgauge check {shlex.quote(name or 'FILE')} --n HEADER --selected HEADER"
    return DataError(
        f"no table has the columns that are stated ({words}). Found: {headers_found(grids)}. Name "
        f"those that it has: {command} (and --rate, --ratio, --group; or a TOML file of them for "
        "all tables: --columns FILE)"
    )


def _stated(columns: str | Path | Mapping[str, str | Sequence[str]] | None) -> Stated:
    if columns is None or (isinstance(columns, Mapping) and not columns):
        return OWN
    if not isinstance(columns, Mapping):
        path = local_path(columns)
        try:
            columns = tomllib.loads(read_limited(path, _MOST_MAPPED, "a mapping").decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read the mapping {quote(path)} as TOML: {error}") from None
    problems: list[Problem] = []
    stated: dict[ColumnRole, Sequence[str]] = {}
    roles = {"group" if each is ColumnRole.CATEGORY else str(each): each for each in ColumnRole}
    for role, names in columns.items():
        listed = [names] if isinstance(names, str) else names
        if role not in roles:
            problems.append(Problem(f"columns.{role}", f"unknown role; use {', '.join(roles)}"))
        elif not isinstance(listed, Sequence) or not all(
            isinstance(each, str) and each.strip() for each in listed
        ):
            problems.append(Problem(f"columns.{role}", f"must be a header, not {shown(names)}"))
        else:
            stated[roles[role]] = listed
    refuse(problems)
    if stated.keys() <= {ColumnRole.CATEGORY}:
        raise SpecError(Problem("columns", "name a column of numbers, such as n and selected"))
    return stated


def _grids(
    source: str | Path | Iterable[str | Path], unread: list[UnreadTable]
) -> Iterator[tuple[str | None, bool, list[Grid]]]:
    if isinstance(source, str) and "\n" in source.strip():
        found = grids_of_text(source)
        if not found:
            raise DataError(f"the text {NO_TABLE}")
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
            yield name, in_folder, read_grids(path)
        except DataError as error:
            if not in_folder:
                raise
            unread.append(UnreadTable(name, str(error), counts=not isinstance(error, NoTable)))


def _files(paths: Iterable[str | Path]) -> Iterator[tuple[Path, bool]]:
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
