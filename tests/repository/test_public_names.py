"""The public names: exactly these, each explained with an example that runs."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from grimp import ImportGraph
from tests.repository.private_modules import PrivateModules

import fairgauge as fg

PUBLIC = [
    "Alternatives", "AuditPage", "Change", "Cube", "CubeError", "DataError", "Decomposition",
    "DuplicateCountsWarning", "Estimate", "Exploration", "FN", "FP", "FairgaugeError", "Finding",
    "History", "HistoryHealth", "MissingExtra", "MonitorReport", "PairsAudit", "Planned", "Report",
    "Rule", "RulesNotMet", "Spec", "SpecError", "SubgroupSearch", "TN", "TP", "ThresholdChoice",
    "__version__", "above", "alternatives", "audit", "compare", "compare_models", "confusion",
    "count", "cut", "explore", "find", "load", "metric", "metrics", "monitor", "monitor_doctor",
    "page", "pairs", "plan", "probabilities", "protect", "quotient", "rate", "rule",
    "seal", "sql", "statistic", "thresholds", "verify", "why",
]  # fmt: skip
"""One name more or less is a change of the contract: change it here and in the changelog."""

CLASSES = [name for name in PUBLIC if name[0].isupper() and not name.isupper()]
FUNCTIONS = [name for name in PUBLIC if name[0].islower()]
SOURCE = Path(fg.__file__).parent
MODULES = sorted(
    ".".join(("fairgauge", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in SOURCE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
    and path.parent.name != "stats"  # tests/unit/stats runs those
    and path.name != "mlflow.py"  # tests/compat/test_mlflow.py runs those, where MLflow is
)
"""The modules whose docstrings hold examples."""


def test_the_names_are_these() -> None:
    assert len(set(fg.__all__)) == len(fg.__all__)
    assert sorted(fg.__all__) == PUBLIC
    assert dir(fg) == PUBLIC


def test_names_are_no_modules() -> None:
    """`fg.rule` is the function also after its module was imported under the same name."""
    for name in fg.__all__:
        assert not isinstance(getattr(fg, name), ModuleType), name
    program = (
        "import fairgauge.question.rules, fairgauge.api.audit, fairgauge.catalogue.lookup\n"
        "import fairgauge as fg\n"
        "assert all(callable(each) for each in (fg.rule, fg.audit, fg.confusion, fg.metrics))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'audits'"):
        fg.audits  # noqa: B018


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_examples(name: str) -> None:
    text = inspect.getdoc(getattr(fg, name)) or ""
    assert "Examples\n--------" in text
    assert ">>> " in text
    signature = inspect.signature(getattr(fg, name))
    assert signature.return_annotation is not inspect.Signature.empty
    assert "\n" not in text.split("\n\n")[0], "the first line says it all"


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_explained(name: str) -> None:
    assert (inspect.getdoc(getattr(fg, name)) or "").strip()


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_there_are_examples_to_run() -> None:
    finder = doctest.DocTestFinder()
    examples = [
        test for name in FUNCTIONS for test in finder.find(getattr(fg, name)) if test.examples
    ]
    assert len(examples) >= len(FUNCTIONS)
    assert {getattr(fg, name).__module__ for name in FUNCTIONS} <= set(MODULES)


def test_errors_are_one_family() -> None:
    for name in ("CubeError", "DataError", "SpecError", "MissingExtra", "RulesNotMet"):
        assert issubclass(getattr(fg, name), fg.FairgaugeError)
    assert issubclass(fg.SpecError, ValueError)
    assert issubclass(fg.DataError, ValueError)
    assert issubclass(fg.MissingExtra, ImportError)


def test_messages_stay_short() -> None:
    """Under 2,000 characters, whatever was asked."""
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(fg.confusion("g", {"a": {"tp": 1}}), metrics=["x" * 5_000] * 5)
    assert len(str(caught.value)) < 2_000
    with pytest.raises(fg.SpecError) as caught:
        fg.confusion("g", {f"group {i}" * 50: {"tp": -1} for i in range(1_000)})
    assert len(str(caught.value)) < 2_000


# ---- the contract of private modules finds both mistakes, in a graph made for it
OPTIONS = {"root": "p", "public": ["p.b.shown"]}


@pytest.mark.parametrize(
    ("importer", "imported", "problems"),
    [
        ("p.a.x", "p.b._hidden", ["p.b._hidden is private, and imported by p.a.x"]),
        ("p.b.y", "p.b._hidden", []),
        ("p.b", "p.b._hidden", []),
        ("p.b.y", "p.b.seen", ["p.b.seen is used by its package alone: name it _seen"]),
        ("p.b.y", "p.b.shown", []),
        ("p.a.x", "p.b.seen", []),
        ("p.bb.x", "p.b._hidden", ["p.b._hidden is private, and imported by p.bb.x"]),
    ],
)
def test_modules_are_private_where_only_their_package_uses_them(
    importer: str, imported: str, problems: list[str]
) -> None:
    graph = ImportGraph()
    graph.add_import(importer=importer, imported=imported)
    contract = PrivateModules(name="private", session_options={}, contract_options=OPTIONS)
    check = contract.check(graph, verbose=False)
    assert check.metadata["problems"] == problems
    assert check.kept is not bool(problems)
