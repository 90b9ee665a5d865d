"""The built wheel in a clean environment: what it holds, an audit, and the types that users see."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = "untracked [notes].md"
USER_CODE = ROOT / "tests" / "wheel" / "user_code.py"
PACKAGES = {"fairgauge", "fairgauge_check", "fairgauge_cloud"}
EXTRAS = runpy.run_path(str(ROOT / "tests" / "extras"), run_name="extras")
CLEAN = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}


def call(*command: object, cwd: Path) -> str:
    """Run a command outside the repository and return its standard output."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the sdist and the wheel that is built from it, as `make dist` makes them."""
    folder = tmp_path_factory.mktemp("dist")
    untracked = ROOT / "docs" / UNTRACKED
    untracked.write_text("of somebody who works here")
    try:
        call(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    finally:
        untracked.unlink(missing_ok=True)  # another worker builds, too
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Return the interpreter of a new environment that holds the wheel and what it requires."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home / "env")
    python = home / "env" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    call(*pip, "install", "--quiet", "--no-compile", built[1], cwd=home)
    call(*pip, "check", cwd=home)
    return python


def test_what_is_packed(built):
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(info).decode()
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.relative_to(ROOT / "src").as_posix() for path in files} < names
    assert {f"{package}/py.typed" for package in PACKAGES} < names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == PACKAGES
    assert "Requires-Dist: duckdb" in metadata
    assert "Project-URL: Source, " in metadata
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml", "CHANGELOG.md", "SECURITY.md", "tests/conftest.py",
        "src/fairgauge/py.typed",
    } < packed  # fmt: skip
    assert f"docs/{UNTRACKED}" not in packed


def test_an_audit(installed, tmp_path):
    call(installed, "-c", EXTRAS["COMMON"] + EXTRAS["CORE"], cwd=tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")


def test_arrays_and_help(installed, tmp_path):
    program = (
        "import fairgauge as fg, json\n"
        "report = fg.audit(label=[1, 0, 1, 1], prediction=[1, 0, 0, 1],\n"
        "                  sensitive={'sex': ['F', 'F', 'M', 'M']})\n"
        "print(json.dumps([report.data.rows, report['accuracy.difference', 'sex', 'F'].value]))\n"
    )
    assert json.loads(call(installed, "-c", program, cwd=tmp_path)) == [4, 0.5]
    text = call(installed.with_name("fairgauge"), "--help", cwd=tmp_path)
    assert "fairgauge audit" in text
    assert "  vertex " in text  # found by its entry point


def test_mypy_sees_the_types(installed, tmp_path):
    flags = ("--strict", "--python-executable", installed, "--cache-dir", tmp_path / "cache")
    call(sys.executable, "-m", "mypy", "--config-file", os.devnull, *flags, USER_CODE, cwd=tmp_path)


def test_pyright_sees_the_types(installed, tmp_path):
    settings = {
        "include": [USER_CODE.name],
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportUnusedExpression": "none",  # the misspelt attribute
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    (tmp_path / USER_CODE.name).write_text(USER_CODE.read_text())
    text = call(sys.executable, "-m", "pyright", "--pythonpath", installed, cwd=tmp_path)
    assert "0 errors" in text
