"""Differences of paired proportions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import paired_difference, paired_p

Z = critical(0.95)


def test_published_limits():
    # Fagerland, Lydersen & Laake (2014), airway reactivity: 1 and 7 of 21 pairs differ
    low, high = paired_difference(1, 7, 21, Z)
    assert (round(float(low), 3), round(float(high), 3)) == (-0.517, -0.026)
    # R: PropCIs 0.3-0, scoreci.mp(25, 28, 618, 0.90)
    low, high = paired_difference(28, 25, 618, critical(0.90))
    assert (round(float(low), 4), round(float(high), 4)) == (-0.0148, 0.0247)


@pytest.mark.parametrize(("better", "worse", "n"), [(5, 12, 40), (3, 0, 25), (30, 28, 90)])
def test_limits_by_numerical_likelihood(better, worse, n):
    """The restricted chance is maximised numerically, without its closed form."""

    def score(gap):
        least = max(0.0, -gap)

        def unlikely(q):
            chances = np.clip([q + gap, q, 1 - 2 * q - gap], 1e-300, 1)
            return -np.dot([better, worse, n - better - worse], np.log(chances))

        bounds = (least + 1e-12, (1 - gap) / 2 - 1e-12)
        q = minimize_scalar(unlikely, bounds=bounds, options={"xatol": 1e-13}).x
        return (better - worse - n * gap) / np.sqrt(n * (2 * q + gap - gap**2))

    centre = (better - worse) / n
    low = brentq(lambda gap: score(gap) - Z, -0.95, centre - 1e-6)
    high = brentq(lambda gap: score(gap) + Z, centre + 1e-6, 0.95)
    assert paired_difference(better, worse, n, Z) == pytest.approx((low, high), abs=1e-5)


def test_p_value_and_limits_agree():
    rng = np.random.default_rng(0)
    better, worse = rng.integers(0, 15, (2, 300))
    low, high = paired_difference(better, worse, 40, Z)
    assert ((paired_p(better, worse) < 0.05) == ((low > 0) | (high < 0))).all()


def test_edges():
    low, high = paired_difference([0, 0, 5], [0, 0, 0], [0, 50, 5], Z)
    assert [low[0], high[0]] == [-1, 1]  # no rows
    assert high[1] == -low[1] == pytest.approx(Z**2 / (50 + Z**2))  # none decided differently
    assert 0 < low[2] < high[2] == 1  # all
    assert paired_p(0, 0) == 1


def test_laws():
    better, worse = np.array([4, 9, 0]), np.array([9, 2, 3])
    low, high = paired_difference(better, worse, 60, Z)
    value = (better - worse) / 60
    assert ((low < value) & (value < high)).all()
    wide = paired_difference(better, worse, 60, critical(0.99))
    assert ((wide[0] < low) & (wide[1] > high)).all()
    more = paired_difference(better * 10, worse * 10, 600, Z)
    assert (more[1] - more[0] < high - low).all()
    turned = paired_difference(worse, better, 60, Z)
    np.testing.assert_allclose(turned, (-high, -low))
