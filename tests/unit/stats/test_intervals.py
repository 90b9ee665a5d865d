"""Intervals of one number: published anchors and edge cases."""

import numpy as np
import pytest

from fairgauge.stats.intervals import (
    clopper_pearson,
    critical,
    critical_t,
    jeffreys,
    paired_ratio,
    wilson,
    wilson_odds,
)

Z = critical(0.95)
INF = np.inf


def test_critical_values():
    assert critical(0.95) == pytest.approx(1.959963984540054, abs=1e-12)
    assert critical(0.90) == pytest.approx(1.6448536269514722, abs=1e-12)
    assert critical(1 - 1e-12) == pytest.approx(7.130, abs=1e-3)
    np.testing.assert_allclose(critical_t(0.95, [1, 5, 30]), [12.706, 2.571, 2.042], atol=6e-4)
    assert critical_t(0.95, 0) == INF
    assert critical_t(0.95, INF) == critical(0.95)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, float("nan")])
def test_a_confidence_outside_0_and_1_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must lie inside \(0, 1\); found"):
        critical(confidence)


@pytest.mark.parametrize(
    ("x", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(x, n, low, high):
    """Newcombe (1998), Statistics in Medicine 17, 857-872, table I."""
    np.testing.assert_allclose(wilson(x, n, Z), (low, high), atol=6e-5)


def test_wilson_at_the_edges():
    low, high = wilson([0, 5, 0, 0.25], [5, 5, 0, 0.5], Z)
    assert low[0] == 0
    assert high[1] == 1
    assert (low[2], high[2]) == (0, 1)
    assert low[3] == pytest.approx(1 - high[3])
    assert wilson(3, 10, INF) == (0, 1)
    np.testing.assert_allclose(wilson(3, 10, 0), (0.3, 0.3))


@pytest.mark.parametrize("interval", [jeffreys, clopper_pearson])
def test_beta_limits_at_the_edges(interval):
    low, high = interval([0, 5, 0], [5, 5, 0], 0.95)
    assert (low[0], high[1]) == (0, 1)
    assert (low[2], high[2]) == (0, 1)


def test_clopper_pearson_as_published():
    """Newcombe (1998), table I, method 5."""
    np.testing.assert_allclose(clopper_pearson(15, 148, 0.95), (0.0578, 0.1617), atol=6e-5)


def test_odds_of_errors():
    low, high = wilson_odds([8, 3, 0, 0], [6, 0, 3, 0], Z)
    assert high[1] == INF
    assert low[1] > 0
    assert (low[2], low[3], high[3]) == (0, 0, INF)
    assert low[0] < 8 / 6 < high[0]


def test_paired_ratio_at_the_edges():
    low, high = paired_ratio([0, 0, 9, 0], [0, 4, 0, 0], [0, 0, 0, 5], Z)
    assert (low[0], high[0]) == (0, INF)
    assert low[1] > 0
    assert high[1] == INF
    assert low[2] < 1 < high[2]
    assert low[3] == 0
    assert np.isfinite(high[3])
