"""The values that smclarify's report is made of."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from fairgauge.compat._service_texts import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


class Column:
    """A column by its name."""

    def __init__(self, name: str) -> None:
        self.name = name


class FacetColumn(Column):
    """A facet, and its sensitive values or threshold (every value on its own if none)."""

    def __init__(self, name: str, sensitive_values: Sequence[object] | None = None) -> None:
        super().__init__(name)
        self.sensitive_values = sensitive_values


class FacetContinuousColumn(Column):
    """A numeric facet, with its intervals."""

    def __init__(self, name: str, interval_indices: pd.IntervalIndex) -> None:
        super().__init__(name)
        self.interval_indices = interval_indices


class LabelColumn(Column):
    """A label or prediction, with its values and which of them are positive."""

    def __init__(
        self, name: str, series: pd.Series, positive_label_values: Any | None = None
    ) -> None:
        super().__init__(name)
        self.series = series
        self.positive_label_values = positive_label_values


class ProblemType(Enum):
    """What kind of problem the labels speak of."""

    BINARY = 0
    REGRESSION = 1
    MULTICLASS = 2
    OTHER = 3


class StageType(Enum):
    """Before or after training."""

    PRE_TRAINING = "pre_training"
    POST_TRAINING = "post_training"


class MetricResult:
    """A metric: its name, description and value."""

    def __init__(self, name: str, description: str, value: object) -> None:
        self.name = name
        self.description = description
        self.value = value

    def to_json(self) -> dict[str, object]:
        """Return plain values, infinities as text."""
        return _attributes(self)


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


class FacetReport:
    """The metrics of one facet value or threshold."""

    def __init__(self, facet_value_or_threshold: str, metrics: list[MetricResult]) -> None:
        self.value_or_threshold = facet_value_or_threshold
        self.metrics = metrics

    def to_json(self) -> dict[str, object]:
        """Return plain values, infinities as text."""
        return _attributes(self)


class ModelPerformanceReport:
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

    def to_json(self) -> dict[str, object]:
        """Return plain values, infinities as text."""
        return _attributes(self)


def plain(value: object) -> object:
    """Return an object as dictionaries, lists and plain values."""
    if hasattr(value, "__dict__"):
        return _attributes(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def _attributes(value: object) -> dict[str, object]:
    return inf_as_str({key: plain(each) for key, each in vars(value).items()})


def inf_as_str(obj: dict[str, object]) -> dict[str, object]:
    """Write an infinity under the key ``value`` as text; nothing else is changed."""
    value = obj.get("value")
    if isinstance(value, float):
        obj["value"] = spelled(value)
    return obj
