"""Correlated sides, the jackknife over blocks, and the assignment of clusters to blocks."""

from __future__ import annotations

import numpy as np
import pytest

from fairgauge.stats import contrasts, jackknife

# correlated sides


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    e = rng.uniform(0.05, 0.95, (2, 2_000))
    low, high = e * rng.uniform(0.1, 0.99, e.shape), e + (1 - e) * rng.uniform(0.01, 0.9, e.shape)
    return e[0], low[0], high[0], e[1], low[1], high[1]


def test_without_correlation_nothing_changes(sides):
    for mover in (contrasts.mover_difference, contrasts.mover_ratio):
        for one, other in zip(mover(*sides), mover(*sides, correlation=0.0), strict=True):
            assert np.array_equal(one, other)
    e1, low1, high1, e2, low2, high2 = sides
    low, high = contrasts.mover_difference(*sides)
    assert np.array_equal(low, e1 - e2 - np.hypot(e1 - low1, high2 - e2))
    assert np.array_equal(high, e1 - e2 + np.hypot(high1 - e1, e2 - low2))


@pytest.mark.parametrize("r", [-1.0, -0.6, 0.3, 0.95, 1.0])
def test_limits_of_a_difference_are_those_of_zou(sides, r):
    e1, low1, high1, e2, low2, high2 = sides
    low, high = contrasts.mover_difference(*sides, correlation=r)
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


def test_difference_and_ratio_agree_on_no_difference(sides):
    for r in (-0.8, 0.5, 0.9):
        low, high = contrasts.mover_difference(*sides, correlation=r)
        below, above = contrasts.mover_ratio(*sides, correlation=r)
        assert np.array_equal(low > 0, below > 1)
        assert np.array_equal(high < 0, above < 1)


# jackknife


def test_the_variance_of_a_mean_is_the_usual_one():
    rows = np.random.default_rng(1).normal(size=25)
    means = np.array([rows.mean(), *((rows.sum() - rows) / 24)])
    assert (jackknife.deviations(means) ** 2).sum() == pytest.approx(rows.var(ddof=1) / 25)


def test_the_scale_stays_in_the_range():
    value, error = np.array([0.02, 0.5, 0.99]), np.full(3, 0.05)
    low, high = jackknife.scaled_limits(value, error, np.full(3, 2.0), 0.0, 1.0)
    assert (low > 0).all()
    assert (high < 1).all()
    logit = np.log(value / (1 - value))
    assert np.log(high / (1 - high)) == pytest.approx(logit + 0.1 / (value * (1 - value)))
    low, high = jackknife.scaled_limits(value, error, np.full(3, 2.0), 0.0, np.inf)
    assert (np.log(low), np.log(high)) == (
        pytest.approx(np.log(value) - 0.1 / value),
        pytest.approx(np.log(value) + 0.1 / value),
    )
    low, high = jackknife.scaled_limits(value, error, np.full(3, 2.0), -np.inf, 1.0)
    mirrored = jackknife.scaled_limits(-value, error, np.full(3, 2.0), -1.0, np.inf)
    assert (low, high) == (pytest.approx(-mirrored[1]), pytest.approx(-mirrored[0]))
    low, high = jackknife.scaled_limits(value, error, np.full(3, 2.0), -np.inf, np.inf)
    assert (low, high) == (pytest.approx(value - 0.1), pytest.approx(value + 0.1))


# blocks


def test_clusters_are_ranked_by_what_they_hold():
    rng = np.random.default_rng(4)
    names, cells = rng.integers(0, 300, 2_000), rng.integers(0, 12, 2_000)
    pairs, counts = np.unique(np.stack([names, cells]), axis=1, return_counts=True)

    def contents(pairs, counts, seed=0, number=7):
        cluster, ranks = jackknife.content_ranks(pairs[0], [pairs[1]], counts.astype(float))
        dealt = jackknife.assign_blocks(ranks, number, seed)[cluster]
        sums = np.zeros((number, 12))
        np.add.at(sums, (dealt, pairs[1]), counts)
        return sums, ranks

    sums, ranks = contents(pairs, counts)
    assert sorted(ranks) == list(range(len(ranks)))
    order, renamed = rng.permutation(len(counts)), rng.permutation(1_000)
    shuffled = np.stack([renamed[pairs[0]], pairs[1]])[:, order]
    assert np.array_equal(contents(shuffled, counts[order])[0], sums)
    assert not np.array_equal(contents(pairs, counts, seed=1)[0], sums)
