"""Changes of a statistic, and of a disparity, between two models on the same rows.

A rate whose denominator does not depend on the decisions (selection rate, accuracy, recall) has
Tango's interval of a difference of paired proportions, with Tang's of their ratio. Any
other statistic (precision, F1, kappa) has MOVER's of the two models' intervals, with the
correlation of the two. A disparity changes by the difference (or ratio) of two such changes.

What is adjusted for strata has the weights of Mantel and Haenszel. A statistic of a side is its
weighted mean over the strata; a difference or a ratio is of two such means. The rows of all strata
are one table, so that clusters may have rows in several strata.

A difference of areas under the ROC curve has DeLong's variance and Student's t with the degrees of
freedom of the rarer label; MOVER's interval of both areas, which their ratio has, covers up to 99 %
of differences. Means of a number of each row (Brier score, log loss, calibration) have Student's t
of the paired differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.averages import Agreement
from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.moments import MomentStatistic
from fairgauge.catalogue.score_statistics import RocAuc, ScoreMean, ScoreStatistic
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import IntervalMethod
from fairgauge.inference.interval import NoInterval, StatisticInterval, each_once
from fairgauge.inference.one.scored import NUMBER_OF_A_ROW, RowNumber
from fairgauge.inference.two.contrast_intervals import mean_over_strata
from fairgauge.inference.two.paired_tables import (
    PairedTable,
    correlation,
    influences,
    of_both,
)
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Limits, Mask, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_shared_difference
from fairgauge.stats.intervals import as_critical_t
from fairgauge.stats.paired import (
    exact_upper,
    paired_areas,
    paired_difference,
    paired_p,
    paired_score_ratio,
)
from fairgauge.stats.scores import area_score_interval
from fairgauge.stats.significance import invert

At: TypeAlias = "Callable[[ArrayLike], Limits]"
"""Limits at a normal critical value."""
_Mover: TypeAlias = "Callable[..., Limits]"
"""The limits of a difference of two numbers with limits, and of their correlation."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number of every side with its limits at any critical value, and its influences.

    Attributes
    ----------
    value : array of shape (n,).
    at : its limits.
    influence : array of the shape of the table: derivatives by its counts; None of scores.
    """

    value: Array
    at: At
    influence: Array | None = None

    def between_halves(self, r: Array) -> Quantity:
        """Return the difference of the first half of the sides to the second; ``r`` correlates."""
        pairs = len(self.value) // 2
        ours, theirs = self.value[:pairs], self.value[pairs:]

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(np.tile(np.broadcast_to(_z(z), pairs), 2))
            return mover_difference(
                ours, low[:pairs], high[:pairs], theirs, low[pairs:], high[pairs:], r
            )

        with np.errstate(invalid="ignore"):
            return Quantity(ours - theirs, at)

    def p_value(self, null: float = 0.0) -> Array:
        """Return the p-value at which the limits just touch the null."""
        return invert(lambda z: self.at(np.broadcast_to(z, self.value.shape)), null)

    def negated(self) -> Quantity:
        """Return the number with the opposite sign."""

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(z)
            return -high, -low

        influence = None if self.influence is None else -self.influence
        return Quantity(-self.value, at, influence)


def student_limits(value: Array, error: Array, degrees: Array) -> At:
    """Return limits by Student's t (normal ones with infinite degrees of freedom)."""

    def at(z: ArrayLike) -> Limits:
        half = as_critical_t(np.broadcast_to(_z(z), value.shape), degrees) * error
        return value - half, value + half

    return at


def constant(value: float, size: int = 1) -> Quantity:
    """Return a number without sampling variation; infinite where it lies on one side alone."""
    every = np.full(size, value)
    return Quantity(every, lambda _: (every, every))


