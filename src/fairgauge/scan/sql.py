"""One SELECT for a plan, in DuckDB's SQL: every table of it from one scan of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairgauge.cube import Counted, Cube, build
from fairgauge.scan.source import LEAST_LOG, Seen, check_counts, check_numbers

if TYPE_CHECKING:
    from fairgauge.plan import Axis, Moment, Plan

Run = Callable[[str], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of a relation are written in SQL.

    Attributes
    ----------
    key : the expression to group by.
    number : the expression as a DOUBLE, NULL where it is missing or not a number.
    texts : whether the values are untyped text (CSV, JSON).
    decode : turns a fetched key to a plain value, if the engine's own will not do.
    """

    key: Callable[[str], str]
    number: Callable[[str], str]
    texts: bool = False
    decode: Callable[[Any], Any] | None = None


def identifier(name: str) -> str:
    """Quote the name of a column."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text."""
    return "'" + text.replace("'", "''") + "'"


def count_by_sql(plan: Plan, relation: str, columns: Columns, run: Run, limit: int) -> Cube:
    """Count a relation (a FROM clause) in one query."""
    query = select(plan, relation, columns)
    records = run(query)
    return _cube(plan, records, columns, limit)


def select(plan: Plan, relation: str, columns: Columns) -> str:
    """Write the query: keys of every axis, the number of the table, and all sums."""
    keys = [f"{_key(axis, columns)} AS k{i}" for i, axis in enumerate(plan.axes)]
    numbers = plan.numeric_columns
    values = [f"{_finite_or_null(columns, c)} AS v{i}" for i, c in enumerate(numbers)]
    bad = [
        f"CASE WHEN {columns.key(c)} IS NOT NULL AND {columns.number(c)} IS NULL "
        f"THEN CAST({columns.key(c)} AS VARCHAR) END AS b{i}"
        for i, c in enumerate(numbers)
    ]
    inner = f"SELECT {', '.join([*keys, *values, *bad]) or '1'} FROM {relation}"
    weight = _value(plan.weight, numbers)
    cases = _value(plan.count, numbers)
    counted = " AND ".join(f"{v} IS NOT NULL AND isfinite({v})" for v in (cases, weight) if v)
    only = f" FILTER ({counted})" if counted else ""
    times = f"{cases} * " if cases else ""
    sums = ["count(*)", f"count(*){only}"]
    sums += [f"sum({cases}){only}"] if cases else []
    sums += (
        [f"sum({times}{weight}){only}", f"sum({times}{weight} * {weight}){only}"] if weight else []
    )
    sums += [
        f"sum({times}{f'{weight} * ' if weight else ''}{_moment(m, numbers)}){only}"
        for m in plan.moments
    ]
    sums += [f"any_value({cases}) FILTER ({cases} <> floor({cases}))" if cases else "NULL"]
    for name in (cases, weight):
        sums.append(f"count(*) FILTER ({name} IS NULL OR NOT isfinite({name}))" if name else "0")
    for i in range(len(numbers)):
        sums += [f"min(v{i})", f"max(v{i})", f"min(b{i})"]
    every = [f"k{i}" for i in range(len(plan.axes))]
    grouping = ", ".join(f"({', '.join(f'k{i}' for i in table)})" for table in plan.tables)
    which = f"grouping({', '.join(every)})" if len(plan.tables) > 1 else "0"
    by = f"GROUPING SETS ({grouping})" if len(plan.tables) > 1 else ", ".join(every)
    return f"WITH r AS ({inner}) SELECT {', '.join([*every, which, *sums])} FROM r GROUP BY {by}"


def _key(axis: Axis, columns: Columns) -> str:
    if not axis.bins:
        return columns.key(axis.column)
    number = columns.number(axis.column)
    if axis.grid and axis.bounds:
        return _grid_code(number, axis.grid, *axis.bounds)
    sign = ">=" if axis.closed == "left" else ">"
    steps = " + ".join(f"CAST({number} {sign} {point!r} AS INTEGER)" for point in axis.cuts)
    return f"CASE WHEN {number} IS NOT NULL AND NOT isnan({number}) THEN {steps} END"


