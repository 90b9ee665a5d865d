"""Totals held against their rows: exactly, or by what the rows allow where numbers are missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from fairgauge_check.check_result import Fault, FaultCode, Finding
from fairgauge_check.printed_numbers import Printed, is_suppressed, read_bound
from fairgauge_check.published_table import (
    ColumnRole,
    PublishedRow,
    PublishedTable,
    RowKind,
    selected_people,
)

Rows: TypeAlias = Sequence[PublishedRow]

Range: TypeAlias = tuple[Fraction, Fraction]
"""The smallest and the greatest number that is possible."""
OpenRange: TypeAlias = tuple[Fraction, Fraction | float]
"""A range whose greatest number may be infinite."""
_NONE = (Fraction(0), Fraction(0))
_COUNTS = (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.NOT_SELECTED)


def check_totals(table: PublishedTable) -> Iterator[Finding]:
    r"""Yield where a total is not that of its rows, with the people of unknown category or without.

    Where a row prints no number of selected people, any number that agrees with its rate is
    possible, or any at all without a rate; of "<10" it is at most 9. The total must be one that
    these allow.

    Examples
    --------
    >>> from fairgauge_check.stated_columns import tables_of
    >>> from fairgauge_check.table_files import grids_of_text
    >>> text = "sex,n,selection rate\nMale,80,60%\nFemale,40,30%\nTotal,120,70%"
    >>> (table,) = tables_of(grids_of_text(text)[0])
    >>> [str(fault.code) for fault in check_totals(table) if fault]
    ['total_rate_mismatch']
    """
    for row in table.of(RowKind.TOTAL):
        parts = _parts(table, row)
        if parts[0]:
            yield from _check_total(row, parts)


def _parts(table: PublishedTable, total: PublishedRow) -> list[Rows]:
    """Return the rows that a total may be of: the groups, and with people of unknown category."""
    groups = [each for each in table.groups if total.includes(each)]
    every = [*groups, *(each for each in table.of(RowKind.UNKNOWN) if total.includes(each))]
    return [groups, every]


def _check_total(row: PublishedRow, parts: Sequence[Rows]) -> Iterator[Finding]:
    """Yield what is wrong in one total; ``parts`` are the rows that it may be of."""
    where = (row.number, row.name)
    unchecked = []
    # the people of a total are those whose selections and rate it states
    fitting = [rows for rows in parts if row.n and _is_within(row.n, _sum(rows, ColumnRole.N))]
    of = fitting or parts
    last = parts[1][-1]  # of unknown category, where there are such people
    stated = [rows for rows in parts[:2] if any((last in rows) == (last in each) for each in of)]
    for role in _COUNTS:
        printed: Printed | None = getattr(row, role)
        if printed is None:
            continue
        sums = [_sum(rows, role) for rows in of]
        most = [high for low, high in sums if _is_within(printed, (low, high))]
        if most and min(most) == math.inf:
            unchecked.append(str(role))
        elif most:
            yield None
        else:
            sums = [_sum(rows, role) for rows in stated]
            ends = _ends(("total", "most"), sums)
            more = [printed.exact - high for _, high in sums if high < printed.exact]
            if more and not fitting:  # else all people have a row
                ends["others"] = float(min(more))
            code, column = FaultCode.TOTAL_MISMATCH, str(role)
            yield Fault.of(code, where, column=column, printed=printed.text, **ends)
    if row.rate is not None and row.share is None and 0 <= row.rate.value <= 1:
        rates = [found for rows in of if (found := _pooled_rate(rows)) is not None]
        if any(row.rate.agrees(*each) for each in rates):
            yield None
        elif len(rates) < len(of):
            unchecked.append(str(ColumnRole.RATE))
        else:
            pooled = [found for rows in stated if (found := _pooled_rate(rows)) is not None]
            ends = _ends(("low", "high"), pooled)
            code, text, percent = FaultCode.TOTAL_RATE_MISMATCH, row.rate.text, row.rate.percent
            yield Fault.of(code, where, printed=text, percent=percent, **ends)
    if unchecked:
        yield Fault.of(FaultCode.TOTAL_NOT_CHECKED, where, columns=tuple(unchecked))


def _is_within(printed: Printed, ends: OpenRange) -> bool:
    return ends[0] <= printed.exact <= ends[1]


def _ends(names: tuple[str, str], ranges: Sequence[OpenRange]) -> dict[str, float]:
    """Return the finite ends of the first range, and of another with people of unknown category."""
    ends = dict(zip(names, ranges[0], strict=True))
    if ranges[-1] != ranges[0] and ranges[-1][1] < math.inf:
        ends |= zip((f"{name}_with_unknown" for name in names), ranges[-1], strict=True)
    return {name: float(end) for name, end in ends.items() if end < math.inf}


def _sum(rows: Rows, role: ColumnRole) -> OpenRange:
    """Return the sums that rows allow, up to any where a number can be anything.

    People of unknown category without a number are counted as none, unless it is withheld.
    """
    ranges = [(row, possible_counts(row, role)) for row in rows]
    low, high = _added([each for _, each in ranges if each is not None])
    is_open = any(
        each is None
        and (
            row.kind is not RowKind.UNKNOWN
            or any(is_suppressed(dict(row.texts).get(of, "")) for of in (role, ColumnRole.N))
        )
        for row, each in ranges
    )
    return low, math.inf if is_open else high


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
