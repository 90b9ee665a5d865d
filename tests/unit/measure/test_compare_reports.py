"""Two reports compared: numbers by hand, directions, verdicts, refusals, and the command."""

from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import html
import io
import json
import math
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.needs import EVERY_CASE

import compared_reports as pairs
import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Direction,
    Outcome,
    ReferenceKind,
    Status,
    Turn,
    WhyIncomplete,
)
from fairgauge.measure.compare_reports import changes, turned
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.render import render
from fairgauge.render._document_tree import Unit
from fairgauge.render.words.metric_words import unit
from fairgauge.render.words.numbers import points
from fairgauge.results.comparison import Comparison, sort_changes
from fairgauge.results.estimates import Estimate
from fairgauge.results.scopes import OVERALL, POOLED, Interval, Reference, stratum


def estimate(value, low=None, high=None, metric="RD", **more):
    level = more.pop("confidence", 0.95)
    known = {"set": "clarify", "feature": "sex", "group": "F"}
    known["reference"] = Reference(ReferenceKind.OTHERS)
    interval = None if low is None else Interval(low, high, level)
    return Estimate(metric=metric, value=value, interval=interval, **(known | more))


UNDEFINED = Reason.of(ReasonCode.NO_ROWS, of="label")


def change(old, new, **more):
    (found,) = changes([(old, new)], **more)
    return found


# --- the numbers ---------------------------------------------------------------------------------


def test_a_difference_changes_by_a_difference_with_movers_limits():
    found = change(estimate(0.10, 0.04, 0.16), estimate(0.30, 0.22, 0.39))
    assert found.by == "difference"
    assert found.change == pytest.approx(0.2)
    assert found.interval.low == pytest.approx(0.2 - math.hypot(0.08, 0.06))  # by hand: 0.1
    assert found.interval.high == pytest.approx(0.2 + math.hypot(0.09, 0.06))
    assert (found.direction, found.crossed, found.significant) == (Direction.FURTHER, False, True)


def test_a_ratio_changes_by_a_ratio_on_a_logarithmic_scale():
    found = change(estimate(0.9, 0.8, 1.0, "DI"), estimate(0.6, 0.5, 0.7, "DI"))
    gap = math.log(0.6 / 0.9)
    assert found.by == "ratio"
    assert found.change == pytest.approx(0.6 / 0.9)
    low = math.exp(gap - math.hypot(math.log(0.6 / 0.5), math.log(1.0 / 0.9)))
    high = math.exp(gap + math.hypot(math.log(0.7 / 0.6), math.log(0.9 / 0.8)))
    assert tuple(found.interval) == pytest.approx((low, high))
    assert found.direction is Direction.FURTHER


def test_a_ratio_and_its_inverse_are_equally_far():
    found = change(estimate(0.8, 0.7, 0.9, "DI"), estimate(1.25, 1.1, 1.4, "DI"))
    assert (found.direction, found.crossed, found.significant) == (Direction.AS_FAR, True, False)
    assert found.change == pytest.approx(1.5625)


@pytest.mark.parametrize(
    ("old", "new", "direction", "crossed"),
    [
        ((0.2, 0.15, 0.25), (0.05, 0.0, 0.1), Direction.CLOSER, False),
        ((-0.2, -0.25, -0.15), (0.05, 0.0, 0.1), Direction.CLOSER, True),
        ((0.02, -0.03, 0.07), (-0.2, -0.25, -0.15), Direction.FURTHER, True),
        ((-0.05, -0.1, 0.0), (-0.2, -0.25, -0.15), Direction.FURTHER, False),
    ],
)
def test_directions_are_seen_from_no_difference(old, new, direction, crossed):
    found = change(estimate(*old), estimate(*new))
    assert (found.direction, found.crossed, found.significant) == (direction, crossed, True)


def test_a_change_of_sides_alone_is_no_move_away():
    found = change(estimate(-0.2, -0.25, -0.15), estimate(0.21, 0.16, 0.26))
    assert found.interval.low > 0
    assert found.change_p_adjusted < 0.001
    assert (found.direction, found.crossed, found.significant) == (Direction.FURTHER, True, False)


@pytest.mark.parametrize("half", [0.02, 0.0498, 0.0502, 0.2])
def test_the_p_value_and_the_limits_agree(half):
    share = half / math.sqrt(2)
    old, new = (estimate(v, v - share, v + share) for v in (0.1, 0.15))
    found = change(old, new)
    assert (found.change_p_value < 0.05) == (found.interval.low > 0) == (half < 0.05)
    assert found.significant == (found.interval.low > 0)


def test_what_rests_on_too_few_rows_is_never_beyond_doubt():
    few = estimate(0.6, 0.5, 0.7, status=Status.TOO_FEW)
    assert not change(estimate(0.1, 0.05, 0.15), few).significant
    assert change(estimate(0.1, 0.05, 0.15), few).interval


def test_what_has_insufficient_data_is_in_no_family():
    """Ten categories of a few people made the change of a large one ten times harder to show."""
    large = estimate(0.05, 0.0, 0.1), estimate(0.15, 0.1, 0.2)
    few = [
        tuple(replace(each, group=str(i)) for each in large[::-1]) for i in range(10)
    ]  # fmt: skip
    small = [(old, replace(new, status=Status.TOO_FEW)) for old, new in few]
    (alone,), found = changes([large]), changes([large, *small])
    (same,) = [each for each in found if each.after.group == "F"]
    assert alone.changed
    assert (same.change_p_adjusted, same.p_adjusted) == (
        alone.change_p_adjusted,
        alone.p_adjusted,
    )
    assert {each.change_p_adjusted for each in found if each.after.group != "F"} == {None}
    of_all = changes([large, *few])
    assert max(each.change_p_adjusted for each in of_all) > alone.change_p_adjusted


def test_the_best_group_as_reference_has_a_way_to_see_more():
    rng = np.random.default_rng(5)
    groups = rng.choice([*"abc"], 3000)
    frame = pl.DataFrame({"g": groups, "p": 1 * (rng.random(3000) < 0.4 + 0.3 * (groups == "a"))})
    asked = {"prediction": "p", "sensitive": "g", "positive": 1}
    for reference, stated in (("best", True), ({"g": "a"}, False)):
        reports = [fg.audit(part, **asked, reference=reference)
                   for part in (frame[:1500], frame[1500:])]  # fmt: skip
        steps = str(fg.compare(*reports).brief())
        assert ("name the same reference in both audits" in steps) == stated


def test_many_changes_are_one_family():
    lonely = (estimate(0.1, 0.05, 0.15), estimate(0.175, 0.125, 0.225))
    assert changes([lonely])[0].significant
    flat = (estimate(0.1, 0.05, 0.15), estimate(0.1, 0.05, 0.15))
    found = changes([lonely, *[flat] * 10])
    assert found[0].change_p_adjusted == pytest.approx(11 * found[0].change_p_value)
    assert not any(each.significant for each in found)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            estimate(0.1),
            estimate(0.2, 0.1, 0.3),
            Reason.of(ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL, report="old"),
        ),
        (
            estimate(0.2, 0.1, 0.3),
            estimate(None, reason=UNDEFINED),
            Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, report="new", reasons=(UNDEFINED,)),
        ),
        (
            estimate(0.1, 0, 0.2),
            estimate(0.2, 0.1, 0.3, confidence=0.9),
            Reason.of(ReasonCode.DIFFERENT_LEVELS),
        ),
        (
            estimate(0.1, 0, 0.2, reference=Reference(ReferenceKind.GROUP, "White")),
            estimate(0.2, 0.1, 0.3),
            Reason.of(ReasonCode.DIFFERENT_REFERENCES),
        ),
    ],
)
def test_no_interval_has_a_reason(old, new, reason):
    found = change(old, new)
    assert found.reason == reason
    assert (found.interval, found.change_p_value, found.significant) == (None, None, False)


