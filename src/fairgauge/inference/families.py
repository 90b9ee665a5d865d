"""One family of tests: all that a report may mark as statistically significant, judged together.

P-values are adjusted and intervals widened for all comparisons that the data can decide, in all
metrics and features; a test of homogeneity states whether the groups differ at all before any is
singled out; adjusting for strata may reverse a difference (Simpson's paradox).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fairgauge.catalogue.cells import Array, Need
from fairgauge.catalogue.comparisons import Contrast, RowMetric
from fairgauge.catalogue.distributions import OverallStandardisedMean, is_odds_ratio
from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Rate, Statistic, tested_as
from fairgauge.enums import (
    AfterAdjusting,
    ClassKind,
    DiagnosticCode,
    IntervalMethod,
    ReferenceKind,
    ScopeKind,
    Status,
)
from fairgauge.inference.contrast_intervals import side_interval, statistic_interval
from fairgauge.inference.interval import FEWEST_GROUPS, FeatureGroups, SideData, decidable
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_EXPECTED, Parameter, ReasonCode
from fairgauge.results.estimates import NOTHING_CONCLUDED, ComparisonKey, Estimate, after_adjusting
from fairgauge.results.scopes import ClassScope, Diagnostic, Interval
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Limits, Mask
from fairgauge.stats.significance import between_variance, sidak, simultaneous_level
from fairgauge.stats.significance import homogeneity as homogeneity_test

# the area under the ROC curve of scores that do not depend on the label
_CHANCE = 0.5
# how far outcomes that are reversed run against the label: sampling variation goes less far.
_FAR_APART = 0.1


Together: TypeAlias = "Mapping[ComparisonKey, tuple[Callable[[float], Limits], int]]"
"""What gives the limits of comparisons at any level, and the place of each in them."""


@dataclass(frozen=True, slots=True)
class Family:
    """The tests that a report judges together.

    ``size``: how many: comparisons (two groups that mirror each other are one, all pairs of a
        chosen reference one set), tests of homogeneity, and sets of all pairs of groups.
    ``level``: the confidence level at which single intervals hold together.
    """

    size: int
    level: float


def adjusted_estimates(
    estimates: Sequence[Estimate],
    together: Together,
    homogeneity: Sequence[Diagnostic],
    confidence: float,
) -> tuple[tuple[Estimate, ...], Family]:
    """Adjust p-values for all that the report tests, and give the intervals that agree with them.

    ``homogeneity``: the tests of homogeneity; for each all pairs of groups are compared, too.
    """
    # Comparisons that cannot be decided are in no family. Those of the worst class have what the
    # comparison in that class has. Metrics of single rows are adjusted among themselves, so that
    # what counts give, their marks among it, follows from the counts alone.
    of_counts, of_rows = _members(estimates)
    others = 2 * len(homogeneity)
    size = max(len(of_counts) + others, 1)
    family = Family(size, simultaneous_level(size, confidence))
    # once for all groups of a metric, which share a function: it returns the limits of all
    every = {limits: limits(family.level) for limits in {limits for limits, _ in together.values()}}
    wider = {
        key: (float(every[limits][0][at]), float(every[limits][1][at]))
        for key, (limits, at) in together.items()
    }
    p = _adjust_p_values(estimates, of_counts, others) | _adjust_p_values(estimates, of_rows, 0)
    made = [_add_simultaneous_interval(each, wider, p.get(i)) for i, each in enumerate(estimates)]
    of_classes = {each.key: each for each in made if each.class_scope.kind is ClassKind.CLASS}
    made = [_adopt_class_p(each, of_classes) for each in made] if of_classes else made
    return tuple(made), family


def _members(estimates: Sequence[Estimate]) -> tuple[Sequence[list[int]], Sequence[list[int]]]:
    # the places of the estimates of each test of counts, and of each of single rows
    of_counts: dict[Hashable, list[int]] = {}
    of_rows: dict[Hashable, list[int]] = {}
    groups: dict[object, set[str | None]] = {}
    for each in estimates:
        groups.setdefault(each.feature, set()).add(each.group)
    for i, each in enumerate(estimates):
        if each.status is not Status.OK or each.p_value is None or each.feature is None:
            continue
        marked = each.class_scope.kind is not ClassKind.WORST
        marked = marked and each.scope.kind is not ScopeKind.STRATUM
        if marked:
            of = of_rows if isinstance(each.definition, RowMetric) else of_counts
            of.setdefault(_family_key(each, two=len(groups[each.feature]) == 2), []).append(i)
    return [*of_counts.values()], [*of_rows.values()]


def _adjust_p_values(
    estimates: Sequence[Estimate], members: Sequence[list[int]], others: int
) -> dict[int, float]:
    places = [i for member in members for i in member]
    p = sidak([estimates[i].p_value or 0.0 for i in places], len(members) + others)
    return dict(zip(places, p.tolist(), strict=True))


def _family_key(estimate: Estimate, *, two: bool) -> Hashable:
    # The difference and the ratio of a rate are one test, and so are those of its complement and of
    # two groups that are each other's reference; whatever the data choose as the reference, all
    # pairs are. ``two``: whether the feature has two groups.
    metric: object = estimate.metric
    if isinstance(estimate.definition, Contrast | OverallStandardisedMean):
        of = estimate.definition.of
        alike = isinstance(of, Rate) or is_odds_ratio(estimate.definition)
        metric = tested_as(of) if alike else of.name
    chosen = estimate.interval is not None and IntervalMethod.TUKEY in estimate.interval.methods
    others = estimate.reference is not None and estimate.reference.kind is ReferenceKind.OTHERS
    group = None if chosen or (two and others) else estimate.mirror_of or estimate.group
    return metric, estimate.feature, group, estimate.scope, estimate.class_scope, estimate.threshold


def _add_simultaneous_interval(
    estimate: Estimate, wider: Mapping[ComparisonKey, tuple[float, float]], p: float | None
) -> Estimate:
    made = estimate.simultaneous
    alone = estimate.interval
    if alone is not None and estimate.class_scope.kind is not ClassKind.WORST:
        low, high = wider.get(estimate.key, (math.nan, math.nan))
        if (low, high) == (alone.low, alone.high):
            made = alone
        elif not math.isnan(low + high):
            methods = (IntervalMethod.SIMULTANEOUS_GROUPS, *alone.methods)
            made = Interval(low, high, alone.level, methods)
    if p is None and made is estimate.simultaneous:
        return estimate
    return replace(estimate, simultaneous=made, p_adjusted=p)


def _adopt_class_p(estimate: Estimate, of_classes: Mapping[ComparisonKey, Estimate]) -> Estimate:
    if estimate.class_scope.kind is not ClassKind.WORST or estimate.class_scope.name is None:
        return estimate
    own = replace(estimate, class_scope=ClassScope(ClassKind.CLASS, estimate.class_scope.name))
    of_class = of_classes.get(own.key)
    if of_class is None:
        return estimate
    return replace(estimate, simultaneous=of_class.simultaneous, p_adjusted=of_class.p_adjusted)


def family_notes(
    family: Family, homogeneity: Sequence[Diagnostic], confidence: float
) -> Iterator[Diagnostic]:
    """Yield the tests of homogeneity, judged together with all others, and what is judged so."""
    for each in homogeneity:
        p = float(sidak(each["p"], family.size))
        judged: dict[str, Parameter] = {"p_adjusted": p, "significant": p < 1 - confidence}
        if each.get("sparse"):
            of_others = each["p_without"]
            shown = of_others is not None and float(sidak(of_others, family.size)) < 1 - confidence
            judged["significant_without"] = shown
        parameters = dict(each.parameters) | judged
        yield replace(each, parameters=tuple(sorted(parameters.items())))
    if family.size > 1:
        tests = len(homogeneity)
        yield Diagnostic.note(
            DiagnosticCode.ADJUSTED_P, comparisons=family.size, homogeneity=tests or None
        )


def central_rates(rates: Iterable[Statistic]) -> list[Rate]:
    """Return the rates by which all groups are compared: of labels, of predictions and of both."""
    first: dict[frozenset[Need], Rate] = {}
    for rate in rates:
        if isinstance(rate, Rate):
            first.setdefault(rate.needs, rate)
    return list(first.values())


def homogeneity_notes(
    rates: Sequence[Rate], groups: FeatureGroups, spec: Spec
) -> Iterator[Diagnostic]:
    """Yield for each rate whether the groups of a feature differ at all, and by how much.

    Weighted rows count with their effective sample size. Groups with insufficient data in a rate
    do not count: they are in no family, and the range over a few rows is wide in any case.
    """
    data = groups.pick(np.arange(len(groups.names)))
    feature = groups.feature
    for rate in rates:
        interval = side_interval(rate, data)
        share = interval.share
        assert share is not None
        known = decidable(interval)
        if np.count_nonzero(known) < FEWEST_GROUPS:  # the comparison of two is the test
            continue
        x, n = share.x[known], share.n[known]
        p = float(homogeneity_test(x, n)[1])
        between = float(between_variance(x, n)[1])  # unknown where a group is a single row
        yield Diagnostic.note(
            DiagnosticCode.HOMOGENEITY,
            feature,
            rate=rate.name,
            groups=len(n),
            p=p,
            range=float(np.ptp(x / n)),
            between_sd=None if np.isnan(between) else float(np.sqrt(max(between, 0.0))),
            **(
                _sparse_groups(np.array(groups.names)[known], x, n)
                if p < 1 - spec.confidence
                else {}
            ),
        )


def _sparse_groups(names: Array, x: Array, n: Array) -> dict[str, Parameter]:
    # the groups of which few are expected in an outcome, and the test without them
    pooled = x.sum() / n.sum()
    sparse = n * min(pooled, 1 - pooled) < FEWEST_EXPECTED
    if not sparse.any():
        return {}
    without = float(homogeneity_test(x[~sparse], n[~sparse])[1])  # unknown of a single group
    p = None if np.isnan(without) else without
    return {"sparse": tuple(names[sparse].tolist()), "p_without": p}


def reversed_outcomes(
    groups: FeatureGroups, spec: Spec, confidence: float, *, of_group: bool = False
) -> Iterator[Diagnostic]:
    """Warn where positives have lower scores, or fewer positive predictions, than negatives.

    ``groups`` is all rows as one group, or each a group (``of_group``). The interval takes rows as
    independent, clustered or not: the warning asks what was meant, and states no uncertainty.
    """
    found = replace(groups.pick(np.arange(len(groups.names))), clusters=None)
    for code, turned, numbers, columns in _opposites(found, spec, confidence):
        for i in np.flatnonzero(turned).tolist():
            values = columns | {name: float(each[i]) for name, each in numbers.items()}
            values |= {"group": groups.names[i]} if of_group else {}
            yield Diagnostic.warning(code, groups.feature if of_group else None, **values)


def _opposites(
    groups: SideData, spec: Spec, confidence: float
) -> Iterator[tuple[DiagnosticCode, Mask, dict[str, Array], dict[str, Parameter]]]:
    # decisions that a score makes are not checked beside it, nor what is itself the label
    scored = groups.side.scores is not None
    decided = spec.prediction or (None if scored else spec.score)
    if decided not in (None, spec.label):
        names = ("true_positive_rate", "false_positive_rate")
        of_positives, of_negatives = (statistic_interval(find_rate(n), groups) for n in names)
        (_, high), _ = of_positives.limits(confidence)
        (low, _), _ = of_negatives.limits(confidence)
        rates = {"of_positives": of_positives.estimate, "of_negatives": of_negatives.estimate}
        columns: dict[str, Parameter] = {"column": decided, "label": spec.label}
        apart = of_negatives.estimate - of_positives.estimate >= _FAR_APART
        yield DiagnosticCode.REVERSED_PREDICTIONS, (high < low) & apart, rates, columns
    if scored and spec.score != spec.label:
        area = statistic_interval(find_rate("roc_auc"), groups)
        (_, high), _ = area.limits(confidence)
        apart = area.estimate <= _CHANCE - _FAR_APART / 2
        below = (area.estimate < high) & (high < _CHANCE) & apart
        yield DiagnosticCode.REVERSED_SCORES, below, {"auc": area.estimate}, {"column": spec.score}


def adjustment_notes(estimates: Sequence[Estimate], spec: Spec) -> Iterator[Diagnostic]:
    """Yield what adjusting for the strata does to statistically significant differences.

    A reversal is stated only where both directions are statistically significant after adjustment
    for multiple comparisons; a disappearance only where the adjusted interval shows it.
    """
    pooled = {_subject(e): e for e in estimates if e.scope.kind is ScopeKind.POOLED}
    for estimate in estimates if pooled else ():
        adjusted = pooled.get(_subject(estimate))
        if estimate.scope.kind is not ScopeKind.OVERALL or adjusted is None:
            continue
        if not isinstance(estimate.definition, Contrast) or estimate.p_adjusted is None:
            continue
        change = after_adjusting(estimate, adjusted)
        if change in (None, AfterAdjusting.REMAINS, *NOTHING_CONCLUDED):
            continue
        values = {"overall": estimate.value, "adjusted": adjusted.value}
        subject = {"group": estimate.group, "metric": estimate.metric}
        if change is AfterAdjusting.REVERSES:
            yield Diagnostic.warning(DiagnosticCode.SIMPSON, estimate.feature, **subject, **values)
            continue
        gone = change is AfterAdjusting.DISAPPEARS
        code = DiagnosticCode.DISAPPEARS if gone else DiagnosticCode.NOT_SIGNIFICANT_ADJUSTED
        yield Diagnostic.note(code, estimate.feature, **subject, **values, p=adjusted.p_adjusted)
    apart: dict[str | None, bool] = {each.column: False for each in spec.strata}
    for adjusted in pooled.values():
        why = adjusted.reason
        no_pair = why is not None and why.code is ReasonCode.NO_COMMON_STRATUM
        apart[adjusted.feature] = apart.get(adjusted.feature, True) and no_pair
    for feature, none in apart.items():
        if none:
            yield Diagnostic.warning(DiagnosticCode.STRATUM_IS_GROUP, feature)


def _subject(estimate: Estimate) -> tuple[object, ...]:
    return (
        estimate.metric,
        estimate.feature,
        estimate.group,
        estimate.class_scope,
        estimate.threshold,
    )
