"""Outline: the results of a report sorted into sections, families of rates, and findings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.conditional import ConditionalDisparity
from fairgauge.enums import (
    AfterAdjusting,
    Average,
    Better,
    ClassKind,
    Outcome,
    ReferenceKind,
    ScopeKind,
    Status,
)
from fairgauge.errors import SpecError
from fairgauge.question.rules import parse_rule
from fairgauge.render.words.metric_words import (
    adds_up_over_classes,
    better,
    compared_rate,
    gap,
    has_direction,
    is_ambivalent,
    is_ratio,
    is_share,
    neutral,
    significant,
)
from fairgauge.render.words.names_in_use import metric_row, rate_row
from fairgauge.results.adjusting import after_adjusting
from fairgauge.results.verdicts import before_counting
from fairgauge.stats.multiplicity import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fairgauge.results.estimates import Estimate, Group, GroupPair
    from fairgauge.results.report import Report
    from fairgauge.results.scopes import ClassScope
    from fairgauge.results.verdicts import Verdict

_GRAVEST_FIRST = (
    Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_EVALUATED, Outcome.PASS, Outcome.NONE,
)  # fmt: skip
_DIGITS = 9
"""Of distances that are compared: beyond these they differ by rounding alone."""
_READABLE = frozenset({Status.OK, Status.TOO_FEW})
_EVERY_CLASS_ALIKE = frozenset({Average.MACRO, Average.MICRO})
"""Averages that give every class, or every decision, the same weight."""
_CLASSES_FIRST = (
    ClassKind.NONE, ClassKind.SELECTION, ClassKind.WORST, ClassKind.AVERAGE, ClassKind.CLASS,
)  # fmt: skip


@dataclass(eq=False)
class Results:
    """One sensitive feature (or intersection) at one threshold and of one class.

    Attributes
    ----------
    feature, threshold, class_scope : what it is of; the threshold is None without scores.
    groups, total : the groups over all strata, and all of them together.
    estimates : comparisons of groups over all strata that have a value.
    missing : estimates without a value, strata aside.
    across : estimates of the whole feature.
    adjusted : comparisons pooled over the strata.
    inside, groups_inside : estimates and groups of single strata.
    pairs : every two groups in the central rates, those that differ most first.
    several_thresholds : whether the feature has sections of other thresholds.
    averaged : the rates that are macro averages over classes, beside those of all classes at once.
    """

    feature: str
    threshold: float | None
    class_scope: ClassScope
    groups: list[Group] = field(default_factory=list)
    total: Group | None = None
    estimates: list[Estimate] = field(default_factory=list)
    missing: list[Estimate] = field(default_factory=list)
    across: list[Estimate] = field(default_factory=list)
    adjusted: list[Estimate] = field(default_factory=list)
    inside: list[Estimate] = field(default_factory=list)
    groups_inside: list[Group] = field(default_factory=list)
    pairs: list[GroupPair] = field(default_factory=list)
    several_thresholds: bool = False
    averaged: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the feature, with the class and the threshold where there are several."""
        parts = [self.feature]
        scope = self.class_scope
        if scope.kind is ClassKind.CLASS:
            parts.append(f"class {scope.name}")
        elif scope.kind is ClassKind.SELECTION:
            parts.append(str(scope.name))
        elif scope.kind is ClassKind.AVERAGE:
            parts.append(f"{scope.average} average over classes")
        elif scope.kind is ClassKind.WORST:
            parts.append("the class with the largest difference")
        if self.several_thresholds:
            parts.append(f"threshold {self.threshold:g}")
        return ", ".join(parts)

    @cached_property
    def metrics(self) -> list[str]:
        """Return the metrics that compare groups and have a value, in order.

        Those of averages that are the same in every group by definition are left to the table of
        all numbers.
        """
        every = dict.fromkeys(each.metric for each in self.estimates)
        if self.class_scope.average not in _EVERY_CLASS_ALIKE:
            return list(every)
        return [m for m in every if not adds_up_over_classes(compared_rate(m) or "")]

    @cached_property
    def rates(self) -> list[str]:
        """Return the rates of the groups, the central ones first."""
        present = dict.fromkeys(
            name
            for group in self.groups
            for name, rate in group.rates.items()
            if rate.value is not None
            and not (self.class_scope.average in _EVERY_CLASS_ALIKE and adds_up_over_classes(name))
        )
        return [
            *(r for r in CENTRAL_RATES if r in present),
            *(r for r in present if r not in CENTRAL_RATES),
        ]

    @cached_property
    def strata(self) -> list[str]:
        """Return the names of the strata."""
        names = [str(g.stratum) for g in self.groups_inside] + [str(e.stratum) for e in self.inside]
        return list(dict.fromkeys(names))

    @cached_property
    def mirrored(self) -> bool:
        """Return whether there are two groups, each the reference of the other."""
        kinds = {each.reference.kind for each in self.estimates if each.reference}
        return len(self.groups) == 2 and kinds == {ReferenceKind.OTHERS}

    def find(self, metric: str, group: str | None) -> Estimate | None:
        """Return one comparison over all strata."""
        return self._by_key.get((metric, group))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str | None], Estimate]:
        return {(each.metric, each.group): each for each in self.estimates}

    def reference_group(self, metric: str) -> str | None:
        """Return the one group with which a metric compares all others, if there is one."""
        found = {e.reference for e in self.estimates if e.metric == metric and e.reference}
        only = next(iter(found)) if len(found) == 1 else None
        return None if only is None else only.group

    def differences(self, rate: str) -> list[Estimate]:
        """Return the differences of a rate, native ones if there are any."""
        return self._compared(rate, "difference")

    def contrasts(self, rate: str) -> list[Estimate]:
        """Return the differences of a rate; its ratios where only ratios are asked."""
        return self.differences(rate) or self._compared(rate, "ratio")

    def _compared(self, rate: str, by: str) -> list[Estimate]:
        found = [
            each
            for each in self.estimates
            if isinstance(row := metric_row(each.metric), Contrast)
            and row.by == by
            and row.of.name == rate
        ]
        return [each for each in found if each.set in ("native", "own")] or found


