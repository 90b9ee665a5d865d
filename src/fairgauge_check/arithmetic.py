"""The arithmetic of published tables: counts, rates, totals, ratios, and tables of one report.

Printed numbers are held against what they are made of, with the precision that their last printed
place allows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairgauge.plugins import Parameter
from fairgauge_check.check_result import Fault, FaultCode, Finding, sort_findings
from fairgauge_check.printed import (
    ColumnRole,
    Printed,
    PublishedRow,
    PublishedTable,
    Range,
    RowKind,
    is_empty,
)

MIN_SHARE = 0.02
"""The share of people below which a category need not have a ratio, nor be the reference."""
# the largest unit of the last place, as a share of a ratio, by which a reference is recognised.
_PRECISE = Fraction(1, 50)


def check_arithmetic(
    table: PublishedTable, min_share: float, fewest: int
) -> tuple[list[Fault], int]:
    """Return every fault of one table, and how many printed numbers were held against others.

    ``min_share`` is the share of people below which a category need not have a ratio, and
    ``fewest`` the number below which it is no reference.
    """
    numbers = [fault for row in table.rows for fault in _check_numbers(row)]
    faults, checked = sort_findings([*numbers, *_totals(table), *_check_ratios(table)])
    faults += [*_check_rows(table, min_share), *_check_reference(table, min_share, fewest)]
    return sorted(faults, key=lambda fault: fault.row or (len(table.rows) + 1, "")), checked


def _fault(code: FaultCode, row: PublishedRow | None, **parameters: Parameter) -> Fault:
    return Fault.of(code, None if row is None else (row.number, row.name), **parameters)


def _check_numbers(row: PublishedRow) -> Iterator[Finding]:
    for role, count in row.impossible_counts.items():
        yield _fault(FaultCode.IMPOSSIBLE, row, column=str(role), printed=count.text)
    printed, share = row.rate, row.share
    if printed is None:
        return
    if share is None or share > 1 or row.weighted or row.n is None or row.selected is None:
        if not 0 <= printed.value <= 1:
            yield _fault(FaultCode.IMPOSSIBLE, row, column="rate", printed=printed.text)
    elif printed.agrees(share):
        yield None
    else:
        yield _fault(
            FaultCode.RATE_MISMATCH, row, printed=printed.text, share=float(share),
            per=printed.per, selected=row.selected.text, n=row.n.text,
        )  # fmt: skip


def _totals(table: PublishedTable) -> Iterator[Finding]:
    for row in table.of(RowKind.TOTAL):
        included = [e for e in table.rows if e.kind is not RowKind.TOTAL and row.includes(e)]
        groups, unknown = ([e for e in included if e.kind is kind]
                           for kind in (RowKind.GROUP, RowKind.UNKNOWN))  # fmt: skip
        unchecked = []
        if row.printed_counts and (times := _count_breakdowns(included, row)) > 1:
            yield _fault(FaultCode.SEVERAL_TABLES, row, times=times)
            continue
        for role, printed in row.printed_counts if groups else ():
            known, every = (_sum_of_rows(each, role) for each in (groups, [*groups, *unknown]))
            fitting = [high for low, high in (known, every) if low <= printed.exact <= high]
            if fitting and min(fitting) == math.inf:
                unchecked.append(str(role))
            elif fitting:
                yield None
            else:
                ends = {"total": known[0], "most": known[1], "with_unknown": every[0]}
                kept = ends if every[0] > known[0] else ("total", "most")
                facts = {name: float(ends[name]) for name in kept if ends[name] < math.inf}
                yield _fault(FaultCode.TOTAL_MISMATCH, row, column=str(role), printed=printed.text,
                             **facts)  # fmt: skip
        if row.rate is not None and row.share is None and groups:
            unchecked.append(str(ColumnRole.RATE))
        if unchecked:
            yield _fault(FaultCode.TOTAL_NOT_CHECKED, row, columns=tuple(unchecked))


def _count_breakdowns(rows: Sequence[PublishedRow], total: PublishedRow) -> int:
    # into how many breakdowns of the people of a total its rows fall, one below the other; at
    # least one has all of them, and others may lack some
    blocks: list[list[PublishedRow]] = [[]]
    for row in rows:
        if any(_sum_of_rows([*blocks[-1], row], role)[0] > printed.exact
               for role, printed in total.printed_counts[:1]):  # fmt: skip
            blocks.append([])
        blocks[-1].append(row)
    parts = [[_sum_of_rows(block, role)[0] / printed.exact if printed.exact else 1
              for role, printed in total.printed_counts] for block in blocks]  # fmt: skip
    fit = all(len(block) > 1 and min(of) > 0.5 for block, of in zip(blocks, parts, strict=True))
    return len(blocks) if fit and max(map(max, parts)) <= 1 == max(map(min, parts)) else 1


def _sum_of_rows(
    rows: Sequence[PublishedRow], role: ColumnRole
) -> tuple[Fraction, Fraction | float]:
    # people of unknown category without a number are counted as none, unless it is withheld
    low = high = Fraction(0)
    is_open = False
    for row in rows:
        printed: Printed | None = getattr(row, role)
        if printed is not None:
            low, high = low + printed.exact, high + printed.exact
        elif role is not ColumnRole.N and row.n is not None:
            high += row.n.exact
        elif row.kind is not RowKind.UNKNOWN or _withholds(row, role, ColumnRole.N):
            is_open = True
    return low, math.inf if is_open else high


def _withholds(row: PublishedRow, *roles: ColumnRole) -> bool:
    return any(not is_empty(row.texts.get(role, "")) for role in roles)


def _possible_ratios(row: PublishedRow, reference: PublishedRow) -> list[Range]:
    # a ratio of printed rates is in use, and no fault
    own, other = row.rates, reference.rates
    pairs = [(own[0], other[0]), (own[-1], other[-1])] if own and other else []
    return [(low / most, high / least) for (low, high), (least, most) in pairs if least > 0]


def _fits(row: PublishedRow, reference: PublishedRow) -> bool:
    ranges = _possible_ratios(row, reference) if row.ratio else []
    return any(row.ratio.agrees(*each) for each in ranges if row.ratio)


def printed_reference(table: PublishedTable) -> PublishedRow | None:
    """Return the row that the printed ratios compare with; None where they do not show it.

    It is the row whose printed ratio is 1, or a word for the reference; where no ratio is 1, the
    only large row without one, or else a row that most of them compare with. Of several: one that
    the user named, else the one that most ratios fit, else that of the best rate.
    """
    rated = [row for row in table.groups if row.ratio is not None]

    def fitting(row: PublishedRow) -> int:
        return sum(_fits(one, row) for one in table.groups if one is not row)

    def order(row: PublishedRow) -> tuple[bool, bool, int, Fraction, float]:
        is_word = row.ratio is not None and not row.ratio.unit
        named = row.name in table.references
        return is_word, named, fitting(row), table.favour(row), row.people

    found = [row for row in rated if row.ratio and row.ratio.exact == 1]
    if rated and not found:
        without = [row for row in table.groups if row.ratio is None and row.stated_rate
                   and table.is_large(row, MIN_SHARE)]  # fmt: skip
        best = best_row(table, MIN_SHARE)
        if len(without) == 1 and (without[0] is best or 2 * fitting(without[0]) >= len(rated)):
            return without[0]
        precise = [row for row in rated if row.ratio
                   and row.ratio.unit <= _PRECISE * row.ratio.exact]  # fmt: skip
        for row in table.rows:
            fits = sum(_fits(one, row) for one in precise if one is not row)
            if fits and 2 * fits >= len(rated):
                found.append(row)
    return max(found, key=order, default=None)


def best_row(table: PublishedTable, min_share: float, fewest: int = 0) -> PublishedRow | None:
    """Return the row of the highest rate among categories with a share of the people.

    Of a harm it is that of the lowest rate.
    """
    rated = any(row.ratio is not None for row in table.groups)
    rows = [row for row in table.groups
            if row.stated_rate is not None and table.is_large(row, min_share)
            and (row.n.value >= fewest if row.n else row.ratio or not rated)]  # fmt: skip

    def order(row: PublishedRow) -> tuple[Fraction, bool, float]:
        return table.favour(row), bool(row.ratio and row.ratio.exact == 1), row.people

    return max(rows, key=order, default=None)


def _check_ratios(table: PublishedTable) -> Iterator[Finding]:
    reference, unchecked = printed_reference(table), []
    for row in table.groups:
        if row.ratio is None:
            hidden = row.stated_rate is None and _withholds(row, *ColumnRole)
            if hidden and table.is_large(row, MIN_SHARE):
                unchecked.append(row.name)
            continue
        ranges = [] if reference is None else _possible_ratios(row, reference)
        if row is reference and len(table.groups) > 1:
            ranges = [(Fraction(1), Fraction(1))]
        if reference is None or not ranges or len(table.groups) == 1:
            unchecked.append(row.name)
        elif row is not reference and any(row.ratio.agrees(*each) for each in ranges):
            yield None
        elif row is not reference or row.ratio.exact != 1:
            yield _fault(FaultCode.RATIO_MISMATCH, row, printed=row.ratio.text,
                         ratio=float(sum(ranges[0])) / 2, reference=reference.name)  # fmt: skip
    unchecked += [  # what is called a total may be a category
        row.name
        for row in table.of(RowKind.TOTAL)
        if row.ratio and row.ratio.exact != 1 and not (reference and _fits(row, reference))
    ]
    unchecked += [row.name for row in table.of(RowKind.UNKNOWN) if row.ratio is not None]
    if unchecked:
        yield _fault(FaultCode.RATIOS_NOT_CHECKED, None, categories=tuple(unchecked))


def _check_reference(table: PublishedTable, min_share: float, fewest: int) -> Iterator[Fault]:
    # what is wrong with the reference of the printed ratios: it is not the best rate
    reference = printed_reference(table)
    # an audit takes no category of so few people as reference, whatever its rate
    best = best_row(table, min_share, fewest)
    if not (reference and best and reference.rates) or reference.name in table.references:
        return
    (low, high), (least, most) = reference.rates[0], best.rates[0]
    if table.harm is not None and (most < low if table.harm else least > high):
        is_group = reference.kind is RowKind.GROUP and reference.counts is not None
        facts: dict[str, Parameter] = {"reference": reference.name} if is_group else {}
        facts |= {"harm": True} if table.harm else {}
        if best.rate is not None and best.share is None:
            facts |= {"printed": best.rate.text, "per": best.rate.per}
        yield _fault(FaultCode.REFERENCE_NOT_HIGHEST, reference, other=best.name, **facts,
                     rate=float(reference.stated_rate or 0),
                     highest=float(best.stated_rate or 0))  # fmt: skip


def _check_rows(table: PublishedTable, min_share: float) -> Iterator[Fault]:
    has_ratios, reference = any(row.ratio for row in table.groups), printed_reference(table)
    for row in table.rows:
        is_group, is_none = row.kind is RowKind.GROUP, row.n is not None and not row.n.exact
        dashes = {role for role, text in row.texts.items() if not text.strip("-–— ")}
        blank = {ColumnRole.RATIO} & dashes if is_group and not is_none else dashes
        if texts := {str(role): text for role, text in row.texts.items() if role not in blank}:
            yield _fault(FaultCode.NOT_STATED, row, columns=tuple(texts),
                         printed=tuple(texts.values()))  # fmt: skip
        if not is_group:
            continue
        needed = {ColumnRole.N, ColumnRole.SELECTED, ColumnRole.RATE} & table.columns.keys()
        missing = [str(role) for role in ColumnRole if role in needed and not getattr(row, role)]
        derived = row.share is not None or (row.rate is not None and row.n is not None)
        if missing and not (derived or is_none or row.texts.keys() - dashes):
            yield _fault(FaultCode.NUMBERS_MISSING, row, columns=tuple(missing))
        withheld = (
            (table.grid.own and "(" in row.texts.get(ColumnRole.RATIO, ""))
            or _withholds(row, ColumnRole.RATIO)
            or (row.stated_rate is None and _withholds(row, ColumnRole.SELECTED, ColumnRole.RATE))
        )
        lacks = has_ratios and row.ratio is None and row is not reference and not withheld
        if lacks and row.people and table.is_large(row, min_share):
            share = row.people / table.people
            yield _fault(FaultCode.RATIO_MISSING, row, n=row.people, share=share)
    first = {row.categories: row.number for row in reversed(table.rows)}
    repeats = [row for row in table.rows if first[row.categories] < row.number]
    if repeats:
        other, times = (
            first[repeats[0].categories],
            {*Counter(r.categories for r in table.rows).values()},
        )
        if len(times) == 1 < len(first):  # of several places or years
            yield _fault(FaultCode.SEVERAL_TABLES, repeats[0], other=other, times=max(times))
        else:
            yield _fault(FaultCode.REPEATED_CATEGORY, repeats[0], other=other, rows=len(repeats))
    if table.ignored:
        yield _fault(FaultCode.COLUMNS_IGNORED, None, columns=table.ignored)
    if not table.of(RowKind.UNKNOWN):
        yield _fault(FaultCode.UNKNOWN_NOT_STATED, None)


# what may stand between the two categories in the name of an intersection
_BETWEEN = (" & ", " and ", " x ", ", ", " / ", "/", " - ", " – ", " ")


def check_margins(table: PublishedTable, tables: Sequence[PublishedTable]) -> Iterator[Finding]:
    """Yield where a table disagrees with intersections of the same people.

    The counts of a category are held against the sum of its intersections with another feature,
    which may lack as many people as are of unknown category.
    """
    for many in tables if len(table.dimensions) == 1 else ():
        parts = {} if many is table else _intersections(table, many)
        if not parts:
            continue
        others = {other for of in parts.values() for other in of}
        unknown = many.of(RowKind.UNKNOWN) or [
            row for each in tables if each not in (table, many)
            for row in each.of(RowKind.UNKNOWN) if _intersections(each, many)
        ]  # fmt: skip
        pairs = [(row, *each) for row in table.groups if row.name in parts
                 for each in row.printed_counts]  # fmt: skip
        for row, role, printed in pairs:
            of = [*parts[row.name].values()]
            low, high = _sum_of_rows(of, role)
            complete = len(of) == len(others) and not many.grid.excludes and high < math.inf
            lacking = _sum_of_rows(unknown, role)[1] if complete else math.inf
            if not low <= printed.exact <= high + lacking:
                yield _fault(FaultCode.MARGIN_MISMATCH, row, column=str(role), other=many.name,
                             printed=printed.text, total=float(low),
                             unknown=float(lacking) if complete else 0.0)  # fmt: skip
            elif complete and lacking < math.inf:
                yield None


def _intersections(one: PublishedTable, many: PublishedTable) -> dict[str, dict[str, PublishedRow]]:
    # they stand in columns of their own, or as the two parts of every name
    names, rows = {row.name for row in one.groups}, many.groups
    parts = [row.categories for row in rows]
    for between in _BETWEEN if len(many.dimensions) == 1 else ():
        parts = [tuple(row.name.split(between)) for row in rows]
        if {*map(len, parts)} == {2}:
            break
    else:
        parts = parts if len(many.dimensions) > 1 else []
    best: dict[str, dict[str, PublishedRow]] = {}
    for at in range(len(parts[0])) if parts and len(parts[0]) > 1 else ():
        found: dict[str, dict[str, PublishedRow]] = {}
        for row, part in zip(rows, parts, strict=True):
            found.setdefault(part[at], {})["\n".join((*part[:at], *part[at + 1 :]))] = row
        if len(found.keys() & names) > len(best.keys() & names):
            best = found
    return best
