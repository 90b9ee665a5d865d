"""Effective sample sizes and bounds for missing group labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fairgauge.stats.effective import (
    clustered_n,
    missing_bounds,
)


def clusters(x, m):
    x, m = np.asarray(x, float), np.asarray(m, float)
    return len(x), m.sum(), x.sum() / m.sum(), x @ x, x @ m, m @ m


def test_clusters_that_repeat_one_row_count_once():
    """Every cluster all or nothing: the effective rows are about the clusters."""
    n_eff, degrees = clustered_n(*clusters([10, 0] * 20, [10] * 40))
    assert n_eff == pytest.approx(39)
    assert degrees == 39


def test_clusters_of_one_row_are_rows():
    n_eff, _ = clustered_n(*clusters([1, 0, 1, 1] * 10, [1] * 40))
    assert n_eff == pytest.approx(39)


def test_clusters_are_never_worth_more_than_their_rows():
    n_eff, _ = clustered_n(*clusters([3] * 10, [6] * 10))
    assert n_eff == 60


def test_clusters_at_the_edges():
    n_eff, degrees = clustered_n(*clusters([3], [6]))
    assert (n_eff, degrees) == (0, 0)
    n_eff, _ = clustered_n(*clusters([0, 0, 0], [6, 6, 6]))
    assert n_eff == 3
    n_eff, _ = clustered_n(*clusters([5, 1], [5, 1]))
    assert n_eff == pytest.approx(36 / 26)


def test_bounds_are_attained_by_the_worst_assignment():
    x1, n1, x2, n2, ux, un = 3, 10, 4, 9, 2, 5
    rates, gaps = [], []
    for up, down in product(range(ux + 1), range(un - ux + 1)):  # to group 1, the rest to 2
        one = (x1 + up) / (n1 + up + down)
        two = (x2 + ux - up) / (n2 + un - up - down)
        rates.append(one)
        gaps.append(one - two)
    np.testing.assert_allclose(missing_bounds(x1, n1, ux, un), (min(rates), max(rates)))
    (low1, high1), (low2, high2) = (missing_bounds(x, n, ux, un) for x, n in ((x1, n1), (x2, n2)))
    np.testing.assert_allclose((low1 - high2, high1 - low2), (min(gaps), max(gaps)))


def test_bounds_at_the_edges():
    low, high = missing_bounds([3, 0, 5], [10, 0, 5], [0, 2, 1], [0, 4, 1])
    np.testing.assert_allclose(low, [0.3, 0, 1])
    np.testing.assert_allclose(high, [0.3, 1, 1])
