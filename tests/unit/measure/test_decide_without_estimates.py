"""A rule that has nothing to be held against is never a pass, and states why."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.results.verdicts import counted_as

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


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("RD <= 10", "rules[0]: can never fail: RD is between -1 and 1, and every value of it is"),
        ("-10 <= RD <= 10", "rules[0]: can never fail: RD is between -1 and 1"),
        ("accuracy >= -1", "rules[0]: can never fail: accuracy is between 0 and 1"),
        ("DI >= 0", "rules[0]: can never fail: DI is between 0 and inf, and every value of it is"),
        ("-1 <= RD <= 1", "rules[0]: can never fail: RD is between -1 and 1"),
        ("DI >= 0.8 or RD >= -0.1", "rules[0]: cannot read 'DI >= 0.8 or RD >= -0.1'; write"),
        ("accuracy >= 8%", "rules[0]: cannot read 'accuracy >= 8%'; write 'METRIC >= X'"),
        ("DI > 80%", "rules[0]: cannot read 'DI > 80%'; write 'METRIC >= X'"),
    ],
)
def test_a_rule_that_can_never_fail_is_refused(rule, message):
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(TABLE, **ASKED, rules=[rule])
    assert message in str(caught.value)


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
