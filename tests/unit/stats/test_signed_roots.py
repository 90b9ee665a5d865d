"""Signed roots, their exact tails and ends, against other implementations and enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from fairgauge.stats.signed_roots import (
    SimultaneousTails,
    fewest_exceeding,
    hypergeometric_tail,
    lower_end,
    signed_root,
)
from fairgauge.stats.significance import normal_tail

TABLES = st.tuples(st.integers(1, 300), st.integers(1, 300)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


def likelihood(x1, n1, x2, n2, p1, p2):
    return sum(stats.binom.logpmf(x, n, p) for x, n, p in ((x1, n1, p1), (x2, n2, p2)))


@pytest.mark.parametrize("table", [(30, 100, 50, 400), (3, 20, 1, 900), (77, 80, 1200, 2000)])
def test_no_difference_is_the_g_test_of_scipy(table):
    x1, n1, x2, n2 = table
    counts = [[x1, n1 - x1], [x2, n2 - x2]]
    g = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
    assert signed_root(*table) == pytest.approx(np.sign(x1 / n1 - x2 / n2) * np.sqrt(g))


@pytest.mark.parametrize("difference", [-0.3, -0.02, 0.01, 0.15, 0.6])
@pytest.mark.parametrize("table", [(30, 100, 50, 400), (3, 20, 1, 900), (0, 25, 4, 60)])
def test_a_difference_is_the_ratio_of_numerically_maximised_likelihoods(table, difference):
    x1, n1, x2, n2 = table

    def negative(p2):
        return -likelihood(x1, n1, x2, n2, p2 + difference, p2)

    low, high = max(0.0, -difference), min(1.0, 1 - difference)
    best = optimize.minimize_scalar(negative, bounds=(low, high), options={"xatol": 1e-12})
    free = likelihood(x1, n1, x2, n2, x1 / n1, x2 / n2)
    expected = np.sqrt(2 * (free + best.fun)) * np.sign(x1 / n1 - x2 / n2 - difference)
    assert signed_root(*table, difference) == pytest.approx(expected, abs=1e-5)


@given(TABLES, st.floats(0.5, 5))
def test_ends_lie_in_the_range_around_the_estimate_and_invert_the_root(table, c):
    x1, n1, x2, n2 = table
    low, high = float(lower_end(*table, c)), -float(lower_end(n1 - x1, n1, n2 - x2, n2, c))
    assert -1 <= low <= x1 / n1 - x2 / n2 + 1e-12
    assert x1 / n1 - x2 / n2 - 1e-12 <= high <= 1
    for t in (-0.9, -0.2, 0.0, 0.1, 0.7):
        root = float(signed_root(*table, t))
        if abs(root - c) > 1e-6:
            assert (root > c) == (t < low)
        if abs(root + c) > 1e-6:
            assert (root < -c) == (t > high)


@pytest.mark.parametrize("events", [3, 40, 297, 3000])
def test_tails_are_those_of_scipy(events):
    total = 3363
    n = np.array([20, 21, 50, 400, 1500, 3300])
    for share in (0.5, 1.0, 1.3, 2.0):
        x = np.ceil(np.minimum(n * events / total * share, np.minimum(n, events)))
        expected = stats.hypergeom.sf(x - 1, total, events, n)
        found = hypergeometric_tail(x, n, events, total)
        below = np.maximum(0, n + events - total) > x  # a tail that is all has no first term
        np.testing.assert_allclose(found[~below], expected[~below], rtol=1e-8, atol=1e-300)


@pytest.mark.parametrize("c", [1.0, 2.5, 4.0])
def test_the_fewest_exceeding_events_are_found_by_trying_all(c):
    total, events = 200, 37
    for n in (20, 33, 150, 180):
        roots = [
            (x, float(signed_root(x, n, events - x, total - n)))
            for x in range(max(0, n + events - total), min(n, events) + 1)
        ]
        expected = next((x for x, root in roots if root > c), min(n, events) + 1)
        assert fewest_exceeding(n, events, total, c) == expected


def test_the_critical_value_is_the_smallest_whose_enumerated_tails_fit():
    total, events, alpha = 300, 24, 0.05
    n = np.array([20.0, 20, 25, 31, 40, 40, 100, 150])
    tails = SimultaneousTails(n, events, total)
    c = tails.critical_value(alpha)

    def enumerated(value):
        return sum(
            stats.hypergeom.pmf(x, total, events, size)
            for size in n
            for x in range(int(min(size, events)) + 1)
            if signed_root(x, size, events - x, total - size) > value
        )

    bonferroni = stats.norm.isf(alpha / len(n))
    assert c >= bonferroni - 1e-12
    assert enumerated(c) <= alpha
    assert enumerated(c - 1e-9) > alpha or c == pytest.approx(bonferroni)
    assert tails.exceeding(c) == pytest.approx(enumerated(c))
    roots = np.array([float(signed_root(x, 40, events - x, 260)) for x in (5, 8, 9, 14, 20)])
    summed = [min(enumerated(root - 1e-9), 1.0) for root in roots.tolist()]
    normal = np.minimum(len(n) * normal_tail(roots), 1.0)
    assert tails.adjusted(roots, c) == pytest.approx(np.maximum(summed, normal), rel=1e-9)


def test_adjusted_p_values_are_below_alpha_just_where_the_critical_value_is_exceeded():
    rng = np.random.default_rng(5)
    n = rng.integers(20, 900, 700).astype(float)
    tails = SimultaneousTails(n, 250, 2500)
    c = tails.critical_value(0.05)
    x = np.minimum(rng.binomial(n.astype(int), 0.14), 250)
    roots = signed_root(x, n, 250 - x, 2500 - n)
    p = tails.adjusted(roots, c)
    assert (p[roots > c] <= 0.05).all()
    assert (p[roots <= c] > 0.05 - 1e-6).all()
    assert (p >= np.minimum(len(n) * normal_tail(roots), 1) - 1e-12).all()
    order = np.argsort(roots)
    assert (np.diff(p[order]) <= 1e-12).all()


def test_the_family_wise_error_of_two_by_two_values_is_below_alpha_by_enumeration():
    """Every allocation of the events to four cells of ten rows, with its probability."""
    size, total, alpha = 10, 40, 0.2
    groups = [(0, 1), (2, 3), (0, 2), (1, 3), (0,), (1,), (2,), (3,)]
    n = np.array([size * len(group) for group in groups], dtype=float)
    for events in (4, 9, 20):
        c = SimultaneousTails(n, events, total).critical_value(alpha)
        wrong = whole = 0.0
        for cells in itertools.product(range(size + 1), repeat=4):
            if sum(cells) != events:
                continue
            probability = np.prod(stats.binom.pmf(cells, size, 0.3))
            x = np.array([sum(cells[i] for i in group) for group in groups], dtype=float)
            whole += probability
            if (signed_root(x, n, events - x, total - n) > c).any():
                wrong += probability
        assert 0 < wrong / whole <= alpha
