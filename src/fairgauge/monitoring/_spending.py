"""Alpha spending: alarms of metrics that no e-value exists for, from intervals of each period.

Every period spends alpha / horizon: its interval has that error, and where it lies outside the
tolerated values as a whole, the comparison alarms. The promise is then as good as the interval,
which at so small an error is approximate. A period with fewer than 5 effective rows or clusters on
a side decides nothing, as in an audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import ClassKind
from fairgauge.measure.decide import is_judged
from fairgauge.measure.measure import measure
from fairgauge.monitoring._attribution import LEVEL, first_now
from fairgauge.monitoring._comparison_counts import ComparisonId
from fairgauge.monitoring._mirrors import Mirror, paired, shares_by_period, tolerated
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring._period_rows import (
    CountedRows,
    lacks_class,
    lacks_values,
    only_waits,
    passing,
    passing_class,
)
from fairgauge.monitoring.monitor_spec import MonitorSpec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.resolution import held_exclusions
from fairgauge.results.estimates import Estimate
from fairgauge.results.monitor_results import (
    Alarm,
    Currently,
    Detector,
    MonitoredComparison,
    MonitorState,
    Point,
    PooledPeriods,
)
from fairgauge.stats.arrays import Array

ALL_GROUPS = "all groups"
ALL_ROWS = "all rows"
_ABSENT = Reason.of(ReasonCode.NO_ROWS).on("group")
_NO_CLASS = Reason.of(ReasonCode.NO_ROW_OF_CLASS)
_FEW = (ReasonCode.FEW_EFFECTIVE_ROWS, ReasonCode.FEW_CLUSTERS)


Spent: TypeAlias = "dict[ComparisonId, dict[int, Estimate]]"
"""The estimates of comparisons, by the number of the period."""


def period_estimates(
    cubes: PeriodCubes,
    cube: Cube,
    spec: MonitorSpec,
    rules: Sequence[int],
    confidence: float = LEVEL,
) -> dict[ComparisonId, Estimate]:
    """Return the estimates of some rules in one of all periods, or in several, by comparison."""
    asked = tuple(dict.fromkeys(spec.rules[i].own or spec.rules[i].metric for i in rules))
    question = replace(
        spec.question,
        metrics=asked,
        rules=(),
        confidence=confidence,
        exclude_groups=held_exclusions(cube, spec.question),
    )
    found = cubes.answer(cube, lambda held: measure(held, question)).estimates
    catalogue = spec.catalogue
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
        of_class = estimate.class_scope
        decides = of_class.kind in (ClassKind.NONE, ClassKind.CLASS)
        if estimate.metric != metric or not decides or not is_judged(estimate):
            continue
        feature = estimate.feature or ALL_ROWS
        across = estimate.definition.scope == "feature"
        group = ALL_GROUPS if across or estimate.group is None else estimate.group
        if rule.features and feature not in rule.features:
            continue
        if rule.groups and group not in rule.groups:
            continue
        yield ComparisonId(i, feature, group, of_class.name), estimate


def outside(estimate: Estimate, low: float, high: float) -> bool:
    """Return whether the whole interval of an estimate is outside the tolerated values.

    The interval of few effective rows or clusters shows nothing.
    """
    if estimate.interval is None or _few(estimate):
        return False
    return estimate.interval.high < low or estimate.interval.low > high


def _few(estimate: Estimate) -> Reason | None:
    """Return that the effective rows or clusters of a side are too few, None where they are not."""
    reason = estimate.reason
    return reason if reason is not None and reason.code in _FEW else None


def spending(cubes: PeriodCubes, asked: MonitorSpec, rules: Sequence[int]) -> Spent:
    """Return the estimates of the comparisons that need intervals, by the number of the period.

    Those of groups without rows are none, as of intervals of numbers, or where a period is held
    against the values of all: a group comes with its first rows.
    """
    found: Spent = {}
    for t, cube in enumerate(cubes if rules else ()):
        with_rows = _groups_with_rows(cubes, cube, asked)
        for each, estimate in period_estimates(cubes, cube, asked, rules).items():
            if each.group == ALL_GROUPS or (each.feature, each.group) in with_rows:
                found.setdefault(each, {})[t] = estimate
    return found


def _groups_with_rows(cubes: PeriodCubes, cube: Cube, asked: MonitorSpec) -> set[tuple[str, str]]:
    counted = cubes.answer(cube, lambda held: [*count_groups(held, asked.question)])
    return {
        (each.feature, group)
        for each in counted
        for group, rows in zip(each.groups, each.counts[cube.plan.cases], strict=False)
        if rows.any()
    }


def estimated(
    names: Sequence[str],
    cubes: PeriodCubes,
    spent: Spent,
    alphas: Array,
    asked: MonitorSpec,
    complete: int,
    mirrors: Mapping[int, Mirror],
    rows: Sequence[CountedRows],
    *,
    overdue: bool,
) -> list[MonitoredComparison]:
    """Return the comparisons that intervals decide approximately.

    ``complete`` is the number of periods whose labels are complete: the first so many decide rules
    that need labels. ``mirrors`` are the comparisons that only mirror another, by their numbers.
    ``rows`` are those of the periods. ``overdue`` is whether labels are due and missing.
    """
    ids = list(spent)
    limits = tolerated(ids, asked.rules, {}, mirrors, len(names))
    shares, alone = shares_by_period(alphas, mirrors, len(names)), paired(mirrors)
    first = _first_outside(cubes, ids, shares, asked, complete, limits, mirrors)
    found = []
    for i, (each, periods) in enumerate(spent.items()):
        mirror = mirrors.get(i)
        of = None if mirror is None or np.isfinite(mirror.until) else ids[mirror.of]
        raised = first.get(of or each)
        at = len(names) - 1 if raised is None else raised
        made = _of_estimates(
            each, names, cubes, periods, float(shares[at, i]), raised,
            (float(limits[0][at, i]), float(limits[1][at, i])), asked, complete, rows, overdue,
            expected=bool(asked.rules[each.rule].groups) or i in alone,
        )  # fmt: skip
        found.append(made if of is None else replace(made, mirror_of=of.group))
    return found


def _first_outside(
    cubes: PeriodCubes,
    ids: Sequence[ComparisonId],
    shares: Array,
    asked: MonitorSpec,
    complete: int,
    limits: tuple[Array, Array],
    mirrors: Mapping[int, Mirror],
) -> dict[ComparisonId, int]:
    """Return the first period of every comparison whose whole interval is not tolerated."""
    first: dict[ComparisonId, int] = {}
    for alpha in np.unique(shares).tolist():
        confidence = 1 - alpha / asked.horizon
        for t, cube in enumerate(cubes):
            held = np.flatnonzero(shares[t] == alpha).tolist()
            rules = list(dict.fromkeys(ids[i].rule for i in held))
            estimates = period_estimates(cubes, cube, asked, rules, confidence) if rules else {}
            for i in held:
                each, estimate = ids[i], estimates.get(ids[i])
                if estimate is None or t >= first.get(each, len(cubes)):
                    continue
                if i in mirrors and t < mirrors[i].until:
                    continue
                if t >= complete and needs_label(asked.rules[each.rule].metric, asked):
                    continue
                if outside(estimate, float(limits[0][t, i]), float(limits[1][t, i])):
                    first[each] = t
    return first


def _of_estimates(
    each: ComparisonId,
    names: Sequence[str],
    cubes: PeriodCubes,
    periods: Mapping[int, Estimate],
    alpha: float,
    first: int | None,
    limits: tuple[float, float],
    asked: MonitorSpec,
    complete: int,
    rows: Sequence[CountedRows],
    overdue: bool,
    *,
    expected: bool,
) -> MonitoredComparison:
    rule = asked.rules[each.rule]
    labelled = needs_label(rule.metric, asked)
    entered = complete if labelled else len(names)
    without = [_NO_CLASS if lacks_class(e, each.class_, asked.question) else _ABSENT for e in rows]
    points = tuple(
        _point(names[t], periods.get(t), asked, without[t], waits=t >= entered)
        for t in range(len(names))
    )
    alarm = None
    if first is not None:
        alarm = _alarm(each, names, cubes, first, periods[first], limits, asked, entered)
    held_against = next(iter(periods.values())).reference
    alone = each.group == ALL_GROUPS or held_against is None
    was_in = passing_class(names[:entered], rows, each.class_, asked.question)
    if not expected:
        was_in = passing(names[:entered], rows, each.feature, each.group) or was_in
    state = _state(points[:entered], asked, two_sided=not alone, passing=bool(was_in))
    waits = only_waits(rows, entered, each.feature, each.group, asked.min_n)
    if waits or (overdue and labelled):
        state = MonitorState.WAITING
    state = MonitorState.ALARM if alarm else state
    return MonitoredComparison(
        rule=str(rule),
        metric=rule.metric,
        definition=asked.catalogue.row(rule.metric),
        feature=each.feature,
        group=each.group,
        class_=each.class_,
        reference="" if alone else str(held_against),
        detector=Detector.ALPHA_SPENDING,
        alpha=alpha,
        threshold=None,
        low=limits[0],
        high=limits[1],
        baseline=None,
        points=points,
        state=state,
        alarm=alarm,
        was_in=was_in,
    )


def _alarm(
    each: ComparisonId,
    names: Sequence[str],
    cubes: PeriodCubes,
    at: int,
    estimate: Estimate,
    limits: tuple[float, float],
    asked: MonitorSpec,
    entered: int,
) -> Alarm:
    """Return an alarm of one period, with what is now."""
    after = _pooled(names[at], names[at], estimate, chosen=True)
    alarm = Alarm(period=names[at], since=names[at], after=after, before=None)
    begin = first_now(at, entered)
    if begin >= entered:
        return alarm
    later = cubes.together(range(begin, entered))
    found = period_estimates(cubes, later, asked, [each.rule]).get(each)
    if found is None or _few(found):
        return alarm
    now = _pooled(names[begin], names[entered - 1], found, chosen=False)
    return replace(alarm, now=now, currently=Currently.of(now, limits))


def _pooled(first: str, last: str, estimate: Estimate, *, chosen: bool) -> PooledPeriods:
    found = PooledPeriods(first=first, last=last, **_measured(estimate))
    return replace(found, low=None, high=None) if chosen else found


def _measured(estimate: Estimate) -> dict[str, Any]:
    """Return the value of an estimate with its interval, its rates and the rows of both sides."""
    names = ("value", "low", "high", "rate_group", "rate_reference")
    sizes = {name: int(getattr(estimate, name) or 0) for name in ("n_group", "n_reference")}
    return {name: getattr(estimate, name) for name in names} | sizes


def _state(
    entered: Sequence[Point], asked: MonitorSpec, *, two_sided: bool, passing: bool
) -> MonitorState:
    """Return the state without an alarm, from the periods that have entered."""
    if not entered:
        return MonitorState.WAITING
    if passing:
        return MonitorState.NO_ALARM
    if all(point.sparse for point in entered):
        return MonitorState.INSUFFICIENT
    lacks = lacks_values(entered, asked.min_n, two_sided=two_sided)
    return MonitorState.UNDEFINED if lacks else MonitorState.NO_ALARM


def _point(
    name: str, estimate: Estimate | None, asked: MonitorSpec, absent: Reason, *, waits: bool
) -> Point:
    """Return a period of a comparison; a value without an interval decides nothing, and is none.

    ``absent`` is why there is no estimate, if there is none.
    """
    if estimate is None or estimate.value is None:
        return Point(
            period=name, value=None, low=None, high=None, rate_group=None, rate_reference=None,
            n_group=0, n_reference=0, evidence=None, sparse=True, waits=waits,
            reason=absent if estimate is None else estimate.reason,
        )  # fmt: skip
    sizes = [each for each in (estimate.n_group, estimate.n_reference) if each is not None]
    few = _few(estimate)
    found = Point(
        period=name, evidence=None, waits=waits, reason=few, **_measured(estimate),
        sparse=few is not None or min(sizes, default=asked.min_n) < asked.min_n,
    )  # fmt: skip
    if estimate.interval is not None:
        return found
    return replace(found, value=None, rate_group=None, rate_reference=None, reason=estimate.reason)


def needs_label(metric: str, asked: MonitorSpec) -> bool:
    """Return whether a metric that intervals decide needs labels."""
    return "label" in asked.catalogue.metric(metric).needs
