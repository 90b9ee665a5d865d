"""Rankings: shared ranks, prefixes, divergence of random rankings, intervals of exposure."""

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.intervals import critical
from fairgauge.stats.row_statistics import exposure_interval, top_ratio

RNG = np.random.default_rng
Z = critical(0.95)


def worths(n):
    return 1 / np.log2(np.arange(2, n + 2))


def test_top_limits_are_wilsons():
    ci = stats.binomtest(30, 100, 0.4).proportion_ci(0.95, method="wilson")
    low, high = top_ratio(30, 70, 400, 600, Z)
    odds = [each / (1 - each) * 1.5 for each in (ci.low, ci.high)]
    assert [low, high] == pytest.approx(odds)


def test_exposure_intervals_hold_for_random_rankings_and_few_rows_among_many():
    rng, e = RNG(3), worths(400)
    held = 0
    for _ in range(200):
        drawn = rng.permutation(e)
        low, high, p = exposure_interval(drawn[:20], drawn[20:], Z)
        held += low <= 1 <= high
        assert (low <= 1 <= high) == (p >= 0.05)
    assert held / 200 > 0.95


def test_exposure_intervals_mirror_with_the_sides():
    e = worths(120)
    ours, theirs = e[::3], np.delete(e, np.arange(0, 120, 3))
    low, high, p = exposure_interval(ours, theirs, Z)
    turned = exposure_interval(theirs, ours, Z)
    assert turned == pytest.approx((1 / high, 1 / low, p), rel=1e-5)
    value = ours.mean() / theirs.mean()
    assert low < value < high
    wide = exposure_interval(ours, theirs, critical(0.99))
    assert wide[0] < low
    assert wide[1] > high
    long = worths(12_000)
    narrow = exposure_interval(long[::3], np.delete(long, np.arange(0, 12_000, 3)), Z)
    assert narrow[1] - narrow[0] < (high - low) / 3
