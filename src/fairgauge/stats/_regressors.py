"""Regressors of rows that have few each: a constant, an indicator of each column, and numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.stats.arrays import Array


class Regressors(NamedTuple):
    """The entries of a design matrix that are not 0, as many in each row.

    Products with the matrix take time by these, not by its columns, which are as many as levels.

    Attributes
    ----------
    columns, values : arrays of shape (rows, entries): where the entries are, and what they are. An
        entry in the column after the last is none.
    width : how many columns there are.

    Examples
    --------
    >>> of_rows = Regressors(np.array([[0, 1], [0, 2]]), np.array([[1.0, 5.0], [1.0, 1.0]]), 2)
    >>> of_rows @ np.array([2.0, 3.0]), of_rows.sums(np.array([1.0, 10.0]))
    (array([17.,  2.]), array([11.,  5.]))
    """

    columns: NDArray[np.int64]
    values: Array
    width: int

    def __matmul__(self, coefficients: NDArray[Any]) -> Array:
        """Return the sum of coefficients, or of rows of them, in every row."""
        none = np.zeros((1, *coefficients.shape[1:]))
        each = np.concatenate([coefficients, none])[self.columns]
        return np.asarray(np.einsum("re,re...->r...", self.values, each))

    def sums(self, weights: Array) -> Array:
        """Return the weighted sum of every column, of several weights of a row for each."""
        if weights.ndim > 1:
            return np.stack([self.sums(each) for each in weights.T], axis=-1)
        weighted = (self.values * weights[:, None]).ravel()
        found = np.bincount(self.columns.ravel(), weighted, self.width + 1)
        return np.asarray(found[:-1], dtype=float)

    def products(self, weights: Array) -> Array:
        """Return the weighted sums of the products of columns."""
        size = self.width + 1
        found = np.zeros(size * size)
        for column, value in zip(self.columns.T, self.values.T, strict=True):
            weighted = self.values * (value * weights)[:, None]
            at = (column * size)[:, None] + self.columns
            found += np.bincount(at.ravel(), weighted.ravel(), size * size)
        return found.reshape(size, size)[:-1, :-1]

    def forms(self, matrix: NDArray[Any]) -> Array:
        """Return the quadratic form of every row in a matrix: with an inverse, its leverage."""
        padded, found = np.pad(matrix, (0, 1)), np.zeros(len(self.columns))
        for column, value in zip(self.columns.T, self.values.T, strict=True):
            found += value * (padded[column[:, None], self.columns] * self.values).sum(1)
        return found

    def kept(self, columns: list[int]) -> Regressors:
        """Return some of the columns."""
        place = np.full(self.width + 1, len(columns))
        place[columns] = np.arange(len(columns))
        return Regressors(place[self.columns], self.values, len(columns))

    def rows(self, which: NDArray[np.int64], numbers: Array) -> Regressors:
        """Return rows, any more than once, each with some numbers in columns of their own."""
        columns = self.columns[which]
        columns[columns == self.width] += numbers.shape[1]
        own = np.broadcast_to(self.width + np.arange(numbers.shape[1]), numbers.shape)
        values = np.hstack([self.values[which], numbers])
        return Regressors(np.hstack([columns, own]), values, self.width + numbers.shape[1])
