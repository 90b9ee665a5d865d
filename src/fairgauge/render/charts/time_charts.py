"""Where the numbers of a time chart stand, in per cent of its drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.render._document_tree import TimeChart, Unit
from fairgauge.render.charts._axis_geometry import Scale, Tick, scale, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SIZE = 1000
_MOST_TICKS = 5
_MOST_TIMES = 4
_MOST_LONG_TIMES = 3
_DATE = len("2026-11-20")


@dataclass(frozen=True, slots=True)
class PlacedTime:
    """A period of a time chart: its place across, its number and the ends of its interval."""

    x: float
    y: float | None
    low: float | None
    high: float | None
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class PlacedTimes:
    """A time chart with everything in place; y grows downwards."""

    chart: TimeChart
    ticks: list[Tick]
    times: list[Tick]
    points: list[PlacedTime]
    path: str
    running: str
    band: str
    allowed: tuple[float, float] | None
    threshold: float | None
    since: float | None
    alarm: float | None


def placed_times(chart: TimeChart) -> PlacedTimes:
    """Return a time chart with its numbers in place, on an axis that is fitted to them."""
    logs = chart.threshold is not None
    axis = _axis(chart)

    def up(value: float) -> float:
        return 100 - axis.at(math.log10(max(value, 1.0)) if logs else value)

    across = [_across(i, len(chart.times)) for i in range(len(chart.times))]
    points = [
        PlacedTime(
            x,
            None if mark.value is None or math.isinf(mark.value) else up(mark.value),
            None if mark.low is None else up(mark.low),
            None if mark.high is None else up(mark.high),
            mark.sparse,
        )
        for x, mark in zip(across, chart.marks, strict=True)
    ]
    running = [
        PlacedTime(
            x,
            None if mark.value is None else up(mark.value),
            None if mark.low is None else up(mark.low),
            None if mark.high is None else up(mark.high),
        )
        for x, mark in zip(across, chart.running, strict=False)
    ]
    allowed = None
    if chart.allowed is not None:
        low, high = chart.allowed
        allowed = (
            up(high) if math.isfinite(high) else 0.0,
            up(low) if math.isfinite(low) else 100.0,
        )
    return PlacedTimes(
        chart,
        [Tick(100 - each.at, each.label, each.anchor) for each in _ticks(axis, chart)],
        [Tick(across[i], chart.times[i], _anchor(i, len(across))) for i in _labelled(chart.times)],
        points,
        _path(points),
        _path(running),
        _band(running),
        allowed,
        None if chart.threshold is None else up(chart.threshold),
        None if chart.since is None else across[chart.since],
        None if chart.alarm is None else across[chart.alarm],
    )


def _across(i: int, count: int) -> float:
    return round(2 + 96 * (i / (count - 1) if count > 1 else 0.5), 2)


def _labelled(times: Sequence[str]) -> list[int]:
    """Return the positions of the periods that are named on the axis: ends and some between."""
    longest = max(map(len, times), default=0)
    most = min(len(times), _MOST_TIMES if longest <= _DATE else _MOST_LONG_TIMES)
    if most <= 1:
        return [*range(most)]
    return [round(k * (len(times) - 1) / (most - 1)) for k in range(most)]


def _anchor(i: int, count: int) -> str:
    """Return how a period's name stands at its place, so that the ends stay in the drawing."""
    if count == 1:
        return "middle"
    return {0: "start", count - 1: "end"}.get(i, "middle")


def _axis(chart: TimeChart) -> Scale:
    if chart.threshold is not None:
        most = max([chart.threshold, *(m.value for m in chart.marks if m.value is not None)])
        return Scale(0.0, math.log10(min(most, 1e300)) * 1.05)
    values = [v for mark in chart.marks for v in (mark.value, mark.low, mark.high)]
    include = [end for end in chart.allowed or () if math.isfinite(end)]
    log = chart.unit is Unit.RATIO
    if log:
        include = [end for end in include if end > 0]
    if not include and not any(v is not None and math.isfinite(v) for v in values):
        include = [0.0, 1.0]
    return scale(values, include, log=log)


def _ticks(axis: Scale, chart: TimeChart) -> list[Tick]:
    if chart.threshold is None:
        return ticks(axis, percent=chart.unit is Unit.PERCENT, points=chart.unit is Unit.POINTS)
    decades = range(math.floor(axis.high) + 1)
    step = math.ceil(len(decades) / _MOST_TICKS)
    return [Tick(axis.at(k), _power(k), "end") for k in decades if k % step == 0]


def _power(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent < 7 else f"1e{exponent}"


def _path(points: Sequence[PlacedTime]) -> str:
    """Return the line through the numbers, with gaps where there is none."""
    return "".join(_steps(points))


def _steps(points: Sequence[PlacedTime]) -> Iterator[str]:
    draw = "M"
    for each in points:
        if each.y is None:
            draw = "M"
            continue
        yield f"{draw}{_at(each.x, each.y)}"
        draw = "L"


def _band(points: Sequence[PlacedTime]) -> str:
    """Return the area between the ends of intervals, from the first that is known to the last."""
    above = [_at(each.x, each.high) for each in points if each.high is not None]
    below = [_at(each.x, each.low) for each in reversed(points) if each.low is not None]
    return f"M{'L'.join([*above, *below])}Z" if len(above) > 1 else ""


def _at(x: float, y: float) -> str:
    return f"{x * _SIZE / 100:.0f} {y * _SIZE / 100:.0f}"
