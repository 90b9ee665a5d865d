"""Sentences of a check of published tables: its arithmetic, its limit, and what it is without."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from fairgauge import errors
from fairgauge.enums import IntervalMethod
from fairgauge.errors import quote
from fairgauge.render.words.display_names import all_called, called
from fairgauge.render.words.numbers import listing, numbered, plural
from fairgauge.render.words.reason_sentences import INSUFFICIENT
from fairgauge.results.check import (
    Check,
    CheckedGroup,
    CheckedTable,
    Decision,
    Fault,
    FaultCode,
    SmallestReference,
)
from fairgauge.results.scopes import Interval

LIMITATIONS = (
    (
        "That the right people were counted: a table that adds up can still be of the wrong ones, "
        "and a check does not know when they were counted, or how categories were determined."
    ),
    "Whether an audit meets a law.",
)


WEIGHTED = "the rates are weighted, and unweighted rows do not show how precise they are"
"""Why a table of weighted rates has no intervals."""


def sources_of(check: Check) -> str:
    """Return where the tables are from."""
    names = list(dict.fromkeys(table.source for table in check.tables))
    if len(names) > 1:
        return f"{len(names):,} files"
    return "pasted text" if names[0] is None else called(names[0])


def describe_arithmetic(check: Check) -> str:
    """Return how many printed numbers do not follow from the others, of those checked."""
    tables, errors = len(check.tables), check.errors
    of = f"{numbered(tables, 'tables')}"
    if not errors and not check.numbers_checked:
        return (
            f"The arithmetic of {of} was not checked: no rate, impact ratio or total is printed "
            "that follows from other numbers."
        )
    ratios = check.ratios_not_checked
    not_checked = f"{_ratios_were(ratios, _unchecked_kind(check))} not"
    if not errors and ratios:
        held = numbered(check.numbers_checked, "printed numbers")
        return f"No error in the {held} checked; {not_checked} checked."
    if not errors:
        numbers = check.numbers_checked
        checked = f"{numbers:,} {plural(numbers, 'printed number was', 'printed numbers were')}"
        none = sum(not table.numbers_checked for table in check.tables)
        without = f"; of {numbered(none, 'tables')} none was" if none else ""
        return f"No error in the arithmetic of {of}; {checked} checked{without}."
    affected = sum(1 for table in check.tables if table.errors)
    among = f"{affected:,} of {of}" if affected < tables else of
    more = f"; {not_checked} checked" if ratios else ""
    return f"{numbered(errors, 'errors')} in {among}{more}."


def limit_sentences(check: Check) -> Iterator[str]:
    """Yield how the limit decides ratios."""
    if check.limit is None:
        return
    if not check.counted:
        yield f"No ratio is decided by the limit: {_without_intervals(check)}."
        return
    chosen = any(
        table.reference not in check.references and not table.compares_as_printed
        for table in check.tables
    )
    allow = " allow for the choice of the reference by the data" if chosen else " decide"
    yield (
        f"The limit for impact ratios is {check.limit:g}, as asked; New York's Local Law 144 sets "
        "none. "
        f"The {100 * check.level:.4g}% confidence "
        f"intervals{allow}; verdicts are not adjusted for the number of ratios."
    )


def describe_higher(table: CheckedTable) -> str:
    """Return which category has a higher rate than a chosen group, and what that would change."""
    assert table.other_reference is not None
    assert table.reference is not None  # that of the printed ratios
    changes = table.other_reference.changes
    which = "one of several that fit the printed ones equally"
    if not table.equal_references:
        which = "the chosen group of the printed ones"
    text = (
        f"Ratios compare with {called(table.reference)}, {which}; "
        f"{called(table.other_reference.name)} has a higher rate"
    )
    if not changes:
        return f"{text}."
    verdicts = plural(len(changes), "verdict", "verdicts")
    return (
        f"{text}, and with the highest rate as the reference the {verdicts} of "
        f"{all_called(changes)} would change."
    )


def _without_intervals(check: Check) -> str:
    """Return why no ratio of any table has an interval."""
    groups = [group for table in check.tables for group in table.groups]
    if all(table.weighted for table in check.tables):
        return WEIGHTED
    if all(group.n is None for group in groups):
        return "the number of people is not printed"
    if all(group.rate is None for group in groups):
        return "no rate is printed or follows from the counts"
    if not any(group.rate for group in groups):
        return "every rate is 0"
    return "fewer than two categories have a number of people and a rate"


def unread_sentences(check: Check) -> Iterator[str]:
    """Yield how much was not read."""
    if unread := sum(each.counts for each in check.unread):
        words = plural(unread, "file, table, row or cell was", "files, tables, rows or cells were")
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
    return f"Of {numbered(counted, 'ratios')}, {listing(shown)}."


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


def what_holds_together(interval: Interval) -> str:
    """Return of how many ratios an interval of a check holds: of one, or of a table's together."""
    if IntervalMethod.TUKEY in interval.methods:
        return "for all pairs of large categories of its table together"
    return "for this ratio alone"


