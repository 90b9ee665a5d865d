"""The document of a check of published tables: errors, then each table with its ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Level, Outcome
from fairgauge.inference.interval import FEWEST_ROWS
from fairgauge.render.display_names import called
from fairgauge.render.document_tree import (
    Block,
    Cell,
    Chart,
    ChartRow,
    Column,
    DocumentTree,
    Facts,
    Items,
    Mark,
    Paragraph,
    Section,
    Table,
    Tone,
    Unit,
)
from fairgauge.render.numbers import listing, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.published.check_results import Check, CheckedGroup, CheckedTable
    from fairgauge.published.faults import Fault
    from fairgauge.report.results import Interval

_TONES = {Outcome.FAIL: Tone.BAD, Outcome.PASS: Tone.GOOD}
METHOD = (
    "Printed numbers are held against the numbers they are made of, to the precision of their last "
    "printed place; a number that is cut off instead of rounded is no error. Ratios compare each "
    "category's selection rate with the highest one among categories that are large enough. Their "
    "confidence intervals are MOVER's of Wilson's limits and take the reference as given; with a "
    "limit they allow for the choice of the reference by the data (multiple comparisons with the "
    "best). p-values are Fisher's exact test. "
    "The flip rule asks whether one more selection in the category and one fewer in the reference "
    "would make the category's rate the higher one. Possible ratios put people of unknown category "
    "wherever they move the ratio most, into the reference too, which may then be another of the "
    "categories that are large enough."
)
"""How a published table is checked."""


def check_document(check: Check) -> DocumentTree:
    """Build the document of a check of published tables."""
    tables = len(check.tables)
    errors = check.errors
    verdict = _verdict(check)
    words = (
        f"{errors:,} {plural(errors, 'error', 'errors')} in {tables:,} "
        f"{plural(tables, 'table', 'tables')}."
        if errors
        else f"No error in the arithmetic of {tables:,} {plural(tables, 'table', 'tables')}."
    )
    sections = [Section("summary", "Ratios", tuple(_summary(check)), short="Ratios")]
    sections += [
        Section(f"table-{i}", _title(table), tuple(_table(table, check)), short=table.name)
        for i, table in enumerate(check.tables)
    ]
    sections.append(Section("method", "Method", (Paragraph(METHOD),), short="Method"))
    return DocumentTree(
        title="Check of published tables",
        beside=f"{tables:,} {plural(tables, 'table', 'tables')}",
        lead=(words, *_limit(check)),
        cover=(),
        verdict=verdict,
        tone=Tone.BAD if errors else _TONES.get(check.verdict, Tone.UNSURE),
        sections=tuple(section for section in sections if section.blocks),
        created=check.created,
        version=check.version,
    )


def _verdict(check: Check) -> str:
    if check.errors:
        return "ERRORS" if check.verdict is Outcome.NONE else f"ERRORS; {_words(check.verdict)}"
    return "" if check.verdict is Outcome.NONE else _words(check.verdict)


def _words(outcome: Outcome) -> str:
    return str(outcome).replace("_", " ").upper()


def _limit(check: Check) -> Iterator[str]:
    if check.limit is None:
        return
    if not check.counted:
        yield "No ratio has an interval: it takes counts of people and of selected people, above 0."
        return
    yield (
        f"Ratios are held against {check.limit:g}. The {100 * check.level:.4g}% confidence "
        "intervals allow for the choice of the reference by the data; verdicts are not adjusted "
        "for the number of ratios."
    )


def _summary(check: Check) -> Iterator[Block]:
    """Yield how many of all ratios are decided by the limit, where there is one."""
    outcomes = [each.outcome for each in check.verdicts]
    if check.limit is None or not outcomes:
        return
    words = {
        Outcome.PASS: ("passes", "pass"),
        Outcome.FAIL: ("fails", "fail"),
        Outcome.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
        Outcome.NOT_EVALUATED: ("is not evaluated", "are not evaluated"),
    }
    shown = [
        f"{count:,} {plural(count, *verbs)}"
        for outcome, verbs in words.items()
        if (count := outcomes.count(outcome))
    ]
    yield Paragraph(
        f"Of {len(outcomes):,} {plural(len(outcomes), 'ratio', 'ratios')}, {listing(shown)}."
    )
    if len(check.tables) > 1:
        columns = ("Table", "Ratios", "Pass", "Fail", "Undecided", "Errors")
        rows = tuple(tuple(map(_plain_cell, _row(table))) for table in check.tables)
        heads = tuple(Column(each, numeric=i > 0) for i, each in enumerate(columns))
        yield Table("Ratios by table", heads, rows)


def _row(table: CheckedTable) -> tuple[str, ...]:
    outcomes = [group.verdict.outcome for group in table.groups if group.verdict]
    passed, failed = outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL)
    undecided = len(outcomes) - passed - failed
    numbers = (len(outcomes), passed, failed, undecided, len(table.errors))
    return (_title(table), *(f"{number:,}" for number in numbers))


def _plain_cell(text: str) -> Cell:
    return Cell(text)


def _title(table: CheckedTable) -> str:
    pasted = table.source == "pasted text"
    return called(table.name) if pasted else f"{called(table.source)}: {called(table.name)}"


def _table(table: CheckedTable, check: Check) -> Iterator[Block]:
    errors = [fault for fault in table.faults if fault.level is Level.WARNING]
    notes = [fault for fault in table.faults if fault.level is Level.NOTE]
    if errors:
        yield Paragraph("Errors", Tone.BAD)
        yield Items(tuple(map(_fault, errors)))
    yield Facts(tuple(_facts(table, check)))
    rated = [group for group in table.groups if group.interval is not None]
    if rated:
        shown = [group for group in table.groups if group.is_reference or group in rated]
        yield Chart(
            "Impact ratio: selection rate divided by that of the reference",
            tuple(_chart_row(group) for group in shown),
            Unit.RATIO,
            neutral=1.0,
            allowed=None if check.limit is None else (check.limit, float("inf")),
        )
    yield _groups(table, f"{100 * check.level:.4g}% CI")
    if notes:
        yield Items(tuple(map(_fault, notes)))


def _facts(table: CheckedTable, check: Check) -> Iterator[tuple[str, str]]:
    yield "read as", "; ".join(f"{role}: {called(header)}" for role, header in table.columns)
    if table.reference is not None:
        share = f"{100 * check.min_share:g}% of the people and at least {FEWEST_ROWS} people"
        name = called(table.reference)
        words = f"{name}: the highest selection rate among categories with at least {share}"
        yield "reference", words
    if table.printed_reference is not None and table.printed_reference != table.reference:
        yield "printed reference", called(table.printed_reference)
    if table.other_reference is not None:
        name, changed = table.other_reference
        groups = listing([called(group) for group in changed])
        effect = f"would change the verdict of {groups}" if changed else "would change no verdict"
        words = "has a higher rate or is the one printed"
        decided = f"; as the reference it {effect}" if check.limit is not None else ""
        yield "another reference", f"{called(name)} {words}{decided}"
    if table.unknown is not None:
        yield "unknown category", f"{table.unknown:,} people"


def _fault(fault: Fault) -> str:
    where = "" if fault.row is None else f"Row {fault.row[0]} ({called(fault.row[1])}): "
    text = fault.message
    return f"{where}{text if where else text[:1].upper() + text[1:]}."


def _chart_row(group: CheckedGroup) -> ChartRow:
    low, high = tuple(_interval(group) or (None, None))
    verdict = group.verdict
    sparse = verdict is not None and verdict.outcome is Outcome.NOT_EVALUATED
    text = "reference" if group.is_reference else f"{group.ratio:.3f}"
    if low is not None and high is not None:
        text += f" ({low:.3f} to {high:.3f})"
    return ChartRow(
        called(group.name),
        Mark(group.ratio, low, high, sparse=sparse),
        text,
        below=verdict.says if verdict is not None and sparse else "",
        badge="" if verdict is None else str(verdict.outcome).replace("_", " "),
        tone=Tone.PLAIN if verdict is None else _TONES.get(verdict.outcome, Tone.UNSURE),
    )


def _interval(group: CheckedGroup) -> Interval | None:
    """Return the interval that is shown: the one that decides, where there is a limit."""
    return group.deciding or group.interval


def _groups(table: CheckedTable, level: str) -> Table:
    possible = any(group.possible for group in table.groups)
    heads = ["Category", "n", "Selected", "Rate", "Printed ratio", "Ratio", level, "p", "Flips"]
    heads += ["Possible"] if possible else []
    columns = tuple(Column(each, numeric=i > 0) for i, each in enumerate(heads))
    rows = tuple(
        tuple(_plain_cell(text) for text in _cells(group, possible=possible))
        for group in table.groups
    )
    return Table("Categories", columns, rows)


def _cells(group: CheckedGroup, *, possible: bool) -> list[str]:
    interval = _interval(group)
    cells = [
        called(group.name),
        "" if group.n is None else f"{group.n:,}",
        "" if group.selected is None else f"{group.selected:,}",
        "" if group.rate is None else f"{100 * group.rate:.2f}%",
        group.printed or "",
        "" if group.ratio is None else f"{group.ratio:.3f}",
        "" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}",
        _p(group.p_value),
        {True: "yes", False: "no", None: ""}[group.flips],
    ]
    if group.is_reference:
        cells[6] = "reference"
    if possible:
        ends = group.possible
        cells.append("" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}")
    return cells


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"
