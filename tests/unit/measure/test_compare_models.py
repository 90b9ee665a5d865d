"""Candidates against the model in use: verdicts, changes, and what cannot be compared."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.model_rows import QUESTION, rows

import fairgauge as fg
from fairgauge.enums import (
    CandidateVerdict,
    DiagnosticCode,
    Direction,
    Performance,
    Status,
)
from fairgauge.render import render

# ---- what a comparison of models warns of: what an audit of each of them would
PEOPLE = rows()


def compared(candidate, data=PEOPLE, **options):
    margins = {"accuracy": 0.02, "disparity": 0.08}
    return fg.compare_models(
        data, **{**QUESTION, "candidate": candidate, "margins": margins, **options}
    )


def of(found, metric, group="F"):
    (one,) = [d for d in found.disparities if (d.metric, d.group) == (metric, group)]
    return one


@pytest.mark.parametrize(
    ("name", "verdict", "performance", "direction"),
    [
        ("fairer", "dominates", "non-inferior", Direction.CLOSER),
        ("unfair", "worse", None, Direction.FURTHER),
        ("random", "trade-off", "inferior", None),
    ],
)
def test_a_verdict_is_of_fairness_and_performance(name, verdict, performance, direction):
    found = compared(name)[name]
    assert found.verdict == verdict
    assert performance in (None, found.performance)
    assert direction in (None, of(found, "selection_rate.difference").direction)


def test_margins_of_disparities_are_held_against_every_class():
    rng = np.random.default_rng(6)
    classes = np.array(["bronze", "gold", "silver"])
    y = rng.integers(3, size=6_000)
    data = pl.DataFrame(
        {"sex": rng.choice(["F", "M"], len(y)), "y": classes[y]}
        | {
            name: classes[np.where(rng.random(len(y)) < right, y, rng.integers(3, size=len(y)))]
            for name, right in (("p", 0.85), ("c", 0.9))
        }
    )
    found = fg.compare_models(
        data, label="y", prediction="p", candidate="c", sensitive="sex",
        margins={"accuracy": 0.01, "disparity": 0.1},
        metrics=["accuracy.difference", "true_positive_rate.difference"],
    )["c"]  # fmt: skip
    assert found.performance is Performance.NON_INFERIOR
    held = {(t.rate, t.change.class_scope.name, t.change.group) for t in found.groups}
    assert held == {
        (rate, name, group)
        for rate in ("accuracy", "true_positive_rate")
        for name in classes.tolist()
        for group in "FM"
    } | {("accuracy", None, group) for group in "FM"}
    for test in found.groups:
        if test.rate == "true_positive_rate":
            of = data.filter(
                (pl.col("y") == test.change.class_scope.name) & (pl.col("sex") == test.change.group)
            )
            assert test.change.new == pytest.approx((of["c"] == of["y"]).mean())


def test_rows_that_one_model_does_not_decide_are_excluded_and_counted():
    fairer = pl.when(pl.int_range(pl.len()) < 100).then(None).otherwise(pl.col("fairer"))
    found = compared("fairer", PEOPLE.with_columns(fairer=fairer))
    candidate = found["fairer"]
    assert (candidate.undecided, candidate.rows) == (100, PEOPLE.height - 100)
    text = " ".join(str(found).split())
    assert "100 rows that one of both models does not decide are excluded" in text
    assert candidate.disparities == compared("fairer", PEOPLE[100:])["fairer"].disparities


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": "current"}, "'current' is already the model in use"),
        ({"candidate": ["fairer", "fairer"]}, "'fairer' is already a candidate"),
        ({"candidate": "repaid"}, "'repaid' is already the label"),
        ({"candidate": "absent"}, "no column 'absent'"),
        ({"candidate": []}, "name the columns of the candidates' decisions"),
        ({"margins": {"base_rate": 0.1}}, "has no margin"),
        ({"margins": {"accurcy": 0.1}}, "accuracy"),
        ({"margins": {"accuracy": -0.1}}, "0 or greater"),
        ({"margins": {"accuracy.difference": 0.1}}, "is not compared"),
        ({"method": "bootstrap"}, "bootstrap has no effect"),
        ({"strata": "region"}, "models are compared over all rows"),
        ({"margins": {"disparity": 1}}, "must be below 1"),
        ({"prediction": None}, "needs the model in use"),
        ({"task": "regression"}, "the predictions of two regressions"),
        ({"margins": {"accuracy": 1}}, "differs by 1 at most, not 1"),
        ({"margins": {"accuracy": 5, "disparity": 0.1}}, "differs by 1 at most, not 5"),
        ({"margins": {"disparity": 5}}, "of a ratio it is a share, not 5"),
        (
            {"metrics": "selection_rate.ratio", "margins": {"selection_rate.ratio": 1}},
            "margins.selection_rate.ratio: can never be exceeded",
        ),
        (
            {"metrics": "RD", "margins": {"RD": 5}},
            "RD differs by 1 at most, not 5",
        ),
    ],
)
def test_wrong_questions_say_what_is_wrong(options, message):
    with pytest.raises(fg.SpecError, match=message):
        fg.compare_models(PEOPLE, **QUESTION | {"candidate": "fairer"} | options)


def test_an_audit_of_counts_with_candidates_is_of_the_model_in_use():
    cube = fg.count(PEOPLE, **QUESTION, candidate="fairer")
    assert fg.audit(cube).estimates == fg.audit(PEOPLE, **QUESTION).estimates


@pytest.mark.parametrize("margin", [0.001, 0.02, 0.05, 0.3])
def test_the_adjusted_interval_decides_a_margin(margin):
    margins = {"accuracy": margin, "false_positive_rate": margin}
    found = compared(["fairer", "unfair", "random"], rows(700, seed=2), margins=margins)
    for test in (test for each in found.candidates for test in each.margins):
        low, high = test.adjusted
        worst, best = (low, high) if test.rate == "accuracy" else (-high, -low)
        assert (worst > -margin) == (test.outcome is Performance.NON_INFERIOR)
        assert (best < -margin) == (test.outcome is Performance.INFERIOR)
        assert (test.p_adjusted <= 0.025) == (test.outcome is Performance.NON_INFERIOR)
        assert test.better == (worst > 0)
        assert low <= test.change.interval.low + 1e-12
        assert high >= test.change.interval.high - 1e-12


@pytest.mark.each_value
@pytest.mark.parametrize(("scored", "options"), [(True, {}), (False, {"cluster": "person"})])
def test_every_metric_of_the_catalogue_has_a_change_or_a_reason(scored, options):
    asked = {"replicates": 20, "metrics": "all", "margins": {}, **options}
    data, candidate = rows(600), "fairer"
    if scored:
        noise = np.random.default_rng(0).uniform(-0.2, 0.2, (2, 600))
        data = data.with_columns(
            a=0.25 + pl.col("current") / 2 + noise[0], b=0.25 + pl.col("fairer") / 2 + noise[1]
        )
        asked |= {"prediction": None, "score": "a", "threshold": 0.5}
        candidate = "b"
    found = compared(candidate, data, **asked)[candidate]
    assert all(d.interval or d.reason or d.status is Status.OK for d in found.disparities)
    applicable = {d.metric for d in found.disparities if d.status is not Status.NOT_APPLICABLE}
    assert len(applicable) > 55


@pytest.mark.parametrize("by", ["prediction", "score"])
def test_a_candidate_that_decides_the_opposite_is_warned_of(by):
    """It was praised for smaller differences, without a word."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, 2000)
    score = np.clip(0.3 + 0.3 * label + 0.2 * rng.normal(size=2000), 0, 1)
    held = score if by == "score" else (score > 0.5) * 1.0
    asked = {"label": label, "positive": 1, "sensitive": {"sex": rng.choice(["F", "M"], 2000)}}
    asked |= {by: held} | ({"threshold": 0.5} if by == "score" else {})
    for candidate, warned in ((1 - held, True), (np.where(rng.random(2000) < 0.9, held, 0), False)):
        found = fg.compare_models(candidate={"c": candidate}, **asked)
        messages = " ".join(each.message for each in found.diagnostics)
        assert ("'c' is positive less often where 'label' is" in messages) == warned


