"""The intervals of a regression audit: how they are made, what they hold, where there is none."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.lookup import find_metric
from fairgauge.stats.intervals import (
    critical,
)
from fairgauge.stats.squares import log_limits, tail_weight

DATA = Path(__file__).resolve().parents[4].parent / "shared" / "data"
SQUARES = ("mean_squared_error", "root_mean_squared_error", "r2")
DIFFERENCES = tuple(f"{name}.difference" for name in SQUARES)


def audited(y, p, g, metrics=DIFFERENCES, more=None, **options):
    frame = pl.DataFrame({"y": y, "p": p, "g": g} | (more or {}))
    options = {"task": "regression"} | options
    return fg.audit(
        frame, label="y", prediction="p", sensitive="g", metrics=list(metrics), **options
    )


def table(seed=5, n=400, noise=0.5):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    p = 0.8 * y + noise * rng.standard_t(6, n)
    return y, p, rng.choice(["a", "b"], n)


def test_a_mean_squared_error_and_its_root_are_of_the_kurtosis():
    y, p, g = table()
    report = audited(y, p, g)
    rates = report.groups[0].rates
    error = (p - y)[g == report.groups[0].group]
    n, square = len(error), (error**2).mean()
    weight = max(tail_weight((e**2).mean(), (e**4).mean(), len(e)) for e in (error, p - y))
    low, high = (float(end) for end in log_limits(square, weight - 1, np.inf, n, critical(0.95)))
    found = rates["mean_squared_error"]
    assert (found.low, found.high) == pytest.approx((low, high))
    root = rates["root_mean_squared_error"]
    assert (root.low, root.high) == pytest.approx((math.sqrt(low), math.sqrt(high)))


@pytest.mark.parametrize("reference", ["others", "overall"])
def test_interval_and_p_value_agree_and_hold_the_value(reference):
    for shift in (0.5, 0.6, 0.7, 0.9):
        y, p, g = table()
        p = np.where(g == "a", p, y + (p - y) * shift / 0.5)
        metrics = (*DIFFERENCES, "mean_squared_error.ratio", "root_mean_squared_error.ratio")
        for each in audited(y, p, g, metrics, reference=reference).estimates:
            neutral = find_metric(each.metric).neutral
            assert each.low <= each.value <= each.high
            excludes = each.low > neutral or each.high < neutral
            assert excludes == (each.p_value < 0.05), each
    assert excludes


def test_the_unit_and_the_origin_do_not_matter():
    y, p, g = table()
    one, two = audited(y, p, g), audited(50 * y + 7, 50 * p + 7, g)
    scale = {"mean_squared_error": 2_500, "root_mean_squared_error": 50}
    for each, other in zip(one.estimates, two.estimates, strict=True):
        by = scale.get(each.metric.split(".")[0], 1)
        expected = by * each.low, by * each.high
        assert (other.low, other.high) == pytest.approx(expected, rel=1e-5), each.metric
        assert other.p_value == pytest.approx(each.p_value, rel=1e-4, abs=1e-9)


def test_r2_stays_at_most_one_and_predicting_the_mean_is_not_too_sure():
    y, p, g = table(noise=0.01)
    rates = audited(y, p + 0.2 * y, g).groups[0].rates
    assert 0.99 < rates["r2"].low < rates["r2"].high < 1
    rates = audited(y, np.full(len(y), y.mean()), g).groups[0].rates
    assert rates["r2"].low <= rates["r2"].value <= 0 <= rates["r2"].high + 0.02


def test_perfect_predictions_have_no_error_to_be_unsure_of():
    y, _, g = table()
    rates = audited(y, y, g).groups[0].rates
    for name in SQUARES[:2]:
        assert (rates[name].value, rates[name].low, rates[name].high) == (0, 0, 0)
    assert (rates["r2"].low, rates["r2"].high) == (1, 1)


@pytest.mark.skipif(not (DATA / "insurance_pred.csv").exists(), reason="the shared data are absent")
def test_insurance_agrees_with_the_bca_bootstrap_of_its_rows():
    """scipy.stats.bootstrap(..., paired=True, n_resamples=9999, method="BCa"), seed 0."""
    report = fg.audit(
        DATA / "insurance_pred.csv", label="charges", prediction="prediction",
        sensitive="sex", task="regression", metrics=[*DIFFERENCES],
    )  # fmt: skip
    rates = {group.group: group.rates for group in report.groups}
    bootstrap = {
        ("female", "mean_squared_error"): (34154986, 54825197),
        ("female", "r2"): (0.6171, 0.7632),
        ("male", "mean_squared_error"): (31455248, 48168233),
        ("male", "r2"): (0.6989, 0.8100),
    }
    for (group, name), expected in bootstrap.items():
        found = rates[group][name]
        slack = 0.18 * (expected[1] - expected[0])  # a few rows show too little of the tail
        assert (found.low, found.high) == pytest.approx(expected, abs=slack)
        assert found.high - found.low > expected[1] - expected[0]


# ---- regressions of weighted rows, and what says that data are insufficient for a rate of a group
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "task": "regression"}


def rows(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.normal(20, 4, n)
    off = rng.normal(1, 2, n)
    return pl.DataFrame(
        {
            "g": np.where(np.arange(n) % 3 == 0, "a", "b"), "y": y, "p": y + off,
            "w": np.exp(0.5 * rng.normal(size=n) + 0.2 * off),
        }
    )  # fmt: skip


@pytest.mark.parametrize("unit", [1.0, 0.3, 7000.0])
def test_equal_weights_of_any_unit_are_no_weights(unit):
    data = rows().with_columns(w=pl.lit(unit))
    plain, weighted = (fg.audit(data, **ASKED, weight=w) for w in (None, "w"))
    assert [e.interval.methods for e in weighted.estimates] == [
        e.interval.methods for e in plain.estimates
    ]
    for one, other in zip(plain.estimates, weighted.estimates, strict=True):
        assert [*other.interval] == pytest.approx([*one.interval], rel=1e-9, abs=1e-9)
