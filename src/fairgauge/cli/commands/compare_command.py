"""``fairgauge compare``: two reports, what changed between them, and an exit code."""

from __future__ import annotations

import click

from fairgauge.cli.output import check_outputs
from fairgauge.cli.streams import looks, say

FORMATS = ("text", "json", "csv", "markdown", "html")
WORSE = 1


@click.command("compare", short_help="What changed between two reports.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    help="Of standard output (text).",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Write the comparison; the suffix says how: .html .json .csv .md .txt. Repeatable.",
)
@click.option(
    "--same-rows/--different-rows",
    default=None,
    help="Whether both reports rest on the same rows (two models on one table): then no change "
    "has an interval. The default looks at the numbers of rows.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("worse",)),
    help="Exit with 1 if a disparity or a verdict got statistically significantly worse; without "
    "any change, at most 5% of comparisons do.",
)
def command(
    old: str,
    new: str,
    format_: str,
    outputs: tuple[str, ...],
    same_rows: bool | None,
    fail_on: str | None,
) -> int:
    """Say what changed from OLD to NEW: verdicts, disparities, data.

    OLD and NEW are reports that "fairgauge audit ... -o report.json" wrote, of the model in use and
    of a candidate, or of last month and this.

    \b
    fairgauge audit january.csv -c audit.toml -o january.json
    fairgauge audit february.csv -c audit.toml -o february.json
    fairgauge compare january.json february.json -o diff.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs(outputs, [old, new])

    from fairgauge.atomic_files import write_all
    from fairgauge.comparison.compare_reports import compare
    from fairgauge.render.compared import format_of, render

    formats = [format_of(path) for path in outputs]
    found = compare(old, new, same_rows=same_rows)
    text = render(found, format_, **looks(format_))
    write_all({path: render(found, f) for path, f in zip(outputs, formats, strict=True)})
    say(text)
    return WORSE if fail_on and found.worse else 0
