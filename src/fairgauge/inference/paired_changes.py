"""Changes of a statistic, and of a disparity, between two models on the same rows.

A rate whose denominator does not depend on the decisions (selection rate, accuracy, recall) has
Tango's interval of a difference of paired proportions, with Bonett and Price's of their ratio. Any
other statistic (precision, F1, kappa) has MOVER's of the two models' intervals, with the
correlation of the two. A disparity changes by the difference (or ratio) of two such changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fairgauge.catalogue.averages import Agreement
from fairgauge.catalogue.moments import MomentStatistic
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval
from fairgauge.inference.paired_tables import PairedTable, correlation, influences, of_both
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Limits, quiet, quotient
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import as_critical_t, paired_ratio
from fairgauge.stats.paired import paired_difference

if TYPE_CHECKING:
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Contrast
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.interval import StatisticInterval

At: TypeAlias = Callable[[np.typing.ArrayLike], Limits]
"""Limits at a normal critical value."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number of every side with its limits at any critical value, and its influences.

    Attributes
    ----------
    value : array of shape (n,).
    at : its limits.
    influence : array of the shape of the table: derivatives by its counts.
    """

    value: Array
    at: At
    influence: Array

    def less(self, other: Quantity, r: Array) -> Quantity:
        """Return the difference to the same number of another side; ``r`` correlates the two."""

        def at(z: np.typing.ArrayLike) -> Limits:
            return mover_difference(self.value, *self.at(z), other.value, *other.at(z), r)

        with np.errstate(invalid="ignore"):
            return Quantity(self.value - other.value, at, self.influence)

    def negated(self) -> Quantity:
        """Return the number with the opposite sign."""

        def at(z: np.typing.ArrayLike) -> Limits:
            low, high = self.at(z)
            return -high, -low

        return Quantity(-self.value, at, -self.influence)


@dataclass(frozen=True, slots=True, eq=False)
class StatisticChange:
    """What becomes of a statistic of every side, from the model in use to the candidate.

    Attributes
    ----------
    table : the rows.
    old, new : its value under each model; arrays of shape (n,).
    rows : the effective rows that it rests on, the fewer of both.
    difference, ratio : of new and old; the ratio as a logarithm.
    total, log_total : the sum of new and old, and of their logarithms: on which side of
        "no difference" a disparity lies.
    methods, ratio_methods : how the intervals are made.
    """

    table: PairedTable
    old: Array
    new: Array
    rows: Array
    difference: Quantity
    ratio: Quantity
    total: Quantity
    log_total: Quantity
    methods: tuple[IntervalMethod, ...]
    ratio_methods: tuple[IntervalMethod, ...]


def statistic_change(
    statistic: Statistic, table: PairedTable, old: StatisticInterval, new: StatisticInterval
) -> StatisticChange:
    """Return what becomes of a statistic; ``old`` and ``new`` are its intervals by each model.

    Raises
    ------
    NoInterval
        The counts of decisions do not hold it.
    """
    if isinstance(statistic, (ScoreStatistic, MomentStatistic)):
        raise NoInterval(ReasonCode.NOT_OF_DECISIONS, of=statistic.title)
    margins = table.margins
    h_old, h_new = of_both(
        *(influences(statistic, margin, classes=table.classes) for margin in margins)
    )
    var_old, var_new, both = (
        table.covariance(a, b, smoothed=True)
        for a, b in ((h_old, h_old), (h_new, h_new), (h_old, h_new))
    )
    r = correlation(both, var_old, var_new)

    def paired(z: np.typing.ArrayLike) -> Limits:
        return mover_difference(new.estimate, *new.at(_z(z)), old.estimate, *old.at(_z(z)), r)

    def summed(z: np.typing.ArrayLike) -> Limits:
        low, high = old.at(_z(z))
        return mover_difference(new.estimate, *new.at(_z(z)), -old.estimate, -high, -low, -r)

    with np.errstate(divide="ignore", invalid="ignore"):
        log_old, log_new = np.log(old.estimate), np.log(new.estimate)
        to_logs = [quotient(h, value[:, None, None, None]) for h, value in
                   ((h_old, old.estimate), (h_new, new.estimate))]  # fmt: skip
    l_old, l_new = (np.nan_to_num(each, posinf=0.0, neginf=0.0) for each in to_logs)

    def logs(sign: int) -> At:
        def at(z: np.typing.ArrayLike) -> Limits:
            low, high = _logs(old.at(_z(z)))
            if sign > 0:
                low, high = -high, -low
            return mover_difference(log_new, *_logs(new.at(_z(z))), -sign * log_old, low, high,
                                    -sign * r)  # fmt: skip

        return at

    with np.errstate(invalid="ignore"):
        difference = Quantity(new.estimate - old.estimate, paired, h_new - h_old)
        ratio = Quantity(_equal(log_new, log_old), logs(-1), l_new - l_old)
        total = Quantity(new.estimate + old.estimate, summed, h_new + h_old)
        log_total = Quantity(log_new + log_old, logs(1), l_new + l_old)
    methods = (IntervalMethod.PAIRED_MOVER, *new.methods)
    ratio_methods = methods
    rows = np.minimum(old.n, new.n)
    discordant = _discordant(statistic, table)
    if discordant is not None:
        difference = Quantity(difference.value, discordant.difference, difference.influence)
        ratio = Quantity(ratio.value, discordant.log_ratio, ratio.influence)
        rows = discordant.n
        clustered = (IntervalMethod.CLUSTER_ROBUST,) if table.clusters is not None else ()
        methods = (*clustered, IntervalMethod.TANGO)
        ratio_methods = (*clustered, IntervalMethod.BONETT_PRICE)
    return StatisticChange(
        table, old.estimate, new.estimate, rows, difference, ratio, total, log_total,
        methods, ratio_methods,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Discordant:
    """Rows of a rate, by the effective sample size: in it under both models, or under one of both.

    Attributes
    ----------
    both, gained, lost : rows in the rate under both, under the candidate alone, under the model in
        use alone.
    n : all rows of its denominator.
    degrees : of Student's t; inf where rows are independent.
    """

    both: Array
    gained: Array
    lost: Array
    n: Array
    degrees: Array

    def difference(self, z: np.typing.ArrayLike) -> Limits:
        """Return Tango's limits."""
        return paired_difference(self.gained, self.lost, self.n, self._critical(z))

    def log_ratio(self, z: np.typing.ArrayLike) -> Limits:
        """Return the logarithms of Bonett and Price's limits."""
        return _logs(paired_ratio(self.both, self.gained, self.lost, self._critical(z)))

    def _critical(self, z: np.typing.ArrayLike) -> Array:
        known = np.isfinite(self.degrees)
        z = np.broadcast_to(np.asarray(z, dtype=float), self.n.shape)
        return np.where(known, as_critical_t(z, np.where(known, self.degrees, 1.0)), z)


