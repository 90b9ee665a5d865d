"""Logistic regression of counts: values of statsmodels, coverage, separation, collinearity."""

import numpy as np
import pytest
from tests.needs import EVERY_CASE

from fairgauge.enums import WhyNoRegression
from fairgauge.stats.grouped_regression import adjusted_effect

Z = 1.959963984540054
WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])
LEVELS = (5, 4, 3)
CODES = [*np.unravel_index(np.arange(60), LEVELS)]


def test_berkeley_agrees_with_statsmodels():
    """`Logit` of the 4,526 rows with dummies of departments, `get_margeff` (overall), and HC3.

    The residuals are divided by 1 less `GLM(...).get_influence().hat_matrix_diag` of the rows.
    """
    found = adjusted_effect(*WOMEN, *MEN, [np.arange(6)], Z)
    assert found.difference == pytest.approx(0.019497, abs=1e-6)
    assert found.log_odds == pytest.approx(0.099870088, abs=1e-8)
    assert found.log_odds_error == pytest.approx(0.08045399170682278, abs=1e-8)
    assert (found.high - found.low) / 2 / Z == pytest.approx(0.015595534438258651, abs=1e-8)
    assert (found.cells, found.penalised) == (12, False)


def test_effects_by_side_of_one_column_standardise_the_strata():
    x_d, n_d, x_a, n_a = (np.array(each, dtype=float) for each in (*WOMEN, *MEN))
    found = adjusted_effect(*WOMEN, *MEN, [np.arange(6)], Z, by_side=True)
    share = (n_d + n_a) / (n_d + n_a).sum()
    assert found.difference == pytest.approx((share * (x_d / n_d - x_a / n_a)).sum(), abs=1e-9)
    assert found.interaction < 0.01


def test_swapped_sides_turn_the_sign_and_doubled_columns_change_nothing():
    found = adjusted_effect(*WOMEN, *MEN, [np.arange(6)], Z)
    swapped = adjusted_effect(*MEN, *WOMEN, [np.arange(6)], Z)
    assert swapped.difference == pytest.approx(-found.difference)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    doubled = adjusted_effect(*WOMEN, *MEN, [np.arange(6), np.arange(6)[::-1]], Z)
    assert doubled.difference == pytest.approx(found.difference)
    assert doubled.p == pytest.approx(found.p)


def test_levels_that_separate_are_penalised_and_a_side_that_separates_keeps_its_difference():
    found = adjusted_effect([0, 20], [30, 60], [0, 50], [40, 90], [np.arange(2)], Z)
    assert found.penalised
    assert -0.3 < found.difference < 0.0
    alone = adjusted_effect([0, 0], [30, 30], [10, 20], [40, 40], [np.arange(2)], Z)
    assert alone.penalised
    assert -0.45 < alone.difference < -0.25
    alone = adjusted_effect([0, 0], [0, 0], [10, 20], [40, 40], [np.arange(2)], Z)
    assert alone is WhyNoRegression.TOO_FEW


def test_a_row_alone_in_its_level_has_no_boundless_weight():
    """Of 40 rows beside one that Firth's fit leaves a residual of, though it has all leverage."""
    x_d, n_d, x_a, n_a = [8, 1], [20, 1], [12, 0], [20, 0]
    for by_side in (False, True):
        found = adjusted_effect(x_d, n_d, x_a, n_a, [np.arange(2)], Z, by_side=by_side)
        assert found.penalised
        assert 0.5 < found.high - found.low < 0.8


def test_every_table_with_rows_of_both_sides_has_a_fit():
    """Of 200 tables of a row or two a cell: the steps of Firth's fit alternated in most."""
    rng = np.random.default_rng(2)
    for strata in np.repeat([3, 8, 30, 60], 50):
        n_d, n_a = rng.integers(0, 3, (2, strata)) + (np.arange(strata) == 0)
        counts = rng.binomial(n_d, 0.3), n_d, rng.binomial(n_a, 0.6), n_a
        for by_side in (False, True):
            found = adjusted_effect(*counts, [np.arange(strata)], Z, by_side=by_side)
            if counts[0].sum() + counts[2].sum() in (0, (n_d + n_a).sum()):
                assert found is WhyNoRegression.ONE_OUTCOME
            else:
                assert found.low < found.difference < found.high


