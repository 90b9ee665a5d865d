"""Next steps answer for the very difference that a page reports."""

import numpy as np
import polars as pl
import pytest
from tests.every_result import RESULTS, loans, result, scored

import fairgauge as fg
from fairgauge.enums import Outcome

LOANS = {"label": "repaid", "prediction": "approved", "positive": "yes", "sensitive": "sex"}
SCORES = LOANS | {"prediction": None, "score": "score", "metrics": "accuracy.difference"}
OWNERS = ("Analyst", "Those responsible", "Those who supply the data", "Those who know the cases")


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
    ],
)
def test_another_threshold_is_advised_only_for_a_rule_that_thresholds_takes(rule, is_taken):
    report = fg.audit(scored(), **SCORES, rules=rule)
    assert report.verdict is Outcome.FAIL
    assert ("(fairgauge thresholds)" in " ".join(map(str, report.brief().steps))) == is_taken
    if not is_taken:
        with pytest.raises(fg.SpecError):
            fg.thresholds(scored(), **SCORES, rules=rule)
