"""Estimates as data frames of the libraries that are installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairgauge.errors import MissingExtra
from fairgauge.render.estimate_rows import COLUMNS, TEXTS, rows

if TYPE_CHECKING:
    from fairgauge.report.report import Report


def to_pandas(report: Report) -> Any:
    """Return a `pandas.DataFrame` with one row for every estimate.

    Raises
    ------
    MissingExtra
        pandas is not installed.
    """
    pandas = _library("pandas")
    frame = pandas.DataFrame(list(rows(report)), columns=list(COLUMNS))
    return frame.astype({name: "object" if name in TEXTS else "float64" for name in COLUMNS})


def to_polars(report: Report) -> Any:
    """Return a `polars.DataFrame` with one row for every estimate.

    Raises
    ------
    MissingExtra
        polars is not installed.
    """
    polars = _library("polars")
    schema = {name: polars.String if name in TEXTS else polars.Float64 for name in COLUMNS}
    return polars.DataFrame(list(rows(report)), schema=schema, orient="row", strict=False)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"a {name} frame", name, error) from None
