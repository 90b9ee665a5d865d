"""Frames in memory or behind a query engine: which scan each of them gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from fairgauge.errors import DataError
from fairgauge.scan.source import ALLOWED_DATA, check_unique_names

if TYPE_CHECKING:
    from fairgauge.scan.source import Source


def open_frame(data: Any, name: str | None = None) -> Source:
    """Open a frame of any engine that narwhals knows.

    pandas frames, and the parts of Dask frames, are counted by their own codes; DuckDB relations,
    Spark frames and tables of ibis by one SELECT; all others (polars, pyarrow, SQLFrame ...) by
    narwhals. Every way gives the same cube.

    Raises
    ------
    DataError
        The object is not a frame, or has two columns of one name.
    """
    package = type(data).__module__.partition(".")[0]
    if package in ("duckdb", "_duckdb"):
        from fairgauge.scan._duckdb_relation import open_relation

        return open_relation(data, name)
    if package == "ibis":
        from fairgauge.scan._database import open_table

        return open_table(data, name)
    if package == "pyspark":
        from fairgauge.scan.spark import SparkFrame

        check_unique_names(data.columns, "the frame")
        return SparkFrame(name or "Spark frame", data)
    return open_by_narwhals(data, name)


def open_by_narwhals(data: Any, name: str | None) -> Source:
    """Open a frame that has no scan of its own.

    Raises
    ------
    DataError
        The object is not a frame, or has two columns of one name.
    """
    check_unique_names(_names(data), "the frame")
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise DataError(
            f"cannot audit data of type {type(data).__name__}; {ALLOWED_DATA}"
        ) from None
    shown = name or f"{str(frame.implementation).rpartition('.')[2].lower()} frame"
    if frame.implementation.is_pandas():
        from fairgauge.scan._pandas import PandasFrame

        return PandasFrame(shown, data)
    if frame.implementation.is_dask():
        from fairgauge.scan._dask import DaskFrame

        return DaskFrame(shown, data)
    from fairgauge.scan._narwhals import NarwhalsFrame

    return NarwhalsFrame(shown, frame)


def _names(data: object) -> list[str]:
    """Return the names of the columns of a frame that could have two of one name."""
    package = type(data).__module__.partition(".")[0]
    names = {"pandas": "columns", "dask": "columns", "pyarrow": "column_names"}.get(package)
    return [str(column) for column in getattr(data, names, ())] if names else []
