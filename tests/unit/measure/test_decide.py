"""Of several thresholds or classes with one outcome, a verdict shows the worst."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Outcome


@pytest.fixture(scope="module")
def scored() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 4000)
    score = np.clip(rng.normal(np.where(group == "a", 0.6, 0.4), 0.15), 0, 1).round(4)
    return pl.DataFrame({"g": group, "s": score})


@pytest.mark.parametrize("thresholds", [[0.3, 0.5, 0.7], [0.7, 0.5, 0.3]])
def test_the_largest_violation_decides(scored: pl.DataFrame, thresholds: list[float]) -> None:
    rule = "selection_rate.ratio >= 0.9"
    report = fg.audit(scored, score="s", threshold=thresholds, sensitive="g", rules=[rule])
    (verdict,) = [each for each in report.verdicts if each.group == "b"]
    every = [e for e in report.estimates if e.group == "b" and e.metric == "selection_rate.ratio"]
    worst = min(every, key=lambda each: each.value or 0.0)
    assert len(every) == 3
    assert all((each.high or 1.0) < 0.9 for each in every)
    assert (verdict.value, verdict.threshold) == (worst.value, worst.threshold)


def test_the_least_margin_is_shown_of_passes(scored: pl.DataFrame) -> None:
    report = fg.audit(
        scored, score="s", threshold=[0.7, 0.5, 0.3], sensitive="g",
        rules=["selection_rate.difference >= -0.8"],
    )  # fmt: skip
    (verdict,) = [each for each in report.verdicts if each.group == "b"]
    every = [e for e in report.estimates if e.group == "b" and e.metric == verdict.metric]
    assert verdict.value == min(each.value or 0.0 for each in every)


RACES = pl.DataFrame(
    {"sex": ["?"] * 200, "race": ["a", "b"] * 100, "p": [1, 1, 0, 0] * 50},
)


def test_a_feature_without_groups_is_not_passed_over() -> None:
    """Every value of one feature is missing; the other passes."""
    report = fg.audit(
        RACES, prediction="p", positive=1, sensitive=["sex", "race"], rules=["DI >= 0.5"],
        unknown="?",
    )  # fmt: skip
    found = [(each.feature, each.group, each.outcome) for each in report.verdicts]
    assert ("sex", None, Outcome.NOT_EVALUATED) in found
    assert ("race", "a", Outcome.PASS) in found
    assert report.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("insufficient", "outcome"),
    [
        ("report", Outcome.NOT_EVALUATED),
        ("fail", Outcome.FAIL),
        ("ignore", Outcome.NONE),
        ("pass", Outcome.NOT_EVALUATED),  # nothing passes by absence
    ],
)
def test_an_absent_group_is_insufficient_data(insufficient: str, outcome: Outcome) -> None:
    rule = {"metric": "DI", "at_least": 0.5, "groups": ["c"], "insufficient": insufficient}
    report = fg.audit(RACES, prediction="p", positive=1, sensitive="race", rules=[rule])
    assert [each.outcome for each in report.verdicts] == [outcome]
    assert report.verdict is (Outcome.FAIL if insufficient == "fail" else Outcome.INCONCLUSIVE)
