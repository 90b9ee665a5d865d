"""The arithmetic of published tables, and reports of fairgauge held against themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import TypeAlias

from fairgauge.plugins import FEWEST_ROWS, Parameter
from fairgauge_check.check_result import Fault, FaultCode, Finding, Findings, named_reference
from fairgauge_check.printed_numbers import (
    Printed,
    is_dash,
    is_suppressed,
    is_whole,
    read_bound,
    read_number,
)
from fairgauge_check.published_table import (
    RATIOS,
    ColumnRole,
    PublishedRow,
    PublishedTable,
    RowKind,
    selected_people,
)
from fairgauge_check.total_rows import check_totals

MIN_SHARE = 0.02
"""The share of people below which a category need not have a ratio, nor be the reference."""
_PRECISE = 0.005
_PRECISE_SHARE = Fraction(1, 50)
"""The largest unit of the last place, as a share of a ratio, by which a reference is recognised."""
_PAIR = 2
_DENIAL_RATIO = "denial ratio"
_RATE = "printed rate"
_LARGE = 50
"""People from which two rows of the same numbers are more likely a copy than a coincidence."""


def check_arithmetic(table: PublishedTable, min_share: float = MIN_SHARE) -> Findings:
    r"""Return every fault of one table, and how many printed numbers were held against others.

    Printed numbers are held against what they are made of, with the precision that their last
    printed place allows. Where rows have no counts, ratios are held against printed rates.

    Parameters
    ----------
    table : PublishedTable
    min_share : float, default 0.02
        The share of people below which a category need not have a ratio.

    Examples
    --------
    >>> from fairgauge_check.stated_columns import tables_of
    >>> from fairgauge_check.table_files import grids_of_text
    >>> text = "sex,n,selected,selection rate\nMale,80,48,60%\nFemale,40,12,33%"
    >>> found = check_arithmetic(*tables_of(grids_of_text(text)[0]))
    >>> [str(fault.code) for fault in found.faults], found.numbers_checked
    (['rate_mismatch', 'unknown_not_stated'], 2)
    """
    compared = [
        *(fault for row in table.rows for fault in _counts(table, row)),
        *(fault for row in table.rows for fault in _rate(table, row)),
        *(fault for row in table.rows for fault in _denial_rate(row)),
        *check_totals(table),
        *_ratios(table),
        *_of_denials(_ratios(table.of_denials)),
    ]
    others = [
        *_not_stated(table),
        *_repeated(table),
        *_ignored(table),
        *_reference(table, min_share),
        *_ratios_together(table),
        *filter(None, _of_denials(_ratios_together(table.of_denials))),
        *_omitted(table, min_share),
    ]
    found = Findings.of(compared, others=others)
    ordered = sorted(found.faults, key=lambda fault: fault.row or (len(table.rows) + 1, ""))
    return replace(found, faults=tuple(ordered))


def printed_reference(table: PublishedTable) -> PublishedRow | None:
    """Return the row that the printed ratios compare with; None without ratios.

    It is the row that their header names; else the one whose printed ratio is 1; of several the one
    that a word states to be it, then one that is asked for, then the one that most ratios compare
    with, then that of the most people if a chosen group is meant, else that of the highest rate.
    Where no ratio is 1, it is the row without one that the others compare with.
    """
    return next(iter(printed_references(table)), None)


def printed_references(table: PublishedTable) -> list[PublishedRow]:
    """Return the rows that the printed ratios may equally well compare with, the one taken first.

    The only row of many people without a ratio is one of them where all ratios compare with it, and
    one of few people is none beside others.
    """
    if (named := _named_reference(table)) is not None:
        return [named]
    without, printed = _without_ratio(table), sum(row.ratio is not None for row in table.groups)
    if not (ones := _ones(table)):
        return [without] if without and _is_reference_without_ratio(table, without) else []
    precise = all(row.ratio and row.ratio.unit <= _PRECISE_SHARE for row in ones)
    if (
        without and precise and not _is_ratio_withheld(without)
        and _fitting(table, without) == printed
    ):  # fmt: skip
        ones.append(without)

    def fit(row: PublishedRow) -> tuple[bool, bool, int]:
        stated = row.ratio is not None and not row.ratio.unit
        return stated, row.name in table.references, _fitting(table, row)

    def order(row: PublishedRow) -> tuple[Fraction, Fraction, bool, str]:
        people, rate = Fraction(0) if row.n is None else row.n.exact, _rate_at_least(row)
        first, second = (people, rate) if table.of_group else (rate, people)
        return -first, -second, row.ratio is None, row.name

    most = max(map(fit, ones))
    best = [row for row in ones if fit(row) == most]
    large = [row for row in best if _large(table, row, MIN_SHARE) and _has(row, FEWEST_ROWS)]
    return sorted(large or best, key=order)


def _named_reference(table: PublishedTable) -> PublishedRow | None:
    """Return the row of the category that the header of the ratios names: "Ratio to White"."""
    if not any(row.ratio is not None for row in table.groups):
        return None
    name = named_reference(table.columns[ColumnRole.RATIO], [row.name for row in table.groups])
    return next((row for row in table.groups if row.name == name), None)


def _without_ratio(table: PublishedTable) -> PublishedRow | None:
    """Return the only row of many people whose ratio is a dash or the like."""
    if not any(row.ratio is not None for row in table.groups):
        return None
    without = [
        row
        for row in table.groups
        if row.ratio is None and _rate_at_least(row) > 0 and _large(table, row, MIN_SHARE)
    ]
    return without[0] if len(without) == 1 else None


def _is_reference_without_ratio(table: PublishedTable, row: PublishedRow) -> bool:
    """Return whether most ratios compare with a row without one, or it has the highest rate."""
    top = max(_rate_at_least(other) for other in table.groups if _large(table, other, MIN_SHARE))
    compared = row is _fitting_reference(table)
    return compared or (row.n is not None and _rate_at_least(row) == top)


def highest(table: PublishedTable, min_share: float = 0.0, fewest: int = 0) -> PublishedRow | None:
    """Return the row of the highest selection rate among categories with a share of the people.

    Categories of fewer people than ``fewest`` are passed over. Where the people are not printed, a
    category that alone has no ratio is taken for a small one. Of equal rates, the one whose ratio
    is printed as 1 is taken, else the one of most people, else the first by name.
    """
    rows = [row for row in admitted_rows(table, min_share) if _has(row, fewest)]
    return min(rows, key=lambda row: _order(table, row), default=None)


def admitted_rows(table: PublishedTable, min_share: float) -> list[PublishedRow]:
    """Return the categories with a rate and a share of the people, which may be the reference."""
    rated = any(row.ratio is not None for row in table.groups)
    reference = printed_reference(table)
    return [
        row
        for row in table.groups
        if row.may_be_reference
        and _is_rate(row)
        and _large(table, row, min_share)
        and (row.n is not None or row.ratio is not None or not rated or row is reference)
    ]


def _order(table: PublishedTable, row: PublishedRow) -> tuple[Fraction, bool, Fraction, str]:
    people = Fraction(0) if row.n is None else row.n.exact
    return -_rate_at_least(row), row is not printed_reference(table), -people, row.name


def _is_rate(row: PublishedRow) -> bool:
    """Return whether a row has a selection rate, and one that is possible."""
    return row.rate_range is not None and 0 <= row.rate_range[0] <= 1


def _rate_at_least(row: PublishedRow) -> Fraction:
    return row.rate_range[0] if row.rate_range is not None and _is_rate(row) else Fraction(-1)


def _ones(table: PublishedTable) -> list[PublishedRow]:
    return list(filter(_is_one, table.groups))


def _is_one(row: PublishedRow | None) -> bool:
    return row is not None and row.ratio is not None and row.ratio.value == 1


def _not_one(table: PublishedTable, reference: PublishedRow) -> list[PublishedRow]:
    """Return the rows whose ratio is printed as 1, as that of the reference, and is not 1."""
    if not _is_one(reference):
        return []
    return [
        row
        for row in _ones(table)
        if row is not reference
        and row.ratio is not None
        and (bounds := _ratio(row, reference))
        and not any(row.ratio.agrees(*each) for each in bounds)
    ]


def _large(table: PublishedTable, row: PublishedRow, min_share: float) -> bool:
    people = table.people
    return row.n is None or not people or row.n.value >= min_share * people


def _has(row: PublishedRow, fewest: int) -> bool:
    return row.n is None or row.n.value >= fewest


def _people(table: PublishedTable, row: PublishedRow) -> dict[str, Parameter]:
    """Return how many people a row has, and which share of all that is."""
    assert row.n is not None
    share = row.n.value / (table.people or 1)
    return {"n": row.n.value, "share": share, "all_stated": table.all_people_stated}


def _fault(code: FaultCode, row: PublishedRow | None, **parameters: Parameter) -> Fault:
    where = None if row is None or not row.number else (row.number, row.name)
    return Fault.of(code, where, **parameters)


def _counts(table: PublishedTable, row: PublishedRow) -> Iterator[Finding]:
    for role, printed in (
        (ColumnRole.N, row.n),
        (ColumnRole.SELECTED, row.selected),
        (ColumnRole.NOT_SELECTED, row.not_selected),
    ):
        if printed is None:
            continue
        if printed.value < 0:
            yield _fault(FaultCode.NEGATIVE, row, column=str(role), printed=printed.text)
        elif not is_whole(printed.value) or printed.percent:
            yield _fault(FaultCode.NOT_WHOLE, row, column=str(role), printed=printed.text)
    if (
        {ColumnRole.N, ColumnRole.SELECTED} <= table.columns.keys()
        and row.n and row.selected and row.not_selected
    ):  # fmt: skip
        parts = row.selected.value + row.not_selected.value
        if parts == row.n.value:
            yield None
        else:
            code = FaultCode.PARTS_EXCEED_N if parts > row.n.value else FaultCode.PARTS_BELOW_N
            texts = {"selected": row.selected.text, "not_selected": row.not_selected.text}
            yield _fault(code, row, **texts, n=row.n.text, parts=parts)
    elif row.n and row.selected and row.selected.value > row.n.value:
        yield _fault(FaultCode.SELECTED_EXCEEDS_N, row, selected=row.selected.text, n=row.n.text)


def _rate(table: PublishedTable, row: PublishedRow) -> Iterator[Finding]:
    printed, share = row.rate, row.share
    if printed is None:
        return
    if share is None or share > 1:
        people = selected_people(row)
        bound = read_bound(dict(row.texts).get(ColumnRole.SELECTED, ""))
        if row.n and people and bound is not None and bound < people[0]:
            yield _fault(
                FaultCode.RATE_MISMATCH, row, printed=printed.text, percent=printed.percent,
                share=bound / float(row.n.exact), selected=f"at most {bound}", n=row.n.text,
            )  # fmt: skip
        elif not 0 <= printed.value <= 1:
            yield _fault(FaultCode.RATE_OUT_OF_RANGE, row, printed=printed.text)
        elif row.weighted:
            return
        elif row.n and is_whole(row.n.value) and not (row.selected or selected_people(row)):
            yield _fault(FaultCode.RATE_IMPOSSIBLE, row, printed=printed.text, n=row.n.text)
        elif row.n and row.selected is None and (printed.high - printed.low) * row.n.exact < 1:
            yield None  # a rate that not every number of people could have
        return
    if printed.agrees(share):
        yield None
        return
    stated: dict[str, Parameter] = {
        "printed": printed.text, "share": float(share), "percent": printed.percent,
    }  # fmt: skip
    scaled = [(printed.exact * by, printed.unit * by) for by in (Fraction(1, 100), 100)]
    if any(abs(of - share) <= unit for of, unit in scaled if of <= 1):
        yield _fault(FaultCode.MIXED_UNITS, row, **stated, sign="%" in printed.text)
        return
    others = [
        other.name
        for other in table.rows
        if other is not row
        and other.rate is not None
        and other.share is not None
        and printed.agrees(other.share)
        and other.rate.agrees(share)
    ]
    if others:
        yield _fault(FaultCode.RATE_OF_OTHER_ROW, row, **stated, other=others[0])
        return
    assert row.selected is not None
    assert row.n is not None
    counts = {"selected": row.selected.text, "n": row.n.text}
    wrong = sum(not _fits(each, row) for each in table.groups)
    ratios = {"ratios": wrong} if wrong and row is printed_reference(table) else {}
    yield _fault(FaultCode.RATE_MISMATCH, row, **stated, **counts, **ratios)


def _denial_rate(row: PublishedRow) -> Iterator[Finding]:
    """Yield whether a printed denial rate is that of the counts, where a row has these."""
    printed, n, selected, denied = row.denial_rate, row.n, row.selected, row.not_selected
    if printed is None or not n or not n.exact or not (denied or selected):
        return
    exact = denied.exact if denied else n.exact - (selected.exact if selected else 0)
    if printed.agrees(exact / n.exact):
        yield None
        return
    yield _fault(
        FaultCode.RATE_MISMATCH, row, printed=printed.text, share=float(exact / n.exact),
        percent=printed.percent, selected=denied.text if denied else f"{exact}", n=n.text,
        of="denial rate",
    )  # fmt: skip


def _repeated(table: PublishedTable) -> Iterator[Fault]:
    same = str if table.own else str.casefold  # groups may differ in case alone
    for one, other in combinations(table.rows, 2):
        if [*map(same, one.categories)] == [*map(same, other.categories)]:
            yield _fault(FaultCode.REPEATED_CATEGORY, other, other=one.number)
        elif (
            one.kind is other.kind
            and one.n is not None
            and other.n is not None
            and one.selected is not None
            and other.selected is not None
            and one.n.value == other.n.value >= _LARGE
            and one.selected.value == other.selected.value
        ):
            yield _fault(FaultCode.REPEATED_ROW, other, other=one.name)


def _not_stated(table: PublishedTable) -> Iterator[Fault]:
    """Name the text that stands in the place of numbers; a dash for a ratio is usual.

    So is one for the rate of nobody. The same text in the same columns of several rows is one note.
    """
    found: dict[tuple[tuple[str, str], ...], list[PublishedRow]] = {}
    for row in table.rows:
        texts = tuple(
            (str(role), text)
            for role, text in row.texts
            if not (is_dash(text) and _is_usual(role, row))
        )
        if texts:
            found.setdefault(texts, []).append(row)
    for texts, rows in found.items():
        columns, printed = zip(*texts, strict=True)
        many = {"rows": tuple(row.number for row in rows)} if len(rows) > 1 else {}
        one = None if many else rows[0]
        yield _fault(FaultCode.NOT_STATED, one, columns=columns, printed=printed, **many)


def _is_usual(role: ColumnRole, row: PublishedRow) -> bool:
    """Return whether a dash in the place of a number states what no reader asks about."""
    return role in RATIOS or row.kind is not RowKind.GROUP or row.is_empty


def _ignored(table: PublishedTable) -> Iterator[Fault]:
    if table.ignored:
        yield _fault(FaultCode.COLUMNS_IGNORED, None, columns=table.ignored)


def _reference(table: PublishedTable, min_share: float) -> Iterator[Fault]:
    if not any(row.ratio is not None for row in table.groups):
        return
    reference, fitting = printed_reference(table), _fitting_reference(table)
    if reference is None and fitting is not None and fitting.kind is RowKind.TOTAL:
        every = _fitting(table, fitting) == sum(row.ratio is not None for row in table.groups)
        reference = fitting if every or _is_one(fitting) else None
    known = reference or (fitting if fitting is not None and fitting.ratio is not None else None)
    unnamed = known is None or (known.ratio is None and known.kind is not RowKind.TOTAL)
    if unnamed and not _ones(table):
        taken = None if known is None else known.name
        yield _fault(FaultCode.NO_REFERENCE, None, taken=taken)
    if reference is None:
        return
    # an audit takes no category of so few people as reference, whatever its rate
    best = highest(table, min_share, FEWEST_ROWS)
    if best is None or reference.rate_range is None:
        return
    assert best.rate_range is not None
    if not _large(table, reference, min_share):
        people = _people(table, reference)
        yield _fault(FaultCode.REFERENCE_IS_SMALL, reference, **people, other=best.name)
    elif best.rate_range[0] > reference.rate_range[1] and best not in printed_references(table):
        is_group = reference.kind is RowKind.GROUP
        may_be_named = best.n is not None and is_group and selected_people(reference)
        yield _fault(
            FaultCode.HIGHER_RATE if best.n is None else FaultCode.REFERENCE_NOT_HIGHEST,
            reference,
            rate=float(reference.stated_rate or 0),
            highest=float(best.stated_rate or 0),
            other=best.name,
            printed="" if best.rate is None else best.rate.text,
            percent=best.share is None and best.rate is not None and best.rate.percent,
            **({"reference": reference.name} if may_be_named else {}),
        )


def _ratios_together(table: PublishedTable) -> Iterator[Fault]:
    """Yield what is wrong with ratios beside others, or was not checked."""
    if (reference := printed_reference(table)) is not None:
        for other in _not_one(table, reference):
            yield _fault(FaultCode.SEVERAL_REFERENCES, other, other=reference.name)
    yield from _unchecked_ratios(table)
    yield from _two_bases(table)
    yield from _ratios_of_unknown(table)


def _of_denials(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what is found of ratios of those who were not selected, named as that."""
    for each in found:
        yield each and Fault.of(each.code, each.row, **dict(each.parameters), of=_DENIAL_RATIO)


