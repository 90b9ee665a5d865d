"""Every rule for every group over the periods: evidence, points, state and alarm."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, dropwhile
from typing import Any

import numpy as np

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import none_of
from fairgauge.checks.feed import FeedPeriod
from fairgauge.cube.cube import Cube
from fairgauge.enums import Outcome, Role
from fairgauge.errors import closest
from fairgauge.identity import texts_of
from fairgauge.measure.decide import OF_FEATURES, judge
from fairgauge.measure.measure import measure
from fairgauge.measure.measured import Measured
from fairgauge.monitoring import _comparison_counts, _detection
from fairgauge.monitoring._comparison_counts import ComparisonId
from fairgauge.monitoring._detection import ALL_GROUPS
from fairgauge.monitoring._feed_rows import feed_rows
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring.monitor_spec import MonitoredRate, MonitorRule, MonitorSpec
from fairgauge.monitoring.periods import kind_of, parse_period, weekday_of
from fairgauge.question.rules import Rule
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.resolve.group_counts import GroupCounts, count_groups
from fairgauge.resolve.resolution import held_exclusions
from fairgauge.results.estimates import as_number
from fairgauge.results.monitor_results import (
    PERIODS_NOW,
    Alarm,
    Baseline,
    Detector,
    MonitoredComparison,
    MonitorState,
    Point,
    Unmatched,
    periods_without_value,
)
from fairgauge.results.scopes import not_counted
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Array
from fairgauge.stats.departures import RARE
from fairgauge.stats.sequential import asymptotic_evidence, running_contrast

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
    found, hiding = _detection.estimate_periods(cubes, asked, others)
    ids = [*counts.ids, *found]
    arrivals = [*counts.arrivals, *(min(periods) for periods in found.values())]
    alphas = _detection.divide_alpha(asked.alpha, arrivals)
    baselines = {
        each: _detection.baseline_limits(held, alpha, rates[each.rule], asked.rules[each.rule])
        for each, alpha in zip(counts.ids, alphas.tolist(), strict=False)
        if (held := counts.baselines.get(each))
    }
    limits = [
        _detection.tolerated_limits(
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
    evidence = _detection.detect(counts, ends, asked, rates)
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
        lacks = np.array([_share_without_label(cube) for cube in cubes])
        due = np.arange(len(names)) < len(names) - within
        waits = (lacks > 0) & ~due
        missing = due & (lacks > MOST_WITHOUT_LABEL)
        self.overdue = tuple(name for name, each in zip(names, missing, strict=True) if each)
        self.entered = int(np.argmax(waits)) if waits.any() else len(names)


def _share_without_label(cube: Cube) -> float:
    axis = cube.plan.axis(Role.LABEL)
    cases = cube.cases_by_level[axis] if axis else np.zeros(1)
    return float(cases[-1] / max(cases.sum(), 1))


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
        if (at := _detection.first_alarm(evidence[:entered], threshold)) is not None:
            of_baseline = every.baselines.get(each)
            held = counts[:entered]
            alarm = _detection.attribute(rate, held, names[:entered], at, limits, of_baseline)
        points = tuple(self._points(each, counts, rate, evidence))
        (every_row,) = _detection.numbers_of_counts(counts[:entered].sum(axis=0)[np.newaxis], rate)
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
        found = _detection.numbers_of_counts(counts, rate)
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
        self, each: ComparisonId, periods: Mapping[int, _detection.PeriodEstimate], alpha: float,
        limits: tuple[float, float], *, hides: bool,
    ) -> MonitoredComparison:  # fmt: skip
        # one that ``hides`` has groups of insufficient data
        names, asked, entered = self.names, self.asked, self._periods_entered(each)
        signs, threshold = _detection.signs_of(periods, entered, limits), asked.horizon / alpha
        evidence, alarm = asymptotic_evidence(*signs), None
        if (at := _detection.first_alarm(evidence, threshold)) is not None:
            held = names[:entered]
            alarm = _detection.alarm_of(each, held, self.cubes, at, signs, limits, asked)
        points = tuple(
            _detection.point_of(
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
