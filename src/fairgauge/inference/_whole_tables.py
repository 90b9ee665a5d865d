"""Statistics of whole tables of cells: by the influence of every row, or from tables drawn anew.

Averages over classes and Cohen's kappa are functions of the table of labels and predictions, whose
variance follows from the influence of each row (`stats.multinomial`). An average that is made of
the share of rows whose prediction is their label, and of nothing else, has the interval of that
share: equal statistics have one interval, whatever they are called.

The Dirichlet posterior (0.5 rows of prior in each cell) is the default of the metrics without a
closed form; the multinomial bootstrap of the cells, which is the bootstrap of the rows, is offered
beside it. Every draw of a metric is its own formula, applied to a drawn table. Cells that a formula
treats alike are one cell: a rate has two cells, however many it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fairgauge.catalogue.cells import (
    ALL,
    BOTH,
    FN,
    FP,
    LABEL,
    PREDICTION,
    TN,
    TP,
    Array,
    Cells,
    ConfusionCounts,
    Need,
)
from fairgauge.catalogue.comparisons import ComparisonMetric
from fairgauge.catalogue.statistics import (
    Averaged,
    Blend,
    Kappa,
    Quotient,
    Rate,
    Statistic,
    agreement,
)
from fairgauge.enums import Average, IntervalMethod, Method, Profile
from fairgauge.inference.interval import (
    Comparisons,
    Count,
    Intervals,
    Methods,
    NoInterval,
    Shape,
    SideData,
    Sparseness,
    StatisticInterval,
    generator,
    precedes,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.intervals import critical
from fairgauge.stats.multinomial import (
    ClassStatistic,
    TableStatistic,
    WeightedKappa,
    WeightSums,
    dirichlet_cells,
    linearise,
    linearised_interval,
    multinomial_cells,
    quantile_interval,
    tail_p,
    whole_correlation,
)

_UNBOUNDED = Reason.of(ReasonCode.UNBOUNDED)
_TRIAL = np.linspace(0.0, 1.0, 11)
_FEWEST_IN_CLASS = 5


def is_of_agreement(statistic: Statistic) -> bool:
    """Return whether a statistic is a linear function of the share of rows predicted right.

    Summed over classes, TP are the rows predicted right, FP and FN both all others. So is every
    quotient of sums whose denominator does not depend on how many are right, the plain average of
    a rate among all rows, and the average by labels of a rate among labels, whose denominators are
    its weights.
    """
    if not isinstance(statistic, Averaged):
        return False
    if statistic.how is Average.MICRO:
        return _has_fixed_denominator(statistic.of)
    same = ALL if statistic.how is Average.MACRO else TP + FN
    return isinstance(statistic.of, Rate) and statistic.of.among == same


def _has_fixed_denominator(statistic: Statistic) -> bool:
    if isinstance(statistic, Blend):
        return all(map(_has_fixed_denominator, statistic.of))
    if not isinstance(statistic, (Rate, Quotient)):
        return False
    under = statistic.among if isinstance(statistic, Rate) else statistic.under
    return under.tp + under.tn == under.fp + under.fn


def agreement_shape(statistic: Averaged, classes: int) -> tuple[Count, Count, Shape]:
    """Return the share that an average is an increasing function of, and that function.

    The share is of the rows predicted right or, where the average falls with it, of all others.
    """
    accuracy = agreement()

    def rising(right: Array) -> Array:
        right = np.asarray(right, dtype=float)
        wrong = 1 - right
        cells = np.stack([right, wrong, wrong, classes - 2 + right], axis=-1)
        needs = {BOTH, statistic.of.needs}
        tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
        known = {BOTH: cells}
        for margin, positive, negative in (
            (LABEL, tp + fn, fp + tn),
            (PREDICTION, tp + fp, fn + tn),
        ):
            if margin in needs:
                known[margin] = np.zeros_like(cells)
                known[margin][..., 0], known[margin][..., 3] = positive, negative
        side = ConfusionCounts(size=np.ones(right.shape), cells=known)
        return statistic.of.value(side, Profile.DOCUMENTED)

    def falling(wrong: Array) -> Array:
        return rising(1 - np.asarray(wrong))

    def wrong(side: ConfusionCounts) -> Array:
        return accuracy.size(side) - accuracy.agreed(side)

    low, high = rising(np.array([0.0, 1.0]))
    shape: Shape = falling if low > high else rising
    if np.allclose(shape(_TRIAL), _TRIAL):  # it is the share itself
        shape = np.asarray
    return wrong if low > high else accuracy.agreed, accuracy.size, shape


def class_interval(statistic: Averaged | Kappa, data: SideData) -> StatisticInterval:
    table, weights = data.side.table, None
    if data.squares is not None:
        weights = WeightSums(data.squares.table, data.cases.table)
    ends = statistic.range
    found = linearise(_class_statistic(statistic), table, ends, weights)

    def at(z: Array) -> Limits:
        return linearised_interval(found, ends, z)

    scale = IntervalMethod.WILSON if np.isfinite(ends).all() else IntervalMethod.INFLUENCE
    rows = table.sum(axis=(1, 2))
    if data.clusters is None:
        rows = data.unclustered_rows(statistic.size)
    return StatisticInterval(
        found.estimate,
        rows,
        at,
        (IntervalMethod.INFLUENCE, scale),
        sparse=_class_sparseness(statistic, data),
        reason=None if np.isfinite(found.estimate).all() else _UNBOUNDED,
    )


def correlation_with_whole(statistic: Averaged | Kappa, compared: Comparisons) -> Array:
    """Return the correlation of a statistic of groups with that of the references they are in."""
    of = _class_statistic(statistic)
    sides = compared.group, compared.reference
    group, whole = (side.side.table for side in sides)
    squares = [side.squares.table for side in sides if side.squares is not None]
    return whole_correlation(of, group, whole, (squares[0], squares[1]) if squares else None)


def _class_sparseness(statistic: Averaged | Kappa, data: SideData) -> Sparseness | None:
    # a macro average rests on its smallest class, kappa on all but the most frequent one
    cases = data.cases.table
    sums = np.stack([cases.sum(-1), cases.sum(-2)])  # of labels, and of predictions
    if isinstance(statistic, Kappa):
        minority = cases.sum((-1, -2)) - sums.max((0, -1))
        return Sparseness(ReasonCode.FEW_IN_MINORITY, minority, _FEWEST_IN_CLASS)
    if statistic.how is Average.MACRO:
        return Sparseness(ReasonCode.SPARSE_CLASS, sums.min((0, -1)), _FEWEST_IN_CLASS)
    return None


def _class_statistic(statistic: Averaged | Kappa) -> TableStatistic:
    if isinstance(statistic, Kappa):
        return WeightedKappa(statistic.power)
    of, needs = statistic.of, {BOTH, statistic.needs, LABEL}

    def value(counts: Array) -> Array:
        side = ConfusionCounts(size=counts.sum(axis=-1), cells=dict.fromkeys(needs, counts))
        return of.value(side, Profile.DOCUMENTED)

    def parts(counts: Array) -> Array:
        values = value(counts)
        weights = counts[..., 0] + counts[..., 2] if statistic.how is Average.WEIGHTED else 1.0
        weights = np.where(np.isnan(values), 0.0, weights)
        return np.stack([weights * np.where(weights > 0, values, 0.0), weights], axis=-1)

    if statistic.how is Average.MICRO:
        return ClassStatistic(np.asarray, value)
    return ClassStatistic(parts, lambda sums: quotient(sums[..., 0], sums[..., 1]))


MOST_DRAWN = 40_000_000
"""Numbers drawn for one metric; beyond, only the comparisons of all rows are resampled."""
DRAWN_AT_ONCE = 4_000_000
TOO_MANY_GROUPS = Reason.of(ReasonCode.TOO_MANY_GROUPS)


@dataclass(frozen=True, slots=True)
class CellLayout:
    """The confusion cells of a metric, those of one part together, where ``needs`` are known."""

    parts: tuple[Cells, ...]
    needs: frozenset[Need]

    @property
    def key(self) -> str:
        """What is drawn, by which draws are seeded."""
        # A rate and its complement, a difference and a ratio are of one layout, so that one is
        # tested by the draws of the other.
        cells = "|".join("".join(map(str, part)) for part in self.parts)
        return " and ".join([*sorted(self.needs), cells])

    def read(self, side: ConfusionCounts) -> Array:
        counts = side.counts(self.needs)
        return np.stack([part.count(counts) for part in self.parts], axis=-1)

    def write(self, drawn: Array) -> ConfusionCounts:
        counts = np.zeros((len(drawn), 4))
        for i, part in enumerate(self.parts):
            counts[:, next(cell for cell, k in enumerate(part) if k)] = drawn[:, i]
        return ConfusionCounts(size=ALL.count(counts), cells={self.needs: counts})


def _draw_methods(spec: Spec) -> Methods:
    bootstrap = spec.method is Method.BOOTSTRAP
    return (IntervalMethod.BOOTSTRAP if bootstrap else IntervalMethod.JEFFREYS,)


def resampled_statistic(
    statistic: Statistic, table: CellLayout, data: SideData, margin: Mask, spec: Spec
) -> StatisticInterval:
    # Many strata have none, since there are many such statistics. At other critical values than
    # that of the confidence, the distances of the limits are scaled.
    cells = cells_of_side(table, data)
    affordable = len(margin) * cells * spec.replicates <= DRAWN_AT_ONCE
    at = np.arange(len(margin)) if affordable else np.flatnonzero(margin)
    low, high = np.full(len(margin), np.nan), np.full(len(margin), np.nan)

    def of_side(sides: Sequence[ConfusionCounts]) -> Array:
        return statistic.value(sides[0], Profile.DOCUMENTED)

    for block, values, _ in drawn_values(of_side, table, [data], at, spec):
        low[block], high[block] = quantile_interval(values, spec.confidence)
    value = statistic.value(data.side, Profile.DOCUMENTED)
    with np.errstate(invalid="ignore"):
        below, above = np.maximum(value - low, 0.0), np.maximum(high - value, 0.0)

    def limits(z: Array) -> Limits:
        times = z / critical(spec.confidence)
        with np.errstate(invalid="ignore"):
            scaled = value - times * below, value + times * above
        return np.where(np.isinf(value), low, scaled[0]), np.where(np.isinf(high), high, scaled[1])

    rows = data.unclustered_rows(statistic.size)
    return StatisticInterval(value, rows, limits, _draw_methods(spec), reason=TOO_MANY_GROUPS)


def drawn_values(
    value: Callable[[Sequence[ConfusionCounts]], Array],
    table: CellLayout,
    sides: Sequence[SideData],
    at: Index,
    spec: Spec,
) -> Iterator[tuple[Index, Array, Array]]:
    """Yield comparisons, a number of their tables drawn anew, (replicates, n), and of themselves.

    In blocks that fit into memory. Sides are drawn in an order that does not depend on which is
    the group.
    """
    step = max(1, DRAWN_AT_ONCE // (spec.replicates * cells_of_side(table, sides[0])))
    draw = multinomial_cells if spec.method is Method.BOOTSTRAP else dirichlet_cells
    every = [table.read(side.side) for side in sides]
    rows = [
        side.unclustered_rows_per_weight(lambda of: table.read(of).sum(axis=1))[:, None]
        for side in sides
    ]
    for start in range(0, len(at), step):
        block = at[start : start + step]
        weights: list[Array] = [per_weight[block] for per_weight in rows]
        flat: list[Array] = [of[block] * each for of, each in zip(every, weights, strict=True)]
        drawn = [np.empty((spec.replicates, *each.shape)) for each in flat]
        for i in range(len(block)):
            order = list(range(len(flat)))
            if len(flat) > 1 and not precedes(flat[0][i], flat[1][i]):
                order = [1, 0]
            rng = generator(spec, table.key, *(flat[side][i] for side in order))
            for side in order:
                drawn[side][:, i] = draw(flat[side][i][None], spec.replicates, rng)[:, 0]
        values = []
        for cells in (drawn, flat):
            counts = (quotient(*each) for each in zip(cells, weights, strict=True))
            written = [table.write(count.reshape(-1, count.shape[-1])) for count in counts]
            values.append(value(written).reshape(cells[0].shape[:-1]))
        yield block, values[0], values[1]


def cells_of_side(table: CellLayout, data: SideData) -> int:
    """Return how many cells are drawn for each comparison."""
    cells = int(table.read(data.side).shape[1])
    if not cells:
        raise NoInterval(ReasonCode.NEEDS_COLUMNS, columns="label and prediction")
    return cells


def table_of(statistic: Statistic) -> CellLayout | None:
    """Return the cells of a statistic of counts; None where it is not one of counts.

    Cells that have the same coefficient in every sum are one; those in none are none.
    """
    distinct: dict[tuple[int, ...], Cells] = {}
    for i, cell in enumerate((TP, FP, FN, TN)):
        pattern = tuple(each[i] for each in statistic.sums)
        if any(pattern):
            distinct[pattern] = distinct.get(pattern, Cells()) + cell
    return CellLayout(tuple(distinct.values()), statistic.needs) if distinct else None


_FEWEST_DRAWS = 500


def resampled_interval(
    metric: ComparisonMetric,
    table: CellLayout,
    compared: Comparisons,
    spec: Spec,
    too_few: Sequence[Reason | None],
) -> Intervals:
    """Return the interval of a metric from its values over drawn tables; it contains its value."""
    size = len(compared.margin)
    cells = cells_of_side(table, compared.group)
    at = resampled_comparisons(compared, cells, spec)
    low, high, p = (np.full(size, np.nan) for _ in range(3))
    fitting = MOST_DRAWN // max(len(at) * cells, 1)
    spec = replace(spec, replicates=min(spec.replicates, max(fitting, _FEWEST_DRAWS)))
    sides = (compared.group,) if metric.scope == "table" else (compared.group, compared.other)

    def value(written: Sequence[ConfusionCounts]) -> Array:
        ours, theirs = written[0], written[-1]
        if compared.rest is not None and len(written) > 1:  # the reference holds the group's rows
            theirs = table.write(table.read(theirs) + table.read(ours))
        return metric.value(ours, theirs, Profile.DOCUMENTED)

    for block, values, estimate in drawn_values(value, table, sides, at, spec):
        limits = quantile_interval(values, spec.confidence)
        low[block], high[block] = np.fmin(limits[0], estimate), np.fmax(limits[1], estimate)
        if metric.range[0] < metric.neutral < metric.range[1]:  # else no draw is beyond it
            p[block] = tail_p(values, metric.neutral)
    return Intervals(low, high, p, [_draw_methods(spec)] * size, too_few, TOO_MANY_GROUPS)


def resampled_comparisons(compared: Comparisons, cells: int, spec: Spec) -> Index:
    """Return which comparisons are resampled: all, or those of all rows where that is too much."""
    size = len(compared.margin)
    if size * cells * spec.replicates <= MOST_DRAWN:
        return np.arange(size)
    return np.flatnonzero(compared.margin)
