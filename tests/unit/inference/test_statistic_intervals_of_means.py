"""Intervals of means whose rows are skewed: coverage, seeded, and what is adequate.

Groups of one audit are the data sets, each with its own rows.
"""

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import Status


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
