"""The document of a check of published tables: errors, then each table with its ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairgauge.enums import Outcome, RateTest
from fairgauge.reasons import ReasonCode
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import TONES, document_of, listed, table_of_rows
from fairgauge.render.page import plain
from fairgauge.render.streams import flat
from fairgauge.render.words.display_names import all_called, called, capitalised
from fairgauge.render.words.metric_words import published_range
from fairgauge.render.words.numbers import listing, numbered
from fairgauge.render.words.reason_sentences import INSUFFICIENT
from fairgauge.render.words.verdict_sentences import outcome_word
from fairgauge.results.check import (
    AlternativeReference,
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultLevel,
    SmallestReference,
)
from fairgauge.results.statement import Statement
from fairgauge.statements.check import fault_statement, holds_together, table_place

_FEW = 3
"""Tables that are shown whole where not everything is."""
_MOST_BARS = 40
"""Tables that have a bar each; of more, one of all is drawn."""
METHOD = (
    "Printed numbers are held against the numbers they are made of, to the precision of their "
    "last printed place; a number that is cut off instead of rounded is no error. Ratios compare "
    "each category's rate with the highest one among categories that are large enough, "
    "or with that of the category that was named. Where the header of the printed ratios means "
    "a chosen group (AIR), and no preset calls for the highest rate, they compare with that group, "
    "or with the largest of several that fit the printed ratios equally. "
    "Their confidence intervals are MOVER's of "
    "Wilson's limits, or, of rates more than 0.5 apart with fewer than 50 people on a side, "
    "skewness-corrected score intervals (SCAS). They take the reference as given; with a limit "
    "they allow for the choice of "
    "the reference by the data (multiple comparisons with the best); a reference that was named or "
    "chosen takes no such allowance. {test} The flip rule asks whether one more selection in the "
    "category and one fewer in the reference would make the category's rate the higher one. "
    "Where a table prints rounded rates and no number of selected people, any whole numbers that "
    "agree with the rates may be the counts: intervals, p-values (the largest) and verdicts hold "
    "for all of them, and with a limit for every category that may have the highest rate. Possible "
    "ratios put people of unknown category wherever they move the ratio most, into the reference "
    "too, which may then be another of the categories that are large enough, or are with them, and "
    "take whichever of those counts do the same."
)
"""How a published table is checked."""
_RATES_ALONE = (
    "not printed for every category: the whole numbers that agree with the printed rates; "
    "intervals, p-values and verdicts hold for all of them"
)
_PRINTED_INTERVALS = (
    "a printed interval, which may hold for other comparisons too, is not held against it"
)
"""What the table does not show, which gives the reference a verdict, too."""
_NO_PEOPLE = (
    "none, because the number of people is not printed: a rate alone does not show how precise it "
    "is"
)
_TESTS = {
    RateTest.FISHER: "p-values are of Fisher's exact test, not adjusted for their number.",
    RateTest.PEARSON: "p-values are of Pearson's chi-square test (the two-sample z-test), not "
    "adjusted for their number.",
    RateTest.YATES: "p-values are of the chi-square test with Yates's continuity correction, not "
    "adjusted for their number.",
}


def check_document(check: Check, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a check of published tables.

    Of more than a few tables, one that is not ``full`` has the summary and the errors.
    """
    tables = len(check.tables)
    whole = full or tables <= _FEW
    sections = [listed("ratios", "Ratios", *_summary(check))]
    if whole:
        sections += [
            listed(f"table-{i}", _title(table, check), *_table(table, check))
            for i, table in enumerate(check.tables)
        ]
    else:
        errors = tuple(
            f"{_title(table, check)}. {_in_place(fault)}"
            for table in check.tables
            for fault in table.errors
        )
        if errors:
            sections.append(tree.Section("errors", "Errors", (tree.Items(errors),)))
    if check.unread:
        unread = (f"{called(each.source)}: {each.reason}." for each in check.unread)
        sections.append(listed("not-read", "Not read", tree.Items(tuple(unread))))
    sections.append(
        listed("method", "Method", tree.Paragraph(METHOD.format(test=_TESTS[check.test])))
    )
    return document_of(
        check,
        title="Check of published tables",
        beside="; ".join((numbered(tables, "tables"), *_unread(check))),
        cover=(("source", _sources(check)),),
        verdict=_verdict(check),
        tone=tree.Tone.BAD if check.errors else TONES.get(check.verdict, tree.Tone.UNSURE),
        sections=sections,
        not_shown=() if whole else ("the categories and notes of every table",),
        file_name="check",
    )


