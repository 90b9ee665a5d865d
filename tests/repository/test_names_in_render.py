"""What reports show of a metric is decided by its row of the catalogue, not by its name."""

import ast

from tests.repository.sources import SOURCE, nodes_of

from fairgauge.catalogue.catalogue import METRICS, RATES

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
