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
