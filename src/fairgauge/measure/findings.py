"""Findings: which disparities a report leads with, adjusted for what, and in which order.

The choice is made here alone. Every format shows `Report.findings` as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairgauge.catalogue.catalogue import CENTRAL_RATES
from fairgauge.catalogue.comparisons import Contrast
from fairgauge.enums import (
    AfterAdjusting,
    Better,
    FamilyProcedure,
    FindingReason,
    Outcome,
    Status,
)
from fairgauge.results.disparities import after_adjusting, gap, is_significant, singled_out
from fairgauge.results.finding import Finding, FindingFamily
from fairgauge.results.sections import comparisons, searched_rates, sections_of
from fairgauge.results.verdicts import before_counting
from fairgauge.stats.multiplicity import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.results.estimates import Estimate
    from fairgauge.results.report import Report
    from fairgauge.results.sections import FeatureResults
    from fairgauge.results.verdicts import Verdict

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
    contrasts : the comparisons of its groups with their reference.
    factor : by how much their p-values are multiplied, to be adjusted for all rates searched.
    """

    section: FeatureResults
    rate: str
    row: Statistic
    contrasts: Sequence[Estimate]
    factor: float


def choose_findings(report: Report) -> tuple[Finding, ...]:
    """Return the disparities to report first: of each feature and rate the group that fares worst.

    Only contrasts on enough data are findings that are statistically significant once all rates and
    features among which findings are sought are adjusted for (Holm), and whose simultaneous
    interval excludes "no difference": a report with many rates and features would otherwise lead
    with sampling error. Within a rate groups are ranked by the point estimate, never by the
    interval, which would rank large groups first.
    """
    searched = _searched(report)
    factors = {(each.section.key, each.rate): each.factor for each in searched}
    chosen: list[tuple[_Searched, Finding]] = []
    for each in searched:
        worst = _worst(each)
        if worst is None:
            continue
        if _is_stated_beside(each, worst, [f for of, f in chosen if of.section is each.section]):
            chosen = [(of, _with_others_beside(of, finding, each)) for of, finding in chosen]
            continue
        beside = each.row.reported_with
        factor = factors.get((each.section.key, beside), 1.0)
        chosen.append((each, _finding(report, searched, each, worst, (beside, factor))))
    chosen.sort(key=lambda each: _importance(*each))
    return tuple(finding for _, finding in chosen)


def _searched(report: Report) -> list[_Searched]:
    """Return the rates in which findings are sought, with what adjusts their p-values for all.

    The p-values of a rate are adjusted for its groups already; the smallest of each rate are one
    family, adjusted by Holm, and the others of a rate are multiplied as its smallest is.
    """
    rates = [
        (section, rate, section.contrasts(rate))
        for section, rate in searched_rates(sections_of(report))
    ]
    smallest = [
        min((p for e in contrasts if (p := _p_value(e)) is not None), default=math.nan)
        for _, _, contrasts in rates
    ]
    adjusted = holm(smallest).tolist() if smallest else []
    return [
        _Searched(
            section,
            rate,
            section.rate_row(rate),
            contrasts,
            after / before if before > 0 else float(len(rates)),
        )
        for (section, rate, contrasts), before, after in zip(rates, smallest, adjusted, strict=True)
    ]


def _p_value(each: Estimate) -> float | None:
    if each.status is not Status.OK:
        return None
    return each.p_value if each.p_adjusted is None else each.p_adjusted


def _worst(searched: _Searched) -> Estimate | None:
    """Return the significant contrast of the group that fares worst, else the largest one."""
    adverse = 1 if searched.row.better is Better.LOWER else -1
    significant = [
        mirror if (mirror := _worse_side(searched, each, adverse)) else each
        for each in _standing_out(searched, searched.factor)
    ]
    worse = [
        each for each in significant if _has_direction(searched.row) and gap(each) * adverse > 0
    ]
    return max(
        worse or significant,
        key=lambda e: (round(abs(gap(e)), _ROUNDING), gap(e) * adverse),
        default=None,
    )


