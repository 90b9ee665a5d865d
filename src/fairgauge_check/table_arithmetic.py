"""The arithmetic of published tables: counts, rates, totals, ratios, and tables of one report.

Printed numbers are held against what they are made of, with the precision that their last printed
place allows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from fairgauge.plugins import FEWEST_ROWS, Parameter
from fairgauge_check.check_result import Fault, FaultCode, Finding, Findings
from fairgauge_check.printed_numbers import Printed, is_dash, is_whole
from fairgauge_check.published_table import (
    RATIOS,
    ColumnRole,
    PublishedRow,
    PublishedTable,
    Range,
    RowKind,
)

MIN_SHARE = 0.02
"""The share of people below which a category need not have a ratio, nor be the reference."""
_PRECISE = Fraction(1, 50)
"""The largest unit of the last place, as a share of a ratio, by which a reference is recognised."""
_COUNTS = (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.NOT_SELECTED)
_DENIAL_RATIO = "denial ratio"


def check_arithmetic(
    table: PublishedTable, min_share: float = MIN_SHARE, fewest: int = FEWEST_ROWS
) -> Findings:
    r"""Return every fault of one table, and how many printed numbers were held against others.

    ``min_share`` is the share of people below which a category need not have a ratio, and
    ``fewest`` the number below which it is no reference.

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
        *(fault for row in table.rows for fault in (*_counts(row), *_rate(row))),
        *_totals(table),
        *_ratios(table),
        *_ratios(table.of_denials, _DENIAL_RATIO),
    ]
    others = [*_rows(table, min_share), *_reference(table, min_share, fewest)]
    found = Findings.of(compared, others=others)
    ordered = sorted(found.faults, key=lambda fault: fault.row or (len(table.rows) + 1, ""))
    return replace(found, faults=tuple(ordered))


def _fault(code: FaultCode, row: PublishedRow | None, **parameters: Parameter) -> Fault:
    return Fault.of(code, None if row is None else (row.number, row.name), **parameters)


def _counts(row: PublishedRow) -> Iterator[Finding]:
    for role in _COUNTS:
        printed: Printed | None = getattr(row, role)
        if printed is None:
            continue
        if printed.value < 0:
            yield _fault(FaultCode.NEGATIVE, row, column=str(role), printed=printed.text)
        elif not is_whole(printed.value) or printed.percent:
            yield _fault(FaultCode.NOT_WHOLE, row, column=str(role), printed=printed.text)
    if row.n and row.selected and row.selected.value > row.n.value:
        yield _fault(FaultCode.SELECTED_EXCEEDS_N, row, selected=row.selected.text, n=row.n.text)
    elif row.n and row.selected and row.not_selected:
        parts = row.selected.value + row.not_selected.value
        if parts == row.n.value:
            yield None
        else:
            code = FaultCode.PARTS_EXCEED_N if parts > row.n.value else FaultCode.PARTS_BELOW_N
            texts = {"selected": row.selected.text, "not_selected": row.not_selected.text}
            yield _fault(code, row, **texts, n=row.n.text, parts=parts)


def _rate(row: PublishedRow) -> Iterator[Finding]:
    denied = row.of_denials
    for printed, of, word in (
        (row.rate, row, "rate"),
        (row.denial_rate, denied, "denial rate"),
    ):
        if printed is None:
            continue
        share = of.share
        if share is None or share > 1 or row.weighted:
            if not 0 <= printed.value <= 1:
                yield _fault(FaultCode.RATE_OUT_OF_RANGE, row, printed=printed.text)
        elif printed.agrees(share):
            yield None
        else:
            assert of.selected is not None
            assert row.n is not None
            yield _fault(
                FaultCode.RATE_MISMATCH, row, printed=printed.text, share=float(share), of=word,
                percent=printed.percent, selected=f"{float(of.selected.exact):,.10g}", n=row.n.text,
            )  # fmt: skip


