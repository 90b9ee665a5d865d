"""Bounds for missing group labels."""

from __future__ import annotations

from itertools import product

import numpy as np

from fairgauge.stats.unknown_people import missing_bounds


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
