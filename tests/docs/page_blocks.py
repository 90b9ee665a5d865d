"""The code blocks of a page of documentation, run in order as a reader would.

A block is run by its kind:

- a title names a file, which is written;
- ``python`` is executed; a ``text`` block right below holds what it prints; ``>>>`` is a doctest;
- ``console`` holds commands after ``$``, with what they print, if it is shown; a comment
  ``# exit 1`` is the exit code; ``> FILE`` writes standard output;
- ``toml``, ``yaml`` and ``json`` without a title are read, ``sh`` is for what a test cannot run.

A line of three dots stands for any lines.
"""

import contextlib
import doctest
import io
import json
import re
import shlex
import tomllib
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from fairgauge.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(
    r'^```(?P<kind>[\w{}-]*)(?: title="(?P<title>[^"]+)")?[^\n`]*\n(?P<body>.*?)^```$', re.M | re.S
)
DOCTEST = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
READERS = {"toml": tomllib.loads, "yaml": yaml.safe_load, "json": json.loads}
INSTALLING = ("pip", "make", "docker", "fairgauge choose", "fairgauge audit YOUR.csv")
"""Beginnings of commands in blocks of kind ``sh``: what they need is outside a test."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the file that it is, its content, and where that stands."""

    kind: str
    title: str | None
    body: str
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page; a fence that is not closed is an error."""
    found = list(FENCE.finditer(text))
    assert text.count("```") == 2 * len(found), "a fence is not closed, or is indented"
    return [Block(m["kind"], m["title"], m["body"], *m.span("body")) for m in found]


@dataclass
class Page:
    """A page being run: its text, the names that its code defines, and what it printed.

    ``printed`` holds, by position in the text, what stands there and what should.
    """

    name: str
    text: str
    names: dict[str, Any] = field(default_factory=dict)
    printed: list[tuple[int, int, str]] = field(default_factory=list)

    def run(self) -> str:
        """Run every block in the current folder; return the text with what is really printed."""
        found = blocks(self.text)
        for block, following in zip_longest(found, found[1:]):
            self._run(block, following)
        text = self.text
        for start, end, output in reversed(self.printed):
            text = text[:start] + output + text[end:]
        return text

    def _run(self, block: Block, following: Block | None) -> None:
        if block.title is not None:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.kind == "python" and ">>> " in block.body:
            self._doctest(block)
        elif block.kind == "python":
            output = self._execute(block)
            if (
                following is not None
                and following.kind == "text"
                and self._shows_output(block, following)
            ):
                self._compare(following.start, following.end, output)
        elif block.kind == "console":
            self._commands(block)
        elif block.kind in READERS:
            READERS[block.kind](block.body)
        elif block.kind == "sh":
            for line in block.body.splitlines():
                assert line.startswith(INSTALLING), f"{line}: a command to run is a console block"
        else:
            assert block.kind in ("text", "") or block.kind.startswith("{"), block.kind

    def _shows_output(self, block: Block, following: Block) -> bool:
        return self.text[block.end : following.start].split() == ["```", "```text"]

    def _doctest(self, block: Block) -> None:
        example = doctest.DocTestParser().get_doctest(block.body, {}, self.name, self.name, 0)
        example.globs = self.names
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=DOCTEST)
        result = runner.run(example, out=said.write, clear_globs=False)
        assert not result.failed, said.getvalue()

    def _execute(self, block: Block) -> str:
        line = self.text.count("\n", 0, block.start)
        code = compile("\n" * line + block.body, self.name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, self.names)
        return output.getvalue()

    def _commands(self, block: Block) -> None:
        parts = re.split(r"^(?=\$ )", block.body, flags=re.M)
        assert not parts[0], f"a console block begins with a command: {parts[0]}"
        start = block.start
        for part in parts[1:]:
            command, shown = re.match(r"(?s)((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part).groups()
            output = run_command(command)
            if shown:
                end = start + len(part)
                self._compare(end - len(shown), end, output)
            start += len(part)

    def _compare(self, start: int, end: int, output: str) -> None:
        shown = self.text[start:end]
        output = "\n".join(line.rstrip() for line in output.strip("\n").splitlines()) + "\n"
        if not matches(shown, output):
            self.printed.append((start, end, output))


def matches(shown: str, output: str) -> bool:
    """Return whether output is what a page shows, three dots on a line standing for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines()
    )
    return re.fullmatch(pattern, output) is not None


def run_command(text: str) -> str:
    """Run one command line in this process; return what it prints."""
    command, _, comment = (
        text.removeprefix("$ ").replace("\\\n", " ").strip().partition("  # exit ")
    )
    command, _, target = command.partition(" > ")
    program, *arguments = shlex.split(command)
    if program == "cat":
        return "".join(Path(name).read_text(encoding="utf-8") for name in arguments)
    assert program == "fairgauge", f"{command}: pages run fairgauge and cat alone"
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "80"})
    assert result.exit_code == int(comment or 0), f"{command}\n{result.output}"
    if target:
        Path(target).write_text(result.stdout, encoding="utf-8")
        return ""
    return result.stdout
