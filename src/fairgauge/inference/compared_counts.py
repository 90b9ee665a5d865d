"""Evidence: the counts that an interval is made from, and their effective sample sizes.

Weighted rows and clustered rows carry less information than as many independent ones. Random draws
are seeded by the counts, so that names and the order of groups change nothing.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from fairgauge.inference.interval import NoInterval
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Index, quotient
from fairgauge.stats.weighted import effective_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array, Cells, ConfusionCounts, Need
    from fairgauge.inference.clusters import ClusteredProportion, Clusters
    from fairgauge.question.specification import Spec
    from fairgauge.results.scopes import ClassScope

FEWEST_GROUPS = 3
"""With two groups, their comparison is an estimate already."""

_PAIR = 2
_DECIMALS = 6

Count: TypeAlias = "Callable[[ConfusionCounts], Array]"
"""Reads a number of rows off one side of many comparisons."""


@dataclass(frozen=True, slots=True)
class CellCount:
    """Counts a sum of cells over the rows where ``needs`` are known."""

    needs: frozenset[Need]
    cells: Cells

    def __call__(self, side: ConfusionCounts) -> Array:
        """Return the rows of every side."""
        return self.cells.count(side.counts(self.needs))


class Proportion(NamedTuple):
    """A proportion as ``x`` successes of ``n`` trials.

    ``degrees`` are those of Student's t, None for a normal critical value; ``shared`` is of
    clustered rows.
    """

    x: Array
    n: Array
    rate: Array
    degrees: Array | None = None
    shared: ClusteredProportion | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One side of many comparisons.

    Attributes
    ----------
    side : sums of weights, of which the values are made (of cases, without weights).
    cases : the cases themselves.
    squares, cubes : sums of squared and of cubed weights; None without weights, and where they are
        not counted.
    clusters : sums over clusters; None where rows are independent.
    everyone : the same of all rows, those of no group with them; None where it is not needed.
    """

    side: ConfusionCounts
    cases: ConfusionCounts
    squares: ConfusionCounts | None = None
    clusters: Clusters | None = None
    everyone: Evidence | None = None
    cubes: ConfusionCounts | None = None

    def share(self, of: Count, among: Count) -> Proportion:
        """Return a proportion as successes and trials, by effective sample size.

        Raises
        ------
        NoInterval
            There are clusters, and it is no proportion of cells.
        """
        x, n = of(self.side), among(self.side)
        if self.clusters is not None:
            return self._clustered(of, among)
        if self.squares is None:
            return Proportion(x, n, quotient(x, n))
        sides = (self.side, self.squares, self.cases)
        inside = [of(side) for side in sides]
        outside = [among(each) - some for each, some in zip(sides, inside, strict=True)]
        outside = [np.where(outside[2] > 0, each, 0.0) for each in outside]  # not by rounding
        effective = effective_share(*zip(inside, outside, strict=True))
        rate = quotient(x, n)
        return Proportion(np.nan_to_num(rate) * effective.n, effective.n, rate, effective.degrees)

    def _clustered(self, of: Count, among: Count) -> Proportion:
        assert self.clusters is not None
        if not (isinstance(of, CellCount) and isinstance(among, CellCount)):
            raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
        shared = self.clusters.share(
            among.needs, of.cells, among.cells, self._rows_per_weight(among)
        )
        rate, n = quotient(of(self.side), among(self.side)), shared.n
        return Proportion(np.nan_to_num(rate) * n, n, rate, None, shared)

    @property
    def effective_size(self) -> Array | None:
        """The effective rows by weight (Kish), clustered or not; None without weights."""
        if self.squares is None:
            return None
        return np.asarray(np.nan_to_num(quotient(self.side.size**2, self.squares.size)))

    def rows(self, count: Count) -> Array:
        """Return an effective number of rows: Kish's, where there are weights."""
        return count(self.side) * self.rows_per_weight(count)

    def effective_cases(self, count: Count) -> Array:
        """Return a number of rows as `rows` does, whether or not they are clustered."""
        return count(self.side) * self._rows_per_weight(count)

    def rows_per_weight(self, count: Count) -> Array:
        """Return the effective rows per unit of weight: 1 without weights."""
        if self.clusters is not None:
            raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
        return self._rows_per_weight(count)

    def _rows_per_weight(self, count: Count) -> Array:
        weight = count(self.side)
        if self.squares is None:
            return np.ones_like(weight)
        return np.asarray(np.nan_to_num(quotient(weight, count(self.squares))))

    def effective(self, read: Callable[[ConfusionCounts], Array]) -> Array:
        """Return counts of every side, shape (n, K), by effective sample size."""
        rows = self.rows_per_weight(lambda side: read(side).sum(axis=-1))
        return np.asarray(read(self.side) * rows[:, None])

    def scored(self, label: int) -> Array:
        """Return the score histograms of the positive (0) or negative (1) labels; shape (n, B)."""

        def read(side: ConfusionCounts) -> Array:
            assert side.scores is not None
            return side.scores.counts[:, label]

        return self.effective(read)


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Both sides of many comparisons.

    Attributes
    ----------
    group, reference : the two sides.
    rest : the reference without the group, where the group is a part of its reference.
    margin : array of bool, shape (n,): which comparisons are of all rows, not within a stratum.
    """

    group: Evidence
    reference: Evidence
    rest: Evidence | None
    margin: NDArray[np.bool_]

    @property
    def other(self) -> Evidence:
        """Return the side that shares no row with the group."""
        return self.rest or self.reference

    @property
    def effective_sizes(self) -> tuple[Array, Array] | None:
        """The effective rows by weight of both sides; None without weights."""
        sizes = self.group.effective_size, self.reference.effective_size
        return None if sizes[0] is None or sizes[1] is None else (sizes[0], sizes[1])

    @property
    def mirrored(self) -> bool:
        """Return whether there are two groups, each of which is the other's reference.

        Comparisons are those of all rows, or where there are none those of strata, group by group.
        """
        at = self.margin if self.margin.any() else np.ones_like(self.margin)
        if np.count_nonzero(at) % _PAIR:
            return False
        sides = (self.group.cases, self.reference.cases)
        pairs = [
            [of.size for of in sides],
            *([of.cells[k] for of in sides] for k in sides[0].cells),
        ]
        halves = ([each[at].reshape(_PAIR, -1) for each in pair] for pair in pairs)
        return all(np.array_equal(ours, theirs[::-1]) for ours, theirs in halves)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGroups:
    """The groups of a feature over all rows.

    Attributes
    ----------
    feature, names : the feature, and the names of its groups.
    class_scope, threshold : of the outcome.
    pick : the evidence of some groups, by number.
    """

    feature: str
    names: Sequence[str]
    class_scope: ClassScope
    threshold: float | None
    pick: Callable[[Index], Evidence]


def stricter(spec: Spec, parts: int) -> Spec:
    """Return the specification whose intervals of several parts hold at once (Bonferroni)."""
    if parts == 1:
        return spec
    return replace(spec, confidence=1 - (1 - spec.confidence) / parts)


def generator(spec: Spec, key: str, *counts: Array) -> np.random.Generator:
    """Return the random numbers of a metric of some counts.

    They depend on what is counted alone: not on names, nor on the order of groups, nor on what
    else is asked for, nor on the rounding errors of sums of weights.
    """
    content = (zlib.crc32(np.ascontiguousarray(_rounded(each)).tobytes()) for each in counts)
    return np.random.default_rng([spec.seed, zlib.crc32(key.encode()), *content])


def canonical_pair(one: Array, two: Array, *, symmetric: bool) -> tuple[Array, Array]:
    """Return two rows of counts over categories in an order of both that names do not change.

    Categories are ordered by their counts and, where the comparison is symmetric, so are the two
    rows. Draws made of these are those of any other order.
    """
    first, second = _rounded(one), _rounded(two)
    if symmetric and sorted(first.tolist()) > sorted(second.tolist()):
        one, two, first, second = two, one, second, first
    order = np.lexsort((second, first))
    return one[order], two[order]


def precedes(one: Array, two: Array) -> bool:
    """Return whether counts come first in the order in which both sides of a comparison are drawn.

    The order is that of the counts, so that group and reference may change places and every draw of
    theirs stays what it was.
    """
    return bool(_rounded(one).ravel().tolist() <= _rounded(two).ravel().tolist())


def _rounded(counts: Array) -> Array:
    """Return counts without the rounding errors of sums of weights, which must decide nothing."""
    return np.asarray(counts.astype(float).round(_DECIMALS) + 0.0)
