"""Changes of a statistic, and of a disparity, between two models on the same rows.

A rate whose denominator does not depend on the decisions (selection rate, accuracy, recall) has
Tango's interval of a difference of paired proportions, with Tang's of their ratio. Any
other statistic (precision, F1, kappa) has MOVER's of the two models' intervals, with the
correlation of the two. A disparity changes by the difference (or ratio) of two such changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.cells import BOTH, Array, ConfusionCounts, Need
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.score_statistics import MomentStatistic, ScoreStatistic
from fairgauge.catalogue.statistics import Agreement, Rate, Statistic
from fairgauge.enums import IntervalMethod, Profile
from fairgauge.inference.interval import NoInterval, StatisticInterval, unique_methods
from fairgauge.reasons import ReasonCode
from fairgauge.resolve.references import cells_of_states
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quiet, quotient
from fairgauge.stats.contrasts import mover_difference, mover_shared_difference
from fairgauge.stats.intervals import t_from_z
from fairgauge.stats.paired import exact_upper, paired_difference, paired_p, paired_score_ratio
from fairgauge.stats.significance import invert

# part of all rows by which a count is moved for a difference quotient
_STEP = 1e-6
# Rows added to every cell of differing decisions before a correlation is measured, so that models
# that happen to agree on all rows are not taken to agree on all others. Chosen by coverage: of 0,
# 0.25 and 0.5 rows the least that holds 94% throughout (docs/coverage.md).
_SMOOTHING = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCounts:
    """The rows of one side by cluster: the cluster, the flat cell and the weight of each entry."""

    cluster: Index
    cell: Index
    weights: Array

    def totals(self, influence: Array, clusters: int) -> Array:
        """Return the sum of influences, array of shape (label, current, candidate), by cluster."""
        influences = self.weights * influence.ravel()[self.cell]
        return np.bincount(self.cluster, influences, clusters).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class PairedTable:
    """One side of many comparisons, by label, decision of the model in use and of the candidate.

    There are C outcomes: the positive and the negative, or classes; a label may be missing too.

    ``weights, squares, cases``: array of shape (n, C + 1, C, C): sums of weights and of squared
        weights, and rows; all the same without weights.
    ``classes``: whether the outcomes are classes.
    ``clusters``: the rows of each side by cluster; None where rows are independent.
    ``cluster_count``: how many clusters there are.
    """

    weights: Array
    squares: Array
    cases: Array
    classes: bool = False
    clusters: Sequence[ClusterCounts] | None = None
    cluster_count: int = 0

    def part(self, at: slice) -> PairedTable:
        """Return some of the sides."""
        clusters = None if self.clusters is None else self.clusters[at]
        return replace(
            self,
            weights=self.weights[at],
            squares=self.squares[at],
            cases=self.cases[at],
            clusters=clusters,
        )

    @property
    def margins(self) -> tuple[Array, Array]:
        """Return the weights by label and decision, of both models; shape (n, C + 1, C)."""
        return self.weights.sum(axis=3), self.weights.sum(axis=2)

    def smoothed_squares(self) -> Array:
        """Return the squared weights, with some added to the cells in which decisions differ."""
        outcomes = self.weights.shape[-1]
        rows, weights, squares = (
            of.sum(axis=(1, 2, 3), keepdims=True) for of in (self.cases, self.weights, self.squares)
        )
        unit = np.where(rows > 0, quotient(weights, rows), 1.0)
        differing = _SMOOTHING * (1 - np.eye(outcomes))
        added = np.broadcast_to(unit * differing, self.weights.shape).copy()
        added[:, -1] = 0.0  # of missing labels
        return np.asarray(self.squares + np.nan_to_num(quotient(squares, weights)) * added)

    def covariance(
        self, one: Array, two: Array, *, smoothed: bool = False, other: PairedTable | None = None
    ) -> Array:
        """Return the covariance of two numbers from their influences, arrays of the table's shape.

        ``other`` is the table of the second number, if it is not this one; rows that are in both
        sides must then be all rows of this one, or clusters.
        """
        added = self.smoothed_squares() - self.squares if smoothed else 0.0
        if self.clusters is None:
            return np.asarray(((self.squares + added) * one * two).sum(axis=(1, 2, 3)))
        second = (other or self).clusters
        assert second is not None
        pairs = (
            (
                self.clusters[i].totals(one[i], self.cluster_count),
                second[i].totals(two[i], self.cluster_count),
            )
            for i in range(len(self.weights))
        )
        total = np.array([float(a @ b) for a, b in pairs])
        return np.asarray(total + (added * one * two).sum(axis=(1, 2, 3)))

    @property
    def degrees(self) -> Array:
        """Return the degrees of freedom of every side: infinite where rows are independent."""
        if self.clusters is None:
            return np.full(len(self.weights), np.inf)
        return self.clusters_held() - 1

    @property
    def correction(self) -> Array:
        """Return what corrects the variances of every side for few clusters."""
        if self.clusters is None:
            return np.ones(len(self.weights))
        clusters = self.clusters_held()
        return quotient(clusters, clusters - 1)

    def clusters_held(self) -> Array:
        """Return how many clusters every side has rows in."""
        assert self.clusters is not None
        return np.array([float(len(np.unique(each.cluster))) for each in self.clusters])


def confusion(margin: Array, *, classes: bool) -> ConfusionCounts:
    """Return what statistics are computed from, of weights by label and decision: (n, C + 1, C).

    >>> counts = np.array([[[5.0, 2.0], [1.0, 4.0], [0.0, 3.0]]])  # positive, negative, missing
    >>> confusion(counts, classes=False).counts(BOTH).tolist()
    [[5.0, 1.0, 2.0, 4.0]]
    """
    known = margin[:, :-1]
    of_classes: dict[Need, Array] = {"label": known.sum(axis=2), "prediction": margin.sum(axis=1)}
    if not classes:
        return ConfusionCounts(margin.sum(axis=(1, 2)), cells_of_states(margin), of_classes)
    each = []
    for c in range(margin.shape[2]):
        rest = np.arange(margin.shape[2]) != c
        labels = np.stack([margin[:, c], known[:, rest].sum(axis=1), margin[:, -1]], axis=1)
        two = np.stack([labels[:, :, c], labels[:, :, rest].sum(axis=2)], axis=2)
        each.append(ConfusionCounts(two.sum(axis=(1, 2)), cells_of_states(two)))
    of_no_class = np.zeros((len(margin), 4))
    of_no_class[:, -1] = known.sum(axis=(1, 2))
    cells = {BOTH: of_no_class}
    return ConfusionCounts(
        margin.sum(axis=(1, 2)), cells, of_classes, per_class=tuple(each), joint=known
    )


def influences(statistic: Statistic, margin: Array, *, classes: bool) -> Array:
    """Return the derivative of a statistic by each count, shape (n, C + 1, C); 0 where undefined.

    >>> from fairgauge.catalogue.lookup import find_rate
    >>> counts = np.array([[[6.0, 2.0], [1.0, 4.0], [0.0, 3.0]]])
    >>> influences(find_rate("true_positive_rate"), counts, classes=False).round(5)[0, 0].tolist()
    [0.03125, -0.09375]
    """
    step = _STEP * np.maximum(margin.sum(axis=(1, 2)), 1.0)

    def value(at: Array) -> Array:
        return statistic.value(confusion(at, classes=classes), Profile.DOCUMENTED)

    base = value(margin)
    decisions = margin.shape[2]
    moves = np.eye(decisions)[:, None, :]  # a row more in the cell of each decision
    found = np.zeros_like(margin)
    for label in range(margin.shape[1]):
        moved = np.repeat(margin[None], decisions, axis=0)
        moved[:, :, label] += step[:, None] * moves
        with np.errstate(invalid="ignore"):
            slopes = (
                value(moved.reshape(-1, *margin.shape[1:])).reshape(decisions, -1) - base
            ) / step
        found[:, label] = np.where(np.isfinite(slopes), slopes, 0.0).T
    return found


def expand_to_pairs(old: Array, new: Array) -> tuple[Array, Array]:
    """Return influences of both models as arrays over the cells of a table."""
    shape = (*old.shape, old.shape[-1])
    return (np.broadcast_to(old[:, :, :, None], shape), np.broadcast_to(new[:, :, None, :], shape))


def correlation(covariance: Array, one: Array, two: Array) -> Array:
    """Return a correlation from a covariance and two variances; 0 where one of them is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = covariance / np.sqrt(one * two)
    return np.clip(np.where(np.isfinite(found), found, 0.0), -1.0, 1.0)


