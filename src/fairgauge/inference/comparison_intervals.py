"""Uncertainty: the interval of any comparison and of any rate, under one specification."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.catalogue.cells import FN, FP, TN, TP
from fairgauge.catalogue.comparisons import Combined, ComparisonMetric, Contrast, Imbalance
from fairgauge.catalogue.conditional import ConditionalDisparity
from fairgauge.catalogue.distributions import CrossAuc, Distance, ScoreDistance
from fairgauge.catalogue.inequality import Inequality
from fairgauge.catalogue.standardised_differences import StandardisedDifference
from fairgauge.catalogue.statistics import Blend, Quotient, Rate
from fairgauge.enums import IntervalMethod, Method, Profile, ReferenceRule
from fairgauge.inference.across_groups import across, groups_rest_on, rows_behind
from fairgauge.inference.bound import Bounds, limits_of
from fairgauge.inference.bounds import denominator, is_drawn
from fairgauge.inference.cluster_jackknife import clustered_bounds
from fairgauge.inference.contrast_intervals import Versus, contrast, few, versus
from fairgauge.inference.distance_intervals import distance
from fairgauge.inference.draws import drawn, drawn_bounds
from fairgauge.inference.interval import (
    CLUSTERS_TOO_FEW,
    JACKKNIFE_UNDEFINED,
    Intervals,
    NoInterval,
    few_clusters,
    no_intervals,
)
from fairgauge.inference.jackknifed_comparisons import jackknifed, jackknifed_pool, jackknifed_share
from fairgauge.inference.others import (
    conditional,
    cross_area,
    imbalance,
    representation,
)
from fairgauge.inference.pooled import pooled
from fairgauge.inference.resampled_tables import cells_table, shared_table, table_of
from fairgauge.inference.score_distances import score_distance
from fairgauge.inference.standardised_intervals import standardised
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.stats.contrasts import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from fairgauge.catalogue.across import Across, GroupSpread
    from fairgauge.catalogue.cells import Array
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.catalogue.representation import Representation
    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.inference.bound import Share
    from fairgauge.inference.evidence import Comparisons, Evidence
    from fairgauge.resolve.outcomes import OutcomeMasks
    from fairgauge.spec.specification import Spec


class Uncertainty:
    """Intervals under one specification, or stricter ones that hold ``at_once`` (Bonferroni).

    What a difference and a ratio of one statistic have in common is computed once.
    """

    def __init__(
        self, spec: Spec, outcome_masks: Sequence[OutcomeMasks] = (), at_once: int = 1
    ) -> None:
        each = 1 - (1 - spec.confidence) / at_once
        self.spec = spec if at_once == 1 else replace(spec, confidence=each)
        self.outcome_masks = outcome_masks
        self._at_once = at_once
        self._versus: dict[Statistic, Versus | Reason] = {}
        self._expected: tuple[Statistic, ...] = ()
        self.drawn: dict[str, Array] = {}

    def expect(self, metrics: Iterable[Metric]) -> None:
        """Say which metrics will be asked for, so that what they share is computed at once.

        Those of scores are compared over all rows alone; with the best group as the reference,
        every metric has its own.
        """
        if self.spec.reference is not ReferenceRule.BEST:
            contrasts = (m.of for m in metrics if isinstance(m, Contrast))
            self._expected = tuple(dict.fromkeys(s for s in contrasts if "score" not in s.needs))

    def of_rates(
        self, statistics: Sequence[Statistic], evidence: Evidence, margin: NDArray[np.bool_]
    ) -> list[tuple[Intervals, Share | None]]:
        """Return the limits of statistics of every group, and the shares that they are.

        ``margin`` says which are of all rows.
        """
        found: list[Bounds | Reason] = []
        for statistic in statistics:
            try:
                found.append(self.bounds(statistic, evidence, margin))
            except NoInterval as why:
                found.append(why.reason)
        every, none = len(margin), np.full(len(margin), np.nan)
        made = limits_of([b for b in found if isinstance(b, Bounds)], self.spec)
        limited: list[tuple[Intervals, Share | None]] = []
        for statistic, each in zip(statistics, found, strict=True):
            if isinstance(each, Reason):
                limited.append((no_intervals(every, each), None))
                continue
            (low, high), method = next(made)
            reason = each.reason or (CLUSTERS_TOO_FEW if each.clustered else None)
            limits = Intervals(low, high, none, [method] * every, [None] * every, reason)
            limited.append((limits.holding(each.estimate, statistic.range), each.share))
        return limited

    def bounds(self, statistic: Statistic, evidence: Evidence, margin: NDArray[np.bool_]) -> Bounds:
        """Return the limits of a statistic of every group at any critical value.

        Raises
        ------
        NoInterval
            Nothing honest can be said from what is counted.
        """
        table = table_of(statistic, self.outcome_masks) if is_drawn(statistic) else None
        if table is None or evidence.clusters is not None:
            return clustered_bounds(statistic, evidence)
        return drawn_bounds(statistic, table, evidence, margin, self.spec)

    def of_each(self, parts: int) -> Uncertainty:
        """Return the stricter one whose intervals of several parts hold at once."""
        return Uncertainty(self.spec, self.outcome_masks, parts)

    def of_metric(self, metric: ComparisonMetric, compared: Comparisons, value: Array) -> Intervals:
        """Return the interval of a metric for every comparison."""
        sided = isinstance(metric, (Contrast, Combined, ConditionalDisparity))
        try:
            if compared.group.clusters is None or sided:
                found = interval(metric, compared, self)
            else:
                found = jackknifed(metric, compared, self.spec)
        except NoInterval as why:
            return no_intervals(len(value), why.reason)
        if self.spec.profile is not Profile.DOCUMENTED:  # it may make 0 of 0/0
            right = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
            value = np.where(np.isclose(value, right), value, np.nan)
        return self._picked(found.holding(value, metric.range))

    def of_pooled(
        self, metric: Contrast, compared: Comparisons, weights: Array, value: Array
    ) -> Intervals:
        """Return the interval of a contrast pooled over strata, for every group."""
        if is_drawn(metric.of) and compared.group.clusters is None:
            return no_intervals(len(value), Reason.of(ReasonCode.RESAMPLED_NOT_POOLED))
        try:
            if compared.group.clusters is None:
                found = pooled(metric, compared, weights, self.spec)
            else:
                found = jackknifed_pool(metric, compared, weights, value, self.spec)
        except NoInterval as why:
            return no_intervals(len(value), why.reason)
        return self._picked(found.holding(value, metric.range))

    def of_feature(
        self, metric: Across, groups: Evidence, slots: int, found: GroupSpread
    ) -> Intervals:
        """Return the interval of a metric of all groups in every slot."""
        rows = rows_behind(metric, groups.cases).reshape(slots, -1)
        slot = np.arange(slots)
        too_few = few(np.minimum(rows[slot, found.first], rows[slot, found.second]))
        if groups.clusters is not None and "score" not in metric.needs:
            behind = groups_rest_on(metric, groups.clusters)
            known = np.where(rows.ravel() > 0, behind, np.inf).reshape(slots, -1)
            clusters = few_clusters(known.min(axis=1))
            too_few = [a or b for a, b in zip(clusters, too_few, strict=True)]
        none = np.full(slots, np.nan)
        try:
            made = across(metric, groups, slots, self)
        except NoInterval as why:
            return Intervals(none, none, none, [()] * slots, too_few, why.reason)
        reason = made.reason if groups.clusters is None else JACKKNIFE_UNDEFINED
        limits = Intervals(*made.limits, none, [made.method] * slots, too_few, reason)
        return self._picked(limits.holding(found.value, metric.range))

    def of_population(
        self, metric: Representation, ours: Evidence, every: Evidence, target: Array, value: Array
    ) -> Intervals:
        """Return the interval of groups' shares of the rows against given shares."""
        make = representation if ours.clusters is None else jackknifed_share
        try:
            found = make(metric, ours, every, target, self.spec)
        except NoInterval as why:
            return no_intervals(len(value), why.reason)
        return found.holding(value, metric.range)

    def _picked(self, found: Intervals) -> Intervals:
        """Return what may be picked from several that hold at once."""
        if self._at_once == 1:
            return found
        p = np.minimum(found.p * self._at_once, 1.0)
        methods = [(IntervalMethod.SIMULTANEOUS_CLASSES, *each) for each in found.methods]
        return replace(found, p=p, methods=methods)

    def versus(self, statistic: Statistic, compared: Comparisons) -> Versus:
        """Return what all contrasts of a statistic have in common.

        Raises
        ------
        NoInterval
            Nothing honest can be said from what is counted.
        """
        if statistic not in self._versus:
            together = self._expected if statistic in self._expected else (statistic,)
            self._versus |= versus(together, compared, self.spec)
        found = self._versus[statistic]
        if isinstance(found, Reason):
            raise NoInterval(found)
        return found


