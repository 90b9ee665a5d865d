"""Linear regression of counts against the same regression of rows."""

import numpy as np
import pytest
from scipy import stats

from fairgauge.enums import WhyNoRegression
from fairgauge.stats.grouped_regression import adjusted_mean

Z = stats.norm.ppf(0.975)


def pay(seed=0, rows=400):
    rng = np.random.default_rng(seed)
    grade, site, group = (
        rng.integers(0, 3, rows),
        rng.integers(0, 4, rows),
        rng.integers(0, 2, rows),
    )
    y = 3 + grade + 0.4 * site - 0.3 * group * (1 + grade) + rng.normal(0, 0.5 + grade)
    return grade, site, group, y


def sums(grade, site, group, y):
    cell = grade * 4 + site
    of = [[np.bincount(cell[group == g], v[group == g], 12) for g in (1, 0)]
          for v in (y, np.ones_like(y), y**2)]  # fmt: skip
    (x_d, x_a), (n_d, n_a), squares = of
    return x_d, n_d, x_a, n_a, tuple(squares)


def of_rows(design, y, contrast):
    """Return a contrast of least squares, its HC3 interval and p-value, from rows."""
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ design.T @ y
    hat = ((design @ inverse) * design).sum(1)
    errors = ((y - design @ beta) / (1 - hat)) ** 2
    covariance = inverse @ (design * errors[:, None]).T @ design @ inverse
    value, error = contrast @ beta, np.sqrt(contrast @ covariance @ contrast)
    t = stats.t(len(y) - design.shape[1])
    return (
        value,
        value - t.isf(0.025) * error,
        value + t.isf(0.025) * error,
        2 * t.sf(abs(value) / error),
    )


def dummies(codes, levels):
    return (codes[:, None] == np.arange(1, levels)).astype(float)


def test_the_fit_is_that_of_the_rows():
    grade, site, group, y = pay()
    levels = np.column_stack([dummies(grade, 3), dummies(site, 4)])
    columns = [np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)]
    found = adjusted_mean(*sums(grade, site, group, y), columns, Z)
    design = np.column_stack([np.ones(len(y)), group, levels])
    contrast = np.eye(design.shape[1])[1]
    assert found[:4] == pytest.approx(of_rows(design, y, contrast), rel=1e-9)


def test_what_cannot_be_adjusted_states_why():
    none = np.zeros(2)
    rows = np.ones(2)
    alone = adjusted_mean(none, none, rows, rows, (none, rows), [np.arange(2)], Z)
    assert alone is WhyNoRegression.TOO_FEW
    constant = adjusted_mean(*[4 * rows] * 4, (4 * rows, 4 * rows), [np.arange(2)], Z)
    assert constant is WhyNoRegression.ONE_OUTCOME


def test_levels_of_two_rows_have_no_standard_error_that_is_far_too_large():
    """HC3 alone made it 1.4 to 1.5 times what differences of means vary by."""
    rng, levels = np.random.default_rng(6), np.arange(60)
    found = []
    for _ in range(120):
        y = rng.normal(0, 1, (2, 60)) + 3 * levels
        one = np.ones(60)
        found.append(adjusted_mean(y[0], one, y[1], one, (y[0] ** 2, y[1] ** 2), [levels], 1.96))
    apart = np.std([each.difference for each in found])
    error = np.mean([each.high - each.low for each in found]) / 2 / 2.0
    assert 0.9 < error / apart < 1.3
    assert np.mean([each.low <= 0 <= each.high for each in found]) > 0.93
