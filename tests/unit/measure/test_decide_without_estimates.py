"""A rule that has nothing to be held against is never a pass, and states why."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.render.grammar import describe_reason
from fairgauge.results.verdicts import before_counting, counted_as, overall

random = np.random.default_rng(3)
ROWS = 300
TABLE = pl.DataFrame(
    {
        "y": random.integers(0, 2, ROWS),
        "p": random.integers(0, 2, ROWS),
        "s": random.random(ROWS).round(3),
        "g": random.choice(["a", "b", "c"], ROWS),
        "k": random.choice(["x", "y", "z"], ROWS),
        "one": ["only"] * ROWS,
    }
)
ASKED = {"label": "y", "prediction": "p", "sensitive": "g"}


def verdicts(data=TABLE, **options):
    return fg.audit(data, **(ASKED | options)).verdicts


def test_what_needs_rows_never_passes_on_counts():
    rule = fg.rule("FT", between=(-0.9, 0.9), insufficient="pass")
    counts = fg.count(TABLE, **ASKED, features="s", rules=[rule])
    report = fg.audit(counts)
    assert {each.outcome for each in report.verdicts} == {Outcome.NOT_EVALUATED}
    assert overall(counted_as(report.verdicts, Outcome.PASS)) is Outcome.INCONCLUSIVE
    assert overall(counted_as(report.verdicts, Outcome.FAIL)) is Outcome.FAIL


def test_a_feature_without_groups_never_passes():
    found = verdicts(exclude_groups=["a", "b", "c"], rules=["accuracy >= 0.1"])
    assert overall(counted_as(found, Outcome.PASS)) is Outcome.INCONCLUSIVE


def test_a_named_reference_is_said_to_be_one():
    rule = fg.rule("selection_rate.ratio", at_least=0.1, groups=["a"])
    (each,) = verdicts(rules=[rule], reference={"g": "a"})
    assert (each.outcome, each.says) == (Outcome.NOT_EVALUATED, "the group 'a' is the reference")
    assert overall(counted_as([each], Outcome.PASS)) is Outcome.INCONCLUSIVE


def test_a_group_of_another_feature_is_not_the_nearest():
    rule = fg.rule("selection_rate.ratio", at_least=0.1, groups=["a"], features="k")
    (each,) = verdicts(rules=[rule], sensitive=["g", "k"])
    assert each.says == "there is no estimate of the group 'a'; the groups are 'x', 'y', 'z'"


def test_a_group_that_no_feature_has_is_named_beside_those_that_there_are():
    rule = fg.rule("selection_rate.ratio", at_least=0.01, groups=["a", "Q"])
    report = fg.audit(TABLE, **ASKED, rules=[rule])
    (unknown,) = [each for each in report.verdicts if each.group == "Q"]
    assert unknown.says == "there is no estimate of the group 'Q'; the groups are 'a', 'b', 'c'"
    assert "not evaluated for the group Q." in " ".join(str(report).split())


def test_a_rule_is_on_its_groups_in_each_feature_that_it_names():
    """ "a" of g met the rule alone, although k has no "a": that was a pass by absence."""
    rule = fg.rule("selection_rate.ratio", at_least=0.1, groups=["a"], features=["g", "k"])
    found = verdicts(rules=[rule], sensitive=["g", "k"])
    assert [(each.feature, each.group, each.outcome) for each in found] == [
        ("g", "a", Outcome.PASS),
        ("k", "a", Outcome.NOT_EVALUATED),
    ]
    assert overall(counted_as(found, Outcome.PASS)) is Outcome.INCONCLUSIVE


def test_the_nearest_group_is_one_of_the_feature_that_lacks_it():
    data = TABLE.with_columns(
        k=pl.col("k").replace({"x": "Alpha"}), g=pl.col("g").replace("a", "Alph")
    )
    rule = fg.rule("accuracy", at_least=0.1, groups=["Alph"], features=["g", "k"])
    (_, absent) = verdicts(data, rules=[rule], sensitive=["g", "k"])
    assert (absent.feature, absent.outcome) == ("k", Outcome.NOT_EVALUATED)
    assert absent.says == "there is no estimate of the group 'Alph'; the nearest group is 'Alpha'"


def test_a_feature_that_a_rule_names_and_that_has_no_estimate_is_not_passed_over():
    population = {"g": {"a": 0.3, "b": 0.3, "c": 0.4}}
    rule = fg.rule("representation.ratio", at_least=0.1, features=["g", "k"])
    found = verdicts(rules=[rule], sensitive=["g", "k"], population=population)
    assert found[-1].feature == "k"
    assert found[-1].outcome is Outcome.NOT_EVALUATED


@settings(derandomize=True)
@given(
    metric=st.sampled_from(["selection_rate.ratio", "accuracy", "true_positive_rate.difference"]),
    groups=st.lists(st.sampled_from(["a", "b", "x", "only", "nobody"]), max_size=3, unique=True),
    features=st.lists(st.sampled_from(["g", "k", "one"]), max_size=3, unique=True),
    strata=st.booleans(),
    reference=st.sampled_from(["others", "overall", "best", "largest"]),
)
def test_nothing_that_a_rule_names_passes_by_absence(metric, groups, features, strata, reference):
    """Every pair of a feature and a group that a rule names has a verdict of its own.

    A pass has a value. What is in no feature that is named is never passed over.
    """
    low, high = fg.rule(metric, at_least=0.1).row.range
    limits = {"between": (max(low, -5) + 0.01, min(high, 50))}
    rule = fg.rule(metric, **limits, groups=groups, features=features)
    options = {"strata": "s"} if strata else {}
    data = TABLE.with_columns(s=(pl.col("s") * 3).floor())
    found = verdicts(
        data, rules=[rule], sensitive=["g", "k", "one"], reference=reference, **options
    )
    verdict_of = {(each.feature, each.group): each for each in found}
    assert len(verdict_of) == len(found) > 0
    for feature in features or (None,):
        judged = {group for at, group in verdict_of if feature in (None, at)}
        assert judged >= set(groups)
        assert judged or groups
    for each in found:
        assert each.outcome is not Outcome.PASS or each.value is not None
        assert not groups or each.group in groups
        assert not features or each.feature in features


@pytest.mark.parametrize("reference", ["best", "largest", {"one": "only"}])
def test_a_feature_of_one_group_is_not_passed_over(reference):
    found = verdicts(sensitive=["g", "one"], reference=reference, rules=["DI >= 0.1"])
    (alone,) = [each for each in found if each.feature == "one"]
    assert alone.outcome is Outcome.NOT_EVALUATED
    assert alone.says == "it is defined in fewer than two groups"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": ["r2 >= 0.1"]}, "rules[0].metric: r2 is not defined in a binary audit, only "),
        (
            {"rules": ["AUC >= 0.1"], "label": "k", "prediction": "k", "score": "s"},
            "rules[0].metric: roc_auc is not defined in a multiclass audit, only in: binary",
        ),
        (
            {"rules": ["accuracy >= 0.1"], "label": "s", "prediction": "s"},
            "rules[0].metric: accuracy is of classes, but 's' is continuous; state which values ",
        ),
        (
            {"rules": ["mean_error.difference <= 0.1"]},
            "rules[0].metric: mean_error.difference is not defined in a binary audit",
        ),
    ],
)
def test_a_rule_of_another_task_is_refused(options, message):
    with pytest.raises(fg.SpecError) as caught:
        verdicts(**options)
    assert str(caught.value).startswith(message)


def test_a_rule_that_always_fails_is_warned_of():
    report = fg.audit(TABLE, **ASKED, rules=["accuracy >= 80"])
    (each,) = [d for d in report.diagnostics if d.code is DiagnosticCode.LIMITS_OUTSIDE_RANGE]
    message = "rules[0]: no value of accuracy, which is between 0 and 1, is allowed; "
    assert each.message.startswith(message)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("RD <= 10", "rules[0]: can never fail: RD is between -1 and 1, and every value of it is"),
        ("RD <= 10", "allowed; 10% is written as 0.1"),
        ("-10 <= RD <= 10", "rules[0]: can never fail: RD is between -1 and 1"),
        ("accuracy >= -1", "rules[0]: can never fail: accuracy is between 0 and 1"),
        ("DI >= 0", "rules[0]: can never fail: DI is between 0 and inf, and every value of it is"),
        ("-1 <= RD <= 1", "rules[0]: can never fail: RD is between -1 and 1"),
        ("RD <= 0.1 or RD <= 10", "can never fail: RD is between -1 and 1"),
        ("accuracy >= 8%", "rules[0]: cannot read 'accuracy >= 8%'; shares are written as 0.08: "),
        ("DI > 80%", "rules[0]: cannot read 'DI > 80%'; shares are written as 0.8: 'DI >= 0.8'"),
        ("accuracy >= 8%", "'accuracy >= 0.08'"),
    ],
)
def test_a_rule_that_can_never_fail_is_refused(rule, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(TABLE, **ASKED, rules=[rule])
    assert message in str(caught.value)


@given(
    limit=st.floats(-1e3, 1e3), above=st.booleans(),
    name=st.sampled_from(["accuracy", "RD", "DI", "selection_rate.largest_gap", "KL"]),
)  # fmt: skip
def test_a_rule_is_refused_only_where_it_allows_every_value(limit, above, name):
    low, high = fg.rule(name, at_least=0.01).row.range
    bounds = {"at_least" if above else "at_most": limit}
    if limit <= low if above else limit >= high:
        with pytest.raises(fg.SpecError, match="can never fail"):
            fg.rule(name, **bounds)
    else:
        assert limit in (fg.rule(name, **bounds).low, fg.rule(name, **bounds).high)


def test_a_feature_of_one_group_never_passes():
    rules = ["selection_rate.ratio >= 0.8", "TPR.difference >= -0.1"]
    for options in ({}, {"inconclusive": "pass"}):
        report = fg.audit(TABLE, **ASKED | {"sensitive": "one"}, rules=rules, **options)
        assert [v.outcome for v in report.verdicts] == [Outcome.NOT_EVALUATED] * 2
        assert report.exit_code == 3
        with pytest.raises(AssertionError):
            report.check()
    (note,) = [d for d in report.diagnostics if d.code is DiagnosticCode.ONE_GROUP]
    assert note.message.startswith("'one' has one group, 'only': there is nothing to compare")
    text = str(report)
    assert "could be tested: one has one group, only" in " ".join(text.split())
    assert "fairgauge plan" not in text
    rule = fg.rule("TPR.difference", at_least=-0.1, insufficient="pass")
    (each,) = verdicts(sensitive="one", rules=[rule])
    assert each.outcome is Outcome.NOT_EVALUATED


def test_a_rule_of_which_no_comparison_has_a_value_never_passes():
    data = TABLE.with_columns(y=pl.when(pl.col("g") == "a").then(pl.col("y"))).filter(
        pl.col("g") != "c"
    )
    report = fg.audit(
        data,
        **ASKED,
        rules=["TPR.difference >= -0.1", "selection_rate.difference >= -0.9"],
        inconclusive="pass",
    )
    by_rule = {v.rule: v.outcome for v in report.verdicts}
    assert set(by_rule.values()) == {Outcome.NOT_EVALUATED, Outcome.PASS}
    assert report.exit_code == 3


def test_a_group_without_labels_has_rows():
    data = TABLE.with_columns(y=pl.when(pl.col("g") != "a").then(pl.col("y")))
    report = fg.audit(data, **ASKED, metrics=["base_rate.difference"])
    (each,) = [e for e in report.estimates if e.group == "a"]
    assert describe_reason(each.reason) == "the group has no rows with a label"


def test_an_abbreviated_group_has_a_nearest_one():
    data = TABLE.with_columns(g=pl.col("g").replace({"a": "female", "b": "male", "c": "other"}))
    rule = fg.rule("selection_rate.ratio", at_least=0.1, groups=["F", "M", "x"])
    said = [v.says for v in verdicts(data, rules=[rule])]
    assert said == [
        "there is no estimate of the group 'F'; the nearest group is 'female'",
        "there is no estimate of the group 'M'; the nearest group is 'male'",
        "there is no estimate of the group 'x'; the groups are 'female', 'male', 'other'",
    ]


@pytest.mark.parametrize("rule", ["accuracy >= 0.8", "-1 <= RD <= 0.9", "DI >= 1000", "RD <= 0"])
def test_limits_within_the_range_are_not_warned_of(rule):
    codes = {each.code for each in fg.audit(TABLE, **ASKED, rules=[rule]).diagnostics}
    assert DiagnosticCode.LIMITS_OUTSIDE_RANGE not in codes


METRICS = ["DI", "accuracy", "TPR.difference", "selection_rate.largest_gap", "FT", "CDDPL"]


@given(
    st.sampled_from(METRICS),
    st.lists(st.sampled_from(["a", "b", "nobody"]), max_size=2, unique=True),
    st.sampled_from(["others", "best", "largest"]),
    st.sets(st.sampled_from(["a", "b", "c"])),
    st.sampled_from(["report", "pass", "fail", "ignore"]),
)
def test_what_passes_has_a_value(metric, groups, reference, excluded, insufficient):
    """Whatever is asked and whatever is absent, a pass rests on an estimate of the data."""
    groups = [] if metric.endswith("gap") else groups
    rule = fg.rule(metric, between=(-0.9, 0.9), groups=groups, insufficient=insufficient)
    counts = fg.count(TABLE, **ASKED, features="s", strata="k", rules=[rule])
    report = fg.audit(counts, reference=reference, exclude_groups=sorted(excluded))
    assert report.verdicts
    named = {name for each in report.verdicts for name in (each.group, each.mirror)}
    assert set(groups) <= named
    for each in counted_as(report.verdicts, Outcome.PASS):
        known = [
            e for e in (*report.estimates, *report.groups)
            if e.group == each.group and e.feature == each.feature
        ]  # fmt: skip
        assert each.outcome is not Outcome.PASS or known
        assert each.outcome is not Outcome.PASS or metric != "FT"


def test_what_has_one_outcome_in_every_row_is_so_described():
    data = pl.DataFrame({"y": [0, 1] * 200, "p": [1] * 400, "g": ["a"] * 180 + ["b"] * 220})
    report = fg.audit(data, **ASKED, rules=["selection_rate.ratio >= 0.8"])
    (verdict,) = report.verdicts
    assert verdict.outcome is Outcome.NOT_EVALUATED
    assert "its rate is 0% or 100%, the same in both groups" in verdict.says
    assert "insufficient data: every rate is the same 0% or 100%" in " ".join(str(report).split())


NUMBERS = {"g": ["a", "b"] * 200, "y": [0, 1, 1, 0] * 100, "c": [40] * 400}
NUMBERS |= {"d": [1] * 400, "s": [0.3] * 400}


@pytest.mark.parametrize(
    ("metrics", "asked", "why"),
    [
        (
            ["mean_prediction.ratio", "prediction_ks", "mean_prediction.largest_gap"],
            {"prediction": "c", "task": "regression", "favourable": "higher"},
            "every prediction is 40",
        ),
        (
            ["mean_label.ratio"],
            {"label": "c", "task": "regression", "favourable": "higher"},
            "every label is 40",
        ),
        (
            ["mean_score.ratio", "score_ks", "mean_score.largest_gap"],
            {"label": "y", "score": "s", "positive": 1},
            "every score is 0.3",
        ),
        (
            ["prediction.tvd", "prediction.ks"],
            {"label": "y", "prediction": "d", "positive": 1},
            "every prediction is positive",
        ),
        (
            ["prediction.tvd"],
            {"label": "y", "score": "s", "positive": 1, "threshold": [0.5, 0.2]},
            "every prediction is positive at threshold 0.2",
        ),
    ],
)
def test_groups_cannot_differ_in_what_is_the_same_in_all_rows(metrics, asked, why):
    """A rule on it passed."""
    rules = [f"0.5 <= {m} <= 1.1" if m.endswith("ratio") else f"{m} <= 0.1" for m in metrics]
    report = fg.audit(pl.DataFrame(NUMBERS), **asked, sensitive="g", rules=rules)
    assert {each.outcome for each in report.verdicts} == {Outcome.NOT_EVALUATED}
    text = " ".join(str(report).split())
    assert f"insufficient data: {why}" in text
    assert f"check the outcome: {why}" in text
    assert "collect" not in text


def test_a_rule_that_also_depends_on_labels_is_decided_of_a_constant_prediction():
    data = pl.DataFrame(NUMBERS | {"y": [39, 41, 42, 38] * 100})
    asked = {"label": "y", "prediction": "c", "task": "regression", "sensitive": "g"}
    rules = ["mean_absolute_error.ratio >= 0.8", "mean_prediction.minimum >= 30"]
    report = fg.audit(data, **asked, rules=rules)
    assert {each.outcome for each in report.verdicts} == {Outcome.PASS}
    varied = data.with_columns(c=pl.Series([40, 40, 41, 41] * 100))
    (verdict,) = fg.audit(varied, **asked, rules="mean_prediction.ratio >= 0.8").verdicts
    assert verdict.outcome is Outcome.PASS


def test_diagnostics_and_estimates_print_as_sentences():
    report = fg.audit(TABLE, **ASKED | {"sensitive": "one"}, metrics=["accuracy.difference"])
    assert all(str(each) == each.message for each in report.diagnostics)
    report = fg.audit(TABLE, **ASKED, metrics=["accuracy.difference"])
    assert all(str(each) == each.says for each in report.estimates if each.says)


@pytest.mark.parametrize("rule", ["roc_auc.largest_gap <= 0.1", "roc_auc.minimum >= 0.4"])
def test_the_largest_gap_of_the_auc_of_a_constant_score_is_not_evaluated(rule):
    asked = {"label": "y", "score": "s", "sensitive": "g", "rules": rule, "threshold": 0.5}
    (verdict,) = fg.audit(TABLE.with_columns(s=pl.lit(0.7)), **asked).verdicts
    assert verdict.outcome is Outcome.NOT_EVALUATED


@pytest.mark.parametrize("rule", ["roc_auc.difference >= -0.1", "roc_auc >= 0.4"])
def test_the_auc_of_a_constant_score_is_not_evaluated(rule):
    """It is 0.5 in every group by definition, whatever the model."""
    asked = {"label": "y", "score": "s", "sensitive": "g", "rules": rule, "threshold": 0.5}
    report = fg.audit(TABLE.with_columns(s=pl.lit(0.7)), **asked)
    assert {each.outcome for each in report.verdicts} == {Outcome.NOT_EVALUATED}
    assert {"every score is the same" in each.says for each in report.verdicts} == {True}
    one = pl.when(pl.col("g") == "a").then(0.7).otherwise("s")
    found = fg.audit(TABLE.with_columns(s=one), **asked).verdicts
    assert {each.group for each in found if each.outcome is not Outcome.NOT_EVALUATED} >= {"b", "c"}


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_what_a_rule_counts_undecided_data_as_is_stated(outcome, tmp_path):
    tiny = pl.DataFrame({"g": ["a"] * 3 + ["b"] * 3, "p": [1, 1, 1, 0, 0, 0]})
    rule = fg.rule("selection_rate.ratio", at_least=0.8, insufficient=outcome)
    report = fg.audit(tiny, prediction="p", positive=1, sensitive="g", rules=[rule])
    (verdict,) = report.verdicts
    assert verdict.outcome == outcome
    assert before_counting(verdict) is Outcome.NOT_EVALUATED
    assert verdict.says.endswith(f"; not evaluated counts as {outcome}")
    text = " ".join(str(report).split())
    assert f"1 comparison that the data cannot decide counts as a {outcome}, as was asked" in text
    assert "every comparison passes" not in text
    assert "No difference between groups could be tested" in text
    report.save(tmp_path / "report.xml")
    assert "not evaluated counts as" in (tmp_path / "report.xml").read_text()
