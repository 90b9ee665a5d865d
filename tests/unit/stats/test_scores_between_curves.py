"""Areas between ROC curves, against rows drawn one by one."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.catalogue.score_statistics import _between_curves
from fairgauge.stats import scores

A = np.array([[5.0, 10, 25, 30], [30, 25, 10, 5]])
D = np.array([[8.0, 20, 22, 10], [25, 30, 15, 10]])


def test_curves_agree_with_the_exact_area_between_them():
    found = np.abs(scores.roc_curves(A) - scores.roc_curves(D)).mean()
    assert found == pytest.approx(_between_curves(A, D), rel=0.01)


def test_a_group_without_a_label_has_no_curve():
    assert np.isnan(scores.roc_curves([[0, 0], [3, 2]])).all()


def test_the_radius_is_that_of_resampled_rows():
    rng = np.random.default_rng(0)

    def resampled(table):
        rows = (
            np.repeat(np.arange(4), table[0].astype(int)),
            np.repeat(np.arange(4), table[1].astype(int)),
        )
        drawn = [np.bincount(rng.choice(each, len(each)), minlength=4) for each in rows]
        return scores.roc_curves(np.array(drawn)) - scores.roc_curves(table)

    moved = [np.abs(resampled(A) - resampled(D)).mean() for _ in range(3_000)]
    found = np.quantile(scores.curve_errors(A, D, np.random.default_rng(1), 3_000), 0.95)
    assert found == pytest.approx(np.quantile(moved, 0.95), rel=0.05)


def test_chance_gives_equal_groups_the_area_that_they_show():
    rng = np.random.default_rng(5)
    areas = scores.null_areas(A, A, rng, 2_000)
    far = np.quantile(scores.curve_errors(A, A, rng, 2_000), 0.95)
    assert np.quantile(areas, 0.95) == pytest.approx(far, rel=0.1)