def _grid_code(number: str, grid: int, low: float, high: float) -> str:
    """Find the nearest edge, then tell below, on and above it."""
    nearest = f"CAST(round(({number} - {low!r}) / {high - low!r} * {grid}) AS BIGINT)"
    edge = f"({nearest} * {high - low!r} / {grid} + {low!r})"
    code = (
        f"2 * {nearest} + CAST({number} >= {edge} AS INTEGER) + CAST({number} > {edge} AS INTEGER)"
    )
    return f"CASE WHEN isfinite({number}) THEN {code} END"


def _moment(moment: Moment, numbers: Sequence[str]) -> str:
    x, y = (f"v{numbers.index(c)}" for c in (moment.columns * 2)[:2])
    return {
        "value": x,
        "square": f"{x} * {x}",
        "product": f"{x} * {y}",
        "gap": f"abs({y} - {x})",
        "log": f"ln(greatest({x}, {LEAST_LOG!r}))",
        "log_rest": f"ln(greatest(1 - {x}, {LEAST_LOG!r}))",
    }[moment.shape]


def _finite_or_null(columns: Columns, column: str) -> str:
    number = columns.number(column)
    return f"CASE WHEN NOT isnan({number}) THEN {number} END"


def _value(column: str | None, numbers: Sequence[str]) -> str | None:
    return None if column is None else f"v{numbers.index(column)}"


def _cube(plan: Plan, records: list[tuple[Any, ...]], columns: Columns, limit: int) -> Cube:
    axes = len(plan.axes)
    masks = [_grouping_mask(table, axes) for table in plan.tables]
    numbers = plan.numeric_columns
    at = axes + 1  # all rows, counted rows, sums ...
    sums = len(plan.measures)
    first = [r for r in records if len(masks) == 1 or r[axes] == masks[0]]
    rest = at + 1 + sums
    seen = [
        Seen(
            column,
            _least(r[rest + 3 + 3 * i] for r in first),
            _most(r[rest + 4 + 3 * i] for r in first),
            next((r[rest + 5 + 3 * i] for r in first if r[rest + 5 + 3 * i] is not None), None),
        )
        for i, column in enumerate(numbers)
    ]
    check_numbers(plan, seen)
    rows = sum(r[at] for r in first)
    total = {m: sum(float(r[at + 1 + i] or 0) for r in first) for i, m in enumerate(plan.measures)}
    fractional = next((r[rest] for r in first if r[rest] is not None), None)
    check_counts(plan, fractional, total.get("n", 0.0), total.get("w", 0.0), rows)
    excluded = {
        "missing count": sum(r[rest + 1] for r in first),
        "missing weight": sum(r[rest + 2] for r in first),
    }
    counted = [
        _counted(plan, table, [r for r in records if len(masks) == 1 or r[axes] == mask], columns)
        for table, mask in zip(plan.tables, masks, strict=True)
    ]
    return build(plan, counted, rows=rows, excluded=excluded, texts=columns.texts, limit=limit)


def _counted(
    plan: Plan, table: tuple[int, ...], records: list[tuple[Any, ...]], columns: Columns
) -> Counted:
    kept = [r for r in records if r[len(plan.axes) + 2]]
    decode = columns.decode
    keys = []
    for i in table:
        column = [r[i] for r in kept]
        keys.append([decode(v) for v in column] if decode and not plan.axes[i].bins else column)
    first = len(plan.axes) + 2
    sums = {m: [float(r[first + i] or 0) for r in kept] for i, m in enumerate(plan.measures)}
    return Counted(keys, sums)


def _grouping_mask(table: tuple[int, ...], axes: int) -> int:
    """Return DuckDB's grouping(...) of a grouping set: a bit for every axis left out."""
    return sum(1 << (axes - 1 - i) for i in range(axes) if i not in table)


def _least(values: Any) -> float | None:
    return min((float(v) for v in values if v is not None), default=None)


def _most(values: Any) -> float | None:
    return max((float(v) for v in values if v is not None), default=None)