@dataclass(frozen=True, slots=True)
class Finding:
    """A statistically significant disparity; it is shown as `singled_out`.

    Attributes
    ----------
    section, rate : of which feature, in which rate.
    also : the significant contrast of the same group in the rate that is reported with it.
    contrast : the comparison of the group that fares worst: its difference, or its ratio where
        only ratios are asked.
    ratio : the ratio beside a difference.
    adjusted : the same, adjusted for the strata.
    others : the significant contrasts of other groups in the same rate, the largest first.
    others_also : those in the rate that is reported with it, where that is no finding of its own.
    unconfirmed : those in the same rate that are significant only before adjusting for all rates.
    """

    section: Results
    rate: str
    contrast: Estimate
    ratio: Estimate | None = None
    adjusted: Estimate | None = None
    also: Estimate | None = None
    others: tuple[Estimate, ...] = ()
    others_also: tuple[Estimate, ...] = ()
    unconfirmed: tuple[Estimate, ...] = ()


def sections_of(report: Report) -> list[Results]:
    """Sort a report into sections: a feature, a threshold and a class each."""
    found: dict[tuple[str, float | None, ClassScope], Results] = {}

    def section(feature: str, threshold: float | None, of: ClassScope) -> Results:
        """Return the section of a result; one without a threshold stands with the first."""
        if threshold is None:
            first = next((s for s in found.values() if (s.feature, s.class_scope) == (feature, of)),
                         None)  # fmt: skip
            if first is not None:
                return first
        return found.setdefault((feature, threshold, of), Results(feature, threshold, of))

    for group in report.groups:
        own = section(group.feature, group.threshold, group.class_scope)
        (own.groups if group.stratum is None else own.groups_inside).append(group)
    totals = {(t.feature, t.threshold, t.class_scope): t for t in report.totals}
    for each in report.estimates:
        if each.feature is not None:
            own = section(each.feature, each.threshold, _ungrouped(each.class_scope))
            _place(each, own)
    for pair in report.pairs:
        section(pair.feature, pair.threshold, pair.class_scope).pairs.append(pair)
    for key, own in found.items():
        own.total = totals.get(key)
        others = {s.threshold for s in found.values() if s.feature == own.feature}
        own.several_thresholds = own.threshold is not None and len(others) > 1
    return sorted(found.values(), key=_order(report))


def _ungrouped(scope: ClassScope) -> ClassScope:
    """Return the scope of the section: the worst class of each group stands in one section."""
    return type(scope)(scope.kind) if scope.kind is ClassKind.WORST else scope


