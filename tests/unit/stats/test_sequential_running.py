"""Confidence sequences: valid at every look, whatever the batches and however the rates drift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.sequential import BETS, boundary, running_contrast

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