def test_infinite_values_move_without_a_number():
    inf = math.inf
    found = change(estimate(2.0, 1.0, 4.0, "DI"), estimate(inf, 3.0, inf, "DI"))
    assert (found.change, found.direction, found.significant) == (inf, Direction.FURTHER, False)
    same = change(estimate(inf, 3.0, inf, "DI"), estimate(inf, 3.0, inf, "DI"))
    assert (same.change, same.moved, same.direction) == (1.0, False, Direction.AS_FAR)
    zero = change(estimate(0.0, 0.0, 0.4, "DI"), estimate(0.5, 0.2, 0.9, "DI"))
    assert (zero.change, zero.direction) == (inf, Direction.CLOSER)


def test_a_metric_of_another_version_has_no_direction():
    found = change(
        estimate(0.1, 0, 0.2, "no.such.metric"), estimate(0.9, 0.8, 1.0, "no.such.metric")
    )
    assert found.direction is None
    assert found.change == pytest.approx(0.8)
    assert not found.significant


# --- two reports ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def months():
    return fg.compare(*pairs.months())


def test_what_got_worse_comes_first(months):
    assert months.worse
    first = months.changes[0]
    assert first.significant
    assert first.direction is Direction.FURTHER
    order = [(each.significant, each.direction is Direction.FURTHER) for each in months.changes]
    sure = [further for each, further in order if each]
    assert sure == sorted(sure, reverse=True)
    assert [each for each, _ in order] == sorted((each for each, _ in order), reverse=True)


def test_values_are_those_of_the_reports(months):
    old, new = pairs.months()
    for each in months.changes:
        assert each.old == old[each.metric, each.feature, each.group].value
        assert each.new == new[each.metric, each.feature, each.group].value


def test_verdicts_that_changed(months):
    flips = {
        (each.new.rule, each.group): (each.old.outcome, each.new.outcome, each.turn)
        for each in months.flips
    }
    rule = "-0.1 <= RD <= 0.1"
    assert flips[rule, "Black"] == (Outcome.PASS, Outcome.FAIL, Turn.WORSE)
    assert flips[rule, "Asian"] == (Outcome.FAIL, Outcome.INCONCLUSIVE, Turn.BETTER)
    turns = [each.turn for each in months.flips]
    assert turns == sorted(turns, key=[Turn.WORSE, Turn.OTHER, Turn.BETTER].index)
    assert len(months.flips) + months.stayed == 6


@pytest.mark.parametrize(
    ("old", "new", "turn"),
    [
        ("pass", "fail", Turn.WORSE),
        ("pass", "inconclusive", Turn.WORSE),
        ("pass", "not_evaluated", Turn.WORSE),
        ("inconclusive", "fail", Turn.WORSE),
        ("fail", "inconclusive", Turn.BETTER),
        ("fail", "pass", Turn.BETTER),
        ("not_evaluated", "pass", Turn.BETTER),
        ("fail", "not_evaluated", Turn.OTHER),
        ("inconclusive", "not_evaluated", Turn.OTHER),
        ("not_evaluated", "inconclusive", Turn.OTHER),
        ("pass", "pass", None),
        ("none", "fail", None),
    ],
)
def test_what_becomes_of_a_verdict(old, new, turn):
    assert turned(Outcome(old), Outcome(new), set(Direction)) is turn
    assert turned(Outcome(old), Outcome(new), ()) is (None if turn is None else Turn.OTHER)


RATIO = ["selection_rate.ratio >= 0.8"]
GROUPS = {
    "W": {"tp": 800, "fn": 200},
    "B": {"tp": 700, "fn": 300},
    "A": {"tp": 300, "fn": 700},
}


def two(old, new, **options):
    asked = {"rules": RATIO, "metrics": "selection_rate.ratio"} | options
    return fg.compare(pairs.report(old, **asked), pairs.report(new, **asked), same_rows=False)


def unmatched(found):
    return [
        (each.report, each.verdict.group, str(each.verdict.outcome), each.reason.code)
        for each in found.unmatched
    ]


def test_a_verdict_whose_group_is_gone_is_neither_better_nor_unchanged():
    found = two(GROUPS, {name: GROUPS[name] for name in "WB"}, reference={"race": "W"})
    assert unmatched(found) == [("old", "A", "fail", ReasonCode.ABSENT)]
    assert (found.stayed, found.flips, found.incomplete, found.worse) == (1, (), True, False)
    assert (found.old.verdict, found.new.verdict) == (Outcome.FAIL, Outcome.PASS)
    assert found.turn is Turn.OTHER
    back = two({name: GROUPS[name] for name in "WB"}, GROUPS, reference={"race": "W"})
    assert unmatched(back) == [("new", "A", "fail", ReasonCode.ABSENT)]
    assert (back.incomplete, back.worse) == (True, False)  # it fails, and nothing is known of then
    assert "find out why the old report has no verdict on people with race A" in " ".join(
        str(back).split()
    )
    for each in (found, back):
        assert "Nothing changed" not in str(each)
    for text in (str(found), render(found, "markdown"), render(found, "html")):
        words = " ".join(re.sub(r"<[^>]*>|[*|\\]", " ", text).split())
        assert "1 has no counterpart in the new report" in words
        assert "A (race)" in words
        assert "the new report has no such group" in words
    assert Comparison.from_dict(json.loads(found.to_json())) == found


@pytest.mark.parametrize("gone", ["W", "B"])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.8])
def test_whichever_of_two_groups_is_gone_is_no_green_light(gone, share):
    """Without the men, whose verdict is that of the women, a gate on what is worse was green."""
    old = {"W": {"tp": 500, "fn": 500}, "B": {"tp": round(500 * share), "fn": 1_000}}
    new = {name: cells for name, cells in old.items() if name != gone}
    found = two(old, new)
    assert (found.worse, found.incomplete) == (False, True)
    few = two(old, old | {gone: {"tp": 3, "fn": 3}})
    assert (few.worse, few.incomplete) == (False, True)


@pytest.mark.parametrize("rules", [[], RATIO, ["accuracy.ratio >= 0.1"]])
def test_disparities_that_moved_untested_are_no_green_light(rules):
    """Groups of equal sizes are taken to be the same rows, whose dependence could explain it.

    With a rule that failed in both reports, or of another number, the exit code was 0.
    """
    moved = GROUPS | {"B": {"tp": 690, "fn": 310}}
    asked = {"metrics": "selection_rate.ratio", "reference": {"race": "W"}, "rules": rules}
    old, new = (pairs.report(of, **asked) for of in (GROUPS, moved))
    found = fg.compare(old, new)
    assert found.refused is not None
    assert (found.worse, found.why_incomplete) == (False, (WhyIncomplete.NOTHING_TESTED,))
    assert not fg.compare(new, old).incomplete  # closer
    assert not fg.compare(old, old).incomplete


