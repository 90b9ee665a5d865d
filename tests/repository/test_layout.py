"""Rules of the repository: layers, where libraries may be imported, names and words."""

from __future__ import annotations

import ast
import contextlib
import importlib
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fairgauge

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "click": ("cli/",),
    "jinja2": ("render/",),
    "pydantic": ("compat/",),
    "scipy": ("stats/",),
    "urllib.request": ("compat/model_endpoint.py",),
    "sklearn": ("integrations/scikit_learn.py",),
    "pytest": ("integrations/pytest_plugin.py",),
    "mlflow": ("integrations/mlflow.py",),
}
"""Libraries, and the only places that may import them, also when imported late."""

NEVER = {"requests", "http.client", "socket", "pickle", "smclarify"}
"""What is imported nowhere: the network (but for the URL of a model), pickles, and a peer."""


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def imports(source: str) -> set[str]:
    """Return every module that a source imports, at the top or inside a function."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules |= {node.module}
    return modules


def misplaced_imports(name: str, source: str) -> list[str]:
    """Return the imports that a file of this name may not have, each with the reason."""
    problems = []
    for module in sorted(imports(source)):
        library = module.split(".", 1)[0]
        allowed = ONLY_IN.get(module, ONLY_IN.get(library, ("",)))
        if {module, library} & NEVER:
            problems.append(f"{module} may not be imported anywhere")
        elif not name.startswith(allowed):
            problems.append(f"{module} may be imported only in {', '.join(allowed)}")
    return problems


def test_layers_hold() -> None:
    """The contracts of import-linter, as `make check` runs them."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_modules_have_docstrings(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_libraries_are_imported_only_where_allowed(path: Path) -> None:
    assert misplaced_imports(name_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "problems"),
    [
        ("render/writers/html.py", "import click.testing", 1),
        ("render/writers/html.py", "def f():\n    from scipy import stats\n", 1),
        ("question/rules.py", "import urllib.request, pickle\n", 2),
        ("stats/exact.py", "from sklearn.metrics import roc_auc_score\n", 1),
        ("scan_other.py", "import duckdb\n", 1),
        ("stats/exact.py", "from scipy import stats\nimport numpy as np\n", 0),
        ("cli/commands/audit.py", "import click\nfrom . import output\n", 0),
    ],
)
def test_a_misplaced_import_is_found(name: str, source: str, problems: int) -> None:
    assert len(misplaced_imports(name, source)) == problems


def test_no_module_is_named_for_everything() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "legacy"}
    for path in (*FILES, *TESTS):
        if path.is_relative_to(SOURCE / "compat" / "smclarify"):
            continue  # bears the names of the modules that it stands in for
        parts = {*path.relative_to(ROOT).parts[:-1], path.stem}
        assert not parts & banned, path
        assert not re.fullmatch(r"v[0-9]+", path.parent.name), path


OURS = [path for path in FILES if not path.is_relative_to(SOURCE / "compat" / "smclarify")]
"""All but the stand-in for smclarify, which bears the names of what it stands in for."""


def shared(names: Iterable[tuple[str, Path]]) -> dict[str, list[str]]:
    """Return the names that several files have, each with these files."""
    places = defaultdict(list)
    for name, path in names:
        places[name].append(name_of(path))
    return {name: files for name, files in places.items() if len(files) > 1}


def test_no_two_files_have_one_name() -> None:
    named = ((path.name, path) for path in OURS if path.name != "__init__.py")
    assert shared(named) == {}


def test_no_two_classes_have_one_name() -> None:
    nodes = ((ast.walk(ast.parse(path.read_text(encoding="utf-8"))), path) for path in OURS)
    classes = (
        (node.name, path) for each, path in nodes for node in each if isinstance(node, ast.ClassDef)
    )
    assert shared(classes) == {}


def test_a_name_of_two_files_is_found() -> None:
    one, other = SOURCE / "question" / "rules.py", SOURCE / "stats" / "rules.py"
    assert shared([("Rule", one), ("Rule", other), ("Spec", one)]) == {
        "Rule": ["question/rules.py", "stats/rules.py"]
    }


def test_few_modules_stand_outside_a_package() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 10


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_unfinished_code_and_no_local_paths(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError", text)
    assert not re.search(r"/work/|/home/|/root/|/tmp/", text), "no path of one machine"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_classes_are_small(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            public = [
                member.name
                for member in node.body
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_")
            ]
            assert len(public) <= 12, (node.name, public)


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages(fairgauge.__path__, "fairgauge."):
        if not module.name.endswith("__main__"):
            # the integration of MLflow is tested where MLflow is installed
            of_extra = module.name == "fairgauge.integrations.mlflow"
            with contextlib.suppress(*([fairgauge.MissingExtra] if of_extra else [])):
                importlib.import_module(module.name)
