"""The brief of a check of published tables: errors, the lowest ratio, and what is undecided."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.enums import Outcome
from fairgauge.reasons import ReasonCode
from fairgauge.render.brief._next_steps import analyst, owner
from fairgauge.render.words.check_sentences import (
    LIMITATIONS,
    counted_as,
    decided_ratios,
    describe_arithmetic,
    describe_fault_in_place,
    describe_higher,
    limit_sentences,
    reference_flag,
    shown_interval,
    sources_of,
    table_title,
    unread_sentences,
    what_holds_together,
)
from fairgauge.render.words.display_names import called
from fairgauge.render.words.numbers import decimals_beside, plural
from fairgauge.results.brief import Brief, Sentence
from fairgauge.results.check import Check, CheckedGroup, CheckedTable, FaultCode

_MOST_ERRORS, _MOST_STEPS = 3, 3


def check_brief(check: Check) -> Brief:
    """Return the brief of a check of published tables."""
    lowest = _lowest(check)
    return Brief(
        headline=Sentence(describe_arithmetic(check).removesuffix("."), ("errors",)),
        verdict=tuple(_verdict(check)),
        looked_at=tuple(_looked_at(check)),
        found=tuple(_found(check, lowest)),
        certainty=tuple(_certainty(check, lowest)),
        limits=tuple(map(Sentence, LIMITATIONS)),
        steps=tuple(_steps(check))[:_MOST_STEPS],
    )


_Lowest = tuple[int, int]
"""The places of a table and of a group in it."""


def _lowest(check: Check) -> _Lowest | None:
    """Return where the lowest ratio is that has an interval, of large categories before others."""
    found = [
        (_is_small(check, table, group), group.ratio, i, j)
        for i, table in enumerate(check.tables)
        for j, group in enumerate(table.groups)
        if not group.is_reference and group.ratio is not None and shown_interval(group) is not None
    ]
    return min(found)[2:] if found else None


def _is_small(check: Check, table: CheckedTable, group: CheckedGroup) -> bool:
    """Return whether a category has a smaller share of the people than the smallest reference."""
    return group.n is not None and group.n < check.smallest_reference.share * table.people


def _at(check: Check, lowest: _Lowest) -> tuple[CheckedTable, CheckedGroup, tuple[str, ...]]:
    table = check.tables[lowest[0]]
    return table, table.groups[lowest[1]], (f"tables[{lowest[0]}].groups[{lowest[1]}]",)


def _verdict(check: Check) -> Iterator[Sentence]:
    if text := decided_ratios(check):
        yield Sentence(text, ("summary.decisions",))
    elif check.limit is not None:
        yield Sentence("No ratio has counts for a verdict.", ("summary.decisions",))
    yield from _higher(check, changed=True)


def _higher(check: Check, *, changed: bool) -> Iterator[Sentence]:
    """Yield where another category has a higher rate than a chosen group: the first such table.

    ``changed`` are the tables some of whose verdicts would be others by the highest rate.
    """
    found = [
        (i, table)
        for i, table in enumerate(check.tables)
        if table.compares_as_printed
        and table.other_reference is not None
        and table.changed_by_highest is changed
    ]
    for i, table in found[:1]:
        where = f"{table_title(table, check)}. " if len(check.tables) > 1 else ""
        yield Sentence(f"{where}{describe_higher(table)}", (f"tables[{i}].other_reference",))
    if more := len(found[1:]):
        tables = plural(more, "table", "tables")
        yield Sentence(f"The same is so in {more:,} more {tables}.", ("tables",))


def _looked_at(check: Check) -> Iterator[Sentence]:
    tables = len(check.tables)
    groups = sum(len(table.groups) for table in check.tables)
    kinds = {fault.code for table in check.tables for fault in table.faults}
    read = "of the columns that are read, " if FaultCode.COLUMNS_IGNORED in kinds else ""
    yield Sentence(
        f"{tables:,} published {plural(tables, 'table', 'tables')} with {groups:,} "
        f"{plural(groups, 'category', 'categories')}, from {sources_of(check)}; {read}every number "
        "that follows from others was computed again.",
        ("tables",),
    )
    for text in unread_sentences(check):
        yield Sentence(text, ("unread",))


def _found(check: Check, lowest: _Lowest | None) -> Iterator[Sentence]:
    errors = [(i, table, fault) for i, table in enumerate(check.tables) for fault in table.errors]
    for number, (i, table, fault) in enumerate(errors[:_MOST_ERRORS], 1):
        which = f"Error {number} of {len(errors):,}: " if len(errors) > 1 else ""
        where = f"{table_title(table, check)}. " if len(check.tables) > 1 else ""
        yield Sentence(f"{which}{where}{describe_fault_in_place(fault)}", (f"tables[{i}].faults",))
    if (more := len(errors) - _MOST_ERRORS) > 0:
        yield Sentence(f"{more:,} more {plural(more, 'error', 'errors')} below.", ("errors",))
    yield from _higher(check, changed=False)
    if lowest is None:
        return
    table, group, source = _at(check, lowest)
    if table.reference is not None and group.ratio is not None:
        per_hundred = _of_hundred(check, group.ratio)
        lower = any(
            other.ratio is not None and other.ratio < group.ratio
            for each in check.tables
            for other in each.groups
            if not other.is_reference and shown_interval(other) is not None
        )
        large = (
            f" of categories of {100 * check.smallest_reference.share:.4g}% of the people or more"
        )
        yield Sentence(
            f"The lowest impact ratio{large if lower else ''}{_in_table(table, check)}: of equally "
            f"many people, {per_hundred} of {called(group.name)} {counted_as(table)} for every 100 "
            f"of {called(table.reference)}.",
            source,
        )


def _in_table(table: CheckedTable, check: Check) -> str:
    """Return the name of a table in parentheses, where there are several."""
    return f" ({table_title(table, check)})" if len(check.tables) > 1 else ""


def _of_hundred(check: Check, ratio: float) -> str:
    """Return a ratio as people for every 100, on its own side of the limit and of 1."""
    limits = [100.0, *([] if check.limit is None else [100 * check.limit])]
    value = round(100 * ratio, 9)
    return f"{value:,.{decimals_beside(value, limits, 0)}f}"


def _certainty(check: Check, lowest: _Lowest | None) -> Iterator[Sentence]:
    if lowest is not None:
        table, group, source = _at(check, lowest)
        interval = shown_interval(group)
        assert interval is not None
        assert table.reference is not None  # which a ratio with an interval is to
        low, high = (_of_hundred(check, end) for end in (interval.low, interval.high))
        yield Sentence(
            f"Impact ratio, {called(group.name)} to {called(table.reference)}"
            f"{_in_table(table, check)}: between {low} and {high} for every 100 "
            f"({100 * interval.level:.4g}% CI, {what_holds_together(interval)}).",
            source,
        )
        if group.possible is not None:
            least, most = (_of_hundred(check, end) for end in group.possible)
            yield Sentence(
                "Whatever is not printed (unknown categories, rounded rates): between "
                f"{least} and {most} for every 100.",
                source,
            )
    for text in limit_sentences(check):
        yield Sentence(text, ("limit",))


def _steps(check: Check) -> Iterator[Sentence]:
    if check.errors:
        yield analyst("send the errors to the publisher of the tables.", ("errors",))
    if any(each.counts for each in check.unread):
        yield analyst("check what was not read by itself; the reasons are below.", ("unread",))
    if any(group.n is None for table in check.tables for group in table.groups):
        yield analyst(
            "ask for the number of people in every category: a rate alone has no interval.",
            ("tables",),
        )
    changed = [table for table in check.tables if table.changed_by_highest]
    if changed:
        groups = changed[0].equal_references or (changed[0].reference or "",)
        options = " or ".join(map(reference_flag, groups))
        yield owner(
            f"state which reference the rule is of: the chosen group ({options}), or the highest "
            "rate (--preset ugesp).",
            ("tables",),
        )
    if check.limit is None:
        yield owner(
            "state the smallest ratio that is tolerable, as a rule: selection_rate.ratio >= LIMIT.",
            ("limit",),
        )
    open_ones = [each for each in check.verdicts if each.outcome is Outcome.INCONCLUSIVE]
    of_unknown = [
        each
        for each in open_ones
        if each.reason.code is ReasonCode.MISSING_GROUPS or each.reason.get("open_rows") is not None
    ]
    of_reference = [
        each for each in open_ones if each.reason.code is ReasonCode.REFERENCE_NOT_SHOWN
    ]
    if of_reference:
        reason = of_reference[0].reason
        chosen, other = (reference_flag(str(reason[of])) for of in ("chosen", "other"))
        yield analyst(
            "state which of the categories that fit the printed ratios equally is the reference: "
            f"the one taken ({chosen}) or another ({other}).",
            ("verdict",),
        )
    if len(of_unknown) + len(of_reference) < len(open_ones):
        yield analyst(
            "plan how many people would decide what is inconclusive (fairgauge plan).", ("verdict",)
        )
    if of_unknown:
        yield analyst(
            "ask for the categories of the people of unknown category: no number of further people "
            "decides what these leave open.",
            ("verdict",),
        )
    yield analyst("audit the decisions themselves where they are at hand (fairgauge audit).")
