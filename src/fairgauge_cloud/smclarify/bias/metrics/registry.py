"""The registered metrics, in smclarify's order, and the decorators that register further ones."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

from fairgauge_cloud._service_metrics import REGISTERED_POST, REGISTERED_PRE
from fairgauge_cloud.smclarify.bias.metrics import posttraining as after
from fairgauge_cloud.smclarify.bias.metrics import pretraining as before

Metric = TypeVar("Metric", bound=Callable[..., object])

PRETRAINING_METRIC_FUNCTIONS: list[Callable[..., object]] = [
    getattr(before, name) for name in REGISTERED_PRE
]
POSTTRAINING_METRIC_FUNCTIONS: list[Callable[..., object]] = [
    getattr(after, name) for name in REGISTERED_POST
]


def pretraining(function: Metric) -> Metric:
    """Register a metric of labels; it is called with those report arguments that it names."""
    return _add_metric(PRETRAINING_METRIC_FUNCTIONS, function)


def posttraining(function: Metric) -> Metric:
    """Register a metric of predictions, as `pretraining` does one of labels."""
    return _add_metric(POSTTRAINING_METRIC_FUNCTIONS, function)


def _add_metric(metrics: list[Callable[..., object]], function: Metric) -> Metric:
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function} is not a function")
    if function.__name__ in all_metrics():
        raise AssertionError(f"{function.__name__} is already registered")
    if not function.__doc__:
        raise ValueError("Metric function doesn't have a docstring")
    metrics.append(function)
    return function


def all_metrics() -> list[str]:
    """Return the names of all metrics."""
    every = [*PRETRAINING_METRIC_FUNCTIONS, *POSTTRAINING_METRIC_FUNCTIONS]
    return [function.__name__ for function in every]
