"""``fairgauge explore``: one page in which every view of the counts is computed again."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import check_outputs, prints_lines
from fairgauge.cli._spec_flags import Texts, asked, question
from fairgauge.cli._streams import print_message, print_result


@click.command("explore", cls=Command)
@question()
@takes_data()
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@click.option(
    "--exact",
    is_flag=True,
    help="Allow counts of fewer than ten persons in the page, which people who have it can read.",
)
@prints_lines
def command(
    data: DataArguments,
    config: str | None,
    output: str,
    exact: bool,
    quiet: bool,
    **flags: Texts,
) -> None:
    """Write one page in which rates, references, thresholds, filters and groups can be chosen.

    DATA is what "fairgauge audit" takes: rows, or a .cube.json of counts. The page holds counts and
    no row, works without a network, computes the confidence interval of every view, and writes what
    was looked at as a specification for "fairgauge audit".

    With --candidate, a model can be chosen, and confusion matrices of models stand side by side.

    To cross columns, or to filter by one while another makes the groups, ask for their
    intersection.

    \b
    fairgauge explore people.csv -c audit.toml --exact -o explore.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [*data.names, config])
    what = asked(config, flags, judges=True)
    rows = what.read(data)

    from fairgauge.api.exploring import explore
    from fairgauge.render.words.numbers import numbered, plural
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        page = explore(rows, exact=exact, **what.options)
    page.save(output)
    print_result(f"{output}: {page}")
    for warning in page.warnings:
        print_message(warning, prefix="Warning: ")
    if page.exact and not quiet:
        where = plural(page.alone, "is alone in its", "are alone in their")
        alone = f" ({numbered(page.alone)} {where} count)" if page.alone else ""
        print_message(
            f"the page holds counts of fewer than ten persons{alone}, which people who have it "
            "can read; share it as you would share the rows",
            prefix="Note: ",
        )
