"""Tables drawn anew: the cells of a metric, and the interval of a statistic from its drawn tables.

The Dirichlet posterior (0.5 rows of prior in each cell) is the default of the metrics without a
closed form; the multinomial bootstrap of the cells, which is the bootstrap of the rows, is offered
beside it. Every draw of a metric is its own formula, applied to a drawn table. Cells that a formula
treats alike are one cell: a rate has two, however many it sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Array, Cells, ConfusionCounts, Need
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import IntervalMethod, Method, Profile
from fairgauge.inference.compared_counts import Evidence, generator
from fairgauge.inference.interval import Methods, NoInterval, StatisticInterval
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.resampling import dirichlet_cells, multinomial_cells, quantile_interval

MOST_DRAWN = 40_000_000
"""Numbers drawn for one metric; beyond, only the comparisons of all rows are resampled."""


DRAWN_AT_ONCE = 4_000_000


TOO_MANY_STRATA = Reason.of(ReasonCode.TOO_MANY_STRATA)


@dataclass(frozen=True, slots=True, eq=False)
class CellLayout:
    """Where the cells of a metric stand in a side, and how to make a side of drawn ones.

    Attributes
    ----------
    read : from a side to cells of shape (n, ...).
    write : from cells of shape (m, ...) back to a side.
    key : what is drawn, by which draws are seeded. A rate and its complement, a difference and a
        ratio are of one layout, so that one is tested by the draws of the other.
    """

    read: Callable[[ConfusionCounts], Array]
    write: Callable[[Array], ConfusionCounts]
    key: str


def resampling_methods(spec: Spec) -> Methods:
    """Return how intervals from drawn tables are made."""
    if spec.method is Method.BOOTSTRAP:
        return (IntervalMethod.BOOTSTRAP,)
    return (IntervalMethod.JEFFREYS,)


def resampled_statistic(
    statistic: Statistic,
    table: CellLayout,
    evidence: Evidence,
    margin: Mask,
    spec: Spec,
) -> StatisticInterval:
    """Return the limits of a statistic of every group from its drawn tables.

    Many strata have none, since there are many such statistics. At other critical values than
    that of the confidence, the distances of the limits are scaled.
    """
    cells = cells_of_side(table, evidence)
    affordable = len(margin) * cells * spec.replicates <= DRAWN_AT_ONCE
    at = np.arange(len(margin)) if affordable else np.flatnonzero(margin)
    low, high = np.full(len(margin), np.nan), np.full(len(margin), np.nan)
    step = max(1, DRAWN_AT_ONCE // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        effective, rows_per_weight = effective_cells(table, evidence, block)
        flat = effective.reshape(len(block), -1)
        drawn = [drawn_cells(row, spec, generator(spec, table.key, row)) for row in flat]
        new = quotient(np.stack(drawn, axis=1), rows_per_weight[:, None])
        new = new.reshape(-1, *effective.shape[1:])
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
    return StatisticInterval(value, rows, limits, resampling_methods(spec), reason=TOO_MANY_STRATA)


def drawn_cells(cells: Array, spec: Spec, rng: np.random.Generator) -> Array:
    """Draw the cells of one table anew; shape (replicates, K)."""
    draw = multinomial_cells if spec.method is Method.BOOTSTRAP else dirichlet_cells
    return draw(cells[None], spec.replicates, rng)[:, 0]


def cells_of_side(table: CellLayout, evidence: Evidence) -> int:
    """Return how many cells are drawn for each comparison."""
    cells = int(np.prod(table.read(evidence.side).shape[1:]))
    if not cells:
        raise NoInterval(ReasonCode.NEEDS_COLUMNS, columns="label and prediction")
    return cells


def effective_cells(table: CellLayout, evidence: Evidence, at: Index) -> tuple[Array, Array]:
    """Return cells by effective sample size, and the rows per unit of weight."""
    cells = table.read(evidence.side)[at]

    def total(side: ConfusionCounts) -> Array:
        return np.asarray(table.read(side)[at].reshape(len(at), -1).sum(axis=1))

    rows_per_weight = evidence.rows_per_weight(total)
    return cells * rows_per_weight.reshape(-1, *[1] * (cells.ndim - 1)), rows_per_weight


def table_of(statistic: Statistic) -> CellLayout | None:
    """Return the cells of a statistic of counts; None where it is not one of counts."""
    if not statistic.sums:
        return None
    return cells_table(_distinct_cells(statistic.sums), statistic.needs)


def cells_table(parts: Sequence[Cells], needs: frozenset[Need]) -> CellLayout:
    """Return confusion cells, those of one part together."""
    first = [next(i for i, k in enumerate(part) if k) for part in parts]

    def read(side: ConfusionCounts) -> Array:
        return np.stack([part.count(side.counts(needs)) for part in parts], axis=-1)

    def write(drawn: Array) -> ConfusionCounts:
        counts = np.zeros((len(drawn), 4))
        for i, cell in enumerate(first):
            counts[:, cell] = drawn[:, i]
        return ConfusionCounts(size=ALL.count(counts), cells={needs: counts})

    cells = "|".join("".join(map(str, part)) for part in parts)
    return CellLayout(read, write, " and ".join([*sorted(needs), cells]))


def _distinct_cells(sums: Sequence[Cells]) -> list[Cells]:
    """Join the cells that have the same coefficient in every sum; drop those in none."""
    distinct: dict[tuple[int, ...], Cells] = {}
    for i, cell in enumerate((TP, FP, FN, TN)):
        pattern = tuple(each[i] for each in sums)
        if any(pattern):
            distinct[pattern] = distinct.get(pattern, Cells()) + cell
    return list(distinct.values())
