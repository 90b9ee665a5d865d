"""``fairgauge demo``: two audits worth reading, and how to go on."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairgauge.cli.streams import say
from fairgauge.errors import DataError, quote

if TYPE_CHECKING:
    from fairgauge.cli.demo_data import Example

_RULE = "=" * 80
_SUFFIXES = (".html", ".json", ".md")


@click.command("demo", short_help="Audit two example tables.")
@click.option(
    "-o", "--output", metavar="DIR", default="fairgauge-demo", help="Folder (fairgauge-demo)."
)
def command(output: str) -> None:
    """Audit Berkeley's admissions of 1973 and a table of made-up loans.

    The tables and the reports (.html .json .md) are written into a folder.
    """
    from fairgauge.cli.demo_data import examples
    from fairgauge.render import render

    folder = _made(output)
    found = examples(folder)
    for example in found:
        for suffix in _SUFFIXES:
            example.report.save(folder / f"{example.name}{suffix}")
    parts = [
        f"{_RULE}\n{example.title}\n{_RULE}\n\n{render(example.report, 'text')}\n"
        f"{textwrap.fill(f'What it shows: {example.lesson}', 80)}\n"
        for example in found
    ]
    say("\n".join([*parts, _next(folder, found)]))


def _made(output: str) -> Path:
    """Make the folder."""
    try:
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot make the folder {quote(output)}: {reason}") from None
    return folder


def _next(folder: Path, examples: tuple[Example, ...]) -> str:
    """Describe where the reports are, and how to go on."""
    loans = examples[-1]
    lines = [
        _RULE,
        "How to go on",
        _RULE,
        "",
        *(f"  read    {folder / example.name}.html" for example in examples),
        f"  again   fairgauge audit {shlex.quote(str(folder / loans.name))}.csv \\",
        *(f"            {part} \\" for part in loans.command[:-1]),
        f"            {loans.command[-1]}",
        "  yours   the same with your own file; fairgauge audit --help",
        "  learn   fairgauge metrics, and fairgauge metrics DI",
    ]
    return "\n".join(lines)
