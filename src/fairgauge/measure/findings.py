"""Findings: which disparities a report leads with, adjusted for what, and in which order.

The choice is made here alone. Every format shows `Report.findings` as they are.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from fairgauge.catalogue import directions
from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Contrast, RowMetric
from fairgauge.catalogue.directions import adverse_sign, disparity, favours_the_least
from fairgauge.catalogue.distributions import ConditionalDisparity
from fairgauge.catalogue.lookup import SETS
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    AfterAdjusting,
    Better,
    ClassKind,
    DiagnosticCode,
    Favourable,
    FindingReason,
    Outcome,
    ReferenceKind,
)
from fairgauge.question.features import strata_named
from fairgauge.question.specification import read_spec
from fairgauge.results import estimates as measured
from fairgauge.results.estimates import Estimate, FamilyOfTests, Finding, gap, is_significant
from fairgauge.results.report import Report
from fairgauge.results.verdicts import Verdict, before_counting
from fairgauge.start.records import replace
from fairgauge.statements.sections import (
    FeatureResults,
    is_about,
    searched_rates,
    sections_of,
    stated_comparisons,
)

# decimals of gaps that are ranked: beyond these two groups of equal counts could differ
_ROUNDING = 12
_ADJUSTED = {
    AfterAdjusting.REVERSES: FindingReason.REVERSES,
    AfterAdjusting.DISAPPEARS: FindingReason.DISAPPEARS,
}


class _Searched(NamedTuple):
    """A rate of a section in which a finding is sought.

    ``adverse`` is the sign of a difference to the disadvantage of people; 0 where there is none.
    """

    section: FeatureResults
    rate: str
    row: Statistic
    adverse: int
    favourable: Favourable

    @property
    def has_direction(self) -> bool:
        """Return whether one direction of the rate is the worse one for a group."""
        return self.adverse != 0 or directions.has_direction(self.row, self.favourable)

    @property
    def significant(self) -> list[Estimate]:
        """Return the comparisons of its groups that are statistically significant."""
        contrasts = self.section.contrasts(self.rate)
        return [e for e in contrasts if math.isfinite(e.value or 0.0) and is_significant(e)]


def choose_findings(report: Report) -> tuple[Finding, ...]:
    """Return the disparities to report, the gravest first, one for each feature and rate.

    Of each it is that of the group that fares worst.
    """
    # Only contrasts are findings whose interval excludes "no difference" together with those of all
    # comparisons of the report: a report with many rates and features would otherwise lead with
    # sampling error. Within a rate groups are ranked by the point estimate, never by the interval,
    # which would rank large groups first.
    chosen: list[tuple[_Searched, Finding]] = []
    stated: set[Hashable] = set()
    named = set()
    for name in report.spec.get("metrics", ()):
        with suppress(LookupError):  # the import path of one of the user's own
            named |= set() if name in SETS else {m.name for m in report.catalogue.expand([name])}
    asked = {*named, *(verdict.metric for verdict in report.verdicts)}
    favourable = directions.favourable_of(report.spec)
    sections = sections_of(report)
    for section, rate in searched_rates(sections, asked):
        row = section.rate_row(rate)
        adverse = adverse_sign(row, measured.favourable_in(favourable, section.class_scope))
        each = _Searched(section, rate, row, adverse, favourable)
        worst = _worst_estimate(each)
        same = section.key, disparity(row)
        if worst is None or same in stated:
            continue
        if _is_stated_beside(each, worst, [f for of, f in chosen if of.section is section]):
            for i, (of, finding) in enumerate(chosen):
                beside = finding.beside if of.section is section else None
                if beside is not None and section.compared_rate(beside.metric) == rate:
                    chosen[i] = of, replace(finding, others_beside=_others(each, beside))
            stated.add(same)
            continue
        chosen.append((each, _finding(report, each, worst)))
        stated.add(same)
    chosen.sort(key=lambda each: _importance(*each))
    of_others = [e for of in sections for e in _findings_of_rest(report, of, asked, named, stated)]
    return _gravest_first(report, [*(finding for _, finding in chosen), *of_others])


def _findings_of_rest(
    report: Report,
    section: FeatureResults,
    asked: Container[str],
    named: Container[str],
    stated: set[Hashable],
) -> Iterator[Finding]:
    # These are medians and other quantiles, tops of rankings, distances, and several rates at once.
    # What is a function of a number that is ``stated`` already is none, nor, unless it is
    # ``named``, what is made of several such. Who fails a rule comes first, then who is worse off.
    if section.class_scope.kind in (ClassKind.CLASS, ClassKind.AVERAGE):
        return
    favourable = measured.favourable_in(directions.favourable_of(report.spec), section.class_scope)

    def place(each: Estimate) -> tuple[bool, bool, float]:
        row = each.definition
        adverse = adverse_sign(row, favourable) if isinstance(row, RowMetric) else 0
        fails = any(_fails(verdict, each) for verdict in report.verdicts)
        return not fails, adverse * gap(each) <= 0, -round(measured.distance(each), _ROUNDING)

    pooled = (e for e in section.adjusted if isinstance(e.definition, ConditionalDisparity))
    by_metric: dict[str, list[Estimate]] = {}
    for each in (*section.estimates, *section.across, *pooled):
        if each.metric in asked and not isinstance(each.definition, Contrast):
            by_metric.setdefault(each.metric, []).extend([each] if is_significant(each) else [])
    for metric, significant in by_metric.items():
        row = section.metric_row(metric)
        same = section.key, disparity(row)
        parts = set() if metric in named else {(section.key, disparity(e)) for e in row.statistics}
        if same in stated or not significant or (parts and parts <= stated):
            continue
        stated.add(same)
        of = metric.removesuffix(".difference").removesuffix(".ratio")
        worst, *others = sorted(significant, key=place)
        of_others = worst.reference and worst.reference.kind is ReferenceKind.OTHERS
        if of_others and len(section.groups) == 2:
            others = []  # the same, seen from the other side
        yield _make_finding(report, of, worst, others)


def _gravest_first(report: Report, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    # of two disparities of the same people in the same decision the one of all rows comes first,
    # and the other next, unless a rule fails for the other alone
    stated = stated_comparisons(report, findings)
    ranked = sorted(range(len(findings)), key=lambda i: stated[i].gravity)
    for i in ranked[1:]:
        first, other = stated[ranked[0]], stated[i]
        if other.is_of_some_in(first) or first.is_of_some_in(other):
            whole_next = first.is_of_some_in(other) and other.fails >= first.fails
            pair = (i, ranked[0]) if whole_next else (ranked[0], i)
            ranked = [*pair, *(each for each in ranked if each not in pair)]
            break
    return tuple(findings[i] for i in ranked)


def _worst_estimate(searched: _Searched) -> Estimate | None:
    # of a difference to the disadvantage of people, else of the worse rate
    sign = searched.adverse or (1 if favours_the_least(searched.row, searched.favourable) else -1)
    known = searched.adverse != 0 or (
        directions.better_of(searched.row, searched.favourable) is not Better.NEITHER
    )

    def worse_side(estimate: Estimate) -> Estimate:
        better = known and gap(estimate) * sign < 0
        return (searched.section.mirror(estimate) if better else None) or estimate

    significant = list(map(worse_side, searched.significant))
    worse = [each for each in significant if searched.has_direction and gap(each) * sign > 0]
    return max(
        worse or significant,
        key=lambda e: (round(abs(gap(e)), _ROUNDING), gap(e) * sign),
        default=None,
    )


def _is_stated_beside(searched: _Searched, worst: Estimate, of_section: Sequence[Finding]) -> bool:
    # A false positive rate is reported with the true positive rate of its group: whether a higher
    # one is worse depends on which error harms. Of two groups that mirror each other one is stated.
    if not searched.row.ambivalent:
        return False
    groups = {each.beside.group for each in of_section if each.beside}
    mirrors = {group for e in searched.section.mirrors for group in (e.group, e.mirror_of)}
    return worst.group in groups or bool(groups & mirrors)


def _others(searched: _Searched, stated: Estimate) -> tuple[Estimate, ...]:
    if searched.section.mirrors:
        return ()
    others = [e for e in searched.significant if e.group != stated.group]
    return tuple(sorted(others, key=lambda each: -abs(gap(each))))


def _finding(report: Report, searched: _Searched, worst: Estimate) -> Finding:
    section, rate = searched.section, searched.rate

    def of_group(estimates: Iterable[Estimate]) -> Estimate | None:
        for estimate in estimates:
            for side in (estimate, section.mirror(estimate)):
                if side and (side.group, side.class_scope) == (worst.group, worst.class_scope):
                    return side
        return None

    adjusted = of_group(e for e in section.adjusted if e.metric == worst.metric)
    beside = of_group(filter(is_significant, section.contrasts(searched.row.reported_with)))
    others = _others(searched, worst)
    return _make_finding(report, rate, worst, others, adjusted=adjusted, beside=beside)


def _make_finding(
    report: Report, rate: str, worst: Estimate, others: Sequence[Estimate], *,
    adjusted: Estimate | None = None, beside: Estimate | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        rate=rate,
        why=tuple(_reasons(report, worst, adjusted, several=bool(others))),
        estimate=worst,
        interval=worst.interval,
        p_adjusted=worst.p_adjusted,
        family=_family_of_tests(report, worst),
        adjusted=adjusted,
        adjusted_for=strata_named(read_spec(report.spec).strata) if adjusted else None,
        beside=beside,
        others=tuple(others),
    )


def _family_of_tests(report: Report, estimate: Estimate) -> FamilyOfTests | None:
    # a single test has no note
    notes = [e for e in report.diagnostics if e.code is DiagnosticCode.ADJUSTED_P]
    if notes:
        tests = notes[0]["homogeneity"] or 0
        comparisons = notes[0]["comparisons"] - 2 * tests
        return FamilyOfTests(comparisons=comparisons, homogeneity=tests, all_pairs=tests)
    return FamilyOfTests(comparisons=1) if estimate.p_adjusted is not None else None


def _reasons(
    report: Report, worst: Estimate, adjusted: Estimate | None, *, several: bool
) -> Iterator[FindingReason]:
    # why a disparity is a finding; significance alone chooses it today
    yield FindingReason.SIGNIFICANT
    if several:
        yield FindingReason.LARGEST
    if any(_fails(verdict, worst) for verdict in report.verdicts):
        yield FindingReason.RULE_FAILED
    if adjusted is not None:
        change = measured.after_adjusting(worst, adjusted)
        if change in _ADJUSTED:
            yield _ADJUSTED[change]


def _fails(verdict: Verdict, worst: Estimate) -> bool:
    return before_counting(verdict) is Outcome.FAIL and is_about(verdict, worst)


def _importance(searched: _Searched, finding: Finding) -> tuple[bool, bool, float]:
    # gaps of shares can be compared between rates; other rates stay in the order of the catalogue
    share = searched.row.is_share
    central = CENTRAL_RATES.index(finding.rate) if finding.rate in CENTRAL_RATES else math.inf
    size = abs(gap(finding.estimate))
    return not searched.has_direction, not share, -size if share else central
