"""Intervals of differences and ratios: published anchors and edge cases."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from fairgauge.stats import significance
from fairgauge.stats.contrasts import (
    mover_wilson_ratio,
    newcombe,
    score_difference,
    score_ratio,
)
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import (
    chi_square_tail,
    exact_selection_test,
    expected_selections,
    newcombe_p,
)

Z = critical(0.95)
INF = np.inf


@pytest.mark.parametrize(
    ("table", "newcombe_limits", "mn_limits"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339), (0.0528, 0.3382)),
        ((9, 10, 3, 10), (0.1705, 0.8090), (0.1700, 0.8406)),
        ((6, 7, 2, 7), (0.0582, 0.8062), (0.0342, 0.8534)),
        ((5, 56, 0, 29), (-0.0381, 0.1926), (-0.0326, 0.1933)),
        ((0, 10, 0, 20), (-0.1611, 0.2775), (-0.1658, 0.2844)),
        ((10, 10, 0, 20), (0.6791, 1.0), (0.7156, 1.0)),
    ],
)
def test_differences_as_published(table, newcombe_limits, mn_limits):
    """Newcombe (1998), Statistics in Medicine 17, 873-890, table II, methods 10 and 5."""
    np.testing.assert_allclose(newcombe(*table, Z), newcombe_limits, atol=6e-5)
    found = score_difference(*table, Z, skewness=False)
    np.testing.assert_allclose(found, mn_limits, atol=1.1e-4)


@pytest.mark.parametrize(
    ("table", "mover_limits", "mn_limits"),
    [
        ((24, 73, 53, 65), (0.282, 0.563), (0.280, 0.560)),
        ((29, 55, 11, 11), (0.398, 0.761), (0.397, 0.742)),
        ((7, 18, 1, 18), (1.277, 40.751), (1.296, 42.544)),
    ],
)
def test_ratios_as_published(table, mover_limits, mn_limits):
    """Fagerland & Newcombe (2013), Statistics in Medicine 32, 2823-2836."""
    np.testing.assert_allclose(mover_wilson_ratio(*table, Z), mover_limits, atol=6e-4)
    found = score_ratio(*table, Z, skewness=False)
    np.testing.assert_allclose(found, mn_limits, atol=6e-4)


def test_skewness_corrected_scores_as_published():
    """Gart & Nam (1990) for the difference, (1988) for the ratio."""
    found = score_difference(7, 25, 2, 25, Z, small_sample=False)
    np.testing.assert_allclose(found, (-0.014, 0.414), atol=6e-4)
    found = score_ratio(8, 15, 4, 15, Z, small_sample=False)
    np.testing.assert_allclose(found, (0.806, 6.148), atol=6e-4)


def test_ratio_edges():
    low, high = mover_wilson_ratio([0, 5, 0, 5], [10, 10, 10, 0], [5, 0, 0, 5], 10, Z)
    assert low[0] == 0
    assert np.isfinite(high[0])
    assert low[1] > 0
    assert high[1] == INF
    assert (low[2], high[2]) == (0, INF)
    assert low[3] >= 0


def test_score_edges():
    low, high = score_difference([10, 0, 0, 10, 3], [10, 10, 10, 10, 0], [0, 10, 0, 10, 4], 10, Z)
    assert (high[0], low[1]) == (1, -1)
    assert low[2] == pytest.approx(-high[2])
    assert low[3] == pytest.approx(-high[3])
    assert (low[4], high[4]) == (-1, 1)
    low, high = score_ratio([10, 0, 0, 3], [10, 10, 10, 0], [0, 10, 0, 4], [20, 10, 10, 10], Z)
    assert high[0] == INF
    assert 1 < low[0] < 10  # the corrected form would say 7e10
    assert low[1] == 0
    assert high[1] < 1
    assert (low[2], high[2]) == (0, INF)
    assert (low[3], high[3]) == (0, INF)


def test_score_limits_satisfy_their_own_equation():
    """The constrained likelihood at the limit, checked against a fine grid."""
    low, _ = score_difference(12, 40, 5, 30, critical(0.9), skewness=False)
    grid = np.linspace(1e-6, 1 - 1e-6, 200_001)
    p1 = grid + low
    inside = (p1 > 0) & (p1 < 1)
    p1, p2 = p1[inside], grid[inside]
    like = 12 * np.log(p1) + 28 * np.log(1 - p1) + 5 * np.log(p2) + 25 * np.log(1 - p2)
    q1, q2 = p1[like.argmax()], p2[like.argmax()]
    variance = (q1 * (1 - q1) / 40 + q2 * (1 - q2) / 30) * 70 / 69
    assert (0.3 - 5 / 30 - low) / np.sqrt(variance) == pytest.approx(critical(0.9), abs=1e-4)


# ---- tests of no difference: exact, chi-square, permutation, inversion
def test_inversion_touches_the_null():
    p = newcombe_p(56, 70, 48, 80)
    assert p == pytest.approx(0.00813314, abs=1e-8)
    low, _ = newcombe(56, 70, 48, 80, critical(1 - float(p)))
    assert low == pytest.approx(0, abs=1e-12)


def test_score_p_agrees_with_the_score_limits():
    from fairgauge.stats.contrasts import score_difference, score_ratio

    rng = np.random.default_rng(6)
    n1, n2 = rng.integers(5, 60, (2, 400))
    table = rng.binomial(n1, 0.3), n1, rng.binomial(n2, 0.6), n2
    for skewness in (True, False):
        p = significance.score_p(*table, skewness=skewness)
        low, high = score_difference(*table, critical(0.95), skewness=skewness)
        assert ((p < 0.05) == ((low > 0) | (high < 0))).all()
    low, high = score_ratio(*table, critical(0.95), skewness=False)
    assert ((p < 0.05) == ((low > 1) | (high < 1))).all()
    assert significance.score_p(0, 25, 0, 25) == 1
    assert np.isnan(significance.score_p(0, 0, 1, 25))


def test_score_p_without_skewness_is_the_n_minus_1_chi_square():
    """Campbell (2007), Statistics in Medicine 26: (N - 1) / N times Pearson's statistic."""
    from scipy.stats import chi2, chi2_contingency

    x1, n1, x2, n2 = 7, 25, 2, 25
    stat = chi2_contingency([[x1, n1 - x1], [x2, n2 - x2]], correction=False).statistic
    found = significance.score_p(x1, n1, x2, n2, skewness=False)
    assert found == pytest.approx(chi2.sf(stat * 49 / 50, 1))