def discordant_rows(statistic: Statistic, table: PairedTable) -> Discordant | None:
    """Return the rows of a rate that both models have in its denominator; None of other rates."""
    return _discordant(statistic, table)


@quiet
def _discordant(statistic: Statistic, table: PairedTable) -> Discordant | None:
    inside = _of_same_rows(statistic, table)
    if inside is None:
        return None
    of, among = inside  # (C + 1, C), (C + 1,)
    old, new = of[:, :, None], of[:, None, :]
    counted = np.broadcast_to(among[:, None, None], table.weights.shape[1:])

    def weight(cells: Array) -> Array:
        total: Array = (table.weights * (cells & counted)).sum(axis=(1, 2, 3))
        return total

    both, gained, lost = weight(old & new), weight(new & ~old), weight(old & ~new)
    n = weight(np.broadcast_to(True, counted.shape))
    change = (gained - lost) / n
    # the influence of a row on the change: its own change, less the mean
    influence = (
        counted
        * (new.astype(float) - old.astype(float) - change[:, None, None, None])
        / n[:, None, None, None]
    )
    variance = table.covariance(influence, influence)
    of_rows = counted / n[:, None, None, None]
    degrees = np.full(len(n), np.inf)
    if table.clusters is None:
        kish = 1 / (table.squares * of_rows**2).sum(axis=(1, 2, 3))
    else:
        held = table.clusters_held()
        variance = variance * np.where(held > 1, held / (held - 1), np.inf)
        kish = np.full(len(n), np.inf)
        kish = np.minimum(1 / (table.squares * of_rows**2).sum(axis=(1, 2, 3)), kish)
        degrees = np.maximum(held - 1, 1.0)
    effective = ((gained + lost) / n - change**2) / variance
    # few discordant rows show too little of the spread of their weights
    effective = np.where(effective > kish, np.sqrt(effective * kish), effective)
    effective = np.where((gained + lost > 0) & np.isfinite(effective), effective, kish)
    effective = np.where(n > 0, np.nan_to_num(effective, posinf=0.0), 0.0)
    if table.clusters is None and (table.squares == table.weights).all():
        effective = n
    scale = np.where(n > 0, np.nan_to_num(effective / n), 0.0)
    return Discordant(both * scale, gained * scale, lost * scale, effective, degrees)


