"""Dispersion over groups, against closed forms and simulated errors."""

import numpy as np
import pytest

from fairgauge.stats import distances
from fairgauge.stats.intervals import critical


def test_noise_of_many_groups_is_that_of_simulated_ones():
    rng = np.random.default_rng(2)
    error, weight = np.array([0.01, 0.02, 0.02, 0.05]), np.array([0.4, 0.3, 0.2, 0.1])
    drawn = rng.normal(size=(400_000, 4)) * error
    away = drawn - (drawn * weight).sum(1, keepdims=True)
    simulated = np.sqrt((weight * away**2).sum(1))
    for confidence in (0.5, 0.9, 0.95, 0.99):
        found = distances.error_dispersion_quantile(error, weight, critical(confidence))
        assert float(found) == pytest.approx(np.quantile(simulated, confidence), rel=0.03)
