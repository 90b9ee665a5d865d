"""CSV, JSON, Parquet and Arrow (also called Feather) files, one or many, alone or in partitions.

Every value of a CSV or JSON file is read as text; types are decided once all values are known.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import tempfile
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.atomic_files import folder_of_process
from fairgauge.errors import NOT_UTF_8, DataError, FairgaugeError, listing, needing, quote
from fairgauge.object_stores import Place, open_unzipped
from fairgauge.scan._duckdb_relation import (
    PLACE,
    DuckRows,
    check_same_columns,
    csv_rows,
    last_of_times,
    list_paths_in_sql,
    reason,
    run,
    text_as_number,
    text_unless_number,
    typed_columns,
)
from fairgauge.scan._frames import open_frame
from fairgauge.scan._sql import Columns, literal
from fairgauge.scan.row_codes import has_arrow, numbers_of, sql_double, sql_double_of_half
from fairgauge.scan.source import MOST_COLUMNS, RECORDS, Record, Source, check_unique_names
from fairgauge.start.records import dataclass, replace

if TYPE_CHECKING:
    import pyarrow as pa

_SNIFFED_LINES, _SNIFFED, _LONGEST_LINE = 1_000, 1 << 24, 1 << 22
_DELIMITERS = ",;\t|"
_SMALL = 1 << 20  # bytes, of which a compressed file may hold more
_MOST_NAMES = 5


def open_csv(paths: list[Place], name: str, header_row: int = 0) -> Source:
    """Open CSV files that have the same columns, in any order; 0 is a header that is found."""
    dialects = [_dialect(path, header_row) for path in paths]
    _, _, columns, _ = dialects[0][1]
    check_same_columns({p: each[2] for p, (_, each) in zip(paths, dialects, strict=True)})
    alike: dict[_Dialect, list[Place]] = {}
    for below, each in dialects:
        alike.setdefault(each, []).append(below)
    parts = [_read_csv(found, dialect, columns) for dialect, found in alike.items()]
    # columns are named by position: DuckDB takes names that differ in case alone for the same
    position = {column: f"c{i}" for i, column in enumerate(columns)}
    unclear = {column for _, (*_, names) in dialects for column in names}
    texts = position | {  # refused where they are read as numbers
        column: f"if(regexp_full_match({c}, '{_GROUPED}'), {c} || ' (thousands?)', {c})"
        for column, c in position.items() if column in unclear
    }  # fmt: skip
    written = replace(_text_columns(position, texts), moment=last_of_times)
    # all of a small file is read as soon as its first rows
    small = len(paths) == 1 and isinstance(paths[0], Path) and paths[0].stat().st_size < _SMALL
    return DuckRows(name, columns, f"({' UNION ALL '.join(parts)})", written, looks=not small)


def _text_columns(keys: Mapping[str, str], texts: Mapping[str, str]) -> Columns:
    # how columns of text are written: as they are grouped by, and as texts that may be numbers
    return Columns(
        keys.__getitem__,
        number=keys.__getitem__,  # of none of them
        of_texts=lambda column: (text_as_number(texts[column]), text_unless_number(texts[column])),
        texts=frozenset(keys),
    )


def _read_csv(paths: list[Place], dialect: _Dialect, columns: tuple[str, ...]) -> str:
    delimiter, line_end, header, _ = dialect
    found = [f"h{header.index(column)}" for column in columns]
    if delimiter == ";":  # where numbers have decimal commas, they cannot separate cells
        comma = "CASE WHEN regexp_full_match({0}, '-?[0-9]+,[0-9]+')"
        comma += " THEN replace({0}, ',', '.') ELSE {0} END"
        found = [*map(comma.format, found)]
    chosen = ", ".join(f"{each} AS c{i}" for i, each in enumerate(found))
    names = [f"h{i}" for i in range(len(header))]
    return f"SELECT {chosen} FROM {csv_rows(paths, names, delimiter, line_end=line_end)}"


_Dialect: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""The delimiter, the line end and the columns of a file, and those that may have thousands."""
_GROUPED = "-?[1-9][0-9]{0,2}([.,][0-9]{3})+"


