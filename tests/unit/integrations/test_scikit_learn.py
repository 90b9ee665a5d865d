"""The scorer in scikit-learn's own tools, and its numbers against those of an audit."""

from __future__ import annotations

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, recall_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
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
    label=LABEL,
    prediction=FITTED.predict(NUMBERS),
    sensitive={"sex": SEX},
    metrics=["selection_rate", "accuracy", "false_positive_rate"],
)


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


def test_columns_of_x_need_no_routing():
    scorer = fg.scorer("selection_rate.ratio", sensitive="sex", worst=True)
    found = cross_validate(MODEL, FRAME, LABEL, cv=3, scoring={"fair": scorer, "acc": "accuracy"})
    assert found["test_fair"].shape == (3,)
    assert ((found["test_fair"] > 0) & (found["test_fair"] < 1)).all()


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
        LogisticRegression(), scoring=scorer, cv=3, store_cv_results=True
    ).fit(NUMBERS, LABEL, sex=SEX)
    scores = tuned.cv_results_["scores"]
    assert tuned.best_score_ == max(scores) > min(scores)


@pytest.mark.usefixtures("routing")
def test_a_grid_search_chooses_by_it():
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-4, 1.0]},
        scoring=fg.scorer("selection_rate.difference", sensitive="sex"),
        cv=3,
    )
    search.fit(NUMBERS, LABEL, sex=SEX)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == max(scores)
    assert scores[0] != scores[1]


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


def test_of_several_classes_a_rate_is_of_all_or_else_their_average():
    """A KeyError, but for accuracy, whose mean of groups was of all classes and averages too."""
    words = np.array(["low", "middle", "high"])[np.digitize(NUMBERS[:, 0], [-0.3, 0.8])]
    words[::7] = "middle"
    fitted = LogisticRegression().fit(NUMBERS, words)
    answers = fitted.predict(NUMBERS)

    def scored(metric, **options):
        scorer = fg.scorer(metric, sensitive="sex", **options)
        return scorer(fitted, NUMBERS, words, sex=SEX)

    groups = [(words[who], answers[who]) for who in (SEX == "F", SEX == "M")]
    expected = {
        "accuracy": accuracy_score,
        "cohen_kappa": cohen_kappa_score,
        "f1": partial(f1_score, average="macro"),
        "true_positive_rate": partial(recall_score, average="macro"),
    }
    for metric, score_of in expected.items():
        values = [score_of(*group) for group in groups]
        assert scored(metric) == pytest.approx(min(values)), metric
        assert scored(metric, worst=False) == pytest.approx(np.mean(values)), metric
    assert 0 < scored("balanced_accuracy") < 1
    assert scored("f1", positive="high") == pytest.approx(
        min(f1_score(*group, labels=["high"], average="macro") for group in groups)
    )
    with pytest.raises(fg.SpecError, match="positive: state which classes are favourable"):
        scored("selection_rate")


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("selection_rate.ratio", {"weight": "w"}),
        ("CDDPL", {"strata": "band"}),
        ("selection_rate.ratio", {"strata": "band"}),
        ("selection_rate.ratio", {"where": "band = old"}),
        ("accuracy", {"cluster": "who", "recode": {"sex": {"M": ["F"]}}}),
    ],
)
def test_weights_strata_and_other_columns_are_metadata_or_columns(routing, metric, options):
    """They could be asked for, and no scorer found them."""
    more = {"w": 1.0 + AGE % 3, "band": np.where(AGE > 40, "old", "young"), "who": AGE}
    frame = FRAME.assign(**more)
    report = fg.audit(
        frame.assign(y=LABEL, p=FITTED.predict(NUMBERS)), label="y", prediction="p",
        sensitive="sex", metrics=metric, **options,
    )  # fmt: skip
    if metric == "accuracy":
        expected = min(group.rates[metric].value for group in report.groups)
    else:
        value = report[metric, "sex", "F"].value
        expected = -abs(value) if metric == "CDDPL" else min(value, 1 / value)
        if options == {"strata": "band"} and metric != "CDDPL":
            found = [e for e in report.estimates if e.scope.kind.value == "pooled"]
            expected = min(min(e.value, 1 / e.value) for e in found)
    scorer = fg.scorer(metric, sensitive="sex", **options)
    asked = {name: (more | {"sex": SEX})[name] for name in scorer.columns}
    assert scorer(FITTED, NUMBERS, LABEL, **asked) == pytest.approx(expected)
    model = MODEL.fit(frame, LABEL)
    assert scorer(model, frame, LABEL) == pytest.approx(expected, abs=1e-3)
    found = cross_validate(
        LogisticRegression(), NUMBERS, LABEL, scoring={"s": scorer}, params=asked,
        error_score="raise",
    )  # fmt: skip
    assert np.isfinite(found["test_s"]).all()


def test_with_strata_a_difference_is_the_adjusted_one():
    """It was the worse of the difference over all rows and of the adjusted one, or their mean."""
    cells = [("A", "F", 100, 80), ("A", "M", 900, 720), ("B", "F", 900, 180), ("B", "M", 100, 20)]
    rows = [(h, s, int(i < k)) for h, s, n, k in cells for i in range(n)]
    hospital, sex, flag = (np.array(each) for each in zip(*rows, strict=True))
    model = DummyClassifier(strategy="constant", constant=1).fit(flag[:, None], np.ones_like(flag))
    model.predict = lambda _: flag
    given = {"sex": sex, "hospital": hospital}
    for worst in (True, False):
        asked = {"sensitive": "sex", "worst": worst}
        crude = fg.scorer("selection_rate.difference", **asked)
        adjusted = fg.scorer("selection_rate.difference", strata="hospital", **asked)
        assert crude(model, flag[:, None], flag, sex=sex) == pytest.approx(-0.48)
        assert adjusted(model, flag[:, None], flag, **given) == pytest.approx(0, abs=1e-12)


def test_a_feature_that_is_nowhere():
    with pytest.raises(fg.DataError, match=r"'sex' is neither metadata nor a column of X"):
        fg.scorer("accuracy", sensitive="sex")(FITTED, NUMBERS, LABEL)


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


def test_it_is_a_value():
    scorer = fg.scorer("accuracy", sensitive=["sex", "race"], worst=False)
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "<Scorer of accuracy for sex, race: mean of groups>"