def _totals(table: PublishedTable) -> Iterator[Finding]:
    for row in table.of(RowKind.TOTAL):
        groups = [each for each in table.groups if row.includes(each)]
        unknown = [each for each in table.of(RowKind.UNKNOWN) if row.includes(each)]
        sums = {role: [_sum(each, role) for each in (groups, [*groups, *unknown])]
                for role in _COUNTS}  # fmt: skip
        unchecked = []
        for role in _COUNTS if groups else ():
            printed: Printed | None = getattr(row, role)
            if printed is None:
                continue
            fitting = [high for low, high in sums[role] if low <= printed.exact <= high]
            if fitting and min(fitting) == math.inf:
                unchecked.append(str(role))
            elif fitting:
                yield None
            else:
                low, high = sums[role][0]
                with_unknown = sums[role][1][0]
                ends = {"total": float(low)} | ({"most": float(high)} if high < math.inf else {})
                more = {"with_unknown": float(with_unknown)} if with_unknown > low else {}
                yield _fault(FaultCode.TOTAL_MISMATCH, row, column=str(role), printed=printed.text,
                             **ends, **more)  # fmt: skip
        if row.rate is not None and row.share is None and groups:
            yield from _total_rate(row, groups, unknown, unchecked)
        if unchecked:
            yield _fault(FaultCode.TOTAL_NOT_CHECKED, row, columns=tuple(unchecked))


def _total_rate(
    row: PublishedRow,
    groups: Sequence[PublishedRow],
    unknown: Sequence[PublishedRow],
    unchecked: list[str],
) -> Iterator[Finding]:
    """Hold a total rate without counts against that of its rows."""
    assert row.rate is not None
    shares = []
    for rows in (groups, [*groups, *unknown]):
        counts = [each.counts for each in rows if not each.is_empty]
        if all(counts):
            n, selected = (sum(of) for of in zip(*(each for each in counts if each), strict=True))
            shares.append(Fraction(selected, n))
    if any(map(row.rate.agrees, shares)):
        yield None
    elif shares:
        yield _fault(FaultCode.TOTAL_RATE_MISMATCH, row, printed=row.rate.text,
                     percent=row.rate.percent, rate=float(shares[0]))  # fmt: skip
    else:
        unchecked.append(str(ColumnRole.RATE))


def _sum(rows: Sequence[PublishedRow], role: ColumnRole) -> tuple[Fraction, Fraction | float]:
    """Return the sums that rows allow, up to any where a number can be anything.

    People of unknown category without a number are counted as none, unless it is withheld.
    """
    low = high = Fraction(0)
    is_open = False
    for row in rows:
        printed: Printed | None = getattr(row, role)
        if printed is not None:
            low, high = low + printed.exact, high + printed.exact
        elif role is not ColumnRole.N and row.n is not None:
            high += row.n.exact
        elif row.kind is not RowKind.UNKNOWN or row.withholds(role, ColumnRole.N):
            is_open = True
    return low, math.inf if is_open else high


def possible_ratios(row: PublishedRow, reference: PublishedRow) -> list[Range]:
    """Return the ranges of ratios that are right: of the counts, and of the printed rates.

    A ratio of printed rates is in use, and no fault.
    """
    own, other = row.rates, reference.rates
    pairs = [(own[0], other[0]), (own[-1], other[-1])] if own and other else []
    return [(low / most, high / least) for (low, high), (least, most) in pairs if least > 0]


def _fits(row: PublishedRow, reference: PublishedRow) -> bool:
    return row.ratio is not None and any(
        row.ratio.agrees(*each) for each in possible_ratios(row, reference)
    )


def _fitting(table: PublishedTable, reference: PublishedRow) -> int:
    return sum(_fits(row, reference) for row in table.groups if row is not reference)


