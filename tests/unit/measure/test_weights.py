"""Integer weights are duplicated rows, for counts, scores and regressions; strata turn signs."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import fairgauge as fg


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
    "scores": {"label": "y", "score": "s", "threshold": 0.5},
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


@pytest.mark.parametrize("factor", [1e103, 1e-110])
def test_weights_whose_cubes_overflow_or_vanish_are_an_error(factor: float) -> None:
    data = people(60).with_columns(pl.col("w") * factor)
    with pytest.raises(fg.DataError, match="'w' is the weight, and its largest value is 4e"):
        fg.audit(data, label="y", prediction="p", positive=1, sensitive="g", weight="w")
