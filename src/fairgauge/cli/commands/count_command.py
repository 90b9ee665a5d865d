"""``fairgauge count``: the cube alone, to be kept, added up and audited later."""

from __future__ import annotations

import click

from fairgauge.cli.data_arguments import Where, open_data, read_data, where
from fairgauge.cli.output import check_cube_output, check_outputs
from fairgauge.cli.spec_flags import Texts, asked, question
from fairgauge.cli.streams import complain, say


@click.command("count", short_help="Count the rows, and save the counts.")
@click.argument("data", nargs=-1, required=True)
@question
@where
@click.option(
    "-o", "--output", metavar="FILE", help="File of the cube, .cube.json (default standard output)."
)
@click.option(
    "--min-cell",
    type=int,
    metavar="N",
    help="Protect the counts: smallest number of persons that may be known of a cell.",
)
@click.option(
    "--show-sql",
    is_flag=True,
    help="Print the query that would count the rows of a database, and count nothing.",
)
def command(
    data: tuple[str, ...],
    at: Where,
    config: str | None,
    output: str | None,
    min_cell: int | None,
    show_sql: bool,
    **flags: Texts,
) -> None:
    """Count the rows that an audit needs, and keep the counts instead of the rows.

    The cube can be audited ("fairgauge audit day.cube.json"), and cubes of other rows can be added
    to it ("fairgauge merge"). With --min-cell they are rounded, and can be shared ("fairgauge
    protect").

    \b
    fairgauge count monday.csv --label approved --prediction predicted --sensitive sex
        -o monday.cube.json
    """  # noqa: D301 - the paragraph mark of click
    if output is not None:
        check_cube_output(output)
        check_outputs([output], [*data, *([config] if config else [])])
    if min_cell is not None:
        from fairgauge.evidence.protection import check_min_cell

        check_min_cell(min_cell)
    what = asked(config, flags)
    if what.problems:
        what.check(open_data(data, at))
    if show_sql:
        from fairgauge.pipeline import counting_query

        say(counting_query(open_data(data, at), **what.options))
        return
    rows = read_data(data, at)

    from fairgauge.pipeline import count
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        cube = count(rows, **what.options)
    if min_cell is not None:
        from fairgauge.evidence.protection import protect

        cube = protect(cube, min_cell)
    if output is None:
        say(cube.to_json())
    else:
        cube.save(output)
    if alone := cube.cells_of_one:
        complain(
            f"{alone:,} of the cells hold one row each: people who know the group of that person "
            "can read the outcome; share these counts as you would share the rows, or protect them "
            "(--min-cell 10, fairgauge protect)",
            prefix="Note: ",
        )
