"""``fairgauge page`` and ``explore``: one offline file each."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import DataArguments, takes_data
from fairgauge.cli._output import check_outputs
from fairgauge.cli._spec_flags import Texts, question, read_question
from fairgauge.cli._streams import print_message, print_result
from fairgauge.question.options import BY_NAME
from fairgauge.render.language import NAMES


@click.command("page", cls=Command)
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@click.option("--preset", metavar="NAME", help=BY_NAME["preset"].help(flag=True))
@click.option(
    "-c", "--config", metavar="FILE", help="A specification; the page asks what it leaves open."
)
@click.option("--lang", type=click.Choice(NAMES), default="en", help="The language of the page.")
def page_command(output: str, preset: str | None, config: str | None, lang: str) -> None:
    """Write one page that audits a CSV file in a browser, without an installation.

    The page asks which column is the decision, who people are and which rule to hold it to, and
    shows the first page of a report. It works without a network, and nothing leaves the computer.

    \b
    fairgauge page -o audit.html
    fairgauge page --preset nyc-ll144 -o audit.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [config])
    from fairgauge.api.paging import page

    page(preset=preset, config=config, lang=lang).save(output)
    print_result(f"{output}: open it in a browser, and drag a CSV file onto it")


@click.command("explore", cls=Command)
@question()
@takes_data()
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@click.option(
    "--exact",
    is_flag=True,
    help="Allow counts of fewer than ten persons in the page, which people who have it can read.",
)
def explore_command(
    data: DataArguments, config: str | None, output: str, exact: bool, **flags: Texts
) -> None:
    """Write one page in which rates, references, thresholds, filters and groups can be chosen.

    DATA is what "fairgauge audit" takes: rows, or a .cube.json of counts. The page holds counts and
    no row, works without a network, computes the confidence interval of every view, and saves a
    view as a specification for "fairgauge audit".

    With --candidate, a model can be chosen, and confusion matrices of models stand side by side.

    To cross columns, or to filter by one while another makes the groups, ask for their
    intersection.

    \b
    fairgauge explore people.csv -c audit.toml --exact -o explore.html
    """  # noqa: D301 - the paragraph mark of click
    check_outputs([output], [*data.names, config])
    options = read_question(config, flags, judges=True)
    rows = data.read()

    from fairgauge.api.paging import explore
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        page = explore(rows, exact=exact, **options)
    page.save(output)
    print_result(f"{output}: {page}")
    for warning in page.warnings:
        print_message(warning, prefix="Warning: ")
