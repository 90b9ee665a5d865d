"""The selections of every group beside those to expect, which analyses of adverse impact state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import sqrt

from fairgauge.enums import DiagnosticCode, ScopeKind
from fairgauge.question.presets import preset
from fairgauge.question.specification import Spec
from fairgauge.results.adverse_impact import AdverseImpact
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report
from fairgauge.stats.adverse_impact import exact_selection_test, expected_selections

_RATE = "selection_rate"
_Side = tuple[int, int]


def adverse_impact(report: Report, spec: Spec) -> tuple[AdverseImpact, ...]:
    """Return a line for every group that is compared, where a preset asks for it.

    Of weighted, clustered, estimated or rounded counts there is none, nor of several thresholds or
    classes: these tests are of people who were counted once.
    """
    counted = not (spec.weight or spec.cluster or spec.probabilities)
    if spec.preset is None or not preset(spec.preset).adverse_impact or not counted:
        return ()
    rounded = any(each.code is DiagnosticCode.PROTECTED for each in report.diagnostics)
    several = len({(each.class_, each.threshold) for each in report.groups}) > 1
    return () if rounded or several else tuple(_lines(report))


def _lines(report: Report) -> Iterator[AdverseImpact]:
    sides: dict[tuple[str, str, str | None], _Side] = {}
    for each in report.groups:
        if (side := _side(each)) is not None:
            sides[each.feature, each.group, each.stratum] = side
    strata = {stratum for *_, stratum in sides} - {None} or {None}
    for feature, group, reference in dict.fromkeys(_compared(report.estimates)):
        tables = [
            (*sides[feature, group, stratum], *sides[feature, reference, stratum])
            for stratum in sorted(strata, key=str)
            if (feature, group, stratum) in sides and (feature, reference, stratum) in sides
        ]
        if (feature, group, None) in sides and (feature, reference, None) in sides and tables:
            yield _line(feature, group, reference, tables)


def _side(group: Group) -> _Side | None:
    """Return the applicants of a group and how many are selected, None where nobody counted."""
    rate = group.rates.get(_RATE)
    if rate is None or rate.denominator is None or rate.numerator is None:
        return None
    return int(rate.denominator), int(rate.numerator)


def _compared(estimates: Iterable[Estimate]) -> Iterator[tuple[str, str, str]]:
    for each in estimates:
        of_rates = each.scope.kind is ScopeKind.OVERALL and each.metric.startswith(_RATE)
        if of_rates and each.feature and each.group and each.reference is not None:
            yield each.feature, each.group, str(each.reference.group)


def _line(
    feature: str, group: str, reference: str, tables: list[tuple[int, int, int, int]]
) -> AdverseImpact:
    n, selected, n_reference, others = ([*each] for each in zip(*tables, strict=True))
    both = [s + t for s, t in zip(selected, others, strict=True)]
    expected, variance = expected_selections(n, n_reference, both)
    people, held, people_, held_ = map(sum, (n, selected, n_reference, others))
    shortfall = expected - held
    one_other = (held + 1) / people * people_ / (held_ - 1) if held_ > 1 and held < people else None
    return AdverseImpact(
        feature=feature,
        group=group,
        reference=reference,
        tables=len(tables),
        n=people,
        n_reference=people_,
        selected=held,
        selected_reference=held_,
        expected=expected,
        shortfall=shortfall,
        standard_deviations=shortfall / sqrt(variance) if variance else None,
        p=exact_selection_test(n, n_reference, selected, others),
        ratio=held / people * people_ / held_ if held_ and people else None,
        ratio_of_one_other=one_other,
    )
