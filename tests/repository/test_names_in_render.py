"""What reports show of a metric is decided by its row of the catalogue, not by its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.render.words.metric_words import adds_up_over_classes

RENDER = Path(__file__).parents[2] / "src" / "fairgauge" / "render"
OF_ONE_RATE = {"preset_blocks.py", "score_sections.py"}
"""Modules whose subject is a few rates: those of the tables of laws, and of thresholds."""
WORDS = {"accuracy", "CI", "consistency", "f1", "lift", "skew"}
"""Names that are words of the language, too, so that they may stand in any module."""


@pytest.mark.parametrize("path", sorted(RENDER.glob("*.py")), ids=lambda path: path.name)
def test_no_module_of_reports_decides_by_the_name_of_a_metric(path: Path) -> None:
    names = {row.name for row in (*RATES, *METRICS)} - WORDS
    constants = (
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
    )
    named = sorted({each for each in constants if isinstance(each, str) and each in names})
    assert path.name in OF_ONE_RATE or not named


def test_the_rates_whose_mean_over_classes_is_the_same_in_every_group_follow_from_their_shape() -> (
    None
):
    of_margins = {"selection_rate", "rejection_share", "base_rate", "negative_base_rate"}
    assert {row.name for row in RATES if adds_up_over_classes(row.name)} == of_margins
