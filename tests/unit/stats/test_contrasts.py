"""Intervals of differences and ratios: published anchors and edge cases."""

import numpy as np
import pytest

from fairgauge.stats._roots import rates_given_difference, rates_given_ratio
from fairgauge.stats.contrasts import (
    mover_wilson_ratio,
    newcombe,
    score_difference,
    score_ratio,
    welch_degrees,
)
from fairgauge.stats.intervals import critical

Z = critical(0.95)
INF = np.inf


@pytest.mark.parametrize(
    ("table", "newcombe_limits", "mn_limits"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339), (0.0528, 0.3382)),
        ((9, 10, 3, 10), (0.1705, 0.8090), (0.1700, 0.8406)),
        ((6, 7, 2, 7), (0.0582, 0.8062), (0.0342, 0.8534)),
        ((5, 56, 0, 29), (-0.0381, 0.1926), (-0.0326, 0.1933)),
        ((0, 10, 0, 20), (-0.1611, 0.2775), (-0.1658, 0.2844)),
        ((10, 10, 0, 20), (0.6791, 1.0), (0.7156, 1.0)),
    ],
)
def test_differences_as_published(table, newcombe_limits, mn_limits):
    """Newcombe (1998), Statistics in Medicine 17, 873-890, table II, methods 10 and 5."""
    np.testing.assert_allclose(newcombe(*table, Z), newcombe_limits, atol=6e-5)
    found = score_difference(*table, Z, skewness=False)
    np.testing.assert_allclose(found, mn_limits, atol=1.1e-4)


@pytest.mark.parametrize(
    ("table", "mover_limits", "mn_limits"),
    [
        ((24, 73, 53, 65), (0.282, 0.563), (0.280, 0.560)),
        ((29, 55, 11, 11), (0.398, 0.761), (0.397, 0.742)),
        ((7, 18, 1, 18), (1.277, 40.751), (1.296, 42.544)),
    ],
)
def test_ratios_as_published(table, mover_limits, mn_limits):
    """Fagerland & Newcombe (2013), Statistics in Medicine 32, 2823-2836."""
    np.testing.assert_allclose(mover_wilson_ratio(*table, Z), mover_limits, atol=6e-4)
    found = score_ratio(*table, Z, skewness=False)
    np.testing.assert_allclose(found, mn_limits, atol=6e-4)


def test_skewness_corrected_scores_as_published():
    """Gart & Nam (1990) for the difference, (1988) for the ratio."""
    found = score_difference(7, 25, 2, 25, Z, small_sample=False)
    np.testing.assert_allclose(found, (-0.014, 0.414), atol=6e-4)
    found = score_ratio(8, 15, 4, 15, Z, small_sample=False)
    np.testing.assert_allclose(found, (0.806, 6.148), atol=6e-4)


def test_ratio_edges():
    low, high = mover_wilson_ratio([0, 5, 0, 5], [10, 10, 10, 0], [5, 0, 0, 5], 10, Z)
    assert low[0] == 0
    assert np.isfinite(high[0])
    assert low[1] > 0
    assert high[1] == INF
    assert (low[2], high[2]) == (0, INF)
    assert low[3] >= 0


def test_score_edges():
    low, high = score_difference([10, 0, 0, 10, 3], [10, 10, 10, 10, 0], [0, 10, 0, 10, 4], 10, Z)
    assert (high[0], low[1]) == (1, -1)
    assert low[2] == pytest.approx(-high[2])
    assert low[3] == pytest.approx(-high[3])
    assert (low[4], high[4]) == (-1, 1)
    low, high = score_ratio([10, 0, 0, 3], [10, 10, 10, 0], [0, 10, 0, 4], [20, 10, 10, 10], Z)
    assert high[0] == INF
    assert 1 < low[0] < 10  # the corrected form would say 7e10
    assert low[1] == 0
    assert high[1] < 1
    assert (low[2], high[2]) == (0, INF)
    assert (low[3], high[3]) == (0, INF)


def test_score_limits_satisfy_their_own_equation():
    """The constrained likelihood at the limit, checked against a fine grid."""
    low, _ = score_difference(12, 40, 5, 30, critical(0.9), skewness=False)
    grid = np.linspace(1e-6, 1 - 1e-6, 200_001)
    p1 = grid + low
    inside = (p1 > 0) & (p1 < 1)
    p1, p2 = p1[inside], grid[inside]
    like = 12 * np.log(p1) + 28 * np.log(1 - p1) + 5 * np.log(p2) + 25 * np.log(1 - p2)
    q1, q2 = p1[like.argmax()], p2[like.argmax()]
    variance = (q1 * (1 - q1) / 40 + q2 * (1 - q2) / 30) * 70 / 69
    assert (0.3 - 5 / 30 - low) / np.sqrt(variance) == pytest.approx(critical(0.9), abs=1e-4)


def test_restricted_rates_obey_their_restriction():
    p1, p2 = rates_given_difference(3, 10, 20, 25, np.linspace(-1, 1, 21))
    np.testing.assert_allclose(p1 - p2, np.linspace(-1, 1, 21), atol=1e-12)
    assert (np.array([p1, p2]) >= 0).all()
    assert (np.array([p1, p2]) <= 1).all()
    p1, p2 = rates_given_ratio(3, 10, 20, 25, [0.1, 1, 10])
    np.testing.assert_allclose(p1 / p2, [0.1, 1, 10])


def test_welch_degrees_agree_with_scipy():
    from scipy.stats import ttest_ind

    a, b = np.array([1.0, 2, 4, 7, 3]), np.array([2.0, 2, 1, 0, 5, 3, 1])
    found = welch_degrees(a.var(ddof=1), 5, b.var(ddof=1), 7)
    assert found == pytest.approx(ttest_ind(a, b, equal_var=False).df)
    assert welch_degrees(0, 9, 0, 9) == INF
