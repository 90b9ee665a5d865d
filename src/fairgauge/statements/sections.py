"""Sections: the results of a report by feature, threshold and class; and what a finding states.

Every format shows a report in these sections and in their order, and findings are sought in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias, cast

from fairgauge.catalogue import directions, score_statistics, statistics
from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.cells import ALL, FN, FP, TP, Cells
from fairgauge.catalogue.comparisons import Contrast, Metric, RowMetric, is_of_all_groups
from fairgauge.catalogue.directions import disparity
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.catalogue.statistics import Rate, Statistic, tested_as
from fairgauge.enums import Average, ClassKind, Favourable, Outcome, ScopeKind, Status
from fairgauge.question.specification import read_spec
from fairgauge.reasons import ReasonCode
from fairgauge.results import estimates as measured
from fairgauge.results.estimates import Estimate, Finding, Group, gap, is_significant
from fairgauge.results.report import Report
from fairgauge.results.scopes import OVERALL, ClassScope
from fairgauge.results.verdicts import Verdict, before_counting, is_of_both_sides
from fairgauge.start.records import dataclass, field, replace

SectionKey: TypeAlias = tuple[str, float | None, ClassScope]
"""What distinguishes sections: feature, threshold and class."""

_OF_ALL_ROWS = (
    score_statistics.MomentStatistic, score_statistics.ScoreStatistic, statistics.Averaged,
    statistics.Agreement, statistics.Kappa,
)  # fmt: skip
NOTED_ALONE = 0.1
"""The share of a side in strata of one side alone from which it is stated."""
_CLASSES_FIRST = (ClassKind.NONE, ClassKind.WORST, ClassKind.AVERAGE, ClassKind.CLASS)


@dataclass(eq=False)
class FeatureResults:
    """One sensitive feature (or intersection) at one threshold and of one class.

    ``estimates, missing``: comparisons of groups over all strata, and those without a value.
    ``across, adjusted, inside``: estimates of the whole feature, pooled, and of single strata.
    ``mirrors``: those seen from the other side; no format shows both.
    ``leads, fails``: the groups that findings are of, and those that fail a rule.
    """

    feature: str
    threshold: float | None
    class_scope: ClassScope
    catalogue: Catalogue
    groups: list[Group] = field(default_factory=list)
    total: Group | None = None
    estimates: list[Estimate] = field(default_factory=list)
    missing: list[Estimate] = field(default_factory=list)
    across: list[Estimate] = field(default_factory=list)
    adjusted: list[Estimate] = field(default_factory=list)
    inside: list[Estimate] = field(default_factory=list)
    groups_inside: list[Group] = field(default_factory=list)
    mirrors: list[Estimate] = field(default_factory=list)
    pairs: list[measured.GroupPair] = field(default_factory=list)
    several_thresholds: bool = False
    leads: set[str | None] = field(default_factory=set)
    fails: set[str | None] = field(default_factory=set)

    @property
    def key(self) -> SectionKey:
        return self.feature, self.threshold, self.class_scope

    @property
    def name(self) -> str:
        """Return the feature, with the class and the threshold where there are several."""
        scope = self.class_scope
        of_class = {ClassKind.NONE: "", ClassKind.CLASS: f"class {scope.name}",
            ClassKind.AVERAGE: f"{scope.average} average over classes",
            ClassKind.WORST: "the class with the largest difference"}  # fmt: skip
        at = f"threshold {self.threshold:g}" if self.several_thresholds else ""
        return ", ".join(filter(None, (self.feature, of_class[scope.kind], at)))

    @cached_property
    def metrics(self) -> list[str]:
        """Return the metrics that compare groups and have a value and may differ, in order."""
        metrics = dict.fromkeys(estimate.metric for estimate in self.estimates)
        return [m for m in metrics if not self._is_alike(self.compared_rate(m))]

    @cached_property
    def rates(self) -> list[str]:
        """Return the rates of the groups, the central ones first."""
        every = (each for group in self.groups for each in group.rates.items())
        known = (name for name, of in every if of.value is not None or of.interval is not None)
        return _central_first([e for e in dict.fromkeys(known) if not self._is_alike(e)])

    def _is_alike(self, rate: str | None) -> bool:
        # in every group: of averages that give each class, or each decision, the same weight, where
        # the shares of all classes add up to 1, as those of labels or of predictions alone do
        if rate is None or self.class_scope.average not in (Average.MACRO, Average.MICRO):
            return False
        row = self.rate_row(rate)
        return row.is_share and row.needs in ({"label"}, {"prediction"})

    @cached_property
    def strata(self) -> list[str]:
        names = [str(g.stratum) for g in self.groups_inside] + [str(e.stratum) for e in self.inside]
        return list(dict.fromkeys(names))

    def mirror(self, each: Estimate) -> Estimate | None:
        """Return a comparison seen from the other side, where just two groups are compared."""
        key = (each.metric, *each.key[3:])  # all but feature and group
        others = (other for other in self.mirrors if other.mirror_of == each.group)
        return next((e for e in others if (e.metric, *e.key[3:]) == key), None)

    def metric_row(self, name: str) -> Metric:
        return self.catalogue.metric_row(name)

    def rate_row(self, name: str) -> Statistic:
        return self.catalogue.rate_row(name)

    def compared_rate(self, metric: str) -> str | None:
        row = self.metric_row(metric)
        return row.of.name if isinstance(row, Contrast) else None

    def find(self, metric: str, group: str | None) -> Estimate | None:
        return self._estimates_by_key.get((metric, group))

    @cached_property
    def _estimates_by_key(self) -> dict[tuple[str, str | None], Estimate]:
        return {(estimate.metric, estimate.group): estimate for estimate in self.estimates}

    def any_of(self, metric: str, group: str | None) -> Estimate | None:
        """Return one comparison over all strata, with or without a value, of either side of two."""
        every = filter(None, (self.find(metric, group), *self.missing, *self.mirrors))
        overall = (each for each in every if each.scope.kind is ScopeKind.OVERALL)
        return next((e for e in overall if (e.metric, e.group) == (metric, group)), None)

    def contrasts(self, rate: str) -> list[Estimate]:
        """Return the differences of a rate, native ones if any; else its ratios, if only asked."""
        of = self._contrasts
        found = of.get((rate, "difference")) or of.get((rate, "ratio"), [])
        return [each for each in found if each.set in ("native", "own")] or found

    @cached_property
    def _contrasts(self) -> dict[tuple[str, str], list[Estimate]]:
        found: dict[tuple[str, str], list[Estimate]] = {}
        for each in self.estimates:
            if isinstance(row := each.definition, Contrast):
                found.setdefault((row.of.name, row.by), []).append(each)
        return found


def reference_group(section: FeatureResults, metric: str) -> str | None:
    """Return the one group with which a metric compares all others, if there is one."""
    references = {e.reference for e in section.estimates if e.metric == metric and e.reference}
    return references.pop().group if len(references) == 1 else None


def _central_first(rates: Collection[str]) -> list[str]:
    return [*dict.fromkeys([*(rate for rate in CENTRAL_RATES if rate in rates), *rates])]


def size_beside_rates(group: Group, catalogue: Catalogue) -> float:
    """Return the n that is printed beside the rates of a group: what one of them is of.

    That is the first rate of all rows whose outcome is known, or the only one.
    """
    rows = [catalogue.rate_row(name) for name in _central_first(group.rates)]
    every = (e for e in rows if isinstance(e, _OF_ALL_ROWS) or getattr(e, "among", None) == ALL)
    rate = next(every, rows[0] if len(rows) == 1 else None)
    return group.n if rate is None else size_of_rate(group, rate.name)


def size_of_rate(group: Group, rate: str) -> float:
    """Return the rows that a rate of a group is of; all of it where that is not stated."""
    found = group.rates[rate].denominator if rate in group.rates else None
    return group.n if found is None else found


def gravest_groups(section: FeatureResults, most: int) -> list[Group]:
    """Return so many groups: those that the report leads with, that fail a rule, that differ.

    Of these, and after them, the largest ones come first.
    """
    differ = {each.group for each in section.estimates if is_significant(each)}
    kinds = (section.leads, section.fails, differ)
    return sorted(section.groups, key=lambda g: (*(g.group not in k for k in kinds), -g.n))[:most]


def sections_of(report: Report) -> list[FeatureResults]:
    """Sort a report into sections: a feature, a threshold and a class each."""
    catalogue = report.catalogue
    found: dict[SectionKey, FeatureResults] = {}
    first: dict[tuple[str, ClassScope], FeatureResults] = {}

    def section(feature: str, threshold: float | None, of: ClassScope) -> FeatureResults:
        # a result without a threshold stands in the first section
        if threshold is None and (feature, of) in first:
            return first[feature, of]
        if (feature, threshold, of) not in found:
            made = found[feature, threshold, of] = FeatureResults(feature, threshold, of, catalogue)
            first.setdefault((feature, of), made)
        return found[feature, threshold, of]

    for group in report.groups:
        own = section(group.feature, group.threshold, group.class_scope)
        (own.groups if group.stratum is None else own.groups_inside).append(group)
    totals = {(t.feature, t.threshold, t.class_scope): t for t in report.totals}
    for estimate in report.estimates:
        if estimate.feature is not None:
            of_class = _section_scope(estimate.class_scope)
            _place(estimate, section(estimate.feature, estimate.threshold, of_class))
    for pair in report.pairs:
        section(pair.feature, pair.threshold, pair.class_scope).pairs.append(pair)
    failed = [v for v in report.verdicts if before_counting(v) is Outcome.FAIL]
    for key, own in found.items():
        own.total = totals.get(key)
        others = {s.threshold for s in found.values() if s.feature == own.feature}
        own.several_thresholds = own.threshold is not None and len(others) > 1
        failing = [v for v in failed if v.feature == own.feature]
        own.fails = {name for v in failing for name in (v.group, v.mirror)}
    for finding in report.findings:
        of = finding.estimate
        section(str(of.feature), of.threshold, _section_scope(of.class_scope)).leads.add(of.group)
    features = [*dict.fromkeys(group.feature for group in report.groups)]
    return sorted(found.values(), key=lambda section: (
        [*features, section.feature].index(section.feature),
        _CLASSES_FIRST.index(section.class_scope.kind)))  # fmt: skip


def _section_scope(scope: ClassScope) -> ClassScope:
    # the scope of the section: the worst class of each group stands in one section
    return type(scope)(scope.kind) if scope.kind is ClassKind.WORST else scope


def _place(estimate: Estimate, own: FeatureResults) -> None:
    has_value = estimate.value is not None or estimate.interval is not None
    of_all_groups = estimate.reference is None or estimate.definition.scope == "feature"
    if estimate.mirror_of is not None:
        of = own.mirrors
    elif estimate.scope.kind is ScopeKind.STRATUM:
        of = own.inside
    elif not (has_value and estimate.status in (Status.OK, Status.TOO_FEW)):
        of = own.missing
    elif estimate.scope.kind is ScopeKind.POOLED:
        of = own.adjusted
    else:
        of = own.across if of_all_groups else own.estimates
    of.append(estimate)


def on_one_screen(sections: Iterable[FeatureResults]) -> list[FeatureResults]:
    """Return the sections that one screen shows: of several classes all at once, and averages."""
    shown = ((each, each.class_scope) for each in sections if each.groups)
    return [each for each, of in shown if of.kind is ClassKind.NONE or of.average is Average.MACRO]


def searched_rates(
    sections: Iterable[FeatureResults], asked: Collection[str] = ()
) -> Iterator[tuple[FeatureResults, str]]:
    """Yield the sections and rates in which findings are sought: central ones, and ``asked``.

    Single classes and averages over them repeat what the worst class and all at once show.
    """
    for section in sections:
        if section.class_scope.kind in (ClassKind.CLASS, ClassKind.AVERAGE):
            continue
        compared = list(dict.fromkeys(filter(None, map(section.compared_rate, section.metrics))))
        central = [rate for rate in compared if rate in CENTRAL_RATES]
        ambivalent = [rate for rate in compared if section.rate_row(rate).ambivalent]
        if not set(ambivalent).intersection(central):
            central += ambivalent
        named = [section.compared_rate(each) for each in section.metrics if each in asked]
        rates = list(dict.fromkeys([*central, *filter(None, named)])) or compared
        yield from ((section, rate) for rate in rates)


def adjustments(section: FeatureResults) -> list[tuple[Estimate, Estimate]]:
    """Return each comparison over all rows with its counterpart adjusted for the strata."""
    pairs = ((section.find(each.metric, each.group), each) for each in section.adjusted)
    return [(overall, adjusted) for overall, adjusted in pairs if overall is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedComparison:
    """The comparison that a finding is stated by, read from the side that is worse off.

    ``turned``: whether it is read from the side of its reference, which is one group.
    ``judged, fails, remains``: whether a rule is about its rate, fails for it, and does when all
        comparisons are judged together.
    ``people``: who is compared with whom in which decision or outcome; None where it is of neither.
    ``place``: where only a score is audited, whether its calibration, another number of its fit,
        or what the number of positive outcomes moves, too, is compared: 0, 1 or 2.
    ``failing_beside``: where rules fail only for groups that are better off, that of one of them.
    """

    contrast: Estimate
    row: Statistic | None
    is_of_shares: bool
    turned: bool
    worse: bool
    better: bool
    judged: bool
    fails: bool
    remains: bool
    people: tuple[object, ...] | None
    place: int = 0
    failing_beside: StatedComparison | None = None

    @property
    def gravity(self) -> tuple[float, ...]:
        """Return its place in the order of findings, the gravest first.

        Fails of who is worse off come first, then of who is better off; decisions before fit.
        """
        mean = self.row.of if isinstance(self.row, score_statistics.Mean) else None
        worse, apart = self.worse or mean is score_statistics.RegressionTerm.ERROR, 0.0
        if mean not in (None, score_statistics.RegressionTerm.SQUARED_ERROR):
            apart = abs((self.contrast.rate_group or 0.0) - (self.contrast.rate_reference or 0.0))
        is_of_fit, of_fail = self.is_of_shares and self.people is None, self.failing_beside or self
        return (
            not (self.remains and worse), not (self.fails and worse),
            not of_fail.remains, not of_fail.fails, self.place, not worse, is_of_fit, -apart,
        )  # fmt: skip

    def is_of_some_in(self, whole: StatedComparison) -> bool:
        some, every = self.row, whole.row
        if self.people is None or self.people != whole.people:
            return False
        of_all = isinstance(every, Rate) and every.among == ALL
        return of_all and isinstance(some, Rate) and some.among in directions.OPPOSITES


def stated_comparisons(report: Report, findings: Iterable[Finding]) -> list[StatedComparison]:
    """Return the comparison that each of some findings of a report is stated by.

    The worst of the groups by the side that is better for people; where a rule fails, what it
    judges, unless it fails only for groups that are better off and another one is worse off.
    """
    groups = {(each.feature, each.group) for each in report.groups}
    asked = read_spec(report.spec)
    favourable = asked.favourable or Favourable.POSITIVE
    score_alone = asked.score and not asked.decision

    def stated(contrast: Estimate) -> StatedComparison:
        rules = [each for each in report.verdicts if _is_of_same_rate(each, contrast)]
        other = measured.other_group(groups, contrast)
        found = _state_comparison(contrast, favourable, other, rules)
        return replace(found, place=place_among_scores(found.row)) if score_alone else found

    return [_gravest(finding, stated) for finding in findings]


def place_among_scores(row: Statistic | None) -> int:
    """Return 0 for calibration, 1 for other numbers of how a score fits outcomes, else 2."""
    of = getattr(row, "of", None)
    if of is score_statistics.ScoreTerm.CALIBRATION_GAP:
        return 0
    fits = isinstance(row, score_statistics.ScoreStatistic) and row.labelled
    return 1 if fits and of not in score_statistics.PROPER_SCORES else 2


def _gravest(finding: Finding, stated: Callable[[Estimate], StatedComparison]) -> StatedComparison:
    first = [finding.estimate, *filter(None, [finding.beside])]
    contrasts = (*first, *finding.others, *finding.others_beside)
    every = [each for each in map(stated, contrasts) if each.is_of_shares]
    return gravest_of(every, len(first)) if every else stated(finding.estimate)


def gravest_of(every: Sequence[StatedComparison], first: int) -> StatedComparison:
    """Return what a finding is stated by, of so many ``first`` comparisons and others."""
    failing = [each for each in every if each.fails]
    if all(each.better for each in failing) and any(each.worse for each in every):
        worst = _choose_worst(every, first)
        better_off = [*failing, *filter(None, (each.failing_beside for each in every))]
        largest = max(better_off, key=lambda e: (e.remains, abs(gap(e.contrast))), default=None)
        return replace(worst, failing_beside=worst.failing_beside or largest)
    return _choose_worst(failing or every, len(failing) or first)


def _choose_worst(every: Sequence[StatedComparison], first: int) -> StatedComparison:
    # who is worse off: of so many first ones, else the furthest apart of all others
    chosen = min(every[:first], key=lambda each: not each.worse)
    harmed = [each for each in every if each.worse and not each.turned]
    if not harmed or (chosen.worse and not chosen.turned):
        return chosen
    return max(harmed, key=lambda each: abs(gap(each.contrast)))


def _state_comparison(
    contrast: Estimate, favourable: Favourable, other: str | None, rules: Sequence[Verdict]
) -> StatedComparison:
    row = contrast.definition.of if isinstance(contrast.definition, Contrast) else None
    kind, known = contrast.class_scope.kind, isinstance(row, Rate) and directions.event_of(row)
    of_shares = isinstance(row, Rate) and (kind is ClassKind.NONE or (
        kind is not ClassKind.AVERAGE and known is not None))  # fmt: skip
    event = directions.event_of(row) if of_shares and isinstance(row, Rate) else None
    apart = 0.0  # above 0 where the group is worse off
    of = contrast.definition if isinstance(contrast.definition, RowMetric) else row
    if of is not None and (row is None or of_shares or not row.is_share):
        better = measured.favourable_in(favourable, contrast.class_scope)
        apart = directions.adverse_sign(of, better) * gap(contrast)
    turned = apart < 0 and other is not None
    worse, subject = turned or apart > 0, other if turned else contrast.group
    failed: list[Verdict] = []
    failed_beside: list[Verdict] = []
    for each in rules:
        if before_counting(each) is Outcome.FAIL and is_about(each, contrast):
            of_all = is_of_all_groups(each.definition) or is_of_both_sides(each)
            own = of_all or each.group == subject or not worse
            (failed if own else failed_beside).append(each)
    made = StatedComparison(contrast=contrast, row=row, is_of_shares=of_shares, turned=turned,
        worse=worse, better=not turned and apart < 0,
        judged=bool(rules) and contrast.class_scope.kind is not ClassKind.AVERAGE,
        fails=bool(failed), remains=any(each.remains is not False for each in failed),
        people=None if event is None else _people(contrast, event, other, turned=turned),
    )  # fmt: skip
    if not failed_beside:
        return made
    remains = any(each.remains is not False for each in failed_beside)
    return replace(made, failing_beside=replace(made, fails=True, remains=remains))


def _people(
    contrast: Estimate, event: Cells, other: str | None, *, turned: bool
) -> tuple[object, ...]:
    sides = (contrast.group, other or contrast.reference)
    positive = event in (TP + FP, TP + FN)  # its opposite is as much more often as it is less often
    less_often = ((gap(contrast) < 0) != turned) == positive
    return (contrast.feature, contrast.class_scope.name, contrast.threshold,
        event if positive else directions.OPPOSITES[event],
        sides[turned], sides[not turned], less_often)  # fmt: skip


def is_about(verdict: Verdict, contrast: Estimate) -> bool:
    """Return whether a comparison decides a verdict: by any function of the same number.

    The complement of a rate differs by as much: a rule on either is about both.
    """
    of_one = len(_comparison_key(verdict)) == 1 and not is_of_all_groups(verdict.definition)
    same_class = verdict.class_scope == contrast.class_scope.of_class
    if not same_class or verdict.threshold not in (None, contrast.threshold):
        return False
    return (of_one or verdict.metric == contrast.metric) and _is_of_same_rate(verdict, contrast)


def _is_of_same_rate(verdict: Verdict, contrast: Estimate) -> bool:
    groups = (verdict.group, verdict.mirror)
    if not (is_of_all_groups(verdict.definition) or contrast.group in groups):
        return False
    shared = _comparison_key(verdict) & _comparison_key(contrast)
    return bool(shared) and verdict.feature == contrast.feature


def _comparison_key(each: Estimate | Verdict) -> set[Hashable]:
    # the rates that are compared over all rows, or the metric without any
    row = each.definition
    if isinstance(row, Metric) and row.scope == "pooled":
        return {row.name}
    return {disparity(of) for of in (row.statistics if isinstance(row, Metric) else ()) or (row,)}


def shown_adjusted_alone(estimates: Sequence[Estimate]) -> list[tuple[Estimate, Estimate]]:
    """Return what differs adjusted for the strata and not over all rows, with both, largest first.

    Of the difference and the ratio of a rate it is the one that comes first, of its odds the rate.
    """
    pooled = [e for e in estimates if e.scope.kind is ScopeKind.POOLED and is_significant(e)]
    if not pooled:
        return []
    overall = {each.key: each for each in estimates if each.scope.kind is ScopeKind.OVERALL}
    found: dict[tuple[object, ...], tuple[Estimate, Estimate]] = {}
    for each in _contrasts(pooled):
        whole = overall.get(replace(each, scope=OVERALL).key)
        if whole is not None and not is_significant(whole):
            found.setdefault(_key_beside_scope(each), (whole, each))
    return sorted(found.values(), key=lambda pair: -abs(gap(pair[1])))


def _contrasts(estimates: Iterable[Estimate]) -> list[Estimate]:
    compared = [e for e in estimates if isinstance(e.definition, Contrast) and e.mirror_of is None]
    return sorted(compared, key=lambda e: not isinstance(cast(Contrast, e.definition).of, Rate))


def _key_beside_scope(each: Estimate) -> tuple[object, ...]:
    assert isinstance(each.definition, Contrast)
    return tested_as(each.definition.of), each.feature, each.group, each.class_scope, each.threshold


def with_both_sides(inside: Iterable[Estimate]) -> list[Estimate]:
    """Return the comparisons in strata that have rows of both sides: in others none is tested."""
    return [each for each in inside if each.n_group and each.n_reference]


def significant_strata(inside: Sequence[Estimate], tests: int | None = None) -> list[Estimate]:
    """Return the strata in which a comparison is significant, adjusted for all (Bonferroni).

    ``tests`` is how many are tested together, None where it is these.
    """
    tests = tests or len(with_both_sides(inside))
    tested = ((e, e.p_value) for e in inside if e.status is Status.OK and e.p_value is not None)
    return [each for each, p in tested if tests * p <= 1 - (each.confidence or 1)]


def not_shown_over_all(estimates: Iterable[Estimate]) -> list[tuple[Estimate, list[Estimate]]]:
    """Return the comparisons that show none over all rows, each with the strata that differ."""
    found: dict[tuple[object, ...], tuple[Estimate, list[Estimate]]] = {}
    compared = _contrasts(estimates)
    reasons = ((each, each.reason) for each in compared if each.reason is not None)
    decided = {_key_beside_scope(e) for e, of in reasons if of.code is ReasonCode.STRATA_DECIDE}
    for each in compared:
        key = _key_beside_scope(each)
        if each.scope.kind is ScopeKind.OVERALL:
            found.setdefault(key, (each, []))
        elif each.scope.kind is ScopeKind.STRATUM and key in found:
            overall, strata = found[key]
            strata += with_both_sides([each]) if each.metric == overall.metric else []
    inside = [each for key, each in found.items() if each[1] and key not in decided]
    tests = sum(len(strata) for _, strata in inside)
    none = [each for each in inside if not is_significant(each[0])]
    return [(overall, significant_strata(strata, tests)) for overall, strata in none]
