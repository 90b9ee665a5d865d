"""Parquet files, one or many, alone or in partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, quote
from fairgauge.scan._duckdb_relation import run, typed_columns
from fairgauge.scan.duckdb_files import DuckFiles, check_same_columns, listed
from fairgauge.scan.source import check_unique_names

if TYPE_CHECKING:
    from fairgauge.object_stores import Place
    from fairgauge.scan.source import Source

_MAGIC = b"PAR1"
_SMALLEST = 12


def open_parquet(paths: list[Place], name: str) -> Source:
    """Open Parquet files that have the same columns, in any order.

    Raises
    ------
    DataError
        A file is truncated, has a column twice, or other columns than the first.
    """
    for path in paths:
        _check_whole(path)
    schemas = {path: _schema(path) for path in paths}
    first = schemas[paths[0]]
    alike: dict[_Schema, list[Place]] = {}
    for path, schema in schemas.items():
        check_same_columns(first.names, schema.names, paths[0], path)
        alike.setdefault(schema, []).append(path)
    parts = [_read(found, schema.names, first.names) for schema, found in alike.items()]
    relation = f"({' UNION ALL '.join(parts)})"
    kinds = [str(record[1]) for record in run(f"DESCRIBE SELECT * FROM {relation}", name)]
    written = {
        c: (f"c{i}", kind) for i, (c, kind) in enumerate(zip(first.names, kinds, strict=True))
    }
    columns = typed_columns(written, texts=frozenset(first.partitions))

    def rows() -> int:
        query = f"SELECT sum(num_rows) FROM parquet_file_metadata({listed(paths)})"
        return int(next(run(query, name))[0])

    return DuckFiles(name, first.names, relation, columns, rows)


def _read(paths: list[Place], held: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """Write files of one schema as columns c0, c1 ...: by position, names may differ in case."""
    names = ", ".join(f"h{i}" for i in range(len(held)))
    chosen = ", ".join(f"h{held.index(column)} AS c{i}" for i, column in enumerate(columns))
    return f"SELECT {chosen} FROM {_rows(paths)} AS held({names})"


def _rows(paths: list[Place]) -> str:
    options = "hive_partitioning=true, hive_types_autocast=false"
    return f"read_parquet({listed(paths)}, {options})"


def _check_whole(path: Place) -> None:
    with path.open("rb") as handle:
        start = handle.read(4)
        size = handle.seek(0, 2)
        handle.seek(max(size - 4, 0))
        end = handle.read(4)
    if (start, end) != (_MAGIC, _MAGIC) or size < _SMALLEST:
        raise DataError(f"{quote(path)} is truncated, or not a Parquet file")


@dataclass(frozen=True, slots=True)
class _Schema:
    """The columns of a file; partitions come last, as text."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    partitions: tuple[str, ...]


def _schema(path: Place) -> _Schema:
    tree = run(f"SELECT name, num_children FROM parquet_schema({listed([path])})", str(path))
    names = _top_level([(str(name), int(children or 0)) for name, children in tree])
    check_unique_names(names, quote(path))
    described = list(run(f"DESCRIBE SELECT * FROM {_rows([path])}", str(path)))
    partitions = [str(record[0]) for record in described[len(names) :]]
    kinds = tuple(str(record[1]) for record in described)
    return _Schema((*names, *partitions), kinds, tuple(partitions))


def _top_level(tree: list[tuple[str, int]]) -> list[str]:
    """Return the children of the root of a schema, which is listed depth first."""
    names: list[str] = []
    inside = 0
    for name, children in tree[1:]:
        if inside == 0:
            names.append(name)
        else:
            inside -= 1
        inside += children
    return names
