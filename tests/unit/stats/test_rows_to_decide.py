"""Rows that would decide a verdict: formula, enumeration, and whether the range holds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.rows_to_decide import (
    detectable_difference,
    rows_for_verdict,
    rows_to_decide,
    rows_to_decide_rates,
)

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


def probabilities(p1, n1, p2, n2, lower, upper, comparison):
    """Enumerate all tables: the probabilities that a rule is decided, and that it is evaluated."""
    from scipy.stats import binom

    n1, n2 = round(n1), round(n2)
    x1, x2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    limits = newcombe if comparison == "difference" else mover_wilson_ratio
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = limits(x1, n1, x2, n2, Z)
    pooled = (x1 + x2) / (n1 + n2)
    evaluated = min(n1, n2) * np.minimum(pooled, 1 - pooled) >= 5
    decided = ((low >= lower) & (high <= upper)) | (high < lower) | (low > upper)
    chance = binom.pmf(x1, n1, p1) * binom.pmf(x2, n2, p2)
    return float((chance * (evaluated & decided)).sum()), float((chance * evaluated).sum())


@pytest.mark.parametrize(("groups", "rule", "comparison"), DESIGNS)
def test_rates_are_decided_as_often_as_stated(groups, rule, comparison):
    """The rows of the formula, held against the enumeration of all tables."""
    p1, n1, p2, n2 = groups
    times = float(rows_to_decide_rates(*groups, *rule, comparison)) / (n1 + n2)
    decided, _ = probabilities(p1, times * n1, p2, times * n2, *rule, comparison)
    assert decided == pytest.approx(0.8, abs=0.03)


def test_an_outcome_too_rare_for_a_verdict_needs_the_rows_of_one():
    found = float(rows_to_decide_rates(0.95, 100, 0.95, 300, -0.1, 0.1)) / 400
    _, evaluated = probabilities(0.95, 100 * found, 0.95, 300 * found, -0.1, 0.1, "difference")
    assert 0.8 < evaluated < 0.95


@pytest.mark.parametrize(
    ("case", "formula"),
    [
        # (p1, p2, lower, upper, comparison), and rows of the textbook's normal formula
        ((0.3, 0.3, -0.05, 0.05, "difference"), 2 * 1766),
        ((0.3, 0.2, 0.0, 0.0, "difference"), 2 * 291),
        ((0.3, 0.3, 0.8, np.inf, "ratio"), 2 * 736),
    ],
)
def test_where_rows_are_many_the_textbook_is_right(case, formula):
    assert rows_for_verdict(*case) == pytest.approx(formula, rel=0.05)


def test_rows_for_a_verdict_where_none_is_possible():
    assert rows_for_verdict(0.3, 0.2, -0.05, 0.05) > rows_for_verdict(0.3, 0.1, -0.05, 0.05)
    assert rows_for_verdict(0.3, 0.25, -0.05, 0.05) == np.inf
    assert rows_for_verdict(0.3, 0.0, 0.8, np.inf, "ratio") == np.inf


def test_the_smallest_difference_is_that_of_the_normal_formula():
    gap = (1.959964 + 0.841621) * np.sqrt(0.3 * 0.7 / 290.41 + 0.2 * 0.8 / 290.41)
    assert detectable_difference(0.3, 290.41, 0.2, 290.41) == pytest.approx(gap, rel=1e-6)
    assert detectable_difference(0.3, 0, 0.2, 10) == np.inf
    with pytest.raises(ValueError, match=r"power must lie inside \(0, 1\); found 80"):
        detectable_difference(0.3, 100, 0.2, 100, power=80)
