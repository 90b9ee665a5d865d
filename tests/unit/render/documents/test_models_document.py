"""The document of a comparison of models: classes, thresholds, and what has no value."""

import re

import numpy as np
import polars as pl
import pytest
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.render import render
from fairgauge.statements import models

RNG = np.random.default_rng(1)
PEOPLE = rows(600).with_columns(
    **{name: pl.Series(RNG.choice(list("abc"), 600)) for name in ("grade", "old", "new")},
    **{name: pl.Series(RNG.random(600)) for name in ("score", "other_score")},
    one=pl.lit("x"),
)
CLASSES = {"label": "grade", "prediction": "old", "sensitive": "sex"}
SCORES = {"label": "repaid", "score": "score", "positive": 1, "sensitive": "sex"}


def shown(found):
    """Return the Markdown of a comparison."""
    return render(found, "markdown").replace("\N{NO-BREAK SPACE}", " ")


def page(found):
    """Return the text of the whole page of a comparison."""
    return " ".join(re.sub(r"<[^>]*>", " ", render(found, "html")).split())


def test_classes_are_named_and_a_margin_is_of_all_classes():
    margins = {"accuracy": 0.1, "true_positive_rate": 0.1}
    found = fg.compare_models(PEOPLE, **CLASSES, candidate="new", margins=margins)
    text = shown(found)
    assert all(f"F (sex), class {name}" in page(found) for name in "abc")
    accuracy = [float((PEOPLE["grade"] == PEOPLE[name]).mean()) for name in ("old", "new")]
    (stated,) = (s for s in models.models_page(found).statements
                 if s.code == "shifted" and s.of.name == "accuracy"
                 and s.facts["margin"] == 0.1)  # fmt: skip
    assert [stated.was[0].rate, stated.who.rate] == pytest.approx(accuracy)
    assert [each.rate for each in found["new"].margins] == list(margins)
    assert "Who changes" not in text  # of classes there is no one favourable decision


def test_each_threshold_has_its_margin_and_a_rate_of_scores_has_none():
    found = fg.compare_models(
        PEOPLE, **SCORES, threshold=[0.3, 0.6], candidate="other_score",
        metrics=["selection_rate.difference", "roc_auc.difference"],
        margins={"accuracy": 0.1, "roc_auc": 0.05},
    )  # fmt: skip
    tested = [(each.rate, each.change.threshold) for each in found["other_score"].margins]
    assert sorted(tested, key=str) == [("accuracy", 0.3), ("accuracy", 0.6), ("roc_auc", None)]
    text = shown(found)
    assert "At threshold 0.3: " in text
    assert "F (sex), threshold 0.6" in page(found)
    assert "ROC AUC: " in text


def test_what_has_no_value_has_its_reason():
    repaid = PEOPLE.filter(pl.col("repaid") == 1)
    found = fg.compare_models(
        repaid, **QUESTION, positive=1, candidate="fairer",
        metrics="false_positive_rate.difference", margins={"false_positive_rate": 0.1},
    )  # fmt: skip
    (change,) = found["fairer"].disparities
    assert (change.old, change.new, change.change) == (None, None, None)
    text = shown(found)
    assert "False positive rate has no value under one of both models." in text
    assert "false positive rate difference, F (sex): " in page(found)


def test_scores_of_one_class_have_no_change():
    repaid = PEOPLE.filter(pl.col("repaid") == 1)
    metrics = ["roc_auc.difference", "roc_auc.largest_gap"]
    found = fg.compare_models(repaid, **SCORES, candidate="other_score", metrics=metrics)
    of_area = [each for each in found["other_score"].rates if each.rate == "roc_auc"]
    assert {str(each.reason.code) for each in of_area} == {"one_class_only"}
    assert all(each.change is None for each in found["other_score"].disparities)


def test_one_group_alone_has_no_disparity_to_change():
    found = fg.compare_models(
        PEOPLE, **(QUESTION | {"sensitive": "one"}), positive=1, candidate="fairer",
        metrics=["selection_rate.difference", "selection_rate.largest_gap"],
    )  # fmt: skip
    assert all(each.change is None for each in found["fairer"].disparities)
    assert {str(each.status) for each in found["fairer"].disparities} <= {
        "undefined",
        "not_applicable",
    }


def test_a_candidate_that_decides_alike_can_never_dominate():
    same = PEOPLE.with_columns(copy=pl.col("current"))
    found = fg.compare_models(
        same, **QUESTION, positive=1, candidate="copy", metrics="selection_rate.ratio",
        margins={"accuracy": 0.02},
    )  # fmt: skip
    (change,) = found["copy"].disparities
    assert change.change == pytest.approx(1.0)
    (stated,) = (s for s in models.models_page(found).statements if s.code == "shifted")
    assert (stated.value, stated.interval.low <= 0 <= stated.interval.high) == (0, True)


def test_a_small_group_is_marked():
    few = pl.concat([PEOPLE.filter(pl.col("sex") == "M"), PEOPLE.filter(pl.col("sex") == "F")[:12]])
    found = fg.compare_models(
        few, **QUESTION, positive=1, candidate="fairer", metrics="selection_rate.difference"
    )
    shown(found)
    assert "not tested: n = 12" in page(found)


def test_the_rows_that_would_decide_are_a_practical_number_or_none(monkeypatch):
    found = fg.compare_models(
        PEOPLE, **QUESTION, positive=1, candidate="fairer", margins={"accuracy": 0.004}
    )
    assert 1_000 < found["fairer"].margins[0].needed < 10_000
    assert "of this composition would decide the margins" in shown(found)
    monkeypatch.setattr(models, "_MOST_NEEDED", 1_000)
    assert "it would take more than is practical" in shown(found)


def test_candidates_are_found_by_name():
    found = fg.compare_models(PEOPLE, **QUESTION, positive=1, candidate=["fairer", "unfair"])
    assert found["unfair"].name == "unfair"
    with pytest.raises(KeyError, match="no candidate 'best'; there are fairer, unfair"):
        _ = found["best"]


def test_a_comparison_of_another_version_is_not_read():
    found = fg.compare_models(PEOPLE, **QUESTION, positive=1, candidate="fairer")
    assert type(found).from_dict(found.to_dict()) == found
    with pytest.raises(fg.FairgaugeError, match="is not a comparison of models: its schema is not"):
        type(found).from_dict(found.to_dict() | {"schema": "fairgauge.models/9"})
