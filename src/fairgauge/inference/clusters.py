"""Dependent rows: clusters, and the designs of surveys.

Clusters are assigned to blocks at random, and every number of counts is computed again with each
block omitted: what that moves it by is its influence. Under the design of a survey a statistic is a
smooth function of the sums of cells, whose derivatives, found numerically, make the influence of
every sampling unit; of replicate weights it is computed anew by each. All give deviations whose
products are the variances, and the covariances of sides that share rows of a cluster or unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairgauge.catalogue.cells import BOTH, LABEL, PREDICTION, Array, Cells, ConfusionCounts, Need
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Metric
from fairgauge.catalogue.distributions import Distance, is_odds_ratio, pool
from fairgauge.catalogue.statistics import Blend, Rate, Statistic
from fairgauge.cube.cube import distinct_rows
from fairgauge.cube.plan import WEIGHTS
from fairgauge.enums import DiagnosticCode, IntervalMethod, Lonely, Profile
from fairgauge.inference.interval import (
    JACKKNIFE,
    JACKKNIFE_UNDEFINED,
    THIN_STRATA,
    Comparisons,
    Dependence,
    Intervals,
    MappedProportion,
    Methods,
    NoInterval,
    SideData,
    StatisticInterval,
    first_reasons,
    insufficient_clusters,
    insufficient_rows,
    strata_are_thin,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import ClusterCells, GroupCounts, ReplicateCounts, SampledCells
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import (
    COUNTS,
    SCORES,
    CountsBySide,
    Measure,
    add_others,
    side_of_all,
    side_of_others,
)
from fairgauge.results.scopes import Diagnostic
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.intervals import critical, t_from_z
from fairgauge.stats.sampling import (
    Deviations,
    ShareVariance,
    assign_blocks,
    design_limits,
    deviations,
    deviations_of_rows,
    deviations_of_units,
    effective_clusters,
    effective_rows,
    intracluster_correlation,
    replicate_deviations,
    rows_of_blocks,
    rows_of_level,
    satterthwaite_degrees,
    scaled_limits,
    share_variance,
)
from fairgauge.stats.significance import invert

BLOCKS = 400
"""Blocks of clusters that are omitted one after another; of fewer clusters each is one."""

_MOST_CELLS = 20_000_000
_MANY = 1_000
# by how much a cell is moved, as a share of its side; errors are of the order of its square.
_STEP = 1e-4
_UNDEFINED = Reason.of(ReasonCode.DESIGN_UNDEFINED)
_YES, _NO, _MISSING = range(3)
_EVERY: frozenset[Need] = frozenset()
# the cell (of TP, FP, FN, TN) of a row by its label and prediction: yes, no or missing
_CELL_OF = {
    BOTH: ((0, 2, -1), (1, 3, -1), (-1, -1, -1)),
    LABEL: ((0, 0, 0), (3, 3, 3), (-1, -1, -1)),
    PREDICTION: ((0, 3, -1), (0, 3, -1), (0, 3, -1)),
    _EVERY: ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
}


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredProportion:
    """A proportion of rows of many sides, ``n`` independent rows having its variance."""

    of: ShareVariance
    n: Array
    dependence: Dependence


class SampledVariation(NamedTuple):
    """How a statistic of every side varies over samples.

    ``rows`` stand for it where the sample shows no variance; ``degrees`` are those of Student's t,
    ``units`` the (effective) number of clusters or sampling units.
    """

    moved: Deviations
    rows: Array
    degrees: Array
    units: Array


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of one side of many comparisons.

    ``which`` is the side of each comparison by number, ``slots`` its slot (0: margin); its strata
    (``pooled``) and the counts of all rows (``overall``) may be wanted too.
    """

    of: ClustersBySide
    which: Index
    slots: Index
    pooled: bool = False
    overall: bool = False

    def share(
        self, needs: frozenset[Need], of: Cells, among: Cells, rows_per_weight: Array
    ) -> ClusteredProportion:
        """Return a proportion of cells; ``rows_per_weight`` is the rows per unit of weight."""
        found, moved = self.share_variance(needs, of, among)
        correlation = self.of.correlation(needs, of, among)[self.slots]
        n = effective_rows(found, found.rows * rows_per_weight, correlation)
        return ClusteredProportion(found, n, Dependence(self, Deviations(moved)))

    def share_variance(
        self, needs: frozenset[Need], of: Cells, among: Cells
    ) -> tuple[ShareVariance, Array]:
        """Return the jackknife variance of a proportion, and its deviations without each block."""
        sides = self.sides()
        x, m = (self.by_block(cells.count(sides.counts(needs))) for cells in (of, among))
        return share_variance(x, m, self.effective(rows_of_blocks(m)))

    def effective(self, sizes: Array) -> Array:
        """Return the effective number of clusters, from the rows of every block (Kish).

        Where there are more clusters than blocks, these are as uneven as blocks show.
        """
        blocks = (self.block_sizes(lambda side: side.size) > 0).sum(axis=0)
        return effective_clusters(sizes, blocks, self.of.members.number[self.which, self.slots])

    def block_sizes(self, size: Callable[[ConfusionCounts], Array]) -> Array:
        """Return the rows of every block in a denominator; shape (blocks, n)."""
        return rows_of_blocks(self.by_block(size(self.sides())))

    def variation(self, statistic: Statistic, rows: Array) -> SampledVariation:
        """Return how a statistic varies; ``rows`` is its effective sample size."""
        del rows
        values = self.by_block(statistic.value(self.sides(), Profile.DOCUMENTED))
        sizes = _smallest_blocks(statistic, self)
        return SampledVariation(
            Deviations(deviations(values)), effective_number(sizes), satterthwaite_degrees(sizes.T),
            self.effective(sizes),
        )  # fmt: skip

    def sides(self) -> ConfusionCounts:
        """Return the sides with no block omitted, then those without each; (1 + blocks) n rows."""
        return self.of.without(self)

    def apart(self, other: Clusters, first: Index, second: Index) -> Mask | bool:
        """Return which sides share neither rows nor clusters: two groups, a group and its rest."""
        if self.of.members.span_groups:
            return False
        mine, yours, groups = self.which[first], other.which[second], self.of.groups
        apart = (mine < groups) & (yours < groups) & (mine != yours)
        return np.asarray(apart | (np.abs(mine - yours) == groups + 1))

    def by_block(self, values: Array) -> Array:
        """Return values of `sides` by block, NaN where clusters are not omitted from strata."""
        blocks = values.reshape(1 + self.of.blocks, -1)
        if self.of.by_stratum:
            return blocks
        inside = (self.slots > 0) | self.pooled
        return np.where(inside.reshape(blocks.shape[1], -1).any(axis=1), np.nan, blocks)