def test_a_verdict_whose_rule_is_gone_is_no_green_light():
    old, new = (
        pairs.report(GROUPS, rules=rules, metrics="selection_rate.ratio", reference={"race": "W"})
        for rules in (RATIO, [])
    )
    found = fg.compare(old, new)
    assert (found.worse, found.incomplete) == (False, True)
    assert "Nothing changed" not in str(found)
    assert not fg.compare(new, old).incomplete  # a rule that is new has nothing to be held against


def test_what_got_better_does_not_cover_a_failure_that_is_gone():
    worse = GROUPS | {"B": {"tp": 400, "fn": 600}}
    found = two(worse, {name: GROUPS[name] for name in "WB"}, reference={"race": "W"})
    assert [each.turn for each in found.flips] == [Turn.BETTER]
    assert found.turn is Turn.OTHER


def test_the_reference_has_no_verdict_of_its_own():
    swapped = GROUPS | {"W": GROUPS["B"], "B": GROUPS["W"]}
    found = two(GROUPS, swapped, reference="best")
    assert unmatched(found) == [
        ("old", "B", "pass", ReasonCode.IS_REFERENCE),
        ("new", "W", "pass", ReasonCode.IS_REFERENCE),
    ]
    assert not found.incomplete
    assert "it is the reference in the old report" in " ".join(str(found).split())


def test_a_group_that_was_the_reference_and_fails_now_is_not_passed_over():
    """The best group of the old report is the worst of the new one: neither verdict has another.

    Both are of one pair of groups, which changed sides.
    """
    old = {"F": {"tp": 600, "fn": 400}, "M": {"tp": 300, "fn": 700}}
    found = two(old, {"F": old["M"], "M": old["F"]}, reference="best")
    assert [(report, outcome) for report, _, outcome, _ in unmatched(found)] == [
        ("old", "fail"), ("new", "fail"),
    ]  # fmt: skip
    assert (found.worse, found.incomplete) == (True, True)


@pytest.mark.parametrize(
    ("a", "c", "worse", "incomplete"),
    [
        (490, 200, False, True),  # another group is best, so that no change can be tested
        (530, 200, True, False),
        (490, 470, False, False),  # passes before and after
    ],
)
def test_a_verdict_that_got_worse_untested_is_no_green_light(a, c, worse, incomplete):
    before = {"A": {"tp": 510, "fn": 490}, "B": {"tp": 500, "fn": 500}, "C": {"tp": 470, "fn": 530}}
    after = {
        "A": {"tp": a, "fn": 1000 - a},
        "B": {"tp": 520, "fn": 490},
        "C": {"tp": c, "fn": 1000 - c},
    }
    found = two(before, after, reference="best")
    assert found.old.verdict is Outcome.PASS
    assert (found.worse, found.incomplete) == (worse, incomplete)


def test_all_rules_together_got_worse_by_a_verdict_without_a_counterpart():
    """The two groups swap places, and the one that is judged now has too few rows to pass."""
    old = {"F": {"tp": 500, "fn": 500}, "M": {"tp": 490, "fn": 510}}
    found = two(old, {"F": {"tp": 20, "fn": 22}, "M": old["M"]}, reference="best")
    assert (found.old.verdict, found.new.verdict) == (Outcome.PASS, Outcome.INCONCLUSIVE)
    assert (found.flips, found.worse, found.incomplete) == ((), False, True)


