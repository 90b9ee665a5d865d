"""The document that a preset asks for: its template, filled with parts of a report.

A template is Markdown with headings, paragraphs and lists; ``{{ tables() }}`` and its like are
blocks of the report. Its numbers come from these blocks alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.enums import ScopeKind
from fairgauge.errors import Problem, SpecError
from fairgauge.question.presets import Preset
from fairgauge.render import _document_tree as tree
from fairgauge.render._document_tree import Cell, Column
from fairgauge.render.grammar import describe_reason
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import (
    estimate_value,
    metric_range,
    metric_words,
    rate_text,
    unit,
    unit_name,
)
from fairgauge.render.words.question_sentences import (
    document,
    only_reference,
    preset_reference_replaced,
    reference_words,
)
from fairgauge.results.report import Report

_BLOCKS = re.compile("\0(\\d+)\0")


def filing(
    of: Preset, report: Report, blocks: Mapping[str, Callable[[], Iterable[tree.Block]]]
) -> Iterator[tree.Block]:
    """Yield the document to file.

    Parameters
    ----------
    of : Preset
    report : Report
    blocks : mapping of str to callable
        What its template can ask for, by the names that it is asked by.

    Raises
    ------
    SpecError
        The template asks for something that there is not.
    """
    held: list[tuple[tree.Block, ...]] = []

    def placed(made: Callable[[], Iterable[tree.Block]]) -> Callable[[], str]:
        def place() -> str:
            held.append(tuple(made()))
            return f"\0{len(held) - 1}\0" if held[-1] else ""

        return place

    yield facts(of)
    if preset_reference_replaced(report.spec):
        own = reference_words(of.options["reference"])
        yield tree.Paragraph(
            f"The reference of the preset ({own}) is replaced: this audit compares with "
            f"{only_reference(report.spec)}. What is stated below of the reference does not "
            "describe its numbers."
        )
    stated = defaultdict(str, document(report))
    made = {name: placed(each) for name, each in blocks.items()}
    try:
        text = _environment().from_string(of.filing).render(kit=of, stated=stated, **made)
    except TemplateError as error:
        raise SpecError(Problem(f"preset {of.name}", f"filing.md.j2: {error}")) from None
    for part in re.split(r"\n\s*\n", text):
        yield from _block(part.strip(), held)
    yield tree.Paragraph(_QUOTED)


_QUOTED = (
    "This document quotes its sources as of the date above. It does not state that the audit, or "
    "what was audited, meets a law."
)


def _block(text: str, held: list[tuple[tree.Block, ...]]) -> Iterator[tree.Block]:
    lines = [line.strip() for line in text.split("\n")]
    if found := _BLOCKS.fullmatch(text):
        yield from held[int(found[1])]
    elif text.startswith("#"):
        yield tree.Heading(lines[0].lstrip("# "))
        yield from _block("\n".join(lines[1:]), held)
    elif text.startswith("- "):
        yield tree.Items(tuple(item.replace("\n", " ") for item in text[2:].split("\n- ")))
    elif text:
        yield tree.Paragraph(" ".join(lines))


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(autoescape=False, undefined=StrictUndefined, trim_blocks=True)


def facts(of: Preset) -> tree.Facts:
    """Return where a preset holds, whether it does, what it calls for when, and its sources."""
    pairs = (
        ("preset", f"{of.name}: {of.title}"),
        ("jurisdiction", of.jurisdiction),
        ("status", f"{of.status} (as of {of.as_of.isoformat()})"),
        ("in force from", of.in_force.isoformat() if of.in_force else ""),
        ("superseded by", of.superseded_by),
        ("repeated", of.period),
        ("records to keep", of.records),
        ("sources", "; ".join(of.sources)),
        ("how they were read", of.read),
    )
    return tree.Facts(tuple(pair for pair in pairs if pair[1]))


def adverse_impact_blocks(report: Report) -> Iterator[tree.Block]:
    """Yield the table of selections beside those to expect."""
    if not (lines := report.adverse_impact):
        return
    tests = max(each.tables for each in lines)
    over = f", tested together over {tests:,} strata" if tests > 1 else ""
    yield tree.Table(
        caption=f"Selections beside those to expect at equal rates{over}",
        columns=(
            Column("group", numeric=False),
            Column("compared with", numeric=False),
            *map(Column, ("selected", "expected", "shortfall", "standard deviations", "exact p")),
            Column("ratio"),
            Column("ratio with one other person selected"),
        ),
        rows=tuple(
            (
                Cell(called(each.group), name=True),
                Cell(called(each.reference), name=True),
                Cell(f"{each.selected:,} of {each.n:,}"),
                Cell(_number(each.expected, 1)),
                Cell(_number(each.shortfall, 1)),
                Cell(_number(each.standard_deviations)),
                Cell("-" if each.p is None else numbers.probability(each.p, "")),
                Cell(_number(each.ratio, 3)),
                Cell(_number(each.ratio_of_one_other, 3)),
            )
            for each in lines
        ),
        titled=True,
        stacked=True,
        notes=(_EXPECTED,),
    )


_EXPECTED = (
    "Expected: the selections of the group if both sides had one rate; the shortfall is how many "
    "fewer there are, in people and in standard deviations. The exact test is conditional on the "
    "selections of both sides. The last column is the ratio if one other person of the group had "
    "been selected instead of one of the reference."
)


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else numbers.minus(f"{value:,.{digits}f}")


def rate_tables(of: Preset, report: Report) -> Iterator[tree.Block]:
    """Yield a table of every feature: the people of each group and the rates of the preset."""
    metrics = [each.partition(".")[0] for each in of.options["metrics"]]
    features = dict.fromkeys(each.feature for each in report.groups)
    for feature in features:
        groups = [
            e for e in report.groups if (e.feature, e.stratum, e.class_) == (feature, None, None)
        ]
        rates = {
            n: report.catalogue.rate(n) for n in dict.fromkeys(metrics) if n in groups[0].rates
        }
        yield tree.Table(
            caption=f"People and rates of the groups of {called(feature)}",
            columns=(
                Column("group", numeric=False),
                Column("n"),
                *(Column(each.title) for each in rates.values()),
            ),
            rows=tuple(
                (
                    Cell(called(group.group), name=True),
                    Cell(numbers.count(group.n)),
                    *(
                        Cell("-" if (v := group.rates[n].value) is None else rate_text(each, v))
                        for n, each in rates.items()
                    ),
                )
                for group in groups
            ),
            titled=True,
            stacked=True,
        )


def comparison_table(report: Report) -> Iterator[tree.Block]:
    """Yield every comparison over all rows."""
    rows = [
        (
            Cell(metric_words(each.definition)),
            Cell(called(each.group), name=True),
            Cell(reference_name(each.reference) if each.reference else ""),
            Cell(
                estimate_value(each) + unit_name(unit(each.definition)),
                below=metric_range(each.definition, each.low, each.high)
                if each.interval
                else (describe_reason(each.reason) if each.reason else ""),
            ),
        )
        for each in report.estimates
        if each.scope.kind is ScopeKind.OVERALL and each.value is not None and each.group
    ]
    if rows:
        heads = ("comparison", "group", "compared with")
        yield tree.Table(
            caption="Comparisons of groups",
            columns=(*(Column(head, numeric=False) for head in heads), Column("value")),
            rows=tuple(rows),
            titled=True,
            stacked=True,
            notes=("In small letters: confidence intervals, each for its comparison alone.",),
        )


def _is_quarter(of: Metric) -> bool:
    return isinstance(of, RowMetric) and of.kind == "quarter"


def quarter_tables(report: Report) -> Iterator[tree.Block]:
    """Yield who is in each quarter of the label, a table for each feature."""
    asked = [each for each in report.estimates if _is_quarter(each.definition)]
    for feature in dict.fromkeys(each.feature for each in asked):
        shares: dict[str, dict[str, str]] = {}
        for each in asked:
            if each.feature != feature:
                continue
            sides = [(str(each.group), each.rate_group)]
            if each.reference is not None and each.reference.group is not None:
                sides.append((str(each.reference.group), each.rate_reference))
            for group, share in sides:
                shares.setdefault(group, {})[each.metric] = numbers.percent(share)
        yield tree.Table(
            caption=f"Who is in each quarter, by {called(feature)}",
            columns=(Column("group", numeric=False), *map(Column, _QUARTERS)),
            rows=tuple(
                (Cell(called(group), name=True), *map(Cell, of.values()))
                for group, of in shares.items()
            ),
            titled=True,
            stacked=True,
        )


_QUARTERS = ("lowest quarter", "second", "third", "highest quarter")
