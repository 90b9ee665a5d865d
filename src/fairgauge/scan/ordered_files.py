"""Whole columns of CSV and Parquet files, in the order of the rows, typed as in a data frame.

Counting (`Source.count`) needs neither the rows nor their order. Replaying another system's job
needs both: its groups stand in the order in which their values first appear, and it compares rows.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Literal, TypeAlias

import duckdb
import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import NOT_UTF_8, DataError, listing, quote
from fairgauge.scan._duckdb_files import csv_rows, listed
from fairgauge.scan._duckdb_relation import engine_errors, spilling
from fairgauge.scan._sql import identifier, literal
from fairgauge.scan._tabular_files import line_end_of
from fairgauge.scan.input_files import check_readable, standard_input
from fairgauge.scan.source import Record

Codes = NDArray[np.int64]

ColumnType = Literal["text", "integer", "float", "boolean"]
Level: TypeAlias = str | bool | float

MISSING_TEXTS = frozenset(
    {"", "NA", "N/A", "n/a", "<NA>", "#N/A", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None"}
)
"""Texts of a CSV cell that mean "no value"."""

_STANDARD_INPUT = "-"
_INTEGER_DIGITS = 18
"""Whole numbers of so many digits fit into 64 bits; longer ones are read as Python reads them."""
_SMALL_TABLE = 1_000_000
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
_FLOATS = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One column as codes.

    Attributes
    ----------
    type : what a data frame would take it for.
    codes : array of shape (rows,): positions in ``levels``, -1 where the value is missing.
    levels : its values, each once, in the order in which they first appear.
    """

    type: ColumnType
    codes: Codes
    levels: tuple[Level, ...]


class OrderedFiles:
    """Files of the same columns, one below the other.

    Attributes
    ----------
    name : what is read, in messages.
    types : the DuckDB type of every column; None for the text of a CSV file.
    """

    def __init__(self, name: str, relation: str, types: Sequence[str | None]) -> None:
        self.name = name
        self.types = tuple(types)
        self._relation = relation
        self._rows: int | None = None

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        if self._rows is None:
            self.encode([])
        assert self._rows is not None
        return self._rows

    def encode(self, columns: Sequence[int]) -> list[Encoded]:
        """Read columns, by position, in one pass over the files.

        Raises
        ------
        DataError
            The files cannot be read.
        """
        with engine_errors(self.name), duckdb.connect(config=_SETTINGS | spilling()) as connection:
            kept = ", ".join(_value(f"c{i}", self.types[i]) for i in dict.fromkeys(columns))
            connection.execute(
                f"CREATE TEMP TABLE kept AS SELECT {kept or '1'} FROM {self._relation}"
            )
            self._rows = _one(connection, "SELECT count(*) FROM kept")[0]
            return [_encode(connection, f"c{i}", self.types[i]) for i in columns]


_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "preserve_insertion_order": "true",
    "autoinstall_known_extensions": "false",
}


def first_rows(path: Path, most: int) -> list[list[str]]:
    """Return the cells of the first rows of a CSV file, without blank lines."""
    check_readable(path, "csv")
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, mode="rt", encoding="utf-8-sig", newline="") as handle:
            rows = list(islice((row for row in csv.reader(handle, strict=True) if row), most))
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None
    except csv.Error as error:
        raise DataError(f"{quote(path)} is not a whole CSV file: {error}") from None
    if not rows:
        raise DataError(f"{quote(path)} is empty")
    return rows


def local_copy(path: Path) -> Path:
    """Return the path itself, or a file that holds standard input for ``-``."""
    return standard_input() if str(path) == _STANDARD_INPUT else path


