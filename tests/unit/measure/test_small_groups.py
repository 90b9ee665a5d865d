"""Groups below the smallest size asked for decide nothing, and say which side they are."""

from __future__ import annotations

import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, ReferenceKind, Status
from fairgauge.reasons import Reason, ReasonCode


def counts_of(sizes: dict[str, int]) -> fg.Cube:
    return fg.confusion(
        "g",
        {
            name: {"tp": n // 2, "fp": n // 10, "fn": n // 5, "tn": n // 5}
            for name, n in sizes.items()
        },
    )


SIZES = {"a": 1000, "b": 400, "c": 100}


def test_a_small_group_is_not_evaluated() -> None:
    report = fg.audit(counts_of(SIZES), min_n=200, rules=["DI >= 0.8"], reference={"g": "a"})
    assert report["DI", "g", "b"].status is Status.OK
    small = report["DI", "g", "c"]
    assert small.status is Status.TOO_FEW
    assert small.reason == Reason.of(ReasonCode.SMALL_GROUP, n=100, minimum=200).on("group")
    verdict = next(each for each in report.verdicts if each.group == "c")
    assert verdict.outcome is Outcome.NOT_EVALUATED
    assert verdict.says.count("n = 100 in the group, below the minimum of 200") == 1


def test_a_small_reference_is_named_as_the_side() -> None:
    report = fg.audit(counts_of(SIZES), min_n=200, metrics=["DI"], reference={"g": "c"})
    for name in "ab":
        reason = report["DI", "g", name].reason
        assert reason is not None
        assert (reason.code, reason.side) == (ReasonCode.SMALL_GROUP, "reference")


def test_a_share_is_of_the_rows_with_a_known_group() -> None:
    sizes = SIZES | {"c": 99}
    below = fg.audit(counts_of(sizes), min_share=0.1, metrics=["DI"])["DI", "g", "c"]
    above = fg.audit(counts_of(sizes), min_share=0.05, metrics=["DI"])["DI", "g", "c"]
    assert below.status is Status.TOO_FEW
    assert above.status is Status.OK


@pytest.mark.parametrize(
    ("minimum", "status"),
    [
        ({"min_n": 100}, Status.OK),
        ({"min_n": 101}, Status.TOO_FEW),
        ({"min_share": 0.05}, Status.OK),  # 100 of 2,000 rows
        ({"min_share": 0.0501}, Status.TOO_FEW),
    ],
)
def test_a_group_of_exactly_the_minimum_is_large_enough(
    minimum: dict[str, float], status: Status
) -> None:
    sizes = {"a": 1000, "b": 900, "c": 100}
    report = fg.audit(counts_of(sizes), metrics=["DI"], **minimum)
    assert report["DI", "g", "c"].status is status


def test_a_share_is_of_the_rows_of_all_strata_together() -> None:
    rows = {"g": ["a"] * 900 + ["c"] * 100, "p": [0, 1] * 500, "s": ["x", "x", "y", "y"] * 250}
    report = fg.audit(rows, prediction="p", sensitive="g", strata="s", min_share=0.08)
    assert report["selection_rate.difference", "g", "c"].status is Status.OK


def test_all_other_groups_are_not_a_small_group_of_their_name() -> None:
    rows = {"g": ["a"] * 100 + ["others"] * 30 + ["z"] * 100, "p": [0, 1] * 115}
    sets = [["a"], ["others"]]
    report = fg.audit(
        rows, prediction="p", sensitive={"g": sets}, min_n=50, rules=["selection_rate >= 0.1"]
    )
    rates = [(g.group, g.reference_kind, g.rates["selection_rate"].status) for g in report.groups]
    assert rates == [
        ("a", None, Status.OK),
        ('"others"', None, Status.TOO_FEW),
        ("others", ReferenceKind.OTHERS, Status.OK),
    ]


def test_rates_of_a_small_group_are_marked() -> None:
    report = fg.audit(counts_of(SIZES), min_n=200, rules=["selection_rate >= 0.1"])
    rates = {group.group: group.rates["selection_rate"].status for group in report.groups}
    assert rates == {"a": Status.OK, "b": Status.OK, "c": Status.TOO_FEW}
    outcomes = {each.group: each.outcome for each in report.verdicts}
    assert outcomes == {"a": Outcome.PASS, "b": Outcome.PASS, "c": Outcome.NOT_EVALUATED}


@pytest.mark.parametrize(
    ("sizes", "side"), [({"a": 400, "b": 12}, "group"), ({"a": 12, "b": 400}, "reference")]
)
@pytest.mark.parametrize("metric", ["DI", "RD", "JS", "TE", "selection_rate.ratio"])
def test_too_few_rows_are_of_a_side(sizes: dict[str, int], side: str, metric: str) -> None:
    report = fg.audit(counts_of(sizes), metrics=[metric], reference={"g": "a"})
    estimate = report[metric, "g", "b"]
    assert estimate.status is Status.TOO_FEW
    assert estimate.reason is not None
    assert (estimate.reason.code, estimate.reason.side) == (ReasonCode.FEW_ROWS, side)
    assert f"in the {side}, below 20" in estimate.says


def test_a_rate_of_few_rows_is_marked() -> None:
    """The denominator counts: 46 rows with 5 positives have no reliable true positive rate."""
    cells = {
        "a": {"tp": 5, "fp": 11, "fn": 0, "tn": 30},
        "b": {"tp": 50, "fp": 9, "fn": 9, "tn": 9},
    }
    report = fg.audit(fg.confusion("g", cells), metrics=["RD"], rules=["selection_rate >= 0.1"])
    rates = next(group.rates for group in report.groups if group.group == "a")
    tpr = rates["true_positive_rate"]
    assert (tpr.value, tpr.status) == (1.0, Status.TOO_FEW)
    assert tpr.interval is not None
    assert tpr.reason == Reason.of(ReasonCode.FEW_ROWS, n=5, minimum=20)
    assert rates["selection_rate"].status is Status.OK


def test_the_worst_of_two_rates_against_the_best_group_of_each_is_judged_without_an_error():
    """The best group in one rate is not the best in the other, and a third group is tiny."""
    counts = {
        "A": {"tp": 60, "fp": 20, "fn": 140, "tn": 180},
        "B": {"tp": 187, "fp": 66, "fn": 33, "tn": 154},
        "C": {"tn": 1},
    }
    rule = fg.rule("worst_odds", at_most=0.05, groups="A")
    report = fg.audit(fg.confusion("g", counts), reference="best", rules=[rule])
    assert [str(each.outcome) for each in report.verdicts] != ["pass"]
