"""Clusters: what the rows of a group are worth where clusters (users, sessions) tie them together.

For every side of a comparison the totals of its clusters, (TP, FP, FN, TN) of each, are summed with
their products: from those the variance between clusters of any share of cells follows. The rest of
a group is all clusters less its own rows, so only its own clusters are looked at.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.estimate import Diagnostic
from fairgauge.sides import BOTH, LABEL, PREDICTION
from fairgauge.stats.arrays import quotient
from fairgauge.stats.effective import Clustered, clustered_n
from fairgauge.words import Level, Profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from fairgauge.metrics.symbols import Array, Cells, Need
    from fairgauge.reading import Reading
    from fairgauge.sides import Index
    from fairgauge.tally import ClusterCells, Tally

_BITS = np.array([1, 2, 4, 8])
_PATTERNS = 16
_YES, _NO, _MISSING = range(3)
_CELL_OF = {
    BOTH: ((0, 2, -1), (1, 3, -1), (-1, -1, -1)),
    LABEL: ((0, 0, 0), (3, 3, 3), (-1, -1, -1)),
    PREDICTION: ((0, 3, -1), (0, 3, -1), (0, 3, -1)),
}
"""The cell (of TP, FP, FN, TN) of a row by its label and prediction: yes, no or missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over the clusters of every side; ``+`` and ``-`` are those of the sums.

    Attributes
    ----------
    first : array of shape (sides, 4): of the totals of the cells.
    second : array of shape (sides, 4, 4): of their products.
    having : array of shape (sides, 16): clusters by the cells that they have rows in, as bits.
    """

    first: Array
    second: Array
    having: Array

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: Sums) -> Sums:
        return Sums(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Return the three sums."""
        return self.first, self.second, self.having

    def pick(self, which: Index) -> Sums:
        """Return the sums of some sides."""
        return Sums(*(each[which] for each in self.parts))


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of one side of many comparisons.

    Attributes
    ----------
    sums : by the columns that a row must have.
    margin : which comparisons are of all rows: clusters are not counted within strata.
    """

    sums: Mapping[frozenset[Need], Sums]
    margin: NDArray[np.bool_]

    def share(self, needs: frozenset[Need], of: Cells, among: Cells, worth: Array) -> Clustered:
        """Return the rows that a share is worth, and the degrees of freedom of its t.

        ``worth`` is of a unit of weight. Within strata the degrees are NaN.
        """
        sums = self.sums[needs]
        x, m = (np.array(astuple(cells), dtype=float) for cells in (of, among))
        members = (np.arange(_PATTERNS) & _BITS @ (m > 0)) > 0
        n = sums.first @ m
        found = clustered_n(
            sums.having @ members,
            n * worth,
            np.nan_to_num(quotient(sums.first @ x, n)),
            *(
                np.einsum("i,sij,j->s", one, sums.second, two) * worth**2
                for one, two in ((x, x), (x, m), (m, m))
            ),
        )
        return Clustered(found.n, np.where(self.margin, found.degrees, np.nan))


class ClusterSides:
    """Picks the clusters of the two sides of many comparisons, as `Sides` does their rows."""

    def __init__(self, counted: Tally, reading: Reading, profile: Profile) -> None:
        self._tally = counted
        self._reading = reading
        self._profile = profile

    def pick(self, which: Index, slots: Index) -> Clusters | None:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin).

        None where rows are independent.
        """
        if self._tally.clusters is None:
            return None
        picked = {needs: sums.pick(which) for needs, sums in self._sums.items()}
        return Clusters(picked, slots == 0)

    @cached_property
    def _sums(self) -> dict[frozenset[Need], Sums]:
        cells = self._tally.clusters
        assert cells is not None
        label = _state(cells.label, self._reading.labels, self._profile)
        prediction = _state(cells.prediction, self._reading.predictions, self._profile)
        measure = "w" if self._tally.weighted else "n"
        return {
            needs: _sums(
                cells, np.array(cell_of)[label, prediction], measure, len(self._tally.groups) + 1
            )
            for needs, cell_of in _CELL_OF.items()
        }


def spanning(counted: Tally, column: str | None) -> Iterator[Diagnostic]:
    """Say where clusters have rows in several groups, so that two sides are not independent."""
    cells = counted.clusters
    if cells is None or not counted.groups:
        return
    pairs = np.unique(np.stack([cells.cluster, cells.group]), axis=1)
    clusters, groups = np.unique(pairs[0], return_counts=True)
    spread = int(np.count_nonzero(groups > 1))
    if spread:
        message = (
            f"{spread:,} of {len(clusters):,} clusters ({column}) have rows in several groups, "
            "which intervals of differences and ratios do not reckon with: they are too wide where "
            "the groups of a cluster fare alike, too narrow where one gains what another loses"
        )
        yield Diagnostic(Level.NOTE, "clusters", message, counted.feature)


def _state(codes: Index, positive: NDArray[np.bool_], profile: Profile) -> Index:
    """Return whether each code is positive, negative or missing."""
    missing = _NO if profile is Profile.CLARIFY else _MISSING  # as in `sides`
    state: Index = np.append(np.where(positive, _YES, _NO), missing)[codes]
    return state


def _sums(cells: ClusterCells, cell: Index, measure: str, groups: int) -> Sums:
    """Sum over the clusters of the groups, of the whole, and of the rest of every group."""
    kept = cell >= 0
    _, cluster = np.unique(cells.cluster[kept], return_inverse=True)
    of = 1 + int(cluster.max(initial=-1))
    held, place = np.unique(cells.group[kept] * of + cluster, return_inverse=True)
    group, cluster = np.divmod(held, max(of, 1))  # sorted by group
    own = [_totals(place, cell[kept], cells.counts[m][kept], len(held)) for m in (measure, "n")]
    every = [_by(cluster, each, of) for each in own]
    start = np.searchsorted(group, np.arange(groups + 1))
    mine = _moments(own[0], own[1], start)
    whole = _moments(every[0], every[1], np.array([0, of]))
    # the clusters of a group count in its rest with what they hold beside it
    met, present = (each[cluster] for each in every)
    rest = whole - _moments(met, present, start)
    rest += _moments(met - own[0], present - own[1], start)
    parts = zip(mine.parts, whole.parts, rest.parts, strict=True)
    return Sums(*(np.concatenate(each) for each in parts))


def _totals(place: Index, cell: Index, counts: Array, rows: int) -> Array:
    """Return the totals of each cell in every place; shape (rows, 4)."""
    total = np.bincount(place * 4 + cell, counts, rows * 4)
    return total.astype(np.float64).reshape(rows, 4)


def _by(cluster: Index, totals: Array, clusters: int) -> Array:
    """Return the totals of every cluster; shape (clusters, 4)."""
    columns = [np.bincount(cluster, column, clusters) for column in totals.T]
    return np.stack(columns, axis=-1).astype(np.float64)


def _moments(totals: Array, rows: Array, start: Index) -> Sums:
    """Sum totals, their products, and the cells with rows, between each start and the next."""
    having = (rows > 0) @ _BITS
    parts = [slice(a, b) for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    return Sums(
        np.stack([totals[part].sum(axis=0) for part in parts]),
        np.stack([totals[part].T @ totals[part] for part in parts]),
        np.stack([np.bincount(having[part], minlength=_PATTERNS) for part in parts]).astype(float),
    )
