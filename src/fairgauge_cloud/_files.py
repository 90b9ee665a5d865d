"""Where a configuration's URIs are on this machine, and the rows or the JSON in their files.

Columns are whole and in the order of the rows, typed as in a data frame: groups stand in the order
in which their values first appear, and the flip test compares rows.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import math
import re
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fairgauge.errors import (
    NOT_UTF_8,
    DataError,
    Problem,
    alternatives,
    cause,
    listing,
    needing,
    quote,
    refuse,
    shown_address,
    suggest,
)
from fairgauge.plugins import read_limited
from fairgauge_cloud._facet_counts import CodedColumn, Codes, Kind, Table, from_values

with needing("cloud-formats", "the formats of SageMaker Clarify and Vertex AI"):
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

STANDARD_INPUT = "-"
MOST_OF_CONFIGURATION = 1_000_000
"""Bytes of the configuration of a service; YAML of more takes long to read."""
MISSING_TEXTS = frozenset(
    {"", "NA", "N/A", "n/a", "<NA>", "#N/A", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None"}
)
"""Texts of a CSV cell that mean "no value"."""
_LARGEST, _MOST_FILES, _MOST_COPIES = 1_000_000_000, 100_000, 1_000
_REMOTE = ("s3://", "gs://", "bq://", "https://", "http://")
# a whole number of as many digits as Python reads
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*")


@dataclass(frozen=True, slots=True)
class Places:
    """Folders for remote prefixes, and the folder that relative paths start from."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    base: Path = Path()

    def files(self, uri: str) -> list[Path]:
        """Return the files of a URI: itself, those of a glob in its last part, or of a folder."""
        if uri == STANDARD_INPUT:
            return [Path(uri)]
        path, folder = self._local(uri)
        if path.is_dir():
            found = sorted(islice(path.rglob("*"), _MOST_FILES + 1))
            if len(found) > _MOST_FILES:
                raise DataError(f"{quote(uri)} is a folder of more than {_MOST_FILES:,} files")
            hidden = (".", "_")
            found = [p for p in found if p.is_file() and not any(
                part.startswith(hidden) for part in p.relative_to(path).parts
            )]  # fmt: skip
        else:
            pattern = f"{glob.escape(str(path.parent))}/{path.name}"
            found = [path] if path.exists() else [*map(Path, sorted(glob.glob(pattern)))]  # noqa: PTH207
        if folder and not all(p.resolve().is_relative_to(folder.resolve()) for p in (path, *found)):
            raise DataError(f"{quote(uri)} leads out of the folder of --map, by '..' or a link")
        if not found:
            what = "no file in the folder" if path.is_dir() else "no file"
            raise DataError(f"{what} {quote(path)}" + f" (of {quote(uri)})" * (str(path) != uri))
        return found

    def _local(self, uri: str) -> tuple[Path, Path | None]:
        # where a URI is, and the folder of --map that it must not leave
        for prefix in sorted(self.folders, key=len, reverse=True):
            rest = uri.removeprefix(prefix)
            if rest != uri and (not rest or rest.startswith("/") or prefix.endswith("/")):
                return (folder := self.folders[prefix]) / rest.lstrip("/"), folder
        if uri.startswith(_REMOTE):
            scheme, _, rest = uri.partition("://")
            bucket = rest.split("/")[0]
            raise DataError(
                f"{quote(uri)} is not on this machine; name its folder: "
                f"--map {scheme}://{bucket}=FOLDER"
            )
        return self.base / uri.removeprefix("file://"), None


def read_maps(texts: Iterable[str]) -> dict[str, Path]:
    """Read ``s3://bucket/prefix=FOLDER``, several times."""
    found: dict[str, Path] = {}
    problems = []
    for i, text in enumerate(texts):
        prefix, equals, folder = text.partition("=")
        if not equals or not prefix or not folder or "?" in prefix:  # of a secret, perhaps
            shown = quote(shown_address(text))
            message = f"must be PREFIX=FOLDER, for example s3://bucket=data, not {shown}"
            problems.append(Problem(f"--map[{i}]", message))
        elif not Path(folder).exists():
            problems.append(Problem(f"--map[{i}]", f"there is no folder {quote(folder)}"))
        else:
            found[prefix] = Path(folder)
    refuse(problems)
    return found


