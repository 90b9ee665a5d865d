"""``fairgauge render``: a saved result in another format."""

from __future__ import annotations

import click

from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.streams import print_result, terminal_style
from fairgauge.errors import DataError, quote
from fairgauge.render.formats import SUBJECTS


@click.command("render", short_help="Write a saved result in another format.")
@click.argument("saved")
@format_option(*SUBJECTS)
@output_option(*SUBJECTS)
@click.option("--full", is_flag=True, help="Print the whole result, not one screen of it.")
def command(saved: str, format_: str, outputs: tuple[str, ...], full: bool) -> int:
    """Render SAVED, the JSON of a report, a comparison, a check, thresholds or a monitor.

    The commands audit, compare, check, thresholds and monitor write it with "-o FILE.json".
    Without -o it is printed. The exit code is 0, whatever the verdict.

    \b
    fairgauge render report.json -o report.html -o report.md
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [saved])

    from fairgauge.api.loading import load
    from fairgauge.cube.cube import Cube
    from fairgauge.render.formats import render, save_all

    shown = load(saved)
    if isinstance(shown, Cube):
        raise DataError(f"{quote(saved)} holds counts, not a report; audit it first")
    save_all(shown, outputs)
    if not outputs:
        full_options = {"full": True} if full and format_ in ("text", "markdown") else {}
        print_result(render(shown, format_, **terminal_style(format_), **full_options))
    return 0
