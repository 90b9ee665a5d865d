"""Where results go: every output is rendered before the first is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from fairgauge.cli.data_arguments import CUBE_SUFFIX, STANDARD_INPUT, files
from fairgauge.errors import DataError, quote
from fairgauge.render.formats import format_of, names, suffixes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.render.formats import Subject

Command = TypeVar("Command", bound="Callable[..., object]")


def format_option(*of: Subject) -> Callable[[Command], Command]:
    """Return the option that chooses the format of standard output."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(names(*of, files=True)),
        default="text",
        help="Format of standard output (default text).",
    )


def output_option(*of: Subject) -> Callable[[Command], Command]:
    """Return the option that names files to write, whose suffixes choose their formats."""

    def check(
        context: click.Context, option: click.Parameter, paths: tuple[str, ...]
    ) -> tuple[str, ...]:
        del context, option
        for path in filter(None, paths):
            format_of(path, *of)
        return paths

    what = of[0] if len(of) == 1 else "result"
    return click.option(
        "-o",
        "--output",
        "outputs",
        metavar="FILE",
        multiple=True,
        callback=check,
        help=f"File to write, with the {what} in full; its suffix chooses the format: "
        f"{' '.join(suffixes(*of))}. Repeatable.",
    )


def check_outputs(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite an input.

    Raises
    ------
    DataError
        An output is an input, is named twice, or lies in no folder that can be written.
    """
    read = [_place(path) for path in files([each for each in inputs if each != STANDARD_INPUT])]
    written: list[Path] = []
    for each in outputs:
        place = _place(Path(each))
        if place in read:
            raise DataError(f"the output {quote(each)} is also an input; choose another name")
        if place in written:
            raise DataError(f"the output {quote(each)} is named twice")
        if not each or place.is_dir():
            raise DataError(f"the output {quote(each)} is a folder; name a file")
        if not place.parent.is_dir():
            raise DataError(f"cannot write {quote(each)}: there is no folder {quote(place.parent)}")
        written.append(place)


def _place(path: Path) -> Path:
    """Return a path with its links resolved."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot use the path {quote(path)}: {reason}") from None


def check_cube_output(output: str) -> None:
    """Refuse a file name by which a cube would not be recognised as one.

    Raises
    ------
    DataError
        The name does not end in ``.cube.json``, and is no device.
    """
    if not output.casefold().endswith(CUBE_SUFFIX) and not Path(output).is_char_device():
        raise DataError(f"counts are saved as FILE{CUBE_SUFFIX}; {quote(output)} ends otherwise")