@dataclass(frozen=True, slots=True, eq=False)
class StatisticChange:
    """What becomes of a statistic of every side, from the model in use to the candidate.

    Attributes
    ----------
    table : the rows; None of scores.
    old, new : its value under each model; arrays of shape (n,).
    rows : the effective rows that it rests on, the fewer of both.
    difference, ratio : of new and old; the ratio as a logarithm.
    total, log_total : the sum of new and old, and of their logarithms: on which side of
        "no difference" a disparity lies.
    methods, ratio_methods : how the intervals are made.
    tested : the p-value of no change by a test of its own; None where the limits are inverted.
    models : its value and limits under each model.
    discordant : rows that are decided differently; None of other numbers than rates.
    """

    table: PairedTable | None
    old: Array
    new: Array
    rows: Array
    difference: Quantity
    ratio: Quantity
    total: Quantity
    log_total: Quantity
    methods: tuple[IntervalMethod, ...]
    ratio_methods: tuple[IntervalMethod, ...]
    tested: Array | None
    models: tuple[Quantity, Quantity]
    discordant: Discordant | None = None

    @property
    def p_value(self) -> Array:
        """Return the p-value of no change."""
        return self.difference.p_value() if self.tested is None else self.tested

    def gain_at(self, z: float, margin: float, *, lower: bool) -> tuple[float, float]:
        """Return the limits of the gain of the first side, of which lower numbers may be better.

        An upper limit that is worse than the margin is exact where rows are independent.
        """
        low, high = (float(limit[0]) for limit in self.difference.at(np.array([z])))
        low, high = (-high, -low) if lower else (low, high)
        of = self.discordant
        if high < -margin and of is not None and np.isinf(of.degrees[0]):
            counts = [float(each[0]) for each in (of.gained, of.lost, of.n)]
            gained, lost, n = [counts[1], counts[0], counts[2]] if lower else counts
            high = max(high, exact_upper(gained, lost, n, -margin, NormalDist().cdf(-z)))
        return low, high


def statistic_change(
    statistic: Statistic, table: PairedTable, old: StatisticInterval, new: StatisticInterval
) -> StatisticChange:
    """Return what becomes of a statistic; ``old`` and ``new`` are its intervals by each model."""
    if isinstance(statistic, (ScoreStatistic, MomentStatistic)):
        raise NoInterval(ReasonCode.NOT_OF_DECISIONS, of=statistic.title)
    margins = table.margins
    h_old, h_new = of_both(
        *(influences(statistic, margin, classes=table.classes) for margin in margins)
    )
    models = (
        Quantity(old.estimate, lambda z: old.at(_z(z)), h_old),
        Quantity(new.estimate, lambda z: new.at(_z(z)), h_new),
    )
    methods = each_once(IntervalMethod.MOVER, *new.methods)
    change = change_of_models(table, models, np.minimum(old.n, new.n), methods)
    discordant = discordant_rows(statistic, table)
    return change if discordant is None else change_of_discordant(change, discordant)


def change_of_models(
    table: PairedTable,
    models: tuple[Quantity, Quantity],
    rows: Array,
    methods: tuple[IntervalMethod, ...],
) -> StatisticChange:
    """Return what becomes of a statistic, from it under both models and their correlation.

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER of correlated numbers); errors
    that both models share are subtracted on the same side.
    """
    h_old, h_new = (model.influence for model in models)
    assert h_old is not None
    assert h_new is not None
    var_old, var_new, both = (
        table.covariance(a, b, smoothed=True)
        for a, b in ((h_old, h_old), (h_new, h_new), (h_old, h_new))
    )
    r = correlation(both, var_old, var_new)
    return correlated_change(models, r, rows, methods, mover_shared_difference, table)


def correlated_change(
    models: tuple[Quantity, Quantity],
    r: Array,
    rows: Array,
    methods: tuple[IntervalMethod, ...],
    mover: _Mover,
    table: PairedTable | None = None,
) -> StatisticChange:
    """Return what becomes of a number, from its limits under both models and their correlation."""
    logs = (logarithm(models[0]), logarithm(models[1]))

    def joined(pair: tuple[Quantity, Quantity], sign: int, *, equal_is_0: bool = False) -> Quantity:
        """Return new plus or less old; a sum is the difference to the negative of the old one."""
        old, new = pair

        def at(z: ArrayLike) -> Limits:
            low, high = old.at(z)
            if sign > 0:
                low, high = -high, -low
            return mover(new.value, *new.at(z), -sign * old.value, low, high, -sign * r)

        with np.errstate(invalid="ignore"):
            value = new.value + sign * old.value
            if equal_is_0:  # also of logarithms of 0
                value = _equal(new.value, old.value)
            if new.influence is None or old.influence is None:
                return Quantity(value, at)
            return Quantity(value, at, new.influence + sign * old.influence)

    return StatisticChange(
        table, models[0].value, models[1].value, rows,
        joined(models, -1), joined(logs, -1, equal_is_0=True), joined(models, 1), joined(logs, 1),
        methods, methods, None, models,
    )  # fmt: skip


