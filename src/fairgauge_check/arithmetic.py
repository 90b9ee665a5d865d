"""The arithmetic of published tables: counts, rates, totals, ratios, and tables of one report.

Printed numbers are held against what they are made of, with the precision that their last printed
place allows. In tables of a filing of fairgauge, what follows from no printed number is named, and
leaves a check undecided.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import isfinite, sqrt
from typing import Any, TypeAlias

from fairgauge.plugins import Parameter, fisher
from fairgauge_check.check_result import Fault, FaultCode, Finding, sort_findings
from fairgauge_check.printed import (
    ColumnRole,
    Printed,
    PublishedRow,
    PublishedTable,
    Range,
    RowKind,
    is_empty,
    read_number,
)
from fairgauge_check.table_files import Grid

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
    numbers = [fault for row in table.rows for fault in (*_counts(row), *_check_rate(row))]
    faults, checked, _ = sort_findings([*numbers, *_totals(table), *_check_ratios(table)])
    faults += [*_check_rows(table, min_share), *_check_reference(table, min_share, fewest)]
    return sorted(faults, key=lambda fault: fault.row or (len(table.rows) + 1, "")), checked


def _fault(code: FaultCode, row: PublishedRow | None, **parameters: Parameter) -> Fault:
    return Fault.of(code, None if row is None else (row.number, row.name), **parameters)


def _counts(row: PublishedRow) -> Iterator[Finding]:
    for role, printed in row.impossible_counts.items():
        yield _fault(FaultCode.IMPOSSIBLE, row, column=str(role), printed=printed.text)


def _check_rate(row: PublishedRow) -> Iterator[Finding]:
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
        groups = [each for each in table.groups if row.includes(each)]
        unknown = [each for each in table.of(RowKind.UNKNOWN) if row.includes(each)]
        unchecked = []
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
        other = first[repeats[0].categories]
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
        others = {other for of in parts.values() for other in of}
        apart = [each for each in tables if each not in (table, many)]
        unknown = many.of(RowKind.UNKNOWN) or [
            row for each in apart if _intersections(each, many) for row in each.of(RowKind.UNKNOWN)
        ]
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


# what numbers come to; an empty text is a table that nothing gives.
_Found: TypeAlias = "Iterator[Finding]"
_Rows: TypeAlias = "Sequence[Mapping[str, str]]"
_Compared: TypeAlias = "tuple[float, Callable[[float, float], tuple[float, float]]]"
_DIFFERENCE: _Compared = (100, lambda p, q: (p - q, 1))
# what compares a selection rate with another one: its scale, and a number over another.
_OF_RATES: Mapping[str, _Compared] = {
    r"(selection rate )?difference(, pp)?": _DIFFERENCE,
    r"ratio to (?!the highest).*": (1, lambda p, q: (p, q)),
    r"(selection )?odds ratio": (1, lambda p, q: (p * (1 - q), q * (1 - p))),
    r"denials odds ratio": (1, lambda p, q: (q * (1 - p), p * (1 - q))),
    r"denial ratio( to .*)?": (1, lambda p, q: (1 - p, 1 - q)),
    r"denial rate": (1, lambda p, _: (1 - p, 1)),
}
_SMD = re.compile(r"SMD x 100|standardised mean difference.*", re.IGNORECASE)
_MARKS = re.compile(r"^<|(?<=\d)\?|(?<=\d) pp\b")
_ONE_OTHER = "ratio with one other person selected"
_ROUNDED = 1e-9  # how far what is computed in floating point may be off


def _check_number(column: str, row: tuple[int, str] | None, text: str, *values: float) -> Finding:
    printed, low, high = read_number(_MARKS.sub("", text)), min(values), max(values)
    slack = _ROUNDED * max(1.0, *(abs(each) for each in values if isfinite(each)))
    if printed is not None and low - slack < float(printed.high) and (
        text.startswith("<") or float(printed.low) <= high + slack
    ):  # fmt: skip
        return None
    return Fault.of(FaultCode.DOES_NOT_FOLLOW, row, column=column, printed=text, low=low,
                    high=high, per=printed.per if printed else 1)  # fmt: skip


def check_others(table: PublishedTable) -> _Found:
    """Yield what further columns of a table of selections come to, or their names."""
    for head in table.rows[0].others if table.grid.own else ():
        known = (each for like, each in _OF_RATES.items() if re.fullmatch(like, head))
        scale, of = next(known, (1, None))
        if _SMD.fullmatch(head):
            counts = [row.counts or (0, 0) for row in table.groups]
            n, selected = sum(n for n, _ in counts), sum(x for _, x in counts)
            if 0 < selected < n and all(n for n, _ in counts):
                scale, of = 100 * n / sqrt(selected * (n - selected)), _DIFFERENCE[1]
        base = [row for row in table.groups if row.others[head] == "reference"]
        for row in table.groups:
            text = row.others[head]
            if read_number(text) is None:
                continue
            others = [row] if head == "denial rate" else base
            rates = [[*map(float, each.rates[0])] if each.rates else []
                     for each in (row, *others)]  # fmt: skip
            both = [of(p, q) for p in rates[0] for q in rates[1]] if of and others else []
            values = [scale * over / under for over, under in both if under]
            yield (_check_number(head, (row.number, row.name), text, *values) if values else head)


def check_own_table(grid: Grid, tables: Sequence[PublishedTable]) -> _Found:
    """Yield what the numbers of another table of a filing come to, or what is not checked."""
    kind = next((of for like, of in _KINDS.items() if re.match(like, grid.name)), _unknown_columns)
    return kind(grid, [dict(zip(grid.header, row, strict=True)) for row in grid.rows], tables)


def _unknown_columns(grid: Grid, rows: _Rows, *known: Any) -> _Found:
    for head in grid.header:
        cells = [row[head] for row in rows]
        numbered = any("(n = " in cell or read_number(_MARKS.sub("", cell)) for cell in cells)
        if numbered and head not in known:
            yield head


def _check_gaps(grid: Grid, rows: _Rows, _: Any) -> _Found:
    # what gaps come to by the averages beside them
    gap = next(head for head in grid.header if head.startswith("gap, % of "))
    reference = gap.removeprefix("gap, % of ")
    group = next((h for h in grid.header if f"{h}, n" in grid.header and h != reference), "")
    limit = next((head for head in grid.header if head.endswith(" or more")), "")
    least = read_number(limit.removesuffix(" or more"))
    for number, row in enumerate(rows, 1):
        at = (number, row[grid.header[0]])
        printed, own, other = (read_number(row.get(e, "")) for e in (gap, group, reference))
        if printed is None:
            continue
        if own is None or other is None or other.low <= 0:
            yield gap
            continue
        ends = (1 - own.high / other.low, 1 - own.low / other.high)
        yield _check_number(gap, at, row[gap], *map(float, ends))
        if least is not None:
            reached = [abs(end) >= least.exact for end in (printed.low, printed.exact)]
            agrees = row[limit] in ("yes",) * any(reached) + ("no",) * (not all(reached))
            value = float(abs(100 * printed.exact))
            yield None if agrees else _check_number(limit, at, row[limit], value)


def _check_quarters(grid: Grid, rows: _Rows, *_: Any) -> _Found:
    for head in grid.header[1:]:
        shares = [share for row in rows if (share := read_number(row[head]))]
        together = sum(float(each.exact) for each in shares)
        slack = sum(float(each.unit) / 2 for each in shares)
        yield head if len(shares) < len(rows) else _check_number(  # some are withheld
            head, None, f"{100 * together:.1f}%", 1 - slack, 1 + slack
        )  # fmt: skip


def _check_shares(grid: Grid, rows: _Rows, tables: Sequence[PublishedTable]) -> _Found:
    table = next((each for each in tables if grid.name.endswith(each.name[1:])), None)
    rate = table.columns.get(ColumnRole.RATE, "") if table else ""
    shares = {each.name: each.share for each in (table.groups if table else ())}
    people = [read_number(row["n"]) if row.get("share", "-") != "-" else None for row in rows]
    every = sum(n.value for n in people if n is not None)
    for number, (row, n) in enumerate(zip(rows, people, strict=True), 1):
        at, share = (number, row["group"]), shares.get(row["group"])
        if n is not None:
            yield _check_number("share", at, row["share"], n.value / every)
        if share is not None and rate in grid.header:
            yield _check_number(rate, at, row[rate], float(share))
    yield from _unknown_columns(
        grid, rows, "group", "n", "share", *([rate] if any(shares.values()) else [])
    )


def _shortfalls(_: Grid, rows: _Rows, tables: Sequence[PublishedTable]) -> _Found:
    counts = [{each.name: each.counts for each in table.groups} for table in tables]
    for number, row in enumerate(rows, 1):
        printed = [each and each.value for each in map(read_number, (row["n"], row["selected"]))]
        pairs = ((of.get(row["group"]), of.get(row["compared with"])) for of in counts)
        sides = next(((*own, *e) for own, e in pairs if own and e and [*own] == printed), None)
        if sides is None:
            yield ""
            continue
        n, x, m, y = sides
        people, selected = n + m, x + y
        expected = n * selected / people
        spread = sqrt(expected * m * (people - selected) / (people * max(people - 1, 1)))
        values = {"expected": expected, "shortfall": expected - x}
        values |= {"exact p": float(fisher(x, n, y, m))}
        values |= {"standard deviations": (expected - x) / spread} if spread else {}
        values |= {"ratio": x / n / (y / m)} if y else {}
        values |= {_ONE_OTHER: (x + 1) / n / ((y - 1) / m)} if y > 1 and x < n else {}
        for head, value in values.items():
            yield _check_number(head, (number, row["group"]), row[head], value)


# the other tables of filings, by how their captions begin
_KINDS: Mapping[str, Callable[..., _Found]] = {
    r"Gap of ": _check_gaps,
    r"Who is in each quarter": _check_quarters,
    r"People and rates of": _check_shares,
    r"Selections beside those to expect(?!.*tested together)": _shortfalls,
}
