"""Intervals of statistics of all classes: averages over classes, and Cohen's kappa.

They are functions of the table of labels and predictions, whose variance follows from the
influence of each row (`stats.multinomial`). An average that is made of the share of rows whose
prediction is their label, and of nothing else, has the interval of that share: equal statistics
have one interval, whatever they are called.
"""

from __future__ import annotations

import numpy as np

from fairgauge.catalogue.cells import (
    ALL,
    BOTH,
    FN,
    LABEL,
    PREDICTION,
    TP,
    Array,
    ConfusionCounts,
    Need,
)
from fairgauge.catalogue.statistics import (
    Averaged,
    Blend,
    Kappa,
    Quotient,
    Rate,
    Statistic,
    agreement,
)
from fairgauge.enums import Average, IntervalMethod, Profile
from fairgauge.inference.interval import (
    Comparisons,
    Count,
    NoInterval,
    Shape,
    SideData,
    Sparseness,
    StatisticInterval,
)
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.arrays import Limits
from fairgauge.stats.multinomial import (
    ClassStatistic,
    WeightSums,
    linearise,
    linearised_interval,
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
        side = ConfusionCounts(
            size=np.ones(right.shape), cells=_known_cells(cells, {BOTH, statistic.of.needs})
        )
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


def check_both_known(data: SideData) -> None:
    """Raise that there is no interval where labels or predictions are given alone."""
    if not _table(data.side).any():
        raise NoInterval(ReasonCode.NEEDS_COLUMNS, columns="label and prediction")


def class_interval(statistic: Averaged | Kappa, data: SideData) -> StatisticInterval:
    """Return the interval of a statistic of the table of labels and predictions."""
    table, weights = _table(data.side), None
    if data.squares is not None:
        weights = WeightSums(_table(data.squares), _table(data.cases))
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
    group, whole = (_table(side.side) for side in sides)
    squares = [_table(side.squares) for side in sides if side.squares is not None]
    return whole_correlation(of, group, whole, (squares[0], squares[1]) if squares else None)


def _class_sparseness(statistic: Averaged | Kappa, data: SideData) -> Sparseness | None:
    # a macro average rests on its smallest class, kappa on all but the most frequent one
    cases = _table(data.cases)
    sums = np.stack([cases.sum(-1), cases.sum(-2)])  # of labels, and of predictions
    if isinstance(statistic, Kappa):
        minority = cases.sum((-1, -2)) - sums.max((0, -1))
        return Sparseness(ReasonCode.FEW_IN_MINORITY, minority, _FEWEST_IN_CLASS)
    if statistic.how is Average.MACRO:
        return Sparseness(ReasonCode.SPARSE_CLASS, sums.min((0, -1)), _FEWEST_IN_CLASS)
    return None


def _table(side: ConfusionCounts) -> Array:
    if side.joint is not None:
        return side.joint
    tp, fp, fn, tn = np.moveaxis(side.counts(BOTH), -1, 0)
    return np.stack([np.stack([tp, fn], axis=-1), np.stack([fp, tn], axis=-1)], axis=-2)


def _class_statistic(statistic: Averaged | Kappa) -> ClassStatistic:
    needs = {BOTH, statistic.needs, LABEL}

    def value(counts: Array) -> Array:
        flat = counts.reshape(-1, *counts.shape[-2:])
        rows = flat[:, 0].sum(axis=-1)
        classes = tuple(
            ConfusionCounts(size=rows, cells=_known_cells(flat[:, k], needs))
            for k in range(flat.shape[1])
        )
        side = ConfusionCounts(size=rows, cells=classes[0].cells, per_class=classes)
        return statistic.value(side, Profile.DOCUMENTED).reshape(counts.shape[:-2])

    return value


def _known_cells(cells: Array, needs: set[frozenset[Need]]) -> dict[frozenset[Need], Array]:
    tp, fp, fn, tn = np.moveaxis(cells, -1, 0)
    known = {BOTH: cells}
    for margin, positive, negative in ((LABEL, tp + fn, fp + tn), (PREDICTION, tp + fp, fn + tn)):
        if margin in needs:
            known[margin] = np.zeros_like(cells)
            known[margin][..., 0], known[margin][..., 3] = positive, negative
    return known
