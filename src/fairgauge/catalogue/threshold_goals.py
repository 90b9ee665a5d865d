"""Which metrics thresholds are chosen for."""

from __future__ import annotations

from typing import TypeGuard

from fairgauge.catalogue.comparisons import Combined, Contrast
from fairgauge.catalogue.statistics import Rate


def is_of_decisions(metric: object) -> TypeGuard[Contrast | Combined]:
    """Return whether a metric is one that thresholds are chosen for.

    That is a difference or a ratio of a rate of decisions, or the worst of several.
    """
    if isinstance(metric, Combined):
        return metric.how == "worst" and all(map(is_of_decisions, metric.of))
    return (
        isinstance(metric, Contrast)
        and isinstance(metric.of, Rate)
        and "prediction" in metric.needs
    )