def test_welch_p():
    from scipy.stats import ttest_ind

    a, b = np.array([1.0, 2, 4, 7, 3]), np.array([2.0, 2, 1, 0, 5, 3, 1])
    moments = a.mean(), a.var(ddof=1), 5, b.mean(), b.var(ddof=1), 7
    found = significance.welch_p(*moments)
    assert found == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)
    found = significance.welch_p([1, 1, 2], 0, 9, 1, 0, [9, 1, 9])
    np.testing.assert_array_equal(found, [1, np.nan, 0])


def test_chi_square_tail_agrees_with_scipy():
    from scipy.stats import chi2

    statistic = np.append([0, 1e-9, 1e-3], np.linspace(0.1, 2000, 400))[:, None]
    degrees = np.arange(1, 201)
    expected = chi2.sf(statistic, degrees)
    normal = expected > 1e-300  # a number below has fewer digits
    p = chi_square_tail(statistic, degrees)
    np.testing.assert_allclose(p[normal], expected[normal], rtol=1e-12)
    np.testing.assert_allclose(p[~normal], 0, atol=1e-299)
    assert np.isnan(chi_square_tail(np.nan, 3))
    assert not chi_square_tail(np.inf, [1, 2, 3, 4]).any()


def test_boschloo_is_never_above_fisher():
    """Fisher's one-sided p, doubled, is what Boschloo's test improves on everywhere."""
    from scipy.stats import fisher_exact

    for x1, n1, x2, n2 in [(7, 25, 2, 25), (3, 11, 9, 12), (1, 8, 7, 20)]:
        table = [[x1, n1 - x1], [x2, n2 - x2]]
        one_sided = [fisher_exact(table, side).pvalue for side in ("less", "greater")]
        assert significance.boschloo(x1, n1, x2, n2) <= 2 * min(one_sided) + 1e-9
    assert significance.boschloo([[7]], 25, 2, 25).shape == (1, 1)


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
