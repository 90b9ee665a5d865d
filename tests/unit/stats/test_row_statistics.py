"""Neighbours by brute force, quantiles of two samples, and rankings: ties, limits, mirrors."""

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.intervals import critical
from fairgauge.stats.row_statistics import (
    Neighbours,
    compared_quantiles,
    disagreement,
    exposure_interval,
    jackknifed_share,
    quantile_limits,
    top_ratio,
)

RNG = np.random.default_rng
Z = critical(0.95)


def brute(points, values, at, k):
    """Return the mean of the k nearest, those at the k-th distance by share."""
    squared = ((points - at) ** 2).sum(axis=1)
    k = min(k, len(points))
    last = np.sort(squared)[k - 1]
    inside, tied = squared < last, squared == last
    return (values[inside].sum() + (k - inside.sum()) * values[tied].mean()) / k


def off(points, decided, k):
    return np.mean([abs(y - brute(points, decided, x, k)) for x, y in zip(points, decided)])  # noqa: B905


def grid(n, seed):
    rng = RNG(seed)
    return rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, 2, n).astype(float)


@pytest.mark.parametrize("k", [1, 3, 5, 100])
def test_means_by_brute_force(k):
    points, values = grid(60, 0)
    queries, _ = grid(15, 1)
    found = Neighbours.of(points).mean(values, queries + 0.5, k)
    assert found == pytest.approx([brute(points, values, q, k) for q in queries + 0.5])


def test_without_a_block_is_as_if_it_had_never_been():
    """Of forty rows every block is one row: all ways to leave one out, by brute force."""
    points, decided = grid(40, 3)
    found = disagreement(points, decided, 5, RNG(0))
    assert found[0] == pytest.approx(off(points, decided, 5))
    keep = ~np.eye(40, dtype=bool)
    one_out = [off(points[each], decided[each], 5) for each in keep]
    assert sorted(found[1:]) == pytest.approx(sorted(one_out))


def test_the_order_of_rows_is_nothing():
    points, decided = grid(150, 5)
    order = RNG(9).permutation(150)
    one = disagreement(points, decided, 5, RNG(0))
    assert (disagreement(points[order], decided[order], 5, RNG(0)) == one).all()


def test_limits_of_a_mean_of_independent_rows_are_wilsons():
    """Leaving rows out one by one gives p q / (n - 1), so the mean is worth n - 1 rows."""
    y = np.repeat([1.0, 0.0], [12, 28])
    values = np.array([y.mean(), *((y.sum() - y) / 39)])
    low, high = jackknifed_share(values, 40, 0.95)
    t, n, p = 2.0226909, 39.0, 0.3
    centre = (p + t * t / (2 * n)) / (1 + t * t / n)
    half = t / (1 + t * t / n) * np.sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    assert (low, high) == pytest.approx((centre - half, centre + half), rel=1e-6)


@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (25, (8, 18)), (100, (40, 61))]
)
def test_ranks_of_the_median_are_those_of_the_tables(n, ranks):
    """Conover (1999), Practical Nonparametric Statistics: binomial ranks at 95%."""
    assert quantile_limits(np.arange(1.0, n + 1), 0.5, Z) == ranks


@pytest.mark.parametrize("ratio", [False, True])
def test_p_values_invert_the_interval_and_sides_mirror(ratio):
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.1, 0.3):
        ours, theirs = rng.lognormal(shift, 0.5, 120), rng.lognormal(0, 0.5, 80)
        for level in (0.8, 0.95, 0.999):
            found = compared_quantiles(ours, theirs, 0.5, level, ratio=ratio)
            other = compared_quantiles(theirs, ours, 0.5, level, ratio=ratio)
            none = 1 if ratio else 0
            assert (found.p < 1 - level) == (not found.low <= none <= found.high)
            mirrored = (1 / other.high, 1 / other.low) if ratio else (-other.high, -other.low)
            assert (found.low, found.high) == pytest.approx(mirrored)
            assert found.p == pytest.approx(other.p)


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
