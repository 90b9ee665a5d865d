"""Means: which are insufficient data, and strata of which some hold one row of a side."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import ScopeKind, Status


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
