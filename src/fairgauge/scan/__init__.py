"""The only access to data: frames, files and databases are opened here, and counted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, quote
from fairgauge.question.option_types import COLUMN, COLUMNS, FEATURES, STRATA
from fairgauge.question.options import OPTIONS
from fairgauge.scan._file_listing import is_lake_table, open_lake_table
from fairgauge.scan._frames import open_frame
from fairgauge.scan._sql import QUESTION
from fairgauge.scan.input_files import StandardInput, open_files, open_standard_input
from fairgauge.scan.source import ALLOWED_DATA, Opened, Query, Source

# the options whose values name columns, or are arrays
_OF_COLUMNS = frozenset(
    option.name for option in OPTIONS if option.type in (COLUMN, COLUMNS, FEATURES, STRATA)
)


def open_source(data: object) -> Source:
    """Open data of any kind: a frame, a path, a glob, a list of paths, or rows of a database."""
    if isinstance(data, Opened):
        return data.source
    if isinstance(data, str) and is_lake_table(data):
        return open_lake_table(data)
    if _are_paths(data):
        return _refuse_warehouse_answer(open_files(data))
    if isinstance(data, StandardInput):
        return _refuse_warehouse_answer(open_standard_input(data))
    if isinstance(data, Query):
        from fairgauge.scan._database import open_database

        return open_database(data.url, data.rows)
    if data is None:
        raise DataError(f"there are no data; {ALLOWED_DATA}")
    if isinstance(data, (int, float, bytes)):
        raise DataError(f"cannot audit data of type {type(data).__name__}; {ALLOWED_DATA}")
    return open_frame(data)


def _refuse_warehouse_answer(source: Source) -> Source:
    if QUESTION in map(str.lower, source.columns):
        raise DataError(
            f"{quote(source.name)} is the answer of a warehouse to a query of fairgauge: cells, "
            "not rows; read it with fairgauge count --from-result FILE -c AUDIT.toml -o "
            "COUNTS.cube.json, and audit these counts"
        )
    return source


def open_rows(data: object, options: Mapping[str, object]) -> tuple[Source, Mapping[str, Any]]:
    """Open data, with the arrays among the options as columns, whose names take their place."""
    if isinstance(data, Opened):
        return data.source, options
    if _may_be_arrays(data, options):
        from fairgauge.scan._column_arrays import open_arrays

        source, named = open_arrays(data, options)
        if source is not None:
            return source, named
    return open_source(data), options


def _may_be_arrays(data: object, options: Mapping[str, object]) -> bool:
    if _are_paths(data) or isinstance(data, Query):
        return False
    named = all(
        value is None or isinstance(value, str)
        for key, value in options.items()
        if key in _OF_COLUMNS
    )
    return data is None or isinstance(data, Mapping) or not named


def _are_paths(data: object) -> TypeGuard[str | Path | Sequence[str | Path]]:
    if isinstance(data, (str, Path)):
        return True
    if not isinstance(data, Sequence) or not data:
        return False
    return all(isinstance(each, (str, Path)) for each in data)


def check_types(source: Source, plan: Plan) -> None:
    """Check that columns which must hold numbers have types of numbers, where they have types.

    CSV and JSON lines have none: their values are checked when they are counted.
    """
    from fairgauge.scan.chosen_rows import WithProbabilities

    if isinstance(source, WithProbabilities):
        plan, source = source.read(plan), source.source
    if hasattr(source, "query"):  # which writes no number of another type
        source.query(plan)
        return
    from fairgauge.scan._narwhals import NarwhalsFrame, check_numeric, ready  # files need none

    if isinstance(source, NarwhalsFrame) and plan.numeric_columns:
        kinds = ready(source.frame, plan.numeric_columns).collect_schema().dtypes()
        for column, kind in zip(plan.numeric_columns, kinds, strict=True):
            check_numeric(column, kind, plan)
