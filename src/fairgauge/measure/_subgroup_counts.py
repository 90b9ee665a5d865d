"""Every subgroup of a table: the conjunctions of values of its features, counted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.errors import Problem, SpecError
from fairgauge.resolve.searched_features import COUNTED, EVENT, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.resolve.searched_features import OutcomeRows, ScoredCells, SearchedRows

    Codes = NDArray[np.int64]

MOST_SUBGROUPS = 10_000_000
_MOST_COMBINATIONS = 50_000_000
"""Combinations of values of one set of features, which are counted in one array."""
_MOST_TOGETHER = 20_000_000
"""The same of all sets that are counted in one reading of the rows."""


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

    def digest(self, counted: str) -> str:
        """Return a fingerprint of all counts; ``counted`` is that of each feature alone."""
        found = hashlib.sha256(counted.encode())
        for each in (self.of_set, self.value, self.rows, self.n, self.events):
            found.update(each.astype("<f8").tobytes())
        return f"sha256:{found.hexdigest()}"

    def conditions(self, at: int) -> dict[int, int]:
        """Return the value of each feature that a subgroup has a condition on."""
        return _conditions(self.sets[int(self.of_set[at])], int(self.value[at]), self.sizes)


def count_subgroups(rows: SearchedRows, depth: int, min_rows: int) -> Subgroups:
    """Count the conjunctions of up to ``depth`` values of different features.

    Those of at least ``min_rows`` rows, with a row outside. A conjunction with as many rows as one
    with a condition less has the same rows, and is counted once.

    Raises
    ------
    SpecError
        There may be more than `MOST_SUBGROUPS`.
    """
    kept = [_common(each, min_rows) for each in rows.rows_of]
    sets = _sets(rows.sizes, rows.rows, depth, min_rows)
    place = {features: i for i, features in enumerate(sets)}
    found: list[tuple[Codes, Array]] = [(np.zeros(0, dtype=np.int64), np.zeros((0, OUTCOMES)))]
    found *= len(sets)
    duplicates = 0
    for features, counts in _counted(rows.changed(lambda part: _with_values(part, kept)), sets):
        shape = counts.shape[:-1]
        held = counts.sum(axis=-1)
        wanted = (held >= max(min_rows, 1)) & (held < rows.rows)
        same = np.zeros(shape, dtype=bool)
        for axis in range(len(shape)):
            wanted[(slice(None),) * axis + (-1,)] = False  # no value
            if len(shape) > 1:
                same |= held == held.sum(axis=axis, keepdims=True)
        duplicates += int((wanted & same).sum())
        value = np.flatnonzero(wanted & ~same)
        found[place[features]] = value, counts.reshape(-1, OUTCOMES)[value]
    counted = np.concatenate([np.zeros((0, OUTCOMES)), *(counts for _, counts in found)])
    none = np.zeros(0, dtype=np.int64)
    return Subgroups(
        sets=sets,
        of_set=np.concatenate([none, *(np.full(len(v), i) for i, (v, _) in enumerate(found))]),
        value=np.concatenate([none, *(value for value, _ in found)]),
        rows=counted.sum(axis=1),
        n=counted[:, COUNTED:].sum(axis=1),
        events=counted[:, EVENT],
        duplicates=duplicates,
        sizes=rows.sizes,
    )


def _counted(
    rows: SearchedRows, sets: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield for every set of features the counts by their values and by outcome, in any order.

    Of rows in one part each set is counted by itself. Rows in many parts are read once for as many
    of the largest sets as fit into memory, and the others are sums of these.
    """
    if rows.counted is None:
        for part in rows.parts():
            keys = _KeysOfSets(part, rows.sizes)
            for features in sets:
                yield features, keys.counts(features)
        return
    largest = [each for each in sets if len(each) == len(sets[-1])] if sets else []
    open_sets = set(sets)
    for together in _fitting(largest, rows.sizes):
        tables = {
            each: np.zeros([*(rows.sizes[f] + 1 for f in each), OUTCOMES]) for each in together
        }
        for part in rows.parts():
            keys = _KeysOfSets(part, rows.sizes)
            for features, counts in tables.items():
                counts += keys.counts(features)
        for features, counts in tables.items():
            for some in _subsets(features):
                if some in open_sets:
                    open_sets.remove(some)
                    summed = tuple(i for i, f in enumerate(features) if f not in some)
                    yield some, counts.sum(axis=summed)


