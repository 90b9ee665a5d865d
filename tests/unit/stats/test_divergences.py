"""Distances of label distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr

from fairgauge.stats.contrasts import newcombe
from fairgauge.stats.divergences import (
    divergence_interval,
    expected_distance,
    norm_interval,
)
from fairgauge.stats.significance import homogeneity_table

A, D = [50, 30, 20], [20, 18, 22]
RNG = np.random.default_rng


def distance(kind, a, d):
    """The distances by scipy and by their definitions, of counts of shape (..., K)."""
    p, q = (np.asarray(side) / np.sum(side, axis=-1, keepdims=True) for side in (a, d))
    if kind == "kl":
        return rel_entr(p, q).sum(-1)
    if kind == "js":
        return jensenshannon(p, q, axis=-1) ** 2
    order = {"tvd": 1, "ks": np.inf, "lp": 2}[kind]
    return np.linalg.norm(p - q, order, axis=-1) / (2 if kind == "tvd" else 1)


def test_expected_distance_against_simulation():
    rng = RNG(0)
    a, d = rng.multinomial(100, [0.5, 0.3, 0.2], 8000), rng.multinomial(60, [0.5, 0.3, 0.2], 8000)
    for kind in ("kl", "js", "tvd", "ks", "lp"):
        floor = expected_distance([50, 30, 20], [30, 18, 12], kind, RNG(1), 8000)
        values = distance(kind, a, d)
        assert floor == pytest.approx(values[np.isfinite(values)].mean(), rel=0.05), kind


@pytest.mark.parametrize("kind", ["kl", "js"])
def test_divergence_interval(kind):
    low, high, _ = divergence_interval(
        [A, [90, 10, 0], [5, 0, 5]], [D, [10, 90, 0], [0, 0, 0]], kind, 0.95, RNG(0)
    )
    assert low[0] <= distance(kind, A, D) <= high[0]
    assert low[1] > 0
    assert (low[2], high[2]) == (0, np.inf if kind == "kl" else np.log(2))


def test_a_lower_limit_above_zero_means_that_equality_is_rejected():
    rng = RNG(2)
    a, d = rng.multinomial(80, [0.4, 0.4, 0.2], 300), rng.multinomial(60, [0.3, 0.4, 0.3], 300)
    low, _, ours = divergence_interval(a, d, "js", 0.95, rng, 200)
    _, p = homogeneity_table(np.stack([a, d], axis=1))
    assert (low > 0).any()
    np.testing.assert_array_equal(low > 0, ours < 0.05)
    np.testing.assert_allclose(ours, p, atol=0.03)
    assert (np.abs(p[(p < 0.05) != (low > 0)] - 0.05) < 0.02).all()


def test_both_directions_of_a_divergence_are_one_test():
    rng = RNG(3)
    a, d = rng.multinomial(80, [0.5, 0.4, 0.1], 300), rng.multinomial(40, [0.3, 0.4, 0.3], 300)
    (low, _, p), (back, _, other) = (
        divergence_interval(*sides, "kl", 0.95, rng, 100) for sides in ((a, d), (d, a))
    )
    np.testing.assert_allclose(p, other, rtol=1e-12)
    assert 0.1 < (p < 0.05).mean() < 0.9
    np.testing.assert_array_equal(low > 0, p < 0.05)
    np.testing.assert_array_equal(back > 0, p < 0.05)


@pytest.mark.parametrize("norm", ["tvd", "ks", "lp"])
def test_norm_interval(norm):
    low, high, _ = norm_interval([A, A, [9, 0, 0]], [D, A, [0, 0, 0]], norm, 0.95, RNG(0))
    value = distance(norm, A, D)
    widest = 2**0.5 if norm == "lp" else 1
    assert low[0] <= value <= high[0] <= widest
    assert low[1] == 0
    assert (low[2], high[2]) == (0, pytest.approx(widest))


def test_two_categories_fold_newcombe():
    low, high = newcombe(30, 100, 60, 100, 1.959963984540054)
    for norm, factor in (("tvd", 1), ("ks", 1), ("lp", 2**0.5)):
        found = norm_interval([70, 30], [40, 60], norm, 0.95, RNG(0))[:2]
        np.testing.assert_allclose(found, (-high * factor, -low * factor), rtol=1e-9)


@pytest.mark.parametrize("norm", ["tvd", "ks", "lp"])
def test_a_norm_is_above_zero_exactly_where_p_is_small(norm):
    rng = RNG(5)
    a, d = rng.multinomial(60, [0.5, 0.3, 0.2], 300), rng.multinomial(90, [0.3, 0.4, 0.3], 300)
    low, _, p = norm_interval(a * 1.0, d * 1.0, norm, 0.95, rng, 199)
    assert 0 < (low > 0).mean() < 1
    np.testing.assert_array_equal(low > 0, p < 0.05)
