"""Altair charts of a report, for notebooks: disparities beside "no difference", rates of groups."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairgauge.enums import Status
from fairgauge.errors import DataError, MissingExtra, nearest, quote
from fairgauge.render import numbers
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.metric_meanings import (
    is_share,
    is_signed,
    naming,
    neutral,
    rate_title,
    title,
)
from fairgauge.render.outline import outline
from fairgauge.render.short_sentences import central_rates, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import Estimate, Group
    from fairgauge.report.report import Report

_COLOUR, _NEUTRAL = "#0b62ad", "#575c66"
_WIDTH, _COLUMNS = 280, 3
_NAME = 40


def plot(
    report: Report,
    kind: str = "disparities",
    *,
    feature: str | None = None,
    names: Sequence[str] = (),
) -> Any:
    """Draw a report with Altair; see `fairgauge.Report.plot`.

    Raises
    ------
    MissingExtra
        Altair is not installed.
    DataError
        There is no such kind or feature, or nothing of it has a value.
    LookupError
        One of the names is unknown.
    """
    altair = _altair()
    if kind not in _KINDS:
        allowed = ", ".join(_KINDS)
        raise DataError(f"no chart {quote(kind)}.{nearest(kind, _KINDS)} Say {allowed}")
    with naming(report.catalogue):
        sections = outline(report).sections
    known = dict.fromkeys(section.feature for section in sections)
    if feature is not None and feature not in known:
        raise DataError(f"the report has no feature {quote(feature)}.{nearest(feature, known)}")
    shown = [section for section in sections if feature in (None, section.feature)]
    find = report.catalogue.rate if kind == "rates" else report.catalogue.metric
    wanted = [find(name).name for name in names]
    with naming(report.catalogue):
        drawn = [chart for section in shown for chart in _KINDS[kind](altair, section, wanted)]
    if not drawn:
        raise DataError(f"no {kind} of this report have a value to draw")
    return altair.concat(*drawn, columns=_COLUMNS).resolve_scale(x="independent")


def _altair() -> Any:
    try:
        return import_module("altair")
    except ImportError:
        raise MissingExtra("a chart", "viz") from None


def _disparities(altair: Any, section: Section, names: Sequence[str]) -> Iterator[Any]:
    for metric in section.metrics:
        rows = [_of_estimate(each) for each in section.of(metric) if _drawable(each)]
        if rows and (not names or metric in names):
            ratio = neutral(metric) == 1
            positive = all(row[key] > 0 for row in rows for key in ("value", "low", "high"))
            scale = altair.Scale(type="log") if ratio and positive else altair.Undefined
            heading = f"{metric}  {title(metric)}".strip()
            yield _chart(altair, section, heading, rows, altair.Axis(), scale, neutral(metric))


def _rates(altair: Any, section: Section, names: Sequence[str]) -> Iterator[Any]:
    for rate in names or central_rates(section.groups):
        rows = [row for group in section.groups for row in _of_group(group, rate)]
        if rows:
            axis = altair.Axis(format="%") if is_share(rate) else altair.Axis()
            yield _chart(altair, section, rate_title(rate), rows, axis, altair.Undefined, None)


_KINDS = {"disparities": _disparities, "rates": _rates}


def _drawable(each: Estimate) -> bool:
    return each.value is not None and math.isfinite(each.value)


def _of_estimate(each: Estimate) -> dict[str, Any]:
    signed = is_signed(each.metric)
    shown = numbers.interval(each.low, each.high, signed=signed)
    row = _row(each.group, each.value, each.low, each.high, each.status)
    return row | {"shown": shown or "none", "says": words(each)}


def _of_group(group: Group, rate: str) -> Iterator[dict[str, Any]]:
    found = group.rates.get(rate)
    if found is not None and found.value is not None and math.isfinite(found.value):
        show = numbers.percents if is_share(rate) else numbers.interval
        row = _row(group.group, found.value, found.low, found.high, found.status)
        says = f"{numbers.count(group.n)} rows"
        yield row | {"shown": show(found.low, found.high) or "none", "says": says}


def _row(
    group: str, value: float | None, low: float | None, high: float | None, status: Status
) -> dict[str, Any]:
    """Return a row of a chart; where an interval is infinite or missing it ends at the value."""
    ends = [end if end is not None and math.isfinite(end) else value for end in (low, high)]
    name = shorten(printable(group), _NAME)
    few = status is Status.TOO_FEW
    return {"group": name, "value": value, "low": ends[0], "high": ends[1], "few": few}


def _chart(
    altair: Any,
    section: Section,
    heading: str,
    rows: list[dict[str, Any]],
    axis: Any,
    scale: Any,
    middle: float | None,
) -> Any:
    """Draw a dot with its interval for every group, hollow where it rests on too few rows."""
    x = altair.X("value:Q", title=None, axis=axis, scale=scale)
    base = altair.Chart(altair.Data(values=rows), width=_WIDTH)
    groups = altair.Y("group:N", sort=None, title=None)
    beside = [altair.Tooltip(f"{name}:N") for name in ("group", "shown", "says")]
    bars = base.mark_rule(color=_COLOUR, strokeWidth=2).encode(
        y=groups, x=altair.X("low:Q", title=None, axis=axis, scale=scale), x2="high:Q"
    )
    dots = base.mark_point(size=70, color=_COLOUR, opacity=1).encode(
        y=groups,
        x=x,
        tooltip=[*beside, altair.Tooltip("value:Q", format=".3f")],
        fill=altair.condition("datum.few", altair.value("white"), altair.value(_COLOUR)),
    )
    layers = [bars, dots]
    if middle is not None:
        line = altair.Chart(altair.Data(values=[{"at": middle}]))
        layers.insert(0, line.mark_rule(color=_NEUTRAL, strokeDash=[3, 3]).encode(x="at:Q"))
    below = shorten(printable(section.feature), _NAME)
    if section.threshold is not None:
        below += f", threshold {section.threshold:g}"
    if section.class_ is not None:
        below += f", class {shorten(printable(section.class_), _NAME)}"
    name = altair.TitleParams(heading, subtitle=below, anchor="start", fontSize=12)
    return altair.layer(*layers).properties(title=name)
