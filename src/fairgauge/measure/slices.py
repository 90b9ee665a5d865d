"""A slice: the counts of one feature under one outcome; makes its groups and estimates."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairgauge.catalogue import score_statistics as scored
from fairgauge.catalogue.cells import BOTH, Array, ConfusionCounts
from fairgauge.catalogue.comparisons import Combined, ComparisonMetric, Contrast, Imbalance, Metric
from fairgauge.catalogue.comparisons import Scope as MetricScope
from fairgauge.catalogue.distributions import (
    ConditionalDisparity,
    OverallStandardisedDifference,
    pool,
)
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import GroupKind, Profile, ReferenceKind, ReferenceRule, Status, Task
from fairgauge.identity import GroupId
from fairgauge.inference import Comparisons, FeatureGroups, SideData, Uncertainty
from fairgauge.inference.contrast_intervals import EveryGroup
from fairgauge.inference.interval import RoundedSides, certainty
from fairgauge.inference.missing_values import RowsWithoutStratum, most_unknown
from fairgauge.inference.possible import WorstCase, metric_cases, rate_cases
from fairgauge.inference.uncertainty import PROTECTED_UNDEFINED, rate_values
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, as_reference, group_fields
from fairgauge.resolve.outcomes import ALMOST_ALL, share_determined
from fairgauge.resolve.references import (
    CountsBySide,
    Measure,
    References,
    admissible_groups,
    resolve_references,
    rivals,
)
from fairgauge.resolve.resolution import protection_obstacle
from fairgauge.results import estimates as measured
from fairgauge.results.estimates import LEAST_COMMON, Estimate, Group, as_count, as_number
from fairgauge.results.scopes import OVERALL, POOLED, Bounds, ClassScope, Reference
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Index, Limits
from fairgauge.stats.intervals import critical, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fairgauge.catalogue.across import Across
    from fairgauge.inference.clusters import ClustersBySide
    from fairgauge.inference.protected_counts import CountRange
    from fairgauge.question.specification import Spec
    from fairgauge.resolve.outcomes import OutcomeMasks
    from fairgauge.results.estimates import ComparisonKey


Result: TypeAlias = dict[str, Any]
"""The fields of an estimate that state the result of its comparison."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSides:
    """The comparisons of a metric: sides by number, slots, and the reference of each."""

    groups: Index
    references: Index
    slots: Index
    each: Sequence[Reference | None]
    mirrored: int | None = None
    """The group whose comparison is that of the other one, seen from its side."""


