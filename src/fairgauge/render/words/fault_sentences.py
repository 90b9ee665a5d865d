"""Sentences about the faults of published tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge.errors import listing, quote
from fairgauge.render.words import numbers
from fairgauge.results.table_faults import FaultCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge.results.table_faults import Fault

Parameters: TypeAlias = "dict[str, Any]"
"""What a fault is about; its code decides which values there are, and of which types."""
_DIGITS = 3
"""Digits of a number that has no thousands."""
_COLUMNS = {
    "n": "number of people",
    "selected": "number selected",
    "not_selected": "number not selected",
    "rate": "selection rate",
    "ratio": "impact ratio",
}


def describe_fault(fault: Fault) -> str:
    """Return a fault as a sentence without a full stop."""
    return _DESCRIBED[fault.code](dict(fault.parameters))


def describe_kind(code: FaultCode) -> str:
    """Return a kind of fault in a few words."""
    return _KINDS[code]


def _column(p: Parameters) -> str:
    return _COLUMNS[p["column"]]


def _not_whole(p: Parameters) -> str:
    dotted = re.fullmatch(r"\d{1,3}(\.\d{3})+", str(p["printed"]))
    hint = "; if the dot separates thousands, write a comma or nothing" if dotted else ""
    return f"the {_column(p)} is {p['printed']}, which is not a whole number{hint}"


def _negative(p: Parameters) -> str:
    return f"the {_column(p)} is {p['printed']}, which is negative"


def _exceeds(p: Parameters) -> str:
    return f"{p['selected']} of {p['n']} people are selected, more than there are"


def _parts(p: Parameters) -> str:
    return (
        f"{p['selected']} selected and {p['not_selected']} not selected are "
        f"{_count(p['parts'], p['n'])} people; "
    )


def _parts_exceed(p: Parameters) -> str:
    return f"{_parts(p)}the number of people is printed as {p['n']}"


def _parts_below(p: Parameters) -> str:
    return f"{_parts(p)}what became of the others of {p['n']} is not read from the table"


def _out_of_range(p: Parameters) -> str:
    return f"the selection rate {p['printed']} is not between 0 and 1"


def _impossible(p: Parameters) -> str:
    return f"the selection rate {p['printed']} is that of no whole number of {p['n']} people"


def _rate_mismatch(p: Parameters) -> str:
    return (
        f"the selection rate is printed as {p['printed']}; {p['selected']} of {p['n']} is "
        f"{_rate(p['share'], p)}"
    )


def _rate_of_other(p: Parameters) -> str:
    return (
        f"the selection rate is printed as {p['printed']}, which is the rate of "
        f"{quote(p['other'])}; its own is {_rate(p['share'], p)}"
    )


def _mixed_units(p: Parameters) -> str:
    right = f"{_number(100 * p['share'])}{'%' if p['sign'] else ''}"
    return (
        f"the selection rate {p['printed']} is not in the unit of its column (share or per cent); "
        f"it should be {right if p['percent'] else _number(p['share'])}"
    )


def _ratio_mismatch(p: Parameters) -> str:
    return (
        f"the impact ratio is printed as {p['printed']}; compared with {quote(p['reference'])} it "
        f"is {_number(p['ratio'])}"
    )


def _ratio_inverted(p: Parameters) -> str:
    return (
        f"the impact ratio {p['printed']} is inverted: compared with {quote(p['reference'])} it "
        f"is {_number(p['ratio'])}"
    )


def _another_reference(p: Parameters) -> str:
    return (
        f"the impact ratio {p['printed']} compares with {quote(p['other'])}; compared with "
        f"{quote(p['reference'])}, the reference of the table, it is {_number(p['ratio'])}"
    )


def _repeated_category(p: Parameters) -> str:
    return f"the category stands in row {p['other']} already"


def _repeated_row(p: Parameters) -> str:
    return f"the counts are the same as those of {quote(p['other'])}; this may be a copied row"


def _total(p: Parameters) -> str:
    low, high = (_count(p[end], p["printed"]) for end in ("total", "most"))
    total = low if low == high else f"between {low} and {high}"
    return f"the total {_column(p)} is printed as {p['printed']}; its rows add up to {total}"


def _total_rate(p: Parameters) -> str:
    low, high = (_rate(p[end], p) for end in ("low", "high"))
    rate = low if low == high else f"between {low} and {high}"
    return f"the total selection rate is printed as {p['printed']}; that of its rows is {rate}"


def _total_not_checked(p: Parameters) -> str:
    names = listing(_COLUMNS[each] for each in p["columns"])
    return f"the total was not checked ({names}): numbers of its rows are not printed"


def _margin(p: Parameters) -> str:
    return (
        f"the {_column(p)} is printed as {p['printed']}; its rows in the table "
        f"{quote(p['other'])} add up to {_count(p['total'], p['printed'])}"
    )


def _no_reference(p: Parameters) -> str:
    if p["taken"] is None:
        return "no category has a ratio of 1, so the table does not show what ratios compare with"
    return (
        f"no category has a ratio of 1; {quote(p['taken'])} without one is taken as the reference"
    )


def _no_common_reference(p: Parameters) -> str:
    (name, ratio, rate), *others = zip(p["categories"], p["printed"], p["rates"], strict=True)
    if not others:
        return (
            f"no reference gives the impact ratio {ratio} of {quote(name)}: it would need a "
            f"selection rate of about {rate}"
        )
    ((name_2, ratio_2, rate_2),) = others
    return (
        f"no single reference gives all impact ratios: {ratio} of {quote(name)} needs one with a "
        f"selection rate of about {rate}, {ratio_2} of {quote(name_2)} one of about {rate_2}"
    )


def _count_recoverable(p: Parameters) -> str:
    how = "its rate and its people" if p["total"] is None else f"the row {quote(p['total'])}"
    return (
        f"the {_column(p)} is withheld ({quote(p['printed'])}) and can be computed from {how}: "
        f"{_count(p['count'], '')}"
    )


def _not_highest(p: Parameters) -> str:
    return (
        f"the reference of the ratios has a selection rate of {_number(p['rate'])}, but "
        f"{quote(p['other'])} has the highest, {_number(p['highest'])}"
    )


def _small_reference(p: Parameters) -> str:
    return (
        f"the reference of the ratios has {p['n']:,.10g} people, {_of_all(p)}; "
        f"the highest rate among larger categories is that of {quote(p['other'])}"
    )


def _tied(p: Parameters) -> str:
    names = numbers.listing([quote(each) for each in (p["chosen"], *p["others"])])
    rate = f"{'printed ' if p['printed'] else ''}selection rate, {_number(p['rate'])}"
    why = "which has the most people" if p["by_people"] else "the first of them by name"
    why = "which has a printed ratio of 1" if p["by_ratio"] else why
    return f"{names} have the same highest {rate}; ratios compare with {quote(p['chosen'])}, {why}"


def _several_references(p: Parameters) -> str:
    return (
        f"the ratio is printed as 1, as is that of {quote(p['other'])}, which has another "
        "selection rate"
    )


def _ratio_missing(p: Parameters) -> str:
    return f"no impact ratio is printed for {p['n']:,.10g} people, {_of_all(p)}"


def _of_all(p: Parameters) -> str:
    of = "all" if p["all_stated"] else "those whose number is printed"
    return f"{100 * p['share']:.1f}% of {of}"


def _ratio_of_unknown(p: Parameters) -> str:
    return f"people of unknown category have a ratio ({p['printed']}); they are no category"


def _numbers_missing(p: Parameters) -> str:
    names = " and the ".join(_COLUMNS[each] for each in p["columns"])
    verb = "is" if len(p["columns"]) == 1 else "are"
    return f"the {names} {verb} missing, so the row cannot be checked"


def _not_stated(p: Parameters) -> str:
    cells = zip(p["printed"], p["columns"], strict=True)
    named = ", ".join(f"{quote(text)} ({_COLUMNS[column]})" for text, column in cells)
    return f"text stands in the place of a number, which is treated as not stated: {named}"


def _category_missing(p: Parameters) -> str:
    return f"these combinations have no row: {listing(p['categories'])}"


def _columns_ignored(p: Parameters) -> str:
    text = f"these columns of numbers are not read: {listing(p['columns'])}"
    if not p["of_groups"]:
        return text
    return f"{text}; a table with a column for each group is checked one group at a time (--column)"


def _unknown_not_stated(p: Parameters) -> str:
    del p
    return (
        "no row of the table states how many people are of unknown category; look for it in the "
        "text around the table"
    )


def _rate(share: float, p: Parameters) -> str:
    """Return a share in the unit of the printed rate: as a percentage, with its sign, or not."""
    if not p["percent"]:
        return _number(share)
    return f"{round(100 * share, 2):.10g}{'%' if '%' in str(p['printed']) else ''}"


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
    FaultCode.NEGATIVE: _negative,
    FaultCode.SELECTED_EXCEEDS_N: _exceeds,
    FaultCode.PARTS_EXCEED_N: _parts_exceed,
    FaultCode.PARTS_BELOW_N: _parts_below,
    FaultCode.RATE_OUT_OF_RANGE: _out_of_range,
    FaultCode.RATE_IMPOSSIBLE: _impossible,
    FaultCode.RATE_MISMATCH: _rate_mismatch,
    FaultCode.RATE_OF_OTHER_ROW: _rate_of_other,
    FaultCode.MIXED_UNITS: _mixed_units,
    FaultCode.RATIO_MISMATCH: _ratio_mismatch,
    FaultCode.RATIO_INVERTED: _ratio_inverted,
    FaultCode.RATIO_OF_ANOTHER_REFERENCE: _another_reference,
    FaultCode.REPEATED_CATEGORY: _repeated_category,
    FaultCode.REPEATED_ROW: _repeated_row,
    FaultCode.TOTAL_MISMATCH: _total,
    FaultCode.TOTAL_RATE_MISMATCH: _total_rate,
    FaultCode.TOTAL_NOT_CHECKED: _total_not_checked,
    FaultCode.MARGIN_MISMATCH: _margin,
    FaultCode.NO_COMMON_REFERENCE: _no_common_reference,
    FaultCode.NO_REFERENCE: _no_reference,
    FaultCode.REFERENCE_NOT_HIGHEST: _not_highest,
    FaultCode.REFERENCE_IS_SMALL: _small_reference,
    FaultCode.REFERENCE_TIED: _tied,
    FaultCode.SEVERAL_REFERENCES: _several_references,
    FaultCode.RATIO_MISSING: _ratio_missing,
    FaultCode.RATIO_OF_UNKNOWN: _ratio_of_unknown,
    FaultCode.NUMBERS_MISSING: _numbers_missing,
    FaultCode.NOT_STATED: _not_stated,
    FaultCode.COLUMNS_IGNORED: _columns_ignored,
    FaultCode.COUNT_RECOVERABLE: _count_recoverable,
    FaultCode.CATEGORY_MISSING: _category_missing,
    FaultCode.UNKNOWN_NOT_STATED: _unknown_not_stated,
}


_KINDS: dict[FaultCode, str] = {
    FaultCode.NOT_WHOLE: "count that is not a whole number",
    FaultCode.NEGATIVE: "negative count",
    FaultCode.SELECTED_EXCEEDS_N: "more people selected than there are",
    FaultCode.PARTS_EXCEED_N: "more people selected and not selected than there are",
    FaultCode.PARTS_BELOW_N: "people neither selected nor not selected",
    FaultCode.RATE_OUT_OF_RANGE: "selection rate above 1 or below 0",
    FaultCode.RATE_IMPOSSIBLE: "selection rate of no whole number of people",
    FaultCode.RATE_MISMATCH: "selection rate that does not follow from the counts",
    FaultCode.RATE_OF_OTHER_ROW: "selection rate of another row",
    FaultCode.MIXED_UNITS: "selection rate in another unit than its column",
    FaultCode.RATIO_MISMATCH: "impact ratio that does not follow from the rates",
    FaultCode.RATIO_INVERTED: "inverted impact ratio",
    FaultCode.RATIO_OF_ANOTHER_REFERENCE: "impact ratio to another reference",
    FaultCode.REPEATED_CATEGORY: "category that stands twice",
    FaultCode.REPEATED_ROW: "row with the counts of another",
    FaultCode.TOTAL_MISMATCH: "total that is not the sum of its rows",
    FaultCode.TOTAL_RATE_MISMATCH: "total rate that is not that of its rows",
    FaultCode.TOTAL_NOT_CHECKED: "total that was not checked",
    FaultCode.MARGIN_MISMATCH: "count that is not the sum of its intersections",
    FaultCode.NO_COMMON_REFERENCE: "impact ratios of no single reference",
    FaultCode.NO_REFERENCE: "no category with a ratio of 1",
    FaultCode.REFERENCE_NOT_HIGHEST: "reference without the highest rate",
    FaultCode.REFERENCE_IS_SMALL: "reference of few people",
    FaultCode.REFERENCE_TIED: "several categories with the highest rate",
    FaultCode.SEVERAL_REFERENCES: "ratio of 1 in several categories",
    FaultCode.RATIO_MISSING: "category without a ratio",
    FaultCode.RATIO_OF_UNKNOWN: "ratio of people of unknown category",
    FaultCode.NUMBERS_MISSING: "row without numbers",
    FaultCode.NOT_STATED: "text in the place of a number",
    FaultCode.COLUMNS_IGNORED: "columns that are not read",
    FaultCode.COUNT_RECOVERABLE: "withheld count that can be computed",
    FaultCode.CATEGORY_MISSING: "combination without a row",
    FaultCode.UNKNOWN_NOT_STATED: "unknown categories not stated",
}
