"""Intervals of mean squares, variances, their ratio, and standardised differences."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import chndtr, stdtr

from fairgauge.stats import scores
from fairgauge.stats._roots import bisect, falling_root, noncentrality, t_above
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.squares import central_moments, log_limits, tail_weight

# ---- calibration errors and average precision, against independent values
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


# ---- roots, crossings and inverses against functions whose roots are known
ENDS = np.zeros(4), np.full(4, 37.0)


def test_roots_of_powers():
    target = np.array([2.0, 30.0, 1e-9, 1300.0])
    np.testing.assert_allclose(falling_root(lambda x: target - x**2, *ENDS), target**0.5, rtol=1e-9)
    inside, outside = bisect(lambda x: x**2 < target, *ENDS)
    np.testing.assert_allclose(inside, target**0.5, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_less(outside - inside, 1e-14)


def test_functions_without_a_root_return_an_end():
    level = np.array([-1.0, 0.0, 1e6, np.nan])
    np.testing.assert_array_equal(falling_root(lambda x: level - x, *ENDS), [0, 0, 37, 0])


TAILS = np.array([0.4, 0.1, 0.025, 1e-3, 1e-6])


def test_t_of_one_and_two_degrees_of_freedom_in_closed_form():
    one = 1 / np.tan(np.pi * TAILS)
    two = (1 - 2 * TAILS) / np.sqrt(2 * TAILS * (1 - TAILS))
    np.testing.assert_allclose(t_above(1, TAILS), one, rtol=2e-15)
    np.testing.assert_allclose(t_above(2, TAILS), two, rtol=2e-15)


def test_inverses_have_the_precision_of_their_distribution_functions():
    """Some versions of scipy solve for these inverses to nine digits."""
    random = np.random.default_rng(0)
    degrees = np.exp(random.uniform(np.log(0.7), np.log(1e6), 500))
    tails = 10 ** random.uniform(-8, -0.31, 500)
    np.testing.assert_allclose(stdtr(degrees, -t_above(degrees, tails)), tails, rtol=1e-12)
    x, whole = random.uniform(18, 90, 500), random.integers(1, 8, 500)
    found = chndtr(x, whole, noncentrality(x, whole, 0.975))
    np.testing.assert_allclose(found, 0.975, rtol=1e-13)


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
