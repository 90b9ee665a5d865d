"""Distances of cumulative distributions: values, intervals, expected values, tests, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairgauge.catalogue.cells import Scores
from fairgauge.catalogue.score_statistics import score_ks, score_wasserstein
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


def test_merged_cells_have_nearly_the_same_distance():
    rng = RNG(7)
    every = TwoSamples.of(rng.normal(0, 1, 9000), rng.normal(0.3, 1.2, 5000))
    few = every.merged(200)
    assert len(few.values) <= 200
    assert (few.a.sum(), few.d.sum()) == (9000, 5000)
    assert (few.widths > 0).all()
    assert np.ptp(few.a + few.d) <= 1  # as many rows in each
    for kind in KINDS:
        assert few.distance(kind) == pytest.approx(every.distance(kind), rel=0.02), kind
    assert every.merged(20_000) is every
    tied = TwoSamples.of(np.repeat([1.0, 2.0], [900, 100]), np.array([3.0, 4.0, 5.0])).merged(4)
    assert tied.a.sum() + tied.d.sum() == 1003
    assert len(tied.values) <= 4


def test_bins_of_scores_step_from_middle_to_middle():
    rng = RNG(1)
    edges = np.array([0.0, 0.1, 0.15, 0.4, 0.8, 1.0])
    ours, theirs = rng.integers(0, 9, (2, 3, 5)).astype(float)
    low, high = edges[:-1], edges[1:]
    none = np.zeros((3, 2, 5))
    one, two = (
        Scores(low, high, (low + high) / 2, none, each, none, {}, each.sum(1), each.sum(1))
        for each in (ours, theirs)
    )
    widths = np.diff((low + high) / 2)
    assert cumulative_distance(ours, theirs, widths, "ks") == pytest.approx(score_ks(one, two))
    assert cumulative_distance(ours, theirs, widths, "wasserstein") == pytest.approx(
        score_wasserstein(one, two)
    )


def test_the_radius_is_kolmogorovs_where_the_distributions_are_one():
    a, d = np.full(1000, 2), np.full(1000, 3)
    found = np.quantile(cumulative_errors(a, d, np.ones(999), "ks", RNG(0), 4000), 0.95)
    assert found == pytest.approx(1.358 * math.sqrt(1 / 2000 + 1 / 3000), rel=0.03)


def test_the_expected_distance_is_that_of_a_brownian_bridge():
    a, d = np.full(1000, 2), np.full(1000, 3)
    scale = math.sqrt(1 / 2000 + 1 / 3000)
    largest = cumulative_test(a, d, np.ones(999), "ks", RNG(0), 4000)[1]
    assert largest == pytest.approx(math.sqrt(math.pi / 2) * math.log(2) * scale, rel=0.03)
    area = cumulative_test(a, d, np.full(999, 1 / 1000), "wasserstein", RNG(0), 4000)[1]
    assert area == pytest.approx(math.sqrt(math.pi / 32) * scale, rel=0.03)


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
