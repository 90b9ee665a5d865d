"""Products with a design matrix by its entries, against those with the matrix itself."""

import numpy as np
import pytest

from fairgauge.stats.grouped_regression import Regressors, cells_of

RNG = np.random.default_rng(4)
MATRIX = RNG.normal(size=(5, 5))


def entries(rows=40):
    """Return a constant, one of three levels of which the first is none, and a number."""
    level = RNG.integers(0, 3, rows)
    columns = np.column_stack([np.zeros(rows), np.where(level > 0, level, 4), np.full(rows, 3)])
    values = np.column_stack([np.ones((rows, 2)), RNG.normal(size=rows)])
    return Regressors(columns.astype(np.int64), values, 4)


def dense(regressors):
    return regressors @ np.eye(regressors.width)


def test_an_entry_in_the_column_after_the_last_is_none():
    of_rows = Regressors(np.array([[0, 1], [0, 2]]), np.array([[1.0, 5.0], [1.0, 7.0]]), 2)
    assert dense(of_rows).tolist() == [[1.0, 5.0], [1.0, 0.0]]


def test_products_are_those_of_the_matrix():
    regressors = entries()
    full, weights = dense(regressors), RNG.gamma(2, 1, 40)
    beta, matrix = MATRIX[0, :4], MATRIX[:4, :4]
    assert regressors @ beta == pytest.approx(full @ beta)
    assert regressors.sums(weights) == pytest.approx(full.T @ weights)
    two = np.column_stack([weights, 1 - weights])
    assert regressors.sums(two) == pytest.approx(full.T @ two)
    assert regressors.products(weights) == pytest.approx((full * weights[:, None]).T @ full)
    assert regressors.forms(matrix) == pytest.approx(((full @ matrix) * full).sum(1))


def test_some_columns_and_some_rows_with_numbers():
    regressors = entries()
    full = dense(regressors)
    assert dense(regressors.kept([0, 2])).tolist() == full[:, [0, 2]].tolist()
    which, numbers = np.array([3, 3, 0]), RNG.normal(size=(3, 2))
    found = dense(regressors.rows(which, numbers))
    assert found.tolist() == np.column_stack([full[which], numbers]).tolist()


@pytest.mark.parametrize("by_side", [False, True])
def test_the_design_of_cells_has_a_column_for_every_level_but_the_first(by_side):
    number, level = np.array([1.0, 2.0, 4.0, 9.0]), np.array([0, 1, 2, 2])
    n_d, n_a = np.array([3.0, 0.0, 5.0, 2.0]), np.array([1.0, 4.0, 2.0, 2.0])
    cells = cells_of(n_d, n_a, [level, number], by_side=by_side)
    assert cells.on_group.tolist() == [True] * 3 + [False] * 4
    at = np.array([0, 2, 3, 0, 1, 2, 3])
    scaled = (number - number.mean()) / number.std()
    levels = np.column_stack([level == 1, level == 2, scaled])[at]
    for found, side in (
        (cells.design, cells.on_group), (cells.of_group, np.ones(7)),
        (cells.of_reference, np.zeros(7)),
    ):  # fmt: skip
        full = np.column_stack([np.ones(7), side, levels])
        if by_side:  # of the group no cell has the second level: its own effect is dropped
            full = np.column_stack([full, (levels * side[:, None])[:, 1:]])
        assert dense(found) == pytest.approx(full)
