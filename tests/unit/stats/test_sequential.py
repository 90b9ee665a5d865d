"""Monitoring: e-values valid under the null, a detector with few false alarms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import EVERY_CASE

from fairgauge.stats.intervals import critical
from fairgauge.stats.sequential import (
    BETS,
    LEVEL_OF_ERRORS,
    Tolerated,
    boundary,
    deviations,
    evidence_of_change,
    likeliest_start,
    running_contrast,
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


SHARE = st.floats(0, 1)


@given(
    p=SHARE, weight=SHARE, expected=SHARE, bet=st.sampled_from(BETS), sign=st.sampled_from([1, -1])
)
def test_no_row_raises_what_is_expected(p, weight, expected, bet, sign):
    """The factor of every row has an expectation of at most 1: what the proof rests on."""
    psi = -np.log1p(-bet) - bet
    mean = 0.0
    for x, chance in ((1, p), (0, 1 - p)):
        deviation, square = sign * weight * (x - p), weight**2 * (x - expected) ** 2
        mean += chance * np.exp(bet * deviation - psi * square)
    assert mean <= 1 + 1e-12


def test_the_boundary_is_the_lowest_line_of_all_slopes():
    """At its slope a line touches the least bound of Ville's inequality for that slope."""
    needed = np.log(2 * len(BETS) / 0.05)
    v = np.geomspace(1, 1e8, 60)
    lines = [(needed + (-np.log1p(-bet) - bet) * v) / bet for bet in BETS]
    np.testing.assert_allclose(boundary(v, 0.05), np.min(lines, axis=0))
    # near the best possible: within a factor of that of a bound for one variance alone
    assert (boundary(v[20:], 0.05) / np.sqrt(2 * v[20:] * needed)).max() < 1.1


def streams(rng, days=365, years=300):
    """Rates that drift, and batches from none to hundreds of rows."""
    day = np.arange(days)[:, None]
    a = 0.3 + 0.2 * np.sin(day / 40) + np.zeros(years)
    d = np.clip(a + 0.1 * np.sin(day / 90), 0, 1)
    n_a = np.floor(rng.lognormal(4, 1, (days, years)))
    n_d = np.floor(n_a * rng.random((days, years)))
    x_a, x_d = rng.binomial(n_a.astype(int), a), rng.binomial(n_d.astype(int), d)
    return a, d, x_a, n_a, x_d, n_d


@pytest.mark.parametrize("comparison", ["difference", "ratio", "rate"])
def test_all_intervals_of_a_year_hold_together(comparison):
    a, d, x_a, n_a, x_d, n_d = streams(np.random.default_rng(1))
    value, low, high = running_contrast(comparison, x_a, n_a, x_d, n_d)
    weight = n_d if comparison == "rate" else n_a * n_d / np.maximum(n_a + n_d, 1)
    total = weight.cumsum(axis=0)
    with np.errstate(invalid="ignore"):
        of_a, of_d = ((weight * each).cumsum(axis=0) / total for each in (a, d))
    truth = {"difference": of_d - of_a, "ratio": of_d / of_a, "rate": of_d}[comparison]
    missed = (truth < low) | (truth > high)
    assert missed.any(axis=0).mean() <= 0.05
    assert (low <= value)[~np.isnan(value)].all()
    assert np.isfinite(high[-1]).all()