At: TypeAlias = "Callable[[ArrayLike], Limits]"
"""Limits at a normal critical value."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A number of every side with its limits at any critical value, and its influences.

    ``value``: array of shape (n,).
    ``at``: its limits.
    ``influence``: array of the shape of the table: derivatives by its counts; None where unknown.
    ``tested``: the p-value of 0 by a test of its own; None where the limits are inverted.
    """

    value: Array
    at: At
    influence: Array | None = None
    tested: Array | None = None

    def between_halves(self, table: PairedTable, *, inside: bool) -> Quantity:
        """Return the difference of the first half of the sides to the second.

        Both are correlated where they share clusters, or rows (``inside``).
        """
        pairs = len(self.value) // 2
        ours, theirs = self.value[:pairs], self.value[pairs:]
        r = np.zeros(pairs)
        if inside or table.clusters is not None:
            assert self.influence is not None
            one, two = table.part(slice(None, pairs)), table.part(slice(pairs, None))
            a, b = np.split(self.influence, 2)
            shared = one.covariance(a, b, other=two)
            r = correlation(shared, one.covariance(a, a), two.covariance(b, b))

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(np.tile(np.broadcast_to(_z(z), pairs), 2))
            return mover_difference(
                ours, low[:pairs], high[:pairs], theirs, low[pairs:], high[pairs:], r
            )

        with np.errstate(invalid="ignore"):
            return Quantity(ours - theirs, at)

    def p_value(self, null: float | None = None) -> Array:
        """Return the p-value of 0, or that at which the limits just touch another null."""
        if null is None and self.tested is not None:
            return self.tested
        return invert(lambda z: self.at(np.broadcast_to(z, self.value.shape)), null or 0.0)

    def negated(self) -> Quantity:
        """Return the number with the opposite sign."""

        def at(z: ArrayLike) -> Limits:
            low, high = self.at(z)
            return -high, -low

        influence = None if self.influence is None else -self.influence
        return Quantity(-self.value, at, influence)