def printed_reference(table: PublishedTable) -> PublishedRow | None:
    """Return the row that the printed ratios compare with; None where they do not show it.

    It is the row whose printed ratio is 1, or a word for the reference; of several one that is
    asked for, then the one that most ratios compare with, then that of the highest rate. Where no
    ratio is 1, it is the only large row without one, or else the row that most of them compare
    with.
    """
    rated = [row for row in table.groups if row.ratio is not None]
    if not rated:
        return None
    found = [row for row in rated if row.ratio and row.ratio.value == 1]

    def order(row: PublishedRow) -> tuple[bool, bool, int, Fraction, float]:
        is_word, people = row.ratio is not None and not row.ratio.unit, row.n.value if row.n else 0
        rate = row.stated_rate or Fraction(0)
        return is_word, row.name in table.references, _fitting(table, row), rate, people

    if not found:
        without = [row for row in table.groups if row.ratio is None and row.stated_rate
                   and table.is_large(row, MIN_SHARE)]  # fmt: skip
        best = highest(table, MIN_SHARE)
        if len(without) == 1 and (without[0] is best or 2 * _fitting(table, without[0])
                                  >= len(rated)):  # fmt: skip
            return without[0]
        precise = [
            row for row in rated if row.ratio and row.ratio.unit <= _PRECISE * row.ratio.exact
        ]
        fits = {row.number: sum(_fits(one, row) for one in precise if one is not row)
                for row in table.rows}  # fmt: skip
        found = [row for row in table.rows if fits[row.number] and 2 * fits[row.number]
                 >= len(rated)]  # fmt: skip
    return max(found, key=order, default=None)


def highest(table: PublishedTable, min_share: float, fewest: int = 0) -> PublishedRow | None:
    """Return the row of the highest rate among categories with a share of the people."""
    rated = any(row.ratio is not None for row in table.groups)
    rows = [
        row
        for row in table.groups
        if row.stated_rate is not None
        and table.is_large(row, min_share)
        and (row.n is None or row.n.value >= fewest)
        and (row.n is not None or row.ratio is not None or not rated)
    ]
    return max(
        rows,
        key=lambda row: (row.stated_rate, bool(row.ratio and row.ratio.value == 1),
                         row.n.value if row.n else 0),
        default=None,
    )  # fmt: skip


def _ratios(table: PublishedTable, of: str | None = None) -> Iterator[Finding]:
    reference, unchecked = printed_reference(table), []
    named: dict[str, Parameter] = {} if of is None else {"of": of}
    for row in table.groups:
        if row.ratio is None:
            hidden = row.stated_rate is None and row.withholds() and of is None
            if hidden and table.is_large(row, MIN_SHARE):
                unchecked.append(row.name)
            continue
        ranges = [] if reference is None else possible_ratios(row, reference)
        if reference is not None and row is reference:
            if len(table.groups) == 1:
                unchecked.append(row.name)  # compared with nothing
            elif row.ratio.value != 1:
                yield _fault(FaultCode.RATIO_MISMATCH, row, printed=row.ratio.text, ratio=1.0,
                             reference=row.name, **named)  # fmt: skip
        elif reference is None or not ranges:
            unchecked.append(row.name)
        elif any(row.ratio.agrees(*each) for each in ranges):
            yield None
        else:
            yield _fault(FaultCode.RATIO_MISMATCH, row, printed=row.ratio.text,
                         ratio=float(sum(ranges[0])) / 2, reference=reference.name,
                         **named)  # fmt: skip
    unchecked += [  # what is called a total may be a category
        row.name
        for row in table.of(RowKind.TOTAL)
        if row.ratio and row.ratio.value != 1 and not (reference and _fits(row, reference))
    ]
    if unchecked:
        apart = reference is None and _are_of_no_one_rate(table)
        code = FaultCode.NO_COMMON_REFERENCE if apart else FaultCode.RATIOS_NOT_CHECKED
        yield _fault(code, None, categories=tuple(unchecked), **named)
    for row in table.of(RowKind.UNKNOWN):
        if row.ratio is not None:
            yield _fault(FaultCode.RATIO_OF_UNKNOWN, row, printed=row.ratio.text, **named)