@singledispatch
def interval(metric: ComparisonMetric, compared: Comparisons, how: Uncertainty) -> Intervals:
    """Return the interval of a metric by its kind.

    Raises
    ------
    NoInterval
        Nothing honest can be said from what is counted.
    """
    del compared, how
    raise NoInterval(ReasonCode.NO_METHOD, of=metric.title)


@interval.register(Contrast)
def _(metric: Contrast, compared: Comparisons, how: Uncertainty) -> Intervals:
    method = how.spec.method
    asked = method is Method.BAYES or method.resamples
    # of sides that share rows, and whose numbers do not add up to that of both
    overlapping = compared.rest is not None and denominator(metric.of) is None
    draws = asked or overlapping or is_drawn(metric.of)
    table = table_of(metric.of, how.outcome_masks) if draws else None
    if table is None or compared.group.clusters is not None:
        return contrast(metric, how.versus(metric.of, compared), compared, how.spec)
    too_few = few(np.minimum(*metric.sizes(compared.group.cases, compared.other.cases)))
    sharing = method.resamples and how.spec.reference is not ReferenceRule.BEST  # each has its own
    if sharing and isinstance(metric.of, (Rate, Quotient, Blend)):
        sides = [each.side for each in (compared.group, compared.other)]
        table = shared_table(table, metric.needs, sides)
    return drawn(metric, table, compared, how.spec, too_few, how.drawn)


