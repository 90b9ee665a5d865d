"""The scorer in scikit-learn's own tools, and its numbers against those of an audit."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import fairgauge as fg

RNG = np.random.default_rng(0)
N = 400
SEX = RNG.choice(["F", "M"], N)
AGE = RNG.integers(20, 70, N)
NUMBERS = np.column_stack([RNG.normal(size=N) + (SEX == "M"), RNG.normal(size=N)])
LABEL = (NUMBERS @ [1.0, 0.5] + RNG.normal(size=N) > 0.5).astype(int)
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b"]).assign(sex=SEX, age=AGE)
MODEL = make_pipeline(FunctionTransformer(lambda rows: rows[["a", "b"]]), LogisticRegression())
FITTED = LogisticRegression().fit(NUMBERS, LABEL)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def score(metric, sensitive="sex", **options):
    scorer = fg.scorer(metric, sensitive=sensitive, **options)
    return scorer(FITTED, NUMBERS, LABEL, sex=SEX, age=AGE)


REPORT = fg.audit(
    label=LABEL, prediction=FITTED.predict(NUMBERS), sensitive={"sex": SEX},
    metrics=["selection_rate", "accuracy", "false_positive_rate"],
)  # fmt: skip


def test_greater_is_better():
    ratio = REPORT["selection_rate.ratio", "sex", "M"].value
    assert ratio > 1
    assert score("selection_rate.ratio") == pytest.approx(1 / ratio)
    assert score("selection_rate.ratio", reference={"sex": "F"}) == pytest.approx(1 / ratio)
    difference = REPORT["selection_rate.difference", "sex", "M"].value
    assert score("selection_rate.difference") == pytest.approx(-difference)
    rates = [group.rates["accuracy"].value for group in REPORT.groups]
    assert score("accuracy") == pytest.approx(min(rates))
    assert score("accuracy", worst=False) == pytest.approx(np.mean(rates))
    assert score("false_positive_rate") == pytest.approx(
        -max(group.rates["false_positive_rate"].value for group in REPORT.groups)
    )


def test_scores_of_the_positive_class():
    high = FITTED.predict_proba(NUMBERS)[:, 1]
    report = fg.audit(label=LABEL, score=high, sensitive={"sex": SEX}, metrics="roc_auc")
    expected = min(group.rates["roc_auc"].value for group in report.groups)
    assert score("roc_auc") == pytest.approx(expected)
    words = np.where(LABEL, "yes", "no")
    of_words = fg.scorer("roc_auc", sensitive="sex", positive="yes")
    fitted = LogisticRegression().fit(NUMBERS, words)
    assert of_words(fitted, NUMBERS, words, sex=SEX) == pytest.approx(expected, abs=1e-6)


def test_cuts_and_intersections():
    cuts = score("selection_rate.difference", sensitive=fg.cut("age", [40]))
    assert -1 < cuts < 0
    both = score("accuracy", sensitive=["sex"], intersections=[("sex", "age")], max_groups=2_000)
    assert both <= score("accuracy")


@pytest.mark.usefixtures("routing")
def test_metadata_are_routed_and_split_with_the_rows():
    scorer = fg.scorer("selection_rate.ratio", sensitive="sex")
    routed = cross_validate(
        LogisticRegression(), NUMBERS, LABEL, cv=3, scoring=scorer, params={"sex": SEX}
    )
    columns = cross_validate(MODEL, FRAME, LABEL, cv=3, scoring=scorer)
    np.testing.assert_allclose(routed["test_score"], columns["test_score"])
    several = cross_validate(
        LogisticRegression(), NUMBERS, LABEL, cv=3,
        scoring={"fair": scorer, "old": fg.scorer("accuracy", sensitive=fg.cut("age", [40]))},
        params={"sex": SEX, "age": AGE},
    )  # fmt: skip
    np.testing.assert_allclose(several["test_fair"], routed["test_score"])


@pytest.mark.usefixtures("routing")
def test_a_threshold_is_tuned_by_it():
    scorer = fg.scorer("selection_rate.difference", sensitive="sex")
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=scorer, thresholds=20, cv=3, store_cv_results=True
    ).fit(NUMBERS, LABEL, sex=SEX)
    scores = tuned.cv_results_["scores"]
    assert tuned.best_score_ == max(scores) > min(scores)


def test_a_group_without_a_value_is_no_score():
    scorer = fg.scorer("true_positive_rate.ratio", sensitive="sex")
    with pytest.raises(fg.DataError, match="is undefined for sex: F"):
        scorer(FITTED, NUMBERS, np.where(SEX == "F", 0, LABEL), sex=SEX)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cross_validate(MODEL, FRAME, np.where(SEX == "F", 0, LABEL), cv=2, scoring=scorer)
    assert np.isnan(found["test_score"]).all()
    assert "is undefined for sex: F" in str(caught[0].message)


def test_a_rate_of_ones_own_is_scored():
    share = fg.rate("kept_share", of=fg.TN, among=fg.TN + fg.FP, better="higher")
    assert score(share) == pytest.approx(score("true_negative_rate"))
    with pytest.raises(fg.SpecError, match="no value that means no difference, so none is best"):
        score("selection_rate.minimum")


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("clarify", {}, "'clarify' are .* metrics; name one, or a rate"),
        ("mean_score", {}, "no mean score is better than another; score mean_score.ratio"),
        ("acuracy", {}, "Did you mean 'accuracy'"),
        ("accuracy", {"label": "y"}, "label: is given by scikit-learn"),
        ("accuracy", {"posi": 1}, "posi: unknown option"),
        (
            "selection_rate.ratio",
            {"threshold": 0.4},
            "has no effect: selection_rate.ratio is of what",
        ),
    ],
)
def test_what_is_no_scorer(metric, options, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.scorer(metric, sensitive="sex", **options)


def test_probabilities_are_needed_for_scores():
    class Plain:
        def predict(self, rows):
            return rows[:, 0] > 0

    with pytest.raises(fg.DataError, match="Plain has no predict_proba, and roc_auc is a metric"):
        fg.scorer("roc_auc", sensitive="sex")(Plain(), NUMBERS, LABEL, sex=SEX)
