"""The OpenMetrics format: the last period of every comparison, for Prometheus.

A file of it suits the textfile collector of the node exporter, or a push gateway.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.render.display_names import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairgauge.report.monitor_results import MonitoredComparison, MonitorReport, Point

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def write(report: MonitorReport) -> str:
    """Write gauges of the last period that has a value; what is undefined is not written."""
    return "\n".join([*_lines(report), "# EOF"]) + "\n"


def _lines(report: MonitorReport) -> Iterator[str]:
    yield from _gauge("fairgauge_metric", "Value of a fairness metric in its last period.",
                      report, lambda each: _last(each, "value"))  # fmt: skip
    yield from _gauge("fairgauge_ci_low", "Lower limit of the 95% confidence interval.",
                      report, lambda each: _last(each, "low"))  # fmt: skip
    yield from _gauge("fairgauge_ci_high", "Upper limit of the 95% confidence interval.",
                      report, lambda each: _last(each, "high"))  # fmt: skip
    yield from _gauge("fairgauge_evidence", "Evidence that the metric left its tolerated range.",
                      report, lambda each: each.evidence)  # fmt: skip
    yield from _gauge("fairgauge_alarm_threshold", "Evidence that raises an alarm.",
                      report, lambda each: each.threshold)  # fmt: skip
    yield from _gauge("fairgauge_alarm", "1 where an alarm was raised, 0 otherwise.",
                      report, lambda each: float(each.alarm is not None))  # fmt: skip
    yield "# HELP fairgauge_periods Periods that the monitor holds."
    yield "# TYPE fairgauge_periods gauge"
    yield f"fairgauge_periods{{{_label('model', report.model)}}} {len(report.periods)}"


def _gauge(
    name: str,
    text: str,
    report: MonitorReport,
    value: Callable[[MonitoredComparison], float | None],
) -> Iterator[str]:
    samples = [(each, value(each)) for each in report.comparisons]
    held = [(each, number) for each, number in samples if number is not None]
    if not held:
        return
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for each, number in held:
        labels = {
            "model": report.model, "feature": each.feature, "group": each.group,
            "metric": each.metric, "rule": each.rule,
        }  # fmt: skip
        inside = ",".join(_label(key, text) for key, text in labels.items())
        yield f"{name}{{{inside}}} {_number(number)}"


def _label(key: str, text: str) -> str:
    return f'{key}="{printable(text).translate(_ESCAPES)}"'


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))


def _last(each: MonitoredComparison, name: str) -> float | None:
    point: Point | None = next((p for p in reversed(each.points) if p.value is not None), None)
    number: float | None = None if point is None else getattr(point, name)
    return number
