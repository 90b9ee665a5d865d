"""Draws: tables that might have been, and the spread of any metric over them.

The Dirichlet posterior (0.5 rows of prior in each cell) is the default of the metrics that no
closed form fits; the multinomial bootstrap of the cells, which is the bootstrap of the rows, is
offered beside it. Every draw of a metric is its own formula, applied to a drawn table.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod, Method, Profile
from fairgauge.inference.bound import Bounds
from fairgauge.inference.interval import Intervals, NoInterval
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.resampling import (
    bca,
    bca_p,
    dirichlet_cells,
    multinomial_cells,
    normal,
    normal_p,
    quantile_interval,
    tail_p,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import ComparisonMetric
    from fairgauge.catalogue.confusion_counts import ConfusionCounts
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.inference.interval import Methods
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

MOST_DRAWN = 40_000_000
"""Numbers drawn for one metric; beyond, only the comparisons of all rows are resampled."""
_BLOCK = 4_000_000
_FEWEST_DRAWS = 500
IN_STRATA = Reason.of(ReasonCode.TOO_MANY_STRATA)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Where the cells of a metric stand in a side, and how to make a side of drawn ones.

    Attributes
    ----------
    read : from a side to cells of shape (n, ...).
    write : from cells of shape (m, ...) back to a side.
    shared : the name by which metrics share what is drawn; empty where each draws its own.
    """

    read: Callable[[ConfusionCounts], Array]
    write: Callable[[Array], ConfusionCounts]
    shared: str = ""


