"""The document of a choice of thresholds: every comparison names what it is against."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render._document_tree import Table
from fairgauge.render.document import document as document_of


@pytest.fixture(scope="module")
def scored() -> pl.DataFrame:
    """Return rows whose best group is another one with thresholds by group."""
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], 3_000, p=[0.5, 0.3, 0.2])
    label = (rng.random(3_000) < 0.4 + 0.1 * (group == "b")).astype(int)
    shift = 0.1 * (group == "c") - 0.1 * (group == "a")
    score = np.clip(0.3 * label + 0.5 * rng.random(3_000) + shift, 0, 1).round(3)
    return pl.DataFrame({"g": group, "y": label, "s": score})


@pytest.mark.parametrize("reference", ["best", "largest", "others", "overall"])
def test_every_comparison_names_its_reference(scored, reference):
    choice = fg.thresholds(
        scored,
        label="y",
        score="s",
        sensitive="g",
        rules="DI >= 0.7",
        reference=reference,
        margins={"accuracy": 0.3},
    )
    text = " ".join(str(choice).split())
    (of,) = choice.features
    assert of.common is not None
    compared = [(one.group, one.reference.group or reference) for one in of.common.disparities]
    items = re.findall(r"- Disparate impact \(Clarify DI\), (\w+) vs (\w+):", text)
    assert items == compared
    (frontier,) = (each for each in document_of(choice).sections if each.id == "frontier-0")
    (table,) = (block for block in frontier.blocks if isinstance(block, Table))
    decided = {
        f"{point.threshold:g}": f"{point.group} vs {point.reference.group or reference}"
        for point in of.frontier
    }
    for name, *_, group, _ in table.rows:
        assert group.text == decided[name.text.split()[0]]
