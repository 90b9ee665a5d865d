"""Intervals of means whose rows are skewed: coverage, seeded, and what is adequate.

Groups of one audit are the data sets, each with its own rows.
"""

import math

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Status

GROUPS = 400
TWO_ERRORS = 2 * math.sqrt(0.95 * 0.05 / GROUPS)


def covered(report: fg.Report, rate: str, truth: float) -> float:
    ends = [group.rates[rate].interval for group in report.groups]
    assert len(ends) == GROUPS
    return float(np.mean([each.low <= truth <= each.high for each in ends]))


def grouped(rows: int, **columns: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"group": np.repeat([f"g{i}" for i in range(GROUPS)], rows), **columns})


def scored(rng: np.random.Generator, rows: int, scores: list[float], shares: list[float]):
    """Draw scores, each of which is its own probability of a positive label."""
    score = rng.choice(scores, p=shares, size=GROUPS * rows)
    return grouped(rows, score=score, label=(rng.random(len(score)) < score).astype(int))


def test_a_mean_score_of_one_label_holds_where_high_scores_are_rare_among_it() -> None:
    """Of the rows with a negative label, 1.4 % have the score .99."""
    data = scored(np.random.default_rng(5), 80, [0.01, 0.99], [0.4, 0.6])
    report = fg.audit(
        data, label="label", score="score", positive=1, sensitive="group",
        metrics=["generalized_false_positive_rate.difference"],
    )  # fmt: skip
    high, low = 0.6 * 0.01, 0.4 * 0.99
    truth = (0.99 * high + 0.01 * low) / (high + low)
    assert covered(report, "generalized_false_positive_rate", truth) >= 0.95 - TWO_ERRORS


@pytest.mark.parametrize(("rows", "share"), [(40, 1.0), (200, 0.1)])
def test_a_mean_of_skewed_labels_borrows_the_skewness_of_all_rows(rows: int, share: float) -> None:
    """Lognormal labels, or one in ten lognormal and all others 0."""
    rng = np.random.default_rng(rows)
    label = np.exp(rng.normal(size=GROUPS * rows)) * (rng.random(GROUPS * rows) < share)
    report = fg.audit(
        grouped(rows, label=label, prediction=0 * label), label="label", prediction="prediction",
        sensitive="group", task="regression", metrics=["mean_label.difference"],
    )  # fmt: skip
    assert covered(report, "mean_label", share * math.exp(0.5)) >= 0.95 - TWO_ERRORS


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
