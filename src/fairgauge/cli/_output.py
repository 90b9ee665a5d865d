"""Where results go, every output rendered before the first is written, and their warnings."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairgauge.atomic_files import refuse_link
from fairgauge.cli._arguments import CUBE_SUFFIX, STANDARD_INPUT, named_files, resolve_path
from fairgauge.cli._command_group import (
    Decorator,
    gather_options,
    is_quiet,
    print_message,
    print_result,
)
from fairgauge.enums import Role
from fairgauge.errors import DataError, cause, quote
from fairgauge.object_stores import Object, Place, is_object
from fairgauge.render.formats import format_of, names, suffixes
from fairgauge.render.words import LANGUAGE_CODES
from fairgauge.render.words.numbers import numbered
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.results.scopes import Diagnostic
    from fairgauge.results.shown_result import ShownResult


def shows_result(*of: str) -> Decorator:
    """Return a decorator with the options of what is printed, and of the files that are written.

    The command gets them as one `Output`, the keyword ``out``.
    """

    def check(_: object, __: object, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in filter(None, paths):
            format_of(path, *of)
        return paths

    return gather_options(
        Output,
        "out",
        click.option("--format", type=click.Choice(names(*of, files=True)), default="text",
            help="Format of standard output (default text)."),
        click.option("-o", "--output", "files", metavar="FILE", multiple=True, callback=check,
            help=f"File to write, with the result in full; its suffix chooses the format: "
            f"{' '.join(suffixes(*of))}. Repeatable."),
        *_AMOUNT,
    )  # fmt: skip


def prints_report(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command that prints a report as text the options of how much of it, as ``out``."""
    return gather_options(Output, "out", *_AMOUNT)(command)


_AMOUNT = (
    click.option("--lang", type=click.Choice(LANGUAGE_CODES), default="en", show_default=True,
        help="Language of the first page and its verdicts."),
    click.option("--full", is_flag=True,
        help="Print the whole result, not a summary of it; in a PDF, too."),
    click.option("-q", "--quiet", is_flag=True,
        help="Print one line with the verdict, and one for each rule that does not pass; with "
        "rules, the values that are excluded."),
)  # fmt: skip


def print_lines(text: object) -> None:
    print_result(str(text).partition("\n")[0] if is_quiet() else str(text))


