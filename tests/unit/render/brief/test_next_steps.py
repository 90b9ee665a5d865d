"""Next steps answer for the very difference that a page reports."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.every_result import RESULTS, calls, defendants, loans, prices, result, scored

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render.formats import render

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
WHY = re.compile(r"fairgauge why(?: --metrics (\S+))? --strata COLUMN")
NO_DECOMPOSITION = {"errors", "classes", "scores", "several cuts", "beside all"}


def in_two(rows):
    """Return rows with a column of two values drawn at random."""
    drawn = np.random.default_rng(1).choice(["x", "y"], len(rows))
    return rows.with_columns(apart=pl.Series(drawn))


@pytest.mark.parametrize("name", AUDITS)
def test_why_is_advised_of_the_gap_that_is_reported_alone(name):
    table, asked = AUDITS[name]
    rows = in_two(table())
    report = fg.audit(rows, **asked)
    brief = report.brief()
    steps = " ".join(map(str, brief.steps))
    found = WHY.search(steps)
    assert ("fairgauge why" in steps) == (name not in NO_DECOMPOSITION)
    if found is None:
        assert ("--strata COLUMN" in steps) == (name != "scores"), steps
        return
    (place,) = re.findall(r"estimates\[(\d+)\]", " ".join(brief.headline.sources))[:1]
    contrast = report.estimates[int(place)]
    own = {key: value for key, value in asked.items() if key != "metrics"}
    metrics = {"metrics": found[1]} if found[1] else {}
    gaps = fg.why(rows, **own, **metrics, strata="apart").gaps
    sides = {
        frozenset((round(gap.estimate.rate_group, 9), round(gap.estimate.rate_reference, 9)))
        for gap in gaps
    }
    rates = (round(contrast.rate_group, 9), round(contrast.rate_reference, 9))
    assert frozenset(rates) in sides


@pytest.mark.parametrize("name", ["errors", "classes"])
def test_strata_of_what_has_no_decomposition_lead_to_no_command_that_refuses(name):
    table, asked = AUDITS[name]
    rows = in_two(table())
    report = fg.audit(rows, **asked, strata="apart")
    assert not any("fairgauge why" in str(each) for each in report.brief().steps)
    assert "fairgauge why" not in render(report, "text", full=True)


def test_verdicts_of_several_comparisons_are_not_called_comparisons():
    report = fg.audit(calls(), label="asked", prediction="routed", sensitive="accent",
                      rules=["-0.02 <= accuracy.difference <= 0.02",
                             "-0.02 <= selection_rate.difference <= 0.02"])  # fmt: skip
    (note,) = (each for each in report.diagnostics if each.code == "fails_together")
    assert note["comparisons"] > len(report.verdicts)
    brief = " ".join(map(str, (*report.brief().verdict, *report.brief().certainty)))
    counts = set(re.findall(r"(\d+) comparisons", brief))
    assert counts <= {str(note["comparisons"])}
    assert f"{note['comparisons']} in all" in brief


def test_verdicts_of_one_comparison_each_are_counted_as_comparisons():
    report = fg.audit(loans(), **LOANS, rules=["selection_rate.ratio >= 0.8",
                      "-0.1 <= true_positive_rate.difference <= 0.1"])  # fmt: skip
    assert "in all" not in " ".join(map(str, report.brief().verdict))


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