def counted_as(table: CheckedTable) -> str:
    """Return what the people of a rate did, after the headers of its table: selected, or scored."""
    headers = " ".join(table.columns.get(role, "") for role in ("rate", "selected"))
    return "score above the threshold" if _SCORED.search(headers) else "are selected"


_SCORED = re.compile(r"scor|\babove\b|median", re.IGNORECASE)
Parameters: TypeAlias = "dict[str, Any]"
"""What a fault is about; its code decides which values there are, and of which types."""
_DIGITS, _HALF = 3, 5
"""Digits of a number that has no thousands."""
_COLUMNS = {
    "n": "number of people",
    "selected": "number selected (or scored high)",
    "not_selected": "number not selected",
    "rate": "rate",
    "denial_rate": "denial rate",
    "ratio": "impact ratio",
    "denial_ratio": "denial ratio",
}


_STATED = {
    "n": "people in all groups together",
    "selected": "selected people in all groups together",
    "all": "people in all groups, with those who lack the rate",
    "unknown": "people of unknown category",
}


def describe_fault(fault: Fault) -> str:
    """Return a fault as a sentence without a full stop."""
    return _DESCRIBED[fault.code](dict(fault.parameters))


def describe_kind(code: FaultCode) -> str:
    """Return a kind of fault in a few words."""
    return _KINDS[code]


def _kind(p: Parameters) -> str:
    return str(p.get("of", "impact ratio"))


def _ratios_were(number: int, kind: str) -> str:
    return f"{number:,} {plural(number, f'{kind} was', f'{kind}s were')}"


def _unchecked_kind(check: Check) -> str:
    """Return what the ratios and rates that were not checked are, in all tables together."""
    faults = [fault for table in check.tables for fault in table.faults]
    kinds = {_kind(dict(f.parameters)) for f in faults if f.code is FaultCode.RATIOS_NOT_CHECKED}
    several = "printed ratio" if all(each.endswith("ratio") for each in kinds) else "printed number"
    return kinds.pop() if len(kinds) == 1 else several


def _column(p: Parameters) -> str:
    return _COLUMNS[p["column"]]


def _not_whole(p: Parameters) -> str:
    dotted = re.fullmatch(r"\d{1,3}(\.\d{3})+", str(p["printed"]))
    hint = "; if the dot separates thousands, write a comma or nothing" if dotted else ""
    return f"the {_column(p)} is {p['printed']}, which is not a whole number{hint}"


def _parts(p: Parameters) -> str:
    return (
        f"{p['selected']} selected and {p['not_selected']} not selected are "
        f"{_count(p['parts'], p['n'])} people; "
    )


def _rate_mismatch(p: Parameters) -> str:
    text = (
        f"the {p.get('of', 'rate')} is printed as {p['printed']}; {p['selected']} of {p['n']} is "
        f"{_rate(p['share'], p)}"
    )
    if not (ratios := p.get("ratios")):
        return text
    compare = plural(ratios, "compares", "compare")
    return f"{text}; {numbered(ratios, 'wrong impact ratios')} {compare} with this row"


def _mixed_units(p: Parameters) -> str:
    right = f"{_number(100 * p['share'])}{'%' if p['sign'] else ''}"
    return (
        f"the rate {p['printed']} is not in the unit of its column (share or per cent); "
        f"it should be {right if p['percent'] else _number(p['share'])}"
    )


