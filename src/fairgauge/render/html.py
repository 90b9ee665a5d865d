"""The HTML report: one file that asks nothing of any other, under a strict content policy."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairgauge.enums import Task
from fairgauge.render import numbers, pairwise_section, question
from fairgauge.render.command_line import command
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.glossary import anchor, metric_entries, rate_entries
from fairgauge.render.method_descriptions import OF_GROUPS, OF_PAIRS, explained, methods
from fairgauge.render.metric_meanings import all_rates, distance, is_signed, rate_title, title
from fairgauge.render.outline import outline, verdicts_by_rule
from fairgauge.render.row_charts import MOST_ROWS, disparity_panels, rate_panels, size_panel
from fairgauge.render.score_sections import scored
from fairgauge.render.short_sentences import (
    IN_SHORT,
    central_rates,
    certainty,
    in_short,
    rate_shown,
    reading,
    sentence,
    tallied,
    turning,
    words,
)
from fairgauge.render.table_charts import heat, matrices, stratified
from fairgauge.render.threshold_slider import slider
from fairgauge.report.results import OVERALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.render.outline import Outline, Section
    from fairgauge.render.pairwise_section import PairPanel
    from fairgauge.report.estimates import Estimate
    from fairgauge.report.report import Report
    from fairgauge.report.results import Diagnostic

_NAME = 60
_LONGEST = 400
_MOST_SECTIONS = 24
_MOST_MATRICES = 36
_MOST_PANELS = 24
_MOST_VERDICTS = 200
_MOST_NOTES = 100
_LONGEST_SPEC = 20_000


def to_html(report: Report) -> str:
    """Write the report as one self-contained HTML page."""
    return environment().get_template("page.html.j2").render(**_context(report)) + "\n"


@cache
def environment() -> Environment:
    """Return the templates; every value is escaped."""
    environment = Environment(
        loader=PackageLoader("fairgauge.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "called": called,
        "count": numbers.count,
        "name": _name,
        "printable": printable,
        "g": _short,
        "heading": _heading,
    }
    environment.globals |= {"anchor": anchor, "rate_title": rate_title, "title": title}
    return environment


def called(name: object) -> Markup:
    """Return a name of the user as HTML: harmless, not too long, and of its own direction."""
    return Markup("<bdi>{}</bdi>").format(_name(name))


def _name(name: object) -> str:
    return shorten(printable(name), _NAME)


def _heading(text: str) -> str:
    """Return a text with a capital in front, the others as they are."""
    return text[:1].upper() + text[1:]


def _short(number: float) -> str:
    """Return a place on a chart in as few digits as it needs."""
    return f"{number:.4g}"


@dataclass(frozen=True, slots=True)
class _Room:
    """How much a page may show, so that it stays small.

    Attributes
    ----------
    listed : rows in the table of all estimates.
    chart_rows : rows of charts, over all sections.
    panels : charts that every section has even so.
    pairs : rows of charts of pairs of groups, over all sections; the few that differ most are named
        where that leaves no section a chart worth drawing.
    """

    listed: int
    chart_rows: int
    panels: int
    pairs: int


_ALONE, _BESIDE_SCORES = _Room(500, 450, 4, 240), _Room(300, 280, 3, 80)
_FEWEST_PAIRS, _MOST_PAIRS = 3, 30


@dataclass(frozen=True, slots=True)
class _Listed:
    """A row of the table of all estimates."""

    metric: str
    feature: str
    group: str
    against: str
    stratum: str
    value: str
    interval: str
    p_value: str
    n: str
    status: str
    says: str


@dataclass(frozen=True, slots=True)
class _View:
    """A section with its charts."""

    section: Section
    at: str
    chosen: str
    heading: str
    against: str
    says: Sequence[str]
    panels: Sequence[Any]
    rates: Sequence[Any]
    sizes: Any
    table: tuple[Sequence[str], Sequence[Sequence[str]]]
    matrices: Sequence[Any]
    more_matrices: int
    heat: Sequence[Any]
    stratified: Sequence[Any]
    turns: Sequence[str]
    pairs: _Pairs | None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of groups of a section.

    Attributes
    ----------
    short : how many differ, in a line.
    level : the probability that all intervals hold at once, in per cent.
    together : whether the groups differ at all, rate by rate.
    panels : the charts.
    named : in their stead, how many pairs differ in each rate, and those that do most.
    """

    short: str
    level: float
    together: Sequence[str]
    panels: Sequence[PairPanel]
    named: Sequence[tuple[str, Sequence[str]]]


