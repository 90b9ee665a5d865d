"""The command line: parse, call, exit. A command is a row of `commands.verbs`, or a file there."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Commands
from fairgauge.start import __version__
from fairgauge.start.first_help import INTRODUCTION


@click.group(
    "fairgauge",
    cls=Commands,
    help=INTRODUCTION,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fairgauge")
def main() -> None:
    """Run one of the commands."""
