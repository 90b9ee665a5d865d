"""JUnit XML: every verdict is a test case, so that a pipeline shows what failed.

Of a monitor every comparison is one, and an undecided one an error: nobody sees what it would be.
What else leaves a monitor undecided is one too, so that its exit code and this file agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from fairgauge.enums import Outcome
from fairgauge.reasons import ReasonCode
from fairgauge.render.documents.monitored import describe_unmatched
from fairgauge.render.words.display_names import file_of, printable, shorten
from fairgauge.render.words.metric_words import monitored_rules
from fairgauge.render.words.numbers import listing
from fairgauge.render.words.verdict_sentences import judged_groups
from fairgauge.results.monitor_results import MonitorReport, MonitorState
from fairgauge.results.report import Report
from fairgauge.results.verdicts import Verdict

_LONGEST = 1_000


def write(report: Report | MonitorReport) -> str:
    """Write the verdicts as JUnit XML; what an audit could not decide counts as skipped."""
    if isinstance(report, MonitorReport):
        cases = [*_monitor_cases(report)]
        name, undecided = report.model, "error"
    else:
        cases = [_verdict_case(report, each) for each in report.verdicts]
        name, undecided = file_of(report.data.source), "skipped"
    return "\n".join(_lines(name, report.created, cases, undecided)) + "\n"


class _Case(NamedTuple):
    """A test case; ``counted`` is whether something undecided counts as its outcome."""

    where: str
    name: str
    outcome: Outcome
    message: str
    counted: bool


def _verdict_case(report: Report, verdict: Verdict) -> _Case:
    where = ".".join(part for part in ("fairgauge", verdict.feature) if part)
    name = ": ".join(filter(None, (verdict.rule, listing(judged_groups(report, verdict)))))
    counted = verdict.reason.code is ReasonCode.COUNTED_AS
    outcome = "ignored" if verdict.outcome is Outcome.NONE else verdict.outcome
    message = f"{outcome}: {verdict.says}"
    return _Case(where, name, verdict.outcome, message, counted)


def _monitor_cases(report: MonitorReport) -> Iterator[_Case]:
    for each in report.comparisons:
        class_ = "" if each.class_ is None else f", class {each.class_}"
        name = f"{each.rule}: {each.group}{class_}"
        yield _comparison_case(
            each.feature, name, each.state, report.outcome(each.state), each.says
        )
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
    where = ".".join(filter(None, ("fairgauge", feature)))
    return _Case(where, name, outcome, message, counted)


def _lines(name: str, created: str, cases: Sequence[_Case], undecided: str) -> Iterator[str]:
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
    names = f"classname={_attribute(case.where)} name={_attribute(case.name)}"
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