@interval.register(Combined)
def _(metric: Combined, compared: Comparisons, how: Uncertainty) -> Intervals:
    parts = len(metric.of)
    stricter = how.of_each(parts)
    found = [interval(part, compared, stricter) for part in metric.of]
    limits = np.array([fold(each.low, each.high) for each in found])
    low, high = limits.max(axis=0) if metric.how == "worst" else limits.mean(axis=0)
    p = np.minimum(np.min([each.p for each in found], axis=0) * parts, 1.0)
    steps = (IntervalMethod.SIMULTANEOUS_PARTS, IntervalMethod.FOLDED)
    methods = [(*steps, *each) for each in found[0].methods]
    too_few = [
        next(filter(None, every), None) for every in zip(*(f.too_few for f in found), strict=True)
    ]
    return Intervals(low, high, p, methods, too_few, found[0].reason)


@interval.register(Imbalance)
def _(metric: Imbalance, compared: Comparisons, how: Uncertainty) -> Intervals:
    return imbalance(metric, compared, how.spec)


@interval.register(Distance)
def _(metric: Distance, compared: Comparisons, how: Uncertainty) -> Intervals:
    return distance(metric, compared, how.spec)


@interval.register(ScoreDistance)
def _(metric: ScoreDistance, compared: Comparisons, how: Uncertainty) -> Intervals:
    return score_distance(metric, compared, how.spec)


@interval.register(StandardisedDifference)
def _(metric: StandardisedDifference, compared: Comparisons, how: Uncertainty) -> Intervals:
    return standardised(metric, compared, how.spec)


@interval.register(CrossAuc)
def _(metric: CrossAuc, compared: Comparisons, how: Uncertainty) -> Intervals:
    return cross_area(metric, compared, how.spec)


@interval.register(ConditionalDisparity)
def _(metric: ConditionalDisparity, compared: Comparisons, how: Uncertainty) -> Intervals:
    return conditional(metric, compared, how.spec)


@interval.register(Inequality)
def _(metric: Inequality, compared: Comparisons, how: Uncertainty) -> Intervals:
    table = cells_table((TP, FP, FN, TN), metric.needs)
    rows, _ = metric.sizes(compared.group.cases, compared.reference.cases)
    return drawn(metric, table, compared, how.spec, few(rows))
