"""Tables of a filing of fairgauge: what follows from the other numbers that they print.

What follows from no printed number is named, and leaves a check undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, TypeAlias

from fairgauge.errors import listing, quote
from fairgauge.plugins import fisher
from fairgauge_check.check_result import Fault, FaultCode, Finding
from fairgauge_check.printed import PublishedTable, RowKind, read_number
from fairgauge_check.table_files import Grid

_Found: TypeAlias = "Iterator[Finding | str]"
"""What numbers come to; a text is a column that nothing gives, or empty where it is a table."""
_FROM_RATES: Mapping[str, Callable[[float, float], float]] = {
    r"(selection rate )?difference, pp": lambda p, q: 100 * (p - q),
    r"ratio to (?!the highest).*": lambda p, q: p / q,
    r"(selection )?odds ratio": lambda p, q: p * (1 - q) / ((1 - p) * q),
    r"denials odds ratio": lambda p, q: (1 - p) * q / (p * (1 - q)),
    r"denial ratio( to .*)?": lambda p, q: (1 - p) / (1 - q),
    r"denial rate": lambda p, _: 1 - p,
}
"""What columns of the tables to publish are, of the rates of a group and of the reference."""
_OF_ONE = "denial rate"
_SMD = re.compile(r"SMD x 100|standardised mean difference.*", re.IGNORECASE)
_SIZE = re.compile(r"\(n = ([\d,]+)\)$")
_ROUNDED = 1e-9  # how far what is computed in floating point may be off


def _held(column: str, row: tuple[int, str] | None, text: str, *values: float) -> Finding:
    printed, low, high = read_number(text.removeprefix("<")), min(values), max(values)
    slack = _ROUNDED * max(1.0, abs(low), abs(high))
    if (
        printed is not None
        and low - slack < float(printed.high)
        and (text.startswith("<") or float(printed.low) <= high + slack)
    ):
        return None
    percent = printed is not None and printed.percent
    return Fault.of(FaultCode.DOES_NOT_FOLLOW, row, column=column, printed=text, percent=percent,
                    low=low, high=high)  # fmt: skip


def check_others(table: PublishedTable) -> _Found:
    """Yield what further columns of a table of selections come to, or their names.

    >>> from fairgauge_check.reading import tables_of
    >>> text = (("a", "80", "48", "60%", "reference"), ("b", "40", "12", "30%", "−31.0"))
    >>> header = ("group", "n", "selected", "selection rate", "selection rate difference, pp")
    >>> (table,) = tables_of(Grid("", header, text, own=True))
    >>> [(each["printed"], round(each["low"])) for each in check_others(table)]
    [('−31.0', -30)]
    """
    for head in table.rows[0].others if table.own else ():
        of = next((f for like, f in _FROM_RATES.items() if re.fullmatch(like, head)), None)
        if _SMD.fullmatch(head) and not table.of(RowKind.UNKNOWN):
            counts = [row.counts or (0, 0) for row in table.groups]
            n, selected = sum(n for n, _ in counts), sum(x for _, x in counts)
            if 0 < selected < n and all(n for n, _ in counts):
                scale = 100 * n / sqrt(selected * (n - selected))
                of = lambda p, q, by=scale: by * (p - q)  # noqa: E731
        base = [row for row in table.groups if row.others[head] == "reference"]
        for row in table.groups:
            text = row.others[head]
            if read_number(text) is None:
                continue
            others = [row] if head == _OF_ONE else base
            rates = [
                [float(end) for end in each.rates[0]] if each.rates else []
                for each in (row, *others)
            ]
            try:
                values = [of(p, q) for p in rates[0] for q in rates[1]] if of and others else []
            except ZeroDivisionError:
                values = []
            yield _held(head, (row.number, row.name), text, *values) if values else head


def check_own_table(grid: Grid, tables: Sequence[PublishedTable]) -> tuple[list[Finding], str]:
    """Return what the numbers of another table of a filing come to, and what is not checked."""
    kind = next((of for like, of in _KINDS.items() if grid.name.startswith(like)), _columns)
    rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
    found = [*kind(grid, rows, tables)]
    named = list(dict.fromkeys(each for each in found if isinstance(each, str)))
    columns = f", {listing(filter(None, named))}" if any(named) else ""
    compared = [each for each in found if not isinstance(each, str)]
    return compared, f"{quote(grid.name)}{columns}" if named else ""


def _columns(grid: Grid, rows: Sequence[Mapping[str, str]], *known: Any) -> _Found:
    for head in grid.header:
        if head not in known and any(read_number(row[head]) for row in rows):
            yield head


def _gaps(grid: Grid, rows: Sequence[Mapping[str, str]], _: Any) -> _Found:
    # what gaps come to by the averages beside them; those of all rows have none
    gap = next(head for head in grid.header if head.startswith("gap, % of "))
    reference = gap.removeprefix("gap, % of ")
    group = next((h for h in grid.header if f"{h}, n" in grid.header and h != reference), "")
    limit = next((head for head in grid.header if head.endswith(" or more")), "")
    least = read_number(limit.removesuffix(" or more"))
    for number, row in enumerate(rows, 1):
        at = (number, row[grid.header[0]])
        ours, theirs, printed = (read_number(row.get(each, "")) for each in (group, reference, gap))
        if printed is None:
            continue
        if ours is None or theirs is None or theirs.low <= 0:
            yield gap
            continue
        ends = float(1 - ours.high / theirs.low), float(1 - ours.low / theirs.high)
        yield _held(gap, at, row[gap], *ends)
        if least is not None:
            reached = [abs(end) >= least.exact for end in (printed.low, printed.exact)]
            agrees = row[limit] in ("yes",) * any(reached) + ("no",) * (not all(reached))
            size = float(abs(100 * printed.exact))
            yield (
                None
                if agrees
                else Fault.of(
                    FaultCode.DOES_NOT_FOLLOW,
                    at,
                    column=limit,
                    printed=row[limit],
                    low=size,
                    high=size,
                )
            )


def _quarters(grid: Grid, rows: Sequence[Mapping[str, str]], _: Any) -> _Found:
    for head in grid.header[1:]:
        shares = [read_number(row[head]) for row in rows]
        together = sum(float(each.exact) for each in shares if each)
        slack = sum(float(each.unit) / 2 for each in shares if each)
        yield _held(head, None, f"{100 * together:.1f}%", 1 - slack, 1 + slack)


def _people(grid: Grid, rows: Sequence[Mapping[str, str]], _: Any) -> _Found:
    known = {i: n.value for i, row in enumerate(rows, 1)
             if (n := read_number(row["n"])) and row["share"] != "-"}  # fmt: skip
    for i, people in known.items():
        row = rows[i - 1]
        yield _held("share", (i, row["group"]), row["share"], people / sum(known.values()))
    yield from _columns(grid, rows, "group", "n", "share")


def _shortfalls(
    grid: Grid, rows: Sequence[Mapping[str, str]], tables: Sequence[PublishedTable]
) -> _Found:
    for number, row in enumerate(rows, 1):
        counts = [{each.name: each.counts for each in table.groups} for table in tables]
        printed = tuple(
            each and int(each.value) for each in map(read_number, (row["n"], row["selected"]))
        )
        both = next((of for of in counts if of.get(row["group"]) == printed), {})
        own, other = both.get(row["group"]), both.get(row["compared with"])
        if own is None or other is None or "tested together" in grid.name:
            yield ""
            continue
        (n, x), (m, y) = own, other
        people, chosen = n + m, x + y
        expected = n * chosen / people
        spread = sqrt(n * m * chosen * (people - chosen) / (people**2 * max(people - 1, 1)))
        values = {"expected": expected, "shortfall": expected - x}
        values["exact p"] = float(fisher(x, n, y, m))
        values |= {"standard deviations": (expected - x) / spread} if spread else {}
        values |= {"ratio": x / n / (y / m)} if y else {}
        values |= {_ONE_OTHER: (x + 1) / n / ((y - 1) / m)} if y > 1 and x < n else {}
        for head, value in values.items():
            yield _held(head, (number, row["group"]), row[head], value)


_ONE_OTHER = "ratio with one other person selected"


def _strata(
    grid: Grid, rows: Sequence[Mapping[str, str]], tables: Sequence[PublishedTable]
) -> _Found:
    # what rates in strata come to: all selections of a group, as far as they are rounded
    names = {*grid.header[1:]}
    groups = [each for each in tables if names <= {group.name for group in each.groups}]
    for group in (row for row in groups[0].groups if row.name in names) if groups else ():
        cells = [text for row in rows if (text := row[group.name]).strip("-0 ()n=")]
        sizes = [match and read_number(match[1]) for match in map(_SIZE.search, cells)]
        rates = [read_number(text) for text in cells]
        known = [(n.value, each) for n, each in zip(sizes, rates, strict=True) if n and each]
        n, selected = group.counts or (0, 0)
        if len(known) < len(cells) or sum(people for people, _ in known) != n:
            yield group.name  # or some people are in no stratum
            continue
        ends = (
            sum(people * float(getattr(rate, end)) / 100 for people, rate in known)
            for end in ("low", "high")
        )
        yield _held(group.name, None, f"{selected:,}", *ends)
    if not groups:
        yield ""


_KINDS: Mapping[str, Callable[..., _Found]] = {
    "Gap of ": _gaps,
    "Who is in each quarter": _quarters,
    "People and rates of": _people,
    "Selections beside those to expect": _shortfalls,
    "Selection rates in %": _strata,
}
"""The other tables of filings, by how their captions begin."""
