"""Scores in a report: ROC and calibration curves of the groups, and rates over thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.plan import GRID
from fairgauge.enums import Threshold
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import printable, shorten, width
from fairgauge.results.curves import Closed, Decile, RatesAt, edges, reliability, roc, sweep
from fairgauge.results.estimates import Group, ScoreCounts
from fairgauge.results.report import Report

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


MOST_DRAWN = 6
_MOST_FEATURES = 4
_FEWEST_LISTED, _MOST_LISTED, _MOST_COLUMNS = 6, 24, 60
_ROWS = 10
_SWEPT = ("selection_rate", "true_positive_rate", "false_positive_rate")
_SMALLEST, _LARGEST = 2.0, 6.0
_PROBABILITY = (0.0, 1.0)
_COARSE = 20


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve of one group, drawn in a square of its own or with others.

    Attributes
    ----------
    id, name, shape : of the group.
    path : the line.
    marks : places to mark on it: bins, or the thresholds of the report.
    label : where its name stands, where several are drawn together and their names have room.
    notes : what stands beside it.
    """

    id: str
    name: str
    shape: int
    path: str
    marks: Sequence[Place]
    label: Label | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CurveTable:
    """The numbers of curves: one row for each threshold or bin, one column for each group."""

    groups: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A rate of the groups over thresholds.

    Attributes
    ----------
    rate, heading, description : what it is.
    curves : one line for each group.
    marks : where the thresholds of the report stand, in per cent of the width.
    table : the rates at a few of the thresholds.
    """

    rate: str
    heading: str
    description: str
    curves: Sequence[Curve]
    marks: Sequence[float]
    table: CurveTable


@dataclass(frozen=True, slots=True)
class Scored:
    """All that is shown of the scores of one feature.

    Attributes
    ----------
    feature, at : its name, and its place on the page.
    roc, calibration : curves of the groups; empty without labels, or where scores are no
        probabilities.
    bins : the numbers of the calibration curves.
    sweeps : rates over thresholds.
    ticks : the lowest, middle and highest score, as labels.
    drawn, groups : how many groups are drawn, and how many there are.
    """

    feature: str
    at: str
    roc: Sequence[Curve]
    calibration: Sequence[Curve]
    bins: CurveTable | None
    sweeps: Sequence[Sweep]
    ticks: Sequence[str]
    drawn: int
    groups: int


def scored(report: Report) -> list[Scored]:
    """Return what is shown of the scores of the first features; nothing without scores."""
    by_feature: dict[str, list[ScoreCounts]] = {}
    for each in report.scores:
        if each.low:
            by_feature.setdefault(each.feature, []).append(each)
    shown = list(by_feature.items())[:_MOST_FEATURES]
    listed = min(max(_FEWEST_LISTED, _MOST_COLUMNS // max(1, len(shown))), _MOST_LISTED)
    return [_scored(report, f"scores-{i}", of, listed) for i, (_, of) in enumerate(shown)]


def score_range(report: Report) -> tuple[float, float]:
    """Return the smallest and the largest score that the specification allows."""
    low, high = report.spec["score_range"]
    return float(low), float(high)


def closed(report: Report) -> Closed:
    """Return whether a score equal to a threshold is above it: not at the median, as counted."""
    at_median = report.spec.get("threshold") == Threshold.MEDIAN
    strictly = report.profile.rules.threshold_is_exclusive or at_median
    return "right" if strictly else "left"


def _scored(report: Report, at: str, every: Sequence[ScoreCounts], most: int) -> Scored:
    feature = every[0].feature
    low, high = score_range(report)
    groups = [each for each in report.groups if each.feature == feature and each.stratum is None]
    found = {each.group: each for each in reversed(groups)}
    of = sorted(every, key=lambda each: -rows_of(each))
    kept = {each.group for each in of[:MOST_DRAWN]}
    drawn = [each for each in every if each.group in kept]
    listed = [each for each in every if each in of[:most]]
    swept = {each.group: sweep(each, low, high, closed(report)) for each in listed}
    thresholds = [t for t in thresholds_of(report) if low <= t <= high]
    labelled = any(sum(each.positive) or sum(each.negative) for each in every)
    return Scored(
        feature=feature,
        at=at,
        roc=list(_roc(at, drawn, found, swept, thresholds, (low, high))) if labelled else [],
        calibration=list(_calibration(at, drawn, found)) if (low, high) == _PROBABILITY else [],
        bins=_bins(listed) if (low, high) == _PROBABILITY and labelled else None,
        sweeps=[
            _sweep(at, report.catalogue.rate_row(rate), drawn, swept, thresholds, (low, high))
            for rate in (_SWEPT if labelled else _SWEPT[:1])
        ],
        ticks=[f"{t:.4g}" for t in (low, (low + high) / 2, high)],
        drawn=len(drawn),
        groups=len(every),
    )


def rows_of(counts: ScoreCounts) -> float:
    """Return how many rows of a group have a score."""
    return sum(counts.positive) + sum(counts.negative) + sum(counts.unlabelled)


def thresholds_of(report: Report) -> list[float]:
    """Return the thresholds that the report decides by."""
    return list(dict.fromkeys(g.threshold for g in report.groups if g.threshold is not None))


def _roc(
    at: str,
    drawn: Sequence[ScoreCounts],
    found: dict[str, Group],
    swept: Mapping[str, Sequence[RatesAt]],
    thresholds: Sequence[float],
    span: tuple[float, float],
) -> Iterator[Curve]:
    for i, each in enumerate(drawn):
        points = [(p.false_positive_rate, p.true_positive_rate) for p in roc(each)]
        if not points:
            notes = ["no curve: there are not both positive and negative labels"]
            yield Curve(f"{at}-r{i}", each.group, i, "", (), notes=notes)
            continue
        at_thresholds = [(t, _nearest(swept[each.group], t, span)) for t in thresholds]
        marks, notes = [], _auc(found.get(each.group))
        for threshold, rates in at_thresholds:
            x, y = rates.false_positive_rate, rates.true_positive_rate
            if x is not None and y is not None:
                marks.append(place(x, y))
                shown = f"TPR {numbers.percent(y)}", f"FPR {numbers.percent(x)}"
                notes.append(f"at {threshold:g}: {', '.join(map(_whole, shown))}")
        yield Curve(f"{at}-r{i}", each.group, i, path(points), marks, notes=[s for s in notes if s])


def _auc(group: Group | None) -> list[str]:
    rate = group.rates.get("roc_auc") if group else None
    if rate is None or rate.value is None:
        return []
    found = [f"AUC {rate.value:.3f}"]
    if rate.interval is not None:
        found.append(f"{100 * rate.interval.level:.4g}% CI {rate.low:.3f} to {rate.high:.3f}")
    return list(map(_whole, found))


def _whole(text: str) -> str:
    """Return a text that stays on one line."""
    return text.replace(" ", numbers.NO_BREAK)


def _nearest(rates: Sequence[RatesAt], threshold: float, span: tuple[float, float]) -> RatesAt:
    """Return the rates at the edge nearest to a threshold."""
    return rates[round((threshold - span[0]) / (span[1] - span[0]) * GRID)]


def _calibration(at: str, drawn: Sequence[ScoreCounts], found: dict[str, Group]) -> Iterator[Curve]:
    for i, each in enumerate(drawn):
        bins = [b for b in reliability(each) if b.n]
        if not bins:
            continue
        most = max(b.n for b in bins)
        points = [(b.mean_score or 0.0, b.share or 0.0) for b in bins]
        marks = [
            place(x, y, size=_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(b.n / most))
            for (x, y), b in zip(points, bins, strict=True)
        ]
        notes = [
            numbers.numbered(sum(b.n for b in bins)),
            _error(found.get(each.group)),
        ]
        yield Curve(f"{at}-c{i}", each.group, i, path(points), marks, notes=[s for s in notes if s])


def _error(group: Group | None) -> str:
    rate = group.rates.get("expected_calibration_error") if group else None
    if rate is None or rate.value is None:
        return ""
    return f"expected calibration error {rate.value * 100:.1f} pp"


def _bins(listed: Sequence[ScoreCounts]) -> CurveTable:
    columns = [reliability(each) for each in listed]
    rows = []
    for i, first in enumerate(columns[0]):
        bracket = "[" if i == 0 else "("
        cells = [_bin(column[i]) for column in columns]
        rows.append((f"{bracket}{first.low:g}, {first.high:g}]", cells))
    return CurveTable([each.group for each in listed], rows)


def _bin(bin_: Decile) -> tuple[str, str]:
    if bin_.mean_score is None:
        return "-", "no rows"
    return numbers.percent(bin_.share), f"{bin_.mean_score:.3f}, n {numbers.count(bin_.n)}"


def _sweep(
    at: str,
    rate: Statistic,
    drawn: Sequence[ScoreCounts],
    swept: Mapping[str, Sequence[RatesAt]],
    thresholds: Sequence[float],
    span: tuple[float, float],
) -> Sweep:
    low, high = span
    lines: list[tuple[str, list[tuple[float, float]]]] = []
    for each in drawn:
        values = [getattr(r, rate.name) for r in swept[each.group]]
        if None in values:
            continue
        lines.append((each.group, [(k / GRID, value) for k, value in enumerate(values)]))
    stand = labels([(name, points[::_COARSE]) for name, points in lines])
    curves = [
        Curve(f"{at}-{rate.name}-{i}", name, i, path(points), [spot], label)
        for i, ((name, points), (label, spot)) in enumerate(zip(lines, stand, strict=True))
    ]
    shown = range(0, GRID + 1, GRID // _ROWS)
    rows = [
        (
            f"{edges(low, high)[k]:.4g}",
            [(numbers.percent(getattr(rates[k], rate.name)), "") for rates in swept.values()],
        )
        for k in shown
    ]
    return Sweep(
        rate.name,
        rate.title,
        rate.says,
        curves,
        [place((t - low) / (high - low), 0).x for t in thresholds],
        CurveTable(list(swept), rows),
    )
