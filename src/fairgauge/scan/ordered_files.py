"""Whole columns of CSV and Parquet files, in the order of the rows, typed as in a data frame.

Counting (`Source.count`) needs neither the rows nor their order. Replaying another system's job
needs both: its groups stand in the order in which their values first appear, and it compares rows.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Literal, TypeAlias

import duckdb
import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import NOT_UTF_8, DataError, listing, quote
from fairgauge.scan._duckdb_files import csv_rows, listed
from fairgauge.scan._duckdb_relation import FETCHED, engine_errors, spilling
from fairgauge.scan._sql import identifier, literal
from fairgauge.scan._tabular_files import line_end_of
from fairgauge.scan.input_files import check_readable, standard_input
from fairgauge.scan.row_access import numbers_of
from fairgauge.scan.source import Record

Codes = NDArray[np.int64]

ColumnType = Literal["text", "integer", "float", "boolean"]
Level: TypeAlias = str | bool | float

MISSING_TEXTS = frozenset(
    {"", "NA", "N/A", "n/a", "<NA>", "#N/A", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None"}
)
"""Texts of a CSV cell that mean "no value"."""

_STANDARD_INPUT = "-"
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*")
"""A whole number of as many digits as Python reads."""
_WHOLE = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
)  # fmt: skip
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
            with self._records("count(*)") as found:
                ((self._rows,),) = found
        return self._rows

    def encode(self, columns: Sequence[int]) -> list[Encoded]:
        """Read columns, by position, in one pass over the files.

        Raises
        ------
        DataError
            The files cannot be read.
        """
        wanted = list(dict.fromkeys(columns))
        places: list[dict[Level, int]] = [{} for _ in wanted]
        codes: list[list[Codes]] = [[np.zeros(0, dtype=np.int64)] for _ in wanted]
        with self._records(", ".join(_value(f"c{i}", self.types[i]) for i in wanted)) as found:
            while part := list(islice(found, FETCHED)):
                for place, held, values in zip(places, codes, zip(*part, strict=True), strict=True):
                    of_part = (-1 if v is None else place.setdefault(v, len(place)) for v in values)
                    held.append(np.fromiter(of_part, dtype=np.int64, count=len(values)))
        read = {
            i: _encoded(np.concatenate(held), list(place), self.types[i])
            for i, place, held in zip(wanted, places, codes, strict=True)
        }
        return [read[i] for i in columns]

    @contextmanager
    def _records(self, chosen: str) -> Iterator[Iterator[Record]]:
        """Open the rows in their order, some at a time."""
        settings = _SETTINGS | spilling()
        with engine_errors(self.name), duckdb.connect(config=settings) as connection:
            cursor = connection.execute(f"SELECT {chosen} FROM {self._relation}")
            yield chain.from_iterable(iter(lambda: cursor.fetchmany(FETCHED), []))


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
    if of in _WHOLE or of in ("BOOLEAN", "VARCHAR"):
        return column
    nested = of.endswith("]") or of.startswith(("STRUCT", "MAP"))
    return f"{column}{'::JSON' if nested else ''}::VARCHAR AS {column}"


def _encoded(codes: Codes, levels: Sequence[Level], of: str | None) -> Encoded:
    """Return a column in the type that its values have."""
    complete = len(levels) > 0 and bool((codes >= 0).all())
    if of is None:
        of = _type_of_texts([str(level) for level in levels])
    if of.startswith(_FLOATS) or (of in _WHOLE and not complete):
        return _relabelled(codes, [float(level) for level in levels], "float")
    if of in _WHOLE:
        return _relabelled(codes, [int(level) for level in levels], "integer")
    if of == "BOOLEAN":
        truths = [str(level).lower() == "true" for level in levels]
        return _relabelled(codes, truths, "boolean" if complete else "text")
    return Encoded("text", codes, tuple(levels))


def _relabelled(codes: Codes, levels: Sequence[Level], of: ColumnType) -> Encoded:
    """Put other values in the place of levels; equal ones become one, and NaN is missing."""
    position: dict[Level, int] = {}
    moved = [-1 if v != v else position.setdefault(v, len(position)) for v in levels]
    return Encoded(of, np.array([*moved, -1])[codes], tuple(position))


def _type_of_texts(texts: Sequence[str]) -> str:
    """Return the type of a CSV column: numbers or truth values if all its values are, else text."""
    if texts and all(map(_INTEGER.fullmatch, texts)):
        return "BIGINT"
    if not np.isnan(numbers_of([t for t in texts if t.strip().lower() != "nan"])).any():
        return "DOUBLE"  # a column without values is one of floats
    return "BOOLEAN" if {text.lower() for text in texts} <= {"true", "false"} else "VARCHAR"
