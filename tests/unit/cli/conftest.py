"""The command line, in this process or in one of its own, beside a table of 40 loans."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loan_cases import table

import fairgauge
from fairgauge.cli import main


@pytest.fixture
def loans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write loans.csv into a folder of its own, and go there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loans.csv").write_text(table(), encoding="utf-8")
    return "loans.csv"


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command line in this process."""

    def call(*args: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, args, input=stdin)

    return call


@pytest.fixture
def fails(run: Callable[..., Result]) -> Callable[..., str]:
    """Run the command line, which must end with exit code 2; return what it complains of."""

    def call(*args: str, stdin: str | bytes | None = None) -> str:
        result = run(*args, stdin=stdin)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        assert len(result.stderr) < 2_000
        return result.stderr.split("Error: ", 1)[-1].rstrip("\n")

    return call


@pytest.fixture(scope="session")
def shell() -> Callable[..., subprocess.Popen[bytes]]:
    """Start the command line in a process of its own, from the sources under test."""
    folder = str(Path(fairgauge.__file__).parents[1])
    env = os.environ | {"PYTHONPATH": folder}

    def start(*args: str, **more: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "from fairgauge.cli import main; main()", *args]
        pipe = subprocess.PIPE
        streams = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe}
        return subprocess.Popen(command, **({"env": env} | streams | more))

    return start
