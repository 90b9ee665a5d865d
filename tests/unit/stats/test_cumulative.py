"""Distances of cumulative distributions: values, intervals, expected values, tests, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.cumulative import (
    TwoSamples,
    cumulative_distance,
    cumulative_errors,
    cumulative_test,
)

RNG = np.random.default_rng
KINDS = ("ks", "wasserstein")


def cells(x, y):
    """Return the counts of two samples over their distinct values, and the steps between them."""
    found = TwoSamples.of(x, y)
    return found.a, found.d, found.widths


def test_values_by_hand():
    assert cumulative_distance([1, 0, 1], [0, 1, 1], [5, 7], "ks") == 0.5
    assert cumulative_distance([1, 0, 1], [0, 1, 1], [5, 7], "wasserstein") == 2.5
    assert cumulative_distance([4, 0], [0, 4], [3], "wasserstein") == 3
    assert cumulative_distance([4, 0], [0, 4], [3, 99], "wasserstein") == 3  # beyond the last cell
    assert np.isnan(cumulative_distance([0, 0], [1, 2], [1], "ks"))


def test_values_are_scipys():
    rng = RNG(0)
    for n, m in ((7, 30), (40, 40)):
        x, y = rng.normal(0, 1, n).round(1), rng.gamma(2, 1, m).round(1)
        a, d, widths = cells(x, y)
        ks = stats.ks_2samp(x, y).statistic
        assert cumulative_distance(a, d, widths, "ks") == pytest.approx(ks)
        earth = stats.wasserstein_distance(x, y)
        assert cumulative_distance(a, d, widths, "wasserstein") == pytest.approx(earth)


def test_the_radius_is_kolmogorovs_where_the_distributions_are_one():
    a, d = np.full(1000, 2), np.full(1000, 3)
    found = np.quantile(cumulative_errors(a, d, np.ones(999), "ks", RNG(0), 4000), 0.95)
    assert found == pytest.approx(1.358 * math.sqrt(1 / 2000 + 1 / 3000), rel=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_the_p_value_is_that_of_permuted_rows(kind):
    rng = RNG(3)
    for shift in (0.0, 0.2, 0.4):
        x, y = rng.normal(0, 1, 60), rng.normal(shift, 1, 90)
        a, d, widths = cells(x, y)
        labels = np.concatenate([np.repeat(np.arange(len(s)), s.astype(int)) for s in (a, d)])
        shuffled = rng.permuted(np.tile(labels, (4000, 1)), axis=1)
        tables = (shuffled[:, :60, None] == np.arange(len(a))).sum(axis=1)
        drawn = cumulative_distance(tables, a + d - tables, widths, kind)
        exact = np.mean(drawn >= cumulative_distance(a, d, widths, kind) * (1 - 1e-12))
        # the Gaussian process is continuous: of 60 and 90 rows p = 0.79 comes out as 0.74
        assert cumulative_test(a, d, widths, kind, RNG(0), 4000)[0] == pytest.approx(
            exact, abs=0.06
        )