def _place(each: Estimate, own: Results) -> None:
    readable = each.value is not None and each.status in _READABLE
    if each.scope.kind is ScopeKind.STRATUM:
        own.inside.append(each)
    elif not readable:
        own.missing.append(each)
    elif each.scope.kind is ScopeKind.POOLED:
        own.adjusted.append(each)
    elif is_across(each):
        own.across.append(each)
    else:
        own.estimates.append(each)


def on_one_screen(sections: Iterable[Results]) -> list[Results]:
    """Return the sections that one screen shows: those of single classes are many.

    Of several classes, what is one number of all of them stands beside their macro averages.
    """
    found: list[Results] = []
    for each in sections:
        if not each.groups:
            continue
        if each.class_scope.kind in (ClassKind.NONE, ClassKind.SELECTION):
            found.append(each)
        elif each.class_scope.average is Average.MACRO:
            last = found[-1] if found else None
            if last and (last.feature, last.threshold) == (each.feature, each.threshold):
                found[-1] = _with_averages(last, each)
            else:
                found.append(each)
    return found


def _with_averages(whole: Results, averages: Results) -> Results:
    """Return a section of all classes with the averages of what it has no number of."""
    own = {rate for group in whole.groups for rate in group.rates}
    kept = [rate for rate in averages.rates if rate not in own]

    def joined(group: Group) -> Group:
        at_once = by_group.get(group.group)
        rates = {} if at_once is None else dict(at_once.rates)
        return replace(group, rates=rates | {rate: group.rates[rate] for rate in kept})

    def further(estimates: Iterable[Estimate]) -> list[Estimate]:
        return [e for e in estimates if e.metric not in metrics and compared_rate(e.metric) in kept]

    by_group = {group.group: group for group in (*whole.groups, *filter(None, [whole.total]))}
    metrics = {each.metric for each in (*whole.estimates, *whole.across)}
    return replace(
        whole,
        groups=[joined(group) for group in averages.groups],
        total=joined(averages.total) if averages.total else None,
        estimates=[*whole.estimates, *further(averages.estimates)],
        missing=[*whole.missing, *further(averages.missing)],
        across=[*whole.across, *further(averages.across)],
        averaged=tuple(kept),
    )


def _order(report: Report) -> Callable[[Results], tuple[int, int]]:
    """Return a key that keeps features in order, and puts all classes before single ones."""
    features = list(dict.fromkeys([*(g.feature for g in report.groups)]))

    def key(section: Results) -> tuple[int, int]:
        known = section.feature in features
        place = features.index(section.feature) if known else len(features)
        return place, _CLASSES_FIRST.index(section.class_scope.kind)

    return key


def is_across(each: Estimate) -> bool:
    """Return whether an estimate is of all groups at once."""
    row = metric_row(each.metric)
    return each.reference is None or (row is not None and row.scope == "feature")


def findings(sections: Iterable[Results]) -> list[Finding]:
    """Return the disparities to report first: of each feature and rate the group that fares worst.

    Only contrasts on enough data are findings that are statistically significant once all rates
    and features among which findings are sought are adjusted for (Holm), and whose simultaneous
    interval excludes "no difference". Within a rate groups are ranked by the point estimate, never
    by the interval. A group's true and false positive rates are one finding.
    """
    searched = list(_searched(sections))
    factors = zip(searched, _adjustments_for_rates(searched), strict=True)
    times = {(id(section), rate): factor for (section, rate), factor in factors}
    found: list[Finding] = []
    stated: set[tuple[int, str | None]] = set()
    for section, rate in searched:
        factor = times[id(section), rate]
        worst = _worst(rate, section.contrasts(rate), factor)
        if worst is None:
            continue
        groups = {group for at, group in stated if at == id(section)}
        if is_ambivalent(rate) and groups and (section.mirrored or worst.group in groups):
            for i, each in enumerate(found):
                if (
                    each.section is section
                    and each.also
                    and compared_rate(each.also.metric) == rate
                ):
                    found[i] = replace(each, others_also=_others(section, rate, each.also, factor))
            continue
        beside = _reported_with(rate)
        finding = _finding(section, rate, worst, beside, times.get((id(section), beside), 1.0))
        others = _others(section, rate, worst, factor)
        weaker = [each for each in _others(section, rate, worst, 1.0) if each not in others]
        found.append(replace(finding, others=others, unconfirmed=tuple(weaker)))
        stated |= {(id(section), found[-1].also.group)} if found[-1].also else set()
    found.sort(key=_importance)
    return found


