"""One SELECT for a plan, in any dialect: every table of it from one scan of the rows."""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.build import Coded, Counted, build, code_values
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import LARGEST, WEIGHTS, Axis, Factor, Plan
from fairgauge.enums import Role, Uncounted
from fairgauge.errors import DataError, quote
from fairgauge.scan.source import (
    LEAST_LOG,
    MOST_UNREADABLE,
    Record,
    Seen,
    UnreadableNumbers,
    check_counts,
    check_numbers,
    check_values,
    ranged_columns,
)
from fairgauge.start.records import dataclass, replace
from fairgauge.values import name_of, plain_number

Run: TypeAlias = Callable[[str], Iterator[Record]]

_FEW_CELLS = 100_000
# grouping sets whose number is a whole number of 64 bits
_MOST_GROUPED = 60
_MOST_CONDITIONS = 2
# whole numbers below are looked up in a list, which takes half the time of a search
_LISTED = 256


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a relation are written in SQL.

    ``key``: the expression to group by.
    ``number``: the expression of a column of numbers as a double, NULL where missing; raises
        DataError of a type of other values.
    ``of_texts``: of a column of texts the expression as a double, NULL where it is none, and that
        of the texts that are none; None of a column of another type.
    ``texts``: the columns that are untyped text (CSV, JSON), in which numbers are read. In others
        they are read where texts that are no numbers were listed.
    ``decode``: turns a fetched key to a plain value, if the engine's own will not do.
    ``double``: the type of double-precision numbers.
    ``exponents``: whether the engine reads constants with an exponent as doubles.
    ``sets``: whether the engine knows grouping sets.
    ``batched``: the columns whose values are in batches of rows what DuckDB groups by.
    ``whole``: the columns of whole numbers, where they can be looked up in a list.
    ``fractions``: those of numbers that may have fractions, which identify nobody.
    ``moment``: writes a key as the last of some times that is not after it, if the engine can.
    ``double_or_nan``: the expression as a double that may be NaN, if that is cheaper.
    ``count_where``: counts the rows of a condition.
    """

    key: Callable[[str], str]
    number: Callable[[str], str]
    of_texts: Callable[[str], tuple[str, str] | None] = lambda _: None
    texts: frozenset[str] = frozenset()
    decode: Callable[[Any], object] | None = None
    double: str = "DOUBLE"
    exponents: bool = False
    sets: bool = True
    batched: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    fractions: frozenset[str] = frozenset()
    moment: Callable[[str, Sequence[dt.datetime]], str] | None = None
    double_or_nan: Callable[[str], str] | None = None
    count_where: str = "count(CASE WHEN {} THEN 1 END)"

    def key_of(self, axis: Axis) -> str:
        key = self.key(axis.column)
        return self.moment(key, axis.moments) if self.moment and axis.moments else key

    def beside(self, column: str, key: str, number: str) -> Columns:
        made = Columns(lambda _: key, lambda _: number)

        def of(name: str) -> Columns:
            return made if name == column else self

        return replace(self, key=lambda c: of(c).key(c), number=lambda c: of(c).number(c),
            of_texts=lambda c: of(c).of_texts(c), double_or_nan=None)  # fmt: skip

    def read(self, column: str, plan: Plan, *, nan: bool = False) -> tuple[str, str | None]:
        """Write a column as a double, NULL where missing or listed as none, and its other texts.

        ``nan``: whether the double may be NaN where it is missing, if that is cheaper.
        """
        none = plan.no_numbers.get(column, ())
        of_texts = self.of_texts(column) if none or column in self.texts else None
        of_numbers = self.double_or_nan if nan and self.double_or_nan and not none else self.number
        number, wrong = of_texts or (of_numbers(column), None)
        texts = ", ".join(literal(name_of(value)) for value in none)
        known = (plain_number(name_of(value)) for value in none)
        codes = ", ".join(self.constant(float(each)) for each in known if each is not None)
        return (
            f"CASE WHEN {number} NOT IN ({codes}) THEN {number} END" if codes else number,
            f"CASE WHEN {wrong} NOT IN ({texts}) THEN {wrong} END" if wrong and texts else wrong,
        )

    def constant(self, number: float) -> str:
        if self.exponents and abs(number) < float("inf"):  # a double in itself, sooner planned
            return f"{number!r}" if "e" in f"{number!r}" else f"{number!r}e0"
        return f"CAST('{number!r}' AS {self.double})"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def count_by_sql(
    plan: Plan,
    relation: str,
    columns: Columns,
    run: Run,
    limit: int,
    likely: Callable[[Axis], Sequence[object]] = lambda _: (),
) -> Cube:
    """Count a relation (what follows FROM) in one scan.

    ``likely`` states the values that a decision of a candidate probably has: of many candidates
    they are counted by sums of conditions, where a grouping set for each takes many times as long.
    """
    if base := _shared_plan(plan):
        assumed = {axis: tuple(likely(axis)) for axis in plan.axes if axis.role is Role.CANDIDATE}
        few = all(0 < len(values) <= _MOST_CONDITIONS for values in assumed.values())
        if few and plan.measures == ("rows",) and not any(axis.bins for axis in assumed):
            by_sums = _count_conditions(plan, base, assumed, relation, columns, run, limit)
            if by_sums is not None:
                return by_sums
    if len(plan.axes) > _MOST_GROUPED and _uses_grouping_sets(plan, columns):
        parts = [_narrowed(plan, table) for table in plan.tables]
        cubes = [count_by_sql(part, relation, columns, run, limit) for part in parts]
        levels = {axis: values for cube in cubes for axis, values in cube.levels.items()}
        observed = tuple(dict.fromkeys(each for cube in cubes for each in cube.observed))
        by_axes = {frozenset(table.axes): table for cube in cubes for table in cube.tables}
        tables = tuple(by_axes[frozenset(plan.axes[i] for i in table)] for table in plan.tables)
        return replace(cubes[0], plan=plan, levels={a: levels[a] for a in plan.axes}, tables=tables,
                       observed=observed)  # fmt: skip

    try:
        cells = _fetch_cells(plan, run(select(plan, relation, columns)), columns, limit)
        return cube_of_records(plan, cells, columns, limit)
    except UnreadableNumbers as error:  # a cell has one of them
        _, wrong = columns.read(error.column, plan)
        texts = f"(SELECT {wrong} AS b FROM {relation}) AS texts"
        found = run(f"SELECT DISTINCT b FROM {texts} WHERE b IS NOT NULL LIMIT {MOST_UNREADABLE}")
        raise UnreadableNumbers(plan, error.column, (text for (text,) in found)) from None


def _shared_plan(plan: Plan) -> Plan | None:
    # the plan without candidates, of tables that differ in their candidate alone
    candidates = {i for i, axis in enumerate(plan.axes) if axis.role is Role.CANDIDATE}
    shared = {frozenset({*table} - candidates) for table in plan.tables}
    one_each = all(len(candidates & {*table}) == 1 for table in plan.tables)
    if len(plan.tables) < 2 or len(shared) != 1 or not one_each:
        return None
    return _narrowed(plan, sorted(*shared))


def _narrowed(plan: Plan, axes: Sequence[int]) -> Plan:
    return replace(plan, axes=tuple(plan.axes[i] for i in axes), tables=(tuple(range(len(axes))),))


def _count_conditions(
    plan: Plan, base: Plan, assumed: Mapping[Axis, tuple[object, ...]], relation: str,
    columns: Columns, run: Run, limit: int,
) -> Cube | None:  # fmt: skip
    # None where a candidate has other values than those that are assumed
    keys = [columns.key_of(axis) for axis in base.axes if not axis.bins]
    if len(keys) < len(base.axes) or columns.decode is not None:
        return None
    sums = [
        columns.count_where.format(f"{columns.key_of(axis)} = {_value(value, columns)}")
        for axis, values in assumed.items()
        for value in values
    ]
    sums += [f"count({columns.key_of(axis)})" for axis in assumed]
    by = ", ".join(str(i + 1) for i in range(len(keys)))
    records = [
        *run(f"SELECT {', '.join([*keys, 'count(*)', *sums])} FROM {relation} GROUP BY {by}")
    ]
    fields = [*zip(*records, strict=True)] or [()] * (len(keys) + 1 + len(sums))
    rows = np.array(fields[len(keys)], dtype=np.float64)
    held = iter(fields[len(keys) + 1 :])
    of = {axis: [np.array(next(held), dtype=np.float64) for _ in values]
          for axis, values in assumed.items()}  # fmt: skip
    known = {axis: np.array(next(held), dtype=np.float64) for axis in assumed}
    if any((known[axis] != sum(counts)).any() for axis, counts in of.items()):
        return None
    own = [code_values(a, fetched) for a, fetched in zip(base.axes, fields, strict=False)]
    tables = []
    for table in plan.tables:
        (axis,) = (plan.axes[i] for i in table if plan.axes[i] in assumed)
        parts = [*of[axis], rows - known[axis]]
        place = np.arange(len(rows))
        codes = [Coded(each.values, each.positions[np.tile(place, len(parts))]) for each in own]
        values = code_values(axis, [*assumed[axis], None])
        decided = Coded(
            values.values, values.positions[np.repeat(np.arange(len(parts)), len(rows))]
        )
        by_axis = dict(zip(base.axes, codes, strict=True)) | {axis: decided}
        tables.append(
            Counted([by_axis[plan.axes[i]] for i in table], {"rows": np.concatenate(parts)})
        )
    return build(plan, tables, rows=int(rows.sum()), texts=columns.texts, limit=limit)


def _value(value: object, columns: Columns) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return literal(value)
    return str(value) if isinstance(value, int) else columns.constant(float(str(value)))


def select(plan: Plan, relation: str, columns: Columns) -> str:
    """Write the query: keys of every axis, the number of the table, and all sums."""
    numbers = plan.numeric_columns
    written = [columns.read(column, plan) for column in numbers]
    read = [f"{columns.key_of(a)} AS k{i}" for i, a in enumerate(plan.axes) if not a.bins]
    read += [f"{number} AS v{i}" for i, (number, _) in enumerate(written)]
    texts = {i: wrong for i, (_, wrong) in enumerate(written) if wrong}
    read += [f"{wrong} AS b{i}" for i, wrong in texts.items()]
    keys = [f"k{i}" for i in range(len(plan.axes))]
    for i, axis in ((i, axis) for i, axis in enumerate(plan.axes) if axis.bins):
        value = f"v{numbers.index(axis.column)}"
        place = _bin_number(value, axis, columns)
        if axis.role is Role.CODES and axis.column in columns.whole:
            read.append(f"{columns.key(axis.column)} AS e{i}")
            places = axis.bins_of(np.arange(_LISTED, dtype=np.float64)).tolist()
            listed = f"{places}[CAST(e{i} AS BIGINT) + 1]"
            place = f"CASE WHEN {value} BETWEEN 0 AND {_LISTED - 1} THEN {listed} ELSE {place} END"
        keys[i] = f"{place} AS k{i}"
    values = [f"v{i}" for i in range(len(numbers))]
    values += [f"b{i}" for i in texts]
    limited = sorted({numbers.index(c) for m in plan.moments if m.limited for c in m.columns})
    least, most = columns.constant(-LARGEST), columns.constant(LARGEST)
    above = f"> {most} THEN {most} WHEN"
    values += [
        f"CASE WHEN v{i} {above} v{i} < {least} THEN {least} ELSE v{i} END AS l{i}" for i in limited
    ]
    values += [f"{value} AS {name}" for name, value in _sql_factors(plan, columns).items()]
    names = [f"k{i}" for i in range(len(plan.axes))]
    which, by = "0", ", ".join(names) or "()"
    if _uses_grouping_sets(plan, columns):
        which = " + ".join(f"grouping({name}) * {1 << i}" for i, name in enumerate(names))
        sets = (", ".join(names[i] for i in table) for table in plan.tables)
        by = f"GROUPING SETS ({', '.join(f'({each})' for each in sets)})"
    made = enumerate(_sums(plan, columns, texts))
    sums = [*names, f"{which} AS t", *(f"{each} AS s{i}" for i, each in made)]
    return (
        f"WITH r AS (SELECT {', '.join(read)} FROM {relation}), "
        f"s AS (SELECT {', '.join([*keys, *values])} FROM r) "
        f"SELECT {', '.join(sums)} FROM s GROUP BY {by}"
    )


def select_rows(plan: Plan, relation: str, columns: Columns) -> str:
    """Write the query of all rows: the values of every plain axis, and the numbers."""
    keys = [columns.key_of(axis) for axis in plan.axes if not axis.bins]
    numbers = [columns.read(column, plan, nan=True)[0] for column in plan.numeric_columns]
    return f"SELECT {', '.join([*keys, *numbers])} FROM {relation}"


def _uses_grouping_sets(plan: Plan, columns: Columns) -> bool:
    # whether each table is a grouping set; else the cells of all axes make every table
    return len(plan.tables) > 1 and columns.sets and not plan.joint


def _sql_factors(plan: Plan, columns: Columns) -> dict[str, str]:
    # where a row has both, also which of them is known
    most = columns.constant(sys.float_info.max)
    value = {c: f"v{plan.numeric_columns.index(c)}" for c in (plan.count, plan.weight) if c}
    usable = {c: f"{v} BETWEEN -{most} AND {most}" for c, v in value.items()}
    for column in plan.replicates:
        usable[str(plan.weight)] += f" AND v{plan.numeric_columns.index(column)} IS NOT NULL"
    both = " AND ".join(usable.values())
    return {
        name: f"CASE WHEN {condition} THEN {value[column]} END"
        for column, factor in ((plan.count, "n"), (plan.weight, "w"))
        if column
        for name, condition in ((factor, both), (f"has_{factor}", usable[column]))
        if name == factor or len(value) > 1
    }


def _sums(plan: Plan, columns: Columns, texts: Container[int]) -> list[str]:
    # write the sums: all rows, counted rows, measures; then what must be checked
    factors = [name for name, column in (("n", plan.count), ("w", plan.weight)) if column]
    times = " * ".join(factors)
    # a row of no case is none, whatever it is counted together with
    counted = f"count({factors[0] if factors else '*'})"
    if plan.count and not plan.weight:
        counted = "sum(CASE WHEN n > 0 THEN 1 ELSE 0 END)"
    sums = ["count(*)", counted]
    if plan.count:
        sums.append("sum(n)")
    if plan.weight:
        sums.append(f"sum(CASE WHEN w > 0 THEN {'n' if plan.count else '1'} ELSE 0 END)")
    powers = [" * ".join([times, *["w"] * power]) for power in range(len(WEIGHTS))]
    sums += [f"sum({p})" for m, p in zip(WEIGHTS, powers, strict=True) if m in plan.measures]
    for moment in plan.moments:
        product = [powers[moment.power - 1]] if times else []
        if moment.by:
            replicate = f"v{plan.numeric_columns.index(moment.by)}"
            product = [*(["n"] if plan.count else []), "CASE WHEN w >= 0 THEN 1 END", replicate]
        if moment.columns:
            held = "l" if moment.limited else "v"
            x, y = (f"{held}{plan.numeric_columns.index(c)}" for c in (moment.columns * 2)[:2])
            about = f"({x} - {columns.constant(moment.centre)})" if moment.centre else x
            product += (
                about if each == "x" else _sql_factor(each, x, y, columns)
                for each in moment.factors
            )
        sums.append(f"sum({' * '.join(product)})")
    sums.append("max(CASE WHEN n <> floor(n) THEN n END)" if plan.count else "NULL")
    if plan.count and plan.weight:
        sums.append("count(*) - count(has_n)")
        sums.append("sum(CASE WHEN has_w IS NULL THEN coalesce(has_n, 0) ELSE 0 END)")
    else:
        sums.append("count(*) - count(n)" if plan.count else "0")
        sums.append("count(*) - count(w)" if plan.weight else "0")
    ranged = ranged_columns(plan)
    for i, column in enumerate(plan.numeric_columns):
        sums.append(f"min(v{i})" if column in ranged else "NULL")
        sums.append(f"max(v{i})" if column in ranged else "NULL")
        sums.append(f"min(b{i})" if i in texts else "NULL")
    return sums


def _bin_number(value: str, axis: Axis, columns: Columns) -> str:
    # write the number of the bin that a value falls in: of cut points by a search tree, of whole
    # ones in a row by rounding, as engines plan each comparison
    if axis.grid:
        return _grid_code(value, axis, columns)
    cuts, left = axis.cuts, axis.closed == "left"
    sign, whole = (">=", f"floor({value}) + 1") if left else (">", f"-floor(-({value}))")

    def search(low: int, high: int) -> str:
        if low == high:
            return str(low)
        least = cuts[low - 1]
        if high < len(cuts) and least % 1 == 0 and cuts[high] - least == 1 + high - low > 4:
            return f"CAST({whole} + {low - 1 - int(least)} AS BIGINT)"
        middle = (low + high) // 2
        over, under = search(middle + 1, high), search(low, middle)
        point = columns.constant(cuts[middle])
        return f"CASE WHEN {value} {sign} {point} THEN {over} ELSE {under} END"

    first = f"WHEN NOT ({value} {sign} {columns.constant(cuts[0])}) THEN 0"  # of most weights
    return f"CASE {first} WHEN {value} IS NOT NULL THEN {search(1, len(cuts))} END"


def _grid_code(value: str, axis: Axis, columns: Columns) -> str:
    assert axis.bounds is not None
    low, high = (columns.constant(bound) for bound in axis.bounds)
    width = columns.constant(axis.bounds[1] - axis.bounds[0])
    grid = columns.constant(float(axis.grid))
    nearest = f"round(({value} - {low}) / {width} * {grid})"
    below = columns.constant(axis.bounds[0] * axis.grid)
    edge = f"(({nearest} * {width} + {below}) / {grid})"
    inside = f"{value} BETWEEN {low} AND {high}"
    return f"CASE WHEN {inside} THEN CAST(2 * {nearest} + 1 + sign({value} - {edge}) AS BIGINT) END"


def _sql_factor(factor: Factor, x: str, y: str, columns: Columns) -> str:
    if factor == "gap":
        return f"({y} - {x})"
    if factor == "distance":
        return f"abs({y} - {x})"
    p, least = x if factor == "log" else f"(1 - {x})", columns.constant(LEAST_LOG)
    return f"ln(CASE WHEN {p} < {least} THEN {least} ELSE {p} END)"


def _fetch_cells(
    plan: Plan, records: Iterator[Record], columns: Columns, limit: int
) -> list[Record]:
    # fetch the cells; a column of too many values is reported before they fill the memory
    cells: list[Record] = []
    while more := list(islice(records, max(len(cells), _FEW_CELLS))):
        cells += more
        if len(cells) > _FEW_CELLS:
            axes = [(i, axis) for i, axis in enumerate(plan.axes) if axis.limited]
            found = {a: {*_decode_keys(a, [cell[i] for cell in cells], columns)} for i, a in axes}
            check_values({a: [*keys] for a, keys in found.items()}, columns.texts, limit)
    return cells


def cube_of_records(plan: Plan, records: list[Record], columns: Columns, limit: int) -> Cube:
    """Make a cube of what the query of `select` answered."""
    axes = len(plan.axes)
    after = axes + 2 + len(plan.measures)
    fields = list(zip(*records, strict=True)) or [()] * (after + 3 + 3 * len(plan.numeric_columns))
    sums = {m: _zero_for_nan(fields[axes + 2 + i]) for i, m in enumerate(plan.measures)}
    tables, cells = [tuple(range(axes))], [np.arange(len(records))]
    if _uses_grouping_sets(plan, columns):
        tables, which = list(plan.tables), np.array(fields[axes], dtype=np.int64)
        masks = [sum(1 << i for i in range(axes) if i not in table) for table in tables]
        cells = [np.flatnonzero(which == mask) for mask in masks]
    check_numbers(plan, list(_ranges_seen(plan, fields[after + 3 :])))
    # what is of all rows is the sum over the cells of any one table
    rows, without_count, without_weight = (
        int(_zero_for_nan(fields[i])[cells[0]].sum()) for i in (axes + 1, after + 1, after + 2)
    )
    excluded = {Uncounted.NO_COUNT: without_count, Uncounted.NO_WEIGHT: without_weight}
    keys = [
        code_values(axis, _decode_keys(axis, fetched, columns))
        for axis, fetched in zip(plan.axes, fields, strict=False)
    ]
    counted = [
        Counted(
            [Coded(keys[i].values, keys[i].positions[at]) for i in table],
            {m: each[at] for m, each in sums.items()},
        )
        for table, at in zip(tables, cells, strict=True)
    ]
    fractional = next((each for each in fields[after] if each is not None), None)
    check_counts(plan, fractional, counted[0].sums, rows)
    return build(plan, counted, rows=rows, excluded=excluded, texts=columns.texts, limit=limit)


def _zero_for_nan(column: Sequence[object]) -> NDArray[np.float64]:
    numbers = np.array(column, dtype=np.float64)
    return np.where(np.isnan(numbers), 0.0, numbers)


def _ranges_seen(plan: Plan, ranges: Sequence[Sequence[Any]]) -> Iterator[Seen]:
    for i, column in enumerate(plan.numeric_columns):
        low, high, wrong = (
            [v for v in each if v is not None] for each in ranges[3 * i : 3 * i + 3]
        )
        ends = (float(min(low)), float(max(high))) if low else None
        yield Seen(column, ends, min(wrong, default=None))


def _decode_keys(axis: Axis, fetched: Sequence[object], columns: Columns) -> Sequence[object]:
    if axis.bins or columns.decode is None:
        return fetched
    return [columns.decode(value) for value in fetched]


ROWS = "fairgauge_rows"
"""The table that a query names before it is written in a dialect."""
QUESTION = "fairgauge_query"
"""The column of an answer that states the question."""
MARK = "|"
"""What a text ends in, so that an empty one and blanks at the end are kept."""
WITHOUT_SETS = ("mysql", "sqlite")
FOLDED = "mysql"
"""The dialect that takes texts for equal which differ in case alone."""


def mark_text(name: str, dialect: str) -> str:
    """Write a text with its mark, letter by letter in the dialect that folds case."""
    text = f"CONCAT({name}, {literal(MARK)})"
    if dialect == FOLDED:  # whose tables may be in another character set
        text = f"CONVERT({text} USING utf8mb4) COLLATE utf8mb4_bin"
    return f"CASE WHEN {name} IS NOT NULL THEN {text} END"


def translate(sql: str, rows: str, dialect: str) -> str:
    """Write a query of the table `ROWS` in a dialect, of rows that are named in it."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for table in list(tree.find_all(exp.Table)):
        if table.name == ROWS:
            table.replace(_parse_source(rows, dialect))
    return tree.sql(dialect=dialect, pretty=True)


# how a query begins; whatever else is the name of a table, which may have spaces
_QUERY = re.compile(
    r"\s*(?:--|/\*|\(|(?:SELECT|WITH|FROM|VALUES|TABLE|PIVOT|UNPIVOT)\b)", re.IGNORECASE
)


def is_query(rows: str) -> bool:
    """Return whether rows are named by a query: several words that begin as one does."""
    return len(rows.split()) > 1 and _QUERY.match(rows) is not None


def _parse_source(rows: str, dialect: str) -> object:
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    reason = "write one SELECT, or the name of a table, with its quotes"
    named = not is_query(rows)
    try:
        text = rows.strip().rstrip(";")
        found: Any = parse_one(f"SELECT * FROM {text}" if named else text, read=dialect)
        if not named and isinstance(found, exp.Query):
            return found.subquery(ROWS)
        table = found.find(exp.Table)
        if named and not table.alias and found == exp.select("*").from_(table.copy()):
            return table
    except SqlglotError as error:
        reason = reason if named else str(error).splitlines()[0]
    raise DataError(f"cannot read {quote(rows)} as {dialect}: {reason}")