def _unchecked_ratios(table: PublishedTable) -> Iterator[Fault]:
    """Yield the ratios whose reference or rates are not known."""
    reference = printed_reference(table) or _fitting_reference(table)
    if reference is None and (faults := list(_no_common_reference(table))):
        yield from faults
        return
    unchecked = [
        row.name
        for row in table.groups
        if row.ratio is not None
        and row is not reference
        and (reference is None or _ratio(row, reference) is None)
    ]
    if unchecked:
        yield _fault(FaultCode.RATIOS_NOT_CHECKED, None, categories=tuple(unchecked))


def _no_common_reference(table: PublishedTable) -> Iterator[Fault]:
    """Yield where no selection rate at all, printed or not, has all the ratios that are printed.

    A ratio and the rate of its category leave a range for the rate of the reference; that of a
    ratio may lie above 1, or two of them apart. All ratios of a table are of counts, or all are of
    printed rates, and all are rounded or all cut off: what some of them allow in one way, and
    others in another, is no reference of all.
    """
    rows = [row for row in table.groups if row.ratio and row.ratio.low > 0 and _is_rate(row)]
    apart = [
        _apart([(row, *_needed(row, ends, printed=printed)) for row in rows])
        for printed in (False, True)
        for ends in (_ROUNDED, _CUT_OFF)
    ]
    if not all(apart):
        return
    shown = max(apart, key=len)  # one row alone, where that is so in every way
    yield _fault(
        FaultCode.NO_COMMON_REFERENCE,
        None,
        categories=tuple(row.name for row in shown),
        printed=tuple(row.ratio.text for row in shown if row.ratio is not None),
        rates=tuple(map(_needed_rate, shown)),
    )


