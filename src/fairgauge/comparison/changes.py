"""Change: what became of one disparity between two reports; and `changes`, which makes them.

A change of a difference is a difference, a change of a ratio is a ratio (a difference of
logarithms). Its limits are MOVER's of the two intervals, which assumes that the two reports rest
on different rows: then the two estimates are independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Direction, Status
from fairgauge.stats.arrays import quiet
from fairgauge.stats.contrasts import fold, mover_difference
from fairgauge.stats.intervals import critical
from fairgauge.stats.multiplicity import adjust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.report.estimates import Estimate
    from fairgauge.stats.arrays import Array

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An estimate as one of the two reports has it; the fields are those of `Estimate`."""

    value: float | None
    low: float | None
    high: float | None
    reference: str | None
    n_group: float | None
    n_reference: float | None
    rate_group: float | None
    rate_reference: float | None
    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One disparity, before and after.

    Attributes
    ----------
    metric, feature, group, stratum, class_, threshold : which disparity, as in `Estimate`.
    old, new : what the two reports say of it.
    by : whether the change is a difference (new - old) or a ratio (new / old).
    change : the change; None where one of the values is undefined.
    low, high : its interval, None where there is none.
    p_value, p_adjusted : of "no change", alone and adjusted for all changes that are compared.
    direction : closer to "no difference" or further from it; None where nobody can say.
    crossed : whether the disparity now lies on the other side of "no difference".
    sure : whether the direction is beyond doubt.
    size : how far it went, for ordering: a share, a logarithm of a ratio, or relative to the rates.
    reason : why there is no change or no interval.
    """

    metric: str
    feature: str | None
    group: str
    stratum: str | None
    class_: str | None
    threshold: float | None
    old: Seen
    new: Seen
    by: Literal["difference", "ratio"]
    change: float | None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    direction: Direction | None = None
    crossed: bool = False
    sure: bool = False
    size: float = 0.0
    reason: str | None = None

    @property
    def moved(self) -> bool:
        """Return whether the two reports say something else at all."""
        if self.old.value is None or self.new.value is None:
            return self.old.value is not self.new.value
        return not math.isclose(
            self.old.value, self.new.value, rel_tol=_ROUNDING, abs_tol=_ROUNDING
        )

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return (low, high), or None without an interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def changes(
    pairs: Sequence[tuple[Estimate, Estimate]],
    refused: str | None = None,
    catalogue: Catalogue = BUILT_IN,
) -> tuple[Change, ...]:
    """Say what became of every disparity, the most important first.

    Parameters
    ----------
    pairs : sequence of (old, new)
        The same disparity of two reports.
    refused : str, optional
        Why no change can have an interval, if none can: the reports rest on the same rows.
    catalogue : Catalogue
        What the names of the metrics stand for.

    Returns
    -------
    tuple of Change
        What went further beyond doubt, what came closer beyond doubt, then the rest by size;
        within these, all rows before single strata.

    Notes
    -----
    A direction is beyond doubt if the interval of the change of the distance from "no difference"
    (MOVER of the folded intervals, so that a change of sides counts as what it is) does not hold 0,
    the adjusted p-value is at most 1 - confidence, and both estimates rest on enough rows. The
    p-value inverts the limits, taken to widen with the normal quantile; all changes are one family
    (Holm up to 20, Benjamini-Hochberg above).

    References
    ----------
    Zou & Donner (2008), Statistics in Medicine 27, 1693-1702.
    """
    if not pairs:
        return ()
    reasons = [refused or _why_alone(*pair) for pair in pairs]
    compared = np.array([reason is None for reason in reasons])
    numbers = _measured(pairs, compared, [_scale(new.metric, catalogue) for _, new in pairs])
    return tuple(sorted(map(_change, pairs, reasons, numbers), key=_importance))


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


def _why_alone(old: Estimate, new: Estimate) -> str | None:
    """Return why a change has no interval, None where it has one."""
    for word, each in (("old", old), ("new", new)):
        if each.value is None:
            return f"the {word} report has no value: {each.reason or each.status}"
        if each.low is None or each.high is None:
            return f"the {word} report has no interval for it"
    if old.reference != new.reference:
        return "the two reports compare with different references"
    if old.confidence != new.confidence:
        return "the two intervals have different confidence"
    return None


@quiet
def _measured(
    pairs: Sequence[tuple[Estimate, Estimate]], compared: Array, scales: Sequence[_Scale]
) -> list[_Numbers]:
    """Compute all changes at once; ``compared`` tells which have an interval."""
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
    adjusted, _ = adjust(p)
    low, high = np.where(known, low, np.nan), np.where(known, high, np.nan)
    columns = [log, *(np.where(log, np.exp(each), each) for each in (gap, low, high)), p, adjusted,
               np.where(np.isnan(neutral), np.nan, away), away_low, away_high,
               old * new < 0, bounded]  # fmt: skip
    return [_Numbers(*row) for row in zip(*(each.tolist() for each in columns), strict=True)]


class _Scale(NamedTuple):
    """What "no difference" is (NaN: nothing is), whether to compare logarithms, if it has ends."""

    neutral: float
    log: bool
    bounded: bool


def _scale(name: str, catalogue: Catalogue) -> _Scale:
    try:
        row = catalogue.metric(name)
    except LookupError:
        return _Scale(math.nan, log=False, bounded=False)
    ratio = row.neutral == 1 and row.range[0] >= 0
    return _Scale(row.neutral, log=ratio, bounded=all(map(math.isfinite, row.range)))


def _p_values(gap: Array, low: Array, high: Array, confidence: Sequence[float | None]) -> Array:
    """Invert the limits: the level at which they would reach "no change"."""
    half = np.where(gap > 0, gap - low, high - gap)
    quantile = np.array([critical(each) if each else np.nan for each in confidence])
    z = np.where(gap == 0, 0.0, quantile * np.abs(gap) / half)
    return np.array([math.erfc(each / math.sqrt(2)) for each in z.tolist()])


def _change(pair: tuple[Estimate, Estimate], reason: str | None, found: _Numbers) -> Change:
    old, new = pair
    direction = _direction(found.away) if old.reference == new.reference else None
    beyond = found.away_low > 0 or found.away_high < 0
    trusted = old.status is Status.OK and new.status is Status.OK
    unlikely = found.p_adjusted <= 1 - (new.confidence or 1.0)
    if reason is None and math.isnan(found.low):
        reason = "both intervals are infinite"
    return Change(
        metric=new.metric,
        feature=new.feature,
        group=new.group,
        stratum=new.stratum,
        class_=new.class_,
        threshold=new.threshold if new.threshold is not None else old.threshold,
        old=_seen(old),
        new=_seen(new),
        by="ratio" if found.log else "difference",
        change=_known(found.change),
        low=_known(found.low),
        high=_known(found.high),
        p_value=_known(found.p_value),
        p_adjusted=_known(found.p_adjusted),
        direction=direction,
        crossed=found.crossed,
        sure=direction is not None and beyond and trusted and unlikely,
        size=_size(pair, found),
        reason=reason,
    )


def _seen(each: Estimate) -> Seen:
    return Seen(
        value=each.value,
        low=each.low,
        high=each.high,
        reference=each.reference,
        n_group=each.n_group,
        n_reference=each.n_reference,
        rate_group=each.rate_group,
        rate_reference=each.rate_reference,
        status=each.status,
        reason=each.reason,
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
        return 0.0  # infinite values say that a count is 0, not how a group fares
    if found.log or found.bounded:
        return far
    rates = [r for e in pair for r in (e.rate_group, e.rate_reference) if r is not None]
    known = [abs(number) for number in rates if math.isfinite(number)]
    usual = sum(known) / len(known) if known else 0.0
    return far / (usual or max(abs(e.value or 0.0) for e in pair) or 1.0)


def _importance(each: Change) -> tuple[bool, bool, bool, float]:
    inside = each.stratum not in (None, "pooled")
    return (not each.sure, each.sure and each.direction is Direction.CLOSER, inside, -each.size)
