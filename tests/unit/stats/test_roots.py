"""Roots and crossings against functions whose roots are known."""

import numpy as np

from fairgauge.stats._roots import bisect, falling_root

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
