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
