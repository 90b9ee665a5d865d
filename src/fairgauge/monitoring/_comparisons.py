"""Every rule for every group over the periods: evidence, thresholds, points, state and alarm.

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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, dropwhile
from typing import Any, NamedTuple

import numpy as np

from fairgauge.catalogue.comparisons import Contrast, Ends
from fairgauge.catalogue.statistics import none_of
from fairgauge.checks.feed import FeedPeriod
from fairgauge.cube.cube import Cube
from fairgauge.enums import ClassKind, Outcome, Role
from fairgauge.errors import closest
from fairgauge.identity import texts_of
from fairgauge.measure.decide import OF_FEATURES, is_judged, judge
from fairgauge.measure.measure import measure
from fairgauge.measure.measured import Measured
from fairgauge.monitoring import _comparison_counts
from fairgauge.monitoring._comparison_counts import ComparisonCounts, ComparisonId, SideCounts
from fairgauge.monitoring._feed_rows import feed_rows
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec, Rates
from fairgauge.monitoring.periods import kind_of, parse_period, weekday_of
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, count_groups
from fairgauge.resolve.resolution import held_exclusions
from fairgauge.results.estimates import Estimate, as_number
from fairgauge.results.monitor_results import (
    PERIODS_NOW,
    AfterAlarm,
    Alarm,
    Baseline,
    Detector,
    MonitoredComparison,
    MonitorState,
    Point,
    PooledPeriods,
    Unmatched,
    periods_without_value,
)
from fairgauge.results.scopes import not_counted
from fairgauge.start.records import dataclass, replace
from fairgauge.stats import sequential
from fairgauge.stats.arrays import Array, Index, Mask
from fairgauge.stats.contrasts import mover_wilson_ratio, newcombe
from fairgauge.stats.departures import RARE
from fairgauge.stats.intervals import critical, wilson
from fairgauge.stats.sequential import (
    Contrasted,
    Tolerated,
    asymptotic_evidence,
    evidence_of_change,
    running_contrast,
)
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


MOST_WITHOUT_LABEL = 0.5
"""The share of rows without a label above which a period that enters is as good as unseen."""
_LACKING = (ReasonCode.MISSING_OUTCOMES, ReasonCode.MISSING_GROUPS, ReasonCode.NOT_COUNTED)
"""Why a pass is withheld: rows do not state what the rule needs."""


@dataclass(frozen=True, slots=True)
class Followed:
    """All comparisons over the periods, in the order of the rules.

    ``entered`` is how many periods, in order, count for rules on labels, so that one that is
    complete later changes no evidence before it.
    """

    comparisons: tuple[MonitoredComparison, ...] = ()
    feed: Sequence[FeedPeriod] = ()
    entered: int = 0
    overdue: tuple[str, ...] = ()


def follow(
    names: Sequence[str], cubes: PeriodCubes, asked: MonitorSpec, of_two: Collection[str]
) -> Followed:
    """Follow every comparison; ``of_two`` are features in which one stands for two groups."""
    if not cubes:
        return Followed()
    rates = _comparison_counts.exact_rates(asked)
    others = [i for i in range(len(asked.rules)) if i not in rates]
    counts = _comparison_counts.collect_counts(cubes, names, asked, rates)
    found, hiding = estimate_periods(cubes, asked, others)
    ids = [*counts.ids, *found]
    arrivals = [*counts.arrivals, *(min(periods) for periods in found.values())]
    alphas = divide_alpha(asked.alpha, arrivals)
    baselines = {
        each: baseline_limits(held, alpha, rates[each.rule], asked.rules[each.rule])
        for each, alpha in zip(counts.ids, alphas.tolist(), strict=False)
        if (held := counts.baselines.get(each))
    }
    limits = [
        tolerated_limits(
            rule := asked.rules[each.rule], rates.get(each.rule), baselines.get(each),
            for_two=each.feature in of_two and not rule.groups,
        )
        for each in ids
    ]  # fmt: skip
    size = len(counts.ids)
    dates = [*map(parse_period, names)]
    feed = [
        FeedPeriod(str(date), feed_rows(cube, asked.question), kind_of(date), weekday_of(date))
        for date, cube in zip(dates, cubes, strict=True)
    ]
    ends = np.array(limits[:size], dtype=np.float64).reshape(-1, 2)
    evidence = detect(counts, ends, asked, rates)
    labels = _Labels(names, cubes, asked)
    arrived = dict(zip(ids, arrivals, strict=True))
    maker = _ComparisonMaker(names, cubes, asked, labels, arrived, feed)
    comparisons = [
        maker.compare_counts(
            i, counts, evidence[:, i], limits[i], rates[each.rule], float(alphas[i]),
            baselines.get(each),
        )
        for i, each in enumerate(counts.ids)
    ]  # fmt: skip
    comparisons += [
        maker.compare_estimates(
            each, periods, float(alphas[i]), limits[i],
            hides=each.group == ALL_GROUPS and each.feature in hiding,
        )
        for i, (each, periods) in enumerate(found.items(), start=size)
    ]  # fmt: skip
    order = sorted(range(len(ids)), key=lambda i: (ids[i].rule, ids[i].feature))
    return Followed(comparisons=tuple(
            _withhold_passes(maker, [comparisons[i] for i in order])),
        feed=feed, entered=labels.entered, overdue=labels.overdue)  # fmt: skip


class _Labels:
    # a label is due after as many later periods as the user states; a period enters the rules on
    # labels once no row lacks one, or once they are due: where most of its rows then have none it
    # is as good as not seen

    def __init__(self, names: Sequence[str], cubes: PeriodCubes, asked: MonitorSpec) -> None:
        of_rules = [asked.catalogue.row(rule.metric).needs for rule in asked.rules]
        self.needed = [("label" in needs) for needs in of_rules]
        self.entered = len(names)
        self.overdue = tuple[str, ...]()
        within = asked.labels_within
        if within is None or not any(self.needed):
            return
        labels = ((cube, cube.plan.axis(Role.LABEL)) for cube in cubes)
        cases = [cube.cases_by_level[axis] if axis else np.zeros(1) for cube, axis in labels]
        lacks = np.array([each[-1] / max(each.sum(), 1) for each in cases], dtype=float)
        due = np.arange(len(names)) < len(names) - within
        waits = (lacks > 0) & ~due
        missing = due & (lacks > MOST_WITHOUT_LABEL)
        self.overdue = tuple(name for name, each in zip(names, missing, strict=True) if each)
        self.entered = int(np.argmax(waits)) if waits.any() else len(names)


@dataclass(frozen=True, slots=True)
class _ComparisonMaker:
    # what comparisons have in common

    names: Sequence[str]
    cubes: PeriodCubes
    asked: MonitorSpec
    labels: _Labels
    arrivals: Mapping[ComparisonId, int]
    feed: Sequence[FeedPeriod]

    def _periods_entered(self, each: ComparisonId) -> int:
        return self.labels.entered if self.labels.needed[each.rule] else len(self.names)

    def compare_counts(
        self, i: int, every: _comparison_counts.ComparisonCounts, evidence: Array,
        limits: tuple[float, float], rate: MonitoredRate, alpha: float, baseline: Baseline | None,
    ) -> MonitoredComparison:  # fmt: skip
        asked, names, each, counts = self.asked, self.names, every.ids[i], every.counts[:, i]
        entered = self._periods_entered(each)
        threshold = asked.horizon / (alpha if baseline is None else alpha / 2)
        alarm = None
        if (at := first_alarm(evidence[:entered], threshold)) is not None:
            of_baseline = every.baselines.get(each)
            held = counts[:entered]
            alarm = attribute(rate, held, names[:entered], at, limits, of_baseline)
        points = tuple(self._points(each, counts, rate, evidence))
        (every_row,) = numbers_of_counts(counts[:entered].sum(axis=0)[np.newaxis], rate)
        sizes = [every_row["n_group"], every_row["n_reference"]]
        if baseline is not None:
            sizes += [baseline.n_group, baseline.n_reference]
        return self._make_comparison(
            each, alarm, points, limits, threshold,
            few=min(sizes[::2] if rate.by == "rate" else sizes) < asked.min_n,
            two_sided=rate.by != "rate", reference=every.references[i],
            detector=Detector.E_DETECTOR, alpha=alpha, baseline=baseline,
            lacks_baseline=asked.rules[each.rule].baseline is not None and baseline is None,
        )  # fmt: skip

    def _points(
        self, each: ComparisonId, counts: Array, rate: MonitoredRate, evidence: Array
    ) -> Iterator[Point]:
        entered = self._periods_entered(each)
        x_d, n_d, x_a, n_a = counts[:entered].T
        waiting = np.full(len(counts) - entered, np.nan)
        running = [
            np.concatenate([part, waiting])
            for part in running_contrast(rate.by, x_a, n_a, x_d, n_d)
        ]
        alone = rate.by == "rate"
        found = numbers_of_counts(counts, rate)
        for t, (numbers, *so_far) in enumerate(zip(found, *running, strict=True)):
            sizes, reason = (numbers["n_group"], numbers["n_reference"]), None
            if numbers["value"] is None and all(sizes):
                reason = Reason.of(ReasonCode.BOTH_SIDES_EQUAL_RATE, rate=rate.rate.title,
                                   value=numbers["rate_reference"])  # fmt: skip
            elif numbers["value"] is None:
                why = none_of(rate.rate.among)
                reason = why if alone else why.on("reference" if sizes[0] else "group")
            value, low, high = map(as_number, so_far)
            yield Point(
                period=self.names[t], **numbers, running=value, running_low=low, running_high=high,
                evidence=float(evidence[t]) if t < entered else None, reason=reason,
                sparse=(sizes[0] if alone else min(sizes)) < self.asked.min_n, waits=t >= entered,
            )  # fmt: skip

    def compare_estimates(
        self, each: ComparisonId, periods: Mapping[int, PeriodEstimate], alpha: float,
        limits: tuple[float, float], *, hides: bool,
    ) -> MonitoredComparison:  # fmt: skip
        # one that ``hides`` has groups of insufficient data
        names, asked, entered = self.names, self.asked, self._periods_entered(each)
        signs, threshold = signs_of(periods, entered, limits), asked.horizon / alpha
        evidence, alarm = asymptotic_evidence(*signs), None
        if (at := first_alarm(evidence, threshold)) is not None:
            held = names[:entered]
            alarm = alarm_of(each, held, self.cubes, at, signs, limits, asked)
        points = tuple(
            point_of(
                name, periods[t].usual if t in periods else None,
                float(evidence[t]) if t < entered else None, asked.min_n, waits=t >= entered,
            )
            for t, name in enumerate(names)
        )  # fmt: skip
        reference = next(iter(periods.values())).usual.reference
        one_sided = each.group == ALL_GROUPS or not reference
        return self._make_comparison(
            each, alarm, points, limits, threshold,
            few=hides or all(point.sparse for point in points[:entered]), two_sided=not one_sided,
            reference="" if one_sided else str(reference), detector=Detector.ASYMPTOTIC,
            alpha=alpha, baseline=None,
        )  # fmt: skip

    def _make_comparison(
        self, each: ComparisonId, alarm: Alarm | None, points: tuple[Point, ...],
        limits: tuple[float, float], threshold: float, *, few: bool, two_sided: bool,
        lacks_baseline: bool = False, **fields: Any,
    ) -> MonitoredComparison:  # fmt: skip
        asked, rule, entered = self.asked, self.asked.rules[each.rule], self._periods_entered(each)
        if alarm is not None:
            state = MonitorState.ALARM
        elif lacks_baseline:
            state = MonitorState.INSUFFICIENT
        elif entered <= max(self.arrivals[each], 0) or (
            self.labels.overdue and self.labels.needed[each.rule]
        ):
            state = MonitorState.WAITING
        elif few:
            state = MonitorState.INSUFFICIENT
        elif lacks_values(points, self.feed, asked.min_n, two_sided=two_sided):
            state = MonitorState.UNDEFINED
        else:
            state = MonitorState.NO_ALARM
        return MonitoredComparison(
            rule=str(rule), metric=rule.metric, definition=asked.catalogue.row(rule.metric),
            feature=each.feature, group=each.group, class_=each.class_,
            threshold=float(f"{threshold:.12g}"),  # 18250, not 18249.999999999996
            low=limits[0], high=limits[1], points=points, state=state, alarm=alarm,
            lacks_baseline=lacks_baseline, **fields,
        )  # fmt: skip


def lacks_values(
    points: Sequence[Point], feed: Sequence[FeedPeriod], min_n: int, *, two_sided: bool
) -> bool:
    """Return whether the last periods have no value, and enough rows that would have one.

    Of all rows of a period, a group is expected to have its share of those before (of the same
    weekday, where two or more are known): a small one is absent from some by sampling variation.
    """

    def rows(point: Point) -> float:
        if point.value is not None and not point.n_group and not point.n_reference:
            return math.inf  # a value without sizes
        return min(point.n_group, point.n_reference) if two_sided else point.n_group

    def expected(period: FeedPeriod) -> float:
        same = [of for of in known if of[0].weekday == period.weekday]
        usual = same if len(same) > 1 else known
        return period.rows.rows * sum(n for _, n in usual) / sum(of.rows.rows for of, _ in usual)

    decided = [(of, rows(e)) for e, of in zip(points, feed, strict=True) if not e.waits]
    first = len(decided) - len(periods_without_value(points))
    known = [*dropwhile(lambda of: not of[1], decided[:first])]
    lacking = [max(n, expected(period) if known else 0) for period, n in decided[first:]]
    return bool(lacking) and sum(lacking) >= max(min_n, -RARE)


def _withhold_passes(
    maker: _ComparisonMaker, comparisons: Sequence[MonitoredComparison]
) -> Iterator[MonitoredComparison]:
    # comparisons; none passes that rows without a group or an outcome may break lately, nor where
    # the reference would fail
    cubes, asked, feed = maker.cubes, maker.asked, maker.feed
    labelled = maker.labels.entered
    judged: dict[int, Reason] = {}
    for entered in {labelled, len(feed)}:
        last = range(max(entered - PERIODS_NOW[0], 0), entered)
        open_ = [
            each
            for each in comparisons
            if each.state is MonitorState.NO_ALARM
            and entered == (labelled if "label" in each.definition.needs else len(feed))
        ]
        if not open_ or all(feed[t].rows.complete for t in last):
            continue
        cube = cubes.together(last)
        owns = {rule.metric: rule.own for rule in asked.rules}
        rules = [Rule(e.definition.name, e.low, e.high, own=owns[e.metric]) for e in open_]
        question = replace(asked.question, metrics=tuple(
                dict.fromkeys(r.own or r.metric for r in rules if r.definition is not None)),
            rules=tuple(rules), exclude_groups=held_exclusions(cube, asked.question))  # fmt: skip
        measured = cubes.answer(cube, partial(measure, spec=question))
        for each, rule in zip(open_, rules, strict=True):
            if why := _reason_open(each, rule, measured):
                of_last = {"periods": len(last)} if len(last) < len(feed) else {}
                judged[id(each)] = Reason.of(why.code, **dict(why.parameters), **of_last)
    for each in comparisons:
        why = judged.get(id(each)) or _reason_of_reference(each, asked.question)
        yield replace(each, state=MonitorState.INSUFFICIENT, open=why) if why else each


def _reason_of_reference(each: MonitoredComparison, question: Spec) -> Reason | None:
    # Nothing else judges the group that is the reference. It would fail where what is known of all
    # periods together, as seen from its side, is beyond the limits.
    def is_outside(ends: tuple[float, float]) -> bool:
        return ends[1] < each.low or ends[0] > each.high

    code, of = ReasonCode.REFERENCE_DECIDES, each.feature
    turn = each.definition.turn if isinstance(each.definition, Contrast) else None
    named = isinstance(question.reference, tuple) and of in dict(question.reference)
    passes = each.state is MonitorState.NO_ALARM and each.baseline is None
    if turn is None or not named or question.accepts(code, of) or not passes:
        return None
    for point in reversed(each.points):
        if point.running_low is not None and point.running_high is not None:
            so_far = point.running_low, point.running_high
            return Reason.of(code) if is_outside(turn(so_far)) and not is_outside(so_far) else None
    return None


def _reason_open(each: MonitoredComparison, rule: Rule, measured: Measured) -> Reason | None:
    group = None if each.group == ALL_GROUPS else each.group
    found = ((key, of) for key, of in measured.worst_cases.items() if key[4].name == each.class_)
    subject = (rule.metric, each.feature, group)
    cases = [case for key, of in found if key[:3] == subject for case in of]
    for case in cases:
        if case.low < each.low or case.high > each.high:
            code = ReasonCode.MISSING_OUTCOMES if case.outcomes else ReasonCode.MISSING_GROUPS
            return Reason.of(
                code, **case.facts(), unit=measured.unit, low=case.low, high=case.high,
                by_value=True,
            )  # fmt: skip
    if lacking := not_counted(measured.uncounted, measured.unit):
        return lacking
    for verdict in judge(measured, [rule]):
        reason, of_group = verdict.reason, group is None or group in (verdict.group, verdict.mirror)
        if not of_group or verdict.feature != each.feature:
            continue
        if reason.code in _LACKING and (reason.get("unbounded") or not cases):
            return reason
        if rows := reason.get("open_rows"):  # beside what the interval leaves open
            groups = reason.get("open_groups")
            code = ReasonCode.MISSING_GROUPS if groups else ReasonCode.MISSING_OUTCOMES
            alone = str(Outcome.PASS)
            return Reason.of(code, rows=rows, unit=measured.unit, alone=alone, unbounded=True)
    return None


def unmatched_rules(
    asked: MonitorSpec, comparisons: Sequence[MonitoredComparison], cubes: PeriodCubes
) -> Iterator[Unmatched]:
    """Yield what rules are for and no comparison holds; ``asked`` has the references by name."""
    if not cubes:
        yield from (Unmatched(rule=text) for text in dict.fromkeys(map(str, asked.rules)))
        return
    features = {each.feature: each for each in count_groups(cubes.blank, asked.question)}
    for rule in asked.rules:
        own = [comparison for comparison in comparisons if comparison.rule == str(rule)]
        found = [*_absent_groups(rule, own, features), *_lone_features(rule, own, features)]
        if not own and not found:
            reason = Reason.of(ReasonCode.NO_ESTIMATE, what="metric", name=rule.metric)
            found = [Unmatched(rule=str(rule), reason=reason)]
        yield from found


def _absent_groups(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Mapping[str, GroupCounts]
) -> Iterator[Unmatched]:
    followed = {(each.feature, each.group) for each in own}
    for feature in rule.features or (None,):  # a rule has its groups in each feature it names
        held = [counts for counts in features.values() if feature in (counts.feature, None)]
        texts: dict[tuple[str, str], tuple[str, ...]] = {
            (of, group): (group,) for of, group in followed if feature in (of, None)
        }
        texts |= {
            (counts.feature, group): texts_of(group, group_id)
            for counts in held
            for group, group_id in zip(counts.groups, counts.group_ids, strict=True)
        }
        named = ((counts, counts.named_reference) for counts in held)
        references = {(of.feature, of.groups[at]) for of, at in named if at is not None}
        for name in rule.groups:
            meant = {key for key, of in texts.items() if name in of}
            if meant & followed:
                continue
            nearest = reason = None
            if not meant:
                nearest = closest(name, chain(*texts.values()))
            elif meant & references:
                reason = Reason.of(ReasonCode.IS_REFERENCE, name=name)
            else:
                reason = Reason.of(ReasonCode.NO_ESTIMATE, what="group", name=name)
            yield Unmatched(
                rule=str(rule), group=name, nearest=nearest, feature=feature, reason=reason
            )


def _lone_features(
    rule: MonitorRule, own: Sequence[MonitoredComparison], features: Mapping[str, GroupCounts]
) -> Iterator[Unmatched]:
    compares = rule.definition is not None and rule.definition.scope in OF_FEATURES
    # in which it compares groups; the groups that it names have some
    asked = {each.feature for each in own} if rule.groups else {*(rule.features or features)}
    for feature, counts in features.items():
        size = len(counts.groups)
        if feature in asked and (size == 0 or (size == 1 and compares)):
            code = ReasonCode.FEWER_THAN_TWO_GROUPS if size else ReasonCode.NO_GROUPS
            yield Unmatched(rule=str(rule), feature=feature, reason=Reason.of(code))