class Slice:
    """The counts of one feature under one outcome: what is compared with what.

    Its intervals hold simultaneously for ``simultaneous`` classes, of which the worst may then be
    chosen.
    """

    def __init__(
        self,
        counts: GroupCounts,
        outcome: OutcomeMasks,
        spec: Spec,
        per_class: Sequence[OutcomeMasks] = (),
        simultaneous: int = 1,
    ) -> None:
        self.counts = counts
        self.outcome = outcome
        self.spec = spec
        self._per_class = per_class
        by_side = partial(CountsBySide, counts, outcome, spec.profile, per_class)
        self.cases = self.sides = by_side()
        self.squares: CountsBySide | None = None
        self.cubes: CountsBySide | None = None
        if counts.unequally_weighted:
            self.sides, self.squares = by_side("w"), by_side("w2")
            self.cubes = by_side("w3") if "w3" in counts.counts else None
        self.clusters: ClustersBySide | None = None
        if counts.design is not None or counts.clusters is not None:
            from fairgauge.inference.clusters import ClustersBySide, DesignBySide

            of_clusters = ClustersBySide if counts.design is None else DesignBySide
            self.clusters = of_clusters(counts, outcome, spec, per_class)
        self.ranges: tuple[CountsBySide, ...] | None = None
        if counts.protected:
            self.ranges = by_side("low"), by_side("high"), by_side("noise")
        best = spec.reference is ReferenceRule.BEST
        candidates = int(admissible_groups(counts, spec).sum()) if best else 1
        self.uncertainty = Uncertainty(spec, simultaneous, candidates)
        self.together: dict[ComparisonKey, tuple[Callable[[float], Limits], int]] = {}
        self._compared: dict[tuple[bytes, bool], ComparedSides] = {}
        self._comparisons: dict[tuple[ComparedSides, MetricScope, bool], Comparisons] = {}

    def groups(
        self,
        rates: Iterable[Statistic],
        class_scope: ClassScope | None = None,
        *,
        total: bool = False,
    ) -> Iterator[Group]:
        """Return the counts and rates of every group in every slot; the class of an average.

        With ``total``, those of all groups together instead, over all strata.
        """
        sides = len(self.counts.groups) + self.counts.has_others
        which, slots = self._pairs_of_slots(np.arange(sides))
        if total:
            which, slots = np.array([self.sides.whole]), np.zeros(1, dtype=np.int64)
        kinds = {
            len(self.counts.groups): ReferenceKind.OTHERS,
            self.sides.whole: ReferenceKind.OVERALL,
        }
        names = {g: group_fields(self.counts, g) for g in range(len(self.counts.groups))}
        for g, kind in kinds.items():
            names[g] = {"group": str(kind), "group_id": GroupId(GroupKind(kind))}
        data = self.side_data(which, slots)
        cases, side = data.cases, data.side
        whole = self.sides.pick(np.full_like(which, self.sides.whole), slots)
        how, profile, margin = self.uncertainty, self.spec.profile, slots == 0
        rates = list(rates)
        if self.ranges is None:
            values = rate_values(rates, data, margin, how, profile)
        else:
            from fairgauge.inference.protected_counts import protected_rates

            values = protected_rates(rates, self._range(which, slots), data, margin, how)
        weighted = self.counts.weighted
        has_cells = self.counts.has_labels and self.counts.has_predictions
        has_cells &= not self._per_class and self.spec.task is not Task.REGRESSION
        # a score without a threshold decides nothing
        has_cells &= self.spec.prediction is not None or self.outcome.threshold is not None
        given = self.counts.in_given_weights
        weights = given(side.size) if weighted else None
        cells = given(side.counts(BOTH)) if has_cells and weighted else None
        if weighted:
            for row in (each for each in rates if isinstance(each, Rate)):
                among = given(row.among.count(side.counts(row.needs))).tolist()
                values[row.name] = [
                    rate
                    and replace(
                        rate, weighted_denominator=weight, reason=_reason_of_weights(rate.reason)
                    )
                    for rate, weight in zip(values[row.name], among, strict=True)
                ]
        for i, (g, slot) in enumerate(zip(which.tolist(), slots.tolist(), strict=True)):
            yield Group(
                feature=self.counts.feature,
                feature_id=self.counts.feature_id,
                **names[g],
                reference_kind=kinds.get(g),
                scope=self.counts.scope(slot),
                class_scope=class_scope or self.outcome.class_scope,
                threshold=self.outcome.threshold,
                n=as_count(cases.size[i]),
                weight=None if weights is None else float(weights[i]),
                share=float(side.size[i] / whole.size[i]) if whole.size[i] else None,
                counts=_confusion_fields(cases.counts(BOTH)[i]) if has_cells else None,
                weighted_counts=None if cells is None else _confusion_fields(cells[i]),
                rates={name: rate for name, each in values.items() if (rate := each[i])},
            )

    def score_curves(self, rates: Iterable[Statistic]) -> Iterator[measured.ScoreCurve]:
        """Return what is drawn of the scores of every group, as far as the rates are asked for."""
        asked = [e for e in rates if isinstance(e, scored.ScoreStatistic) and e.labelled]
        if not asked or self.ranges is not None:
            return
        feature, names = self.counts.feature, self.counts.groups
        data = self.side_data(np.arange(len(names)), np.zeros(len(names), dtype=np.int64))
        scores, cases = scored.scores_of(data.side), scored.scores_of(data.cases)
        rows, positives, total = scored.decile_counts(scores)
        plain = 1.0 if data.squares is None and data.clusters is None else np.nan
        limits = plain * np.stack(wilson(positives, rows, critical(self.spec.confidence)))
        means = np.stack([total, positives]) / np.where(rows > 0, rows, 1.0)
        columns = np.stack([scored.decile_counts(cases)[0], *means, *limits], axis=-1)
        roc = any(isinstance(each, scored.RocAuc) for each in asked)
        drawn = scored.roc_points(scores) if roc else [np.zeros((2, 0)) for _ in names]
        for group, held, of_bins, points in zip(names, rows, columns, drawn, strict=True):
            kept = np.flatnonzero(held).tolist() if any(e.probability for e in asked) else ()
            bins = tuple(measured.ScoreBin((b + 1) / 10, *map(as_count, of_bins[b])) for b in kept)
            yield measured.ScoreCurve(feature, group, bins, *map(tuple, points.tolist()))

    def estimates(
        self,
        metric: ComparisonMetric,
        obstacle: Reason | None = None,
        *,
        class_scope: ClassScope | None = None,
        compared: ComparedSides | None = None,
    ) -> Iterator[Estimate]:
        """Return one estimate of a metric for every comparison; the class of an average."""
        obstacle = obstacle or self._protection(metric)
        compared = compared or self.compared(metric, obstacle)
        base = self._unmeasured_estimate(metric, class_scope)
        result_at, together = None, None
        if obstacle is None:
            result_at, together = self._make_results(metric, compared)
        refused: Result = {"status": Status.NOT_APPLICABLE, "reason": obstacle}
        incomplete = np.zeros(len(compared.groups), dtype=np.bool_)
        if result_at and isinstance(metric, ConditionalDisparity):
            sides = compared.groups, compared.references
            incomplete = self._stratum_absent.change(metric.margin, *sides)
        for i, group in enumerate(compared.groups.tolist()):
            scope = self.counts.scope(compared.slots[i])
            estimate = replace(
                base,
                **group_fields(self.counts, group),
                reference=compared.each[i],
                mirror_of=self._mirror_of(metric, compared, group),
                scope=POOLED if metric.scope == "pooled" else scope,
                **(result_at(i) if result_at else refused),
            )
            if incomplete[i] and estimate.reason is None:
                estimate = replace(estimate, reason=self._left_out())
            if together and compared.slots[i] == 0:
                self.together[estimate.key] = together, i
            yield estimate

    def across(
        self,
        metric: Across,
        obstacle: Reason | None = None,
        *,
        class_scope: ClassScope | None = None,
    ) -> Iterator[Estimate]:
        """Return a metric of all groups at once, overall and in every stratum."""
        obstacle = obstacle or self._protection(metric)
        base = self._unmeasured_estimate(metric, class_scope)
        if obstacle:
            yield replace(base, status=Status.NOT_APPLICABLE, reason=obstacle)
            return
        if not self.counts.groups:
            yield replace(base, status=Status.UNDEFINED, reason=Reason.of(ReasonCode.NO_GROUPS))
            return
        groups = self._groups_overall if "score" in metric.needs else self._groups_everywhere
        spread = metric.across(groups.data.side, groups.slots, self.spec.profile)
        intervals = self.uncertainty.feature_intervals(metric, groups, spread)
        for slot, value in enumerate(spread.value.tolist()):
            scope = self.counts.scope(slot)
            if math.isnan(value):
                why = metric.why_undefined(spread, slot)
                yield replace(base, scope=scope, status=Status.UNDEFINED, reason=why)
                continue
            furthest: dict[str, Any] = {}
            if spread.apart[slot]:  # of groups that do not differ, none are furthest apart
                first, second = int(spread.first[slot]), int(spread.second[slot])
                reference = as_reference(self.counts, second)
                furthest = {**group_fields(self.counts, first), "reference": reference}
            how = certainty(intervals, slot, self.spec.confidence)
            yield replace(base, scope=scope, value=value, **furthest, **how)

    def pooled(self, metric: Metric, obstacle: Reason | None = None) -> Iterator[Estimate]:
        """Return a contrast adjusted for the strata, for every group.

        Each side is the mean of its strata, with the weights of Mantel and Haenszel,
        n_d n_a / (n_d + n_a), over the strata in which both sides are known.
        """
        strata = len(self.counts.strata)
        if not strata or obstacle or not isinstance(metric, Contrast) or "score" in metric.needs:
            return
        once = self.compared(metric)
        margin = once.slots == 0
        references = [each for each, kept in zip(once.each, margin, strict=True) if kept]
        groups = once.groups[margin]
        bases = [
            replace(
                self._unmeasured_estimate(metric),
                **group_fields(self.counts, group),
                reference=reference,
                mirror_of=self._mirror_of(metric, once, group),
                scope=POOLED,
            )
            for group, reference in zip(groups.tolist(), references, strict=True)
        ]
        if self.ranges is not None:
            status, reason = Status.NOT_APPLICABLE, Reason.of(ReasonCode.PROTECTED)
            yield from (replace(each, status=status, reason=reason) for each in bases)
            return
        compared = ComparedSides(
            np.repeat(groups, strata),
            np.repeat(once.references[margin], strata),
            np.tile(np.arange(strata) + 1, len(groups)),
            references,
        )
        data = self.comparisons(metric, compared)
        group, reference = data.group, data.reference
        pooled = pool(metric, group.side, reference.side, strata, self.spec.profile)
        intervals = self.uncertainty.pooled_intervals(metric, data, pooled.weights, pooled.value)
        cases = metric.sizes(group.cases, reference.cases)
        both = (cases[0] > 0) & (cases[1] > 0)  # of a stratum of one side alone nothing is compared
        rows = metric.all_rows(group.cases, reference.cases)
        n_group, n_reference = ((each * both).reshape(-1, strata).sum(axis=1) for each in rows)
        whole = ComparedSides(groups, once.references[margin], np.zeros_like(groups), references)
        every = self.comparisons(metric, whole)
        all_cases = metric.all_rows(every.group.cases, every.reference.cases)
        few = (n_group < LEAST_COMMON * all_cases[0]) | (n_reference < LEAST_COMMON * all_cases[1])
        of, determined = metric.of, np.zeros(len(n_group), dtype=np.bool_)
        if isinstance(of, Rate) and self.spec.profile is Profile.DOCUMENTED:
            # where the strata decide the outcome, nothing is compared
            ours, theirs = (side.cases.counts(of.needs) for side in (group, reference))
            positive, every_row = (
                (each.count(ours) + each.count(theirs)).reshape(-1, strata)
                for each in (of.of, of.among)
            )
            shares = map(share_determined, positive, every_row)
            determined = np.array([share >= ALMOST_ALL for share in shares], dtype=np.bool_)
        incomplete = self._stratum_absent.change(metric.of, groups, once.references[margin])
        for i, base in enumerate(bases):
            value, rate = float(pooled.value[i]), as_number(pooled.group[i])
            sizes = as_count(n_group[i]), as_count(n_reference[i])
            base = replace(base, n_group=sizes[0], n_reference=sizes[1])
            if determined[i]:
                reason = Reason.of(ReasonCode.STRATA_DECIDE, of=metric.of.title)
                yield replace(base, status=Status.NOT_APPLICABLE, reason=reason)
                continue
            estimate = replace(base, rate_group=rate, rate_reference=as_number(pooled.reference[i]))
            if math.isnan(value):
                why = Reason.of(ReasonCode.BOTH_SIDES_ZERO)
                if rate is None:
                    why = Reason.of(ReasonCode.NO_COMMON_STRATUM)
                elif metric.of.range[0] < 0:
                    why = Reason.of(ReasonCode.RATIO_NOT_ABOVE_ZERO, rate=metric.of.title)
                yield replace(estimate, status=Status.UNDEFINED, reason=why)
            else:
                if intervals.together:
                    self.together[estimate.key] = intervals.together, i
                adjusted = replace(
                    estimate, value=value, **certainty(intervals, i, self.spec.confidence)
                )
                # what may be significant without an interval has to state this rather than why
                if adjusted.reason is None or adjusted.p_value is not None:
                    if incomplete[i]:
                        adjusted = replace(adjusted, reason=self._left_out())
                    elif few[i]:
                        adjusted = replace(adjusted, reason=Reason.of(ReasonCode.FEW_COMPARED))
                yield adjusted

    @cached_property
    def _stratum_absent(self) -> RowsWithoutStratum:
        return RowsWithoutStratum(self.counts, self.outcome, self.spec, self._per_class)

    def _left_out(self) -> Reason:
        rows, total = self._stratum_absent.rows, self._stratum_absent.total
        return Reason.of(ReasonCode.STRATA_MISSING, rows=rows, total=total, **self.spec.unit)

    def worst_cases(self, metric: Metric) -> dict[ComparisonKey, tuple[WorstCase, ...]]:
        """Return how far a metric could move, whatever rows without a group or an outcome are."""
        sides = chosen = None
        if isinstance(metric, (Contrast, Combined, OverallStandardisedDifference)):
            compared = self.compared(metric)
            margin = compared.slots == 0
            sides = compared.groups[margin], compared.references[margin]
            if self.ranges is not None:
                return {} if self._per_class else self._bounded_worst_cases(metric, sides)
            chosen = rivals(self.counts, self.spec)
        asked = self.spec.profile, chosen, self._per_class
        return metric_cases(self.counts, self.outcome, metric, sides, *asked)

    def worst_rates(self, rate: Statistic) -> dict[ComparisonKey, tuple[WorstCase, ...]]:
        """Return how far the rates of groups could move, likewise."""
        return rate_cases(self.counts, self.outcome, rate, self.spec.profile, self._per_class)

    def groups_at(self, at: Index) -> FeatureGroups:
        """Return some of the groups over all rows, to be compared with each other."""
        return FeatureGroups(
            self.counts.feature,
            [self.counts.groups[i] for i in at],
            self.outcome.class_scope,
            self.outcome.threshold,
            lambda which: self.side_data(at[which], np.zeros_like(which)),
        )

    def side_data(
        self, which: Index, slots: Index, *, pooled: bool = False, overall: bool = False
    ) -> SideData:
        """Return what is known of some sides, weighted and not; of all rows too where needed."""

        def picked(sides: CountsBySide) -> ConfusionCounts:
            return sides.pick(which, slots, pooled=pooled, overall=overall)

        cases = picked(self.cases)
        clusters = None
        if self.clusters:
            clusters = self.clusters.pick(which, slots, pooled=pooled, overall=overall)
        everyone = None
        whole = self.sides.whole
        if {"yy", "pp"} & {*self.counts.counts} and not clusters and (which != whole).any():
            # the tails of errors are borrowed from all rows
            everyone = self.side_data(np.full_like(which, whole), slots)
        if self.ranges is not None and (base := self.counts.largest_base):
            low, high, noise = map(picked, self.ranges)
            return SideData(cases, cases, rounded=RoundedSides(low, high, noise, base))
        if self.squares is None:
            return SideData(cases, cases, None, clusters, everyone)
        side, squares = picked(self.sides), picked(self.squares)
        cubes = self.cubes.pick(which, slots) if self.cubes else None
        return SideData(side, cases, squares, clusters, everyone, cubes)

    @cached_property
    def _groups_overall(self) -> EveryGroup:
        groups = np.arange(len(self.counts.groups))
        return EveryGroup(self.side_data(groups, np.zeros_like(groups)), slots=1)

    @cached_property
    def _groups_everywhere(self) -> EveryGroup:
        which, slots = self._pairs_of_slots(np.arange(len(self.counts.groups)))
        return EveryGroup(self.side_data(which, slots), slots=1 + len(self.counts.strata))

    def comparisons(self, metric: Metric, compared: ComparedSides) -> Comparisons:
        """Return both sides of every comparison."""
        key = compared, metric.scope, metric.needs_overall
        if key not in self._comparisons:
            slots, pooled = compared.slots, metric.scope == "pooled"
            group, reference = (
                self.side_data(which, slots, pooled=pooled, overall=metric.needs_overall)
                for which in (compared.groups, compared.references)
            )
            inside = metric.scope != "table" and (compared.references == self.sides.whole).all()
            others = compared.groups + self.sides.others
            rest = self.side_data(others, slots, pooled=pooled) if inside else None
            self._comparisons[key] = Comparisons(group, reference, rest, margin=slots == 0)
        return self._comparisons[key]

    def references(self, metric: Metric | None, by_rows: Array | None = None) -> References:
        """Return what every group is compared with under a metric, as `resolve_references`."""
        return resolve_references(self.counts, self.sides, metric, self.spec, by_rows)

    def compared(self, metric: Metric, obstacle: Reason | None = None) -> ComparedSides:
        """Return what a metric compares here, or would if nothing stood against it."""
        if metric.scope == "table":
            groups = np.arange(len(self.counts.groups))
            return ComparedSides(groups, groups, np.zeros_like(groups), [None])
        overall = metric.scope == "pooled" or "score" in metric.needs  # scores are counted overall
        best = self.spec.reference is ReferenceRule.BEST and not obstacle
        references = self.references(metric) if best else self._references_of_any
        key = references.sides.tobytes(), overall
        if key not in self._compared:  # what is compared alike is computed once
            groups = np.arange(len(self.counts.groups))
            which = groups[references.sides != groups]
            slots = np.zeros_like(which)
            if not overall:
                which, slots = self._pairs_of_slots(which)
            each = [references.each[g] for g in which]
            # two groups that are each other's reference are one comparison: the smaller group
            # stands for both; of equally many rows, the first
            mutual = set(references.each) == {Reference(ReferenceKind.OTHERS)}
            two = len(self.counts.groups) == 2 and not self.counts.has_others
            mirrored = 1 - int(np.argmin(self.counts.cases)) if mutual and two else None
            compared_sides = ComparedSides(which, references.sides[which], slots, each, mirrored)
            self._compared[key] = compared_sides
        return self._compared[key]

    @cached_property
    def _references_of_any(self) -> References:
        return self.references(None)

    def _mirror_of(
        self, metric: ComparisonMetric, compared: ComparedSides, group: int
    ) -> str | None:
        if group != compared.mirrored or not metric.symmetric:
            return None
        return self.counts.groups[1 - group]

    def _make_results(self, metric: ComparisonMetric, compared: ComparedSides) -> _Results:
        profile = self.spec.profile
        data = self.comparisons(metric, compared)
        group, reference = data.group.side, data.reference.side
        values = metric.value(group, reference, profile)
        rates = metric.side_values(group, reference, profile)
        if isinstance(metric, Imbalance):  # of sums of weights
            rates = self.counts.in_given_weights(rates[0]), self.counts.in_given_weights(rates[1])
        cases = data.group.cases, data.reference.cases
        sizes = metric.all_rows(*cases)
        error = metric.error(group, reference)
        every: Sequence[Bounds | None] | None = None
        if self.ranges is None:
            intervals = self.uncertainty.metric_intervals(metric, data, values)
        else:
            from fairgauge.inference.protected_counts import protected_contrasts

            sides = compared.groups, compared.references
            ours, theirs = (self._range(which, compared.slots) for which in sides)
            every, intervals = protected_contrasts(metric, ours, theirs, data, self.uncertainty)
        lacking = profile.as_smclarify
        counts = [
            [None if n != n else int(n) if n == int(n) else n for n in of.tolist()] for of in sizes
        ]
        shares = [[None if rate != rate else rate for rate in of.tolist()] for of in rates]
        every_side = [
            dict(zip(_SIDES, each, strict=True)) for each in zip(*counts, *shares, strict=True)
        ]

        def result(i: int) -> Result:
            sides = every_side[i]
            empty = group.size[i] == 0 or reference.size[i] == 0
            if lacking and empty and metric.scope not in ("table", "pooled"):
                reason = Reason.of(ReasonCode.EMPTY_FACET)
                return {**sides, "status": Status.ERROR, "reason": reason}
            value, bounds = float(values[i]), None if every is None else every[i]
            if every is not None and (bounds is None or math.isnan(value)):
                return {**sides, "status": Status.UNDEFINED, "reason": PROTECTED_UNDEFINED}
            if math.isnan(value):
                status = Status.ERROR if lacking else Status.UNDEFINED
                why: Reason | None = metric.why_undefined(group, reference, i)
                why = _reason_of_weights(why) if self.counts.weighted else why
                return {**sides, "status": status, "reason": why}
            return {
                **sides,
                "value": value,
                "bounds": bounds,
                "error": None if error is None else as_number(error[i]) or None,
                **certainty(intervals, i, self.spec.confidence),
            }

        return result, intervals.together

    def _protection(self, metric: Metric) -> Reason | None:
        return None if self.ranges is None else protection_obstacle(metric, self.spec)

    def _range(self, which: Index, slots: Index) -> CountRange:
        assert self.ranges is not None
        low, high, _ = (sides.pick(which, slots) for sides in self.ranges)
        return low, high

    def _bounded_worst_cases(
        self, metric: Metric, sides: tuple[Index, Index]
    ) -> dict[ComparisonKey, tuple[WorstCase, ...]]:
        unknown = {m: each[:, 0].sum() for m, each in self.counts.unknown.items()}
        if not unknown["high"] or self._protection(metric) or not isinstance(metric, Contrast):
            return {}
        from fairgauge.inference.protected_counts import most_of_sum, protected_worst_cases

        margin, rows = np.zeros_like(sides[0]), int(unknown["high"])
        group, reference = (self.sides.pick(which, margin) for which in sides)
        ends = [self._range(which, margin) for which in sides]
        if self.counts.largest_base:  # the interval allows for the rounding of those with a group
            ends = [(group, group), (reference, reference)]
            rows = int(most_of_sum(*map(unknown.__getitem__, _OF_SUMS)))
        ours, theirs = map(self._most_unknown, sides)
        value = metric.value(group, reference, self.spec.profile)
        low, high = protected_worst_cases(metric, ends[0], ends[1], (ours, theirs), value)
        scope, threshold = self.outcome.class_scope, self.outcome.threshold_of(metric)
        names = [self.counts.groups[at] for at in sides[0].tolist()]
        return {
            (metric.name, self.counts.feature, name, OVERALL, scope, threshold): (
                WorstCase(float(low[i]), float(high[i]), rows, at_most=True),
            )
            for i, name in enumerate(names)
        }

    def _most_unknown(self, which: Index) -> ConfusionCounts:
        from fairgauge.inference.protected_counts import most_of_sum

        asked = self.counts, self.outcome, self.spec.profile, which
        known, noise, most = (most_unknown(*asked, measure) for measure in _OF_SUMS)
        if not self.counts.largest_base:
            return most
        of_needs = {n: (known.cells[n], noise.cells[n], most.cells[n]) for n in most.cells}
        return replace(most, cells={n: most_of_sum(*each) for n, each in of_needs.items()})

    def _unmeasured_estimate(
        self, metric: Metric, class_scope: ClassScope | None = None
    ) -> Estimate:
        return Estimate(
            metric=metric.name,
            definition=metric,
            set=metric.set,
            feature=None if metric.scope == "table" else self.counts.feature,
            feature_id=None if metric.scope == "table" else self.counts.feature_id,
            group=None,
            reference=None,
            class_scope=class_scope or self.outcome.class_scope,
            threshold=self.outcome.threshold_of(metric),
        )

    def _pairs_of_slots(self, which: Index) -> tuple[Index, Index]:
        slots = np.arange(1 + len(self.counts.strata))
        return np.tile(which, len(slots)), np.repeat(slots, len(which))