def test_another_reference_proves_no_change_of_a_verdict():
    passed = GROUPS | {"A": {"tp": 750, "fn": 250}}
    swapped = GROUPS | {"W": GROUPS["B"], "B": GROUPS["W"]}
    found = two(passed, swapped, reference="best")
    (flip,) = found.flips
    assert (flip.old.outcome, flip.new.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert flip.turn is Turn.OTHER
    assert {each.group for each in found.changes if each.worse} == {"B"}  # the pair of W and B


def test_a_named_group_that_is_gone_is_no_longer_evaluated():
    rules = [fg.rule("selection_rate.ratio", at_least=0.8, groups=["A", "B"])]
    found = two(GROUPS, {name: GROUPS[name] for name in "WB"}, rules=rules)
    (flip,) = found.flips
    assert (flip.group, flip.old.outcome, flip.new.outcome) == ("A", "fail", "not_evaluated")
    assert (flip.turn, found.unmatched) == (Turn.OTHER, ())


def test_a_verdict_that_is_ignored_now_has_changed():
    rules = [fg.rule("selection_rate.ratio", at_least=0.8, insufficient="ignore")]
    few = GROUPS | {"A": {"tp": 3, "fn": 5}}
    found = two(GROUPS, few, rules=rules, reference={"race": "W"})
    (flip,) = found.flips
    assert (flip.old.outcome, flip.new.outcome, flip.turn) == ("fail", "none", Turn.OTHER)


@given(
    st.lists(st.sampled_from("ABCD"), min_size=2, unique=True),
    st.lists(st.sampled_from("ABCD"), min_size=2, unique=True),
    st.sampled_from(["others", "best", "largest", "overall"]),
)
def test_every_verdict_is_compared_or_listed(old, new, reference):
    cells = {name: {"tp": 90 - 9 * i, "fn": 40 + i} for i, name in enumerate("ABCD")}
    found = two({n: cells[n] for n in old}, {n: cells[n] for n in new}, reference=reference)
    asked = {"rules": RATIO, "metrics": "selection_rate.ratio", "reference": reference}
    for which, names in (("old", old), ("new", new)):
        verdicts = pairs.report({n: cells[n] for n in names}, **asked).verdicts
        alone = [each for each in found.unmatched if each.report == which]
        assert len(found.flips) + found.stayed + len(alone) == len(verdicts)


def test_rules_of_the_same_words_are_told_apart():
    groups = {"a": {"tp": 70, "fn": 30}, "b": {"tp": 80, "fn": 20}}
    rules = [fg.rule("RD", at_most=0.15, decide=how) for how in ("interval", "point")]
    old = pairs.report(groups, metrics="RD", rules=rules)
    new = pairs.report(groups | {"a": {"tp": 50, "fn": 55}}, metrics="RD", rules=rules)
    found = [(e.group, e.old.outcome, e.new.outcome) for e in fg.compare(old, new).flips]
    assert found == [
        ("a", Outcome.INCONCLUSIVE, Outcome.FAIL),
        ("a", Outcome.PASS, Outcome.FAIL),
    ]


def test_strata_are_compared_each_with_itself():
    def audit(shares):
        rows = [
            {
                "y": 1,
                "p": int(i % 2 == 1 or (i // 2) % 10 < share),
                "sex": "FM"[i % 2],
                "dept": dept,
            }
            for dept, share in shares.items()
            for i in range(400)
        ]
        return fg.audit(
            pl.DataFrame(rows),
            label="y",
            prediction="p",
            sensitive="sex",
            strata="dept",
            metrics="RD",
        )

    found = fg.compare(audit({"A": 9, "B": 9}), audit({"B": 9, "C": 1, "A": 1}), same_rows=False)
    women = {each.after.scope: each for each in found.changes if each.group == "F"}
    assert women.keys() == {OVERALL, POOLED, stratum("A"), stratum("B")}
    assert women[stratum("A")].change == pytest.approx(0.8)
    assert not women[stratum("B")].moved
    assert found.changes[0].after.scope == OVERALL, "all rows come before single strata"
    assert ("stratum", "C", "new") in {(e.what, e.name, e.report) for e in found.alone}


def test_what_one_report_has_alone(months):
    (found,) = months.alone
    assert (found.what, found.feature, found.name, found.report) == (
        "group",
        "race",
        "Other",
        "new",
    )
    old, new = pairs.months()
    assert len(months.changes) == len(old.estimates)
    assert found.count == len(new.estimates) - len(old.estimates)
    found = fg.compare(old, pairs.models()[0]).alone
    assert {(e.what, e.name, e.report) for e in found} == {
        ("feature", "race", "old"),
        ("feature", "sex", "new"),
    }
    less = pairs.report({"a": {"tp": 5, "fn": 5}, "b": {"tp": 6}}, metrics="RD", rules=[])
    more = {"a": {"tp": 6, "fn": 5}, "b": {"tp": 6}}
    more = pairs.report(more, metrics=["RD", "AD"], rules=pairs.RULES[1:])
    found = {(e.what, e.name, e.report, e.count) for e in fg.compare(less, more).alone}
    assert found == {("metric", "AD", "new", 2), ("rule", "-0.1 <= RD <= 0.1", "new", 1)}


def graded(true_positive_rates, **options):
    """Audit 1,500 rows of every group, which differ in the true positive rate alone."""
    groups = {
        group: {"tp": round(1000 * rate), "fn": 1000 - round(1000 * rate), "tn": 500}
        for group, rate in true_positive_rates.items()
    }
    gap = "true_positive_rate.largest_gap"
    return pairs.report(groups, **({"metrics": gap, "rules": [f"{gap} <= 0.1"]} | options))


def test_a_gap_of_a_feature_is_matched_whichever_groups_are_furthest_apart():
    rules = ["true_positive_rate.largest_gap <= 0.1", "accuracy >= 0.95"]
    old = graded({"A": 0.80, "B": 0.82, "C": 0.81}, rules=rules)
    new = graded({"A": 0.82, "B": 0.80, "C": 0.50}, rules=rules)
    assert old.verdict is new.verdict is Outcome.FAIL, "the overall verdict shows nothing"
    found = fg.compare(old, new, same_rows=False)
    (change,) = found.changes
    assert (change.before.group, change.before.reference.group) == ("B", "A")
    assert (change.after.group, change.after.reference.group) == ("A", "C")
    assert change.change == pytest.approx(0.30)
    assert (change.direction, change.significant) == (Direction.FURTHER, True)
    (flip,) = found.flips
    assert (flip.old.outcome, flip.new.outcome) == (Outcome.PASS, Outcome.FAIL)
    assert (flip.turn, found.worse, found.alone) == (Turn.WORSE, True, ())


def test_a_gap_that_is_defined_in_one_report_is_still_one_disparity():
    none = {"A": {"tn": 500}, "B": {"tp": 80, "fn": 20, "tn": 400}}
    gap = "true_positive_rate.largest_gap"
    undefined = pairs.report(none, metrics=gap, rules=[f"{gap} <= 0.1"])
    found = fg.compare(graded({"A": 0.8, "B": 0.6}), undefined, same_rows=False)
    assert [each.new for each in found.changes] == [None]
    assert [(e.old.outcome, e.new.outcome) for e in found.flips] == [
        (Outcome.FAIL, Outcome.NOT_EVALUATED)
    ]
    assert found.alone == ()


SPREADS = ("largest_gap", "smallest_ratio", "minimum", "maximum")
OF_ALL_GROUPS = [
    *(f"true_positive_rate.{by}" for by in SPREADS),
    *("equalized_odds.largest_gap", "between_group_generalized_entropy"),
]
RATES = st.lists(st.integers(20, 95), min_size=3, max_size=3, unique=True)


@settings(max_examples=10)
@given(RATES, RATES, st.permutations("ABC"))
def test_a_metric_of_all_groups_changes_by_the_same_whatever_they_are_called(old, new, renamed):
    """Give the groups of the new report each other's names: its metrics of a feature stay."""
    options = {
        "metrics": OF_ALL_GROUPS,
        "rules": [fg.rule(metric, at_most=0.1, decide="point") for metric in OF_ALL_GROUPS],
    }

    def report(names, rates):
        shares = [rate / 100 for rate in rates]
        return graded(dict(zip(names, shares, strict=True)), **options)

    before = report("ABC", old)
    one, other = (
        fg.compare(before, report(names, new), same_rows=False) for names in ("ABC", renamed)
    )
    named, called_otherwise = ({each.metric: each for each in e.changes} for e in (one, other))
    assert named.keys() == called_otherwise.keys() == set(OF_ALL_GROUPS)
    for metric, each in named.items():
        assert called_otherwise[metric].change == pytest.approx(each.change)
        assert called_otherwise[metric].direction is each.direction
    turns, others = ({(e.new.rule, e.turn) for e in found.flips} for found in (one, other))
    assert turns == others
    assert one.stayed + len(one.flips) == other.stayed + len(other.flips) == len(OF_ALL_GROUPS)
    assert one.alone == other.alone == ()


def test_groups_and_their_sizes(months):
    found = {each.group: each for each in months.groups}
    assert (found["Black"].old_n, found["Black"].new_n) == (1700, 1710)
    assert found["Black"].old_share == pytest.approx(1700 / 5700)
    assert (found["Other"].old_n, found["Other"].old_share, found["Other"].new_n) == (
        None,
        None,
        20,
    )


def test_a_report_against_itself_has_not_changed():
    old, _ = pairs.months()
    found = fg.compare(old, old)
    assert not found.worse
    assert not any(each.moved for each in found.changes)
    assert (found.flips, found.alone, found.differences, found.turn) == ((), (), (), None)
    assert "Nothing changed" in str(found)


# --- the same rows -------------------------------------------------------------------------------


def test_the_same_rows_give_no_interval_where_dependence_could_explain_a_change():
    old, new = pairs.models()
    found = fg.compare(old, new)
    assert found.same_rows
    assert found.refused == Reason.of(ReasonCode.SAME_ROWS, evidence="sizes")
    assert all(each.interval is None and not each.significant for each in found.changes)
    assert any(each.direction is Direction.FURTHER for each in found.changes)
    assert fg.compare(old, old).refused["evidence"] == "fingerprint"


def test_whether_rows_are_the_same_can_be_said():
    old, new = pairs.models()
    assert any(each.interval for each in fg.compare(old, new, same_rows=False).changes)
    found = fg.compare(*pairs.months(), same_rows=True)
    assert found.refused == Reason.of(ReasonCode.SAME_ROWS, evidence="stated")
    ratios = [each for each in found.changes if each.interval]
    assert ratios
    assert len(ratios) < len(fg.compare(*pairs.months(), same_rows=False).changes)


def of_women(**counts):
    men = {"tp": 70, "fp": 30, "fn": 30, "tn": 70}
    return pairs.report({"F": counts, "M": men}, "sex", rules=["selection_rate.ratio >= 0.8"])


def test_what_no_dependence_explains_is_worse_on_the_same_rows():
    """A ratio fell from 0.6 to 0.15 on a fixed test set: FAIL, as before, and exit code 0."""
    old = of_women(tp=40, fp=20, fn=60, tn=80)
    found = fg.compare(old, of_women(tp=10, fp=5, fn=90, tn=95))
    assert found.same_rows
    assert found.worse
    (ratio,) = (e for e in found.changes if e.metric == "selection_rate.ratio" and e.group == "F")
    assert ratio.significant
    assert not fg.compare(old, of_women(tp=38, fp=19, fn=62, tn=81)).worse
    text = " ".join(str(found).split())
    assert "further apart" in text
    assert "These intervals are the widest possible: both reports are of the same rows" in text
    assert "taken to be of the same rows: all groups have the same numbers of rows" in text


def test_intervals_of_the_same_rows_are_the_widest_of_any_correlation():
    """Both ends move as far as they can at once: the change is that of opposite ends."""
    old, new = of_women(tp=40, fp=20, fn=60, tn=80), of_women(tp=10, fp=5, fn=90, tn=95)
    independent = {e.metric: e for e in fg.compare(old, new, same_rows=False).changes}
    shown = [e for e in fg.compare(old, new).changes if e.interval]
    assert shown
    for each in shown:
        ends = [(side.low, side.high) for side in (each.before, each.after)]
        by = np.divide if each.by == "ratio" else np.subtract
        widest = by(ends[1][0], ends[0][1]), by(ends[1][1], ends[0][0])
        np.testing.assert_allclose((each.interval.low, each.interval.high), widest)
        assert each.change_p_value > independent[each.metric].change_p_value


def test_different_rows_give_intervals(months):
    assert not months.same_rows
    assert months.refused is None
    assert all(each.interval for each in months.changes)


# --- asked differently ---------------------------------------------------------------------------


def test_differences_are_listed_the_grave_first():
    groups = {"a": {"tp": 50, "fn": 50}, "b": {"tp": 61, "fn": 40}}
    old = pairs.report(groups)
    new = pairs.report(groups, reference="overall", confidence=0.9, rules=[], seed=3)
    found = fg.compare(old, new)
    assert [each.key for each in found.differences] == ["reference", "confidence", "seed", "rules"]
    assert [bool(each.says) for each in found.differences] == [True, True, False, False]
    assert (found.differences[0].old, found.differences[0].new) == ("others", "overall")
    assert found.refused == Reason.of(ReasonCode.ASKED_DIFFERENTLY, keys="reference, confidence")
    recall = "true_positive_rate.difference"
    assert {each.direction for each in found.changes if each.metric == recall} == {None}
    text = str(found)
    assert text.index("Asked differently") < text.index("Disparities")
    assert "reference" in text


def test_another_threshold_is_compared_and_said():
    def audit(threshold):
        rows = {"y": [0, 1] * 100, "s": [i / 200 for i in range(200)], "g": list("aabb") * 50}
        return fg.audit(
            pl.DataFrame(rows), label="y", score="s", sensitive="g",
            threshold=threshold, metrics="RD",
        )  # fmt: skip

    found = fg.compare(audit(0.5), audit(0.6))
    assert [each.key for each in found.differences] == ["threshold"]
    assert len(found.changes) == 2
    assert found.alone == ()
    found = fg.compare(audit([0.5, 0.6]), audit([0.6, 0.7]))
    assert {each.threshold for each in found.changes} == {0.6}
    assert {(e.what, e.name, e.report) for e in found.alone} == {
        ("threshold", "0.5", "old"),
        ("threshold", "0.7", "new"),
    }


def spec(report, **changed):
    return dataclasses.replace(report, spec={**report.spec, **changed})


def test_reports_about_different_things_are_refused_all_reasons_at_once():
    old, new = pairs.months()
    with pytest.raises(fg.SpecError) as caught:
        fg.compare(spec(old, label="approved"), spec(new, label="repaid", positive=["yes"]))
    assert str(caught.value) == (
        "label: 'approved' in the old report, 'repaid' in the new one: their numbers mean "
        "different things and cannot be compared; audit both alike\n"
        "positive: '1' in the old report, 'yes' in the new one: their numbers mean "
        "different things and cannot be compared; audit both alike"
    )


@pytest.mark.parametrize("same", [[1.0], ["1"], [True], [1]])
def test_the_same_favourable_value_in_other_words_is_the_same(same):
    old, new = pairs.months()
    assert fg.compare(old, spec(new, positive=same)).differences == ()


@pytest.mark.parametrize("other", [[0], [1, 2], {"above": 1}])
def test_another_favourable_value_is_refused(other):
    old, new = pairs.months()
    with pytest.raises(fg.SpecError, match="positive: '1' in the old report"):
        fg.compare(old, spec(new, positive=other))


def test_what_is_no_report_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, _ = pairs.months()
    old.save("old.json")
    cube = fg.confusion("sex", {"F": {"tp": 1}, "M": {"tp": 2}})
    cube.save("day.cube.json")
    fg.compare(old, old).save("diff.json")
    (tmp_path / "loans.csv").write_text("a,b\n1,2\n")

    def said(new):
        with pytest.raises(fg.DataError) as caught:
            fg.compare("old.json", new)
        return str(caught.value)

    make = "fairgauge audit DATA ... -o report.json makes one"
    assert said("loans.csv") == f"'loans.csv' is no report of fairgauge; {make}"
    assert said("diff.json") == f"'diff.json' is no report of fairgauge; {make}"
    assert said("no.json") == "no file 'no.json'"
    assert said("day.cube.json") == (
        "'day.cube.json' holds counts, not a report; "
        "fairgauge audit 'day.cube.json' -o report.json makes one"
    )
    assert said(cube) == "cannot compare a Cube; compare two reports, or the files of two"


# --- kept, and shown -----------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["months", "models", "hostile"])
def test_a_comparison_comes_back_from_json(made):
    found = fg.compare(*getattr(pairs, made)())

    def refuse(word):
        raise AssertionError(word)

    plain = json.loads(found.to_json(), parse_constant=refuse)
    assert plain["schema"] == "fairgauge.comparison/6"
    assert fg.Comparison.from_dict(plain) == found


def test_infinite_limits_come_back_from_json():
    old = pairs.report({"a": {"tn": 30, "fn": 20}, "b": {"tp": 20, "fp": 20, "tn": 10}})
    new = pairs.report({"a": {"tp": 3, "tn": 30, "fn": 20}, "b": {"tp": 21, "fp": 20, "tn": 10}})
    found = fg.compare(old, new)
    assert '"Infinity"' in found.to_json()
    assert fg.Comparison.from_dict(json.loads(found.to_json())) == found


@pytest.mark.parametrize("wrong", [{}, {"schema": "fairgauge.comparison/1"}, {"schema": 5}, []])
def test_what_is_no_comparison_is_refused(wrong):
    with pytest.raises(fg.FairgaugeError, match="not a comparison of fairgauge"):
        fg.Comparison.from_dict(wrong)


def test_mirrored_groups_are_told_once_and_kept_in_json():
    found = fg.compare(*pairs.models(), same_rows=False)
    text = str(found)
    assert "Excluded, because the other group mirrors it: Male." in text
    assert "Male (sex)" not in text.split("Data")[0].replace("Female (sex)", "")
    assert {each.group for each in found.changes} == {"Female", "Male"}


@pytest.mark.parametrize("format_", ["text", "csv", "markdown", "html"])
def test_hostile_names_do_no_harm(format_):
    text = render(fg.compare(*pairs.hostile()), format_)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
    assert {c for c in text if unicodedata.category(c) == "Cc"} <= {"\n"}
    if format_ in ("markdown", "html"):
        assert text.count("<script") == (format_ == "html")
        assert "<b " not in text
        assert "<img" not in text
    if format_ == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert not any(cell.startswith(("=", "+", "@")) for row in rows[1:] for cell in row[:4])


class Page(HTMLParser):
    """Collects the tags of a page, and checks that they close."""

    VOID = ("meta", "link", "br", "circle", "line", "rect", "path")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open += [] if tag in self.VOID else [tag]

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_nothing_of_anybody():
    text = render(fg.compare(*pairs.hostile()), "html")
    found = Page(text)
    assert found.open == []
    tags = {tag for tag, _ in found.tags}
    assert not tags & {"img", "iframe", "object", "form"}
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] for tag, attrs in found.tags if "href" in attrs]
    assert {link for link in links if not link.startswith("#")} <= {"data:,"}
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    policy = html.unescape(re.search('Content-Security-Policy" content="(.*?)"', text)[1])
    for tag in ("style", "script"):
        (own,) = re.findall(f"(?s)<{tag}>(.*?)</{tag}>", text)
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert len(text) < 1_000_000


def test_every_change_is_on_the_page_beside_the_value_before_it(months):
    text = html.unescape(render(months, "html"))
    moved = [e for e in months.changes if e.moved and unit(e.definition) is Unit.POINTS]
    assert moved
    for each in moved:
        assert f"{points(each.old)} → {points(each.new)} pp" in text
        assert f"{points(each.change)} pp" in text


# --- the command ---------------------------------------------------------------------------------


def test_each_side_names_its_own_reference():
    groups = {"A": 0.815, "B": 0.80, "C": 0.50}
    options = {"metrics": "true_positive_rate.difference", "rules": []}
    old, new = (graded(groups, reference=how, **options) for how in ("others", {"race": "A"}))
    shown = str(fg.compare(old, new, same_rows=False))
    assert (
        "people with race B and people with race A in true positive rate (compared in the old "
        "report with all other people): +14.3 → −1.5 pp" in " ".join(shown.split())
    )
    rows = csv.DictReader(io.StringIO(render(fg.compare(old, new, same_rows=False), "csv")))
    assert {(row["old_reference"], row["reference"]) for row in rows} == {("others", "A")}
    same = str(fg.compare(new, new, same_rows=False))
    assert "others" not in same


def test_a_gap_of_a_feature_shows_which_groups_are_furthest_apart_in_each_report():
    old = graded({"A": 0.80, "B": 0.82, "C": 0.81})
    new = graded({"A": 0.82, "B": 0.80, "C": 0.50})
    found = fg.compare(old, new, same_rows=False)
    shown = " ".join(render(found, "html").split())
    assert "groups furthest apart: B and A → A and C" in shown
    assert "2.0 pp → 32.0 pp, 95% CI 27.2 to 35.8" in shown


def test_a_gap_beside_two_mirrored_groups_is_kept():
    shares = ({"A": 0.80, "B": 0.82}, {"A": 0.50, "B": 0.82})
    metrics = ["true_positive_rate.difference", "true_positive_rate.largest_gap"]
    found = fg.compare(*(graded(each, metrics=metrics) for each in shares), same_rows=False)
    changed = sort_changes(found.changes)
    shown = [(each.metric, each.group) for each in changed.further]
    assert len(shown) == 2, "the difference of one group, and the gap"
    assert {metric for metric, _ in shown} == set(metrics)
    assert len(changed.mirrored) == 1


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, made in zip(("old.json", "new.json"), pairs.months(), strict=True):
        made.save(name)
    return ["old.json", "new.json"]


def run(*args):
    return CliRunner().invoke(main, ["compare", *args])


def test_the_command_shows_and_writes(files, tmp_path):
    result = run(*files, "-o", "diff.html", "-o", "diff.md", "-o", "diff.json")
    assert result.exit_code == 0
    assert result.stdout.startswith("Comparison of two fairness audits")
    assert "old.json" in result.stdout
    found = fg.Comparison.from_dict(json.loads((tmp_path / "diff.json").read_text()))
    assert found == fg.compare("old.json", "new.json")
    assert (tmp_path / "diff.html").read_text().startswith("<!doctype html>")
    assert run(*files, "--format", "csv").stdout.startswith("candidate,metric,feature,group,")
    assert json.loads(run(*files, "--format", "json").stdout)["worse"] is True


def test_exit_codes(files):
    assert run(*files, "--fail-on", "worse").exit_code == 1
    assert run("old.json", "old.json", "--fail-on", "worse").exit_code == 0
    assert run(*files, "--fail-on", "better").exit_code == 2
    assert run("old.json").exit_code == 2
    assert run("old.json", "no.json").exit_code == 2
    assert run(*files, "-o", "old.json").exit_code == 2
    assert run(*files, "-o", "diff.xml").exit_code == 2


def test_a_verdict_without_a_counterpart_is_not_fine(files):
    asked = {"rules": RATIO, "reference": {"race": "W"}}
    pairs.report(GROUPS, **asked).save("three.json")
    pairs.report({name: GROUPS[name] for name in "WB"}, **asked).save("two.json")
    found = run("three.json", "two.json", "--different-rows", "--fail-on", "worse")
    assert found.exit_code == 3
    assert "has no counterpart in the other" in found.stderr
    assert run("three.json", "two.json", "--different-rows").exit_code == 0


def test_what_chance_alone_turns_is_not_worse():
    """A disparity close to a limit: the one report passes, the other does not."""
    men = {"tp": 600, "fn": 400}
    rule = [fg.rule("selection_rate.difference", between=(-0.1, 0.1))]
    old, new = (
        pairs.report({"F": {"tp": x, "fn": 1000 - x}, "M": men}, rules=rule, metrics="DPPL")
        for x in (560, 540)
    )
    assert (old.verdict, new.verdict) == (Outcome.PASS, Outcome.INCONCLUSIVE)
    found = fg.compare(old, new, same_rows=False)
    assert {each.turn for each in found.flips} == {Turn.OTHER}
    assert (found.turn, found.worse) == (Turn.OTHER, False)


def test_a_verdict_is_worse_where_its_disparity_grew_or_intervals_share_no_value():
    men = {"tp": 6000, "fn": 4000}
    rule = [fg.rule("selection_rate.difference", between=(-0.1, 0.1))]
    passed, nearly, open_, failed = (
        pairs.report({"F": {"tp": x, "fn": 10000 - x}, "M": men}, rules=rule, metrics="DPPL")
        for x in (5800, 5200, 5080, 4800)
    )
    assert open_.verdict is Outcome.INCONCLUSIVE
    for new in (open_, failed):
        found = fg.compare(passed, new, same_rows=False)
        assert (found.turn, found.worse) == (Turn.WORSE, True)
    same = fg.compare(passed, failed, same_rows=True)
    assert (same.turn, same.worse) == (Turn.WORSE, True)
    assert nearly.verdict is Outcome.PASS
    same = fg.compare(nearly, open_, same_rows=True)
    assert not any(each.significant for each in same.changes)
    assert (same.worse, same.incomplete) == (False, True)


def test_better_alone_is_not_worse(files):
    assert run("new.json", "old.json").exit_code == 0
    groups = {"a": {"tp": 500, "fn": 500}, "b": {"tp": 900, "fn": 100}}
    better = groups | {"a": {"tp": 880, "fn": 125}}
    pairs.report(groups, metrics="RD").save("a.json")
    pairs.report(better, metrics="RD").save("b.json")
    found = fg.compare("a.json", "b.json")
    assert any(each.significant for each in found.changes)
    assert run("a.json", "b.json", "--fail-on", "worse").exit_code == 0
    assert run("b.json", "a.json", "--fail-on", "worse").exit_code == 1


def test_whether_rows_are_the_same_can_be_said_on_the_command_line(files):
    assert "These intervals are the widest possible: both reports are of the same rows" in " ".join(
        run(*files, "--same-rows").stdout.split()
    )
    old, new = pairs.models()
    old.save("a.json")
    new.save("b.json")
    words = "No change has a confidence interval"
    assert words in run("a.json", "b.json").stdout
    assert words not in run("a.json", "b.json", "--different-rows").stdout


def month(selected, n=4_000):
    """Return the report of one month: the share selected of F and of M, in one metric."""
    counts = {
        group: {"tp": round(n * share), "fp": 0, "fn": 0, "tn": n - round(n * share)}
        for group, share in zip("FM", selected, strict=True)
    }
    return fg.audit(fg.confusion("sex", counts), metrics="selection_rate.difference")


def test_two_groups_that_mirror_each_other_are_one_comparison():
    found = fg.compare(month((0.40, 0.50)), month((0.43, 0.50), 3_900))
    assert [each.mirror_of for each in found.changes].count(None) == 1
    assert len({each.change_p_adjusted for each in found.changes}) == 1
    for each in found.changes:
        assert each.change_p_adjusted == each.change_p_value


def test_an_adjusted_p_value_is_labelled_as_adjusted():
    text = render(fg.compare(month((0.40, 0.50)), month((0.43, 0.50), 3_900)), "text", full=True)
    assert re.search(r"change, +adjusted\n.* p\n", text)
    assert re.search(r"(?<!adjusted )p [=<]", " ".join(text.split())) is None


def test_a_disparity_that_changes_sides_is_described_by_who_is_now_worse_off():
    found = fg.compare(month((0.428, 0.500)), month((0.560, 0.500), 3_900))
    (one,) = [each for each in found.changes if each.mirror_of is None]
    assert (one.changed, one.crossed, one.other_side, one.significant) == (True, True, True, False)
    text = " ".join(str(found).split())
    assert "People with sex M have prediction = 1 less often than people with sex F" in text
    assert "in the old report it was the reverse" in text
    assert (
        "1 difference between groups changed statistically significantly, not shown to be larger"
        in text
    )


def test_a_direction_is_family_wise_too():
    """Of nine groups that change sides and keep their distance none is called closer or further.

    With a distance tested by itself alone, some would be in 1 - .95^9 = 37% of pairs of reports.
    """
    rng = np.random.default_rng(26)
    names, called = "ABCDEFGHI", 0
    for _ in range(60 if EVERY_CASE else 20):
        sides = []
        for sign in (1, -1):
            share = {name: 0.5 + sign * (-1) ** i * 0.04 for i, name in enumerate(names)}
            counts = {"R": {"tp": 20_000, "fp": 0, "fn": 0, "tn": 20_000}}
            for name in names:
                k = int(rng.binomial(3_000, share[name]))
                counts[name] = {"tp": k, "fp": 0, "fn": 0, "tn": 3_000 - k + sign}
            sides.append(
                fg.audit(fg.confusion("g", counts), reference={"g": "R"},
                         metrics="selection_rate.difference")
            )  # fmt: skip
        found = fg.compare(*sides, same_rows=False)
        assert sum(each.changed for each in found.changes) >= 7
        called += any(each.significant for each in found.changes)
    assert called <= (8 if EVERY_CASE else 3)  # 5% of 60, or of 20, and three standard errors


@settings(max_examples=15)
@given(
    added=st.dictionaries(
        st.sampled_from("XYZ"), st.tuples(*[st.integers(1, 400)] * 4), min_size=1, max_size=3
    )
)
def test_no_group_silences_a_verdict_that_got_worse(added):
    def report(women):
        counts = {"F": women, "M": {"tp": 400, "fn": 100, "fp": 60, "tn": 500}}
        for name, cells in added.items():
            counts[name] = dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True))
        return fg.audit(
            fg.confusion("g", counts), metrics="true_positive_rate.difference",
            rules=[fg.rule("true_positive_rate.difference", at_least=-0.1, groups="F")],
            reference={"g": "M"},
        )  # fmt: skip

    before = report({"tp": 400, "fn": 90, "fp": 50, "tn": 400})
    after = report({"tp": 250, "fn": 240, "fp": 50, "tn": 401})
    assert fg.compare(before, after).worse


