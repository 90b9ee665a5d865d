"""Of several thresholds or classes with one outcome, a verdict shows the worst."""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import DiagnosticCode, Outcome
from fairgauge.reasons import ReasonCode


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


RATES_OF_NO_THRESHOLD = ["roc_auc", "brier_score", "base_rate", "mean_score"]


@pytest.mark.parametrize("rate", RATES_OF_NO_THRESHOLD)
def test_a_rate_that_needs_no_threshold_is_judged_once(scored: pl.DataFrame, rate: str) -> None:
    """At every further threshold it was a comparison more for Holm, and named a threshold."""
    drawn = np.random.default_rng(1).random(len(scored))
    rows = scored.with_columns(y=(pl.Series(drawn) < scored["s"]).cast(pl.Int8))
    asked = {"label": "y", "score": "s", "positive": 1, "sensitive": "g", "rules": f"{rate} >= 0.7"}
    one = fg.audit(rows, threshold=0.5, **asked)
    several = fg.audit(rows, threshold=[0.4, 0.5, 0.6], **asked)
    assert several.verdicts == one.verdicts
    (of_one,), (of_several,) = (
        [d for d in report.diagnostics if d.code is DiagnosticCode.FAILS_TOGETHER]
        for report in (one, several)
    )
    assert of_several == of_one
    assert of_one["comparisons"] == 2


def test_a_score_without_a_threshold_has_no_confusion_matrix(scored: pl.DataFrame) -> None:
    """They were those at the middle of the range, which nobody had stated."""
    rows = scored.with_columns(y=(pl.col("s") > 0.4).cast(pl.Int8))
    for threshold, known in ((None, False), (0.5, True)):
        report = fg.audit(
            rows, label="y", positive=1, score="s", threshold=threshold, sensitive="g"
        )
        assert {each.counts is not None for each in (*report.groups, *report.totals)} == {known}


def test_a_rate_that_missing_outcomes_could_move_is_bounded_at_every_threshold(
    scored: pl.DataFrame,
) -> None:
    """Its worst case is kept without a threshold, as it is held against the rule."""
    rows = scored.with_columns(y=pl.when(pl.int_range(pl.len()) % 5 > 0).then(1))
    report = fg.audit(
        rows, label="y", score="s", positive=1, threshold=[0.4, 0.6], sensitive="g",
        rules="base_rate >= 0.9",
    )  # fmt: skip
    assert [each.reason.code for each in report.verdicts] == [ReasonCode.MISSING_OUTCOMES] * 2


RACES = pl.DataFrame({"sex": ["?"] * 200, "race": ["a", "b"] * 100, "p": [1, 1, 0, 0] * 50})


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
