"""The OpenMetrics format: the last period of every comparison, for Prometheus.

A file of it suits the textfile collector of the node exporter, or a push gateway.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator

from fairgauge.render.words.display_names import printable
from fairgauge.results.monitor_results import (
    HistoryProblem,
    MonitoredComparison,
    MonitorReport,
    MonitorState,
)

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def write(report: MonitorReport) -> str:
    """Write gauges of the last period; what is undefined is not written."""
    return "\n".join([*_lines(report), "# EOF"]) + "\n"


def _lines(report: MonitorReport) -> Iterator[str]:
    yield from _gauge("fairgauge_metric", "Value of a fairness metric in its last period.",
                      report, lambda each: _last(each, "value"))  # fmt: skip
    yield from _gauge("fairgauge_ci_low", "Lower limit of the 95% confidence interval.",
                      report, lambda each: _last(each, "low"))  # fmt: skip
    yield from _gauge("fairgauge_ci_high", "Upper limit of the 95% confidence interval.",
                      report, lambda each: _last(each, "high"))  # fmt: skip
    yield from _gauge("fairgauge_running", "Value of the rates of all periods so far.",
                      report, lambda each: _latest(each, "running"))  # fmt: skip
    yield from _gauge("fairgauge_running_low", "Lower limit of the 95% confidence sequence.",
                      report, lambda each: _latest(each, "running_low"))  # fmt: skip
    yield from _gauge("fairgauge_running_high", "Upper limit of the 95% confidence sequence.",
                      report, lambda each: _latest(each, "running_high"))  # fmt: skip
    yield from _gauge("fairgauge_evidence", "Evidence that the metric left its tolerated range.",
                      report, lambda each: each.evidence)  # fmt: skip
    yield from _gauge("fairgauge_alarm_threshold", "Evidence that raises an alarm.",
                      report, lambda each: each.threshold)  # fmt: skip
    yield from _gauge("fairgauge_alarm", "1 where an alarm was raised, 0 otherwise.",
                      report, lambda each: float(each.alarm is not None))  # fmt: skip
    yield from _gauge("fairgauge_undefined", "1 where the last period has no value, 0 otherwise.",
                      report, lambda each: float(bool(each.undefined)))  # fmt: skip
    yield from _states(report)
    yield from _findings(report)
    yield "# HELP fairgauge_periods Periods that the monitor holds."
    yield "# TYPE fairgauge_periods gauge"
    yield f"fairgauge_periods{{{_label('model', report.model)}}} {len(report.periods)}"

    if report.rows:
        start = dt.datetime.fromisoformat(report.rows[-1].start)
        yield "# HELP fairgauge_last_period_timestamp_seconds Beginning of the last period."
        yield "# TYPE fairgauge_last_period_timestamp_seconds gauge"
        model = _label("model", report.model)
        yield f"fairgauge_last_period_timestamp_seconds{{{model}}} {_number(start.timestamp())}"


def _findings(report: MonitorReport) -> Iterator[str]:
    """Yield whether something may be wrong with the rows of the last period, or labels are due."""
    yield "# HELP fairgauge_rows_suspected Findings about the last period, and labels that are due."
    yield "# TYPE fairgauge_rows_suspected gauge"
    findings = report.concerning(report.periods[-1]) if report.periods else ()
    for problem in HistoryProblem:
        count = sum(each.problem is problem for each in findings)
        inside = _inside({"model": report.model, "problem": str(problem)})
        yield f"fairgauge_rows_suspected{{{inside}}} {count}"


def _states(report: MonitorReport) -> Iterator[str]:
    """Yield the state of every comparison and of all: 1 for the state, 0 for the others."""
    if report.tested:
        yield "# HELP fairgauge_state 1 for the state of a monitored comparison, 0 for the others."
        yield "# TYPE fairgauge_state gauge"
    for each in report.tested:
        for state in MonitorState:
            inside = _inside({**_subject(report, each), "state": str(state)})
            yield f"fairgauge_state{{{inside}}} {int(each.state is state)}"
    yield "# HELP fairgauge_monitor_state 1 for the state of the monitor, 0 for the others."
    yield "# TYPE fairgauge_monitor_state gauge"
    for state in MonitorState:
        inside = _inside({"model": report.model, "state": str(state)})
        yield f"fairgauge_monitor_state{{{inside}}} {int(report.state is state)}"


def _gauge(
    name: str,
    text: str,
    report: MonitorReport,
    value: Callable[[MonitoredComparison], float | None],
) -> Iterator[str]:
    samples = [(each, value(each)) for each in report.tested]
    held = [(each, number) for each, number in samples if number is not None]
    if not held:
        return
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    for each, number in held:
        yield f"{name}{{{_inside(_subject(report, each))}}} {_number(number)}"


def _subject(report: MonitorReport, each: MonitoredComparison) -> dict[str, str]:
    subject = {
        "model": report.model, "feature": each.feature, "group": each.group,
        "metric": each.metric, "rule": each.rule,
    }  # fmt: skip
    return subject if each.class_ is None else subject | {"class": each.class_}


def _inside(labels: dict[str, str]) -> str:
    return ",".join(_label(key, text) for key, text in labels.items())


def _label(key: str, text: str) -> str:
    return f'{key}="{printable(text).translate(_ESCAPES)}"'


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))


def _latest(each: MonitoredComparison, name: str) -> float | None:
    """Return the last number that is known, such as of all periods so far."""
    numbers = (getattr(point, name) for point in reversed(each.points))
    return next((number for number in numbers if number is not None), None)


def _last(each: MonitoredComparison, name: str) -> float | None:
    """Return a number of the last period; None where it has no value."""
    number: float | None = getattr(each.points[-1], name) if each.points else None
    return number
