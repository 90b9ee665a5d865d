"""Where results go, every output rendered before the first is written, and their warnings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fairgauge.cli._data_arguments import CUBE_SUFFIX, STANDARD_INPUT, files
from fairgauge.cli._streams import print_message, print_result, terminal_style
from fairgauge.enums import Role
from fairgauge.errors import DataError, quote
from fairgauge.object_stores import Object, Place, is_object
from fairgauge.render.formats import format_of, names, suffixes
from fairgauge.render.words.numbers import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.results.gap_decomposition import Decomposition
    from fairgauge.results.report import Report
    from fairgauge.results.shown_result import ShownResult

Command = TypeVar("Command", bound="Callable[..., object]")


def shows_result(*of: str) -> Callable[[Command], Command]:
    """Return a decorator with the options of what is printed, and of the files that are written."""

    def check(
        context: click.Context, option: click.Parameter, paths: tuple[str, ...]
    ) -> tuple[str, ...]:
        del context, option
        for path in filter(None, paths):
            format_of(path, *of)
        return paths

    options = (
        click.option(
            "--format",
            "format_",
            type=click.Choice(names(*of, files=True)),
            default="text",
            help="Format of standard output (default text).",
        ),
        click.option(
            "-o",
            "--output",
            "outputs",
            metavar="FILE",
            multiple=True,
            callback=check,
            help=f"File to write, with the result in full; its suffix chooses the format: "
            f"{' '.join(suffixes(*of))}. Repeatable.",
        ),
        *_AMOUNT,
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def prints_report(command: Command) -> Command:
    """Give a command that prints a report as text the options of how much of it."""
    for option in reversed(_AMOUNT):
        command = option(command)
    return command


_AMOUNT = (
    click.option(
        "--full", is_flag=True, help="Print the whole result, not a summary of it; in a PDF, too."
    ),
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        help="Print one line with the verdict, and one for each rule that does not pass.",
    ),
)


def prints_lines(command: Command) -> Command:
    """Give a command that prints a few lines the option to print the first alone."""
    made: Command = click.option(
        "-q", "--quiet", is_flag=True, help="Print one line, and no notes."
    )(command)
    return made


def shown_options(
    format_: str, *, full: bool, quiet: bool, table: str | None = None
) -> dict[str, Any]:
    """Return the format of standard output and its options, as `render` takes them."""
    if table is not None:
        others = {
            f"--format {format_}": format_ not in ("text", "csv"), "--full": full, "--quiet": quiet,
        }  # fmt: skip
        for other in (name for name, given in others.items() if given):
            raise DataError(f"--table {table} prints CSV; remove {other}")
        return {"format": "csv", "table": table}
    if quiet and full:
        raise DataError("--quiet prints one line and --full everything; choose one")
    if quiet and format_ != "text":
        raise DataError(f"--quiet is an option of text, not of {format_}")
    if full and format_ not in ("text", "markdown"):
        raise DataError(f"--full is an option of text and markdown; {format_} is always whole")
    amount = {name: True for name, given in (("full", full), ("quiet", quiet)) if given}
    return {"format": format_, **terminal_style(format_), **amount}


def show_result(
    result: ShownResult,
    shown: Mapping[str, Any],
    outputs: Sequence[str],
    others: Mapping[str, str | bytes] | None = None,
) -> None:
    """Print a result as `shown_options` has it, and write its files and others with them."""
    from fairgauge.render.formats import render, save_all

    text = render(result, **shown)  # first, so that an error writes no file
    save_all(result, outputs, others, full=bool(shown.get("full")))
    print_result(text)


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite an input."""
    here = [each for each in inputs if each != STANDARD_INPUT and not is_object(each)]
    read: list[Place] = [_place(path) for path in files(here)]
    read += [Object(each) for each in inputs if is_object(each)]
    written: list[Place] = []
    for each in outputs:
        place = _place(Object(each) if is_object(each) else Path(each))
        if place in read:
            raise DataError(f"the output {quote(each)} is also an input; choose another name")
        if place in written:
            raise DataError(f"the output {quote(each)} is named twice")
        if isinstance(place, Path) and (not each or place.is_dir()):
            raise DataError(f"the output {quote(each)} is a folder; name a file")
        if isinstance(place, Path) and not place.parent.is_dir():
            raise DataError(f"cannot write {quote(each)}: there is no folder {quote(place.parent)}")
        written.append(place)


def _place(path: Place) -> Place:
    """Return a path with its links resolved."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot use the path {quote(path)}: {reason}") from None


def check_cube_output(output: str) -> None:
    """Refuse a file name by which a cube would not be recognised as one."""
    if not output.casefold().endswith(CUBE_SUFFIX) and not Path(output).is_char_device():
        raise DataError(f"counts are saved as FILE{CUBE_SUFFIX}; {quote(output)} ends otherwise")


_SHOWING = ("text", "markdown", "html")


def shows_warnings(format_: str) -> bool:
    """Return whether a format of standard output has the warnings before the verdict."""
    return format_ in _SHOWING


def print_warnings(report: Report | Decomposition) -> None:
    """Write the gravest warnings to standard error, and count the others."""
    from fairgauge.render.documents.report_notes import opening_warnings, report_warnings

    for each in opening_warnings(report_warnings(report)):
        print_message(each, prefix="")


def note_cases_alone(cube: Cube) -> None:
    """Note how many cells hold one case: such a cell shows the values of one person."""
    alone = 0 if cube.plan.axis(Role.ITEM) else cube.cases_alone  # answers are of no person
    if alone:
        one, many = ("case", "cases") if cube.plan.count else ("row", "rows")
        if cube.asked.of_people:
            one, many = "person", "people"
        cases = f"1 {one} is" if alone == 1 else f"{alone:,} {many} are"
        print_message(
            f"{cases} alone in a cell of the counts: people who know the group of such a person "
            f"can read the outcome{exact_values(cube.plan)}; share these counts as you would share "
            "the rows, or protect them (--min-cell 10, fairgauge protect)",
            prefix="Note: ",
        )


def note_identifiers(cube: Cube) -> None:
    """Note how many clusters the counts hold, and how many of them can be recognised."""
    from fairgauge.cube.identifiers import CLUSTER_KEY, clusters_alone

    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return
    number, alone = len(cube.levels[axis]), clusters_alone(cube)
    values = f"{number:,} {plural(number, 'value', 'values')} of {quote(axis.column)}"
    how = f"as {plural(number, 'a number', 'numbers')}"
    if cube.clusters.startswith("key:"):
        how = (
            f"as {plural(number, 'a hash', 'hashes')} under your key ({CLUSTER_KEY}), by which "
            "people who have the key find any of them; counts that are not to be added up need none"
        )
    print_message(
        f"the counts hold {values} {how}. {alone:,} of these {plural(alone, 'has', 'have')} cells "
        "like no other: people who know the rows recognise such a person. Counts with clusters "
        "cannot be protected; count without --cluster what is to be shared",
        prefix="Note: ",
    )


def exact_values(plan: Plan) -> str:
    """Name the columns whose exact value the sums of a cell of one row show."""
    made = {column: each.name for each in plan.asked.probabilities for column in each.summed}
    columns = dict.fromkeys(column for moment in plan.moments for column in moment.columns)
    names = [quote(column) for column in columns if column not in made]
    values = [f"value{'s'[: len(names) > 1]} of {' and '.join(names)}"] if names else []
    values += [f"probabilities of {quote(name)}" for name in dict.fromkeys(made.values())]
    return f" (the exact {' and '.join(values)} too)" if values else ""
