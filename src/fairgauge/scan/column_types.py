"""What the schema of data shows before a row is read."""

from __future__ import annotations

from fairgauge.cube.plan import Plan
from fairgauge.scan._narwhals import NarwhalsFrame, check_numeric
from fairgauge.scan.duckdb_files import DuckFiles
from fairgauge.scan.source import Source


def check_types(source: Source, plan: Plan) -> None:
    """Check that columns which must hold numbers have types of numbers, where they have types.

    CSV and JSON lines have none: their values are checked when they are counted.

    Raises
    ------
    DataError
        A column has another type; the message names both.
    """
    if isinstance(source, DuckFiles):
        for column in plan.numeric_columns:
            source.written.number(column)
    elif isinstance(source, NarwhalsFrame):
        schema = source.frame.collect_schema()
        for column in plan.numeric_columns:
            check_numeric(column, schema[column])
