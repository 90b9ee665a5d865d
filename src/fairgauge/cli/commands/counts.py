"""``fairgauge count``, ``merge`` and ``protect``: counts in place of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fairgauge.cli._arguments import (
    DataArguments,
    add_late_labels,
    check_options,
    merge_cubes,
    open_data,
    question,
    read_question,
    takes_data,
)
from fairgauge.cli._command_group import (
    Command,
    Decorator,
    add_options,
    is_quiet,
    print_message,
    print_result,
)
from fairgauge.cli._output import (
    check_cube_output,
    check_outputs,
    exact_values,
    note_exposed,
    print_or_save,
)
from fairgauge.cli.commands.verbs import OF_ANSWERS
from fairgauge.errors import FairgaugeError
from fairgauge.question.readers import controls_as_strata

if TYPE_CHECKING:
    from fairgauge.results.scopes import Diagnostic

DIALECTS = (
    "snowflake", "bigquery", "databricks", "clickhouse", "mysql", "postgres", "duckdb", "sqlite",
)  # fmt: skip


def _min_cell(*, required: bool = False) -> Decorator:
    text = "Protect the counts: smallest number of persons that may be known of a cell."
    return click.option("--min-cell", type=int, required=required, metavar="N", help=text)


@click.command("count", cls=Command)
@question()
@takes_data()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File of the cube, .cube.json, or of the query (default standard output).",
)
@add_options(
    *(
        click.option(f"--{name}", metavar="COL", help=f"Of pairs: {text}")
        for name, text in OF_ANSWERS.items()
    ),
    _min_cell(),
)
@click.option(
    "--show-sql",
    is_flag=True,
    help="Print the query that would count the rows of a database, and count nothing.",
)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    help="With --show-sql: write the query for a warehouse that is not reached from here.",
)
@click.option(
    "--columns",
    metavar="FILE",
    help="With --dialect: the columns of the table, a line NAME TYPE for each.",
)
@click.option(
    "--from-result",
    metavar="FILE",
    help="In place of DATA: the answer to the query of --dialect (.csv, .parquet ...).",
)
def count_command(
    data: DataArguments,
    config: str | None,
    output: str | None,
    min_cell: int | None,
    show_sql: bool,
    dialect: str | None,
    columns: str | None,
    from_result: str | None,
    **flags: Any,
) -> None:
    """Count the rows that an audit needs, and keep the counts instead of the rows.

    The cube can be audited ("fairgauge audit day.cube.json"), and cubes of other rows can be added
    to it ("fairgauge merge"). With --min-cell they are rounded, and can be shared ("fairgauge
    protect"). Answers under swapped names are counted with --item and --variant, for "fairgauge
    pairs".

    Rows of a warehouse are counted by a query that a person runs there: --show-sql --dialect writes
    it without a connection, and --from-result reads its answer.

    \b
    fairgauge count monday.csv --label approved --prediction predicted --sensitive sex
        -o monday.cube.json
    """  # noqa: D301 - the paragraph mark of click
    check = check_outputs if show_sql else check_cube_output
    check([output], [*data.names, config])
    if min_cell is not None:
        from fairgauge.sharing.protection import check_min_cell

        check_min_cell(min_cell)
    roles = {name: flags.pop(name) for name in OF_ANSWERS}
    options = read_question(config, flags)
    options = controls_as_strata(options)
    options |= {name: column for name, column in roles.items() if column}
    of_answers = bool({"item", "variant"} & options.keys())
    if (dialect is None) != (columns is None) or (dialect and not show_sql):
        raise FairgaugeError(
            "a query for a warehouse takes --show-sql, --dialect and --columns (and --table or "
            "--query, the rows there)"
        )
    if (from_result or dialect) and data.names:
        raise FairgaugeError("--dialect and --from-result take no DATA: the rows are not read here")
    if show_sql:
        warehouse = (dialect, columns) if dialect and columns else None
        _show_query(data, warehouse, options, output)
        return

    from fairgauge.api.audit import count, count_cells, counted_with_warnings
    from fairgauge.question.specification import labels_come_later
    from fairgauge.scan.scan_progress import progress

    warnings: tuple[Diagnostic, ...] = ()
    if from_result is not None:
        check_options(options)
        cube = count_cells(from_result, **options)
    else:
        rows = data.read()
        if labels_come_later(config) and not of_answers:
            rows = add_late_labels(rows, check_options(options))
        with progress("Counting rows"):
            if of_answers:
                cube = count(rows, **options)
            else:
                cube, warnings = counted_with_warnings(rows, **options)
    if min_cell is not None:
        from fairgauge.sharing.protection import protect

        cube = protect(cube, min_cell)
    print_or_save(cube, output)
    if not (of_answers or is_quiet()):
        from fairgauge.render.documents.report_notes import opening_warnings

        for line in opening_warnings(warnings):
            print_message(line, prefix="")
        note_exposed(cube)


def _show_query(
    data: DataArguments,
    warehouse: tuple[str, str] | None,
    options: dict[str, Any],
    output: str | None,
) -> None:
    from fairgauge.api.audit import counting_query
    from fairgauge.atomic_files import write_whole
    from fairgauge.cube.plan import plan
    from fairgauge.errors import hide_secrets

    if warehouse is None:
        source = open_data(data.read())
    else:
        from fairgauge.scan.warehouse import open_warehouse

        dialect, columns = warehouse
        source = open_warehouse(dialect, data.query or data.table or "your_table", columns)
    spec = check_options(options, source)
    query = hide_secrets(counting_query(source, **options))
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


@click.command("merge", cls=Command)
@click.argument("cubes", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="A .cube.json file (standard output).")
@click.option(
    "--allow-duplicates", is_flag=True, help="No warning of cubes that hold the same counts."
)
def merge_command(cubes: tuple[str, ...], output: str | None, allow_duplicates: bool) -> None:
    """Add up the counts of CUBES, files that "fairgauge count" made with the same question.

    A file that is named twice is an error, and two files with the same counts are warned of. Counts
    that several sites protected add up, too, if all are protected and of different rows.

    \b
    fairgauge merge monday.cube.json tuesday.cube.json -o week.cube.json
    """  # noqa: D301 - the paragraph mark of click
    check_cube_output([output], cubes)
    total = merge_cubes(cubes, allow_duplicates=allow_duplicates)
    print_or_save(total, output)
    if len(total.parts) > 1:
        from fairgauge.api.audit import notes_of_protection

        for note in notes_of_protection(total):
            print_message(f"{note.message}.", prefix="Note: ")


@click.command("protect", cls=Command)
@click.argument("counts")
@_min_cell(required=True)
@click.option(
    "--published",
    metavar="CUBE",
    multiple=True,
    help="Protected counts that were published before, of a part of the same rows. Repeatable.",
)
@click.option("--site", metavar="NAME", help="Name of the site whose rows these are.")
@click.option(
    "-o", "--output", metavar="FILE", help="File of the cube, .cube.json (default standard output)."
)
def protect_command(
    counts: str, min_cell: int, published: tuple[str, ...], site: str | None, output: str | None
) -> None:
    """Round the counts of COUNTS, a .cube.json file, at random to multiples of the smallest cell.

    An attacker who knows the method then infers what can be inferred from the result, and from what
    was published before; counts that do not withstand the attack are refused.

    \b
    fairgauge protect counts.cube.json --min-cell 10 -o safe.cube.json
    """  # noqa: D301 - the paragraph mark of click
    check_cube_output([output], [counts, *published])

    from fairgauge.sharing.protection import protect

    print_or_save(protect(counts, min_cell, published, site), output)
