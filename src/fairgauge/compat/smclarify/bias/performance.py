"""The model performance block: ten rates, the confusion matrix, and every label's predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.compat._column_reading import DataType
from fairgauge.compat.smclarify.bias.metrics import basic_stats as stats
from fairgauge.compat.smclarify.bias.metrics.common import divide, metric_description
from fairgauge.compat.smclarify.bias.report_values import MetricResult, ModelPerformanceReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.compat._facet_counts import BinaryOutcome


def performance(name: str, label: BinaryOutcome, prediction: BinaryOutcome) -> dict[str, object]:
    """Return the performance of predictions on all rows, as the service writes it."""
    true, shown = label.states == 1, prediction.states == 1
    cells = {
        "TP": int((true & shown).sum()),
        "FP": int((~true & shown).sum()),
        "FN": int((true & ~shown).sum()),
        "TN": int((~true & ~shown).sum()),
    }
    rates = [
        MetricResult(title, metric_description(function), function(**_taken(function, cells)))
        for title, function in stats.PERFORMANCE.items()
    ]
    shares = [divide(count, len(true)) for count in cells.values()]
    matrix: dict[str, dict[str, float]] | None = None
    if label.of is DataType.CATEGORICAL:
        try:
            matrix = stats.class_matrix(label.column, prediction.column)
        except TypeError as error:
            matrix = {"error": {str(error): 0.0}}
    return ModelPerformanceReport(name, rates, shares, matrix).to_json()


def _taken(function: Callable[..., object], cells: dict[str, int]) -> dict[str, int]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {name: cells[name] for name in names}