def _needed(
    row: PublishedRow, ends: tuple[_End, _End], *, printed: bool
) -> tuple[Fraction, Fraction]:
    """Return the rates of the reference that a printed ratio may be to, of counts or printed."""
    assert row.ratio is not None
    assert row.rate_range is not None
    low, high = row.rate_range
    rates = row.printed_rates if row.rate is None else [row.rate.exact]
    if printed and rates and row.share is not None:
        low, high = min(rates), max(rates)
    least, most = (end(row.ratio) for end in ends)
    return low / most, high / least


def _apart(needed: Sequence[tuple[PublishedRow, Fraction, Fraction]]) -> list[PublishedRow]:
    """Return the rows whose ratios no single rate has; none where there may be one."""
    if not needed:
        return []
    most, low, _ = max(needed, key=lambda each: each[1])
    least, _, high = min(needed, key=lambda each: each[2])
    if low <= min(high, Fraction(1)):
        return []
    return [most] if low > 1 else [most, least]


def _needed_rate(row: PublishedRow) -> str:
    """Return the selection rate of the reference that a printed ratio would be of."""
    assert row.ratio is not None
    assert row.stated_rate is not None
    return f"{float(100 * row.stated_rate / row.ratio.exact):,.1f}%".replace(".0%", "%")


def _ratios_of_unknown(table: PublishedTable) -> Iterator[Fault]:
    for row in table.of(RowKind.UNKNOWN):
        if row.ratio is not None:
            yield _fault(FaultCode.RATIO_OF_UNKNOWN, row, printed=row.ratio.text)


