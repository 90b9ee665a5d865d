"""Decomposition of gaps: identities that hold for all counts, and published values."""

import numpy as np
import pytest

from fairgauge.stats.decomposition import decompose, stratum_parts
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import holm
from fairgauge.stats.stratified import (
    heterogeneity,
    heterogeneity_of_means,
    stratified_difference,
    stratified_ratio,
)

Z = 1.959963984540054
WOMEN = ([89, 17, 202, 131, 94, 24], [108, 25, 593, 375, 393, 341])
MEN = ([512, 353, 120, 138, 53, 22], [825, 560, 325, 417, 191, 373])


def of(x_d, n_d, x_a, n_a, **options):
    return decompose(x_d, n_d, x_a, n_a, Z, **options)


def values(found):
    return [float(part.value) for part in found[:5]]


def test_berkeley_agrees_with_statsmodels():
    """`OaxacaBlinder` of statsmodels 0.15 on the rows with dummies of departments.

    Its two-fold parts with Reimers's weights, and those of either side; reference minus group.
    """
    found = of(*WOMEN, *MEN)
    assert values(found) == pytest.approx(
        [0, -0.177673911, 0.036028483, 0.001087790, 0.070969176], abs=5e-9
    )
    by_composition, within = stratum_parts(*WOMEN, *MEN)
    assert by_composition == pytest.approx(
        [-0.08187, -0.05121, -0.00747, -0.00255, -0.01912, -0.01545], abs=5e-6
    )
    assert within == pytest.approx(
        [0.03718, 0.00550, -0.00635, 0.00331, -0.00546, 0.00185], abs=5e-6
    )
    ratio = of(*WOMEN, *MEN, ratio=True)
    assert values(ratio)[1:3] == pytest.approx([0.632087, 1.078695], abs=1e-6)


# ---- rates pooled over strata and strata that differ: equations, symmetries, Berkeley
Z_STRATA = critical(0.95)
TABLE = np.array([[3, 12, 8, 20], [7, 20, 9, 15], [1, 5, 6, 30]], dtype=float).T


def weights(n1, n2):
    w = n1 * n2 / (n1 + n2)
    return w / w.sum(-1, keepdims=True)


def test_the_limits_solve_the_score_of_the_difference():
    x1, n1, x2, n2 = TABLE
    w = weights(n1, n2)
    for t in stratified_difference(x1, n1, x2, n2, w, Z_STRATA)[:2]:
        gap = (w * (x1 / n1 - x2 / n2)).sum() - t
        slope = n1**2 * x2 - n2**2 * x1 + n1 * n2 * (n2 - n1) / 2
        level = (n1 + n2) * (x1 * (n2 - x2) + x2 * (n1 - x1)) / 2
        variance = (w**2 * (t * slope + level) / (n1 * n2) ** 2).sum()
        assert gap**2 == pytest.approx(Z_STRATA**2 * variance)


def test_the_limits_solve_the_score_of_the_ratio():
    x1, n1, x2, n2 = TABLE
    w = weights(n1, n2)
    for r in stratified_ratio(x1, n1, x2, n2, w, Z_STRATA)[:2]:
        gap = (w * (x1 / n1 - r * x2 / n2)).sum()
        spread = n1 * n2 * (x1 + x2) - x1 * x2 * (n1 + n2)
        variance = r * (w**2 * spread / (n1 * n2) ** 2).sum()
        assert gap**2 == pytest.approx(Z_STRATA**2 * variance)


@pytest.mark.parametrize("made", [stratified_difference, stratified_ratio])
def test_the_p_value_is_the_level_that_touches_no_difference(made):
    neutral = 0.0 if made is stratified_difference else 1.0
    w = weights(TABLE[1], TABLE[3])
    p = float(made(*TABLE, w, Z_STRATA).p)
    low, high, _ = made(*TABLE, w, critical(1 - p))
    assert min(abs(low - neutral), abs(high - neutral)) < 1e-9


def test_berkeley_differs_in_one_department():
    whole, each = heterogeneity(*WOMEN, *MEN)
    assert (float(whole.statistic), float(whole.p)) == pytest.approx((18.979, 0.00194), abs=1e-3)
    assert float(each.z[0]) == pytest.approx(4.00, abs=0.005)
    assert float(each.others[0]) == pytest.approx(0.0, abs=5e-4)
    assert (holm(each.p) < 0.05).tolist() == [True] + [False] * 5


@pytest.mark.parametrize("strata", [2, 3, 4, 5])
def test_of_few_strata_none_is_named(strata):
    """Of three that vary by 8 points, 1,000 rows a side, 33 of 100 tables would name one."""
    rows = np.full(strata, 1000)
    selected = np.array([900, 500, 500, 510, 490])[:strata]
    whole, each = heterogeneity(selected, rows, np.full(strata, 500), rows)
    assert float(whole.p) < 1e-6
    assert np.isnan(each.p).all()
    means = selected / rows
    _, each = heterogeneity_of_means(means, means / 1000, means / 1000, rows, rows)
    assert np.isnan(each.p).all()