def _title(table: CheckedTable, check: Check) -> str:
    return ": ".join(map(called, table_place(table, check)))


def _sources(check: Check) -> str:
    names = list(dict.fromkeys(table.source for table in check.tables))
    return (
        plain().say("published", "from", Statement(code="published", facts={"sources": names}))
        or ""
    )


def _in_place(fault: Fault) -> str:
    return plain().say("in_place", "text", fault_statement(fault)) or ""


def _verdict(check: Check) -> str:
    """Return the errors, what the limit comes to, and how much was not read."""
    errors = check.errors
    parts = [numbered(errors, "errors")] if errors else []
    if check.limit is not None and not check.verdicts:
        parts.append("no verdict without counts")
    elif check.verdict is not Outcome.NONE:
        parts.append(outcome_word(check.verdict))
    return "; ".join((*parts, *_unread(check))).upper()


def _summary(check: Check) -> Iterator[tree.Block]:
    """Yield what many tables come to, and how many of all ratios are decided by the limit."""
    several = len(check.tables) > 1
    if several and check.limit is not None and any(check.decisions.values()):
        yield _share_chart(check)
    if several:
        yield _tables(check)
    if several and check.fault_kinds:
        yield table_of_rows(
            "Faults by kind",
            check.fault_kinds,
            (tree.Column("Kind", numeric=False), lambda kind: str(kind.code).replace("_", " ")),
            (tree.Column("Level", numeric=False), lambda kind: str(kind.level)),
            ("Times", lambda kind: f"{kind.faults:,}"),
            ("Tables", lambda kind: f"{kind.tables:,}"),
        )


def _unread(check: Check) -> tuple[str, ...]:
    """Return how many files, or tables of them, could not be read; nothing without any."""
    unread = sum(each.counts for each in check.unread)
    return (f"{unread:,} not read",) if unread else ()


def _parts(smallest: SmallestReference) -> dict[tree.SharePart, tuple[Decision, ...]]:
    """Return the parts of the chart of decisions."""
    share = f"below {100 * smallest.share:g}% of the people"
    return {
        tree.SharePart("pass", tree.Tone.GOOD, "P"): (Decision.PASS,),
        tree.SharePart("fail", tree.Tone.BAD, "F"): (Decision.FAIL,),
        tree.SharePart("inconclusive", tree.Tone.UNSURE, "?"): (Decision.INCONCLUSIVE,),
        tree.SharePart(share, tree.Tone.SOFT, "-"): (Decision.BELOW_SHARE,),
        tree.SharePart(f"{INSUFFICIENT} or no counts", tree.Tone.PLAIN, "."): (
            Decision.FEW_PEOPLE,
            Decision.SMALL_REFERENCE,
            Decision.NOT_COMPUTED,
        ),
    }


def _share_chart(check: Check) -> tree.ShareChart:
    """Return how many ratios are decided, in all and by table where these are not too many."""
    every = _parts(check.smallest_reference)
    parts = {part: of for part, of in every.items() if any(check.decisions[each] for each in of)}

    def bar(
        label: str, counted: Mapping[Decision, int], *, emphasis: bool = False
    ) -> tree.ShareBar:
        counts = tuple(sum(counted[each] for each in several) for several in parts.values())
        return tree.ShareBar(label, counts, emphasis)

    shown = check.tables if len(check.tables) <= _MOST_BARS else ()
    bars = [bar(_title(table, check), table.decisions) for table in shown if table.ratios]
    return tree.ShareChart(
        f"Ratios decided by the limit {check.limit:g}",
        tuple(parts),
        (bar("All tables", check.decisions, emphasis=True), *bars),
    )


def _tables(check: Check) -> tree.Table:
    """Return a row for every table, and one for all."""
    decided = check.limit is not None
    heads = [decision for decision, count in check.decisions.items() if decided and count]
    names = {
        Decision.PASS: "Pass",
        Decision.FAIL: "Fail",
        Decision.INCONCLUSIVE: "Inconclusive",
        Decision.BELOW_SHARE: f"Below {100 * check.smallest_reference.share:g}%",
        Decision.FEW_PEOPLE: capitalised(INSUFFICIENT),
        Decision.SMALL_REFERENCE: "Small reference",
        Decision.NOT_COMPUTED: "No counts",
    }

    def row(label: str, tables: tuple[CheckedTable, ...]) -> tuple[tree.Cell, ...]:
        numbers = [
            sum(table.ratios for table in tables),
            *(sum(table.decisions[each] for table in tables) for each in heads),
            sum(len(table.errors) for table in tables),
            sum(len(table.faults) - len(table.errors) for table in tables),
        ]
        return (tree.Cell(label), *(tree.Cell(f"{number:,}") for number in numbers))

    columns = ("Table", "Ratios", *(names[each] for each in heads), "Errors", "Notes")
    return tree.Table(
        "Ratios by table" if decided else "Tables",
        tuple(tree.Column(each, numeric=i > 0) for i, each in enumerate(columns)),
        tuple(row(_title(table, check), (table,)) for table in check.tables),
        totals=(row("All tables", check.tables),),
        stacked=True,
    )


