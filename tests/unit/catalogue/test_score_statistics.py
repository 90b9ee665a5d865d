"""Scores: bounds of binned numbers hold, turning is exact."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

BOUNDED = ("roc_auc", "average_precision")


def rows(seed: int, n: int = 400, *, digits: int | None = None) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    label = rng.random(n) < np.where(group == "a", 0.3, 0.5)
    score = np.clip(rng.normal(0.45 + 0.2 * label, 0.004 + 0.2 * (seed % 2), n), 0, 1)
    if digits is not None:
        score = np.round(score, digits)
    return pl.DataFrame({"g": group, "y": label.astype(int), "s": score})


def sides(frame: pl.DataFrame, group: str) -> tuple[Any, Any]:
    own = frame.filter(pl.col("g") == group)
    scores, labels = own["s"].to_numpy(), own["y"].to_numpy()
    return scores[labels == 1], scores[labels == 0]


def auc(positive: Any, negative: Any) -> float:
    pairs = positive[:, None] - negative[None, :]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def average_precision(positive: Any, negative: Any) -> float:
    """Return the mean over positives of the precision at their score, ties together."""
    above = [((positive >= s).sum(), (negative >= s).sum()) for s in positive]
    return float(np.mean([p / (p + n) for p, n in above]))


def audited(frame: pl.DataFrame, **asked: Any) -> fg.Report:
    return fg.audit(
        fg.count(frame, label="y", score="s", sensitive="g"),  # scores in bins, unlike from rows
        label="y",
        score="s",
        sensitive="g",
        reference={"g": "b"},
        metrics=[f"{name}.difference" for name in BOUNDED],
        **asked,
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_number_lies_within_the_bound(seed: int) -> None:
    frame = rows(seed)
    report = audited(frame)
    for group in report.groups:
        exact = {
            "roc_auc": auc(*sides(frame, group.group)),
            "average_precision": average_precision(*sides(frame, group.group)),
        }
        for name in BOUNDED:
            rate = group.rates[name]
            error = rate.error or 0.0  # None where no bin holds different scores
            assert abs(rate.value - exact[name]) <= error + 1e-12, name
            assert error < 0.1


@pytest.mark.parametrize("seed", [0, 1])
def test_rounded_scores_are_exact(seed: int) -> None:
    frame = rows(seed, digits=2)
    report = audited(frame)
    for group in report.groups:
        positive, negative = sides(frame, group.group)
        assert group.rates["roc_auc"].error is None
        assert group.rates["roc_auc"].value == pytest.approx(auc(positive, negative), rel=1e-12)
        expected = average_precision(positive, negative)
        assert group.rates["average_precision"].value == pytest.approx(expected, rel=1e-12)


def test_a_score_of_the_negative_value_is_turned_round() -> None:
    frame = rows(1)
    turned = frame.with_columns((1 - pl.col("s")).alias("s"))
    ours = audited(turned, positive=1, score_of=0)
    theirs = audited(frame, positive=1)
    for mine, yours in zip(ours.groups, theirs.groups, strict=True):
        for name, rate in yours.rates.items():
            other = mine.rates[name]
            if not name.startswith(("true", "false", "pos", "neg", "sel", "rej", "acc", "err")):
                off = 1e-9 + (rate.error or 0)
                assert other.value == pytest.approx(rate.value, rel=1e-9, abs=off), name