@quiet
def logarithm(of: Quantity) -> Quantity:
    """Return the logarithm of a number; its influences are 0 where it is infinite."""
    influence = of.influence
    if influence is not None:
        influence = np.nan_to_num(
            quotient(influence, of.value[:, None, None, None]), posinf=0.0, neginf=0.0
        )
    return Quantity(np.log(of.value), lambda z: logs_of(of.at(z)), influence)


def change_of_discordant(
    change: StatisticChange, discordant: Discordant, *stratified: IntervalMethod
) -> StatisticChange:
    """Return the change of a rate of the same rows, by the rows that are decided differently."""
    clustered = np.isfinite(discordant.degrees).any()
    first = (*([IntervalMethod.CLUSTER_ROBUST] if clustered else []), *stratified)
    return replace(
        change,
        rows=discordant.n,
        difference=replace(change.difference, at=discordant.difference),
        ratio=replace(change.ratio, at=discordant.log_ratio),
        discordant=discordant,
        methods=(*first, IntervalMethod.SCORE),
        ratio_methods=(*first, IntervalMethod.SCORE),
        tested=discordant.p_value(),
    )


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

    def difference(self, z: ArrayLike) -> Limits:
        """Return Tango's limits."""
        return paired_difference(self.gained, self.lost, self.n, self._critical(z))

    def p_value(self) -> Array | None:
        """Return McNemar's p-value of no difference; None where rows are clustered."""
        independent = np.isinf(self.degrees).all()
        return paired_p(self.gained, self.lost) if independent else None

    def log_ratio(self, z: ArrayLike) -> Limits:
        """Return the logarithms of Tang's limits."""
        counts = self.both, self.gained, self.lost, self.n
        return logs_of(paired_score_ratio(*counts, self._critical(z)))

    def _critical(self, z: ArrayLike) -> Array:
        return as_critical_t(np.broadcast_to(_z(z), self.n.shape), self.degrees)


@quiet
def discordant_rows(
    statistic: Statistic, table: PairedTable, share: Array | None = None
) -> Discordant | None:
    """Return the rows of a rate that are decided differently; None of other statistics.

    With ``share``, of shape (n, strata), the sides of the table are the strata of every side one
    after another, and the rows of a stratum count by its share.
    """
    inside = _of_same_rows(statistic, table)
    if inside is None:
        return None
    of, among = inside  # (C + 1, C), (C + 1,)
    old, new = of[:, :, None], of[:, None, :]
    counted = np.broadcast_to(among[:, None, None], table.weights.shape[1:])
    single = share is None
    shares = np.ones((len(table.weights), 1)) if share is None else share

    def weight(cells: Mask) -> Array:
        total: Array = (table.weights * (cells & counted)).sum(axis=(1, 2, 3))
        return total.reshape(shares.shape)

    n = weight(np.broadcast_to(True, counted.shape))
    of_each = np.where(shares > 0, shares / n, 0.0)
    both, gained, lost = (
        (of_each * weight(cells)).sum(axis=1) for cells in (old & new, new & ~old, old & ~new)
    )
    within = np.nan_to_num((weight(new & ~old) - weight(old & ~new)) / n)
    # the influence of a row on the change: its own change, less the mean of its stratum
    own = new.astype(float) - old.astype(float) - within.reshape(-1, 1, 1, 1)
    of_rows = np.where(counted, of_each.reshape(-1, 1, 1, 1), 0.0)
    joined = table.joined(shares.shape[1])
    effective, degrees = _effective_rows(
        joined,
        of_rows.reshape(joined.weights.shape),
        np.broadcast_to(own, table.weights.shape).reshape(joined.weights.shape),
        (gained + lost - (gained - lost) ** 2) * (gained + lost > 0),
    )
    if single and table.clusters is None and (table.squares == table.weights).all():
        effective = n[:, 0]
    both, gained, lost = (np.nan_to_num(part * effective) for part in (both, gained, lost))
    return Discordant(both, gained, lost, effective, degrees)


