"""Geometry of line charts: a square of shares, in per cent of a drawing with room for its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.render.words.display_names import printable, shorten, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 28
_PLACES = 60
_LETTER, _LINE = 2.6, 6.5
"""Of the letters on paper, where three drawings stand in a row; on a screen they take less."""
_ABOVE, _BELOW = -2.6, 5.6
_EDGE, _CLOSE = 0.03, 1.5

SIZE = 400
"""Width and height of the square in which paths are drawn."""

LEFT, TOP, WIDTH, HEIGHT = 15.0, 4.0, 81.0, 84.0
"""The square inside the drawing, in per cent of the drawing."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a drawing, in per cent of its width and height."""

    x: float
    y: float
    shape: int = 0
    size: float = 4.0


def place(x: float, y: float, *, shape: int = 0, size: float = 4.0) -> Place:
    """Return where a pair of shares stands in a drawing; up is more."""
    return Place(
        round(LEFT + WIDTH * x, 2), round(TOP + HEIGHT * (1 - y), 2), shape, round(size, 1)
    )


@dataclass(frozen=True, slots=True)
class Label:
    """A name in a drawing: the middle of its foot, in per cent."""

    x: float
    y: float
    text: str


def labels(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]],
) -> list[tuple[Label | None, Place]]:
    """Return where the names of curves stand, each with the place on its curve that it is of.

    Names come one after another to the place that is farthest from the other curves and from the
    names before; of long curves some sixty places are tried. Where one finds no room, none stands
    in the drawing.
    """
    curves = [(name, points[:: len(points) // _PLACES + 1]) for name, points in curves]
    taken: list[Label] = []
    found: list[tuple[Label | None, Place]] = []
    for i, (name, points) in enumerate(curves):
        others = [place(*p) for j, (_, each) in enumerate(curves) if j != i for p in each]
        text = shorten(printable(name), _LONGEST)
        options = [
            (Label(_inside(spot.x, text), round(spot.y + off, 2), text), spot)
            for p in points
            if _EDGE <= p[0] <= 1 - _EDGE
            for spot in [place(*p, shape=i)]
            for off in (_ABOVE, _BELOW)
        ]
        label, spot = max(options, key=lambda each: _room(each[0], each[1], taken, others))
        taken.append(label)
        found.append((label, spot))
    crowded = any(_crossed(label, taken[:i]) or _outside(label) for i, label in enumerate(taken))
    return [(None, spot) for _, spot in found] if crowded else found


def _inside(x: float, text: str) -> float:
    half = width(text) * _LETTER / 2
    return round(min(max(x, LEFT + half), LEFT + WIDTH - half), 2)


def _room(label: Label, spot: Place, taken: Sequence[Label], others: Sequence[Place]) -> float:
    """Return how much room a name has: first from other names and the edges, then from curves."""
    half = width(label.text) * _LETTER / 2
    crossed, outside = _crossed(label, taken), _outside(label)
    middle = label.y - _LINE / 3
    covered = sum(abs(p.x - label.x) < half and abs(p.y - middle) < _LINE / 2 for p in others)
    apart = min((abs(p.y - spot.y) for p in others if abs(p.x - spot.x) < 1), default=HEIGHT)
    return -1000.0 * (crossed + outside) - 60.0 * (apart < _CLOSE) - 4.0 * covered + min(apart, 20)


def _crossed(label: Label, taken: Sequence[Label]) -> int:
    """Return how many names a name would be printed over."""
    half = width(label.text) * _LETTER / 2
    return sum(
        abs(label.x - each.x) < half + width(each.text) * _LETTER / 2 + 1
        and abs(label.y - each.y) < _LINE
        for each in taken
    )


def _outside(label: Label) -> bool:
    return label.y < TOP + _LINE / 2 or label.y > TOP + HEIGHT - 1


def path(points: Iterable[tuple[float, float]]) -> str:
    """Return a line through pairs of shares as a path, without the points that cannot be seen.

    >>> path([(0, 0), (0, 0.5), (0.0001, 0.5), (0, 1), (1, 1)])
    'M0 400v-400h400'
    """
    corners = _corners([(round(x * SIZE), round((1 - y) * SIZE)) for x, y in points])
    if not corners:
        return ""
    (x, y), *others = corners
    found = [f"M{x} {y}"]
    for nx, ny in others:
        found.append(_step(nx - x, ny - y))
        x, y = nx, ny
    return "".join(found)


def _corners(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out points that lie on a line with their neighbours."""
    kept: list[tuple[int, int]] = []
    for x, y in points:
        while len(kept) > 1 and _straight(kept[-2], kept[-1], (x, y)):
            kept.pop()
        if not kept or kept[-1] != (x, y):
            kept.append((x, y))
    return kept


def _straight(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    first, second = (b[0] - a[0], b[1] - a[1]), (c[0] - b[0], c[1] - b[1])
    onward = first[0] * second[0] + first[1] * second[1] >= 0
    return onward and first[0] * second[1] == first[1] * second[0]


def _step(dx: int, dy: int) -> str:
    if not dx:
        return f"v{dy}"
    if not dy:
        return f"h{dx}"
    return f"l{dx}{dy}" if dy < 0 else f"l{dx} {dy}"
