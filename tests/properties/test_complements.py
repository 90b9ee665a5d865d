"""A rate and its complement say the same: mirrored intervals, one p-value, one best group."""

from __future__ import annotations

import pytest

import fairgauge as fg

COMPLEMENTS = (
    ("base_rate", "negative_base_rate"),
    ("selection_rate", "rejection_share"),
    ("accuracy", "error_rate"),
    ("true_positive_rate", "false_negative_rate"),
    ("true_negative_rate", "false_positive_rate"),
    ("positive_predictive_value", "false_discovery_rate"),
    ("negative_predictive_value", "false_omission_rate"),
)
COUNTS = {
    "A": {"tp": 60, "fp": 20, "fn": 140, "tn": 180},
    "B": {"tp": 170, "fp": 60, "fn": 30, "tn": 140},
    "C": {"tp": 40, "fp": 30, "fn": 80, "tn": 90},
}
METRICS = [f"{name}.difference" for pair in COMPLEMENTS for name in pair]


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["others", "overall", "best", "largest", {"g": "C"}], ids=str)
@pytest.mark.parametrize("method", [None, "bayes", "bootstrap", "exact"])
def test_complements_mirror_each_other(method, reference):
    options = {"method": method} if method else {}
    report = fg.audit(fg.confusion("g", COUNTS), metrics=METRICS, reference=reference, **options)
    found = {(each.metric, each.group): each for each in report.estimates}
    compared = 0
    for one, other in COMPLEMENTS:
        for group in COUNTS:
            a, b = (found.get((f"{name}.difference", group)) for name in (one, other))
            assert (a is None) == (b is None), (one, group)
            if a is None or a.interval is None:
                continue
            compared += 1
            assert a.reference == b.reference, (one, group)
            assert b.value == pytest.approx(-a.value, abs=1e-12)
            assert (b.low, b.high) == pytest.approx((-a.high, -a.low), abs=1e-9), (one, group)
            assert b.p_value == pytest.approx(a.p_value, abs=1e-9), (one, group)
            assert b.p_adjusted == pytest.approx(a.p_adjusted, abs=1e-9)
    assert compared >= len(COMPLEMENTS)


def test_the_best_group_has_the_fewest_negatives():
    report = fg.audit(
        fg.confusion("g", COUNTS), metrics="negative_base_rate.ratio", reference="best"
    )
    # of B half of the labels are negative, as of A; of C more
    assert {each.reference.group for each in report.estimates} <= {"A", "B"}
    more = {"A": COUNTS["A"], "B": {"tp": 190, "fp": 20, "fn": 130, "tn": 60}, "C": COUNTS["C"]}
    best = fg.audit(fg.confusion("g", more), metrics="negative_base_rate.ratio", reference="best")
    assert {each.reference.group for each in best.estimates} == {"B"}
