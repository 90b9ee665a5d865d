"""Distances of distributions: values, intervals, expected values, tests, coverage."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr

from fairgauge.stats import distances
from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.distances import (
    HALF_A_ROW,
    ball,
    distance_ball,
    divergence_interval,
    expected_divergence,
    norm,
    two_shares,
)
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
from fairgauge.stats.significance import homogeneity_table

A, D = np.array([50.0, 30, 20]), np.array([20.0, 18, 22])
# ---- neighbours by brute force, quantiles of two samples, and rankings: ties, limits, mirrors
RNG = np.random.default_rng
NORMS = ("tvd", "ks", "lp")


def distance(kind, a, d):
    """The distances by scipy and by their definitions, of counts of shape (..., K)."""
    p, q = (np.asarray(side) / np.sum(side, axis=-1, keepdims=True) for side in (a, d))
    if kind == "kl":
        return rel_entr(p, q).sum(-1)
    if kind == "js":
        return jensenshannon(p, q, axis=-1) ** 2
    order = {"tvd": 1, "ks": np.inf, "lp": 2}[kind]
    return np.linalg.norm(p - q, order, axis=-1) / (2 if kind == "tvd" else 1)


def norm_ball(a, d, kind, rng, draws=2000):
    value = float(distance(kind, a, d)) if min(a.sum(), d.sum()) else math.nan
    return distance_ball(
        a, d, value, lambda gaps: norm(gaps, kind), 0.95, rng, draws, added=HALF_A_ROW
    )


def test_expected_distances_are_those_of_samples_of_one_distribution():
    rng = RNG(0)
    a, d = rng.multinomial(100, [0.5, 0.3, 0.2], 8000), rng.multinomial(60, [0.5, 0.3, 0.2], 8000)
    one, two = np.array([50.0, 30, 20]), np.array([30.0, 18, 12])
    for kind in ("kl", "js", *NORMS):
        if kind in NORMS:
            floor = norm_ball(one, two, kind, RNG(1), 8000).expected
        else:
            floor = expected_divergence(one, two, kind)
        values = distance(kind, a, d)
        assert floor == pytest.approx(values[np.isfinite(values)].mean(), rel=0.05), kind


def test_two_categories_fold_newcombe_and_expect_what_samples_show():
    low, high = newcombe(30, 100, 60, 100, 1.959963984540054)
    rng = RNG(0)
    a, d = (rng.multinomial(100, [0.55, 0.45], 20_000) for _ in range(2))
    for kind, factor in (("tvd", 1), ("ks", 1), ("lp", 2**0.5)):
        found = two_shares(np.array([[70.0, 30]]), np.array([[40.0, 60]]), kind, 0.95)
        np.testing.assert_allclose(np.ravel(found[:2]), (-high * factor, -low * factor), rtol=1e-9)
        assert found[3] == pytest.approx(distance(kind, a, d).mean(), rel=0.02)


@pytest.mark.parametrize("kind", NORMS)
def test_an_interval_of_a_norm(kind):
    found = norm_ball(A, D, kind, RNG(0))
    assert found.low <= distance(kind, A, D) <= found.high
    assert norm_ball(A, A, kind, RNG(0)).low == 0
    assert np.isnan(norm_ball(np.array([9.0, 0, 0]), np.zeros(3), kind, RNG(0))).all()
    assert norm_ball(np.array([1.0, 0, 0]), D, kind, RNG(0)).high == np.inf  # one row shows nothing


def test_a_distance_is_above_zero_exactly_where_p_is_small():
    rng = RNG(5)
    a, d = rng.multinomial(60, [0.5, 0.3, 0.2], 100), rng.multinomial(90, [0.3, 0.4, 0.3], 100)
    found = np.array(
        [norm_ball(x * 1.0, y * 1.0, "tvd", rng, 199) for x, y in zip(a, d, strict=True)]
    )
    assert 0 < (found[:, 0] > 0).mean() < 1
    np.testing.assert_array_equal(found[:, 0] > 0, found[:, 2] < 0.05)


def test_too_few_draws_exclude_nothing():
    assert ball(np.ones(10), np.ones(10), 5.0, 0.95).high == np.inf


@pytest.mark.parametrize("kind", ["kl", "js"])
def test_divergence_interval(kind):
    low, high, _ = divergence_interval(
        [A, [90, 10, 0], [5, 0, 5]], [D, [10, 90, 0], [0, 0, 0]], kind, 0.95, [RNG(0)] * 3
    )
    assert low[0] <= distance(kind, A, D) <= high[0]
    assert low[1] > 0
    assert (low[2], high[2]) == (0, np.inf if kind == "kl" else np.log(2))


def test_a_lower_limit_above_zero_means_that_equality_is_rejected():
    rng = RNG(2)
    a, d = rng.multinomial(80, [0.4, 0.4, 0.2], 300), rng.multinomial(60, [0.3, 0.4, 0.3], 300)
    low, _, ours = divergence_interval(a, d, "js", 0.95, [rng] * 300, 200)
    _, p = homogeneity_table(np.stack([a, d], axis=1))
    assert (low > 0).any()
    np.testing.assert_array_equal(low > 0, ours < 0.05)
    np.testing.assert_allclose(ours, p, atol=0.03)
    assert (np.abs(p[(p < 0.05) != (low > 0)] - 0.05) < 0.02).all()


def test_both_directions_of_a_divergence_are_one_test():
    rng = RNG(3)
    a, d = rng.multinomial(80, [0.5, 0.4, 0.1], 300), rng.multinomial(40, [0.3, 0.4, 0.3], 300)
    (low, _, p), (back, _, other) = (
        divergence_interval(*sides, "kl", 0.95, [rng] * 300, 100) for sides in ((a, d), (d, a))
    )
    np.testing.assert_allclose(p, other, rtol=1e-12)
    assert 0.1 < (p < 0.05).mean() < 0.9
    np.testing.assert_array_equal(low > 0, p < 0.05)
    np.testing.assert_array_equal(back > 0, p < 0.05)


def test_noise_of_many_groups_is_that_of_simulated_ones():
    rng = np.random.default_rng(2)
    error, weight = np.array([0.01, 0.02, 0.02, 0.05]), np.array([0.4, 0.3, 0.2, 0.1])
    drawn = rng.normal(size=(400_000, 4)) * error
    away = drawn - (drawn * weight).sum(1, keepdims=True)
    simulated = np.sqrt((weight * away**2).sum(1))
    for confidence in (0.5, 0.9, 0.95, 0.99):
        found = distances.error_dispersion_quantile(error, weight, critical(confidence))
        assert float(found) == pytest.approx(np.quantile(simulated, confidence), rel=0.03)


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