def _total(p: Parameters) -> str:
    text = f"the total {_column(p)} is printed as {p['printed']}; its rows add up to {_sum(p)}"
    if "total_with_unknown" in p:
        text += f", with those of unknown category to {_sum(p, '_with_unknown')}"
    if "others" not in p:
        return text
    return (
        f"{text}; unless the table leaves out {_count(p['others'], p['printed'])} or more of "
        "them, such as a category, one of these numbers is wrong"
    )


def _sum(p: Parameters, of: str = "") -> str:
    ends = [_count(p[end], p["printed"]) for end in (f"total{of}", f"most{of}") if end in p]
    return _range(*ends) if len(ends) > 1 else f"at least {ends[0]}"


def _range(low: str, high: str) -> str:
    return low if low == high else f"between {low} and {high}"


def _margin(p: Parameters) -> str:
    unknown = f", {p['unknown']:,.10g} of unknown category aside" if p["unknown"] else ""
    is_, whose = "is printed as", "its"
    if names := p.get("categories"):
        is_, whose = f"of {listing([quote(name) for name in names])} together is", "their"
    text = (
        f"the {_column(p)} {is_} {p['printed']}; {whose} rows in the table {quote(p['other'])} "
        f"add up to {_sum(p)}{unknown}"
    )
    if "others" not in p:
        return text
    return (
        f"{text}; unless that table leaves out {_count(p['others'], p['printed'])} or more others, "
        "such as people of unknown category, one of these numbers is wrong"
    )


def _people_differ(p: Parameters) -> str:
    return (
        f"its categories and the people of unknown category are {p['people']:,.10g} people, those "
        f"of the table {quote(p['other'])} {p['others']:,.10g}"
    )


def _total_rate(p: Parameters) -> str:
    low, high = (_rate(p[end], p) for end in ("low", "high"))
    text = f"the total rate is printed as {p['printed']}; that of its rows is {_range(low, high)}"
    if "low_with_unknown" not in p:
        return text
    low, high = (_rate(p[f"{end}_with_unknown"], p) for end in ("low", "high"))
    return f"{text}, with those of unknown category {_range(low, high)}"


def _total_not_checked(p: Parameters) -> str:
    names = errors.listing(_COLUMNS[each] for each in p["columns"])
    return f"the total was not checked ({names}): numbers of its rows are not printed"


def _no_reference(p: Parameters) -> str:
    if p["taken"] is None:
        return "no category has a ratio of 1, so the table does not show what ratios compare with"
    return (
        f"no category has a ratio of 1; {quote(p['taken'])} without one is taken as the reference"
    )


def _ratios_not_checked(p: Parameters) -> str:
    names = p["categories"]
    why = "the reference or a rate is not known"
    if "column" in p:
        why = f"the column {quote(p['column'])} is not read"
    ratios = _ratios_were(len(names), _kind(p))
    return f"{ratios} not checked, because {why}: {errors.listing(names)}"


def _ratios_of_two_bases(p: Parameters) -> str:
    (counts, counts_ratio), (rates, rates_ratio) = zip(p["categories"], p["printed"], strict=True)
    return (
        f"some {_kind(p)}s are of the counts and others of the printed rates: {counts_ratio} of "
        f"{quote(counts)} follows from the counts alone, {rates_ratio} of {quote(rates)} from the "
        "printed rates alone"
    )


def _no_common_reference(p: Parameters) -> str:
    (name, ratio, rate), *others = zip(p["categories"], p["printed"], p["rates"], strict=True)
    if not others:
        return (
            f"no reference gives the {_kind(p)} {ratio} of {quote(name)}: it would need a "
            f"rate of about {rate}"
        )
    ((name_2, ratio_2, rate_2),) = others
    return (
        f"no single reference gives all {_kind(p)}s: {ratio} of {quote(name)} needs one with a "
        f"rate of about {rate}, {ratio_2} of {quote(name_2)} one of about {rate_2}"
    )


def _count_recoverable(p: Parameters) -> str:
    how = "its rate and its people" if p["total"] is None else f"the row {quote(p['total'])}"
    return (
        f"the {_column(p)} is withheld ({quote(p['printed'])}) and can be computed from {how}: "
        f"{_count(p['count'], '')}"
    )


def reference_flag(name: str) -> str:
    """Return the flag of `fairgauge check` for a category, which it reads as it is printed."""
    return f"--reference {shlex.quote(name)}"


