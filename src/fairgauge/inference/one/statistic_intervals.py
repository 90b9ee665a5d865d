"""The interval of a statistic of one group, by the kind of the statistic.

What a number is made of decides its interval: a proportion is binomial; odds and F1 are monotone in
a proportion, whose limits are mapped; two counts that overlap are paired; a mean has a standard
error; an area under a curve has DeLong's. Clusters have a jackknife, and some statistics are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, singledispatch

import numpy as np

from fairgauge.catalogue.averages import Agreement, Averaged, Kappa
from fairgauge.catalogue.cells import Array, Cells, Need
from fairgauge.catalogue.closed_forms import FormKind, closed_form
from fairgauge.catalogue.comparisons import Representation
from fairgauge.catalogue.moments import Mean, MomentStatistic
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Blend, DrawnStatistic, Quotient, Rate, Statistic
from fairgauge.enums import IntervalMethod
from fairgauge.inference.compared_counts import CellCount, Count, Evidence
from fairgauge.inference.interval import (
    FEWEST_EFFECTIVE,
    Formula,
    Intervals,
    MappedProportion,
    NoInterval,
    Shape,
    Sparseness,
    StatisticInterval,
    insufficient_rows,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import ReasonCode
from fairgauge.stats.arrays import Limits, Mask, quiet, quotient
from fairgauge.stats.intervals import (
    as_critical_t,
    critical,
    odds,
    paired_ratio,
    weighted_share,
    wilson,
)
from fairgauge.stats.significance import invert
from fairgauge.stats.weighted import effective_rows


@singledispatch
def statistic_interval(statistic: Statistic, evidence: Evidence) -> StatisticInterval:
    """Return the limits of a statistic."""
    del evidence
    raise NoInterval(ReasonCode.NO_METHOD, of=statistic.title)


@statistic_interval.register(Rate)
def _rate_interval(statistic: Rate, evidence: Evidence) -> StatisticInterval:
    of, among = _counted(statistic.needs, statistic.of, statistic.among)
    return of_share(evidence, of, among)


@statistic_interval.register(Agreement)
def _agreement_interval(statistic: Agreement, evidence: Evidence) -> StatisticInterval:
    return of_share(evidence, statistic.agreed, statistic.size)


@statistic_interval.register(Averaged)
@statistic_interval.register(Kappa)
def _average_interval(statistic: Averaged | Kappa, evidence: Evidence) -> StatisticInterval:
    from fairgauge.inference.one.class_averages import (
        agreement_shape,
        check_both_known,
        class_interval,
        is_of_agreement,
    )

    check_both_known(evidence)
    if not isinstance(statistic, Averaged) or not is_of_agreement(statistic):
        return class_interval(statistic, evidence)
    of, among, shape = agreement_shape(statistic, len(evidence.side.per_class))
    return of_share(evidence, of, among, shape)


def is_resampled(statistic: Statistic) -> bool:
    """Return whether no closed form fits a statistic, so that its tables are resampled."""
    if isinstance(statistic, Quotient):
        return closed_form(statistic) is None
    return isinstance(statistic, DrawnStatistic)


@statistic_interval.register(Quotient)
def _quotient_interval(statistic: Quotient, evidence: Evidence) -> StatisticInterval:
    form = closed_form(statistic)
    if form is None:
        raise NoInterval(ReasonCode.NO_METHOD, of=statistic.formula)
    counts = _counted(statistic.needs, *form.sums)
    if form.kind is FormKind.PAIRED:
        return _paired(statistic, counts, evidence)
    if form.kind is FormKind.ODDS:
        return of_share(evidence, counts[0], counts[1], odds)
    shape = partial(weighted_share, times=form.times)
    return of_share(evidence, counts[0], counts[1], shape)


@statistic_interval.register(Blend)
def _blend_interval(statistic: Blend, evidence: Evidence) -> StatisticInterval:
    if closed_form(statistic) is None:
        raise NoInterval(ReasonCode.SHARED_ROWS, of=statistic.title)
    if evidence.clusters is not None:
        raise NoInterval(ReasonCode.SHARED_CLUSTERS, of=statistic.title)  # not independent
    parts = [statistic_interval(rate, evidence) for rate in statistic.of]
    estimate: Array = np.mean([part.estimate for part in parts], axis=0)

    def at(z: Array) -> Limits:
        limits = [part.at(z) for part in parts]
        below = [(part.estimate - low) ** 2 for part, (low, _) in zip(parts, limits, strict=True)]
        above = [(high - part.estimate) ** 2 for part, (_, high) in zip(parts, limits, strict=True)]
        low = estimate - np.sqrt(np.sum(below, axis=0)) / len(parts)
        return low, estimate + np.sqrt(np.sum(above, axis=0)) / len(parts)

    n: Array = np.min([part.n for part in parts], axis=0)
    shares = tuple(share for part in parts for share in part.shares)
    sparse = None
    if all(part.sparse is not None for part in parts):
        least = np.min([part.sparse.rows for part in parts if part.sparse is not None], axis=0)
        sparse = Sparseness(ReasonCode.FEW_EFFECTIVE_ROWS, least, FEWEST_EFFECTIVE)
    methods = (IntervalMethod.MOVER, IntervalMethod.WILSON)
    return StatisticInterval(estimate, n, at, methods, shares, sparse=sparse)


@statistic_interval.register(ScoreStatistic)
def _score_interval(statistic: ScoreStatistic, evidence: Evidence) -> StatisticInterval:
    from fairgauge.inference.one.scored import score_interval

    return score_interval(statistic, evidence)


@statistic_interval.register(MomentStatistic)
def _moment_interval(statistic: MomentStatistic, evidence: Evidence) -> StatisticInterval:
    from fairgauge.inference.one.regressions import moment_interval

    return moment_interval(statistic, evidence)


def of_share(
    evidence: Evidence, of: Count, among: Count, shape: Shape = np.asarray
) -> StatisticInterval:
    """Return a number that stands for a share of rows, by Wilson's limits."""
    x, n, rate, degrees, shared = evidence.share(of, among)
    share = MappedProportion(x, n, shape, among(evidence.cases))
    sparse = None
    if evidence.squares is not None:
        kish = evidence.effective_cases(among)
        sparse = Sparseness(ReasonCode.FEW_EFFECTIVE_ROWS, kish, FEWEST_EFFECTIVE)
    if shared is None:
        formula = Formula(wilson, (x, n), shape)
        if degrees is not None:
            formula = Formula(_wilson_t, (x, n, degrees), shape)
        return StatisticInterval(
            shape(rate), n, formula, (IntervalMethod.WILSON,), (share,), sparse=sparse
        )

    degrees = shared.of.degrees

    def at(z: Array) -> Limits:
        low, high = wilson(x, n, as_critical_t(z, degrees))
        known = degrees > 0
        return share.limits((np.where(known, low, np.nan), np.where(known, high, np.nan)))

    methods = (IntervalMethod.CLUSTER_ROBUST, IntervalMethod.WILSON)
    return StatisticInterval(
        shape(rate), n, at, methods, (share,), clusters=shared.of.clusters, dependence=shared
    )


