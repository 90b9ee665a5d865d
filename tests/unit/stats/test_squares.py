"""Intervals of mean squares, variances, their ratio, and standardised differences."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.intervals import critical
from fairgauge.stats.squares import central_moments, log_limits, tail_weight

Z = critical(0.95)
RNG = np.random.default_rng(7)


def moments(x, weight=None):
    w = np.ones(len(x)) if weight is None else weight
    return central_moments(w.sum(), *((w * x**k).sum() for k in range(1, 5)))


def rounded(number, digits=12):
    return float(f"{number:.{digits}g}")


def test_moments_about_the_mean():
    x = RNG.exponential(3, 200) + 20
    found = moments(x)
    away = x - x.mean()
    expected = [200, x.mean(), *((away**k).mean() for k in (2, 3, 4))]
    assert [float(each) for each in found] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("centre", "spread", "known"),
    [(0, 1e-60, True), (2_000, 10, True), (1e5, 3e4, True), (1e6, 1e2, False), (1e9, 1, False)],
)
def test_fourth_powers_that_rounding_spoils_are_not_known(centre, spread, known):
    x = centre + spread * RNG.normal(size=500)
    found = central_moments(500, *(rounded((x**k).sum()) for k in range(1, 5)))
    assert np.isnan(found.fourth) != known
    if known:
        assert float(found.fourth) == pytest.approx(((x - x.mean()) ** 4).mean(), rel=0.02)


def test_the_kurtosis_of_few_rows_is_raised():
    n = np.array([20.0, 100, 1e4, 1e12])
    raised = 3 * (n + 4) / n
    assert tail_weight(1.0, 3.0, n) == pytest.approx(
        raised + (12 / n) * (10 / np.sqrt(n) + 6 * raised / n), rel=1e-12
    )
    assert float(tail_weight(1.0, 1.8, 100)) == pytest.approx(1.8 * 1.04)  # short tails stay so
    assert np.isnan(tail_weight(1.0, 0.5, 100))  # no numbers have such powers
    assert np.isnan(tail_weight(0.0, 0.0, 100))


def test_the_spread_of_a_ratio_of_squares_is_that_of_the_rows():
    """The variance of ln(E/V) by the infinitesimal jackknife, one row's weight moved a little."""
    y = RNG.normal(10, 3, 60)
    p = 0.7 * y + 4 + RNG.normal(0, 1, 60)

    def log_ratio(weight):
        w = weight / weight.sum()
        mean = w @ y
        return np.log(w @ (p - y) ** 2) - np.log(w @ (y - mean) ** 2)

    step = 1e-5
    moved = [
        (log_ratio(np.ones(60) + step * row) - log_ratio(np.ones(60))) / (step / 60)
        for row in np.eye(60)
    ]
    e, d = p - y, y - y.mean()
    influence = e**2 / (e**2).mean() - d**2 / (d**2).mean()
    assert moved == pytest.approx(influence, abs=1e-3)
    share = (e**2).mean() / (d**2).mean()
    low, high = log_limits(share, (influence**2).mean(), 100.0, 60, Z)
    step = stats.t.ppf(0.975, 59) * np.sqrt((influence**2).mean() * (64 / 60) / 60)
    assert (float(low), float(high)) == pytest.approx((share * np.exp(-step), share * np.exp(step)))


def test_limits_hold_the_value_widen_with_the_level_and_narrow_with_rows():
    for n in (20, 200, 2_000):
        few, many = (
            [log_limits(0.4, 3.0, 2.0, rows, z) for z in (0.5, 1.96, 3.0)] for rows in (n, 4 * n)
        )
        for (low, high), (next_low, next_high) in pairwise(few):
            assert next_low < low < 0.4 < high < next_high
        for (low, high), (narrow_low, narrow_high) in zip(few, many, strict=True):
            assert low < narrow_low < 0.4 < narrow_high < high