class _Members(NamedTuple):
    """How many clusters every side has in every slot; whether any has rows in several groups."""

    number: Array
    span_groups: bool


@dataclass(eq=False)
class ClustersBySide:
    """Selects the clusters of both sides of many comparisons, as `CountsBySide` their rows."""

    _counted: GroupCounts
    _outcome: OutcomeMasks
    _spec: Spec
    _per_class: Sequence[OutcomeMasks] = ()

    def __post_init__(self) -> None:
        self.sides_of: type[Clusters] = Clusters
        self._measure: Measure = "w" if self._counted.weighted else "n"
        self._last: tuple[object, ConfusionCounts] | None = None
        self._correlations: dict[tuple[frozenset[Need], Cells, Cells], Array] = {}

    def pick(
        self, which: Index, slots: Index, *, pooled: bool = False, overall: bool = False
    ) -> Clusters:
        """Return one side of comparisons: the numbers of the sides, and their slots (0: margin)."""
        return self.sides_of(self, which, slots, pooled, overall)

    def correlation(self, needs: frozenset[Need], of: Cells, among: Cells) -> Array:
        """Return the intra-cluster correlation of a share among all rows of every slot."""
        if (needs, of, among) not in self._correlations:
            slots = np.arange(1 + len(self._counted.strata))
            every = Clusters(self, np.full_like(slots, self.groups), slots)
            found, _ = every.share_variance(needs, of, among)
            counts = self._cells.counts
            scale = quotient(counts["n"].sum(), counts[self._measure].sum())
            self._correlations[needs, of, among] = intracluster_correlation(found, scale)
        return self._correlations[needs, of, among]

    @property
    def groups(self) -> int:
        """Return the number of groups, the rows without one included."""
        return len(self._counted.groups) + 1

    @cached_property
    def members(self) -> _Members:
        """Return how many clusters every side has in every slot: groups, all, others of each."""
        cells, groups = self._cells, self.groups
        slots = 1 + len(self._counted.strata)
        inside = cells.stratum < slots - 1
        slot = np.concatenate([np.zeros_like(cells.stratum), cells.stratum[inside] + 1])
        cluster, group = (np.concatenate([of, of[inside]]) for of in (cells.cluster, cells.group))
        slot, group, cluster = distinct_rows(np.stack([slot, group, cluster], axis=-1))[0].T
        held = distinct_rows(np.stack([slot, cluster], axis=-1))[1]
        several = np.bincount(held)[held]
        alone = several == 1
        key = slot * groups + group
        own, only = (
            np.bincount(of, minlength=slots * groups).reshape(slots, groups)
            for of in (key, key[alone])
        )
        every = np.bincount(slot, 1 / several, slots)[:, None]
        number = np.concatenate([own, every, every - only], axis=1).T
        return _Members(number.astype(np.float64), not alone.all())

    def cells(self, needs: frozenset[Need]) -> tuple[Index, Index, Index, Index, Array]:
        """Return group, cluster, stratum, which of TP, FP, FN, TN, and the rows of every cell.

        It is -1 where what is needed is missing. Rows are by weight; a stratum that is missing is
        the last.
        """
        cells, profile = self._cells, self._spec.profile
        label = _outcome_state(cells.label, self._outcome.labels, profile)
        prediction = _outcome_state(cells.prediction, self._outcome.predictions, profile)
        cell = np.asarray(np.array(_CELL_OF[needs])[label, prediction])
        return cells.group, cells.cluster, cells.stratum, cell, cells.counts[self._measure]

    @property
    def blocks(self) -> int:
        """Return the number of blocks that are omitted one after another."""
        return min(BLOCKS, max(len(self._cells.ranks[1]), 1))

    @cached_property
    def by_stratum(self) -> bool:
        """Return whether clusters are omitted from strata too, not from all rows alone."""
        return self._size(1 + len(self._counted.strata)) <= _MOST_CELLS

    def without(self, side: Clusters) -> ConfusionCounts:
        """Return sides with no block omitted, then without each.

        The last ones are kept: values and sizes of one metric are both read off them.
        """
        key = (side.which.tobytes(), side.slots.tobytes(), side.pooled, side.overall)
        if self._last is None or self._last[0] != key:
            each = 1 + len(self._counted.strata) if self.by_stratum else 1
            slots = side.slots if self.by_stratum else np.zeros_like(side.slots)
            copies = np.arange(1 + self.blocks)
            moved = np.add.outer(copies * each, slots).ravel()
            which = np.tile(side.which, len(copies))
            made = self._sides.pick(which, moved, pooled=side.pooled, overall=side.overall)
            self._last = key, made
        return self._last[1]

    @property
    def _cells(self) -> ClusterCells:
        cells = self._counted.clusters
        assert cells is not None
        return cells

    @property
    def _shape(self) -> tuple[int, ...]:
        return self._counted.counts["rows"].shape

    def _size(self, slots: int) -> int:
        groups, _, labels, predictions = self._shape
        return (1 + self.blocks) * groups * slots * labels * predictions

    @cached_property
    def _sides(self) -> CountsBySide:
        strata = self._counted.strata if self.by_stratum else ()
        slots = len(strata) + 1
        if self._size(slots) > _MOST_CELLS:
            raise NoInterval(ReasonCode.TOO_MANY_GROUPS)
        cluster, ranks = self._cells.ranks
        block = assign_blocks(ranks, self.blocks, self._spec.seed)[cluster]
        names = [self._measure, *(m for m in self._cells.counts if m not in COUNTS)]
        counts = {m: self._stack_blocks(self._cells.counts[m], block, slots) for m in names}
        return self._counts_of_copies(counts, strata, self._measure)

    def _counts_of_copies(
        self, counts: dict[str, Array], strata: tuple[str, ...], measure: Measure
    ) -> CountsBySide:
        # ``counts`` have the shape (groups, copies times slots, labels, predictions)
        alone = replace(
            self._counted, strata=strata, counts=counts, histogram=None, clusters=None, design=None
        )
        return CountsBySide(alone, self._outcome, self._spec.profile, self._per_class, measure)

    def _stack_blocks(self, sums: Array, block: Index, slots: int) -> Array:
        cells = self._cells
        groups, _, labels, predictions = self._shape
        inside = (self.blocks, groups, slots, labels, predictions)
        at = np.minimum(cells.stratum, slots - 1)
        codes = (block, cells.group, at, cells.label, cells.prediction)
        index = np.ravel_multi_index(codes, inside)
        held = np.bincount(index, sums, int(np.prod(inside))).astype(np.float64)
        held = held.reshape(inside)
        # strata stand before the rows that miss theirs, which the margin alone counts
        held = np.concatenate([held.sum(axis=2, keepdims=True), held[:, :, :-1]], axis=2)
        every = add_others(held)[self.blocks :]  # all rows, and all rows without each block
        return every.swapaxes(0, 1).reshape(groups, -1, labels, predictions)