def _of_same_rows(statistic: Statistic, table: PairedTable) -> tuple[Array, Array] | None:
    """Return which cells are inside a rate, and which labels are among its rows.

    None of statistics whose denominator depends on the decisions.
    """
    outcomes = table.weights.shape[-1]
    if isinstance(statistic, Agreement):
        labels = np.arange(outcomes + 1)
        return labels[:, None] == np.arange(outcomes), labels < outcomes
    if not isinstance(statistic, Rate) or table.classes or "prediction" in statistic.among.needs:
        return None
    (tp, fp, fn, tn), (positive, negative, *_) = statistic.of.coefficients, _labels(statistic)
    of = np.array([[tp, fn], [fp, tn], [tp, tn]], dtype=bool)
    known = "label" not in statistic.needs
    among = np.array([positive, negative, known], dtype=bool)
    return of & among[:, None], among


def _labels(statistic: Rate) -> tuple[bool, bool]:
    tp, fp, _, _ = statistic.among.coefficients
    return bool(tp), bool(fp)


@dataclass(frozen=True, slots=True, eq=False)
class DisparityChanges:
    """What becomes of a disparity, in every comparison.

    Attributes
    ----------
    shift : the change of the disparity: new less old; of ratios, of their logarithms.
    level : the sum of both disparities, whose sign is the side of "no difference" that both lie on.
    rows : effective rows of group and reference.
    """

    shift: Quantity
    level: Quantity
    rows: tuple[Array, Array]
    methods: tuple[IntervalMethod, ...]


def disparity_changes(
    metric: Contrast, group: StatisticChange, reference: StatisticChange, *, inside: bool
) -> DisparityChanges:
    """Return what becomes of a contrast; ``inside`` is whether the reference holds the group."""
    by_ratio = metric.by == "ratio"
    names = ("ratio", "log_total") if by_ratio else ("difference", "total")
    made = []
    for name in names:
        ours: Quantity = getattr(group, name)
        theirs: Quantity = getattr(reference, name)
        r = _correlation_of_sides(group.table, ours, reference.table, theirs, inside=inside)
        quantity = ours.less(theirs, r)
        made.append(quantity if metric.order == "group - reference" else quantity.negated())
    methods = group.ratio_methods if by_ratio else group.methods
    rows = (group.rows, reference.rows)
    return DisparityChanges(made[0], made[1], rows, (IntervalMethod.MOVER, *methods))


def _correlation_of_sides(
    one: PairedTable, ours: Quantity, two: PairedTable, theirs: Quantity, *, inside: bool
) -> Array:
    """Return the correlation of the same number of two sides: 0 where they share no rows."""
    if one.clusters is None and not inside:
        return np.zeros(len(one.weights))
    shared = one.covariance(ours.influence, theirs.influence, other=two)
    var_one = one.covariance(ours.influence, ours.influence)
    var_two = two.covariance(theirs.influence, theirs.influence)
    return correlation(shared, var_one, var_two)


def distance_limits(shift: Limits, level: Limits) -> Limits:
    """Return the limits of the change of a distance from 0: ``|new| - |old|``.

    With the shift x = new - old and the level y = new + old, it is sign(x y) min(|x|, |y|). Over
    limits of x and of y that is greatest and least at their corners. That a candidate is closer to
    0 is so accepted only where x and y both differ from 0, with opposite signs: an
    intersection-union test.

    References
    ----------
    Berger & Hsu (1996), Statistical Science 11, 283-319.

    Examples
    --------
    >>> near, far = (np.array(0.02), np.array(0.06)), (np.array(-0.4), np.array(-0.2))
    >>> low, high = distance_limits(near, far)
    >>> float(low), float(high)
    (-0.06, -0.02)
    """
    corners = np.stack([_distance(x, y) for x in shift for y in level])
    return np.asarray(corners.min(axis=0)), np.asarray(corners.max(axis=0))


def distance(shift: Array, level: Array) -> Array:
    """Return ``|new| - |old|`` from their difference and sum."""
    return _distance(shift, level)


def _distance(x: Array, y: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sign(x) * np.sign(y) * np.minimum(np.abs(x), np.abs(y)))


def _z(z: np.typing.ArrayLike) -> Array:
    return np.asarray(z, dtype=float)


def _equal(one: Array, two: Array) -> Array:
    """Return the difference; 0 of two infinities of one sign."""
    return np.where(one == two, np.where(np.isinf(one), np.nan, 0.0), one - two)


@quiet
def _logs(limits: Limits) -> Limits:
    low, high = limits
    return np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))
