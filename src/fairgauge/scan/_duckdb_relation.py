"""A DuckDB relation, counted where it is; and how columns that have types are written.

DuckDB works in memory and without network: one connection for the life of the process.
"""

from __future__ import annotations

import glob
import io
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any, ClassVar, TypeVar

import duckdb
from duckdb import DuckDBPyRelation

from fairgauge.atomic_files import folder_of_process
from fairgauge.cube.cube import Cube, reorder_levels
from fairgauge.cube.plan import Axis, Plan
from fairgauge.errors import NOT_UTF_8, DataError, FairgaugeError, MissingExtra, listing, quote
from fairgauge.object_stores import STORES, Object, Place, Ranges, address
from fairgauge.scan._sql import Columns, count_by_sql, identifier, literal, select, select_rows
from fairgauge.scan.row_codes import BATCH, Batch, has_arrow, sql_batches, sql_double
from fairgauge.scan.scan_progress import progress
from fairgauge.scan.source import (
    Fetched,
    NotNumeric,
    Record,
    Source,
    check_unique_names,
    check_values,
)
from fairgauge.start.records import dataclass, field, replace
from fairgauge.values import NANOSECONDS

_ESCAPED = re.compile(r"\[([*?[])\]")
FETCHED = 65_536
"""How many records are fetched at a time."""

# an error of ours that passed through DuckDB, which called us to read an object
_OURS = re.compile(r"\bDataError: (.*?)\s*(?:\n\s*At:|\Z)", re.DOTALL)

_CSV_ERRORS = {
    r"Expected Number of Columns: (\d+) Found: (\d+)": r"the header has \1 columns, this line \2",
    "unterminated quote": "a quote is not closed, or text follows a closing quote",
    "Invalid unicode|not utf-8": NOT_UTF_8,
    "Maximum line size": "a line is longer than 4 MB",
    "invalid state": "quotes or line ends are not those of a CSV file (RFC 4180)",
}


T = TypeVar("T")


def _once_a_process(make: Callable[[], T]) -> Callable[[], T]:
    # a fork has none of the threads of its parent, and would wait for them for ever
    made = cache(lambda _process: make())
    return lambda: made(os.getpid())


# kept, as to start a thread takes longer than to plan a query
_pool = _once_a_process(ThreadPoolExecutor)


def run(query: str, name: str, *, in_order: bool = False) -> Iterator[Record]:
    """Run a query of what has a name in messages, and fetch its records, some at a time."""
    with engine_errors(name), _connection().cursor() as cursor:
        if in_order:  # of all cursors, until the rows are here
            cursor.execute("SET preserve_insertion_order = true")
        with progress("Counting rows", lambda: cursor.query_progress() / 100):
            _execute(cursor, query)
        while records := cursor.fetchmany(FETCHED):
            yield from records
        if in_order:
            cursor.execute("SET preserve_insertion_order = false")


def _record_batches(found: Any, rows: int) -> Iterator[object]:
    # without holding all of a result: a thread reads the next batch meanwhile
    make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch  # before DuckDB 1.5
    read = partial(next, iter(make(rows)), None)
    with ThreadPoolExecutor(max_workers=1) as pool:
        ahead = pool.submit(read)
        while (batch := ahead.result()) is not None:
            ahead = pool.submit(read)
            yield batch


def _execute(cursor: duckdb.DuckDBPyConnection, query: str) -> None:
    # in the main thread DuckDB reacts to Ctrl-C only between tasks, and a task can take minutes
    executed = _pool().submit(cursor.execute, query)
    try:
        executed.result()
    except BaseException:
        while not executed.done():  # an interrupt before the query has begun is lost
            cursor.interrupt()
            wait([executed], timeout=0.1)
        raise


@contextmanager
def engine_errors(name: str) -> Iterator[None]:
    """Report what DuckDB found wrong; an interrupt stays one."""
    try:
        yield
    except duckdb.Error as error:
        own = _OURS.search(str(error))
        if own:
            raise DataError(own[1]) from None
        raise DataError(f"cannot read {quote(name)}: {reason(error)}") from None
    except RuntimeError as error:
        if "interrupted" in str(error):
            duckdb.interrupt()  # else its other threads go on, and the process waits
            raise KeyboardInterrupt from None
        raise


