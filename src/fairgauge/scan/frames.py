"""Frames in memory or behind a query engine, through narwhals; pandas by its own codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from fairgauge.cube import Counted, Cube, build
from fairgauge.errors import DataError, listing, quote
from fairgauge.scan.source import LEAST_LOG, Seen, check_counts, check_numbers

if TYPE_CHECKING:
    from fairgauge.plan import Axis, Moment, Plan
    from fairgauge.scan.source import Source


def open_frame(data: Any, name: str | None = None) -> Source:
    """Open a frame of any engine that narwhals knows.

    Raises
    ------
    DataError
        The object is not a frame, or has two columns of one name.
    """
    if type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        return _open_relation(data, name or "DuckDB relation")
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise DataError(
            f"cannot audit a {type(data).__name__}; give a frame (pandas, polars, pyarrow, DuckDB, "
            "...), a path, a list of paths, or a Cube"
        ) from None
    except ValueError as error:  # narwhals refuses two columns of one name
        raise DataError(str(error).splitlines()[0]) from None
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise DataError(f"cannot audit a {type(data).__name__}; give a whole frame")
    engine = str(frame.implementation).rpartition(".")[2].lower()
    shown = name or f"{engine} frame"
    if frame.implementation.is_pandas():
        from fairgauge.scan.pandas import PandasFrame

        return PandasFrame(shown, data)
    return NarwhalsFrame(shown, frame)


@dataclass(frozen=True)
class NarwhalsFrame:
    """A frame of any engine: one group-by over all axes, collected as cells."""

    name: str
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(self.frame.collect_schema().names())

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        schema = self.frame.collect_schema()
        numbers = plan.numeric_columns
        for column in numbers:
            _check_numeric(column, schema[column])
        keys = [f"fg_k{i}" for i in range(len(plan.axes))]
        prepared = self.frame.select(
            *(_key(axis).alias(key) for axis, key in zip(plan.axes, keys, strict=True)),
            *(_number(c).alias(f"fg_v{i}") for i, c in enumerate(numbers)),
        )
        prepared = prepared.with_columns(*_sums(plan, numbers))
        totals = ["fg_rows", *(f"fg_{m}" for m in plan.measures), "fg_no_count", "fg_no_weight"]
        grouped = prepared.group_by(*keys).agg(
            *(nw.col(t if i else "fg_one").sum().alias(f"fg_s{i}") for i, t in enumerate(totals)),
            nw.col("fg_fraction").max().alias("fg_fraction"),
            *(nw.col(f"fg_v{i}").min().alias(f"fg_low{i}") for i in range(len(numbers))),
            *(nw.col(f"fg_v{i}").max().alias(f"fg_high{i}") for i in range(len(numbers))),
        )
        return _cube(plan, _records(grouped), numbers, len(totals), limit)


def _records(grouped: Any) -> list[tuple[Any, ...]]:
    if isinstance(grouped, nw.LazyFrame):
        streaming = {"engine": "streaming"} if grouped.implementation.is_polars() else {}
        grouped = grouped.collect(**streaming)
    return list(grouped.iter_rows())


def _key(axis: Axis) -> nw.Expr:
    if not axis.bins:
        return nw.col(axis.column)
    number = _number(axis.column)
    if axis.grid and axis.bounds:
        return nw.when(~number.is_null()).then(_grid_code(number, axis.grid, *axis.bounds))
    code = nw.lit(0)
    for point in axis.cuts:
        over = number >= point if axis.closed == "left" else number > point
        code = code + nw.when(over.fill_null(value=False)).then(nw.lit(1)).otherwise(nw.lit(0))
    return nw.when(~number.is_null()).then(code)


def _grid_code(number: nw.Expr, grid: int, low: float, high: float) -> nw.Expr:
    """Find the nearest edge, then tell below, on and above it."""
    one, zero = nw.lit(1), nw.lit(0)
    nearest = ((number - low) / (high - low) * grid).round()
    edge = nearest * (high - low) / grid + low
    code = nearest * 2
    for over in (number >= edge, number > edge):
        code = code + nw.when(over.fill_null(value=False)).then(one).otherwise(zero)
    return code.cast(nw.Int64)


def _moment(moment: Moment, numbers: tuple[str, ...]) -> nw.Expr:
    x, y = (nw.col(f"fg_v{numbers.index(c)}") for c in (moment.columns * 2)[:2])
    least = nw.lit(LEAST_LOG)
    if moment.shape == "value":
        return x
    if moment.shape in ("square", "product"):
        return x * y
    if moment.shape == "gap":
        return (y - x).abs()
    p = x if moment.shape == "log" else 1 - x
    return nw.when(p > least).then(p).otherwise(least).log()


def _number(column: str) -> nw.Expr:
    """Return a column as floats, null where missing or NaN."""
    number = nw.col(column).cast(nw.Float64)
    return nw.when(~number.is_nan().fill_null(value=True)).then(number)


def _sums(plan: Plan, numbers: tuple[str, ...]) -> list[nw.Expr]:
    """Return the columns that are summed: 0 in rows that cannot be counted."""
    one, zero = nw.lit(1), nw.lit(0)
    cases = nw.col(f"fg_v{numbers.index(plan.count)}") if plan.count else None
    weight = nw.col(f"fg_v{numbers.index(plan.weight)}") if plan.weight else None

    def flag(condition: Any) -> nw.Expr:
        return nw.when(condition.fill_null(value=False)).then(one).otherwise(zero)

    def usable(value: Any) -> Any:
        return flag((value > float("-inf")) & (value < float("inf")))

    has_count = usable(cases) if plan.count else one
    has_weight = usable(weight) if plan.weight else one
    ok = has_count * has_weight
    found = [one.alias("fg_one"), ok.alias("fg_rows")]

    def summed(value: Any) -> nw.Expr:
        return nw.when(ok == 1).then(value).otherwise(nw.lit(0.0))

    if cases is not None:
        found.append(summed(cases).alias("fg_n"))
        fractional = nw.when(flag(cases != cases.floor()) == 1).then(cases)
        found.append(fractional.alias("fg_fraction"))
    else:
        found.append(nw.lit(None, nw.Float64).alias("fg_fraction"))
    if weight is not None:
        times = weight if cases is None else cases * weight
        found.append(summed(times).alias("fg_w"))
        found.append(summed(times * weight).alias("fg_w2"))
    for moment in plan.moments:
        value = _moment(moment, numbers)
        for factor in (cases, weight):
            value = value if factor is None else value * factor
        missing = nw.all_horizontal(
            *(~nw.col(f"fg_v{numbers.index(c)}").is_null() for c in moment.columns),
            ignore_nulls=False,
        )
        known = nw.when(missing).then(value).otherwise(nw.lit(0.0))
        found.append(summed(known).alias(f"fg_{moment.name}"))
    found.append((one - has_count).alias("fg_no_count"))
    found.append((one - has_weight).alias("fg_no_weight"))
    return found


def _check_numeric(column: str, dtype: Any) -> None:
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise DataError(f"column {quote(column)} must hold numbers, but has the type {dtype}")


def _cube(
    plan: Plan,
    records: list[tuple[Any, ...]],
    numbers: tuple[str, ...],
    totals: int,
    limit: int,
) -> Cube:
    axes = len(plan.axes)
    fraction = axes + totals
    low, high = fraction + 1, fraction + 1 + len(numbers)
    seen = [
        Seen(
            column,
            min((float(r[low + i]) for r in records if r[low + i] is not None), default=None),
            max((float(r[high + i]) for r in records if r[high + i] is not None), default=None),
        )
        for i, column in enumerate(numbers)
    ]
    check_numbers(plan, seen)
    rows = sum(int(r[axes]) for r in records)
    sums = {m: [float(r[axes + 1 + i] or 0) for r in records] for i, m in enumerate(plan.measures)}
    fractional = next((r[fraction] for r in records if r[fraction] is not None), None)
    check_counts(plan, fractional, sum(sums.get("n", [])), sum(sums.get("w", [])), rows)
    excluded = {
        "missing count": sum(int(r[fraction - 2]) for r in records),
        "missing weight": sum(int(r[fraction - 1]) for r in records),
    }
    counted = [Counted([[r[i] for r in records] for i in table], sums) for table in plan.tables]
    return build(plan, counted, rows=rows, excluded=excluded, limit=limit)


def _open_relation(relation: Any, name: str) -> Source:
    from fairgauge.scan.relation import Relation

    columns = tuple(relation.columns)
    twice = {column for column in columns if columns.count(column) > 1}
    if twice:
        raise DataError(f"the relation has the columns {listing(sorted(twice))} twice")
    return Relation(name, columns, relation)