def _wilson_t(x: Array, n: Array, degrees: Array, z: Array) -> Limits:
    return wilson(x, n, as_critical_t(z, degrees))


def denominator(statistic: Statistic) -> Count | None:
    """Return the rows by which a statistic of a whole is the mean of its parts', if it is one.

    ``statistic(whole) = sum of rows(part) statistic(part) / sum of rows(part)``.
    """
    if isinstance(statistic, Rate):
        return _counted(statistic.needs, statistic.among)[0]
    if isinstance(statistic, Quotient):
        return _counted(statistic.needs, statistic.under)[0]
    if isinstance(statistic, ScoreStatistic):
        from fairgauge.inference.one.scored import rows_of_mean

        return rows_of_mean(statistic)
    if isinstance(statistic, Averaged):
        from fairgauge.inference.one.class_averages import is_of_agreement

        return statistic.size if is_of_agreement(statistic) else None
    if isinstance(statistic, (Agreement, Mean)):
        return statistic.size
    return None


def _paired(statistic: Quotient, cells: Sequence[Count], evidence: Evidence) -> StatisticInterval:
    rows_per_weight = _rows_of_log_ratio(evidence, cells, evidence.rows_per_weight(statistic.size))
    shared, above, below = (count(evidence.side) * rows_per_weight for count in cells)
    return StatisticInterval(
        quotient(shared + above, shared + below),
        evidence.rows(statistic.size),
        Formula(paired_ratio, (shared, above, below)),
        (IntervalMethod.MOVER,),
    )