@contextmanager
def explained_errors(name: str, extra: str, hide: Callable[[str], str] = str) -> Iterator[None]:
    """Report what any engine found wrong, without what ``hide`` takes away, or that it lacks."""
    try:
        yield
    except FairgaugeError:
        raise
    except Exception as error:
        # a failed import at the root, which ibis may turn into an error of an attribute
        missing: ImportError | None = None
        cause: BaseException | None = error
        while cause is not None:
            missing = cause if isinstance(cause, ImportError) else missing
            cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        if missing:
            raise MissingExtra(f"reading {quote(name)}", extra, missing) from None
        raise DataError(
            f"cannot read {quote(name)}: {reason(Exception(hide(str(error))))}"
        ) from None


def reason(error: BaseException) -> str:
    """Return what an engine found wrong, short and without its query."""
    text = str(error).partition("\n\nLINE ")[0]
    line = re.search(r"CSV Error on Line: (\d+)", text)
    for pattern, meant in _CSV_ERRORS.items():
        found = re.search(pattern, text)
        if found:
            return f"{f'line {line[1]}: ' if line else ''}{found.expand(meant)}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = " ".join(lines[:3])
    kind, _, message = first.partition(": ")
    return (message if kind.endswith("Error") and message else first)[:400]


@_once_a_process
def read_objects() -> None:
    """Let the connection open objects of stores: by fsspec, which alone DuckDB takes."""
    from fsspec.spec import AbstractFileSystem

    class ObjectFiles(AbstractFileSystem):  # type: ignore[misc]
        """The objects of all stores, by their addresses."""

        protocol = STORES
        cachable = False

        def __init__(self, **_options: object) -> None:
            super().__init__()  # without what is configured for a store, which fsspec passes
            self._sizes: dict[str, int] = {}

        def open(
            self, path: str, mode: str = "rb", **_options: object
        ) -> Ranges | io.BufferedReader:
            handle = Object(path).open(mode)
            self._sizes[path] = handle.size if isinstance(handle, Ranges) else handle.raw.size  # type: ignore[attr-defined]
            return handle

        def glob(self, path: str, **_options: object) -> list[str]:
            """Return the address itself: what its letters matched is known already."""
            return [_ESCAPED.sub(r"\1", path)]

        def info(self, path: str, **_options: object) -> dict[str, object]:
            return {"name": path, "size": self._sizes[path], "type": "file"}

        def modified(self, _path: str) -> datetime:
            """Return any moment: nothing is kept of a file for longer than a query."""
            return datetime.fromtimestamp(0, UTC)

    _connection().register_filesystem(ObjectFiles())


@_once_a_process
def _connection() -> duckdb.DuckDBPyConnection:
    # open the connection: opening one costs as much as counting a million rows
    settings = {
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        # a file written anew within the clock's grain would be answered from memory
        "enable_external_file_cache": "false",
    }
    connection = duckdb.connect(config=settings | spilling())
    connection.execute("SET enable_progress_bar = true")  # so that it knows how far it is
    connection.execute("SET enable_progress_bar_print = false")
    return connection


def spilling() -> dict[str, str]:
    """Return the settings of a connection whose rows may not fit into memory: a private folder."""
    return {"temp_directory": tempfile.mkdtemp(prefix="spill-", dir=folder_of_process())}


_VIEW, PLACE = "fairgauge_rows", "place"
"""The name of a relation in queries, and that of the number of a row in its file of Parquet."""
_WHOLE = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
# types whose values come by Arrow as they are fetched
_BATCHED = {"VARCHAR", "DOUBLE", *(_WHOLE - {"HUGEINT", "UHUGEINT"})}
_UTC = "TIMESTAMP WITH TIME ZONE"


def open_relation(
    relation: DuckDBPyRelation, name: str | None = None, connection: object = None
) -> Source:
    columns = tuple(relation.columns)
    check_unique_names(columns, "the relation")
    kinds = zip(columns, map(str, relation.types), strict=True)
    written = typed_columns({column: (identifier(column), kind) for column, kind in kinds})
    view = _VIEW if connection is None else f"({relation.sql_query()}) AS {_VIEW}"
    types = zip(columns, relation.types, strict=True)
    order = {column: dict(kind.children)["values"] for column, kind in types if kind.id == "enum"}
    return DuckRows(
        name or "DuckDB relation", columns, view, written, own=relation, connection=connection,
        stated_order=order,
    )  # fmt: skip


