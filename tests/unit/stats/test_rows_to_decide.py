"""Rows that would decide a verdict: formula, enumeration, and whether the range holds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.rows_to_decide import rows_to_decide, rows_to_decide_rates, verdict_power

Z = 1.959963984540054

DESIGNS = [
    # rates and rows of both groups, the rule, and what it is of
    ((0.3, 300, 0.3, 300), (-0.05, 0.05), "difference"),
    ((0.2, 150, 0.3, 600), (-0.15, 0.15), "difference"),
    ((0.05, 300, 0.05, 300), (-0.05, 0.05), "difference"),
    ((0.5, 100, 0.5, 900), (-0.1, 0.1), "difference"),
    ((0.95, 100, 0.6, 400), (-0.3, 0.3), "difference"),
    ((0.9, 200, 0.95, 400), (0.9, np.inf), "ratio"),
    ((0.2, 300, 0.2, 300), (0.8, 1.25), "ratio"),
]


def test_rows_to_decide_by_the_normal_formula():
    """Outside one limit: ((z + z_power) s / distance)^2, with s the half-width over z."""
    found = rows_to_decide(0.12, 0.02, 0.22, 500, -np.inf, 0.1)
    expected = 500 * ((Z + 0.8416212) * (0.1 / Z) / 0.02) ** 2
    assert found == pytest.approx(expected, rel=1e-5)


@given(
    value=st.floats(-0.3, 0.3), half=st.floats(0.01, 0.2), lower=st.floats(-0.2, -0.05),
    upper=st.floats(0.05, 0.2),
)  # fmt: skip
def test_twice_the_standard_error_needs_four_times_the_rows(value, half, lower, upper):
    found = rows_to_decide(value, value - half, value + half, 1000, lower, upper)
    wider = rows_to_decide(value, value - 2 * half, value + 2 * half, 1000, lower, upper)
    if np.isfinite(found) and found < 1e9:
        assert wider == pytest.approx(4 * found, rel=1e-6)


def test_rows_to_decide_at_the_edges():
    assert rows_to_decide(0.1, 0.0, 0.2, 100, -np.inf, 0.1) == np.inf
    assert np.isnan(rows_to_decide(np.nan, 0.0, 0.2, 100, -np.inf, 0.1))
    ratio = rows_to_decide(0.9, 0.7, 1.157, 400, 0.8, np.inf, logarithmic=True)
    plain = rows_to_decide(np.log(0.9), np.log(0.7), np.log(1.157), 400, np.log(0.8), np.inf)
    assert ratio == pytest.approx(float(plain))


@pytest.mark.parametrize(("groups", "rule", "comparison"), DESIGNS)
def test_rates_are_decided_as_often_as_stated(groups, rule, comparison):
    """The rows of the formula, held against the enumeration of all tables."""
    p1, n1, p2, n2 = groups
    times = float(rows_to_decide_rates(*groups, *rule, comparison)) / (n1 + n2)
    found = verdict_power(p1, times * n1, p2, times * n2, *rule, comparison)
    assert found.passes + found.fails == pytest.approx(0.8, abs=0.03)


def test_an_outcome_too_rare_for_a_verdict_needs_the_rows_of_one():
    found = float(rows_to_decide_rates(0.95, 100, 0.95, 300, -0.1, 0.1)) / 400
    assert verdict_power(0.95, 100 * found, 0.95, 300 * found, -0.1, 0.1).not_evaluated < 0.25
