"""Intervals from drawn tables: the three of the bootstrap, against scipy's on the rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import bootstrap

import fairgauge as fg
from fairgauge.catalogue.catalogue import METRICS
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import IntervalMethod as M
from fairgauge.enums import ScopeKind, Status

GROUP, REST = np.repeat([1.0, 0.0], [30, 70]), np.repeat([1.0, 0.0], [40, 60])


def audited(method, metric="DPPL", who=("g", "a"), **options):
    cells = {"a": {"tp": 30, "fn": 70}, "b": {"tp": 40, "fn": 60}}
    table = fg.confusion("g", cells)
    return fg.audit(table, metrics=metric, method=method, replicates=20_000, **options)[
        metric, *who
    ]


def test_the_bootstrap_of_cells_is_that_of_rows():
    found = audited("bootstrap")
    made = bootstrap(
        (REST, GROUP), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=20_000,
        method="percentile", vectorized=True,
        random_state=np.random.default_rng(1),  # `rng` from SciPy 1.15 on
    )  # fmt: skip
    assert (found.low, found.high) == pytest.approx(tuple(made.confidence_interval), abs=0.011)
    assert found.interval.methods == (M.BOOTSTRAP,)


@pytest.mark.parametrize("method", ["bootstrap", "bayes"])
def test_the_p_value_is_the_level_at_which_limits_touch_equality(method):
    p = audited(method).p_value
    assert 0.05 < p < 0.3
    inside, outside = (audited(method, confidence=1 - each) for each in (p * 0.8, p * 1.25))
    assert inside.low <= 0 < inside.high  # shares of draws are 0 exactly, now and then
    assert outside.low > 0  # the difference is positive


def test_metrics_answer_as_alone_where_predictions_are_missing():
    """Rows with a label are not the rows with both."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"g": ["a", "b"] * 150, "y": rng.integers(0, 2, 300)})
    table["p"] = np.where(rng.random(300) < 0.7, table["y"], 1 - table["y"])
    table.loc[:20, "p"] = None
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "method": "bootstrap"}
    names = ["DPL", "DPPL", "RD", "TE", "DCA"]
    together = fg.audit(table, metrics=names, replicates=400, **asked)
    for name in names:
        alone = fg.audit(table, metrics=name, replicates=400, **asked)[name, "g", "a"]
        assert together[name, "g", "a"].interval == alone.interval


CONTRASTS = [
    m.name
    for m in METRICS
    if isinstance(m, Contrast) and "binary" in m.tasks and "score" not in m.needs
]


@pytest.mark.each_value
@pytest.mark.parametrize("reference", ["others", "overall"])
@pytest.mark.parametrize("method", ["bayes", "bootstrap"])
def test_all_methods_agree_where_rows_are_many(method, reference):
    """Of 400 rows a group, limits of any contrast lie near the default's, whatever the method."""
    cells = {
        "a": {"tp": 120, "fp": 50, "fn": 60, "tn": 170},
        "b": {"tp": 150, "fp": 40, "fn": 50, "tn": 160},
    }
    table = fg.confusion("g", cells)
    default, other = (
        fg.audit(table, metrics=CONTRASTS, reference=reference, method=each, replicates=4000)
        for each in ("default", method)
    )
    for one, two in zip(default.estimates, other.estimates, strict=True):
        off = max(abs(one.low - two.low), abs(one.high - two.high))
        assert off < 0.16 * (one.high - one.low), (one, two)


# ---- means: which are insufficient data, and strata of which some hold one row of a side
def test_scores_of_few_positives_are_insufficient_data_for_what_compares_labels() -> None:
    data = pl.DataFrame(
        {
            "group": np.repeat(["few", "enough"], 200),
            "label": [1] * 19 + [0] * 181 + [1] * 20 + [0] * 180,
            "score": np.tile(np.arange(1, 201) * 7 % 201 / 201, 2),
        }
    )
    rates = ["roc_auc", "average_precision", "generalized_true_positive_rate"]
    report = fg.audit(
        data, label="label", score="score", positive=1, sensitive="group",
        metrics=[f"{rate}.difference" for rate in [*rates, "brier_score"]],
    )  # fmt: skip
    few, enough = sorted(report.groups, key=lambda group: group.group, reverse=True)
    assert [few.rates[rate].status for rate in rates] == [Status.TOO_FEW] * len(rates)
    assert [enough.rates[rate].status for rate in rates] == [Status.OK] * len(rates)
    assert few.rates["brier_score"].status is Status.OK


@pytest.mark.parametrize(
    ("rows", "share", "status"), [(100, 0.5, Status.OK), (80, 0.05, Status.TOO_FEW)]
)
def test_means_are_compared_where_enough_rows_make_up_the_variance(rows, share, status) -> None:
    """Fifty ones of a hundred labels, and four of eighty, of which the kurtosis is 1 and 18."""
    ones = int(rows * share)
    data = pl.DataFrame(
        {
            "group": np.repeat(["a", "b"], rows),
            "label": ([1.0] * ones + [0.0] * (rows - ones)) * 2,
            "prediction": np.linspace(0, 1, 2 * rows),
        }
    )
    report = fg.audit(
        data, label="label", prediction="prediction", sensitive="group", task="regression",
        metrics=["mean_label.difference", "mean_label.ratio", "mean_prediction.difference"],
    )  # fmt: skip
    found = {each.metric: each.status for each in report.estimates}
    assert found["mean_label.difference"] is status
    assert found["mean_label.ratio"] is status
    assert found["mean_prediction.difference"] is Status.OK


def table(seed: int, *, gap: float = 0.0, single: int = 2) -> pd.DataFrame:
    """Return numbers of two groups in twelve strata, of which some have one row of A."""
    rng = np.random.default_rng(seed)
    parts = []
    for s in range(12):
        ours, theirs = (1 if s < single else int(rng.integers(8, 40))), int(rng.integers(40, 90))
        mean = rng.normal()
        numbers = np.concatenate([rng.normal(mean + gap, 1, ours), rng.normal(mean, 1, theirs)])
        parts.append(pd.DataFrame({"g": ["A"] * ours + ["B"] * theirs, "s": f"s{s}", "y": numbers}))
    return pd.concat(parts)


def adjusted(rows: pd.DataFrame):
    report = fg.audit(rows, label="y", task="regression", sensitive="g", strata="s",
                      metrics=["mean_label.difference"])  # fmt: skip
    [found] = [e for e in report.estimates if e.scope.kind is ScopeKind.POOLED and e.group == "A"]
    return found


def test_a_single_row_of_one_stratum_does_not_unbound_the_adjusted_difference():
    """One branch with one applicant made a clear gap "no longer statistically significant"."""
    rows = table(1, gap=0.8)
    found, without = adjusted(rows), adjusted(rows[~rows["s"].isin(["s0", "s1"])])
    assert found.p_value < 1e-6
    assert found.low > 0
    assert found.value == pytest.approx(without.value, abs=0.1)
    assert found.high - found.low == pytest.approx(without.high - without.low, rel=0.15)
