"""Every rule for every group over the periods: evidence, points, state and alarm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fairgauge.catalogue.statistics import none_of
from fairgauge.enums import ReferenceRule
from fairgauge.monitoring._attribution import attribute, estimates, rates_of, sizes_of
from fairgauge.monitoring._comparison_counts import (
    ComparisonCounts,
    ComparisonId,
    SideCounts,
    collect_counts,
    counts_in,
    exact_rates,
)
from fairgauge.monitoring._detection import (
    LARGEST,
    Fold,
    baseline_limits,
    detect,
    divide_alpha,
    pairs_of_counts,
    tolerated,
    without_mirrors,
)
from fairgauge.monitoring._estimates import (
    ALL_GROUPS,
    PeriodEstimate,
    alarm_of,
    estimate_periods,
    pairs_of_estimates,
    point_of,
    signs_of,
)
from fairgauge.monitoring._period_cubes import PeriodCubes
from fairgauge.monitoring._period_rows import (
    CountedRows,
    counted_rows,
    lacks_class,
    lacks_values,
    only_waits,
    passing,
    passing_class,
    rows_of_group,
)
from fairgauge.monitoring.history import KeptDecisions
from fairgauge.monitoring.monitor_spec import Labels, MonitoredRate, MonitorSpec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.estimates import as_number
from fairgauge.results.monitor_results import (
    Alarm,
    Baseline,
    Detector,
    MonitoredComparison,
    MonitorState,
    Point,
    is_gone,
)
from fairgauge.stats.arrays import Array
from fairgauge.stats.sequential import Tolerated, running_contrast

MOST_WITHOUT_LABEL = 0.5
"""The share of rows without a label above which a period that enters is as good as unseen."""
_ABSENT = Reason.of(ReasonCode.NO_ROWS).on("group")
_NO_CLASS = Reason.of(ReasonCode.NO_ROW_OF_CLASS)


class Followed(NamedTuple):
    """All comparisons over the periods, and what is known of labels.

    Attributes
    ----------
    comparisons : in the order of the rules.
    waiting, unlabelled, overdue : the periods that rules on labels have not entered, that lack a
        label, and whose labels are due.
    due : the later periods with which labels are due; None where nothing states it.
    late, late_classes : the groups, and the classes of groups of before, that came later.
    rows : the rows of every period.
    fold : what the periods came to, to be kept.
    """

    comparisons: tuple[MonitoredComparison, ...] = ()
    waiting: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    overdue: tuple[str, ...] = ()
    due: int | None = None
    late: tuple[tuple[str, str, str], ...] = ()
    late_classes: tuple[tuple[str, str, str], ...] = ()
    rows: Sequence[CountedRows] = ()
    fold: Fold | None = None


def follow(
    names: Sequence[str],
    cubes: PeriodCubes,
    asked: MonitorSpec,
    kept: Fold | None,
    decisions: KeptDecisions | None,
    *,
    keep: bool,
) -> Followed:
    """Follow every comparison over the periods; return also a fold to keep.

    ``keep`` is whether all periods are considered, so that what is seen of them is kept.
    """
    if not cubes:
        return Followed()
    rates = exact_rates(asked)
    others = [i for i in range(len(asked.rules)) if i not in rates]
    begin = 0 if kept is None else kept.periods
    every = collect_counts(cubes, names, asked, rates, None if kept is None else kept.counts)
    rows = [] if kept is None else [*kept.rows]
    rows += [counted_rows(cubes[t], asked.question) for t in range(begin, len(cubes))]
    pairs = pairs_of_counts(every, asked.rules, rates)
    counts = without_mirrors(every, pairs)
    if kept is not None and not kept.fits(every, counts):
        kept = None  # a group that is new changes the shapes, and nothing that was decided
    found = estimate_periods(cubes, asked, others)
    came = dict(zip(every.ids, every.arrivals, strict=True))
    came |= {each: min(periods) for each, periods in found.items()}
    pairs_of_others = pairs_of_estimates(found, asked, len(cubes))
    ids = [*found]
    of_two = {ids[one] for one, _, _ in pairs_of_others} | {every.ids[one] for one, _, _ in pairs}
    alone = {every.ids[one] for one, _, until in pairs if until == np.inf}
    named = dict[ComparisonId, str]()
    for one, other, until in pairs_of_others:
        later = {t: each for t, each in found[ids[other]].items() if t >= until}
        found[ids[other]] = later
        if not later:
            named[ids[one]] = ids[other].group
            alone.add(ids[one])
    found = {each: held for each, held in found.items() if held}
    arrivals = [*counts.arrivals, *(min(periods) for periods in found.values())]
    alphas = divide_alpha(asked.alpha, arrivals)
    labels = _labels(names, every, asked, rates, decisions, keep=keep)
    held = _baseline_counts(asked, counts, rates, cubes)
    baselines = {
        each: baseline_limits(held[each], alpha, rates[each.rule], asked.rules[each.rule])
        for each, alpha in zip(counts.ids, alphas.tolist(), strict=False)
        if each in held
    }
    limits = [
        tolerated(
            each, asked.rules, (b.low, b.high) if (b := baselines.get(each)) else None,
            for_two=each in of_two,
        )
        for each in (*counts.ids, *found)
    ]  # fmt: skip
    detected = detect(
        counts, alphas[: len(counts.ids)], limits[: len(counts.ids)], asked, rates, baselines, kept
    )
    made = _Maker(names, cubes, asked, rows, labels, alone)
    comparisons = [
        made.of_counts(
            each, rates[each.rule], counts.counts[:, i], counts.references[i], float(alphas[i]),
            (float(detected.low[i]), float(detected.high[i])), float(detected.threshold[i]),
            detected.evidence[:, i], baselines.get(each), held.get(each),
        )
        for i, each in enumerate(counts.ids)
    ]  # fmt: skip
    comparisons += [
        made.of_estimates(each, periods, float(alphas[i]), limits[i], named.get(each))
        for i, (each, periods) in enumerate(found.items(), start=len(counts.ids))
    ]
    ids = [*counts.ids, *found]
    order = sorted(range(len(ids)), key=lambda i: (ids[i].rule, ids[i].feature))
    late, late_classes = _late(ids, [came[each] for each in ids], names)
    fold = None
    if begin < len(names) and not others and detected.evidence.size <= LARGEST:
        fold = Fold(every, rows, detected.evidence, detected.detectors)
    return Followed(
        comparisons=tuple(comparisons[i] for i in order),
        waiting=tuple(names[labels.complete :]) if labels.needed else (),
        unlabelled=labels.without,
        overdue=labels.overdue,
        due=labels.due,
        late=late,
        late_classes=late_classes,
        rows=rows,
        fold=fold,
    )


class _Labels(NamedTuple):
    """What is known of labels.

    Attributes
    ----------
    needed : whether any rule needs them.
    complete : the number of periods before the first that waits for labels. Periods enter in order,
        so that one that completes later changes no evidence before it.
    without, overdue : the periods that lack a label, and those whose labels are due.
    due : the later periods with which labels are due.
    """

    needed: bool
    complete: int
    without: tuple[str, ...]
    overdue: tuple[str, ...]
    due: int | None


def _labels(
    names: Sequence[str],
    counts: ComparisonCounts,
    asked: MonitorSpec,
    rates: Mapping[int, MonitoredRate],
    decisions: KeptDecisions | None,
    *,
    keep: bool,
) -> _Labels:
    """Return what is known of labels.

    Unless it is asked, a label is due once it is missing for longer than runs have seen any wait.
    Where they have seen none wait it is due at once, so that no monitor is green without a label,
    however short its history. Where ``labels_within`` lets a period enter with the labels that it
    has, they are missing where most of its rows have none: it is then as good as not seen.
    """
    size, within = len(names), asked.labels_within
    waits = counts.unlabelled > 0
    needed = any(_needs_label(asked, rates, i) for i in range(len(asked.rules)))
    without = [names[i] for i in np.flatnonzero(waits).tolist()] if needed else []
    due = within
    if needed and asked.labels is Labels.LATER:
        seen = {} if decisions is None else decisions.waits(names, without, keep=keep)
        labelled = [name for name in names if name not in without]
        if within is None and labelled:
            due = 1 + max((seen.get(name, -1) for name in labelled), default=-1)
    lacks = counts.unlabelled > (0.0 if within is None else MOST_WITHOUT_LABEL)
    overdue = (
        tuple(names[t] for t in np.flatnonzero(lacks[: max(size - due, 0)]).tolist())
        if needed and due is not None
        else ()
    )
    if within is not None:
        waits[: max(size - within, 0)] = False
    complete = int(np.argmax(waits)) if waits.any() else size
    return _Labels(needed, complete, tuple(without), overdue, due if needed else None)


def _needs_label(asked: MonitorSpec, rates: Mapping[int, MonitoredRate], rule: int) -> bool:
    if rule in rates:
        return "label" in rates[rule].rate.needs
    return "label" in asked.catalogue.metric(asked.rules[rule].metric).needs


class _Maker:
    """Makes comparisons of counts and of estimates from what all of them have in common.

    ``alone`` are the comparisons that stand for two groups in all periods.
    """

    def __init__(
        self,
        names: Sequence[str],
        cubes: PeriodCubes,
        asked: MonitorSpec,
        rows: Sequence[CountedRows],
        labels: _Labels,
        alone: set[ComparisonId],
    ) -> None:
        self._names, self._cubes, self._asked, self._rows = names, cubes, asked, rows
        self._labels, self._alone = labels, alone
        self._rates = exact_rates(asked)

    def _entered(self, each: ComparisonId) -> int:
        needs = _needs_label(self._asked, self._rates, each.rule)
        return self._labels.complete if needs else len(self._names)

    def of_counts(
        self,
        each: ComparisonId,
        rate: MonitoredRate,
        counts: Array,
        reference: str,
        alpha: float,
        limits: tuple[float, float],
        threshold: float,
        evidence: Array,
        baseline: Baseline | None,
        baseline_counts: SideCounts | None,
    ) -> MonitoredComparison:
        """Return a comparison that counts decide exactly."""
        asked, names, rule = self._asked, self._names, self._asked.rules[each.rule]
        entered = self._entered(each)
        crossed = np.flatnonzero(evidence[:entered] >= threshold)
        alarm: Alarm | None = None
        if crossed.size:
            of_rule = rule.baseline
            alarm = attribute(
                each, rate, counts[:entered], names[:entered], int(crossed[0]),
                Tolerated(*limits, rate.by), self._cubes, asked.question,
                (baseline_counts, of_rule.cube) if of_rule and baseline_counts else None,
            )  # fmt: skip
        points = _points(
            names, counts, rate, evidence, entered, asked.min_n,
            partial(_why_undefined, each, reference, rate, asked, self._rows),
        )  # fmt: skip
        sizes = [int(n) for n in sizes_of(counts[:entered].sum(axis=0), rate)]
        if baseline is not None:
            sizes += [baseline.n_group, baseline.n_reference]
        few = min(sizes[::2] if rate.by == "rate" else sizes) < asked.min_n
        lacks_baseline = rule.baseline is not None and baseline is None
        return self._made(
            each, alarm, points, reference, Detector.E_DETECTOR, alpha, threshold, limits,
            baseline, few=few, lacks_baseline=lacks_baseline, two_sided=rate.by != "rate",
        )  # fmt: skip

    def of_estimates(
        self,
        each: ComparisonId,
        periods: dict[int, PeriodEstimate],
        alpha: float,
        limits: tuple[float, float],
        reference: str | None,
    ) -> MonitoredComparison:
        """Return a comparison that estimates decide asymptotically.

        Data of all groups are insufficient where those of any group are.
        """
        names, asked, entered = self._names, self._asked, self._entered(each)
        signs, threshold = signs_of(periods, entered, limits), asked.horizon / alpha
        evidence = signs.evidence
        points = tuple(
            point_of(
                name, periods[t].usual if t in periods else None,
                float(evidence[t]) if t < entered else None, asked.min_n,
                _NO_CLASS if lacks_class(self._rows[t], each.class_, asked.question) else _ABSENT,
                waits=t >= entered,
            )
            for t, name in enumerate(names)
        )  # fmt: skip
        crossed = np.flatnonzero(evidence >= threshold)
        alarm = None
        if crossed.size:
            alarm = alarm_of(
                each, names[:entered], self._cubes, int(crossed[0]), signs, limits, asked
            )
        held_against = reference or str(next(iter(periods.values())).usual.reference or "")
        one_sided = each.group == ALL_GROUPS or not held_against
        few = all(point.sparse for point in points[:entered]) or self._hides_a_group(each)
        return self._made(
            each, alarm, points, "" if one_sided else held_against, Detector.ASYMPTOTIC, alpha,
            threshold, limits, None, few=few, lacks_baseline=False, two_sided=not one_sided,
        )  # fmt: skip

    def _hides_a_group(self, each: ComparisonId) -> bool:
        """Return whether a comparison of all groups is of the large ones, and hides a small one."""
        question = self._asked.question
        if each.group != ALL_GROUPS or question.feature(each.feature).values:
            return False
        apart = {*question.exclude_groups, *map(str, question.unknown)}
        known = {name for rows in self._rows for name in rows.values.get(each.feature, ())}
        held = (rows_of_group(self._rows, each.feature, name) for name in known - apart)
        return any(max(n) < self._asked.min_n and not is_gone([*map(bool, n)]) for n in held)

    def _made(
        self,
        each: ComparisonId,
        alarm: Alarm | None,
        points: tuple[Point, ...],
        reference: str,
        detector: Detector,
        alpha: float,
        threshold: float,
        limits: tuple[float, float],
        baseline: Baseline | None,
        *,
        few: bool,
        lacks_baseline: bool,
        two_sided: bool,
    ) -> MonitoredComparison:
        """Return a comparison with its state: ``few`` is whether its data are insufficient."""
        asked, names, rows = self._asked, self._names, self._rows
        rule, entered = asked.rules[each.rule], self._entered(each)
        expected = baseline is not None or rule.groups or each in self._alone
        was_in = passing_class(names[:entered], rows, each.class_, asked.question)
        if not expected:
            was_in = passing(names[:entered], rows, each.feature, each.group) or was_in
        waits = only_waits(rows, entered, each.feature, each.group, asked.min_n)
        overdue = self._labels.overdue and entered < len(names)
        if alarm is not None:
            state = MonitorState.ALARM
        elif overdue or not entered:
            state = MonitorState.WAITING
        elif was_in:
            state = MonitorState.NO_ALARM
        elif waits and not lacks_baseline:
            state = MonitorState.WAITING
        elif few or lacks_baseline:
            state = MonitorState.INSUFFICIENT
        elif lacks_values(points, asked.min_n, two_sided=two_sided):
            state = MonitorState.UNDEFINED
        else:
            state = MonitorState.NO_ALARM
        return MonitoredComparison(
            rule=str(rule),
            metric=rule.metric,
            definition=asked.catalogue.row(rule.metric),
            feature=each.feature,
            group=each.group,
            class_=each.class_,
            reference=reference,
            detector=detector,
            alpha=alpha,
            threshold=float(f"{threshold:.12g}"),  # 18250, not 18249.999999999996
            low=limits[0],
            high=limits[1],
            baseline=baseline,
            points=points,
            state=state,
            alarm=alarm,
            was_in=was_in,
            lacks_baseline=lacks_baseline,
        )


def _late(
    ids: Sequence[ComparisonId], arrivals: Sequence[int], names: Sequence[str]
) -> tuple[tuple[tuple[str, str, str], ...], tuple[tuple[str, str, str], ...]]:
    """Return the groups, and the classes of groups of before, that were not in the first period."""
    entered = list(zip(ids, arrivals, strict=True))
    begun: dict[tuple[str, str], int] = {}
    for each, first in entered:
        begun[each.feature, each.group] = min(first, begun.get((each.feature, each.group), first))
    groups, classes = dict[tuple[str, str, str], None](), dict[tuple[str, str], str]()
    for each, first in entered:
        if each.class_ is not None and first > begun[each.feature, each.group]:
            classes.setdefault((each.feature, each.class_), names[first])
        elif first > 0:
            groups[each.feature, each.group, names[first]] = None
    return tuple(groups), tuple((*of, first) for of, first in classes.items())


def _baseline_counts(
    asked: MonitorSpec,
    counts: ComparisonCounts,
    rates: Mapping[int, MonitoredRate],
    cubes: PeriodCubes,
) -> dict[ComparisonId, SideCounts]:
    """Return the counts of baselines, of each rule those of its own baseline."""
    found: dict[ComparisonId, SideCounts] = {}
    for i, rule in enumerate(asked.rules):
        if rule.baseline is not None:
            for held in counts_in(rule.baseline.cube, asked, rates, cubes):
                if held.rule == i:
                    rows = (SideCounts(*row) for row in held.counts[0].tolist())
                    found |= dict(zip(held.ids, rows, strict=True))
    return {each: found[each] for each in counts.ids if each in found}


def _points(
    names: Sequence[str],
    counts: Array,
    rate: MonitoredRate,
    evidence: Array,
    entered: int,
    min_n: int,
    why_undefined: Callable[[int, Sequence[float]], Reason],
) -> tuple[Point, ...]:
    running = _running(counts, rate, entered)
    columns = (
        *estimates(counts, rate.by), *rates_of(counts, rate), *sizes_of(counts, rate), *running,
    )  # fmt: skip
    every = [each.tolist() for each in columns]
    points = []
    for t, row in enumerate(zip(*every, strict=True)):
        value, low, high, group, reference, n_group, n_reference, *so_far = row
        running_value, running_low, running_high = map(as_number, so_far)
        fewest = n_group if rate.by == "rate" else min(n_group, n_reference)
        points.append(
            Point(
                period=names[t],
                value=as_number(value),
                low=as_number(low),
                high=as_number(high),
                rate_group=as_number(group),
                rate_reference=as_number(reference),
                n_group=int(n_group),
                n_reference=int(n_reference),
                evidence=float(evidence[t]) if t < entered else None,
                sparse=fewest < min_n,
                running=running_value,
                running_low=running_low,
                running_high=running_high,
                reason=why_undefined(t, (reference, n_reference, n_group))
                if as_number(value) is None
                else None,
                waits=t >= entered,
            )
        )
    return tuple(points)


def _columns(rate: MonitoredRate, asked: MonitorSpec) -> list[str]:
    """Return the columns without whose value a row is not in a rate."""
    of = {"label": asked.question.label, "prediction": asked.question.prediction}
    return [str(name) for need, name in of.items() if need in rate.rate.needs and name is not None]


def _why_undefined(
    each: ComparisonId,
    reference: str,
    rate: MonitoredRate,
    asked: MonitorSpec,
    rows: Sequence[CountedRows],
    t: int,
    counts: Sequence[float],
) -> Reason:
    """Return why a contrast of two rates, or a rate alone, has no value in a period.

    Parameters
    ----------
    asked : the specification, with the columns without whose value a row is not in the rate.
    rows, t : the rows of all periods, and the number of the period.
    counts : the rate and the rows of the reference, and the rows of the group.
    """
    held, (rate_of_reference, n_reference, n_group) = rows[t], counts
    alone = rate.by == "rate"
    if lacks_class(held, each.class_, asked.question):
        return Reason.of(ReasonCode.NO_ROW_OF_CLASS)
    if n_group and n_reference and not alone:
        title = rate.rate.title
        return Reason.of(ReasonCode.BOTH_SIDES_EQUAL_RATE, rate=title, value=rate_of_reference)
    side, name = ("reference", reference) if n_group and not alone else ("group", each.group)

    def of_side(by_group: Mapping[str, int]) -> int:
        if name != ReferenceRule.OTHERS:
            return by_group.get(name, 0)
        return sum(by_group.values()) - by_group.get(each.group, 0)

    lacking = {
        n: of_side(held.lacking.get(n, {}).get(each.feature, {})) for n in _columns(rate, asked)
    }
    column = max(lacking, key=lambda n: lacking[n], default="")
    why = none_of(rate.rate.among)
    if lacking.get(column):
        why = Reason.of(
            ReasonCode.LACKING_VALUES, column=column, lacking=lacking[column],
            rows=of_side(held.values.get(each.feature, {})), counts=why["counts"],
        )  # fmt: skip
    return why if alone else why.on(side)


def _running(counts: Array, rate: MonitoredRate, entered: int) -> list[Array]:
    """Return the running contrast and its confidence sequence, nan in periods that wait."""
    x_d, n_d, x_a, n_a = counts[:entered].T
    waiting = np.full(len(counts) - entered, np.nan)
    found = running_contrast(rate.by, x_a, n_a, x_d, n_d)
    return [np.concatenate([each, waiting]) for each in found]
