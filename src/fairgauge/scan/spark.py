"""Spark: one SELECT, of one scan and one shuffle, where the data are; only cells come back."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan._sql import Columns, count_by_sql, select, select_rows
from fairgauge.scan.row_codes import record_batches
from fairgauge.scan.source import Opened, check_unique_names, not_numeric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.scan.row_codes import Batch, Levels
    from fairgauge.scan.source import Record

_VIEW = "fairgauge_rows"
_WHOLE = {"byte", "short", "integer", "long", "boolean", "decimal", "void"}
_FLOATING = {"float", "double"}
_UTC = (
    "concat(replace(date_format(to_utc_timestamp({}, current_timezone()), "
    "\"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\"), '.000000', ''), '+00:00')"
)
_FILES = {".parquet": "parquet", ".orc": "orc", ".jsonl": "json", ".ndjson": "json"}
_NESTED = {"array", "map", "struct"}


@dataclass(frozen=True)
class SparkFrame:
    """A frame of Spark, classic or behind Spark Connect."""

    name: str
    frame: DataFrame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        with self._view() as view:
            return count_by_sql(plan, view, self._written(), self._run, limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan, levels: Levels) -> Iterator[Batch]:
        """Yield the rows of the columns of a plan; one partition at a time is at hand."""
        del levels
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

        def number(column: str) -> str:
            value = f"CAST({position[column]} AS DOUBLE)"
            if kinds[column] in _FLOATING:
                return f"nullif({value}, CAST('NaN' AS DOUBLE))"
            if kinds[column] not in _WHOLE:
                raise not_numeric(column, kinds[column])
            return value

        return Columns(key, number, looks=False)

    def _run(self, query: str) -> Iterator[Record]:
        with _as_data_error(self.name):
            return iter([tuple(row) for row in self.frame.sparkSession.sql(query).collect()])


@contextmanager
def _as_data_error(name: str) -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise DataError(f"cannot count the {name}: {reason(error)}") from None


def read_files(master: str, paths: Sequence[str]) -> DataFrame:
    """Read files by a Spark session of a master (``local[*]``, ``spark://host:7077``, ``sc://...``).

    Raises
    ------
    DataError
        The files are not all of one typed format (.csv is none), or Spark cannot read them.
    MissingExtra
        pyspark is not installed.
    """
    kinds = {_FILES.get(PurePath(path.removesuffix(".gz")).suffix.lower()) for path in paths}
    if len(kinds) != 1 or None in kinds:
        known = ", ".join(_FILES)
        raise DataError(f"Spark reads files of one format: {known}; not {listing(paths)}")
    with _session(master, listing(paths)) as session:
        return session.read.format(str(kinds.pop())).load(list(paths))


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
    with _session(master, quote(name)) as session:
        frame = session.table(table) if table else session.sql(str(query).strip().rstrip(";"))
        check_unique_names(frame.columns, quote(name))
        return Opened(SparkFrame(name, frame))


@contextmanager
def _session(master: str, what: str) -> Iterator[SparkSession]:
    """Start a session, or take the one that is there; report what it cannot read."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra("counting by Spark", "spark", error) from None
    builder = SparkSession.builder.appName("fairgauge").config("spark.ui.enabled", "false")
    remote = master.startswith("sc://")
    try:
        yield (builder.remote(master) if remote else builder.master(master)).getOrCreate()
    except (PySparkException, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"Spark cannot read {what}: {first}") from None
