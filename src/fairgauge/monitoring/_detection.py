"""Detection: from counts or estimates of all periods to evidence, thresholds and first alarms.

The promise is one probability, alpha, of at least one false alarm within the horizon, over all
rules and groups together. It is divided before anything is known of the outcomes:

- Comparisons of the first period, or of a baseline, share 80% of alpha equally; those that appear
  later share 80% of what is left at that time. A threshold once set is never changed, so that a
  later period cannot take an alarm back.
- A baseline is an estimate. Of the alpha of its comparison, half is the error of exact confidence
  limits of the contrast in the baseline; everything within the tolerated distance of these limits
  is tolerated, and the detector spends the other half. If a false alarm occurs, either the limits
  miss the true baseline, with a probability of at most alpha / 2, or they contain it: then the true
  tolerated set is a part of the one that the detector uses, every batch e-value has expectation at
  most 1, and the alarm has a probability of at most alpha / 2 within the horizon. Using the
  baseline's likelihood again in the e-value of every period would not do: given the past, which
  holds the baseline, such an e-value has an expectation above 1.

Weighted and clustered rows, references that overlap, and metrics that compare no rate (F1, AUC,
means, distances) are no share of independent rows. The intervals of an audit give their evidence,
which is asymptotic as these are. A period with fewer than 5 effective rows or clusters on a side
decides nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairgauge.catalogue.comparisons import Ends
from fairgauge.cube.cube import Cube
from fairgauge.enums import ClassKind
from fairgauge.measure.decide import is_judged
from fairgauge.measure.measure import measure
from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec, Rates
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.resolution import held_exclusions
from fairgauge.results.estimates import Estimate, as_number
from fairgauge.results.monitor_results import (
    PERIODS_NOW,
    AfterAlarm,
    Alarm,
    Baseline,
    Point,
    PooledPeriods,
)
from fairgauge.start.records import replace
from fairgauge.stats import sequential
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.sequential import Contrasted, Tolerated, evidence_of_change
from fairgauge.stats.significance import exact_limits

_BLOCK = 50_000
"""E-values of periods and comparisons that are computed at once."""
SPENT_AT_ONCE = 0.8
"""The part of what is left of alpha that comparisons share when they arrive."""


def divide_alpha(alpha: float, arrivals: Sequence[int]) -> Array:
    """Return the share of alpha of every comparison, from the periods in which they arrived.

    >>> divide_alpha(0.05, [0, 0, 3]).round(4).tolist()
    [0.02, 0.02, 0.008]
    """
    # comparisons of a baseline and of the first period arrive together
    first = np.maximum(np.asarray(arrivals, dtype=np.int64), 0)
    shares = np.zeros(len(first))
    left = alpha
    for wave in np.unique(first):
        held = first == wave
        shares[held] = left * SPENT_AT_ONCE / held.sum()
        left *= 1 - SPENT_AT_ONCE
    return shares


def tolerated_limits(
    rule: MonitorRule, rate: MonitoredRate | None, baseline: Baseline | None, *, for_two: bool
) -> Ends:
    """Return what is tolerated of a comparison; ``for_two``, also of the other one that it mirrors.

    Of a group without the baseline of its rule everything is.
    """
    least = 0.0 if rate is not None and rate.by == "ratio" else -math.inf
    if rule.baseline is not None and baseline is None:
        return least, math.inf
    ends = (baseline.low, baseline.high) if baseline is not None else (0.0, 0.0)
    low, high = ends[0] + rule.low, ends[1] + rule.high
    turn = None if rule.definition is None else rule.definition.turn
    if for_two and turn is not None:
        turned = turn(ends) if baseline is not None else ends
        other_low, other_high = turn((turned[0] + rule.low, turned[1] + rule.high))
        low, high = max(low, other_low), min(high, other_high)
    return max(low, least), high


def first_alarm(evidence: Array, threshold: float) -> int | None:
    """Return the number of the first period whose evidence reaches a threshold."""
    crossed = np.flatnonzero(evidence >= threshold)
    return int(crossed[0]) if crossed.size else None


def detect(counts: ComparisonCounts, limits: Array, spec: MonitorSpec, rates: Rates) -> Array:
    """Fold the counts of all periods into the evidence, shape (period, id)."""
    periods, size, _ = counts.counts.shape
    low, high = limits.T
    evidence = np.zeros((periods, size))
    by_contrast: dict[Contrasted, list[int]] = {}
    for i, each in enumerate(counts.ids):
        by_contrast.setdefault(rates[each.rule].by, []).append(i)
    step = max(_BLOCK // max(periods, 1), 1)
    for by, of in by_contrast.items():
        for held in (of[begin : begin + step] for begin in range(0, len(of), step)):
            tolerated = Tolerated(low[held], high[held], by)
            sides = sides_of(counts.counts[:, held], by)
            evidence[:, held] = evidence_of_change(tolerated, *sides, shift=spec.worth_catching)
    return evidence


def sides_of(counts: Array, by: Contrasted) -> tuple[Array, Array, Array, Array]:
    """Return the successes and rows of both sides of counts: x_a, n_a, x_d, n_d."""
    x_d, n_d, x_a, n_a = np.moveaxis(counts, -1, 0)
    return (0 * x_d, 0 * n_d, x_d, n_d) if by == "rate" else (x_a, n_a, x_d, n_d)


def baseline_limits(
    held: SideCounts, alpha: float, rate: MonitoredRate, rule: MonitorRule
) -> Baseline:
    """Return a baseline with its confidence limits, whose error is half of alpha."""
    assert rule.baseline is not None
    low, high = exact_limits(held.x_d, held.n_d, held.x_a, held.n_a, alpha / 2, rate.by)
    d, a = (x / n if n else np.nan for x, n in ((held.x_d, held.n_d), (held.x_a, held.n_a)))
    value = {"difference": d - a, "ratio": d / a if a else np.nan, "rate": d}[rate.by]
    own, theirs = (held.n_a, held.n_d) if rate.turned else (held.n_d, held.n_a)
    return Baseline(source=rule.baseline.source, digest=rule.baseline.cube.digest,
        value=None if np.isnan(value) else float(value), low=float(low), high=float(high),
        n_group=int(own), n_reference=0 if rate.by == "rate" else int(theirs))  # fmt: skip


ALL_GROUPS = "all groups"
ALL_ROWS = "all rows"
LEVEL = 0.95
_FEW = (ReasonCode.FEW_EFFECTIVE_ROWS, ReasonCode.FEW_CLUSTERS)
_ABSENT = Reason.of(ReasonCode.NO_ROWS).on("group")


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
    question = replace(spec.question, metrics=asked, rules=(), confidence=confidence,
        exclude_groups=held_exclusions(cube, spec.question))  # fmt: skip
    found = cubes.answer(cube, lambda held: measure(held, question)).estimates
    return {each: estimate for i in rules for each, estimate in _rule_estimates(i, spec, found)}


def _rule_estimates(
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


def reason_few(estimate: Estimate) -> Reason | None:
    """Return that the effective rows or clusters of a side are too few, None where they are not."""
    reason = estimate.reason
    return reason if reason is not None and reason.code in _FEW else None


def estimate_periods(
    cubes: PeriodCubes, asked: MonitorSpec, rules: Sequence[int]
) -> tuple[Estimated, set[str]]:
    """Return the estimates of the comparisons that counts do not decide exactly.

    A group comes with its first rows. Also the features that have groups of fewer rows than data
    need: what is of the large ones hides these.
    """
    found: Estimated = {}
    rows = Counter[tuple[str, str]]()
    for t, cube in enumerate(cubes if rules else ()):
        counted = cubes.answer(cube, lambda held: [*count_groups(held, asked.question)])
        with_rows = {
            (each.feature, group): int(n.sum())
            for each in counted
            for group, n in zip(each.groups, each.counts[cube.plan.cases][:, 0], strict=False)
            if n.any()
        }
        rows.update(with_rows)
        wide = period_estimates(cubes, cube, asked, rules, sequential.LEVEL_OF_ERRORS)
        for each, estimate in period_estimates(cubes, cube, asked, rules, LEVEL).items():
            if each.group == ALL_GROUPS or (each.feature, each.group) in with_rows:
                found.setdefault(each, {})[t] = PeriodEstimate(estimate, wide[each])
    small = {feature for (feature, _), n in rows.items() if n < asked.min_n}
    return found, {e for e in small if not asked.question.feature(e).values}


def signs_of(
    held: Mapping[int, PeriodEstimate], entered: int, limits: tuple[float, float]
) -> tuple[Array, Array]:
    """Return how far estimates lie below and above limits, in the periods that have entered."""
    ends = np.full((3, entered), math.nan)
    for t, each in held.items():
        wide = each.wide
        if t < entered and wide.value is not None and wide.interval and not reason_few(each.usual):
            ends[:, t] = wide.value, wide.interval.low, wide.interval.high
    value, low, high = ends
    return sequential.deviations(value, low, high, *limits)


def alarm_of(
    each: ComparisonId,
    names: Sequence[str],
    cubes: PeriodCubes,
    at: int,
    signs: tuple[Array, Array],
    limits: tuple[float, float],
    asked: MonitorSpec,
) -> Alarm:

    def pool(which: Sequence[int]) -> Numbers | None:
        together = cubes.together(which)
        found = period_estimates(cubes, together, asked, [each.rule], LEVEL).get(each)
        return None if found is None or reason_few(found) else numbers_of(found)

    side = max(signs, key=lambda z: float(np.nansum(z[: at + 1])))
    return raise_alarm(
        names, at, ~np.isnan(side), lambda of: sequential.likeliest_deviation(side[of]), pool,
        limits,
    )  # fmt: skip


_NUMBERS = ("value", "low", "high", "rate_group", "rate_reference")
_SIZES = ("n_group", "n_reference")
Numbers = dict[str, Any]
"""The value of a comparison with its interval, its rates and the rows of both sides, by name."""


def numbers_of(estimate: Estimate) -> Numbers:
    sizes = {name: int(getattr(estimate, name) or 0) for name in _SIZES}
    return {name: getattr(estimate, name) for name in _NUMBERS} | sizes


def numbers_of_counts(counts: Array, rate: MonitoredRate) -> list[Numbers]:
    """Return the numbers of counts of shape (periods, 4): x_d, n_d, x_a, n_a."""
    x_a, n_a, x_d, n_d = sides_of(counts, rate.by)
    z = critical(LEVEL)
    with np.errstate(divide="ignore", invalid="ignore"):
        d, a = x_d / n_d, x_a / n_a
        if rate.by == "rate":
            value, ends = d, wilson(x_d, n_d, z)
        elif rate.by == "difference":
            value, ends = d - a, newcombe(x_d, n_d, x_a, n_a, z)
        else:
            value, ends = d / a, mover_wilson_ratio(x_d, n_d, x_a, n_a, z)
    limits = (np.where(np.isnan(value), np.nan, end) for end in ends)
    rates, sizes = ((a, d), (n_a, n_d)) if rate.turned else ((d, a), (n_d, n_a))
    columns = [map(as_number, column.tolist()) for column in (value, *limits, *rates)]
    columns += [map(int, size.tolist()) for size in sizes]
    names = (*_NUMBERS, *_SIZES)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def point_of(
    name: str, estimate: Estimate | None, evidence: float | None, min_n: int, *, waits: bool
) -> Point:
    """Return a period of a comparison; a value without an interval decides nothing, and is none."""
    if estimate is None or estimate.value is None:
        return Point(
            period=name, value=None, low=None, high=None, rate_group=None, rate_reference=None,
            n_group=0, n_reference=0, evidence=evidence, sparse=True, waits=waits,
            reason=_ABSENT if estimate is None else estimate.reason,
        )  # fmt: skip
    sizes = [each for each in (estimate.n_group, estimate.n_reference) if each is not None]
    lacking = reason_few(estimate)
    found = Point(
        period=name, evidence=evidence, waits=waits, reason=lacking, **numbers_of(estimate),
        sparse=lacking is not None or min(sizes, default=min_n) < min_n,
    )  # fmt: skip
    if estimate.interval is not None:
        return found
    return replace(found, value=None, rate_group=None, rate_reference=None, reason=estimate.reason)


def raise_alarm(
    names: Sequence[str],
    at: int,
    held: Mask,
    start: Callable[[Index], int],
    pool: Callable[[Sequence[int]], Numbers | None],
    limits: tuple[float, float],
) -> Alarm:
    """Return what an alarm of the period ``at`` is about, by the periods that have entered.

    ``held``: the periods that have values.
    ``start``: of numbers of periods in an order, the position of that with which a change began.
    ``pool``: the comparison over some periods; those that are chosen by their values have no
        interval.
    ``limits``: the tolerated values.
    """

    def pooled(which: Sequence[int], *, chosen: bool = True) -> PooledPeriods | None:
        numbers = pool(which)
        if numbers is None:
            return None
        held = PooledPeriods(first=names[which[0]], last=names[which[-1]], **numbers)
        return replace(held, low=None, high=None) if chosen else held

    def between(some: Sequence[int]) -> PooledPeriods | None:
        return pooled(range(some[0], some[-1] + 1))

    size = len(names)
    since = start(np.arange(at + 1))
    end = size - start(np.arange(since, size)[::-1])  # the same, from the other side
    later = [t for t in range(since, end) if held[t]]
    earlier = [t for t in range(later[0]) if held[t]]
    begin = first_now(at, size)
    now = pooled(range(begin, size), chosen=False) if begin < size else None
    after = between(later)
    assert after is not None
    return Alarm(period=names[at], since=names[later[0]], after=after,
        before=between(earlier) if earlier else None, now=now,
        currently=_where(now, *limits) if now else None)  # fmt: skip


def _where(now: PooledPeriods, least: float, most: float) -> AfterAlarm | None:
    if now.low is None or now.high is None:
        return None
    if now.high < least or now.low > most:
        return AfterAlarm.OUTSIDE
    return AfterAlarm.TOLERATED if least <= now.low and now.high <= most else AfterAlarm.BOTH


def attribute(
    rate: MonitoredRate,
    counts: Array,
    names: Sequence[str],
    at: int,
    limits: tuple[float, float],
    baseline: SideCounts | None,
) -> Alarm:
    """Return what an alarm of counts is about.

    The periods of the change are held against the baseline, or without one against the periods
    before. A period that lacks the group is in none of the numbers.
    """
    tolerated = Tolerated(*limits, rate.by)

    def start(which: Index) -> int:
        return sequential.likeliest_start(tolerated, *sides_of(counts[which], rate.by))

    def pool(which: Sequence[int]) -> Numbers:
        return numbers_of_counts(counts[which].sum(axis=0, keepdims=True), rate)[0]

    alarm = raise_alarm(names, at, counts[:, 1] + counts[:, 3] > 0, start, pool, limits)
    before = alarm.before
    if baseline is not None:
        (numbers,) = numbers_of_counts(np.array([baseline]), rate)
        before = PooledPeriods(**numbers | dict.fromkeys(("first", "last", "low", "high")))
    if before is not None and None in (before.value, alarm.after.value):
        before = None
    return replace(alarm, before=before)


def first_now(at: int, periods: int) -> int:
    """Return the number of the first period that states what is now, whatever its values."""
    fewest, most = PERIODS_NOW
    later = periods - at - 1
    return periods - min(later, most, max(fewest, later // 2))
