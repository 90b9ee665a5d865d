"""What commands take: DATA (files, globs, standard input, counts), and flags of a specification."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import click

from fairgauge.cli._command_group import Decorator, add_options, gather_options, print_message
from fairgauge.errors import DataError, FairgaugeError, Problem, cause, quote, refuse
from fairgauge.object_stores import SHOWN_STORES, Object, Place, address, find_objects, is_object
from fairgauge.question.options import BY_NAME, OPTIONS, Option, Spec, parse_flag
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.scan.source import Query, Source

CUBE_SUFFIX = ".cube.json"
STANDARD_INPUT = "-"
_SCHEME = r"(?i)[a-z][a-z0-9+.\-]*://"


_BOOKS, _TEXTS = (".xlsx", ".xlsm"), (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


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
            ("--sheet", self.sheet, _BOOKS),
            ("--header-row", self.header_row, (*_BOOKS, *_TEXTS)),
        ):
            others = [name for name in self.names if not name.casefold().endswith(known)]
            if part and others:
                raise DataError(f"{option} is for {', '.join(known)} files, not {quote(others[0])}")
        urls = [each for each in self.names if is_url(each)]
        if not self.names:
            if self.spark is None or (self.table is None) == (self.query is None):
                raise DataError(
                    "no DATA: give files, the URL of a database with --table or --query, or, of "
                    "Spark's catalog (--spark MASTER), either --table CATALOG.SCHEMA.TABLE or "
                    "--query SELECT"
                )
            from fairgauge.scan.spark import read_table

            return read_table(self.spark, table=self.table, query=self.query)
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
        if self.sheet or self.header_row:
            row = f"#{self.header_row}" if self.header_row else ""
            sheets = (f"#{self.sheet or ''}" * e.casefold().endswith(_BOOKS) for e in self.names)
            return [f"{name}{sheet}{row}" for name, sheet in zip(self.names, sheets, strict=True)]
        if all(str(Object(each)).casefold().endswith(CUBE_SUFFIX) for each in self.names):
            return merge_cubes(self.names)
        return self.names[0] if len(self.names) == 1 else list(self.names)


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


def takes_data(tables: Sequence[str] = ()) -> Decorator:
    """Return a decorator that gives a command its DATA, as the keyword ``data``.

    ``tables`` are those of its result that ``--table`` prints where DATA are files.
    """
    of_result = f"; of files, the table of the report to print as CSV ({', '.join(tables)})"
    return gather_options(
        DataArguments,
        "data",
        click.argument("names", nargs=-1, metavar="DATA..."),
        click.option("--table", metavar="NAME",
            help="Table of a database, whose URL is DATA, or of Spark's catalog (--spark)"
            f"{of_result if tables else ''}."),
        click.option("--query", metavar="SELECT",
            help="Query of a database, whose URL is DATA, or of Spark."),
        click.option("--sheet", metavar="NAME", help="Sheet of a workbook."),
        click.option("--header-row", metavar="N", type=click.IntRange(1),
            help="Line of a text file, or row of a sheet, that names the columns, if the one found "
            "is wrong."),
        click.option("--spark", metavar="MASTER", help="Spark master that counts Parquet files, or "
            "holds the --table (local[*], sc://HOST)."),
    )  # fmt: skip


def is_url(data: str) -> bool:
    return re.match(_SCHEME, data) is not None and not is_object(data)


def merge_cubes(asked: Sequence[str], *, allow_duplicates: bool = False) -> Cube:
    """Load cube files and add them up.

    Warns where two hold the same counts (unless ``allow_duplicates``). The sum of counts of
    different questions keeps the options that they share.
    """
    from fairgauge.cube.cube import Cube
    from fairgauge.errors import CubeError
    from fairgauge.results.shown_result import load

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
                f"{quote(same)} and {quote(path)} hold {cube.alike_in_words}; if "
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


def _open_database(data: DataArguments, urls: Sequence[str]) -> Query:
    from fairgauge.scan.source import sql

    if len(data.names) != 1 or not urls:
        raise FairgaugeError(
            "--table and --query need one DATA, the URL of a database (such as "
            "postgresql://HOST/NAME or sqlite:///FILE.db)"
        )
    scheme = urls[0].partition(":")[0]
    if (data.table is None) == (data.query is None):
        raise FairgaugeError(
            f"DATA that begin with {scheme}:// are rows of a database: give either --table NAME or "
            f"--query SELECT (files are read from {', '.join(SHOWN_STORES)} and from folders here)"
        )
    return sql(urls[0], str(data.table or data.query))


# ---- flags of a specification


Texts: TypeAlias = str | tuple[str, ...] | None
"""What follows a flag on the command line: a text, several, or nothing where it is not given."""


def check_options(options: Mapping[str, object], data: Source | Cube | None = None) -> Spec:
    """Check options against the columns of the data, and return the question they ask."""
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import plan
    from fairgauge.question.specification import ask, ask_rows
    from fairgauge.scan import check_types
    from fairgauge.scan.chosen_rows import add_probability_columns

    if data is None or isinstance(data, Cube):
        return ask(None, None if data is None else data.asked, **options)
    spec = ask_rows(data, **options)
    # the types of columns are the same wherever scores are cut: their median is not read here
    check_types(add_probability_columns(data, spec), plan(spec, median=spec.score_range[0]))
    return spec


def question(*refused: str, **helps: str) -> Decorator:
    """Return a decorator with the flags of a specification, which are keywords for `read_question`.

    Help does not list those that the command refuses with what to do; ``helps`` has the help of
    those that mean something of their own to it.
    """
    return add_options(config_option, *_flags(refused=refused, helps=helps))


def takes_config(of: str) -> Decorator:
    return click.option("-c", "--config", metavar="FILE", help=of)


config_option = takes_config("Specification file (.toml .yaml .json), whose keys flags override.")


def flags_for(*names: str, **helps: str) -> Decorator:
    return add_options(*_flags([BY_NAME[name] for name in names], helps=helps))


def _flags(
    options: Sequence[Option] = OPTIONS,
    refused: Sequence[str] = (),
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Decorator]:
    for option in options:
        yield click.option(
            option.flag,
            _option_key(option.flag),
            metavar=option.type.metavar,
            help=helps.get(option.name) or option.help(flag=True),
            multiple=option.type.repeatable,
            nargs=option.type.arguments,
            hidden=option.name in refused,
        )


def _option_key(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def read_question(
    config: str | None, flags: Mapping[str, Texts], *, judges: bool = False
) -> dict[str, Any]:
    """Read the specification file, if there is one, and the flags, which override its keys."""
    from fairgauge.question.kits import open_kit  # not for --help
    from fairgauge.question.specification import overridden, with_config

    file: dict[str, object] = {}
    options: dict[str, object] = {}
    problems: list[Problem] = []
    if isinstance(preset := flags.get("preset"), str):
        open_kit(preset)
    if config is not None:
        ruled = _is_given(flags.get("rule"))
        file = {**with_config(config, {}, judges=judges and not ruled)}
    for option in OPTIONS:
        if _is_given(texts := flags.get(_option_key(option.flag))):
            texts = (texts,) if isinstance(texts, str) else texts
            value = parse_flag(option, texts, problems, file | options)
            if value is not None:
                options[option.name] = value
    refuse(problems)
    return overridden(file, options)


def given_options(flags: Mapping[str, Texts]) -> dict[str, Any]:
    return read_question(None, flags)


def _is_given(value: Texts) -> TypeGuard[str | tuple[str, ...]]:
    return value is not None and value != ()
