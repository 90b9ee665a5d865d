"""Dispersion over groups, against closed forms and simulated errors."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats import dispersion
from fairgauge.stats.intervals import critical

Z = critical(0.95)


def test_two_groups_are_half_their_difference():
    low, high = dispersion.variance_limits([0.2, 0.5], [0.03, 0.04], Z)
    half = (0.15 - Z * 0.05 / 2, 0.15 + Z * 0.05 / 2)
    assert (float(low) ** 0.5, float(high) ** 0.5) == pytest.approx(half)


def test_noise_of_many_groups_is_that_of_simulated_ones():
    rng = np.random.default_rng(2)
    error, weight = np.array([0.01, 0.02, 0.02, 0.05]), np.array([0.4, 0.3, 0.2, 0.1])
    drawn = rng.normal(size=(400_000, 4)) * error
    away = drawn - (drawn * weight).sum(1, keepdims=True)
    simulated = np.sqrt((weight * away**2).sum(1))
    for confidence in (0.5, 0.9, 0.95, 0.99):
        found = dispersion.error_dispersion_quantile(error, weight, critical(confidence))
        assert float(found) == pytest.approx(np.quantile(simulated, confidence), rel=0.03)


@pytest.mark.parametrize("limits", [dispersion.variance_limits, dispersion.gini_limits])
def test_groups_without_a_number_take_no_part_and_one_group_has_no_spread(limits):
    known = limits([0.2, 0.5, 0.6], [0.04, 0.05, 0.05], Z)
    assert np.allclose(limits([0.2, np.nan, 0.5, 0.6], [0.04, np.nan, 0.05, 0.05], Z), known)
    assert np.isnan(limits([0.2, np.nan], [0.04, np.nan], Z)).all()
    assert np.isnan(limits([np.nan, np.nan], [np.nan, np.nan], Z)).all()


@pytest.mark.parametrize("limits", [dispersion.variance_limits, dispersion.gini_limits])
def test_limits_widen_with_the_level_and_the_noise(limits):
    values, error = np.array([0.2, 0.5, 0.6]), np.array([0.04, 0.05, 0.05])
    assert np.ptp(limits(values, error, 2.6)) > np.ptp(limits(values, error, 1.6))
    assert np.ptp(limits(values, 2 * error, Z)) > np.ptp(limits(values, error, Z))
    low, high = limits(values, 0 * error, Z)
    assert float(low) == pytest.approx(float(high))


def test_a_mean_that_may_be_nothing_leaves_the_gini_index_open():
    low, high = dispersion.gini_limits([0.0, 0.02], [0.05, 0.05], Z)
    assert float(low) == 0.0
    assert np.isinf(high)