# returns the result of one comparison; and the limits of all of them at another level
_Results: TypeAlias = "tuple[Callable[[int], Result], Callable[[float], Limits] | None]"


_OF_SUMS: tuple[Measure, ...] = ("n", "noise", "high")
_SIDES = ("n_group", "n_reference", "rate_group", "rate_reference")


def _reason_of_weights(reason: Reason | None) -> Reason | None:
    # a reason of weighted counts: an empty denominator has no weights above 0
    if reason is None or reason.code is not ReasonCode.EMPTY_DENOMINATOR:
        return reason
    return replace(reason, parameters=(*reason.parameters, ("weighted", True)))


def _confusion_fields(counts: Array) -> dict[str, float]:
    return dict(zip(("tp", "fp", "fn", "tn"), map(as_count, counts), strict=True))


def slice_of(estimate: Estimate, slices: Iterable[Slice]) -> Slice | None:
    """Return the first slice whose counts an estimate is of."""
    of = estimate.feature, estimate.class_scope.name
    for part in slices:
        here = part.counts.feature, part.outcome.class_scope.name
        if here == of and estimate.threshold in (None, part.outcome.threshold):
            return part
    return None


def numbers_of_sides(estimate: Estimate, part: Slice) -> tuple[int, int]:
    """Return the group and its reference by number, which data of other rows may not choose."""
    groups = part.counts.groups
    group = groups.index(estimate.group or "")
    if estimate.reference is not None and estimate.reference.group is not None:
        return group, groups.index(estimate.reference.group)
    return group, int(part.references(estimate.definition).sides[group])
