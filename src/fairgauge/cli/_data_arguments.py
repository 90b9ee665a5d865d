"""DATA of the command line: files, globs, standard input, or counts made earlier."""

from __future__ import annotations

import glob
import re
import stat
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._command_group import Decorator, add_options
from fairgauge.cli._streams import print_message
from fairgauge.errors import DataError, FairgaugeError, cause, quote
from fairgauge.object_stores import SHOWN_STORES, Object, Place, address, find_objects, is_object
from fairgauge.start.records import dataclass, fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.question.specification import Spec
    from fairgauge.scan.source import Query, Source

CUBE_SUFFIX = ".cube.json"
STANDARD_INPUT = "-"
_SCHEME = r"(?i)[a-z][a-z0-9+.\-]*://"


@dataclass(frozen=True, slots=True)
class DataArguments:
    """DATA of a command, and where their rows are if not in files on this machine."""

    names: tuple[str, ...]
    table: str | None = None
    query: str | None = None
    spark: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    def read(self) -> object:
        """Return what an audit takes: paths, rows of a database, or a sum of saved cubes."""
        for option, part, known in (
            ("--sheet", self.sheet, (".xlsx", ".xlsm")),
            ("--header-row", self.header_row, (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")),
        ):
            others = [name for name in self.names if not name.casefold().endswith(known)]
            if part and others:
                raise DataError(f"{option} is for {', '.join(known)} files, not {quote(others[0])}")
        urls = [each for each in self.names if is_url(each)]
        if not self.names:
            return _open_spark(self)
        if urls or self.table or self.query:
            return _open_database(self, urls)
        if self.spark is not None:
            from fairgauge.scan.input_files import read_by_spark

            return read_by_spark(self.spark, self.names)
        if self.names == (STANDARD_INPUT,):
            from fairgauge.cube.cube import read_cube
            from fairgauge.scan.input_files import read_standard_input

            copy = read_standard_input()
            if copy.saved != "cube":
                return copy
            return read_cube(copy.path.read_text(encoding="utf-8"), "standard input")
        for each in self.names:
            _refuse_streams(each)
        cubes = [str(Object(each)).casefold().endswith(CUBE_SUFFIX) for each in self.names]
        if part := self.sheet or self.header_row:
            return [f"{name}#{part}" for name in self.names]
        if not any(cubes):
            return self.names[0] if len(self.names) == 1 else list(self.names)
        if not all(cubes):
            raise DataError(
                f"counts ({CUBE_SUFFIX}) and rows cannot be audited together; count the rows "
                "first: fairgauge count DATA -o more.cube.json"
            )
        return merge_cubes(self.names)


def open_data(data: object) -> Source | Cube:
    """Open data as they are scanned: a source of rows; counts are returned as they are."""
    from fairgauge.cube.cube import Cube
    from fairgauge.scan import open_source

    return data if isinstance(data, Cube) else open_source(data)


def add_late_labels(data: object, spec: Spec) -> object:
    """Return rows, those without a column of labels yet with one in which all lack; note it."""
    from fairgauge.api.audit import late_labels

    found, note = late_labels(data, spec)
    if note is not None:
        print_message(note, prefix="Note: ")
    return found


def takes_data(
    table: str = "Table of a database, whose URL is DATA, or of Spark's catalog (--spark).",
) -> Decorator:
    """Return a decorator that gives a command its DATA, as the keyword ``data``.

    ``table`` is the help of ``--table``.
    """
    options = add_options(
        click.argument("names", nargs=-1, metavar="DATA..."),
        click.option("--table", metavar="NAME", help=table),
        click.option(
            "--query", metavar="SELECT", help="Query of a database, whose URL is DATA, or of Spark."
        ),
        click.option("--sheet", metavar="NAME", help="Sheet of a workbook."),
        click.option(
            "--header-row",
            metavar="N",
            type=click.IntRange(1),
            help="Line of a CSV or TSV file that names its columns, if the one found is wrong.",
        ),
        click.option(
            "--spark",
            metavar="MASTER",
            help="Spark master that counts Parquet files, or holds the --table (local[*], sc://HOST).",
        ),
    )
    parts = [each.name for each in fields(DataArguments)]

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @options
        @wraps(command)
        def with_data(*args: object, **given: Any) -> object:
            data = DataArguments(**{name: given.pop(name) for name in parts})
            return command(*args, data=data, **given)

        return with_data

    return decorate


def is_url(data: str) -> bool:
    """Return whether DATA is the URL of a database."""
    return re.match(_SCHEME, data) is not None and not is_object(data)


def merge_cubes(asked: Sequence[str], *, allow_duplicates: bool = False) -> Cube:
    """Load cube files and add them up.

    Warns where two hold the same counts (unless ``allow_duplicates``). The sum of counts of
    different questions keeps the options that they share.
    """
    from fairgauge.api.loading import load
    from fairgauge.cube.cube import Cube
    from fairgauge.errors import CubeError

    paths = named_places(asked)
    places: dict[Place, Place] = {}
    for path in paths:  # also by a link: its rows would count twice
        if places.setdefault(resolve_path(path), path) is not path:
            raise DataError(f"the cube {quote(path)} is named twice: its rows would count twice")
    cubes: list[tuple[Place, Cube]] = []
    for path in paths:
        cube = load(address(path))
        if not isinstance(cube, Cube):
            raise CubeError(f"{quote(path)} is no cube of counts; fairgauge count makes one")
        same = next((name for name, each in cubes if cube.has_counts_of(each)), None)
        cubes.append((path, cube))
        if same is not None and not allow_duplicates:
            print_message(
                f"{quote(same)} and {quote(path)} hold the same counts of {cube.rows:,} rows; if "
                "they are the same rows, these now count twice (fairgauge merge --allow-duplicates "
                "adds them without this warning)",
                prefix="Warning: ",
            )
    if not cubes:
        raise DataError(f"no file {quote(asked[0])}")
    total = cubes[0][1]
    for path, cube in cubes[1:]:
        try:
            total = total.add(cube, allow_duplicates=True)  # warned of above, with their names
        except CubeError as error:
            raise CubeError(f"cannot add {quote(path)} to the cubes before it: {error}") from None
    return total


def resolve_path(path: Place) -> Place:
    """Return the whole path of a file or an object, its links followed."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"cannot use the path {quote(path)}: {cause(error)}") from None


def named_places(asked: Sequence[str]) -> list[Place]:
    """Return the files and the objects of stores that are named, as `named_files` does."""
    return [
        place
        for each in asked
        for place in (find_objects(each)[0] if is_object(each) else named_files([each]))
    ]


def named_files(asked: Sequence[str]) -> list[Path]:
    """Return the files that paths and globs name; a path that does not exist is kept as it is."""
    found: list[Path] = []
    for each in asked:
        if not glob.has_magic(each) or Path(each).exists():
            found.append(Path(each))
        else:
            found += [Path(name) for name in sorted(glob.glob(each, recursive=True))]  # noqa: PTH207
    return found


def _refuse_streams(asked: str) -> None:
    if is_object(asked):
        return
    try:
        mode = Path(asked).stat().st_mode if asked != STANDARD_INPUT else stat.S_IFREG
    except FileNotFoundError:
        return  # a glob, or nothing: opening it raises the error
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {quote(asked)}: {cause(error)}") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(
            f"{quote(asked)} is a pipe or a device; pass its rows to standard input and name it -"
        )


def _open_spark(data: DataArguments) -> object:
    if data.spark is None or (data.table is None) == (data.query is None):
        raise DataError(
            "no DATA: give files, the URL of a database with --table or --query, or, of Spark's "
            "catalog (--spark MASTER), either --table CATALOG.SCHEMA.TABLE or --query SELECT"
        )
    from fairgauge.scan.spark import read_table

    return read_table(data.spark, table=data.table, query=data.query)


def _open_database(data: DataArguments, urls: Sequence[str]) -> Query:
    from fairgauge.scan.input_files import refuse_database
    from fairgauge.scan.source import sql

    for each in data.names if not urls else ():
        refuse_database(each)
    if len(data.names) != 1 or not urls:
        raise FairgaugeError(
            "--table and --query need one DATA, the URL of a database (such as postgresql://HOST/NAME)"
        )
    scheme = urls[0].partition(":")[0]
    if (data.table is None) == (data.query is None):
        raise FairgaugeError(
            f"DATA that begin with {scheme}:// are rows of a database: give either --table NAME or "
            f"--query SELECT (files are read from {', '.join(SHOWN_STORES)} and from folders here)"
        )
    return sql(urls[0], str(data.table or data.query))
