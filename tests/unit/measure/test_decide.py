"""Of several thresholds or classes with one outcome, a verdict shows the worst."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg


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
