"""Rules of the repository: layers, where libraries may be imported, names and words.

A test of a rule lists every file that breaks it, so that one run shows all there is to mend.
"""

import ast
import contextlib
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.repository.sources import MODULES, ROOT, SOURCE, TESTS, name_of, nodes_of, text_of

import fairgauge
from fairgauge.catalogue.catalogue import METRICS, RATES

ONLY_IN = {
    "narwhals": ("scan/",), "duckdb": ("scan/",), "polars": ("scan/", "render/"),
    "pyarrow": ("scan/",), "pandas": ("scan/", "render/"), "click": ("cli/",),
    "jinja2": ("render/",), "pydantic": (), "scipy": ("stats/",), "urllib.request": (),
    "sklearn": (), "pytest": ("integrations/pytest_plugin.py",),
    "mlflow": ("integrations/mlflow.py",),
}  # fmt: skip
"""Libraries, and the only places that may import them, also when imported late."""

NEVER = {"requests", "http.client", "socket", "pickle", "smclarify"}
"""What is imported nowhere: the network (but for the URL of a model), pickles, and a peer."""


def imports(nodes: Iterable[ast.AST]) -> set[str]:
    """Return every module that a source imports, at the top or inside a function."""
    modules = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules |= {node.module}
    return modules


def misplaced_imports(name: str, nodes: Iterable[ast.AST]) -> list[str]:
    """Return the imports that a file of this name may not have, each with the reason."""
    problems = []
    for module in sorted(imports(nodes)):
        library = module.split(".", 1)[0]
        allowed = ONLY_IN.get(module, ONLY_IN.get(library, ("",)))
        if {module, library} & NEVER:
            problems.append(f"{name}: {module} may not be imported anywhere")
        elif not name.startswith(allowed):
            problems.append(f"{name}: {module} may be imported only in {', '.join(allowed)}")
    return problems


def test_layers_hold() -> None:
    """The contracts of import-linter, as `make check` runs them."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


CIRCLES = (
    {"catalogue/across.py", "catalogue/comparisons.py", "catalogue/statistics.py"},
    {"question/kits.py", "question/option_types.py", "question/options.py"},
    {"inference/clusters.py", "inference/interval.py"},
)
"""A rate makes its own differences, ratios and spreads, which are of rates; a preset states
options, and is one; an interval knows the types of clusters, which have intervals."""


def imported(path: Path) -> set[Path]:
    """Return the modules that one imports: at the top, inside a function, or for types alone."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    ours = [name.split(".")[1:] for name in names if name.startswith("fairgauge.")]
    return {file for parts in ours if (file := SOURCE.joinpath(*parts).with_suffix(".py")).exists()}


def test_modules_import_each_other_in_no_circle() -> None:
    """Of the modules that import none of the rest, but those of a stated circle, none remains."""
    circle_of = {name: circle for circle in CIRCLES for name in circle}
    edges = {
        path: {p for p in imported(path) if name_of(p) not in circle_of.get(name_of(path), {})}
        - {path}
        for path in MODULES
    }
    rest = set(edges)
    while ends := {p for p in rest if not edges[p] & rest or not any(p in edges[q] for q in rest)}:
        rest -= ends
    assert {name_of(path) for path in rest} == set()


def test_modules_have_docstrings() -> None:
    assert [name_of(path) for path in MODULES if not ast.get_docstring(nodes_of(path)[0])] == []


def test_libraries_are_imported_only_where_allowed() -> None:
    problems = (misplaced_imports(name_of(path), nodes_of(path)) for path in MODULES)
    assert [problem for of_module in problems for problem in of_module] == []


@pytest.mark.parametrize(
    ("name", "source", "problems"),
    [
        ("render/writers/html.py", "import click.testing", 1),
        ("render/writers/html.py", "def f():\n    from scipy import stats\n", 1),
        ("question/rules.py", "import urllib.request, pickle\n", 2),
        ("stats/significance.py", "from sklearn.metrics import roc_auc_score\n", 1),
        ("scan_other.py", "import duckdb\n", 1),
        ("stats/significance.py", "from scipy import stats\nimport numpy as np\n", 0),
        ("cli/commands/audit.py", "import click\nfrom . import output\n", 0),
    ],
)
def test_a_misplaced_import_is_found(name: str, source: str, problems: int) -> None:
    assert len(misplaced_imports(name, ast.walk(ast.parse(source)))) == problems


BANNED = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "legacy"}


def test_no_module_is_named_for_everything() -> None:
    for path in (*MODULES, *TESTS):
        parts = {*path.relative_to(ROOT).parts[:-1], path.stem}
        assert not parts & BANNED, path
        assert not re.fullmatch(r"v[0-9]+", path.parent.name), path


VAGUE = re.compile(
    r"_(of|with|by|without|apart|alone|in|on|from|as|at|for|between|among|beside|only|not)(_|$)"
)
"""How names begin that state neither what is returned nor what is done."""


def test_private_functions_are_named_for_what_they_return_or_do() -> None:
    functions = [(p, n) for p in MODULES for n in nodes_of(p) if isinstance(n, ast.FunctionDef)]
    assert [f"{name_of(p)}: {n.name}" for p, n in functions if VAGUE.match(n.name)] == []


def test_few_modules_stand_outside_a_package() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 14


UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
LOCAL = re.compile(r"/work/|/home/|/root/|/tmp/")
"""Paths that there are on one machine only."""


def test_no_unfinished_code_and_no_local_paths() -> None:
    matches = (
        f"{name_of(path)}: {match[0]}"
        for path in MODULES
        for pattern in (UNFINISHED, LOCAL)
        for match in pattern.finditer(text_of(path))
    )
    assert list(matches) == []


def test_every_module_can_be_imported() -> None:
    for module in pkgutil.walk_packages(fairgauge.__path__, "fairgauge."):
        if not module.name.endswith("__main__"):
            # the integration of MLflow is tested where MLflow is installed
            of_extra = module.name == "fairgauge.integrations.mlflow"
            with contextlib.suppress(*([fairgauge.MissingExtra] if of_extra else [])):
                importlib.import_module(module.name)


OF_ONE_RATE = {"filing.py", "score_sections.py"}
"""Modules whose subject is a few rates: those of the tables of laws, and of thresholds."""
WORDS = {"accuracy", "CI", "consistency", "f1"}
"""Names that are words of the language, too, so that they may stand in any module."""


def test_no_module_of_reports_decides_by_the_name_of_a_metric() -> None:
    names = {row.name for row in (*RATES, *METRICS)} - WORDS
    modules = [path for path in (SOURCE / "render").rglob("*.py") if path.name not in OF_ONE_RATE]
    constants = (
        (path.name, node.value)
        for path in modules
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    assert [(module, value) for module, value in constants if value in names] == []
