"""Findings: which disparities a report leads with, adjusted for what, and in which order.

The choice is made here alone. Every format shows `Report.findings` as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import (
    AfterAdjusting,
    Better,
    DiagnosticCode,
    FindingReason,
    Outcome,
)
from fairgauge.question.features import strata_named
from fairgauge.results.disparities import after_adjusting, gap, is_significant, singled_out
from fairgauge.results.estimates import Estimate
from fairgauge.results.finding import FamilyOfTests, Finding
from fairgauge.results.report import Report
from fairgauge.results.sections import FeatureResults, searched_rates, sections_of
from fairgauge.results.verdicts import Verdict, before_counting

_ROUNDING = 12
"""Decimals of gaps that are ranked: beyond these two groups of equal counts could differ."""
_ADJUSTED = {
    AfterAdjusting.REVERSES: FindingReason.REVERSES,
    AfterAdjusting.DISAPPEARS: FindingReason.DISAPPEARS,
}


class _Searched(NamedTuple):
    """A rate of a section in which a finding is sought.

    Attributes
    ----------
    section, rate, row : of what.
    """

    section: FeatureResults
    rate: str
    row: Statistic

    @property
    def significant(self) -> list[Estimate]:
        """Return the comparisons of its groups that are statistically significant."""
        contrasts = self.section.contrasts(self.rate)
        return [e for e in contrasts if math.isfinite(e.value or 0.0) and is_significant(e)]


def choose_findings(report: Report) -> tuple[Finding, ...]:
    """Return the disparities to report first: of each feature and rate the group that fares worst.

    Only contrasts are findings whose interval excludes "no difference" together with those of all
    comparisons of the report: a report with many rates and features would otherwise lead with
    sampling error. Within a rate groups are ranked by the point estimate, never by the interval,
    which would rank large groups first.
    """
    chosen: list[tuple[_Searched, Finding]] = []
    ruled = {verdict.metric for verdict in report.verdicts}
    for section, rate in searched_rates(sections_of(report), ruled):
        each = _Searched(section, rate, section.rate_row(rate))
        worst = _worst(each)
        if worst is None:
            continue
        if _is_stated_beside(each, worst, [f for of, f in chosen if of.section is section]):
            chosen = [(of, _with_others_beside(of, finding, each)) for of, finding in chosen]
            continue
        chosen.append((each, _finding(report, each, worst)))
    chosen.sort(key=lambda each: _importance(*each))
    return tuple(finding for _, finding in chosen)


def _worst(searched: _Searched) -> Estimate | None:
    """Return the significant contrast of the group that fares worst, else the largest one."""
    adverse = 1 if searched.row.better is Better.LOWER else -1
    significant = [
        mirror if (mirror := _worse_side(searched, each, adverse)) else each
        for each in searched.significant
    ]
    worse = [
        each for each in significant if _has_direction(searched.row) and gap(each) * adverse > 0
    ]
    return max(
        worse or significant,
        key=lambda e: (round(abs(gap(e)), _ROUNDING), gap(e) * adverse),
        default=None,
    )


def _worse_side(searched: _Searched, estimate: Estimate, adverse: int) -> Estimate | None:
    """Return a comparison seen from the group that fares worse, where two groups mirror."""
    better = searched.row.better is not Better.NEITHER and gap(estimate) * adverse < 0
    return searched.section.mirror(estimate) if better else None


def _has_direction(rate: Statistic) -> bool:
    """Return whether one direction of a rate is the worse one for a group."""
    return rate.better is not Better.NEITHER and not rate.ambivalent


def _is_stated_beside(searched: _Searched, worst: Estimate, of_section: Sequence[Finding]) -> bool:
    """Return whether a rate is stated by a finding of the same section already.

    A false positive rate is reported with the true positive rate of its group: whether a higher one
    is worse depends on which error harms. Of two groups that mirror each other one is stated.
    """
    if searched.row is None or not searched.row.ambivalent:
        return False
    groups = {each.beside.group for each in of_section if each.beside}
    return worst.group in groups or bool(groups.intersection(_mirrors(searched.section)))


def _mirrors(section: FeatureResults) -> set[str | None]:
    """Return both of two groups that mirror each other."""
    return {group for each in section.mirrors for group in (each.group, each.mirror_of)}


def _with_others_beside(of: _Searched, finding: Finding, searched: _Searched) -> Finding:
    """Return a finding with the other groups of the rate that it states beside its own."""
    stated = finding.beside
    if of.section is not searched.section or stated is None:
        return finding
    if of.section.compared_rate(stated.metric) != searched.rate:
        return finding
    return replace(finding, others_beside=_others(searched, stated))


def _others(searched: _Searched, stated: Estimate) -> tuple[Estimate, ...]:
    """Return the significant contrasts of a rate besides the one stated, the largest first."""
    if searched.section.mirrors:
        return ()
    others = [e for e in searched.significant if e.group != stated.group]
    return tuple(sorted(others, key=lambda each: -abs(gap(each))))


def _finding(report: Report, searched: _Searched, worst: Estimate) -> Finding:
    section, rate = searched.section, searched.rate

    def of_group(estimates: Iterable[Estimate]) -> Estimate | None:
        """Return the estimate of the group that is worst, or its mirror."""
        for estimate in estimates:
            for side in (estimate, section.mirror(estimate)):
                if side and (side.group, side.class_scope) == (worst.group, worst.class_scope):
                    return side
        return None

    ratio = of_group(e for e in section.estimates if e.metric == f"{rate}.ratio")
    ratio = None if ratio is worst else ratio
    adjusted = of_group(e for e in section.adjusted if e.metric == worst.metric)
    beside = of_group(filter(is_significant, section.contrasts(searched.row.reported_with)))
    others = _others(searched, worst)
    return Finding(
        rate=rate,
        why=tuple(_reasons(report, searched, worst, adjusted, several=bool(others))),
        estimate=worst,
        interval=singled_out(worst).interval,
        p_adjusted=worst.p_adjusted,
        family=_family(report, worst),
        ratio=ratio,
        adjusted=adjusted,
        adjusted_for=strata_named(report.spec.get("strata")) if adjusted else None,
        beside=beside,
        others=others,
        limits=_limits_of_rules(report, searched, "difference"),
        ratio_limits=_limits_of_rules(report, searched, "ratio"),
        one_of_thresholds=section.several_thresholds and worst.threshold is not None,
    )


def _family(report: Report, estimate: Estimate) -> FamilyOfTests | None:
    """Return the tests that a report judges together with one; None where it does not hold them.

    A single test has no note, nor have reports of before that kept none.
    """
    notes = [e for e in report.diagnostics if e.code is DiagnosticCode.ADJUSTED_P]
    if notes:
        tests = notes[0]["homogeneity"] or 0
        comparisons = notes[0]["comparisons"] - 2 * tests
        return FamilyOfTests(comparisons=comparisons, homogeneity=tests, all_pairs=tests)
    alone = estimate.p_adjusted is not None and estimate.p_adjusted == estimate.p_value
    return FamilyOfTests(comparisons=1) if alone else None


def _reasons(
    report: Report,
    searched: _Searched,
    worst: Estimate,
    adjusted: Estimate | None,
    *,
    several: bool,
) -> Iterator[FindingReason]:
    """Yield why a disparity is a finding; significance alone chooses it today."""
    yield FindingReason.SIGNIFICANT
    if several:
        yield FindingReason.LARGEST
    if any(_fails(verdict, searched, worst) for verdict in report.verdicts):
        yield FindingReason.RULE_FAILED
    if adjusted is not None:
        change = after_adjusting(worst, adjusted)
        if change in _ADJUSTED:
            yield _ADJUSTED[change]


def _limits_of_rules(report: Report, searched: _Searched, by: str) -> tuple[float, ...]:
    """Return the limits of rules on the difference or the ratio of a rate, under any name of it."""
    asked = report.spec.get("rules", ())
    limits: list[float] = []
    for rule in (each for one in asked for each in (one, *one.get("alternatives", ()))):
        row = searched.section.metric_row(rule["metric"])
        if isinstance(row, Contrast) and (row.of.name, row.by) == (searched.rate, by):
            sign = -1 if by == "difference" and row.order == "reference - group" else 1
            limits += [sign * rule[end] for end in ("at_least", "at_most") if end in rule]
    return tuple(dict.fromkeys(limits))


def _fails(verdict: Verdict, searched: _Searched, worst: Estimate) -> bool:
    """Return whether a verdict is that a rule on the rate fails for the group of a finding."""
    return (
        before_counting(verdict) is Outcome.FAIL
        and verdict.feature == worst.feature
        and worst.group in (verdict.group, verdict.mirror)
        and verdict.class_scope == worst.class_scope
        and verdict.threshold in (None, worst.threshold)
        and searched.section.compared_rate(verdict.metric) == searched.rate
    )


def _importance(searched: _Searched, finding: Finding) -> tuple[bool, bool, float]:
    """Return the place of a finding: rates with a worse direction first, then the largest gaps.

    Gaps of shares can be compared between rates; other rates stay in the order of the catalogue.
    """
    rate = searched.row
    share = rate is not None and rate.is_share
    central = CENTRAL_RATES.index(finding.rate) if finding.rate in CENTRAL_RATES else math.inf
    size = abs(gap(finding.estimate))
    return not _has_direction(rate), not share, -size if share else central