@quiet
def _rows_of_log_ratio(evidence: Evidence, cells: Sequence[Count], kish: Array) -> Array:
    """Return the effective rows per unit of weight of a ratio of two overlapping counts.

    A row moves its logarithm by one over each count that it is in, with opposite signs.
    """
    if evidence.squares is None:
        return kish
    shared, above, below = (count(evidence.side) for count in cells)
    over, under = quotient(1.0, shared + above), quotient(1.0, shared + below)
    moved = np.stack([over - under, over, -under]) ** 2
    spread, linearised = (
        (moved * np.stack([count(side) for count in cells])).sum(axis=0)
        for side in (evidence.side, evidence.squares)
    )
    return effective_rows(spread, linearised, 1.0, kish)


def _counted(needs: frozenset[Need], *cells: Cells) -> list[Count]:
    """Return how to count sums of cells over the rows where ``needs`` are known."""
    return [CellCount(needs, cell) for cell in cells]


def side_interval(statistic: Statistic, evidence: Evidence) -> StatisticInterval:
    """Return the interval of a statistic of one side, robust to clusters where there are any.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    try:
        interval = statistic_interval(statistic, evidence)
        if interval.clustered or evidence.clusters is None:
            return interval
    except NoInterval:
        if evidence.clusters is None:
            raise
    from fairgauge.inference.one.omitted_clusters import jackknifed

    return jackknifed(statistic, evidence)


def interval_of_groups(
    statistic: Statistic, evidence: Evidence, margin: Mask, spec: Spec
) -> StatisticInterval:
    """Return the interval of a statistic of every group, at any critical value.

    ``margin`` states which groups are of all rows.

    Raises
    ------
    NoInterval
        No method gives a valid interval from what is counted.
    """
    if evidence.clusters is None and is_resampled(statistic):
        from fairgauge.inference.one.drawn_tables import resampled_statistic, table_of

        table = table_of(statistic)
        if table is not None:
            return resampled_statistic(statistic, table, evidence, margin, spec)
    return side_interval(statistic, evidence)


class EveryGroup:
    """All groups of a feature in every slot, and the intervals of their statistics, each made once.

    ``evidence`` holds the groups of each slot, slot by slot. With ``adequate``, pairs of groups
    with too few expected rows show nothing towards "no difference".
    """

    def __init__(self, evidence: Evidence, slots: int, *, adequate: bool = False) -> None:
        self.evidence = evidence
        self.slots = slots
        self.adequate = adequate
        self._intervals: dict[tuple[Statistic, float], StatisticInterval] = {}

    def interval(self, statistic: Statistic, spec: Spec) -> StatisticInterval:
        """Return the interval of a statistic of every group.

        Raises
        ------
        NoInterval
            No method gives a valid interval from what is counted.
        """
        key = statistic, spec.confidence
        if key not in self._intervals:
            size = len(self.evidence.side.size)
            margin = np.arange(size) < size // self.slots  # the first slot is of all rows
            self._intervals[key] = interval_of_groups(statistic, self.evidence, margin, spec)
        return self._intervals[key]


def representation_interval(
    metric: Representation, ours: Evidence, every: Evidence, target: Array, spec: Spec
) -> Intervals:
    """Return the interval of a share of the rows against a given one: Wilson's, carried over."""
    n = every.rows(lambda side: side.size)
    x = quotient(ours.side.size, every.side.size) * n

    def limits(z: Array) -> Limits:
        low, high = wilson(x, n, z)
        return metric.value(low, target), metric.value(high, target)

    low, high = limits(np.asarray(critical(spec.confidence)))
    p = invert(limits, metric.neutral)
    methods = [(IntervalMethod.WILSON,)] * len(x)
    return Intervals(
        low, high, p, methods, insufficient_rows(n, n * np.minimum(target, 1 - target))
    )
