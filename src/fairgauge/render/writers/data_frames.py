"""Results as data frames of the libraries that are installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from fairgauge.enums import ReferenceKind
from fairgauge.errors import DataError, MissingExtra, quote
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.writers.flat_rows import table_of
from fairgauge.results.estimates import Group
from fairgauge.results.report import Report
from fairgauge.results.sections import size_beside_rates
from fairgauge.results.shown_result import ShownResult


def to_pandas(shown: ShownResult, table: str | None = None) -> Any:
    """Return a table of a result, by default its first, as a `pandas.DataFrame`.

    Raises
    ------
    MissingExtra
        pandas is not installed.
    DataError
        There is no such table.
    """
    pandas = _library("pandas")
    found = table_of(shown, table)
    frame = pandas.DataFrame(list(found.rows), columns=list(found.columns))
    return frame.astype(
        {name: "object" if name in found.texts else "float64" for name in found.columns}
    )


def to_polars(shown: ShownResult, table: str | None = None) -> Any:
    """Return a table of a result, by default its first, as a `polars.DataFrame`.

    Raises
    ------
    MissingExtra
        polars is not installed.
    DataError
        There is no such table.
    """
    polars = _library("polars")
    found = table_of(shown, table)
    schema = {
        name: polars.String if name in found.texts else polars.Float64 for name in found.columns
    }
    return polars.DataFrame(list(found.rows), schema=schema, orient="row", strict=False)


def by_group(report: Report) -> Any:
    """Return the rates of every group, a row each, as a `pandas.DataFrame`.

    The index is feature and group, with class and threshold where there are several; the column
    ``n`` and one column for each rate; ``n`` counts the rows whose prediction is known (of labels
    alone: whose label is). Undefined rates are NaN.
    """
    return _rates(report, report.groups)


def overall(report: Report) -> Any:
    """Return the rates of all groups of each feature together, as a `pandas.DataFrame`."""
    return _rates(report, report.totals)


def contrasts(report: Report, by: str) -> Any:
    """Return the differences or ratios of every group, group against reference, as a frame.

    Columns are rates; rows are as of `by_group`. Native metrics alone, so that one sign holds.
    """
    pandas = _library("pandas")
    rows: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for each in report.estimates:
        rate = compared_rate(each.definition)
        if each.set != "native" or each.scope.kind != "overall":
            continue
        if rate is not None and each.metric == f"{rate.name}.{by}":
            of = each.class_ if each.class_scope.is_single else None
            key = (each.feature, each.group, of, each.threshold)
            rows.setdefault(key, {})[rate.name] = each.value
    if not rows:
        raise DataError(f"this report has no native {by}s; audit with metrics={quote('standard')}")
    return _indexed(pandas, rows)


def _rates(report: Report, groups: Sequence[Group]) -> Any:
    pandas = _library("pandas")
    rows: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for group in groups:
        single = group.class_scope.is_single
        if group.stratum is None and single and group.reference_kind is not ReferenceKind.OTHERS:
            key = (group.feature, group.group, group.class_, group.threshold)
            rates = {name: rate.value for name, rate in group.rates.items()}
            size = size_beside_rates(group, report.catalogue)
            rows.setdefault(key, {"n": size}).update(rates)
    return _indexed(pandas, rows)


def _indexed(pandas: Any, rows: dict[tuple[Any, ...], dict[str, float | None]]) -> Any:
    """Return rows as a frame whose index holds class and threshold only where they differ."""
    names = ["feature", "group", "class", "threshold"]
    kept = [i for i in range(4) if i < 2 or len({key[i] for key in rows}) > 1]
    index = pandas.MultiIndex.from_tuples(
        [tuple(key[i] for i in kept) for key in rows], names=[names[i] for i in kept]
    )
    return pandas.DataFrame(list(rows.values()), index=index, dtype="float64")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"a {name} frame", name, error) from None
