"""Tables of one report held against each other: categories against their intersections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import TypeAlias

from fairgauge_check.check_result import Fault, FaultCode, Finding, Findings
from fairgauge_check.published_table import ColumnRole, PublishedRow, PublishedTable, RowKind
from fairgauge_check.total_rows import possible_counts

Parts: TypeAlias = "Mapping[str, Mapping[str, PublishedRow]]"
Key: TypeAlias = Callable[[str], str]

_COUNTS = (ColumnRole.N, ColumnRole.SELECTED)
_BETWEEN = r"[\W_]+"
_WORDS = r"(?:(?i:and|x)\s+)?"
"""What stands between two categories in the name of an intersection."""


def check_margins(tables: Sequence[PublishedTable]) -> list[Findings]:
    r"""Return, for every table, where it disagrees with tables of the same people.

    The counts of a category are held against the sum of its intersections with another feature,
    and all people of the table against those of the intersections. Intersections may lack people
    whose other category is unknown. Where no category of a table is part of an intersection, all
    people are held against those of the first table of another feature.

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
    features = _tables_of_features(tables)
    return [
        Findings.of(
            [
                *(
                    finding
                    for many in tables
                    if len(table.dimensions) == 1 and many is not table
                    for finding in _compared(table, many, tables)
                ),
                *([_all_held(table, features[0])] if table in features[1:] else []),
            ]
        )
        for table in tables
    ]


def _compared(
    one: PublishedTable, many: PublishedTable, tables: Sequence[PublishedTable]
) -> Iterator[Finding]:
    """Hold a table of one feature against its intersections with another.

    People whose other category is unknown may have a row for each category, and count in it.
    A category of the other feature that a table of that feature has may be in no intersection.
    """
    key = _key((one, many))
    parts = _intersections(one, many, key)
    if not parts:
        return
    every = {other for of in parts.values() for other, row in of.items() if _is_known(row)}
    for table in tables:
        names = {key(row.name) for row in table.groups}
        every |= names if table not in (one, many) and names & every else set()
    excludes = many.excludes
    held = [(row, [*of.values()]) for row in one.groups if (of := parts.get(key(row.name)))]
    whole = [
        (row, of) for row, of in held if sum(map(_is_known, of)) == len(every) and not excludes
    ]
    stated = not any(all(map(_is_known, of)) for _, of in held)  # whose other category is unknown
    unknown = {
        role: Fraction(0) if stated else _unknown(one, many, tables, role) for role in _COUNTS
    }
    found = [
        finding
        for row, of in held
        for role in _COUNTS
        for finding in _sum([(row, of)], role, unknown[role] if (row, of) in whole else None, many)
    ]
    yield from found
    if not any(found):  # nor may all categories together lack more people than are unknown
        together = (_sum(whole, role, unknown[role], many) for role in _COUNTS)
        yield from filter(None, chain.from_iterable(together))
    yield from _people(one, many, whole=len(whole) == len(one.groups))


def _unknown(
    one: PublishedTable, many: PublishedTable, tables: Sequence[PublishedTable], role: ColumnRole
) -> Fraction | None:
    """Return the most people whom intersections may lack as of unknown category, None of any.

    Those of the other features are, where the intersections themselves do not state how many.
    """
    if rows := many.of(RowKind.UNKNOWN):  # a sentence around the table is of the same people
        return _added(rows, role)[1]
    others = [
        table
        for table in tables
        if table not in (one, many) and not _are_alike(one, table) and _are_crossed(table, many)
    ]
    return _added([row for table in others for row in table.of(RowKind.UNKNOWN)], role)[1]


def _sum(
    held: Iterable[tuple[PublishedRow, Sequence[PublishedRow]]],
    role: ColumnRole,
    unknown: Fraction | None,
    many: PublishedTable,
) -> Iterator[Finding]:
    """Hold the count of a row, or of several together, against the sum of the intersections.

    These may lack as many people as are ``unknown``: any number where it is None, or a count is
    withheld.
    """
    stated = [(row, of) for row, of in held if getattr(row, role) is not None]
    if not stated:
        return
    printed = sum((getattr(row, role).exact for row, _ in stated), Fraction(0))
    low, high = _added([part for _, of in stated for part in of], role)
    if high is None or unknown is None:
        if printed >= low:
            return
        high, unknown = low, Fraction(0)
    most = high + unknown
    if low <= printed <= most:
        yield None
        return
    row = stated[0][0]
    complete = not all(_is_known(part) for _, of in stated for part in of)
    several = len(stated) > 1
    yield Fault.of(
        FaultCode.MARGIN_MISMATCH,
        None if several else (row.number, row.name),
        column=str(role),
        printed=f"{float(printed):,.10g}" if several else getattr(row, role).text,
        total=float(low),
        most=float(high),
        unknown=float(unknown),
        other=many.name,
        **({"categories": tuple(row.name for row, _ in stated)} if several else {}),
        **({"others": float(printed - most)} if printed > most and not complete else {}),
    )


