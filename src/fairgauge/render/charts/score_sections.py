"""Scores in a report: ROC and calibration curves of the groups, and rates over thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.cube.plan import GRID
from fairgauge.enums import Threshold
from fairgauge.render.charts._line_charts import Label, Place, labels, path, place
from fairgauge.render.words import numbers
from fairgauge.results.curves import edges, reliability, roc, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.results.curves import Closed, Decile, RatesAt
    from fairgauge.results.estimates import Group, ScoreCounts
    from fairgauge.results.report import Report

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
    found = {g.group: g for g in reversed(report.groups) if _of(g, feature)}
    of = sorted(every, key=lambda each: -_size(each))
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


def _of(group: Group, feature: str) -> bool:
    return group.feature == feature and group.stratum is None


def _size(counts: ScoreCounts) -> float:
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
            f"{numbers.count(sum(b.n for b in bins))} rows",
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
