"""Regressions of weighted rows, and what says that data are insufficient for a rate of a group."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from bench.simulated_sides import rate_intervals, regression

import fairgauge as fg
from fairgauge.cube.cube import _from_dict
from fairgauge.enums import IntervalMethod
from fairgauge.reasons import ReasonCode
from fairgauge.stats.intervals import as_critical_t, critical
from fairgauge.stats.squares import log_limits
from fairgauge.stats.weighted import PowerSums, degrees_of_squares, mean_limits, mean_moments

MEANS = ("mean_label", "mean_prediction", "mean_error", "mean_absolute_error")
ASKED = {"label": "y", "prediction": "p", "sensitive": "g", "task": "regression"}


def rows(n: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.normal(20, 4, n)
    off = rng.normal(1, 2, n)
    return pl.DataFrame(
        {
            "g": np.where(np.arange(n) % 3 == 0, "a", "b"),
            "y": y,
            "p": y + off,
            "w": np.exp(0.5 * rng.normal(size=n) + 0.2 * off),
        }
    )


@pytest.mark.parametrize("unit", [1.0, 0.3, 7000.0])
def test_equal_weights_of_any_unit_are_no_weights(unit):
    data = rows().with_columns(w=pl.lit(unit))
    plain, weighted = (fg.audit(data, **ASKED, weight=w) for w in (None, "w"))
    assert [e.interval.methods for e in weighted.estimates] == [
        e.interval.methods for e in plain.estimates
    ]
    for one, other in zip(plain.estimates, weighted.estimates, strict=True):
        assert [*other.interval] == pytest.approx([*one.interval], rel=1e-9, abs=1e-9)


def test_the_unit_of_unequal_weights_is_free():
    data = rows()
    one, other = (
        fg.audit(data.with_columns(pl.col("w") * unit), **ASKED, weight="w")
        for unit in (1.0, 1000.0)
    )
    for mine, yours in zip(one.estimates, other.estimates, strict=True):
        assert [*yours.interval] == pytest.approx([*mine.interval], rel=1e-6)


def test_a_weighted_mean_has_the_variance_of_its_influences():
    data = rows()
    report = fg.audit(data, **ASKED, weight="w", metrics=["mean_error.difference"])
    (group,) = (g for g in report.groups if g.group == "a")
    found = group.rates["mean_error"]
    assert found.interval.methods == (IntervalMethod.INFLUENCE, IntervalMethod.STUDENT_T)
    own = data.filter(pl.col("g") == "a")
    e, w = (own["p"] - own["y"]).to_numpy(), own["w"].to_numpy()
    sums = [PowerSums(*((w**p * e**k).sum() for k in range(4))) for p in (1, 2, 3)]
    limits = mean_limits(mean_moments(*sums), critical(0.95))
    assert found.value == pytest.approx(w @ e / w.sum())
    assert [*found.interval] == pytest.approx([float(end) for end in limits], rel=1e-6)


def test_a_mean_absolute_error_needs_as_many_rows_as_the_page_says():
    for n, code in ((150, ReasonCode.FEW_ERRORS), (290, ReasonCode.FEW_ERRORS), (600, None)):
        metrics = [f"mean_absolute_error.{by}" for by in ("difference", "largest_gap", "maximum")]
        report = fg.audit(rows(n), **ASKED, metrics=metrics)
        for each in report.estimates:
            assert (each.reason and each.reason.code) == code
        (group,) = (g for g in report.groups if g.group == "a")
        found = group.rates["mean_absolute_error"]
        assert (found.reason and found.reason.code) == code
        assert found.status == ("ok" if code is None else "too_few")


def test_counts_of_an_earlier_version_say_why_there_is_no_interval():
    """They have no cubes: neither of absolute errors, nor of weights."""
    cube = fg.count(rows(), **ASKED, weight="w").to_dict()
    kept = [m for m in cube["plan"]["moments"] if m["power"] == 1 and m["name"] != "distance3"]
    for each in kept:
        del each["power"]
    cube["plan"]["moments"] = kept
    names = {"rows", "w", "w2", *(m["name"] for m in kept)}
    for table in cube["tables"]:
        table["sums"] = {name: sums for name, sums in table["sums"].items() if name in names}
    old = _from_dict(json.loads(json.dumps(cube)))
    report = fg.audit(old, metrics=[f"{name}.difference" for name in MEANS])
    for each in report.estimates:
        assert each.value is not None
        assert each.interval is None
        assert each.reason.code is ReasonCode.SUMS_NOT_COUNTED


def test_a_rate_of_a_group_says_that_its_clusters_or_classes_are_few():
    rng = np.random.default_rng(1)
    n = 400
    data = pl.DataFrame(
        {
            "g": np.repeat(["a", "b"], n // 2),
            "y": rng.choice(["x", "y", "z"], n, p=[0.6, 0.395, 0.005]),
            "p": rng.choice(["x", "y"], n),
            "u": np.repeat([1, 2, 3, *range(10, 50)], [100, 50, 50, *[5] * 40]),
        }
    )
    asked = {"label": "y", "prediction": "p", "sensitive": "g"}
    clustered = fg.audit(data, **asked, cluster="u", positive="x", metrics=["DPPL"])
    reasons = {g.group: g.rates["selection_rate"].reason for g in clustered.groups}
    assert reasons["a"].code is ReasonCode.FEW_CLUSTERS
    assert reasons["b"] is None
    averages = fg.audit(data, **asked, task="multiclass", metrics=["f1.difference"])
    codes = {
        (g.group, g.rates["f1"].reason.code)
        for g in averages.groups
        if g.class_scope.average == "macro"
    }
    assert codes == {("a", ReasonCode.SPARSE_CLASS), ("b", ReasonCode.SPARSE_CLASS)}


def test_kappa_is_one_number_of_all_classes():
    rng = np.random.default_rng(2)
    data = pl.DataFrame({name: rng.choice(list("xyz"), 300) for name in ("y", "p")}).with_columns(
        g=pl.Series(rng.choice(["a", "b"], 300))
    )
    metrics = ["cohen_kappa.difference", "accuracy.difference"]
    report = fg.audit(
        data, label="y", prediction="p", sensitive="g", task="multiclass", metrics=metrics
    )
    scopes = {e.class_scope.kind for e in report.estimates if e.metric == metrics[0]}
    assert scopes == {"none"}
    assert {g.class_scope.kind for g in report.groups if "cohen_kappa" in g.rates} == {"none"}
    assert len({e.class_scope.kind for e in report.estimates if e.metric == metrics[1]}) == 4


def test_the_difference_and_the_ratio_of_a_drawn_statistic_share_their_p_value():
    cells = {"a": {"tp": 30, "fp": 20, "fn": 25, "tn": 45}}
    cells["b"] = {"tp": 40, "fp": 15, "fn": 15, "tn": 60}
    report = fg.audit(fg.confusion("g", cells), metrics=["lift.difference", "lift.ratio"])
    one, other = (report[f"lift.{by}", "g", "a"].p_value for by in ("difference", "ratio"))
    assert one == other < 1


def test_differential_fairness_names_the_methods_that_made_it():
    rng = np.random.default_rng(3)
    data = pl.DataFrame(
        {"g": rng.choice(["a", "b"], 600), "p": rng.integers(0, 2, 600), "u": np.arange(600) // 6}
    )
    asked = {"prediction": "p", "positive": 1, "sensitive": "g"}
    metrics = ["prediction.differential_fairness"]
    plain, clustered = (
        fg.audit(data, **asked, cluster=cluster, metrics=metrics).estimates[0]
        for cluster in (None, "u")
    )
    assert IntervalMethod.CLUSTER_ROBUST in clustered.interval.methods
    assert IntervalMethod.CLUSTER_ROBUST not in plain.interval.methods


def test_metrics_of_single_rows_are_adjusted_where_the_data_choose_the_reference():
    rng = np.random.default_rng(4)
    data = pl.DataFrame(
        {"g": rng.choice(list("abcd"), 600), "y": rng.integers(0, 2, 600), "s": rng.random(600)}
    )
    asked = {"label": "y", "score": "s", "positive": 1, "sensitive": "g"}
    best = fg.audit(data, **asked, reference="best", metrics=["exposure_ratio"])
    named = best.estimates[0].reference.group
    plain = fg.audit(data, **asked, reference={"g": named}, metrics=["exposure_ratio"])
    for one, other in zip(best.estimates, plain.estimates, strict=True):
        assert one.value == other.value
        assert one.interval.methods[0] is IntervalMethod.TUKEY
        assert one.low < other.low < other.high < one.high
        assert one.p_value > other.p_value


def test_the_variance_of_weighted_squares_has_few_degrees_of_freedom():
    """With 1,200 rows whose weights follow the errors: those of some 50 rows."""
    rng = np.random.default_rng(8)
    error = rng.normal(size=(1, 1200))
    weight = np.exp(0.5 * rng.normal(size=error.shape) + 0.5 * error)
    side = regression(np.zeros(error.shape), error, weight)
    (low, high), adequate = rate_intervals("mean_squared_error", side)
    mean, fourth = (np.average(error[0] ** k, weights=weight[0]) for k in (2, 4))
    influence = weight[0] * (error[0] ** 2 - mean)
    linearised = (influence @ influence) / weight.sum() ** 2
    rows = float(np.average((error[0] ** 2 - mean) ** 2, weights=weight[0]) / linearised)
    kish = float(weight.sum() ** 2 / (weight**2).sum())
    degrees = float(degrees_of_squares(kish, 1200))
    t = as_critical_t(critical(0.95), degrees)
    expected = [float(end) for end in log_limits(mean, fourth / mean**2 - 1, 2.0, rows, t)]
    assert not adequate[0]  # too few rows in all
    assert 30 < degrees < 70
    assert [low[0], high[0]] == pytest.approx(expected, rel=1e-6)
    assert rows < kish
