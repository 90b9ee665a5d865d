"""DATA of the command line: files, globs, standard input, or counts made earlier."""

from __future__ import annotations

import glob
import re
import stat
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._command_group import Decorator, add_options
from fairgauge.errors import DataError, FairgaugeError, cause, listing, quote
from fairgauge.object_stores import SHOWN_STORES, Object, Place, address, find_objects, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.question.specification import Spec
    from fairgauge.scan.input_files import StandardInput
    from fairgauge.scan.source import Query, Source

CUBE_SUFFIX = ".cube.json"
STANDARD_INPUT = "-"
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DataArguments:
    """DATA of a command, and where their rows are if not in files on this machine."""

    names: tuple[str, ...]
    table: str | None = None
    query: str | None = None
    spark: str | None = None
    sheet: str | None = None

    def read(self) -> object:
        """Return what `fairgauge.audit` takes: paths, rows of a database, or a sum of saved cubes.

        Raises
        ------
        DataError
            Cubes and other files are mixed, a database is named without a table, or Spark has no
            such table.
        CubeError
            The cubes are damaged, or count different things.
        """
        urls = [each for each in self.names if is_url(each)]
        if not self.names:
            return _of_spark(self)
        if urls or self.table or self.query:
            return _of_database(self, urls)
        if self.spark is not None:
            from fairgauge.scan.spark_files import read_files

            return read_files(self.spark, self.names)
        if self.names == (STANDARD_INPUT,):
            return _of_standard_input()
        for each in self.names:
            _refuse_streams(each)
        cubes = [str(Object(each)).casefold().endswith(CUBE_SUFFIX) for each in self.names]
        if self.sheet:
            return [f"{name}#{self.sheet}" for name in self.names]
        if not any(cubes):
            return self.names[0] if len(self.names) == 1 else list(self.names)
        if not all(cubes):
            raise DataError(
                f"counts ({CUBE_SUFFIX}) and rows cannot be audited together; count the rows "
                "first: fairgauge count DATA -o more.cube.json"
            )
        return merged(self.names)

    def open(self) -> Source | Cube:
        """Open the data as they are scanned: a source of rows, or the sum of saved cubes."""
        from fairgauge.cube.cube import Cube
        from fairgauge.scan import open_source

        data = self.read()
        return data if isinstance(data, Cube) else open_source(data)


def takes_data(
    table: str = "Table of a database, whose URL is DATA, or of Spark's catalog (--spark).",
    *,
    required: bool = True,
) -> Decorator:
    """Return a decorator that gives a command its DATA, as the keyword ``data``.

    ``table`` is the help of ``--table``.
    """

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @add_options(
            click.argument("data", cls=_Data, nargs=-1, required=required),
            click.option("--table", metavar="NAME", help=table),
            click.option(
                "--query",
                metavar="SELECT",
                help="Query of a database, whose URL is DATA, or of Spark.",
            ),
            click.option("--sheet", metavar="NAME", help="Sheet of a workbook."),
            click.option(
                "--spark",
                metavar="MASTER",
                help="Spark master that counts Parquet files, or holds the --table (local[*], sc://HOST).",
            ),
        )
        @wraps(command)
        def with_data(
            *args: object,
            data: tuple[str, ...],
            table: str | None,
            query: str | None,
            spark: str | None,
            sheet: str | None,
            **more: object,
        ) -> object:
            return command(*args, data=DataArguments(data, table, query, spark, sheet), **more)

        return with_data

    return decorate


