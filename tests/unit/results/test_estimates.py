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


def test_few_rows_keep_their_value() -> None:
    found = fg.audit(CUBE, metrics="RD")["RD", "sex", "F"]
    assert found.value == pytest.approx(71 / 378)
    assert (found.n_group, found.n_reference) == (27, 70)
    assert found.status == "too_few"
    # 12 of the 97 observed positives are missed, so 27 * 12 / 97 = 3.3 would be among women
    assert found.reason.code is ReasonCode.FEW_EXPECTED
    assert found.reason["expected"] == pytest.approx(27 * 12 / 97)
    assert found.low < found.value < found.high


def test_an_estimate_without_interval() -> None:
    found = fg.audit(fg.confusion("sex", {"F": {"tn": 3}, "M": {"tp": 3}}), metrics="RD")
    assert found["RD", "sex", "F"].interval is None


def test_a_group_holds_its_counts_and_rates() -> None:
    group = next(g for g in fg.audit(CUBE, metrics="all").groups if g.group == "F")
    assert (group.feature, group.n, group.weight) == ("sex", 50, None)
    assert group.share == pytest.approx(1 / 3)
    assert group.counts == {"tp": 20, "fp": 5, "fn": 7, "tn": 18}
    assert group.weighted_counts is None
    assert group.rates["f1"].value == pytest.approx(40 / 52)


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


def test_a_rule_asks_for_its_metric() -> None:
    report = fg.audit(CUBE, metrics="AD", rules=[fg.rule("DI", at_least=0.8)])
    assert {e.metric for e in report.estimates} == {"AD", "DI"}
    assert {v.metric for v in report.verdicts} == {"DI"}


def test_thresholds_are_all_computed() -> None:
    table = pd.DataFrame({"y": [1, 0, 1, 0], "s": [0.2, 0.4, 0.6, 0.8], "g": [*"aabb"]})
    asked = {"label": "y", "score": "s", "sensitive": "g", "positive": 1}
    report = fg.audit(table, threshold=[0.3, 0.7], metrics=["DPPL", "DPL"], **asked)
    found = [(e.metric, e.threshold, e.value) for e in report.estimates if e.group == "a"]
    assert sorted(found, key=str) == [
        ("DPL", None, 0.0),  # labels do not depend on a threshold: one estimate
        ("DPPL", 0.3, 0.5),
        ("DPPL", 0.7, 0.5),
    ]


def test_unknown_keys_name_the_nearest() -> None:
    report = fg.audit(CUBE, metrics="AD")
    with pytest.raises(KeyError, match="Did you mean 'AD, sex, F'"):
        report["AD", "sex", "f"]
    with pytest.raises(KeyError, match="no metric named 'ADD'"):
        report["ADD"]
    with pytest.raises(KeyError, match="Did you mean 'difference'"):
        report["accuracy.diferences", "sex", "F"]


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


def refused(report, *key):
    with pytest.raises(KeyError) as caught:
        report[key]
    return caught.value.args[0]


def test_a_threshold_is_chosen():
    for threshold in (0.3, 0.6):
        found = SCORED[(*KEY, {"threshold": threshold})]
        assert (found.threshold, found.stratum) == (threshold, None)
        within = SCORED[(*KEY, "A", {"threshold": threshold})]
        assert (within.threshold, within.stratum) == (threshold, "A")
        assert SCORED[(*KEY, {"stratum": "A", "threshold": threshold})] is within
        assert SCORED[(*KEY, {"scope": "pooled", "threshold": threshold})].scope.kind == "pooled"


def test_a_class_an_average_or_the_worst_is_chosen():
    cat = CLASSES[(*KEY, {"class": "cat"})]
    assert (cat.class_, cat.class_scope.kind) == ("cat", "class")
    named = CLASSES[(*KEY, {"class": "macro"})]
    average = CLASSES[(*KEY, {"average": "macro"})]
    assert (named.class_scope.kind, average.class_scope.kind) == ("class", "average")
    assert CLASSES[(*KEY, {"class_scope": "worst"})].class_scope.kind == "worst"


def test_several_matches_name_what_chooses_one():
    assert refused(SCORED, *KEY) == (
        "2 estimates match 'true_positive_rate.difference, sex, Female'; choose by "
        "threshold: '0.3', '0.6'"
    )


@pytest.mark.parametrize(
    ("report", "choice", "message"),
    [
        (SCORED, {"threshold": 0.5}, "threshold: '0.3', '0.6'"),
        (SCORED, {"stratum": "a", "threshold": 0.3}, "stratum: 'None', 'A', 'B'"),
        (CLASSES, {"class": "catt"}, "class: 'cat', 'dog', 'macro'"),
        (CLASSES, {"threshold": 0.5}, "threshold: 'None'"),
        (SCORED, {"treshold": 0.3}, "cannot choose by 'treshold'. Did you mean 'threshold'? Allow"),
    ],
)
def test_what_is_not_there_is_named(report, choice, message):
    assert message in refused(report, *KEY, choice)


@pytest.mark.parametrize("report", [SCORED, CLASSES], ids=["thresholds", "classes"])
def test_every_estimate_can_be_chosen(report):
    for each in report.estimates:
        choice = {
            "scope": str(each.scope.kind), "stratum": each.stratum, "class": each.class_,
            "class_scope": str(each.class_scope.kind), "average": each.class_scope.average,
            "threshold": each.threshold,
        }  # fmt: skip
        assert report[each.metric, each.feature, each.group, choice] is each


def test_a_metric_that_the_report_does_not_have_is_named():
    assert "'DI' (metrics=['DI'])" in refused(CLASSES, "DI", "sex", "Female")
