"""The house's own laws: layers, files, names and words."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fairgauge

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "fairgauge"
FILES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

ONLY_IN = {
    "narwhals": ("scan/",),
    "duckdb": ("scan/",),
    "polars": ("scan/", "render/"),
    "pyarrow": ("scan/",),
    "pandas": ("scan/", "render/", "compat/"),
    "altair": ("render/",),
    "click": ("cli/",),
    "jinja2": ("render/",),
    "pydantic": ("spec/spec_file.py", "compat/"),
    "scipy": ("stats/",),
    "urllib.request": ("compat/model_endpoint.py",),
}
"""Libraries, and the only places that may import them, also when imported late."""

NEVER = {"requests", "http.client", "socket", "pickle", "sklearn", "smclarify"}
"""What is imported nowhere: the network (but for the URL of a model), pickles, and the peers."""


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports(path: Path) -> set[str]:
    """Return every module that a file imports, at the top or late."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module}
    return found


def test_layers_hold() -> None:
    """The contracts of import-linter, as `make check` runs them."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_modules_have_docstrings(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_libraries_stay_in_their_rooms(path: Path) -> None:
    for module in imports(path):
        library = module.split(".", 1)[0]
        assert module not in NEVER
        assert library not in NEVER
        rooms = ONLY_IN.get(module, ONLY_IN.get(library, ("",)))
        assert name_of(path).startswith(rooms), f"{module} only in {rooms}"


def test_a_library_in_the_wrong_room_is_found() -> None:
    """So that the test above can fail: a late import counts."""
    sample = ast.parse("def f():\n    import click.testing\n    from scipy import stats\n")
    path = ROOT / "tests" / "house" / "test_layout.py"
    assert {"pytest", "fairgauge", "ast"} <= imports(path)
    found = {n.names[0].name for n in ast.walk(sample) if isinstance(n, ast.Import)}
    assert found == {"click.testing"}


def test_no_drawer_for_everything() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "legacy"}
    for path in (*FILES, *TESTS):
        if path.is_relative_to(SOURCE / "compat" / "smclarify"):
            continue  # bears the names of the modules that it stands in for
        parts = {*path.relative_to(ROOT).parts[:-1], path.stem}
        assert not parts & banned, path
        assert not re.fullmatch(r"v[0-9]+", path.parent.name), path


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_is_left_to_do(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError", text)
    assert not re.search(r"/work/|/home/|/root/|/tmp/", text), "no path of a machine"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_classes_are_small(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            public = [
                each.name
                for each in node.body
                if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
            ]
            assert len(public) <= 12, (node.name, public)


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages(fairgauge.__path__, "fairgauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
