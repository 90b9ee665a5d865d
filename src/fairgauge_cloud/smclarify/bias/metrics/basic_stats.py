"""Sizes, confusion matrices and performance, under smclarify's names.

0/0 is 0.
"""

# ruff: noqa: N802, N803, E501 - the names are smclarify's
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge_cloud._coded_column import CodedColumn, from_series
from fairgauge_cloud.smclarify.bias.metrics.common import binary_confusion_matrix, divide

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


def accuracy(TP: int, FP: int, TN: int, FN: int) -> float:
    """Proportion of inputs assigned the correct predicted label by the model."""
    return divide(TP + TN, TP + FP + TN + FN)


def PPL(TP: int, FP: int, TN: int, FN: int) -> float:
    """Proportion of input assigned in positive predicted label."""
    return divide(TP + FP, TP + FP + TN + FN)


def PNL(TP: int, FP: int, TN: int, FN: int) -> float:
    """Proportion of input assigned the negative predicted label."""
    return divide(TN + FN, TP + FP + TN + FN)


def recall(TP: int, FN: int) -> float:
    """Proportion of inputs with positive observed label correctly assigned the positive predicted label."""
    return divide(TP, TP + FN)


def specificity(TN: int, FP: int) -> float:
    """Proportion of inputs with negative observed label correctly assigned the negative predicted label."""
    return divide(TN, TN + FP)


def precision(TP: int, FP: int) -> float:
    """Proportion of inputs with positive predicted label that actually have a positive observed label."""
    return divide(TP, TP + FP)


def rejection_rate(TN: int, FN: int) -> float:
    """Proportion of inputs with negative predicted label that actually have a negative observed label."""
    return divide(TN, TN + FN)


def conditional_acceptance(TP: int, FP: int, FN: int) -> float:
    """Ratio between the positive observed labels and positive predicted labels."""
    return divide(TP + FN, TP + FP)


def conditional_rejection(FP: int, TN: int, FN: int) -> float:
    """Ratio between the negative observed labels and negative predicted labels."""
    return divide(TN + FP, TN + FN)


def f1_score(TP: int, FP: int, FN: int) -> float:
    """Harmonic mean of precision and recall."""
    return divide(2 * TP, 2 * TP + FP + FN)


PERFORMANCE: dict[str, Callable[..., float]] = {
    "Accuracy": accuracy,
    "Proportion of Positive Predictions in Labels": PPL,
    "Proportion of Negative Predictions in Labels": PNL,
    "True Positive Rate / Recall": recall,
    "True Negative Rate / Specificity": specificity,
    "Acceptance Rate / Precision": precision,
    "Rejection Rate": rejection_rate,
    "Conditional Acceptance": conditional_acceptance,
    "Conditional Rejection": conditional_rejection,
    "F1 Score": f1_score,
}
"""The model performance block: what it calls each function, in its order."""

_NO_MISSING = "Input y_true contains NaN."


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
        raise TypeError(_NO_MISSING)
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
