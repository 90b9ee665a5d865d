"""The README is true: its commands exist, and its example prints what it shows.

After an intended change of the text report, run with FAIRGAUGE_UPDATE_GOLDEN=1 and read the diff.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cli.demo_data import examples

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_shows(tmp_path, monkeypatch):
    block = next(
        b for b in re.findall(r"```console\n(.*?)```", README, re.DOTALL) if "berkeley" in b
    )
    command, _, shown = block.partition("\n")
    (tmp_path / "demo").mkdir()
    examples(tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, shlex.split(command.removeprefix("$ fairgauge ")))
    assert result.exit_code == 0, result.stderr
    if os.environ.get("FAIRGAUGE_UPDATE_GOLDEN"):
        new = README.replace(block, f"{command}\n{result.stdout.strip()}\n")
        (ROOT / "README.md").write_text(new, encoding="utf-8")
        return
    assert result.stdout.strip() == shown.strip()


def test_the_two_commands_are_targets_of_make():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", README)) <= targets


def test_the_doctest_of_the_readme_runs():
    parser = doctest.DocTestParser()
    test = parser.get_doctest(README, {"fg": fg}, "README", "README.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 3
    assert result.failed == 0


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)]+)\)", README))
def test_links_lead_somewhere(path):
    assert (ROOT / path).exists(), path
