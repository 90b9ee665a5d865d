"""What a report tells first: whom it speaks of, what is farthest, what turns around."""

from __future__ import annotations

import dataclasses
import math

import polars as pl
import pytest

import fairgauge as fg
import sample_reports
from fairgauge.enums import Status
from fairgauge.render import question
from fairgauge.render.metric_meanings import distance, has_margin, headline_rank, is_signed, title
from fairgauge.render.outline import outline
from fairgauge.report.estimates import Estimate


def estimate(metric, value, low=None, high=None, group="g", **more):
    return Estimate(
        metric=metric, set="clarify", feature="f", group=group, reference="others",
        value=value, low=low, high=high, **more,
    )  # fmt: skip


def test_an_interval_decides_before_a_value():
    unsure, sure = estimate("DPL", 0.5, -0.2, 0.9), estimate("DPL", -0.2, -0.3, -0.1)
    assert distance(sure) > distance(unsure)
    assert distance(unsure) == (0.0, 0.5)
    assert distance(sure) == (0.1, 0.2)


def test_a_ratio_is_as_far_as_its_inverse():
    assert distance(estimate("DI", 0.5)) == pytest.approx(distance(estimate("DI", 2.0)))
    assert distance(estimate("DI", 0.0)) == (0.0, math.inf)


def test_infinite_and_undefined_values_come_last():
    for value in (math.inf, -math.inf, None):
        assert distance(estimate("TE", value)) < distance(estimate("TE", 0.0))


def test_of_two_groups_the_smaller_speaks_for_both():
    section = outline(sample_reports.small()).sections[0]
    assert section.mirrored
    assert section.focus == "Female"
    assert {each.group for each in section.headlines()} == {"Female"}


def test_of_several_groups_none_speaks_for_all():
    section = outline(sample_reports.several()).sections[0]
    assert section.focus is None
    assert not section.mirrored


def test_groups_on_too_few_rows_do_not_lead():
    report = sample_reports.several()
    section = outline(sample_reports.sure(report)).sections[0]
    for metric in section.metrics:
        if metric != "CI":
            assert section.farthest(metric).group != "Other", metric
            assert section.farthest(metric).status is Status.OK


def test_only_what_is_sure_makes_a_headline_if_anything_is():
    report = sample_reports.small()
    wide = tuple(
        dataclasses.replace(each, low=-0.9, high=0.9) if each.metric != "RD" else each
        for each in sample_reports.sure(report).estimates
    )
    told = outline(dataclasses.replace(report, estimates=wide)).sections[0].headlines()
    assert [each.metric for each in told] == ["RD"]


def test_what_has_no_value_is_folded_by_reason():
    section = outline(sample_reports.several()).sections[0]
    reasons = {(each.reason, each.groups) for each in section.unusable}
    assert ("the group has no predicted positives (TP + FP = 0)", ("Other",)) in reasons


def test_berkeley_is_told_with_its_counterpart_once():
    section = outline(sample_reports.berkeley()).sections[0]
    assert section.strata == tuple("ABCDEF")
    assert [(m.metric, m.group) for m, _ in section.turns()] == [("DPL", "Female")]
    assert {pooled.metric for _, pooled in section.held} >= {"CDDL"}
    for margin, pooled in section.held:
        assert margin.value > 0 > pooled.value


def test_a_margin_and_its_conditional_counterpart_share_a_sign():
    assert has_margin("CDDL", "DPL")
    assert has_margin("CDDPL", "DPPL")
    assert has_margin("DPL", "DPL")
    assert not has_margin("CDDL", "DPPL")
    assert not has_margin("CDDL", "vertex.dpptl")
    assert not has_margin("CDDL", "base_rate.ratio")


def test_thresholds_make_sections_and_label_metrics_stand_with_the_first():
    rows = pl.DataFrame(
        {
            "y": [i % 2 for i in range(100)],
            "s": [(i * 37 % 100) / 100 for i in range(100)],
            "g": ["a" if i % 3 else "b" for i in range(100)],
        }
    )
    report = fg.audit(rows, label="y", score="s", threshold=[0.3, 0.7], sensitive="g")
    found = outline(report).sections
    assert [(each.feature, each.threshold) for each in found] == [("g", 0.3), ("g", 0.7)]
    assert "DPL" in found[0].metrics
    assert "DPL" not in found[1].metrics
    assert "RD" in found[1].metrics


def test_names_that_the_catalogue_does_not_have_are_shown_bare():
    assert title("something.else") == ""
    assert headline_rank("something.else") is None
    assert is_signed("something.else")
    assert title("DCA") == "Difference in Conditional Acceptance"
    assert title("vertex.recall_difference") == "Recall Difference (Equal Opportunity)"
    assert title("accuracy.ratio") == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("others", "all other groups of the feature"),
        ("best", "the group that fares best"),
        ({"race": "White", "sex": True}, "race = White, sex = true; all other groups elsewhere"),
    ],
)
def test_references_in_words(given, words):
    assert question.reference(given) == words


def test_positive_values_in_words():
    assert question.positive({"above": 50_000.0}) == "above 50000"
    assert question.positive([1.0, "yes", True]) == "1 or yes or true"
    assert question.positive([]) == "1 or true"
    assert question.positive(list(range(20))).endswith("7 or 12 more")
