"""Where the dots of a funnel stand, in per cent of its drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.render.charts._axis_geometry import Scale, Tick, scale, ticks

if TYPE_CHECKING:
    from fairgauge.render._document_tree import FunnelChart, FunnelDot

_SIZE = 1000
_RADIUS, _LARGEST_RADIUS = 2.2, 7.0
_MOST_SIZES = 6
_NEAR_END = 8.0


@dataclass(frozen=True, slots=True)
class PlacedDot:
    """A dot in place, with the end of its interval if it has one."""

    dot: FunnelDot
    x: float
    y: float
    end: float | None
    radius: float


@dataclass(frozen=True, slots=True)
class PlacedFunnel:
    """A funnel with everything in place; y grows downwards."""

    chart: FunnelChart
    ticks: list[Tick]
    sizes: list[Tick]
    dots: list[PlacedDot]
    edge: str
    none: float


def placed_funnel(chart: FunnelChart) -> PlacedFunnel:
    """Return a funnel with its dots in place: sizes on a logarithmic axis, differences upwards."""
    sizes = [dot.n for dot in chart.dots]
    across = Scale(min(sizes) / 1.1, max(sizes) * 1.1, log=True)
    ends = [dot.end for dot in chart.dots]
    upwards = scale([*(dot.difference for dot in chart.dots), *ends], [0.0])
    dots = [
        PlacedDot(
            dot,
            across.at(dot.n),
            round(100 - upwards.at(dot.difference), 2),
            None if dot.end is None else round(100 - upwards.at(dot.end), 2),
            min(_RADIUS * math.sqrt(dot.count), _LARGEST_RADIUS),
        )
        for dot in chart.dots
    ]
    edge = [
        (across.at(n), 100 - upwards.at(difference))
        for n, difference in chart.edge
        if upwards.holds(difference)
    ]
    path = "L".join(f"{_SIZE * x / 100:.0f} {_SIZE * y / 100:.0f}" for x, y in edge)
    return PlacedFunnel(
        chart,
        [Tick(100 - each.at, each.label, each.anchor) for each in ticks(upwards, points=True)],
        _sizes(across),
        dots,
        f"M{path}" if path else "",
        round(100 - upwards.at(0.0), 2),
    )


def _sizes(axis: Scale) -> list[Tick]:
    """Return a few round sizes."""
    decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        places = [k * 10.0**e for e in decades for k in steps if axis.holds(k * 10.0**e)]
        if len(places) <= _MOST_SIZES:
            break
    return [Tick(at, f"{n:,.0f}", _anchor(at)) for n in places for at in [axis.at(n)]]


def _anchor(at: float) -> str:
    """Return how a label stands to its tick, so that it stays inside the drawing."""
    return "start" if at < _NEAR_END else "end" if at > 100 - _NEAR_END else "middle"
