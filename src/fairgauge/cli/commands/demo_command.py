"""``fairgauge demo``: two audits worth reading, and how to go on."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fairgauge.cli._command_group import Command
from fairgauge.cli._output import Output, made_folder, prints_report
from fairgauge.cli._streams import print_result

if TYPE_CHECKING:
    from fairgauge.cli._demo_data import Example

_RULE = "=" * 80
_NAME = "fairgauge"
_SUFFIXES = (".html", ".json", ".md")


@click.command("demo", cls=Command)
@click.option(
    "-o", "--output", metavar="DIR", default="fairgauge-demo", help="Folder (fairgauge-demo)."
)
@prints_report
def command(output: str, out: Output) -> None:
    """Audit Berkeley's admissions of 1973 and a table of made-up loans.

    The tables and the reports (.html .json .md) are written into a folder.
    """
    from fairgauge.cli._demo_data import examples
    from fairgauge.render import render

    shown = out.shown
    folder = made_folder(output)
    found = examples(folder)
    for example in found:
        for suffix in _SUFFIXES:
            example.report.save(folder / f"{example.name}{suffix}")
    if out.quiet:
        print_result("".join(render(example.report, **shown) for example in found))
        return
    parts = [
        f"{_RULE}\n{example.title}\n{_RULE}\n\n{render(example.report, **shown)}\n"
        f"{textwrap.fill(f'What it shows: {example.lesson}', 80)}\n"
        for example in found
    ]
    print_result("\n".join([*parts, _next(folder, found)]))


def _next(folder: Path, examples: tuple[Example, ...]) -> str:
    from fairgauge.render.words.command_line import repetition

    lines = [
        _RULE,
        "How to go on",
        _RULE,
        "",
        "Open in a browser:",
        *(f"  {(folder / example.name).resolve().as_uri()}.html" for example in examples),
        "The audit of the loans again:",
        "  " + repetition(examples[-1].report)[1].replace(" --", " \\\n    --"),
        "An audit of your own table, from a few questions:",
        f"  {_NAME} choose --output audit.toml",
        f"  {_NAME} audit YOUR.csv --config audit.toml --output report.html",
        "The metrics, and one of them explained:",
        f"  {_NAME} metrics",
        f"  {_NAME} metrics DI",
    ]
    return "\n".join(lines)
