"""Bias metrics for monitoring systems: OpenMetrics text, or the entries of CloudWatch."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from fairgauge.compat.clarify.analysis_files import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.compat.clarify.analysis_files import Value

CLOUDWATCH_INFINITY = 2.348543e108
"""What the service sends for infinity, which CloudWatch does not take."""


def cloudwatch_value(value: float) -> float:
    """Return a value as CloudWatch takes it.

    >>> cloudwatch_value(float("-inf"))
    -2.348543e+108
    """
    return math.copysign(CLOUDWATCH_INFINITY, value) if math.isinf(value) else value


def to_cloudwatch(values: Iterable[Value]) -> str:
    """Return the metric data of the service as JSON; metrics without a value are not sent."""
    entries: list[dict[str, Any]] = [
        {
            "MetricName": f"bias_metric_{each.metric}",
            "Dimensions": [{"Name": n, "Value": v} for n, v in _dimensions(each).items()],
            "Value": cloudwatch_value(each.value),
        }
        for each in values
        if each.value is not None
    ]
    return json.dumps({"MetricData": entries}, indent=2, ensure_ascii=False) + "\n"


def to_openmetrics(values: Iterable[Value]) -> str:
    """Return OpenMetrics text under the names that the service gives its metrics."""
    families: dict[str, list[str]] = {}
    for each in values:
        if each.value is None:
            continue
        labels = ",".join(f'{n}="{_escaped(v)}"' for n, v in _dimensions(each).items())
        name = f"bias_metric_{each.metric}"
        families.setdefault(name, []).append(f"{name}{{{labels}}} {_number(each.value)}")
    lines = []
    for name, samples in families.items():
        lines += [f"# TYPE {name} gauge", *samples]
    return "\n".join([*lines, "# EOF", ""])


def _dimensions(value: Value) -> dict[str, str]:
    return {
        "BiasStage": STAGES[value.stage],
        "Label": value.label,
        "LabelValue": value.label_value,
        "Facet": value.facet,
        "FacetValue": value.facet_value,
    }


def _number(value: float) -> str:
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
