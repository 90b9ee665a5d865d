"""Geometry of the charts: where on an axis, in per cent of its width, a number stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_STEPS = (1, 2, 2.5, 5, 10)
_MARGIN = 4.0
_MOST_TICKS = 5
_CLOSEST_TICKS = 9.0
_NO_RANGE = 1e-300
"""A range that no step divides, because floating-point numbers have none that is smaller."""
_CLOSE = 1e-9
_MANY, _MILLION = 1e4, 1e6
_DECADES = (0.01, 0.1, 1, 10, 100)
_ONE_TWO_FIVE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis from ``low`` to ``high``; logarithmic for ratios."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value in per cent of the width, held inside the axis."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(min(max(value, self.low), self.high)) - low) / (high - low)
        return round(_MARGIN + (100 - 2 * _MARGIN) * share, 2)

    def holds(self, value: float) -> bool:
        """Return whether a value lies on the axis."""
        return self.low <= value <= self.high

    def is_near(self, value: float) -> bool:
        """Return whether a finite value lies on the axis, or no further from it than it is long."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return False
        low, at, high = map(self._scaled, (self.low, value, self.high))
        return 2 * low - high <= at <= 2 * high - low

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value


def scale(values: Iterable[float | None], include: Sequence[float], *, log: bool = False) -> Scale:
    """Return an axis that reaches as far as the finite values and those to include."""
    found = [v for v in (*values, *include) if v is not None and math.isfinite(v)]
    if log:
        found = [v for v in found if v > 0]
        low, high = min([0.8, *found]), max([1.25, *found])
        return Scale(max(low / 1.05, 0.01), min(high * 1.05, 100.0), log=True)
    low, high = min(found), max(found)
    if high - low < _NO_RANGE:
        low, high = low - 0.5, high + 0.5
    return Scale(low, high)


def ticks(axis: Scale, *, percent: bool = False, points: bool = False) -> list[Tick]:
    """Return a few round places on an axis."""
    if axis.log:
        places: list[float] = []
        for ladder in (_LADDER, _ONE_TWO_FIVE, _DECADES):
            places = [v for v in ladder if axis.holds(v)]
            gaps = [axis.at(after) - axis.at(before) for before, after in pairwise(places)]
            if min(gaps, default=_CLOSEST_TICKS) >= _CLOSEST_TICKS:
                break
    else:
        step = _step(axis.low, axis.high)
        first, last = math.ceil(axis.low / step - _CLOSE), math.floor(axis.high / step + _CLOSE)
        places = [i * step for i in range(first, last + 1)]
        if len(places) > _MOST_TICKS + 1:
            places = [i * step for i in range(first, last + 1) if i % 2 == 0]
    return [
        Tick(axis.at(v), _label(v, percent=percent, points=points), _anchor(axis.at(v)))
        for v in places
    ]


def _step(low: float, high: float) -> float:
    """Return a round step that divides a range into a few parts."""
    rough = (high - low) / (_MOST_TICKS + 1)
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * step for step in _STEPS if size * step >= rough * 0.999)


def _label(value: float, *, percent: bool, points: bool) -> str:
    if not value:
        return "0"
    if points:
        text = f"{100 * value:+.3g}"
    elif percent:
        text = f"{100 * value:.3g}%"
    elif abs(value) >= _MILLION:
        text = f"{value / 1e6:.3g}M"
    elif abs(value) >= _MANY:
        text = f"{value / 1e3:.3g}k"
    else:
        text = f"{value:,.4g}"
    return text.replace("-", "−")


def _anchor(at: float) -> str:
    """Return how a label stands to its tick, so that it stays inside the chart."""
    if at <= 10:
        return "start"
    return "end" if at >= 90 else "middle"
