"""Uncertainty: the confidence interval of any metric and of any rate, under one specification.

What a metric is of decides how its interval is made: `interval` dispatches on the kind of a metric,
`contrast_intervals.statistic_interval` on the kind of a statistic. Methods that few audits
need are imported where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial, singledispatch
from itertools import repeat

import numpy as np

from fairgauge.catalogue.across import Across, GroupSpread
from fairgauge.catalogue.cells import FN, FP, TN, TP, Array
from fairgauge.catalogue.comparisons import Combined, ComparisonMetric, Contrast, Imbalance, Metric
from fairgauge.catalogue.distributions import (
    ConditionalDisparity,
    Inequality,
    OverallStandardisedMean,
    tested_statistic,
)
from fairgauge.catalogue.score_statistics import ScoreStatistic
from fairgauge.catalogue.statistics import Averaged, Kappa, Rate, Statistic
from fairgauge.enums import IntervalMethod, Method, Profile, ReferenceRule, Status
from fairgauge.inference.contrast_intervals import (
    EveryGroup,
    StatisticComparison,
    compare_statistics,
    contrast_interval,
    denominator,
    interval_of_groups,
    is_resampled,
    pooled_interval,
)
from fairgauge.inference.interval import (
    CLUSTERS_TOO_FEW,
    FEWEST_GROUPS,
    JACKKNIFE_UNDEFINED,
    Comparisons,
    Intervals,
    NoInterval,
    SideData,
    StatisticInterval,
    certainty,
    constant_scores,
    first_reasons,
    insufficient_clusters,
    insufficient_expected,
    insufficient_rows,
    insufficient_weights,
    limits_of_several,
    no_intervals,
    stricter,
    unique_methods,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import RateValue, as_count, as_number
from fairgauge.results.scopes import Bounds
from fairgauge.start.records import replace
from fairgauge.stats.arrays import Limits, Mask
from fairgauge.stats.contrasts import fold
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import tukey_adjusted, tukey_level
from fairgauge.stats.squares import in_deviations

PROTECTED_UNDEFINED = Reason.of(ReasonCode.PROTECTED_UNDEFINED)


class Uncertainty:
    """Intervals under one specification.

    What a difference and a ratio of one statistic have in common is computed once.

    ``simultaneous``: how many intervals hold at once (Bonferroni), of which one may be singled out.
    ``candidates``: of how many groups the data choose the reference. Comparisons with it then hold
        simultaneously for all pairs of them (Tukey), whichever is chosen.
    """

    def __init__(self, spec: Spec, simultaneous: int = 1, candidates: int = 1) -> None:
        self.spec = stricter(spec, simultaneous)
        self._asked = spec
        self._number = simultaneous
        self._candidates = candidates
        self._with_reference = self
        if candidates >= FEWEST_GROUPS:
            strict = replace(spec, confidence=tukey_level(candidates, self.spec.confidence))
            self._with_reference = Uncertainty(strict)
        self._compared: dict[tuple[Comparisons, Statistic], StatisticComparison | Reason] = {}
        self._expected: tuple[Statistic, ...] = ()

    def expect(self, metrics: Iterable[Metric]) -> None:
        """Announce the metrics that will be asked for: what they share is computed at once.

        Those of scores are compared over all rows alone; with the best group as the reference,
        every metric has its own.
        """
        if self.spec.reference is not ReferenceRule.BEST:
            contrasts = (tested_statistic(m) for m in metrics if isinstance(m, Contrast))
            self._expected = tuple(dict.fromkeys(s for s in contrasts if "score" not in s.needs))

    def anew(self) -> Uncertainty:
        """Return the same intervals for other counts, without what was computed."""
        return Uncertainty(self._asked, self._number, self._candidates)

    def rate_intervals(
        self, statistics: Sequence[Statistic], data: SideData, margin: Mask
    ) -> list[Intervals]:
        """Return the intervals of statistics of every group.

        ``margin`` states which groups are of all rows.
        """
        attempts: list[StatisticInterval | Reason] = []
        for statistic in statistics:
            try:
                attempts.append(interval_of_groups(statistic, data, margin, self.spec))
            except NoInterval as refused:
                attempts.append(refused.reason)
        size, none = len(margin), np.full(len(margin), np.nan)
        limits = limits_of_several(
            [a for a in attempts if isinstance(a, StatisticInterval)], self.spec
        )
        intervals: list[Intervals] = []
        for statistic, attempt in zip(statistics, attempts, strict=True):
            if isinstance(attempt, Reason):
                intervals.append(no_intervals(size, attempt))
                continue
            (low, high), methods = next(limits)
            reason, few = attempt.reason, list[list[Reason | None]]()
            if attempt.clusters is not None:
                reason = reason or CLUSTERS_TOO_FEW
                few.append(insufficient_clusters(attempt.clusters))
            few.append(insufficient_weights(data.effective_size, size))
            few += [] if attempt.sparse is None else [attempt.sparse.insufficient()]
            few += [] if attempt.constant is None else [constant_scores(attempt.constant)]
            limited = Intervals(low, high, none, [methods] * size, first_reasons(*few), reason)
            intervals.append(limited.containing(attempt.estimate, statistic.range))
        return intervals

    def metric_intervals(
        self, metric: ComparisonMetric, compared: Comparisons, value: Array
    ) -> Intervals:
        robust = isinstance(metric, (Contrast, Combined, ConditionalDisparity))
        how = self if metric.scope == "table" else self._with_reference
        try:
            if compared.group.clusters is None or robust:
                made = interval(metric, compared, how)
            else:
                from fairgauge.inference.clusters import jackknife_interval

                made = jackknife_interval(metric, compared, how.spec)
        except NoInterval as refused:
            return no_intervals(len(value), refused.reason)
        ours, theirs = compared.group.effective_size, compared.reference.effective_size
        sizes = None if ours is None or theirs is None else (ours, theirs)
        weights = insufficient_weights(sizes, len(value))
        too_few = [  # weights distort expected counts, and are named before them
            weight if weight and (few is None or few.code is ReasonCode.FEW_EXPECTED) else few
            for few, weight in zip(made.too_few, weights, strict=True)
        ]
        made = replace(made, too_few=too_few)
        if self.spec.profile is not Profile.DOCUMENTED:  # it may make 0 of 0/0
            right = metric.value(compared.group.side, compared.reference.side, Profile.DOCUMENTED)
            value = np.where(np.isclose(value, right), value, np.nan)
        if how is not self:
            made = self.whichever_is_chosen(made)
        closed = isinstance(metric, (Imbalance, ConditionalDisparity, OverallStandardisedMean))
        other_levels = closed and compared.group.clusters is None
        if isinstance(metric, Contrast):
            other_levels = not is_drawn(metric, compared, self.spec.method)

        def together(confidence: float) -> Limits:  # over all rows; NaN within strata
            spec = self._spec_at(confidence)
            if isinstance(metric, Contrast):
                comparison = self._with_reference.compared(tested_statistic(metric), compared)
                comparison = replace(comparison, ends=None)
                wider = contrast_interval(metric, comparison, compared, spec)
            else:
                wider = interval(metric, compared, Uncertainty(spec))
            margin = compared.margin
            return np.where(margin, wider.low, np.nan), np.where(margin, wider.high, np.nan)

        if metric.scope != "table" and other_levels:
            made = replace(made, together=together)
        return self._simultaneous(made.containing(value, metric.range))

    def pooled_intervals(
        self, metric: Contrast, compared: Comparisons, weights: Array, value: Array
    ) -> Intervals:
        """Return the interval of a contrast adjusted for strata, for every group."""
        unknown = is_resampled(metric.of) or isinstance(metric.of, Kappa)
        if unknown and compared.group.clusters is None:
            return no_intervals(len(value), Reason.of(ReasonCode.NO_POOLED_METHOD))
        if compared.group.clusters is None:
            pooled = partial(pooled_interval, metric, compared, weights)
        else:
            from fairgauge.inference.clusters import pooled_jackknife_interval

            pooled = partial(pooled_jackknife_interval, metric, compared, weights, value)
        try:
            made = pooled(self._with_reference.spec)
        except NoInterval as refused:
            return no_intervals(len(value), refused.reason)

        def together(confidence: float) -> Limits:
            wider = pooled(self._spec_at(confidence))
            return wider.low, wider.high

        made = replace(self.whichever_is_chosen(made), together=together)
        return self._simultaneous(made.containing(value, metric.range))

    def _spec_at(self, confidence: float) -> Spec:
        if self._with_reference is not self:
            confidence = tukey_level(self._candidates, confidence)
        return replace(self.spec, confidence=confidence)

    def feature_intervals(
        self, metric: Across, groups: EveryGroup, spread: GroupSpread
    ) -> Intervals:
        from fairgauge.inference.across_groups import (
            across_interval,
            clusters_per_group,
            rows_per_group,
        )

        slots, clustered = groups.slots, groups.data.clusters
        rows = rows_per_group(metric, groups.data.cases).reshape(slots, -1)
        slot = np.arange(slots)
        few = [insufficient_rows((rows[slot, spread.first], rows[slot, spread.second]))]
        effective = groups.data.effective_size
        if effective is not None:
            of_slots = effective.reshape(slots, -1)
            extremes = of_slots[slot, spread.first], of_slots[slot, spread.second]
            few.append(insufficient_weights(extremes, slots))
        none = np.full(slots, np.nan)
        try:
            if clustered is not None and "score" not in metric.needs:
                clusters = clusters_per_group(metric, clustered)
                known = np.where(rows.ravel() > 0, clusters, np.inf).reshape(slots, -1)
                few.insert(0, insufficient_clusters(known.min(axis=1)))
            made = across_interval(metric, groups, self.spec)
        except NoInterval as refused:
            return replace(no_intervals(slots, refused.reason), too_few=first_reasons(*few))
        if made.sparse is not None:
            of_groups = zip(made.sparse.insufficient(), rows.ravel().tolist(), strict=True)
            held = np.array([why if n > 0 else None for why, n in of_groups], dtype=object)
            few += made.counted(held.reshape(slots, -1), spread).T.tolist()
        few.append(insufficient_expected(made.expected(spread)))
        reason = made.reason if clustered is None else JACKKNIFE_UNDEFINED
        methods = [made.methods] * slots
        intervals = Intervals(*made.limits, none, methods, first_reasons(*few), reason)
        return self._simultaneous(intervals.containing(spread.value, metric.range))

    @property
    def spec_of_comparisons(self) -> Spec:
        """Return the specification at whose confidence comparisons of groups are made."""
        return self._with_reference.spec

    def whichever_is_chosen(self, intervals: Intervals) -> Intervals:
        """Return intervals with the reference that the data chose, and p-values that agree.

        They are made at Tukey's level where there are several candidates.
        """
        if self._with_reference is self:
            return intervals
        p = tukey_adjusted(intervals.p, self._candidates)
        methods = [
            (IntervalMethod.TUKEY, *steps) if steps else steps for steps in intervals.methods
        ]
        return replace(intervals, p=p, methods=methods)

    def _simultaneous(self, intervals: Intervals) -> Intervals:
        # intervals of which one may be singled out, for several hold at once
        if self._number == 1:
            return intervals
        p = np.minimum(intervals.p * self._number, 1.0)
        step = IntervalMethod.SIMULTANEOUS
        return replace(
            intervals, p=p, methods=[unique_methods(step, *method) for method in intervals.methods]
        )

    def compared(self, statistic: Statistic, compared: Comparisons) -> StatisticComparison:
        """Return what all contrasts of a statistic have in common."""
        if (compared, statistic) not in self._compared:
            together = self._expected if statistic in self._expected else (statistic,)
            made = compare_statistics(together, compared, self.spec)
            self._compared |= {(compared, of): each for of, each in made.items()}
        comparison = self._compared[compared, statistic]
        if isinstance(comparison, Reason):
            raise NoInterval(comparison)
        return comparison


def is_drawn(metric: Contrast, compared: Comparisons, method: Method) -> bool:
    """Return whether the interval of a contrast comes from random draws of the counts."""
    # of sides that share rows, and whose numbers do not add up to that of both
    of_classes = isinstance(metric.of, (Averaged, Kappa))
    overlapping = compared.rest is not None and denominator(metric.of) is None and not of_classes
    resampled = method in (Method.BAYES, Method.BOOTSTRAP) or is_resampled(metric.of)
    if compared.group.clusters is not None or not (resampled or overlapping):
        return False
    from fairgauge.inference._whole_tables import table_of

    return table_of(metric.of) is not None


@singledispatch
def interval(metric: ComparisonMetric, compared: Comparisons, how: Uncertainty) -> Intervals:
    """Return the interval of a metric by its kind."""
    from fairgauge.inference._metric_intervals import OF_KINDS

    made = OF_KINDS.get(type(metric))
    if made is None:
        raise NoInterval(ReasonCode.NO_METHOD, of=metric.title)
    return made(metric, compared, how.spec)


@interval.register(Contrast)
def _contrast_interval(metric: Contrast, compared: Comparisons, how: Uncertainty) -> Intervals:
    if is_drawn(metric, compared, how.spec.method):
        from fairgauge.inference._whole_tables import resampled_interval, table_of

        table = table_of(metric.of)
        assert table is not None
        sizes = metric.sizes(compared.group.cases, compared.other.cases)
        return resampled_interval(metric, table, compared, how.spec, insufficient_rows(sizes))
    comparison = how.compared(tested_statistic(metric), compared)
    return contrast_interval(metric, comparison, compared, how.spec)


@interval.register(OverallStandardisedMean)
def _standardised_interval(
    metric: OverallStandardisedMean, compared: Comparisons, how: Uncertainty
) -> Intervals:
    made = _contrast_interval(metric.difference, compared, how)
    of_all = metric.moments_of_all(compared.group.side)
    low, high = in_deviations(made.low, made.high, *of_all, critical(how.spec.confidence))
    return replace(made, low=low, high=high)


@interval.register(Combined)
def _combined_interval(metric: Combined, compared: Comparisons, how: Uncertainty) -> Intervals:
    number = len(metric.of)
    strict = Uncertainty(stricter(how.spec, number))
    parts = [interval(part, compared, strict) for part in metric.of]
    limits = np.array([fold(part.low, part.high) for part in parts])
    low, high = limits.mean(axis=0)
    if metric.how == "worst":  # the upper limit holds for whichever part is furthest
        low = limits[:, 0].max(axis=0)
        alone = [interval(part, compared, how) for part in metric.of]
        high = np.max([fold(part.low, part.high)[1] for part in alone], axis=0)
    p = np.minimum(np.min([part.p for part in parts], axis=0) * number, 1.0)
    steps = (IntervalMethod.SIMULTANEOUS, IntervalMethod.BALL)
    methods = [unique_methods(*steps, *method) for method in parts[0].methods]
    too_few = first_reasons(*(part.too_few for part in parts))
    return Intervals(low, high, p, methods, too_few, parts[0].reason)


@interval.register(Inequality)
def _inequality_interval(metric: Inequality, compared: Comparisons, how: Uncertainty) -> Intervals:
    from fairgauge.inference._whole_tables import CellLayout, resampled_interval

    table = CellLayout((TP, FP, FN, TN), metric.needs)
    rows, _ = metric.sizes(compared.group.cases, compared.reference.cases)
    return resampled_interval(metric, table, compared, how.spec, insufficient_rows(rows))


def rate_values(
    statistics: Sequence[Statistic],
    data: SideData,
    margin: Mask,
    how: Uncertainty,
    profile: Profile,
) -> dict[str, list[RateValue | None]]:
    """Return statistics of every group by name; None within strata where of all rows alone.

    ``margin``: shape (n,): which groups are of all rows, not within a stratum.
    """
    values = {}
    for statistic, made in zip(
        statistics, how.rate_intervals(statistics, data, margin), strict=True
    ):
        smallest = statistic.size(data.cases)
        if isinstance(statistic, ScoreStatistic):
            smallest = statistic.smallest_denominator(data.cases)
        made = replace(made, too_few=first_reasons(made.too_few, insufficient_rows(smallest)))
        level = how.spec.confidence
        values[statistic.name] = values_with(made, statistic, data, margin, level, profile)
    return values


def values_with(
    intervals: Intervals,
    statistic: Statistic,
    data: SideData,
    margin: Mask,
    level: float,
    profile: Profile,
    bounds: Sequence[Bounds | None] | None = None,
) -> list[RateValue | None]:
    """Return a statistic of every group with its intervals; ``bounds`` are of protected counts.

    Numerator and denominator are as counted: a rate times the size of a group counts rows that lack
    what the rate needs.
    """
    side, cases = data.side, data.cases
    under, error = map(as_count, statistic.all_rows(cases).tolist()), statistic.error(side)
    over: Iterable[float | None] = repeat(None)
    if isinstance(statistic, Rate):
        over = map(as_count, statistic.of.count(cases.counts(statistic.needs)).tolist())
    margin_only, values = "score" in statistic.needs, list[RateValue | None]()
    numbers = zip(statistic.value(side, profile).tolist(), over, under, strict=False)
    for i, (value, x, n) in enumerate(numbers):
        bound = None if bounds is None else bounds[i]
        if margin_only and not margin[i]:
            values.append(None)
        elif math.isnan(value) or (bounds is not None and bound is None):
            reason = statistic.why_undefined(side, i) if bounds is None else PROTECTED_UNDEFINED
            undefined = RateValue(
                value=None, numerator=x, denominator=n, status=Status.UNDEFINED, reason=reason
            )
            values.append(undefined)
        else:
            made = certainty(intervals, i, level)
            rate = RateValue(
                value=value,
                numerator=x,
                denominator=n,
                interval=made.get("interval"),
                bounds=bound,
                status=made["status"],
                reason=made["reason"],
                error=None if error is None else as_number(error[i]) or None,
            )
            values.append(rate)
    return values
