"""A comparison of two reports as one HTML file that asks nothing of any other, without script."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairgauge.enums import Direction, Status
from fairgauge.render import numbers
from fairgauge.render.axis_geometry import scale, ticks
from fairgauge.render.compared import phrases
from fairgauge.render.glossary import metric_entries
from fairgauge.render.html import environment
from fairgauge.render.metric_meanings import compared, headline_rank, metric_row, neutral, title
from fairgauge.render.question import name
from fairgauge.render.row_charts import mark
from fairgauge.report.results import OVERALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Comparison
    from fairgauge.reasons import Reason
    from fairgauge.render.axis_geometry import Mark, Scale, Tick
    from fairgauge.render.compared.phrases import Told
    from fairgauge.report.estimates import Estimate

_NAME = 40
_MOST_LISTED = 300
_MOST_SENTENCES = 4
_MOST_PANELS = 12
_FEWEST_PANELS = 4
_MOST_ROWS = 12
_MOST_GROUPS = 200
_SHARE = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Row:
    """A disparity in a chart: the old report's mark above the new one's, and their numbers."""

    name: str
    old: Mark
    new: Mark
    old_value: str
    old_interval: str
    new_value: str
    new_interval: str
    says: str
    tone: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart of one metric of one feature, before and after."""

    metric: str
    title: str
    feature: str
    ticks: Sequence[Tick]
    neutral: float | None
    rows: Sequence[Row]
    more: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the tables of changes."""

    metric: str
    subject: str
    old: str
    new: str
    change: str
    interval: str
    p_value: str
    says: str
    behind: str
    tone: str


def to_html(comparison: Comparison) -> str:
    """Write the comparison as one self-contained HTML page."""
    template = environment().get_template("compared.html.j2")
    return template.render(**_context(comparison)) + "\n"


def _context(comparison: Comparison) -> dict[str, Any]:
    told = phrases.tell(comparison)
    style = _asset("style.css") + _asset("compared.css")
    used = dict.fromkeys(each.metric for each in comparison.changes)
    tables = [
        ("Further from no difference, statistically significantly", told.further, False),
        ("Closer to no difference, statistically significantly", told.closer, False),
        ("Moved" if comparison.refused else "Moved, but not statistically significantly", told.moved,
         not comparison.refused),
        ("With a value in one report only", told.undefined, False),
        ("Did not change", told.stayed, True),
    ]  # fmt: skip
    return {
        "comparison": comparison,
        "told": told,
        "wording": phrases,
        "style": Markup(style),  # noqa: S704 - our own file
        "policy": _policy(style),
        "sides": (("old", comparison.old), ("new", comparison.new)),
        "sentences": _sentences(told, comparison.refused),
        "panels": _panels(comparison, told),
        "tables": [
            (heading, [_listed(each, told) for each in found[:_MOST_LISTED]], len(found), folded)
            for heading, found, folded in tables
            if found
        ],
        "groups": comparison.groups[:_MOST_GROUPS],
        "more_groups": len(comparison.groups) - _MOST_GROUPS,
        "percent": numbers.percent,
        "metric_entries": metric_entries(used),
    }


def _sentences(told: Told, refused: Reason | None) -> list[str]:
    """Return the few changes that matter first, in words: of each rate of a group, one."""
    moved = told.moved if refused else ()
    ranked = sorted(
        (*told.further, *told.closer, *moved),
        key=lambda each: (headline_rank(each.metric) is None, each.new.scope != OVERALL),
    )
    one_each: dict[tuple[object, ...], Change] = {}
    for each in ranked:
        rate = compared(each.metric) or each.metric
        one_each.setdefault((rate, each.feature, each.group, each.new.class_scope), each)
    found = list(one_each.values())
    return [
        f"{phrases.subject(each, several=told.several)}: {each.metric} "
        f"{phrases.seen(each, each.old)} {phrases.ARROW} {phrases.seen(each, each.new)}, "
        f"{'; '.join(filter(None, (phrases.direction(each), phrases.evidence(each))))}"
        for each in found[:_MOST_SENTENCES]
    ]


def _panels(comparison: Comparison, told: Told) -> list[Panel]:
    """Return charts of the significant changes, and of the largest ones where these are few."""
    over_all: dict[tuple[object, ...], list[Change]] = {}
    for each in (*told.further, *told.closer, *told.moved, *told.stayed):
        if each.new.scope == OVERALL and each.change is not None:
            key = (each.metric, each.feature, each.new.class_scope, each.threshold)
            over_all.setdefault(key, []).append(each)
    sure = sum(any(each.significant for each in found) for found in over_all.values())
    most = min(max(sure, _FEWEST_PANELS), _MOST_PANELS)
    moving = [found for found in over_all.values() if any(each.moved for each in found)]
    order = {(group.feature, group.group): i for i, group in enumerate(comparison.groups)}
    return [_panel(found, order, told) for found in moving[:most]]


def _panel(found: list[Change], order: dict[tuple[str, str], int], told: Told) -> Panel:
    first = found[0]
    shown = sorted(
        found[:_MOST_ROWS], key=lambda each: order.get((str(each.feature), str(each.group)), 0)
    )
    row, middle = metric_row(first.metric), neutral(first.metric)
    include = [middle, -0.1, 0.1] if row is not None and row.range == _SHARE else [middle]
    sides = [side for each in shown for side in (each.old, each.new)]
    axis = scale(
        [number for side in sides for number in (side.value, side.low, side.high)],
        include,
        log=first.by == "ratio",
    )
    return Panel(
        first.metric,
        title(first.metric),
        name(first.feature or "all rows"),
        ticks(axis),
        axis.at(middle) if axis.holds(middle) else None,
        [_row(each, axis, told) for each in shown],
        len(found) - len(shown),
    )


def _row(each: Change, axis: Scale, told: Told) -> Row:
    def drawn(side: Estimate) -> Mark:
        return mark(side.value, side.low, side.high, axis, faint=side is each.old, size=4.5)

    at = f", threshold {each.threshold:g}" if told.several and each.threshold is not None else ""
    class_name = each.new.class_scope.name
    of = f", class {name(class_name)}" if class_name is not None else ""
    moved = f"change {phrases.shift(each)} {phrases.limits(each)}".rstrip()
    old, new = (_shown(each, side) for side in (each.old, each.new))
    return Row(
        f"{name(each.group)}{of}{at}",
        drawn(each.old),
        drawn(each.new),
        *old,
        *new,
        "; ".join(filter(None, (moved, phrases.direction(each)))),
        _tone(each),
    )


def _shown(each: Change, side: Estimate) -> tuple[str, str]:
    value, _, interval = phrases.seen(each, side, interval=True).partition(" ")
    few = "?" if side.status is Status.TOO_FEW else ""
    return f"{value}{few}", interval


def _listed(each: Change, told: Told) -> Listed:
    return Listed(
        each.metric,
        phrases.subject(each, several=told.several, most=_NAME),
        phrases.seen(each, each.old, interval=True),
        phrases.seen(each, each.new, interval=True),
        phrases.shift(each),
        phrases.limits(each),
        numbers.probability(each.p_adjusted, ""),
        phrases.because(each) if each.change is None else phrases.direction(each),
        phrases.sides(each),
        _tone(each),
    )


def _tone(each: Change) -> str:
    """Return the colour of a change: only what is statistically significantly has one."""
    if not each.significant:
        return ""
    return {Direction.FURTHER: "fail", Direction.CLOSER: "pass"}.get(
        each.direction or Direction.AS_FAR, ""
    )


def _asset(file: str) -> str:
    return files("fairgauge.render").joinpath("templates", file).read_text(encoding="utf-8")


def _policy(style: str) -> str:
    """Return the content security policy: our own style, no script, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
