"""Tables of a filing of fairgauge: what follows from the other numbers that they print.

What follows from no printed number is named, and leaves a check undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any, TypeAlias

from fairgauge.plugins import fisher
from fairgauge_check.check_result import Fault, FaultCode, Finding
from fairgauge_check.printed import ColumnRole, PublishedTable, read_number
from fairgauge_check.table_files import Grid

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
    percent = printed is not None and printed.percent
    return Fault.of(FaultCode.DOES_NOT_FOLLOW, row, column=column, printed=text, low=low,
                    high=high, percent=percent)  # fmt: skip


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
