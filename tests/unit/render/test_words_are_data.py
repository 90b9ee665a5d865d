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
    "render/charts/score_sections.py": 3,
    "render/counts.py": 2,
    "render/document.py": 4,
    "render/documents/_preset_blocks.py": 39,
    "render/documents/_rule_blocks.py": 17,
    "render/documents/audit.py": 35,
    "render/documents/changed.py": 15,
    "render/documents/document_parts.py": 7,
    "render/documents/filing.py": 22,
    "render/documents/monitored.py": 21,
    "render/documents/planning.py": 1,
    "render/documents/report_notes.py": 21,
    "render/documents/search.py": 12,
    "render/documents/swaps.py": 9,
    "render/documents/thresholds.py": 4,
    "render/documents/why.py": 24,
    "render/formats.py": 2,
    "render/grammar.py": 1,
    "render/words/change_words.py": 14,
    "render/words/command_line.py": 2,
    "render/words/display_names.py": 1,
    "render/words/finding_sentences.py": 15,
    "render/words/glossary.py": 3,
    "render/words/join_sentences.py": 12,
    "render/words/method_descriptions.py": 34,
    "render/words/metric_words.py": 1,
    "render/words/monitor_sentences.py": 43,
    "render/words/question_sentences.py": 97,
    "render/words/row_tables.py": 2,
    "render/words/rule_words.py": 1,
    "render/words/verdict_sentences.py": 2,
    "render/words/verification_text.py": 35,
    "render/writers/audit_page.py": 3,
    "render/writers/cyclonedx.py": 2,
    "render/writers/explore_page.py": 2,
    "render/writers/html.py": 3,
    "render/writers/junit.py": 4,
    "render/writers/markdown.py": 1,
    "render/writers/openmetrics.py": 17,
    "render/writers/pdf.py": 9,
    "render/writers/terminal.py": 8,
    "render/writers/xlsx.py": 8,
    "results/brief.py": 5,
    "results/comparison.py": 10,
    "results/disadvantage.py": 1,
    "results/doubts.py": 6,
    "results/gap_decomposition.py": 4,
    "results/monitor_results.py": 23,
    "results/name_swaps.py": 5,
    "results/planned.py": 3,
    "results/report.py": 9,
    "results/sections.py": 2,
    "results/shown_result.py": 1,
    "results/subgroup_search.py": 3,
    "results/threshold_choice.py": 4,
    "results/verification.py": 3,
    "statements/audit.py": 1,
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
