"""What became of every disparity between two reports, with intervals and adjusted p-values.

A change of a difference is a difference, a change of a ratio is a ratio (a difference of
logarithms). Its limits are MOVER's of the two intervals, which assumes that the two reports rest
on different rows: then the two estimates are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.enums import Direction, ScopeKind, Status
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.comparison import Change
from fairgauge.results.scopes import Interval
from fairgauge.stats.arrays import quiet
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.results.estimates import Estimate
    from fairgauge.stats.arrays import Array

_ROUNDING = 1e-9


def changes(
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: Reason | None = None,
) -> tuple[Change, ...]:
    """Return the change of every disparity, the most important first.

    Parameters
    ----------
    pairs : sequence of (old, new)
        The same disparity of two reports.
    refused : Reason, optional
        Why no change can have an interval, if none can.

    Returns
    -------
    tuple of Change
        Those that are significantly further from "no difference", those significantly closer, those
        that changed sides or otherwise significantly, then the others by size; within these, all
        rows before single strata.

    Notes
    -----
    Change and distance are two questions. A change is statistically significant if its adjusted
    p-value is at most 1 - confidence; a direction if that of the larger of two p-values is: of the
    change, and of the change of the distance from "no difference" (MOVER of the folded intervals,
    so that a change of sides counts as what it is). P-values invert the limits, taken to widen with
    the normal quantile. All changes are one family (Holm), in which two groups that are each
    other's reference are one comparison. Both estimates must have enough data.

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702.
    """
    if not pairs:
        return ()
    scales = [_scale(new.definition) for _, new in pairs]
    reasons = [
        refused or _why_no_interval(*pair, scale) for pair, scale in zip(pairs, scales, strict=True)
    ]
    compared = np.array([reason is None for reason in reasons])
    mirrored = _mirrored(pairs)
    numbers = _measured(pairs, compared, scales, mirrored)
    made = map(_change, pairs, reasons, scales, numbers)
    folded = (
        replace(each, mirror_of=each.new.mirror_of if i in mirrored else None)
        for i, each in enumerate(made)
    )
    return tuple(sorted(folded, key=_importance))


def _mirrored(pairs: Sequence[tuple[Estimate, Estimate]]) -> dict[int, int]:
    """Return the pairs that only mirror another in both reports, each with that other."""
    places = {_place(new, new.group): i for i, (_, new) in enumerate(pairs)}
    found = {}
    for i, (old, new) in enumerate(pairs):
        other = places.get(_place(new, new.mirror_of)) if new.mirror_of is not None else None
        if other is not None and (old.mirror_of or pairs[other][0].mirror_of):
            found[i] = other
    return found


def _place(each: Estimate, group: str | None) -> tuple[object, ...]:
    return (each.metric, each.feature, group, each.scope, each.class_scope, each.threshold)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers of one change; NaN where there are none."""

    log: bool
    change: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    away: float
    distance_p_adjusted: float
    crossing_p_adjusted: float
    crossed: bool
    bounded: bool


def _why_no_interval(old: Estimate, new: Estimate, scale: _Neutral) -> Reason | None:
    """Return why a change has no interval, None where it has one."""
    for word, each in (("old", old), ("new", new)):
        if each.value is None:
            inner = () if each.reason is None else (each.reason,)
            return Reason.of(ReasonCode.OLD_OR_NEW_UNDEFINED, report=word, reasons=inner)
        if each.bounds is not None:
            return Reason.of(ReasonCode.PROTECTED)
        if each.interval is None:
            return Reason.of(ReasonCode.OLD_OR_NEW_WITHOUT_INTERVAL, report=word)
    if not _same_reference(old, new, scale):
        return Reason.of(ReasonCode.DIFFERENT_REFERENCES)
    if old.confidence != new.confidence:
        return Reason.of(ReasonCode.DIFFERENT_LEVELS)
    return None


def _same_reference(old: Estimate, new: Estimate, scale: _Neutral) -> bool:
    """Return whether both are of the same comparison.

    A metric of all groups has no reference: it names the two groups that are furthest apart.
    """
    return scale.of_all_groups or old.reference == new.reference


