"""Every subgroup of a table of cells: the conjunctions of values of its features, counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fairgauge.errors import Problem, SpecError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.resolve.searched_features import OutcomeCells, ScoredCells

    Codes = NDArray[np.int64]

Cells = TypeVar("Cells", "OutcomeCells", "ScoredCells")
MOST_SUBGROUPS = 10_000_000
_MOST_COMBINATIONS = 50_000_000
"""Combinations of values of one set of features, which are counted in one array."""
_OUTCOMES = 3
"""What a row is to the rate: not among those that it is a share of, among them, an event."""


@dataclass(frozen=True, slots=True, eq=False)
class Subgroups:
    """Subgroups, in the order of their number of conditions and then of the features.

    Attributes
    ----------
    sets : the sets of features that conditions are on.
    of_set : array: the set of each subgroup.
    value : array: its combination of values within the set, as `conditions` reads it.
    rows, n, events : arrays of its counts.
    duplicates : the number of combinations with the same rows as one with fewer conditions.
    sizes : the number of values of each feature.
    """

    sets: tuple[tuple[int, ...], ...]
    of_set: Codes
    value: Codes
    rows: Array
    n: Array
    events: Array
    duplicates: int
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def conditions(self, at: int) -> dict[int, int]:
        """Return the value of each feature that a subgroup has a condition on."""
        return _conditions(self.sets[int(self.of_set[at])], int(self.value[at]), self.sizes)

    def members(self, cells: OutcomeCells, at: int) -> NDArray[np.bool_]:
        """Return which cells are in a subgroup."""
        inside = np.ones(len(cells.rows), dtype=bool)
        for feature, value in self.conditions(at).items():
            inside &= cells.codes[:, feature] == value
        return inside


def count_subgroups(cells: OutcomeCells, depth: int, min_rows: int) -> Subgroups:
    """Count the conjunctions of up to ``depth`` values of different features.

    Those of at least ``min_rows`` rows, with a row outside. A conjunction with as many rows as one
    with a condition less has the same rows, and is counted once.

    Raises
    ------
    SpecError
        There may be more than `MOST_SUBGROUPS`.
    """
    cells = _without_rare_values(cells, min_rows)
    sets = _sets(cells, depth, min_rows)
    outcomes = np.concatenate([cells.rows - cells.n, cells.n - cells.events, cells.events])
    kinds = np.repeat(np.arange(_OUTCOMES), len(cells.rows))
    held = outcomes > 0
    weights, kinds = outcomes[held], kinds[held]
    columns = [np.tile(column, _OUTCOMES)[held] for column in cells.codes.T]
    total = float(cells.rows.sum())
    found: list[tuple[int, Codes, Array]] = []
    duplicates = 0
    prefix: dict[tuple[int, ...], Codes] = {}
    for i, features in enumerate(sets):
        shape = [cells.sizes[f] + 1 for f in features]
        *first, last = features
        if tuple(first) not in prefix:  # sets are in order, so that one is kept for each size
            prefix = {k: v for k, v in prefix.items() if len(k) < len(first)}
            prefix[tuple(first)] = _keys(columns, cells.sizes, first)
        key = prefix[tuple(first)] * (shape[-1] * _OUTCOMES) + (columns[last] * _OUTCOMES + kinds)
        counts = (
            np.bincount(key, weights, prod(shape) * _OUTCOMES)
            .astype(np.float64)
            .reshape(*shape, _OUTCOMES)
        )
        rows = counts.sum(axis=-1)
        wanted = (rows >= max(min_rows, 1)) & (rows < total)
        for axis in range(len(shape)):
            wanted[(slice(None),) * axis + (-1,)] = False  # no value
        parents = (rows.sum(axis=axis, keepdims=True) for axis in range(len(shape)))
        same = np.zeros(shape, dtype=bool)
        if len(shape) > 1:
            for parent in parents:
                same |= rows == parent
        duplicates += int((wanted & same).sum())
        value = np.flatnonzero(wanted & ~same)
        found.append((i, value, counts.reshape(-1, _OUTCOMES)[value]))
    counted = np.concatenate([np.zeros((0, _OUTCOMES)), *(counts for _, _, counts in found)])
    none = np.zeros(0, dtype=np.int64)
    return Subgroups(
        sets=sets,
        of_set=np.concatenate([none, *(np.full(len(value), i) for i, value, _ in found)]),
        value=np.concatenate([none, *(value for _, value, _ in found)]),
        rows=counted.sum(axis=1),
        n=counted[:, 1] + counted[:, 2],
        events=counted[:, 2],
        duplicates=duplicates,
        sizes=cells.sizes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSubgroups:
    """Subgroups by the part of the score, all rows by part first.

    Attributes
    ----------
    sets, of_set, value, duplicates, sizes : as of `Subgroups`; the first set is empty.
    bin : array: the part of the score.
    n, events, scores : arrays: rows, positive labels, and the sum of the scores.
    """

    sets: tuple[tuple[int, ...], ...]
    of_set: Codes
    value: Codes
    bin: Codes
    n: Array
    events: Array
    scores: Array
    duplicates: int
    sizes: tuple[int, ...]

    def conditions(self, at: int) -> dict[int, int]:
        """Return the value of each feature that a subgroup has a condition on."""
        return _conditions(self.sets[int(self.of_set[at])], int(self.value[at]), self.sizes)

    def members(self, cells: ScoredCells, at: int) -> NDArray[np.bool_]:
        """Return which cells are in a subgroup."""
        inside = np.asarray(cells.bins == self.bin[at])
        for feature, value in self.conditions(at).items():
            inside = inside & (cells.codes[:, feature] == value)
        return inside


def count_scored(cells: ScoredCells, depth: int, min_rows: int) -> ScoredSubgroups:
    """Count all rows, and the conjunctions of `count_subgroups`, by the part of the score.

    Raises
    ------
    SpecError
        There may be more than `MOST_SUBGROUPS`.
    """
    cells = _without_rare_values(cells, min_rows)
    sets = ((), *_sets(cells, depth, min_rows))
    parts = int(cells.bins.max(initial=0)) + 1
    columns = list(cells.codes.T)
    found: list[tuple[int, Codes, Array]] = []
    duplicates = 0
    for i, features in enumerate(sets):
        shape = [cells.sizes[f] + 1 for f in features]
        key = _keys(columns, cells.sizes, features) * parts + cells.bins
        counts = np.stack([
            np.bincount(key, each, prod(shape) * parts).astype(np.float64)
            for each in (cells.rows, cells.events, cells.scores)
        ])  # fmt: skip
        rows = counts[0].reshape(*shape, parts)
        wanted = rows >= max(min_rows, 1)
        same = np.zeros(rows.shape, dtype=bool)
        for axis in range(len(shape)):
            wanted[(slice(None),) * axis + (-1,)] = False  # no value
            same |= rows == rows.sum(axis=axis, keepdims=True)
        duplicates += int((wanted & same).sum())
        at = np.flatnonzero(wanted & ~same)
        found.append((i, at, counts[:, at]))
    every = np.concatenate([at for _, at, _ in found])
    n, events, scores = np.concatenate([counts for _, _, counts in found], axis=1)
    return ScoredSubgroups(
        sets=sets,
        of_set=np.concatenate([np.full(len(at), i) for i, at, _ in found]),
        value=every // parts,
        bin=every % parts,
        n=n,
        events=events,
        scores=scores,
        duplicates=duplicates,
        sizes=cells.sizes,
    )


def _conditions(features: Sequence[int], value: int, sizes: Sequence[int]) -> dict[int, int]:
    """Return the value of each feature in a combination of values."""
    values = np.unravel_index(value, [sizes[f] + 1 for f in features]) if features else ()
    return {f: int(v) for f, v in zip(features, values, strict=True)}


def _keys(columns: Sequence[Codes], sizes: Sequence[int], features: Sequence[int]) -> Codes:
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for f in features:
        key = key * (sizes[f] + 1) + columns[f]
    return key


def _without_rare_values(cells: Cells, min_rows: int) -> Cells:
    """Return the cells with no value where a value has fewer rows than any subgroup may have."""
    codes = cells.codes.copy()
    for column, size in zip(codes.T, cells.sizes, strict=True):
        rows = np.bincount(column, cells.rows, size + 1)
        column[rows[column] < min_rows] = size
    return replace(cells, codes=codes)


def _sets(
    cells: OutcomeCells | ScoredCells, depth: int, min_rows: int
) -> tuple[tuple[int, ...], ...]:
    """Return the sets of features in order, if not too many subgroups may have enough rows."""
    features = [f for f, size in enumerate(cells.sizes) if size > 0]
    fitting = max(float(cells.rows.sum()) // max(min_rows, 1), 1.0)
    deepest = min(depth, len(features))
    at_depth = (
        [
            sum(
                min(prod(cells.sizes[f] for f in each), fitting)
                for each in combinations(features, k)
            )
            for k in range(1, deepest + 1)
        ]
        if comb(len(features), deepest) <= MOST_SUBGROUPS
        else [float("inf")]
    )
    if sum(at_depth) > MOST_SUBGROUPS:
        by_depth = ", ".join(
            f"{count:,.0f} at depth {k}" for k, count in enumerate(np.cumsum(at_depth), 1)
        )
        message = (
            f"there may be more than {MOST_SUBGROUPS:,} subgroups ({by_depth}); search fewer "
            "features, a smaller depth (--depth) or larger subgroups (--min-rows)"
        )
        raise SpecError(Problem("depth", message))
    sets = tuple(each for k in range(1, deepest + 1) for each in combinations(features, k))
    widest = max((prod(cells.sizes[f] + 1 for f in each) for each in sets), default=1)
    if widest > _MOST_COMBINATIONS:
        message = (
            f"{widest:,} combinations of values of one set of features are too many to count at "
            "once; search a smaller depth (--depth), or features of fewer values"
        )
        raise SpecError(Problem("depth", message))
    return sets
