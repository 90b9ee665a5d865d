"""Open frames, in memory or behind an engine; a `Source` itself knows none."""

from __future__ import annotations

from typing import Any

from fairgauge.scan.source import Source, check_unique_names


def open_frame(data: Any, name: str | None = None) -> Source:
    """Open a frame in memory or behind a query engine, of any that narwhals knows.

    pandas frames, and the parts of Dask frames, are counted by their own codes; DuckDB relations,
    Spark frames and tables of ibis by one SELECT; of all others (polars, pyarrow, SQLFrame ...)
    narwhals hands over the columns. Every way gives the same cube.
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
    from fairgauge.scan._narwhals import open_by_narwhals

    return open_by_narwhals(data, name)
