"""Arrow files (also called Feather), read by pyarrow or polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge.errors import DataError, MissingExtra, quote
from fairgauge.object_stores import read_object
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan._frames import open_frame
from fairgauge.scan.duckdb_files import check_same_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from fairgauge.object_stores import Place
    from fairgauge.scan.source import Source


def open_arrow(paths: list[Place], name: str) -> Source:
    """Open Arrow files or streams that have the same columns, in any order.

    Raises
    ------
    DataError
        A file is truncated, or has other columns than the first.
    MissingExtra
        Neither pyarrow nor polars is installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        return _open_with_polars(paths, name, error)
    tables = [_read(path) for path in paths]
    for path, table in zip(paths[1:], tables[1:], strict=True):
        check_same_columns(tables[0].column_names, table.column_names, paths[0], path)
    try:
        return open_frame(pa.concat_tables(tables, promote_options="permissive"), name)
    except pa.ArrowException as error:
        raise DataError(f"cannot read {quote(name)} together: {reason(error)}") from None


def _read(path: Place) -> pa.Table:
    import pyarrow as pa
    from pyarrow import ipc

    try:
        local = isinstance(path, Path)
        with pa.memory_map(str(path)) if local else pa.PythonFile(path.open("rb")) as held:
            try:
                return ipc.open_file(held).read_all()
            except pa.ArrowInvalid:
                held.seek(0)
                return ipc.open_stream(held).read_all()
    except (pa.ArrowException, OSError):
        raise DataError(f"{quote(path)} is truncated, or not an Arrow file") from None


def _open_with_polars(paths: list[Place], name: str, missing: ImportError) -> Source:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("reading .arrow and .feather files", "arrow", missing) from None
    frames = [
        pl.scan_ipc(path if isinstance(path, Path) else read_object(path.url)) for path in paths
    ]
    try:
        columns = [frame.collect_schema().names() for frame in frames]
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"cannot read {quote(name)}: {reason(error)}") from None
    for path, found in zip(paths[1:], columns[1:], strict=True):
        check_same_columns(columns[0], found, paths[0], path)
    return open_frame(pl.concat([frame.select(columns[0]) for frame in frames]), name)
