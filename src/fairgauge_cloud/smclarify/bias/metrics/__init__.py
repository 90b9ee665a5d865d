"""The metric functions under smclarify's names and argument lists."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar

from fairgauge_cloud.smclarify.bias.metrics import (
    basic_stats,
    common,
    constants,
    posttraining,
    pretraining,
    registry,
)
from fairgauge_cloud.smclarify.bias.metrics.posttraining import (
    AD,
    CDDPL,
    DAR,
    DCA,
    DCR,
    DI,
    DPPL,
    DRR,
    FT,
    GE,
    RD,
    SD,
    TE,
)
from fairgauge_cloud.smclarify.bias.metrics.pretraining import CDDL, CI, DPL, JS, KL, KS, LP, TVD

if TYPE_CHECKING:
    from collections.abc import Callable

    from pandas import Series

    Result = TypeVar("Result")

PRETRAINING_METRICS = registry.PRETRAINING_METRIC_FUNCTIONS
POSTTRAINING_METRICS = registry.POSTTRAINING_METRIC_FUNCTIONS

__all__ = [
    "AD",
    "CDDL",
    "CDDPL",
    "CI",
    "DAR",
    "DCA",
    "DCR",
    "DI",
    "DPL",
    "DPPL",
    "DRR",
    "FT",
    "GE",
    "JS",
    "KL",
    "KS",
    "LP",
    "POSTTRAINING_METRICS",
    "PRETRAINING_METRICS",
    "RD",
    "SD",
    "TE",
    "TVD",
    "basic_stats",
    "call_metric",
    "common",
    "constants",
    "metric_one_vs_all",
    "posttraining",
    "pretraining",
    "registry",
]


def call_metric(metric: Callable[..., Result], **kwargs: object) -> Result:
    """Call a metric with those of the arguments that it takes."""
    return metric(**{name: kwargs[name] for name in inspect.signature(metric).parameters})


def metric_one_vs_all(
    metric: Callable[..., Result], feature: Series, **kwargs: object
) -> dict[object, Result]:
    """Return a metric of every value of a column against all others."""
    return {
        value: call_metric(
            metric, feature=feature, sensitive_facet_index=(feature == value), **kwargs
        )
        for value in feature.unique()
    }