def _effective_rows(
    table: PairedTable, of_rows: Array, own: Array, spread: Array
) -> tuple[Array, Array]:
    """Return the independent rows that a change rests on, and the degrees of freedom of its t.

    They have the variance of the change where one row has ``spread``: Kish's number where no row
    changes, and at most the geometric mean of both, because few discordant rows show too little of
    the spread of their weights.
    """
    kish = quotient(1.0, (table.squares * of_rows**2).sum(axis=(1, 2, 3)))
    variance = table.correction * table.covariance(of_rows * own, of_rows * own)
    rows = quotient(spread, variance)
    rows = np.where(rows > kish, np.sqrt(rows * kish), rows)
    rows = np.where((spread > 0) & np.isfinite(rows), rows, kish)
    return np.where(np.isfinite(rows), rows, 0.0), table.degrees


def _of_same_rows(statistic: Statistic, table: PairedTable) -> tuple[Mask, Mask] | None:
    """Return which cells are inside a rate, and which labels are among its rows.

    None of statistics whose denominator depends on the decisions.
    """
    outcomes = table.weights.shape[-1]
    if isinstance(statistic, Agreement):
        labels = np.arange(outcomes + 1)
        return labels[:, None] == np.arange(outcomes), labels < outcomes
    if not isinstance(statistic, Rate) or table.classes:
        return None
    positive, negative, missed, _ = statistic.among
    if statistic.among.needs - {"label"} or positive != missed:
        return None
    tp, fp, fn, tn = statistic.of
    of = np.array([[tp, fn], [fp, tn], [tp, tn]], dtype=bool)
    among = np.array([positive, negative, "label" not in statistic.needs], dtype=bool)
    return of & among[:, None], among


@dataclass(frozen=True, slots=True, eq=False)
class DisparityChanges:
    """What becomes of a disparity, in every comparison.

    Attributes
    ----------
    shift : the change of the disparity: new less old; of ratios, of their logarithms.
    level : the sum of both disparities, whose sign is the side of "no difference" that both lie on.
    models : the disparity under each model, where it may change sides.
    rows : effective rows of group and reference.
    """

    shift: Quantity
    level: Quantity
    rows: tuple[Array, Array]
    methods: tuple[IntervalMethod, ...]
    models: tuple[Quantity, Quantity] | None = None

    def crossing_p(self) -> Array:
        """Return the p-value of not changing sides: of the less certain of both sides; else 1."""
        never = np.ones_like(self.shift.value)
        if self.models is None:
            return never
        old, new = self.models
        crossed = np.sign(old.value) * np.sign(new.value) < 0
        if not crossed.any():
            return never
        return np.where(crossed, np.maximum(old.p_value(), new.p_value()), 1.0)

    def p_values(self) -> tuple[Array, Array]:
        """Return the p-values of no change, and of a distance that does not change."""
        of_shift = self.shift.p_value()
        return of_shift, np.maximum(of_shift, self.level.p_value())

    def distance_tested_at(self, z: ArrayLike) -> Limits:
        """Return the limits of the change of that distance that agree with the p-value."""
        return distance_limits(self.shift.at(z), self.level.at(z))


def disparity_changes(
    metric: Contrast, sides: StatisticChange, *, inside: bool
) -> DisparityChanges:
    """Return what becomes of a contrast.

    ``sides`` holds all groups and then the reference of each; ``inside`` is whether a reference
    holds its group.
    """
    by_ratio = metric.by == "ratio"
    made = []
    models = [logarithm(of) for of in sides.models] if by_ratio else sides.models
    both = (sides.ratio, sides.log_total) if by_ratio else (sides.difference, sides.total)
    for of in (*both, *models):
        quantity = of.between_halves(correlation_of_halves(sides.table, of, inside=inside))
        made.append(quantity if metric.order == "group - reference" else quantity.negated())
    methods = sides.ratio_methods if by_ratio else sides.methods
    pairs = len(sides.rows) // 2
    rows = (sides.rows[:pairs], sides.rows[pairs:])
    methods = each_once(IntervalMethod.MOVER, *methods)
    return DisparityChanges(made[0], made[1], rows, methods, (made[2], made[3]))


