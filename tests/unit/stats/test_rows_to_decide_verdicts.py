"""The probabilities of verdicts, the rows they need, and families of them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from bench.verdict_families import verdict_p
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical
from fairgauge.stats.rows_to_decide import rows_for_verdict, verdict_power

Z = critical(0.95)


@pytest.mark.parametrize(
    ("comparison", "limits"), [("difference", newcombe), ("ratio", mover_wilson_ratio)]
)
def test_every_table_is_counted(comparison, limits):
    from scipy.stats import binom

    p1, n1, p2, n2, lower, upper = (
        0.4,
        40,
        0.6,
        55,
        *((-0.3, 0.3), (0.5, 1.5))[comparison == "ratio"],
    )
    expected = dict.fromkeys(("pass", "fail", "open", "none"), 0.0)
    for x1, x2 in product(range(n1 + 1), range(n2 + 1)):
        chance = binom.pmf(x1, n1, p1) * binom.pmf(x2, n2, p2)
        low, high = limits(x1, n1, x2, n2, Z)
        pooled = (x1 + x2) / (n1 + n2)
        if min(n1, n2) * min(pooled, 1 - pooled) < 5:
            verdict = "none"
        elif low >= lower and high <= upper:
            verdict = "pass"
        else:
            verdict = "fail" if high < lower or low > upper else "open"
        expected[verdict] += chance
    found = verdict_power(p1, n1, p2, n2, lower, upper, comparison)
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-6)


@given(
    p1=st.floats(0.01, 0.99), p2=st.floats(0.01, 0.99), n1=st.integers(1, 3000),
    n2=st.integers(1, 3000),
)  # fmt: skip
def test_probabilities_sum_to_one(p1, p2, n1, n2):
    found = verdict_power(p1, n1, p2, n2, -0.1, 0.1)
    assert sum(found) == pytest.approx(1, abs=1e-6)
    assert min(found) >= 0
    if min(n1, n2) < 20:
        assert found.not_evaluated == 1


@pytest.mark.parametrize(
    ("case", "formula"),
    [
        # (p1, p2, lower, upper, goal, comparison), and rows of the textbook's normal formula
        ((0.3, 0.3, -0.05, 0.05, "pass", "difference"), 2 * 1766),
        ((0.3, 0.2, 0.0, 0.0, "fail", "difference"), 2 * 291),
        ((0.3, 0.3, 0.8, math.inf, "pass", "ratio"), 2 * 736),
    ],
)
def test_where_rows_are_many_the_textbook_is_right(case, formula):
    assert rows_for_verdict(*case) == pytest.approx(formula, rel=0.12)


@given(
    x1=st.integers(0, 90), x2=st.integers(0, 120), lower=st.floats(-0.3, 0), upper=st.floats(0, 0.3)
)
def test_p_values_at_the_limits_agree_with_the_verdict(x1, x2, lower, upper):
    low, high = newcombe(x1, 90, x2, 120, Z)
    p = verdict_p(lambda z: newcombe(x1, 90, x2, 120, z), x1 / 90 - x2 / 120, lower, upper)
    near = min(abs(low - lower), abs(low - upper), abs(high - lower), abs(high - upper)) < 1e-6
    if near:
        return
    assert (p.fails < 0.025) == (high < lower or low > upper)
    assert (p.passes < 0.025) == (low >= lower and high <= upper)
