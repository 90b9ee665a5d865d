"""Every extra of the package is tested alone by tests/extras, and has what it needs declared."""

import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "tests" / "extras"), run_name="extras")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_is_tested_alone():
    assert set(SCRIPT["SMOKE"]) == {"core", *PROJECT["optional-dependencies"]}
    assert SCRIPT["extras"]() == set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("name", SCRIPT["SMOKE"])
def test_what_is_run_is_python(name):
    compile(SCRIPT["COMMON"] + SCRIPT["SMOKE"][name], name, "exec")
