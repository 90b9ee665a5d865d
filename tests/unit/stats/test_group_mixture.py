"""Rates of groups of which only probabilities are known, against other ways to compute them."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from fairgauge.stats.group_mixture import GroupMixture, design_effect
from fairgauge.stats.unrecorded_rates import missing_bounds, pair_bounds, sharp_bounds


def table(seed, rows=3_000, kinds=2, groups=3):
    """Draw cells: their probabilities and the rows of each kind."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(groups, 0.5), 60)
    theta = rng.dirichlet(np.ones(kinds), groups).T
    shares = p @ theta.T
    sizes = rng.multinomial(rows, np.full(60, 1 / 60))
    n = np.array([rng.multinomial(size, share) for size, share in zip(sizes, shares, strict=True)])
    return p, n.astype(float)


def test_groups_that_are_known_have_their_own_rates():
    p = np.eye(3)
    n = np.array([[3.0, 17.0], [40.0, 10.0], [0.0, 25.0]])
    mixture, one = GroupMixture(p, n), np.eye(3, dtype=bool)
    assert [mixture.rate(side) for side in one] == pytest.approx([0.15, 0.8, 0.0], abs=1e-9)
    assert mixture.variance(one[1]) == pytest.approx(0.8 * 0.2 / 50, rel=0.03)


def test_the_profile_of_a_known_group_is_that_of_a_binomial():
    mixture = GroupMixture(np.eye(2), np.array([[3.0, 17.0], [40.0, 10.0]]))
    low, high = mixture.rate_curve(np.array([True, False])).limits(1.959964)

    def drop(t):
        return 2 * (3 * np.log(0.15 / t) + 17 * np.log(0.85 / (1 - t)))

    assert [drop(low), drop(high)] == pytest.approx([1.959964**2] * 2, rel=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_limits_of_a_difference_are_where_the_likelihood_has_fallen(seed):
    """Against an optimiser of another kind, under the constraint that the difference is given."""
    p, n = table(seed, 600)
    mixture, one = GroupMixture(p, n), np.eye(3, dtype=bool)
    curve = mixture.difference_curve(one[0], one[1])

    def largest(difference):
        def loss(free):
            share = p @ np.array([free[0] + difference, *free])
            return -(n[:, 0] @ np.log(share) + n[:, 1] @ np.log(1 - share))

        least, most = max(0, -difference), min(1, 1 - difference)
        bounds = [(least + 1e-9, most - 1e-9), (1e-9, 1 - 1e-9)]
        options = {"xatol": 1e-9, "fatol": 1e-9, "maxiter": 4_000}
        starts = [[least + (most - least) * a, b] for a in (0.1, 0.5, 0.9) for b in (0.2, 0.8)]
        found = (
            minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options)
            for start in starts
        )
        return -min(each.fun for each in found)

    top = largest(curve.estimate)
    for limit in curve.limits(1.96):
        assert 2 * (top - largest(limit)) == pytest.approx(1.96**2, rel=0.01)


def test_the_design_effect_is_of_weights_and_of_clusters():
    _, n = table(6)
    cell, kind = np.nonzero(n)
    entries = np.repeat(np.arange(len(cell)), n[cell, kind].astype(int))
    rows, nobody = len(entries), np.full(len(entries), -1)
    twice = np.concatenate([entries, entries])
    clusters = (
        np.tile(np.arange(rows), 2), cell[twice], kind[twice], np.ones(2 * rows),
        np.concatenate([nobody, nobody]),
    )  # fmt: skip
    assert design_effect(n, None, None) == 1
    assert design_effect(n, 3 * n, None) == pytest.approx(3)
    assert design_effect(2 * n, None, clusters) == pytest.approx(2 * rows / (rows - 1))


def test_bounds_hold_every_assignment_of_groups_and_are_attained():
    """One cell, as many rows as make every split possible: the ends are those of the splits."""
    p, n = np.array([[0.4, 0.6]]), np.array([[3e9, 7e9]])
    sides = np.eye(2, dtype=bool)
    low, high = sharp_bounds(p, n, sides).ends
    assert low == pytest.approx([0.0, 0.0], abs=1e-4)
    assert high == pytest.approx([0.75, 0.5], abs=1e-4)


def test_bounds_of_known_groups_are_their_rates():
    n = np.array([[30.0, 70.0], [10.0, 10.0]])
    found = sharp_bounds(np.eye(2), n, np.eye(2, dtype=bool))
    assert found.ends[0] == pytest.approx([0.3, 0.5], abs=1e-6)
    assert found.ends[1] == pytest.approx([0.3, 0.5], abs=1e-6)


# ---- bounds for missing group labels
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
