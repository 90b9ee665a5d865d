"""``fairgauge protect``: counts that can be shared, for no small cell can be inferred."""

from __future__ import annotations

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import check_cube_output, print_or_save


@click.command("protect", cls=Command)
@click.argument("counts")
@click.option(
    "--min-cell",
    type=int,
    required=True,
    metavar="N",
    help="Smallest number of persons that may be known of a cell.",
)
@click.option(
    "--published",
    metavar="CUBE",
    multiple=True,
    help="Protected counts that were published before, of a part of the same rows. Repeatable.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="File of the cube, .cube.json (default standard output)."
)
def command(counts: str, min_cell: int, published: tuple[str, ...], output: str | None) -> None:
    """Round the counts of COUNTS, a .cube.json file, at random to multiples of the smallest cell.

    An attacker who knows the method then infers what can be inferred from the result, and from what
    was published before; counts that do not withstand the attack are refused.

    \b
    fairgauge protect counts.cube.json --min-cell 10 -o safe.cube.json
    """  # noqa: D301 - the paragraph mark of click
    check_cube_output([output], [counts, *published])

    from fairgauge.evidence.protection import protect

    print_or_save(protect(counts, min_cell, published), output)
