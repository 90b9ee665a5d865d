"""CSV files: every value is read as text; types are decided once all values are known."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, quote
from fairgauge.object_stores import open_unzipped
from fairgauge.scan._duckdb_relation import not_a_number, text_as_number
from fairgauge.scan._sql import Columns, literal
from fairgauge.scan.duckdb_files import DuckFiles, check_same_columns, listed
from fairgauge.scan.source import check_unique_names

if TYPE_CHECKING:
    from fairgauge.object_stores import Place
    from fairgauge.scan.source import Source

_SNIFFED_LINES = 1_000
_LONGEST_LINE = 1 << 22
_BUFFER = 1 << 23
_DELIMITERS = ",;\t|"


def open_csv(paths: list[Place], name: str) -> Source:
    """Open CSV files that have the same columns, in any order.

    Raises
    ------
    DataError
        A file has no header that can be read, a column twice, or other columns than the first.
    """
    dialects = [_dialect(path) for path in paths]
    columns = dialects[0].header
    for each in dialects[1:]:
        check_same_columns(columns, each.header, paths[0], each.path)
    alike: dict[tuple[str, tuple[str, ...]], list[Place]] = {}
    for each in dialects:
        alike.setdefault((each.delimiter, each.header), []).append(each.path)
    parts = [_read_csv(found, *dialect, columns) for dialect, found in alike.items()]
    # columns are named by position: DuckDB takes names that differ in case alone for the same
    position = {column: f"c{i}" for i, column in enumerate(columns)}
    written = Columns(
        key=lambda column: position[column],
        number=lambda column: text_as_number(position[column]),
        wrong=lambda column: not_a_number(position[column]),
        texts=frozenset(columns),
    )
    return DuckFiles(name, columns, f"({' UNION ALL '.join(parts)})", written)


def _read_csv(
    paths: list[Place], delimiter: str, header: tuple[str, ...], columns: tuple[str, ...]
) -> str:
    types = ", ".join(f"'h{i}': 'VARCHAR'" for i in range(len(header)))
    chosen = ", ".join(f"h{header.index(column)} AS c{i}" for i, column in enumerate(columns))
    return (
        f"SELECT {chosen} FROM read_csv({listed(paths)}, delim={literal(delimiter)}, quote='\"', "
        "escape='\"', header=true, nullstr='', auto_detect=false, strict_mode=true, "
        f"null_padding=false, max_line_size={_LONGEST_LINE}, "
        f"buffer_size={_BUFFER}, columns={{{types}}})"
    )


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What separates the columns of a CSV file, and their names."""

    path: Place
    delimiter: str
    header: tuple[str, ...]


def _dialect(path: Place) -> _Dialect:
    lines = _first_lines(path)
    delimiter = "\t" if ".tsv" in path.suffixes else _delimiter(lines[0])
    try:
        header = next(csv.reader(lines, delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        raise DataError(
            f"the header of {quote(path)} cannot be read: a quote is not closed"
        ) from None
    check_unique_names(header, quote(path))
    return _Dialect(path, delimiter, tuple(header))


def _delimiter(line: str) -> str:
    """Return what separates the names of a header: the one that is found most often."""
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _first_lines(path: Place) -> list[str]:
    try:
        with open_unzipped(path) as found, io.TextIOWrapper(found, "utf-8-sig", newline="") as text:
            lines = list(islice(text, _SNIFFED_LINES))
    except UnicodeDecodeError:
        raise DataError(
            f"{quote(path)} is not UTF-8 text; convert it, for example with iconv -f latin1 -t utf8"
        ) from None
    if not lines or not lines[0].strip():
        raise DataError(f"{quote(path)} has no header: its first line is empty")
    return lines
