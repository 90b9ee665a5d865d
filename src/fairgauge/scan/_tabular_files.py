"""CSV, Parquet and Arrow (also called Feather) files, one or many, alone or in partitions.

Every value of a CSV file is read as text; types are decided once all values are known.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import tempfile
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import NOT_UTF_8, DataError, MissingExtra, listing, quote
from fairgauge.object_stores import open_unzipped
from fairgauge.scan._duckdb_files import DuckFiles, check_same_columns, csv_rows, listed
from fairgauge.scan._duckdb_relation import (
    last_of_times,
    not_a_number,
    reason,
    run,
    text_as_number,
    typed_columns,
)
from fairgauge.scan._file_records import RECORDS
from fairgauge.scan._frames import open_frame
from fairgauge.scan._short_floats import sql_double, sql_double_of_half
from fairgauge.scan._sql import Columns, literal
from fairgauge.scan.source import Record, check_unique_names
from fairgauge.temporary_files import folder_of_process

if TYPE_CHECKING:
    import pyarrow as pa

    from fairgauge.object_stores import Place
    from fairgauge.scan.source import Source

_SNIFFED_LINES, _SNIFFED, _LONGEST_LINE = 1_000, 1 << 24, 1 << 22
_DELIMITERS = ",;\t|"
_MOST_NAMES = 5


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
    alike: dict[tuple[str, str, tuple[str, ...]], list[Place]] = {}
    for each in dialects:
        alike.setdefault((each.delimiter, each.line_end, each.header), []).append(each.path)
    parts = [_read_csv(found, *dialect, columns) for dialect, found in alike.items()]
    # columns are named by position: DuckDB takes names that differ in case alone for the same
    position = {column: f"c{i}" for i, column in enumerate(columns)}
    written = Columns(
        key=lambda column: position[column],
        number=lambda column: text_as_number(position[column]),
        wrong=lambda column: not_a_number(position[column]),
        texts=frozenset(columns),
        moment=last_of_times,
    )
    return DuckFiles(name, columns, f"({' UNION ALL '.join(parts)})", written)


def _read_csv(
    paths: list[Place],
    delimiter: str,
    line_end: str,
    header: tuple[str, ...],
    columns: tuple[str, ...],
) -> str:
    chosen = ", ".join(f"h{header.index(column)} AS c{i}" for i, column in enumerate(columns))
    names = [f"h{i}" for i in range(len(header))]
    return f"SELECT {chosen} FROM {csv_rows(paths, names, delimiter, line_end=line_end)}"


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What separates the columns of a CSV file, and their names; see `csv_rows`."""

    path: Place
    delimiter: str
    line_end: str
    header: tuple[str, ...]