def read_text(path: Path, most: int = _LARGEST) -> str:
    """Return the text of a file, of a .gz file, or of standard input: of at most so many bytes."""
    try:
        if str(path) == STANDARD_INPUT:
            content = sys.stdin.buffer.read(most + 1)
        elif path.suffix.lower() == ".gz":
            packed = read_limited(path, most, "such a text")
            content = gzip.GzipFile(fileobj=io.BytesIO(packed)).read(most + 1)
        else:
            content = read_limited(path, most, "such a text")
    except (OSError, EOFError) as error:
        raise DataError(f"cannot read {quote(path)}: {cause(error)}") from None
    if len(content) > most:
        raise DataError(f"{quote(path)} has more than {most:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{quote(path)} is {NOT_UTF_8}") from None


def json_lines(path: Path) -> Iterator[object]:
    """Return the values of a JSON lines file, one a line, without blank lines."""
    lines = (line for line in read_text(path).split("\n") if line.strip())
    for number, line in enumerate(lines, start=1):
        yield _parse_json(line, f"{quote(path)} line {number:,}")


def json_document(path: Path) -> object:
    return _parse_json(read_text(path), quote(path))


def _parse_json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is not JSON: {error}") from None


def compiled_path(path: str, where: str) -> object:
    """Compile a JMESPath; its ``search`` returns what it finds in a JSON value, or None."""
    with needing("cloud-formats", "reading JSON by JMESPath"):
        import jmespath
    try:
        compiled = jmespath.compile(path)
        copies = _copies_made(compiled.parsed)
    except (ValueError, RecursionError) as error:
        message = " ".join(str(error).split())
        raise DataError(f"{where}: {quote(path)} is not a JMESPath: {message}") from None
    if copies > _MOST_COPIES:
        message = f"may hold what it finds more than {_MOST_COPIES:,} times, as with join"
        raise DataError(f"{where}: the JMESPath {quote(path)} {message}")
    return compiled


_SIDE_BY_SIDE = ("multi_select_list", "multi_select_dict", "function_expression")


def _copies_made(node: Mapping[str, Any]) -> int:
    # how often the result of a JMESPath can hold what is found: steps that each double it multiply
    if node["type"] == "function_expression" and node["value"] in ("join", "to_string"):
        return _MOST_COPIES + 1  # marks of JSON in JSON double, too
    if node["type"] == "literal":  # a copy for each element of a projection
        return json.dumps(node["value"]).count(",") + 1
    combine = sum if node["type"] in _SIDE_BY_SIDE else math.prod
    steps = (each for each in node["children"] if isinstance(each, dict))  # not ends of slices
    return max(combine(_copies_made(each) for each in steps), 1)


def csv_rows(path: Path) -> Iterator[list[str]]:
    reader, width = csv.reader(io.StringIO(read_text(path), newline=""), strict=True), 0
    try:
        for row in filter(None, reader):
            width = width or len(row)
            if len(row) != width:
                raise DataError(
                    f"cannot read {quote(path)}: line {reader.line_num}: the header has {width} "
                    f"columns, this line {len(row)}"
                )
            yield row
    except csv.Error as error:
        raise DataError(f"{quote(path)} is not a whole CSV file: {error}") from None
    if not width:
        raise DataError(f"{quote(path)} is empty")


def code_columns(
    rows: Iterable[Sequence[str]], names: Sequence[str], wanted: Collection[str | None]
) -> Table:
    """Return the wanted columns of rows of texts."""
    places = [i for i, name in enumerate(names) if name in wanted]
    known: list[dict[str, int]] = [{} for _ in places]
    codes: list[array[int]] = [array("q") for _ in places]
    for row in rows:
        for i, levels, held in zip(places, known, codes, strict=True):
            text = row[i]
            held.append(-1 if text in MISSING_TEXTS else levels.setdefault(text, len(levels)))
    return {
        names[i]: _infer_type(names[i], np.array(held, dtype=np.int64), list(levels))
        for i, levels, held in zip(places, known, codes, strict=True)
    }


def _infer_type(name: str, codes: Codes, texts: list[str]) -> CodedColumn:
    # give the texts of a CSV column their type: numbers or truth values if all of them are
    column = CodedColumn(name, Kind.TEXT, codes, tuple(texts))
    complete = bool(texts) and bool((codes >= 0).all())
    if complete and all(map(_INTEGER.fullmatch, texts)):
        return column.relabel([int(text) for text in texts], Kind.INTEGER)
    numbers = [cell_number(text) for text in texts]
    if None not in numbers:  # a column without values is one of floats
        return column.relabel(numbers, Kind.FLOAT)
    if {text.lower() for text in texts} <= {"true", "false"}:
        truths = [text.lower() == "true" for text in texts]
        return column.relabel(truths, Kind.BOOLEAN if complete else Kind.TEXT)
    return column


