"""Warnings on standard error: of a report where they are not shown, and of disclosing counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.cli._streams import print_message
from fairgauge.enums import Role
from fairgauge.errors import quote
from fairgauge.render.words.numbers import plural

if TYPE_CHECKING:
    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.results.report import Report

_SHOWING = ("text", "markdown", "html")


def shows_warnings(format_: str) -> bool:
    """Return whether a format of standard output has the warnings before the verdict."""
    return format_ in _SHOWING


def print_warnings(report: Report) -> None:
    """Write the gravest warnings to standard error, and count the others."""
    from fairgauge.render.documents.report_notes import opening_warnings, report_warnings

    for each in opening_warnings(report_warnings(report)):
        print_message(each, prefix="")


def note_cases_alone(cube: Cube) -> None:
    """Note how many cells hold one case: such a cell shows the values of one person."""
    alone = 0 if cube.plan.axis(Role.ITEM) else cube.cases_alone  # answers are of no person
    if alone:
        noun = "case" if cube.plan.count else "row"
        cases = f"1 {noun} is" if alone == 1 else f"{alone:,} {noun}s are"
        print_message(
            f"{cases} alone in a cell of the counts: people who know the group of such a person "
            f"can read the outcome{exact_values(cube.plan)}; share these counts as you would share "
            "the rows, or protect them (--min-cell 10, fairgauge protect)",
            prefix="Note: ",
        )


def note_identifiers(cube: Cube) -> None:
    """Note how many clusters the counts hold, and how many of them can be recognised."""
    from fairgauge.cube.identifiers import CLUSTER_KEY, clusters_alone

    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return
    number, alone = len(cube.levels[axis]), clusters_alone(cube)
    values = f"{number:,} {plural(number, 'value', 'values')} of {quote(axis.column)}"
    how = f"as {plural(number, 'a number', 'numbers')}"
    if cube.clusters.startswith("key:"):
        how = (
            f"as {plural(number, 'a hash', 'hashes')} under your key ({CLUSTER_KEY}), by which "
            "people who have the key find any of them; counts that are not to be added up need none"
        )
    print_message(
        f"the counts hold {values} {how}. {alone:,} of these {plural(alone, 'has', 'have')} cells "
        "like no other: people who know the rows recognise such a person. Counts with clusters "
        "cannot be protected; count without --cluster what is to be shared",
        prefix="Note: ",
    )


def exact_values(plan: Plan) -> str:
    """Name the columns whose exact value the sums of a cell of one row show."""
    columns = dict.fromkeys(column for moment in plan.moments for column in moment.columns)
    names = " and ".join(map(quote, columns))
    value = "value" if len(columns) == 1 else "values"
    return f" (the exact {value} of {names} too)" if columns else ""