def _not_highest(p: Parameters) -> str:
    name = p.get("reference")
    option = reference_flag(str(name))
    hint = f"; if {called(str(name))} is the control group, name it: {option}" if name else ""
    return (
        f"the reference of the ratios has a rate of {_rate(p['rate'], p)}, but "
        f"{quote(p['other'])} has the highest, {_rate(p['highest'], p)}{hint}"
    )


def _tied(p: Parameters) -> str:
    names = listing([quote(each) for each in (p["chosen"], *p["others"])])
    rate = f"{'printed ' if p['printed'] else ''}rate, {_number(p['rate'])}"
    why = "which has the most people" if p["by_people"] else "the first of them by name"
    why = "which has a printed ratio of 1" if p["by_ratio"] else why
    return f"{names} have the same highest {rate}; ratios compare with {quote(p['chosen'])}, {why}"


def _reference_not_shown(p: Parameters) -> str:
    names = listing([quote(each) for each in (p["chosen"], *p["others"])])
    why = {
        "people": "which has the most people",
        "rate": "which has the highest rate of them",
        "name": "the first of them by name",
    }[p["by"]]
    return (
        f"as their reference {names} fit the printed ratios equally; {quote(p['chosen'])}, {why}, "
        f"is taken; if it is another, name it: {reference_flag(str(p['others'][0]))}"
    )


def _of_all(p: Parameters) -> str:
    of = "all" if p["all_stated"] else "those whose number is printed"
    return f"{100 * p['share']:.1f}% of {of}"


def _numbers_missing(p: Parameters) -> str:
    names = " and the ".join(_COLUMNS[each] for each in p["columns"])
    verb = "is" if len(p["columns"]) == 1 else "are"
    return f"the {names} {verb} missing, so the row cannot be checked"


def _not_stated(p: Parameters) -> str:
    cells = zip(p["printed"], p["columns"], strict=True)
    named = ", ".join(f"{quote(text)} ({_COLUMNS[column]})" for text, column in cells)
    rows = f" in rows {listing([*map(str, p['rows'])], most=100)}" if "rows" in p else ""
    return f"text stands in the place of a number, which is treated as not stated: {named}{rows}"


def _rate(share: float, p: Parameters) -> str:
    """Return a share in the unit of the printed rate: as a percentage, with its sign, or not."""
    if not p.get("percent"):
        return _number(share)
    digits = 3 if round(1e4 * share) % 10 == _HALF else 2  # which way the second is rounded
    return f"{round(100 * share, digits):.10g}{'%' if '%' in str(p['printed']) else ''}"


def _count(value: float, printed: str) -> str:
    """Return a count with a comma between its thousands, unless a printed one goes without."""
    plain = len(printed) > _DIGITS and printed.isdigit()
    return f"{value:.0f}" if plain else f"{value:,.0f}"


def _number(value: float) -> str:
    text = f"{value:.4f}"
    text = f"{value:.6f}" if text.endswith("5") else text  # which way it is rounded must show
    return text.rstrip("0").rstrip(".")