def null_where_nan(double: str) -> str:
    """Write a double, NULL where it is NaN.

    DuckDB trusts Parquet's statistics, which leave NaN out: 1.5 in ``nullif(..., 'NaN')``, 2.0 in
    ``isnan`` and in every comparison.
    """
    return f"CASE WHEN isfinite({double}) OR isinf({double}) THEN {double} END"


def text_as_number(text: str) -> str:
    """Write a text as a double: NULL where it is missing, NaN or not a number."""
    return null_where_nan(_cast_to_double(text))


def text_unless_number(text: str) -> str:
    return f"CASE WHEN {_cast_to_double(text)} IS NULL THEN {text} END"


def _cast_to_double(text: str) -> str:
    return f"TRY_CAST(replace({text}, '_', ' ') AS DOUBLE)"  # DuckDB would read 1_0 as 10


_MOMENT = r"\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(\+00:00)?"


def last_of_times(key: str, times: Sequence[datetime]) -> str:
    """Write a time as the last of some that is not after it, or as one before all of them.

    A text that is no time, or states a zone other than UTC, stays what it is: it is read, and
    refused, by its own words. So does one without a zone that is compared with one that has.
    """
    text = f"CAST({key} AS VARCHAR)"
    in_utc, time = f"{text} LIKE '%+00:00'", f"TRY_CAST(replace({text}, '+00:00', '') AS TIMESTAMP)"
    known = f"regexp_full_match({text}, '{_MOMENT}') AND {text} >= '0001' AND {time} IS NOT NULL"
    known += f" AND {in_utc}" if any(each.tzinfo for each in times) else ""
    every = sorted(each.replace(tzinfo=None) for each in times)
    before = every[0] - timedelta(days=1)
    whens = " ".join(f"WHEN {time} >= TIMESTAMP '{e}' THEN '{e}'" for e in reversed(every))
    found = f"CASE {whens} ELSE '{before}' END || CASE WHEN {in_utc} THEN '+00:00' ELSE '' END"
    return f"CASE WHEN {known} THEN {found} ELSE {text} END"


def typed_columns(
    written: Mapping[str, tuple[str, str]], texts: frozenset[str] = frozenset()
) -> Columns:
    """Write the columns of a relation, of which there are the expression and the DuckDB type.

    ``texts`` are untyped text after all: partitions, which are read from names of folders.
    """
    written = {
        column: (sql_double(expression), "DOUBLE") if kind == "FLOAT" else (expression, kind)
        for column, (expression, kind) in written.items()
    }

    def key(column: str) -> str:
        # as a text where it is fetched as something else or needs another library
        expression, kind = written[column]
        if kind == "UUID":
            return f"CAST({expression} AS VARCHAR)"
        if kind == "TIMESTAMP_NS":  # fetched without its nanoseconds
            text = f"strftime({expression}, '%Y-%m-%dT%H:%M:%S.%n')"
            return f"regexp_replace({text}, '{NANOSECONDS}', '\\2')"
        if kind == _UTC:  # fetched without the time zone library that DuckDB would ask for
            moment = f"strftime(make_timestamp(epoch_us({expression})), '%Y-%m-%dT%H:%M:%S.%f')"
            return f"replace({moment}, '.000000', '') || '+00:00'"
        return expression

    def double_or_nan(column: str) -> str:
        expression, kind = written[column]
        if kind not in {*_WHOLE, "DOUBLE", '"NULL"'} and not kind.startswith("DECIMAL"):
            raise NotNumeric(column, kind)
        return f"CAST({expression} AS DOUBLE)"

    def number(column: str) -> str:
        double = double_or_nan(column)
        return null_where_nan(double) if written[column][1] == "DOUBLE" else double

    def of_texts(column: str) -> tuple[str, str] | None:
        expression, kind = written[column]
        text = f"CAST({expression} AS VARCHAR)"
        is_text = kind == "VARCHAR" or kind.startswith("ENUM")
        return (text_as_number(text), text_unless_number(text)) if is_text else None

    batched = frozenset(c for c, (_, kind) in written.items() if kind in _BATCHED)
    whole = frozenset(c for c, (_, kind) in written.items() if kind in _WHOLE)
    fractions = frozenset(c for c, (_, kind) in written.items() if kind[:6] in ("DOUBLE", "DECIMA"))
    return Columns(key, number, of_texts=of_texts, texts=texts, batched=batched, whole=whole,
        fractions=fractions, moment=last_of_times, double_or_nan=double_or_nan,
        exponents=True, count_where="count_if({})")  # fmt: skip


