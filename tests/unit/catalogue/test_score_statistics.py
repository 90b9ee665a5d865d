"""Scores: bounds of binned numbers hold, ABROCA is the area on a fine grid, turning is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

BOUNDED = ("roc_auc", "average_precision")
COMPARED = ("score_ks", "score_wasserstein", "abroca", "bpsn_auc", "bnsp_auc")


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


def distances(ours: Any, theirs: Any) -> tuple[float, float]:
    every = np.sort(np.concatenate([ours, theirs]))
    gaps = np.abs(
        np.searchsorted(np.sort(ours), every, side="right") / len(ours)
        - np.searchsorted(np.sort(theirs), every, side="right") / len(theirs)
    )
    return float(gaps.max()), float((gaps[:-1] * np.diff(every)).sum())


def area(frame: pl.DataFrame, points: int) -> float:
    """Return the area between two ROC curves on a fine grid of false positive rates."""
    at = (np.arange(points) + 0.5) / points
    curves = []
    for group in ("a", "b"):
        positive, negative = sides(frame, group)
        every = np.unique(np.concatenate([positive, negative]))[::-1]
        fpr = np.concatenate([[0], [(negative >= s).mean() for s in every]])
        tpr = np.concatenate([[0], [(positive >= s).mean() for s in every]])
        curves.append(stepped(at, fpr, tpr))
    return float(np.abs(curves[0] - curves[1]).mean())


def stepped(at: Any, fpr: Any, tpr: Any) -> Any:
    """Interpolate a curve with vertical pieces, taking their upper end."""
    x, first = np.unique(fpr, return_index=True)
    last = np.append(first[1:] - 1, len(fpr) - 1)
    low, high = tpr[first], tpr[last]  # where a vertical piece begins and ends
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = (at - x[place]) / (x[place + 1] - x[place])
    return high[place] + share * (low[place + 1] - high[place])


def audited(frame: pl.DataFrame, **asked: Any) -> fg.Report:
    return fg.audit(
        fg.count(frame, label="y", score="s", sensitive="g"),  # scores in bins, unlike from rows
        label="y",
        score="s",
        sensitive="g",
        reference={"g": "b"},
        metrics=[*COMPARED, *(f"{name}.difference" for name in BOUNDED)],
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
    (ap, an), (bp, bn) = (sides(frame, g) for g in "ab")
    ks, moved = distances(np.concatenate([ap, an]), np.concatenate([bp, bn]))
    exact = {"score_ks": ks, "score_wasserstein": moved, "abroca": area(frame, 200_000)}
    exact |= {"bpsn_auc": auc(bp, an), "bnsp_auc": auc(ap, bn)}
    for name in COMPARED:
        found = report[name, "g", "a"]
        assert abs(found.value - exact[name]) <= (found.error or 0.0) + 2e-5, name


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
    assert report["abroca", "g", "a"].value == pytest.approx(area(frame, 400_000), abs=1e-5)


def test_abroca_of_curves_that_cross() -> None:
    """One curve rises first, the other last: two triangles of 1/8 each lie between them."""
    table = {
        "a": [(1, 0.9), (0, 0.5), (0, 0.5), (1, 0.1)],
        "b": [(1, 0.7), (1, 0.7), (0, 0.7), (0, 0.7)],
    }
    frame = pl.DataFrame([{"g": g, "y": y, "s": s} for g, pairs in table.items() for y, s in pairs])
    # a: (0, 0) (0, .5) (1, .5) (1, 1); b: the diagonal
    assert audited(frame)["abroca", "g", "a"].value == pytest.approx(0.25, rel=1e-12)


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


@pytest.mark.parametrize(
    ("intercept", "slope"), [(-2.0, 0.3), (1.5, -1.0), (0.0, 4.0), (-3.0, 0.0)]
)
def test_a_recalibration_is_fitted_where_scores_are_far_from_calibrated(intercept, slope):
    """Its score equations hold: residuals sum to 0, alone and times the logits."""
    rng = np.random.default_rng(7)
    logit = rng.normal(0.0, 2.0, 300).round(2)
    score = 1 / (1 + np.exp(-logit))
    label = rng.random(300) < 1 / (1 + np.exp(-(intercept + slope * logit)))
    data = pl.DataFrame(
        {"score": score, "label": label.astype(int), "group": ["a", "b", "b"] * 100}
    )
    report = fg.audit(
        data, label="label", score="score", positive=1, sensitive="group",
        metrics=["calibration_slope.difference", "calibration_intercept.difference"],
    )  # fmt: skip
    for group in report.groups:
        at = (data["group"] == group.group).to_numpy()
        rates = group.rates
        linear = rates["calibration_intercept"].value + rates["calibration_slope"].value * logit[at]
        left = label[at] - 1 / (1 + np.exp(-linear))
        assert np.allclose([left.sum(), (left * logit[at]).sum()], 0.0, atol=1e-6)