class DesignBySide(ClustersBySide):
    """Selects how the sides of many comparisons were sampled."""

    def __post_init__(self) -> None:
        super().__post_init__()
        counted = self._counted
        assert counted.design is not None
        self.sides_of, self.design = SampledSides, counted.design
        self._slots = 1 + len(counted.strata)
        self._held: dict[tuple[int, int], tuple[Index, float, float]] = {}
        powers = tuple(f"_{name}" for name in WEIGHTS[1:])
        sums = (m for m in counted.counts if m not in (*COUNTS, *SCORES))
        self._measures = [self._measure, *(m for m in sums if not m.endswith(powers))]

    def copies(self, statistic: Statistic, sides: Clusters) -> Array:
        """Return a statistic of all rows, and of every changed copy of them; shape (1 + C, n)."""
        copies = 1 + self._number
        at = np.add.outer(np.arange(copies) * self._slots, sides.slots).ravel()
        held = self._sides.pick(np.tile(sides.which, copies), at)
        try:
            return statistic.value(held, Profile.DOCUMENTED).reshape(copies, -1)
        except KeyError:  # replicate weights make the sums of means alone
            raise NoInterval(ReasonCode.NO_DESIGN_METHOD) from None

    @property
    def _number(self) -> int:
        if isinstance(self.design, ReplicateCounts):
            return len(self.design.factors)
        return 2 * len(self._measures) * int(np.prod(self._shape[2:]))

    @cached_property
    def _sides(self) -> CountsBySide:
        if (1 + self._number) * np.prod(self._shape) > _MOST_CELLS:
            raise NoInterval(ReasonCode.TOO_MANY_GROUPS)
        own = {m: self._counted.counts[m] for m in self._measures}
        if isinstance(self.design, ReplicateCounts):
            varied = {self._measure if m == "w" else m: e for m, e in self.design.counts.items()}
            stacked = {m: np.concatenate([own[m][None], each]) for m, each in varied.items()}
        else:
            stacked = {m: self._perturb_cells(m, each) for m, each in own.items()}
        counts = {
            m: each.swapaxes(0, 1).reshape(self._shape[0], -1, *self._shape[2:])
            for m, each in stacked.items()
        }
        return self._counts_of_copies(counts, self._counted.strata, self._measure)

    def _perturb_cells(self, measure: str, counts: Array) -> Array:
        cells = int(np.prod(self._shape[2:]))
        number = len(self._measures)
        every = np.repeat(counts[None], 1 + self._number, axis=0)
        flat = every.reshape(1 + self._number, *self._shape[:2], cells)
        of_cells = flat[1:].reshape(2, number, cells, *self._shape[:2], cells)
        step = self._steps[measure]
        for cell in range(cells):
            of_cells[0, self._measures.index(measure), cell, :, :, cell] += step
            of_cells[1, self._measures.index(measure), cell, :, :, cell] -= step
        return flat.reshape(every.shape)

    @cached_property
    def _steps(self) -> dict[str, Array]:
        # by how much a cell of each measure is moved; shape (groups + 1, slots)
        counts = self._counted.counts
        total = counts[self._measure].sum(axis=(2, 3))
        sums = {m: np.abs(counts[m]).sum(axis=(2, 3)) for m in self._measures[1:]}
        moved = {m: _STEP * (total + each) for m, each in sums.items()}
        return {self._measure: _STEP * total} | moved

    def deviations(self, statistic: Statistic, sides: Clusters) -> Deviations:
        """Return the deviations of a statistic, of which its variance is made."""
        design = self.design
        if isinstance(design, ReplicateCounts):
            return replicate_deviations(self.copies(statistic, sides), design.factors)
        strata, cells = design.strata, design.cells
        if strata.lonely.any() and self._spec.lonely is Lonely.REFUSE:
            raise NoInterval(ReasonCode.LONELY_STRATA, strata=int(strata.lonely.sum()))
        if design.single and len(self._measures) > 1:
            raise NoInterval(ReasonCode.NO_DESIGN_METHOD)  # values vary within cells
        alike, place = np.unique([sides.which, sides.slots], axis=1, return_inverse=True)
        n = alike.shape[1]
        # derivatives by the sums of cells, of shape (measures, labels + 1, predictions + 1, n)
        values = self.copies(statistic, replace(sides, which=alike[0], slots=alike[1]))
        up, down = values[1:].reshape(2, len(self._measures), -1, n)
        steps = np.stack([add_others(self._steps[m])[*alike] for m in self._measures])
        slopes = quotient(up - down, 2 * steps[:, None]).reshape(-1, *self._shape[2:], n)
        squares = np.zeros((len(cells.cluster), n)) if design.single else None
        totals = np.zeros((len(strata.units) if design.single else len(strata.of_unit), n))
        for i, key in enumerate(alike.T.tolist()):
            held, _, _ = self._side_cells(*key)
            cell = slopes[:, cells.label[held], cells.prediction[held], i]
            moved = sum(
                of * cells.counts[m][held] for m, of in zip(self._measures, cell, strict=True)
            )
            totals[:, i] = np.bincount(cells.cluster[held], moved, len(totals))
            if squares is not None:
                of = "w2" if self._measures == ["w"] else "n"
                squares[held, i] = cell[0] * np.sqrt(cells.counts[of][held])
        if squares is not None:
            found = deviations_of_rows(squares, totals, strata, cells.cluster)
        else:
            found = deviations_of_units(totals, strata)
        return found._replace(by=found.by[:, place.reshape(-1)])

    def _side_cells(self, side: int, slot: int) -> tuple[Index, float, float]:
        if (side, slot) in self._held:
            return self._held[side, slot]
        design, groups = self.design, len(self._counted.groups)
        assert isinstance(design, SampledCells)
        cells = design.cells
        inside = cells.stratum == slot - 1 if slot else np.ones(len(cells.cluster), dtype=bool)
        if side <= groups:
            inside &= cells.group == side
        elif side != side_of_all(groups):
            inside &= cells.group != side - side_of_others(groups)
        held = np.flatnonzero(inside)
        at = np.unique(cells.cluster[held])
        units = float(cells.counts["n"][held].sum()) if design.single else len(at)
        strata = len(at) if design.single else len(np.unique(design.strata.of_unit[at]))
        self._held[side, slot] = held, units, max(units - strata, 0.0)
        return self._held[side, slot]

    def sampled(self, sides: Clusters) -> tuple[Array, Array]:
        """Return how many sampling units each side has, and the degrees of freedom of its t."""
        if isinstance(self.design, ReplicateCounts):
            units = np.full(len(sides.which), float(len(self.design.factors)))
            return units, units - 1
        each = zip(sides.which.tolist(), sides.slots.tolist(), strict=True)
        found = np.array([self._side_cells(*key)[1:] for key in each], dtype=float).reshape(-1, 2)
        return found[:, 0], found[:, 1]


