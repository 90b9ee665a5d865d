"""Alpha spending: alarms of metrics that no e-value exists for, from intervals of each period.

Every period spends alpha / horizon: its interval has that error, and where it lies outside the
tolerated values as a whole, the comparison alarms. The promise is then as good as the interval,
which at so small an error is approximate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairgauge.enums import ClassKind, ScopeKind
from fairgauge.measure.measure import measure
from fairgauge.monitoring.attribution import LEVEL
from fairgauge.monitoring.comparison_counts import ComparisonId

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.monitoring.monitor_spec import MonitorSpec
    from fairgauge.report.estimates import Estimate

ALL_GROUPS = "all groups"
ALL_ROWS = "all rows"


@dataclass(frozen=True, slots=True)
class Spent:
    """One period of a comparison: its estimate, and the same at the level that decides."""

    shown: Estimate
    deciding: Estimate | None


def period_estimates(
    cube: Cube, spec: MonitorSpec, rules: Sequence[int], confidence: float = LEVEL
) -> dict[ComparisonId, Estimate]:
    """Return the estimates of some rules in one period, by comparison."""
    names = tuple(dict.fromkeys(spec.rules[i].metric for i in rules))
    question = replace(spec.question, metrics=names, rules=(), confidence=confidence)
    found = measure(cube, question).estimates
    catalogue = question.catalogue
    return {
        each: estimate
        for i in rules
        for each, estimate in _of_rule(i, spec, found, catalogue.metric(spec.rules[i].metric).name)
    }


def _of_rule(
    i: int, spec: MonitorSpec, found: Sequence[Estimate], metric: str
) -> Iterator[tuple[ComparisonId, Estimate]]:
    rule = spec.rules[i]
    for estimate in found:
        plain = estimate.class_scope.kind is ClassKind.NONE
        if estimate.metric != metric or estimate.scope.kind is ScopeKind.STRATUM or not plain:
            continue
        feature = estimate.feature or ALL_ROWS
        across = spec.question.catalogue.metric(metric).scope == "feature"
        group = ALL_GROUPS if across or estimate.group is None else estimate.group
        if rule.features and feature not in rule.features:
            continue
        if rule.groups and group not in rule.groups:
            continue
        yield ComparisonId(i, feature, group), estimate


def outside(estimate: Estimate, low: float, high: float) -> bool:
    """Return whether the whole interval of an estimate is outside the tolerated values."""
    if estimate.interval is None:
        return False
    return estimate.interval.high < low or estimate.interval.low > high
