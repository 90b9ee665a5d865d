"""Metrics of boolean columns: what smclarify's metric functions take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.compat._coded_column import CodedColumn, Kind, from_series
from fairgauge.compat._column_reading import DataType
from fairgauge.compat._facet_blocks import REST, BinaryOutcome, Blocks
from fairgauge.compat._facet_counts import FacetQuestion, count_question
from fairgauge.compat._service_metrics import ServiceMetrics, unsortable
from fairgauge.compat._service_texts import read
from fairgauge.enums import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fairgauge.compat._service_texts import MetricEntry


def flag(series: pd.Series, name: str) -> BinaryOutcome:
    """Read a column of true and false as a collapsed label.

    Raises
    ------
    ValueError
        It holds something else.
    """
    if series.dtype != bool:
        raise ValueError(f"{name} must be of type bool")
    codes = series.to_numpy().astype(np.int64)
    column = CodedColumn(name, Kind.INTEGER, codes, (0, 1))
    return BinaryOutcome(column, np.array([False, True]), DataType.CATEGORICAL, "1")


def facet(series: pd.Series) -> Blocks:
    """Read ``sensitive_facet_index``: true for the sensitive facet."""
    inside = flag(series, "sensitive_facet_index").column.codes
    return Blocks("facet", ("sensitive",), np.where(inside == 1, 0, REST), DataType.CATEGORICAL)


def group(series: pd.Series | None) -> CodedColumn | None:
    """Read ``group_variable``; nothing, or an empty column, is none."""
    return None if series is None or series.empty else from_series(series, "group")


def measure(
    metrics: Sequence[str],
    sensitive_facet_index: pd.Series,
    label: BinaryOutcome | None = None,
    prediction: BinaryOutcome | None = None,
    group_variable: pd.Series | None = None,
) -> tuple[float, ...]:
    """Compute metrics of one sensitive facet.

    Raises
    ------
    ValueError
        A metric has no value; the message gives the reason.
    """
    asked = FacetQuestion((facet(sensitive_facet_index),), label, prediction, group(group_variable))
    cube = count_question(asked, Profile.CLARIFY)
    problem = None if group_variable is None else unsortable(group_variable.unique().tolist())
    measured = ServiceMetrics(asked, cube, strata_problem=problem)
    return tuple(_value(measured.result(metric, 0, 0)) for metric in metrics)


def _value(entry: MetricEntry) -> float:
    if "error" in entry:
        raise ValueError(entry["error"])
    value = read(entry["value"])
    assert value is not None
    return value
