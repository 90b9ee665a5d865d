"""Estimates and groups: what they hold, how they are found, and how they come back from JSON."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import IntervalMethod, ReferenceKind
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.scopes import NO_CLASS, OVERALL, Reference

CUBE = fg.confusion(
    "sex",
    {"F": {"tp": 20, "fp": 5, "fn": 7, "tn": 18}, "M": {"tp": 65, "fp": 10, "fn": 5, "tn": 20}},
)


def test_an_estimate_holds_its_comparison() -> None:
    found = fg.audit(CUBE, metrics="AD")["AD", "sex", "F"]
    assert (found.metric, found.set, found.feature) == ("AD", "clarify", "sex")
    assert (found.group, found.reference) == ("F", Reference(ReferenceKind.OTHERS))
    assert (found.scope, found.class_scope) == (OVERALL, NO_CLASS)
    assert found.value == pytest.approx(0.09)
    assert (found.n_group, found.n_reference) == (50, 100)
    assert (found.rate_group, found.rate_reference) == (0.76, 0.85)
    assert (found.status, found.reason) == ("ok", None)
    assert found.low < found.value < found.high
    assert tuple(found.interval) == (found.low, found.high)
    assert found.interval.level == found.confidence == 0.95
    assert found.interval.methods == (IntervalMethod.NEWCOMBE,)
    assert found.says.startswith("F: accuracy 76.0% vs 85.0% for others, 9.0 pp lower (95% CI ")


def test_what_has_no_labels_has_no_counts() -> None:
    table = pd.DataFrame({"p": [1, 0, 1], "g": ["a", "a", "b"]})
    report = fg.audit(table, prediction="p", sensitive="g", positive=1, metrics="clarify")
    assert report.groups[0].counts is None
    assert set(report.groups[0].rates) == {"selection_rate"}
    assert "accuracy" not in report.groups[0].rates
    found = report["RD", "g", "a"]
    assert (found.value, found.status) == (None, "not_applicable")
    assert found.reason == Reason.of(ReasonCode.NEEDS_COLUMNS, columns="label")
    assert report["DPPL", "g", "a"].value == pytest.approx(0.5)


def test_standard_metrics_are_those_that_the_data_allow() -> None:
    table = pd.DataFrame({"y": [1, 0, 1], "g": ["a", "a", "b"]})
    report = fg.audit(table, label="y", sensitive="g", positive=1)
    assert {e.metric for e in report.estimates} == {"base_rate.difference", "base_rate.ratio"}
    with pytest.raises(fg.SpecError, match="prediction: name what is compared: decisions"):
        fg.audit(table, sensitive="g")


def test_a_frame_without_columns_has_none() -> None:
    with pytest.raises(fg.SpecError, match="in the data\\. It has no columns"):
        fg.audit(pd.DataFrame(), label="y", sensitive="g")


def test_synonyms_find_the_estimate() -> None:
    report = fg.audit(CUBE, metrics="clarify")
    assert report["Accuracy Difference (AD)", "sex", "F"] is report["AD", "sex", "F"]
    assert report["dcacc", "sex", "F"] is report["DCA", "sex", "F"]


random = np.random.default_rng(5)
ROWS = 400
TABLE = pl.DataFrame(
    {
        "y": random.integers(0, 2, ROWS), "s": random.random(ROWS).round(2),
        "kind": random.choice(["cat", "dog", "macro"], ROWS),
        "guess": random.choice(["cat", "dog", "macro"], ROWS),
        "sex": random.choice(["Female", "Male"], ROWS), "st": random.choice(["A", "B"], ROWS),
    }
)  # fmt: skip
SCORED = fg.audit(
    TABLE, label="y", score="s", threshold=[0.3, 0.6], sensitive="sex", strata="st",
    metrics=["TPR", "roc_auc.difference", "GE"],
)  # fmt: skip
CLASSES = fg.audit(
    TABLE, label="kind", prediction="guess", sensitive="sex", metrics=["TPR.difference", "accuracy"]
)
KEY = ("true_positive_rate.difference", "sex", "Female")


@pytest.mark.parametrize(
    ("report", "key", "message"),
    [
        (SCORED, KEY, f"2 estimates match '{', '.join(KEY)}'; choose by threshold: '0.3', '0.6'"),
        (SCORED, (*KEY, {"threshold": 0.5}), "threshold: '0.3', '0.6'"),
        (SCORED, (*KEY, {"stratum": "a", "threshold": 0.3}), "stratum: 'None', 'A', 'B'"),
        (CLASSES, (*KEY, {"class": "catt"}), "class: 'cat', 'dog', 'macro'"),
        (CLASSES, (*KEY, {"threshold": 0.5}), "threshold: 'None'"),
        (SCORED, (*KEY, {"treshold": 0.3}), "by 'treshold'. Did you mean 'threshold'? Allow"),
        (CLASSES, ("DI", "sex", "Female"), "'DI' (metrics=['DI'])"),
        (SCORED, "ADD", "no metric named 'ADD'"),
        (SCORED, ("accuracy.diferences", "sex", "Female"), "Did you mean 'difference'"),
        (SCORED, (KEY[0], "sex", "female"), f"Did you mean '{', '.join(KEY)}'"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(report, key, message):
    with pytest.raises(KeyError) as caught:
        report[key]
    assert message in caught.value.args[0]


@pytest.mark.parametrize("report", [SCORED, CLASSES], ids=["thresholds", "classes"])
def test_every_estimate_can_be_chosen(report):
    for each in report.estimates:
        choice = {
            "scope": str(each.scope.kind), "stratum": each.stratum, "class": each.class_,
            "class_scope": str(each.class_scope.kind), "average": each.class_scope.average,
            "threshold": each.threshold,
        }  # fmt: skip
        assert report[each.metric, each.feature, each.group, choice] is each
