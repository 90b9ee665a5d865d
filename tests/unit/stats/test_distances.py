"""Distances of distributions: values, intervals, expected values, tests, coverage."""

import math

import numpy as np
import pytest
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
from fairgauge.stats.significance import homogeneity_table

A, D = np.array([50.0, 30, 20]), np.array([20.0, 18, 22])
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