class _Data(click.Argument):
    """DATA, which are named by ``--table`` or ``--query`` alone where Spark holds them."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        given = ctx.params
        missing = self.value_is_missing(value)
        if missing and given.get("spark") and (given.get("table") or given.get("query")):
            return ()
        return super().process_value(ctx, value)


def is_url(data: str) -> bool:
    """Return whether DATA is the URL of a database."""
    return _SCHEME.match(data) is not None and not is_object(data)


def _of_standard_input() -> StandardInput | Cube:
    from fairgauge.scan.input_files import read_standard_input

    copy = read_standard_input()
    if copy.saved != "cube":
        return copy
    from fairgauge.cube.cube import read_cube

    return read_cube(copy.path.read_text(encoding="utf-8"), "standard input")


def with_late_labels(source: Source, spec: Spec) -> Source:
    """Return rows, those without a column of labels yet with one in which all lack; note it."""
    from fairgauge.api.audit import late_labels
    from fairgauge.cli._streams import print_message

    found, note = late_labels(source, spec)
    if note is not None:
        print_message(note, prefix="Note: ")
    return found


def warn_of_files(data: object) -> None:
    """Warn of files that are copies or skipped, where the result has no place for it."""
    from fairgauge.render.grammar import describe_diagnostic
    from fairgauge.rowwise.file_notes import notes_of_files

    for note in notes_of_files(data):
        _warn(describe_diagnostic(note))


def warn_of_equal_periods(files: Sequence[object]) -> None:
    """Warn of files of counts, each of a period, that are copies."""
    from fairgauge.scan.input_files import copied_files

    for same in copied_files(files):
        _warn(f"the periods of {listing(same)} hold the same counts; one of them may be a copy")


def warn_of_periods(cubes: Mapping[str, Cube], added: Collection[str]) -> None:
    """Warn of what may be wrong with added periods."""
    from fairgauge.monitoring.counted_periods import suspect_periods

    for text in suspect_periods(cubes, added):
        _warn(text)


def merged(asked: Sequence[str], *, allow_duplicates: bool = False) -> Cube:
    """Load cube files and add them up.

    Warns where two hold the same counts (unless ``allow_duplicates``), and where they were counted
    for different questions; the sum then keeps the options that they share.
    """
    from fairgauge.api.loading import load
    from fairgauge.cube.cube import Cube
    from fairgauge.errors import CubeError

    total: Cube | None = None
    seen: list[tuple[Place, Cube]] = []
    paths = named_places(asked)
    _check_different(paths)
    for path in paths:
        cube = load(address(path))
        if not isinstance(cube, Cube):
            raise CubeError(f"{quote(path)} is no cube of counts; fairgauge count makes one")
        same = next((name for name, each in seen if cube.has_counts_of(each)), None)
        seen.append((path, cube))
        if same is not None and not allow_duplicates:
            _warn(
                f"{quote(same)} and {quote(path)} hold the same counts of {cube.rows:,} rows; if "
                "they are the same rows, these now count twice (fairgauge merge --allow-duplicates "
                "adds them without this warning)"
            )
        if total is None:
            total = cube
            continue
        try:
            mine, theirs = total.asked.to_dict(), cube.asked.to_dict()
            differing = [key for key in mine if mine[key] != theirs[key]]
            total = total.add(cube, allow_duplicates=True)  # warned of above, with their names
        except CubeError as error:
            raise CubeError(f"cannot add {quote(path)} to the cubes before it: {error}") from None
        if differing:
            _warn(
                f"{quote(path)} was counted for another question than the cubes before it; the sum "
                f"has the defaults of {', '.join(differing)}"
            )
    if total is None:
        raise DataError(f"no file {quote(asked[0])}")
    return total


def _check_different(paths: Sequence[Place]) -> None:
    """Refuse a cube that is named twice, also by a link: its rows would count twice."""
    seen: dict[object, Place] = {}
    for path in paths:
        try:
            at = None if isinstance(path, Object) else path.stat()
        except (OSError, ValueError):
            continue  # opening it raises the error
        first = seen.setdefault((at.st_dev, at.st_ino) if at else path, path)
        if first is not path:
            also = "" if first == path else f" (as {quote(first)})"
            raise DataError(
                f"the cube {quote(path)} is named twice{also}: its rows would count twice"
            )


def _warn(message: str) -> None:
    from fairgauge.cli._streams import print_message

    print_message(message, prefix="Warning: ")


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
    """Refuse a named pipe or device: reading its header would consume it."""
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


def _of_spark(data: DataArguments) -> object:
    if data.spark is None or (data.table is None) == (data.query is None):
        raise DataError(
            "no DATA: give files, the URL of a database with --table or --query, or, of Spark's "
            "catalog (--spark MASTER), either --table CATALOG.SCHEMA.TABLE or --query SELECT"
        )
    from fairgauge.scan.spark import read_table

    return read_table(data.spark, table=data.table, query=data.query)


def _of_database(data: DataArguments, urls: Sequence[str]) -> Query:
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
