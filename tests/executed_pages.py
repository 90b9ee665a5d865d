"""Runs every code block of a page of the documentation, as it stands there.

A block of Python runs with the names of those before it, a block with a title is written to a file
of that name, and a console block runs fairgauge: ``$ fairgauge ...  # exit 1``.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from fairgauge.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FENCE = re.compile(
    r'^```(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.M | re.S
)


def blocks(page: Path) -> Iterator[tuple[str, str | None, str]]:
    """Yield the kind, the title and the text of every block."""
    text = page.read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(FENCE.findall(text))
    for found in FENCE.finditer(text):
        yield found["kind"], found["title"], found["body"]


def run_command(line: str) -> None:
    """Run a command, which ends with the exit code that its comment states."""
    command, _, comment = line.partition("  # exit ")
    program, *args = shlex.split(command.removeprefix("$ "))
    assert program == "fairgauge"
    result = CliRunner().invoke(main, args)
    assert result.exit_code == int(comment or 0), f"{command}\n{result.output}"


def run_page(page: Path, folder: Path) -> dict[str, Any]:
    """Run all blocks of a page in a folder, which is the working directory; return the names."""
    namespace: dict[str, Any] = {}
    for kind, title, body in blocks(page):
        if title is not None:
            (folder / title).write_text(body, encoding="utf-8")
        elif kind == "python":
            exec(compile(body, page.name, "exec"), namespace)
        elif kind:
            assert kind == "console", f"a block of kind {kind} is not run"
            for line in body.splitlines():
                run_command(line)
    return namespace