def drawn(
    metric: ComparisonMetric,
    table: Table,
    compared: Comparisons,
    spec: Spec,
    too_few: Sequence[Reason | None],
    drawn_before: dict[str, Array] | None = None,
) -> Intervals:
    """Return the interval of a metric from its values over drawn tables.

    ``drawn_before`` keeps what metrics of the same comparisons share.
    """
    size = len(compared.margin)
    cells = _cells(table, compared.group)
    at = resampled(compared, cells, spec)
    low, high, p = (np.full(size, np.nan) for _ in range(3))
    key = table.shared or compared.name
    fitting = MOST_DRAWN // max(len(at) * cells, 1)
    spec = replace(spec, replicates=min(spec.replicates, max(fitting, _FEWEST_DRAWS)))
    step = max(1, _BLOCK // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        tables = _Tables.of(metric, table, compared, block)
        if table.shared and drawn_before is not None and step >= len(at):
            if table.shared not in drawn_before:
                drawn_before[table.shared] = tables.draw(spec, key)
            values = tables.of_drawn(drawn_before[table.shared])
        else:
            values = tables.of_drawn(tables.draw(spec, key))
        estimate = tables.values(tables.cells)  # itself among what might have been
        limits = _limits(spec, values, tables)
        low[block], high[block] = np.fmin(limits[0], estimate), np.fmax(limits[1], estimate)
        if not np.isnan(metric.neutral):
            p[block] = _p(spec, values, tables, metric.neutral)
    return Intervals(low, high, p, [drawn_by(spec)] * size, too_few, IN_STRATA)


def drawn_by(spec: Spec) -> Methods:
    """Return how intervals from drawn tables are made."""
    ends = {
        Method.BOOTSTRAP: IntervalMethod.PERCENTILE,
        Method.BOOTSTRAP_NORMAL: IntervalMethod.NORMAL_APPROXIMATION,
        Method.BOOTSTRAP_BCA: IntervalMethod.BCA,
    }
    if spec.method in ends:
        return (IntervalMethod.MULTINOMIAL_BOOTSTRAP, ends[spec.method])
    return (IntervalMethod.DIRICHLET_POSTERIOR,)


def drawn_bounds(
    statistic: Statistic,
    table: Table,
    evidence: Evidence,
    margin: NDArray[np.bool_],
    spec: Spec,
) -> Bounds:
    """Return the limits of a statistic of every group from its drawn tables.

    Many strata are left out, since there are many such statistics. At other critical values than
    that of the confidence, the distances of the limits are scaled.
    """
    cells = _cells(table, evidence)
    affordable = len(margin) * cells * spec.replicates <= _BLOCK
    at = np.arange(len(margin)) if affordable else np.flatnonzero(margin)
    low, high = np.full(len(margin), np.nan), np.full(len(margin), np.nan)
    step = max(1, _BLOCK // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        worthy, worth = _worthy(table, evidence, block)
        new = _drawn_alone(worthy.reshape(len(block), -1), spec, statistic.name)
        new = quotient(new, worth[:, None]).reshape(-1, *worthy.shape[1:])
        values = statistic.value(table.write(new), Profile.DOCUMENTED)
        values = values.reshape(spec.replicates, len(block))
        low[block], high[block] = quantile_interval(values, spec.confidence)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    with np.errstate(invalid="ignore"):
        below, above = np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)

    def limits(z: Array) -> Limits:
        times = z / critical(spec.confidence)
        with np.errstate(invalid="ignore"):
            scaled = value - times * below, value + times * above
        return np.where(np.isinf(value), low, scaled[0]), np.where(np.isinf(high), high, scaled[1])

    rows = evidence.rows(statistic.size)
    return Bounds(value, rows, limits, drawn_by(spec), reason=IN_STRATA)


def _drawn_alone(cells: Array, spec: Spec, key: str) -> Array:
    """Draw the cells of every group anew; shape (replicates, n, K)."""
    draw = multinomial_cells if spec.method.resamples else dirichlet_cells
    return np.concatenate(
        [draw(row[None], spec.replicates, generator(spec, key, row)) for row in cells], axis=1
    )


def resampled(compared: Comparisons, cells: int, spec: Spec) -> NDArray[np.int64]:
    """Return which comparisons are resampled: all, or those of all rows where that is too much."""
    size = len(compared.margin)
    if size * cells * spec.replicates <= MOST_DRAWN:
        return np.arange(size)
    return np.flatnonzero(compared.margin)


def _cells(table: Table, evidence: Evidence) -> int:
    """Return how many cells are drawn for each comparison."""
    cells = int(np.prod(table.read(evidence.side).shape[1:]))
    if not cells:
        raise NoInterval(ReasonCode.NEEDS_COLUMNS, columns="label and prediction")
    return cells


def generator(spec: Spec, key: str, *counts: Array) -> np.random.Generator:
    """Return the random numbers of a metric of some counts.

    They depend on what is counted alone: not on names, nor on the order of groups, nor on what
    else is asked for.
    """
    content = (zlib.crc32(np.ascontiguousarray(each, dtype=float).tobytes()) for each in counts)
    return np.random.default_rng([spec.seed, zlib.crc32(key.encode()), *content])


def canonical_pair(one: Array, two: Array, *, symmetric: bool) -> tuple[Array, Array]:
    """Return two rows of counts over categories in an order of both that names do not change.

    Categories are ordered by their counts and, where the comparison is symmetric, so are the two
    rows. Draws made of these are those of any other order.
    """
    first, second = one, two
    if symmetric and sorted(one.tolist()) > sorted(two.tolist()):
        first, second = two, one
    order = np.lexsort((second, first))
    return first[order], second[order]


def precedes(one: Array, two: Array) -> bool:
    """Return whether counts come first in the order in which both sides of a comparison are drawn.

    The order is that of the counts, so that group and reference may change places and every draw of
    theirs stays what it was.
    """
    return bool(one.ravel().tolist() <= two.ravel().tolist())


def _limits(spec: Spec, values: Array, tables: _Tables) -> Limits:
    """Return limits from the values over drawn tables, as the method asks."""
    if spec.method is Method.BOOTSTRAP_NORMAL:
        return normal(tables.values(tables.cells), values, spec.confidence)
    if spec.method is Method.BOOTSTRAP_BCA:
        return bca(tables.cells, tables.values, values, spec.confidence)
    return quantile_interval(values, spec.confidence)


def _p(spec: Spec, values: Array, tables: _Tables, null: float) -> Array:
    """Return the p-values at which those limits just touch "no difference"."""
    if spec.method is Method.BOOTSTRAP_NORMAL:
        return normal_p(tables.values(tables.cells), values, null)
    if spec.method is Method.BOOTSTRAP_BCA:
        return bca_p(tables.cells, tables.values, values, null)
    return tail_p(values, null)


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """The tables of some comparisons, as many rows as their weights are worth, and their metric.

    Attributes
    ----------
    cells : array of shape (n, K): those of the group and, unless ``alone``, of the other side.
    shape : of the cells of one side.
    worth : rows that a unit of weight is worth, of each side; arrays of shape (n,).
    """

    metric: ComparisonMetric
    table: Table
    cells: Array
    shape: tuple[int, ...]
    worth: tuple[Array, Array]
    alone: bool
    overlapping: bool

    @classmethod
    def of(
        cls, metric: ComparisonMetric, table: Table, compared: Comparisons, at: NDArray[np.int64]
    ) -> _Tables:
        """Read the tables of the comparisons ``at``."""
        alone = metric.scope == "table"
        ours, worth = _worthy(table, compared.group, at)
        theirs, other = (ours, worth) if alone else _worthy(table, compared.other, at)
        sides = [each.reshape(len(at), -1) for each in (ours, theirs)]
        cells = sides[0] if alone else np.concatenate(sides, axis=1)
        overlapping = compared.rest is not None
        return cls(metric, table, cells, ours.shape[1:], (worth, other), alone, overlapping)

    def draw(self, spec: Spec, key: str) -> Array:
        """Draw the cells of every comparison anew; shape (replicates, n, K)."""
        draw = multinomial_cells if spec.method.resamples else dirichlet_cells
        drawn = np.empty((spec.replicates, *self.cells.shape))
        for i, cells in enumerate(self.cells):
            sides = [cells] if self.alone else np.split(cells, 2)
            if self.alone or precedes(sides[0], sides[1]):
                order = list(range(len(sides)))
            else:
                order = [1, 0]
            rng = generator(spec, key, *(sides[side] for side in order))
            width = len(sides[0])
            for side in order:
                at = slice(side * width, (side + 1) * width)
                drawn[:, i, at] = draw(sides[side][None], spec.replicates, rng)[:, 0]
        return drawn

    def of_drawn(self, cells: Array) -> Array:
        """Return the metric of drawn cells; shape (replicates, n)."""
        return self._of(cells, self.worth)

    def values(self, cells: Array) -> Array:
        """Return the metric of cells of shape (n, ..., K)."""
        worth = [each.reshape(-1, *[1] * (cells.ndim - 2)) for each in self.worth]
        return self._of(cells, (worth[0], worth[1]))

    def _of(self, cells: Array, worth: tuple[Array, Array]) -> Array:
        lead = cells.shape[:-1]
        sides = [cells, cells] if self.alone else np.split(cells, 2, axis=-1)
        ours, theirs = (
            quotient(side, np.broadcast_to(each, lead)[..., None]).reshape(-1, *self.shape)
            for side, each in zip(sides, worth, strict=True)
        )
        if self.overlapping:  # the reference holds the group's own rows too
            theirs = theirs + ours
        group, other = (self.table.write(each) for each in (ours, theirs))
        return self.metric.value(group, other, Profile.DOCUMENTED).reshape(lead)


def _worthy(table: Table, evidence: Evidence, at: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return cells of as many rows as the weights are worth, and what a unit of weight is."""
    cells = table.read(evidence.side)[at]

    def total(side: ConfusionCounts) -> Array:
        counted: Array = table.read(side)[at].reshape(len(at), -1).sum(axis=1)
        return counted

    worth = evidence.worth(total)
    return cells * worth.reshape(-1, *[1] * (cells.ndim - 1)), worth