def unconfirmed(sections: Iterable[Results], found: Sequence[Finding]) -> list[tuple[Results, str]]:
    """Return the rates with a significant difference that is none once all rates are adjusted for.

    These are no findings, though tables mark them as significant in their own rate.
    """
    stated = [(each.section, each.rate) for each in found]
    stated += [(e.section, compared_rate(e.also.metric) or "") for e in found if e.also]
    return [
        (section, rate)
        for section, rate in _searched(sections)
        if (section, rate) not in stated and any(map(significant, section.contrasts(rate)))
    ]


def singled_out(each: Estimate) -> Estimate:
    """Return an estimate as it is shown where it is chosen as the most extreme of several.

    Its interval is the one that holds together with all others, or none. Those of protected counts
    hold each by itself, for every table that agrees with the counts.
    """
    interval = each.interval if each.bounds is not None else None
    return replace(each, interval=each.simultaneous or interval)


def _searched(sections: Iterable[Results]) -> Iterator[tuple[Results, str]]:
    """Yield the sections and rates in which findings are sought."""
    for section in sections:
        if section.class_scope.kind not in (ClassKind.CLASS, ClassKind.AVERAGE):
            for rate in _rates_of_findings(section):
                yield section, rate


def _adjustments_for_rates(searched: Sequence[tuple[Results, str]]) -> list[float]:
    """Return by how much the p-values of each rate are multiplied, for all rates that are searched.

    Those are adjusted for the groups already; the smallest of each rate are adjusted by Holm.
    """
    known = [
        [p for each in section.contrasts(rate) if (p := _p_value(each)) is not None]
        for section, rate in searched
    ]
    smallest = [min(of_rate, default=math.nan) for of_rate in known]
    adjusted = holm(smallest).tolist() if smallest else []
    return [
        after / before if before > 0 else float(len(smallest))
        for before, after in zip(smallest, adjusted, strict=True)
    ]


def _p_value(each: Estimate) -> float | None:
    if each.status is not Status.OK:
        return None
    return each.p_value if each.p_adjusted is None else each.p_adjusted


def _rates_of_findings(section: Results) -> list[str]:
    """Return the rates that can make a finding: the central ones, and others where none is."""
    compared = list(dict.fromkeys(filter(None, map(compared_rate, section.metrics))))
    central = [rate for rate in compared if rate in CENTRAL_RATES]
    if not any(map(is_ambivalent, central)):
        central += filter(is_ambivalent, compared)
    return central or compared


def _importance(finding: Finding) -> tuple[object, ...]:
    rate, size = finding.rate, abs(gap(finding.contrast))
    central = CENTRAL_RATES.index(rate) if rate in CENTRAL_RATES else len(CENTRAL_RATES)
    share = is_share(rate)
    return not has_direction(rate), not share, -size if share else central


def _worst(rate: str, contrasts: Iterable[Estimate], times: float) -> Estimate | None:
    """Return the significant contrast of the group that fares worst."""
    sure = [e for e in contrasts if math.isfinite(e.value or 0.0) and _stands_out(e, times)]
    adverse = {Better.HIGHER: -1, Better.LOWER: 1, Better.NEITHER: -1}[better(rate)]
    worse = [each for each in sure if has_direction(rate) and gap(each) * adverse > 0]
    return max(
        worse or sure,
        key=lambda each: (round(abs(gap(each)), 12), gap(each) * adverse),
        default=None,
    )


def _others(section: Results, rate: str, stated: Estimate, times: float) -> tuple[Estimate, ...]:
    """Return the significant contrasts of a rate besides the one stated, the largest first."""
    if section.mirrored:
        return ()
    own = [
        each
        for each in section.contrasts(rate)
        if each.group != stated.group
        and math.isfinite(each.value or 0.0)
        and _stands_out(each, times)
    ]
    return tuple(sorted(own, key=lambda each: -abs(gap(each))))


def _stands_out(each: Estimate, times: float) -> bool:
    """Return whether a difference is significant with its p-value multiplied."""
    p_value, together = _p_value(each), each.simultaneous
    if p_value is not None and each.confidence and p_value * times > 1 - each.confidence:
        return False
    return significant(each) and (together is None or neutral(each.metric) not in together)


def _reported_with(rate: str) -> str:
    """Return the rate that one finding reports beside a rate, if there is one."""
    row = rate_row(rate)
    return row.reported_with if row else ""


