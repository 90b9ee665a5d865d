"""``fairgauge merge``: cubes of different rows, added up."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import merged
from fairgauge.cli._output import check_cube_output, print_or_save


@click.command("merge", cls=Command)
@click.argument("cubes", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="A .cube.json file (standard output).")
@click.option(
    "--allow-duplicates", is_flag=True, help="No warning of cubes that hold the same counts."
)
def command(cubes: tuple[str, ...], output: str | None, allow_duplicates: bool) -> None:
    """Add up the counts of CUBES, files that "fairgauge count" made with the same question.

    A file that is named twice is an error, and two files with the same counts are warned of.

    \b
    fairgauge merge monday.cube.json tuesday.cube.json -o week.cube.json
    """  # noqa: D301 - the paragraph mark of click
    check_cube_output([output], cubes)
    total = merged(cubes, allow_duplicates=allow_duplicates)
    print_or_save(total, output)
