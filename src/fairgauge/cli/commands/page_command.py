"""``fairgauge page``: an audit in one offline file, for people who cannot install anything."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import check_outputs
from fairgauge.cli._streams import print_result
from fairgauge.question.options import BY_NAME
from fairgauge.render.language import NAMES


@click.command("page", cls=Command)
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, an .html file.")
@click.option("--preset", metavar="NAME", help=BY_NAME["preset"].help("--preset"))
@click.option(
    "-c", "--config", metavar="FILE", help="A specification; the page asks what it leaves open."
)
@click.option("--lang", type=click.Choice(NAMES), default="en", help="The language of the page.")
def command(output: str, preset: str | None, config: str | None, lang: str) -> None:
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
