"""What thresholds are compared with is what an audit at them is compared with."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

RULES = ["others", "overall", "largest", "best", {"g": "C"}]
GOAL = "selection_rate.ratio >= 0.8"


def scored(seed=1, groups=("A", "B", "C"), shares=(0.6, 0.3, 0.1), n=2000, unlabelled=False):
    """Return rows whose best group changes with the threshold."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n, p=shares)
    place = np.searchsorted(groups, group)
    score = np.clip(rng.normal(0.5 + 0.05 * place, 0.25 - 0.05 * place), 0, 1).round(2)
    label = (rng.random(n) < score).astype(int).tolist()
    if unlabelled:  # more of them in one group, so that it is the best of labelled rows alone
        label = [
            None if g == "A" and s < 0.4 else y for g, s, y in zip(group, score, label, strict=True)
        ]
    return pl.DataFrame({"g": group, "s": score, "y": label})


ASKED = {"label": "y", "score": "s", "sensitive": "g", "positive": 1}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": ("A", "B"), "shares": (0.7, 0.3)},
        {"shares": (0.6, 0.394, 0.006)},  # C has too few rows to be the best
        {"unlabelled": True},
    ],
    ids=["three groups", "two groups", "a group of 12 rows", "rows without a label"],
)
def test_every_threshold_has_the_reference_of_an_audit_at_it(rule, options):
    if rule == {"g": "C"} and "C" not in options.get("groups", "ABC"):
        rule = {"g": "B"}
    rows = scored(**options)
    (choice,) = fg.thresholds(rows, reference=rule, rules=GOAL, **ASKED).features
    points = choice.frontier[::10]
    audits = fg.audit(
        rows, reference=rule, metrics="selection_rate.ratio",
        threshold=[point.threshold for point in points], **ASKED,
    )  # fmt: skip
    reference_of = {(each.threshold, each.group): each.reference for each in audits.estimates}
    assert len(points) > 5
    for point in points:
        assert point.reference == reference_of[point.threshold, point.group]


def test_the_largest_group_is_compared_with_and_not_all_others():
    """`reference="largest"` and "best" were compared with others, without a word."""
    rows = scored()
    for rule, kinds in (("largest", {"largest"}), ("best", {"best"})):
        (choice,) = fg.thresholds(rows, reference=rule, rules=GOAL, **ASKED).features
        assert {str(point.reference.kind) for point in choice.frontier} == kinds
        effects = [effect for effect in (choice.common, choice.by_group) if effect]
        for effect in effects:
            assert {str(each.reference.kind) for each in effect.disparities} == kinds
            assert all(each.group != each.reference.group for each in effect.disparities)
            assert len(effect.disparities) == 2


def test_a_choice_compares_with_the_reference_at_its_own_thresholds():
    rows = scored()
    goal = "selection_rate.ratio >= 0.5"
    (choice,) = fg.thresholds(
        rows, reference="best", rules=goal, margins={"accuracy": 0.2}, **ASKED
    ).features
    cut = next(iter(choice.common.thresholds.values()))
    report = fg.audit(
        rows, reference="best", metrics="selection_rate.ratio", threshold=cut, **ASKED
    )
    assert {(e.group, e.reference) for e in choice.common.disparities} == {
        (e.group, e.reference) for e in report.estimates
    }


def test_a_saved_choice_states_the_reference():
    choice = fg.thresholds(scored(), reference="best", rules=GOAL, **ASKED)
    point = choice.to_dict()["features"][0]["frontier"][3]
    assert point["reference"] in ("A", "B", "C")
    assert point["reference_kind"] == "best"
    assert type(choice).from_dict(choice.to_dict()) == choice


def warned(rows, rules, reference):
    found = fg.thresholds(rows, reference=reference, rules=rules, **ASKED)
    messages = [each.message for each in found.diagnostics if each.code == "reference_decides"]
    return found["g"], messages


def test_a_choice_whose_reference_would_miss_the_goal_is_warned_of():
    """C was selected 1.4 times as often as A, which passed: A 0.7 times as often as C would not."""
    rng, limits = np.random.default_rng(4), "0.8 <= selection_rate.ratio <= 1.25"
    group = rng.choice(["A", "B", "C"], 9_000)
    label = (rng.random(9_000) < np.where(group == "C", 0.5, 0.3)) * 1
    score = np.clip(rng.normal(0.35 + 0.25 * label, 0.15), 0, 1).round(2)
    rows = pl.DataFrame({"g": group, "s": score, "y": label})
    found, (common, by_group) = warned(rows, GOAL, {"g": "A"})
    for choice, words, message in (
        (found.common, "common threshold", common),
        (found.by_group, "thresholds by group", by_group),
    ):
        assert choice.value_meets
        value, group = max((each.new, each.group) for each in choice.disparities)
        assert value > 1.25
        assert message == (
            f"at the {words} the value meets {GOAL} for '{group}', compared with 'A'; that of 'A', "
            f"compared with '{group}', is {1 / value:.3g} and would not: to limit both, ask for "
            f"{limits}"
        )
    for rule, reference in ((limits, {"g": "A"}), (GOAL, "best"), (GOAL, "others")):
        assert warned(rows, rule, reference)[1] == []
