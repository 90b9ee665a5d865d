"""How the tests are run: each once, every extra too, none left out, nothing installed unasked."""

import importlib.util
import re
import runpy
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.repository.sources import ROOT, TESTS, text_of

BRANCHES = runpy.run_path(str(ROOT / "tests" / "branches"), run_name="branches")


def test_the_measured_run_takes_every_folder_of_tests() -> None:
    folders = {
        f"tests/{path.relative_to(ROOT / 'tests').parts[0]}"
        for path in TESTS
        if path.name.startswith("test_")
    }
    parts = (*BRANCHES["MEASURED"], *BRANCHES["OTHERS"], "tests/repository")
    assert len(parts) == len(set(parts))
    assert set(parts) == folders


def test_a_library_whose_absence_skips_a_test_is_installed_for_development() -> None:
    optional = {
        name
        for path in TESTS
        for name in re.findall(r"importorskip\(\s*\"([\w.]+)\"", text_of(path))
    }
    assert {"ibis", "pyspark.sql", "dask.dataframe"} <= optional
    absent = [name for name in optional if importlib.util.find_spec(name.partition(".")[0]) is None]
    assert absent == [], "the tests of these are skipped, in CI too: add them to the group dev"


def test_workflows_call_targets_that_make_has() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    workflows = "".join(path.read_text("utf-8") for path in (ROOT / ".github").rglob("*.yml"))
    called = set(" ".join(re.findall(r"run: make (.*)", workflows)).split())
    assert {"check", "clients", "site"} <= called
    assert called - {".venv/bin/.dev"} <= targets


@pytest.fixture
def prepare(tmp_path: Path) -> Callable[..., tuple[str, bool]]:
    """Run tests/prepare where every program is missing; return its output, and if it installs."""
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "prepare", tmp_path / "tests")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "dirname", "ls"):
        (programs / name).symlink_to(shutil.which(name) or name)
    log = tmp_path / "installed"
    for name, script in (("id", "echo 0"), ("apt-get", f'echo "$@" >> {log}')):
        (programs / name).write_text(f"#!{shutil.which('bash')}\n{script}\n", encoding="utf-8")
        (programs / name).chmod(0o755)

    def run(*arguments: str, **settings: str) -> tuple[str, bool]:
        log.unlink(missing_ok=True)
        command = [tmp_path / "tests" / "prepare", *arguments]
        env = {"PATH": str(programs), **settings}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == (2 if "unknown argument" in done.stderr else 0)
        return done.stdout + done.stderr, log.exists()

    return run


def test_programs_of_the_system_are_installed_only_when_asked(
    prepare: Callable[..., tuple[str, bool]],
) -> None:
    named, installs = prepare()
    assert "tests/prepare --install, which runs: apt-get install chromium" in named
    assert not installs
    assert not prepare(CI="false")[1]
    assert prepare("--instal") == (
        "tests/prepare: unknown argument '--instal'; the one that there is: --install\n",
        False,
    )
    for asked in (prepare("--install"), prepare(CI="true")):
        assert asked[0].startswith("installing for the tests: chromium")
        assert asked[1]


SCRIPT = runpy.run_path(str(ROOT / "tests" / "extras"), run_name="extras")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_is_tested_alone():
    assert set(SCRIPT["SMOKE"]) == {"core", *PROJECT["optional-dependencies"]}
    assert SCRIPT["extras"]() == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("name", SCRIPT["SMOKE"])
def test_what_is_run_is_python(name):
    compile(SCRIPT["COMMON"] + SCRIPT["SMOKE"][name], name, "exec")
