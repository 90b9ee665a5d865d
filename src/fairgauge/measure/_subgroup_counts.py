"""Every subgroup of a table: the conjunctions of values of its features, counted."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations, repeat
from math import ceil, comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.errors import Problem, SpecError
from fairgauge.resolve.searched_features import COUNTED, EVENT, NOT_COUNTED, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.resolve.searched_features import OutcomeRows, SearchedRows

    Codes = NDArray[np.integer[Any]]

MOST_SUBGROUPS = 10_000_000
_MOST_COMBINATIONS = 50_000_000
"""Combinations of values of one set of features, which are counted in one array."""
_MOST_TOGETHER = 20_000_000
"""The same of all sets that are counted in one reading of the rows."""
_WIDEST = 250_000
"""Combinations up to which sets are counted together in one of more features."""
_READING = 2
"""What reading a feature of a row takes, in the time of counting the row in one set."""
_ROWS_OF_A_CELL = 8
"""Rows for each combination of such a set: of fewer its sums would take longer than the rows."""
_THREADS = os.cpu_count() or 1


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

    def digest(self, counted: str) -> str:
        """Return a fingerprint of all counts; ``counted`` is that of each feature alone."""
        found = hashlib.sha256(counted.encode())
        for each in (self.of_set, self.value, self.rows, self.n, self.events):
            found.update(each.astype("<f8").tobytes())
        return f"sha256:{found.hexdigest()}"

    def conditions(self, at: int) -> dict[int, int]:
        """Return the value of each feature that a subgroup has a condition on."""
        features = self.sets[int(self.of_set[at])]
        values = np.unravel_index(int(self.value[at]), [self.sizes[f] + 1 for f in features])
        return {f: int(v) for f, v in zip(features, values, strict=True)}


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
    nothing = np.zeros(0, dtype=np.int64), np.zeros((0, OUTCOMES))
    found: list[tuple[Codes, Array]] = [nothing] * len(sets)
    duplicates = 0
    rows_of = tuple(
        np.bincount(values, of, len(of)) for values, of in zip(kept, rows.rows_of, strict=True)
    )
    common = rows
    if any((values != np.arange(len(values))).any() for values in kept):
        common = rows.changed(lambda part: _with_values(part, kept), rows_of=rows_of)
    for features, counts in _counted(common, sets):
        held = counts.sum(axis=-1)
        wanted = (held >= max(min_rows, 1)) & (held < rows.rows)
        same = np.zeros(held.shape, dtype=bool)
        for axis in range(held.ndim):
            wanted[(slice(None),) * axis + (-1,)] = False  # no value
        for axis in range(held.ndim if held.ndim > 1 else 0):
            same |= held == held.sum(axis=axis, keepdims=True)
        duplicates += int((wanted & same).sum())
        value = np.flatnonzero(wanted & ~same)
        found[place[features]] = value, counts.reshape(-1, OUTCOMES)[value]
    counted = np.concatenate([nothing[1], *(counts for _, counts in found)])
    return Subgroups(
        sets=sets,
        of_set=np.concatenate(
            [nothing[0], *(np.full(len(v), i) for i, (v, _) in enumerate(found))]
        ),
        value=np.concatenate([nothing[0], *(value for value, _ in found)]),
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
    sets as fit into memory, which hold several of the largest ones each, and the others are sums of
    these.
    """
    if rows.counted is None:
        for part in rows.parts():
            yield from _KeysOfSets(part, [size + 1 for size in rows.sizes], NOT_COUNTED).counts(
                sets
            )
        return
    # without what no row is, so that more counts fit into the processor's cache
    widths = [size + bool(of[-1]) for size, of in zip(rows.sizes, rows.rows_of, strict=True)]
    least = NOT_COUNTED if rows.outcomes[NOT_COUNTED] else COUNTED
    largest = [each for each in sets if len(each) == len(sets[-1])] if sets else []
    open_sets = set(sets)
    for together in _fitting(_wider(largest, rows.sizes, rows.rows), rows.sizes):
        parts = (_KeysOfSets(part, widths, least) for part in rows.parts())
        for features, counts in _added_up(parts, together).items():
            for some, every in _sums(counts, features, len(sets[-1])):
                if some in open_sets:
                    open_sets.remove(some)
                    of_all = np.zeros([*(rows.sizes[f] + 1 for f in some), least + every.shape[-1]])
                    of_all[(*(slice(widths[f]) for f in some), slice(least, None))] = every
                    yield some, of_all


