"""Clusters that differ in size, correlated sides: jackknife variance, degrees of freedom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats import contrasts
from fairgauge.stats.intervals import critical, critical_t, t_from_z, wilson
from fairgauge.stats.sampling import (
    ShareVariance,
    design_limits,
    deviations,
    effective_clusters,
    effective_rows,
    intracluster_correlation,
    satterthwaite_degrees,
    share_variance,
)

Z = critical(0.95)
clusters = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=2, max_size=9).map(
    lambda c: (np.array([min(x, m) for x, m in c]), np.array([m for _, m in c]))
)


def variance_of(x, m):
    """Return the variance of one share, by leaving out each cluster."""
    x, m = np.asarray(x, float), np.asarray(m, float)
    sums = [np.array([[of.sum()], *((of.sum() - of)[:, None])]) for of in (x, m)]
    number, _ = share_variance(*sums, np.array([m.sum() ** 2 / (m @ m)]))
    return ShareVariance(*(each[0] for each in number))


def limits_of(x, m, correlation=0.0):
    found = variance_of(x, m)
    n = effective_rows(found, found.rows, correlation)
    return wilson(np.nan_to_num(found.rate) * n, n, t_from_z(Z, found.degrees))


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

    def limits(value, without, ends):
        variance = (deviations(without) ** 2).sum()
        kish = m.sum() ** 2 / (m @ m)
        return design_limits(value, variance, kish, satterthwaite_degrees(m), ends, Z)

    share = limits(0.6, left_out, (0, 1))
    np.testing.assert_allclose(share, limits_of(x, m))
    twice = limits(0.2, 2 * left_out - 1, (-1, 1))
    np.testing.assert_allclose(twice, 2 * np.array(share) - 1)
    plain = limits(0.6, left_out, (-np.inf, np.inf))
    found = variance_of(x, m)
    half = critical_t(0.95, found.degrees) * np.sqrt(found.variance)
    np.testing.assert_allclose(plain, [0.6 - half, 0.6 + half])
    alone = design_limits(0.6, 0.0, 1.0, 0.0, (0, 1), Z)
    assert np.isnan(alone).all()


def test_the_correlation_is_that_of_the_clusters():
    rng = np.random.default_rng(0)
    m = rng.integers(5, 30, 1200)
    rates = rng.beta(0.3 * 9, 0.7 * 9, m.shape)  # correlation 1 / (1 + 9)

    def correlation(x, m):
        return float(intracluster_correlation(variance_of(x, m)))

    assert correlation(rng.binomial(m, rates), m) == pytest.approx(0.1, abs=0.03)
    assert correlation(rng.binomial(m, 0.3), m) == pytest.approx(0, abs=0.02)
    assert correlation(np.array([0, 1, 0, 1]), np.ones(4)) == 0


def test_blocks_show_the_effective_number_of_their_clusters():
    rng = np.random.default_rng(1)
    sizes = rng.lognormal(0, 1, 4000)
    blocks = np.bincount(rng.permutation(4000) % 400, sizes)[:, None]
    found = effective_clusters(blocks, np.array([400]), np.array([4000]))
    assert found[0] == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum(), rel=0.1)


# correlated sides


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    e = rng.uniform(0.05, 0.95, (2, 2_000))
    low, high = e * rng.uniform(0.1, 0.99, e.shape), e + (1 - e) * rng.uniform(0.01, 0.9, e.shape)
    return e[0], low[0], high[0], e[1], low[1], high[1]


@pytest.mark.parametrize("r", [-1.0, -0.6, 0.0, 0.3, 0.95, 1.0])
def test_limits_of_a_difference_are_those_of_zou(sides, r):
    e1, low1, high1, e2, low2, high2 = sides
    low, high = contrasts.mover_difference(*sides, **({"correlation": r} if r else {}))
    a, b = e1 - low1, high2 - e2
    assert low == pytest.approx(e1 - e2 - np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0)))
    a, b = high1 - e1, e2 - low2
    assert high == pytest.approx(e1 - e2 + np.sqrt(np.maximum(a**2 + b**2 - 2 * r * a * b, 0)))


@pytest.mark.parametrize("r", [-1.0, -0.6, 0.3, 0.95])
def test_a_ratio_is_where_the_limit_of_the_difference_is_0(sides, r):
    """The limits of ``e1 - R e2``, at the limit of the ratio put for R, touch 0."""
    e1, low1, high1, e2, low2, high2 = sides
    for at, which in zip(contrasts.mover_ratio(*sides, correlation=r), (0, 1), strict=True):
        scaled = contrasts.mover_difference(
            e1, low1, high1, at * e2, at * low2, at * high2, correlation=r
        )
        assert scaled[which] == pytest.approx(0, abs=1e-7 * (1 + at.max()))
    low, high = contrasts.mover_ratio(*sides, correlation=r)
    assert (low <= e1 / e2 + 1e-9).all()
    assert (e1 / e2 <= high + 1e-9).all()


# jackknife
