"""The values that smclarify's report is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from fairgauge_cloud._facet_counts import DataType
from fairgauge_cloud._service_metrics import spell_value
from fairgauge_cloud.smclarify.bias.metrics import basic_stats as stats
from fairgauge_cloud.smclarify.bias.metrics import call_metric
from fairgauge_cloud.smclarify.bias.metrics.common import divide, metric_description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pandas import IntervalIndex, Series

    from fairgauge_cloud._facet_counts import BinaryOutcome


@dataclass(eq=False)
class Column:
    """A column by its name."""

    name: str


@dataclass(eq=False)
class FacetColumn(Column):
    """A facet, and its sensitive values or threshold (every value on its own if none)."""

    sensitive_values: Sequence[object] | None = None


@dataclass(eq=False)
class FacetContinuousColumn(Column):
    """A numeric facet, with its intervals."""

    interval_indices: IntervalIndex


@dataclass(eq=False)
class LabelColumn(Column):
    """A label or prediction, with its values and which of them are positive."""

    series: Series
    positive_label_values: Any | None = None


class ProblemType(Enum):
    """The kind of task that the labels imply."""

    BINARY = 0
    REGRESSION = 1
    MULTICLASS = 2
    OTHER = 3


class StageType(Enum):
    """Before or after training."""

    PRE_TRAINING = "pre_training"
    POST_TRAINING = "post_training"


def inf_as_str(obj: dict[str, object]) -> dict[str, object]:
    """Write an infinity under the key ``value`` as text; nothing else is changed."""
    value = obj.get("value")
    return obj | {"value": spell_value(value)} if isinstance(value, float) else obj


class _Saved:
    """What is saved as its attributes."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values, infinities as text."""
        return inf_as_str({key: _plain_values(each) for key, each in vars(self).items()})


@dataclass(eq=False)
class MetricResult(_Saved):
    """A metric: its name, description and value."""

    name: str
    description: str
    value: object


class MetricError(MetricResult):
    """A metric without a value, and why."""

    def __init__(
        self,
        name: str,
        description: str,
        value: float | None = None,
        error: Exception | str | None = None,
    ) -> None:
        super().__init__(name, description, value)
        self.error = str(error)


@dataclass(eq=False)
class FacetReport(_Saved):
    """The metrics of one facet value or threshold."""

    value_or_threshold: str
    metrics: list[MetricResult]


class ModelPerformanceReport(_Saved):
    """The performance of a model on all rows."""

    def __init__(
        self,
        label_name: str,
        metrics: list[MetricResult],
        binary_confusion_matrix: list[float],
        multicategory_confusion_matrix: dict[str, dict[str, float]] | None = None,
    ) -> None:
        self.label = label_name
        self.model_performance_metrics = metrics
        self.binary_confusion_matrix = binary_confusion_matrix
        if multicategory_confusion_matrix:
            self.confusion_matrix = multicategory_confusion_matrix


def _plain_values(value: object) -> object:
    if isinstance(value, list):
        return [_plain_values(each) for each in value]
    return value.to_json() if isinstance(value, _Saved) else value


def performance(name: str, label: BinaryOutcome, prediction: BinaryOutcome) -> dict[str, object]:
    """Return the performance of predictions on all rows, as the service writes it."""
    true, shown = label.states == 1, prediction.states == 1
    masks = {"TP": true & shown, "FP": ~true & shown, "FN": true & ~shown, "TN": ~true & ~shown}
    cells = {name: int(mask.sum()) for name, mask in masks.items()}
    rates = [
        MetricResult(title, metric_description(function), call_metric(function, **cells))
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