def ordered_csv(files: Sequence[tuple[Path, bool]], width: int, name: str) -> OrderedFiles:
    """Read CSV files: comma-separated, UTF-8, every row as wide as the first.

    Parameters
    ----------
    files : sequence of (Path, bool)
        Every file, and whether its first row is a header.
    width : int
        The number of columns.
    name : str
        What is read, in messages.
    """
    columns = [f"c{i}" for i in range(width)]
    # a blank line is no row; in a file of one column it reads as a missing cell
    blank = " WHERE c0 IS NOT NULL" if width == 1 else ""
    tables = [
        csv_rows(paths, columns, header=header, quoted_nulls=False, line_end=end)
        for header, end, paths in _alike(files)
    ]
    parts = [f"(SELECT * FROM {table}{blank})" for table in tables]
    return OrderedFiles(name, f"({' UNION ALL '.join(parts)})", [None] * width)


def _alike(files: Sequence[tuple[Path, bool]]) -> Iterator[tuple[bool, str, list[Path]]]:
    """Put neighbouring files that are read alike together."""
    ends = [(header, line_end_of(path) if header else "", path) for path, header in files]
    for (header, end), group in groupby(ends, key=lambda each: each[:2]):
        yield header, end, [path for *_, path in group]


def ordered_parquet(paths: Sequence[Path], name: str) -> tuple[OrderedFiles, list[str]]:
    """Read Parquet files; return also the names of their columns."""
    schemas = [_schema(path) for path in paths]
    names = list(schemas[0])
    for path, schema in zip(paths[1:], schemas[1:], strict=True):
        check_same_names(names, list(schema), paths[0], path)
    columns = ", ".join(f"{identifier(column)} AS c{i}" for i, column in enumerate(names))
    relation = f"(SELECT {columns} FROM read_parquet({listed(paths)}))"
    return OrderedFiles(name, relation, list(schemas[0].values())), names


def check_same_names(names: list[str], found: list[str], first: Path, path: Path) -> None:
    """Check that a further file has the columns of the first, in the same order."""
    if found != names:
        raise DataError(
            f"the files have different columns: {listing(names)} in {quote(first)} and "
            f"{listing(found)} in {quote(path)}"
        )


def _schema(path: Path) -> dict[str, str]:
    query = f"DESCRIBE SELECT * FROM read_parquet({listed([path])})"
    with engine_errors(str(path)), duckdb.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(query).fetchall()}


def _value(column: str, of: str | None) -> str:
    """Return SQL for a column with its missing values as NULL."""
    if of is None:
        missing = ", ".join(literal(text) for text in sorted(MISSING_TEXTS))
        # not IN: DuckDB turns a long one into a join, and a join loses the order of the rows
        return f"CASE WHEN NOT list_contains([{missing}], {column}) THEN {column} END AS {column}"
    if of.startswith(_FLOATS):
        return f"nullif({column}::DOUBLE, 'nan'::DOUBLE) AS {column}"
    if of in _INTEGERS:
        return f"{column}::BIGINT AS {column}"
    if of in ("BOOLEAN", "VARCHAR"):
        return column
    nested = of.endswith("]") or of.startswith(("STRUCT", "MAP"))
    return f"{column}{'::JSON' if nested else ''}::VARCHAR AS {column}"


def _encode(connection: duckdb.DuckDBPyConnection, column: str, of: str | None) -> Encoded:
    """Read a column in the type that its values have."""
    if of is None:
        of = _type_of_texts(connection, column)
    if of.startswith(_FLOATS):
        return _numbers(connection, column, "DOUBLE")
    if of in _INTEGERS:
        missing = _one(connection, f"SELECT count(*) > count({column}) FROM kept")[0]
        return _numbers(connection, column, "DOUBLE" if missing else "BIGINT")
    texts = _texts(connection, column)
    complete = bool((texts.codes >= 0).all()) and len(texts.levels) > 0
    if of == "BOOLEAN":
        truths = [str(level).lower() == "true" for level in texts.levels]
        return _relabelled(texts.codes, truths, "boolean" if complete else "text")
    if of in _WIDE:
        numbers = [int(level) if complete else float(level) for level in texts.levels]
        return _relabelled(texts.codes, numbers, "integer" if complete else "float")
    return texts


