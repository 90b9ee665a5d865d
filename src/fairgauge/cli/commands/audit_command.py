"""``fairgauge audit``: from a table to a report, and an exit code."""

from __future__ import annotations

from dataclasses import replace

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, is_url, takes_data
from fairgauge.cli._output import Output, shows_result
from fairgauge.cli._spec_flags import Texts, asked, question
from fairgauge.errors import DataError, nearest, quote

TABLES = ("estimates", "groups", "verdicts", "pairs", "findings")


@click.command("audit", cls=Command)
@question("candidate")
@takes_data(
    "Table of a database, whose URL is DATA; of files, the table of the report to print as CSV: "
    "estimates, groups, verdicts, pairs or findings."
)
@shows_result("report")
def command(
    data: DataArguments,
    config: str | None,
    out: Output,
    **flags: Texts,
) -> int:
    """Audit a model, or its training data, for disparities between groups of people.

    DATA is a .csv, .csv.gz, .tsv, .parquet, .jsonl, .json, .arrow or .feather file, several of
    them, a glob, a .cube.json made by "fairgauge count", - for standard input (rows, or the counts
    that "fairgauge count" prints), the address of such files in a store or on the web
    (s3://bucket/loans.parquet, gs://, az://, https://), a table of a lakehouse (delta:FOLDER,
    iceberg:CATALOG.NAMESPACE.TABLE), or the URL of a database (postgresql://user@host/name,
    sqlite:///file.db) with --table or --query.

    A backslash escapes = : * and , in the name of a column, and in a value; in --where and --recode
    quotes do.

    \b
    fairgauge audit loans.csv --label approved --prediction predicted --positive yes
        --sensitive sex --sensitive age:40:left --rule 'DI >= 0.8' -o report.html
    """  # noqa: D301 - the paragraph mark of click
    data, table = _report_table(data)
    out = replace(out, chosen=table)
    out.check([*data.names, config])
    what = asked(config, flags, judges=True)
    rows = what.read(data)

    from fairgauge.api.audit import audited
    from fairgauge.question.spec_file import labels_come_later
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        report = audited(rows, later=labels_come_later(config), **what.options)
    out.print_warnings(report.diagnostics)
    return out.show(report)


def _report_table(data: DataArguments) -> tuple[DataArguments, str | None]:
    """Return the data, and the table of the report to print.

    ``--table groups`` asks for a table of the report where DATA is no database.
    """
    if data.table is None or not data.names or any(map(is_url, data.names)):
        return data, None
    from fairgauge.scan.input_files import refuse_database

    if data.table not in TABLES:
        for path in data.names:
            refuse_database(path)
        raise DataError(
            f"--table {quote(data.table)} is no table of the report."
            f"{nearest(data.table, TABLES)} Use {', '.join(TABLES)}; or, for a table of a "
            "database, give its URL as DATA"
        )
    return replace(data, table=None), data.table