class _KeysOfSets:
    """The combinations of values of sets of features that come in order, row by row."""

    def __init__(self, part: OutcomeRows, sizes: Sequence[int]) -> None:
        self._part, self._sizes = part, sizes
        self._first: tuple[int, ...] = ()
        self._key = np.zeros(len(part.outcomes), dtype=np.int64)
        self._last = [codes * OUTCOMES + part.outcomes for codes in part.codes]

    def counts(self, features: tuple[int, ...]) -> Array:
        """Return the counts by the values of some features, and by outcome."""
        *first, last = features
        if tuple(first) != self._first:
            columns = [self._part.codes[f] for f in first]
            self._first = tuple(first)
            self._key = combined(columns, self._sizes, first) if first else self._key
        shape = [*(self._sizes[f] + 1 for f in features), OUTCOMES]
        key = self._key * (shape[-2] * OUTCOMES) + self._last[last] if first else self._last[last]
        counts = np.bincount(key, self._part.cases, prod(shape)).reshape(shape)
        return counts.astype(np.float64)


def _fitting(
    sets: Sequence[tuple[int, ...]], sizes: Sequence[int]
) -> Iterator[list[tuple[int, ...]]]:
    """Yield sets in groups whose counts fit into memory together."""
    group: list[tuple[int, ...]] = []
    held = 0
    for features in sets:
        cells = prod(sizes[f] + 1 for f in features)
        if group and held + cells > _MOST_TOGETHER:
            yield group
            group, held = [], 0
        group.append(features)
        held += cells
    if group:
        yield group


def _subsets(features: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the subsets that are not empty, in order."""
    for k in range(1, len(features) + 1):
        yield from combinations(features, k)


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
    sets = ((), *_sets(cells.sizes, float(cells.rows.sum()), depth, min_rows))
    parts = int(cells.bins.max(initial=0)) + 1
    columns = list(cells.codes.T)
    found: list[tuple[int, Codes, Array]] = []
    duplicates = 0
    for i, features in enumerate(sets):
        shape = [cells.sizes[f] + 1 for f in features]
        chosen = [columns[f] for f in features]
        key = combined(chosen, cells.sizes, features) * parts if features else 0
        key = key + cells.bins
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


def combined(columns: Sequence[Codes], sizes: Sequence[int], features: Sequence[int]) -> Codes:
    """Return the combinations of the values of features, whose columns these are."""
    key = np.zeros_like(columns[0])
    for f, column in zip(features, columns, strict=True):
        key = key * (sizes[f] + 1) + column
    return key


def _common(rows: Array, min_rows: int) -> Codes:
    """Return the values, with none in place of those of fewer rows than a subgroup may have."""
    return np.where(rows < min_rows, len(rows) - 1, np.arange(len(rows)))


def _with_values(part: OutcomeRows, kept: Sequence[Codes]) -> OutcomeRows:
    codes = (values[each] for values, each in zip(kept, part.codes, strict=True))
    return replace(part, codes=tuple(codes))


def _without_rare_values(cells: ScoredCells, min_rows: int) -> ScoredCells:
    """Return the cells with no value where a value has fewer rows than any subgroup may have."""
    columns = [
        _common(np.bincount(column, cells.rows, size + 1).astype(np.float64), min_rows)[column]
        for column, size in zip(cells.codes.T, cells.sizes, strict=True)
    ]
    return replace(cells, codes=np.stack(columns, axis=-1))


def _sets(
    sizes: Sequence[int], rows: float, depth: int, min_rows: int
) -> tuple[tuple[int, ...], ...]:
    """Return the sets of features in order, if not too many subgroups may have enough rows."""
    features = [f for f, size in enumerate(sizes) if size > 0]
    fitting = max(rows // max(min_rows, 1), 1.0)
    deepest = min(depth, len(features))
    at_depth = (
        [
            sum(min(prod(sizes[f] for f in each), fitting) for each in combinations(features, k))
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
    widest = max((prod(sizes[f] + 1 for f in each) for each in sets), default=1)
    if widest > _MOST_COMBINATIONS:
        message = (
            f"{widest:,} combinations of values of one set of features are too many to count at "
            "once; search a smaller depth (--depth), or features of fewer values"
        )
        raise SpecError(Problem("depth", message))
    return sets
