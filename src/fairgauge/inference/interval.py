"""Data of sides, and confidence intervals of one statistic of every group or of many comparisons.

An `Intervals` holds those of many comparisons at one level, a `StatisticInterval` those of a
statistic of every group at any critical value, from which comparisons are made. `SideData` holds
the counts that they are made from. Random draws are seeded by the counts, so that names and the
order of groups change nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypedDict, cast

import numpy as np

from fairgauge.catalogue.cells import Array, Cells, ConfusionCounts, Need
from fairgauge.enums import IntervalMethod, Method, Status
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, FEWEST_ROWS, Reason, ReasonCode
from fairgauge.results.estimates import as_count
from fairgauge.results.scopes import ClassScope, Interval
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import Index, Limits, Mask, quotient
from fairgauge.stats.intervals import (
    ROUNDING,
    MeanMoments,
    clopper_pearson,
    containing,
    critical,
    effective_share,
    jeffreys,
    mean_limits,
)
from fairgauge.stats.sampling import FEWEST_CLUSTERS, Deviations

if TYPE_CHECKING:  # which rows that are independent do not need
    from fairgauge.inference.clusters import ClusteredProportion, Clusters

Methods: TypeAlias = tuple[IntervalMethod, ...]

FEWEST_EFFECTIVE = 5
"""Rows, by the weights alone (Kish), below which a few of them make up a weighted rate."""
SKEWED_MEAN: Methods = (IntervalMethod.STUDENT_T,)
LINEARISED: Methods = (IntervalMethod.INFLUENCE, IntervalMethod.STUDENT_T)
JACKKNIFE: Methods = (IntervalMethod.JACKKNIFE, IntervalMethod.STUDENT_T)
JACKKNIFE_UNDEFINED = Reason.of(ReasonCode.JACKKNIFE_UNDEFINED)
CLUSTERS_TOO_FEW = Reason.of(ReasonCode.JACKKNIFE_UNDEFINED, minimum=2)
RATIO_MAY_BE_ZERO = Reason.of(ReasonCode.RATIO_MAY_BE_ZERO)
FEWEST_IN_STRATUM, MOST_THIN = 5, 0.1
THIN_STRATA = Reason.of(ReasonCode.THIN_STRATA, minimum=FEWEST_IN_STRATUM, share=MOST_THIN)


class NoInterval(Exception):  # noqa: N818 - an answer, not an error
    """There is no confidence interval; ``reason`` is why."""

    def __init__(self, code: ReasonCode | Reason, **parameters: str | float) -> None:
        self.reason = code if isinstance(code, Reason) else Reason.of(code, **parameters)
        super().__init__(str(self.reason.code))


def unique_methods(*methods: IntervalMethod) -> Methods:
    """Return the steps in making an interval, each where it comes first.

    >>> [str(method) for method in unique_methods(*SKEWED_MEAN, *LINEARISED)]
    ['student_t', 'influence']
    """
    return tuple(dict.fromkeys(methods))


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Confidence intervals of many comparisons.

    ``low, high, p``: array of shape (n,), NaN where there are none.
    ``methods``: how each was made.
    ``too_few``: why each has insufficient data; None where there is enough.
    ``reason``: why there is no interval, where there is none.
    ``expected``: what sampling variation alone gives under no difference; NaN where unknown.
    ``corrected``: the values less that, where it can be taken off; NaN elsewhere.
    ``together``: the limits at a higher confidence level, which hold together with those of all
        other comparisons of a report; None where there are none.
    """

    low: Array
    high: Array
    p: Array
    methods: Sequence[Methods]
    too_few: Sequence[Reason | None]
    reason: Reason | None = None
    expected: Array | None = None
    corrected: Array | None = None
    together: Callable[[float], Limits] | None = None

    def containing(self, value: Array, limits: tuple[float, float]) -> Intervals:
        """Return the intervals, clipped to the range of the metric, that contain the value."""
        # A profile may change a value (0/0 is 0); the interval of the undefined one would mislead.
        low, high = containing(value, self.low, self.high, *limits)
        held = ~np.isnan(low)
        p = np.where(held, self.p, np.nan)
        reason = self.reason or Reason.of(ReasonCode.VALUE_OUTSIDE_INTERVAL)

        def together(confidence: float) -> Limits:
            assert self.together is not None
            ends = (np.clip(each, *limits) for each in self.together(confidence))
            below, above = (np.where(held, end, np.nan) for end in ends)
            return np.minimum(below, low), np.maximum(above, high)

        wider = together if self.together else None
        return replace(self, low=low, high=high, p=p, reason=reason, together=wider)


