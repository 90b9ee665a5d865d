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

from fairgauge.stats.arrays import quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.resampling import (
    dirichlet_cells,
    multinomial_cells,
    quantile_interval,
    tail_p,
)
from fairgauge.uncertainty.bound import Bounds
from fairgauge.uncertainty.interval import Interval, NoInterval
from fairgauge.words import Method, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fairgauge.metrics.comparisons import Comparison
    from fairgauge.metrics.kinds import Statistic
    from fairgauge.metrics.side import Side
    from fairgauge.metrics.symbols import Array
    from fairgauge.spec import Spec
    from fairgauge.stats.arrays import Limits
    from fairgauge.uncertainty.evidence import Comparisons, Evidence

MOST_DRAWN = 40_000_000
"""Numbers drawn for one metric; beyond, only the comparisons of all rows are resampled."""
_BLOCK = 4_000_000
_FEWEST_DRAWS = 500
IN_STRATA = "resampled for all rows alone: there are too many strata to resample each"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Where the cells of a metric stand in a side, and how to make a side of drawn ones.

    Attributes
    ----------
    read : from a side to cells of shape (n, ...).
    write : from cells of shape (m, ...) back to a side.
    """

    read: Callable[[Side], Array]
    write: Callable[[Array], Side]


def drawn(
    metric: Comparison, table: Table, compared: Comparisons, spec: Spec, too_few: list[str]
) -> Interval:
    """Return the interval of a metric from its values over drawn tables."""
    size = len(compared.margin)
    cells = _cells(table, compared.group)
    at = resampled(compared, cells, spec)
    low, high, p = (np.full(size, np.nan) for _ in range(3))
    rng = generator(spec, compared.key)
    fitting = MOST_DRAWN // max(len(at) * cells, 1)
    spec = replace(spec, replicates=min(spec.replicates, max(fitting, _FEWEST_DRAWS)))
    step = max(1, _BLOCK // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        values = _values(metric, table, compared, block, spec, rng)
        low[block], high[block] = quantile_interval(values, spec.confidence)
        if not np.isnan(metric.neutral):
            p[block] = tail_p(values, metric.neutral)
    return Interval(low, high, p, [drawn_by(spec)] * size, too_few, IN_STRATA)


def drawn_by(spec: Spec) -> str:
    """Return how limits from drawn tables are made."""
    if spec.method is Method.BOOTSTRAP:
        return "multinomial bootstrap, percentile"
    return "dirichlet posterior"


def drawn_bounds(
    statistic: Statistic,
    table: Table,
    evidence: Evidence,
    margin: NDArray[np.bool_],
    spec: Spec,
) -> Bounds:
    """Return the limits of a statistic of every group, over all rows, from its drawn tables.

    At other critical values than that of the confidence, the distances of the limits are scaled.
    """
    at = np.flatnonzero(margin)
    low, high = np.full(len(margin), np.nan), np.full(len(margin), np.nan)
    rng = generator(spec, statistic.name)
    cells = _cells(table, evidence)
    step = max(1, _BLOCK // (spec.replicates * cells))
    for start in range(0, len(at), step):
        block = at[start : start + step]
        new = _redrawn(table, evidence, block, spec, rng)
        values = statistic.value(table.write(new.reshape(-1, *new.shape[2:])), Profile.DOCUMENTED)
        values = values.reshape(spec.replicates, len(block))
        low[block], high[block] = quantile_interval(values, spec.confidence)
    value = statistic.value(evidence.side, Profile.DOCUMENTED)
    below, above = np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)

    def limits(z: Array) -> Limits:
        times = z / critical(spec.confidence)
        return value - times * below, value + times * above

    return Bounds(value, evidence.rows(statistic.size), limits, drawn_by(spec))


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
        raise NoInterval("no interval is known for it without both labels and predictions")
    return cells


def generator(spec: Spec, key: str) -> np.random.Generator:
    """Return the random numbers of one metric, whatever else is asked."""
    return np.random.default_rng([spec.seed, zlib.crc32(key.encode())])


def _values(
    metric: Comparison,
    table: Table,
    compared: Comparisons,
    at: NDArray[np.int64],
    spec: Spec,
    rng: np.random.Generator,
) -> Array:
    """Return the metric over drawn tables; shape (replicates, comparisons)."""
    ours = _redrawn(table, compared.group, at, spec, rng)
    theirs = ours if metric.scope == "table" else _redrawn(table, compared.other, at, spec, rng)
    if compared.rest is not None:  # the reference holds the group's own rows too
        theirs = theirs + ours
    shape = (-1, *ours.shape[2:])
    group, other = (table.write(each.reshape(shape)) for each in (ours, theirs))
    return metric.value(group, other, Profile.DOCUMENTED).reshape(spec.replicates, len(at))


def _redrawn(
    table: Table,
    evidence: Evidence,
    at: NDArray[np.int64],
    spec: Spec,
    rng: np.random.Generator,
) -> Array:
    """Return drawn cells in the units of the side; shape (replicates, comparisons, ...)."""
    cells = table.read(evidence.side)[at]

    def total(side: Side) -> Array:
        counted: Array = table.read(side)[at].reshape(len(at), -1).sum(axis=1)
        return counted

    worth = evidence.worth(total)[:, None]
    flat = cells.reshape(len(at), -1) * worth
    draw = multinomial_cells if spec.method is Method.BOOTSTRAP else dirichlet_cells
    new = quotient(draw(flat, spec.replicates, rng), worth)
    return new.reshape(spec.replicates, *cells.shape)
