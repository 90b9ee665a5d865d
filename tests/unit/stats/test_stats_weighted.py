"""Weighted shares and means: no unit, no weights as weights of 1, influences by hand."""

from __future__ import annotations

import numpy as np
import pytest
from bench.coverage import power_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.weighted import (
    PowerSums,
    effective_share,
    skewed_limits,
    weighted_mean,
    weighted_share,
)

Z = critical(0.95)
rows = st.lists(st.tuples(st.floats(0.1, 10), st.booleans()), min_size=2, max_size=40).map(
    lambda r: (np.array([w for w, _ in r]), np.array([y for _, y in r]))
)


def sums_of(weights, inside):
    return [
        tuple(np.where(part, weights**power, 0.0).sum() for part in (inside, ~inside))
        for power in (1, 2, 0)
    ]


@settings(deadline=None)
@given(x=st.integers(0, 50), more=st.integers(0, 50), unit=st.sampled_from([1e-3, 1.0, 250.0]))
def test_equal_weights_are_no_weights(x, more, unit):
    if not x + more:
        return
    sums = (x * unit, more * unit), (x * unit**2, more * unit**2), (x, more)
    found = effective_share(*sums)
    assert found.n == pytest.approx(x + more, rel=1e-9)
    assert found.degrees == np.inf
    share, low, high = weighted_share(*sums, Z)
    expected = wilson(x, x + more, Z)
    np.testing.assert_allclose([share, low, high], [x / (x + more), *expected], atol=1e-9)


@settings(deadline=None)
@given(table=rows, unit=st.sampled_from([1e-3, 40.0]))
def test_the_unit_of_weights_is_free(table, unit):
    weights, inside = table
    np.testing.assert_allclose(
        weighted_share(*sums_of(weights, inside), Z),
        weighted_share(*sums_of(weights * unit, inside), Z),
        rtol=1e-8,
    )


@settings(deadline=None)
@given(table=rows)
def test_the_rows_are_those_of_the_linearised_variance_or_between_it_and_kish(table):
    weights, inside = table
    if not 0 < inside.sum() < len(inside):
        return
    share = weights @ inside / weights.sum()
    variance = ((weights * (inside - share)) ** 2).sum() / weights.sum() ** 2
    linearised, kish = share * (1 - share) / variance, weights.sum() ** 2 / (weights @ weights)
    found = effective_share(*sums_of(weights, inside))
    expected = linearised if linearised < kish else np.sqrt(linearised * kish)
    assert found.n == pytest.approx(expected, rel=1e-9)
    assert found.degrees >= 1


def test_a_share_of_0_or_1_and_none_at_all():
    found = effective_share((0.0, 6.0), (0.0, 12.0), (0, 4))
    assert found.n == pytest.approx(3)
    share, low, high = weighted_share((6.0, 0.0), (12.0, 0.0), (4, 0), Z)
    assert (float(share), float(high)) == (1, 1)
    assert 0.3 < low < 0.6
    share, low, high = weighted_share((0.0, 0.0), (0.0, 0.0), (0, 0), Z)
    assert np.isnan(share)
    assert (float(low), float(high)) == (0, 1)


def test_a_mean_with_weights_of_one_is_students():
    values = np.array([2.0, 3, 5, 4, 1, 6, 2, 9])
    sums = power_sums(np.ones(8), values)
    mean, low, high = weighted_mean(sums[0], sums[1], None, Z)
    expected = stats.t.interval(0.95, 7, values.mean(), values.std(ddof=1) / np.sqrt(8))
    np.testing.assert_allclose([mean, low, high], [values.mean(), *expected], rtol=1e-9)


def test_the_variance_is_that_of_the_influences():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=30), rng.exponential(size=30)
    mean, low, high = weighted_mean(*power_sums(weights, values)[:2], None, Z)
    moved = weights * (values - mean) / weights.sum()
    kish = weights.sum() ** 2 / (weights @ weights)
    from scipy.stats import t

    half = t.ppf(0.975, kish - 1) * np.sqrt((moved**2).sum() * kish / (kish - 1))
    np.testing.assert_allclose([low, high], [mean - half, mean + half], rtol=1e-9)
    three = weighted_mean(*power_sums(weights, values), Z)
    scaled = weighted_mean(*power_sums(weights * 1e-3, values), Z)
    np.testing.assert_allclose(three, scaled, rtol=1e-6)
    assert three[1] <= low
    assert three[2] >= high


@settings(deadline=None)
@given(
    variance=st.floats(0.01, 4),
    third=st.floats(-2, 2),
    degrees=st.floats(3, 500),
    z=st.floats(1, 3),
)
def test_the_raised_end_solves_its_equation(variance, third, degrees, z):
    """(mean - end)^2 = t^2 (variance + third / variance (end - mean)) where the tail is."""
    from scipy.stats import norm, t

    low, high = skewed_limits(5.0, variance, third, degrees, z)
    value = t.ppf(norm.cdf(z), degrees)
    for end, towards in ((high, max(third, 0)), (low, min(third, 0))):
        away = float(end) - 5.0
        right = value**2 * (variance + towards / variance * away)
        assert away**2 == pytest.approx(right, rel=1e-6)
    mirrored = skewed_limits(-5.0, variance, -third, degrees, z)
    np.testing.assert_allclose([-mirrored[1], -mirrored[0]], [low, high], rtol=1e-9)


def test_a_single_row_is_worth_nothing():
    mean, low, high = weighted_mean(PowerSums(2.0, 6.0), PowerSums(4.0, 12.0, 36.0), None, Z)
    assert (float(mean), float(low), float(high)) == (3, -np.inf, np.inf)
