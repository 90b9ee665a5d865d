"""Parquet files that Spark reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from fairgauge.errors import DataError, listing, quote
from fairgauge.scan._file_listing import list_files
from fairgauge.scan._tabular_files import MISSING_PARTITION
from fairgauge.scan.input_files import FORMATS
from fairgauge.scan.source import Opened, check_unique_names
from fairgauge.scan.spark import SparkFrame, spark_session

_PARTITION = re.compile(r"/([^/=]+)=(?=[^/]*/)")


def read_files(master: str, paths: Sequence[str]) -> Opened:
    """Open Parquet files by a Spark session of a master (``local[*]``, ``sc://...``)."""
    name = listing(paths)
    for path in paths:
        if FORMATS.get(PurePath(path.removesuffix(".gz")).suffix.lower(), "parquet") != "parquet":
            raise DataError(
                f"Spark counts Parquet files, not {quote(path)}; omit --spark: fairgauge reads it"
            )
        if Path(path).exists() and (table := list_files(path).table):
            raise table.error()
    with spark_session(master, name) as session:
        frame = session.read.parquet(*paths)
        check_unique_names(frame.columns, name)
        texts = {f.name for f in frame.schema.fields if f.dataType.typeName() == "string"}
        texts &= set(_PARTITION.findall("\n".join(frame.inputFiles()))) if texts else set()
        frame = frame.replace(MISSING_PARTITION, None, sorted(texts)) if texts else frame
        return Opened(SparkFrame(", ".join(paths), frame, frozenset(texts)))