def first_reasons(*several: Iterable[Reason | None]) -> list[Reason | None]:
    """Return of several lists of reasons the first reason at every place, None where none has one.

    >>> first_reasons([None, None], [None, CLUSTERS_TOO_FEW])[1].code.name
    'JACKKNIFE_UNDEFINED'
    """
    return [next(filter(None, each), None) for each in zip(*several, strict=True)]


def _too_few(
    numbers: Array | tuple[Array, Array], minimum: float, reason: Callable[[float], Reason]
) -> list[Reason | None]:
    one, two = numbers if isinstance(numbers, tuple) else (numbers, np.full(len(numbers), np.nan))
    second = np.nan_to_num(two, nan=np.inf) < np.nan_to_num(one, nan=np.inf)
    smaller = np.where(second, two, one)
    few: list[Reason | None] = [None] * len(smaller)
    both = isinstance(numbers, tuple)

    @cache  # many sides have the same few rows
    def found(number: float, side: str) -> Reason:
        return reason(number).on(side) if both else reason(number)

    for i in np.flatnonzero(smaller < minimum).tolist():
        few[i] = found(smaller.item(i), "reference" if second[i] else "group")
    return few


def insufficient_clusters(clusters: Array | tuple[Array, Array]) -> list[Reason | None]:
    """Return why clusters are insufficient; None where they suffice.

    ``clusters`` holds effective numbers: of equal clusters with the same precision. They are of
    one side, or of the group and of the reference: a reason then names the side of fewer.
    """
    rounded = np.round(clusters, 1)
    return _too_few(
        (rounded[0], rounded[1]) if isinstance(clusters, tuple) else rounded,
        FEWEST_CLUSTERS,
        lambda n: Reason.of(ReasonCode.FEW_CLUSTERS, clusters=n, minimum=FEWEST_CLUSTERS),
    )


def decidable(interval: StatisticInterval) -> Mask:
    """Return which groups have sufficient data, so that a family of tests may hold them."""
    few = interval.rows < FEWEST_ROWS * (1 - ROUNDING)
    if interval.clusters is not None:
        few = few | (np.round(interval.clusters, 1) < FEWEST_CLUSTERS)
    return ~few & ~np.isnan(interval.estimate)


def insufficient_rows(rows: Array | tuple[Array, Array]) -> list[Reason | None]:
    """Return where there are fewer than 20 rows, and why that is insufficient; else None.

    ``rows`` are of one side, or of the group and of the reference: a reason then names the smaller.
    """
    code, least = ReasonCode.FEW_ROWS, FEWEST_ROWS
    fewest = np.fmin(*rows) if isinstance(rows, tuple) else rows
    if not (fewest < least * (1 - ROUNDING)).any():
        return [None] * len(fewest)
    return _too_few(
        rows, least * (1 - ROUNDING), lambda n: Reason.of(code, n=as_count(n), minimum=least)
    )


def insufficient_expected(expected: Array) -> list[Reason | None]:
    """Return where an expected count is below 5, and why that is insufficient; else None."""
    code, least = ReasonCode.FEW_EXPECTED, FEWEST_EXPECTED
    if not (expected < least * (1 - ROUNDING)).any():
        return [None] * len(expected)
    return _too_few(
        expected, least * (1 - ROUNDING), lambda n: Reason.of(code, expected=n, minimum=least)
    )


def insufficient_weights(
    effective: Array | tuple[Array, Array] | None, size: int
) -> list[Reason | None]:
    """Return why weights leave too few effective rows; None where they do not, and without weights.

    ``effective`` are of one side, or of the group and of the reference, of ``size`` comparisons.
    """
    if effective is None:
        return [None] * size
    code, least = ReasonCode.FEW_EFFECTIVE_ROWS, FEWEST_EFFECTIVE
    return _too_few(effective, least, lambda n: Reason.of(code, rows=n, minimum=least))