def _ratios(table: PublishedTable) -> Iterator[Finding]:
    reference = printed_reference(table) or _fitting_reference(table)
    if reference is None or reference.rate_range is None:
        return
    several = _not_one(table, reference)
    for row in table.groups:
        bounds = _ratio(row, reference)
        if row.ratio is None or bounds is None or row in several:
            continue
        if _fits(row, reference):
            if row is not reference:
                yield None
            continue
        code = FaultCode.RATIO_MISMATCH
        more: dict[str, Parameter] = {}
        others = [o for o in table.groups if o not in (row, reference)]
        other = next((o.name for o in others if _is_ratio_to(row, o)), None)
        inverse = [(1 / high, 1 / low) for low, high in bounds if low > 0]
        if any(row.ratio.agrees(*each) for each in inverse):
            code = FaultCode.RATIO_INVERTED
        elif other is not None and row.ratio.margin <= _PRECISE:
            code, more = FaultCode.RATIO_OF_ANOTHER_REFERENCE, {"other": other}
        yield _fault(
            code,
            row,
            printed=row.ratio.text,
            ratio=float(sum(bounds[0])) / 2,
            reference=reference.name,
            **more,
        )


def _fits(row: PublishedRow, reference: PublishedRow) -> bool:
    """Return whether a printed ratio is that of two rows, or nothing shows that it is not."""
    bounds = _ratio(row, reference)
    return bounds is None or row.ratio is None or any(row.ratio.agrees(*each) for each in bounds)


