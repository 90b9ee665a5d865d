"""Metrics of single rows: rankings by hand, ties included; neighbours by brute force."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg

RANKED = [("a", 0.9), ("b", 0.8), ("a", 0.6), ("b", 0.6), ("b", 0.6), ("a", 0.2)]
"""Three rows share the places 3, 4 and 5."""
PLACES = [1 / math.log2(rank + 1) for rank in range(1, 7)]


def ranking(rows: list[tuple[str, float]], *metrics: str) -> fg.Report:
    frame = pl.DataFrame(rows, schema=["g", "s"], orient="row")
    return fg.audit(
        frame, score="s", threshold=0.5, positive=1, sensitive="g", metrics=list(metrics)
    )


def test_exposure_shares_tied_places() -> None:
    tied = sum(PLACES[2:5]) / 3
    ours = (PLACES[0] + tied + PLACES[5]) / 3
    theirs = (PLACES[1] + 2 * tied) / 3
    found = ranking(RANKED, "exposure_ratio")["exposure_ratio", "g", "a"]
    assert found.value == pytest.approx(ours / theirs, rel=1e-12)


def test_tops_share_tied_places() -> None:
    # of the four top places two are shared by three tied rows: a has 1 + 2/3 rows there, b 1 + 4/3
    report = ranking(RANKED, "top_selection_ratio(k=4)")
    top = report["top_selection_ratio(k=4)", "g", "a"]
    assert top.value == pytest.approx((5 / 3 / 3) / (7 / 3 / 3), rel=1e-12)


def people(seed: int, n: int = 160) -> pl.DataFrame:
    """Make rows on a coarse grid, so that many lie at the same distance."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n), "x": rng.integers(0, 6, n),
            "z": rng.integers(0, 4, n), "p": rng.integers(0, 2, n),
        }
    )  # fmt: skip


def votes(points: Any, decided: Any, at: Any, k: int) -> float:
    """Return the mean decision of the k nearest, those at the k-th distance by share."""
    squared = ((points - at) ** 2).sum(axis=1)
    last = np.sort(squared)[k - 1]
    inside, tied = squared < last, squared == last
    room = k - inside.sum()
    return float((decided[inside].sum() + room * decided[tied].mean()) / k)


def test_profile_documented_has_the_sign_of_the_page() -> None:
    rows = {"g": ["d"] * 5 + ["a"] * 12, "x": [1.0] * 17, "p": [0] * 5 + [1] * 12}
    for profile, value in (("documented", 1.0), ("clarify", -1.0)):
        report = fg.audit(
            pl.DataFrame(rows), prediction="p", sensitive="g", features="x", metrics="FT",
            profile=profile,
        )  # fmt: skip
        assert report["FT", "g", "d"].value == value


@pytest.mark.parametrize("asked", [
    {"prediction": "p", "features": ["x", "z"], "metrics": ["FT", "consistency"]},
    {"score": "s", "threshold": 0.5, "metrics": ["exposure_ratio", "top_selection_ratio(k=3)"]},
])  # fmt: skip
def test_the_order_of_rows_changes_nothing(asked: dict[str, Any]) -> None:
    frame = people(5).with_columns(s=pl.col("x") / 10)
    values = []
    for shuffled in (frame, frame.reverse(), frame.sample(fraction=1.0, shuffle=True, seed=1)):
        report = fg.audit(shuffled, sensitive="g", positive=1, **asked)
        values.append(sorted((e.metric, e.group or "", e.value) for e in report.estimates))
    assert values[0] == values[1] == values[2]


def test_consistency_by_brute_force() -> None:
    frame = people(7, n=60)
    report = fg.audit(
        frame, prediction="p", sensitive="g", features=["x", "z"], metrics="consistency",
        profile="clarify",
    )  # fmt: skip
    points, decided = frame.select("x", "z").to_numpy().astype(float), frame["p"].to_numpy()
    off = [abs(p - votes(points, decided, at, 5)) for at, p in zip(points, decided, strict=True)]
    assert report["consistency"].value == pytest.approx(1 - float(np.mean(off)), rel=1e-12)