@dataclass(frozen=True, slots=True, eq=False)
class StatisticChange:
    """What becomes of a statistic of every side, from the model in use to the candidate.

    ``table``: the rows.
    ``rows``: the effective rows that it rests on, the fewer of both.
    ``difference, ratio``: of new and old; the ratio as a logarithm.
    ``total, log_total``: the sum of new and old, and of their logarithms: on which side of "no
        difference" a disparity lies.
    ``methods``: how the intervals are made.
    ``models``: its value and limits under each model.
    ``discordant``: rows that are decided differently; None of other numbers than rates.
    """

    table: PairedTable
    rows: Array
    difference: Quantity
    ratio: Quantity
    total: Quantity
    log_total: Quantity
    methods: tuple[IntervalMethod, ...]
    models: tuple[Quantity, Quantity]
    discordant: Discordant | None = None

    @property
    def values(self) -> tuple[Array, Array]:
        """Return its value under each model."""
        return self.models[0].value, self.models[1].value

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
    """Return what becomes of a statistic; ``old`` and ``new`` are its intervals by each model.

    Of a rate of the same rows it follows from the rows that are decided differently; of any other
    statistic from it under both models and their correlation.
    """
    # Zou & Donner (2008), Statistics in Medicine 27, 1693-1702 (MOVER of correlated numbers);
    # errors that both models share are subtracted on the same side.
    if isinstance(statistic, (ScoreStatistic, MomentStatistic)):
        raise NoInterval(ReasonCode.NOT_OF_DECISIONS, of=statistic.title)
    h_old, h_new = expand_to_pairs(
        *(influences(statistic, margin, classes=table.classes) for margin in table.margins)
    )
    models = (
        Quantity(old.estimate, lambda z: old.at(_z(z)), h_old),
        Quantity(new.estimate, lambda z: new.at(_z(z)), h_new),
    )
    var_old, var_new, both = (
        table.covariance(a, b, smoothed=True)
        for a, b in ((h_old, h_old), (h_new, h_new), (h_old, h_new))
    )
    r = correlation(both, var_old, var_new)

    def joined(pair: tuple[Quantity, Quantity], sign: int) -> Quantity:
        """Return new plus or less old; a sum is the difference to the negative of the old one."""
        before, after = pair
        assert before.influence is not None
        assert after.influence is not None

        def at(z: ArrayLike) -> Limits:
            low, high = before.at(z)
            if sign > 0:
                low, high = -high, -low
            less = -sign * before.value, low, high, -sign * r
            return mover_shared_difference(after.value, *after.at(z), *less)

        with np.errstate(invalid="ignore"):
            value = after.value + sign * before.value
            return Quantity(value, at, after.influence + sign * before.influence)

    logs = (logarithm(models[0]), logarithm(models[1]))
    difference, ratio = joined(models, -1), joined(logs, -1)
    rows = np.minimum(old.n, new.n)
    methods = unique_methods(IntervalMethod.MOVER, *new.methods)
    of = discordant_rows(statistic, table)
    if of is not None:
        clustered = np.isfinite(of.degrees).any()
        methods = (*([IntervalMethod.JACKKNIFE] if clustered else []), IntervalMethod.SCORE)
        difference = replace(difference, at=of.difference, tested=of.p_value())
        ratio, rows = replace(ratio, at=of.log_ratio), of.n
    return StatisticChange(
        table, rows, difference, ratio, joined(models, 1), joined(logs, 1), methods, models, of
    )  # fmt: skip


