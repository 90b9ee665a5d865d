"""``fairgauge render``: a saved report in another format."""

from __future__ import annotations

import click

from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.streams import print_result, terminal_style
from fairgauge.errors import DataError, quote


@click.command("render", short_help="Write a saved report in another format.")
@click.argument("report")
@format_option("report")
@output_option("report")
@click.option("--full", is_flag=True, help="Print the whole report, not one screen of it.")
def command(report: str, format_: str, outputs: tuple[str, ...], full: bool) -> int:
    """Render REPORT, a JSON report that "fairgauge audit ... -o report.json" wrote.

    Without -o the report is printed.

    \b
    fairgauge render report.json -o report.html -o report.md
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [report])

    from fairgauge.render.formats import render, save_all
    from fairgauge.report.loading import load
    from fairgauge.report.report import Report

    found = load(report)
    if not isinstance(found, Report):
        raise DataError(f"{quote(report)} holds counts, not a report; audit it first")
    save_all(found, outputs)
    if not outputs:
        full_options = {"full": True} if full and format_ in ("text", "markdown") else {}
        print_result(render(found, format_, **terminal_style(format_), **full_options))
    return 0
