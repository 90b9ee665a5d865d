"""Whole columns of CSV, JSON, JSON lines and Parquet files, in the order of their rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.compat.columns import Column, Kind, from_texts, from_values
from fairgauge.compat.uri_paths import STANDARD_INPUT
from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.scan import open_source
from fairgauge.scan.duckdb_connection import run
from fairgauge.scan.duckdb_files import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

EVERYTHING = sys.maxsize


def read_text(path: Path) -> str:
    """Return the text of a file, of a .gz file, or of standard input.

    Raises
    ------
    DataError
        It cannot be read, or is not UTF-8.
    """
    try:
        if str(path) == STANDARD_INPUT:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        if path.suffix == ".gz":
            with gzip.open(path) as handle:
                return handle.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text") from None
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {quote(path)}: {error}") from None


def csv_rows(path: Path, limit: int = EVERYTHING) -> list[list[str]]:
    """Return the rows of a CSV file, without empty lines.

    Raises
    ------
    DataError
        Rows have different lengths, or a quote is never closed.
    """
    try:
        reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
        rows = list(islice((row for row in reader if row), limit))
    except csv.Error as error:
        raise DataError(f"{quote(path)} is not a whole CSV file: {error}") from None
    if not rows:
        raise DataError(f"{quote(path)} is empty")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise DataError(
                f"{quote(path)} is ragged: row {number:,} has {len(row)} cells, the first "
                f"{len(rows[0])}"
            )
    return rows


def csv_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Turn rows of cells into columns."""
    if not rows:
        return [from_texts(name, ()) for name in names]
    return [
        from_texts(name, cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]


def json_lines(path: Path, limit: int = EVERYTHING) -> Iterator[Any]:
    """Return the objects of a JSON lines file.

    Raises
    ------
    DataError
        A line is not JSON.
    """
    lines = (line for line in read_text(path).splitlines() if line.strip())
    for number, line in enumerate(islice(lines, limit), start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise DataError(f"{quote(path)} line {number:,} is not JSON: {error}") from None


def json_document(path: Path) -> Any:
    """Return a JSON file as one value.

    Raises
    ------
    DataError
        It is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise DataError(f"{quote(path)} is not JSON: {error}") from None


def parquet_columns(paths: Sequence[Path], limit: int = EVERYTHING) -> list[Column]:
    """Return the columns of Parquet files, in the order of files and rows.

    Raises
    ------
    DataError
        A file is no Parquet file, or the files have different columns.
    """
    return stack([_parquet(path, limit) for path in paths])


def _parquet(path: Path, limit: int) -> list[Column]:
    names = open_source(str(path)).columns
    read = f"read_parquet({listed([path])}, file_row_number=true)"
    query = f"SELECT * FROM {read} ORDER BY file_row_number LIMIT {limit}"
    records = list(run(query, str(path)))
    cells = list(zip(*records, strict=True)) or [()] * len(names)
    return [
        from_values(name, map(_plain, values)) for name, values in zip(names, cells, strict=False)
    ]


def _plain(value: Any) -> Any:
    """Return dates and the like as text, lists and objects as JSON, decimals as floats."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=str)
    return float(value) if isinstance(value, Decimal) else str(value)


def search(path: str, where: str) -> Any:
    """Compile a JMESPath.

    Raises
    ------
    DataError
        It is not a JMESPath.
    MissingExtra
        The jmespath library is not installed.
    """
    try:
        import jmespath
        from jmespath.exceptions import JMESPathError
    except ImportError as error:
        raise MissingExtra("reading JSON by JMESPath", "clarify", error) from None
    try:
        return jmespath.compile(path)
    except JMESPathError as error:
        message = " ".join(str(error).split())
        raise DataError(f"{where}: {quote(path)} is not a JMESPath: {message}") from None


def matrix_columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Column]:
    """Turn rows of values into columns."""
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    return [from_values(name, values) for name, values in zip(names, cells, strict=True)]


def stack(parts: Sequence[list[Column]]) -> list[Column]:
    """Put the columns of several files below one another.

    Raises
    ------
    DataError
        The files have different columns.
    """
    names = [column.name for column in parts[0]]
    for part in parts[1:]:
        if [column.name for column in part] != names:
            found = listing(column.name for column in part)
            raise DataError(f"the files have different columns: {listing(names)} and {found}")
    if len(parts) == 1:
        return parts[0]
    return [_below([part[i] for part in parts]) for i in range(len(names))]


def _below(columns: Sequence[Column]) -> Column:
    kinds = {column.kind for column in columns}
    levels = [level for column in columns for level in column.levels]
    offsets = np.cumsum([0, *(len(column.levels) for column in columns)])
    codes = [
        np.where(c.codes < 0, -1, c.codes + offset)
        for c, offset in zip(columns, offsets.tolist(), strict=False)
    ]
    both = Column(columns[0].name, Kind.OTHER, np.concatenate(codes), tuple(levels))
    if len(kinds) == 1:
        return both.relabel(levels, kinds.pop())
    if kinds == {Kind.INTEGER, Kind.FLOAT}:
        return both.relabel([float(level) for level in levels], Kind.FLOAT)
    return both.relabel([str(level) for level in levels], Kind.TEXT)