def _added(rows: Sequence[PublishedRow], role: ColumnRole) -> tuple[Fraction, Fraction | None]:
    """Return the smallest and the largest sum of rows, None where it can be any."""
    ranges = [possible_counts(row, role) for row in rows]
    known = [each for each in ranges if each is not None]
    high = sum((each[1] for each in known), Fraction(0)) if len(known) == len(ranges) else None
    return sum((each[0] for each in known), Fraction(0)), high


def _people(one: PublishedTable, many: PublishedTable, *, whole: bool) -> Iterator[Finding]:
    """Hold all people of two tables against each other, where both print those of no category.

    Where an intersection has no row, its people may be missing, but there are never more.
    """
    people, others = map(_all_people, (one, many))
    if people is None or others is None or (others < people and not whole):
        return
    if people == others:
        yield None
    else:
        yield Fault.of(FaultCode.PEOPLE_DIFFER, None, people=people, others=others, other=many.name)


def _all_held(table: PublishedTable, first: PublishedTable) -> Finding:
    """Hold all people of the table of one feature against those of another.

    People who gave several answers may count in several categories, so that this is a note.
    """
    people, others = _all_people(table), _all_people(first)
    if people is None or others is None or people == others:
        return None
    return Fault.of(FaultCode.TOTALS_DIFFER, None, people=people, others=others, other=first.name)


def _tables_of_features(tables: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Return the tables of single features of which all people are printed; none if two are alike.

    Several tables of one feature are of different people, such as those of several positions.
    """
    single = [table for table in tables if len(table.dimensions) == 1]
    single = [one for one in single if not any(_are_crossed(other, one) for other in single)]
    alike = any(_are_alike(*pair) for pair in combinations(single, 2))
    stated = [table for table in single if _all_people(table) is not None and not table.excludes]
    return [] if alike else stated


def _are_crossed(one: PublishedTable, many: PublishedTable) -> bool:
    return one is not many and bool(_intersections(one, many, _key((one, many))))


def _are_alike(one: PublishedTable, other: PublishedTable) -> bool:
    """Return whether two tables have most categories of the smaller one in common."""
    names, others = ({row.name.casefold() for row in each.groups} for each in (one, other))
    return len(names & others) * 2 > min(len(names), len(others))


def _all_people(table: PublishedTable) -> float | None:
    """Return the people of a table, those of unknown category too; None where some are open."""
    stated = table.unknown is not None and table.all_people_stated
    return table.people if stated else None


def _key(tables: Iterable[PublishedTable]) -> Key:
    """Return how names are compared: in any case, unless rows of a table differ in case alone."""
    for table in tables:
        names = {row.name for row in table.groups}
        if len(set(map(str.casefold, names))) < len(names):
            return str
    return str.casefold


def _intersections(one: PublishedTable, many: PublishedTable, key: Key) -> Parts:
    """Return the rows of intersections by the category of one table and by the other category.

    The other category may be unknown.
    Of two columns of categories one holds those of the table. In one column, names of rows begin or
    end with them, and the remainders are the categories of another feature: most stand beside
    several.
    """
    names = [key(row.name) for row in one.groups]
    if len(many.dimensions) > 1:
        ways = [_by_column(many, i, key) for i in range(len(many.dimensions))]
        found = (each for each in ways if each.keys() & set(names))
    else:
        split = (_by_name(many, names, key, first=first) for first in (True, False))
        found = (each for each in split if _is_crossed(each, len(many.groups)))
    return next(found, {})


def _by_column(many: PublishedTable, at: int, key: Key) -> Parts:
    parts: dict[str, dict[str, PublishedRow]] = {}
    for row in _people_of(many):
        others = [each for i, each in enumerate(row.categories) if i != at]
        parts.setdefault(key(row.categories[at]), {})[key("\n".join(others))] = row
    return parts


def _by_name(many: PublishedTable, names: Sequence[str], key: Key, *, first: bool) -> Parts:
    parts: dict[str, dict[str, PublishedRow]] = {}
    taken = set[int]()  # by a longer name
    for name in sorted(names, key=len, reverse=True):
        plain = re.escape(name)
        pattern = f"{plain}{_BETWEEN}{_WORDS}(.+)" if first else f"(.+?){_BETWEEN}{_WORDS}{plain}"
        for row in _people_of(many):
            match = re.fullmatch(pattern, key(row.name))
            if match and row.number not in taken:
                taken.add(row.number)
                parts.setdefault(name, {})[match[1]] = row
    return parts


def _is_crossed(parts: Parts, rows: int) -> bool:
    """Return whether most rows of a table are intersections of categories with those of another."""
    found = ((other, row) for of in parts.values() for other, row in of.items())
    times = Counter(other for other, row in found if _is_known(row))
    return len(parts) > 1 and sum(n for n in times.values() if n > 1) * 2 > rows


def _people_of(table: PublishedTable) -> list[PublishedRow]:
    return [row for row in table.rows if row.kind is not RowKind.TOTAL]


def _is_known(row: PublishedRow) -> bool:
    return row.kind is not RowKind.UNKNOWN
