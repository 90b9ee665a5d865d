"""Sizes, confusion matrices and performance, under smclarify's names.

0/0 is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge_cloud._facet_counts import CodedColumn, from_series
from fairgauge_cloud.smclarify.bias.metrics.common import (
    binary_confusion_matrix,
    divide,
    with_signature,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas import DataFrame, Series


def confusion_matrix(
    feature: Series,
    sensitive_facet_index: Series,
    positive_label_index: Series,
    positive_predicted_label_index: Series,
) -> list[float]:
    """Fractions of TP, FP, FN, TN."""
    inside = sensitive_facet_index
    return binary_confusion_matrix(
        feature[inside], positive_label_index[inside], positive_predicted_label_index[inside]
    )


def proportion(sensitive_facet_index: Series) -> float:
    """Proportion of examples in sensitive facet."""
    return float(sensitive_facet_index.sum() / len(sensitive_facet_index))


def observed_label_distribution(
    feature: DataFrame, sensitive_facet_index: Series, positive_label_index: Series
) -> list[float]:
    """Distribution of observed label outcomes for sensitive facet"""  # noqa: D400
    del feature
    inside = sensitive_facet_index
    positive = divide(int((inside & positive_label_index).sum()), int(inside.sum()))
    return [positive, 1 - positive]


def _rate_function(
    name: str, arguments: str, above: str, below: str, doc: str
) -> Callable[..., float]:

    def compute(**cells: float) -> float:
        top, bottom = (sum(cells[each] for each in part.split()) for part in (above, below))
        return divide(top, bottom)

    made: Callable[..., float] = with_signature(compute, name, doc, *arguments.split())
    return made


_ALL, _INPUTS = "TP FP TN FN", "Proportion of inputs with"
_AND = "predicted label that actually have a"
PERFORMANCE = {
    title: _rate_function(*row)
    for title, *row in (
        ("Accuracy", "accuracy", _ALL, "TP TN", _ALL,
         "Proportion of inputs assigned the correct predicted label by the model."),
        ("Proportion of Positive Predictions in Labels", "PPL", _ALL, "TP FP", _ALL,
         "Proportion of input assigned in positive predicted label."),
        ("Proportion of Negative Predictions in Labels", "PNL", _ALL, "TN FN", _ALL,
         "Proportion of input assigned the negative predicted label."),
        ("True Positive Rate / Recall", "recall", "TP FN", "TP", "TP FN",
         f"{_INPUTS} positive observed label correctly assigned the positive predicted label."),
        ("True Negative Rate / Specificity", "specificity", "TN FP", "TN", "TN FP",
         f"{_INPUTS} negative observed label correctly assigned the negative predicted label."),
        ("Acceptance Rate / Precision", "precision", "TP FP", "TP", "TP FP",
         f"{_INPUTS} positive {_AND} positive observed label."),
        ("Rejection Rate", "rejection_rate", "TN FN", "TN", "TN FN",
         f"{_INPUTS} negative {_AND} negative observed label."),
        ("Conditional Acceptance", "conditional_acceptance", "TP FP FN", "TP FN", "TP FP",
         "Ratio between the positive observed labels and positive predicted labels."),
        ("Conditional Rejection", "conditional_rejection", "FP TN FN", "TN FP", "TN FN",
         "Ratio between the negative observed labels and negative predicted labels."),
        ("F1 Score", "f1_score", "TP FP FN", "TP TP", "TP TP FP FN",
         "Harmonic mean of precision and recall."),
    )
}  # fmt: skip
"""The model performance block: what it calls each function, in its order."""
(
    accuracy, PPL, PNL, recall, specificity, precision, rejection_rate, conditional_acceptance,
    conditional_rejection, f1_score,
) = PERFORMANCE.values()  # fmt: skip


def multicategory_confusion_matrix(
    label_series: Series, predicted_label_series: Series
) -> dict[str, dict[str, float]] | None:
    """Return how often each label was predicted as each other: {true: {predicted: rows}}.

    Predicted values that no label has are excluded, as smclarify excludes them; None where the
    predictions cannot be read as labels.
    """
    return class_matrix(from_series(label_series), from_series(predicted_label_series))


def class_matrix(label: CodedColumn, predicted: CodedColumn) -> dict[str, dict[str, float]] | None:
    """Count predictions by label, both as columns."""
    missing = bool((label.codes < 0).any())
    order: list[Any] = [*label.used, *([math.nan] if missing else [])]
    order.sort()
    if missing:
        raise TypeError("Input y_true contains NaN.")
    if predicted.kind is not label.kind and order:
        of = type(order[0])
        try:
            predicted = predicted.relabel([of(level) for level in predicted.levels], label.kind)
        except (TypeError, ValueError):
            return None
    place = {level: i for i, level in enumerate(order)}
    true, shown = (
        np.array([*(place.get(level, -1) for level in column.levels), -1])[column.codes]
        for column in (label, predicted)
    )
    both = (true >= 0) & (shown >= 0)
    counts = np.bincount(true[both] * len(order) + shown[both], minlength=len(order) ** 2)
    table = counts.reshape(len(order), len(order)).astype(float).tolist()
    names = [str(level) for level in order]
    return {
        name: dict(zip(names, row, strict=True)) for name, row in zip(names, table, strict=True)
    }