def _are_of_no_one_rate(table: PublishedTable) -> bool:
    """Return whether no rate, of whoever it may be, could be what all printed ratios divide by."""
    low, high = Fraction(0), Fraction(10**9)
    for row in table.groups:
        if row.ratio is not None and row.rates and row.ratio.exact > row.ratio.unit:
            half = row.ratio.unit / 2
            low = max(low, min(each for each, _ in row.rates) / (row.ratio.exact + half))
            high = min(high, max(each for _, each in row.rates) / (row.ratio.exact - half))
    return low > high


def _reference(table: PublishedTable, min_share: float, fewest: int) -> Iterator[Fault]:
    """Yield what is wrong with the reference of the printed ratios: it is not the highest rate."""
    reference = printed_reference(table)
    # an audit takes no category of so few people as reference, whatever its rate
    best = highest(table, min_share, fewest)
    if reference is None or best is None or reference.name in table.references:
        return
    if not table.is_large(reference, min_share):
        assert reference.n is not None
        yield _fault(FaultCode.REFERENCE_IS_SMALL, reference, n=reference.n.value,
                     share=reference.n.value / table.people, other=best.name)  # fmt: skip
    elif reference.rates and best.rates[0][0] > reference.rates[0][1]:
        is_group = reference.kind is RowKind.GROUP and reference.counts is not None
        yield _fault(
            FaultCode.REFERENCE_NOT_HIGHEST,
            reference,
            rate=float(reference.stated_rate or 0),
            highest=float(best.stated_rate or 0),
            other=best.name,
            printed="" if best.rate is None else best.rate.text,
            percent=best.share is None and best.rate is not None and best.rate.percent,
            **({"reference": reference.name} if is_group else {}),
        )


def _rows(table: PublishedTable, min_share: float) -> Iterator[Fault]:
    """Yield what is missing in rows, stands twice, or is not read."""
    for row in table.rows:
        texts = {
            str(role): text
            for role, text in row.texts.items()
            if not (is_dash(text) and (role in RATIOS or row.kind is not RowKind.GROUP
                                       or row.is_empty))
        }  # fmt: skip
        if texts:
            yield _fault(FaultCode.NOT_STATED, row, columns=tuple(texts),
                         printed=tuple(texts.values()))  # fmt: skip
    for one, other in combinations(table.rows, 2):
        if one.categories == other.categories:
            yield _fault(FaultCode.REPEATED_CATEGORY, other, other=one.number)
    if table.ignored:
        yield _fault(FaultCode.COLUMNS_IGNORED, None, columns=table.ignored)
    if not table.of(RowKind.UNKNOWN):
        yield _fault(FaultCode.UNKNOWN_NOT_STATED, None)
    has_ratios, reference = any(row.ratio for row in table.groups), printed_reference(table)
    for row in table.groups:
        roles = (ColumnRole.N, ColumnRole.SELECTED, ColumnRole.RATE)
        missing = [
            str(role) for role in roles if role in table.columns and getattr(row, role) is None
        ]
        derived = row.share is not None or (row.rate is not None and row.n is not None)
        words = any(not is_dash(text) for text in row.texts.values())
        if missing and not (derived or row.is_empty or words):
            yield _fault(FaultCode.NUMBERS_MISSING, row, columns=tuple(missing))
        withheld = row.withholds(ColumnRole.RATIO) or (
            row.stated_rate is None and row.withholds(ColumnRole.SELECTED, ColumnRole.RATE)
        )
        lacks = has_ratios and row.ratio is None and row is not reference and not withheld
        if lacks and row.n and row.n.value and table.is_large(row, min_share):
            share = row.n.value / table.people
            yield _fault(FaultCode.RATIO_MISSING, row, n=row.n.value, share=share)


_BETWEEN = r"[\W_]+(?:(?i:and|x)\s+)?"
"""What stands between two categories in the name of an intersection."""