def _dialect(path: Place) -> _Dialect:
    lines = _first_lines(path)
    above = _lines_above(lines)
    stated = _SEPARATOR.fullmatch(lines[0].strip()) if above else None
    skipped, lines = lines[:above], lines[above:]
    first, line_end = _first_record(lines)
    delimiter = "\t" if ".tsv" in path.suffixes else delimiter_of(first)
    delimiter = stated[1] if stated else delimiter
    try:
        header = next(csv.reader(lines, delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        raise DataError(
            f"the header of {quote(path)} cannot be read: a quote is not closed"
        ) from None
    if header.count("") > 1:
        named = listing([name for name in header if name], _MOST_NAMES) or "nothing"
        raise DataError(
            f"the first line of {quote(path)}, which names its columns, leaves "
            f"{header.count('')} of {len(header)} without a name (it has {named}); name each "
            "column, and remove lines above their names"
        )
    check_unique_names(header, quote(path))
    RECORDS[str(path)].lines_above = above
    below = _below(path, "".join(skipped)) if above else path
    return _Dialect(below, delimiter, line_end, tuple(header))


def _below(path: Place, above: str) -> Path:
    """Copy what is below some lines: they may end otherwise than those of the table."""
    copy = Path(tempfile.mkdtemp(dir=folder_of_process())) / "below.csv"
    with open_unzipped(path) as found, copy.open("wb") as target:
        start = found.read(len(above.encode()) + len(BOM_UTF8))
        rest = start.removeprefix(BOM_UTF8)[len(above.encode()) :]
        target.write(rest)
        shutil.copyfileobj(found, target)
    return copy


_SEPARATOR = re.compile(r"sep=([,;\t|])")


def _lines_above(lines: Sequence[str]) -> int:
    """Return how many lines are above the header: ``sep=;``, empty ones, comments and titles.

    A title is one text alone, above a line that names several columns and nothing else.
    """
    at = 0
    while at < len(lines) - 1 and (
        not (line := lines[at].strip()) or line.startswith("#") or _SEPARATOR.fullmatch(line)
    ):
        at += 1
    for more, line in enumerate(lines[at : at + _MOST_TITLES]):
        if line.count('"') % 2:
            return at  # a text of several lines, whose end is not known here
        cells = next(csv.reader([line], delimiter=delimiter_of(line)), [])
        named = [cell for cell in map(str.strip, cells) if cell]
        if len(named) > 1:
            texts = len(named) == len(cells) and not any(map(_is_number, named))
            return at + more if texts else at
    return at


_MOST_TITLES = 20


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first_record(lines: Sequence[str]) -> tuple[str, str]:
    """Return the lines of the header, and their end where there are several."""
    header = ""
    for count, line in enumerate(lines, 1):
        header += line
        if header.count('"') % 2 == 0:
            return header, line[len(line.rstrip("\r\n")) :] if count > 1 else ""
    return header, ""


def delimiter_of(line: str) -> str:
    """Return what separates the names of a header: the one that is found most often."""
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _first_lines(path: Place) -> list[str]:
    try:
        with open_unzipped(path) as found, io.TextIOWrapper(found, "utf-8-sig", newline="") as text:
            size, lines = 0, list[str]()
            while size < _SNIFFED and len(lines) < _SNIFFED_LINES:
                if not (line := text.readline(_LONGEST_LINE)):
                    break
                lines.append(line)
                size += len(line)
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None
    if any(len(line) == _LONGEST_LINE for line in lines):
        raise DataError(f"{quote(path)} has a line of more than {_LONGEST_LINE:,} characters")
    if not any(map(str.strip, lines)):
        raise DataError(f"{quote(path)} has no header: its first lines are empty")
    return lines


_MAGIC, _ARROW = b"PAR1", b"ARROW1"
_SMALLEST = 12


def open_parquet(paths: list[Place], name: str) -> Source:
    """Open Parquet files that have the same columns, in any order.

    Raises
    ------
    DataError
        A file is truncated, has a column twice, or other columns than the first.
    """
    size = sum(map(_whole_size, paths))
    schemas = {path: _schema(path) for path in paths}
    first = schemas[paths[0]]
    alike: dict[_Schema, list[Place]] = {}
    for path, schema in schemas.items():
        check_same_columns(first.names, schema.names, paths[0], path)
        alike.setdefault(schema, []).append(path)
    parts = [_read(found, schema, first.names) for schema, found in alike.items()]
    relation = f"({' UNION ALL '.join(parts)})"
    kinds = [str(record[1]) for record in run(f"DESCRIBE SELECT * FROM {relation}", name)]
    written = {
        c: (f"c{i}", kind) for i, (c, kind) in enumerate(zip(first.names, kinds, strict=True))
    }
    columns = typed_columns(written, texts=frozenset(first.partitions))
    return DuckFiles(name, first.names, relation, columns, size)


def _read(paths: list[Place], schema: _Schema, columns: tuple[str, ...]) -> str:
    """Write files of one schema as columns c0, c1 ...: by position, names may differ in case.

    Floats become the decimals that they stand for before files of other schemas join them.
    """
    names = ", ".join(f"h{i}" for i in range(len(schema.names)))
    held = ((column, schema.names.index(column)) for column in columns)
    chosen = (f"{_value(schema, c, at)} AS c{i}" for i, (c, at) in enumerate(held))
    return f"SELECT {', '.join(chosen)} FROM {_rows(paths)} AS held({names})"


def _value(schema: _Schema, column: str, at: int) -> str:
    value, kind = f"h{at}", schema.kinds[at]
    if column in schema.partitions:
        missing = ", ".join(map(literal, _MISSING_PARTITIONS))
        return f"CASE WHEN {value} NOT IN ({missing}) THEN {value} END"
    if kind.startswith(_WIDE):  # which DuckDB 1 reads as a wrong double
        wrong = (
            f"the type of column {quote(column)} is {kind}, more than DuckDB reads "
            f"({_MOST_DIGITS}); make it a decimal of fewer, a double or a text, or give the frame "
            "that pyarrow reads in place of the files"
        )
        return f"CASE WHEN {value} IS NOT NULL THEN error({literal(wrong)}) END"
    return _DECIMALS.get(kind, str)(value)


_HALF, _WIDE, _MOST_DIGITS = "FLOAT16", "decimals of ", 38
_DECIMALS = {"FLOAT": sql_double, _HALF: sql_double_of_half}
MISSING_PARTITION = "NULL"
_MISSING_PARTITIONS = (MISSING_PARTITION, "__HIVE_DEFAULT_PARTITION__")
"""What DuckDB, and Hive and Spark, name the folder of the rows without a value."""


def _rows(paths: list[Place]) -> str:
    options = "hive_partitioning=true, hive_types_autocast=false"
    return f"read_parquet({listed(paths)}, {options})"


def _whole_size(path: Place) -> int:
    """Return the size of a file that begins and ends as Parquet does."""
    with path.open("rb") as handle:
        start = handle.read(4)
        size = handle.seek(0, 2)
        handle.seek(max(size - 4, 0))
        end = handle.read(4)
    if (start, end) != (_MAGIC, _MAGIC) or size < _SMALLEST:
        raise DataError(f"{quote(path)} is truncated, or not a Parquet file")
    return size


@dataclass(frozen=True, slots=True)
class _Schema:
    """The columns of a file; partitions come last, as text."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    partitions: tuple[str, ...]


def _schema(path: Place) -> _Schema:
    query = "SELECT name, num_children, logical_type, precision FROM parquet_schema"
    tree = _top_level(list(run(f"{query}({listed([path])})", str(path))))
    names = [str(name) for name, *_ in tree]
    check_unique_names(names, quote(path))
    described = list(run(f"DESCRIBE SELECT * FROM {_rows([path])}", str(path)))
    partitions = [str(record[0]) for record in described[len(names) :]]
    kinds = [str(record[1]) for record in described]
    for i, (_, _, logical, precision) in enumerate(tree):
        if logical == "Float16Type()":
            kinds[i] = _HALF
        elif (precision or 0) > _MOST_DIGITS:
            kinds[i] = f"{_WIDE}{precision} digits"
    return _Schema((*names, *partitions), tuple(kinds), tuple(partitions))


def _top_level(tree: list[Record]) -> list[Record]:
    """Return the children of the root of a schema, which is listed depth first."""
    top: list[Record] = []
    inside = 0
    for record in tree[1:]:
        if inside == 0:
            top.append(record)
        else:
            inside -= 1
        inside += int(record[1] or 0)
    return top


def open_arrow(paths: list[Place], name: str) -> Source:
    """Open Arrow files or streams that have the same columns, in any order.

    Raises
    ------
    DataError
        A file is truncated, or has other columns than the first.
    MissingExtra
        pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra("reading .arrow and .feather files", "arrow", error) from None
    from fairgauge.scan._plain_arrow import put_together

    tables = [_read_arrow(path) for path in paths]
    for path, table in zip(paths[1:], tables[1:], strict=True):
        check_same_columns(tables[0].column_names, table.column_names, paths[0], path)
    try:
        return open_frame(put_together(tables), name)
    except pa.ArrowException as error:
        raise DataError(f"cannot read {quote(name)} together: {reason(error)}") from None


def _read_arrow(path: Place) -> pa.Table:
    import pyarrow as pa
    from pyarrow import ipc

    try:
        local = isinstance(path, Path)
        with pa.memory_map(str(path)) if local else pa.PythonFile(path.open("rb")) as held:
            is_file = held.read(len(_ARROW)) == _ARROW  # whose start would be lengths of a stream
            held.seek(0)
            return (ipc.open_file if is_file else ipc.open_stream)(held).read_all()
    except (pa.ArrowException, OSError):
        raise DataError(f"{quote(path)} is truncated, or not an Arrow file") from None
