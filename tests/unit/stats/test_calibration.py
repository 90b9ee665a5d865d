"""Calibration errors and average precision, against independent values."""

import numpy as np
import pytest

from fairgauge.stats import scores
from fairgauge.stats.intervals import critical, wilson

Z = critical(0.95)
limits = scores.mean_error_limits


def bins(rng, n, size=10, power=1.3):
    s = rng.random(n)
    y = rng.random(n) < s**power
    at = np.minimum((s * size).astype(int), size - 1)
    return scores.Bins(*(np.bincount(at, v, size) for v in (np.ones(n), y, s, (s - y) ** 2)))


def test_a_single_bin_is_a_mean_with_normal_limits():
    rng = np.random.default_rng(3)
    one = bins(rng, 400, size=1)
    gap = float(one.score[0] - one.positives[0]) / 400
    smoothing = ((1 - one.score[0] / 400) ** 2 + (one.score[0] / 400) ** 2) / 2
    error = np.sqrt((one.squares[0] + smoothing) / 400 - gap**2) / 20
    low, high = limits(one, Z)
    assert (float(low), float(high)) == pytest.approx(
        (max(abs(gap) - Z * error, 0), abs(gap) + Z * error), rel=1e-5
    )


def test_errors_hold_their_value_widen_with_the_level_and_narrow_with_rows():
    rng = np.random.default_rng(5)
    few = bins(rng, 300)
    gap = np.abs(few.score - few.positives)
    value = gap.sum() / 300
    before = (value, value)
    for z in (0.0, 0.5, 1.0, 2.0, 4.0):
        low, high = limits(few, z)
        assert low <= before[0] + 1e-12
        assert high >= before[1] - 1e-12
        before = (float(low), float(high))
    many = scores.Bins(*(16 * each for each in few))
    assert np.ptp(limits(many, Z)) < np.ptp(limits(few, Z))
    assert all(limits(bins(rng, 100, power=1), Z)[0] < 0.02 for _ in range(50))  # all calibrated


def test_empty_bins_count_for_nothing_and_no_rows_give_nothing():
    rng = np.random.default_rng(6)
    some = bins(rng, 200)
    padded = scores.Bins(*(np.append(each, 0.0) for each in some))
    none = scores.Bins(*(np.zeros(3) for _ in range(4)))
    assert np.allclose(limits(padded, Z), limits(some, Z))
    assert np.isnan(limits(none, Z)).all()


def test_the_influence_on_average_precision_is_that_of_leaving_rows_out():
    rng = np.random.default_rng(7)
    pos, neg = rng.integers(0, 9, 30).astype(float), rng.integers(0, 12, 30).astype(float)
    average, variance = scores.precision_from_counts(pos, neg)
    n, left_out, times = pos.sum() + neg.sum(), [], []
    for which, counts in enumerate((pos, neg)):
        for at in np.flatnonzero(counts):
            less = [pos.copy(), neg.copy()]
            less[which][at] -= 1
            left_out.append(float(scores.precision_from_counts(*less)[0]))
            times.append(counts[at])
    away = np.array(left_out) - np.average(left_out, weights=times)
    jackknife = (n - 1) / n * (np.array(times) * away**2).sum()
    binomial = float(average * (1 - average)) / pos.sum()
    assert float(variance) == pytest.approx(max(jackknife, binomial), rel=0.03)


def test_average_precision_of_one_label_or_a_perfect_ranking():
    average, variance = scores.precision_from_counts([0, 0, 5], [7, 3, 0])
    low, high = scores.precision_interval(average, variance, 5, Z)
    assert (float(low), float(high)) == pytest.approx([float(v) for v in wilson(5, 5, Z)])
    assert np.isnan(scores.precision_from_counts([0, 0], [7, 3])[0])
