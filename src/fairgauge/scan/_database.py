"""Databases: one SELECT in the database itself; the rows stay there, but for large searches."""

from __future__ import annotations

import re
import warnings
import weakref
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

from fairgauge.errors import DataError, is_clear, listing, needing, quote, shown_address, suggest
from fairgauge.scan._duckdb_relation import FETCHED, explained_errors, spilling
from fairgauge.scan._sql import (
    FOLDED,
    MARK,
    ROWS,
    WITHOUT_SETS,
    Columns,
    count_by_sql,
    identifier,
    is_query,
    mark_text,
    select,
    select_rows,
    translate,
)
from fairgauge.scan.row_codes import Batch, record_batches, sql_double
from fairgauge.scan.source import NotNumeric, Record, Source, check_unique_names
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ibis.backends import BaseBackend
    from ibis.expr.datatypes import DataType
    from ibis.expr.types import Table

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan

_DOUBLE = {"postgres": "DOUBLE PRECISION", "sqlite": "REAL", "mysql": "DOUBLE"}
# whether a text is a number, in PostgreSQL, and in SQLite, MySQL and MariaDB
_IS_NUMBER = {
    "postgres": r"{} ~ '^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$'",
    # without regular expressions, or with others in each: JSON that is a number
    "": "json_valid({0}) AND substr(trim({0}), 1, 1) IN "
    "('-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9')",
}
# A view in a DuckDB file may name the web, which an extension would read, or call what changes a
# setting: a log would be written to a file that it names
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
    "lock_configuration": "true",
}  # fmt: skip
# the longest value of a parameter that an error repeats: ``verify-full`` is no secret
_LONGEST_PLAIN = 12
_UTC = "CONCAT(replace(strftime({}, '%Y-%m-%dT%H:%M:%S.%f'), '.000000', ''), '+00:00')"


def open_database(url: str, rows: str) -> Source:
    if "://" not in url:  # and may hold a password all the same
        raise DataError(
            "the address given is not the URL of a database, such as postgresql://user@host/name "
            "or sqlite:///file.db"
        )
    shown = shown_address(url)
    scheme, rest = url.split(":", 1)
    scheme = scheme.lower()  # as ibis reads it
    url = f"{scheme}:{rest}"
    if not is_clear(url) and not url.startswith(("sqlite:///", "duckdb:///")):
        raise DataError(
            f"the address {scheme}://... has several readings: write {scheme}://USER:PASSWORD@HOST:"
            "PORT/NAME with a number as PORT, and in USER and PASSWORD / as %2F, ? as %3F, # as "
            "%23, @ as %40, : as %3A and [ as %5B"
        )
    rows = rows.strip().rstrip(";")  # a query becomes a subselect
    import duckdb

    with suppress(duckdb.Error):  # what it cannot parse is for the database to judge
        if (statements := len(duckdb.extract_statements(rows))) > 1:  # it would count the last
            raise DataError(
                f"cannot read {quote(shown)}: the query holds {statements} statements; "
                "write one SELECT"
            )
    if scheme == "duckdb":
        return _open_duckdb(url, rows, shown)
    with needing(_extra_for_url(url), "reading databases"):
        import ibis
    with _explain_database_errors(shown, url):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Unable to set session timezone")
            backend = _open_sqlite(url) if scheme == "sqlite" else ibis.connect(url)
        try:
            if backend.name == "mysql":
                backend.con.query("SET time_zone = '+00:00'")  # which it knows without its tables
            source = open_table(_rows_of(backend, rows, shown), shown)
        except Exception:
            backend.con.close()
            raise
        weakref.finalize(source, _close, backend.con)
        return source


def _close(connection: Any) -> None:
    # close a connection; SQLite refuses where garbage is collected by another thread
    import sqlite3

    with suppress(sqlite3.ProgrammingError):
        connection.close()


def open_table(table: Table, name: str | None) -> Source:
    import ibis

    backend = table.get_backend()
    shown = name or f"{backend.name} table"
    query = str(ibis.to_sql(table))
    if backend.name == "duckdb":
        from fairgauge.scan._duckdb_relation import open_relation

        return open_relation(backend.con.sql(query), shown)
    if backend.name in _DOUBLE:
        return Database(shown, table, query)
    from fairgauge.scan._narwhals import open_by_narwhals

    return open_by_narwhals(table, shown)


