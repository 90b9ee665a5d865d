"""Roots, crossings and inverses against functions whose roots are known."""

import numpy as np
from scipy.special import chndtr, stdtr

from fairgauge.stats._roots import bisect, falling_root, noncentrality, t_above

ENDS = np.zeros(4), np.full(4, 37.0)


def test_roots_of_powers():
    target = np.array([2.0, 30.0, 1e-9, 1300.0])
    np.testing.assert_allclose(falling_root(lambda x: target - x**2, *ENDS), target**0.5, rtol=1e-9)
    inside, outside = bisect(lambda x: x**2 < target, *ENDS)
    np.testing.assert_allclose(inside, target**0.5, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_less(outside - inside, 1e-14)


def test_functions_without_a_root_return_an_end():
    level = np.array([-1.0, 0.0, 1e6, np.nan])
    np.testing.assert_array_equal(falling_root(lambda x: level - x, *ENDS), [0, 0, 37, 0])


TAILS = np.array([0.4, 0.1, 0.025, 1e-3, 1e-6])


def test_t_of_one_and_two_degrees_of_freedom_in_closed_form():
    one = 1 / np.tan(np.pi * TAILS)
    two = (1 - 2 * TAILS) / np.sqrt(2 * TAILS * (1 - TAILS))
    np.testing.assert_allclose(t_above(1, TAILS), one, rtol=2e-15)
    np.testing.assert_allclose(t_above(2, TAILS), two, rtol=2e-15)


def test_inverses_have_the_precision_of_their_distribution_functions():
    """Some versions of scipy solve for these inverses to nine digits."""
    random = np.random.default_rng(0)
    degrees = np.exp(random.uniform(np.log(0.7), np.log(1e6), 500))
    tails = 10 ** random.uniform(-8, -0.31, 500)
    np.testing.assert_allclose(stdtr(degrees, -t_above(degrees, tails)), tails, rtol=1e-12)
    x, whole = random.uniform(18, 90, 500), random.integers(1, 8, 500)
    found = chndtr(x, whole, noncentrality(x, whole, 0.975))
    np.testing.assert_allclose(found, 0.975, rtol=1e-13)
