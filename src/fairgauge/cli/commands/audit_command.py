"""``fairgauge audit``: from a table to a report, and an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import Where, data_argument, is_url, where
from fairgauge.cli._output import (
    check_outputs,
    print_warnings,
    show_result,
    shown_options,
    shows_result,
    shows_warnings,
)
from fairgauge.cli._spec_flags import Texts, asked, question
from fairgauge.errors import DataError, nearest, quote

TABLES = ("estimates", "groups", "verdicts", "pairs", "findings")


@click.command("audit", cls=Command, short_help="Audit a table, and write a report.")
@data_argument
@question("candidate")
@where(
    "Table of a database, whose URL is DATA; of files, the table of the report to print as CSV: "
    "estimates, groups, verdicts, pairs or findings."
)
@shows_result("report")
def command(
    data: tuple[str, ...],
    at: Where,
    config: str | None,
    format_: str,
    outputs: tuple[str, ...],
    full: bool,
    quiet: bool,
    **flags: Texts,
) -> int:
    """Audit a model, or its training data, for disparities between groups of people.

    DATA is a .csv, .csv.gz, .tsv, .parquet, .jsonl, .json, .arrow or .feather file, several of
    them, a glob, a .cube.json made by "fairgauge count", - for standard input (rows, or the counts
    that "fairgauge count" prints), the address of such files in a store or on the web
    (s3://bucket/loans.parquet, gs://, az://, https://), a table of a lakehouse (delta:FOLDER,
    iceberg:CATALOG.NAMESPACE.TABLE), or the URL of a database (postgresql://user@host/name,
    sqlite:///file.db) with --table or --query.

    A backslash escapes = : * and , in the name of a column.

    \b
    fairgauge audit loans.csv --label approved --prediction predicted --positive yes
        --sensitive sex --sensitive age:40:left --rule 'DI >= 0.8' -o report.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [*data, *([config] if config else [])])
    at, table = _report_table(data, at)
    shown = shown_options(format_, full=full, quiet=quiet, table=table)
    what = asked(config, flags, judges=True)
    rows = what.read(data, at)

    from fairgauge.api.audit import audited
    from fairgauge.question.spec_file import labels_come_later
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        report = audited(rows, later=labels_come_later(config), **what.options)
    if quiet or not shows_warnings(shown["format"]):
        print_warnings(report)
    show_result(report, shown, outputs)
    return report.exit_code


def _report_table(data: Sequence[str], at: Where) -> tuple[Where, str | None]:
    """Return where the rows are, and the table of the report to print.

    ``--table groups`` asks for a table of the report where DATA is no database.
    """
    if at.table is None or not data or any(map(is_url, data)):
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
