"""Sentences of a check of published tables: its arithmetic, its limit, and what it is without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.render.words.display_names import called
from fairgauge.render.words.numbers import listing, plural
from fairgauge.render.words.reason_sentences import INSUFFICIENT
from fairgauge.results.check import Decision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.check import Check, CheckedGroup, CheckedTable, SmallestReference
    from fairgauge.results.scopes import Interval
    from fairgauge.results.table_faults import Fault

LIMITATIONS = (
    (
        "That the right people were counted: a table that adds up can still be of the wrong ones, "
        "and a check does not know when they were counted, or how categories were determined."
    ),
    "Whether an audit meets a law.",
)


def sources_of(check: Check) -> str:
    """Return where the tables are from."""
    names = list(dict.fromkeys(table.source for table in check.tables))
    if len(names) > 1:
        return f"{len(names):,} files"
    return "pasted text" if names[0] is None else called(names[0])


def describe_arithmetic(check: Check) -> str:
    """Return how many printed numbers do not follow from the others, of those checked."""
    tables, errors = len(check.tables), check.errors
    of = f"{tables:,} {plural(tables, 'table', 'tables')}"
    if not errors and not check.numbers_checked:
        return (
            f"The arithmetic of {of} was not checked: no rate, impact ratio or total is printed "
            "that follows from other numbers."
        )
    if not errors:
        numbers = check.numbers_checked
        checked = f"{numbers:,} {plural(numbers, 'printed number was', 'printed numbers were')}"
        none = sum(not table.numbers_checked for table in check.tables)
        without = f"; of {none:,} {plural(none, 'table', 'tables')} none was" if none else ""
        return f"No error in the arithmetic of {of}; {checked} checked{without}."
    affected = sum(1 for table in check.tables if table.errors)
    among = f"{affected:,} of {of}" if affected < tables else of
    return f"{errors:,} {plural(errors, 'error', 'errors')} in {among}."


def limit_sentences(check: Check) -> Iterator[str]:
    """Yield how the limit decides ratios."""
    if check.limit is None:
        return
    if not check.counted:
        yield f"No ratio is decided by the limit: {_without_intervals(check)}."
        return
    chosen = any(table.reference not in check.references for table in check.tables)
    allow = " allow for the choice of the reference by the data" if chosen else " decide"
    yield (
        f"The limit for impact ratios is {check.limit:g}, as asked; New York's Local Law 144 sets "
        "none. "
        f"The {100 * check.level:.4g}% confidence "
        f"intervals{allow}; verdicts are not adjusted for the number of ratios."
    )


def _without_intervals(check: Check) -> str:
    """Return why no ratio of any table has an interval."""
    groups = [group for table in check.tables for group in table.groups]
    if all(group.n is None for group in groups):
        return "the number of people is not printed"
    if all(group.rate is None for group in groups):
        return "no selection rate is printed or follows from the counts"
    if not any(group.rate for group in groups):
        return "nobody is selected"
    return "fewer than two categories have a number of people and a selection rate"


def unread_sentences(check: Check) -> Iterator[str]:
    """Yield how much was not read."""
    if unread := sum(each.counts for each in check.unread):
        words = plural(unread, "file or table was", "files or tables were")
        yield f"{unread:,} {words} not read, and not checked."


def _decision_words(smallest: SmallestReference) -> dict[Decision, tuple[str, str]]:
    below = f"below {100 * smallest.share:g}% of the people"
    return {
        Decision.PASS: ("passes", "pass"),
        Decision.FAIL: ("fails", "fail"),
        Decision.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
        Decision.BELOW_SHARE: (f"is of a category {below}", f"are of categories {below}"),
        Decision.FEW_PEOPLE: (f"has {INSUFFICIENT}", f"have {INSUFFICIENT}"),
        Decision.SMALL_REFERENCE: (
            "is compared with a reference of too few people",
            "are compared with a reference of too few people",
        ),
        Decision.NOT_COMPUTED: ("has no counts for a verdict", "have no counts for a verdict"),
    }


def decided_ratios(check: Check) -> str:
    """Return how many ratios pass the limit, fail it, or are undecided; nothing without any."""
    counted = sum(check.decisions.values())
    if check.limit is None or not counted:
        return ""
    words = _decision_words(check.smallest_reference)
    shown = [
        f"{count:,} {plural(count, *words[decision])}"
        for decision, count in check.decisions.items()
        if count
    ]
    return f"Of {counted:,} {plural(counted, 'ratio', 'ratios')}, {listing(shown)}."


def table_title(table: CheckedTable, check: Check) -> str:
    """Return the name of a table, with its file where there are several."""
    name, sources = called(table.name), {each.source for each in check.tables}
    return name if len(sources) == 1 else f"{called(table.source or '')}: {name}"


def describe_fault_in_place(fault: Fault) -> str:
    """Return a fault with its row, as a sentence."""
    where = "" if fault.row is None else f"Row {fault.row[0]} ({called(fault.row[1])}): "
    text = fault.message
    return f"{where}{text if where else text[:1].upper() + text[1:]}."


def shown_interval(group: CheckedGroup) -> Interval | None:
    """Return the interval that is shown: the one that decides, where there is a limit."""
    return group.deciding or group.interval
