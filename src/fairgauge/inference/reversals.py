"""Reversals: what becomes of a difference when it is adjusted for strata (Simpson's paradox)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import DiagnosticCode, ScopeKind, Status
from fairgauge.report.results import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.report.estimates import Estimate


def reverses(overall: float, adjusted: float, neutral: float) -> bool:
    """Return whether two values lie on opposite sides of "no difference".

    >>> reverses(0.421, 1.25, neutral=1.0), reverses(-0.1, 0.2, neutral=0.0)
    (True, True)
    >>> reverses(0.421, 0.9, neutral=1.0)
    False
    """
    return (overall - neutral) * (adjusted - neutral) < 0


def adjustment_notes(estimates: Sequence[Estimate]) -> Iterator[Diagnostic]:
    """Yield what adjusting for the strata does to statistically significant differences.

    A reversal is stated only where both directions are statistically significant after adjustment
    for multiple comparisons; otherwise a difference that is no longer significant disappears.
    """
    pooled = {_subject(e): e for e in estimates if e.scope.kind is ScopeKind.POOLED}
    for each in estimates:
        adjusted = pooled.get(_subject(each))
        if each.scope.kind is not ScopeKind.OVERALL or adjusted is None:
            continue
        metric = find_metric(each.metric)
        if not isinstance(metric, Contrast) or not _significant(each) or adjusted.value is None:
            continue
        assert each.value is not None
        values = {"overall": each.value, "adjusted": adjusted.value}
        subject = {"group": each.group, "metric": each.metric}
        if not _significant(adjusted):
            yield Diagnostic.note(
                DiagnosticCode.DISAPPEARS, each.feature, **subject, **values, p=adjusted.p_adjusted
            )
        elif reverses(each.value, adjusted.value, metric.neutral):
            yield Diagnostic.warning(DiagnosticCode.SIMPSON, each.feature, **subject, **values)


def _significant(each: Estimate) -> bool:
    """Return whether an estimate differs statistically significantly from "no difference"."""
    level, p = each.confidence, each.p_adjusted
    known = each.value is not None and level is not None and p is not None
    return known and each.status is Status.OK and p <= 1 - level  # type: ignore[operator]


def _subject(each: Estimate) -> tuple[object, ...]:
    return (each.metric, each.feature, each.group, each.class_scope, each.threshold)