def correlation_of_halves(table: PairedTable | None, of: Quantity, *, inside: bool) -> Array:
    """Return the correlation of a number of two sides, in halves: 0 where they share no rows."""
    pairs = len(of.value) // 2
    if not inside and (table is None or table.clusters is None):
        return np.zeros(pairs)
    if table is None or of.influence is None:
        raise NoInterval(ReasonCode.SHARED_ROWS, of="group and reference")
    first, second = slice(None, pairs), slice(pairs, None)
    one, two = table.part(first), table.part(second)
    ours, theirs = of.influence[first], of.influence[second]
    shared = one.covariance(ours, theirs, other=two)
    return correlation(shared, one.covariance(ours, ours), two.covariance(theirs, theirs))


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
    >>> shift, level = (np.array(0.02), np.array(0.06)), (np.array(-0.4), np.array(-0.2))
    >>> low, high = distance_limits(shift, level)
    >>> float(low), float(high)
    (-0.06, -0.02)
    """
    corners = np.stack([distance(x, y) for x in shift for y in level])
    return np.asarray(corners.min(axis=0)), np.asarray(corners.max(axis=0))


def distance(shift: Array, level: Array) -> Array:
    """Return ``|new| - |old|`` from their difference and sum."""
    with np.errstate(invalid="ignore"):
        nearer = np.minimum(np.abs(shift), np.abs(level))
        return np.asarray(np.sign(shift) * np.sign(level) * nearer)


def _z(z: ArrayLike) -> Array:
    return np.asarray(z, dtype=float)


def _equal(one: Array, two: Array) -> Array:
    """Return the difference; 0 of two infinities of one sign."""
    return np.where(one == two, np.where(np.isinf(one), np.nan, 0.0), one - two)


@quiet
def logs_of(limits: Limits) -> Limits:
    """Return the logarithms of limits of a number that is not negative."""
    low, high = limits
    return np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))


def pooled_change(
    statistic: Statistic, change: StatisticChange, weights: tuple[Array, Array]
) -> StatisticChange:
    """Return what becomes of the weighted mean over strata of a statistic.

    Parameters
    ----------
    change : of the strata of each side one after another.
    weights : arrays of shape (sides, strata)
        Of the strata under the model in use and under the candidate, 0 where one is excluded.

    References
    ----------
    Greenland & Robins (1985), Biometrics 41, 55-68 (the weights); Zou & Donner (2008), Statistics
    in Medicine 27, 1693-1702 (MOVER).
    """
    assert change.table is not None
    shares = [quotient(weight, weight.sum(axis=1, keepdims=True)) for weight in weights]
    joined = change.table.joined(shares[0].shape[1])
    old, new = (_mean(of, share, joined) for of, share in zip(change.models, shares, strict=True))
    rows = np.where(shares[0] > 0, change.rows.reshape(shares[0].shape), 0.0).sum(axis=1)
    methods = (IntervalMethod.STRATIFIED, *change.methods)
    pooled = change_of_models(joined, (old, new), rows, methods)
    discordant = discordant_rows(statistic, change.table, shares[0])
    if discordant is None:
        return pooled
    return change_of_discordant(pooled, discordant, IntervalMethod.STRATIFIED)


def _mean(of: Quantity, share: Array, joined: PairedTable) -> Quantity:
    assert of.influence is not None
    value, distances = mean_over_strata(of.value, of.at, share)
    influence = (share.reshape(-1, 1, 1, 1) * of.influence).reshape(joined.weights.shape)
    degrees, correction = joined.degrees, joined.correction
    error = np.sqrt(correction * joined.covariance(influence, influence))

    def at(z: ArrayLike) -> Limits:
        critical = np.broadcast_to(np.asarray(z, dtype=float), value.shape)
        below, above = distances(critical)
        with np.errstate(invalid="ignore"):
            usual = np.sqrt((below**2 + above**2) / 2)
        # limits of thin strata are too close to the middle; clusters may have rows in several
        wider = quotient(as_critical_t(critical, degrees) * error, usual)
        wider = np.maximum(np.nan_to_num(wider), 1.0)
        return value - wider * below, value + wider * above

    return Quantity(value, at, influence)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """The rows of one side with a label and both scores; arrays of shape (rows,)."""

    label: Mask
    old: Array
    new: Array


def score_change(statistic: ScoreStatistic, sides: Sequence[ScoredRows]) -> StatisticChange:
    """Return what becomes of a statistic of scores of every side."""
    if isinstance(statistic, RocAuc):
        return _areas(sides)
    if isinstance(statistic, ScoreMean):
        return _means(NUMBER_OF_A_ROW[statistic.of], sides)
    raise NoInterval(ReasonCode.NO_PAIRED_METHOD, of=statistic.title)


def _areas(sides: Sequence[ScoredRows]) -> StatisticChange:
    found = [paired_areas(side.label, side.old, side.new) for side in sides]
    r = np.array([each.correlation for each in found])
    areas = [[each.old for each in found], [each.new for each in found]]

    def limits(which: int) -> Callable[[ArrayLike], Limits]:
        of = areas[which]
        area, positives, negatives = (
            np.array([float(getattr(each, name)) for each in of])
            for name in ("area", "positives", "negatives")
        )
        parts = tuple(np.array([float(each.variances[i]) for each in of]) for i in range(2))

        def at(z: ArrayLike) -> Limits:
            return area_score_interval(area, (parts[0], parts[1]), positives, negatives, z)

        return at

    old, new = (np.array([float(each.area) for each in of]) for of in areas)
    rows = np.array([float(min(each.positives, each.negatives)) for each in areas[0]])
    methods = (IntervalMethod.MOVER, IntervalMethod.DELONG)
    models = (Quantity(old, limits(0)), Quantity(new, limits(1)))
    made = correlated_change(models, r, rows, methods, mover_difference)
    errors = np.array([math.sqrt(each.difference_variance) for each in found])

    by_student = student_limits(made.difference.value, errors, rows - 1)

    def paired(z: ArrayLike) -> Limits:
        low, high = made.difference.at(z)
        below, above = by_student(z)
        known = errors > 0  # areas of 1 do not vary, though their difference may
        return (
            np.where(known, np.maximum(below, -1.0), low),
            np.where(known, np.minimum(above, 1.0), high),
        )

    difference = Quantity(made.difference.value, paired)
    own = (IntervalMethod.DELONG, IntervalMethod.STUDENT_T)
    return replace(made, difference=difference, methods=own)


def _means(of: RowNumber, sides: Sequence[ScoredRows]) -> StatisticChange:
    both = [np.stack([of(side.old, side.label), of(side.new, side.label)]) for side in sides]
    rows = np.array([float(each.shape[1]) for each in both])
    spread = np.array([np.cov(each) if each.shape[1] > 1 else np.full((2, 2), np.nan)
                       for each in both])  # fmt: skip
    old, new = (
        np.array([each[i].mean() if each.shape[1] else np.nan for each in both]) for i in range(2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        r = spread[:, 0, 1] / np.sqrt(spread[:, 0, 0] * spread[:, 1, 1])
        errors = [np.sqrt(spread[:, i, i] / rows) for i in range(2)]
        paired = np.sqrt(
            np.maximum(spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1], 0.0) / rows
        )

    models = (
        Quantity(old, student_limits(old, errors[0], rows - 1)),
        Quantity(new, student_limits(new, errors[1], rows - 1)),
    )
    methods = (IntervalMethod.STUDENT_T,)
    made = correlated_change(models, np.nan_to_num(r), rows, methods, mover_difference)
    difference = Quantity(new - old, student_limits(new - old, paired, rows - 1))
    return replace(made, difference=difference)
