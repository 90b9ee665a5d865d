"""``fairgauge compare``: two reports, what changed between them, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli.output import check_outputs, format_option, output_option
from fairgauge.cli.streams import looks, say

WORSE, INCOMPLETE = 1, 3


@click.command("compare", short_help="Compare two reports.")
@click.argument("old")
@click.argument("new")
@format_option("comparison")
@output_option("comparison")
@click.option(
    "--same-rows/--different-rows",
    default=None,
    help="Whether both reports are of the same rows (two models on one table): then no change has "
    "a confidence interval. The default decides by the numbers of rows.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Exit with 1 if a disparity or a verdict got statistically significantly worse; without "
    "any change, at most 5% of comparisons do. Otherwise with 3 if a verdict of OLD has no "
    "counterpart in NEW because its group is gone.",
)
def command(
    old: str,
    new: str,
    format_: str,
    outputs: tuple[str, ...],
    same_rows: bool | None,
    fail_on: str | None,
) -> int:
    """Report what changed from OLD to NEW: verdicts, disparities, data.

    OLD and NEW are reports that "fairgauge audit ... -o report.json" wrote, of the model in use and
    of a candidate, or of last month and this.

    \b
    fairgauge audit january.csv -c audit.toml -o january.json
    fairgauge audit february.csv -c audit.toml -o february.json
    fairgauge compare january.json february.json -o diff.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [old, new])

    from fairgauge.comparison.compare_reports import compare
    from fairgauge.render.formats import render, save_all

    found = compare(old, new, same_rows=same_rows)
    text = render(found, format_, **looks(format_))
    save_all(found, outputs)
    say(text)
    if not fail_on:
        return 0
    return WORSE if found.worse else INCOMPLETE if found.incomplete else 0
