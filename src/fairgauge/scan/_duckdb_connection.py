"""DuckDB, in memory and without network: one connection for the life of the process."""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from fairgauge.errors import DataError, quote
from fairgauge.scan.scan_progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.scan.scan_progress import Rows
    from fairgauge.scan.source import Record


def unknown() -> None:
    """Return None: the number of rows is unknown."""


FETCHED = 65_536
"""How many records are fetched at a time."""

_OURS = re.compile(r"\bDataError: (.*?)\s*(?:\n\s*At:|\Z)", re.DOTALL)
"""An error of ours that passed through DuckDB, which called us to read an object."""

_CSV_ERRORS = {
    r"Expected Number of Columns: (\d+) Found: (\d+)": r"the header has \1 columns, this line \2",
    "unterminated quote": "a quote is not closed, or text follows a closing quote",
    "Invalid unicode|not utf-8": "not UTF-8 text; convert it, for example with iconv",
    "Maximum line size": "a line is longer than 4 MB",
    "invalid state": "quotes or line ends are not those of a CSV file (RFC 4180)",
}


def run(query: str, name: str, rows: Rows = unknown) -> Iterator[Record]:
    """Run a query and fetch its records, some at a time.

    Parameters
    ----------
    name : what is read, in messages.
    rows : function
        Returns how many rows are read, or None; asked only when the scan takes long.

    Raises
    ------
    DataError
        The data cannot be read.
    KeyboardInterrupt
        The user interrupted the query.
    """
    with engine_errors(name), _connection().cursor() as cursor:
        with progress("Counting rows", lambda: cursor.query_progress() / 100, rows):
            _execute(cursor, query)
        while records := cursor.fetchmany(FETCHED):
            yield from records


def record_batches(query: str, name: str, rows: int) -> Iterator[Any]:
    """Run a query and yield its result as Arrow record batches, without holding all of it."""
    with engine_errors(name), _connection().cursor() as cursor:
        yield from arrow_reader(cursor.execute(query), rows)


def arrow_reader(found: Any, rows: int) -> Iterator[Any]:
    """Return the record batches of a result; DuckDB 1.5 has renamed what makes them."""
    make = getattr(found, "to_arrow_reader", None) or found.fetch_record_batch
    yield from make(rows)


def _execute(cursor: duckdb.DuckDBPyConnection, query: str) -> None:
    """Run a query in a thread of its own, and stop it where this thread is interrupted.

    In the main thread DuckDB reacts to Ctrl-C only between tasks, and a task can take minutes.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        try:
            pool.submit(cursor.execute, query).result()
        except BaseException:
            cursor.interrupt()
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
            raise KeyboardInterrupt from None
        raise


def reason(error: Exception) -> str:
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


@cache
def read_objects() -> None:
    """Let the connection open objects of stores."""
    from fairgauge.scan._duckdb_objects import ObjectFiles

    _connection().register_filesystem(ObjectFiles())


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """Open the connection: opening one costs as much as counting a million rows."""
    settings = {
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        # a file written anew within the clock's grain would be answered from memory
        "enable_external_file_cache": "false",
        "temp_directory": str(Path(tempfile.gettempdir()) / "fairgauge-duckdb"),
    }
    connection = duckdb.connect(config=settings)
    connection.execute("SET enable_progress_bar = true")  # so that it knows how far it is
    connection.execute("SET enable_progress_bar_print = false")
    return connection
