"""The largest and the best group of every view of a page: the page picks from these alone.

`resolve.references` decides, as for an audit; here are only the rates by which it chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairgauge.catalogue.closed_forms import quotients
from fairgauge.catalogue.statistics import Statistic
from fairgauge.measure._views_together import eight_cells
from fairgauge.reasons import FEWEST_ROWS
from fairgauge.resolve.references import choose_groups, favours_the_least
from fairgauge.stats.arrays import Array, quiet

Index = NDArray[np.int64]

MOST_VIEWS = 1_000
"""Views of a table of which the groups are chosen; of more it would take too long."""


def views_of(columns: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Yield the columns that make groups, and the number of filters by the others."""
    for size in range(1, len(columns) + 1):
        for by in combinations(columns, size):
            yield list(by), prod(sizes[i] + 1 for i in columns if i not in by)


def view_references(
    table: tuple[Sequence[int], Sequence[int], Index, Index],
    names: Sequence[Sequence[str]],
    known: Sequence[Sequence[bool]],
    rates: Sequence[Statistic],
    min_n: float | None,
    *,
    turned: bool,
) -> Iterator[list[object]]:
    """Yield every view of a table with the number of admissible groups and the chosen ones.

    A view is the columns that make groups and the code of each filter, -1 without one. Then come
    the largest group, and for each rate the best one with the place from which on it is the best.
    A group is the number of its codes in mixed radix.

    Parameters
    ----------
    table : columns, places, codes of the rows, and their counts by label and places reached.
    names, known : the groups of every column of the page, and which are of known category.
    min_n : rows below which a group is chosen only where all groups are so small.
    """
    columns, places, codes, counts = table
    sizes, minimum = [len(each) for each in names], FEWEST_ROWS if min_n is None else min_n
    for by, _ in views_of(columns, sizes):
        rest = [i for i in columns if i not in by]
        for chosen in product(*(range(-1, sizes[i]) for i in rest)):
            filters = dict(zip(rest, chosen, strict=True))
            kept = np.all([codes[:, columns.index(i)] < sizes[i] for i in by], axis=0)
            for i, code in filters.items():
                kept &= (code < 0) | (codes[:, columns.index(i)] == code)
            kept &= counts.any(axis=(1, 2))
            own = [codes[kept, columns.index(i)] for i in by]
            radix = [sizes[i] for i in by]
            groups, at = np.unique(np.ravel_multi_index(own, radix), return_inverse=True)
            if not len(groups):
                continue
            parts = np.unravel_index(groups, radix)
            called = [
                " & ".join(names[i][code] for i, code in zip(by, of, strict=True))
                for of in zip(*(each.tolist() for each in parts), strict=True)
            ]
            people = np.all(
                [np.array(known[i])[of] for i, of in zip(by, parts, strict=True)], axis=0
            )
            of_groups = np.zeros((len(groups), *counts.shape[1:]))
            np.add.at(of_groups, at, counts[kept])
            filtered = [filters.get(i, -1) for i in range(len(names))]
            yield [
                by,
                filtered,
                *_chosen(of_groups, called, people, groups, rates, minimum, places, turned),
            ]


def _chosen(
    counts: Array,
    names: Sequence[str],
    people: NDArray[np.bool_],
    groups: Index,
    rates: Sequence[Statistic],
    minimum: float,
    places: Sequence[int],
    turned: bool,
) -> Iterator[object]:
    """Yield the number of admissible groups, the largest, and the best by each rate."""
    rows = counts.sum(axis=(1, 2))
    large = rows >= minimum
    yield int((large & people).sum())
    largest, _, _ = choose_groups(rows, large, people, names, rows[:, None])
    yield int(groups[largest[0]])
    cells = eight_cells(counts)[..., ::-1] if turned else eight_cells(counts)
    for rate in rates:
        sign = -1 if favours_the_least(rate) else 1
        best, _, _ = choose_groups(rows, large, people, names, sign * _values(rate, cells))
        starts = [0, *(np.flatnonzero(np.diff(best)) + 1).tolist()]
        yield [n for k in starts for n in (places[k], int(groups[best[k]]))]


@quiet
def _values(rate: Statistic, cells: Array) -> Array:
    shares = [
        np.tensordot(over, cells, 1) / np.tensordot(under, cells, 1)
        for over, under in quotients(rate)
    ]
    return np.asarray(np.mean(shares, axis=0))
