"""Every subgroup of a table: the conjunctions of values of its features, counted."""

from __future__ import annotations

import hashlib
import math
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.errors import Problem, SpecError
from fairgauge.resolve.searched_features import COUNTED, EVENT, OUTCOMES
from fairgauge.start.records import dataclass, replace

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


@dataclass(frozen=True, slots=True, eq=False)
class Subgroups:
    """Subgroups, in the order of their number of conditions and then of the features.

    Of each there is its set of features, its combination of values within the set, as `conditions`
    reads it, and its counts. ``duplicates`` have the same rows as one with fewer conditions;
    ``sizes`` are the numbers of values of the features.
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
    """
    kept = [  # as narrow as what is made of them
        np.where(each < min_rows, len(each) - 1, np.arange(len(each))).astype(np.int32)
        for each in rows.rows_of
    ]
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

        def with_common_values(part: OutcomeRows) -> OutcomeRows:
            codes = (values[each] for values, each in zip(kept, part.codes, strict=True))
            return replace(part, codes=tuple(codes))

        common = rows.changed(with_common_values, rows_of=rows_of)
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
    # rows are read once for as many sets as fit into memory
    together: list[list[tuple[int, ...]]] = []
    held = math.inf
    for features in sets:
        cells = prod(rows.sizes[f] + 1 for f in features)
        held += cells
        if held > _MOST_TOGETHER:
            together.append([])
            held = cells
        together[-1].append(features)
    for each in together:
        found: dict[tuple[int, ...], Array] = {}
        for part in rows.parts():
            known: list[tuple[int, Codes]] = []  # the codes of the features in common with the last
            for features in each:
                same = 0
                for (f, _), g in zip(known, features, strict=False):
                    if f != g:
                        break
                    same += 1
                del known[same:]
                for f in features[same:]:
                    codes = part.codes[f].astype(np.intp)
                    before = known[-1][1] * (rows.sizes[f] + 1) if known else 0
                    known.append((f, before + codes))
                shape = [*(rows.sizes[f] + 1 for f in features), OUTCOMES]
                key = known[-1][1] * OUTCOMES + part.outcomes
                counts = np.bincount(key, part.cases, prod(shape)).reshape(shape)
                found[features] = found.get(features, 0) + counts.astype(np.float64)
        yield from found.items()


def combined(columns: Sequence[Codes], sizes: Sequence[int], features: Sequence[int]) -> Codes:
    """Return the combinations of the values of features, whose columns these are."""
    key = np.zeros(len(columns[0]), dtype=np.intp)
    for f, column in zip(features, columns, strict=True):
        key = key * (sizes[f] + 1) + column
    return key


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