def _is_ratio_to(row: PublishedRow, other: PublishedRow) -> bool:
    """Return whether a printed ratio is that of the numbers of two rows as they are printed."""
    bounds = _ratio(row, other) or []
    return row.ratio is not None and any(
        low == high and row.ratio.agrees(low, high) for low, high in bounds
    )


def _two_bases(table: PublishedTable) -> Iterator[Fault]:
    """Yield where a ratio follows from the counts alone, and another from the printed rates alone.

    Each is right by itself, but one table is of one of both.
    """
    reference = printed_reference(table) or _fitting_reference(table)
    if reference is None or reference.share is None:
        return
    alone: dict[bool, PublishedRow] = {}
    for row in table.groups:
        bounds = _ratio(row, reference)
        if row.ratio is None or row.share is None or bounds is None or len(bounds) < _PAIR:
            continue
        of_counts, *of_printed = (row.ratio.agrees(*ends) for ends in bounds)
        if of_counts is not any(of_printed):
            alone.setdefault(of_counts, row)
    if len(alone) == _PAIR:
        rows = alone[True], alone[False]
        yield _fault(
            FaultCode.RATIOS_OF_TWO_BASES,
            None,
            categories=tuple(row.name for row in rows),
            printed=tuple(row.ratio.text for row in rows if row.ratio is not None),
        )


