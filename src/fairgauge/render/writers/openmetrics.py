"""The OpenMetrics format: the last period of every comparison, for Prometheus.

A file of it suits the textfile collector of the node exporter, or a push gateway.
docs/monitoring.md states what each gauge is, which every scrape would state again.
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
    model = {"model": report.model}
    subjects = [
        {**model, "feature": each.feature, "group": each.group, "metric": each.metric,
         "rule": each.rule, **({} if each.class_ is None else {"class": each.class_})}
        for each in report.comparisons
    ]  # fmt: skip
    known = list(zip(subjects, report.comparisons, strict=True))
    for name, value in _OF_COMPARISONS.items():
        yield from _gauge(name, [(subject, value(each)) for subject, each in known])
    states = [
        (own | {"state": str(s)}, each.state is s) for own, each in known for s in MonitorState
    ]
    yield from _gauge("state", states)
    states = [(model | {"state": str(s)}, report.state is s) for s in MonitorState]
    yield from _gauge("monitor_state", states)
    found = report.concerning(report.periods[-1]) if report.periods else ()
    problems = [
        (model | {"problem": str(problem)}, sum(each.problem is problem for each in found))
        for problem in HistoryProblem
    ]
    yield from _gauge("rows_suspected", problems)
    yield from _gauge("periods", [(model, len(report.periods))])
    if report.rows:
        start = dt.datetime.fromisoformat(report.rows[-1].start).timestamp()
        yield from _gauge("last_period_timestamp_seconds", [(model, start)])


def _gauge(name: str, values: Iterable[tuple[dict[str, str], float | None]]) -> Iterator[str]:
    # a gauge by the labels of its values; nothing where no value is known
    held = [(labels, value) for labels, value in values if value is not None]
    if held:
        for kind, text in (("HELP", "docs/monitoring.md"), ("TYPE", "gauge")):
            yield f"# {kind} fairgauge_{name} {text}"
    for labels, value in held:
        inside = ",".join(
            f'{key}="{printable(text).translate(_ESCAPES)}"' for key, text in labels.items()
        )
        number = str(int(value)) if not isinstance(value, float) else repr(value)
        if isinstance(value, float) and math.isinf(value):
            number = "+Inf" if value > 0 else "-Inf"
        yield f"fairgauge_{name}{{{inside}}} {number}"


def _read_last(name: str) -> Callable[[MonitoredComparison], float | None]:
    # what reads a number of the last period; None where it has no value
    return lambda each: getattr(each.points[-1], name) if each.points else None


def _read_latest(name: str) -> Callable[[MonitoredComparison], float | None]:
    return lambda each: next(
        (value for p in reversed(each.points) if (value := getattr(p, name)) is not None), None
    )


_OF_COMPARISONS: dict[str, Callable[[MonitoredComparison], float | None]] = {
    "metric": _read_last("value"),
    "ci_low": _read_last("low"),
    "ci_high": _read_last("high"),
    "running": _read_latest("running"),
    "running_low": _read_latest("running_low"),
    "running_high": _read_latest("running_high"),
    "evidence": lambda each: each.evidence,
    "alarm_threshold": lambda each: each.threshold,
    "alarm": lambda each: float(each.alarm is not None),
    "undefined": lambda each: float(not each.points or each.points[-1].value is None),
}