def _context(report: Report) -> dict[str, Any]:
    told = outline(report)
    column = question.name(report.spec.get("strata") or "the stratum")
    views = [
        _view(i, section, told, report, column)
        for i, section in enumerate(told.sections[:_MOST_SECTIONS])
    ]
    listed = _listed(report.estimates, _room(report).listed)
    scores = scored(report)
    data = slider(report) if scores else None
    told_before = [note for view in views if view.pairs for note in _together(report, view.section)]
    style = _asset("style.css")
    script = _asset("script.js") + (_asset("slider.js") if data else "")
    used = dict.fromkeys(each.metric for each in report.estimates)
    known = [row.name for row in all_rates()]
    rates = dict.fromkeys(name for group in report.groups for name in group.rates)
    rates = dict.fromkeys([*(name for name in known if name in rates), *rates])
    verdicts = [
        (rule, tallied(found), found[:_MOST_VERDICTS], max(0, len(found) - _MOST_VERDICTS))
        for rule, found in verdicts_by_rule(report)
    ]
    return {
        "report": report,
        "source": question.source(report),
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
        "policy": _policy(style, script),
        "question": question.question(report),
        "excluded": question.excluded(report),
        "verdicts": verdicts,
        "short": in_short(told.sections, column),
        "views": views,
        "more_views": max(0, len(told.sections) - _MOST_SECTIONS),
        "whole": told.whole,
        "column": column,
        "listed": listed,
        "more_listed": len(report.estimates) - len(listed),
        "scores": scores,
        "more_scores": len({each.feature for each in report.scores if each.low}) - len(scores),
        "decides": question.decides(report),
        "slider": data,
        "features": list(dict.fromkeys(view.chosen for view in views)),
        "metrics": list(used),
        "methods": methods(report, groups=True),
        "explained": explained(report, groups=True),
        "plain": (OF_GROUPS, OF_PAIRS),
        "levels": sorted({e.confidence for e in report.estimates if e.confidence}),
        "notes": [each for each in report.diagnostics if each not in told_before][:_MOST_NOTES],
        "metric_entries": metric_entries(used),
        "rate_entries": rate_entries(rates),
        "spec": _spec(report),
        "command": command(report),
    }


