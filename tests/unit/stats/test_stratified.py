"""Rates pooled over strata: equations, symmetries, coverage for dense and sparse strata."""

import numpy as np
import pytest

from fairgauge.stats.intervals import critical
from fairgauge.stats.stratified import stratified_difference, stratified_ratio

Z = critical(0.95)
TABLE = np.array([[3, 12, 8, 20], [7, 20, 9, 15], [1, 5, 6, 30]], dtype=float).T


def weights(n1, n2):
    w = n1 * n2 / (n1 + n2)
    return w / w.sum(-1, keepdims=True)


def test_the_limits_solve_the_score_of_the_difference():
    x1, n1, x2, n2 = TABLE
    w = weights(n1, n2)
    for t in stratified_difference(x1, n1, x2, n2, w, Z)[:2]:
        gap = (w * (x1 / n1 - x2 / n2)).sum() - t
        slope = n1**2 * x2 - n2**2 * x1 + n1 * n2 * (n2 - n1) / 2
        level = (n1 + n2) * (x1 * (n2 - x2) + x2 * (n1 - x1)) / 2
        variance = (w**2 * (t * slope + level) / (n1 * n2) ** 2).sum()
        assert gap**2 == pytest.approx(Z**2 * variance)


def test_the_limits_solve_the_score_of_the_ratio():
    x1, n1, x2, n2 = TABLE
    w = weights(n1, n2)
    for r in stratified_ratio(x1, n1, x2, n2, w, Z)[:2]:
        gap = (w * (x1 / n1 - r * x2 / n2)).sum()
        spread = n1 * n2 * (x1 + x2) - x1 * x2 * (n1 + n2)
        variance = r * (w**2 * spread / (n1 * n2) ** 2).sum()
        assert gap**2 == pytest.approx(Z**2 * variance)


@pytest.mark.parametrize("made", [stratified_difference, stratified_ratio])
def test_the_p_value_is_the_level_that_touches_no_difference(made):
    neutral = 0.0 if made is stratified_difference else 1.0
    w = weights(TABLE[1], TABLE[3])
    p = float(made(*TABLE, w, Z).p)
    low, high, _ = made(*TABLE, w, critical(1 - p))
    assert min(abs(low - neutral), abs(high - neutral)) < 1e-9


SCENARIOS = [
    (strata, n1, n2, shift, base)
    for strata in (1, 3, 10, 200)
    for n1, n2 in ((2, 2), (5, 20), (50, 50))
    for shift in (0.0, 0.06)
    for base in (0.3, 0.5)
    if strata * n1 >= 50
]


def test_both_cover_from_one_stratum_to_hundreds_of_thin_ones():
    rng = np.random.default_rng(0)
    found = []
    for strata, n1, n2, shift, base in SCENARIOS:
        rate = np.clip(base + 0.2 * np.linspace(-1, 1, strata), 0.05, 0.95)
        w = np.full(strata, 1 / strata)
        x2 = rng.binomial(n2, rate, (2000, strata))
        x1 = rng.binomial(n1, rate - shift * (rate > shift), (2000, strata))
        gap = -(shift * (rate > shift)).mean()
        low, high, _ = stratified_difference(x1, n1, x2, n2, w, Z)
        found.append(((low <= gap) & (gap <= high)).mean())
        x1 = rng.binomial(n1, rate * (1 - 5 * shift), (2000, strata))
        low, high, _ = stratified_ratio(x1, n1, x2, n2, w, Z)
        found.append(((low <= 1 - 5 * shift) & (1 - 5 * shift <= high)).mean())
    assert len(found) >= 40
    assert min(found) >= 0.935 - 3 * 0.0055
    assert 0.945 <= np.mean(found) <= 0.956