@pytest.mark.parametrize(("rows", "interaction"), [(400, 0.0), (1_000, 1.0), (150, 0.0)])
def test_intervals_hold_their_level(rows, interaction):
    """Of 300 tables of 60 cells a side; with an interaction, of the fit by side."""
    rng = np.random.default_rng(11)
    effects = [np.linspace(-0.8, 0.8, levels) for levels in LEVELS]
    logit = sum(effect[codes] for effect, codes in zip(effects, CODES, strict=True))
    p_a, p_d = (
        1 / (1 + np.exp(-each))
        for each in (logit, logit - 0.4 + interaction * effects[0][CODES[0]])
    )
    w_d = np.exp(-0.5 * logit) / np.exp(-0.5 * logit).sum()
    truth = ((0.4 * w_d + 0.6 / 60) * (p_d - p_a)).sum()
    covered = []
    for _ in range(300):
        n_d, n_a = (
            rng.multinomial(int(0.4 * rows), w_d),
            rng.multinomial(int(0.6 * rows), [1 / 60] * 60),
        )
        counts = rng.binomial(n_d, p_d), n_d, rng.binomial(n_a, p_a), n_a
        found = adjusted_effect(*counts, CODES, Z, by_side=bool(interaction))
        covered.append(found.low <= truth <= found.high)
    assert 0.91 <= np.mean(covered) <= 0.985


def test_intervals_of_rare_outcomes_hold_their_level():
    """Of 1,000 tables of about 14 successes, of which Firth's fit has a third; 93.4 before."""
    rng = np.random.default_rng(3)
    logit = -3.2 + sum(np.linspace(-0.4, 0.4, n)[c] for n, c in zip(LEVELS, CODES, strict=True))
    p_d, p_a = (1 / (1 + np.exp(-each)) for each in (logit - 0.3, logit))
    held, penalised, sets = [], [], 1_000 if EVERY_CASE else 300
    for _ in range(sets):
        n_d, n_a = rng.multinomial(200, [1 / 60] * 60, 2)
        counts = rng.binomial(n_d, p_d), n_d, rng.binomial(n_a, p_a), n_a
        found = adjusted_effect(*counts, CODES, Z)
        held.append(found.low <= (p_d - p_a).mean() <= found.high)
        penalised.append(found.penalised)
    assert np.mean(held) > (0.945 if EVERY_CASE else 0.93)
    assert 0.2 < np.mean(penalised) < 0.6


def test_the_adjusted_ratio_is_that_of_standardised_rates():
    """Of one column by side, rates standardised to both sides; swapped, the reciprocal."""
    x_d, n_d = np.array([89.0, 17, 202]), np.array([108.0, 25, 593])
    x_a, n_a = np.array([512.0, 353, 120]), np.array([825.0, 560, 325])
    one = adjusted_effect(x_d, n_d, x_a, n_a, [np.arange(3)], 1.96, by_side=True)
    share = (n_d + n_a) / (n_d + n_a).sum()
    rates = (share * x_d / n_d).sum(), (share * x_a / n_a).sum()
    assert one.ratio[0] == pytest.approx(rates[0] / rates[1], abs=1e-9)
    other = adjusted_effect(x_a, n_a, x_d, n_d, [np.arange(3)], 1.96, by_side=True)
    assert other.ratio == pytest.approx([1 / one.ratio[0], 1 / one.ratio[2], 1 / one.ratio[1]])


def test_intervals_of_adjusted_ratios_hold_their_level():
    rng, column = np.random.default_rng(8), [np.arange(4)]
    base, covered = np.array([0.2, 0.35, 0.5, 0.65]), []
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    odds = base / (1 - base) * np.exp(-0.5)
    rate = odds / (1 + odds)
    whole = (300 * shares + 700 * shares[::-1]) / 1_000
    truth = (whole * rate).sum() / (whole * base).sum()
    for _ in range(500):
        n_d, n_a = rng.multinomial(300, shares), rng.multinomial(700, shares[::-1])
        x_d, x_a = rng.binomial(n_d, rate), rng.binomial(n_a, base)
        _, low, high = adjusted_effect(x_d, n_d, x_a, n_a, column, 1.96).ratio
        covered.append(low <= truth <= high)
    assert 0.925 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("rows", [5_000, 20_000])
def test_a_penalised_fit_makes_no_difference_where_there_is_none(rows):
    """Firth's penalty moved the rates of the smaller side further: 1.7 points, significantly."""
    rng, strata, found = np.random.default_rng(0), np.arange(400), []
    columns = [strata // 10, strata % 10]
    for _ in range(20):
        group, cell = rng.random(rows) < 0.2, rng.integers(0, 400, rows)
        success = rng.random(rows) >= 0.02
        n_d, n_a, x_d, x_a = (
            np.bincount(cell[each], minlength=400)
            for each in (group, ~group, group & success, ~group & success)
        )
        found.append(adjusted_effect(x_d, n_d, x_a, n_a, columns, Z, by_side=True))
    assert sum(each.penalised for each in found) > 10
    assert sum(not each.low <= 0 <= each.high for each in found) <= 3
    mean = sum(each.difference for each in found) / 20
    assert abs(mean) < 3 * (0.02 / (0.16 * rows) / 20) ** 0.5


def test_outcomes_that_are_all_alike_have_no_regression():
    n = np.array([50.0, 80.0, 20.0])
    found = adjusted_effect(n, n, 3 * n, 3 * n, [np.arange(3)], Z)
    assert found is WhyNoRegression.ONE_OUTCOME
