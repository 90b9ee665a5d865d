"""Shortfall and exact tests of selections: against Fisher, an enumeration, and each other."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from fairgauge.stats.significance import exact_selection_test, expected_selections

SIDES = st.tuples(st.integers(1, 12), st.integers(1, 12)).flatmap(
    lambda n: st.tuples(st.just(n[0]), st.just(n[1]), st.integers(0, n[0]), st.integers(0, n[1]))
)


@given(SIDES)
def test_one_table_is_fishers_test(sides):
    n, m, s, t = sides
    p = fisher_exact([[s, n - s], [t, m - t]]).pvalue
    assert exact_selection_test([n], [m], [s], [t]) == pytest.approx(p, rel=1e-9)


@given(st.lists(SIDES, min_size=1, max_size=3))
def test_several_tables_are_their_enumeration_and_mirror(tables):
    n, m, s, t = map(list, zip(*tables, strict=True))
    whole, chances = [range(max(0, b + d - k), min(a, b + d) + 1) for a, k, b, d in tables], {}
    for cells in product(*whole):
        ways = np.prod(
            [
                comb(a, x) * comb(k, b + d - x) / comb(a + k, b + d)
                for x, (a, k, b, d) in zip(cells, tables, strict=True)
            ]
        )
        chances[sum(cells)] = chances.get(sum(cells), 0.0) + ways
    expected = sum(v for v in chances.values() if v <= chances[sum(s)] * (1 + 1e-7))
    assert exact_selection_test(n, m, s, t) == pytest.approx(min(1.0, expected), rel=1e-7)
    assert exact_selection_test(m, n, t, s) == pytest.approx(min(1.0, expected), rel=1e-7)
    mean, variance = expected_selections(n, m, np.add(s, t))
    assert mean == pytest.approx(sum(k * v for k, v in chances.items()))
    assert variance == pytest.approx(sum((k - mean) ** 2 * v for k, v in chances.items()))


def test_too_many_selections_have_no_exact_test():
    assert exact_selection_test([10**6], [10**6], [4 * 10**5], [5 * 10**5]) is None
