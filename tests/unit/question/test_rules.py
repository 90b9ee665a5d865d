"""Rules: limits on a metric, from arguments and from text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import Decide, Insufficient
from fairgauge.question.rules import Rule, parse_rule


@pytest.mark.parametrize(
    ("text", "metric", "low", "high"),
    [
        ("DI >= 0.8", "DI", 0.8, math.inf),
        ("DI>=.8", "DI", 0.8, math.inf),
        ("RD <= 1e-1", "RD", -math.inf, 0.1),
        ("-0.1 <= RD <= 0.1", "RD", -0.1, 0.1),
        ("-0.1<=RD<=+0.1", "RD", -0.1, 0.1),
        ("  selection_rate.ratio >= 1. ", "selection_rate.ratio", 1.0, math.inf),
        ("0 <= TE <= inf", "TE", 0.0, math.inf),
        ("Disparate Impact (DI) >= 0.8", "DI", 0.8, math.inf),
        ("vertex.recall_difference <= 0", "vertex.recall_difference", -math.inf, 0.0),
        ("accuracy >= 0.9", "accuracy", 0.9, math.inf),
        ("|RD| <= 0.1", "RD", -0.1, 0.1),
        ("| accuracy.difference |<=5e-2", "accuracy.difference", -0.05, 0.05),
        ("recall >= 0.5", "true_positive_rate", 0.5, math.inf),
    ],
)
def test_rules_as_text(text, metric, low, high):
    assert parse_rule(text) == Rule(metric, low, high)


@pytest.mark.parametrize(
    "text", ["", "DI", "DI >= ", ">= 0.8", "DI > 0.8", "DI == 1", "0.8 <= DI", "DI >= x", "DI => 1"]
)
def test_text_that_is_no_rule(text):
    with pytest.raises(fg.SpecError) as caught:
        parse_rule(text)
    assert str(caught.value) == (
        f"rule: cannot read {text!r}; write 'METRIC >= X', 'METRIC <= X', 'X <= METRIC <= Y' or "
        "'|METRIC| <= X'"
    )


def test_a_rule_is_shown_as_it_is_written():
    for text in ("DI >= 0.8", "RD <= 0.1", "-0.1 <= RD <= 0.1", "AD <= 0.123456789"):
        assert str(parse_rule(text)) == text


def test_an_unknown_metric_names_the_nearest():
    with pytest.raises(fg.SpecError) as caught:
        fg.rule("true_postive_rate.ratio", at_least=0.8)
    assert str(caught.value) == (
        "rule.metric: no metric named 'true_postive_rate.ratio'. "
        "Did you mean 'true_positive_rate.ratio'? See: fairgauge metrics"
    )


@pytest.mark.parametrize(
    ("metric", "limits", "said"),
    [
        (
            "selection_rate.largest_gap",
            {"groups": "F"},
            "rule.groups: selection_rate.largest_gap is one number of all groups of a feature; ",
        ),
        ("GE", {"groups": "F"}, "rule.groups: GE is one number of the whole table; remove groups"),
        (
            "consistency",
            {"features": "sex"},
            "rule.features: consistency is one number of the whole table; remove features",
        ),
    ],
)
def test_a_number_of_all_groups_is_of_no_group(metric, limits, said):
    with pytest.raises(fg.SpecError) as caught:
        fg.rule(metric, at_most=0.1, **limits)
    assert str(caught.value).startswith(said)


@given(
    low=st.floats(-0.99, 0),
    high=st.floats(0, 9),
    features=st.lists(st.text(max_size=2), max_size=2),
    decide=st.sampled_from(Decide),
    insufficient=st.sampled_from(Insufficient),
)
def test_a_rule_can_be_written_and_read_again(low, high, features, decide, insufficient):
    rule = fg.rule(
        "AD", between=(low, high), features=features, decide=decide, insufficient=insufficient
    )
    assert fg.rule(**rule.to_dict()) == rule
    assert parse_rule(str(rule)) == fg.rule("AD", between=(low, high))
    assert rule.allows(low)
    assert rule.allows(high)
    assert not rule.allows(high + 1)
