"""The section of a preset: its status, its sources, its statements, and the tables to publish."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.enums import Status
from fairgauge.render.display_names import called
from fairgauge.render.document_tree import (
    Cell,
    Column,
    Facts,
    Heading,
    Items,
    Paragraph,
    Table,
    Unit,
)
from fairgauge.render.metric_words import metric_words, shown, signed, unit
from fairgauge.render.numbers import percent
from fairgauge.render.question import unknown_sentence
from fairgauge.render.reason_sentences import describe_reason
from fairgauge.spec.presets import preset

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.render.document_tree import Block
    from fairgauge.render.outline import Results
    from fairgauge.report.estimates import Estimate, Group
    from fairgauge.report.report import Report

QUOTED = (
    "This preset sets metrics, references and tables; it quotes its sources as of the date above. "
    "It does not state that the audit, or what was audited, meets a law."
)
_RATE, _RATIO = "selection_rate", "selection_rate.ratio"
_OF_SELECTION = ("selection_rate.", "selection_odds.", "selection_smd")
"""How the names of metrics begin that compare selections."""


def preset_blocks(name: str, report: Report, sections: Sequence[Results]) -> Iterator[Block]:
    """Yield what a report states of the preset that it was made with."""
    found = preset(name)
    yield Facts(
        (
            ("preset", f"{found.name}: {found.title}"),
            ("jurisdiction", found.jurisdiction),
            ("status", f"{found.status} (as of {found.as_of.isoformat()})"),
            *([("superseded by", found.superseded_by)] if found.superseded_by else []),
            ("sources", "; ".join(found.sources)),
        )
    )
    yield Items(found.statements)
    yield Heading("A published report holds")
    yield Items(found.publishes)
    compared = [each for each in found.options["metrics"] if each.startswith(_OF_SELECTION)]
    column = called(report.spec.get("strata") or "the strata")
    level = f"{100 * report.spec['confidence']:.4g}%"
    tables = [
        _table(each, compared, found.terms, column, level)
        for each in sections
        if each.class_scope.is_single
    ]
    if any(tables):
        yield Heading("Tables to publish")
        yield from filter(None, tables)
        yield Paragraph(unknown_sentence(report))
    yield Paragraph(QUOTED)


def _table(
    section: Results, metrics: Sequence[str], terms: Mapping[str, str], column: str, level: str
) -> Table | None:
    """Return people, selections and the preset's metrics for every group of a feature.

    The ratio of the rates is also shown adjusted for the strata, where there are any.
    """
    metrics = [metric for metric in metrics if metric in section.metrics]
    groups = [group for group in section.groups if group.reference_kind is None]
    if not metrics or any(group.weight is not None for group in groups):
        return None
    heads = ["n", "selected", "selection rate", *(_heading(each, terms) for each in metrics)]
    if _segmented(section):
        heads.append(f"{_heading(_RATIO, terms)} adjusted for {column}")
    return Table(
        caption=called(section.name),
        columns=(Column("group", numeric=False), *map(Column, heads)),
        rows=tuple(_row(group, section, metrics) for group in groups),
        notes=(f"In small letters: {level} confidence intervals, or why data are insufficient.",),
    )


def _heading(metric: str, terms: Mapping[str, str]) -> str:
    return terms.get(metric) or (
        f"{metric_words(metric)}{', pp' if unit(metric) is Unit.POINTS else ''}"
    )


def _row(group: Group, section: Results, metrics: Sequence[str]) -> tuple[Cell, ...]:
    rate = group.rates[_RATE].value
    numbers = ("-", "-") if rate is None else (f"{round(rate * group.n):,}", f"{percent(rate)}")
    compared = [(metric, section.find(metric, group.group)) for metric in metrics]
    if segmented := _segmented(section):
        compared.append((_RATIO, segmented.get(group.group)))
    cells = (
        Cell("reference") if group.group == section.reference_group(metric) else _compared(each)
        for metric, each in compared
    )
    name = Cell(called(group.group), name=True)
    return (name, Cell(f"{group.n:,.0f}"), *map(Cell, numbers), *cells)


def _segmented(section: Results) -> dict[str | None, Estimate]:
    """Return the ratio of the selection rates adjusted for the strata, by group."""
    return {each.group: each for each in section.adjusted if each.metric == _RATIO}


def _compared(estimate: Estimate | None) -> Cell:
    """Return the value of a comparison, with its interval or what stands against relying on it."""
    if estimate is None or estimate.value is None:
        reason = estimate.reason if estimate is not None else None
        return Cell("-", below=describe_reason(reason) if reason else "")
    kind, sign = unit(estimate.metric), signed(estimate.metric)
    below = ""
    if estimate.status is Status.TOO_FEW and estimate.reason is not None:
        below = describe_reason(estimate.reason)
    elif estimate.interval is not None:
        ends = (_number(end, kind, sign=sign) for end in estimate.interval)
        below = " to ".join(ends)
    return Cell(_number(estimate.value, kind, sign=sign), below=below)


def _number(value: float, kind: Unit, *, sign: bool) -> str:
    """Return a number; ratios with three decimals, as they are published."""
    if kind is Unit.RATIO and math.isfinite(value):
        return f"{value:.3f}"
    return shown(value, kind, sign=sign)
