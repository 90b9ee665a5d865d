"""smclarify's reports: the same arguments, dictionaries and error texts, counted by fairgauge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from fairgauge_cloud._facet_counts import (
    NOT_A_THRESHOLD,
    BinaryOutcome,
    Blocks,
    DataType,
    FacetQuestion,
    facet_blocks,
    from_frame,
    from_series,
    outcome,
    read_prediction,
)
from fairgauge_cloud._service_metrics import (
    DESCRIPTIONS,
    Features,
    ServiceMetrics,
    spell_value,
    unknown_metric,
    unsortable,
)
from fairgauge_cloud.smclarify.bias.metrics import (
    POSTTRAINING_METRICS,
    PRETRAINING_METRICS,
    call_metric,
)
from fairgauge_cloud.smclarify.bias.metrics import basic_stats as stats
from fairgauge_cloud.smclarify.bias.metrics.common import divide, metric_description

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pandas import DataFrame, IntervalIndex, Series

__all__ = [
    "Column", "FacetColumn", "FacetContinuousColumn", "FacetReport", "LabelColumn", "MetricError",
    "MetricResult", "ModelPerformanceReport", "ProblemType", "StageType", "bias_basic_stats",
    "bias_report", "fetch_metrics_to_run", "inf_as_str", "label_value_or_threshold",
    "model_performance_report", "problem_type",
]  # fmt: skip

_ALL = ("all",)


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


@dataclass(eq=False)
class MetricError(MetricResult):
    """A metric without a value, and why."""

    value: object = None
    error: object = None

    def __post_init__(self) -> None:
        self.error = str(self.error)


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


def problem_type(labels: Series) -> ProblemType:
    """Return BINARY for two distinct labels, OTHER for any other number."""
    return ProblemType.BINARY if labels.dropna().nunique() == 2 else ProblemType.OTHER


def fetch_metrics_to_run(
    full_metrics: Sequence[Callable[..., object]], metric_names: Sequence[str]
) -> list[Callable[..., object]]:
    """Return the metric functions of some names, in registered order."""
    known = tuple(metric.__name__ for metric in full_metrics)
    if not set(metric_names) <= set(known):
        raise ValueError(unknown_metric(known))
    return [metric for metric in full_metrics if metric.__name__ in metric_names]


def label_value_or_threshold(label_series: Series, positive_values: Sequence[object]) -> str:
    """Return the positive values, or the interval above a threshold, as results write them."""
    positive = _positive_values(LabelColumn("label", label_series, positive_values))
    return outcome(from_series(label_series), positive)[0].text


def bias_report(
    df: DataFrame,
    facet_column: FacetColumn,
    label_column: LabelColumn,
    stage_type: StageType,
    predicted_label_column: LabelColumn | None = None,
    metrics: Sequence[str] = _ALL,
    group_variable: Series | None = None,
) -> list[dict[str, Any]]:
    """Measure the bias of a data set, or of a model's predictions, for one facet.

    Parameters
    ----------
    df : pandas.DataFrame
        The data; every column but facet, label and prediction is a feature of the flip test.
    facet_column, label_column, predicted_label_column : FacetColumn, LabelColumn
        What is compared, and what counts as positive.
    stage_type : StageType
    metrics : list of str
        Names of metrics, or ``["all"]``.
    group_variable : pandas.Series, optional
        The strata of CDDL and CDDPL.

    Returns
    -------
    list of dict
        For every facet value: ``value_or_threshold`` and its ``metrics``.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"sex": ["F", "M"] * 40, "y": ["no", "yes", "yes", "yes"] * 20})
    >>> report = bias_report(rows, FacetColumn("sex", ["F"]), LabelColumn("y", rows["y"], ["yes"]),
    ...                      StageType.PRE_TRAINING, metrics=["DPL"])
    >>> report[0]["metrics"][0]["value"]
    0.5
    """
    after = predicted_label_column is not None and stage_type is StageType.POST_TRAINING
    registered = POSTTRAINING_METRICS if after else PRETRAINING_METRICS
    chosen = (
        registered if list(metrics) == ["all"] else fetch_metrics_to_run(registered, list(metrics))
    )
    names = sorted(metric.__name__ for metric in chosen)
    made = _ReportArguments(df, facet_column, label_column, stage_type, predicted_label_column)
    measured = made.measured(group_variable)
    own = {metric.__name__: metric for metric in chosen if metric.__name__ not in DESCRIPTIONS}

    def entry(name: str, block: int) -> Mapping[str, object]:
        if name in own:
            return made.called(own[name], block, group_variable)
        return measured.result(name, 0, block)

    found: list[dict[str, object]] = [
        {"value_or_threshold": block, "metrics": [entry(name, i) for name in names]}
        for i, block in enumerate(made.facet.names)
    ]
    return found


def bias_basic_stats(
    df: DataFrame,
    facet_column: FacetColumn,
    label_column: LabelColumn,
    stage_type: StageType,
    predicted_label_column: LabelColumn | None = None,
) -> list[dict[str, Any]]:
    """Return the size, labels and (after training) confusion matrix of every facet value.

    Takes the arguments of `bias_report`, and raises its errors.
    """
    made = _ReportArguments(df, facet_column, label_column, stage_type, predicted_label_column)
    measured = made.measured()
    return [
        FacetReport(block, list(_basic(measured, i, made.prediction is not None))).to_json()
        for i, block in enumerate(made.facet.names)
    ]


def model_performance_report(
    df: DataFrame, label_column: LabelColumn, predicted_label_column: LabelColumn
) -> dict[str, Any]:
    """Return the performance of a model on all rows."""
    del df
    label, listed = outcome(from_series(label_column.series), _positive_values(label_column))
    prediction = read_prediction(from_series(predicted_label_column.series), label, listed)
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
    return ModelPerformanceReport(label_column.name, rates, shares, matrix).to_json()


class _ReportArguments:
    """The arguments of a report, checked and collapsed."""

    def __init__(
        self,
        df: DataFrame,
        facet_column: FacetColumn,
        label_column: LabelColumn,
        stage_type: StageType,
        predicted_label_column: LabelColumn | None,
    ) -> None:
        if facet_column and facet_column.name not in df.columns:
            raise ValueError(f"Facet column {facet_column.name} is not present in the dataset")
        positive = _positive_values(label_column)
        predicted_values = predicted_label_column and predicted_label_column.positive_label_values
        if predicted_values and predicted_values != label_column.positive_label_values:
            raise ValueError(
                "Positive predicted label values or threshold should be empty or same as label "
                "values or thresholds"
            )
        if not isinstance(stage_type, StageType):
            message = "stage_type should be a Enum value of StageType"
            raise ValueError(message)  # noqa: TRY004 - as there
        after = stage_type is StageType.POST_TRAINING
        if predicted_label_column is None and after:
            raise ValueError("predicted_label_column has to be provided for Post training metrics")
        self._df = df
        self.prediction: BinaryOutcome | None = None
        postponed: ValueError | None = None
        try:
            column = from_series(df[facet_column.name])
            self.facet: Blocks = facet_blocks(column, facet_column.sensitive_values)
        except ValueError as error:
            if str(error) == NOT_A_THRESHOLD:
                raise
            postponed = error  # the label's errors come first
        self.label, listed = outcome(from_series(label_column.series, label_column.name), positive)
        if predicted_label_column is not None and after:
            series = from_series(predicted_label_column.series, predicted_label_column.name)
            self.prediction = read_prediction(series, self.label, listed)
        if postponed is not None:
            raise postponed
        named = [facet_column, label_column, predicted_label_column]
        dropped = {column.name for column in named if column is not None}
        self._others = df[[name for name in df.columns if name not in dropped]]

    def measured(self, group_variable: Series | None = None) -> ServiceMetrics:
        """Return the metrics of the counts; the flip test compares rows by all other columns."""
        strata, problem = None, None
        if group_variable is not None:
            problem = unsortable(group_variable.unique().tolist())
            strata = None if group_variable.empty else from_series(group_variable, "group_variable")
        asked = FacetQuestion((self.facet,), self.label, self.prediction, strata)
        return ServiceMetrics(asked, [Features(lambda: from_frame(self._others))], problem)

    def called(
        self, metric: Callable[..., object], block: int, group_variable: Series | None
    ) -> dict[str, object]:
        """Call a metric that a user registered; an exception is the error of its entry."""
        import pandas as pd

        index, states = self._df.index, self.prediction and self.prediction.states
        label = pd.Series(self.label.states == 1, index=index)
        after = None if states is None else pd.Series(states == 1, index=index)
        arguments = {
            "df": self._others,
            "feature": self._df[self.facet.name],
            "sensitive_facet_index": pd.Series(self.facet.codes == block, index=index),
            "label": label,
            "positive_label_index": label,
            "predicted_label": after,
            "positive_predicted_label_index": after,
            "group_variable": group_variable,
        }
        made = (metric.__name__, metric_description(metric))
        try:
            entry = MetricResult(*made, call_metric(metric, **arguments))
        except Exception as error:
            entry = MetricError(*made, error=error)
        return entry.to_json()


def _positive_values(label: LabelColumn) -> list[object]:
    if not label.positive_label_values:
        raise ValueError("Positive label values or thresholds are empty for Label column")
    return list(label.positive_label_values)


def _basic(measured: ServiceMetrics, block: int, after: bool) -> Iterator[MetricResult]:
    positive, rows = measured.base_rate(0, block), measured.size(0, block)
    values: list[tuple[Callable[..., object], object]] = [
        (stats.proportion, divide(rows, measured.size(0))),
        (stats.observed_label_distribution, [positive, 1 - positive]),
    ]
    if after:
        shares = [divide(count, rows) for count in measured.cells(0, block)]
        values.append((stats.confusion_matrix, shares))
    for function, value in values:
        yield MetricResult(function.__name__, metric_description(function), value)