def strata_are_thin(rows: Sequence[Array], weights: Array) -> Mask:
    """Return for which groups strata with few rows on a side hold much of the weight.

    ``rows`` of both sides and ``weights`` have the shape (groups, strata).
    """
    thin = np.where(np.minimum(*rows) < FEWEST_IN_STRATUM, weights, 0.0).sum(axis=1)
    return np.asarray(quotient(thin, weights.sum(axis=1)) > MOST_THIN)


def no_intervals(n: int, reason: Reason) -> Intervals:
    """Return no interval for any comparison, with the reason."""
    none = np.full(n, np.nan)
    return Intervals(none, none, none, [()] * n, [None] * n, reason)


class Certainty(TypedDict, total=False):
    """The fields of an estimate that state its uncertainty."""

    status: Status
    reason: Reason | None
    interval: Interval | None
    p_value: float | None
    expected: float | None
    corrected: float | None


def certainty(intervals: Intervals, at: int, level: float) -> Certainty:
    """Return the fields of one estimate that state its uncertainty."""
    low, high, p = intervals.low.item(at), intervals.high.item(at), intervals.p.item(at)
    too_few = intervals.too_few[at]
    # a profile may give 0/0 a value; a group of all rows has no others, and differs by 0
    nobody = too_few is not None and too_few.get("n") == 0 and too_few.side != "reference"
    known = not (math.isnan(low) or math.isnan(high) or nobody)
    fields: Certainty = {
        "status": Status.TOO_FEW if too_few else Status.OK,
        "reason": too_few or (None if known else intervals.reason),
        "expected": None if intervals.expected is None else _finite(intervals.expected, at),
        "corrected": None if intervals.corrected is None else _finite(intervals.corrected, at),
    }
    if known:
        fields["interval"] = Interval(low, high, level, tuple(intervals.methods[at]))
        fields["p_value"] = None if math.isnan(p) else p
    return fields


def _finite(values: Array, at: int) -> float | None:
    value = values.item(at)
    return value if math.isfinite(value) else None


