"""What a reader is told is in the files of texts: no Python file beside them states it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fairgauge

ROOT = Path(fairgauge.__file__).parent
PACKAGES = ("render", "results", "statements")
TWO_WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")
REFUSALS = ("Error", "Exception", "Warning", "warn")
EXCUSED = {
    "render/documents/audit.py": 2,
    "render/documents/filing.py": 7,
    "render/documents/why.py": 1,
    "render/formats.py": 2,
    "render/words/question_sentences.py": 1,
    "render/writers/audit_page.py": 3,
    "render/writers/html.py": 2,
    "render/writers/pdf.py": 2,
    "render/writers/pipelines.py": 4,
    "render/writers/xlsx.py": 1,
    "results/comparison.py": 2,
    "results/disadvantage.py": 1,
    "results/gap_decomposition.py": 2,
    "results/monitor_results.py": 17,
    "results/name_swaps.py": 3,
    "results/report.py": 5,
    "results/scopes.py": 6,
    "results/sections.py": 2,
    "results/shown_result.py": 1,
    "results/subgroup_search.py": 4,
    "results/threshold_choice.py": 2,
    "statements/compared.py": 1,
    "statements/why.py": 1,
}
"""How many texts each file still states in English: these numbers are only to become smaller."""


def stated(tree: ast.AST) -> Iterator[str]:
    """Yield texts of two words or more that are no docstring, error or text of a raise."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(REFUSALS):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if TWO_WORDS.search(node.value):
                yield node.value
            continue
        yield from stated(node)


def test_no_file_states_more_than_it_is_excused():
    files = {
        str(path.relative_to(ROOT)): path
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    found = {name: len([*stated(ast.parse(path.read_text()))]) for name, path in files.items()}
    assert {name: n for name, n in found.items() if n > EXCUSED.get(name, 0)} == {}
    assert [name for name in EXCUSED if not found.get(name)] == []  # no longer to be excused