# the formats that have the warnings before the verdict
_SHOWING = ("text", "markdown", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    format: str = "text"
    files: tuple[str, ...] = ()
    # full, quiet: whether all of it is printed, or one line with the verdict
    full: bool = False
    quiet: bool = False
    table: str | None = None  # of the result, which is printed as CSV in its place
    lang: str = "en"

    def check(self, inputs: Sequence[str | None]) -> None:
        _ = self.shown
        check_outputs(self.files, inputs)

    @property
    def shown(self) -> dict[str, Any]:
        """Return the format of standard output and its options, as `render` takes them."""
        if self.table is not None:
            if self.format not in ("text", "csv") or self.full or self.quiet:
                message = "prints CSV alone; remove --format, --full and --quiet"
                raise DataError(f"--table {self.table} {message}")
            return {"format": "csv", "table": self.table}
        if self.quiet and (self.full or self.format != "text"):
            raise DataError("--quiet prints one line of text; remove --full and --format")
        if self.full and self.format not in ("text", "markdown"):
            raise DataError(
                f"--full is an option of text and markdown; {self.format} is always whole"
            )
        amount: dict[str, object] = {
            name: True for name in ("full", "quiet") if getattr(self, name)
        }
        if self.lang != "en":
            amount["lang"] = self.lang
        if self.format == "text" and sys.stdout is not None and sys.stdout.isatty():
            import shutil

            from fairgauge.render.writers.terminal import wants_colour

            # a file or a pipe gets plain text of fixed width
            columns = shutil.get_terminal_size().columns
            amount |= {"colour": wants_colour(sys.stdout), "width": min(max(columns, 80), 120)}
        return {"format": self.format, **amount}

    def show(self, result: ShownResult) -> int:
        from fairgauge.render.formats import render, save_all

        text = render(result, **self.shown)  # first, so that an error writes no file
        save_all(result, self.files, full=self.full, lang=self.lang)
        print_result(text, coloured=bool(self.shown.get("colour")))
        return result.exit_code

    def print_warnings(self, notes: Iterable[Diagnostic]) -> None:
        """Write the gravest warnings to standard error where the output has none of them."""
        if not self.quiet and self.table is None and self.format in _SHOWING:
            return
        from fairgauge.render.documents.report_notes import opening_warnings, report_warnings

        for each in opening_warnings(report_warnings(notes)):
            print_message(each, prefix="")


def made_folder(path: str) -> Path:
    try:
        folder = Path(path)
        refuse_link(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot make the folder {quote(path)}: {cause(error)}") from None
    return folder


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite an input.

    None is a file that is not given.
    """
    asked = [each for each in inputs if each not in (None, STANDARD_INPUT)]
    read: list[Place] = [
        resolve_path(path) for path in named_files([e for e in asked if not is_object(e)])
    ]
    read += [Object(each) for each in asked if is_object(each)]
    written: list[Place] = []
    for each in (output for output in outputs if output is not None):
        place = resolve_path(Object(each) if is_object(each) else Path(each))
        if place in read:
            raise DataError(f"the output {quote(each)} is also an input; choose another name")
        if place in written:
            raise DataError(f"the output {quote(each)} is named twice")
        if isinstance(place, Path):
            refuse_link(each)
        if isinstance(place, Path) and (not each or place.is_dir()):
            raise DataError(f"the output {quote(each)} is a folder; name a file")
        if isinstance(place, Path) and not place.parent.is_dir():
            raise DataError(f"cannot write {quote(each)}: there is no folder {quote(place.parent)}")
        written.append(place)


def check_cube_output(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Refuse files by whose names a cube would not be recognised, and those of `check_outputs`."""
    for output in filter(None, outputs):
        if not output.casefold().endswith(CUBE_SUFFIX) and not Path(output).is_char_device():
            raise DataError(
                f"counts are saved as FILE{CUBE_SUFFIX}; {quote(output)} ends otherwise"
            )
    check_outputs(outputs, inputs)


def print_or_save(cube: Cube, output: str | None) -> None:
    print_result(cube.to_json()) if output is None else cube.save(output)


def note_exposed(cube: Cube) -> None:
    """Note what counts show of single people: cells of one case, identifiers, and clusters."""
    from fairgauge.question.options import named_identifiers
    from fairgauge.scan.identifiers import CLUSTER_KEY, clusters_alone
    from fairgauge.sharing.protection import why_unprotected

    note = partial(print_message, prefix="Note: ")
    # cells of one case show one person's values; tables count the same rows
    alone = max(int((table.sums[cube.plan.cases] == 1).sum()) for table in cube.tables)
    if alone and not cube.plan.axis(Role.ITEM):  # answers are of nobody
        protect = ", or protect them (--min-cell 10, fairgauge protect)"
        if obstacle := why_unprotected(cube):
            protect = f". They cannot be protected as they are: {obstacle}"
        note(
            f"{numbered(alone, cube.asked.unit.get('unit', 'rows'))} alone in a cell of the "
            "counts: people who know the group of such a person can read the outcome"
            f"{exact_values(cube.plan)}; share these counts as you would share the rows{protect}"
        )
    if named := named_identifiers(cube.asked):
        note(
            f"the question names {numbered(len(named), 'identifiers')} (where, recode), which the "
            "counts, and what is made of them, hold in clear"
        )
    if (axis := cube.plan.axis(Role.CLUSTER)) is not None:
        keyed = f" under your key ({CLUSTER_KEY})" if cube.clusters.startswith("key:") else ""
        values = f"{numbered(len(cube.levels[axis]), 'values')} of {quote(axis.column)}"
        note(
            f"the counts hold {values} as {'hashes' if keyed else 'numbers'}{keyed}. "
            f"{clusters_alone(cube):,} of these have cells like no other: people who know the rows "
            "recognise such a person. Counts with clusters cannot be protected; count what is to "
            "be shared without --cluster (with each person once: --per-person any)"
        )


def exact_values(plan: Plan) -> str:
    """Name the columns whose exact value the sums of a cell of one row show."""
    made = {column: each.name for each in plan.asked.probabilities for column in each.summed}
    columns = dict.fromkeys(column for moment in plan.moments for column in moment.columns)
    names = [quote(column) for column in columns if column not in made]
    values = [f"value{'s'[: len(names) > 1]} of {' and '.join(names)}"] if names else []
    values += [f"probabilities of {quote(name)}" for name in dict.fromkeys(made.values())]
    return f" (the exact {' and '.join(values)} too)" if values else ""
