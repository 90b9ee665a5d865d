"""Spark: one SELECT, of one scan and one shuffle, where the data are; only cells come back."""

from __future__ import annotations

import re
import secrets
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from fairgauge.errors import DataError, needing, quote
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan._sql import Columns, count_by_sql, select, select_rows
from fairgauge.scan.row_codes import Batch, record_batches, sql_double
from fairgauge.scan.source import NotNumeric, Opened, Record, check_unique_names
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

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
# numbers that Java reads and nobody else: 1d, 0x1p3
_OWN_NOTATION = "[0-9.][dDfF][^a-zA-Z]*$|[xX]"
_NESTED = {"array", "map", "struct"}


@dataclass(frozen=True)
class SparkFrame:
    """A frame of Spark, classic or behind Spark Connect.

    ``texts``: its partitions, which are untyped text: numeric if all their values are numbers.
    """

    name: str
    frame: DataFrame
    texts: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        with self._view() as view:
            return count_by_sql(plan, view, self._column_sql(), self._run, limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows of the columns of a plan; one partition at a time is at hand."""
        with self._view() as view, _explain_spark_errors(self.name):
            found = self.frame.sparkSession.sql(select_rows(plan, view, self._column_sql()))
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
        return select(plan, _VIEW, self._column_sql())

    def _column_sql(self) -> Columns:
        # write the columns by position: Spark takes names that differ in case for the same
        kinds = {field.name: field.dataType.typeName() for field in self.frame.schema.fields}
        position = {name: f"c{i}" for i, name in enumerate(self.columns)}
        position |= {c: sql_double(at) for c, at in position.items() if kinds[c] == "float"}

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

        def number(column: str) -> str:
            value = f"CAST({position[column]} AS DOUBLE)"
            if kinds[column] in _FLOATING:
                return f"nullif({value}, CAST('NaN' AS DOUBLE))"
            if kinds[column] not in _WHOLE:
                raise NotNumeric(column, kinds[column])
            return value

        return Columns(key, number, of_texts, self.texts)

    def _run(self, query: str) -> Iterator[Record]:
        with _explain_spark_errors(self.name):
            return iter([tuple(row) for row in self.frame.sparkSession.sql(query).collect()])


@contextmanager
def _explain_spark_errors(name: str) -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, *_java_errors()) as error:
        raise DataError(f"cannot count the {name}: {_cause(error)}") from None


def _java_errors() -> tuple[type[Exception], ...]:
    try:
        from py4j.protocol import Py4JError
    except ImportError:  # Spark Connect needs no Java here
        return ()
    return (Py4JError,)


def _cause(error: Exception) -> str:
    causes = re.findall(r"^Caused by: [\w.$]+: (.+)$", str(error), re.MULTILINE)
    return str(causes[-1]) if causes else reason(error)


def read_table(master: str, *, table: str | None, query: str | None) -> Opened:
    """Open a table of the catalog of a Spark session (``catalog.schema.table``), or a SELECT."""
    name = table or "query"
    with spark_session(master, quote(name)) as session:
        frame = session.table(table) if table else session.sql(str(query).strip().rstrip(";"))
        check_unique_names(frame.columns, quote(name))
        return Opened(SparkFrame(name, frame))


@contextmanager
def spark_session(master: str, what: str) -> Iterator[SparkSession]:
    """Start a session, or take the one that is there; report what it cannot read."""
    with needing("spark", "counting by Spark"):
        from pyspark.errors import PySparkException
    try:
        yield _start_session(master)
    except (PySparkException, RuntimeError, *_java_errors()) as error:
        cause = _cause(error).splitlines()[0]
        if "FileSystem" in cause:
            cause = "it has no file system for such addresses; give it its jars, or omit --spark"
        raise DataError(f"Spark cannot read {what}: {cause}") from None


def _start_session(master: str) -> SparkSession:
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
    # check that a server of Spark Connect answers; pyspark would try for ten minutes
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
