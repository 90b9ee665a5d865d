"""``fairgauge audit``: from a table to a report, and an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli.data_arguments import Where, open_data, read_data, where
from fairgauge.cli.output import check_outputs
from fairgauge.cli.spec_flags import asked, question
from fairgauge.cli.streams import looks, say
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from fairgauge.report.report import Report

FORMATS = ("text", "json", "csv", "markdown", "html", "junit")
_EXIT_CODES = {Outcome.FAIL: 1, Outcome.INCONCLUSIVE: 3}


@click.command("audit", short_help="From a table to a report.")
@click.argument("data", nargs=-1, required=True)
@question
@where
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    help="Format of standard output (default text).",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Report file in the format of its suffix: .html .json .csv .md .xml .txt. Repeatable.",
)
@click.option(
    "--inconclusive",
    type=click.Choice(("pass", "fail")),
    help="Verdict that what cannot be decided counts as, in every output: pass or fail.",
)
def command(
    data: tuple[str, ...],
    at: Where,
    config: str | None,
    format_: str,
    outputs: tuple[str, ...],
    inconclusive: str | None,
    **flags: Any,
) -> int:
    """Audit a model, or the data it learns from, for how it treats groups of people.

    DATA is a .csv, .csv.gz, .tsv, .parquet, .jsonl, .json, .arrow or .feather file, several of
    them, a glob, a .cube.json made by "fairgauge count", - for standard input, or the URL of a
    database (postgresql://user@host/name, sqlite:///file.db) with --table or --query.

    A backslash escapes = : * and , in the name of a column.

    \b
    fairgauge audit loans.csv --label approved --prediction predicted --positive yes
        --sensitive sex --sensitive age:40 --rule 'DI >= 0.8' -o report.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [*data, *([config] if config else [])])
    formats = [_format_of(path) for path in outputs]
    what = asked(config, flags)
    if what.problems:
        what.check(open_data(data, at))
    rows = read_data(data, at)

    from fairgauge.atomic_files import write_all
    from fairgauge.pipeline import audit
    from fairgauge.render import render
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        report = audit(rows, **what.options)
    if inconclusive is not None:
        report = _counted_as(report, Outcome(inconclusive))
    text = render(report, format_, **looks(format_))
    write_all({path: render(report, f) for path, f in zip(outputs, formats, strict=True)})
    say(text)
    return _EXIT_CODES.get(report.verdict, 0)


def _counted_as(report: Report, outcome: Outcome) -> Report:
    """Return a report in which what decides nothing counts as a verdict, and which notes it."""
    from fairgauge.report.results import Diagnostic
    from fairgauge.report.verdicts import counted_as, overall

    verdicts = counted_as(report.verdicts, outcome)
    changed = sum(one != other for one, other in zip(report.verdicts, verdicts, strict=True))
    if not changed:
        return report
    note = Diagnostic.note(DiagnosticCode.COUNTED_AS, verdicts=changed, outcome=str(outcome))
    diagnostics = (*report.diagnostics, note)
    return replace(report, verdicts=verdicts, verdict=overall(verdicts), diagnostics=diagnostics)


def _format_of(path: str) -> str:
    from fairgauge.render import suffixes

    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise DataError(
            f"cannot tell the format of {quote(path)} by its suffix; use {', '.join(suffixes)}"
        )
    return suffixes[suffix]
