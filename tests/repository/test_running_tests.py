"""How the tests are run: each once, every extra too, none left out, nothing installed unasked."""

import importlib.util
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.repository.sources import ROOT, TESTS, text_of

import fairgauge
from fairgauge.start.first_help import SECTIONS

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


# ---- help comes at once: nothing heavy is imported before it is needed
HEAVY = {
    "duckdb", "jinja2", "narwhals", "numpy", "pandas", "polars", "pyarrow", "pydantic", "scipy",
    "yaml",
}  # fmt: skip
ENV = os.environ | {"PYTHONPATH": str(Path(fairgauge.__file__).parents[1])}


def loaded(*codes: str) -> set[str]:
    """Return the modules, and their packages, that are loaded once each code has run."""
    after = "import sys, json; print(json.dumps(sorted(sys.modules)))"
    parts = [f"try:\n {code}\nexcept SystemExit: pass" for code in codes]
    script = "\n".join([*parts, after])
    found = subprocess.run(
        [sys.executable, "-c", script], env=ENV, capture_output=True, check=False
    )
    return set(json.loads(found.stdout.splitlines()[-1]))


COMMANDS = [name for section in SECTIONS.values() for name in section]
PLUG_INS = ["clarify", "clarify_monitor", "vertex"]


def test_help_imports_nothing_heavy():
    asked = [f"from fairgauge.cli import main; main({[name, '--help']!r})" for name in COMMANDS]
    modules = loaded(*asked)
    assert "click" in modules
    assert not modules & HEAVY
    assert not any(name.startswith("fairgauge_cloud") for name in modules)


def test_the_help_of_all_commands_is_that_of_click_without_click():
    code = "import sys; from fairgauge.{0} import main; sys.argv[1:] = ['--help']; main()"
    assert not loaded(code.format("__main__")) & {"click", "typing", "importlib.metadata"}
    ours, clicks = (
        subprocess.check_output([sys.executable, "-c", code.format(module)], env=ENV, text=True)
        for module in ("__main__", "cli")
    )
    assert ours == clicks
    assert "  compare-models   Compare candidate models" in ours


@pytest.mark.parametrize("line", ["fairgauge co", "fairgauge "])
def test_a_command_is_completed_as_click_completes_it_without_click(line):
    asked = {"_FAIRGAUGE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "1"}
    code = "import sys; from fairgauge.{0} import main; main(); assert 'click' not in sys.modules"
    ours, clicks = (
        subprocess.check_output([sys.executable, "-c", code.format(module)], env=ENV | asked)
        for module in ("__main__", "cli")
    )
    assert ours == clicks
    assert b"plain,compare-models\n" in ours


def test_a_command_of_a_plug_in_imports_nothing_heavy():
    asked = [f"from fairgauge_cloud.commands import {m}; {m}(['--help'])" for m in PLUG_INS]
    modules = loaded(*asked)
    assert "fairgauge_cloud.commands" in modules
    assert not modules & HEAVY


def test_importing_the_library_costs_nothing():
    assert not loaded("import fairgauge") & (HEAVY | {"click"})


def test_an_audit_of_a_file_loads_no_scipy_no_frames_and_no_other_results(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("g,y\n" + "a,1\nb,0\nc,1\na,0\nb,1\nc,0\n" * 50, encoding="utf-8")
    modules = loaded(
        f"from fairgauge.cli import main; main(['audit', {str(path)!r}, '--label', 'y', "
        "'--sensitive', 'g'])"
    )
    assert {"duckdb", "numpy", "fairgauge.measure.measure"} <= modules
    others = ("comparison", "gap_decomposition", "monitor_results", "subgroup_search",
              "threshold_choice")  # fmt: skip
    unused = {"narwhals", "pandas", "scipy", "wcwidth"} | {
        f"fairgauge.results.{name}" for name in others
    }
    assert not modules & unused
