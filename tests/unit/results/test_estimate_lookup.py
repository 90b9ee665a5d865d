"""Looking up estimates: a key finds exactly one, and errors name the keys that do."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

random = np.random.default_rng(5)
ROWS = 400
TABLE = pl.DataFrame(
    {
        "y": random.integers(0, 2, ROWS),
        "s": random.random(ROWS).round(2),
        "kind": random.choice(["cat", "dog", "macro"], ROWS),
        "guess": random.choice(["cat", "dog", "macro"], ROWS),
        "sex": random.choice(["Female", "Male"], ROWS),
        "st": random.choice(["A", "B"], ROWS),
    }
)
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
