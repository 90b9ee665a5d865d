"""Regressions of counts against those of the rows, and what statsmodels would have got wrong."""

import numpy as np
import pytest

from fairgauge.enums import WhyNoRegression
from fairgauge.errors import MissingExtra
from fairgauge.stats.regression import adjusted_effect

pytest.importorskip("statsmodels")

Z = 1.959963984540054
WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])
SIX = [np.arange(6)]


def rows_of_berkeley():
    """Return the design of the 4,526 rows, and the outcomes."""
    design, outcomes = [], []
    for side, (x, n) in ((1, WOMEN), (0, MEN)):
        for department in range(6):
            levels = (np.arange(1, 6) == department).astype(float)
            design.append(np.tile([1.0, side, *levels], (n[department], 1)))
            outcomes.append(np.arange(n[department]) < x[department])
    return np.concatenate(design), np.concatenate(outcomes).astype(float)


def half(found):
    return (found.high - found.low) / 2 / Z


def test_berkeley_is_the_regression_of_the_rows():
    """Errors are HC3's: residuals over 1 less the leverage of the rows."""
    from statsmodels.api import GLM, families

    design, y = rows_of_berkeley()
    fit = GLM(y, design, family=families.Binomial()).fit(tol=1e-12)
    found = adjusted_effect(*WOMEN, *MEN, SIX, Z)
    assert found.log_odds == pytest.approx(fit.params[1], abs=1e-9)
    sides = [design.copy() for _ in range(2)]
    sides[0][:, 1], sides[1][:, 1] = 1, 0
    rates = [fit.predict(side) for side in sides]
    assert found.difference == pytest.approx((rates[0] - rates[1]).mean(), abs=1e-9)
    assert found.ratio[0] == pytest.approx(rates[0].mean() / rates[1].mean(), abs=1e-9)
    residuals = (y - fit.mu) / (1 - fit.get_influence().hat_matrix_diag)
    influence = (fit.normalized_cov_params @ design.T * residuals)[1]
    assert found.log_odds_error == pytest.approx(np.sqrt(influence @ influence), abs=1e-6)
    assert half(found) == pytest.approx(0.015595534438258651, abs=1e-8)
    assert found.cells == 12


def test_average_effects_are_of_people_where_statsmodels_averages_over_lines():
    from statsmodels.api import GLM, families

    design, y = rows_of_berkeley()
    lines, count = np.unique(np.column_stack([design, y]), axis=0, return_counts=True)
    model = GLM(lines[:, -1], lines[:, :-1], family=families.Binomial(), freq_weights=count)
    with pytest.warns(UserWarning, match="weights are not taken into account"):
        of_lines = model.fit().get_margeff(dummy=True).margeff[0]
    found = adjusted_effect(*WOMEN, *MEN, SIX, Z)
    assert abs(of_lines - found.difference) > 1e-4
    of_rows = GLM(y, design, family=families.Binomial()).fit().get_margeff(dummy=True).margeff[0]
    assert found.difference == pytest.approx(of_rows, abs=1e-6)


def test_errors_are_of_hc3_where_that_of_a_glm_is_hc0():
    from statsmodels.api import GLM, families

    design, y = rows_of_berkeley()
    model = GLM(y, design, family=families.Binomial())
    hc0, hc3 = (model.fit(cov_type=name).bse[1] for name in ("HC0", "HC3"))
    assert hc3 == pytest.approx(hc0, rel=1e-12)
    assert adjusted_effect(*WOMEN, *MEN, SIX, Z).log_odds_error > 1.0005 * hc0


def test_linear_regression_is_that_of_the_rows():
    from statsmodels.api import OLS

    rng, rows = np.random.default_rng(0), 400
    grade, site, group = (rng.integers(0, k, rows) for k in (3, 4, 2))
    y = 3 + grade + 0.4 * site - 0.3 * group * (1 + grade) + rng.normal(0, 0.5 + grade)
    levels = [grade[:, None] == np.arange(1, 3), site[:, None] == np.arange(1, 4)]
    fit = OLS(y, np.column_stack([np.ones(rows), group, *levels]).astype(float)).fit(cov_type="HC3")
    cell = grade * 4 + site
    (x_d, x_a), (n_d, n_a), squares = (
        [np.bincount(cell[group == g], v[group == g], 12) for g in (1, 0)]
        for v in (y, np.ones(rows), y**2)
    )
    columns = [np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)]
    found = adjusted_effect(x_d, n_d, x_a, n_a, columns, Z, squares=tuple(squares))
    assert found.difference == pytest.approx(fit.params[1], rel=1e-9)
    reach = (found.high - found.low) / 2
    assert reach / fit.bse[1] == pytest.approx(1.9660, abs=1e-4)  # of t with 393 degrees
    assert np.isnan(found.log_odds)


