"""The command line: parse, call, exit. A command is a row of `commands.verbs`, or a file there."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Commands
from fairgauge.version import __version__


@click.group("fairgauge", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fairgauge")
def main() -> None:
    """Measure how a model treats groups of people, with confidence intervals.

    \b
    fairgauge demo                                        see what an audit looks like
    fairgauge audit loans.csv --label approved --prediction predicted --sensitive sex
    fairgauge metrics DI                                  what a metric means

    Exit codes: 0 no rule failed and none is inconclusive, 1 a rule failed, 2 bad usage,
    specification or data, 3 no rule failed, but at least one is inconclusive.
    """  # noqa: D301 - the paragraph mark of click
