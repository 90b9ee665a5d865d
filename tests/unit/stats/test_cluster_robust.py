"""Shares of clusters that differ in size: jackknife variance, degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.cluster_robust import (
    ShareSums,
    ShareVariance,
    cluster_limits,
    effective_rows,
    pooled_correlation,
    satterthwaite_degrees,
    share_variance,
)
from fairgauge.stats.intervals import as_critical_t, critical, critical_t, wilson
from fairgauge.stats.jackknife import deviations

Z = critical(0.95)
clusters = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=2, max_size=9).map(
    lambda c: (np.array([min(x, m) for x, m in c]), np.array([m for _, m in c]))
)


def variance_of(x, m, large=None):
    """Return the variance of one share, its large clusters given one by one (all by default)."""
    x, m = np.asarray(x, float), np.asarray(m, float)
    every = ShareSums(
        *(np.array([e]) for e in ((m > 0).sum(), x.sum(), m.sum(), x @ x, x @ m, m @ m))
    )
    kept = np.ones(len(x), dtype=bool) if large is None else large
    found = share_variance(every, x[kept], m[kept], np.zeros(kept.sum(), dtype=int))
    return ShareVariance(*(each[0] for each in found))


def limits_of(x, m, correlation=0.0):
    found = variance_of(x, m)
    n = effective_rows(found, found.rows, correlation)
    return wilson(np.nan_to_num(found.rate) * n, n, as_critical_t(Z, found.degrees))


def one_left_out(x, m):
    """The delete-one jackknife, cluster by cluster."""
    values = [np.delete(x, c).sum() / np.delete(m, c).sum() for c in range(len(x))]
    whole = x.sum() / m.sum()
    return (len(x) - 1) / len(x) * ((np.array(values) - whole) ** 2).sum()


@given(table=clusters)
def test_the_variance_is_that_of_leaving_out_each_cluster(table):
    x, m = table
    found = variance_of(x, m)
    assert found.variance == pytest.approx(one_left_out(x, m), rel=1e-9, abs=1e-15)
    assert found.degrees == pytest.approx(float(satterthwaite_degrees(m)), rel=1e-9)


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


def test_single_rows_as_clusters_are_independent_rows():
    x = np.repeat([1, 0], [30, 70])
    share = variance_of(x, np.ones(100))
    assert share.variance == pytest.approx(0.21 / 99)
    assert effective_rows(share, 100) == pytest.approx(99)
    assert share.degrees == pytest.approx(99)


def test_a_dominant_cluster_hides_in_the_sandwich_but_not_here():
    m = np.array([70, *[1] * 30])
    x = np.array([63, *[0, 1] * 15])
    p, total = x.sum() / m.sum(), m.sum()
    sandwich = 31 / 30 * ((x - p * m) ** 2).sum() / total**2
    share = variance_of(x, m)
    assert share.variance > 3 * sandwich
    assert share.clusters < 2.1
    assert share.degrees < 1.3


def test_any_statistic_has_the_interval_of_what_it_equals():
    """A share on another scale, and a mean without ends, from values with a cluster left out."""
    x, m = np.array([1, 0, 3, 2]), np.array([2, 2, 4, 2])
    left_out = np.array([0.6, *((6 - x) / (10 - m))])
    share = cluster_limits(0.6, deviations(left_out), m, (0, 1), Z)
    np.testing.assert_allclose(share, limits_of(x, m))
    twice = cluster_limits(0.2, deviations(2 * left_out - 1), m, (-1, 1), Z)
    np.testing.assert_allclose(twice, 2 * np.array(share) - 1)
    plain = cluster_limits(0.6, deviations(left_out), m, (-np.inf, np.inf), Z)
    found = variance_of(x, m)
    half = critical_t(0.95, found.degrees) * np.sqrt(found.variance)
    np.testing.assert_allclose(plain, [0.6 - half, 0.6 + half])
    alone = cluster_limits(0.6, [[0.0]], [[10.0]], (0, 1), Z)
    assert np.isnan(alone).all()


def test_the_pooled_correlation_is_that_of_the_clusters():
    rng = np.random.default_rng(0)
    m = rng.integers(5, 30, (3, 400))
    rates = rng.beta(0.3 * 9, 0.7 * 9, m.shape)  # correlation 1 / (1 + 9)

    def pooled(x, m):
        groups = [variance_of(*each) for each in zip(x, m, strict=True)]
        together = ShareVariance(*(np.array(each) for each in zip(*groups, strict=True)))
        return float(pooled_correlation(together, together.rows))

    assert pooled(rng.binomial(m, rates), m) == pytest.approx(0.1, abs=0.03)
    assert pooled(rng.binomial(m, 0.3), m) == pytest.approx(0, abs=0.02)
    assert pooled(np.eye(4), np.ones((4, 4))) == 0
    # a group of few rows, each a cluster, tells nothing
    few = pooled(
        [*rng.binomial(m, 0.3)[:1], (np.arange(400) < 2) * 1], [m[0], (np.arange(400) < 4) * 1]
    )
    assert few == pytest.approx(0, abs=0.02)
