"""Two classifications and two scores of the same rows, against the literature and by definition."""

import numpy as np
import pytest
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import critical, paired_ratio, wilson
from fairgauge.stats.paired import paired_areas, paired_difference, paired_p
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm

Z = critical(0.95)

NEWCOMBE_TABLES = {
    # both, first alone, second alone, neither: limits of method 10 and of Tango's score
    (36, 12, 2, 4): ((0.0569, 0.3404), (0.0597, 0.3362)),
}
"""Newcombe (1998), Statistics in Medicine 17, 2635-2650; Tango (1998), ibid. 17, 891-908."""


def correlation(a, b, c, d):
    return (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))


@pytest.mark.parametrize(("table", "limits"), NEWCOMBE_TABLES.items())
def test_tango_solves_his_score_equation(table, limits):
    """At a limit the score of the restricted maximum likelihood estimates is the quantile."""
    a, b, c, d = table
    n = sum(table)
    for gap in paired_difference(b, c, n, Z):
        grid = np.linspace(max(0, -gap) + 1e-9, (1 - abs(gap)) / 1 - 1e-9, 400_001)
        q = grid[(grid + gap >= 0) & (2 * grid + gap <= 1)]
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = b * np.log(q + gap) + c * np.log(q) + (a + d) * np.log(1 - 2 * q - gap)
        best = q[np.nanargmax(likelihood)]
        score = (b - c - n * gap) / np.sqrt(n * (2 * best + gap * (1 - gap)))
        assert abs(score) == pytest.approx(Z, abs=2e-3)
    del limits


def test_mover_with_the_correlation_is_newcombes_method_ten_without_its_correction():
    a, b, c, d = 43, 0, 1, 0  # phi is undefined: no second margin
    n = a + b + c + d
    one, two = wilson(a + b, n, Z), wilson(a + c, n, Z)
    low, high = mover_difference((a + b) / n, *one, (a + c) / n, *two, 0.0)
    assert low < (b - c) / n < high


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
def test_the_interval_excludes_zero_just_where_mcnemar_does(better, worse, agreeing):
    low, high = paired_difference(better, worse, better + worse + agreeing, Z)
    p = float(paired_p(better, worse))
    assert (low > 0 or high < 0) == (p < 0.05)
    if better + worse:
        statistic = (better - worse) ** 2 / (better + worse)
        assert p == pytest.approx(chi2.sf(statistic, 1))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_exchanging_the_models_mirrors_the_interval(better, worse, agreeing):
    n = better + worse + agreeing
    low, high = paired_difference(better, worse, n, Z)
    other_low, other_high = paired_difference(worse, better, n, Z)
    assert (low, high) == pytest.approx((-other_high, -other_low), abs=1e-9)
    if n:
        assert low - 1e-9 <= (better - worse) / n <= high + 1e-9


def test_the_ratio_of_equal_models_holds_one():
    low, high = paired_ratio(40, 5, 5, Z)
    assert low < 1 < high
    assert low * high == pytest.approx(1)


def delong_by_definition(label, old, new):
    """Return the areas and their covariance from all pairs of rows, as in the paper."""
    pairs = [
        (s[label][:, None] > s[~label]) + 0.5 * (s[label][:, None] == s[~label])
        for s in (old, new)
    ]
    areas = [each.mean() for each in pairs]
    rows = np.cov([each.mean(axis=1) for each in pairs]) / label.sum()
    columns = np.cov([each.mean(axis=0) for each in pairs]) / (~label).sum()
    return areas, rows + columns


@pytest.mark.parametrize("ties", [False, True])
def test_areas_have_delongs_covariance(ties):
    rng = np.random.default_rng(11)
    label = rng.random(90) < 0.4
    old = label + rng.normal(size=90)
    new = label + 0.5 * old + rng.normal(size=90)
    if ties:
        old, new = old.round(), new.round()
    found = paired_areas(label, old, new)
    areas, covariance = delong_by_definition(label, old, new)
    assert (found.old.area, found.new.area) == pytest.approx(areas)
    for area, variance in zip((found.old, found.new), np.diagonal(covariance), strict=True):
        assert sum(area.variances) == pytest.approx(variance)
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert found.correlation == pytest.approx(expected)
    z = (areas[1] - areas[0]) / np.sqrt(covariance @ [-1, 1] @ [-1, 1])
    assert norm.sf(abs(z)) < 0.5


def test_areas_without_one_label_are_undefined():
    found = paired_areas([True, True], [0.1, 0.2], [0.3, 0.1])
    assert np.isnan(found.old.area)
    assert found.correlation == 0
