"""The document of a plan, and its tables: rows needed, smallest disparities, people to ask."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.render._document_tree import Block, Cell, Column, DocumentTree, Paragraph, Table
from fairgauge.render.documents._document_parts import document_of, listed
from fairgauge.render.words.display_names import group_called
from fairgauge.render.words.metric_words import compared_rate, signed, unit, with_unit
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.render.writers.flat_rows import FlatTable, table_of_records
from fairgauge.results.planned import Needed, Planned, PlannedPairs, SelfReports, Smallest

_SECTIONS = (("plan", "Plan"), ("self-reports", "People to ask"))


def plan_document(planned: Planned, *, full: bool = True) -> DocumentTree:
    """Build the document of a plan."""
    del full  # it has no summary
    by = f"{100 * planned.confidence:.4g}% confidence intervals and {planned.power:.0%} power"
    if planned.answers is not None:
        return document_of(
            planned,
            title="Plan of an audit by swapped names",
            beside=by,
            sections=[
                listed("plan", "Answers needed", *_answers_needed(planned.answers, planned.power))
            ],
            file_name="plan",
        )
    tables = [_people_to_ask(planned)] if planned.self_reports else []
    if planned.smallest or not tables:
        tables.insert(
            0, _rows_needed(planned) if planned.needed else _smallest_disparities(planned)
        )
    return document_of(
        planned,
        title="Plan of an audit",
        beside=by,
        sections=[
            listed(id_, table.caption, table, short=short)
            for (id_, short), table in zip(_SECTIONS, tables, strict=False)
        ],
        file_name="plan",
    )


def _answers_needed(answers: PlannedPairs, power: float) -> Iterator[Block]:
    """Yield what an audit by swapped names shows where nothing differs, and what would help."""
    if answers.names is None or answers.items is None:
        return
    if answers.power_equivalent is not None:
        what = "items" if answers.planned == "items" else "names a side"
        needed = "no practical number"
        if answers.equivalent_from is not None:
            needed = f"{answers.equivalent_from:,}"
        yield Paragraph(
            f"Where nothing differs, they show that it is within {answers.detects:g} with "
            f"{answers.power_equivalent:.0%} power; {needed} {what} would with {power:.0%}."
        )
    of_names, of_runs = answers.share_names or 0.0, answers.share_runs or 0.0
    yield Paragraph(
        f"Of the variance {of_names:.0%} is due to names. More runs alone would remove at most "
        f"{of_runs:.0%} of it, more items at most {1 - of_names:.0%}."
    )


def _rows_needed(planned: Planned) -> Table:
    columns = (Column("goal", numeric=False), Column("group"), Column("others"), Column("total"))
    rows = tuple(
        (Cell(needed.goal), *map(_count, (needed.group, needed.reference, needed.total)))
        for needed in planned.needed
    )
    return Table("Rows needed", columns, rows)


def _count(rows: float) -> Cell:
    return Cell("no number of rows" if math.isinf(rows) else f"{rows:,.0f}")


def _smallest_disparities(planned: Planned) -> Table:
    columns = (
        Column("group", numeric=False),
        Column("rate", numeric=False),
        Column("difference"),
        Column("ratio"),
        Column("n"),
        Column("n of reference"),
        Column("rate of reference"),
    )
    return Table("The smallest disparity that this table shows", columns,
                 tuple(map(_disparity, planned.smallest)))  # fmt: skip


def _disparity(smallest: Smallest) -> tuple[Cell, ...]:
    rate = compared_rate(smallest.definition)
    return (
        Cell(group_called(smallest.group, smallest.feature), name=True),
        Cell((rate or smallest.definition).title),
        Cell(f"{100 * smallest.difference:.1f} pp"),
        Cell("" if smallest.ratio is None else f"{smallest.ratio:.2f}"),
        Cell(f"{smallest.n_group:,.10g}"),
        Cell(f"{smallest.n_reference:,.10g}"),
        Cell(f"{smallest.rate:.1%}"),
    )


def _people_to_ask(planned: Planned) -> Table:
    columns = (
        Column("group", numeric=False),
        Column("rule", numeric=False),
        Column("if right", numeric=False),
        Column("expected"),
        Column("people"),
        Column("at most"),
    )
    rows = tuple(map(_asked, planned.self_reports))
    answered = max(each.answered for each in planned.self_reports)
    of_these = f", {answered:,} included who were asked already" if answered else ""
    return Table(f"People to ask for their group, drawn at random{of_these}", columns, rows)


def _asked(each: SelfReports) -> tuple[Cell, ...]:
    kind, sign = unit(each.definition), signed(each.definition)
    of = group_called(each.group, each.feature)
    at = "" if each.threshold is None else f", threshold {each.threshold:g}"
    return (
        Cell(of, name=True),
        Cell(f"{written_rule_words(each.rule, each.definition)}{at}"),
        Cell(str(each.expects)),
        Cell(with_unit(each.expected, kind, sign=sign)),
        *(Cell("more than all" if math.isinf(n) else f"{n:,.0f}")
          for n in (each.self_reports, each.at_most)),
    )  # fmt: skip


def goals_of(planned: Planned) -> FlatTable:
    """Return a row for every goal, with the rows of both sides."""
    return table_of_records(Needed, planned.needed)


def disparities_of(planned: Planned) -> FlatTable:
    """Return a row for the smallest disparity of every group and rate."""
    return table_of_records(Smallest, planned.smallest)
