"""Frames in memory or behind a query engine: which scan each of them gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from fairgauge.errors import DataError

if TYPE_CHECKING:
    from fairgauge.scan.source import Source


def open_frame(data: Any, name: str | None = None) -> Source:
    """Open a frame of any engine that narwhals knows.

    pandas frames are counted by their own codes, DuckDB relations by one SELECT, all others by
    narwhals; every way gives the same cube.

    Raises
    ------
    DataError
        The object is not a frame, or has two columns of one name.
    """
    if type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        from fairgauge.scan.relation import open_relation

        return open_relation(data, name)
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise DataError(
            f"cannot audit a {type(data).__name__}; give a frame (pandas, polars, pyarrow, DuckDB, "
            "...), a path, a list of paths, or a Cube"
        ) from None
    except ValueError as error:  # narwhals refuses two columns of one name
        raise DataError(str(error).splitlines()[0]) from None
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise DataError(f"cannot audit a {type(data).__name__}; give a whole frame")
    shown = name or f"{str(frame.implementation).rpartition('.')[2].lower()} frame"
    if frame.implementation.is_pandas():
        from fairgauge.scan.pandas import PandasFrame

        return PandasFrame(shown, data)
    from fairgauge.scan.narwhals import NarwhalsFrame

    return NarwhalsFrame(shown, frame)