@dataclass(frozen=True, slots=True, eq=False)
class SampledSides(Clusters):
    """The design of one side of many comparisons, in place of its clusters."""

    def deviations(self, statistic: Statistic) -> Deviations:
        assert isinstance(self.of, DesignBySide)
        return self.of.deviations(statistic, self)

    def sampled(self) -> tuple[Array, Array]:
        """Return how many sampling units each side has, and the degrees of freedom of its t."""
        assert isinstance(self.of, DesignBySide)
        return self.of.sampled(self)

    def effective(self, sizes: Array) -> Array:
        del sizes
        return self.sampled()[0]

    def apart(self, other: Clusters, first: Index, second: Index) -> bool:
        """Return that sides may share units, which their deviations show."""
        del other, first, second
        return False

    def block_sizes(self, size: Callable[[ConfusionCounts], Array]) -> Array:
        """Return a one for each sampling unit of a side, of many units for some of them."""
        del size
        units = np.minimum(self.sampled()[0], _MANY)
        return (np.arange(units.max(initial=0.0))[:, None] < units).astype(float)

    def variation(self, statistic: Statistic, rows: Array) -> SampledVariation:
        units, degrees = self.sampled()
        return SampledVariation(self.deviations(statistic), np.minimum(units, rows), degrees, units)

    def sides(self) -> ConfusionCounts:
        """Refuse an interval from values without some clusters."""
        raise NoInterval(ReasonCode.NO_DESIGN_METHOD)