def _view(i: int, section: Section, told: Outline, report: Report, column: str) -> _View:
    of = f", {question.name(section.of_class)}" if section.of_class else ""
    chosen = f"{_name(section.feature)}{of}"
    others = {s.threshold for s in told.sections if s.feature == section.feature}
    at = f", threshold {section.threshold:g}" if len(others) > 1 else ""
    references = {each.reference for each in section.estimates}
    sections = len(told.sections)
    charts = _panels(len(section.groups), sections, _room(report))
    shown, more = (
        ([], 0)
        if report.task is Task.REGRESSION
        else matrices(section, max(2, _MOST_MATRICES // sections))
    )
    rates = central_rates(section.groups)
    rows = [
        [
            group.group,
            numbers.count(group.n),
            numbers.percent(group.share),
            *(rate_shown(group, rate) for rate in rates),
        ]
        for group in section.groups
    ]
    return _View(
        section=section,
        at=f"section-{i}",
        chosen=chosen,
        heading=f"{chosen}{at}",
        against=reading(references.pop()) if len(references) == 1 else "its reference",
        says=[]
        if i < IN_SHORT
        else [f"{sentence(each)}{certainty(each)}" for each in section.headlines()],
        panels=disparity_panels(section, report.spec.get("rules", ()), charts),
        rates=rate_panels(section, charts),
        sizes=size_panel(section),
        table=(rates, rows),
        matrices=shown,
        more_matrices=more,
        heat=heat(section, told.sections),
        stratified=stratified(section, column),
        turns=[turning(*pair, column) for pair in section.turns()],
        pairs=_pairs(section, told, report) if section.pairs else None,
    )


def _pairs(section: Section, told: Outline, report: Report) -> _Pairs:
    rates = pairwise_section.by_rate(section)
    sharing = sum(bool(each.pairs) for each in told.sections[:_MOST_SECTIONS])
    share = _room(report).pairs // (sharing * len(rates))
    drawn = share >= _FEWEST_PAIRS
    short = [
        f"{rate_title(rate)}: {pairwise_section.counted(found)}" for rate, found in rates.items()
    ]
    return _Pairs(
        short="; ".join(short),
        level=100 * section.pairs[0].difference_interval.level,
        together=[each.message for each in _together(report, section)],
        panels=pairwise_section.pair_panels(section, min(share, _MOST_PAIRS)) if drawn else [],
        named=[] if drawn else [pairwise_section.named(found, _NAME) for found in rates.values()],
    )


def _together(report: Report, section: Section) -> list[Diagnostic]:
    """Return whether the groups of a section differ at all: told before its pairwise_section."""
    notes = report.diagnostics
    return [each for each in notes if (each.code, each.feature) == ("homogeneity", section.feature)]


def _room(report: Report) -> _Room:
    return _BESIDE_SCORES if report.scores else _ALONE


def _panels(groups: int, sections: int, room: _Room) -> int:
    """Return how many charts a section may have."""
    share = room.chart_rows // min(sections, _MOST_SECTIONS)
    return min(max(share // min(groups or 1, MOST_ROWS), room.panels), _MOST_PANELS)


def _listed(estimates: Sequence[Estimate], most: int) -> list[_Listed]:
    """Return the rows of the table of all estimates; of very many, those over all rows first."""
    kept = estimates
    if len(estimates) > most:
        order = sorted(
            estimates, key=lambda e: (e.stratum not in (None, "pooled"), -distance(e)[1])
        )
        far = {id(each) for each in order[:most]}
        kept = [each for each in estimates if id(each) in far]
    return [_row(each) for each in kept]


def _row(each: Estimate) -> _Listed:
    signed = is_signed(each.metric)
    p_value = each.p_adjusted if each.p_adjusted is not None else each.p_value
    sizes = [numbers.count(n) for n in (each.n_group, each.n_reference) if n is not None]
    at = f" at {each.threshold:g}" if each.threshold is not None else ""
    of = f" class {printable(each.class_)}" if each.class_ is not None else ""
    said = words(each)
    return _Listed(
        each.metric,
        f"{each.feature or 'all rows'}{of}{at}",
        each.group or "",
        reading(each.reference),
        each.stratum or ("" if each.scope == OVERALL else str(each.scope.kind)),
        numbers.number(each.value, signed=signed),
        numbers.interval(each.low, each.high, signed=signed),
        numbers.probability(p_value, ""),
        " / ".join(sizes),
        str(each.status).replace("_", " "),
        shorten(said, _LONGEST),
    )


def _spec(report: Report) -> str:
    text = json.dumps(report.to_dict()["spec"], indent=2, ensure_ascii=False)
    shown = "\n".join(printable(line) for line in text.split("\n"))
    return shown if len(shown) <= _LONGEST_SPEC else f"{shown[:_LONGEST_SPEC]} ..."


def _asset(name: str) -> str:
    return files("fairgauge.render").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return the content security policy: our own style and script, and nothing else."""
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
