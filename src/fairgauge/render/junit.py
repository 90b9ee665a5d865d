"""JUnit XML: every verdict is a test case, so that a pipeline shows what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from fairgauge.enums import Outcome
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.question import source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.report.report import Report
    from fairgauge.report.verdicts import Verdict

_LONGEST = 1_000


def write(report: Report) -> str:
    """Write the verdicts as JUnit XML; what could not be decided counts as skipped."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    verdicts = report.verdicts
    failures = sum(each.outcome is Outcome.FAIL for each in verdicts)
    skipped = sum(each.outcome not in (Outcome.FAIL, Outcome.PASS) for each in verdicts)
    counts = f'tests="{len(verdicts)}" failures="{failures}" errors="0" skipped="{skipped}"'
    when = report.created.split("+")[0]
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="fairgauge" {counts}>'
    yield f'  <testsuite name={_attribute(source(report))} {counts} time="0" timestamp="{when}">'
    for each in verdicts:
        yield from _case(each)
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(verdict: Verdict) -> Iterator[str]:
    where = ".".join(part for part in ("fairgauge", verdict.feature) if part)
    name = f"{verdict.rule}: {verdict.group}" if verdict.group else verdict.rule
    opening = f'    <testcase classname={_attribute(where)} name={_attribute(name)} time="0"'
    if verdict.outcome is Outcome.PASS:
        yield f"{opening}/>"
        return
    tag = "failure" if verdict.outcome is Outcome.FAIL else "skipped"
    message = f"{verdict.outcome}: {verdict.says}"
    yield f"{opening}>"
    yield f"      <{tag} message={_attribute(message)}/>"
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(shorten(printable(text), _LONGEST))
