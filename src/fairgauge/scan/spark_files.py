"""Files that Spark reads: their formats, and CSV and JSON as the file reader types them."""

from __future__ import annotations

import csv
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, listing, quote
from fairgauge.scan._file_listing import list_files
from fairgauge.scan._tabular_files import MISSING_PARTITION, delimiter_of
from fairgauge.scan.source import Opened, check_unique_names
from fairgauge.scan.spark import SparkFrame, spark_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

_FILES = {
    ".parquet": "parquet", ".orc": "orc", ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".csv": "csv", ".tsv": "csv",
}  # fmt: skip
_STRICT = {
    "mode": "FAILFAST", "multiLine": "true", "quote": '"', "escape": '"', "header": "true",
    "enforceSchema": "false", "unescapedQuoteHandling": "RAISE_ERROR",
}  # fmt: skip
"""How Spark reads CSV as RFC 4180 has it, and refuses what is not so."""


def read_files(master: str, paths: Sequence[str]) -> Opened:
    """Open files by a Spark session of a master (``local[*]``, ``spark://host:7077``, ``sc://...``).

    Raises
    ------
    DataError
        The files are not all of one format, or Spark cannot read them.
    MissingExtra
        pyspark is not installed.
    """
    name = listing(paths)
    with spark_session(master, name) as session:
        kinds = {kind for path in paths for kind in _kinds(session, path)}
        if len(kinds) != 1 or None in kinds:
            known = ", ".join(_FILES)
            raise DataError(f"Spark reads files of one format: {known}; not {name}")
        kind = str(kinds.pop())
        for path in paths if kind == "parquet" else ():
            if Path(path).exists() and (table := list_files(path).table):
                raise table.error()
        read = {"csv": _read_csv, "json": _read_json}.get(kind)
        frame = read(session, paths) if read else session.read.format(kind).load(list(paths))
        check_unique_names(frame.columns, name)
        untyped = {f.name for f in frame.schema.fields if f.dataType.typeName() == "string"}
        if not read and untyped:
            untyped &= set(_PARTITION.findall("\n".join(frame.inputFiles())))
            frame = frame.replace(MISSING_PARTITION, None, sorted(untyped)) if untyped else frame
        return Opened(SparkFrame(", ".join(paths), frame, frozenset(untyped)))


_PARTITION = re.compile(r"/([^/=]+)=(?=[^/]*/)")


def _kinds(session: SparkSession, path: str) -> set[str | None]:
    """Return the formats of a path by its name, or, of a folder, by the names of its files."""
    kind = _FILES.get(_suffix(path))
    if kind:
        return {kind}
    files = session.read.format("binaryFile").load(path).selectExpr(
        "regexp_extract(path, '[.][A-Za-z]+([.]gz)?$', 0) AS suffix"
    )  # fmt: skip
    return {_FILES.get(_suffix(f"x{row[0]}")) for row in files.distinct().collect()}


def _suffix(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def _first_line(session: SparkSession, path: str) -> str:
    """Return the first line of a file, or of one of several, that is not blank."""
    lines = session.read.text(path).where("trim(value) <> ''")
    first = lines.head()
    if first is None:
        raise DataError(f"{quote(path)} is empty")
    return str(first[0])


def _read_csv(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read the columns of CSV files as text."""
    # else rows that are too long or short would show only where the question names their end
    session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
    headers = {path: _first_line(session, path).removeprefix("\ufeff") for path in paths}
    delimiters = {delimiter_of(header) for header in headers.values()}
    if len(delimiters) > 1:
        raise DataError(f"Spark reads CSV files of one separator; not {listing(paths)}")
    delimiter = delimiters.pop()
    for path, header in headers.items():
        _check_header(next(csv.reader([header], delimiter=delimiter)), path)
    return session.read.options(**_STRICT, sep=delimiter).csv(list(paths))


def _check_header(names: Sequence[str], path: str) -> None:
    """Check that Spark distinguishes the columns of a CSV file, and reads all of its rows."""
    check_unique_names(names, quote(path))
    if len({name.casefold() for name in names}) < len(names):
        raise DataError(
            f"{quote(path)} has columns whose names differ in case alone, which are the same to "
            "Spark; rename them"
        )
    if len(names) == 1:
        raise DataError(
            f"{quote(path)} has one column; Spark skips its empty lines, which are rows"
        )


def _read_json(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Read JSON, one object a line or a list; whole numbers as text, for ids may be long."""
    from pyspark.sql.types import StringType, StructField, StructType

    lists = {_first_line(session, path).lstrip()[:1] == "[" for path in paths}
    if len(lists) > 1:
        raise DataError(f"Spark reads JSON lines, or lists of objects; not both: {listing(paths)}")
    reader = session.read.options(mode="FAILFAST", multiLine=str(lists.pop()).lower())
    whole = ("long", "decimal")
    fields = [
        StructField(f.name, StringType() if f.dataType.typeName() in whole else f.dataType)
        for f in reader.json(list(paths)).schema.fields
    ]
    return reader.schema(StructType(fields)).json(list(paths))
