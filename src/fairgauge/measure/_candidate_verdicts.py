"""Verdicts on candidates: fairer, as good within the margins, and what both come to.

Many disparities of several candidates are looked at, so their p-values are adjusted together
(Holm): where no candidate differs from the model in use, the probability that any is called fairer
or less fair is at most one minus the confidence level. A candidate is as good if it is so in every
rate with a margin, an intersection-union test, adjusted for the number of candidates.

A candidate dominates only where, besides, every disparity that was asked about is shown to be no
further from "no difference" than its margin allows, and every group's own rate to be no worse: one
intersection-union test, too, of which none may be without data. Its level is divided by the number
of candidates. That a group is harmed is stated at the level of all such tests of a candidate.

Beside each adjusted p-value stands the interval at the level at which Holm's procedure tests it, so
that interval and verdict cannot disagree.

Of a candidate that decides all rows alike no difference is judged, as no audit of it would: it is
worse, where a rate of all rows is by more than its margin, or else inconclusive.

A margin is asked for by name, or once for all disparities; else it follows from a rule. Margins of
ratios are shares of them: with 0.05, a ratio of 0.8 may become 0.76.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Metric
from fairgauge.enums import Direction, Performance, ScopeKind, Status
from fairgauge.errors import Problem, listing, quote, refuse
from fairgauge.inference.needed_rows import POWER
from fairgauge.inference.two.paired_changes import Quantity, StatisticChange
from fairgauge.measure._change_records import MeasuredDisparities, adjusted_together, interval_of
from fairgauge.question.specification import EVERY_DISPARITY, Spec
from fairgauge.results.changes import DisparityChange
from fairgauge.results.comparison import Candidate, MarginTest, with_verdict
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.rows_to_decide import times_the_rows
from fairgauge.stats.significance import normal_quantile


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMargins:
    """Tests of the margin of one rate, before they are adjusted for the number of candidates.

    Attributes
    ----------
    tests : what is tested, of all rows or of every group, with the p-value where there is one.
    gain : how much better the rate is, of ratios the logarithm; None without an interval.
    change : what that is made of.
    lower : whether lower values of the rate are better.
    reach : by how much worse the rate may be, whatever the rows hold that are excluded; None where
        it has no worst case.
    """

    tests: tuple[MarginTest, ...]
    gain: Quantity | None = None
    change: StatisticChange | None = None
    lower: bool = False
    reach: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCandidate:
    """A candidate without a verdict, its disparities and the tests of its margins.

    ``margins`` are tests of all rows, ``groups`` of the groups' own rates.
    """

    candidate: Candidate
    disparities: tuple[MeasuredDisparities, ...]
    margins: tuple[MeasuredMargins, ...]
    groups: tuple[MeasuredMargins, ...]


def judged(
    measured: Sequence[MeasuredCandidate],
    confidence: float,
    margin_of: Callable[[DisparityChange], float | None],
) -> tuple[Candidate, ...]:
    """Return candidates with their verdicts, and with what these are made of adjusted.

    ``margin_of`` returns the margin of a disparity.
    """
    of_every = _disparities_tested(measured, confidence, margin_of)
    of_all_rows = _margins_tested(measured, confidence)
    made = []
    for one, disparities, margins in zip(measured, of_every, of_all_rows, strict=True):
        tests = sum(disparity.margin is not None for disparity in disparities)
        tests += sum(len(batch.tests) for batch in one.groups)
        error = (1 - confidence) / len(measured)
        strict_z = critical(1 - error / max(tests, 1))
        levels = _MarginLevels(confidence, critical(1 - error), strict_z)
        at = iter(disparities)
        limited = [
            each
            for batch in one.disparities
            for each in _held_against_margins(batch, list(islice(at, len(batch.records))), levels)
        ]
        groups = [each for batch in one.groups for each in _group_tests(batch, levels)]
        candidate = replace(
            one.candidate,
            disparities=tuple(limited),
            margins=margins,
            groups=tuple(groups),
        )
        made.append(with_verdict(candidate))
    return tuple(made)


class _MarginLevels(NamedTuple):
    """At which levels the margins of a candidate are tested.

    Attributes
    ----------
    confidence : of one test.
    z : the critical value that shows that nothing is worse: all tests must.
    strict_z : the critical value that shows that something is worse: any test may.
    """

    confidence: float
    z: float
    strict_z: float


def _outcome(is_as_good: bool, is_worse: bool) -> Performance:
    if is_as_good:
        return Performance.NON_INFERIOR
    return Performance.INFERIOR if is_worse else Performance.CANNOT_TELL


def _held_against_margins(
    batch: MeasuredDisparities, records: list[DisparityChange], levels: _MarginLevels
) -> Iterator[DisparityChange]:
    size = len(records)
    unknown = np.full(size, np.nan)
    (low, high), (least, _) = (
        (unknown, unknown) if batch.worse_at is None else batch.worse_at(np.full(size, z))
        for z in (levels.z, levels.strict_z)
    )
    reach = np.zeros(size) if batch.reach is None else batch.reach
    for i, each in enumerate(records):
        if each.outcome is None:
            yield each
            continue
        tested = each.distance_adjusted
        closer = each.significant and each.direction is Direction.CLOSER
        if closer and reach[i] and (tested is None or not tested.high + reach[i] < 0):
            each = replace(each, overturned=True)
        if each.margin is None:
            yield each
            continue
        margin, known = as_distance(each.margin, each.by), each.status is Status.OK
        within = known and high[i] < margin
        holds = bool(within and high[i] + reach[i] < margin)
        outcome = _outcome(holds, known and least[i] > margin)
        methods = () if each.interval is None else each.interval.methods
        interval = interval_of(low[i], high[i], levels.confidence, methods)
        overturned = each.overturned or bool(within and not holds)
        yield replace(each, outcome=outcome, margin_interval=interval, overturned=overturned)


def _group_tests(batch: MeasuredMargins, levels: _MarginLevels) -> Iterator[MarginTest]:
    if batch.gain is None:
        yield from batch.tests
        return
    size = len(batch.tests)
    low, high = batch.gain.at(np.full(size, levels.z))
    _, most = batch.gain.at(np.full(size, levels.strict_z))
    reach = np.zeros(size) if batch.reach is None else batch.reach
    for i, test in enumerate(batch.tests):
        if test.change.interval is None or test.change.status is not Status.OK:
            yield test
            continue
        margin = as_distance(test.margin, test.by)
        holds = bool(low[i] - reach[i] > -margin)
        outcome = _outcome(holds, most[i] < -margin)
        ends = (-high[i], -low[i]) if batch.lower else (low[i], high[i])
        if test.by == "ratio":
            ends = (math.exp(ends[0]), math.exp(ends[1]))
        methods = test.change.interval.methods
        interval = interval_of(*ends, levels.confidence, methods)
        yield replace(
            test,
            outcome=outcome,
            adjusted=interval,
            better=bool(low[i] - reach[i] > 0),
            overturned=not holds and bool(low[i] > -margin),
        )


def _disparities_tested(
    measured: Sequence[MeasuredCandidate],
    confidence: float,
    margin_of: Callable[[DisparityChange], float | None],
) -> list[tuple[DisparityChange, ...]]:
    batches = [batch for one in measured for batch in one.disparities]
    every = [record for batch in batches for record in batch.records]
    adjusted_for_strata = frozenset(
        each.metric for each in every if each.scope.kind is ScopeKind.POOLED and each.interval
    )
    counted = [_counts(each, adjusted_for_strata) for each in every]
    tested = []
    for each, counts in zip(adjusted_together(batches, counted, confidence), counted, strict=True):
        if counts:
            margin = margin_of(each)
            open_ = Performance.NO_MARGIN if margin is None else Performance.CANNOT_TELL
            each = replace(each, margin=margin, outcome=open_)
        tested.append(each)
    at = iter(tested)
    return [
        tuple(islice(at, sum(len(batch.records) for batch in one.disparities))) for one in measured
    ]


def _counts(disparity: DisparityChange, adjusted_for_strata: Container[str]) -> bool:
    """Return whether a disparity is part of the verdict: of all rows, and of no average.

    Of a metric that is adjusted for strata, that is the adjusted disparity. It is part of it
    whether or not there are data to decide it.
    """
    scope = ScopeKind.POOLED if disparity.metric in adjusted_for_strata else ScopeKind.OVERALL
    return disparity.scope.kind is scope and disparity.class_scope.is_single


def _margins_tested(
    measured: Sequence[MeasuredCandidate], confidence: float
) -> list[tuple[MarginTest, ...]]:
    tests = [[test for batch in each.margins for test in batch.tests] for each in measured]
    worst = [
        max((test.p_value for test in of if test.p_value is not None), default=math.nan)
        for of in tests
    ]
    adjusted = holm(np.array(worst, dtype=float)).tolist()
    made = []
    for each, before, after in zip(measured, worst, adjusted, strict=True):
        factor = max(after / before, 1.0) if before > 0 else 1.0
        rows, several = each.candidate.rows, len(measured)
        made.append(
            tuple(_tested(margin, factor, rows, several, confidence) for margin in each.margins)
        )
    return made


def _tested(
    margin: MeasuredMargins, factor: float, rows: int, candidates: int, confidence: float
) -> MarginTest:
    (test,) = margin.tests
    change = test.change
    if margin.change is None or test.p_value is None or change.interval is None:
        return test
    z = critical(1 - (1 - confidence) / factor)
    worst, best = margin.change.gain_at(z, test.margin, lower=margin.lower)
    low, high = (-best, -worst) if margin.lower else (worst, best)
    reach = 0.0 if margin.reach is None else float(margin.reach[0])
    holds = worst - reach > -test.margin
    outcome = _outcome(holds, best < -test.margin)
    overturned = not holds and worst > -test.margin
    needed = None
    if outcome is Performance.CANNOT_TELL and not overturned:
        z_now = normal_quantile(1 - test.p_value)
        times = float(times_the_rows(z_now, candidates, confidence, POWER))
        needed = math.ceil(rows * times) if math.isfinite(times) else None
    return replace(
        test,
        outcome=outcome,
        adjusted=interval_of(low, high, confidence, change.interval.methods),
        better=worst - reach > 0,
        overturned=overturned,
        p_adjusted=min(1.0, test.p_value * factor),
        needed=needed,
    )


def rate_margins(spec: Spec) -> tuple[tuple[str, float], ...]:
    """Return the margins of rates of all rows."""
    return tuple(margin for margin in spec.margins if _disparity(spec, margin[0]) is None)


def margin_of_disparity(spec: Spec, one: DisparityChange) -> float | None:
    """Return by how much further from "no difference" a disparity may be.

    By default, half of the distance between its value under the model in use and the limit of its
    rule: 0 where it is beyond.
    """
    asked = _asked(spec, one.metric)
    if asked is not None or one.old is None:
        return asked
    slacks = [
        far - _distance(one.definition, one.old, one.by) * same_side
        for far, same_side in _limits(spec, one)
    ]
    return _as_margin(max(min(slacks), 0.0) / 2, one.by) if slacks else None


def margin_of_group(spec: Spec, one: DisparityChange) -> float | None:
    """Return by how much a group's own rate may be worse, of which a disparity is made.

    By default, half of the distance between "no difference" and the limit of the rule.
    """
    asked = _asked(spec, one.metric)
    far = [far for far, _ in _limits(spec, one)]
    return asked if asked is not None or not far else _as_margin(min(far) / 2, one.by)


def as_distance(margin: float, by: str) -> float:
    """Return a margin as a distance: of ratios, of their logarithms.

    >>> as_distance(0.05, "difference")
    0.05
    """
    return -math.log1p(-margin) if by == "ratio" else margin


def check_margins(spec: Spec, compared: Iterable[str]) -> None:
    """Refuse margins of disparities that are not compared."""
    names = list(dict.fromkeys(compared))
    problems = [
        Problem(
            f"margins.{name}",
            f"is not compared; name {quote(name)} in metrics, too (compared: {listing(names)})",
        )
        for name, _ in spec.margins
        if _disparity(spec, name) not in (None, EVERY_DISPARITY, *names)
    ]
    refuse(problems)


def _disparity(spec: Spec, name: str) -> str | None:
    """Return the metric that a margin is of by its own name; None where it is of a rate."""
    if name == EVERY_DISPARITY:
        return name
    try:
        spec.catalogue.rate(name)
    except LookupError:
        return spec.catalogue.metric(name).name
    return None


def _asked(spec: Spec, metric: str) -> float | None:
    margins = {_disparity(spec, name): margin for name, margin in spec.margins}
    return margins.get(metric, margins.get(EVERY_DISPARITY))


def _limits(spec: Spec, disparity: DisparityChange) -> Iterator[tuple[float, bool]]:
    metric = disparity.definition
    for _, limit in spec.limits:
        of_these = (not limit.features or disparity.feature in limit.features) and (
            not limit.groups or disparity.group in limit.groups
        )
        if limit.metric != metric.name or not of_these or math.isnan(metric.neutral):
            continue
        for end in (limit.low, limit.high):
            if math.isfinite(end) and (disparity.by == "difference" or end > 0):
                same = disparity.old is not None and (disparity.old - metric.neutral) * (
                    end - metric.neutral
                ) > 0  # fmt: skip
                yield _distance(metric, end, disparity.by), same


def _distance(metric: Metric, value: float, by: str) -> float:
    if by == "ratio":
        return abs(math.log(value)) if value > 0 else math.inf
    return abs(value - metric.neutral)


def _as_margin(distance: float, by: str) -> float:
    return -math.expm1(-distance) if by == "ratio" else distance
