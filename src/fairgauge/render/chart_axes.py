"""Where numbers and ticks stand on the axes of charts, in per cent of the drawing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import TypeAlias

from fairgauge.render import _document_tree as tree
from fairgauge.start.records import dataclass, replace

_STEPS = (1, 2, 2.5, 5, 10)
_MARGIN = 4.0
_MOST_TICKS = 5
_CLOSEST_TICKS = 9.0
_NO_RANGE = 1e-300
"""A range that no step divides, because floating-point numbers have none that is smaller."""
_CLOSE = 1e-9
_MANY, _MILLION = 1e4, 1e6
Limits: TypeAlias = tuple[float, float]
_DECADES = (0.01, 0.1, 1, 10, 100)
_ONE_TWO_FIVE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_LADDER = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis from ``low`` to ``high``; logarithmic for ratios."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value in per cent of the width, held inside the axis."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(self.held(value)) - low) / (high - low)
        return round(_MARGIN + (100 - 2 * _MARGIN) * share, 2)

    def held(self, value: float) -> float:
        """Return a value, or the end of the axis that it lies beyond."""
        return min(max(value, self.low), self.high)

    def edges(self) -> tuple[float, float]:
        """Return the numbers at 0 and 100 per cent of the width."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        room = _MARGIN / (100 - 2 * _MARGIN) * (high - low)
        ends = low - room, high + room
        return (math.exp(ends[0]), math.exp(ends[1])) if self.log else ends

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def is_near(self, value: float) -> bool:
        """Return whether a finite value lies on the axis, or no further from it than it is long."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return False
        low, at, high = map(self._scaled, (self.low, value, self.high))
        return 2 * low - high <= at <= 2 * high - low

    def _scaled(self, value: float) -> float:
        return math.log(value) if self.log else value


def ticks(axis: Scale, unit: tree.Unit) -> list[Tick]:
    """Return a few round places on an axis with their labels."""
    return [Tick(axis.at(v), tick_label(v, unit)) for v in tick_values(axis)]


def tick_values(axis: Scale) -> list[float]:
    """Return a few round numbers on an axis."""
    if axis.log:
        places: list[float] = []
        for ladder in (_LADDER, _ONE_TWO_FIVE, _DECADES):
            places = [v for v in ladder if axis.holds(v)]
            gaps = [axis.at(after) - axis.at(before) for before, after in pairwise(places)]
            if min(gaps, default=_CLOSEST_TICKS) >= _CLOSEST_TICKS:
                break
    else:
        rough = (axis.high - axis.low) / (_MOST_TICKS + 1)
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * each for each in _STEPS if size * each >= rough * 0.999)
        first, last = math.ceil(axis.low / step - _CLOSE), math.floor(axis.high / step + _CLOSE)
        places = [i * step for i in range(first, last + 1)]
        if len(places) > _MOST_TICKS + 1:
            places = [i * step for i in range(first, last + 1) if i % 2 == 0]
    return places


def tick_label(value: float, unit: tree.Unit) -> str:
    """Write a round number of an axis."""
    if not value:
        return "0"
    if unit is tree.Unit.POINTS:
        text = f"{100 * value:+.3g}"
    elif unit is tree.Unit.PERCENT:
        text = f"{100 * value:.3g}%"
    elif abs(value) >= _MILLION:
        text = f"{value / 1e6:.3g}M"
    elif abs(value) >= _MANY:
        text = f"{value / 1e3:.3g}k"
    else:
        text = f"{value:,.4g}"
    return text.replace("-", "−")


_SMALLEST_SPAN = {
    tree.Unit.POINTS: 0.05, tree.Unit.PERCENT: 0.05, tree.Unit.RATIO: 0.1,
    tree.Unit.HUNDREDTHS: 1.0, tree.Unit.NUMBER: 0.0,
}  # fmt: skip
_CLOSEST = (7.0, 22.0, 33.0)
"""How near labels of an axis may be, in per cent of its width, where so many rules share a page."""


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A dot and its interval; the dot is None where the value is infinite or missing."""

    at: float | None
    low: float | None
    high: float | None
    sparse: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis that is fitted to its numbers: ticks, "no difference" and the range allowed."""

    scale: Scale
    ticks: list[Tick]
    neutral: float | None
    allowed: tuple[float, float] | None


def chart_axis(chart: tree.Chart) -> Axis:
    """Return the axis of a chart."""
    marks = [row.mark for row in chart.rows] + [row.before for row in chart.rows if row.before]
    return _axis(marks, chart.unit, chart.neutral, None)


def grid_axes(grid: tree.RuleGrid) -> list[Axis]:
    """Return the axis of every rule of a grid, with fewer labels where many share a page."""
    least = _CLOSEST[min(len(grid.rules), len(_CLOSEST)) - 1]
    found = []
    for i, rule in enumerate(grid.rules):
        cells = [cells[i] for _, rows in grid.parts for _, cells in rows]
        marks = [cell.mark for cell in cells if cell is not None]
        axis = _axis(marks, rule.unit, rule.neutral, rule.allowed)
        found.append(replace(axis, ticks=_spread_labels(axis.ticks, least)))
    return found


def _spread_labels(places: list[Tick], least: float) -> list[Tick]:
    # ``least`` is how near labels of three characters may be
    def ends(tick: Tick) -> tuple[float, float]:
        half = len(tick.label) * least / 10
        return tick.at - half, tick.at + half

    def touch(before: Tick, after: Tick) -> bool:
        return ends(after)[0] - ends(before)[1] < least / 3

    while any(touch(before, after) for before, after in pairwise(places)):
        neutral = next((i for i, tick in enumerate(places) if tick.label in ("0", "1")), 0)
        places = places[neutral % 2 :: 2]
    return places


def _allowed_band(axis: Scale, limits: tuple[float, float]) -> tuple[float, float]:
    # where the range that a rule allows begins and ends; open ends at the edges
    first, last = (axis.at(end) if math.isfinite(end) else None for end in limits)
    return 0.0 if first is None else first, 100.0 if last is None else last


def _axis(
    marks: list[tree.Mark], unit: tree.Unit, neutral: float | None, allowed: Limits | None
) -> Axis:
    # The interval of a group of four would otherwise leave no room to see the others by. An
    # interval that is longer runs to the edge.
    solid = [mark for mark in marks if not mark.sparse] or marks
    include = [end for end in allowed or () if math.isfinite(end)]
    if neutral is not None:
        room = 0.0 if unit is tree.Unit.RATIO else _SMALLEST_SPAN[unit] / 2
        include += [neutral - room, neutral + room]
    axis = _fitted(solid, include, unit)
    near = [mark for mark in marks if mark.value is not None and axis.is_near(mark.value)]
    axis = _fitted([*solid, *(tree.Mark(mark.value) for mark in near)], include, unit)
    at = axis.at(neutral) if neutral is not None else None
    return Axis(axis, ticks(axis, unit), at, _allowed_band(axis, allowed) if allowed else None)


def _fitted(marks: Iterable[tree.Mark], include: Sequence[float], unit: tree.Unit) -> Scale:
    # an axis that reaches as far as marks with their intervals, and what is to be included
    values = [v for mark in marks for v in (mark.value, mark.low, mark.high)]
    found = [v for v in (*values, *include) if v is not None and math.isfinite(v)]
    if unit is tree.Unit.RATIO:
        found = [v for v in found if v > 0]
        low, high = min([0.8, *found]), max([1.25, *found])
        return Scale(max(low / 1.05, 0.01), min(high * 1.05, 100.0), log=True)
    low, high = min(found, default=0.0), max(found, default=1.0)
    if high - low < _NO_RANGE:
        low, high = low - 0.5, high + 0.5
    return Scale(low, high)


def placed_on(mark: tree.Mark, axis: Scale) -> PlacedMark:
    """Return a mark in place."""
    at = mark.value
    shown = at is not None and math.isfinite(at) and not (mark.sparse and not axis.holds(at))
    low = high = None
    if mark.low is not None and mark.high is not None:
        ends = (mark.low, 0.0), (mark.high, 100.0)
        low, high = (axis.at(v) if axis.holds(v) or not mark.sparse else edge for v, edge in ends)
    return PlacedMark(axis.at(at) if shown and at is not None else None, low, high, mark.sparse)


_MOST_TIMES = 4
_MOST_LONG_TIMES = 3
_DATE = len("2026-11-20")


@dataclass(frozen=True, slots=True)
class PlacedTimes:
    """A time chart with everything in place: across the periods, and upwards their numbers.

    ``points``: the place of each period or number across, with its mark; places grow downwards.
    """

    ticks: list[Tick]
    times: list[Tick]
    points: list[tuple[PlacedMark, PlacedMark]]
    path: str
    allowed: tuple[float, float] | None
    beside: tuple[float, float]  # where the allowed range begins and ends across
    since: float | None
    alarm: float | None


def placed_times(chart: tree.TimeChart) -> PlacedTimes:
    """Return a time chart with its numbers in place, on an axis that is fitted to them."""
    axis, across_axis = time_axes(chart)

    def up(value: float | None) -> float | None:
        if value is None:
            return None
        return 100 - axis.at(value)

    def placed(mark: tree.Mark) -> PlacedMark:
        at = None if mark.value is not None and math.isinf(mark.value) else up(mark.value)
        return PlacedMark(at, up(mark.low), up(mark.high), mark.sparse)

    last = len(chart.times) - 1
    low, high = _allowed_band(axis, chart.allowed) if chart.allowed else (0.0, 0.0)
    upwards = [Tick(100 - each.at, each.label, each.anchor) for each in ticks(axis, chart.unit)]
    allowed = (100 - high, 100 - low) if chart.allowed else None
    marks = list(map(placed, chart.marks))
    if across_axis is not None:
        found = across_axis
        points = [*zip((placed_on(each, found.scale) for each in chart.across), marks, strict=True)]
        beside = found.allowed or (0.0, 100.0)
        return PlacedTimes(upwards, found.ticks, points, "", allowed, beside, None, None)
    across = [round(2 + 96 * (i / last if last else 0.5), 2) for i in range(last + 1)]
    points = [(PlacedMark(x, None, None, False), y) for x, y in zip(across, marks, strict=True)]
    anchors = {0: "start", last: "end"} if last else {}  # so that the ends stay in the drawing
    named = [(across[i], chart.times[i], anchors.get(i, "middle"))
             for i in _choose_labels(chart.times)]  # fmt: skip
    since, alarm = (None if i is None else across[i] for i in (chart.since, chart.alarm))
    names = [Tick(*each) for each in named]
    # of a drawing of 1,000 by 1,000; a period without a number interrupts it
    places = ("" if y.at is None else f"{10 * (x.at or 0):.0f} {10 * y.at:.0f}" for x, y in points)
    path = "".join(f"M{'L'.join(run)}" for known, run in groupby(places, bool) if known)
    return PlacedTimes(upwards, names, points, path, allowed, (0.0, 100.0), since, alarm)


def _choose_labels(times: Sequence[str]) -> list[int]:
    # the positions of the periods that are named on the axis: ends and some between
    longest = max(map(len, times), default=0)
    most = min(len(times), _MOST_TIMES if longest <= _DATE else _MOST_LONG_TIMES)
    if most <= 1:
        return [*range(most)]
    return [round(k * (len(times) - 1) / (most - 1)) for k in range(most)]


_ROOM = 0.06
"""How much of the drawing is beyond a limit, so that its line is not the edge."""


def time_axes(chart: tree.TimeChart) -> tuple[Scale, Axis | None]:
    """Return the axis upwards, and that across where numbers stand there in place of periods."""
    values = [v for mark in chart.marks for v in (mark.value, mark.low, mark.high)]
    include = [end for end in chart.allowed or () if math.isfinite(end)]
    known = [v for v in (*values, *include) if v is not None and math.isfinite(v)]
    if chart.unit is not tree.Unit.RATIO and known:  # that of a ratio has room by itself
        room = _ROOM * (max(known) - min(known))
        include = [end + side * room for end in include for side in (-1, 1)]
    across = None
    if chart.across:
        across = _axis([*chart.across], chart.across_unit, None, chart.across_allowed)
    return _fitted(chart.marks, include, chart.unit), across
