"""The moving guides name metrics that exist; tests/docs runs their code."""

import re
from pathlib import Path

import pytest

from fairgauge.catalogue.lookup import find_metric

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "moving"
NAMES = ["clarify", "model-monitor", "vertex", "smclarify", "fairlearn", "aif360", "aequitas"]


def test_every_guide_is_tested() -> None:
    assert {path.stem for path in GUIDES.glob("from-*.md")} == {f"from-{name}" for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_that_is_named_exists(name: str) -> None:
    text = (GUIDES / f"from-{name}.md").read_text(encoding="utf-8")
    named = set(
        re.findall(
            r"\b(?:vertex\.\w+|[a-z_0-9]+\.(?:largest_gap|smallest_ratio|difference|ratio))\b", text
        )
    )
    for each in named - {"mf.difference", "mf.ratio"}:
        assert find_metric(each).name == each