def _table(table: CheckedTable, check: Check) -> Iterator[tree.Block]:
    errors = [fault for fault in table.faults if fault.level is FaultLevel.ERROR]
    notes = [fault for fault in table.faults if fault.level is FaultLevel.NOTE]
    if errors:
        yield tree.Paragraph("Errors", tree.Tone.BAD)
        yield tree.Items(tuple(map(_in_place, errors)))
    yield tree.Facts(tuple(_facts(table, check)))
    rated = [group for group in table.groups if group.interval is not None]
    if rated:
        shown = [group for group in table.groups if group.is_reference or group in rated]
        yield tree.Chart(
            "Impact ratio: rate divided by that of the reference",
            tuple(_chart_row(group) for group in shown),
            tree.Unit.RATIO,
            neutral=1.0,
            allowed=None if check.limit is None else (check.limit, float("inf")),
        )
    yield _groups(table, f"{100 * check.level:.4g}% CI", f"p ({str(check.test).capitalize()})")
    if notes:
        yield tree.Items(tuple(map(_in_place, notes)))


def _facts(table: CheckedTable, check: Check) -> Iterator[tuple[str, str]]:
    yield (
        "read as",
        "; ".join(f"{role}: {called(header)}" for role, header in table.columns.items()),
    )
    if table.reference is not None:
        named = table.reference in check.references
        how = "as named" if named else _chosen(table, check.smallest_reference)
        if table.compares_as_printed:
            how = "the chosen group of the printed ratios"
            if equal := table.equal_references:
                how = f"one of {all_called(equal)}, which fit the printed ratios equally"
        yield "reference", f"{called(table.reference)}: {how}{_open_reference(table)}"
    if table.printed_reference is not None and table.printed_reference != table.reference:
        yield "printed reference", called(table.printed_reference)
    if table.other_reference is not None:
        yield "another reference", _other_reference(table.other_reference, table, check)
    if any(group.selected_range for group in table.groups):
        yield "selected", _RATES_ALONE
    if all(group.n is None for group in table.groups):
        yield "intervals", _NO_PEOPLE
    if table.weighted:
        yield "intervals", f"none, because {plain().say('no_intervals', 'weighted')}"
    held = {
        plain().say("holds_for", "all" if holds_together(each) else "one") or ""
        for each in table.groups
        if each.shown_interval
    }
    if held:
        yield "intervals", f"{' or '.join(sorted(held))}; {_PRINTED_INTERVALS}"
    if table.unknown is not None:
        yield "unknown category", f"{table.unknown:,} people"


def _other_reference(other: AlternativeReference, table: CheckedTable, check: Check) -> str:
    """Return which other category could be the reference, and what that would come to."""
    rate = "the same rate" if other.same_rate else "a higher rate"
    printed = other.name == table.printed_reference
    start = f"{called(other.name)}: {'the reference of the printed ratios' if printed else rate}"
    if check.limit is None:
        return start
    effects = []
    if other.changes:
        verdicts = "verdict" if len(other.changes) == 1 else "verdicts"
        names = all_called(other.changes)
        effects.append(f"the {verdicts} of {names} would change")
    if other.not_evaluated:
        names = all_called(other.not_evaluated)
        few = f"because {called(other.name)} has too few people"
        effects.append(f"{names} would not be evaluated, {few}")
    reference = "the highest rate" if table.compares_as_printed else "it"
    effect = listing(effects) or "no verdict would change"
    return f"{start}; with {reference} as the reference, {effect}"


def _chosen(table: CheckedTable, smallest: SmallestReference) -> str:
    """Return how the reference was chosen: without the number of people, of all printed rates."""
    if all(group.n is None for group in table.groups):
        return "the highest rate that is printed"
    share = f"{100 * smallest.share:g}% of the people and at least " if smallest.share else ""
    large = f"at least {share}{smallest.people} people"
    own = next((group.n for group in table.groups if group.name == table.reference), None)
    if own is not None and not smallest.admits(own, table.people):
        return f"one of the smaller categories, because none with a rate has {large}"
    return f"the highest rate among categories with {large}"


