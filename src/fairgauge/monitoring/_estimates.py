"""Estimates of every period, for rules on what is no share of independent rows.

These are weighted and clustered rows, references that overlap, and metrics that compare no rate:
F1, AUC, means, distances. The intervals of an audit give their evidence, which is asymptotic as
these are. A period with fewer than 5 effective rows or clusters on a side decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import ClassKind
from fairgauge.measure.decide import is_judged
from fairgauge.measure.measure import measure
from fairgauge.monitoring._attribution import LEVEL, first_now
from fairgauge.monitoring._comparison_counts import ComparisonId
from fairgauge.monitoring._detection import Pair, one_of_two
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitorSpec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.resolution import held_exclusions
from fairgauge.results.estimates import Estimate
from fairgauge.results.monitor_results import Alarm, Currently, Point, PooledPeriods
from fairgauge.stats.arrays import Array, Mask
from fairgauge.stats.sequential import (
    LEVEL_OF_ERRORS,
    asymptotic_evidence,
    deviations,
    likeliest_deviation,
)

ALL_GROUPS = "all groups"
ALL_ROWS = "all rows"
_FEW = (ReasonCode.FEW_EFFECTIVE_ROWS, ReasonCode.FEW_CLUSTERS)


class PeriodEstimate(NamedTuple):
    """The estimate of a comparison in a period, at the usual level and at that of its error."""

    usual: Estimate
    wide: Estimate


Estimated = dict[ComparisonId, dict[int, PeriodEstimate]]
"""The estimates of comparisons, by the number of the period."""


def period_estimates(
    cubes: PeriodCubes, cube: Cube, spec: MonitorSpec, rules: Sequence[int], confidence: float
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
    return {each: estimate for i in rules for each, estimate in _of_rule(i, spec, found)}


def _of_rule(
    i: int, spec: MonitorSpec, found: Sequence[Estimate]
) -> Iterator[tuple[ComparisonId, Estimate]]:
    rule = spec.rules[i]
    metric = spec.catalogue.metric(rule.metric).name
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


def few(estimate: Estimate) -> Reason | None:
    """Return that the effective rows or clusters of a side are too few, None where they are not."""
    reason = estimate.reason
    return reason if reason is not None and reason.code in _FEW else None


def estimate_periods(cubes: PeriodCubes, asked: MonitorSpec, rules: Sequence[int]) -> Estimated:
    """Return the estimates of the comparisons that counts do not decide exactly.

    Those of groups without rows are none, as of intervals of numbers, or where a period is held
    against the values of all: a group comes with its first rows.
    """
    found: Estimated = {}
    for t, cube in enumerate(cubes if rules else ()):
        counted = cubes.answer(cube, lambda held: [*count_groups(held, asked.question)])
        with_rows = {
            (each.feature, group)
            for each in counted
            for group, rows in zip(each.groups, each.counts[cube.plan.cases], strict=False)
            if rows.any()
        }
        wide = period_estimates(cubes, cube, asked, rules, LEVEL_OF_ERRORS)
        for each, estimate in period_estimates(cubes, cube, asked, rules, LEVEL).items():
            if each.group == ALL_GROUPS or (each.feature, each.group) in with_rows:
                found.setdefault(each, {})[t] = PeriodEstimate(estimate, wide[each])
    return found


def pairs_of_estimates(found: Estimated, asked: MonitorSpec, periods: int) -> list[Pair]:
    """Return the comparisons of estimates of which one stands for two."""
    ids = [*found]

    def alike(i: int, j: int) -> tuple[Mask, Mask]:
        sides = [(found[ids[i]].get(t), found[ids[j]].get(t)) for t in range(periods)]
        mirrored = [
            one is not None
            and other is not None
            and (
                one.usual.mirror_of == other.usual.group or other.usual.mirror_of == one.usual.group
            )
            for one, other in sides
        ]
        compared = np.array([one is not None or other is not None for one, other in sides])
        return compared, np.array(mirrored)

    def rows(i: int) -> float:
        sizes = (each.usual.n_group for each in found[ids[i]].values())
        return next((float(n) for n in sizes if n), 0.0)

    arrivals = [min(held) for held in found.values()]
    return one_of_two(ids, arrivals, asked.rules, alike, rows)


class Signs(NamedTuple):
    """How far the estimates of a comparison lie beyond its limits, by period; nan of none."""

    below: Array
    above: Array

    @property
    def evidence(self) -> Array:
        """Return the evidence after every period."""
        return asymptotic_evidence(self.below, self.above)


def signs_of(held: dict[int, PeriodEstimate], entered: int, limits: tuple[float, float]) -> Signs:
    """Return how far estimates lie beyond limits, in the periods that have entered."""
    ends = np.full((3, entered), math.nan)
    for t, each in held.items():
        wide = each.wide
        if t < entered and wide.value is not None and wide.interval and not few(each.usual):
            ends[:, t] = wide.value, wide.interval.low, wide.interval.high
    value, low, high = ends
    return Signs(*deviations(value, low, high, *limits))


def alarm_of(
    each: ComparisonId,
    names: Sequence[str],
    cubes: PeriodCubes,
    at: int,
    signs: Signs,
    limits: tuple[float, float],
    asked: MonitorSpec,
) -> Alarm:
    """Return an alarm: since when, the values since then and before, and what is now.

    ``names`` are the periods that have entered.
    """

    def pooled(begin: int, end: int, *, chosen: bool) -> PooledPeriods | None:
        together = cubes.together(range(begin, end))
        found = period_estimates(cubes, together, asked, [each.rule], LEVEL).get(each)
        if found is None or few(found):
            return None
        held = PooledPeriods(first=names[begin], last=names[end - 1], **measured(found))
        return replace(held, low=None, high=None) if chosen else held

    side = max(signs, key=lambda z: float(np.nansum(z[: at + 1])))
    since = likeliest_deviation(side[: at + 1])
    end = len(names) - likeliest_deviation(side[since:][::-1])
    after = pooled(since, max(end, at + 1), chosen=True)
    assert after is not None
    alarm = Alarm(
        period=names[at], since=names[since], after=after,
        before=pooled(0, since, chosen=True) if since else None,
    )  # fmt: skip
    begin = first_now(at, len(names))
    now = pooled(begin, len(names), chosen=False) if begin < len(names) else None
    return replace(alarm, now=now, currently=Currently.of(now, limits)) if now else alarm


def measured(estimate: Estimate) -> dict[str, Any]:
    """Return the value of an estimate with its interval, its rates and the rows of both sides."""
    names = ("value", "low", "high", "rate_group", "rate_reference")
    sizes = {name: int(getattr(estimate, name) or 0) for name in ("n_group", "n_reference")}
    return {name: getattr(estimate, name) for name in names} | sizes


def point_of(
    name: str,
    estimate: Estimate | None,
    evidence: float | None,
    min_n: int,
    absent: Reason,
    *,
    waits: bool,
) -> Point:
    """Return a period of a comparison; a value without an interval decides nothing, and is none.

    ``absent`` is why there is no estimate, if there is none.
    """
    if estimate is None or estimate.value is None:
        return Point(
            period=name, value=None, low=None, high=None, rate_group=None, rate_reference=None,
            n_group=0, n_reference=0, evidence=evidence, sparse=True, waits=waits,
            reason=absent if estimate is None else estimate.reason,
        )  # fmt: skip
    sizes = [each for each in (estimate.n_group, estimate.n_reference) if each is not None]
    lacking = few(estimate)
    found = Point(
        period=name, evidence=evidence, waits=waits, reason=lacking, **measured(estimate),
        sparse=lacking is not None or min(sizes, default=min_n) < min_n,
    )  # fmt: skip
    if estimate.interval is not None:
        return found
    return replace(found, value=None, rate_group=None, rate_reference=None, reason=estimate.reason)
