"""Parquet files read by Arrow in batches: a third of what DuckDB needs to hand the rows over.

Texts come as the codes that the file holds, each with the few texts that they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, quote
from fairgauge.object_stores import Place
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan.row_codes import Batch, arrow_batch

_TEXTS = ("string", "large_string")
_NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float", "double")  # fmt: skip


@dataclass(frozen=True)
class ParquetBatches:
    """Files whose columns have types that Arrow and DuckDB read alike.

    Attributes
    ----------
    name : what is read, in messages.
    files : each with its footer.
    """

    name: str
    files: Sequence[tuple[Place, pq.FileMetaData]]

    def read(self, plan: Plan, least: int) -> Iterator[Batch]:
        """Yield all rows in batches of at least so many, and of less than twice as many."""
        keys = [axis.column for axis in plan.axes if not axis.bins]
        try:
            for place, footer in self.files:
                for part in _batches(place, footer, plan.columns, least):
                    found = dict(zip(part.schema.names, part.columns, strict=True))
                    numbers = [found[column] for column in plan.numeric_columns]
                    yield arrow_batch(plan, [found[column] for column in keys], numbers)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise DataError(f"cannot read {quote(self.name)}: {reason(error)}") from None


def parquet_batches(plan: Plan, name: str, places: Sequence[Place]) -> ParquetBatches | None:
    """Return the files if Arrow reads every column of a plan as DuckDB does, else None."""
    # DuckDB compares times, and reads numbers that are listed as none
    if plan.no_numbers or any(axis.moments for axis in plan.axes):
        return None
    files = []
    asked = {column.lower() for column in plan.columns}
    for place in places:
        folders = re.split(r"[/\\]", str(place))[:-1]
        if asked & {folder.partition("=")[0].lower() for folder in folders if "=" in folder}:
            return None  # a partition, which DuckDB reads from the name
        try:
            with pq.ParquetFile(_opened(place)) as file:
                footer, schema = file.metadata, file.schema_arrow
        except (pa.ArrowException, OSError):
            return None
        for column in plan.columns:
            allowed = _NUMBERS if column in plan.numeric_columns else (*_TEXTS, *_NUMBERS)
            if column not in schema.names or str(schema.field(column).type) not in allowed:
                return None
        files.append((place, footer))
    return ParquetBatches(name, files)


def _opened(place: Place) -> Any:
    return str(place) if isinstance(place, Path) else pa.PythonFile(place.open("rb"), mode="r")


def _batches(
    place: Place, footer: pq.FileMetaData, columns: Sequence[str], least: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file: of small row groups several at once, of large ones parts."""
    texts = [c for c in columns if str(footer.schema.to_arrow_schema().field(c).type) in _TEXTS]
    far = not isinstance(place, Path)
    with pq.ParquetFile(
        _opened(place), metadata=footer, read_dictionary=texts, pre_buffer=far
    ) as file:
        groups: list[int] = []
        rows = 0
        for group in range(footer.num_row_groups):
            groups.append(group)
            rows += footer.row_group(group).num_rows
            if not rows or (rows < least and group + 1 < footer.num_row_groups):
                continue
            size = -(-rows // max(rows // least, 1))
            found = file.iter_batches(size, groups, list(columns), use_threads=False)
            if len(groups) > 1:  # whose texts have other codes in each
                table = pa.Table.from_batches(found).unify_dictionaries().combine_chunks()
                found = table.to_batches()
            yield from found
            groups, rows = [], 0
