"""DuckDB, in memory and without network: one connection for the life of the process."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

FETCHED = 65_536
"""How many records are fetched at a time."""

_CSV_ERRORS = {
    r"Expected Number of Columns: (\d+) Found: (\d+)": r"the header has \1 columns, this line \2",
    "unterminated quote": "a quote is not closed, or text follows a closing quote",
    "Invalid unicode|not utf-8": "not UTF-8 text; convert it, for example with iconv",
    "invalid state": "quotes or line ends are not those of a CSV file (RFC 4180)",
}


def run(query: str, name: str) -> Iterator[tuple[Any, ...]]:
    """Run a query and fetch its records, some at a time.

    Raises
    ------
    DataError
        The data cannot be read; ``name`` says which.
    """
    try:
        with _connection().cursor() as cursor:
            cursor.execute(query)
            while records := cursor.fetchmany(FETCHED):
                yield from records
    except duckdb.Error as error:
        raise DataError(f"cannot read {quote(name)}: {reason(error)}") from None


def reason(error: Exception) -> str:
    """Return what an engine said was wrong, short and without its query."""
    text = str(error).partition("\n\nLINE ")[0]
    line = re.search(r"CSV Error on Line: (\d+)", text)
    for said, meant in _CSV_ERRORS.items():
        found = re.search(said, text)
        if found:
            return f"{f'line {line[1]}: ' if line else ''}{found.expand(meant)}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = " ".join(lines[:3])
    kind, _, rest = said.partition(": ")
    return (rest if kind.endswith("Error") and rest else said)[:400]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """Open the connection: opening one costs as much as counting a million rows."""
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET autoinstall_known_extensions = false")
    return connection
