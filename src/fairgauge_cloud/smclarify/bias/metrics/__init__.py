"""The metric functions under smclarify's names and argument lists."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar

from fairgauge_cloud.smclarify.bias.metrics import (
    basic_stats,
    common,
    posttraining,
    pretraining,
    registry,
)
from fairgauge_cloud.smclarify.bias.metrics.posttraining import *  # noqa: F403
from fairgauge_cloud.smclarify.bias.metrics.pretraining import *  # noqa: F403

if TYPE_CHECKING:
    from collections.abc import Callable

    Result = TypeVar("Result")

PRETRAINING_METRICS = registry.PRETRAINING_METRIC_FUNCTIONS
POSTTRAINING_METRICS = registry.POSTTRAINING_METRIC_FUNCTIONS

__all__ = [
    *pretraining.__all__, *posttraining.__all__, "POSTTRAINING_METRICS", "PRETRAINING_METRICS",
    "basic_stats", "call_metric", "common", "posttraining",
    "pretraining", "registry",
]  # fmt: skip


def call_metric(metric: Callable[..., Result], **kwargs: object) -> Result:
    """Call a metric with those of the arguments that it takes."""
    return metric(**{name: kwargs[name] for name in inspect.signature(metric).parameters})
