"""What became of every disparity between two reports, with intervals and adjusted p-values.

A change of a difference is a difference, a change of a ratio is a ratio (a difference of
logarithms). Its limits are MOVER's of the two intervals, which assumes that the two reports rest
on different rows: then the two estimates are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairgauge.enums import Direction, ScopeKind, Status
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.changes import Change
from fairgauge.results.scopes import Interval
from fairgauge.stats.arrays import quiet
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        Those that are significantly further from "no difference", those significantly closer, then
        the others by size; within these, all rows before single strata.

    Notes
    -----
    A direction is statistically significant if the interval of the change of the distance from "no
    difference" (MOVER of the folded intervals, so that a change of sides counts as what it is)
    does not hold 0, the adjusted p-value is at most 1 - confidence, and both estimates have enough
    data. The p-value inverts the limits, taken to widen with the normal quantile; all changes are
    one family (Holm).

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
    numbers = _measured(pairs, compared, scales)
    return tuple(sorted(map(_change, pairs, reasons, scales, numbers), key=_importance))


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
    away_low: float
    away_high: float
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
    pairs: Sequence[tuple[Estimate, Estimate]], compared: Array, scales: Sequence[_Neutral]
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
    p = np.where(known, _p_values(gap, low, high, [new.confidence for _, new in pairs]), np.nan)
    adjusted = holm(p)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    columns = [log, *(np.where(log, np.exp(each), each) for each in (gap, low, high)), p, adjusted,
               np.where(np.isnan(neutral), np.nan, away), away_low, away_high,
               old * new < 0, bounded]  # fmt: skip
    return [_Numbers(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


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
    beyond = made.away_low > 0 or made.away_high < 0
    sufficient = old.status is Status.OK and new.status is Status.OK
    unlikely = made.p_adjusted <= 1 - (new.confidence or 1.0)
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
        direction=direction,
        crossed=made.crossed,
        significant=direction is not None and beyond and sufficient and unlikely,
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


def _importance(each: Change) -> tuple[bool, bool, bool, float]:
    inside = each.new.scope.kind is ScopeKind.STRATUM
    closer = each.significant and each.direction is Direction.CLOSER
    return (not each.significant, closer, inside, -each.size)
