"""Shares of clusters that differ in size: jackknife variance, degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.stats.cluster_robust import (
    cluster_interval,
    cluster_share,
    pooled_correlation,
    satterthwaite_degrees,
    share_deviations,
    shared_correlation,
)
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical, critical_t
from fairgauge.stats.jackknife import deviations

Z = critical(0.95)
clusters = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=2, max_size=9).map(
    lambda c: (np.array([min(x, m) for x, m in c]), np.array([m for _, m in c]))
)


def one_left_out(x, m):
    """The delete-one jackknife, cluster by cluster."""
    values = [np.delete(x, c).sum() / np.delete(m, c).sum() for c in range(len(x))]
    whole = x.sum() / m.sum()
    return (len(x) - 1) / len(x) * ((np.array(values) - whole) ** 2).sum()


@settings(deadline=None)
@given(table=clusters)
def test_the_variance_is_that_of_leaving_out_each_cluster(table):
    x, m = table
    variance = (share_deviations(x, m) ** 2).sum()
    assert variance == pytest.approx(one_left_out(x, m), rel=1e-9, abs=1e-15)
    assert cluster_share(x, m, Z).variance == pytest.approx(variance)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(1, 40), min_size=2, max_size=9))
def test_the_degrees_are_bell_and_mccaffreys(sizes):
    """From the matrix whose trace they are: (sum of eigenvalues)^2 over the sum of squares."""
    m = np.array(sizes, dtype=float)
    total, count = m.sum(), len(m)
    design = np.repeat(np.eye(count), sizes, axis=0)  # rows by clusters
    away = np.eye(int(total)) - 1 / total  # rows less their mean
    scaled = away @ design / (total - m)  # a deviation of each cluster's total, left out
    products = scaled.T @ scaled
    expected = np.trace(products) ** 2 / (products**2).sum()
    assert satterthwaite_degrees(m) == pytest.approx(expected, rel=1e-9)


def test_equal_clusters_have_one_degree_less_than_clusters():
    np.testing.assert_allclose(satterthwaite_degrees(np.full(17, 8.0)), 16)
    share = cluster_share(np.arange(17) % 5, np.full(17, 8), Z)
    assert share.clusters == pytest.approx(17)


def test_single_rows_as_clusters_are_independent_rows():
    x = np.repeat([1, 0], [30, 70])
    share = cluster_share(x, np.ones(100), Z)
    assert share.variance == pytest.approx(0.21 / 99)
    assert share.n_eff == pytest.approx(99)
    assert share.degrees == pytest.approx(99)


def test_a_dominant_cluster_hides_in_the_sandwich_but_not_here():
    m = np.array([70, *[1] * 30])
    x = np.array([63, *[0, 1] * 15])
    p, total = x.sum() / m.sum(), m.sum()
    sandwich = 31 / 30 * ((x - p * m) ** 2).sum() / total**2
    share = cluster_share(x, m, Z)
    assert share.variance > 3 * sandwich
    assert share.clusters < 2.1
    assert share.degrees < 1.3


def test_edges():
    alone = cluster_share([3], [10], Z)
    assert (float(alone.low), float(alone.high), float(alone.degrees)) == (0, 1, 0)
    empty = cluster_share([0, 0], [0, 0], Z)
    assert (float(empty.low), float(empty.high)) == (0, 1)
    assert np.isnan(empty.estimate)
    none = cluster_share([0] * 8, [5] * 8, Z)
    assert float(none.low) == 0
    assert none.n_eff == pytest.approx(8)  # not 40: nothing shows that rows differ in a cluster
    padded = cluster_share([1, 0, 3, 2, 0], [2, 2, 4, 2, 0], Z)
    bare = cluster_share([1, 0, 3, 2], [2, 2, 4, 2], Z)
    np.testing.assert_allclose(list(padded), list(bare))


def test_sides_that_share_clusters():
    rng = np.random.default_rng(0)
    m = rng.integers(2, 9, 20)
    x1 = rng.binomial(m, 0.4)
    assert shared_correlation(x1, m, x1, m) == pytest.approx(1)
    apart = np.where(np.arange(20) < 10, m, 0), np.where(np.arange(20) < 10, 0, m)
    assert shared_correlation(np.minimum(x1, apart[0]), apart[0], np.minimum(x1, apart[1]),
                              apart[1]) == 0  # fmt: skip
    x2 = np.minimum(x1 + 1, m)
    r = shared_correlation(x1, m, x2, m)
    assert r > 0.5
    one, two = cluster_share(x1, m, Z), cluster_share(x2, m, Z)
    tied = mover_difference(*one[:3], *two[:3], r)
    loose = mover_difference(*one[:3], *two[:3])
    assert tied[1] - tied[0] < loose[1] - loose[0]


def test_any_statistic_has_the_interval_of_what_it_equals():
    """A share on another scale, and a mean without ends, from values with a cluster left out."""
    x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    left_out = np.array([0.6, *((6 - x) / (10 - m))])
    share = cluster_interval(0.6, deviations(left_out), m, (0, 1), Z, 10)
    np.testing.assert_allclose(list(share), list(cluster_share(x, m, Z)))
    twice = cluster_interval(0.2, deviations(2 * left_out - 1), m, (-1, 1), Z, 10)
    np.testing.assert_allclose([twice.low, twice.high], [2 * share.low - 1, 2 * share.high - 1])
    plain = cluster_interval(0.6, deviations(left_out), m, (-np.inf, np.inf), Z)
    half = critical_t(0.95, share.degrees) * np.sqrt(share.variance)
    np.testing.assert_allclose([plain.low, plain.high], [0.6 - half, 0.6 + half])
    assert np.isnan(plain.n_eff)


def test_a_correlation_raises_what_few_clusters_show():
    rng = np.random.default_rng(0)
    m = np.full(30, 10)
    x = rng.binomial(10, 0.2, 30)
    alone = cluster_share(x, m, Z)
    np.testing.assert_allclose(list(cluster_share(x, m, Z, 0.0))[:3], list(alone)[:3], rtol=0.05)
    raised = cluster_share(x, m, Z, 0.3)
    expected = alone.estimate * (1 - alone.estimate) * (1 + 9 * 0.3) / 300
    assert raised.variance == pytest.approx(np.sqrt(expected * alone.variance))
    assert raised.low < alone.low < alone.estimate < alone.high < raised.high
    extreme = np.repeat([10, 0], 15)
    np.testing.assert_allclose(cluster_share(extreme, m, Z, 0.1), cluster_share(extreme, m, Z))


def test_the_pooled_correlation_is_that_of_the_clusters():
    rng = np.random.default_rng(0)
    m = rng.integers(5, 30, (2, 3, 400))
    rates = rng.beta(0.3 * 9, 0.7 * 9, m.shape)  # correlation 1 / (1 + 9)
    np.testing.assert_allclose(pooled_correlation(rng.binomial(m, rates), m), 0.1, atol=0.03)
    np.testing.assert_allclose(pooled_correlation(rng.binomial(m, 0.3), m), 0, atol=0.02)
    assert pooled_correlation(np.eye(4)[None], np.ones((1, 4, 4))) == 0


def test_the_unit_of_weights_is_free():
    x, m = np.array([1.0, 0, 3, 2]), np.array([2.0, 2, 4, 2])
    here, there = cluster_share(x, m, Z), cluster_share(x * 1e-3, m * 1e-3, Z)
    assert there.degrees == pytest.approx(float(here.degrees))
    assert there.clusters == pytest.approx(float(here.clusters))
    assert there.variance == pytest.approx(float(here.variance))
