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
from fairgauge.stats.divergences import norm_interval

RNG = np.random.default_rng
KINDS = ("ks", "wasserstein")


def cells(x, y):
    """Return the counts of two samples over their distinct values, and the steps between them."""
    found = TwoSamples.of(x, y)
    return found.a, found.d, found.widths


def interval(a, d, widths, kind, confidence, rng, draws=2000):
    """Return the limits that metrics make of a distance and its radius, inside its range."""
    distance = cumulative_distance(a, d, widths, kind)
    errors = cumulative_errors(a, d, widths, kind, rng, draws)
    radius = np.quantile(errors, confidence, axis=0, method="higher")
    most = 1.0 if kind == "ks" else math.inf
    unknown = np.isnan(distance) | np.isinf(radius)
    low, high = np.maximum(distance - radius, 0.0), np.minimum(distance + radius, most)
    return np.where(unknown, 0.0, low), np.where(unknown, most, high)


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


def test_two_cells_are_one_difference_of_shares():
    """The largest gap of two cells is |p1 - p2|, the norm of two categories."""
    low, high = interval([300, 700], [400, 600], [1], "ks", 0.95, RNG(0), 8000)
    folded = norm_interval([300, 700], [400, 600], "ks", 0.95, RNG(0))[:2]
    assert [low, high] == pytest.approx(folded, abs=0.004)


@pytest.mark.parametrize("kind", KINDS)
def test_laws_of_the_limits(kind):
    a, d, widths = [30, 40, 30, 0], [10, 30, 40, 20], [1.0, 2.0, 1.0]
    value = cumulative_distance(a, d, widths, kind)

    def limits(times, level):
        return interval(np.multiply(a, times), np.multiply(d, times), widths, kind, level, RNG(0))

    low, high = limits(1, 0.95)
    assert 0 <= low < value < high
    wide, narrow = limits(1, 0.99), limits(25, 0.95)
    assert wide[0] < low
    assert wide[1] > high
    assert high - low == pytest.approx(5 * (narrow[1] - narrow[0]), rel=0.05)
    turned = interval(d, a, widths, kind, 0.95, RNG(0))
    assert turned[1] == pytest.approx(high, rel=0.03)
    same = interval(a, a, widths, kind, 0.95, RNG(0))
    assert same[0] == 0 < same[1]
    scaled = interval(a, d, [10.0, 20.0, 10.0], kind, 0.95, RNG(0))
    times = 1 if kind == "ks" else 10
    assert scaled == pytest.approx((low * times, high * times))


@pytest.mark.parametrize(("kind", "highest"), [("ks", 1.0), ("wasserstein", np.inf)])
def test_a_side_of_one_row_says_nothing(kind, highest):
    for side in ([1, 0], [0, 0]):
        limits = interval(side, [3, 4], [1], kind, 0.95, RNG(0))
        assert tuple(map(float, limits)) == (0.0, highest)
    assert np.isnan(cumulative_test([0, 0], [3, 4], [1], kind, RNG(0))[1])


def test_strata_are_worked_off_at_once():
    a, d = RNG(4).integers(5, 30, (2, 2, 3, 6))
    p, expected = cumulative_test(a, d, np.ones(5), "ks", RNG(0), 4000)
    assert p.shape == expected.shape == (2, 3)
    limits = interval(a, d, np.ones(5), "ks", 0.95, RNG(0), 4000)
    assert limits[0].shape == (2, 3)


def test_half_the_rows_count_half():
    """Effective rows need not be whole."""
    a, d = np.array([15.0, 20, 15, 0]), np.array([5.0, 15, 20, 10])
    halved, whole = (
        np.quantile(cumulative_errors(a / by, d / by, [1, 1, 1], "ks", RNG(0), 8000), 0.95)
        for by in (2.5, 1)
    )
    assert halved == pytest.approx(whole * math.sqrt(49 / 19), rel=1e-9)
