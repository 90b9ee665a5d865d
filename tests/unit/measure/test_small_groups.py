"""Groups below the smallest size asked for decide nothing, and say which side they are."""

import pytest

import fairgauge as fg
from fairgauge.enums import Outcome, Status
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
