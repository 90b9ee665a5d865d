"""Bounds for missing group labels."""

from itertools import product

import numpy as np

from fairgauge.stats.unrecorded_rates import missing_bounds, pair_bounds


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


def test_ratios_of_everywhere_that_unknown_people_may_be_are_within_their_bounds():
    """Nobody is in two categories: bounds that had everybody in both left a fail open."""
    random = np.random.default_rng(4)
    for _ in range(60):
        n = random.integers(1, 9, 3)
        x, unknown = random.integers(1, n + 1), int(random.integers(0, 5))
        pair = pair_bounds(x[0], n[0], x[1], n[1], unknown)
        for places in product(range(unknown + 1), repeat=6):
            if sum(places) == unknown:
                selected, rejected = np.reshape(places, (2, 3))
                rates = (x + selected) / (n + selected + rejected)
                assert pair[0] - 1e-12 <= rates[0] / rates[1] <= pair[1] + 1e-12


def test_a_bound_of_two_categories_is_attained_but_for_whole_people():
    low, high = pair_bounds(50_000, 100_000, 36_000, 100_000, 5_000)
    shares = np.arange(5_001)
    least = (50_000 / (100_000 + shares)) / ((41_000 - shares) / (105_000 - shares))
    most = ((50_000 + shares) / (100_000 + shares)) / (36_000 / (105_000 - shares))
    np.testing.assert_allclose((low, high), (least.min(), most.max()), rtol=1e-8)
