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


def test_chance_gives_equal_groups_the_area_that_they_show():
    rng = np.random.default_rng(5)
    areas = scores.null_areas(A, A, rng, 2_000)
    far = np.quantile(scores.curve_errors(A, A, rng, 2_000), 0.95)
    assert np.quantile(areas, 0.95) == pytest.approx(far, rel=0.1)
