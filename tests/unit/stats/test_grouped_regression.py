"""Logistic regression of counts: statsmodels' values, coverage, small levels, separation."""

import numpy as np
import pytest

from fairgauge.enums import WhyNoRegression
from fairgauge.stats.grouped_regression import adjusted_effect

Z = 1.959963984540054
WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])


def test_berkeley_agrees_with_statsmodels():
    """`Logit` of the 4,526 rows with dummies of departments, `get_margeff` (overall), and HC3.

    The residuals are divided by 1 less `GLM(...).get_influence().hat_matrix_diag` of the rows.
    """
    found = adjusted_effect(*WOMEN, *MEN, [np.arange(6)], Z)
    assert found.difference == pytest.approx(0.019497, abs=1e-6)
    assert found.log_odds == pytest.approx(0.099870088, abs=1e-8)
    assert found.log_odds_error == pytest.approx(0.08045399170682278, abs=1e-8)
    assert (found.high - found.low) / 2 / Z == pytest.approx(0.015595534438258651, abs=1e-8)
    assert found.cells == 12


def test_swapped_sides_turn_the_sign_and_doubled_columns_change_nothing():
    found = adjusted_effect(*WOMEN, *MEN, [np.arange(6)], Z)
    swapped = adjusted_effect(*MEN, *WOMEN, [np.arange(6)], Z)
    assert swapped.difference == pytest.approx(-found.difference)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    doubled = adjusted_effect(*WOMEN, *MEN, [np.arange(6), np.arange(6)[::-1]], Z)
    assert doubled.difference == pytest.approx(found.difference)
    assert doubled.p == pytest.approx(found.p)


def test_levels_of_one_outcome_have_it_on_both_sides_and_the_others_their_own_fit():
    """Also levels that other levels leave one outcome."""
    one, n, other, m = [5, 9, 0, 8, 0], [9, 20, 5, 8, 3], [4, 12, 0, 6, 0], [11, 15, 7, 6, 4]
    of_all = adjusted_effect(one, n, other, m, [np.arange(5)], Z)
    mixed = adjusted_effect(*(each[:2] for each in (one, n, other, m)), [np.arange(2)], Z)
    assert of_all.difference == pytest.approx(mixed.difference * 55 / 88)
    assert of_all.log_odds == pytest.approx(mixed.log_odds)
    crossed = [np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])]
    counts = [1, 0, 7, 9], [9, 9, 9, 9], [6, 0, 3, 9], [9, 9, 9, 9]
    left = adjusted_effect(*(np.take(each, [0, 2]) for each in counts), [np.arange(2)], Z)
    found = adjusted_effect(*counts, crossed, Z)
    assert found.log_odds == pytest.approx(left.log_odds)
    same = adjusted_effect([0, 9], [9, 9], [0, 8], [7, 8], [np.arange(2)], Z)
    assert same is WhyNoRegression.COLUMNS_DECIDE


def test_the_adjusted_ratio_is_that_of_rates_standardised_over_people_and_not_over_cells():
    counts = [89, 17, 202], [108, 25, 593], [512, 353, 120], [825, 560, 325]
    one = adjusted_effect(*counts, [np.arange(3)], Z)
    swapped = adjusted_effect(*counts[2:], *counts[:2], [np.arange(3)], Z)
    assert swapped.ratio == pytest.approx([1 / one.ratio[0], 1 / one.ratio[2], 1 / one.ratio[1]])
    doubled = adjusted_effect(*(2 * np.array(each) for each in counts), [np.arange(3)], Z)
    assert (doubled.difference, doubled.ratio[0]) == pytest.approx((one.difference, one.ratio[0]))
