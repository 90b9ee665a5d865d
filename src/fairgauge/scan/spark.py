"""Spark: one SELECT, of one scan and one shuffle, where the data are; only cells come back.

Files that Spark reads have the types that the reader of files gives them.
"""

from __future__ import annotations

import csv
import re
import secrets
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.object_stores import SHOWN_STORES
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan._sql import Columns, count_by_sql, select, select_rows
from fairgauge.scan._tabular_files import delimiter_of
from fairgauge.scan.row_codes import Batch, record_batches
from fairgauge.scan.source import Opened, Record, check_unique_names, not_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan

_VIEW = "fairgauge_rows"
_PATIENCE = 20
_WHOLE = {"byte", "short", "integer", "long", "boolean", "decimal", "void"}
_FLOATING = {"float", "double"}
_TEXTS = {"string", "varchar", "char"}
_UTC = (
    "concat(replace(date_format(to_utc_timestamp({}, current_timezone()), "
    "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\"), '.000000', ''), '+00:00')"
)
_OWN_NOTATION = "[0-9.][dDfF][^a-zA-Z]*$|[xX]"
"""Numbers that Java reads and nobody else: 1d, 0x1p3."""
_NESTED = {"array", "map", "struct"}


@dataclass(frozen=True)
class SparkFrame:
    """A frame of Spark, classic or behind Spark Connect.

    Attributes
    ----------
    texts : its columns of untyped text (CSV, JSON), numeric if all their values are numbers.
    """

    name: str
    frame: DataFrame
    texts: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        with self._view() as view:
            return count_by_sql(plan, view, self._written(), self._run, limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows of the columns of a plan; one partition at a time is at hand."""
        with self._view() as view, _as_data_error(self.name):
            found = self.frame.sparkSession.sql(select_rows(plan, view, self._written()))
            yield from record_batches(plan, found.toLocalIterator())

    @contextmanager
    def _view(self) -> Iterator[str]:
        view = f"{_VIEW}_{secrets.token_hex(8)}"  # of its own: counts of one session may overlap
        frame = self.frame.toDF(*(f"c{i}" for i in range(len(self.columns))))
        frame.createOrReplaceTempView(view)
        try:
            yield view
        finally:
            self.frame.sparkSession.catalog.dropTempView(view)

    def query(self, plan: Plan) -> str:
        """Return the query that counts, over a view with the columns c0, c1 ..."""
        return select(plan, _VIEW, self._written())

    def _written(self) -> Columns:
        """Write the columns by position: Spark takes names that differ in case for the same."""
        fields = self.frame.schema.fields
        kinds = {field.name: field.dataType.typeName() for field in fields}
        position = {name: f"c{i}" for i, name in enumerate(self.columns)}

        def key(column: str) -> str:
            if kinds[column] in _NESTED:
                raise DataError(
                    f"column {quote(column)} holds values that are not plain ({kinds[column]})"
                )
            if kinds[column] == "timestamp":  # an instant, which Spark would show in local time
                return _UTC.format(position[column])
            return position[column]

        def read(column: str) -> str:
            text = position[column]
            own = f"{text} RLIKE '{_OWN_NOTATION}'"
            return f"CASE WHEN NOT {own} THEN try_cast({text} AS DOUBLE) END"

        def of_texts(column: str) -> tuple[str, str] | None:
            if kinds[column] not in _TEXTS:
                return None
            number = f"nullif({read(column)}, CAST('NaN' AS DOUBLE))"
            return number, f"CASE WHEN {read(column)} IS NULL THEN {position[column]} END"

        def wrong(column: str) -> str | None:
            found = of_texts(column) if column in self.texts else None
            return found and found[1]

        def number(column: str) -> str:
            found = of_texts(column) if column in self.texts else None
            if found:
                return found[0]
            value = f"CAST({position[column]} AS DOUBLE)"
            if kinds[column] in _FLOATING:
                return f"nullif({value}, CAST('NaN' AS DOUBLE))"
            if kinds[column] not in _WHOLE:
                raise not_numeric(column, kinds[column])
            return value

        return Columns(
            key, number, wrong, of_texts, self.texts, _utf8 if self.texts else None, looks=False,
        )  # fmt: skip

    def _run(self, query: str) -> Iterator[Record]:
        with _as_data_error(self.name):
            return iter([tuple(row) for row in self.frame.sparkSession.sql(query).collect()])


@contextmanager
def _as_data_error(name: str) -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, *_java_errors()) as error:
        raise DataError(f"cannot count the {name}: {_cause(error)}") from None


def _java_errors() -> tuple[type[Exception], ...]:
    """Return the errors of classic Spark that it does not turn into its own."""
    try:
        from py4j.protocol import Py4JError
    except ImportError:  # Spark Connect needs no Java here
        return ()
    return (Py4JError,)


def _cause(error: Exception) -> str:
    """Return the first cause of an error of Java, which is named last; else the error itself."""
    causes = re.findall(r"^Caused by: [\w.$]+: (.+)$", str(error), re.MULTILINE)
    return str(causes[-1]) if causes else reason(error)


def _utf8(value: object) -> object:
    """Refuse the mark that Spark puts in place of what is not UTF-8."""
    if isinstance(value, str) and "\ufffd" in value:
        raise DataError(
            f"{quote(value)} was not UTF-8 text; convert the file, for example by iconv"
        )
    return value


def read_table(master: str, *, table: str | None, query: str | None) -> Opened:
    """Open a table of the catalog of a Spark session (``catalog.schema.table``), or a SELECT.

    Raises
    ------
    DataError
        Spark has no such table, or cannot read it.
    MissingExtra
        pyspark is not installed.
    """
    name = table or "query"
    with spark_session(master, quote(name)) as session:
        frame = session.table(table) if table else session.sql(str(query).strip().rstrip(";"))
        check_unique_names(frame.columns, quote(name))
        return Opened(SparkFrame(name, frame))


@contextmanager
def spark_session(master: str, what: str) -> Iterator[SparkSession]:
    """Start a session, or take the one that is there; report what it cannot read."""
    try:
        from pyspark.errors import PySparkException
    except ImportError as error:
        raise MissingExtra("counting by Spark", "spark", error) from None
    try:
        yield _started(master)
    except (PySparkException, RuntimeError, *_java_errors()) as error:
        first = _cause(error).splitlines()[0]
        if _NO_STORE.search(first):
            first = (
                "it has no file system for such addresses; give it the jars of the store (for "
                "s3a://, hadoop-aws of its version in spark.jars), or omit --spark: fairgauge "
                f"reads {', '.join(SHOWN_STORES)} by itself"
            )
        raise DataError(f"Spark cannot read {what}: {first}") from None


_NO_STORE = re.compile(r"No FileSystem for scheme|Class \S*\.fs\.\S+ not found")


def _started(master: str) -> SparkSession:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions of pandas, which is not used
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName("fairgauge")
        if master.startswith("sc://"):
            _check_answering(master)
            return builder.remote(master).getOrCreate()
        settings = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}
        return builder.master(master).config(map=settings).getOrCreate()


def _check_answering(master: str) -> None:
    """Check that a server of Spark Connect answers; pyspark would try for ten minutes."""
    try:
        import grpc
        from pyspark.sql.connect.client import DefaultChannelBuilder
    except ImportError:  # which pyspark reports
        return
    with DefaultChannelBuilder(master).toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_PATIENCE)
        except grpc.FutureTimeoutError:
            server = master.partition("/;")[0]  # without its token
            raise DataError(f"no Spark Connect answers at {server} within {_PATIENCE} s") from None


_FILES = {
    ".parquet": "parquet", ".orc": "orc", ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".csv": "csv", ".tsv": "csv",
}  # fmt: skip
_STRICT = {
    "mode": "FAILFAST", "multiLine": "true", "quote": '"', "escape": '"', "header": "true",
    "enforceSchema": "false", "unescapedQuoteHandling": "RAISE_ERROR",
}  # fmt: skip
"""How Spark reads CSV as RFC 4180 has it, and refuses what is not so."""


def read_files(master: str, paths: Sequence[str]) -> Opened:
    """Open files by a Spark session of a master (``local[*]``, ``spark://host:7077``, ``sc://...``).

    Raises
    ------
    DataError
        The files are not all of one format, or Spark cannot read them.
    MissingExtra
        pyspark is not installed.
    """
    name = listing(paths)
    with spark_session(master, name) as session:
        kinds = {kind for path in paths for kind in _kinds(session, path)}
        if len(kinds) != 1 or None in kinds:
            known = ", ".join(_FILES)
            raise DataError(f"Spark reads files of one format: {known}; not {name}")
        kind = str(kinds.pop())
        read = {"csv": _read_csv, "json": _read_json}.get(kind)
        frame = read(session, paths) if read else session.read.format(kind).load(list(paths))
        check_unique_names(frame.columns, name)
        untyped = (f.name for f in frame.schema.fields if f.dataType.typeName() == "string")
        return Opened(SparkFrame(", ".join(paths), frame, frozenset(untyped if read else ())))


def _kinds(session: SparkSession, path: str) -> set[str | None]:
    """Return the formats of a path by its name, or, of a folder, by the names of its files."""
    kind = _FILES.get(_suffix(path))
    if kind:
        return {kind}
    files = session.read.format("binaryFile").load(path).selectExpr(
        "regexp_extract(path, '[.][A-Za-z]+([.]gz)?$', 0) AS suffix"
    )  # fmt: skip
    return {_FILES.get(_suffix(f"x{row[0]}")) for row in files.distinct().collect()}


def _suffix(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def _first_line(session: SparkSession, path: str) -> str:
    """Return the first line of a file, or of one of several, that is not blank."""
    lines = session.read.text(path).where("trim(value) <> ''")
    first = lines.head()
    if first is None:
        raise DataError(f"{quote(path)} is empty")
    return str(first[0])


def _read_csv(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read the columns of CSV files as text."""
    # else rows that are too long or short would show only where the question names their end
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    headers = {path: _first_line(session, path).removeprefix("\ufeff") for path in paths}
    delimiters = {delimiter_of(header) for header in headers.values()}
    if len(delimiters) > 1:
        raise DataError(f"Spark reads CSV files of one separator; not {listing(paths)}")
    delimiter = delimiters.pop()
    for path, header in headers.items():
        _check_header(next(csv.reader([header], delimiter=delimiter)), path)
    return session.read.options(**_STRICT, sep=delimiter).csv(list(paths))


def _check_header(names: Sequence[str], path: str) -> None:
    """Check that Spark distinguishes the columns of a CSV file, and reads all of its rows."""
    check_unique_names(names, quote(path))
    if len({name.casefold() for name in names}) < len(names):
        raise DataError(
            f"{quote(path)} has columns whose names differ in case alone, which are the same to "
            "Spark; rename them"
        )
    if len(names) == 1:
        raise DataError(
            f"{quote(path)} has one column; Spark skips its empty lines, which are rows"
        )


def _read_json(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read JSON, one object a line or a list; whole numbers as text, for ids may be long."""
    from pyspark.sql.types import StringType, StructField, StructType

    lists = {_first_line(session, path).lstrip()[:1] == "[" for path in paths}
    if len(lists) > 1:
        raise DataError(f"Spark reads JSON lines, or lists of objects; not both: {listing(paths)}")
    reader = session.read.options(mode="FAILFAST", multiLine=str(lists.pop()).lower())
    whole = ("long", "decimal")
    fields = [
        StructField(f.name, StringType() if f.dataType.typeName() in whole else f.dataType)
        for f in reader.json(list(paths)).schema.fields
    ]
    return reader.schema(StructType(fields)).json(list(paths))
