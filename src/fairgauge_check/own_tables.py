"""Tables of a filing of fairgauge: what follows from the other numbers that they print.

What follows from no printed number is named, and leaves a check undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor, isfinite, sqrt
from typing import Any, TypeAlias

from fairgauge.plugins import fisher
from fairgauge_check.check_result import Fault, FaultCode, Finding
from fairgauge_check.printed import ColumnRole, PublishedTable, Range, read_number
from fairgauge_check.table_files import Grid

# what numbers come to; an empty text is a table that nothing gives.
_Found: TypeAlias = "Iterator[Finding]"
_Rows: TypeAlias = "Sequence[Mapping[str, str]]"
_Compared: TypeAlias = "tuple[float, Callable[..., tuple[float, float]]]"
_RATIO: _Compared = (1, lambda x, n, y, m: (x * m, y * n))
_DIFFERENCE: _Compared = (100, lambda x, n, y, m: (x * m - y * n, n * m))
# what compares the selections x of n people with y of m, and the scale of it: a number over
# another, which are summed over strata, each divided by its people (Mantel and Haenszel).
_OF_RATES: Mapping[str, _Compared] = {
    r"(selection rate )?difference(, pp)?": _DIFFERENCE,
    r"ratio to (?!the highest).*": _RATIO,
    r"(selection )?odds ratio": (1, lambda x, n, y, m: (x * (m - y), y * (n - x))),
    r"denials odds ratio": (1, lambda x, n, y, m: (y * (n - x), x * (m - y))),
    r"denial ratio( to .*)?": (1, lambda x, n, y, m: ((n - x) * m, (m - y) * n)),
    r"denial rate": (1, lambda x, n, *_: (n - x, n)),
}
_OF_ONE = "denial rate"
_SMD = re.compile(r"SMD x 100|standardised mean difference.*", re.IGNORECASE)
_MARKS = re.compile(r"^<|(?<=\d)\?|(?<=\d) pp\b")
_STRATA = r"Groups of .*, selection rates in %"
_SIZE = re.compile(r"\(n = ([\d,]+)\)$")
_MOST_STRATA = 200  # rows of a table of strata, which has no more of them
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


def _rates_of_header(head: str) -> _Compared | tuple[float, None]:
    return next((of for like, of in _OF_RATES.items() if re.fullmatch(like, head)), (1, None))


def check_others(table: PublishedTable) -> _Found:
    """Yield what further columns of a table of selections come to, or their names."""
    for head in table.rows[0].others if table.grid.own else ():
        scale, of = _rates_of_header(head)
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
            others = [row] if head == _OF_ONE else base
            rates = [[*map(float, each.rates[0])] if each.rates else []
                     for each in (row, *others)]  # fmt: skip
            both = [of(p, 1, q, 1) for p in rates[0] for q in rates[1]] if of and others else []
            values = [scale * over / under for over, under in both if under]
            yield (_check_number(head, (row.number, row.name), text, *values) if values else head)


def _rows_of(grid: Grid) -> _Rows:
    return [dict(zip(grid.header, row, strict=True)) for row in grid.rows]


def check_own_table(grid: Grid, tables: Sequence[PublishedTable], others: Sequence[Grid]) -> _Found:
    """Yield what the numbers of another table of a filing come to, or what is not checked."""
    kind = next((of for like, of in _KINDS.items() if re.match(like, grid.name)), _unknown_columns)
    kind = _check_repetition if grid.filed else _details if grid.is_detail else kind
    return kind(grid, _rows_of(grid), tables, others)


def _check_repetition(grid: Grid, *_: Any) -> _Found:
    # a table on another page has the cells of the one to publish
    filed = grid.filed.rows if grid.filed else ()
    if len(filed) != len(grid.rows):
        rows, other = str(len(grid.rows)), str(len(filed))
        yield Fault.of(FaultCode.PAGES_DIFFER, None, column="rows", printed=rows, other=other)
    for number, pair in enumerate(zip(grid.rows, filed, strict=False), 1):
        for head, text, other in zip(grid.header, *pair, strict=True):
            at, facts = (number, pair[1][0]), {"column": head, "printed": text, "other": other}
            yield None if text == other else Fault.of(FaultCode.PAGES_DIFFER, at, **facts)


def _details(grid: Grid, rows: _Rows, *_: Any) -> _Found:
    for number, row in enumerate(rows, 1):
        x, n = read_number(row["of them"]), read_number(row["n"])
        if x and n and n.exact and read_number(row["value"]):
            at = number, row[grid.header[0]]
            yield _check_number("value", at, row["value"], float(100 * x.exact / n.exact))


def _unknown_columns(grid: Grid, rows: _Rows, *known: Any) -> _Found:
    for head in grid.header:
        if head not in known and any(read_number(row[head].lstrip("< ")) for row in rows):
            yield head


def _check_gaps(grid: Grid, rows: _Rows, _: Any, others: Sequence[Grid]) -> _Found:
    # what gaps come to by the averages beside them; those of all rows by those of all categories
    gap = next(head for head in grid.header if head.startswith("gap, % of "))
    reference = gap.removeprefix("gap, % of ")
    group = next((h for h in grid.header if f"{h}, n" in grid.header and h != reference), "")
    limit = next((head for head in grid.header if head.endswith(" or more")), "")
    least = read_number(limit.removesuffix(" or more"))
    for number, row in enumerate(rows, 1):
        at = (number, row[grid.header[0]])
        printed, *means = (read_number(row.get(each, "")) for each in (gap, group, reference))
        if printed is None:
            continue
        sides = [(each.low, each.high) for each in means if each is not None]
        if not sides:
            named = f"{grid.name} in {at[1]}, by "
            inside = next((_rows_of(e) for e in others if e.name.startswith(named)), ())
            names = [head.removesuffix(", n") for head in grid.header if head.endswith(", n")]
            sides = [mean for name in names for mean in _mean_of_all(row, inside, name)]
        if len(sides) != 2 or sides[1][0] <= 0:
            yield gap
            continue
        (low, high), (least_of, most_of) = sides
        yield _check_number(gap, at, row[gap], float(1 - high / least_of), float(1 - low / most_of))
        if least is not None:
            reached = [abs(end) >= least.exact for end in (printed.low, printed.exact)]
            agrees = row[limit] in ("yes",) * any(reached) + ("no",) * (not all(reached))
            value = float(abs(100 * printed.exact))
            yield None if agrees else _check_number(limit, at, row[limit], value)


def _mean_of_all(row: Mapping[str, str], inside: _Rows, name: str) -> Iterator[Range]:
    # none where categories withhold an average, or lack people
    whole = read_number(row[f"{name}, n"])
    both = [(read_number(e[f"{name}, n"]), read_number(e[name])) for e in inside]
    held = [(n.exact, mean) for n, mean in both if n and mean]
    people = sum(n for n, _ in held)
    if whole is not None and people and people == whole.exact:
        low, high = (sum(n * getattr(mean, end) for n, mean in held) for end in ("low", "high"))
        yield low / people, high / people


def _check_quarters(grid: Grid, rows: _Rows, *_: Any) -> _Found:
    for head in grid.header[1:]:
        shares = [share for row in rows if (share := read_number(row[head]))]
        together = sum(float(each.exact) for each in shares)
        slack = sum(float(each.unit) / 2 for each in shares)
        yield head if len(shares) < len(rows) else _check_number(  # some are withheld
            head, None, f"{100 * together:.1f}%", 1 - slack, 1 + slack
        )  # fmt: skip


def _check_shares(grid: Grid, rows: _Rows, tables: Sequence[PublishedTable], _: Any) -> _Found:
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


def _shortfalls(
    grid: Grid, rows: _Rows, tables: Sequence[PublishedTable], others: Sequence[Grid]
) -> _Found:
    counts = [[{each.name: each.counts for each in table.groups}] for table in tables]
    if "tested together" in grid.name:
        counts = [[{name: _certain_counts(row[name]) for name in each.header[1:]}
                   for row in _rows_of(each)]
                  for each in others if re.match(_STRATA, each.name)]  # fmt: skip
    for number, row in enumerate(rows, 1):
        printed = [each and each.value for each in map(read_number, (row["n"], row["selected"]))]
        pairs = ([(each.get(row["group"]), each.get(row["compared with"])) for each in of]
                 for of in counts)  # fmt: skip
        every = [[(*own, *other) for own, other in of if own and other] for of in pairs]
        sides = next((e for e in every if [sum(s[i] for s in e) for i in (0, 1)] == printed), None)
        if sides is None:
            yield ""
            continue
        n, x, m, y = (sum(each[i] for each in sides) for i in range(4))
        expected = sum(a * (b + d) / (a + c) for a, b, c, d in sides)
        spread = sqrt(sum(
            a * c * (b + d) * (a + c - b - d) / ((a + c) ** 2 * max(a + c - 1, 1))
            for a, b, c, d in sides
        ))  # fmt: skip
        values = {"expected": expected, "shortfall": expected - x}
        values |= {"exact p": float(fisher(x, n, y, m))} if len(sides) == 1 else {}
        values |= {"standard deviations": (expected - x) / spread} if spread else {}
        values |= {"ratio": x / n / (y / m)} if y else {}
        values |= {_ONE_OTHER: (x + 1) / n / ((y - 1) / m)} if y > 1 and x < n else {}
        for head, value in values.items():
            yield _check_number(head, (number, row["group"]), row[head], value)
        if len(sides) > 1:
            yield "exact p"


_ONE_OTHER = "ratio with one other person selected"


def _table_of(grid: Grid, tables: Sequence[PublishedTable]) -> PublishedTable | None:
    # the table of the groups whose strata, or adjusted comparisons, these are
    named = [each for each in tables if grid.name.startswith(f"{each.name}, ")]
    return max(named, key=lambda each: len(each.name), default=None)


def _selections(text: str) -> tuple[int, int, int] | None:
    # the people of a cell such as "79.7 (n = 64)", and how few and many of them are selected
    size, rate = _SIZE.search(text), read_number(text)
    n = size and read_number(size[1])
    if n is None:
        return None
    if rate is None:
        return int(n.exact), 0, int(n.exact)
    low, high = (end / 100 * n.exact for end in (rate.low, rate.exact + rate.unit / 2))
    return int(n.exact), ceil(low), floor(high)


def _certain_counts(text: str) -> tuple[int, int] | None:
    n, low, high = _selections(text) or (0, 0, 0)
    return (n, low) if n and low == high else None


def _check_strata(grid: Grid, rows: _Rows, tables: Sequence[PublishedTable], _: Any) -> _Found:
    # people of strata are those of the group, and their selections whole numbers of its selections
    table = _table_of(grid, tables)
    for group in () if table is None else (e for e in table.groups if e.name in grid.header[1:]):
        cells = [_selections(row[group.name]) for row in rows]
        known = [each for each in cells if each is not None]
        n, selected = group.counts or (0, 0)
        people = sum(size for size, _, _ in known)
        if len(known) < len(rows) or not n or (len(rows) >= _MOST_STRATA and people < n):
            yield group.name
            continue
        yield _check_number(group.name, None, f"{n:,}", people)
        impossible = [(i, *each) for i, each in enumerate(known) if each[1] > each[2]]
        for i, size, low, _ in impossible:  # the rate that is next to what is printed
            at = (i + 1, rows[i][grid.header[0]])
            yield _check_number(group.name, at, rows[i][group.name], 100 * low / size)
        if not impossible:
            lows, highs = (sum(each[i] for each in known) for i in (1, 2))
            yield _check_number(group.name, None, f"{selected:,}", lows, highs)
    if table is None:
        yield ""


def _check_adjusted_rows(
    grid: Grid, rows: _Rows, tables: Sequence[PublishedTable], others: Sequence[Grid]
) -> _Found:
    table = _table_of(grid, tables)
    start = f"{table.name}, selection rates in %" if table else ""
    strata = next((each for each in others if start and each.name.startswith(start)), None)
    within = _rows_of(strata) if strata else ()
    for number, row in enumerate(rows, 1):
        at, metric, last = (number, row["group"]), row["metric"], grid.header[-1]
        ratio = table is not None and table.columns.get(ColumnRole.RATIO) == metric
        cells = {
            each.name: each.ratio.text if ratio and each.ratio else
            each.others.get(metric, each.others.get(f"{metric}, pp", ""))
            for each in (table.groups if table else ())
        }  # fmt: skip
        whole = read_number(cells.get(row["group"], ""))
        yield "overall" if whole is None else _check_number(
            "overall", at, row["overall"], float(whole.low), float(whole.exact + whole.unit / 2)
        )  # fmt: skip
        scale, of = _RATIO if ratio else _rates_of_header(metric)
        base = [name for name, text in cells.items() if text == "reference"]
        ends: list[float] = []
        counted = table is not None and all(each.counts for each in table.groups)
        inside = {row["group"], *base} <= {*(strata.header if strata else ())}
        # what is pooled over the strata that both sides are in, of the selections possible
        for i, j in ((1, 2), (2, 1)) if of and counted and inside and len(base) == 1 else ():
            assert of is not None
            cells_of = ((_selections(e[row["group"]]), _selections(e[base[0]])) for e in within)
            terms = [(*of(a[i], a[0], b[j], b[0]), a[0] + b[0])
                     for a, b in cells_of if a and b and a[0] and b[0]]  # fmt: skip
            over, under = (sum(each[k] / each[2] for each in terms) for k in (0, 1))
            ends += [scale * over / under] if under else []
        yield _check_number(last, at, row[last], *ends) if len(ends) > 1 else last


def _comparisons(
    grid: Grid, rows: _Rows, tables: Sequence[PublishedTable], others: Sequence[Grid]
) -> _Found:
    # differences and ratios of the rates of other tables
    known = [{row["group"]: row for row in _rows_of(each)} for each in others
             if each.name.startswith("People and rates of")]  # fmt: skip
    known += [{row.name: {each.columns[ColumnRole.RATE]: row.rate.text}
               for row in each.groups if row.rate}
              for each in tables if ColumnRole.RATE in each.columns]  # fmt: skip
    for number, row in enumerate(rows, 1):
        name, _, kind = row["comparison"].rpartition(" ")
        sides = [[read_number(of[row[side]][name]) for side in ("group", "compared with")]
                 for of in known if {row["group"], row["compared with"]} <= of.keys()
                 and name in of[row["group"]]]  # fmt: skip
        printed = {tuple(each and each.exact for each in pair): pair for pair in sides}
        (own, other), *more = printed.values() or [[None, None]]
        if more or own is None or other is None or (kind == "ratio" and other.low <= 0):
            yield "value and CI"
            continue
        (low, high), (least, most) = ((e.low, e.exact + e.unit / 2) for e in (own, other))
        scale = 100 if own.percent else 1
        ends = (low / most, high / least) if kind == "ratio" else (
            scale * (low - most), scale * (high - least)
        )  # fmt: skip
        at = number, row["group"]
        yield _check_number("value and CI", at, row["value and CI"], *map(float, ends))
    yield from _unknown_columns(grid, rows, "value and CI")


# the other tables of filings, by how their captions begin
_KINDS: Mapping[str, Callable[..., _Found]] = {
    r"Gap of ": _check_gaps,
    r"Who is in each quarter": _check_quarters,
    r"People and rates of": _check_shares,
    r"Selections beside those to expect": _shortfalls,
    r"Comparisons of groups": _comparisons,
    _STRATA: _check_strata,
    r"Groups of .*, adjusted for ": _check_adjusted_rows,
}
