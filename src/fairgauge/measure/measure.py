"""Computing every rate and metric that is asked for from the resolved counts.

Every metric is one vectorised call over all comparisons, so 2,000 strata cost little more than one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fairgauge.catalogue.across import Across, Spread, is_of_one_group
from fairgauge.catalogue.catalogue import OF_ALL_CLASSES
from fairgauge.catalogue.comparisons import ComparisonMetric, Contrast, Imbalance, Metric, RowMetric
from fairgauge.catalogue.distributions import ConditionalDisparity, Distance
from fairgauge.catalogue.statistics import AVERAGES, Statistic, agreement, class_average
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import steps_of
from fairgauge.enums import (
    ClassKind,
    DiagnosticCode,
    Profile,
    ReferenceRule,
    ScopeKind,
    Status,
    Task,
    WhyInconclusive,
)
from fairgauge.identity import FeatureId, GroupId, ValueSet
from fairgauge.inference import families, missing_values
from fairgauge.inference.families import Family
from fairgauge.inference.interval import FEWEST_GROUPS, FeatureGroups, NoInterval
from fairgauge.inference.possible import Cases, could_undo
from fairgauge.measure import _small_groups
from fairgauge.measure._small_groups import Small
from fairgauge.measure.measured import Measured, UnrecordedMeasured
from fairgauge.measure.slices import Slice, numbers_of_sides, slice_of
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve import question_checks
from fairgauge.resolve.group_counts import GroupCounts
from fairgauge.resolve.outcomes import constant_outcomes, reason_of_one_value
from fairgauge.resolve.references import Tie, large_groups
from fairgauge.resolve.resolution import (
    AskedMetric,
    Resolution,
    asked_rates,
    normalise_weights,
    resolve,
)
from fairgauge.results.estimates import EVERYONE, Estimate, Group, GroupPair, is_significant
from fairgauge.results.scopes import NO_CLASS, ClassScope, Diagnostic
from fairgauge.start.records import replace
from fairgauge.values import name_of

_FULL_COVERAGE = 0.9
# the confidence by which outcomes of a single group are reversed: reports have many groups.
_NO_COINCIDENCE = 0.9999

if TYPE_CHECKING:
    from fairgauge.measure._measure_unrecorded import EstimatedGroups


class ByRows(Protocol):
    """Computes from the rows what counts cannot give."""

    def metrics(
        self, asked: Sequence[RowMetric], resolution: Resolution
    ) -> tuple[list[Estimate], list[Diagnostic]]:
        """Compute the metrics of rows."""

    def exact_scores(self, resolution: Resolution) -> tuple[GroupCounts, ...] | None:
        """Return the counts of every feature with exact scores; None where there are too many."""


def estimated_groups(cube: Cube, spec: Spec) -> Sequence[EstimatedGroups]:
    """Return the counts of the features of which only probabilities are known."""
    if not spec.probabilities:
        return ()
    from fairgauge.measure._measure_unrecorded import EstimatedGroups

    scaled, unknown = normalise_weights(cube)[0], frozenset(map(name_of, spec.unknown))
    return [EstimatedGroups(each, i, scaled, unknown) for i, each in enumerate(spec.probabilities)]


def measure(
    cube: Cube,
    spec: Spec,
    by_rows: ByRows | None = None,
    estimated: Sequence[EstimatedGroups] | None = None,
) -> Measured:
    """Compute every rate and metric that is asked for.

    ``by_rows`` computes the metrics that need the rows themselves; without it they are not
    applicable. ``estimated`` are the groups of which only probabilities are known, to be estimated
    once for several confidence levels.
    """
    resolution = resolve(cube, spec)
    binned = resolution.features
    diagnostics: list[Diagnostic] = []
    if any("score" in a.metric.needs and a.obstacle is None for a in resolution.metrics):
        exact = by_rows.exact_scores(resolution) if by_rows else None
        if exact is None:
            bins = steps_of(spec.score_range)
            diagnostics.append(Diagnostic.note(DiagnosticCode.BINNED_SCORES, spec.score, bins=bins))
        else:
            resolution = replace(resolution, features=exact)
    rates = asked_rates(cube, spec, resolution.task, resolution.metrics)
    unrecorded = estimated_groups(cube, spec) if estimated is None else estimated
    small = _small_groups.small_groups([*resolution.features, *unrecorded], spec)
    parts = [_MeasuredFeature(counts, resolution, rates, small) for counts in resolution.features]
    estimates = [estimate for part in parts for estimate in part.estimates]
    diagnostics += [note for part in parts for note in part.diagnostics]
    diagnostics += doubts_of_measures(resolution)
    of_table = [asked for asked in resolution.metrics if asked.metric.scope == "table"]
    binary = resolution.task is Task.BINARY
    for outcome in resolution.outcomes[: None if binary else 1] if of_table else ():
        whole = Slice(resolution.everyone, outcome, resolution.spec)
        estimates += [each for asked in of_table for each in _measure_slice(whole, asked)]
    mixed = UnrecordedMeasured()
    if unrecorded:
        from fairgauge.measure._measure_unrecorded import measure_unrecorded

        mixed = measure_unrecorded(unrecorded, resolution, rates)
    estimates += mixed.estimates
    diagnostics = [*mixed.diagnostics, *diagnostics]
    rowwise, notes = _measure_row_metrics(resolution, by_rows)
    estimates += rowwise
    diagnostics += notes
    homogeneity = [note for part in parts for note in part.homogeneity]
    together = {key: limits for part in parts for key, limits in part.together.items()}
    together |= mixed.together
    constant = constant_outcomes(cube, spec, resolution.outcomes, resolution.task)
    marked = _small_groups.mark_estimates(estimates, small)
    for i, each in enumerate(marked if constant else ()):
        # a minimum or maximum is no comparison of groups: it is what it is where they cannot differ
        if each.status is Status.OK and not is_of_one_group(each.definition):
            reason = reason_of_one_value(each.definition.needs, each.threshold, constant)
            if reason is not None:
                marked[i] = replace(each, status=Status.TOO_FEW, reason=reason)
    adjusted, family = families.adjusted_estimates(marked, together, homogeneity, spec.confidence)
    slices = [each for part in parts for each in part.slices]
    adjusted = tuple(_conclude_estimates(adjusted, slices, family.level))
    pairs = [pair for part in parts for pair in part.compare_pairs(family)]
    groups = _small_groups.mark_groups(
        [*(g for part in parts for g in part.groups), *mixed.groups], small
    )
    diagnostics += question_checks.few_published(binned, spec, groups)
    diagnostics += _small_groups.excluded_groups(cube, resolution, rates)
    diagnostics += missing_values.uncounted_rows(cube, binned, spec)
    return Measured(
        task=resolution.task,
        groups=tuple(groups),
        totals=(*(total for part in parts for total in part.totals), *mixed.totals),
        estimates=adjusted,
        diagnostics=(
            *diagnostics,
            *families.adjustment_notes(adjusted, spec),
            *families.family_notes(family, homogeneity, spec.confidence),
        ),
        pairs=tuple(pairs),
        worst_cases={key: of for part in parts for key, of in part.worst_cases.items()},
        unit=spec.unit.get("unit"),
        lacking={key: rows for part in parts for key, rows in part.lacking.items()},
        groupless={key: rows for part in parts for key, rows in part.groupless.items()},
        uncounted=missing_values.large_uncounted(cube, binned, spec),
        adequate={key: of for part in parts for key, of in part.adequate.items()},
        group_ids={
            **{of.feature: dict(zip(of.groups, of.group_ids, strict=True))
               for of in resolution.features},
            **{of.feature: {name: GroupId.of(ValueSet((name,))) for name in of.groups}
               for of in unrecorded},
        },
        feature_ids={
            **{of.feature: of.feature_id for of in resolution.features},
            **{of.feature: FeatureId((of.feature,)) for of in unrecorded},
        },
        estimators=tuple(mixed.estimators),
        score_curves=tuple(e for part in parts for e in part.slices[0].score_curves(rates)),
        shown=mixed.shown,
    )  # fmt: skip


def _conclude_estimates(
    estimates: Iterable[Estimate], slices: Sequence[Slice], level: float
) -> Iterator[Estimate]:
    # They are held against it at the ``level`` at which all comparisons hold together. Nor does one
    # count that shows no difference where rows without a group have other rates than the others.
    @cache
    def unlike(part: Slice, of: Statistic) -> bool:
        return missing_values.differs_without_group(part.counts, part.outcome, of, part.spec)

    def missing(each: Estimate, part: Slice) -> ReasonCode | None:
        metric = each.definition
        assert isinstance(metric, Contrast)
        if not is_significant(each):
            without = each.reason is None and each.value is not None
            return ReasonCode.GROUPS_MISSING if without and unlike(part, metric.of) else None
        limits = tuple(each.interval) if each.interval else (-math.inf, math.inf)
        if each.key in part.together:
            at_level, at = part.together[each.key]
            low, high = at_level(level)
            limits = float(low[at]), float(high[at])
        sides = numbers_of_sides(each, part)
        counts, masks, spec = part.counts, part.outcome, part.spec
        undone = could_undo(counts, masks, each, sides, spec, [limits])
        return None if undone is None else _COULD_BE[undone]

    for each in estimates:
        adjusted = each.scope.kind is ScopeKind.POOLED and isinstance(each.definition, Contrast)
        part = slice_of(each, slices) if adjusted else None
        code = missing(each, part) if part is not None else None
        yield each if code is None else replace(each, reason=Reason.of(code))


_COULD_BE = {
    WhyInconclusive.MISSING_OUTCOMES: ReasonCode.OUTCOMES_MISSING,
    WhyInconclusive.MISSING_GROUPS: ReasonCode.GROUPS_MISSING,
}


class _MeasuredFeature:
    """Everything that is measured of one feature."""

    def __init__(
        self, counts: GroupCounts, resolution: Resolution, rates: list[Statistic], small: Small
    ) -> None:
        spec = resolution.spec
        slices = [Slice(counts, outcome, spec) for outcome in resolution.outcomes]
        self._spec, self.slices = spec, slices
        self._rates = families.central_rates(rates)
        self._every_group: FeatureGroups | None = None
        self.homogeneity: list[Diagnostic] = []
        self.worst_cases: Cases = {}
        every, measured = slices, _measure_thresholds
        if resolution.task is Task.MULTICLASS:
            of_no_class = resolution.outcomes[0].of_no_class
            every = [*slices, Slice(counts, of_no_class, spec, resolution.outcomes)]
            measured = _multiclass
        self.groups, self.totals, self.estimates = measured(every, rates, resolution.metrics)
        self.together = {key: limits for each in slices for key, limits in each.together.items()}
        spanning: Iterable[Diagnostic] = ()
        if counts.clusters is not None:
            from fairgauge.inference.clusters import clusters_spanning_groups

            people = spec.person is not None
            spanning = clusters_spanning_groups(counts, spec.cluster, people=people)
        self.diagnostics = [
            *_strata_coverage(slices[0], resolution.metrics),
            *spanning,
            *missing_values.missing_groups(counts, spec),
            *missing_values.missing_outcomes(counts, spec),
            *question_checks.one_group(counts, spec),
            *question_checks.weightless_groups(counts),
            *_choices(slices, resolution.metrics),
        ]
        if counts.protected:
            self.diagnostics = [
                *missing_values.missing_groups(counts, spec),
                *_choices(slices, resolution.metrics),
            ]
        ruled = {rule.metric for rule in spec.rules}
        for each, asked in product(every, resolution.metrics):
            if asked.metric.name in ruled and asked.obstacle is None:
                self.worst_cases |= each.worst_cases(asked.metric)
        for each, rate in product(every, rates):
            if rate.name in ruled:
                self.worst_cases |= each.worst_rates(rate)
        self.lacking = missing_values.lacking(counts, spec)
        self.groupless = missing_values.groupless(counts, spec)
        self.adequate = dict(_small_groups.adequate_parts(self.estimates, slices, small, ruled))
        if counts.protected:  # tests would need the exact counts
            return
        if resolution.task is Task.BINARY:
            groups = slices[0].groups_at(np.flatnonzero(large_groups(counts, spec)))
            if len(groups.names) >= FEWEST_GROUPS:
                from fairgauge.inference.across_groups import pairs_not_listed

                try:
                    self.homogeneity = list(families.homogeneity_notes(self._rates, groups, spec))
                except NoInterval:  # of the design of a survey, as every estimate states
                    return
                self.diagnostics += pairs_not_listed(groups)
                self._every_group = groups

    def compare_pairs(self, family: Family) -> list[GroupPair]:
        """Compare every two groups; of two groups, their comparison is an estimate already."""
        if self._every_group is None:
            return []
        from fairgauge.inference.across_groups import pairwise

        return pairwise(self._rates, self._every_group, self._spec, family)


def doubts_of_measures(resolution: Resolution) -> Iterator[Diagnostic]:
    """Warn of groups whose numbers are in another unit, or all one, and of outcomes in reverse."""
    for counts in resolution.features:
        if not counts.protected:
            yield from question_checks.unlike_amounts(counts, resolution.spec)
    yield from reversed_outcomes_of(resolution)


def reversed_outcomes_of(resolution: Resolution) -> Iterator[Diagnostic]:
    """Warn where positives have lower scores, or fewer positive predictions, than negatives.

    Of all rows, or else of the large groups in which this is no coincidence. Of labels of two
    outcomes alone. Decisions and scores are checked apart: neither vouches for the other.
    """
    spec = resolution.spec
    predicted = {spec.prediction, spec.score} - {None, spec.label}
    if resolution.task is not Task.BINARY or spec.label is None or not predicted:
        return
    whole = Slice(resolution.everyone, resolution.outcomes[0], spec)
    of_all = whole.groups_at(np.zeros(1, dtype=np.int64))
    of_all_rows = [*families.reversed_outcomes(of_all, spec, spec.confidence)]
    yield from of_all_rows
    known = {each.code for each in of_all_rows}
    for counts in resolution.features:
        at = np.flatnonzero(large_groups(counts, spec))
        if len(at) and not counts.protected:
            groups = Slice(counts, resolution.outcomes[0], spec).groups_at(at)
            of_groups = families.reversed_outcomes(groups, spec, _NO_COINCIDENCE, of_group=True)
            yield from (each for each in of_groups if each.code not in known)


def _measure_row_metrics(
    resolution: Resolution, by_rows: ByRows | None
) -> tuple[list[Estimate], list[Diagnostic]]:
    asked = [
        (of.metric, of.obstacle or (None if by_rows else Reason.of(ReasonCode.NEEDS_ROWS)))
        for of in resolution.metrics
        if isinstance(of.metric, RowMetric)
    ]
    estimates = [
        Estimate(
            metric=metric.name,
            definition=metric,
            set=metric.set,
            feature=feature,
            group=group,
            reference=None,
            status=Status.NOT_APPLICABLE,
            reason=reason,
        )
        for metric, reason in asked
        if reason
        for feature, group in (
            [(None, EVERYONE)]
            if getattr(metric, "one_per", "") == "table"
            else [(of.feature, group) for of in resolution.features for group in of.groups]
        )
    ]
    possible = [metric for metric, reason in asked if reason is None]
    if by_rows is None or not possible:
        return estimates, []
    computed, notes = by_rows.metrics(possible, resolution)
    return [*estimates, *computed], notes


def _measure_thresholds(
    slices: list[Slice], rates: list[Statistic], metrics: Sequence[AskedMetric]
) -> tuple[list[Group], list[Group], list[Estimate]]:
    # returns the groups, all groups together, and the estimates
    groups: list[Group] = []
    totals: list[Group] = []
    estimates: list[Estimate] = []
    for i, each in enumerate(slices):
        groups += each.groups(rates)
        totals += each.groups(rates, total=True)
        here = [
            asked
            for asked in metrics
            if asked.metric.scope not in ("table", "rows")
            and (i == 0 or "prediction" in asked.metric.needs)
        ]
        each.uncertainty.expect(asked.metric for asked in here if asked.obstacle is None)
        for asked in here:
            estimates += _measure_slice(each, asked)
    return groups, totals, estimates


def _multiclass(
    slices: list[Slice], rates: list[Statistic], metrics: Sequence[AskedMetric]
) -> tuple[list[Group], list[Group], list[Estimate]]:
    # The last slice is of all classes. Returns the groups, all groups together, and the estimates.
    *slices, whole = slices
    counts, spec = whole.counts, whole.spec
    outcomes = [each.outcome for each in slices]
    simultaneous = [
        Slice(counts, outcome, spec, simultaneous=len(outcomes)) for outcome in outcomes
    ]
    of_all: dict[str, Statistic] = {each.name: each for each in (agreement(), *OF_ALL_CLASSES)}
    names = {rate.name for rate in rates}
    by_class = [rate for rate in rates if rate not in OF_ALL_CLASSES]  # one number of all classes

    def groups_of(*, total: bool) -> Iterator[Group]:
        for each in slices:
            yield from each.groups(by_class, total=total)
        yield from whole.groups([of for name, of in of_all.items() if name in names], total=total)
        for how in AVERAGES:
            average = ClassScope(ClassKind.AVERAGE, average=how)
            yield from whole.groups(
                [class_average(of, how) for of in by_class], average, total=total
            )

    estimates: list[Estimate] = []
    for each in (*slices, *simultaneous):
        each.uncertainty.expect(asked.metric for asked in metrics if asked.obstacle is None)
    for asked in metrics:
        metric = asked.metric
        if metric.scope in ("table", "rows"):
            continue
        if asked.obstacle or isinstance(metric, (Distance, Imbalance)):
            estimates += _measure_slice(whole, asked)
            continue
        statistic = metric.of if isinstance(metric, (Contrast, Spread)) else None
        if statistic not in OF_ALL_CLASSES:
            for each in slices:
                estimates += _measure_slice(each, asked)
            of_group: dict[tuple[object, ...], list[Estimate]] = {}  # the best one differs by class
            for part in simultaneous:
                for estimate in _measure_slice(part, asked):
                    group = None if isinstance(metric, Across) else estimate.group
                    of_group.setdefault((group, estimate.scope), []).append(estimate)
            estimates += (_choose_worst_class(metric, of_one) for of_one in of_group.values())
            if statistic is not None:
                for how in AVERAGES:
                    average = ClassScope(ClassKind.AVERAGE, average=how)
                    estimates += _class_average(
                        whole, metric, class_average(statistic, how), average
                    )
        if statistic is not None and statistic.name in of_all:
            estimates += _class_average(whole, metric, of_all[statistic.name], NO_CLASS)
    slices[0].together |= whole.together
    return [*groups_of(total=False)], [*groups_of(total=True)], estimates


def _class_average(
    whole: Slice, metric: Metric, of: Statistic, class_scope: ClassScope
) -> Iterator[Estimate]:
    if isinstance(metric, Spread):
        estimates = whole.across(replace(metric, of=of), class_scope=class_scope)
    else:
        assert isinstance(metric, Contrast)
        estimates = whole.estimates(replace(metric, of=of), class_scope=class_scope)
    for estimate in estimates:  # of the metric that was asked for; its scope states the average
        yield replace(estimate, definition=metric)


def _measure_slice(each: Slice, asked: AskedMetric) -> list[Estimate]:
    metric, obstacle = asked.metric, asked.obstacle
    if isinstance(metric, Across):
        return list(each.across(metric, obstacle))
    assert isinstance(metric, ComparisonMetric)
    return [*each.estimates(metric, obstacle), *each.pooled(metric, obstacle)]


def _choices(slices: Sequence[Slice], metrics: Sequence[AskedMetric]) -> list[Diagnostic]:
    # state which groups could be the reference as well as those that the data chose
    if slices[0].spec.reference not in (ReferenceRule.BEST, ReferenceRule.LARGEST):
        return []
    ties: dict[Tie, None] = {}
    for slice_ in slices:
        for asked in metrics:
            if asked.obstacle is None and asked.metric.scope not in ("table", "rows"):
                references = slice_.references(asked.metric)
                ties |= {references.tie: None} if references.tie else {}
    feature = slices[0].counts.feature
    return [
        Diagnostic.warning(
            DiagnosticCode.REFERENCE_TIED, feature, chosen=tie.chosen, others=tie.others,
            rate=tie.rate, value=tie.value, by_rows=tie.by_rows, least=tie.least,
        )
        for tie in ties
    ]  # fmt: skip


def _strata_coverage(part: Slice, metrics: Sequence[AskedMetric]) -> Iterator[Diagnostic]:
    if part.spec.profile is not Profile.DOCUMENTED:
        return
    for asked in metrics:
        metric = asked.metric
        if asked.obstacle or not isinstance(metric, ConditionalDisparity):
            continue
        data = part.comparisons(metric, part.compared(metric))
        covered = metric.coverage(data.group.side, data.reference.side)
        covered = covered[~np.isnan(covered)]
        least = float(covered.min()) if len(covered) else 1.0
        if least < 1.0:
            note = Diagnostic.note if least >= _FULL_COVERAGE else Diagnostic.warning
            yield note(
                DiagnosticCode.COVERAGE,
                part.counts.feature,
                metric=metric.name,
                share=least,
                of=metric.of,
            )


def _choose_worst_class(metric: Metric, by_class: Sequence[Estimate]) -> Estimate:
    # Their intervals hold simultaneously, so that the one of the class that is chosen does. Where
    # no value means "no difference", it is the lowest minimum or the highest maximum.
    def distance(each: Estimate) -> float:
        value = each.value
        if value is None:
            return -math.inf
        if math.isnan(metric.neutral):
            return -value if getattr(metric, "by", None) == "minimum" else value
        if metric.neutral == 0:
            return abs(value)
        return math.inf if value <= 0 or math.isinf(value) else abs(math.log(value))

    worst = max(by_class, key=distance)
    return replace(worst, class_scope=ClassScope(ClassKind.WORST, worst.class_scope.name))