def _added_up(
    parts: Iterator[_KeysOfSets], sets: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Array]:
    found: dict[tuple[int, ...], Array] = {}

    def add(part: _KeysOfSets, share: Sequence[tuple[int, ...]]) -> None:
        for features, counts in part.counts(share):
            found[features] = np.add(counts, found.get(features, 0), out=counts)

    of_thread = ceil(len(sets) / _THREADS)  # sets in order have keys in common
    shares = [sets[i : i + of_thread] for i in range(0, len(sets), of_thread)]
    adding: Iterator[None] = iter(())
    with ThreadPoolExecutor(_THREADS) as pool:
        for part in parts:
            deque(adding, 0)
            adding = pool.map(add, repeat(part), shares)
        deque(adding, 0)
    return found


class _KeysOfSets:
    """The combinations of values of sets of features, and of outcomes, of which no row is less.

    A feature has as many values as its width, "none" among them where any row has none.
    """

    def __init__(self, part: OutcomeRows, widths: Sequence[int], least: int) -> None:
        self._part, self._widths, self._least = part, widths, least
        self._kinds = OUTCOMES - least
        # half as wide as what is counted: these arrays are read for every set
        outcomes = (np.maximum(part.outcomes, least) - least).astype(np.int32)
        # a row beyond a width or below the least outcome stands for no row
        self._codes = [
            np.minimum(codes, width - 1).astype(np.int32, copy=False)
            for codes, width in zip(part.codes, widths, strict=True)
        ]
        self._last = [codes * self._kinds + outcomes for codes in self._codes]

    def counts(self, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield for sets in order the counts by their values, and by outcome."""
        for features, key in self._keys(sets):
            shape = [*(self._widths[f] for f in features), self._kinds]
            counts: NDArray[Any] = np.bincount(key, self._part.cases, prod(shape)).reshape(shape)
            yield features, counts

    def _keys(self, sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], Codes]]:
        found = np.zeros(len(self._part.outcomes), dtype=np.intp)
        known: list[tuple[int, Codes]] = []
        for features in sets:
            *first, last = features
            if not first:
                yield features, self._last[last]
                continue
            same = 0
            for (f, _), g in zip(known, first, strict=False):
                if f != g:
                    break
                same += 1
            del known[same:]
            for f in first[same:]:
                codes = self._codes[f]
                if known:
                    codes = known[-1][1] * self._widths[f] + codes
                known.append((f, codes))
            np.multiply(known[-1][1], self._widths[last] * self._kinds, out=found)
            yield features, np.add(found, self._last[last], out=found)


def _wider(
    sets: Sequence[tuple[int, ...]], sizes: Sequence[int], rows: float
) -> Sequence[tuple[int, ...]]:
    """Return fewer sets of more features, which hold all of these: their counts are sums.

    Larger ones are fewer, but fewer of them fit into memory, so that rows are read more often.
    """
    widths = np.array(sizes, dtype=np.int64) + 1

    def steps(found: Sequence[tuple[int, ...]]) -> float:
        """Return what is done for each row, in the time that one set takes."""
        cells = sum(int(widths[list(each)].prod()) for each in found)
        return len(found) + _READING * len(sizes) * ceil(cells / _MOST_TOGETHER)

    choices = (min(most, rows / _ROWS_OF_A_CELL) for most in (_WIDEST, _WIDEST / 10))
    return min((sets, *(_covering(sets, widths, most) for most in choices)), key=steps)


def _covering(sets: Sequence[tuple[int, ...]], widths: Codes, most: float) -> list[tuple[int, ...]]:
    """Return sets of up to so many combinations, in which all sets are.

    A set gets one feature after the other, each time the one by which it holds most of those that
    no other one holds.
    """
    if not sets:
        return []
    members = np.array(sets)
    order = np.argsort(members, axis=None, kind="stable") // members.shape[1]
    ends = np.cumsum(np.bincount(members.ravel(), minlength=len(widths)))
    with_feature = np.split(order, ends[:-1])
    left = np.ones(len(sets), dtype=bool)
    # of each set the features that the one that is made lacks: how many, and their sum
    lacking, sum_of_lacking = np.full(len(sets), members.shape[1]), members.sum(axis=1)
    found = []
    for i, each in enumerate(sets):
        if not left[i]:
            continue
        wide, room = list[int](), most
        changed: list[Codes] = []
        gains = np.bincount(sum_of_lacking[left & (lacking == 1)], minlength=len(widths))
        while len(wide) < len(each) or (gains := gains * (widths <= room)).any():
            feature = each[len(wide)] if len(wide) < len(each) else int(gains.argmax())
            at = with_feature[feature]
            at = at[left[at]]
            lacking[at] -= 1
            sum_of_lacking[at] -= feature
            left[at[lacking[at] == 0]] = False
            gains += np.bincount(sum_of_lacking[at[lacking[at] == 1]], minlength=len(widths))
            wide.append(feature)
            gains[wide] = 0
            changed.append(at)
            room /= widths[feature]
        for feature, at in zip(wide, changed, strict=True):
            lacking[at] += 1
            sum_of_lacking[at] += feature
        found.append(tuple(sorted(wide)))
    return sorted(found)


def _fitting(
    sets: Sequence[tuple[int, ...]], sizes: Sequence[int]
) -> Iterator[list[tuple[int, ...]]]:
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


def _sums(
    counts: Array, features: Sequence[int], most: int, kept: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield the counts by every subset of up to so many features, with those kept before it.

    They are sums of the counts by one feature more, which several subsets share.
    """
    at = len(kept)
    if not features or at == most:
        if kept:
            yield kept, np.add.reduce(counts, axis=tuple(range(at, at + len(features))))
        return
    first, *others = features
    yield from _sums(counts, others, most, (*kept, first))
    yield from _sums(np.add.reduce(counts, axis=at), others, most, kept)


def combined(columns: Sequence[Codes], sizes: Sequence[int], features: Sequence[int]) -> Codes:
    """Return the combinations of the values of features, whose columns these are."""
    key = np.zeros(len(columns[0]), dtype=np.intp)
    for f, column in zip(features, columns, strict=True):
        key = key * (sizes[f] + 1) + column
    return key


def _common(rows: Array, min_rows: int) -> Codes:
    values = np.where(rows < min_rows, len(rows) - 1, np.arange(len(rows)))
    return values.astype(np.int32)  # as narrow as what is made of them


def _with_values(part: OutcomeRows, kept: Sequence[Codes]) -> OutcomeRows:
    codes = (values[each] for values, each in zip(kept, part.codes, strict=True))
    return replace(part, codes=tuple(codes))


def _sets(
    sizes: Sequence[int], rows: float, depth: int, min_rows: int
) -> tuple[tuple[int, ...], ...]:
    features = [f for f, size in enumerate(sizes) if size > 0]
    fitting = max(rows // max(min_rows, 1), 1.0)
    deepest = min(depth, len(features))
    depths = range(1, deepest + 1)
    at_depth = (
        [
            sum(min(prod(sizes[f] for f in each), fitting) for each in combinations(features, k))
            for k in depths
        ]
        if comb(len(features), deepest) <= MOST_SUBGROUPS
        else [float("inf")]
    )
    if sum(at_depth) > MOST_SUBGROUPS:
        by_depth = ", ".join(
            f"{count:,.0f} at depth {k}"
            for k, count in zip(depths, np.cumsum(at_depth), strict=False)
        )
        message = (
            f"there may be more than {MOST_SUBGROUPS:,} subgroups ({by_depth}); search fewer "
            "features, a smaller depth (--depth) or larger subgroups (--min-rows)"
        )
        raise SpecError(Problem("depth", message))
    sets = tuple(each for k in depths for each in combinations(features, k))
    widest = max((prod(sizes[f] + 1 for f in each) for each in sets), default=1)
    if widest > _MOST_COMBINATIONS:
        message = (
            f"{widest:,} combinations of values of one set of features are too many to count at "
            "once; search a smaller depth (--depth), or features of fewer values"
        )
        raise SpecError(Problem("depth", message))
    return sets
