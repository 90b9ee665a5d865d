"""Charts that are tables by nature: confusion matrices, heat tables, and strata held fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairgauge.render import numbers
from fairgauge.render.axis_geometry import Mark, Tick, scale, ticks
from fairgauge.render.metric_meanings import (
    compared,
    distance,
    is_share,
    is_signed,
    neutral,
    rate_title,
)
from fairgauge.render.row_charts import Row, estimate_row, mark
from fairgauge.render.short_sentences import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import Estimate, Group, RateValue

MOST_STRATA = 24
MOST_IN_STRATA = 5
_LEVELS = 8
_HEAT = ("selection_rate", "true_positive_rate", "base_rate")
_SMALLEST, _LARGEST = 3.0, 9.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A shaded cell: its text, what stands below it, and its shade from 0 to 8."""

    text: str
    below: str
    level: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix: tp, fp, fn, tn of one group."""

    group: str
    n: str
    cells: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Heat:
    """A rate of an intersection: one feature down, the other across."""

    rate: str
    down: str
    across: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]


@dataclass(frozen=True, slots=True)
class StratumRow:
    """The groups of one stratum (or of all rows) on one axis, with their numbers."""

    name: str
    marks: Sequence[Mark]
    values: Sequence[tuple[str, str]]
    says: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Stratified:
    """What happens to a metric when strata are held fixed.

    Attributes
    ----------
    metric, rate : what is compared.
    groups : the groups drawn, each with its shape.
    rates, rate_ticks : the rates of the groups, over all rows and in each stratum.
    disparities, ticks, neutral : the metric over all rows, in each stratum, and pooled.
    more : how many strata are left out.
    """

    metric: str
    rate: str
    groups: Sequence[str]
    rates: Sequence[StratumRow]
    rate_ticks: Sequence[Tick]
    disparities: Sequence[Row]
    ticks: Sequence[Tick]
    neutral: float
    more: int


def matrices(section: Section, most: int) -> tuple[list[Matrix], int]:
    """Return the confusion matrices of the ``most`` largest groups, and how many are left out."""
    having = [group for group in section.groups if group.counts]
    kept = sorted(having, key=lambda each: -each.n)[:most]
    shown = [_matrix(group) for group in having if group in kept]
    return shown, len(having) - len(shown)


def _matrix(group: Group) -> Matrix:
    counts = dict(group.counts or {})
    total = sum(counts.values()) or 1
    cells = {
        name: Cell(numbers.count(n), numbers.percent(n / total), _level(n / total))
        for name, n in counts.items()
    }
    return Matrix(group.group, numbers.count(group.n), cells)


def heat(section: Section, sections: Sequence[Section]) -> list[Heat]:
    """Return heat tables of an intersection whose features stand in the report on their own."""
    parts = section.feature.split("*")
    alone = {(s.feature, s.threshold, s.class_scope): s for s in sections}
    sides = [alone.get((part, section.threshold, section.class_scope)) for part in parts]
    if len(sides) != 2 or sides[0] is None or sides[1] is None:
        return []
    down, across = ([group.group for group in side.groups] for side in sides if side)
    found = {group.group: group for group in section.groups}
    if not any(f"{a} & {b}" in found for a in down for b in across):
        return []
    rates = [r for r in _HEAT if any(r in group.rates for group in section.groups)][:2]
    return [_heat(rate, parts, down, across, found) for rate in rates]


def _heat(
    rate: str, parts: list[str], down: list[str], across: list[str], found: dict[str, Group]
) -> Heat:
    values = [g.rates[rate].value for g in found.values() if rate in g.rates]
    most = max((v for v in values if v is not None), default=1.0) or 1.0
    rows = []
    for a in down:
        cells = []
        for b in across:
            group = found.get(f"{a} & {b}")
            value = group.rates[rate].value if group and rate in group.rates else None
            below = f"n {numbers.count(group.n)}" if group else "no rows"
            level = 0 if value is None else _level(value / most)
            cells.append(Cell(numbers.percent(value), below, level))
        rows.append((a, cells))
    return Heat(rate_title(rate), parts[0], parts[1], across, rows)


def _level(share: float) -> int:
    return min(_LEVELS, math.floor(share * _LEVELS + 0.5))


def stratified(section: Section, column: str) -> list[Stratified]:
    """Return the conditional picture of every metric that is shown by stratum."""
    return [
        found for metric in section.stratified if (found := _stratified(section, metric, column))
    ]


def _stratified(section: Section, metric: str, column: str) -> Stratified | None:
    inside = [e for e in section.estimates_in_strata if e.metric == metric]
    rate = compared(metric)
    if not inside or rate is None:
        return None
    focus = section.focus or str(max(inside, key=distance).group)
    names = _extreme([e for e in inside if e.group == focus], section.strata)
    drawn = _drawn(section, focus)
    groups = {(g.stratum, g.group): g for g in (*section.groups, *section.groups_in_strata)}
    rows, axis_ticks = _rate_rows(metric, rate, [None, *names], drawn, groups, inside, section)
    disparities, own_ticks, middle = _disparity_rows(section, metric, focus, names, column)
    return Stratified(
        metric, rate_title(rate), drawn, rows, axis_ticks, disparities, own_ticks, middle,
        len(section.strata) - len(names),
    )  # fmt: skip


def _drawn(section: Section, focus: str) -> list[str]:
    """Return the groups to draw: the one spoken of first, then the largest others."""
    others = sorted(section.groups, key=lambda group: -group.n)
    names = [group.group for group in others if group.group != focus]
    return [focus, *names[: MOST_IN_STRATA - 1]]


def _extreme(estimates: Sequence[Estimate], strata: Sequence[str]) -> list[str]:
    """Return the strata to show, in order: all, or those farthest from "no difference"."""
    if len(strata) <= MOST_STRATA:
        return list(strata)
    ranked = sorted(estimates, key=distance, reverse=True)[:MOST_STRATA]
    far = {each.stratum for each in ranked}
    return [stratum for stratum in strata if stratum in far]


def _rate_rows(
    metric: str,
    rate: str,
    names: Sequence[str | None],
    drawn: Sequence[str],
    groups: dict[tuple[str | None, str], Group],
    inside: Sequence[Estimate],
    section: Section,
) -> tuple[list[StratumRow], list[Tick]]:
    found: dict[tuple[str | None, str], RateValue] = {
        key: group.rates[rate] for key, group in groups.items() if rate in group.rates
    }
    keys = [(name, group) for name in names for group in drawn]
    axis = scale([found[key].value for key in keys if key in found], [0.0])
    share = is_share(rate)
    said = {(e.stratum, e.group): words(e) for e in (*section.of(metric), *inside)}
    rows = []
    for name in names:
        own = [key for key in keys if key[0] == name and key in found]
        most = max([1.0, *(groups[key].n for key in own)])
        marks = [
            mark(
                found[key].value, None, None, axis, shape=drawn.index(key[1]),
                size=_radius(groups[key].n / most),
            )
            for key in own
        ]  # fmt: skip
        values = [_number(found.get((name, g)), groups.get((name, g)), share) for g in drawn]
        whole = name is None
        rows.append(
            StratumRow(name or "all rows", marks, values, said.get((name, drawn[0]), ""), whole)
        )
    return rows, ticks(axis, percent=share)


def _number(found: RateValue | None, group: Group | None, share: bool) -> tuple[str, str]:
    if found is None or group is None:
        return "-", ""
    value = numbers.percent(found.value) if share else numbers.number(found.value)
    return value, numbers.count(group.n)


def _disparity_rows(
    section: Section, metric: str, focus: str, names: Sequence[str], column: str
) -> tuple[list[Row], list[Tick], float]:
    over_all = [e for e in section.of(metric) if e.group == focus]
    inside = [e for e in section.estimates_in_strata if (e.metric, e.group) == (metric, focus)]
    pooled = [p for m, p in section.held if (m.metric, m.group) == (metric, focus)]
    shown = [*over_all, *(e for e in inside if e.stratum in names), *pooled]
    middle = neutral(metric)
    axis = scale(
        [v for e in shown for v in (e.value, e.low, e.high)], [middle], log=not is_signed(metric)
    )
    rows = []
    for each in shown:
        row = estimate_row(each, axis, str(each.stratum))
        if each in over_all:
            row = replace(row, name="all rows", whole=True)
        if each in pooled:
            code = f" ({each.metric})" if each.metric != metric else ""
            row = replace(row, name=f"{column} held fixed{code}", whole=True)
        rows.append(row)
    return rows, ticks(axis), axis.at(middle)


def _radius(share: float) -> float:
    return round(_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(share), 1)
