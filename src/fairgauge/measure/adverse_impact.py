"""Observed and expected selections of every group, which analyses of adverse impact state."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from fairgauge.enums import DiagnosticCode, ScopeKind
from fairgauge.question.kits import find_kit
from fairgauge.question.specification import Spec
from fairgauge.results.estimates import AdverseImpact
from fairgauge.results.report import Report
from fairgauge.stats.significance import exact_selection_test, expected_selections

_RATE = "selection_rate"


def adverse_impact(report: Report, spec: Spec) -> tuple[AdverseImpact, ...]:
    """Return a line for every group that is compared, where a preset asks for it.

    Of weighted, sampled or rounded counts and of estimated groups there is none, nor of several
    thresholds or classes: these tests are of people who were counted once.
    """
    counted = not (spec.weight or spec.cluster or spec.design)
    if spec.preset is None or not find_kit(spec.preset).adverse_impact or not counted:
        return ()
    rounded = any(each.code is DiagnosticCode.PROTECTED for each in report.diagnostics)
    several = len({(each.class_, each.threshold) for each in report.groups}) > 1
    return () if rounded or several else tuple(_impact_lines(report, spec))


def _impact_lines(report: Report, spec: Spec) -> Iterator[AdverseImpact]:
    estimated = {each.name for each in spec.probabilities}
    sides: dict[tuple[str, str, str | None], tuple[int, int]] = {}  # applicants, and selected
    for each in report.groups:
        rate = each.rates.get(_RATE)
        if rate is not None and rate.denominator and rate.numerator is not None:
            side = int(rate.denominator), int(rate.numerator)
            sides[each.feature, each.group, each.stratum] = side
    strata = {stratum for *_, stratum in sides} - {None} or {None}
    compared = [
        (of.feature, of.group, str(of.reference.group))
        for of in report.estimates
        if of.scope.kind is ScopeKind.OVERALL and of.metric.startswith(_RATE)
        if of.feature and of.group and of.reference is not None and of.feature not in estimated
    ]
    for feature, group, reference in dict.fromkeys(compared):
        tables = [
            (*sides[feature, group, stratum], *sides[feature, reference, stratum])
            for stratum in sorted(strata, key=str)
            if (feature, group, stratum) in sides and (feature, reference, stratum) in sides
        ]
        if not tables:
            continue
        limits = [
            (rule.low, rule.high)
            for rule in spec.rules
            if rule.metric == f"{_RATE}.ratio"
            and (not rule.features or feature in rule.features)
            and (not rule.groups or group in rule.groups)
        ]
        n, selected, n_reference, others = ([*each] for each in zip(*tables, strict=True))
        both = [s + t for s, t in zip(selected, others, strict=True)]
        expected, variance = expected_selections(n, n_reference, both)
        n_a, x_a, n_b, x_b = map(sum, (n, selected, n_reference, others))
        shortfall = expected - x_a
        one_other = (x_a + 1) / n_a * n_b / (x_b - 1) if x_b > 1 and x_a < n_a else None
        ratio = x_a / n_a * n_b / x_b if x_b and n_a else None
        turned = None
        if limits and ratio is not None and one_other is not None:
            turned = any((a <= ratio <= b) != (a <= one_other <= b) for a, b in limits)
        yield AdverseImpact(
            feature=feature,
            group=group,
            reference=reference,
            tables=len(tables),
            n=n_a,
            n_reference=n_b,
            selected=x_a,
            selected_reference=x_b,
            expected=expected,
            shortfall=shortfall,
            standard_deviations=shortfall / sqrt(variance) if variance else None,
            p=exact_selection_test(n, n_reference, selected, others),
            ratio=ratio,
            ratio_of_one_other=one_other,
            turned=turned,
        )
