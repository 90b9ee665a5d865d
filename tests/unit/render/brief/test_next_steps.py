"""Next steps answer for the very difference that a page reports."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.every_result import RESULTS, calls, defendants, loans, prices, result, scored

import fairgauge as fg
from fairgauge.enums import Outcome

LOANS = {"label": "repaid", "prediction": "approved", "positive": "yes", "sensitive": "sex"}
NUMBERS = {"sensitive": "race", "task": "regression"}
AUDITS = {
    "approved": (loans, LOANS),
    "of those who repaid": (loans, {**LOANS, "metrics": "true_positive_rate.difference"}),
    "ratio alone": (loans, {**LOANS, "metrics": "selection_rate.ratio"}),
    "accuracy": (loans, {**LOANS, "metrics": "accuracy.difference"}),
    "data alone": (defendants, {"label": "reoffended", "positive": 1, "sensitive": "race"}),
    "wrongly rated": (defendants, {
        "label": "reoffended", "prediction": "high", "positive": 1, "sensitive": "race",
        "metrics": "false_positive_rate.difference",
    }),
    "spreads": (prices, {**NUMBERS, "label": "rate_spread"}),
    "errors": (prices, {**NUMBERS, "label": "price", "prediction": "estimate"}),
    "estimates": (prices, {**NUMBERS, "prediction": "estimate"}),
    "classes": (calls, {"label": "asked", "prediction": "routed", "sensitive": "accent"}),
    "scores": (scored, {**LOANS, "prediction": None, "score": "score",
                        "metrics": "auc.difference"}),
    "several cuts": (scored, {**LOANS, "prediction": None, "score": "score",
                              "threshold": [0.4, 0.5], "metrics": "selection_rate.difference"}),
    "beside all": (loans, {**LOANS, "reference": "overall"}),
}  # fmt: skip


OWNERS = (
    "Analyst",
    "Those responsible",
    "Those who supply the data",
    "Those who know the cases",
)


def undecided_models():
    """Return models of which few rows do not show which is better."""
    drawn = np.random.default_rng(2).random((4, 120)) < 0.5
    rows = pl.DataFrame(dict(zip(["y", "old", "new", "sex"], drawn * 1, strict=True)))
    asked = {"label": "y", "prediction": "old", "candidate": "new", "sensitive": "sex"}
    return fg.compare_models(rows, **asked, margins={"accuracy": 0.01, "disparity": 0.01})


def undecided_strata():
    """Return a gap of few rows in strata of numbers, and of two columns."""
    rng = np.random.default_rng(3)
    n = 160
    rows = pl.DataFrame(
        {"sex": rng.choice(["f", "m"], n), "y": rng.integers(0, 2, n),
         "age": rng.integers(20, 60, n), "site": rng.choice(["a", "b"], n)}
    )  # fmt: skip
    rows = rows.with_columns(y=pl.when(pl.col("sex") == "m").then(1).otherwise("y"))
    return fg.why(rows, label="y", sensitive="sex", positive=1, strata=["age", "site"])


def undecided_subgroups():
    rows = loans()[:400]
    asked = {"label": "repaid", "prediction": "approved", "positive": "yes"}
    return fg.find(rows, **asked, features=["sex", "race"], rate="false_negative_rate")


UNDECIDED = {each.__name__: each for each in (undecided_models, undecided_strata,
                                              undecided_subgroups)}  # fmt: skip


@pytest.mark.parametrize("name", [*RESULTS, *UNDECIDED])
def test_every_step_begins_with_who_takes_it(name):
    made = UNDECIDED[name]() if name in UNDECIDED else result(name)
    steps = [str(each) for each in made.brief().steps]
    assert steps
    for step in steps:
        assert step.startswith(tuple(f"{owner}: " for owner in OWNERS)), step


@pytest.mark.parametrize(
    ("rule", "is_taken"),
    [
        ("accuracy.difference >= 0.5", True),
        ("selection_rate >= 0.99", False),
        ("roc_auc >= 0.99", False),
        ("mean_score >= 0.99", False),
        ("accuracy >= 0.99", False),
        ("accuracy.difference >= 0.5 or accuracy.difference <= -0.5", False),
    ],
)
def test_another_threshold_is_advised_only_for_a_rule_that_thresholds_takes(rule, is_taken):
    asked = {**AUDITS["scores"][1], "metrics": "accuracy.difference"}
    report = fg.audit(scored(), **asked, rules=rule)
    assert report.verdict is Outcome.FAIL
    assert ("(fairgauge thresholds)" in " ".join(map(str, report.brief().steps))) == is_taken
    if not is_taken:
        with pytest.raises(fg.SpecError):
            fg.thresholds(scored(), **asked, rules=rule)
