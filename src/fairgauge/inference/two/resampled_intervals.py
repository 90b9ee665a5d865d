"""The interval of a metric of two sides from its values over tables that are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.enums import Profile
from fairgauge.inference.compared_counts import Comparisons, generator, precedes
from fairgauge.inference.interval import Intervals
from fairgauge.inference.one.drawn_tables import (
    DRAWN_AT_ONCE,
    MOST_DRAWN,
    TOO_MANY_STRATA,
    CellLayout,
    cells_of_side,
    drawn_cells,
    effective_cells,
    resampling_methods,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason
from fairgauge.stats.arrays import Index, quotient
from fairgauge.stats.resampling import quantile_interval, tail_p

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
        values, estimate = _drawn_values(metric, table, compared, block, spec)
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


def _drawn_values(
    metric: ComparisonMetric, table: CellLayout, compared: Comparisons, at: Index, spec: Spec
) -> tuple[Array, Array]:
    """Return a metric of drawn tables, of shape (replicates, n), and of the tables themselves."""
    sides = (compared.group,) if metric.scope == "table" else (compared.group, compared.other)
    tables, rows_per_weight = zip(*(effective_cells(table, e, at) for e in sides), strict=True)
    flat = [each.reshape(len(at), -1) for each in tables]

    def value(cells: Sequence[Array]) -> Array:
        lead = cells[0].shape[:-1]
        counts = [
            quotient(side, np.broadcast_to(each, lead)[..., None]).reshape(-1, *tables[0].shape[1:])
            for side, each in zip(cells, rows_per_weight, strict=True)
        ]
        if compared.rest is not None and len(counts) > 1:  # the reference holds the group's rows
            counts[1] = counts[1] + counts[0]
        written = [table.write(each) for each in counts]
        return metric.value(written[0], written[-1], Profile.DOCUMENTED).reshape(lead)

    drawn = [np.empty((spec.replicates, *each.shape)) for each in flat]
    for i in range(len(at)):
        # both sides are drawn in an order that does not depend on which is the group
        order = list(range(len(flat)))
        if len(flat) > 1 and not precedes(flat[0][i], flat[1][i]):
            order = [1, 0]
        rng = generator(spec, table.key, *(flat[side][i] for side in order))
        for side in order:
            drawn[side][:, i] = drawn_cells(flat[side][i], spec, rng)
    return value(drawn), value(flat)  # the interval contains the estimate
