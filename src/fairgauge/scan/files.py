"""Files: CSV, JSON and Parquet read by DuckDB, Arrow by pyarrow or polars, and standard input."""

from __future__ import annotations

import atexit
import csv
import glob
import gzip
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError, MissingExtra, listing, quote
from fairgauge.scan.relation import typed_columns
from fairgauge.scan.sql import Columns, count_by_sql, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.cube import Cube
    from fairgauge.plan import Plan
    from fairgauge.scan.source import Source

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_SNIFFED_LINES = 1_000


def open_files(data: str | Path | Sequence[str | Path]) -> Source:
    """Open a path, a glob, several of them, or ``-`` for standard input.

    Raises
    ------
    DataError
        No such file, an unknown format, files of different formats, or an unreadable header.
    """
    asked = [data] if isinstance(data, (str, Path)) else list(data)
    paths = [path for each in asked for path in _paths(str(each))]
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise DataError(f"files of different formats cannot be read together: {listing(paths)}")
    for path in paths:
        _check_readable(path)
    name = ", ".join(str(each) for each in asked)
    kind = formats.pop()
    if kind == "arrow":
        return _open_arrow(paths, name)
    return {"csv": _open_csv, "json": _open_json, "parquet": _open_parquet}[kind](paths, name)


@dataclass(frozen=True)
class DuckFiles:
    """Files that DuckDB reads."""

    name: str
    columns: tuple[str, ...]
    relation: str
    written: Columns = field(repr=False)

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        return count_by_sql(plan, self.relation, self.written, self._run, limit)

    def _run(self, query: str) -> list[tuple[Any, ...]]:
        return run_duckdb(query, self.name)


def run_duckdb(query: str, name: str) -> list[tuple[Any, ...]]:
    """Run a query on a connection of its own."""
    import duckdb

    try:
        with duckdb.connect() as connection:
            connection.execute("SET preserve_insertion_order = false")
            return connection.execute(query).fetchall()
    except duckdb.Error as error:
        raise DataError(f"cannot read {quote(name)}: {_first_lines(error)}") from None


def _paths(asked: str) -> list[Path]:
    if asked == "-":
        return [_standard_input()]
    if Path(asked).exists():
        return [Path(asked)]
    found = sorted(glob.glob(asked, recursive=True)) if any(c in asked for c in "*?[") else []  # noqa: PTH207
    if not found:
        raise DataError(f"no file {quote(asked)}")
    return [Path(each) for each in found]


