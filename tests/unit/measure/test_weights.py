"""Integer weights are duplicated rows, for counts, scores and regressions; strata turn signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.results.scopes import OVERALL, POOLED

BERKELEY = {  # department: men admitted, men rejected, women admitted, women rejected
    "A": (512, 313, 89, 19),
    "B": (353, 207, 17, 8),
    "C": (120, 205, 202, 391),
    "D": (138, 279, 131, 244),
    "E": (53, 138, 94, 299),
    "F": (22, 351, 24, 317),
}


def people(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n),
            "h": rng.choice(["u", "v"], n),
            "y": y,
            "p": rng.integers(0, 2, n),
            "s": np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1),
            "label": rng.normal(10, 3, n),
            "prediction": rng.normal(11, 2, n),
            "w": rng.integers(1, 5, n),
        }
    )


def repeated(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().repeat_by("w").explode())


ASKED: dict[str, dict[str, Any]] = {
    "counts": {"label": "y", "prediction": "p", "strata": "h"},
    "scores": {"label": "y", "score": "s"},
    "regression": {"label": "label", "prediction": "prediction", "task": "regression"},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_integer_weights_are_duplicated_rows(asked: dict[str, Any]) -> None:
    frame = people()
    weighted, duplicated = (
        fg.audit(data, sensitive="g", metrics="native", **more, **asked)
        for data, more in ((frame, {"weight": "w"}), (repeated(frame), {}))
    )
    compared = 0
    counted = [
        [e for e in report.estimates if not {e.metric, e.metric.partition(".")[0]} & UNWEIGHTED]
        for report in (weighted, duplicated)
    ]
    for ours, theirs in zip(*counted, strict=True):
        assert (ours.metric, ours.group, ours.scope) == (theirs.metric, theirs.group, theirs.scope)
        if theirs.value is None:
            continue
        assert ours.value == pytest.approx(theirs.value, rel=1e-9, abs=1e-12), ours.metric
        compared += 1
    for mine, yours in zip(weighted.groups, duplicated.groups, strict=True):
        assert mine.weight == yours.n
        for name, rate in yours.rates.items():
            if name in UNWEIGHTED:
                continue
            assert mine.rates[name].value == pytest.approx(rate.value, rel=1e-9), name
            compared += 1
    assert compared > 60


UNWEIGHTED = {"median_label.difference", "median_label.ratio", "label_quarter",
              "top_selection_ratio", "exposure_ratio",
              "consistency", "label.differential_fairness",
              "prediction.differential_fairness"}  # fmt: skip
"""What compares or orders rows counts each row once, as its page says; a divisor n - 1 and a prior
count are of rows, of which weights say nothing."""


@pytest.fixture(scope="module")
def berkeley() -> fg.Report:
    rows = [
        {"sex": sex, "dept": dept, "admitted": yes, "n": n}
        for dept, counts in BERKELEY.items()
        for (sex, yes), n in zip(
            [("men", 1), ("men", 0), ("women", 1), ("women", 0)], counts, strict=True
        )
    ]
    return fg.audit(
        pl.DataFrame(rows),
        label="admitted",
        count="n",
        sensitive="sex",
        strata="dept",
        metrics=["base_rate.difference", "DPL", "CDDL"],
    )


def test_the_sign_turns_within_departments(berkeley: fg.Report) -> None:
    (women,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", OVERALL)
    ]
    assert women.value == pytest.approx(557 / 1835 - 1198 / 2691, rel=1e-12)
    (pooled,) = [
        e
        for e in berkeley.estimates
        if (e.metric, e.group, e.scope) == ("base_rate.difference", "women", POOLED)
    ]
    weights, gaps = [], []
    for ma, mr, wa, wr in BERKELEY.values():
        men, women_ = ma + mr, wa + wr
        weights.append(men * women_ / (men + women_))
        gaps.append(wa / women_ - ma / men)
    expected = sum(w * g for w, g in zip(weights, gaps, strict=True)) / sum(weights)
    assert pooled.value == pytest.approx(expected, rel=1e-12)
    assert expected > 0


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, and its largest value is 4e"):
        fg.audit(data, label="y", prediction="p", positive=1, sensitive="g", weight="w")


def test_adequate_intervals_of_weighted_rates_hold_the_truth():
    """Of rates among few rows too, whose adequacy must not select variances that are too small."""
    rng = np.random.default_rng(8)
    sets, sizes = 400, (80, 160)
    rows = sets * sum(sizes)
    cell = rng.choice(4, p=[0.3, 0.12, 0.1, 0.48], size=rows)
    table = pl.DataFrame(
        {
            "g": np.tile(np.repeat(["a", "b"], sizes), sets),
            "s": np.repeat(np.arange(sets), sum(sizes)),
            "y": np.array([1, 0, 1, 0])[cell],
            "p": np.array([1, 1, 0, 0])[cell],
            "w": np.exp(1.2 * rng.normal(size=rows)),
        }
    )
    names = ["RD", "f1.difference", "false_positive_rate.difference"]
    report = fg.audit(
        table, label="y", prediction="p", sensitive="g", weight="w", strata="s", metrics=names
    )
    for name in names:
        found = [
            each.low <= 0 <= each.high
            for each in report.estimates
            if each.metric == name and each.scope.kind == "stratum" and each.group == "a"
            and each.status == "ok"
        ]  # fmt: skip
        assert len(found) > 0.75 * sets, name
        assert np.mean(found) >= 0.935 - 3 * np.sqrt(0.05 * 0.95 / len(found)), name
