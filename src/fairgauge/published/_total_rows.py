"""Totals held against their rows: exactly, or by what the rows allow where numbers are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from fairgauge.published.printed_numbers import Printed, is_suppressed, read_bound
from fairgauge.published.published_table import (
    ColumnRole,
    PublishedRow,
    PublishedTable,
    RowKind,
    selected_people,
)
from fairgauge.results.check import Fault, FaultCode, Finding

Rows: TypeAlias = Sequence[PublishedRow]

Range: TypeAlias = tuple[Fraction, Fraction]
"""The smallest and the greatest number that is possible."""
_NONE = (Fraction(0), Fraction(0))
_COUNTS = (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.NOT_SELECTED)


def check_totals(table: PublishedTable) -> Iterator[Finding]:
    r"""Yield where a total is not that of its rows, with the people of unknown category or without.

    Where a row prints no number of selected people, any number that agrees with its rate is
    possible, or any at all without a rate; of "<10" it is at most 9. The total must be one that
    these allow.

    Examples
    --------
    >>> from fairgauge.published._column_roles import table_of
    >>> from fairgauge.published._table_files import grids_of_text
    >>> text = "sex  n  rate\nMale  80  60%\nFemale  40  30%\nTotal  120  70%"
    >>> [str(fault.code) for fault in check_totals(table_of(grids_of_text(text)[0])) if fault]
    ['total_rate_mismatch']
    """
    for row in table.of(RowKind.TOTAL):
        groups = [each for each in table.groups if row.includes(each)]
        if groups:
            unknowns = [each for each in table.of(RowKind.UNKNOWN) if row.includes(each)]
            yield from _check_total(row, (groups, [*groups, *unknowns]))


def recoverable_counts(table: PublishedTable) -> Iterator[Fault]:
    """Yield the counts that are withheld and follow from a total, or from a rate and the people.

    A count follows where it can have one value alone, in the total of the groups as in that of the
    groups and the people of unknown category.
    """
    for row in table.groups:
        for role, text in row.texts:
            if role not in _COUNTS or not is_suppressed(text):
                continue
            own = possible_counts(row, role)
            ranges: dict[str | None, Range] = {None: own} if own is not None else {}
            for total in table.of(RowKind.TOTAL):
                found = _by_subtraction(table, total, row, role)
                if total.includes(row) and found is not None:
                    ranges[total.name] = found
            for name, (low, high) in ranges.items():
                if low == high:
                    yield Fault.of(
                        FaultCode.COUNT_RECOVERABLE,
                        (row.number, row.name),
                        column=str(role),
                        printed=text,
                        count=float(low),
                        total=name,
                    )
                    break


def _by_subtraction(
    table: PublishedTable, total: PublishedRow, row: PublishedRow, role: ColumnRole
) -> Range | None:
    """Return the counts of a row that a total and its other rows allow; None of any or none."""
    printed: Printed | None = getattr(total, role)
    if printed is None:
        return None
    groups = [each for each in table.groups if total.includes(each) and each is not row]
    unknowns = [each for each in table.of(RowKind.UNKNOWN) if total.includes(each)]
    least, most = possible_counts(row, role) or (Fraction(0), printed.exact)
    found = []
    for others in (groups, [*groups, *unknowns]):
        ranges = [each for other in others if (each := possible_counts(other, role)) is not None]
        if len(ranges) < len(others):
            return None
        low, high = _added(ranges)
        allowed = (max(least, printed.exact - high), min(most, printed.exact - low))
        if allowed[0] <= allowed[1]:
            found.append(allowed)
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _check_total(row: PublishedRow, parts: Sequence[Rows]) -> Iterator[Finding]:
    """Yield what is wrong in one total; ``parts`` are the rows that it may be of."""
    where = (row.number, row.name)
    unchecked = []
    if row.n is not None:  # the people of a total are those whose selections and rate it states
        people = [(rows, _sum(rows, ColumnRole.N)) for rows in parts]
        parts = [
            r for r, sums in people if sums is None or sums[0] <= row.n.exact <= sums[1]
        ] or parts
    for role in _COUNTS:
        printed: Printed | None = getattr(row, role)
        sums = [found for rows in parts if (found := _sum(rows, role)) is not None]
        if printed is None:
            continue
        if any(low <= printed.exact <= high for low, high in sums):
            yield None
            continue
        if len(sums) < len(parts):
            unchecked.append(str(role))
            continue
        (total, most), text = sums[0], printed.text
        code, column = FaultCode.TOTAL_MISMATCH, str(role)
        yield Fault.of(
            code, where, column=column, printed=text, total=float(total), most=float(most)
        )
    if row.rate is not None and row.share is None and 0 <= row.rate.value <= 1:
        rates = [found for rows in parts if (found := _pooled_rate(rows)) is not None]
        if any(row.rate.agrees(*each) for each in rates):
            yield None
        elif len(rates) < len(parts):
            unchecked.append(str(ColumnRole.RATE))
        else:
            low, high = rates[0]
            code, text, percent = FaultCode.TOTAL_RATE_MISMATCH, row.rate.text, row.rate.percent
            yield Fault.of(
                code,
                where,
                printed=text,
                percent=percent,
                low=float(low),
                high=float(high),
            )
    if unchecked:
        yield Fault.of(FaultCode.TOTAL_NOT_CHECKED, where, columns=tuple(unchecked))


def _sum(rows: Rows, role: ColumnRole) -> Range | None:
    """Return the sums that rows allow; None where a number can be anything.

    People of unknown category without a number are counted as none.
    """
    ranges = [possible_counts(row, role) for row in rows]
    known = [
        _NONE if each is None and row.kind is RowKind.UNKNOWN else each
        for row, each in zip(rows, ranges, strict=True)
    ]
    found = [each for each in known if each is not None]
    return _added(found) if len(found) == len(rows) else None


def possible_counts(row: PublishedRow, role: ColumnRole) -> Range | None:
    """Return the counts that a row allows: as printed, or by its bound, its rate and its people."""
    printed: Printed | None = getattr(row, role)
    if printed is not None:
        return printed.exact, printed.exact
    bound = read_bound(dict(row.texts).get(role, ""))
    people = None if role is ColumnRole.N or row.n is None else row.n.exact
    most = min((Fraction(each) for each in (bound, people) if each is not None), default=None)
    if role is ColumnRole.SELECTED and (found := selected_people(row)) is not None:
        low, high = map(Fraction, found)
        return (low, high) if most is None or most < low else (low, min(high, most))
    return None if most is None else (Fraction(0), most)


def _pooled_rate(rows: Rows) -> Range | None:
    """Return the selection rates of rows together that their numbers allow, None without any.

    Without the number of people it lies between the lowest and the highest rate.
    """
    people = sum(row.n.exact for row in rows if row.n is not None)
    if people > 0 and all(row.n is not None for row in rows):
        low, high = _added([possible_counts(row, ColumnRole.SELECTED) or _NONE for row in rows])
        return low / people, high / people
    ranges = [row.rate_range for row in rows if row.n is None or row.n.exact > 0]
    found = [each for each in ranges if each is not None]
    if len(found) < len(ranges) or not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _added(ranges: Sequence[Range]) -> Range:
    return sum((low for low, _ in ranges), Fraction(0)), sum(
        (high for _, high in ranges), Fraction(0)
    )
