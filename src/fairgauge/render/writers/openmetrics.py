"""The OpenMetrics format: the last period of every comparison, for Prometheus.

A file of it suits the textfile collector of the node exporter, or a push gateway.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator

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
    for name, text, value in _OF_COMPARISONS:
        values = [(_subject(report, each), value(each)) for each in report.comparisons]
        yield from _gauge(name, text, values)
    yield from _gauge(
        "state", "1 for the state of a monitored comparison, 0 for the others.",
        [({**_subject(report, each), "state": str(state)}, each.state is state)
         for each in report.comparisons for state in MonitorState],
    )  # fmt: skip
    model = {"model": report.model}
    yield from _gauge(
        "monitor_state", "1 for the state of the monitor, 0 for the others.",
        [({**model, "state": str(state)}, report.state is state) for state in MonitorState],
    )  # fmt: skip
    found = report.concerning(report.periods[-1]) if report.periods else ()
    yield from _gauge(
        "rows_suspected", "Findings about the last period.",
        [({**model, "problem": str(problem)}, sum(each.problem is problem for each in found))
         for problem in HistoryProblem],
    )  # fmt: skip
    yield from _gauge("periods", "Periods that the monitor holds.", [(model, len(report.periods))])
    if report.rows:
        start = dt.datetime.fromisoformat(report.rows[-1].start).timestamp()
        name = "last_period_timestamp_seconds"
        yield from _gauge(name, "Beginning of the last period.", [(model, start)])


def _gauge(
    name: str, text: str, values: Iterable[tuple[dict[str, str], float | None]]
) -> Iterator[str]:
    """Yield a gauge by the labels of its values; nothing where no value is known."""
    held = [(labels, value) for labels, value in values if value is not None]
    if held:
        yield f"# HELP fairgauge_{name} {text}"
        yield f"# TYPE fairgauge_{name} gauge"
    for labels, value in held:
        inside = ",".join(_label(key, written) for key, written in labels.items())
        yield f"fairgauge_{name}{{{inside}}} {_number(value)}"


def _subject(report: MonitorReport, each: MonitoredComparison) -> dict[str, str]:
    subject = {
        "model": report.model, "feature": each.feature, "group": each.group,
        "metric": each.metric, "rule": each.rule,
    }  # fmt: skip
    return subject if each.class_ is None else subject | {"class": each.class_}


def _label(key: str, text: str) -> str:
    return f'{key}="{printable(text).translate(_ESCAPES)}"'


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value) if isinstance(value, float) else str(int(value))


def _last(name: str) -> Callable[[MonitoredComparison], float | None]:
    """Return what reads a number of the last period; None where it has no value."""
    return lambda each: getattr(each.points[-1], name) if each.points else None


def _latest(name: str) -> Callable[[MonitoredComparison], float | None]:
    """Return what reads the last number that is known, such as of all periods so far."""

    def read(each: MonitoredComparison) -> float | None:
        numbers = (getattr(point, name) for point in reversed(each.points))
        return next((number for number in numbers if number is not None), None)

    return read


_OF_COMPARISONS: tuple[tuple[str, str, Callable[[MonitoredComparison], float | None]], ...] = (
    ("metric", "Value of a fairness metric in its last period.", _last("value")),
    ("ci_low", "Lower limit of the 95% confidence interval.", _last("low")),
    ("ci_high", "Upper limit of the 95% confidence interval.", _last("high")),
    ("running", "Value of the rates of all periods so far.", _latest("running")),
    ("running_low", "Lower limit of the 95% confidence sequence.", _latest("running_low")),
    ("running_high", "Upper limit of the 95% confidence sequence.", _latest("running_high")),
    ("evidence", "Evidence that the metric left its tolerated range.", lambda e: e.evidence),
    ("alarm_threshold", "Evidence that raises an alarm.", lambda e: e.threshold),
    ("alarm", "1 where an alarm was raised, 0 otherwise.", lambda e: float(e.alarm is not None)),
    ("undefined", "1 where the last period has no value, 0 otherwise.",
     lambda each: float(_last("value")(each) is None)),
)  # fmt: skip
