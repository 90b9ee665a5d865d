"""Help comes at once: nothing heavy is imported before it is needed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fairgauge
from fairgauge.start.first_help import SECTIONS

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