@dataclass(frozen=True)
class Database:
    """A table or a query of PostgreSQL, SQLite, MySQL or MariaDB, reached through ibis."""

    name: str
    table: Table
    rows: str

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.columns)

    def count(self, plan: Plan, limit: int) -> Cube:
        return count_by_sql(plan, self._source_sql, self._column_sql(), self._run, limit)

    streams: ClassVar[bool] = True

    def batches(self, plan: Plan) -> Iterator[Batch]:
        query = select_rows(plan, self._source_sql, self._column_sql())
        yield from record_batches(plan, self._run(query))

    def query(self, plan: Plan) -> str:
        return self._translate(select(plan, self._source_sql, self._column_sql()))

    @property
    def _source_sql(self) -> str:
        return ROWS if self._engine == "mysql" else f"({self.rows}) AS {ROWS}"

    def _translate(self, query: str) -> str:
        return translate(query, self.rows, "mysql") if self._engine == "mysql" else query

    @property
    def _engine(self) -> str:
        return str(self.table.get_backend().name)

    def _column_sql(self) -> Columns:
        kinds = dict(self.table.schema().items())
        double = _DOUBLE[self._engine]
        names = {column: identifier(column) for column in kinds}
        single = [column for column, kind in kinds.items() if kind.is_float32()]
        names |= {column: sql_double(names[column], double, "REAL") for column in single}

        def number(column: str) -> str:
            kind, name = kinds[column], names[column]
            if kind.is_boolean():
                return f"CASE WHEN {name} THEN 1.0 WHEN NOT {name} THEN 0.0 END"
            if not (kind.is_numeric() or kind.is_null()):
                raise NotNumeric(column, kind)
            value = f"CAST({name} AS {double})"
            return f"nullif({value}, 'NaN')" if self._engine == "postgres" else value

        def of_texts(column: str) -> tuple[str, str] | None:
            if not kinds[column].is_string():
                return None
            name = identifier(column)
            is_number = _IS_NUMBER["postgres" if self._engine == "postgres" else ""].format(name)
            nan = f"lower(trim({name})) = 'nan'"
            return (
                f"CASE WHEN {is_number} THEN CAST({name} AS {double}) END",
                f"CASE WHEN {is_number} OR {nan} THEN NULL ELSE {name} END",
            )

        def of_mysql(column: str) -> str:
            name, kind = names[column], kinds[column]
            if kind.is_timestamp() and kind.timezone:  # an instant, which is sent without a zone
                return f"CASE WHEN {name} IS NOT NULL THEN {_UTC.format(name)} END"
            return mark_text(name, "mysql") if kind.is_string() else name

        # a look at the first rows could run a costly query twice, so the database only counts
        return Columns(
            of_mysql if self._engine == FOLDED else names.__getitem__, number, of_texts=of_texts,
            double=double, sets=self._engine not in WITHOUT_SETS,
        )  # fmt: skip

    def _run(self, query: str) -> Iterator[Record]:
        connection = self.table.get_backend().con
        with _explain_database_errors(self.name, self.name):
            if self._engine == "sqlite":
                yield from connection.execute(query)
                return
            if self._engine == "mysql":
                with closing(connection.cursor()) as cursor:
                    cursor.execute(self._translate(query))
                    for record in cursor:
                        yield tuple(
                            v.removesuffix(MARK) if isinstance(v, str) else v for v in record
                        )
                return
            with connection.transaction(), connection.cursor("fairgauge") as cursor:
                cursor.execute(query)  # a named cursor sends its records in parts
                while records := cursor.fetchmany(FETCHED):
                    yield from records


def _rows_of(backend: BaseBackend, rows: str, shown: str) -> Table:
    from ibis.common.exceptions import TableNotFound

    if is_query(rows):
        # for a schema of its own finding, ibis creates a view, which a reader may not
        schema = _postgres_schema(backend, rows) if backend.name == "postgres" else None
        return backend.sql(rows, schema=schema)
    database, _, table = rows.rpartition(".")
    try:
        return backend.table(table, database=database or None)
    except TableNotFound:
        raise _missing_table_error(rows, shown, backend.list_tables()) from None