At: TypeAlias = "Callable[[Array], Limits]"
Shape: TypeAlias = "Callable[[Array], Array]"


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """The deviations of a statistic of many sides, and what these share."""

    sides: Clusters
    deviations: Deviations

    def correlation(self, other: Dependence, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position."""
        total = self.deviations.correlation(first, other.deviations, second)
        return np.asarray(np.where(self.sides.apart(other.sides, first, second), 0.0, total))


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """Limits by a formula of arrays and a critical value, mapped to the scale of the statistic."""

    limits: Callable[..., Limits]
    of: tuple[Array, ...]
    shape: Shape = np.asarray

    def __call__(self, z: Array) -> Limits:
        low, high = self.limits(*self.of, z)
        return self.shape(low), self.shape(high)


@dataclass(frozen=True, slots=True, eq=False)
class MappedProportion:
    """Successes ``x`` of ``n`` trials, and an increasing function of their proportion.

    ``rows`` are those that the rules of adequacy count. Of clusters and weights they are not ``n``,
    which follows from the variance that a sample shows: a rule about it would favour samples
    whose variance is too small by accident. ``part`` is what it is called where it is one of
    several of which the mean is taken.
    """

    x: Array
    n: Array
    shape: Shape
    rows: Array
    part: str | None = None

    @property
    def successes(self) -> Array:
        """Return the successes among ``rows``."""
        return np.asarray(quotient(self.x, self.n) * self.rows)

    @property
    def plain(self) -> bool:
        return self.shape is np.asarray

    def limits(self, share: Limits) -> Limits:
        return self.shape(share[0]), self.shape(share[1])


def constant_scores(constant: Mask) -> list[Reason | None]:
    """Return the reason where the scores are constant, and a value is so by definition."""
    return [Reason.of(ReasonCode.CONSTANT_SCORE) if each else None for each in constant.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Sparseness:
    """The rows of every group that an interval needs a minimum of; ``code`` is of too few.

    ``everyone`` is the same of the rows of all groups together, where there is such a minimum.
    """

    code: ReasonCode
    rows: Array
    minimum: int
    everyone: Sparseness | None = None

    def insufficient(self, other: Sparseness | None = None) -> list[Reason | None]:
        """Return why a group, or a comparison with another side, has too few; None where enough."""
        alone = _too_few(
            (self.rows, other.rows) if other else self.rows,
            self.minimum,
            lambda n: Reason.of(self.code, rows=n, minimum=self.minimum),
        )
        if self.everyone is None:
            return alone
        return first_reasons(alone, self.everyone.insufficient())


@dataclass(frozen=True, slots=True, eq=False)
class StatisticInterval:
    """A statistic of every group, and its limits at any critical value.

    ``estimate, n``: its value, and the (effective) sample size.
    ``at``: limits at a normal critical value (at one of t where it is a mean).
    ``methods``: how they are made, outermost step first.
    ``shares``: the proportions that it is made of, for the rule of expected counts.
    ``variance``: the sample variance of the values that it is the mean of; None if it is no mean.
    ``alone``: limits of a mean of one group, which is not compared, at a normal critical value.
    ``clusters``: the effective number of clusters (Kish); None where rows are independent.
    ``dependence``: gives its correlation with the same statistic of sides that share clusters.
    ``reason``: why some have no limits (nan), if any has none.
    ``sparse``: the rows that it needs a minimum of, besides those of the rules for all statistics.
    ``compared``: the same of what is compared alone.
    ``constant``: which groups have a value by definition, because their scores do not vary.
    ``positives``: of a mean over labelled scores, the positive ones of ``n``: the rule of expected
        counts holds for labels as it does for a rate of them.
    """

    estimate: Array
    n: Array
    at: At
    methods: Methods
    shares: tuple[MappedProportion, ...] = ()
    variance: Array | None = field(default=None)
    alone: At | None = None
    clusters: Array | None = None
    dependence: Dependence | None = None
    reason: Reason | None = None
    sparse: Sparseness | None = None
    compared: Sparseness | None = None
    constant: Mask | None = None
    positives: Array | None = None

    def correlation(self, other: StatisticInterval, first: Index, second: Index) -> Array:
        """Return the correlation of some of its values with some of another's, by position.

        0 where rows are independent.
        """
        if self.dependence is None or other.dependence is None:
            return np.zeros(len(first))
        return self.dependence.correlation(other.dependence, first, second)

    def needs_other_formula(self, method: Method) -> bool:
        """Return whether the method asks for another formula of its proportion."""
        return self.share is not None and method in (Method.EXACT, Method.BAYES)

    @property
    def rows(self) -> Array:
        """Return the rows that the rules of adequacy count: of proportions, those of the fewest."""
        if not self.shares:
            return self.n
        return np.asarray(np.min([share.rows for share in self.shares], axis=0))

    @property
    def share(self) -> MappedProportion | None:
        """Return the one proportion that it is a function of, if there is one."""
        return self.shares[0] if len(self.shares) == 1 else None

    def limits(self, confidence: float, method: Method = Method.DEFAULT) -> tuple[Limits, Methods]:
        """Return the limits at a confidence, and how they were made."""
        if self.alone is not None:
            return self.alone(np.asarray(critical(confidence))), SKEWED_MEAN
        if self.share is not None and self.needs_other_formula(method):
            exact = method is Method.EXACT
            made = clopper_pearson if exact else jeffreys
            limits = self.share.limits(made(self.share.x, self.share.n, confidence))
            return limits, (IntervalMethod.CLOPPER_PEARSON if exact else IntervalMethod.JEFFREYS,)
        return self.at(np.asarray(critical(confidence))), self.methods


def mean_interval_t(moments: MeanMoments, kurtosis: Array | None = None) -> StatisticInterval:
    """Return a mean, compared by Student's t; alone, the end in its longer tail is raised.

    In a comparison the skewness of both sides cancels, at least in part; it needs some rows that
    make up the variance, which is judged by the ``kurtosis`` of all rows.
    """
    mean, n = np.asarray(moments.mean), np.asarray(moments.rows)
    with np.errstate(invalid="ignore"):
        unbiased = np.where(n > 1, moments.variance * np.where(n > 1, n, 2.0), np.inf)
    error = np.sqrt(unbiased / np.where(n > 1, n, 2.0))  # of one row unknown

    made_up_by = None
    if kurtosis is not None:  # so many rows make up the variance; inf where it is unknown
        rows = np.where(kurtosis > 0, quotient(n, kurtosis), np.inf)
        made_up_by = Sparseness(ReasonCode.FEW_IN_TAIL, rows, FEWEST_EXPECTED)

    def at(c: Array) -> Limits:
        with np.errstate(invalid="ignore"):
            half = np.where(np.isinf(error) | np.isinf(c), np.inf, c * error)
        return mean - half, mean + half

    return StatisticInterval(
        mean,
        n,
        at,
        (IntervalMethod.STUDENT_T,),
        variance=unbiased,
        alone=partial(mean_limits, moments),
        compared=made_up_by,
    )


def concatenate_intervals(parts: Sequence[StatisticInterval]) -> StatisticInterval:
    """Concatenate the values of several statistics; limits of one formula are computed at once."""
    ends = np.cumsum([0, *[len(part.n) for part in parts]])
    places = [slice(start, end) for start, end in pairwise(ends.tolist())]
    alike: dict[Callable[..., Limits], list[int]] = {}
    for i, part in enumerate(parts):
        if isinstance(part.at, Formula):
            alike.setdefault(part.at.limits, []).append(i)
    formulas = []
    for limits, every in alike.items():
        arrays = zip(*[cast("Formula", parts[i].at).of for i in every], strict=True)
        formulas.append((Formula(limits, tuple(map(np.concatenate, arrays))), every))
    estimate, rows = (
        np.concatenate([np.empty(0), *[getattr(p, k) for p in parts]]) for k in ("estimate", "n")
    )
    shapes = {part.at.shape if isinstance(part.at, Formula) else None for part in parts}
    if len(formulas) == len(shapes) == 1 and None not in shapes:
        whole = replace(formulas[0][0], shape=cast("Formula", parts[0].at).shape)
        return StatisticInterval(estimate, rows, whole, ())

    mapped: list[list[tuple[slice, slice, Shape]]] = []  # where each is, alone and among all
    for _, every in formulas:
        ends = np.cumsum([0, *(len(parts[i].n) for i in every)])
        of_formula = [slice(*pair) for pair in pairwise(ends.tolist())]
        mapped.append([
            (here, places[i], cast("Formula", parts[i].at).shape)
            for here, i in zip(of_formula, every, strict=True)
        ])  # fmt: skip

    def at(z: Array) -> Limits:
        z = np.broadcast_to(z, estimate.shape)
        low, high = np.empty(estimate.shape), np.empty(estimate.shape)
        for (formula, _), of_parts in zip(formulas, mapped, strict=True):
            below, above = formula(np.concatenate([z[place] for _, place, _ in of_parts]))
            for here, place, shape in of_parts:
                low[place], high[place] = shape(below[here]), shape(above[here])
        for place, part in zip(places, parts, strict=True):
            if not isinstance(part.at, Formula):
                low[place], high[place] = part.at(z[place])
        return low, high

    return StatisticInterval(estimate, rows, at, ())


def limits_of_several(
    every: Sequence[StatisticInterval], spec: Spec
) -> Iterator[tuple[Limits, Methods]]:
    """Return the limits and methods of several statistics; those of one formula at once."""
    alike = [
        isinstance(each.at, Formula) and not each.needs_other_formula(spec.method) for each in every
    ]
    together = concatenate_intervals(
        [each for each, at_once in zip(every, alike, strict=True) if at_once]
    )
    low, high = together.at(np.asarray(critical(spec.confidence)))
    start = 0
    for each, at_once in zip(every, alike, strict=True):
        if at_once:
            here = slice(start, start := start + len(each.n))
            yield (low[here], high[here]), each.methods
        else:
            yield each.limits(spec.confidence, spec.method)


FEWEST_GROUPS = 3
"""With two groups, their comparison is an estimate already."""

_PAIR = 2
_DECIMALS = 6

Count: TypeAlias = "Callable[[ConfusionCounts], Array]"
"""Reads a number of rows off one side of many comparisons."""


@dataclass(frozen=True, slots=True)
class CellCount:
    """Counts a sum of cells over the rows where ``needs`` are known."""

    needs: frozenset[Need]
    cells: Cells

    def __call__(self, side: ConfusionCounts) -> Array:
        return self.cells.count(side.cells[self.needs])


class RoundedSides(NamedTuple):
    """What is known of one side of many comparisons whose counts are sums of rounded ones.

    The least and the greatest counts, the variance of their rounding, and the largest base.
    """

    low: ConfusionCounts
    high: ConfusionCounts
    noise: ConfusionCounts
    base: float


class Proportion(NamedTuple):
    """A proportion as ``x`` successes of ``n`` trials.

    ``degrees`` are those of Student's t, None for a normal critical value; ``shared`` is of
    clustered rows.
    """

    x: Array
    n: Array
    rate: Array
    degrees: Array | None = None
    shared: ClusteredProportion | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SideData:
    """One side of many comparisons.

    ``side``: sums of weights, of which the values are made (of cases, without weights).
    ``cases``: the cases themselves.
    ``squares, cubes``: sums of squared and of cubed weights; None without weights, and where they
        are not counted.
    ``clusters``: the `clusters.Clusters` of the side; None where rows are independent.
    ``everyone``: the same of all rows, those of no group with them; None where it is not needed.
    ``rounded``: of counts that several sites rounded; None of others.
    """

    side: ConfusionCounts
    cases: ConfusionCounts
    squares: ConfusionCounts | None = None
    clusters: Clusters | None = None
    everyone: SideData | None = None
    cubes: ConfusionCounts | None = None
    rounded: RoundedSides | None = None

    def share(self, of: Count, among: Count) -> Proportion:
        """Return a proportion as successes and trials, by effective sample size.

        Raises ``NoInterval``: there are clusters, and it is no proportion of cells.
        """
        x, n = of(self.side), among(self.side)
        if self.clusters is not None:
            if not (isinstance(of, CellCount) and isinstance(among, CellCount)):
                raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
            per_weight = self.kish_rows_per_weight(among)
            shared = self.clusters.share(among.needs, of.cells, among.cells, per_weight)
            rate, n = quotient(x, n), shared.n
            return Proportion(np.nan_to_num(rate) * n, n, rate, None, shared)
        if self.squares is None:
            return Proportion(x, n, quotient(x, n))
        sides = (self.side, self.squares, self.cases)
        inside = [of(side) for side in sides]
        outside = [among(each) - some for each, some in zip(sides, inside, strict=True)]
        outside = [np.where(outside[2] > 0, each, 0.0) for each in outside]  # not by rounding
        effective = effective_share(*zip(inside, outside, strict=True))
        rate = quotient(x, n)
        return Proportion(np.nan_to_num(rate) * effective.n, effective.n, rate, effective.degrees)

    @property
    def effective_size(self) -> Array | None:
        """The effective rows by weight (Kish), clustered or not; None without weights."""
        if self.squares is None:
            return None
        return np.asarray(np.nan_to_num(quotient(self.side.size**2, self.squares.size)))

    def unclustered_rows(self, count: Count) -> Array:
        """Return Kish's effective number of rows; raises ``NoInterval`` of clustered rows."""
        return count(self.side) * self.unclustered_rows_per_weight(count)

    def kish_rows(self, count: Count) -> Array:
        """Return Kish's effective number of rows, also of clustered ones."""
        return count(self.side) * self.kish_rows_per_weight(count)

    def unclustered_rows_per_weight(self, count: Count) -> Array:
        """Return the effective rows per unit of weight: 1 without weights."""
        if self.clusters is not None:
            raise NoInterval(ReasonCode.NO_CLUSTER_METHOD)
        return self.kish_rows_per_weight(count)

    def kish_rows_per_weight(self, count: Count) -> Array:
        weight = count(self.side)
        if self.squares is None:
            return np.ones_like(weight)
        return np.asarray(np.nan_to_num(quotient(weight, count(self.squares))))

    def effective(self, read: Callable[[ConfusionCounts], Array]) -> Array:
        """Return counts of every side, shape (n, K), by effective sample size."""
        rows = self.unclustered_rows_per_weight(lambda side: read(side).sum(axis=-1))
        return np.asarray(read(self.side) * rows[:, None])

    def scored(self, label: int) -> Array:
        """Return the score histograms of the positive (0) or negative (1) labels; shape (n, B)."""

        def read(side: ConfusionCounts) -> Array:
            assert side.scores is not None
            return side.scores.counts[:, label]

        return self.effective(read)


@dataclass(frozen=True, slots=True, eq=False)
class Comparisons:
    """Both sides of many comparisons.

    ``group, reference``: the two sides.
    ``rest``: the reference without the group, where the group is a part of its reference.
    ``margin``: array of bool, shape (n,): which comparisons are of all rows, not within a stratum.
    """

    group: SideData
    reference: SideData
    rest: SideData | None
    margin: Mask

    @property
    def other(self) -> SideData:
        """Return the side that shares no row with the group."""
        return self.rest or self.reference

    @property
    def mirrored(self) -> bool:
        """Return whether there are two groups, each of which is the other's reference.

        Comparisons are those of all rows, or where there are none those of strata, group by group.
        """
        at = self.margin if self.margin.any() else np.ones_like(self.margin)
        if np.count_nonzero(at) % _PAIR:
            return False
        sides = (self.group.cases, self.reference.cases)
        pairs = [
            [side.size for side in sides],
            *([of.cells[k] for of in sides] for k in sides[0].cells),
        ]
        halves = ([each[at].reshape(_PAIR, -1) for each in pair] for pair in pairs)
        return all(np.array_equal(ours, theirs[::-1]) for ours, theirs in halves)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGroups:
    """The groups of a feature over all rows.

    ``feature, names``: the feature, and the names of its groups.
    ``class_scope, threshold``: of the outcome.
    ``pick``: the data of some groups, by number.
    """

    feature: str
    names: Sequence[str]
    class_scope: ClassScope
    threshold: float | None
    pick: Callable[[Index], SideData]


def stricter(spec: Spec, parts: int) -> Spec:
    """Return the specification whose intervals of several parts hold at once (Bonferroni)."""
    if parts == 1:
        return spec
    return replace(spec, confidence=1 - (1 - spec.confidence) / parts)


def generator(spec: Spec, key: str, *counts: Array) -> np.random.Generator:
    """Return the random numbers of a metric of some counts.

    They depend on what is counted alone: not on names, nor on the order of groups, nor on what
    else is asked for, nor on the rounding errors of sums of weights.
    """
    content = (zlib.crc32(np.ascontiguousarray(_round_sums(count)).tobytes()) for count in counts)
    return np.random.default_rng([spec.seed, zlib.crc32(key.encode()), *content])


def canonical_pair(one: Array, two: Array, *, symmetric: bool) -> tuple[Array, Array]:
    """Return two rows of counts over categories in an order of both that names do not change.

    Categories are ordered by their counts and, where the comparison is symmetric, so are the two
    rows. Draws made of these are those of any other order.
    """
    first, second = _round_sums(one), _round_sums(two)
    if symmetric and sorted(first.tolist()) > sorted(second.tolist()):
        one, two, first, second = two, one, second, first
    order = np.lexsort((second, first))
    return one[order], two[order]


def precedes(one: Array, two: Array) -> bool:
    """Return whether counts come first in the order in which both sides are drawn."""
    # The order is that of the counts, so that group and reference may change places and every draw
    # of theirs stays what it was.
    return bool(_round_sums(one).ravel().tolist() <= _round_sums(two).ravel().tolist())


def _round_sums(counts: Array) -> Array:
    # counts without the rounding errors of sums of weights, which must decide nothing
    return np.asarray(counts.astype(float).round(_DECIMALS) + 0.0)
