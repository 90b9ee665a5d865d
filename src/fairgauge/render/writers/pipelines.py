"""What pipelines read: JUnit XML of verdicts, and the last period of a monitor as OpenMetrics.

In JUnit every verdict is a test case, so that a pipeline shows what failed. Of a monitor every
comparison is one, and an undecided one an error: nobody sees what it would be. What else leaves a
monitor undecided is one too, so that its exit code and this file agree.

A file of OpenMetrics suits the textfile collector of Prometheus's node exporter, or a push gateway.
docs/reference/monitoring.md states what each gauge is, which every scrape would state again.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from fairgauge.enums import Outcome
from fairgauge.reasons import ReasonCode
from fairgauge.render.documents.monitored import describe_unmatched
from fairgauge.render.page import stated_by_author
from fairgauge.render.words.display_names import file_of, printable, shorten
from fairgauge.render.words.metric_words import monitored_rules
from fairgauge.render.words.numbers import listing
from fairgauge.render.words.question_sentences import rounded_counts
from fairgauge.render.words.verdict_sentences import judged_groups
from fairgauge.results import monitor_results as monitored
from fairgauge.results.monitor_results import MonitorReport, MonitorState
from fairgauge.results.report import Report
from fairgauge.results.verdicts import Verdict

_LONGEST = 1_000


def write_junit(report: Report | MonitorReport) -> str:
    """Write the verdicts as JUnit XML; what an audit could not decide counts as skipped."""
    if isinstance(report, MonitorReport):
        cases = [*_monitor_cases(report)]
        name, undecided = report.model, "error"
    else:
        cases = [_verdict_case(report, each) for each in report.verdicts]
        name, undecided = file_of(report.data.source), "skipped"
        if rounded := rounded_counts(report):
            name += f": {rounded}"
        name = " ".join((name, *stated_by_author(report)))
    return "\n".join(_suite_lines(name, report.created, cases, undecided)) + "\n"


class _Case(NamedTuple):
    """A test case; ``counted`` is whether something undecided counts as its outcome."""

    feature: str | None
    name: str
    outcome: Outcome
    message: str
    counted: bool


def _verdict_case(report: Report, verdict: Verdict) -> _Case:
    name = ": ".join(filter(None, (verdict.rule, listing(judged_groups(report, verdict)))))
    counted = verdict.reason.code is ReasonCode.COUNTED_AS
    outcome = "ignored" if verdict.outcome is Outcome.NONE else verdict.outcome
    return _Case(verdict.feature, name, verdict.outcome, f"{outcome}: {verdict.says}", counted)


def _monitor_cases(report: MonitorReport) -> Iterator[_Case]:
    for each in report.comparisons:
        class_ = "" if each.class_ is None else f", class {each.class_}"
        name = f"{each.rule}: {each.group}{class_}"
        outcome = report.outcome(each.state)
        yield _comparison_case(each.feature, name, each.state, outcome, each.says)
    rules = monitored_rules(report)
    for absent in report.unmatched:
        name = ": ".join(filter(None, (absent.rule, absent.group)))
        outcome = report.outcome(MonitorState.INSUFFICIENT, absent=True)
        says = describe_unmatched(absent, rules[absent.rule])
        yield _comparison_case(absent.feature, name, MonitorState.INSUFFICIENT, outcome, says)
    for fault in report.faults:
        name = f"{fault.problem}: {fault.value or fault.period}"
        outcome = report.outcome(MonitorState.NO_ALARM, absent=True)
        yield _comparison_case(fault.column, name, MonitorState.NO_ALARM, outcome, fault.says)


def _comparison_case(
    feature: str | None, name: str, state: MonitorState, outcome: Outcome, says: str
) -> _Case:
    decided = state in (MonitorState.ALARM, MonitorState.NO_ALARM)
    counted = not decided and outcome in (Outcome.PASS, Outcome.FAIL)
    message = f"{state}, counted as {outcome}: {says}" if counted else says
    return _Case(feature, name, outcome, message, counted)


def _suite_lines(name: str, created: str, cases: Sequence[_Case], undecided: str) -> Iterator[str]:
    failures = sum(each.outcome is Outcome.FAIL for each in cases)
    others = sum(each.outcome not in (Outcome.FAIL, Outcome.PASS) for each in cases)
    errors, skipped = (others, 0) if undecided == "error" else (0, others)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    when = created.split("+")[0]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="fairgauge" {counts}>'
    yield f'  <testsuite name={_attribute(name)} {counts} time="0" timestamp="{when}">'
    for each in cases:
        yield from _case(each, undecided)
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(case: _Case, undecided: str) -> Iterator[str]:
    where = ".".join(filter(None, ("fairgauge", case.feature)))
    names = f"classname={_attribute(where)} name={_attribute(case.name)}"
    if case.outcome is Outcome.PASS and not case.counted:
        yield f'    <testcase {names} time="0"/>'
        return
    yield f'    <testcase {names} time="0">'
    if case.outcome is Outcome.PASS:
        yield f"      <system-out>{escape(_text(case.message))}</system-out>"
    else:
        tag = "failure" if case.outcome is Outcome.FAIL else undecided
        yield f"      <{tag} message={_attribute(case.message)}/>"
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_text(text))


def _text(text: str) -> str:
    return shorten(printable(text), _LONGEST)


# ---- OpenMetrics

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def write_openmetrics(report: MonitorReport) -> str:
    """Write gauges of the last period; what is undefined is not written."""
    return "\n".join([*_gauge_lines(report), "# EOF"]) + "\n"


def _gauge_lines(report: MonitorReport) -> Iterator[str]:
    model = {"model": report.model}
    subjects = [
        {**model, "feature": each.feature, "group": each.group, "metric": each.metric,
         "rule": each.rule, **({} if each.class_ is None else {"class": each.class_})}
        for each in report.comparisons
    ]  # fmt: skip
    known = list(zip(subjects, report.comparisons, strict=True))
    numbers = [(subject, _numbers_of(each)) for subject, each in known]
    for name in numbers[0][1] if numbers else ():
        yield from _gauge(name, [(subject, values[name]) for subject, values in numbers])
    states = [
        (own | {"state": str(s)}, each.state is s) for own, each in known for s in MonitorState
    ]
    yield from _gauge("state", states)
    states = [(model | {"state": str(s)}, report.state is s) for s in MonitorState]
    yield from _gauge("monitor_state", states)
    counted = Counter(each.problem for each in report.faults)
    problems = [(model | {"problem": str(e)}, counted[e]) for e in monitored.HistoryProblem]
    yield from _gauge("rows_suspected", problems)
    yield from _gauge("periods", [(model, len(report.periods))])
    if report.rows:
        start = dt.datetime.fromisoformat(report.rows[-1].start).timestamp()
        yield from _gauge("last_period_timestamp_seconds", [(model, start)])


def _gauge(name: str, values: Iterable[tuple[dict[str, str], float | None]]) -> Iterator[str]:
    # a gauge by the labels of its values; nothing where no value is known
    held = [(labels, value) for labels, value in values if value is not None]
    if held:
        for kind, text in (("HELP", "docs/reference/monitoring.md"), ("TYPE", "gauge")):
            yield f"# {kind} fairgauge_{name} {text}"
    for labels, value in held:
        safe = ((key, printable(text).translate(_ESCAPES)) for key, text in labels.items())
        inside = ",".join(f'{key}="{text}"' for key, text in safe)
        number = str(int(value)) if not isinstance(value, float) else repr(value)
        if isinstance(value, float) and math.isinf(value):
            number = "+Inf" if value > 0 else "-Inf"
        yield f"fairgauge_{name}{{{inside}}} {number}"


def _numbers_of(each: monitored.MonitoredComparison) -> dict[str, float | None]:
    # of the last period, or the last that has it; None where there is no value
    last = each.points[-1] if each.points else None

    def latest(name: str) -> float | None:
        values = (getattr(point, name) for point in reversed(each.points))
        return next((value for value in values if value is not None), None)

    own = (None, None, None) if last is None else (last.value, last.low, last.high)
    return {
        **dict(zip(("metric", "ci_low", "ci_high"), own, strict=True)),
        **{name: latest(name) for name in ("running", "running_low", "running_high")},
        "evidence": each.evidence, "alarm_threshold": each.threshold,
        "alarm": float(each.alarm is not None), "undefined": float(own[0] is None),
    }  # fmt: skip
