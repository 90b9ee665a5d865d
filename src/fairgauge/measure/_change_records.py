"""Changes as records: what is measured of a change, with its intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairgauge.catalogue.cells import Array, divide, subtract
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.enums import Better, Direction, IntervalMethod, Profile, Status
from fairgauge.inference.two.paired_changes import (
    DisparityChanges,
    StatisticChange,
    disparity_changes,
    distance,
    distance_limits,
)
from fairgauge.question.specification import Spec
from fairgauge.reasons import FEWEST_ROWS, Reason, ReasonCode
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.disadvantage import better_of
from fairgauge.results.estimates import as_count, as_number
from fairgauge.results.scopes import Interval
from fairgauge.stats.arrays import Limits
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm, holm_levels

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredDisparities:
    """Changes of disparities, before they are adjusted for each other.

    Attributes
    ----------
    records : the changes.
    distance_at : the limits of the changes of their distances from "no difference", at a critical
        value of each; None where they have no numbers.
    crossing_p : the p-values of not changing sides, 1 where their values do not.
    reach : by how much further they may be, whatever the rows hold that are excluded; None where
        it has no worst case.
    worse_at : the limits of how much worse they are, which are held against a margin: of these
        distances, or of a minimum or maximum over groups.
    """

    records: tuple[DisparityChange, ...]
    distance_at: Callable[[Array], Limits] | None = None
    worse_at: Callable[[Array], Limits] | None = None
    crossing_p: Array | None = None
    reach: Array | None = None


def rate_records(
    change: StatisticChange,
    bases: Sequence[RateChange],
    level: float,
    undefined: Callable[[int, bool], Reason],
) -> Iterator[RateChange]:
    """Yield what becomes of a statistic of every side.

    Parameters
    ----------
    bases : sequence of RateChange
        Of every side, without numbers.
    undefined : callable
        Returns why the statistic of a side is undefined: under the model in use where the second
        argument is true, else under the candidate.
    """
    z = critical(level)
    low, high = change.difference.at(z)
    p_value = change.p_value
    for i, base in enumerate(bases):
        old, new, value = (
            as_number(of[i]) for of in (change.old, change.new, change.difference.value)
        )
        if old is None or new is None:
            why = undefined(i, old is None)
            yield replace(base, old=old, new=new, status=Status.UNDEFINED, reason=why)
            continue
        status, reason = enough_rows(float(change.rows[i]))
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


def contrast_change(
    metric: Contrast, sides: StatisticChange, *, inside: bool
) -> tuple[DisparityChanges, tuple[Array, Array]]:
    """Return what becomes of a contrast in every comparison, and it under both models.

    ``sides`` holds all groups and then the reference of each; with ``inside`` references hold their
    groups.
    """
    old, new = (contrasted(metric, *np.split(value, 2)) for value in (sides.old, sides.new))
    return disparity_changes(metric, sides, inside=inside), (old, new)


def disparity_records(
    metric: Metric,
    made: DisparityChanges,
    values: tuple[Array, Array],
    bases: Sequence[DisparityChange],
    spec: Spec,
) -> MeasuredDisparities:
    """Return what becomes of a metric with these values under both models."""
    records = tuple(changed_disparities(metric, made, values, bases, spec.confidence))
    better = {better_of(rate, spec.favourable) for rate in metric.statistics}
    worse = partial(_worse, metric, made, better)
    return MeasuredDisparities(records, made.distance_tested_at, worse, made.crossing_p())


def _worse(metric: Metric, made: DisparityChanges, better: Set[Better], z: Array) -> Limits:
    shift = made.shift.at(z)
    if not math.isnan(metric.neutral):
        return distance_limits(shift, made.level.at(z))
    if better == {Better.LOWER}:
        return shift
    unknown = np.full_like(shift[0], np.nan)
    return (-shift[1], -shift[0]) if better == {Better.HIGHER} else (unknown, unknown)


def changed_disparities(
    metric: Metric,
    made: DisparityChanges,
    values: tuple[Array, Array],
    bases: Sequence[DisparityChange],
    level: float,
) -> Iterator[DisparityChange]:
    """Yield what becomes of a disparity in every comparison; ``bases`` are without numbers."""
    z = critical(level)
    shift, above = made.shift.at(z), made.level.at(z)
    away = distance(made.shift.value, made.level.value)
    away_low, away_high = distance_limits(shift, above)
    p_of_shift, p = made.p_values()
    sides = [of.at(np.full(len(bases), z)) for of in made.models or ()]
    for i, base in enumerate(bases):
        scaled = math.exp if base.by == "ratio" else float
        old, new, change = (as_number(of[i]) for of in (*values, made.shift.value))
        if old is None or new is None or change is None:
            reason = Reason.of(ReasonCode.BOTH_UNBOUNDED)
            if old is None or new is None:
                when = "before" if old is None else "after"
                reason = Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, when=when)
            yield replace(base, old=old, new=new, status=Status.UNDEFINED, reason=reason)
            continue
        rows = [float(each[i]) for each in made.rows]
        status, reason_of_few = enough_rows(min(rows))
        far = as_number(away[i])
        yield replace(
            base,
            old=old,
            new=new,
            new_interval=base.new_interval
            or (ends_of(sides[1], i, scaled, level, made.methods[:1]) if sides else None),
            change=scaled(change),
            interval=ends_of(shift, i, scaled, level, made.methods),
            distance=far,
            distance_interval=interval_of(away_low[i], away_high[i], level, made.methods),
            direction=None if far is None else direction_of(far),
            crossed=(old - metric.neutral) * (new - metric.neutral) < 0,
            change_p_value=as_number(p_of_shift[i]),
            p_value=as_number(p[i]),
            n_group=as_count(rows[0]),
            n_reference=as_count(rows[1]),
            status=status,
            reason=reason_of_few,
        )


def ends_of(
    limits: Limits,
    i: int,
    scaled: Callable[[float], float],
    level: float,
    methods: tuple[IntervalMethod, ...],
) -> Interval | None:
    """Return one interval of several, on the scale of its metric."""
    low, high = (scaled(float(limit[i])) for limit in limits)
    return interval_of(low, high, level, methods)


def adjusted_together(
    batches: Sequence[MeasuredDisparities],
    counted: Sequence[bool],
    confidence: float,
    mirrored: Mapping[int, int] | None = None,
) -> list[DisparityChange]:
    """Adjust the p-values of all disparities that count (Holm), and mark which are significant.

    Parameters
    ----------
    batches : all disparities that are tested together.
    counted : whether each of their records counts.
    mirrored : records that are the mirror image of another one, which is tested for both.
    """
    records = [record for batch in batches for record in batch.records]
    twins, others = ([*each] for each in ((mirrored or {}).keys(), (mirrored or {}).values()))
    enough = np.array(
        [of and e.status is Status.OK for e, of in zip(records, counted, strict=True)], dtype=bool
    )

    def family(values: Sequence[float | None] | Array, test: Callable[[Array], Array]) -> Array:
        p = np.where(enough, np.array(values, dtype=float), np.nan)
        p[twins] = np.nan
        adjusted = test(p)
        adjusted[twins] = adjusted[others]
        return adjusted

    p = [each.p_value for each in records]
    adjusted = family(p, holm)
    levels = family(p, partial(holm_levels, level=1 - confidence))
    of_change = [each.change_p_value for each in records]
    changed = family(of_change, holm)
    sides = [
        np.ones(len(batch.records)) if batch.crossing_p is None else batch.crossing_p
        for batch in batches
    ]
    known = np.isfinite(np.array(of_change, dtype=float))
    crossed = family(np.where(known, np.concatenate([[], *sides]), np.nan), holm)
    made: list[DisparityChange] = []
    for batch in batches:
        here = slice(len(made), len(made) + len(batch.records))
        tested = np.isfinite(adjusted[here])
        strict = np.where(tested, 1 - levels[here], confidence).tolist()
        ends = batch.distance_at and batch.distance_at(np.array([critical(e) for e in strict]))
        for i, (each, of_distance, of_shift, of_sides) in enumerate(
            zip(batch.records, adjusted[here], changed[here], crossed[here], strict=True)
        ):
            usual = each.distance_interval
            made.append(
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
    return made


def contrasted(metric: Contrast, group: Array, reference: Array) -> Array:
    """Return a contrast of the numbers of both sides."""
    first, second = group, reference
    if metric.order == "reference - group":
        first, second = second, first
    made = subtract if metric.by == "difference" else divide
    return made(first, second, Profile.DOCUMENTED)


def enough_rows(rows: float) -> tuple[Status, Reason | None]:
    """Return whether rows are enough for numbers to be relied on, and why not."""
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


def direction_of(far: float) -> Direction:
    """Return where a disparity went, from the change of its distance from "no difference"."""
    if abs(far) <= _ROUNDING:
        return Direction.AS_FAR
    return Direction.FURTHER if far > 0 else Direction.CLOSER