@quiet
def logarithm(of: Quantity) -> Quantity:
    """Return the logarithm of a number; its influences are 0 where it is infinite."""
    assert of.influence is not None
    by_value = quotient(of.influence, of.value[:, None, None, None])
    influence = np.nan_to_num(by_value, posinf=0.0, neginf=0.0)
    return Quantity(np.log(of.value), lambda z: logs_of(of.at(z)), influence)


@dataclass(frozen=True, slots=True, eq=False)
class Discordant:
    """Rows of a rate, by the effective sample size: in it under both models, or under one of both.

    ``both, gained, lost``: rows in the rate under both, under the candidate alone, under the model
        in use alone.
    ``n``: all rows of its denominator.
    ``degrees``: of Student's t; inf where rows are independent.
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
        return t_from_z(np.broadcast_to(_z(z), self.n.shape), self.degrees)


@quiet
def discordant_rows(statistic: Statistic, table: PairedTable) -> Discordant | None:
    """Return the rows of a rate that are decided differently; None of other statistics."""
    inside = _fixed_denominator(statistic, table)
    if inside is None:
        return None
    of, among = inside  # (C + 1, C), (C + 1,)
    old, new = of[:, :, None], of[:, None, :]
    counted = np.broadcast_to(among[:, None, None], table.weights.shape[1:])

    def weight(cells: Mask) -> Array:
        return np.asarray((table.weights * (cells & counted)).sum(axis=(1, 2, 3)))

    n = weight(np.broadcast_to(True, counted.shape))
    of_each = 1.0 / n
    both, gained, lost = (of_each * weight(of) for of in (old & new, new & ~old, old & ~new))
    mean = np.nan_to_num((weight(new & ~old) - weight(old & ~new)) / n)
    # the influence of a row on the change: its own change, less the mean
    own = new.astype(float) - old.astype(float) - mean.reshape(-1, 1, 1, 1)
    of_rows = np.where(counted, of_each.reshape(-1, 1, 1, 1), 0.0)
    # effective rows have the variance of the change where one row has ``spread``: Kish's number
    # where no row changes, and at most the geometric mean of both, because few discordant rows show
    # too little of the spread of their weights
    spread = (gained + lost - (gained - lost) ** 2) * (gained + lost > 0)
    kish = quotient(1.0, (table.squares * of_rows**2).sum(axis=(1, 2, 3)))
    moved = of_rows * np.broadcast_to(own, table.weights.shape)
    rows = quotient(spread, table.correction * table.covariance(moved, moved))
    rows = np.where(rows > kish, np.sqrt(rows * kish), rows)
    rows = np.where((spread > 0) & np.isfinite(rows), rows, kish)
    effective = np.where(np.isfinite(rows), rows, 0.0)
    if table.clusters is None and (table.squares == table.weights).all():
        effective = n
    both, gained, lost = (np.nan_to_num(part * effective) for part in (both, gained, lost))
    return Discordant(both, gained, lost, effective, table.degrees)


def _fixed_denominator(statistic: Statistic, table: PairedTable) -> tuple[Mask, Mask] | None:
    # none of statistics whose denominator depends on the decisions
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

    ``shift``: the change of the disparity: new less old; of ratios, of their logarithms.
    ``level``: the sum of both disparities, whose sign is the side of "no difference" that both lie
        on.
    ``values``: the disparity under each model.
    ``models``: it with its limits, where it may change sides.
    ``rows``: effective rows of group and reference.
    """

    shift: Quantity
    level: Quantity
    values: tuple[Array, Array]
    rows: tuple[Array, Array]
    methods: tuple[IntervalMethod, ...]
    models: tuple[Quantity, Quantity]

    def crossing_p(self) -> Array:
        """Return the p-value of not changing sides: of the less certain of both sides; else 1."""
        old, new = self.models
        crossed = np.sign(old.value) * np.sign(new.value) < 0
        if not crossed.any():
            return np.ones_like(self.shift.value)
        return np.where(crossed, np.maximum(old.p_value(), new.p_value()), 1.0)

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
    of_models = [logarithm(of) for of in sides.models] if by_ratio else sides.models
    both = (sides.ratio, sides.log_total) if by_ratio else (sides.difference, sides.total)
    for of in (*both, *of_models):
        quantity = of.between_halves(sides.table, inside=inside)
        made.append(quantity if metric.order == "group - reference" else quantity.negated())
    rows, others = np.split(sides.rows, 2)
    methods = unique_methods(IntervalMethod.MOVER, *sides.methods)
    ours, theirs = np.split(np.array(sides.values), 2, axis=1)
    old, new = metric.of_values(ours, theirs, Profile.DOCUMENTED)
    models = made[2], made[3]
    return DisparityChanges(made[0], made[1], (old, new), (rows, others), methods, models)