_DESCRIBED: dict[FaultCode, Callable[[Parameters], str]] = {
    FaultCode.NOT_WHOLE: _not_whole,
    FaultCode.NEGATIVE: lambda p: f"the {_column(p)} is {p['printed']}, which is negative",
    FaultCode.SELECTED_EXCEEDS_N: lambda p: (
        f"{p['selected']} of {p['n']} people are counted in the rate, more than there are"
    ),
    FaultCode.PARTS_EXCEED_N: lambda p: f"{_parts(p)}the number of people is printed as {p['n']}",
    FaultCode.PARTS_BELOW_N: lambda p: (
        f"{_parts(p)}what became of the others of {p['n']} is not read from the table"
    ),
    FaultCode.RATE_OUT_OF_RANGE: lambda p: f"the rate {p['printed']} is not between 0 and 1",
    FaultCode.RATE_IMPOSSIBLE: lambda p: (
        f"the rate {p['printed']} is that of no whole number of {p['n']} people"
    ),
    FaultCode.RATE_MISMATCH: _rate_mismatch,
    FaultCode.RATE_OF_OTHER_ROW: lambda p: (
        f"the rate is printed as {p['printed']}, which is the rate of "
        f"{quote(p['other'])}; its own is {_rate(p['share'], p)}"
    ),
    FaultCode.MIXED_UNITS: _mixed_units,
    FaultCode.RATIO_MISMATCH: lambda p: (
        f"the {_kind(p)} is printed as {p['printed']}; compared with {quote(p['reference'])} it "
        f"is {_number(p['ratio'])}"
    ),
    FaultCode.RATIO_INVERTED: lambda p: (
        f"the {_kind(p)} {p['printed']} is inverted: compared with {quote(p['reference'])} it "
        f"is {_number(p['ratio'])}"
    ),
    FaultCode.RATIO_OF_ANOTHER_REFERENCE: lambda p: (
        f"the {_kind(p)} {p['printed']} would be that to {quote(p['other'])}; compared with "
        f"{quote(p['reference'])}, the reference of the table, it is {_number(p['ratio'])}"
    ),
    FaultCode.REPEATED_CATEGORY: lambda p: f"the category stands in row {p['other']} already",
    FaultCode.REPEATED_ROW: lambda p: (
        f"the counts are the same as those of {quote(p['other'])}; this may be a copied row"
    ),
    FaultCode.TOTAL_MISMATCH: _total,
    FaultCode.TOTAL_RATE_MISMATCH: _total_rate,
    FaultCode.TOTAL_NOT_CHECKED: _total_not_checked,
    FaultCode.MARGIN_MISMATCH: _margin,
    FaultCode.PEOPLE_DIFFER: _people_differ,
    FaultCode.TOTALS_DIFFER: lambda p: (
        f"{_people_differ(p)}: if each person is in one category of each, one of them is wrong"
    ),
    FaultCode.SENTENCE_MISMATCH: lambda p: (
        f"a sentence of the report states {p['stated']:,} {_STATED[p['what']]}; by the rows of the "
        f"table it is {p['rows']:,.10g}"
    ),
    FaultCode.SENTENCES_DIFFER: lambda p: (
        f"sentences of the report state different numbers (people, selected, rate) of "
        f"{quote(p['group'])}, which is excluded: {listing([f'({each})' for each in p['stated']])}"
    ),
    FaultCode.COPY_DIFFERS: lambda p: (
        f"two copies of the table in the report differ in {quote(p['column'])}: "
        f"{quote(p['printed'])} among the tables to publish, {quote(p['other'])} on the first page"
    ),
    FaultCode.NO_COMMON_REFERENCE: _no_common_reference,
    FaultCode.RATIOS_OF_TWO_BASES: _ratios_of_two_bases,
    FaultCode.NO_REFERENCE: _no_reference,
    FaultCode.OTHER_PRINTED_REFERENCE: lambda p: (
        f"the printed ratios compare with {quote(p['printed'])}, not with {quote(p['named'])} as "
        "named"
    ),
    FaultCode.RATIOS_NOT_CHECKED: _ratios_not_checked,
    FaultCode.REFERENCE_NOT_HIGHEST: _not_highest,
    FaultCode.HIGHER_RATE: lambda p: (
        f"{quote(p['other'])} has a higher rate, {_rate(p['highest'], p)}, than the reference of "
        f"the ratios, {_rate(p['rate'], p)}; how many people it has is not printed"
    ),
    FaultCode.REFERENCE_IS_SMALL: lambda p: (
        f"the reference of the ratios has {p['n']:,.10g} people, {_of_all(p)}; "
        f"the highest rate among larger categories is that of {quote(p['other'])}"
    ),
    FaultCode.REFERENCE_TIED: _tied,
    FaultCode.REFERENCE_NOT_SHOWN: _reference_not_shown,
    FaultCode.SEVERAL_REFERENCES: lambda p: (
        f"the {p.get('of', 'ratio')} is printed as 1, as is that of {quote(p['other'])}, which has "
        "another rate"
    ),
    FaultCode.RATIO_MISSING: lambda p: (
        f"no impact ratio is printed for {p['n']:,.10g} people, {_of_all(p)}"
    ),
    FaultCode.RATIO_OF_UNKNOWN: lambda p: (
        f"people of unknown category have a {p.get('of', 'ratio')} ({p['printed']}); they are no "
        "category"
    ),
    FaultCode.NUMBERS_MISSING: _numbers_missing,
    FaultCode.NOT_STATED: _not_stated,
    FaultCode.COLUMNS_IGNORED: lambda p: (
        f"these columns of numbers are not read: {errors.listing(p['columns'])}"
    ),
    FaultCode.COUNT_RECOVERABLE: _count_recoverable,
    FaultCode.CATEGORY_MISSING: lambda p: (
        f"these combinations have no row: {errors.listing(p['categories'])}"
    ),
    FaultCode.UNKNOWN_NOT_STATED: lambda _: (
        "no row of the table states how many people are of unknown category; look for it in the "
        "text around the table"
    ),
}


