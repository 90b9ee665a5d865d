"""``fairgauge count``: the cube alone, to be kept, added up and audited later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._data_arguments import (
    DataArguments,
    takes_data,
    warn_of_periods,
    with_late_labels,
)
from fairgauge.cli._output import (
    check_cube_output,
    check_outputs,
    exact_values,
    note_cases_alone,
    note_identifiers,
    print_or_save,
)
from fairgauge.cli._spec_flags import Asked, Texts, asked, given_options, question
from fairgauge.cli._streams import print_message, print_result
from fairgauge.errors import FairgaugeError, SpecError, quote
from fairgauge.object_stores import is_object
from fairgauge.question.readers import controls_as_strata

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.results.scopes import Diagnostic
    from fairgauge.scan.source import Source
    from fairgauge.scan.warehouse import Warehouse

DIALECTS = (
    "snowflake", "bigquery", "databricks", "clickhouse", "mysql", "postgres", "duckdb", "sqlite",
)  # fmt: skip


@click.command("count", cls=Command)
@question()
@takes_data(required=False)
@click.option(
    "--control",
    "controls",
    metavar="COL...",
    multiple=True,
    help="Column that fairgauge why adjusts for beside the strata: dti:36,43. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File of the cube, .cube.json, or of the query (default standard output).",
)
@click.option("--item", metavar="COL", help="Of answers under swapped names (pairs): the item.")
@click.option("--variant", metavar="COL", help="Likewise: the name, or the edit.")
@click.option("--model", metavar="COL", help="Likewise: the model.")
@click.option("--family", metavar="COL", help="Likewise: the text that items are made from.")
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
@click.option(
    "--by",
    metavar="COL",
    help="Count every period of a column of days ... quarters or years apart; -o is then a folder.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no notes on what the counts show.")
def command(
    data: DataArguments,
    config: str | None,
    output: str | None,
    min_cell: int | None,
    show_sql: bool,
    dialect: str | None,
    columns: str | None,
    from_result: str | None,
    by: str | None,
    quiet: bool,
    item: str | None,
    variant: str | None,
    model: str | None,
    family: str | None,
    controls: tuple[str, ...],
    **flags: Texts,
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
    from fairgauge.question.spec_file import without_baselines

    if by is None:
        check = check_outputs if show_sql else check_cube_output
        check([output], [*data.names, config])
    if min_cell is not None:
        from fairgauge.evidence.protection import check_min_cell

        check_min_cell(min_cell)
    what = _with_controls(asked(config, flags, counts=True), controls)
    if not flags.get("rule") and (left := without_baselines(config)):
        print_message(left, prefix="Warning: ")
    roles = {"item": item, "variant": variant, "model": model, "family": family}
    what.options.update({name: column for name, column in roles.items() if column})
    if by is not None and _of_answers(what):
        raise FairgaugeError("--by counts periods of people, not of answers under swapped names")
    if by is not None:
        _count_periods(_rows(data, what, config), what, by, output, min_cell)
        return
    warehouse = _warehouse(data, dialect, columns, show_sql=show_sql)
    if (from_result or warehouse) and data.names:
        raise FairgaugeError("--dialect and --from-result take no DATA: the rows are not read here")
    if not (data.names or from_result or warehouse or data.spark):
        raise click.UsageError("Missing argument 'DATA...'.")
    if show_sql:
        _show_query(warehouse or data.open(), what, output)
        return

    cube, warnings = _counted(data, what, from_result, config)
    if min_cell is not None:
        from fairgauge.evidence.protection import protect

        cube = protect(cube, min_cell)
    print_or_save(cube, output)
    if not _of_answers(what):
        _print_notes(cube, warnings, quiet=quiet)


def _with_controls(what: Asked, controls: tuple[str, ...]) -> Asked:
    """Return what is asked with the controls among the strata; flags override those of a file."""
    given = {"controls": given_options({"strata": controls})["strata"]} if controls else {}
    return Asked(controls_as_strata(what.options | given), what.problems)


def _count_periods(
    rows: object, what: Asked, column: str, folder: str | None, min_cell: int | None
) -> None:
    from fairgauge.api.audit import count_periods
    from fairgauge.atomic_files import write_all
    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.periods import is_one_hour_a_day, parse_period
    from fairgauge.scan.scan_progress import progress

    if folder is None or min_cell is not None or isinstance(rows, Cube):
        raise FairgaugeError(
            "--by takes DATA of rows and -o FOLDER, and no --min-cell: protect the sum of counts"
        )
    with progress("Counting rows"):
        cubes = count_periods(rows, column, **what.options)
    periods = {parse_period(name): cube for name, cube in cubes.items()}
    named = {str(period): cube for period, cube in periods.items()}
    if not is_object(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
    write_all({f"{folder}/{name}.cube.json": cube.to_json() for name, cube in named.items()})
    print_message(f"{len(named):,} periods are in {folder}", prefix="Note: ")
    if len(periods) > 1 and is_one_hour_a_day(periods):
        message = (
            f"column {quote(column)} has times, and each day has one hour of UTC alone, such as "
            f"{next(iter(named))}: these are no days to a monitor; for days, name a column of dates"
        )
        print_message(message, prefix="Warning: ")
    warn_of_periods(named, named)


def _of_answers(what: Asked) -> bool:
    return bool({"item", "variant"} & what.options.keys())


def _print_notes(cube: Cube, warnings: tuple[Diagnostic, ...], *, quiet: bool) -> None:
    from fairgauge.render.documents.report_notes import opening_warnings

    _warn_of_decisions(cube)
    if quiet:
        return
    for line in opening_warnings(warnings):
        print_message(line, prefix="")
    note_cases_alone(cube)
    note_identifiers(cube)


def _counted(
    data: DataArguments, what: Asked, answer: str | None, config: str | None
) -> tuple[Cube, tuple[Diagnostic, ...]]:
    from fairgauge.api.audit import count, count_cells, counted_with_warnings
    from fairgauge.scan.scan_progress import progress

    if answer is not None:
        what.check()
        return count_cells(answer, **what.options), ()
    rows = _rows(data, what, config)
    with progress("Counting rows"):
        if _of_answers(what):
            return count(rows, **what.options), ()
        return counted_with_warnings(rows, **what.options)


def _rows(data: DataArguments, what: Asked, config: str | None) -> object:
    """Return the rows; those that a monitor expects labels of, with a column of labels at least."""
    from fairgauge.cube.cube import Cube
    from fairgauge.question.spec_file import labels_come_later
    from fairgauge.scan import open_source
    from fairgauge.scan.source import Opened

    rows = what.read(data)
    if isinstance(rows, Cube) or _of_answers(what) or not labels_come_later(config):
        return rows
    source = open_source(rows)
    held = with_late_labels(source, what.check())
    return rows if held is source else Opened(held)


def _warehouse(
    data: DataArguments, dialect: str | None, columns: str | None, *, show_sql: bool
) -> Warehouse | None:
    if (dialect is None) != (columns is None) or (dialect and not show_sql):
        raise FairgaugeError(
            "a query for a warehouse takes --show-sql, --dialect and --columns (and --table or "
            "--query, the rows there)"
        )
    if dialect is None or columns is None:
        return None
    from fairgauge.scan.warehouse import open_warehouse

    return open_warehouse(dialect, data.query or data.table or "your_table", columns)


def _show_query(data: Source | Cube, what: Asked, output: str | None) -> None:
    from fairgauge.addresses import without_secrets
    from fairgauge.api.audit import counting_query
    from fairgauge.atomic_files import write_whole
    from fairgauge.cube.plan import plan

    spec = what.check(data)
    query = without_secrets(counting_query(data, **what.options))
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
