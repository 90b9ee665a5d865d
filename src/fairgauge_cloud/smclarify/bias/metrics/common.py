"""What smclarify's metrics share: divisions, checks, types of columns, and boolean columns."""

# ruff: noqa: N802 - the names are smclarify's

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fairgauge_cloud._coded_column import CodedColumn, from_series
from fairgauge_cloud._column_reading import DataType, as_type, converted, data_type
from fairgauge_cloud._facet_counts import REST, BinaryOutcome, Blocks, FacetQuestion, count_question
from fairgauge_cloud._service_metrics import ServiceMetrics, unsortable
from fairgauge_cloud._service_texts import DESCRIPTIONS, MetricEntry, read
from fairgauge_cloud.smclarify.bias.metrics.constants import INFINITY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pandas import Series


Result = TypeVar("Result")
Metric = TypeVar("Metric", bound="Callable[..., object]")

__all__ = [
    "CDD",
    "DCO",
    "DLA",
    "DLR",
    "DPL",
    "DataType",
    "binary_confusion_matrix",
    "calc_confusion_matrix_quadrants",
    "convert_positive_label_values",
    "divide",
    "ensure_series_data_type",
    "metric_description",
    "require",
    "series_datatype",
]


def divide(a: float, b: float) -> float:
    """Divide; 0/0 is 0 and x/0 is an infinity."""
    if b == 0:
        return 0.0 if a == 0 else (-INFINITY if a < 0 else INFINITY)
    return a / b


def require(condition: bool, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def metric_description(metric: Callable[..., object]) -> str:
    """Return a metric's description in results: its name, or the first line of its docstring."""
    line = (metric.__doc__ or "").lstrip().split("\n")[0]
    return DESCRIPTIONS.get(metric.__name__, line)


def series_datatype(series: Series, values: Sequence[object] | None = None) -> DataType:
    """Guess whether a column holds categories or numbers."""
    return data_type(from_series(series), values)


def ensure_series_data_type(
    series: Series, values: Sequence[object] | None = None
) -> tuple[DataType, Series]:
    """Guess what a column holds, and convert it to that."""
    import pandas as pd

    found, _, _ = as_type(from_series(series), values)
    if found is DataType.CATEGORICAL:
        return found, series.astype("category")
    return found, pd.to_numeric(series)


def convert_positive_label_values(
    series: Series, positive_label_values: list[str | int | float]
) -> list[object]:
    """Return listed values in the type of the column's values."""
    return converted(from_series(series), positive_label_values)


def calc_confusion_matrix_quadrants(
    feature: Series, positive_label_index: Series, positive_predicted_label_index: Series
) -> tuple[int, int, int, int]:
    """Return the counts of TP, TN, FP and FN."""
    del feature
    label, prediction = positive_label_index, positive_predicted_label_index
    return (
        int((label & prediction).sum()),
        int((~label & ~prediction).sum()),
        int((~label & prediction).sum()),
        int((label & ~prediction).sum()),
    )


def binary_confusion_matrix(
    feature: Series, positive_label_index: Series, positive_predicted_label_index: Series
) -> list[float]:
    """Return the shares of TP, FP, FN and TN."""
    tp, tn, fp, fn = calc_confusion_matrix_quadrants(
        feature, positive_label_index, positive_predicted_label_index
    )
    return [divide(count, len(feature)) for count in (tp, fp, fn, tn)]


def DPL(feature: Series, sensitive_facet_index: Series, positive_label_index: Series) -> float:
    """Return the difference in shares of true, of labels or of predictions."""
    del feature
    return measure(["DPL"], sensitive_facet_index, flag(positive_label_index, "label_index"))[0]


def CDD(
    feature: Series, sensitive_facet_index: Series, label_index: Series, group_variable: Series
) -> float:
    """Return the conditional demographic disparity, of labels or of predictions."""
    del feature
    label = flag(label_index, "label_index")
    return measure(["CDDL"], sensitive_facet_index, label, group_variable=group_variable)[0]


def of_labels_and_predictions(
    name: str, title: str, of: Sequence[str], result: Callable[[Sequence[float]], Result]
) -> Callable[..., Result]:
    """Return the function of metrics that smclarify computes together: all of them, or one."""

    def metric(
        feature: Series,
        sensitive_facet_index: Series,
        positive_label_index: Series,
        positive_predicted_label_index: Series,
    ) -> Result:
        del feature
        label = flag(positive_label_index, "positive_label_index")
        prediction = flag(positive_predicted_label_index, "positive_predicted_label_index")
        return result(measure([*of], sensitive_facet_index, label, prediction))

    return named(metric, name, title)


def named(metric: Metric, name: str, title: str) -> Metric:
    """Give a function that is made its name, and a docstring."""
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"{title} ({name})."
    return metric


_of = of_labels_and_predictions
DCO = _of("DCO", "Difference in Conditional Outcomes", ["DCA", "DCR"], tuple)
DLR = _of("DLR", "Difference in Label Rates", ["DAR", "DRR"], tuple)
DLA = _of("DLA", "Difference in Label Accuracy", ["RD", "SD"], tuple)


def flag(series: Series, name: str) -> BinaryOutcome:
    """Read a column of true and false as a collapsed label."""
    if series.dtype != bool:
        raise ValueError(f"{name} must be of type bool")
    return BinaryOutcome.of_states(name, series.to_numpy().astype(np.int64))


def facet(series: Series) -> Blocks:
    """Read ``sensitive_facet_index``: true for the sensitive facet."""
    inside = flag(series, "sensitive_facet_index").column.codes
    return Blocks("facet", ("sensitive",), np.where(inside == 1, 0, REST), DataType.CATEGORICAL)


def group(series: Series | None) -> CodedColumn | None:
    """Read ``group_variable``; nothing, or an empty column, is none."""
    return None if series is None or series.empty else from_series(series, "group")


def measure(
    metrics: Sequence[str],
    sensitive_facet_index: Series,
    label: BinaryOutcome | None = None,
    prediction: BinaryOutcome | None = None,
    group_variable: Series | None = None,
) -> tuple[float, ...]:
    """Compute metrics of one sensitive facet."""
    asked = FacetQuestion((facet(sensitive_facet_index),), label, prediction, group(group_variable))
    cube = count_question(asked)
    problem = None if group_variable is None else unsortable(group_variable.unique().tolist())
    measured = ServiceMetrics(asked, cube, strata_problem=problem)
    return tuple(_value(measured.result(metric, 0, 0)) for metric in metrics)


def _value(entry: MetricEntry) -> float:
    if "error" in entry:
        raise ValueError(entry["error"])
    value = read(entry["value"])
    assert value is not None
    return value