def _may_be_grouped(cells: Sequence[str], delimiter: str) -> bool:
    # 950 and 1.234, or 45.000 between semicolons, where a point is rarely one of decimals
    numbers = {*re.findall(r"^-?[0-9][0-9.,]*$", "\n".join(cells), re.MULTILINE)}
    marked = {n for n in numbers if "." in n} or {n for n in numbers if "," in n}
    grouped = bool(marked) and all(re.fullmatch(_GROUPED, number) for number in marked)
    below = all(re.fullmatch("-?[0-9]{1,3}(,[0-9]+)?", number) for number in numbers - marked)
    return grouped and below and (marked < numbers or (delimiter == ";" and "." in min(marked)))


def _dialect(path: Place, header_row: int) -> tuple[Place, _Dialect]:
    # the file from its header on, and its dialect
    lines = _first_lines(path)
    if header_row > len(lines):
        raise DataError(f"{quote(path)} has no line {header_row:,} among its first {len(lines):,}")
    above = header_row - 1 if header_row else lines_above(lines)
    stated = _SEPARATOR.fullmatch(lines[0].strip()) if above else None
    skipped, lines = lines[:above], lines[above:]
    first, line_end = _first_record(lines)
    delimiter = "\t" if ".tsv" in path.suffixes else delimiter_of(first)
    delimiter = stated[1] if stated else delimiter
    try:
        header = next(csv.reader(lines, delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        problem = f"the header of {quote(path)} cannot be read: a quote is not closed"
        raise DataError(problem) from None
    if header.count("") > 1:
        named = listing([name for name in header if name], _MOST_NAMES) or "nothing"
        raise DataError(
            f"the first line of {quote(path)}, which names its columns, leaves "
            f"{header.count('')} of {len(header)} without a name (it has {named}); name each "
            "column, or state the line of their names (--header-row N)"
        )
    check_unique_names(header, quote(path))
    RECORDS[str(path)].lines_above = above
    below = _below(path, "".join(skipped)) if above else path
    rows = (line.rstrip("\r\n").replace('"', "").split(delimiter) for line in lines[1:])
    cells = zip(*(row for row in rows if len(row) == len(header)), strict=True)
    unclear = (x for x, of in zip(header, cells, strict=False) if _may_be_grouped(of, delimiter))
    return below, (delimiter, line_end, tuple(header), tuple(unclear))


def _below(path: Place, above: str) -> Path:
    # copy what is below some lines: they may end otherwise than those of the table
    copy = Path(tempfile.mkdtemp(dir=folder_of_process())) / "below.csv"
    with open_unzipped(path) as found, copy.open("wb") as target:
        start = found.read(len(above.encode()) + len(BOM_UTF8))
        target.write(start.removeprefix(BOM_UTF8)[len(above.encode()) :])
        shutil.copyfileobj(found, target)
    return copy


_SEPARATOR, _QUOTED = re.compile(r"sep=([,;\t|])"), re.compile(r'"[^"]*"?')


def lines_above(lines: Sequence[str]) -> int:
    """Return how many lines are above the header of a table.

    A title is one text, or two where most lines have four cells or more
    (``Exported,2026-01-12``), above a line that names several columns and nothing else.
    """
    at = 0
    while at < len(lines) - 1 and (
        not (line := lines[at].strip()) or line.startswith("#") or _SEPARATOR.fullmatch(line)
    ):
        at += 1
    whole = takewhile(
        lambda line: line.count('"') % 2 == 0 and len(line) < _LONGEST_CELL, lines[at : at + 100]
    )
    rows = [_cells_of(line) for line in whole]
    widths = [len(cells) for cells in rows]
    width = max(dict.fromkeys(widths), key=widths.count, default=0)
    for more, cells in enumerate(rows[:_MOST_TITLES]):
        named = [cell for cell in cells if cell]
        if len(named) > (2 if width >= _LEAST_WIDTH and all(cells[:2]) else 1):
            texts = len(named) == len(cells) and all(math.isnan(n) for n in numbers_of(named))
            return at + more if texts else at
    return at


def _cells_of(line: str) -> list[str]:
    return [
        cell.strip() for row in csv.reader([line], delimiter=delimiter_of(line)) for cell in row
    ]


_MOST_TITLES, _LEAST_WIDTH, _LONGEST_CELL = 20, 4, 2**17


def _first_record(lines: Sequence[str]) -> tuple[str, str]:
    header = ""
    for count, line in enumerate(lines, 1):
        header += line
        if header.count('"') % 2 == 0:
            return header, line[len(line.rstrip("\r\n")) :] if count > 1 else ""
    return header, ""


def delimiter_of(line: str) -> str:
    outside = _QUOTED.sub("", line)
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
# Parquet: four bytes of magic at either end, and the four of the footer's length
_SMALLEST = 12


def open_parquet(paths: list[Place], name: str) -> Source:
    size = sum(map(_whole_size, paths))
    schemas = {path: _schema(path) for path in paths}
    first = schemas[paths[0]]
    alike: dict[_Schema, list[Place]] = {}
    check_same_columns({path: schema.names for path, schema in schemas.items()})
    for path, schema in schemas.items():
        alike.setdefault(schema, []).append(path)
    held = {path: _types_of_arrow(path) for path, *_ in alike.values()}
    parts = [
        _select_columns(found, replace(schema, kinds=tuple(
            held[found[0]][0].get(name, kind)
            for name, kind in zip(schema.names, schema.kinds, strict=True)
        )), first.names)
        for schema, found in alike.items()
    ]  # fmt: skip
    relation = f"({' UNION ALL '.join(parts)})"
    kinds = [str(record[1]) for record in run(f"DESCRIBE SELECT * FROM {relation}", name)]
    written = {c: (f"c{i}", kinds[i]) for i, c in enumerate(first.names)}
    columns = typed_columns(written, texts=frozenset(first.partitions))
    order = _stated_order(paths[0], held[paths[0]][1])
    return DuckRows(name, first.names, relation, columns, size, stated_order=order)


def _stated_order(path: Place, columns: list[str]) -> dict[str, list[object]]:
    # of ordered categories, which DuckDB reads as texts: their order is that of the first page
    if not (columns and has_arrow()):
        return {}
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file:
        part = next(ParquetFile(file).iter_batches(1, columns=columns), None)
    return {} if part is None else {name: part[name].dictionary.to_pylist() for name in columns}


def _select_columns(paths: list[Place], schema: _Schema, columns: tuple[str, ...]) -> str:
    # floats become the decimals that they stand for before files of other schemas join them
    names = ", ".join(f"h{i}" for i in range(len(schema.names)))
    held = ((column, schema.names.index(column)) for column in columns)
    chosen = (f"{_value_sql(schema, c, at)} AS c{i}" for i, (c, at) in enumerate(held))
    place = f"file_row_number AS {PLACE}"
    return f"SELECT {', '.join([*chosen, place])} FROM {_read_parquet_sql(paths)} AS held({names})"


def _value_sql(schema: _Schema, column: str, at: int) -> str:
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
# of a schema of Arrow: a type, and its units as whole numbers of which Parquet has durations
_DURATION, _UNITS = 18, ("{} * 1000000", "{} * 1000", "{}", "{} // 1000")
_DECIMALS |= {unit: f"to_microseconds({unit})".format for unit in _UNITS}


def _types_of_arrow(path: Place) -> tuple[dict[str, str], list[str]]:
    # the columns that hold durations, and those of ordered categories: Parquet has no such types,
    # and DuckDB sees whole numbers and texts where pyarrow, pandas and polars wrote some. Read
    # here: importing Arrow takes longer than counting
    try:
        return _read_types_of_arrow(path)
    except FairgaugeError:
        raise
    except (ValueError, IndexError):
        why = "what it holds of its types (ARROW:schema) is damaged; write it anew"
        raise DataError(f"cannot read {quote(str(path))}: {why}") from None


def _read_types_of_arrow(path: Place) -> tuple[dict[str, str], list[str]]:
    found = f"parquet_kv_metadata({list_paths_in_sql([path])}) WHERE key = 'ARROW:schema'::BLOB"
    held = b64decode(next(run(f"SELECT value FROM {found}", str(path)), (b"",))[0])
    if held[:4] != b"\xff" * 4:
        return {}, []

    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(held[at : at + size], "little", signed=size == 4)

    def follow(at: int) -> int:
        return at + number(at)

    def place(table: int, slot: int) -> int:  # of a field of a table of flatbuffers, 0 of none
        slots, at = table - number(table), 4 + 2 * slot
        offset = number(slots + at, 2) if at < number(slots, 2) else 0
        return offset and table + offset

    units: dict[str, str] = {}
    ordered = []
    fields = follow(place(follow(place(follow(8), 2)), 1))
    for i in range(1, min(number(fields), MOST_COLUMNS) + 1):
        column = follow(fields + 4 * i)
        name = follow(place(column, 0))
        text = held[name + 4 : name + 4 + min(number(name), 9_999)].decode(errors="replace")
        if number(place(column, 2), 1) == _DURATION:
            unit = place(follow(place(column, 3)), 0)
            units[text] = _UNITS[number(unit, 2) if unit else 1]
        encoding = place(column, 4)
        if encoding and (flag := place(follow(encoding), 2)) and number(flag, 1):
            ordered.append(text)
    return units, ordered


MISSING_PARTITION = "NULL"
# what DuckDB, and Hive and Spark, name the folder of the rows without a value
_MISSING_PARTITIONS = (MISSING_PARTITION, "__HIVE_DEFAULT_PARTITION__")


def _read_parquet_sql(paths: list[Place]) -> str:
    options = "hive_partitioning=true, hive_types_autocast=false"
    return f"read_parquet({list_paths_in_sql(paths)}, {options})"


def _whole_size(path: Place) -> int:
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
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    partitions: tuple[str, ...]


def _schema(path: Place) -> _Schema:
    query = "SELECT name, num_children, logical_type, precision FROM parquet_schema"
    tree = _top_level(list(run(f"{query}({list_paths_in_sql([path])})", str(path))))
    names = [str(name) for name, *_ in tree]
    check_unique_names(names, quote(path))
    described = list(run(f"DESCRIBE SELECT * FROM {_read_parquet_sql([path])}", str(path)))
    partitions = [str(record[0]) for record in described[len(names) :]]
    kinds = [str(record[1]) for record in described]
    for i, (_, _, logical, precision) in enumerate(tree):
        if logical == "Float16Type()":
            kinds[i] = _HALF
        elif (precision or 0) > _MOST_DIGITS:
            kinds[i] = f"{_WIDE}{precision} digits"
    return _Schema((*names, *partitions), tuple(kinds), tuple(partitions))


def _top_level(tree: list[Record]) -> list[Record]:
    # the children of the root of a schema, which is listed depth first
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
    with needing("arrow", "reading .arrow and .feather files"):
        import pyarrow as pa
    from fairgauge.scan._plain_arrow import put_together

    tables = {path: _read_arrow(path) for path in paths}
    check_same_columns({path: table.column_names for path, table in tables.items()})
    try:
        return open_frame(put_together([*tables.values()]), name)
    except pa.ArrowException as error:
        raise DataError(f"cannot read {quote(name)} together: {reason(error)}") from None


def _read_arrow(path: Place) -> pa.Table:
    import pyarrow as pa
    from pyarrow import ipc

    try:
        local = isinstance(path, Path)
        with pa.memory_map(str(path)) if local else pa.PythonFile(path.open("rb")) as held:
            is_file = held.read(len(_ARROW)) == _ARROW  # which would be lengths of a stream
            held.seek(0)
            return (ipc.open_file if is_file else ipc.open_stream)(held).read_all()
    except (pa.ArrowException, OSError):
        what = "truncated, or not an Arrow file (of Feather, version 2)"
        raise DataError(f"{quote(path)} is {what}") from None


_SNIFFED_OF_JSON = 1 << 20
_LARGEST_OBJECT = 1 << 24
_MOST_KEYS = 1_000

Keys = tuple[str, ...]

_OF_BBQ = {"amb_bias_score", "doc.context_condition", "doc.category", "doc.question_index"}
_BIASED, _ANSWERED = (f"CAST(json ->> '/amb_bias_score/{i}' AS DOUBLE)" for i in (1, 2))
# Columns that samples of lm-eval's BBQ have beside their own: whose means are the scores of Parrish
# et al. (2022), 1 for a biased answer, -1 for the other, in ambiguous contexts 0 for unknown; and
# the template of the question.
_BBQ = {
    "bbq.score": f"CASE WHEN {_ANSWERED} = 1 THEN 2 * {_BIASED} - 1 "
    "WHEN (json ->> '/doc/context_condition') LIKE 'amb%' THEN 0 END",
    "bbq.template": "concat_ws(' ', json ->> '/doc/category', json ->> '/doc/question_index')",
}


def open_json(paths: list[Place], name: str) -> Source:
    """Open JSON files; the columns are the keys of the first objects of each."""
    held = {path: _keys_of_columns(path) for path in paths}
    pointers = {column: keys for found in held.values() for column, keys in found.items()}
    # keys as JSON pointers, in which no character is special but these two
    escaped = {c: [k.replace("~", "~0").replace("/", "~1") for k in pointers[c]] for c in pointers}
    listed = {c: literal("".join(f"/{key}" for key in keys)) for c, keys in escaped.items()}
    written_as = {c: f"json -> {pointer}" for c, pointer in listed.items()}
    as_text = {c: f"(json ->> {pointer})" for c, pointer in listed.items()}
    if pointers.keys() >= _OF_BBQ:
        listed = {}
        written_as |= {column: f"to_json({value})" for column, value in _BBQ.items()}
        as_text |= {column: f"CAST({value} AS VARCHAR)" for column, value in _BBQ.items()}
    columns = tuple(written_as)
    objects = "SELECT json FROM read_json_objects({}, format={})"
    shapes = ["array" if _first_text(path, 1 << 10).lstrip()[:1] == "["
              else "unstructured" if ".json" in path.suffixes else "newline_delimited"
              for path in paths]  # fmt: skip
    of_paths = zip(paths, map(literal, shapes), strict=True)
    parts = [objects.format(list_paths_in_sql([path]), shape) for path, shape in of_paths]
    written = replace(_text_columns(written_as, as_text), decode=_decode_json_value)
    absent = {c: path for path, found in held.items() for c in pointers if c not in found}
    rows = f"({' UNION ALL '.join(parts)})"
    return DuckRows(name, columns, rows, written, absent=absent, pointers=listed)


def _first_text(path: Place, length: int) -> str:
    try:
        with open_unzipped(path) as found, io.TextIOWrapper(found, "utf-8-sig") as text:
            return text.read(length)
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None


def _keys_of_columns(path: Place) -> dict[str, Keys]:
    # the columns with their keys: ``doc.category`` is that of the object ``doc``
    found = [*_objects(_first_text(path, _SNIFFED_OF_JSON))] or [
        *_objects(_first_text(path, _LARGEST_OBJECT))
    ]
    columns: dict[str, Keys] = {}
    for pairs in found:
        if not isinstance(pairs, _Pairs):
            raise DataError(f"{quote(path)} must hold objects, each a row, not {quote(pairs)}")
        columns |= _nested_keys(pairs, path)
    check_unique_names(columns, quote(path), _MOST_KEYS)
    if not columns:
        raise DataError(f"{quote(path)} holds no JSON objects with columns, or is truncated")
    return columns


def _nested_keys(pairs: _Pairs, path: Place, depth: int = 8) -> dict[str, Keys]:
    # the keys of an object, and those of objects in it unless it has one of their name; their names
    # grow with the square of the depth
    check_unique_names([name for name, _ in pairs], quote(path), _MOST_KEYS)
    inside = {
        f"{name}.{column}": (name, *keys)
        for name, value in pairs
        if isinstance(value, _Pairs) and depth
        for column, keys in _nested_keys(value, path, depth - 1).items()
    }
    return {name: (name,) for name, _ in pairs} | {
        column: keys for column, keys in inside.items() if column not in dict(pairs)
    }


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object, as they were written."""


def _objects(head: str) -> Iterator[object]:
    decoder, at = json.JSONDecoder(object_pairs_hook=_Pairs), 0
    body = head.lstrip().removeprefix("[")
    while True:
        while at < len(body) and body[at] in " \t\r\n,":
            at += 1
        try:
            found, at = decoder.raw_decode(body, at)
        except ValueError:
            return
        except RecursionError:
            raise DataError("a row of JSON is nested too deeply; give texts and numbers") from None
        yield found


def _decode_json_value(text: str | None) -> object:
    if text in (None, "null", "NaN"):  # which is no JSON, but what Python writes
        return None
    if text[:1] in ('"', "[", "{"):
        return json.loads(text)
    return {"true": True, "false": False}.get(text, text)
