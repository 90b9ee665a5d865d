"""Nearest neighbours, against brute force: ties, equal points, and excluded rows."""

import numpy as np
import pytest

from fairgauge.stats.row_statistics import Neighbours, disagreement, jackknifed_share

RNG = np.random.default_rng


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
