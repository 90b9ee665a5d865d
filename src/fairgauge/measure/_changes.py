"""Changes as records: what is measured of a change, with its intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

import numpy as np

from fairgauge.catalogue.cells import Array
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.enums import Direction, IntervalMethod, Performance, Status
from fairgauge.errors import Problem, listing, quote, refuse
from fairgauge.inference.needed_rows import POWER
from fairgauge.inference.paired_changes import (
    DisparityChanges,
    StatisticChange,
    disparity_changes,
    shown_claims,
)
from fairgauge.question.specification import EVERY_DISPARITY, Spec
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.results.comparison import Candidate, MarginTest, with_verdict
from fairgauge.results.estimates import DisparityChange, RateChange, as_count, as_number
from fairgauge.results.scopes import Interval
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.arrays import Limits
from fairgauge.stats.intervals import critical
from fairgauge.stats.paired import At, Quantity, distance, distance_limits
from fairgauge.stats.rows_to_decide import times_the_rows
from fairgauge.stats.significance import holm, holm_levels, normal_quantile

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredDisparities:
    """Changes of disparities, before they are adjusted for each other.

    ``distance_at`` returns the limits of the changes of their distances from "no difference" at a
    critical value of each; ``crossing_p`` are the p-values of not changing sides; ``reach`` is by
    how much further they may be, whatever the rows hold that are excluded. ``shift_at`` returns the
    limits of the changes themselves.
    """

    records: tuple[DisparityChange, ...]
    distance_at: Callable[[Array], Limits] | None = None
    crossing_p: Array | None = None
    reach: Array | float = 0.0
    shift_at: At | None = None


def rate_records(
    change: StatisticChange,
    bases: Sequence[RateChange],
    level: float,
    undefined: Callable[[int, bool], Reason],
) -> Iterator[RateChange]:
    """Yield what becomes of a statistic of every side; ``bases`` are without numbers.

    ``undefined`` returns why that of a side is undefined, with True under the model in use.
    """
    low, high = change.difference.at(critical(level))
    p_value = change.difference.p_value()
    for i, base in enumerate(bases):
        old, new, value = (as_number(of[i]) for of in (*change.values, change.difference.value))
        if old is None or new is None:
            why = undefined(i, old is None)
            yield replace(base, old=old, new=new, status=Status.UNDEFINED, reason=why)
            continue
        status, reason = _sufficiency(float(change.rows[i]))
        yield replace(
            base,
            old=old,
            new=new,
            change=value,
            interval=interval_of(low[i], high[i], level, change.methods),
            p_value=as_number(p_value[i]),
            n=as_count(change.rows[i]),
            status=status,
            reason=reason,
        )


def measured_disparities(
    metric: Contrast,
    change: StatisticChange,
    bases: Sequence[DisparityChange],
    spec: Spec,
    *,
    inside: bool,
) -> MeasuredDisparities:
    """Return what becomes of a metric in every comparison; ``bases`` are without numbers.

    ``change`` is what becomes of its statistic: of all groups, then of the reference of each; with
    ``inside`` these hold their groups.
    """
    disparities = disparity_changes(metric, change, inside=inside)
    records = tuple(changed_disparities(metric, disparities, bases, spec.confidence))
    shift_at, tested_at = disparities.shift.at, disparities.distance_tested_at
    return MeasuredDisparities(records, tested_at, disparities.crossing_p(), shift_at=shift_at)


def changed_disparities(
    metric: Metric, made: DisparityChanges, bases: Sequence[DisparityChange], level: float
) -> Iterator[DisparityChange]:
    """Yield the changes of a disparity; ``bases`` are without numbers."""
    z = critical(level)
    shift, above = made.shift.at(z), made.level.at(z)
    away = distance(made.shift.value, made.level.value)
    away_low, away_high = distance_limits(shift, above)
    p_of_shift = made.shift.p_value()
    p = np.maximum(p_of_shift, made.level.p_value())  # of a distance that does not change
    scaled = np.exp if any(base.by == "ratio" for base in bases) else np.asarray
    low, high = map(scaled, shift)
    for i, base in enumerate(bases):
        old, new, change = (as_number(of[i]) for of in (*made.values, made.shift.value))
        rows = [float(each[i]) for each in made.rows]
        status, reason_of_few = _sufficiency(min(rows))
        if old is None or new is None or change is None:
            reason = Reason.of(ReasonCode.BOTH_UNBOUNDED)
            if old is None or new is None:
                when = "before" if old is None else "after"
                reason = reason_of_few or Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, when=when)
            yield replace(base, old=old, new=new, status=Status.UNDEFINED, reason=reason)
            continue
        far, direction = as_number(away[i]), None
        if far is not None:
            direction = Direction.FURTHER if far > 0 else Direction.CLOSER
            direction = Direction.AS_FAR if abs(far) <= _ROUNDING else direction
        yield replace(
            base,
            old=old,
            new=new,
            change=float(scaled(change)),
            interval=interval_of(low[i], high[i], level, made.methods),
            distance=far,
            distance_interval=interval_of(away_low[i], away_high[i], level, made.methods),
            direction=direction,
            crossed=(old - metric.neutral) * (new - metric.neutral) < 0,
            change_p_value=as_number(p_of_shift[i]),
            p_value=as_number(p[i]),
            n_group=as_count(rows[0]),
            n_reference=as_count(rows[1]),
            status=status,
            reason=reason_of_few,
        )


def adjusted_together(
    batches: Sequence[MeasuredDisparities], confidence: float, *, averages: bool
) -> list[DisparityChange]:
    """Adjust the p-values of all disparities (Holm); mark the significant.

    With ``averages``, those over classes are tested, too.
    """
    records = [record for batch in batches for record in batch.records]
    enough = [e.status is Status.OK and (averages or e.class_scope.is_single) for e in records]
    p, p_of_change = (
        np.where(enough, np.array([*map(attrgetter(name), records)], dtype=float), np.nan)
        for name in ("p_value", "change_p_value")
    )
    sides = [
        np.ones(len(batch.records)) if batch.crossing_p is None else batch.crossing_p
        for batch in batches
    ]
    p_of_sides = np.where(np.isfinite(p_of_change), np.concatenate([[], *sides]), np.nan)
    adjusted, changed, crossed = map(holm, (p, p_of_change, p_of_sides))
    levels = holm_levels(p, level=1 - confidence)
    adjusted_records: list[DisparityChange] = []
    for batch in batches:
        here = slice(len(adjusted_records), len(adjusted_records) + len(batch.records))
        tested = np.isfinite(adjusted[here])
        strict = np.where(tested, 1 - levels[here], confidence).tolist()
        ends = batch.distance_at and batch.distance_at(np.array([critical(e) for e in strict]))
        for i, (each, of_distance, of_shift, of_sides) in enumerate(
            zip(batch.records, adjusted[here], changed[here], crossed[here], strict=True)
        ):
            usual = each.distance_interval
            adjusted_records.append(
                replace(
                    each,
                    p_adjusted=as_number(of_distance),
                    distance_adjusted=interval_of(ends[0][i], ends[1][i], confidence, usual.methods)
                    if tested[i] and usual is not None and ends is not None
                    else None,
                    significant=bool(of_distance <= 1 - confidence)
                    and each.direction is not Direction.AS_FAR,
                    change_p_adjusted=as_number(of_shift),
                    changed=bool(of_shift <= 1 - confidence),
                    other_side=bool(of_sides <= 1 - confidence),
                )
            )
    return adjusted_records


def _sufficiency(rows: float) -> tuple[Status, Reason | None]:
    if rows >= FEWEST_ROWS:
        return Status.OK, None
    return Status.TOO_FEW, Reason.of(ReasonCode.FEW_ROWS, n=rows, minimum=FEWEST_ROWS)


def interval_of(
    low: float, high: float, level: float, methods: tuple[IntervalMethod, ...]
) -> Interval | None:
    """Return an interval; None where it is unknown or unbounded."""
    if math.isnan(low) or math.isnan(high) or (math.isinf(low) and math.isinf(high)):
        return None
    return Interval(float(low), float(high), level, methods)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredMargins:
    """Tests of the margin of one rate, before they are adjusted for the number of candidates.

    Of all rows or of every group. ``gain`` is how much better the rate is, of ratios the logarithm;
    ``reach`` by how much worse it may be, whatever the rows hold that are excluded.
    """

    tests: tuple[MarginTest, ...]
    gain: Quantity | None = None
    change: StatisticChange | None = None
    lower: bool = False
    reach: Array | float = 0.0

    def gain_at(self, z: float) -> tuple[float, float]:
        """Return the limits of the first gain at a critical value; none where it has no interval.

        >>> MeasuredMargins(()).gain_at(1.96)
        (-inf, inf)
        """
        if self.change is None:
            return -math.inf, math.inf
        return self.change.gain_at(z, self.tests[0].margin, lower=self.lower)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCandidate:
    """A candidate without a verdict, its disparities and the tests of its margins.

    ``margins`` are tests of all rows, ``groups`` of the groups' own rates.
    """

    candidate: Candidate
    disparities: tuple[MeasuredDisparities, ...]
    margins: tuple[MeasuredMargins, ...]
    groups: tuple[MeasuredMargins, ...]


def judge_candidates(measured: Sequence[MeasuredCandidate], spec: Spec) -> tuple[Candidate, ...]:
    """Return candidates with their verdicts, and with what these are made of adjusted."""
    confidence = spec.confidence
    batches = [batch for one in measured for batch in one.disparities]
    tested = iter(adjusted_together(batches, confidence, averages=False))
    shown, level = shown_claims(
        lambda level: np.array([_is_shown(one, level) for one in measured]),
        len(measured), confidence,
    )  # fmt: skip

    candidates = []
    for one, together in zip(measured, shown.tolist(), strict=True):
        records = [each for batch in one.disparities for each in batch.records]
        margins = [margin_of(spec, e.metric) for e in records if e.class_scope.is_single]
        tests = sum(margin is not None for margin in margins)
        tests += sum(len(batch.tests) for batch in one.groups)
        error = (1 - confidence) / len(measured)
        z, strict_z = critical(1 - error), critical(1 - error / max(tests, 1))
        rows, several = one.candidate.rows, len(measured)
        candidate = replace(
            one.candidate,
            together=together,
            disparities=tuple(
                each
                for batch in one.disparities
                for each in _held_against_margins(
                    batch, [*islice(tested, len(batch.records))], spec, z, strict_z
                )
            ),
            margins=tuple(
                _adjust_margin(each, level, rows, several, confidence) for each in one.margins
            ),
            groups=tuple(
                each
                for batch in one.groups
                for each in _group_tests(batch, confidence, z, strict_z)
            ),
        )
        candidates.append(with_verdict(candidate))
    return tuple(candidates)


def _is_shown(one: MeasuredCandidate, level: float) -> bool:
    # by intervals at a level: as good, and some disparity smaller (of several, Bonferroni)
    tested = [
        np.array([e.status is Status.OK and e.class_scope.is_single for e in batch.records])
        for batch in one.disparities
    ]
    strict = critical(1 - (1 - level) / max(sum(int(of.sum()) for of in tested), 1))
    ends = (batch.distance_at and batch.distance_at(np.full(len(batch.records), strict))
            for batch in one.disparities)  # fmt: skip
    smaller = (e and bool((e[1] < 0)[of].any()) for e, of in zip(ends, tested, strict=True))
    kept = (batch.gain_at(critical(level))[0] > -batch.tests[0].margin for batch in one.margins)
    return bool(one.margins) and any(smaller) and all(kept)


def _outcome(margin: float, most: float, least: float, reach: float) -> tuple[Performance, bool]:
    # of a loss between two ends that excluded rows could add to; and whether they overturn it
    if most + reach < margin:
        return Performance.NON_INFERIOR, False
    return Performance.INFERIOR if least > margin else Performance.CANNOT_TELL, bool(most < margin)


def _held_against_margins(
    batch: MeasuredDisparities,
    records: list[DisparityChange],
    spec: Spec,
    z: float,
    strict_z: float,
) -> Iterator[DisparityChange]:
    # ``z, strict_z``: critical values at which all tests show that nothing is worse, and any that
    # one is
    size = len(records)
    unknown = np.full(size, np.nan), np.full(size, np.nan)
    (low, high), (least, _) = (
        unknown if batch.distance_at is None else batch.distance_at(np.full(size, at))
        for at in (z, strict_z)
    )
    reach = np.broadcast_to(batch.reach, size)
    for i, each in enumerate(records):
        if not each.class_scope.is_single:  # no average is part of the verdict
            yield each
            continue
        tested, margin = each.distance_adjusted, margin_of(spec, each.metric)
        closer = each.significant and each.direction is Direction.CLOSER
        overturned = bool(
            closer and reach[i] and (tested is None or not tested.high + reach[i] < 0)
        )
        if margin is None:
            yield replace(each, outcome=Performance.NO_MARGIN, overturned=overturned)
            continue
        outcome, is_open = Performance.CANNOT_TELL, False
        if each.status is Status.OK:
            far = margin_distance(margin, each.by)
            outcome, is_open = _outcome(far, high[i], least[i], reach[i])
        methods = () if each.interval is None else each.interval.methods
        yield replace(
            each,
            margin=margin,
            outcome=outcome,
            margin_interval=interval_of(low[i], high[i], spec.confidence, methods),
            overturned=overturned or is_open,
        )


def _group_tests(
    batch: MeasuredMargins, confidence: float, z: float, strict_z: float
) -> Iterator[MarginTest]:
    if batch.gain is None:
        yield from batch.tests
        return
    size = len(batch.tests)
    low, high = batch.gain.at(np.full(size, z))
    _, most = batch.gain.at(np.full(size, strict_z))
    reach = np.broadcast_to(batch.reach, size)
    for i, test in enumerate(batch.tests):
        if test.change.interval is None or test.change.status is not Status.OK:
            yield test
            continue
        margin = margin_distance(test.margin, test.by)
        ends = (-high[i], -low[i]) if batch.lower else (low[i], high[i])
        if test.by == "ratio":
            ends = (math.exp(ends[0]), math.exp(ends[1]))
        interval = interval_of(*ends, confidence, test.change.interval.methods)
        yield _decide_margin(test, margin, (low[i], most[i]), reach[i], interval)


def _decide_margin(
    test: MarginTest, margin: float, gain: tuple[float, float], reach: float,
    interval: Interval | None,
) -> MarginTest:  # fmt: skip
    worst, best = gain
    outcome, overturned = _outcome(margin, -worst, -best, reach)
    better = bool(worst - reach > 0)
    return replace(test, outcome=outcome, adjusted=interval, better=better, overturned=overturned)


def _adjust_margin(
    margin: MeasuredMargins, level: float, rows: int, candidates: int, confidence: float
) -> MarginTest:
    (test,) = margin.tests
    change, p_value = test.change, test.p_value
    if p_value is None or change.interval is None:
        return test
    worst, best = margin.gain_at(critical(level))
    ends = (-best, -worst) if margin.lower else (worst, best)
    interval = interval_of(*ends, confidence, change.interval.methods)
    reach = float(np.broadcast_to(margin.reach, 1)[0])
    test = _decide_margin(test, test.margin, (worst, best), reach, interval)
    needed = None
    if test.outcome is Performance.CANNOT_TELL and not test.overturned:
        z_now = normal_quantile(1 - p_value)
        times = float(times_the_rows(z_now, candidates, confidence, POWER))
        needed = math.ceil(rows * times) if math.isfinite(times) else None
    p_adjusted = min(1.0, p_value * (1 - confidence) / (1 - level))
    return replace(test, p_adjusted=p_adjusted, needed=needed)


def rate_margins(spec: Spec) -> tuple[tuple[str, float], ...]:
    return tuple(margin for margin in spec.margins if _disparity(spec, margin[0]) is None)


def margin_of(spec: Spec, metric: str) -> float | None:
    """Return by how much further from "no difference" a disparity may be, and a group's own rate.

    None where no margin is asked for.
    """
    margins = {_disparity(spec, name): margin for name, margin in spec.margins}
    return margins.get(metric, margins.get(EVERY_DISPARITY))


def margin_distance(margin: float, by: str) -> float:
    """Return a margin as a distance: of ratios, of their logarithms.

    >>> margin_distance(0.05, "difference")
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
    # the metric that a margin is of by its own name; None where it is of a rate
    if name == EVERY_DISPARITY:
        return name
    try:
        spec.catalogue.rate(name)
    except LookupError:
        return spec.catalogue.metric(name).name
    return None