def _format(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes[-2:]]
    last = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else "".join(suffixes[-1:])
    if last not in FORMATS:
        raise DataError(f"cannot tell the format of {quote(path)}; known: {', '.join(FORMATS)}")
    return FORMATS[last]


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{quote(path)} is a folder; name its files, for example {path}/*.parquet")
    try:
        with path.open("rb") as handle:
            if not handle.read(1):
                raise DataError(f"{quote(path)} is empty")
    except OSError as error:
        raise DataError(f"cannot read {quote(path)}: {error.strerror}") from None
    if path.suffix == ".gz":
        _check_whole_gzip(path)


def _check_whole_gzip(path: Path) -> None:
    """Read a compressed file to its end: a cut-off one would otherwise pass as a shorter one."""
    try:
        with gzip.open(path) as handle:
            while handle.read(1 << 20):
                pass
    except (OSError, EOFError):
        raise DataError(f"{quote(path)} is cut off or not a gzip file") from None


def _standard_input() -> Path:
    """Copy standard input to a temporary file, so that it can be looked at and then scanned."""
    folder = Path(tempfile.mkdtemp(prefix="fairgauge-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    stream = sys.stdin.buffer
    head = stream.read(1 << 16)
    path = folder / ("stdin.jsonl" if head.lstrip()[:1] in (b"{", b"[") else "stdin.csv")
    with path.open("wb") as handle:
        handle.write(head)
        shutil.copyfileobj(stream, handle)
    if not head:
        raise DataError("standard input is empty")
    return path


def _open_csv(paths: list[Path], name: str) -> Source:
    dialects = [_Dialect(path) for path in paths]
    columns = dialects[0].header
    for each in dialects[1:]:
        _same_columns(columns, each.header, paths[0], each.path)
    by_dialect: dict[tuple[str, tuple[str, ...]], list[_Dialect]] = {}
    for each in dialects:
        by_dialect.setdefault((each.delimiter, each.header), []).append(each)
    # columns are named by position: DuckDB takes names that differ in case alone for the same
    parts = [_read_csv(alike, columns) for alike in by_dialect.values()]
    position = {column: f"c{i}" for i, column in enumerate(columns)}
    written = Columns(
        key=lambda column: position[column],
        number=lambda column: f"TRY_CAST({position[column]} AS DOUBLE)",
        texts=True,
    )
    return DuckFiles(name, columns, f"({' UNION ALL '.join(parts)})", written)


def _read_csv(dialects: list[_Dialect], columns: tuple[str, ...]) -> str:
    header = dialects[0].header
    files = ", ".join(literal(str(each.path)) for each in dialects)
    names = ", ".join(literal(f"h{i}") for i in range(len(header)))
    options = (
        f"delim={literal(dialects[0].delimiter)}, quote='\"', escape='\"', header=true, "
        f"all_varchar=true, strict_mode=true, null_padding=false, nullstr='', "
        f"names=[{names}], auto_detect=false, columns={{"
        + ", ".join(f"{literal(f'h{i}')}: 'VARCHAR'" for i in range(len(header)))
        + "}"
    )
    options = options.replace(f"names=[{names}], ", "")
    chosen = ", ".join(f"h{header.index(column)} AS c{i}" for i, column in enumerate(columns))
    return f"SELECT {chosen} FROM read_csv([{files}], {options})"


@dataclass(frozen=True)
class _Dialect:
    """The header of a CSV file, and what separates its columns."""

    path: Path

    @cached_property
    def delimiter(self) -> str:
        if ".tsv" in self.path.suffixes:
            return "\t"
        line = self._first_line
        return "," if "," in line else next((d for d in (";", "\t", "|") if d in line), ",")

    @cached_property
    def header(self) -> tuple[str, ...]:
        try:
            names = next(csv.reader(self._head, delimiter=self.delimiter, strict=True))
        except (csv.Error, StopIteration):
            raise DataError(f"the header of {quote(self.path)} cannot be read") from None
        twice = sorted({each for each in names if names.count(each) > 1})
        if twice:
            raise DataError(f"{quote(self.path)} has the column {quote(twice[0])} twice")
        return tuple(names)

    @cached_property
    def _first_line(self) -> str:
        return self._head[0]

    @cached_property
    def _head(self) -> list[str]:
        opened = partial(gzip.open, mode="rt") if self.path.suffix == ".gz" else open
        try:
            with opened(self.path, encoding="utf-8-sig", newline="") as handle:  # type: ignore[operator]
                lines = [line for _, line in zip(range(_SNIFFED_LINES), handle, strict=False)]
        except UnicodeDecodeError:
            raise DataError(f"{quote(self.path)} is not UTF-8 text") from None
        if not lines or not lines[0].strip():
            raise DataError(f"{quote(self.path)} has no header")
        return lines


def _same_columns(first: tuple[str, ...], other: Iterable[str], path: Path, second: Path) -> None:
    missing, more = set(first) - set(other), set(other) - set(first)
    if missing or more:
        what = (
            f"lacks {listing(sorted(missing))}" if missing else f"has {listing(sorted(more))} more"
        )
        raise DataError(
            f"the files have different columns: {quote(second)} {what} than {quote(path)}"
        )


def _open_json(paths: list[Path], name: str) -> Source:
    headers = [_json_columns(path) for path in paths]
    for path, columns in zip(paths[1:], headers[1:], strict=True):
        _same_columns(headers[0], columns, paths[0], path)
    files = ", ".join(literal(str(path)) for path in paths)
    relation = f"(SELECT json FROM read_json_objects([{files}], format='auto'))"
    written = Columns(
        key=lambda column: _json_value(column),
        number=lambda column: f"TRY_CAST({_json_value(column, text=True)} AS DOUBLE)",
        texts=True,
        decode=_decode_json,
    )
    return DuckFiles(name, headers[0], relation, written)


def _json_value(column: str, *, text: bool = False) -> str:
    path = literal("$." + json.dumps(column, ensure_ascii=False))
    value = f"json {'->>' if text else '->'} {path}"
    return f"CASE WHEN (json ->> {path}) <> '' THEN {value} END"


def _json_columns(path: Path) -> tuple[str, ...]:
    opened = gzip.open if path.suffix == ".gz" else open
    keys: dict[str, None] = {}
    try:
        with opened(path, "rt", encoding="utf-8-sig") as handle:  # type: ignore[operator]
            head = handle.read(1 << 20)
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is not UTF-8 text") from None
    decoder, at = json.JSONDecoder(), 0
    body = head.lstrip()
    body = body[1:] if body[:1] == "[" else body
    while at < len(body):
        while at < len(body) and body[at] in " \t\r\n,":
            at += 1
        try:
            record, at = decoder.raw_decode(body, at)
        except ValueError:
            break
        if not isinstance(record, dict):
            raise DataError(f"{quote(path)} must hold objects with columns, not {quote(record)}")
        keys |= dict.fromkeys(record)
    if not keys:
        raise DataError(f"{quote(path)} holds no JSON objects with columns, or is cut off")
    return tuple(keys)


def _decode_json(text: str | None) -> Any:
    """Return strings and whole numbers as their text, true and false as they are."""
    if text is None or text == "null":
        return None
    if text[:1] == '"':
        return json.loads(text)
    return {"true": True, "false": False}.get(text, text)


def _open_parquet(paths: list[Path], name: str) -> Source:
    files = ", ".join(literal(str(path)) for path in paths)
    schemas = run_duckdb(
        "SELECT file_name, list(path_in_schema) FROM (SELECT DISTINCT file_name, "
        f"path_in_schema FROM parquet_metadata([{files}])) GROUP BY 1",
        name,
    )
    described = run_duckdb(f"DESCRIBE SELECT * FROM read_parquet([{literal(str(paths[0]))}])", name)
    columns = tuple(record[0] for record in described)
    for path, found in schemas:
        _same_columns(columns, {str(each).split(", ")[0] for each in found}, paths[0], Path(path))
    relation = f"read_parquet([{files}], union_by_name={'true' if len(paths) > 1 else 'false'})"
    return DuckFiles(name, columns, relation, typed_columns())


def _open_arrow(paths: list[Path], name: str) -> Source:
    from fairgauge.scan.frames import open_frame

    try:
        import pyarrow as pa
        from pyarrow import feather
    except ImportError:
        raise MissingExtra("reading .arrow and .feather files", "arrow") from None
    try:
        tables = [feather.read_table(path, memory_map=True) for path in paths]
        for path, table in zip(paths[1:], tables[1:], strict=True):
            _same_columns(tuple(tables[0].column_names), table.column_names, paths[0], path)
        return open_frame(pa.concat_tables(tables, promote_options="permissive"), name)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"cannot read {quote(name)}: {_first_lines(error)}") from None


def _first_lines(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:500]