def sampled_interval(statistic: Statistic, data: SideData) -> StatisticInterval:
    """Return the interval of a statistic of dependent rows from its deviations.

    Raises ``NoInterval``: it is of scores, or a stratum of the sample has a single unit.
    """
    sides = _clusters_of(data, statistic)
    designed = isinstance(sides, SampledSides)
    estimate = statistic.value(data.side, Profile.DOCUMENTED)
    n = data.kish_rows(statistic.size)
    moved, rows, degrees, units = sides.variation(statistic, n)
    variance = moved.variance

    def at(z: Array) -> Limits:
        return design_limits(estimate, variance, rows, degrees, statistic.range, z)

    shares: tuple[MappedProportion, ...] = ()
    methods: Methods = JACKKNIFE
    if designed:
        methods = (IntervalMethod.SURVEY_DESIGN, IntervalMethod.STUDENT_T)
    if designed and isinstance(statistic, Rate):
        n, cases = rows_of_level(estimate, variance, rows), statistic.size(data.cases)
        shares = (MappedProportion(np.nan_to_num(estimate) * n, n, np.asarray, cases),)
        methods = (IntervalMethod.SURVEY_DESIGN, IntervalMethod.WILSON)
    return StatisticInterval(
        estimate, n, at, methods, shares, clusters=units, reason=_UNDEFINED if designed else None,
        dependence=Dependence(sides, moved),
    )  # fmt: skip