def list_paths_in_sql(paths: Iterable[Place]) -> str:
    return f"[{', '.join(literal(glob.escape(address(path))) for path in paths)}]"


_LONGEST_LINE = 1 << 22
_BUFFER = 1 << 23
# bytes of Parquet from which counting by numpy saves more than importing Arrow costs
_LARGE = 1 << 24
_NESTED = {list, dict}
FIRST_ROWS = 4_000
"""Rows of a look at the first: two for each value that a column may have, or more."""
# rows that are counted at a time
_ROWS = 98_304


def csv_rows(
    paths: Iterable[Place], columns: Iterable[str], delimiter: str = ",", *, line_end: str = ""
) -> str:
    """Write the rows of CSV files of RFC 4180, every value as text, with names for the columns.

    Without a ``line_end`` DuckDB takes the first line break of a file for it, a quoted one too; it
    heeds one where ``strict_mode`` is not stated, which is then true.
    """
    known = f"new_line={literal(line_end.encode('unicode_escape').decode())}"
    ends = known if line_end else "strict_mode=true"
    types = ", ".join(f"'{column}': 'VARCHAR'" for column in columns)
    return (
        f"read_csv({list_paths_in_sql(paths)}, delim={literal(delimiter)}, quote='\"', "
        f"escape='\"', header=true, nullstr='', auto_detect=false, "
        f"{ends}, null_padding=false, max_line_size={_LONGEST_LINE}, "
        f"buffer_size={_BUFFER}, columns={{{types}}})"
    )