def _open_reference(table: CheckedTable) -> str:
    """Return that rounded rates leave the reference open, where it has a verdict for this."""
    own = (group.verdict for group in table.groups if group.is_reference)
    if not any(each and each.reason.code is not ReasonCode.REFERENCE_NOT_SHOWN for each in own):
        return ""
    return (
        "; as printed, because rounding leaves open which rate is the highest: intervals and "
        "verdicts hold for each that may be, and the reference has its own"
    )


def _chart_row(group: CheckedGroup) -> tree.ChartRow:
    low, high = tuple(group.shown_interval or (None, None))
    verdict = group.verdict
    sparse = verdict is not None and verdict.outcome is Outcome.NOT_EVALUATED
    whose = (ReasonCode.MISSING_GROUPS, ReasonCode.REFERENCE_NOT_SHOWN)
    unknown = verdict is not None and verdict.reason.code in whose
    text = "reference" if group.is_reference else f"{group.ratio:.3f}"
    if low is not None and high is not None:
        text += f" ({published_range(low, high)})"
    return tree.ChartRow(
        called(group.name),
        tree.Mark(group.ratio, low, high, sparse=sparse),
        text,
        below=verdict.says if verdict is not None and (sparse or unknown) else "",
        badge="" if verdict is None else outcome_word(verdict.outcome),
        tone=tree.Tone.PLAIN if verdict is None else TONES[verdict.outcome],
    )


def _groups(table: CheckedTable, level: str, test: str) -> tree.Table:
    possible = any(group.possible for group in table.groups)
    heads = ["Category", "n", "Selected", "Rate", "Printed ratio", "Ratio", level, test, "Flips"]
    heads += ["Possible"] if possible else []
    columns = tuple(tree.Column(each, numeric=i > 0) for i, each in enumerate(heads))
    rows = tuple(
        tuple(tree.Cell(text) for text in _cells(group, possible=possible))
        for group in table.groups
    )
    return tree.Table("Categories", columns, rows, stacked=True)


def _cells(group: CheckedGroup, *, possible: bool) -> list[str]:
    interval = group.shown_interval
    cells = [
        called(group.name),
        "" if group.n is None else f"{group.n:,}",
        _selected(group),
        "" if group.rate is None else f"{100 * group.rate:.2f}%",
        group.printed or "",
        "" if group.ratio is None else f"{group.ratio:.3f}",
        "" if interval is None else published_range(*interval),
        _p(group.p_value),
        {True: "yes", False: "no", None: ""}[group.flips],
    ]
    if group.is_reference:
        cells[6] = "reference" if interval is None else f"reference; {cells[6]}"
    if possible:
        ends = group.possible
        cells.append("" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}")
    return cells


def _selected(group: CheckedGroup) -> str:
    if group.selected is not None:
        return f"{group.selected:,}"
    if group.selected_range is None:
        return ""
    return " to ".join(dict.fromkeys(f"{end:,}" for end in group.selected_range))


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _published(check: Check) -> Iterator[dict[str, Any]]:
    """Yield every published table."""
    for table in check.to_dict()["tables"]:
        levels = [fault["level"] for fault in table["faults"]]
        row = {**table, **(table["decisions"] or {}), "table": table["name"]}
        yield row | {"errors": levels.count("error"), "notes": levels.count("note")}


def _faults(check: Check) -> Iterator[dict[str, Any]]:
    for table in check.to_dict()["tables"]:
        for fault in table["faults"]:
            yield {**fault, "source": table["source"], "table": table["name"]}


def _ratios(check: Check) -> Iterator[dict[str, Any]]:
    """Yield every category of every published table."""
    for table in check.to_dict()["tables"]:
        for group in table["groups"]:
            low, high = group["possible"] or (None, None)
            row = {**flat(group), "source": table["source"], "table": table["name"]}
            row |= {"lowest_possible": low, "highest_possible": high}
            if (verdict := group["verdict"]) is not None:
                reason = verdict["reason"]["message"]
                row |= {"verdict": verdict["outcome"], "verdict_reason": reason}
                row |= {"deciding_low": verdict["low"], "deciding_high": verdict["high"]}
            fewest, most = group["selected_range"] or (None, None)
            yield row | {"fewest_selected": fewest, "most_selected": most}


STREAMS = {"published": _published, "faults": _faults, "ratios": _ratios}