@quiet
def _measured(
    pairs: Sequence[tuple[Estimate, Estimate]],
    compared: Array,
    scales: Sequence[_Neutral],
    mirrored: Mapping[int, int],
) -> list[_Numbers]:
    """Compute all changes at once; ``compared`` marks those that have an interval."""
    neutral = np.array([scale.neutral for scale in scales])
    log, bounded = (np.array([getattr(s, name) for s in scales]) for name in ("log", "bounded"))

    def scaled(side: int, read: Callable[[Estimate], float | None]) -> Array:
        raw = np.array([read(pair[side]) for pair in pairs], dtype=np.float64)
        return np.where(log, np.log(np.where(log, raw, 1.0)), raw - np.nan_to_num(neutral))

    old, new = (scaled(side, lambda e: e.value) for side in (0, 1))
    limits = [(scaled(side, lambda e: e.low), scaled(side, lambda e: e.high)) for side in (0, 1)]
    gap = np.where(old == new, 0.0, new - old)
    low, high = mover_difference(new, *limits[1], old, *limits[0])
    away = np.where(np.abs(old) == np.abs(new), 0.0, np.abs(new) - np.abs(old))
    away_low, away_high = mover_difference(
        np.abs(new), *fold(*limits[1]), np.abs(old), *fold(*limits[0])
    )
    known = compared & ~np.isnan(low) & ~np.isnan(high)
    levels = [new.confidence for _, new in pairs]
    p = np.where(known, _p_values(gap, low, high, levels), np.nan)
    of_distance = np.maximum(p, _p_values(away, away_low, away_high, levels))
    of_sides = np.array([max(_p_of(old), _p_of(new)) for old, new in pairs])
    of_sides = np.where(np.isnan(p), np.nan, np.where(old * new < 0, of_sides, 1.0))
    adjusted = [_adjusted(each, mirrored) for each in (p, of_distance, of_sides)]
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    columns = [log, *(np.where(log, np.exp(each), each) for each in (gap, low, high)), p,
               adjusted[0], np.where(np.isnan(neutral), np.nan, away), *adjusted[1:],
               old * new < 0, bounded]  # fmt: skip
    return [_Numbers(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


def _adjusted(p: Array, mirrored: Mapping[int, int]) -> Array:
    """Return adjusted p-values of a family in which what mirrors another is no comparison more."""
    single = p.copy()
    single[list(mirrored)] = np.nan
    adjusted = holm(single)
    adjusted[list(mirrored)] = adjusted[list(mirrored.values())]
    return np.asarray(adjusted)


def _p_of(each: Estimate) -> float:
    return 1.0 if each.p_value is None else each.p_value


class _Neutral(NamedTuple):
    """What "no difference" is of a metric, and how its values are compared.

    Attributes
    ----------
    neutral : the value that means "no difference"; NaN where none does.
    log : whether logarithms are compared.
    bounded : whether its range has two ends.
    of_all_groups : whether it is one number of all groups of a feature.
    """

    neutral: float
    log: bool
    bounded: bool
    of_all_groups: bool = False


def _scale(row: Metric) -> _Neutral:
    ratio = row.neutral == 1 and row.range[0] >= 0
    return _Neutral(
        row.neutral,
        log=ratio,
        bounded=all(map(math.isfinite, row.range)),
        of_all_groups=row.scope == "feature",
    )


def _p_values(gap: Array, low: Array, high: Array, confidence: Sequence[float | None]) -> Array:
    """Invert the limits: the level at which they would reach "no change"."""
    half = np.where(gap > 0, gap - low, high - gap)
    quantile = np.array([critical(each) if each else np.nan for each in confidence])
    z = np.where(gap == 0, 0.0, quantile * np.abs(gap) / half)
    return np.array([math.erfc(each / math.sqrt(2)) for each in z.tolist()])


def _change(
    pair: tuple[Estimate, Estimate], reason: Reason | None, scale: _Neutral, made: _Numbers
) -> Change:
    old, new = pair
    direction = _direction(made.away) if _same_reference(old, new, scale) else None
    sufficient = old.status is Status.OK and new.status is Status.OK
    level = 1 - (new.confidence or 1.0) if sufficient else -1.0
    known = not math.isnan(made.low)
    if reason is None and not known:
        reason = Reason.of(ReasonCode.BOTH_UNBOUNDED)
    return Change(
        old=old,
        new=new,
        by="ratio" if made.log else "difference",
        change=_known(made.change),
        interval=Interval(made.low, made.high, new.confidence or math.nan) if known else None,
        p_value=_known(made.p_value),
        p_adjusted=_known(made.p_adjusted),
        changed=made.p_adjusted <= level,
        direction=direction,
        distance_p_adjusted=_known(made.distance_p_adjusted) if direction else None,
        significant=bool(direction) and made.distance_p_adjusted <= level,
        crossed=made.crossed,
        other_side=direction is not None and made.crossing_p_adjusted <= level,
        size=_size(pair, made),
        reason=reason,
    )


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _direction(away: float) -> Direction | None:
    if math.isnan(away):
        return None
    if abs(away) <= _ROUNDING:
        return Direction.AS_FAR
    return Direction.FURTHER if away > 0 else Direction.CLOSER


def _size(pair: tuple[Estimate, Estimate], found: _Numbers) -> float:
    """Return how far a disparity went, in units that can be compared between metrics."""
    far = abs(math.log(found.change)) if found.log and found.change > 0 else abs(found.change)
    if not math.isfinite(far):
        return 0.0  # infinite values mean that a count is 0, not how a group fares
    if found.log or found.bounded:
        return far
    rates = [r for e in pair for r in (e.rate_group, e.rate_reference) if r is not None]
    known = [abs(number) for number in rates if math.isfinite(number)]
    usual = sum(known) / len(known) if known else 0.0
    return far / (usual or max(abs(e.value or 0.0) for e in pair) or 1.0)


def _importance(each: Change) -> tuple[bool, bool, bool, bool, bool, float]:
    inside = each.new.scope.kind is ScopeKind.STRATUM
    closer = each.significant and each.direction is Direction.CLOSER
    return (not each.significant, closer, not each.other_side, not each.changed, inside, -each.size)
