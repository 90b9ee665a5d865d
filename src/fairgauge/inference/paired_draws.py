"""Changes of what no closed form describes: values over joint tables drawn from their posterior.

The cells by label and both decisions have a Dirichlet posterior with half a row of prior each. A
statistic (lift) or a metric of both sides (average odds) is computed under either model from every
draw, so that the dependence of the two models is that of the draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.evidence import generator
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.paired_changes import DisparityChanges, Quantity, StatisticChange
from fairgauge.inference.paired_tables import confusion
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import quotient
from fairgauge.stats.significance import two_sided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import ComparisonMetric
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.paired_tables import PairedTable
    from fairgauge.spec.specification import Spec
    from fairgauge.stats.arrays import Limits

_PRIOR = 0.5
_FURTHEST = 3.0
"""Critical value up to which quantiles of the draws are limits; beyond, limits widen as those of a
normal distribution."""
_METHODS = (IntervalMethod.DIRICHLET_POSTERIOR, IntervalMethod.PERCENTILE)


def drawn_change(statistic: Statistic, table: PairedTable, spec: Spec) -> StatisticChange:
    """Return what becomes of a statistic of every side, by draws.

    Raises
    ------
    NoInterval
        There are clusters, or more than two classes.
    """
    old, new = (_value(statistic, margin) for margin in table.margins)
    tables = _drawn(table, spec, statistic.name)
    drawn = [_value(statistic, tables.sum(axis=axis)) for axis in (-1, -2)]
    rows = np.minimum(*(statistic.size(confusion(m, classes=False)) for m in table.margins))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log(each) for each in (old, new, *drawn)]
        difference = _quantity(new - old, drawn[1] - drawn[0])
        return StatisticChange(
            None,
            old,
            new,
            rows,
            difference,
            _quantity(logs[1] - logs[0], logs[3] - logs[2]),
            _quantity(new + old, drawn[1] + drawn[0]),
            _quantity(logs[1] + logs[0], logs[3] + logs[2]),
            _METHODS,
            _METHODS,
            difference.p_value(),
            (_quantity(old, drawn[0]), _quantity(new, drawn[1])),
        )


def drawn_disparity(
    metric: ComparisonMetric, group: PairedTable, reference: PairedTable, spec: Spec
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a metric of two sides that share no row, and its values.

    Raises
    ------
    NoInterval
        There are clusters, or more than two classes.
    """
    tables = [_drawn(side, spec, metric.name) for side in (group, reference)]

    def value(axis: int, sides: list[Array]) -> Array:
        margins = [side.sum(axis=axis) for side in sides]
        flat = [confusion(m.reshape(-1, *m.shape[-2:]), classes=False) for m in margins]
        found = metric.value(flat[0], flat[1], Profile.DOCUMENTED)
        return found.reshape(margins[0].shape[:-2])

    weights = [group.weights, reference.weights]
    old, new = value(-1, weights), value(-2, weights)
    drawn = value(-1, tables), value(-2, tables)
    rows = [side.cases.sum(axis=(1, 2, 3)) for side in (group, reference)]
    made = DisparityChanges(
        _quantity(new - old, drawn[1] - drawn[0]),
        _quantity(new + old, drawn[1] + drawn[0]),
        (rows[0], rows[1]),
        _METHODS,
    )
    return made, (old, new)


def _drawn(table: PairedTable, spec: Spec, name: str) -> Array:
    """Return drawn tables; shape (draws, n, 3, 2, 2)."""
    if table.clusters is not None or table.classes:
        raise NoInterval(ReasonCode.NO_CLUSTER_METHOD if table.clusters else ReasonCode.NO_METHOD,
                         of=name)  # fmt: skip
    unit = quotient(table.weights.sum(axis=(1, 2, 3)), table.squares.sum(axis=(1, 2, 3)))
    counts = table.weights * np.nan_to_num(unit)[:, None, None, None]
    prior = np.full(counts.shape[1:], _PRIOR)
    prior[-1] = 0.0
    rng = generator(spec, name, counts)
    return rng.standard_gamma(counts + prior, (spec.replicates, *counts.shape))


def _value(statistic: Statistic, margin: Array) -> Array:
    flat = margin.reshape(-1, *margin.shape[-2:])
    value = statistic.value(confusion(flat, classes=False), Profile.DOCUMENTED)
    return value.reshape(margin.shape[:-2])


def _quantity(value: Array, drawn: Array) -> Quantity:
    """Return a number with the quantiles of its draws as limits."""
    spread = np.std(drawn, axis=0)

    def at(z: ArrayLike) -> Limits:
        z = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        tails = two_sided(np.minimum(z, _FURTHEST)) / 2
        beyond = np.maximum(z - _FURTHEST, 0.0) * spread
        low = np.array([np.quantile(drawn[:, i], t) for i, t in enumerate(tails)])
        high = np.array([np.quantile(drawn[:, i], 1 - t) for i, t in enumerate(tails)])
        return np.minimum(low, value) - beyond, np.maximum(high, value) + beyond

    return Quantity(value, at)
