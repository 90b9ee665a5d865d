"""Bias metrics for monitoring systems: OpenMetrics text, or the entries of CloudWatch."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from fairgauge.compat.clarify.analysis_files import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.compat.clarify.analysis_files import MetricValue

CLOUDWATCH_INFINITY = 2.0**360
"""What stands for infinity: the largest number that CloudWatch takes, about 2.348543e108."""
NAMESPACES = {
    True: "aws/sagemaker/Endpoints/bias-metrics",
    False: "aws/sagemaker/ModelMonitoring/bias-metrics",
}
"""The namespace of the metrics: of an endpoint, or of data without one."""
_NOTHING = "(nothing)"


def cloudwatch_value(value: float) -> float:
    """Return a value as CloudWatch takes it.

    >>> cloudwatch_value(float("-inf")) == -(2.0**360)
    True
    """
    return max(-CLOUDWATCH_INFINITY, min(CLOUDWATCH_INFINITY, value))


def to_cloudwatch(
    values: Iterable[MetricValue], endpoint: str | None = None, schedule: str | None = None
) -> str:
    """Return the input of CloudWatch's PutMetricData; metrics without a value are not sent.

    Parameters
    ----------
    values : iterable of MetricValue
    endpoint, schedule : str, optional
        The names of the endpoint and of its monitoring schedule, as further dimensions.
    """
    more = {"Endpoint": endpoint, "MonitoringSchedule": schedule}
    named = {name: text for name, text in more.items() if text}
    entries: list[dict[str, object]] = [
        {
            "MetricName": f"bias_metric_{each.metric}",
            "Dimensions": [
                {"Name": name, "Value": text or _NOTHING}
                for name, text in (named | _dimensions(each)).items()
            ],
            "Value": cloudwatch_value(each.value),
        }
        for each in values
        if each.value is not None
    ]
    found = {"Namespace": NAMESPACES[bool(endpoint)], "MetricData": entries}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def to_openmetrics(values: Iterable[MetricValue]) -> str:
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


def _dimensions(value: MetricValue) -> dict[str, str]:
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
