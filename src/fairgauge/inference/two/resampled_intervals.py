"""The interval of a metric of two sides from its values over tables that are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairgauge.catalogue.cells import (
    Array,
)
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.enums import Method, Profile
from fairgauge.inference.compared_counts import Comparisons, generator, precedes
from fairgauge.inference.interval import Intervals
from fairgauge.inference.one.drawn_tables import (
    DRAWN_AT_ONCE,
    MOST_DRAWN,
    TOO_MANY_STRATA,
    CellLayout,
    cells_of_side,
    effective_cells,
    resampling_methods,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason
from fairgauge.stats.arrays import Index, quotient
from fairgauge.stats.resampling import dirichlet_cells, multinomial_cells, quantile_interval, tail_p

_FEWEST_DRAWS = 500


def resampled_interval(
    metric: ComparisonMetric,
    table: CellLayout,
    compared: Comparisons,
    spec: Spec,
    too_few: Sequence[Reason | None],
) -> Intervals:
    """Return the interval of a metric from its values over drawn tables."""
    size = len(compared.margin)
    cells = cells_of_side(table, compared.group)
    at = resampled_comparisons(compared, cells, spec)
    low, high, p = (np.full(size, np.nan) for _ in range(3))
    fitting = MOST_DRAWN // max(len(at) * cells, 1)
    spec = replace(spec, replicates=min(spec.replicates, max(fitting, _FEWEST_DRAWS)))
    step = max(1, DRAWN_AT_ONCE // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        tables = _DrawnTables.of(metric, table, compared, block)
        values = tables.of_drawn(tables.draw(spec))
        estimate = tables.values(tables.cells)  # the interval contains the estimate
        limits = quantile_interval(values, spec.confidence)
        low[block], high[block] = np.fmin(limits[0], estimate), np.fmax(limits[1], estimate)
        if metric.range[0] < metric.neutral < metric.range[1]:  # else no draw is beyond it
            p[block] = tail_p(values, metric.neutral)
    return Intervals(low, high, p, [resampling_methods(spec)] * size, too_few, TOO_MANY_STRATA)


def resampled_comparisons(compared: Comparisons, cells: int, spec: Spec) -> Index:
    """Return which comparisons are resampled: all, or those of all rows where that is too much."""
    size = len(compared.margin)
    if size * cells * spec.replicates <= MOST_DRAWN:
        return np.arange(size)
    return np.flatnonzero(compared.margin)


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnTables:
    """The tables of some comparisons, by effective sample size, and their metric.

    Attributes
    ----------
    cells : array of shape (n, K): those of the group and, unless ``alone``, of the other side.
    shape : of the cells of one side.
    rows_per_weight : effective rows per unit of weight, of each side; arrays of shape (n,).
    """

    metric: ComparisonMetric
    table: CellLayout
    cells: Array
    shape: tuple[int, ...]
    rows_per_weight: tuple[Array, Array]
    alone: bool
    overlapping: bool

    @classmethod
    def of(
        cls,
        metric: ComparisonMetric,
        table: CellLayout,
        compared: Comparisons,
        at: Index,
    ) -> _DrawnTables:
        """Read the tables of the comparisons ``at``."""
        alone = metric.scope == "table"
        ours, rows_per_weight = effective_cells(table, compared.group, at)
        theirs, other = (
            (ours, rows_per_weight) if alone else effective_cells(table, compared.other, at)
        )
        sides = [each.reshape(len(at), -1) for each in (ours, theirs)]
        cells = sides[0] if alone else np.concatenate(sides, axis=1)
        overlapping = compared.rest is not None
        return cls(
            metric, table, cells, ours.shape[1:], (rows_per_weight, other), alone, overlapping
        )

    @property
    def of_ratio(self) -> bool:
        return self.metric.neutral == 1 and self.metric.range[0] >= 0

    def draw(self, spec: Spec) -> Array:
        """Draw the cells of every comparison anew; shape (replicates, n, K)."""
        draw = multinomial_cells if spec.method is Method.BOOTSTRAP else dirichlet_cells
        drawn = np.empty((spec.replicates, *self.cells.shape))
        for i, cells in enumerate(self.cells):
            sides = [cells] if self.alone else np.split(cells, 2)
            if self.alone or precedes(sides[0], sides[1]):
                order = list(range(len(sides)))
            else:
                order = [1, 0]
            rng = generator(spec, self.table.key, *(sides[side] for side in order))
            width = len(sides[0])
            for side in order:
                at = slice(side * width, (side + 1) * width)
                drawn[:, i, at] = draw(sides[side][None], spec.replicates, rng)[:, 0]
        return drawn

    def of_drawn(self, cells: Array) -> Array:
        """Return the metric of drawn cells; shape (replicates, n)."""
        return self._of(cells, self.rows_per_weight)

    def values(self, cells: Array) -> Array:
        """Return the metric of cells of shape (n, ..., K)."""
        rows_per_weight = [
            each.reshape(-1, *[1] * (cells.ndim - 2)) for each in self.rows_per_weight
        ]
        return self._of(cells, (rows_per_weight[0], rows_per_weight[1]))

    def _of(self, cells: Array, rows_per_weight: tuple[Array, Array]) -> Array:
        lead = cells.shape[:-1]
        sides = [cells, cells] if self.alone else np.split(cells, 2, axis=-1)
        ours, theirs = (
            quotient(side, np.broadcast_to(each, lead)[..., None]).reshape(-1, *self.shape)
            for side, each in zip(sides, rows_per_weight, strict=True)
        )
        if self.overlapping:  # the reference holds the group's own rows too
            theirs = theirs + ours
        group, other = (self.table.write(each) for each in (ours, theirs))
        return self.metric.value(group, other, Profile.DOCUMENTED).reshape(lead)
