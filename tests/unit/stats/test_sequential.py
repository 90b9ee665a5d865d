"""Monitoring: e-values valid under the null, a detector with few false alarms."""

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.stats.intervals import critical
from fairgauge.stats.sequential import (
    LEVEL_OF_ERRORS,
    Tolerated,
    deviations,
    evidence_of_change,
    likeliest_start,
)


def expectation(tolerated, a, d, n_a, n_d, p, q):
    """E[e] at the rates p, q: a product of two powers."""
    a0, d0 = tolerated.project(a, d, n_a, n_d)
    mean_a = p * a / a0 + (1 - p) * (1 - a) / (1 - a0)
    mean_d = q * d / d0 + (1 - q) * (1 - d) / (1 - d0)
    return mean_a**n_a * mean_d**n_d


@pytest.mark.parametrize(
    ("tolerated", "a", "d"),
    [
        (Tolerated(-0.05, 0.05), 0.3, 0.42),
        (Tolerated(0.0, 0.0), 0.3, 0.15),
        (Tolerated(-np.inf, 0.1), 0.2, 0.5),
        (Tolerated(0.8, np.inf, "ratio"), 0.4, 0.2),
        (Tolerated(0.8, 1.25, "ratio"), 0.3, 0.6),
    ],
)
def test_no_bet_wins_under_the_null(tolerated, a, d):
    p, q = np.meshgrid(np.linspace(0.001, 0.999, 80), np.linspace(0.001, 0.999, 80))
    null = tolerated.contains(p, q)
    assert null.any()
    for n_a, n_d in ((200, 100), (20, 40), (1, 1)):
        assert expectation(tolerated, a, d, n_a, n_d, p, q)[null].max() <= 1 + 1e-9
        a0, d0 = tolerated.project(a, d, n_a, n_d)
        assert expectation(tolerated, a, d, n_a, n_d, a0, d0) == pytest.approx(1)


MONITORS = 600 if EVERY_CASE else 300


def watch(shift, tolerated=None, monitors=MONITORS, days=365, seed=0):
    """First day of alarm per monitor, 200 and 100 rows a day, rate .3 and .3 + shift(day)."""
    rng = np.random.default_rng(seed)
    rates = 0.3 + np.array([shift(day) for day in range(days)])[:, np.newaxis]
    x_a, x_d = rng.binomial(200, 0.3, (days, monitors)), rng.binomial(100, rates, (days, monitors))
    n_a, n_d = np.full(x_a.shape, 200), np.full(x_d.shape, 100)
    evidence = evidence_of_change(tolerated or Tolerated(-0.05, 0.05), x_a, n_a, x_d, n_d)
    alarm = evidence >= 365 / 0.05
    return np.where(alarm.any(axis=0), 1 + np.argmax(alarm, axis=0), np.inf)


def test_false_alarms_in_a_year():
    """On the edge of the tolerance at most 5 %, measured 2 %; inside it none."""
    error = 3 * np.sqrt(0.05 * 0.95 / MONITORS)
    assert np.isfinite(watch(lambda day: 0.05)).mean() <= 0.05 + error
    assert np.isfinite(watch(lambda day: 0.0)).mean() <= 0.01
    equal = watch(lambda day: 0.0, Tolerated(0.0, 0.0))
    assert np.isfinite(equal).mean() <= 0.05 + error


def test_the_likeliest_start_is_that_of_the_shift():
    rng = np.random.default_rng(3)
    starts = []
    for _ in range(50):
        x_d = [*rng.binomial(100, 0.3, 40), *rng.binomial(100, 0.5, 8)]
        x_a = rng.binomial(200, 0.3, 48)
        starts.append(likeliest_start(Tolerated(-0.05, 0.05), x_a, [200] * 48, x_d, [100] * 48))
    assert np.median(starts) == 40
    assert np.mean(np.abs(np.subtract(starts, 40)) <= 2) > 0.8


def test_deviations_are_those_of_the_half_that_faces_the_limit():
    most = critical(LEVEL_OF_ERRORS)
    below, above = deviations([0.2, 0.5, np.nan, 0.9], [0.1, 0.4, np.nan, 0.9],
                              [0.6, 0.6, np.nan, 0.9], 0.4, 0.8)  # fmt: skip
    assert below[:2] == pytest.approx([most / 2, -most])
    assert above[:2] == pytest.approx([-6 * most, -3 * most])
    assert np.isnan([below[2], above[2]]).all()
    assert above[3] == most
    assert below[3] < 0
