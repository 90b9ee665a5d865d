"""The page on exit codes and pipelines: its commands print, and end with, what it says."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from fairgauge.cli import main

if TYPE_CHECKING:
    from click.testing import Result

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(text) for _, text in found]


def fairgauge(command: str) -> Result:
    words = shlex.split(command)
    stdin = None
    if "<" in words:
        words, stdin = words[: words.index("<")], Path(words[-1]).read_text(encoding="utf-8")
    assert words[0] == "fairgauge"
    return CliRunner().invoke(main, words[1:], input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for code in blocks("python"):
        exec(code, {})
    (specification,) = blocks("toml")
    (tmp_path / "audit.toml").write_text(specification, encoding="utf-8")
    return tmp_path


def test_commands_print_and_end_as_the_page_says(folder: Path) -> None:
    steps = 0
    for block in blocks("console"):
        result = None
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            if command == "echo $?":
                assert result is not None
                assert result.exit_code == int(shown), result.output
                continue
            result = fairgauge(command)
            pattern = re.escape(shown).replace(re.escape("...\n"), "(?s:.*)")
            assert re.fullmatch(pattern, result.output), (command, result.output)
            steps += 1
    assert steps >= 12
    assert {"fairness.xml", "fairness.html", "changes.html"} <= {p.name for p in folder.iterdir()}


def test_the_commands_of_pipelines_end_with_a_verdict(folder: Path) -> None:
    commands = re.findall(r"(?:run:|-) (fairgauge .*)", "\n".join(blocks("yaml")))
    assert len(commands) == 2
    assert [fairgauge(command).exit_code for command in commands] == [3, 3]
    assert (folder / "fairness.xml").exists()
