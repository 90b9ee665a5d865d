"""Products with a design matrix by its entries, against those with the matrix itself."""

import numpy as np
import pytest

from fairgauge.stats.grouped_regression import Regressors, cells_of

RNG = np.random.default_rng(4)
MATRIX = RNG.normal(size=(4, 4))


def entries(rows=40):
    """Return a constant, one of three levels of which the first is none, and a last column."""
    level = RNG.integers(0, 3, rows)
    columns = np.column_stack([np.zeros(rows), np.where(level > 0, level, 4), np.full(rows, 3)])
    return Regressors(columns.astype(np.int64), 4)


def dense(regressors):
    return np.column_stack([regressors @ each for each in np.eye(regressors.width)])


def test_an_entry_in_the_column_after_the_last_is_none():
    of_rows = Regressors(np.array([[0, 1], [0, 2]]), 2)
    assert dense(of_rows).tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_products_are_those_of_the_matrix():
    regressors = entries()
    full, weights = dense(regressors), RNG.gamma(2, 1, 40)
    assert regressors @ MATRIX[0] == pytest.approx(full @ MATRIX[0])
    assert regressors.sums(weights) == pytest.approx(full.T @ weights)
    assert regressors.products(weights) == pytest.approx((full * weights[:, None]).T @ full)
    assert regressors.forms(MATRIX) == pytest.approx(((full @ MATRIX) * full).sum(1))
    assert dense(regressors.kept([0, 2])).tolist() == full[:, [0, 2]].tolist()


def test_the_design_of_cells_has_a_column_for_every_level_but_the_first():
    level = np.array([0, 1, 2, 2])
    n_d, n_a = np.array([3.0, 0.0, 5.0, 2.0]), np.array([1.0, 4.0, 2.0, 2.0])
    cells = cells_of(n_d, n_a, [level])
    assert cells.on_group.tolist() == [True] * 3 + [False] * 4
    levels = np.column_stack([level == 1, level == 2])[[0, 2, 3, 0, 1, 2, 3]]
    for found, side in (
        (cells.design, cells.on_group), (cells.of_group, np.ones(7)),
        (cells.of_reference, np.zeros(7)),
    ):  # fmt: skip
        assert dense(found).tolist() == np.column_stack([np.ones(7), side, levels]).tolist()
