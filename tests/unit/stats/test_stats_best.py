"""Comparisons with the best group, which the data choose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairgauge.stats.best import rates_with_best, with_best
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.many import tukey_critical

groups = st.lists(st.tuples(st.integers(0, 80), st.integers(1, 120)), min_size=2, max_size=6).map(
    lambda g: (np.array([min(x, n) for x, n in g]), np.array([n for _, n in g]))
)


def test_two_groups_are_newcombe_up_to_equality():
    found = rates_with_best([30, 50], [100, 100], 0.95)
    low, high = newcombe(30, 100, 50, 100, critical(0.95))
    assert int(found.best) == 1
    assert found.low[0] == pytest.approx(float(low), abs=1e-6)
    assert found.high[0] == pytest.approx(float(high), abs=1e-6)
    assert (found.estimate[1], found.high[1], found.p[1]) == (0, 0, 1)
    ratio = rates_with_best([30, 50], [100, 100], 0.95, "ratio")
    assert ratio.high[0] == pytest.approx(
        float(mover_wilson_ratio(30, 100, 50, 100, critical(0.95))[1]), abs=1e-6
    )


@settings(deadline=None)
@given(table=groups)
def test_all_pairs_give_the_limits(table):
    x, n = table
    found = rates_with_best(x, n, 0.95)
    z = float(tukey_critical(len(x), 0.95))
    low, high = newcombe(x[:, None], n[:, None], x, n, z)
    for each in (low, high):
        np.fill_diagonal(each, np.inf)
    np.testing.assert_allclose(found.low, np.minimum(low.min(1), 0), atol=1e-9)
    np.testing.assert_allclose(found.high, np.minimum(high.min(1), 0), atol=1e-9)
    assert (found.low <= found.estimate + 1e-12).all()
    assert (found.estimate <= found.high + 1e-12).all()


@pytest.mark.parametrize("comparison", ["difference", "ratio"])
@settings(deadline=None)
@given(table=groups)
def test_interval_and_p_value_agree(comparison, table):
    x, n = table
    found = rates_with_best(x, n, 0.95, comparison)
    neutral = float(comparison == "ratio")
    clear = np.abs(found.high - neutral) > 1e-6
    assert ((found.p < 0.05) == (found.high < neutral))[clear].all()


@settings(deadline=None)
@given(table=groups)
def test_the_lowest_is_the_highest_of_the_complement(table):
    x, n = table
    low, high = rates_with_best(x, n, 0.95, best="lowest"), rates_with_best(n - x, n, 0.95)
    np.testing.assert_allclose(low.estimate, -high.estimate, atol=1e-12)
    np.testing.assert_allclose(low.high, -high.low, atol=1e-9)
    np.testing.assert_allclose(low.low, -high.high, atol=1e-9)
    np.testing.assert_allclose(low.p, high.p, atol=1e-6)


def test_an_empty_group_takes_no_part():
    found = rates_with_best([30, 0, 50], [100, 0, 100], 0.95)
    without = rates_with_best([30, 50], [100, 100], 0.95)
    assert np.isnan([found.low[1], found.high[1], found.p[1]]).all()
    np.testing.assert_allclose(found.high[[0, 2]], without.high, atol=1e-12)
    nobody = rates_with_best([0, 0], [0, 0], 0.95)
    assert int(nobody.best) == -1
    assert np.isnan(nobody.low).all()


def test_many_tables_at_once_are_each_their_own():
    rng = np.random.default_rng(0)
    x, n = rng.binomial(60, 0.4, (5, 4)), np.full(4, 60)
    together = rates_with_best(x, n, 0.95)
    for at, row in enumerate(x):
        alone = rates_with_best(row, n, 0.95)
        for several, one in zip(together, alone, strict=True):
            np.testing.assert_allclose(several[at], one, atol=1e-9)


def test_any_statistic_with_limits():
    x, n = np.array([20, 30, 45]), np.array([60, 60, 60])
    made = with_best(x / n, lambda z: wilson(x, n, z), 0.95)
    np.testing.assert_allclose(made.low, rates_with_best(x, n, 0.95).low)
    assert tukey_critical(3, 0.95) > critical(0.95)