def distance_limits(shift: Limits, level: Limits) -> Limits:
    """Return the limits of the change of a distance from 0: ``|new| - |old|``.

    With the shift x = new - old and the level y = new + old, it is sign(x y) min(|x|, |y|). Over
    limits of x and of y that is greatest and least at their corners. That a candidate is closer to
    0 is so accepted only where x and y both differ from 0, with opposite signs: an
    intersection-union test.

    >>> shift, level = (np.array(0.02), np.array(0.06)), (np.array(-0.4), np.array(-0.2))
    >>> low, high = distance_limits(shift, level)
    >>> float(low), float(high)
    (-0.06, -0.02)
    """
    # Berger & Hsu (1996), Statistical Science 11, 283-319.
    corners = np.stack([distance(x, y) for x in shift for y in level])
    return np.asarray(corners.min(axis=0)), np.asarray(corners.max(axis=0))


def distance(shift: Array, level: Array) -> Array:
    """Return ``|new| - |old|`` from their difference and sum."""
    with np.errstate(invalid="ignore"):
        nearer = np.minimum(np.abs(shift), np.abs(level))
        return np.asarray(np.sign(shift) * np.sign(level) * nearer)


def _z(z: ArrayLike) -> Array:
    return np.asarray(z, dtype=float)


@quiet
def logs_of(limits: Limits) -> Limits:
    """Return the logarithms of limits of a number that is not negative."""
    low, high = limits
    return np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))