def _ratio(row: PublishedRow, reference: PublishedRow) -> list[tuple[Fraction, Fraction]] | None:
    """Return the ranges of ratios that are right: of the counts, and of the printed rates.

    A ratio of printed rates is in use, and no fault. Where the counts of a row are not printed, its
    rate is any that is printed so; those of both rows are rounded, or both cut off.
    """
    own, other = row.rate_range, reference.rate_range
    if own is None or other is None or other[0] <= 0:
        return None
    unprinted = () if reference.share is None else (reference.share,)  # that of all, of the counts
    pairs = product(row.printed_rates, reference.printed_rates or unprinted)
    printed = [(one / base, one / base) for one, base in pairs if base]
    if row.share is not None and reference.share is not None:
        exact = row.share / reference.share
        return [(exact, exact), *printed]
    return [
        *printed,
        *(
            (_own(row, low) / _own(reference, high), _own(row, high) / _own(reference, low))
            for low, high in (_ROUNDED, _CUT_OFF)
            if _own(reference, low) > 0
        ),
    ]


_End: TypeAlias = Callable[[Printed], Fraction]
_ROUNDED: tuple[_End, _End] = (
    lambda rate: max(rate.low, Fraction(0)),
    lambda rate: rate.exact + rate.margin,
)
_CUT_OFF: tuple[_End, _End] = (lambda rate: rate.exact, lambda rate: rate.high)
"""The least and the greatest rate that is printed so, where it is rounded, or cut off."""


