"""Every code block of the moving guides runs: Python, commands, and the files that they read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fairgauge.catalogue.lookup import find_metric
from fairgauge.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "moving"
NAMES = ["clarify", "vertex", "smclarify", "fairlearn", "aif360", "aequitas"]
FENCE = re.compile(
    r'^```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$', re.M | re.S
)


def blocks(name: str) -> Iterator[tuple[str, str | None, str]]:
    text = (GUIDES / f"from-{name}.md").read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(FENCE.findall(text))
    for found in FENCE.finditer(text):
        yield found["kind"], found["title"], found["body"]


def run_command(line: str) -> None:
    command, _, comment = line.partition("  # exit ")
    program, *args = shlex.split(command.removeprefix("$ "))
    assert program == "fairgauge"
    result = CliRunner().invoke(main, args)
    assert result.exit_code == int(comment or 0), f"{command}\n{result.output}"


@pytest.mark.parametrize("name", NAMES)
def test_every_block_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    namespace: dict[str, Any] = {}
    for kind, title, body in blocks(name):
        if title is not None:
            (tmp_path / title).write_text(body, encoding="utf-8")
        elif kind == "python":
            exec(compile(body, f"from-{name}.md", "exec"), namespace)
        else:
            assert kind == "console", f"a block of kind {kind} is not run"
            for line in body.splitlines():
                run_command(line)


def test_every_guide_is_tested() -> None:
    assert {path.stem for path in GUIDES.glob("from-*.md")} == {f"from-{name}" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_that_is_named_exists(name: str) -> None:
    text = (GUIDES / f"from-{name}.md").read_text(encoding="utf-8")
    named = set(
        re.findall(
            r"\b(?:vertex\.\w+|[a-z_0-9]+\.(?:largest_gap|smallest_ratio|difference|ratio))\b", text
        )
    )
    for each in named - {"mf.difference", "mf.ratio"}:
        assert find_metric(each).name == each
