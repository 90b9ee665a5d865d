"""Intervals of one number: published anchors and edge cases."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import (
    clopper_pearson,
    critical,
    critical_t,
    jeffreys,
    paired_ratio,
    wilson,
    wilson_odds,
)
from fairgauge.stats.rows_to_decide import (
    detectable_difference,
    rows_for_verdict,
    rows_to_decide,
    rows_to_decide_rates,
)
from fairgauge.stats.scores import area_from_counts, area_score_interval, area_variance

# ---- the score interval of an area under the ROC curve, and sparse distances
Z = critical(0.95)
INF = np.inf


def test_critical_values():
    assert critical(0.95) == pytest.approx(1.959963984540054, abs=1e-12)
    assert critical(0.90) == pytest.approx(1.6448536269514722, abs=1e-12)
    assert critical(1 - 1e-12) == pytest.approx(7.130, abs=1e-3)
    np.testing.assert_allclose(critical_t(0.95, [1, 5, 30]), [12.706, 2.571, 2.042], atol=6e-4)
    assert critical_t(0.95, 0) == INF
    assert critical_t(0.95, INF) == critical(0.95)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, float("nan")])
def test_a_confidence_outside_0_and_1_is_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence must lie inside \(0, 1\); found"):
        critical(confidence)


@pytest.mark.parametrize(
    ("x", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)  # fmt: skip
def test_wilson_as_published(x, n, low, high):
    """Newcombe (1998), Statistics in Medicine 17, 857-872, table I."""
    np.testing.assert_allclose(wilson(x, n, Z), (low, high), atol=6e-5)


def test_wilson_at_the_edges():
    low, high = wilson([0, 5, 0, 0.25], [5, 5, 0, 0.5], Z)
    assert low[0] == 0
    assert high[1] == 1
    assert (low[2], high[2]) == (0, 1)
    assert low[3] == pytest.approx(1 - high[3])
    assert wilson(3, 10, INF) == (0, 1)
    np.testing.assert_allclose(wilson(3, 10, 0), (0.3, 0.3))


@pytest.mark.parametrize("interval", [jeffreys, clopper_pearson])
def test_beta_limits_at_the_edges(interval):
    low, high = interval([0, 5, 0], [5, 5, 0], 0.95)
    assert (low[0], high[1]) == (0, 1)
    assert (low[2], high[2]) == (0, 1)


def test_clopper_pearson_as_published():
    """Newcombe (1998), table I, method 5."""
    np.testing.assert_allclose(clopper_pearson(15, 148, 0.95), (0.0578, 0.1617), atol=6e-5)


def test_odds_of_errors():
    low, high = wilson_odds([8, 3, 0, 0], [6, 0, 3, 0], Z)
    assert high[1] == INF
    assert low[1] > 0
    assert (low[2], low[3], high[3]) == (0, 0, INF)
    assert low[0] < 8 / 6 < high[0]


def test_paired_ratio_at_the_edges():
    low, high = paired_ratio([0, 0, 9, 0], [0, 4, 0, 0], [0, 0, 0, 5], Z)
    assert (low[0], high[0]) == (0, INF)
    assert low[1] > 0
    assert high[1] == INF
    assert low[2] < 1 < high[2]
    assert low[3] == 0
    assert np.isfinite(high[3])


bins = arrays(np.int64, (2, 6), elements=st.integers(0, 12))


def test_the_variance_as_published():
    """Hanley & McNeil (1982): an area of .893 of 51 and 58 cases has a standard error of .032."""
    assert np.sqrt(area_variance(0.893, 51, 58)) == pytest.approx(0.032, abs=1e-3)
    assert area_variance(1.0, 20, 50) == 0
    assert area_variance(0.0, 20, 50) == pytest.approx(0)


@given(table=bins)
def test_area_and_variance_are_those_of_the_ranks(table):
    pos, neg = table
    if min(pos.sum(), neg.sum()) < 2:
        return
    found = area_from_counts(pos, neg)
    upper, lower = (np.repeat(np.arange(6.0), side) for side in (pos, neg))
    kernel = (upper[:, None] > lower) + 0.5 * (upper[:, None] == lower)
    variance = kernel.mean(1).var(ddof=1) / len(upper) + kernel.mean(0).var(ddof=1) / len(lower)
    assert found.area == pytest.approx(kernel.mean())
    assert sum(found.variances) == pytest.approx(variance, abs=1e-12)


@example(table=np.array([[1, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]]))  # one negative
@given(table=bins)
def test_an_interval_holds_its_area_and_mirrors(table):
    pos, neg = table
    if not pos.sum() or not neg.sum():
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        found = area_from_counts(pos, neg)
        low, high = area_score_interval(*found, Z)
        mirrored = area_score_interval(*area_from_counts(pos[::-1], neg[::-1]), Z)
    assert -1e-12 <= low <= found.area + 1e-9
    assert found.area - 1e-9 <= high <= 1
    np.testing.assert_allclose(mirrored, [1 - high, 1 - low], atol=1e-6)


# ---- rows that would decide a verdict: formula, enumeration, and whether the range holds them
Z_NEEDED = 1.959963984540054

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
    expected = 500 * ((Z_NEEDED + 0.8416212) * (0.1 / Z_NEEDED) / 0.02) ** 2
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
        low, high = limits(x1, n1, x2, n2, Z_NEEDED)
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