def _applications(month: str, people: int, selected: int) -> pl.DataFrame:
    """Return two applications for each person of a month, of whom ten are undecided."""
    who = [f"{month}{i // 2}" for i in range(2 * people)]
    decided = [None if i < 20 else int(i // 2 % 10 < selected) for i in range(2 * people)]
    sex = ["F" if i // 2 % 2 else "M" for i in range(2 * people)]
    return pl.DataFrame({"who": who, "month": month, "hired": decided, "sex": sex})


def _by_month(**options) -> list[fg.Report]:
    rows = pl.concat([_applications("may", 300, 4), _applications("june", 250, 5)])
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "person": "who"} | options
    return [fg.audit(rows, **asked, where=f"month = {month}") for month in ("may", "june")]


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_reports_on_people_are_compared_as_such(format_):
    found = fg.compare(*_by_month())
    text = " ".join(re.sub(r"<[^>]*>|[*|\\]", " ", render(found, format_)).split())
    lacking = "people without a prediction (10 in the old report, 10 in the new report)"
    assert f"No change is of {lacking}." in text
    assert "600 rows, 300 people, 290 used" in text
    assert "people with known outcomes and a" in text
    assert "people with a missing prediction" in text
    assert "further rows of the same person" in text
    assert "rows used" not in text
    assert "cases" not in text.replace("in all cases", "")
    where = "The old report counts only rows with month = may, the new report only rows with month"
    assert where in html.unescape(text)
    assert "not compared with the other rows" not in text


def _of_people(twice: int, undecided: int = 0) -> fg.Report:
    """Audit 1,000 people, some with two rows each, or not decided."""
    rows = [(i, "FM"[i % 2], i // 2 % 2 if i >= undecided else None) for i in range(1_000)]
    rows += rows[:twice]
    schema = {"who": pl.Int64, "sex": pl.String, "hired": pl.Int64}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return fg.audit(table, prediction="hired", positive=1, sensitive="sex", person="who")


def test_a_further_row_of_a_person_lacks_nothing():
    """It hid 400 people without a decision, and more such rows were an alarm."""
    more_lack = (WhyIncomplete.MORE_LACK,)
    for twice in (0, 1_000):
        assert fg.compare(_of_people(twice), _of_people(2, 400)).why_incomplete == more_lack
    assert not fg.compare(_of_people(50), _of_people(400)).incomplete
    assert not fg.compare(_of_people(400), _of_people(50)).incomplete


def test_a_condition_of_both_reports_is_stated_of_both():
    (one, _), (_, other) = _by_month(), _by_month()
    text = " ".join(str(fg.compare(one, one)).split())
    assert "Only rows with month = may are counted" in text
    unlimited = dataclasses.replace(other, spec={**other.spec, "where": None})
    text = " ".join(str(fg.compare(one, unlimited)).split())
    assert "counts only rows with month = may, the new report all rows" in text


@pytest.mark.parametrize("counted", [{"per_person": "each"}, {"person": None}])
def test_people_and_rows_of_one_table_are_no_independent_samples(counted):
    people, rows = _by_month()[0], _by_month(**counted)[0]
    found = fg.compare(people, rows)
    assert found.same_rows
    assert all(each.interval is None for each in found.changes)
    text = " ".join(str(found).split())
    assert "independent rows" not in text
    assert "audit both alike, then compare again" in text
    assert "compare-models" not in text


def test_outcomes_recoded_otherwise_are_other_outcomes():
    """They were compared as if the same were asked: a change of the question had a p-value."""
    rows = pl.DataFrame({"g": ["a", "b"] * 300, "p": [*"YNNYW", *"YYNNW"] * 60})
    asked = {"prediction": "p", "positive": "Y", "sensitive": "g"}
    old = fg.audit(rows, **asked)
    found = fg.compare(old, fg.audit(rows, **asked, recode={"p": {"unknown": ["W"]}}))
    assert found.refused.get("keys") == "recode"
    groups = {"g": {"b": ["b", "B"]}}
    assert fg.compare(old, fg.audit(rows[1:], **asked, recode=groups)).refused is None
    both = fg.compare(
        fg.audit(rows, **asked, recode={"p": {"N": ["W"]}, "g": {"b": ["b"]}}),
        fg.audit(rows[1:], **asked, recode={"p": {"N": ["W"]}} | groups),
    )
    assert both.refused is None
    assert [(d.old, d.new) for d in both.differences] == [
        ({"g": {"b": ["b"]}}, {"g": {"b": ["B", "b"]}})
    ]


def test_outcomes_that_lack_more_unevenly_are_warned_of_where_they_were_uneven_before():
    def lacking(women: int) -> fg.Report:
        rows = pl.DataFrame({"g": ["a", "b"] * 1000, "p": [0, 1, 1, 0] * 500})
        lost = (pl.int_range(2000) % 100 < women) & (pl.col("g") == "a")
        few = (pl.int_range(2000) % 100 < 4) & (pl.col("g") == "b")
        rows = rows.with_columns(p=pl.when(~lost & ~few).then("p"))
        return fg.audit(rows, prediction="p", positive=1, sensitive="g")

    codes = [
        [each.code for each in fg.compare(lacking(30), lacking(n)).diagnostics]
        for n in (30, 31, 60)
    ]
    assert codes == [[], [], [DiagnosticCode.MISSING_OUTCOMES]]


CLASSES = ("urgent", "soon", "routine")
OF_CLASSES = {
    "prediction": "p",
    "task": "multiclass",
    "count": "n",
    "sensitive": "g",
    "reference": {"g": "m"},
    "metrics": ["selection_rate.ratio"],
}


def _of_classes(f, m=(1_000, 2_000, 1_000), classes=CLASSES, **more):
    """Return a report on how often two groups are put in each class."""
    rows = [(g, c, n) for g, of in (("f", f), ("m", m)) for c, n in zip(classes, of, strict=True)]
    table = pl.DataFrame(rows, schema=["g", "p", "n"], orient="row")
    return fg.audit(table, **(OF_CLASSES | more))


def test_no_class_is_compared_with_another():
    """0.70 of urgent, which improved, to 1.29 of routine, which hardly moved, "changed sides"."""
    old, new = _of_classes((700, 2_050, 1_250)), _of_classes((820, 1_890, 1_290))
    found = fg.compare(old, new, same_rows=False)
    assert {each.after.class_ for each in found.changes if each.after.class_} == {*CLASSES}
    assert all(each.before.class_scope == each.after.class_scope for each in found.changes)
    assert not any(each.class_scope.kind is ClassKind.WORST for c in found.changes
                   for each in (c.before, c.after))  # fmt: skip
    assert not found.worse
    assert not found.alone
    assert not fg.compare(old, new).worse  # of the same rows
    assert found.changes[0].after.class_ == "urgent"
    assert found.changes[0].direction is Direction.CLOSER


def test_classes_of_one_population_seldom_get_worse():
    """Half of all pairs did, because the class that differs most is another in each report."""
    rng = np.random.default_rng(20)
    rates = [0.20, 0.4875, 0.3125], [0.25, 0.5, 0.25]
    worse = 0
    for _ in range(30 if EVERY_CASE else 12):
        reports = [_of_classes(*(rng.multinomial(4_000, of).tolist() for of in rates))
                   for _ in range(2)]  # fmt: skip
        found = fg.compare(*reports, same_rows=False)
        worse += found.worse
        for each in found.changes:
            sides = [
                next(e for e in report.estimates if e.class_scope == each.after.class_scope)
                for report in reports
            ]
            assert [e.value for e in sides] == [each.old, each.new]
    # 5% of 30 are 1.5; 5 or more, or 3 or more of 12, have a probability of about 2%
    assert worse <= (4 if EVERY_CASE else 2)


def test_an_average_over_other_classes_is_another_number():
    old = _of_classes((900, 2_050, 1_000))
    new = _of_classes((900, 2_050, 1_000, 600), (1_000, 2_000, 1_000, 300), (*CLASSES, "new"))
    found = fg.compare(old, new, same_rows=False)
    assert {each.after.class_ for each in found.changes} == {*CLASSES}
    lacking = [(each.what, each.name, each.report) for each in found.alone]
    averages = ("macro", "micro", "weighted")
    assert lacking == [
        *(("average", name, "old") for name in averages),
        ("class", "new", "new"),
        *(("average", name, "new") for name in averages),
    ]
    assert "macro average over its classes (1 estimate)" in str(found)


def test_a_verdict_is_worse_or_better_by_its_own_class():
    """Its class was undecided by chance, and what another class did made it "worse"."""
    rule = {"rules": ["selection_rate.ratio >= 0.8"]}
    before, after = (1_300, 1_700, 1_000), (1_000, 1_650, 1_350)  # soon: 0.85 and 0.82
    found = fg.compare(_of_classes(before, **rule), _of_classes(after, **rule), same_rows=False)
    assert [c.after.class_ for c in found.changes if c.worse] == ["routine"]
    (flip,) = found.flips
    assert (flip.new.outcome, flip.new.class_scope.name) == (Outcome.INCONCLUSIVE, "soon")
    assert flip.turn is Turn.OTHER
    before, after = (1_100, 1_450, 1_450), (1_300, 1_550, 1_150)  # soon: 0.72 and 0.78
    found = fg.compare(_of_classes(before, **rule), _of_classes(after, **rule), same_rows=False)
    closer = [c for c in found.changes if c.significant and c.direction is Direction.CLOSER]
    assert [c.after.class_ for c in closer] == ["routine"]
    (flip,) = found.flips
    assert (flip.old.outcome, flip.new.outcome) == (Outcome.FAIL, Outcome.INCONCLUSIVE)
    assert flip.turn is Turn.OTHER


def test_the_values_of_a_verdict_that_another_class_decides_name_both():
    rule = {"rules": ["selection_rate.ratio >= 0.8"]}
    found = fg.compare(_of_classes((700, 2_050, 1_250), **rule),
                       _of_classes((1_000, 1_650, 1_350), **rule))  # fmt: skip
    text = " ".join(render(found, "html").split())
    assert "0.70 (class urgent against all others) → 0.82 (class soon against all others)" in text
