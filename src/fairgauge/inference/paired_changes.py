"""Changes of a statistic, and of a disparity, between two models on the same rows.

A rate whose denominator does not depend on the decisions (selection rate, accuracy, recall) has
Tango's interval of a difference of paired proportions, with Tang's of their ratio. Any
other statistic (precision, F1, kappa) has MOVER's of the two models' intervals, with the
correlation of the two. A disparity changes by the difference (or ratio) of two such changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from fairgauge.catalogue.cells import BOTH, Array, ConfusionCounts, Need
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.score_statistics import MomentStatistic, ScoreStatistic
from fairgauge.catalogue.statistics import Agreement, Rate, Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import IntervalMethod, Profile, Role
from fairgauge.errors import CubeError
from fairgauge.inference.interval import NoInterval, StatisticInterval, unique_methods
from fairgauge.reasons import ReasonCode
from fairgauge.resolve.outcomes import OutcomeMasks
from fairgauge.resolve.references import cells_of_states
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quiet
from fairgauge.stats.intervals import t_from_z
from fairgauge.stats.paired import (
    Discordant,
    PairedTable,
    Quantity,
    combined,
    correlation,
    discordant_rows,
    distance_limits,
    exact_upper,
    logarithm,
)
from fairgauge.stats.sampling import satterthwaite_degrees

# part of all rows by which a count is moved for a difference quotient
_STEP = 1e-6


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
    shape = table.weights.shape
    old_slopes, new_slopes = (
        influences(statistic, margin, classes=table.classes) for margin in table.margins
    )
    h_old = np.broadcast_to(old_slopes[:, :, :, None], shape)
    h_new = np.broadcast_to(new_slopes[:, :, None, :], shape)
    models = (
        Quantity(old.estimate, lambda z: old.at(np.asarray(z)), h_old),
        Quantity(new.estimate, lambda z: new.at(np.asarray(z)), h_new),
    )
    var_old, var_new, both = (
        table.covariance(a, b, smoothed=True)
        for a, b in ((h_old, h_old), (h_new, h_new), (h_old, h_new))
    )
    r = correlation(both, var_old, var_new)
    logs = (logarithm(models[0]), logarithm(models[1]))
    difference, ratio = combined(*models, r, -1), combined(*logs, r, -1)
    rows = np.minimum(old.n, new.n)
    methods = unique_methods(IntervalMethod.MOVER, *new.methods)
    counted, of = _fixed_denominator(statistic, table), None
    if counted is not None:
        of = discordant_rows(*counted, table)
        clustered = np.isfinite(of.degrees).any()
        methods = (*([IntervalMethod.JACKKNIFE] if clustered else []), IntervalMethod.SCORE)
        difference = replace(difference, at=of.difference, tested=of.p_value())
        ratio, rows = replace(ratio, at=of.log_ratio), of.n
    totals = combined(*models, r, 1), combined(*logs, r, 1)
    return StatisticChange(table, rows, difference, ratio, *totals, methods, models, of)


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
    ``models``: it with its limits.
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
    of_models = [logarithm(model) for model in sides.models] if by_ratio else sides.models
    both = (sides.ratio, sides.log_total) if by_ratio else (sides.difference, sides.total)
    for of in (*both, *of_models):
        quantity = of.between_halves(sides.table, inside=inside)
        made.append(quantity if metric.order == "group - reference" else quantity.negated())
    rows, others = np.split(sides.rows, 2)
    methods = unique_methods(IntervalMethod.MOVER, *sides.methods)
    ours, theirs = np.split(np.array(sides.values), 2, axis=1)
    old, new = metric.compare_values(ours, theirs, Profile.DOCUMENTED)
    models = made[2], made[3]
    return DisparityChanges(made[0], made[1], (old, new), (rows, others), methods, models)


def shown_claims(
    hold: Callable[[float], Mask], claims: int, confidence: float
) -> tuple[Mask, float]:
    """Return which claims are shown, and the confidence level that the others were held against.

    A claim needs all of its parts: each is a one-sided test at the level of the claim, which so is
    an intersection-union test (Berger 1982, Technometrics 24, 295-300) and pays nothing for having
    several parts. The probability that any false claim is shown is at most half of
    ``1 - confidence``, whatever the claims have in common (Holm 1979, Scandinavian Journal of
    Statistics 6, 65-70).

    ``hold``: from the confidence level of two-sided intervals to which claims hold by them, with
        every part of each; fewer at a higher level.
    ``claims``: how many there are, those that cannot be tested with them.
    ``confidence``: the level of a single interval.

    >>> import numpy as np
    >>> from fairgauge.stats.intervals import critical
    >>> least = np.array([2.5, 2.1, 1.9])  # the least statistic of the parts of each
    >>> shown_claims(lambda level: least > critical(level), 3, 0.95)[0].tolist()
    [True, False, False]
    """
    shown: Mask | None = None
    while True:
        left = claims if shown is None else claims - int(shown.sum())
        level = 1 - (1 - confidence) / max(left, 1)
        more = hold(level) if shown is None else shown | hold(level)
        if shown is not None and (more == shown).all():
            return shown, level
        shown = np.asarray(more)


# ---- the area under the ROC curve of two scores of the same rows


@dataclass(frozen=True, slots=True, eq=False)
class AreaChange:
    """What becomes of the area, and by how much it may be less, whatever is not counted.

    ``reach`` is of rows without an outcome or a score, and of what the bins of scores hide.
    """

    change: StatisticChange
    reach: float


def area_change(
    cube: Cube, candidate: Axis, outcome: OutcomeMasks, table: PairedTable
) -> AreaChange | None:
    """Return what becomes of the area of all rows; None where it was not counted.

    Its interval is that of DeLong, from the influences of every row: of the sums of clusters where
    rows are clustered, with Student's t of their number.
    """
    label, score = cube.plan.axis(Role.LABEL), cube.plan.axis(Role.SCORE)
    other = cube.plan.axis(Role.SCORE, candidate.column)
    cluster = cube.plan.axis(Role.CLUSTER)
    if label is None or score is None or other is None:
        return None
    try:
        counted = cube.marginal([label, score, other, *([cluster] if cluster else [])])
    except CubeError:
        return None
    every = counted.sums.get("w", counted.cases)
    codes = counted.codes_of([label, score, other])
    known = (codes >= 0).all(axis=1)
    if outcome.open_labels is not None:
        known &= ~np.append(outcome.open_labels, True)[codes[:, 0]]
    unknown, counted = float(every[~known].sum()), counted.where(known)
    labels, *scores = counted.codes_of([label, score, other]).T
    positive, weights = outcome.labels[labels], every[known]
    squares = counted.sums.get("w2", weights)
    if outcome.turned is not None:
        scores = [axis.bins - codes for axis, codes in zip((score, other), scores, strict=True)]
    units = counted.codes_of([cluster])[:, 0] if cluster else None
    return changed_area(scores, positive, weights, squares, units, table, unknown)


@quiet
def changed_area(
    scores: Sequence[Index],
    positive: Mask,
    weights: Array,
    squares: Array,
    units: Index | None,
    table: PairedTable,
    unknown: float = 0.0,
) -> AreaChange:
    """Return what becomes of the area of cells with both scores, beside ``unknown`` rows without.

    ``scores``: the codes of both; ``units``: the cluster of each cell.
    """
    areas, slopes, hidden = zip(*(_area(each, positive, weights) for each in scores), strict=True)
    degrees = np.inf
    if units is not None:  # as of any clustered mean: see `ClusterCounts.variance`
        units = np.unique(units, return_inverse=True)[1]
        sizes = np.stack([np.bincount(units, weights * of) for of in (~positive, positive)])
        share = (sizes / sizes.sum(axis=1, keepdims=True))[positive.astype(int), units]
        slopes = tuple(each / (1 - share) for each in slopes)
        degrees = float(satterthwaite_degrees(sizes).min())
    a, b, both = (
        _covariance(x, y, positive, weights, squares, units)
        for x, y in ((slopes[0],) * 2, (slopes[1],) * 2, slopes)
    )
    m, n = (float(weights[of].sum()) for of in (positive, ~positive))
    rows = [float(weights[of].sum() ** 2 / squares[of].sum()) for of in (positive, ~positive)]
    # identical ranks are no certainty: as if a quarter of a row of each class were misranked
    least = 0.25 * sum(row**-2 for row in rows)
    error = np.sqrt(np.array([a, b, max(a + b - 2 * both, least)]))

    def quantity(value: float, error: float) -> Quantity:
        def at(z: ArrayLike) -> Limits:
            far = t_from_z(np.broadcast_to(z, 1), degrees) * error
            return value - far, value + far

        return Quantity(np.array([value]), at, np.zeros_like(table.weights))

    old, new = quantity(areas[0], error[0]), quantity(areas[1], error[1])
    r = correlation(np.array([both]), np.array([a]), np.array([b]))
    log_old, log_new = logarithm(old), logarithm(new)
    difference = quantity(areas[1] - areas[0], error[2])
    change = StatisticChange(
        table, np.array([min(rows)]), difference, combined(log_old, log_new, r, -1),
        combined(old, new, r, 1), combined(log_old, log_new, r, 1), (IntervalMethod.DELONG,),
        (old, new),
    )  # fmt: skip
    # every pair with an unknown row may be in the wrong order under the candidate alone
    most = min(max((n + unknown - m) / 2, 0.0), unknown)  # of them, the positives at worst
    kept = m * n / ((m + most) * (n + unknown - most)) if m * n else 0.0
    return AreaChange(change, (1 - kept) * (1 + areas[1] - areas[0]) + sum(hidden))


@quiet
def _area(bins: Index, positive: Mask, weights: Array) -> tuple[float, Array, float]:
    # the area, its derivative by the weight of every cell, and by how much it may be wrong as
    # scores of one interval, whose codes are even, are taken to be equal
    size = int(bins.max(initial=0)) + 1
    pos, neg = (np.bincount(bins, weights * of, size) for of in (positive, ~positive))
    below = (np.cumsum(neg) - neg / 2) / neg.sum()
    above = 1 - (np.cumsum(pos) - pos / 2) / pos.sum()
    area = float(pos @ below / pos.sum())
    slopes = np.where(positive, (below[bins] - area) / pos.sum(), (above[bins] - area) / neg.sum())
    return area, slopes, float((pos * neg)[::2].sum() / (2 * pos.sum() * neg.sum()))


@quiet
def _covariance(
    one: Array, two: Array, positive: Mask, weights: Array, squares: Array, units: Index | None
) -> float:
    # DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845
    if units is not None:
        a, b = (np.bincount(units, weights * each) for each in (one, two))
        return float(a @ b * (1 - 1 / len(a)))
    parts = (
        (squares * one * two)[of].sum() / (1 - squares[of].sum() / weights[of].sum() ** 2)
        for of in (positive, ~positive)
    )
    return float(sum(parts))