def test_swapped_sides_turn_the_sign_and_collinear_columns_change_nothing():
    found = adjusted_effect(*WOMEN, *MEN, SIX, Z)
    swapped = adjusted_effect(*MEN, *WOMEN, SIX, Z)
    assert swapped.difference == pytest.approx(-found.difference)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    assert swapped.ratio == pytest.approx(
        [1 / found.ratio[0], 1 / found.ratio[2], 1 / found.ratio[1]]
    )
    doubled = adjusted_effect(*WOMEN, *MEN, [np.arange(6), np.arange(6)[::-1]], Z)
    assert doubled.difference == pytest.approx(found.difference)
    assert doubled.p == pytest.approx(found.p)
    assert doubled.collinear == (0, 5)
    times = adjusted_effect(*(2 * np.array(each) for each in (*WOMEN, *MEN)), SIX, Z)
    assert (times.difference, times.ratio[0]) == pytest.approx((found.difference, found.ratio[0]))


def test_levels_of_one_outcome_have_it_on_both_sides_and_the_others_their_own_fit():
    """Also levels that other levels leave one outcome."""
    one, n, other, m = [7, 9, 0, 8, 0], [19, 20, 5, 8, 3], [6, 12, 0, 6, 0], [21, 25, 7, 6, 4]
    of_all = adjusted_effect(one, n, other, m, [np.arange(5)], Z)
    mixed = adjusted_effect(*(each[:2] for each in (one, n, other, m)), [np.arange(2)], Z)
    assert of_all.difference == pytest.approx(mixed.difference * 85 / 118)
    assert of_all.log_odds == pytest.approx(mixed.log_odds)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        (([50, 80], [50, 80], [150, 240], [150, 240]), WhyNoRegression.ONE_OUTCOME),
        (([0, 9], [9, 9], [0, 8], [7, 8]), WhyNoRegression.COLUMNS_DECIDE),
        (([0, 0], [30, 30], [10, 20], [40, 40]), WhyNoRegression.SEPARATED),
        (([2, 2], [30, 30], [10, 20], [40, 40]), WhyNoRegression.TOO_FEW_EVENTS),
        (([0, 0], [0, 0], [10, 20], [40, 40]), WhyNoRegression.TOO_FEW),
        (([12, 0], [30, 0], [0, 20], [0, 40]), WhyNoRegression.COLLINEAR),
    ],
)
def test_what_cannot_be_adjusted_states_why(counts, why):
    assert adjusted_effect(*counts, [np.arange(2)], Z) is why


def test_means_that_cannot_be_adjusted_state_why():
    none, rows = np.zeros(2), np.ones(2)
    alone = adjusted_effect(none, none, rows, rows, [np.arange(2)], Z, squares=(none, rows))
    assert alone is WhyNoRegression.TOO_FEW
    constant = adjusted_effect(*[4 * rows] * 4, [np.arange(2)], Z, squares=(4 * rows, 4 * rows))
    assert constant is WhyNoRegression.ONE_OUTCOME


def test_without_the_library_an_error_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "statsmodels.genmod.families", None)
    with pytest.raises(MissingExtra, match="regression"):
        adjusted_effect(*WOMEN, *MEN, SIX, Z)


def test_levels_of_two_rows_have_no_standard_error_that_is_far_too_large():
    """HC3 alone made it 1.4 to 1.5 times what differences of means vary by."""
    rng, levels, one = np.random.default_rng(6), np.arange(60), np.ones(60)
    found = []
    for _ in range(120):
        y = rng.normal(0, 1, (2, 60)) + 3 * levels
        squares = (y[0] ** 2, y[1] ** 2)
        found.append(adjusted_effect(y[0], one, y[1], one, [levels], 1.96, squares=squares))
    apart = np.std([each.difference for each in found])
    error = np.mean([each.high - each.low for each in found]) / 2 / 2.0
    assert 0.9 < error / apart < 1.3
    assert np.mean([each.low <= 0 <= each.high for each in found]) > 0.93