def check_margins(tables: Sequence[PublishedTable]) -> list[Findings]:
    r"""Return, for every table, where it disagrees with intersections of the same people.

    The counts of a category are held against the sum of its intersections with another feature,
    which may lack as many people as are of unknown category.

    Examples
    --------
    >>> from fairgauge_check.stated_columns import tables_of
    >>> from fairgauge_check.table_files import grids_of_text
    >>> sex = "sex,n,selected\nMale,80,48\nFemale,40,12"
    >>> both = "m,n,selected\nMale A,50,30\nMale B,30,18\nFemale A,30,9\nFemale B,11,3"
    >>> tables = [t for text in (sex, both) for t in tables_of(grids_of_text(text)[0])]
    >>> [(str(each.code), each["total"]) for each in check_margins(tables)[0].faults]
    [('margin_mismatch', 41.0)]
    """
    return [
        Findings.of(
            finding
            for many in tables
            if many is not table and len(table.dimensions) == 1
            for finding in _margins(table, many, tables)
        )
        for table in tables
    ]


def _margins(
    one: PublishedTable, many: PublishedTable, tables: Sequence[PublishedTable]
) -> Iterator[Finding]:
    parts = _intersections(one, many)
    others = {other for of in parts.values() for other in of}
    apart = [each for each in tables if each not in (one, many) and _intersections(each, many)]
    unknown = many.of(RowKind.UNKNOWN) or [r for t in apart for r in t.of(RowKind.UNKNOWN)]
    for row in one.groups:
        of = [*parts.get(_key(one, many)(row.name), {}).values()]
        for role in (ColumnRole.N, ColumnRole.SELECTED) if of else ():
            printed: Printed | None = getattr(row, role)
            if printed is None:
                continue
            low, high = _sum(of, role)
            complete = len(of) == len(others) and not many.excludes and high < math.inf
            lacking = _sum(unknown, role)[1] if complete else math.inf
            if low <= printed.exact <= high + lacking:
                if complete and lacking < math.inf:
                    yield None
                continue
            yield _fault(FaultCode.MARGIN_MISMATCH, row, column=str(role), printed=printed.text,
                         total=float(low), unknown=float(lacking) if complete else 0.0,
                         other=many.name)  # fmt: skip


def _key(*tables: PublishedTable) -> Callable[[str], str]:
    """Return how names are compared: in any case, unless rows of a table differ in case alone."""
    for table in tables:
        names = {row.name for row in table.rows}
        if len({*map(str.casefold, names)}) < len(names):
            return str
    return str.casefold


def _intersections(one: PublishedTable, many: PublishedTable) -> dict[str, dict[str, PublishedRow]]:
    """Return the rows of intersections by the category of one table and by the other category.

    They stand in a column of their own, or begin or end the names of rows: most remainders then
    stand beside several.
    """
    key = _key(one, many)
    names, rows = [key(row.name) for row in one.groups], many.groups
    for at in range(len(many.dimensions)) if len(many.dimensions) > 1 else ():
        found: dict[str, dict[str, PublishedRow]] = {}
        for row in rows:
            values = [*map(key, row.categories)]
            found.setdefault(values.pop(at), {})["\n".join(values)] = row
        if found.keys() & {*names}:
            return found
    for first in (True, False) if len(many.dimensions) == 1 else ():
        found = {}
        for row in rows:
            for name in sorted(names, key=len, reverse=True):
                plain = re.escape(name)
                pattern = f"{plain}{_BETWEEN}(.+)" if first else f"(.+?){_BETWEEN}{plain}"
                if match := re.fullmatch(pattern, key(row.name)):
                    found.setdefault(name, {})[match[1]] = row
                    break
        times = [other for of in found.values() for other in of]
        if len(found) > 1 and 2 * sum(times.count(each) > 1 for each in times) > len(rows):
            return found
    return {}