def plain_key(text: str) -> str:
    """Return the text of a key, of a number without what is no part of it."""
    number = int(text) if _INTEGER.fullmatch(text) else cell_number(text)
    return text if number is None else str(number)


def cell_number(text: str) -> float | None:
    """Return the number of a cell; None where it holds none."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def read_parquet_files(
    files: Sequence[Path], headers: Sequence[str] | None
) -> tuple[list[str], Table]:
    """Return the names of the columns of Parquet files, and the columns."""
    import duckdb

    try:
        with duckdb.connect() as connection:
            schemas = [connection.read_parquet(glob.escape(str(path.absolute()))) for path in files]
            for path, schema in zip(files, schemas, strict=True):
                check_same_names(schemas[0].columns, schema.columns, files[0], path)
            names, width = list(headers or schemas[0].columns), len(schemas[0].columns)
            if len(names) != width:
                raise DataError(f"headers: {WRONG_HEADERS} {len(names)} names, but {width} columns")
            table = {}
            for name, column, of in zip(names, schemas[0].columns, schemas[0].types, strict=True):
                quoted = '"' + column.replace('"', '""') + '"'
                parts = [s.project(f"{_plain_expression(quoted, str(of))} AS c") for s in schemas]
                table[name] = from_values(
                    name, (value for part in parts for (value,) in part.fetchall())
                )
    except duckdb.Error as error:
        text = str(error).partition("\n")[0]
        raise DataError(f"cannot read {quote(files[0])}: {text}") from None
    return names, table


def _plain_expression(column: str, of: str) -> str:
    if of.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return f"{column}::DOUBLE"
    if of.endswith(("INT", "INTEGER")) or of in ("BOOLEAN", "VARCHAR"):
        return column
    nested = of.endswith("]") or of.startswith(("STRUCT", "MAP"))
    return f"{column}{'::JSON' if nested else ''}::VARCHAR"


WRONG_HEADERS = "Headers in config do not match with the number of columns in the dataset."


def check_same_names(names: Sequence[str], found: Sequence[str], first: Path, path: Path) -> None:
    """Check that a further file has the columns of the first, in the same order."""
    if list(found) != list(names):
        raise DataError(
            f"the files have different columns: {listing(names)} in {quote(first)} and "
            f"{listing(found)} in {quote(path)}"
        )


def find(names: Sequence[str], asked: str | int | None) -> str | None:
    if isinstance(asked, int):
        return names[asked] if 0 <= asked < len(names) else None
    return asked if asked in names else None


# ---- what pydantic finds wrong, as fairgauge reports it

_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "int_from_float": "a whole number",
}


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return every mistake once, also where a value could have been one of several types."""
    found: dict[str, list[ErrorDetails]] = {}
    for each in error.errors(include_url=False):
        parts = (
            f"[{p}]" if isinstance(p, int) else "" if _TAG.fullmatch(p) else f".{p}"
            for p in each["loc"]
        )
        found.setdefault("".join(parts).removeprefix("."), []).append(each)
    return [Problem(path, _message(each, model)) for path, each in found.items()]


# the tag of a part of a union, which is no part of a path
_TAG = re.compile(
    r"(strict-)?(str|int|float|bool)|list\[.*|dict\[.*|function-.*|constrained-.*|literal\[.*"
)


def _message(found: list[ErrorDetails], model: type[BaseModel]) -> str:
    first = found[0]
    if first["type"] == "missing":
        return "is required"
    if first["type"] == "extra_forbidden":
        schema = model.model_json_schema()
        parts = (schema, *schema.get("$defs", {}).values())
        names = dict.fromkeys(name for part in parts for name in part.get("properties", ()))
        return f"unknown key.{suggest(first['loc'][-1], [*names])}"
    given = first["input"]
    if first["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", first["ctx"]["expected"])
        return (
            f"{quote(given)} is not allowed.{suggest(given, allowed)} Allowed: {listing(allowed)}"
        )
    kinds = dict.fromkeys(_KINDS.get(each["type"], each["msg"]) for each in found)
    return f"must be {alternatives(kinds)}, not {quote(given)}"
