"""Many groups: critical values for all pairs, spread, sampling variation."""

import numpy as np
import pytest

from fairgauge.stats.significance import between_variance, tukey_critical, tukey_p


def test_critical_values_from_tables_of_the_studentized_range():
    """q(.95; G, inf) / sqrt(2) for 2, 3, 5, 10, 20 groups: 2.772 3.314 3.858 4.474 5.012."""
    q = np.array([2.772, 3.314, 3.858, 4.474, 5.012])
    np.testing.assert_allclose(tukey_critical([2, 3, 5, 10, 20], 0.95) * 2**0.5, q, atol=1e-3)
    assert tukey_critical(1, 0.95) == 0


@pytest.mark.parametrize("groups", [2, 3, 7, 40])
def test_the_range_of_normal_numbers_agrees_with_scipy(groups):
    from scipy.stats import studentized_range

    for confidence in (0.5, 0.9, 0.99):
        expected = studentized_range.ppf(confidence, groups, np.inf) / 2**0.5
        assert tukey_critical(groups, confidence) == pytest.approx(expected, rel=1e-8)
    z = np.linspace(0.1, 5, 8)
    expected = studentized_range.sf(z * 2**0.5, groups, np.inf)
    np.testing.assert_allclose(tukey_p(z, groups), expected, rtol=1e-6, atol=1e-12)


def test_a_variance_needs_two_groups():
    assert np.isnan(between_variance([3], [10])).all()


def test_variance_between_groups_is_unbiased():
    rng = np.random.default_rng(5)
    truth = np.array([0.2, 0.3, 0.3, 0.4])
    naive, corrected = between_variance(rng.binomial(50, truth, (20_000, 4)), 50)
    assert corrected.mean() == pytest.approx(truth.var(ddof=1), abs=1.5e-4)
    assert naive.mean() > truth.var(ddof=1) + 0.003
