"""``fairgauge audit``: from a table to a report, and an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fairgauge.cli.data_arguments import Where, read_data, where
from fairgauge.cli.output import check_outputs
from fairgauge.cli.spec_flags import asked, question
from fairgauge.cli.streams import looks, say
from fairgauge.enums import Outcome
from fairgauge.errors import DataError, quote

FORMATS = ("text", "json", "csv", "markdown", "html", "junit")
FAILED, UNDECIDED = 1, 3


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
    help="Verdict that inconclusive rules count as: pass (exit code 0) or fail (1), instead of 3.",
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
    rows = read_data(data, at)
    if what.problems:
        what.check(rows)

    from fairgauge.atomic_files import write_all
    from fairgauge.pipeline import audit
    from fairgauge.render import render
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        report = audit(rows, **what.options)
    text = render(report, format_, **looks(format_))
    write_all({path: render(report, f) for path, f in zip(outputs, formats, strict=True)})
    say(text)
    return exit_code(report.verdict, inconclusive)


def exit_code(verdict: Outcome, inconclusive: str | None) -> int:
    """Return the exit code of a verdict; ``inconclusive`` says what counts as undecided."""
    if verdict is Outcome.INCONCLUSIVE:
        return {None: UNDECIDED, "pass": 0, "fail": FAILED}[inconclusive]
    return FAILED if verdict is Outcome.FAIL else 0


def _format_of(path: str) -> str:
    from fairgauge.render import suffixes

    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        raise DataError(
            f"cannot tell the format of {quote(path)} by its suffix; use {', '.join(suffixes)}"
        )
    return suffixes[suffix]