@dataclass(frozen=True)
class DuckRows:
    """Files that DuckDB reads, or a relation on a connection of its user.

    ``relation``: what follows FROM.
    ``size``: how many bytes of columns with types there are; rows have their `PLACE` then.
    ``absent``: the columns that a whole file lacks (an object of JSON may), each with that file.
    ``pointers``: where columns are in objects of JSON, which are parsed and held once for each that
        is written alone, and once for a list of them.
    ``own``: the relation of a user, whose queries name it as ``relation``.
    ``looks``: whether a look at the first rows is cheap beside the scan of all.
    ``first``: the first rows of the columns that were looked at.
    """

    name: str
    columns: tuple[str, ...]
    relation: str = field(repr=False)
    written: Columns = field(repr=False)
    size: int = 0
    absent: Mapping[str, Place] = field(default_factory=dict, repr=False)
    pointers: Mapping[str, str] = field(default_factory=dict, repr=False)
    own: DuckDBPyRelation | None = field(default=None, repr=False)
    # of a database that is opened here: DuckDB 1.4 closes it where nothing refers to it, and makes
    # no view of a relation in a file that it only reads
    connection: Any = field(default=None, repr=False)
    looks: bool = True
    first: dict[str, Sequence[object]] = field(default_factory=dict, repr=False)
    # the values of columns whose types state their order, in it
    stated_order: Mapping[str, Sequence[object]] = field(default_factory=dict, repr=False)

    at_hand: ClassVar[bool] = True

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        texts = bool(self.written.texts)
        if most is None or most > FIRST_ROWS:
            found = self._read(columns, most)
            self.first.update(zip(columns, (each[:FIRST_ROWS] for each in found), strict=True))
            return found, texts
        if absent := [name for name in columns if name not in self.first]:
            self.first.update(zip(absent, self._read(absent, FIRST_ROWS), strict=True))
        return [self.first[name][:most] for name in columns], texts

    def _read(self, columns: list[str], most: int | None) -> list[Sequence[object]]:
        keys = ", ".join(self.written.key(name) for name in columns)
        if as_list := self.pointers.keys() >= {*columns}:
            keys = f"json_extract(json, [{', '.join(map(self.pointers.__getitem__, columns))}])"
        limit = "" if most is None else f" LIMIT {most}"
        if limit and self.size:  # otherwise all threads read pages of texts, to no purpose
            limit = f" WHERE {PLACE} < {most}{limit}"
        records = [*self._run(f"SELECT {keys} FROM {self.relation}{limit}", in_order=True)]
        records = [record[0] for record in records] if as_list else records
        found: list[Sequence[object]]
        found = [[record[i] for record in records] for i in range(len(columns))]
        if self.written.decode is not None:
            found = [[*map(self.written.decode, values)] for values in found]
        return found

    def count(self, plan: Plan, limit: int) -> Cube:
        self._check(plan)
        axes = [axis for axis in plan.axes if axis.limited]
        if axes and self.looks:  # a column of too many values is reported before the scan
            found = self.fetch([axis.column for axis in axes], 2 * limit)[0]
            of = zip(axes, found, strict=True)
            different = {a: [*{*each}] for a, each in of if not _NESTED & {*map(type, each)}}
            check_values(different, self.written.texts, limit)
        plain, fine = [axis for axis in plan.axes if not axis.bins], any(a.grid for a in plan.axes)
        alike = all(a.column in self.written.batched and not a.moments for a in plain)
        texts = any(self.written.read(column, plan)[1] for column in plan.numeric_columns)
        if self.size >= _LARGE and fine and alike and not texts and has_arrow():
            from fairgauge.scan._cell_sums import CellSums, join_parts

            sums = CellSums(plan, limit)
            for batch in self.batches(plan, _ROWS):
                sums.add(batch)
                if not sums.dense:  # they are too many to have a place each
                    break
            else:
                return join_parts(plan, [sums.scanned()], limit, self.written.texts)
        cube = count_by_sql(plan, self.relation, self.written, self._run, limit, self._likely)
        return reorder_levels(cube, self.stated_order)

    def _likely(self, axis: Axis) -> Sequence[object]:
        # the values of a column in the first rows, where these were looked at
        found = self.first.get(axis.column, ())
        plain = {*map(type, found)} <= {bool, int, float, str, type(None)}
        return [each for each in dict.fromkeys(found) if each is not None] if plain else ()

    @property
    def streams(self) -> bool:
        return has_arrow() and self.written.decode is None  # of JSON keys are texts of it

    def batches(self, plan: Plan, rows: int = BATCH) -> Iterator[Batch]:
        query = select_rows(plan, self.relation, self.written)
        with engine_errors(self.name):
            if self.own is not None:
                found = self._result_of(self.own, query)
                yield from sql_batches(plan, _record_batches(found, rows))
                return
            with _connection().cursor() as cursor:  # of execute() DuckDB 2 makes a copy
                yield from sql_batches(plan, _record_batches(cursor.sql(query), rows))

    def query(self, plan: Plan) -> str:
        self._check(plan)
        own = f"({self.own.sql_query()}) AS {_VIEW}" if self.own is not None else self.relation
        return select(plan, own, self.written)

    def with_missing(self, column: str) -> DuckRows:
        key, number = "CAST(NULL AS VARCHAR)", "CAST(NULL AS DOUBLE)"
        written = self.written.beside(column, key, number)
        return replace(self, columns=(*self.columns, column), written=written)

    def _check(self, plan: Plan) -> None:
        for column in plan.columns:
            if column in self.absent:
                raise DataError(
                    f"the files have different columns: {quote(self.absent[column])} lacks "
                    f"{quote(column)}"
                )

    def _result_of(self, own: DuckDBPyRelation, query: str) -> Any:
        return self.connection.sql(query) if self.connection else own.query(self.relation, query)

    def _run(self, query: str, *, in_order: bool = False) -> Iterator[Record]:
        if self.own is None:
            yield from run(query, self.name, in_order=in_order)
            return
        with engine_errors(self.name):
            found = self._result_of(self.own, query)
            if not hasattr(found, "fetchmany"):  # of DuckDB 2, whose relations keep no result
                yield from found.fetchall()
                return
            while records := found.fetchmany(FETCHED):
                yield from records


def check_same_columns(columns: Mapping[Place, Collection[str]]) -> None:
    """Check that all files have the columns of the first, in any order."""
    first, *others = columns
    for other in others:
        missing, more = ({*columns[a]} - {*columns[b]} for a, b in ((first, other), (other, first)))
        if missing or more:
            what = "lacks" if missing else "also has"
            raise DataError(
                f"the files have different columns: {quote(other)} {what} "
                f"{listing(sorted(missing or more))}, unlike {quote(first)}"
            )
