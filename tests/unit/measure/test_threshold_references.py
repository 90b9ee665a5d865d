"""What thresholds are compared with is what an audit at them is compared with."""

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


@pytest.mark.each_value
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
    (choice,) = fg.thresholds(rows, reference=rule, threshold=0.5, rules=GOAL, **ASKED).features
    points = choice.frontier[::2]
    audits = fg.audit(
        rows, reference=rule, metrics="selection_rate.ratio",
        threshold=[point.threshold for point in points], **ASKED,
    )  # fmt: skip
    reference_of = {(each.threshold, each.group): each.reference for each in audits.estimates}
    assert len(points) > 5
    for point in points:
        assert point.reference == reference_of[point.threshold, point.group]


def test_a_choice_compares_with_the_reference_at_its_own_thresholds():
    rows = scored()
    goal = "selection_rate.ratio >= 0.5"
    (choice,) = fg.thresholds(
        rows, reference="best", threshold=0.5, rules=goal, margins={"accuracy": 0.2}, **ASKED
    ).features
    cut = choice.common.threshold
    report = fg.audit(
        rows, reference="best", metrics="selection_rate.ratio", threshold=cut, **ASKED
    )
    assert {(e.group, e.reference) for e in choice.common.disparities} == {
        (e.group, e.reference) for e in report.estimates
    }
