"""Many groups: pairs, ranges, spread, noise."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.many import (
    all_pairs,
    between_variance,
    expected_range,
    range_interval,
    shrunken_rates,
    tukey_critical,
    tukey_p,
    worst_ratio_interval,
)

X, N = [20, 26, 31, 18, 24], [100] * 5


def test_critical_values_from_tables_of_the_studentized_range():
    """q(.95; G, inf) / sqrt(2) for 2, 3, 5, 10, 20 groups: 2.772 3.314 3.858 4.474 5.012."""
    q = np.array([2.772, 3.314, 3.858, 4.474, 5.012])
    np.testing.assert_allclose(tukey_critical([2, 3, 5, 10, 20], 0.95) * 2**0.5, q, atol=1e-3)
    assert tukey_critical(1, 0.95) == 0
    np.testing.assert_allclose(tukey_p(tukey_critical([5, 40], 0.9), [5, 40]), 0.1, rtol=1e-9)


def test_range_over_groups():
    estimate, low, high = range_interval(X, N, 0.95)
    assert estimate == pytest.approx(0.13)
    assert low == 0
    assert high == pytest.approx(0.2881079, abs=1e-6)


def test_two_groups_are_an_ordinary_comparison():
    low, high = newcombe(60, 100, 30, 100, 1.959964)
    _, range_low, range_high = range_interval([60, 30], 100, 0.95)
    assert (range_low, range_high) == (pytest.approx(low), pytest.approx(high))


def test_empty_groups_take_no_part():
    expected = range_interval([60, 30, 40], 100, 0.95)
    found = range_interval([60, 0, 30, 40], [100, 0, 100, 100], 0.95)
    np.testing.assert_allclose(found, expected)
    expected = worst_ratio_interval([60, 30, 40], 100, 0.95)
    found = worst_ratio_interval([60, 0, 30, 40], [100, 0, 100, 100], 0.95)
    np.testing.assert_allclose(found, expected)


def test_one_group_has_no_range():
    assert np.isnan(range_interval([[3, 0]], [[10, 0]], 0.95)).all()
    assert np.isnan(worst_ratio_interval([3], [10], 0.95)).all()
    assert np.isnan(between_variance([3], [10])).all()


def test_worst_ratio_at_the_edges():
    estimate, low, high = worst_ratio_interval([[0, 0, 0], [0, 5, 9]], 20, 0.95)
    assert np.isnan(estimate[0])
    assert (low[0], high[0]) == (0, 1)
    assert (estimate[1], low[1]) == (0, 0)
    assert high[1] < 1


@pytest.mark.parametrize("comparison", ["difference", "ratio"])
def test_all_pairs(comparison):
    pairs = all_pairs([20, 60, 31, 0], [100, 100, 100, 0], 0.95, comparison)
    assert pairs.first.tolist() == [0, 0, 0, 1, 1, 2]
    assert pairs.second.tolist() == [1, 2, 3, 2, 3, 3]
    known = ~np.isnan(pairs.estimate)
    assert known.tolist() == [True, True, False, True, False, False]
    assert (np.isnan(pairs.low) == ~known).all()
    assert (np.isnan(pairs.p) == ~known).all()
    equal = 0 if comparison == "difference" else 1
    excluded = (pairs.low > equal) | (pairs.high < equal)
    assert (excluded == (pairs.p < 0.05)).all()
    assert excluded.tolist() == [True, False, False, True, False, False]


def test_strata_of_groups():
    x = np.array([[20, 26, 31], [5, 6, 7]])
    estimate, low, high = range_interval(x, 100, 0.95)
    assert estimate.shape == low.shape == high.shape == (2,)
    assert all_pairs(x, 100, 0.95).p.shape == (2, 3)


@pytest.mark.parametrize(
    ("groups", "n", "rate", "expected"),
    [(2, 50, 0.1, 0.048), (5, 50, 0.3, 0.148), (10, 200, 0.3, 0.100), (50, 50, 0.3, 0.291)],
)
def test_range_that_chance_alone_shows(groups, n, rate, expected):
    found = expected_range(rate, [n] * groups, np.random.default_rng(0), 4000)
    assert found == pytest.approx(expected, abs=0.003)


def test_expected_range_of_strata():
    rng = np.random.default_rng(0)
    found = expected_range([0.3, np.nan], [[50, 50], [50, 50]], rng)
    assert np.isnan(found).tolist() == [False, True]


def test_variance_between_groups_is_unbiased():
    rng = np.random.default_rng(5)
    truth = np.array([0.2, 0.3, 0.3, 0.4])
    naive, corrected = between_variance(rng.binomial(50, truth, (20_000, 4)), 50)
    assert corrected.mean() == pytest.approx(truth.var(ddof=1), abs=1.5e-4)
    assert naive.mean() > truth.var(ddof=1) + 0.003


def test_shrunken_rates():
    equal = shrunken_rates([30, 31, 29], 100)
    np.testing.assert_allclose(equal, 0.3, atol=1e-6)
    apart = shrunken_rates([100, 900], 1000)
    assert 0.1 < apart[0] < 0.11
    assert np.isnan(shrunken_rates([1, 0, 3], [10, 0, 10])).tolist() == [False, True, False]
    np.testing.assert_allclose(shrunken_rates([0, 0], 10), 0, atol=1e-9)