def jackknife_interval(metric: ComparisonMetric, compared: Comparisons, spec: Spec) -> Intervals:
    """Return the interval of a comparison from its values without some clusters."""
    if isinstance(metric, Distance):
        raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
    group, reference = (_clusters_of(side, metric) for side in (compared.group, compared.reference))
    values = metric.value(group.sides(), reference.sides(), Profile.DOCUMENTED)
    value = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
    rows = metric.sizes(compared.group.cases, compared.other.cases)
    sizes = _block_sizes(metric, compared)
    return _limits_of_values(metric, value, group.by_block(values), sizes, (rows[0], rows[1]), spec)


def pooled_jackknife_interval(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    """Return the interval of a contrast pooled over strata, from its values without some clusters.

    ``weights`` are of shape (groups, strata), 0 where a stratum is excluded.
    """
    strata = weights.shape[1]
    clusters = [_clusters_of(side, metric) for side in (compared.group, compared.reference)]
    if isinstance(clusters[0], SampledSides):
        return _pooled_design_interval(metric, compared, weights, value, spec)
    sides = [cluster.sides() for cluster in clusters]
    every = pool(metric, sides[0], sides[1], strata, Profile.DOCUMENTED).value
    inside = clusters[0].by_block(sides[0].size)
    by_block = every.reshape(len(inside), -1)
    if np.isnan(inside).any():
        by_block = np.full_like(by_block, np.nan)
    # a cluster may have rows in many strata, and is one cluster even so
    blocks = [each[:, ::strata] for each in _block_sizes(metric, compared, margin=True)]
    sizes = metric.sizes(compared.group.cases, compared.other.cases)
    rows = [np.where(weights > 0, size.reshape(weights.shape), 0.0) for size in sizes]
    thin = np.zeros(len(weights), dtype=bool)
    if not isinstance(metric.of, Rate):
        thin = strata_are_thin(rows, weights)
        by_block = np.where(thin, np.nan, by_block)
    totals = rows[0].sum(axis=1), rows[1].sum(axis=1)
    reasons = [THIN_STRATA if each else None for each in thin]
    return _limits_of_values(metric, value, by_block, blocks, totals, spec, reasons)


def _pooled_design_interval(
    metric: Contrast, compared: Comparisons, weights: Array, value: Array, spec: Spec
) -> Intervals:
    # the same of a difference or ratio under a design; the weights are taken as given
    if is_odds_ratio(metric):
        raise NoInterval(ReasonCode.NO_DESIGN_METHOD)
    share = quotient(weights, weights.sum(axis=1, keepdims=True))
    means: list[Array] = []
    moved: list[Deviations] = []
    sampled: list[tuple[Array, Array]] = []
    for data in (compared.group, compared.reference):
        sides = data.clusters
        assert isinstance(sides, SampledSides)
        values = metric.of.value(data.side, Profile.DOCUMENTED).reshape(weights.shape)
        found = sides.deviations(metric.of)
        parts = np.nan_to_num(found.by).reshape(-1, *weights.shape)
        means.append((share * np.where(share > 0, values, 0.0)).sum(axis=1))
        moved.append(found._replace(by=(share * parts).sum(axis=2)))
        of_groups = sides.which[:: weights.shape[1]]
        margin = replace(sides, which=of_groups, slots=np.zeros_like(of_groups))
        sampled.append(margin.sampled())
    ratio = metric.by == "ratio"
    ours, theirs = (of.by / mean if ratio else of.by for of, mean in zip(moved, means, strict=True))
    variance = moved[0]._replace(by=ours - theirs).variance
    error = np.sqrt(variance) * (value if ratio else 1.0)
    units, degrees = (np.minimum(*each) for each in zip(*sampled, strict=True))
    ends = (0.0, np.inf) if ratio else (-np.inf, np.inf)

    def limits(z: Array) -> Limits:
        return scaled_limits(value, error, t_from_z(z, degrees), *ends)

    low, high = limits(np.asarray(critical(spec.confidence)))
    few = insufficient_clusters(units)
    methods = (IntervalMethod.SURVEY_DESIGN, IntervalMethod.STUDENT_T)
    return Intervals(low, high, invert(limits, metric.neutral), [methods] * len(low), few)


def effective_number(sizes: Array) -> Array:
    """Return the effective number of blocks, from their sizes of shape (blocks, n) (Kish)."""
    number = np.nan_to_num(quotient(sizes.sum(axis=0) ** 2, (sizes**2).sum(axis=0)))
    return np.asarray(np.where(np.isnan(sizes).any(axis=0), np.nan, number))


def clusters_of(statistic: Statistic, clusters: Clusters) -> Array:
    """Return the effective number of clusters of a statistic, nan where it is not known."""
    return clusters.effective(_smallest_blocks(statistic, clusters))


def _limits_of_values(
    metric: ComparisonMetric,
    value: Array,
    by_block: Array,
    sizes: Sequence[Array],
    rows: tuple[Array, Array],
    spec: Spec,
    reasons: Sequence[Reason | None] | None = None,
) -> Intervals:
    # Limits are by t, nan without degrees of freedom. ``sizes`` are the rows of every block on each
    # side, of which the one with fewer degrees counts.
    degrees = np.min([satterthwaite_degrees(size.T) for size in sizes], axis=0)

    logarithmic = metric.neutral == 1 and metric.range == (0, np.inf)
    ends = (-np.inf, np.inf) if logarithmic else metric.range
    with np.errstate(divide="ignore", invalid="ignore"):
        if logarithmic:
            value, by_block = np.log(value), np.log(by_block)
        error = np.sqrt((deviations(by_block) ** 2).sum(axis=0))
    error = np.where(degrees > 0, error, np.nan)

    def limits(z: Array) -> Limits:
        low, high = scaled_limits(value, error, t_from_z(z, degrees), *ends)
        return (np.exp(low), np.exp(high)) if logarithmic else (low, high)

    low, high = limits(np.asarray(critical(spec.confidence)))
    inside = metric.range[0] < metric.neutral < metric.range[1]  # else never reached
    p = invert(limits, metric.neutral) if inside else np.full(len(low), np.nan)
    clusters = np.min([effective_number(each) for each in sizes], axis=0)
    few = first_reasons(
        reasons or [None] * len(low), insufficient_clusters(clusters), insufficient_rows(rows)
    )
    return Intervals(low, high, p, [JACKKNIFE] * len(low), few, JACKKNIFE_UNDEFINED)


def _clusters_of(data: SideData, of: Statistic | Metric) -> Clusters:
    # the clusters of a side; what needs the scores themselves is refused
    assert data.clusters is not None
    if "score" in of.needs:
        designed = isinstance(data.clusters, SampledSides)
        raise NoInterval(ReasonCode.NO_DESIGN_METHOD if designed else ReasonCode.NO_CLUSTER_METHOD)
    return data.clusters


def _smallest_blocks(statistic: Statistic, clusters: Clusters) -> Array:
    parts = statistic.of if isinstance(statistic, Blend) else (statistic,)
    every = np.stack([clusters.block_sizes(part.size) for part in parts])
    least = np.argmin([effective_number(each) for each in every], axis=0)
    return np.asarray(np.take_along_axis(every, least[None, None, :], axis=0)[0])


def _block_sizes(
    metric: ComparisonMetric, compared: Comparisons, *, margin: bool = False
) -> list[Array]:
    sides = [_clusters_of(each, metric) for each in (compared.group, compared.other)]
    if margin:
        sides = [replace(each, slots=np.zeros_like(each.slots)) for each in sides]
    if isinstance(metric, Contrast):
        return [_smallest_blocks(metric.of, each) for each in sides]
    ours = sides[0].block_sizes(lambda side: metric.sizes(side, side)[0])
    if metric.scope == "table":
        return [ours]
    return [ours, sides[1].block_sizes(lambda side: metric.sizes(side, side)[1])]


def clusters_spanning_groups(
    counted: GroupCounts, column: str | None, *, people: bool
) -> Iterator[Diagnostic]:
    """Note where clusters have rows in several groups, so that two sides are not independent.

    Of ``people`` it is a warning: their rows contradict each other. Not of a sample, whose units
    hold several groups as a rule, and are numbered anew in each of its strata.
    """
    cells = counted.clusters
    if cells is None or counted.design is not None or not counted.groups:
        return
    pairs = distinct_rows(np.stack([cells.cluster, cells.group], axis=-1))[0].T
    clusters, groups = np.unique(pairs[0], return_counts=True)
    spread = int(np.count_nonzero(groups > 1))
    if spread:
        make = Diagnostic.warning if people else Diagnostic.note
        yield make(
            DiagnosticCode.CLUSTERS_SPAN_GROUPS,
            counted.feature,
            clusters=spread,
            total=len(clusters),
            column=column,
            **({"people": True} if people else {}),
        )


def _outcome_state(codes: Index, positive: Mask, profile: Profile) -> Index:
    missing = _NO if profile.as_smclarify else _MISSING  # as in `sides`
    return np.asarray(np.append(np.where(positive, _YES, _NO), missing)[codes])
