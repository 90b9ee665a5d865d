"""``fairgauge count``: the cube alone, to be kept, added up and audited later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import Where, open_data, where
from fairgauge.cli._output import check_cube_output, check_outputs
from fairgauge.cli._spec_flags import Asked, Texts, asked, question
from fairgauge.cli._streams import print_message, print_result
from fairgauge.cli._warnings import exact_values, note_cases_alone, note_identifiers
from fairgauge.errors import SpecError

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.scan.source import Source


@click.command("count", cls=Command, short_help="Count the rows, and save the counts.")
@click.argument("data", nargs=-1, required=True)
@question()
@where()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File of the cube, .cube.json, or of the query (default standard output).",
)
@click.option("--item", metavar="COL", help="Of answers under swapped names (pairs): the item.")
@click.option("--variant", metavar="COL", help="Likewise: the name, or the edit.")
@click.option("--model", metavar="COL", help="Likewise: the model.")
@click.option("--run", metavar="COL", help="Likewise: the repetition.")
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
@click.option("-q", "--quiet", is_flag=True, help="Print no notes on what the counts show.")
def command(
    data: tuple[str, ...],
    at: Where,
    config: str | None,
    output: str | None,
    min_cell: int | None,
    show_sql: bool,
    quiet: bool,
    item: str | None,
    variant: str | None,
    model: str | None,
    run: str | None,
    **flags: Texts,
) -> None:
    """Count the rows that an audit needs, and keep the counts instead of the rows.

    The cube can be audited ("fairgauge audit day.cube.json"), and cubes of other rows can be added
    to it ("fairgauge merge"). With --min-cell they are rounded, and can be shared ("fairgauge
    protect"). Answers under swapped names are counted with --item and --variant, for "fairgauge
    pairs".

    \b
    fairgauge count monday.csv --label approved --prediction predicted --sensitive sex
        -o monday.cube.json
    """  # noqa: D301 - the paragraph mark of click
    if output is not None:
        if not show_sql:
            check_cube_output(output)
        check_outputs([output], [*data, *([config] if config else [])])
    if min_cell is not None:
        from fairgauge.evidence.protection import check_min_cell

        check_min_cell(min_cell)
    what = asked(config, flags)
    columns = {"item": item, "variant": variant, "model": model, "run": run}
    what.options.update({name: column for name, column in columns.items() if column})
    of_answers = bool({"item", "variant"} & what.options.keys())
    if show_sql:
        _show_query(open_data(data, at), what, output)
        return
    rows = what.read(data, at)

    from fairgauge.api.audit import count, counted_with_warnings
    from fairgauge.render.documents.report_notes import opening_warnings
    from fairgauge.scan.scan_progress import progress

    with progress("Counting rows"):
        if of_answers:
            cube = count(rows, **what.options)
        else:
            cube, warnings = counted_with_warnings(rows, **what.options)
    if min_cell is not None:
        from fairgauge.evidence.protection import protect

        cube = protect(cube, min_cell)
    if output is None:
        print_result(cube.to_json())
    else:
        cube.save(output)
    if of_answers:
        return
    _warn_of_decisions(cube)
    if quiet:
        return
    for line in opening_warnings(warnings):
        print_message(line, prefix="")
    note_cases_alone(cube)
    note_identifiers(cube)


def _show_query(data: Source | Cube, what: Asked, output: str | None) -> None:
    """Print the query that counts, or write it to a file, and note what its result shows."""
    from fairgauge.api.audit import counting_query
    from fairgauge.atomic_files import write_whole
    from fairgauge.cube.plan import plan

    spec = what.check(data)
    query = counting_query(data, **what.options)
    if output is None:
        print_result(query)
    else:
        write_whole(output, f"{query}\n")
    noun = "case" if spec.count else "row"
    print_message(
        f"a record of the result that counts one {noun} shows the values of one person"
        f"{exact_values(plan(spec))}; share the result as you would share the rows",
        prefix="Note: ",
    )


def _warn_of_decisions(cube: Cube) -> None:
    """Warn of predictions that cannot be compared with the labels.

    This is not an error: other shards may hold the values that are missing in this one.
    """
    from fairgauge.resolve.outcomes import check_decisions

    try:
        check_decisions(cube, cube.asked)
    except SpecError as error:
        print_message(f"these counts cannot be audited as they are: {error}", prefix="Warning: ")