def _own(row: PublishedRow, of: _End) -> Fraction:
    """Return the rate of the counts, else an end of the printed one."""
    if row.share is not None:
        return row.share
    return Fraction(0) if row.rate is None else of(row.rate)


def _fitting_reference(table: PublishedTable) -> PublishedRow | None:
    """Return the row that most printed ratios compare with, where none has a ratio of 1.

    It is one of all people, which the table lacks, where every one of several compares with it. Of
    two ratios, one is enough: its reference is the other category, whose own ratio is wrong.
    """
    printed = sum(row.ratio is not None for row in table.groups)
    best = max(table.rows, key=lambda row: _fitting(table, row), default=None)
    if best is not None and _fitting(table, best) * 2 > printed:
        return best
    every = _of_all(table) if printed > 1 else None
    if every is not None and _fitting(table, every) == printed:
        return every
    return _reference_of_other(table)


def _reference_of_other(table: PublishedTable) -> PublishedRow | None:
    """Return which of two categories with ratios the ratio of the other one compares with.

    A ratio of few digits may as well be that to a category outside the table.
    """
    rows = [row for row in table.groups if row.ratio is not None]
    if len(rows) != _PAIR:
        return None
    found = [
        reference
        for row, reference in (rows, rows[::-1])
        if row.ratio is not None
        and row.ratio.unit <= _PRECISE_SHARE * row.ratio.exact
        and _ratio(row, reference)
        and _fits(row, reference)
    ]
    return max(found, key=_rate_at_least, default=None)


def _of_all(table: PublishedTable) -> PublishedRow | None:
    """Return a row of the people of all categories together, None where some are not printed."""
    counts = [(row.n.exact, row.selected.exact) for row in table.groups if row.n and row.selected]
    if len(counts) < len(table.groups):
        return None
    n, selected = (read_number(str(int(sum(of)))) for of in zip(*counts, strict=True))
    return PublishedRow(number=0, categories=("all",), kind=RowKind.TOTAL, n=n, selected=selected)


def _fitting(table: PublishedTable, reference: PublishedRow) -> int:
    """Return how many printed ratios compare with a row."""
    printed = (row for row in table.groups if row.ratio is not None)
    return sum(_ratio(row, reference) is not None and _fits(row, reference) for row in printed)


def _omitted(table: PublishedTable, min_share: float) -> Iterator[Fault]:
    has_ratios = any(row.ratio is not None for row in table.groups)
    references = printed_references(table)
    for row in table.groups:
        missing = [
            str(role)
            for role in (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.RATE)
            if role in table.columns and getattr(row, role) is None
        ]
        derived = row.share is not None or (row.rate is not None and row.n is not None)
        if missing and not (derived or row.is_empty or row.withheld):
            yield _fault(FaultCode.NUMBERS_MISSING, row, columns=tuple(missing))
        without = has_ratios and row.ratio is None and row not in references
        if without and not _is_ratio_withheld(row) and row.n and _large(table, row, min_share):
            yield _fault(FaultCode.RATIO_MISSING, row, **_people(table, row))
    if len(table.dimensions) > 1:
        yield from _missing_combinations(table)
    if not table.of(RowKind.UNKNOWN):
        yield _fault(FaultCode.UNKNOWN_NOT_STATED, None)


def _is_ratio_withheld(row: PublishedRow) -> bool:
    """Return whether a row states that its ratio is not printed, or withholds what it is made of.

    "N/A" alone is no such statement.
    """
    texts = dict(row.texts)
    if is_suppressed(texts.get(ColumnRole.RATIO, "")):
        return True
    return row.rate_range is None and any(
        is_suppressed(texts.get(role, "")) for role in (ColumnRole.SELECTED, ColumnRole.RATE)
    )


def _missing_combinations(table: PublishedTable) -> Iterator[Fault]:
    present = {row.categories for row in table.groups}
    values = [dict.fromkeys(each[i] for each in present) for i in range(len(table.dimensions))]
    missing = [each for each in product(*values) if each not in present]
    if missing and len(missing) * 2 < len(present):
        names = tuple(" & ".join(each) for each in sorted(missing))
        yield _fault(FaultCode.CATEGORY_MISSING, None, categories=names)