def _relabelled(codes: Codes, levels: Sequence[Level], of: ColumnType) -> Encoded:
    """Put other values in the place of levels; equal ones become one."""
    position: dict[Level, int] = {}
    moved = [position.setdefault(level, len(position)) for level in levels]
    return Encoded(of, np.array([*moved, -1])[codes], tuple(position))


def _type_of_texts(connection: duckdb.DuckDBPyConnection, column: str) -> str:
    """Return the type of a CSV column: numbers or truth values if all its values are, else text."""
    count, whole, longest, number, truth = _one(
        connection,
        f"SELECT count(*), bool_and(regexp_full_match({column}, '\\s*[+-]?[0-9]+\\s*')), "
        f"max(length({column})), "
        f"bool_and(TRY_CAST({column} AS DOUBLE) IS NOT NULL AND NOT contains({column}, '_')), "
        f"bool_and(lower({column}) IN ('true', 'false')) FROM kept WHERE {column} IS NOT NULL",
    )
    if whole:
        return "BIGINT" if longest <= _INTEGER_DIGITS else "HUGEINT"
    if number or not count:  # a column without values is one of floats
        return "DOUBLE"
    return "BOOLEAN" if truth else "VARCHAR"


def _numbers(connection: duckdb.DuckDBPyConnection, column: str, of: str) -> Encoded:
    missing = "'nan'::DOUBLE" if of == "DOUBLE" else "0"
    query = f"SELECT coalesce({column}::{of}, {missing}) AS numbers FROM kept"
    numbers = np.asarray(connection.execute(query).fetchnumpy()["numbers"])
    if of == "BIGINT":
        return Encoded("integer", *_factorised(numbers))
    known = ~np.isnan(numbers)
    codes = np.full(len(numbers), -1, dtype=np.int64)
    codes[known], levels = _factorised(numbers[known])
    return Encoded("float", codes, levels)


def _factorised(numbers: NDArray[np.number]) -> tuple[Codes, tuple[float, ...]]:
    """Return numbers as codes, and the distinct ones in the order of their first appearance."""
    rows = len(numbers)
    whole = rows > 0 and numbers.dtype == np.int64
    low, high = (int(numbers.min()), int(numbers.max())) if whole else (0, 0)
    if whole and high - low <= max(rows, _SMALL_TABLE):  # a table is faster than sorting
        places, unique = numbers - low, np.arange(low, high + 1)
        first = np.full(len(unique), rows)
        first[places[::-1]] = np.arange(rows - 1, -1, -1)
    else:
        unique, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    order = order[: np.count_nonzero(first < rows)]
    code = np.empty(len(unique), dtype=np.int64)
    code[order] = np.arange(len(order))
    return code[places], tuple(unique[order].tolist())


def _texts(connection: duckdb.DuckDBPyConnection, column: str) -> Encoded:
    """Let DuckDB number the texts: an ENUM is a dictionary of them."""
    distinct = (
        f"SELECT {column}::VARCHAR AS level FROM kept WHERE {column} IS NOT NULL "
        "GROUP BY 1 ORDER BY min(rowid)"
    )
    levels = tuple(row[0] for row in connection.execute(distinct).fetchall())
    if not levels:
        rows = _one(connection, "SELECT count(*) FROM kept")[0]
        return Encoded("text", np.full(rows, -1, dtype=np.int64), ())
    connection.execute(f"CREATE TYPE {column}_levels AS ENUM ({distinct})")
    query = (
        f"SELECT coalesce(enum_code({column}::VARCHAR::{column}_levels)::BIGINT, -1) AS codes "
        "FROM kept"
    )
    codes = np.asarray(connection.execute(query).fetchnumpy()["codes"])
    return Encoded("text", codes.astype(np.int64), levels)


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> Record:
    row: Record | None = connection.execute(query).fetchone()
    assert row is not None
    return row