def _finding(section: Results, rate: str, worst: Estimate, beside: str, times: float) -> Finding:
    """Return a finding; ``times`` adjusts p-values of the rate ``beside`` for all rates."""
    ratio = section.find(f"{rate}.ratio", worst.group)
    if ratio is worst or (ratio is not None and ratio.class_scope != worst.class_scope):
        ratio = None
    adjusted = [
        each
        for each in section.adjusted
        if each.group == worst.group and each.metric == worst.metric
    ]
    others = section.contrasts(beside)
    also = next((e for e in others if e.group == worst.group and _stands_out(e, times)), None)
    if also is not None and also.class_scope != worst.class_scope:
        also = None
    return Finding(section, rate, worst, ratio, adjusted[0] if adjusted else None, also)


def insignificant(sections: Iterable[Results]) -> list[tuple[list[Results], list[str]]]:
    """Return the central rates in which no difference is significant, and in which sections."""
    found: dict[tuple[str, ...], list[Results]] = {}
    for section in sections:
        if section.class_scope.kind is not ClassKind.NONE:
            continue
        by_threshold: dict[bool, list[str]] = {}
        for rate in section.rates:
            own = section.contrasts(rate) if rate in CENTRAL_RATES else []
            tested = any(each.status is Status.OK and each.interval for each in own)
            if tested and not any(map(significant, own)):
                at_threshold = section.several_thresholds and own[0].threshold is not None
                by_threshold.setdefault(at_threshold, []).append(rate)
        for rates in by_threshold.values():
            found.setdefault(tuple(rates), []).append(section)
    return [(of, list(rates)) for rates, of in found.items()]


def change_of(overall: Estimate, adjusted: Estimate) -> AfterAdjusting | None:
    """Return what becomes of a significant difference when it is adjusted for the strata."""
    metric = overall.metric
    return after_adjusting(overall, adjusted, neutral(metric), log=is_ratio(metric))


def reverses(overall: Estimate, adjusted: Estimate) -> bool:
    """Return whether both directions are statistically significant and opposite."""
    return change_of(overall, adjusted) is AfterAdjusting.REVERSES


def adjustments(section: Results) -> list[tuple[Estimate, Estimate]]:
    """Return each comparison over all rows with its counterpart adjusted for the strata.

    Of two groups that mirror each other the smaller one is kept.
    """
    mirrored = min(section.groups, key=lambda g: g.n).group if section.mirrored else None
    found = []
    for each in section.adjusted:
        overall = section.find(each.metric, each.group)
        if overall is not None and mirrored in (None, each.group):
            found.append((overall, each))
    return found


def conditional(section: Results) -> list[Estimate]:
    """Return the metrics that are defined by adjusting: conditional demographic disparity."""
    return [e for e in section.adjusted if isinstance(metric_row(e.metric), ConditionalDisparity)]


def verdicts_by_rule(report: Report) -> list[tuple[str, list[Verdict]]]:
    """Return the verdicts of every rule, the gravest first, and of these the furthest outside."""
    found: dict[str, list[Verdict]] = {}
    for each in report.verdicts:
        found.setdefault(each.rule, []).append(each)
    outside = {rule: _distance_outside(rule) for rule in found}
    return [
        (rule, sorted(each, key=lambda v: (_gravity(v), -outside[v.rule](v))))
        for rule, each in found.items()
    ]


def _gravity(verdict: Verdict) -> int:
    return _GRAVEST_FIRST.index(before_counting(verdict))


def _distance_outside(text: str) -> Callable[[Verdict], float]:
    """Return how far the value of a verdict on a rule is outside its limits: below 0 inside them.

    The limits of a rule on a metric of a user's own are not known here: its verdicts stay in order.
    """
    try:
        rule = parse_rule(text)
    except SpecError:
        return lambda _: 0.0
    scale = _log if is_ratio(rule.metric) else float  # 0.8 is as far from 1 as 1.25

    def distance(each: Verdict) -> float:
        if each.value is None:
            return -math.inf
        value = scale(each.value)
        below = scale(rule.low) - value if math.isfinite(rule.low) else -math.inf
        above = value - scale(rule.high) if math.isfinite(rule.high) else -math.inf
        return round(max(below, above), _DIGITS)

    return distance


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf


def gravest(verdicts: Iterable[Verdict]) -> Outcome:
    """Return the gravest outcome of some verdicts."""
    return min((each.outcome for each in verdicts), key=_GRAVEST_FIRST.index)