def _worse_side(searched: _Searched, each: Estimate, adverse: int) -> Estimate | None:
    """Return a comparison seen from the group that fares worse, where two groups mirror."""
    better = searched.row.better is not Better.NEITHER and gap(each) * adverse < 0
    return searched.section.mirror(each) if better else None


def _has_direction(rate: Statistic) -> bool:
    """Return whether one direction of a rate is the worse one for a group."""
    return rate.better is not Better.NEITHER and not rate.ambivalent


def _standing_out(searched: _Searched, factor: float) -> list[Estimate]:
    return [
        each
        for each in searched.contrasts
        if math.isfinite(each.value or 0.0) and _stands_out(each, factor)
    ]


def _stands_out(each: Estimate, factor: float) -> bool:
    """Return whether a difference is significant with its p-value multiplied.

    The simultaneous interval must exclude "no difference", too: it is the one that is shown.
    """
    p_value, together = _p_value(each), each.simultaneous
    if p_value is not None and each.confidence and p_value * factor > 1 - each.confidence:
        return False
    excluded = together is None or each.definition.neutral not in together
    return is_significant(each) and excluded


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
    return replace(finding, others_beside=_others(searched, stated, searched.factor))


def _others(searched: _Searched, stated: Estimate, factor: float) -> tuple[Estimate, ...]:
    """Return the significant contrasts of a rate besides the one stated, the largest first."""
    if searched.section.mirrors:
        return ()
    others = [e for e in _standing_out(searched, factor) if e.group != stated.group]
    return tuple(sorted(others, key=lambda each: -abs(gap(each))))


def _finding(
    report: Report,
    family: Sequence[_Searched],
    searched: _Searched,
    worst: Estimate,
    reported_with: tuple[str, float],
) -> Finding:
    """Return the finding of a rate; ``reported_with`` is another rate, and its factor."""
    section, rate = searched.section, searched.rate

    def of_group(estimates: Iterable[Estimate]) -> Estimate | None:
        """Return the estimate of the group that is worst, or its mirror."""
        for each in estimates:
            for side in (each, section.mirror(each)):
                if side and (side.group, side.class_scope) == (worst.group, worst.class_scope):
                    return side
        return None

    ratio = of_group(e for e in section.estimates if e.metric == f"{rate}.ratio")
    ratio = None if ratio is worst else ratio
    adjusted = of_group(e for e in section.adjusted if e.metric == worst.metric)
    other_rate, factor = reported_with
    beside = of_group(e for e in section.contrasts(other_rate) if _stands_out(e, factor))
    others = _others(searched, worst, searched.factor)
    weaker = tuple(e for e in _others(searched, worst, 1.0) if e not in others)
    p_value = _p_value(worst)
    return Finding(
        rate=rate,
        why=tuple(_reasons(report, searched, worst, adjusted, several=bool(others))),
        estimate=worst,
        interval=singled_out(worst).interval,
        p_adjusted=None if p_value is None else min(1.0, p_value * searched.factor),
        family=_family(family, searched),
        ratio=ratio,
        adjusted=adjusted,
        adjusted_for=report.spec.get("strata") if adjusted else None,
        beside=beside,
        others=others,
        unconfirmed=weaker,
        limits=_limits_of_rules(report, searched, "difference"),
        ratio_limits=_limits_of_rules(report, searched, "ratio"),
        one_of_thresholds=section.several_thresholds and worst.threshold is not None,
    )


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
    if any(_fails(each, searched, worst) for each in report.verdicts):
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


def _family(family: Sequence[_Searched], searched: _Searched) -> FindingFamily:
    """Return for which comparisons the p-values of a rate are adjusted: all that were tested."""
    tested = [each for each in family if any(_p_value(e) is not None for e in each.contrasts)]
    sections = [each.section for each in tested]
    metrics = dict.fromkeys(each.metric for each in searched.contrasts)
    return FindingFamily(
        procedure=FamilyProcedure.HOLM,
        size=len(tested),
        features=tuple(dict.fromkeys(each.feature for each in sections)),
        rates=tuple(dict.fromkeys(each.rate for each in tested)),
        thresholds=tuple(
            dict.fromkeys(each.threshold for each in sections if each.threshold is not None)
        ),
        groups=max((comparisons(searched.section, metric) for metric in metrics), default=0),
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
