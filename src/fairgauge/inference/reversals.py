"""Reversals: differences whose direction changes when adjusted for strata (Simpson's paradox)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.lookup import find_metric
from fairgauge.enums import DiagnosticCode, ScopeKind
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


def simpson_reversals(estimates: Sequence[Estimate]) -> Iterator[Diagnostic]:
    """Yield a warning for every difference or ratio that reverses when strata are adjusted for.

    Both directions must be statistically significant: a small adjusted difference of the other sign
    is a difference that disappears.
    """
    pooled = {_subject(e): e for e in estimates if e.scope.kind is ScopeKind.POOLED}
    for each in estimates:
        adjusted = pooled.get(_subject(each))
        metric = find_metric(each.metric)
        if each.scope.kind is not ScopeKind.OVERALL or adjusted is None:
            continue
        if not isinstance(metric, Contrast) or each.value is None or adjusted.value is None:
            continue
        significant = all(_excludes(side, metric.neutral) for side in (each, adjusted))
        if significant and reverses(each.value, adjusted.value, metric.neutral):
            yield Diagnostic.warning(
                DiagnosticCode.SIMPSON,
                each.feature,
                group=each.group,
                metric=each.metric,
                overall=each.value,
                adjusted=adjusted.value,
            )


def _excludes(each: Estimate, neutral: float) -> bool:
    return each.interval is not None and neutral not in each.interval


def _subject(each: Estimate) -> tuple[object, ...]:
    return (each.metric, each.feature, each.group, each.class_scope, each.threshold)
