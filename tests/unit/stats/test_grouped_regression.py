"""Logistic regression of counts: statsmodels' values, coverage, small levels, separation."""

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


def test_a_side_without_successes_keeps_its_difference():
    alone = adjusted_effect([0, 0], [30, 30], [10, 20], [40, 40], [np.arange(2)], Z)
    assert -0.45 < alone.difference < alone.high < -0.2
    assert np.isnan(alone.log_odds)
    alone = adjusted_effect([0, 0], [0, 0], [10, 20], [40, 40], [np.arange(2)], Z)
    assert alone is WhyNoRegression.TOO_FEW


def test_most_tables_of_a_row_or_two_a_cell_have_a_fit():
    rng, reasons = np.random.default_rng(2), []
    for strata in np.repeat([3, 8, 30, 60], 50):
        n_d, n_a = rng.integers(0, 3, (2, strata)) + (np.arange(strata) == 0)
        counts = rng.binomial(n_d, 0.3), n_d, rng.binomial(n_a, 0.6), n_a
        found = adjusted_effect(*counts, [np.arange(strata)], Z)
        if isinstance(found, WhyNoRegression):
            reasons.append(found)
        else:
            assert found.low < found.difference < found.high
    assert len(reasons) < 50


@pytest.mark.parametrize("rows", [400, 150])
def test_intervals_hold_their_level(rows):
    """Of 300 tables of 60 cells a side."""
    rng = np.random.default_rng(11)
    effects = [np.linspace(-0.8, 0.8, levels) for levels in LEVELS]
    logit = sum(effect[codes] for effect, codes in zip(effects, CODES, strict=True))
    p_a, p_d = (1 / (1 + np.exp(-each)) for each in (logit, logit - 0.4))
    w_d = np.exp(-0.5 * logit) / np.exp(-0.5 * logit).sum()
    truth = ((0.4 * w_d + 0.6 / 60) * (p_d - p_a)).sum()
    covered = []
    for _ in range(300):
        n_d, n_a = (
            rng.multinomial(int(0.4 * rows), w_d),
            rng.multinomial(int(0.6 * rows), [1 / 60] * 60),
        )
        counts = rng.binomial(n_d, p_d), n_d, rng.binomial(n_a, p_a), n_a
        found = adjusted_effect(*counts, CODES, Z)
        covered.append(found.low <= truth <= found.high)
    assert 0.91 <= np.mean(covered) <= 0.985


def test_intervals_of_rare_outcomes_hold_their_level():
    """Of 1,000 tables of about 14 successes."""
    rng = np.random.default_rng(3)
    logit = -3.2 + sum(np.linspace(-0.4, 0.4, n)[c] for n, c in zip(LEVELS, CODES, strict=True))
    p_d, p_a = (1 / (1 + np.exp(-each)) for each in (logit - 0.3, logit))
    held, sets = [], 1_000 if EVERY_CASE else 300
    for _ in range(sets):
        n_d, n_a = rng.multinomial(200, [1 / 60] * 60, 2)
        counts = rng.binomial(n_d, p_d), n_d, rng.binomial(n_a, p_a), n_a
        found = adjusted_effect(*counts, CODES, Z)
        held.append(found.low <= (p_d - p_a).mean() <= found.high)
    assert np.mean(held) > (0.945 if EVERY_CASE else 0.93)


def test_the_adjusted_ratio_is_that_of_rates_standardised_over_people_and_not_over_cells():
    counts = [89, 17, 202], [108, 25, 593], [512, 353, 120], [825, 560, 325]
    one = adjusted_effect(*counts, [np.arange(3)], Z)
    swapped = adjusted_effect(*counts[2:], *counts[:2], [np.arange(3)], Z)
    assert swapped.ratio == pytest.approx([1 / one.ratio[0], 1 / one.ratio[2], 1 / one.ratio[1]])
    doubled = adjusted_effect(*(2 * np.array(each) for each in counts), [np.arange(3)], Z)
    assert (doubled.difference, doubled.ratio[0]) == pytest.approx((one.difference, one.ratio[0]))


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


def of_many_levels(design, rng, log_odds=0.0):
    """Draw a table whose sides are spread unevenly over many small levels, and its difference."""
    levels = 280 if design == "6 rows" else 250
    rows = {"40 rows": np.full(levels, 40), "6 rows": np.full(levels, 6)}.get(
        design, np.append(np.full(6, 800), rng.integers(2, 9, levels - 6))
    )
    ours = rng.uniform(0.05, 0.95, levels)
    logit = {"40 rows": -4.7, "6 rows": -3.0}.get(design, -3.5) + 4.2 * ours
    p_d, p_a = (1 / (1 + np.exp(-each)) for each in (logit + log_odds, logit))
    n_d = rng.binomial(rows, ours)
    counts = rng.binomial(n_d, p_d), n_d, rng.binomial(rows - n_d, p_a), rows - n_d
    return counts, float(rows @ (p_d - p_a) / rows.sum())


@pytest.mark.parametrize("design", ["40 rows", "6 rows", "few large, many tiny"])
def test_many_small_levels_make_no_difference_and_hide_none(design):
    """Firth's penalty made one of up to 3.7 points; bench.why_verdicts has more tables."""
    rng, off, held, sets = np.random.default_rng(1), [], [], 60 if EVERY_CASE else 15
    for log_odds in np.resize([0.0, -0.5], sets):
        counts, truth = of_many_levels(design, rng, log_odds)
        found = adjusted_effect(*counts, [np.arange(len(counts[0]))], Z)
        off.append(found.difference - truth)
        held.append(found.low <= truth <= found.high)
    assert abs(np.mean(off)) < 3 * np.std(off) / sets**0.5
    assert np.mean(held) > 0.95 - 3 * (0.05 * 0.95 / sets) ** 0.5


def test_outcomes_that_are_all_alike_have_no_regression():
    n = np.array([50.0, 80.0, 20.0])
    found = adjusted_effect(n, n, 3 * n, 3 * n, [np.arange(3)], Z)
    assert found is WhyNoRegression.ONE_OUTCOME