def _postgres_schema(backend: BaseBackend, query: str) -> dict[str, DataType]:
    types = backend.compiler.type_mapper
    with backend.con.cursor() as cursor:
        cursor.execute(f"SELECT * FROM (\n{query}\n) AS {ROWS} LIMIT 0")
        columns = cursor.description or ()
        registry = cursor.adapters.types
    check_unique_names([column.name for column in columns], "the query")
    schema = {}
    for column in columns:
        kind = registry.get(column.type_code)
        name = "text" if kind is None else kind.name  # an enum of the database's own
        is_array = kind is not None and kind.array_oid == column.type_code
        schema[column.name] = types.from_string(f"{name}[]" if is_array else name)
    return schema


def _missing_table_error(name: str, shown: str, tables: Iterable[str]) -> DataError:
    known = sorted(tables)
    holds = f"It has {listing(known)}" if known else "It has none"
    return DataError(f"no table {quote(name)} in {quote(shown)}.{suggest(name, known)} {holds}")


def _open_duckdb(url: str, rows: str, shown: str) -> Source:
    import duckdb

    from fairgauge.scan._duckdb_relation import open_relation

    with _explain_database_errors(shown, url):
        connection = duckdb.connect(
            _database_file(url), read_only=True, config=_SETTINGS | spilling()
        )
        if is_query(rows):
            return open_relation(connection.sql(rows), shown, connection)
        try:
            return open_relation(connection.table(rows), shown, connection)
        except duckdb.CatalogException:
            tables = connection.sql(
                "SELECT CASE WHEN table_schema = current_schema() THEN table_name "
                "ELSE table_schema || '.' || table_name END FROM information_schema.tables"
            ).fetchall()
            raise _missing_table_error(rows, shown, [name for (name,) in tables]) from None


def _open_sqlite(url: str) -> BaseBackend:
    # for reading alone: of a journal beside a file SQLite would write what stands in it into the
    # file, and remove the journal and what it names
    import sqlite3

    import ibis

    file = _database_file(url).resolve()
    beside = (file.with_name(file.name + end) for end in ("-journal", "-wal"))
    if journals := [each.name for each in beside if each.exists()]:
        raise DataError(
            f"{quote(file.name)} has a journal beside it ({quote(journals[0])}): another program "
            "writes it, or was ended while it did; files are opened for reading alone. End that "
            "program, or open a file of your own once in SQLite, which settles it; else copy the "
            "file alone, and read the copy"
        )
    with file.open("rb") as handle:  # one that keeps a log would be given one to read it
        kept = "immutable=1" if 2 in handle.read(20)[18:] else "mode=ro"
    return ibis.sqlite.from_connection(sqlite3.connect(f"{file.as_uri()}?{kept}", uri=True))


def _database_file(url: str) -> Path:
    # the file of a URL: ``sqlite:///here.db``, ``sqlite:////else/where.db``
    path = url.partition("://")[2].partition("?")[0]
    relative = Path(path.removeprefix("/"))
    for each in (relative, Path(path)):
        if each.is_file():
            return each
    scheme, _, named = shown_address(url).partition("://")
    relative = Path(named.removeprefix("/"))
    slashes = f"; an absolute path takes four slashes ({scheme}:////folder/{relative.name})"
    # which SQLite would make
    raise DataError(f"no file {quote(relative)}{'' if relative.is_absolute() else slashes}")


def _extra_for_url(url: str) -> str:
    scheme = url.partition(":")[0].partition("+")[0]
    extras = {"postgres": "postgres", "postgresql": "postgres", "sqlite": "sql"}
    return extras.get(scheme, f"ibis-framework[{scheme}]")


def _explain_database_errors(shown: str, url: str) -> AbstractContextManager[None]:
    def hide(message: str) -> str:
        try:
            urlsplit(url)
        except ValueError:  # of a part in brackets, which may be a password
            return "what stands in brackets is no IP address; escape a password (%5B, %5D)"
        message = message.replace(url, shown)
        rest, _, parameters = url.partition("://")[2].partition("?")
        password = rest.rpartition("@")[0].partition(":")[2]
        values = [each.partition("=")[2] for each in re.split("[&;]", parameters)]
        secret = [password, *(each for each in values if len(each) > _LONGEST_PLAIN)]
        forms = {form for each in secret for form in (each, unquote(each))} - {""}
        for form in sorted(forms, key=len, reverse=True):
            message = message.replace(form, "***")
        return message

    return explained_errors(shown, _extra_for_url(url), hide)
