"""What needs rows: reading single columns of them, and finding nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.errors import DataError, quote
from fairgauge.scan.source import Readable
from fairgauge.values import Value, canonical, typed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.scan.source import Source

    Array = NDArray[np.float64]

_SAME = 1e-9
"""Two distances closer than this share of them are one distance."""


def read_rows(
    source: Source, columns: Sequence[str], most: int | None = None
) -> dict[str, list[Value]]:
    """Read some columns of all rows, or of the first ``most``, in canonical values.

    Raises
    ------
    DataError
        The data cannot be read.
    """
    wanted = list(dict.fromkeys(columns))
    if not isinstance(source, Readable):
        raise DataError(f"the rows of {quote(source.name)} cannot be read, only counted")
    read, texts = source.fetch(wanted, most)
    found = {}
    for name, values in zip(wanted, read, strict=True):
        plain = [canonical(value) for value in values]
        if texts and all(value is None or isinstance(value, str) for value in plain):
            plain = typed_texts([value if isinstance(value, str) else None for value in plain])
        found[name] = plain
    return found


def at_hand(source: Source) -> bool:
    """Tell whether the first rows can be looked at without a query elsewhere."""
    return isinstance(source, Readable) and source.at_hand


def readable(source: Source) -> bool:
    """Tell whether rows can be read one by one; Spark and databases only count them."""
    return isinstance(source, Readable)


def numbers_of(values: Sequence[Value]) -> Array:
    """Return numbers, NaN where there is none."""
    return np.array([float(v) if isinstance(v, (int, float)) else np.nan for v in values])


def feature_matrix(columns: Sequence[Sequence[Value]], *, scaled: bool) -> tuple[Array, list[str]]:
    """Turn columns into points: numbers divided by their standard deviation, texts by category.

    Two rows of different categories lie 1 apart in that column. Rows that miss a value are NaN.
    Unscaled, numbers are taken as they are.

    Returns
    -------
    points : array of shape (rows, dimensions)
    how : what was done with each column, in words
    """
    parts: list[Array] = []
    how = []
    for values in columns:
        if all(value is None or isinstance(value, (bool, int, float)) for value in values):
            numbers = np.array([np.nan if value is None else float(value) for value in values])
            spread = float(np.nanstd(numbers)) if scaled and np.isfinite(numbers).any() else 1.0
            parts.append((numbers / (spread or 1.0))[:, None])
            how.append("divided by its standard deviation" if scaled else "as it is")
        else:
            texts = np.array(["" if value is None else str(value) for value in values])
            missing = np.array([value is None for value in values])
            categories = np.unique(texts[~missing])
            marks = (texts[:, None] == categories) / np.sqrt(2.0)
            marks[missing] = np.nan
            parts.append(marks)
            how.append(f"{len(categories)} categories, different ones 1 apart")
    points = np.concatenate(parts, axis=1) if parts else np.zeros((0, 0))
    return points, how


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Points to search among, equal ones merged, so that the order of rows cannot matter."""

    tree: Any
    points: Array
    counts: Array
    sums: Array

    @classmethod
    def of(cls, points: Array, values: Array) -> Neighbours:
        """Prepare points of shape (n, d) with a value each."""
        from scipy.spatial import cKDTree

        unique, inverse = np.unique(points, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        counts = np.bincount(inverse, minlength=len(unique)).astype(float)
        sums = np.bincount(inverse, weights=values, minlength=len(unique)).astype(np.float64)
        return cls(cKDTree(unique), unique, counts, sums)

    def mean(self, queries: Array, k: int) -> Array:
        """Return the mean value of the k nearest points of every query.

        Points at the distance of the k-th all have a say, by equal shares of the places left.
        """
        unique, inverse = np.unique(queries, axis=0, return_inverse=True)
        nearest = min(k, len(self.points))
        distances, at = self.tree.query(unique, k=nearest)
        distances, at = distances.reshape(len(unique), -1), at.reshape(len(unique), -1)
        enough = np.cumsum(self.counts[at], axis=1) >= min(k, self.counts.sum())
        radius = distances[np.arange(len(unique)), enough.argmax(axis=1)]
        means = np.empty(len(unique))
        around = self.tree.query_ball_point(unique, radius * (1 + _SAME) + _SAME**2)
        for i, found in enumerate(around):
            means[i] = self._share(unique[i], np.array(found), float(radius[i]), k)
        answer: Array = means[inverse.reshape(-1)]
        return answer

    def _share(self, query: Array, found: NDArray[np.int64], radius: float, k: int) -> float:
        distance = np.sqrt(((self.points[found] - query) ** 2).sum(axis=1))
        inside = distance < radius * (1 - _SAME)
        near, edge = found[inside], found[~inside]
        places = min(float(k), float(self.counts.sum()))
        left = places - self.counts[near].sum()
        total = self.sums[near].sum() + left * self.sums[edge].sum() / self.counts[edge].sum()
        return float(total / places)
