"""``fairgauge audit``: from a table to a report, and an exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli.command_group import Command
from fairgauge.cli.data_arguments import Where, is_url, where
from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.report_warnings import print_warnings, shows_warnings
from fairgauge.cli.spec_flags import Texts, asked, question
from fairgauge.cli.streams import print_result, terminal_style
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.errors import DataError, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.results.report import Report

TABLES = ("estimates", "groups", "verdicts", "pairs", "findings")
_EXIT_CODES = {Outcome.FAIL: 1, Outcome.INCONCLUSIVE: 3}


@click.command("audit", cls=Command, short_help="Audit a table, and write a report.")
@click.argument("data", nargs=-1, required=True)
@question
@where(
    "Table of a database, whose URL is DATA; of files, the table of the report to print as CSV: "
    "estimates, groups, verdicts, pairs or findings."
)
@format_option("report")
@output_option("report")
@click.option("--full", is_flag=True, help="Print the whole report, not one screen of it.")
@click.option("-q", "--quiet", is_flag=True, help="Print one line with the verdict.")
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
    full: bool,
    quiet: bool,
    inconclusive: str | None,
    **flags: Texts,
) -> int:
    """Audit a model, or its training data, for disparities between groups of people.

    DATA is a .csv, .csv.gz, .tsv, .parquet, .jsonl, .json, .arrow or .feather file, several of
    them, a glob, a .cube.json made by "fairgauge count", - for standard input (rows, or the counts
    that "fairgauge count" prints), or the URL of a database (postgresql://user@host/name,
    sqlite:///file.db) with --table or --query.

    A backslash escapes = : * and , in the name of a column.

    \b
    fairgauge audit loans.csv --label approved --prediction predicted --positive yes
        --sensitive sex --sensitive age:40:left --rule 'DI >= 0.8' -o report.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [*data, *([config] if config else [])])
    at, table = _report_table(data, at)
    shown = _shown(format_, full=full, quiet=quiet, table=table)
    what = asked(config, flags)
    rows = what.read(data, at)

    from fairgauge.api.audit import audit
    from fairgauge.render.formats import render, save_all
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        report = audit(rows, **what.options)
    if inconclusive is not None:
        report = _counted_as(report, Outcome(inconclusive))
    text = render(report, **shown)
    save_all(report, outputs)
    if quiet or not shows_warnings(shown["format"]):
        print_warnings(report)
    print_result(text)
    return _EXIT_CODES.get(report.verdict, 0)


def _counted_as(report: Report, outcome: Outcome) -> Report:
    """Return the report with every undecided verdict replaced by an outcome, and a note of it."""
    from fairgauge.results.scopes import Diagnostic
    from fairgauge.results.verdicts import counted_as, overall

    verdicts = counted_as(report.verdicts, outcome)
    changed = sum(one != other for one, other in zip(report.verdicts, verdicts, strict=True))
    if not changed:
        return report
    note = Diagnostic.note(DiagnosticCode.COUNTED_AS, verdicts=changed, outcome=str(outcome))
    diagnostics = [*report.diagnostics, note]
    if outcome is Outcome.FAIL:  # the probability of a false fail is that of decided verdicts
        diagnostics = [each for each in diagnostics if each.code is not DiagnosticCode.FALSE_FAIL]
    return replace(
        report, verdicts=verdicts, verdict=overall(verdicts), diagnostics=tuple(diagnostics)
    )


def _report_table(data: Sequence[str], at: Where) -> tuple[Where, str | None]:
    """Return where the rows are, and the table of the report to print.

    ``--table groups`` asks for a table of the report where DATA is no database.

    Raises
    ------
    DataError
        The report has no such table, or DATA is the file of a database.
    """
    if at.table is None or any(map(is_url, data)):
        return at, None
    from fairgauge.scan.input_files import refuse_database

    if at.table not in TABLES:
        for path in data:
            refuse_database(path)
        raise DataError(
            f"--table {quote(at.table)} is no table of the report.{nearest(at.table, TABLES)} Use "
            f"{', '.join(TABLES)}; or, for a table of a database, give its URL as DATA"
        )
    return replace(at, table=None), at.table


def _shown(format_: str, *, full: bool, quiet: bool, table: str | None) -> dict[str, Any]:
    """Return the format of standard output and its options.

    Raises
    ------
    DataError
        Options that exclude each other.
    """
    if table is not None:
        if format_ not in ("text", "csv"):
            raise DataError(f"--table {table} prints CSV; remove --format {format_}")
        if full or quiet:
            raise DataError(f"--table {table} prints CSV; remove {'--full' if full else '--quiet'}")
        return {"format": "csv", "table": table}
    if quiet and full:
        raise DataError("--quiet prints one line and --full everything; choose one")
    if quiet and format_ != "text":
        raise DataError(f"--quiet is an option of text, not of {format_}")
    if full and format_ not in ("text", "markdown"):
        raise DataError(f"--full is an option of text and markdown; {format_} is always whole")
    options: dict[str, Any] = {"format": format_} | terminal_style(format_)
    if full:
        options["full"] = True
    if quiet:
        options["quiet"] = True
    return options