CELLS = st.lists(st.integers(0, 25), min_size=16, max_size=16).filter(lambda n: sum(n) > 30)
RATES = ("selection_rate", "accuracy", "positive_predictive_value", "f1")


def table(counts):
    """Return counts of two groups by label and the decisions of two models."""
    names = ("sex", "repaid", "one", "two")
    cells = [
        dict(zip(names, ("FM"[i // 8], i // 4 % 2, i // 2 % 2, i % 2), strict=True)) | {"n": n}
        for i, n in enumerate(counts)
        if n
    ]
    return pl.DataFrame(cells)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(CELLS)
def test_exchanging_the_models_mirrors_every_change(counts):
    data = table(counts)
    if data["sex"].n_unique() < 2 or data["repaid"].n_unique() < 2:
        return
    asked = {"label": "repaid", "sensitive": "sex", "count": "n",
             "metrics": [f"{rate}.difference" for rate in RATES]}  # fmt: skip
    try:
        there = fg.compare_models(data, prediction="one", candidate="two", **asked)["two"]
        back = fg.compare_models(data, prediction="two", candidate="one", **asked)["one"]
    except fg.SpecError:
        return  # a decision that is always the same is not told from a score
    for one, other in zip(
        (*there.disparities, *there.rates), (*back.disparities, *back.rates), strict=True
    ):
        assert (one.old, one.new) == (other.new, other.old)
        if one.interval is None:
            assert other.interval is None
            continue
        assert one.change == pytest.approx(-other.change)
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-7)
        assert one.interval.high == pytest.approx(-other.interval.low, abs=1e-7)
        assert one.interval.low - 1e-9 <= one.change <= one.interval.high + 1e-9
        assert one.p_value == pytest.approx(other.p_value, abs=1e-6)


def test_every_change_is_that_of_the_two_audits():
    """Of every metric: the values of both models, and their difference or ratio as it states."""
    people = rows(2_000)
    found = fg.compare_models(people, **QUESTION, candidate="unfair", metrics="all")["unfair"]
    audits = [
        fg.audit(people, **QUESTION | {"prediction": model}, metrics="all")
        for model in ("current", "unfair")
    ]
    values = [
        {(e.metric, e.feature, e.group): e.value for e in audit.estimates}
        | {
            (e.metric, e.feature): e.value
            for e in audit.estimates
            if audit.catalogue.metric(e.metric).scope == "feature"  # named by its extreme groups
        }
        for audit in audits
    ]
    changed = [each for each in found.disparities if each.change is not None]
    assert len({each.metric for each in changed}) > 55
    for each in changed:
        of = (each.metric, each.feature)
        key = of if of in values[0] else (*of, each.group)
        assert [each.old, each.new] == pytest.approx([of[key] for of in values]), each.metric
        change = each.new / each.old if each.by == "ratio" else each.new - each.old
        assert each.change == pytest.approx(change), each.metric


MARGINS = {"accuracy": 0.02, "disparity": 0.08}
WORDS = {0: "denied", 1: "granted"}
IN_WORDS = PEOPLE.drop("person").with_columns(
    pl.col("repaid", "current", "fairer").replace_strict(WORDS, return_dtype=pl.String)
)


def compared_warned(candidate, **options):
    data = IN_WORDS.with_columns(candidate=candidate)
    asked = {**QUESTION, "positive": "granted", "margins": MARGINS, **options}
    return fg.compare_models(data, candidate="candidate", **asked)


@pytest.mark.parametrize("word", ["granted", "denied"])
def test_a_candidate_that_decides_all_rows_alike_gets_no_favourable_verdict(word):
    """Accepting everybody closed every gap: "better, within all margins", and exit code 0."""
    few = pl.when(pl.int_range(pl.len()) % 20 == 0).then(pl.lit("denied"))
    data = IN_WORDS.with_columns(repaid=few.otherwise(pl.lit("granted")), candidate=pl.lit(word))
    asked = {**QUESTION, "positive": "granted", "margins": MARGINS}
    found = fg.compare_models(data, candidate="candidate", **asked)
    (one,) = found.candidates
    assert any(each.significant for each in one.disparities)
    accepts = word == "granted"
    verdict = CandidateVerdict.CANNOT_TELL if accepts else CandidateVerdict.WORSE
    assert (one.verdict, found.exit_code) == (verdict, 3 if accepts else 1)
    sign = "positive" if accepts else "negative"
    why = f"every decision is {sign}, so groups cannot differ in it"
    line = f"candidate: {str(verdict).upper()} ({why})"
    assert render(found, "text", quiet=True).startswith(line)
    assert line in render(found, "markdown")
    assert "check the decisions of candidate" in str(found)
    assert fg.Change.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("threshold", [0.5, [0.2, 0.5]])
def test_a_threshold_that_accepts_all_or_none_decides_all_rows_alike(threshold):
    rng = np.random.default_rng(0)
    data = PEOPLE.with_columns(
        now=0.4 * pl.col("current") + 0.3, then=pl.Series(rng.uniform(0.1, 0.4, PEOPLE.height))
    )
    asked = {"label": "repaid", "score": "now", "candidate": "then", "sensitive": "sex"}
    found = fg.compare_models(data, **asked, threshold=threshold, margins={"accuracy": 0.9})
    (one,) = found.candidates
    assert one.verdict is CandidateVerdict.CANNOT_TELL
    assert (one.reason["positive"], one.reason["threshold"]) == (False, 0.5)
    assert "negative at threshold 0.5" in render(found, "text", quiet=True)


def noted(found, code):
    return [each for each in found.diagnostics if each.code is code]


@pytest.mark.parametrize("label", ["repaid", None])
def test_a_decision_in_another_word_is_a_warning(label):
    word = pl.when(pl.col("region") == "north").then(pl.lit("override"))
    granted = pl.col("fairer") == "granted"
    found = compared_warned(
        pl.when(granted).then(word.otherwise(pl.col("fairer"))).otherwise(pl.col("fairer")),
        label=label,
        margins=MARGINS if label else {"disparity": 0.08},
    )
    (each,) = noted(found, DiagnosticCode.PREDICTION_NOT_A_LABEL)
    rows_of = IN_WORDS.filter((pl.col("fairer") == "granted") & (pl.col("region") == "north"))
    assert each["rows"] == rows_of.height
    assert "override" in " ".join(str(found).split())
    assert ("label 'repaid' never has" if label else "model in use 'current' never") in str(each)


@pytest.mark.parametrize(
    "options", [{}, {"reference": "overall"}, {"reference": "largest"}, {"weight": "w"}]
)
def test_a_candidate_has_the_interval_of_an_audit(options):
    """One interval of one gap: of the candidate by itself, and beside the model in use."""
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b", "c"], 900, p=[0.6, 0.3, 0.1])
    score = rng.random(900) + 0.2 * (group == "a")
    rows = pl.DataFrame(
        {
            "group": group, "label": (rng.random(900) < 0.5).astype(int),
            "old": (score > 0.5).astype(int), "new": (score > 0.7).astype(int),
            "w": rng.lognormal(0, 0.5, 900),
        }
    )  # fmt: skip
    metrics = ["selection_rate.difference", "selection_rate.ratio", "false_positive_rate.ratio"]
    asked = {"label": "label", "positive": 1, "sensitive": "group", "metrics": metrics, **options}
    found = fg.compare_models(rows, prediction="old", candidate="new", **asked)
    report = fg.audit(rows, prediction="new", **asked)
    assert len(found["new"].disparities) >= 6
    for one in found["new"].disparities:
        estimate = report[one.metric, "group", one.group]
        assert one.new == pytest.approx(estimate.value)
        assert tuple(one.new_interval) == pytest.approx(tuple(estimate.interval))
