"""The document of a comparison of models: classes, thresholds, and what has no value."""

import re

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.render import render
from fairgauge.statements import changes

RNG = np.random.default_rng(1)
PEOPLE = rows(600).with_columns(
    **{name: pl.Series(RNG.choice(list("abc"), 600)) for name in ("grade", "old", "new")},
    **{name: pl.Series(RNG.random(600)) for name in ("score", "other_score")},
    one=pl.lit("x"),
)
SCORES = {"label": "repaid", "score": "score", "positive": 1, "sensitive": "sex"}


def shown(found):
    """Return the Markdown of a comparison."""
    return render(found, "markdown").replace("\N{NO-BREAK SPACE}", " ")


def page(found):
    """Return the text of the whole page of a comparison."""
    return " ".join(re.sub(r"<[^>]*>", " ", render(found, "html")).split())


def test_each_threshold_has_its_margin():
    found = fg.compare_models(
        PEOPLE, **SCORES, threshold=[0.3, 0.6], candidate="other_score",
        metrics="selection_rate.difference", margins={"accuracy": 0.1},
    )  # fmt: skip
    tested = [(each.rate, each.change.threshold) for each in found["other_score"].margins]
    assert sorted(tested, key=str) == [("accuracy", 0.3), ("accuracy", 0.6)]
    text = shown(found)
    assert "At threshold 0.3: " in text
    assert "F (sex), threshold 0.6" in page(found)


def test_a_candidate_that_decides_alike_can_never_dominate():
    same = PEOPLE.with_columns(copy=pl.col("current"))
    found = fg.compare_models(
        same, **QUESTION, positive=1, candidate="copy", metrics="selection_rate.ratio",
        margins={"accuracy": 0.02},
    )  # fmt: skip
    (change,) = found["copy"].disparities
    assert change.change == pytest.approx(1.0)
    (stated,) = (s for s in changes.change_page(found).statements if s.code == "shifted")
    assert (stated.value, stated.interval.low <= 0 <= stated.interval.high) == (0, True)
