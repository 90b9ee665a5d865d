"""The document of a plan, and its tables: rows needed, smallest disparities, people to ask."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.render._document_tree import Block, Cell, Column, DocumentTree, Paragraph, Table
from fairgauge.render.documents._document_parts import document_of, listed, table_of_rows
from fairgauge.render.page import plain
from fairgauge.render.words.display_names import group_called
from fairgauge.render.words.metric_words import metric_value
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.render.writers.flat_rows import FlatTable, table_of_records
from fairgauge.results.planned import Needed, Planned, PlannedPairs, SelfReports, Smallest
from fairgauge.statements.planning import per_hundred, smallest_statement

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
    if planned.needed:
        tables.insert(0, _rows_needed(planned))
    elif planned.smallest:
        tables.insert(0, _smallest_disparities(planned))
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
    return table_of_rows(
        "Rows needed",
        planned.needed,
        (Column("goal", numeric=False), lambda each: each.goal),
        ("group", lambda each: _count(each.group, "no number of rows")),
        ("others", lambda each: _count(each.reference, "no number of rows")),
        ("total", lambda each: _count(each.total, "no number of rows")),
    )


def _count(number: float, too_many: str) -> str:
    return too_many if math.isinf(number) else f"{number:,.0f}"


def _smallest_disparities(planned: Planned) -> Table:
    return table_of_rows(
        "The smallest disparity that this table shows",
        planned.smallest,
        (Column("group", numeric=False), _name),
        (Column("rate", numeric=False), _rate),
        ("difference", _difference),
        ("ratio below 1", lambda each: "" if each.ratio is None else f"{each.ratio:.2f}"),
        ("n", lambda each: f"{each.n_group:,.10g}"),
        ("n of reference", lambda each: f"{each.n_reference:,.10g}"),
        ("rate of reference", lambda each: f"{each.rate:.1%}"),
    )


def _rate(each: Smallest) -> str:
    return plain().say("smallest", "rate", smallest_statement(each)) or ""


def _difference(each: Smallest) -> str:
    if each.difference is None:
        return "none" if each.reason is None else "not evaluated"
    return f"{per_hundred(each.difference):.1f} pp"


def _name(each: Smallest | SelfReports) -> Cell:
    return Cell(group_called(each.group, each.feature), name=True)


def _people_to_ask(planned: Planned) -> Table:
    answered = max(each.answered for each in planned.self_reports)
    of_these = f", {answered:,} included who were asked already" if answered else ""
    return table_of_rows(
        f"People to ask for their group, drawn at random{of_these}",
        planned.self_reports,
        (Column("group", numeric=False), _name),
        (Column("rule", numeric=False), _rule),
        (Column("if right", numeric=False), lambda each: str(each.expects)),
        ("expected", lambda each: metric_value(each.definition, each.expected)),
        ("people", lambda each: _count(each.self_reports, "more than all")),
        ("at most", lambda each: _count(each.at_most, "more than all")),
    )


def _rule(each: SelfReports) -> str:
    at = "" if each.threshold is None else f", threshold {each.threshold:g}"
    return f"{written_rule_words(each.rule, each.definition)}{at}"


def goals_of(planned: Planned) -> FlatTable:
    """Return a row for every goal, with the rows of both sides."""
    return table_of_records(Needed, planned.needed)


def disparities_of(planned: Planned) -> FlatTable:
    """Return a row for the smallest disparity of every group and rate."""
    return table_of_records(Smallest, planned.smallest)