_KINDS: dict[FaultCode, str] = {
    FaultCode.NOT_WHOLE: "count that is not a whole number",
    FaultCode.NEGATIVE: "negative count",
    FaultCode.SELECTED_EXCEEDS_N: "more people counted in a rate than there are",
    FaultCode.PARTS_EXCEED_N: "more people selected and not selected than there are",
    FaultCode.PARTS_BELOW_N: "people neither selected nor not selected",
    FaultCode.RATE_OUT_OF_RANGE: "rate above 1 or below 0",
    FaultCode.RATE_IMPOSSIBLE: "rate of no whole number of people",
    FaultCode.RATE_MISMATCH: "rate that does not follow from the counts",
    FaultCode.RATE_OF_OTHER_ROW: "rate of another row",
    FaultCode.MIXED_UNITS: "rate in another unit than its column",
    FaultCode.RATIO_MISMATCH: "ratio that does not follow from the rates",
    FaultCode.RATIO_INVERTED: "inverted ratio",
    FaultCode.RATIO_OF_ANOTHER_REFERENCE: "ratio to another reference",
    FaultCode.REPEATED_CATEGORY: "category that stands twice",
    FaultCode.REPEATED_ROW: "row with the counts of another",
    FaultCode.TOTAL_MISMATCH: "total that is not the sum of its rows",
    FaultCode.TOTAL_RATE_MISMATCH: "total rate that is not that of its rows",
    FaultCode.TOTAL_NOT_CHECKED: "total that was not checked",
    FaultCode.MARGIN_MISMATCH: "count that is not the sum of its intersections",
    FaultCode.PEOPLE_DIFFER: "people that are not those of the intersections",
    FaultCode.TOTALS_DIFFER: "people that are not those of another feature",
    FaultCode.SENTENCE_MISMATCH: "number in a sentence that is not that of the rows",
    FaultCode.SENTENCES_DIFFER: "sentences of an excluded group with different numbers",
    FaultCode.COPY_DIFFERS: "cell that another copy of the table has otherwise",
    FaultCode.NO_COMMON_REFERENCE: "ratios of no single reference",
    FaultCode.RATIOS_OF_TWO_BASES: "ratios of counts beside others of printed rates",
    FaultCode.NO_REFERENCE: "no category with a ratio of 1",
    FaultCode.OTHER_PRINTED_REFERENCE: "printed ratios to another category than the named one",
    FaultCode.RATIOS_NOT_CHECKED: "ratios that were not checked",
    FaultCode.REFERENCE_NOT_HIGHEST: "reference without the highest rate",
    FaultCode.HIGHER_RATE: "higher rate than that of the reference",
    FaultCode.REFERENCE_IS_SMALL: "reference of few people",
    FaultCode.REFERENCE_TIED: "several categories with the highest rate",
    FaultCode.REFERENCE_NOT_SHOWN: "several references that fit the ratios equally",
    FaultCode.SEVERAL_REFERENCES: "ratio of 1 in several categories",
    FaultCode.RATIO_MISSING: "category without a ratio",
    FaultCode.RATIO_OF_UNKNOWN: "ratio of people of unknown category",
    FaultCode.NUMBERS_MISSING: "row without numbers",
    FaultCode.NOT_STATED: "text in the place of a number",
    FaultCode.COLUMNS_IGNORED: "columns that are not read",
    FaultCode.COUNT_RECOVERABLE: "withheld count that can be computed",
    FaultCode.CATEGORY_MISSING: "combination without a row",
    FaultCode.UNKNOWN_NOT_STATED: "no row of unknown category",
}
