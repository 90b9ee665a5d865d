"""Frames of any engine that narwhals knows: one group-by for each table, collected together."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from fairgauge.cube.build import Counted, build
from fairgauge.cube.cube import in_stated_order
from fairgauge.cube.plan import LARGEST, WEIGHTS, limited_columns
from fairgauge.enums import Uncounted
from fairgauge.errors import DataError, FairgaugeError
from fairgauge.scan._duckdb_relation import reason
from fairgauge.scan._short_floats import doubles
from fairgauge.scan.row_codes import BATCH, has_arrow, sql_batches
from fairgauge.scan.source import (
    ALLOWED_DATA,
    LEAST_LOG,
    MOST_UNREADABLE,
    NotNumeric,
    Seen,
    UnreadableNumbers,
    check_counts,
    check_head,
    check_numbers,
    check_unique_names,
    check_values,
    codes_at_ends,
    ranged_columns,
)
from fairgauge.values import NANOSECONDS, SCALES, name_of, plain_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from narwhals.stable.v2.dtypes import DType

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Axis, Factor, Moment, Plan, limited_columns
    from fairgauge.scan.row_codes import Batch
    from fairgauge.scan.source import Fetched, Source

    Table = nw.DataFrame[Any]
    Frame = Table | nw.LazyFrame[Any]


@dataclass(frozen=True)
class NarwhalsFrame:
    """A frame of any engine."""

    name: str
    frame: Frame

    @property
    def columns(self) -> tuple[str, ...]:
        with _as_data_error(self.name):
            return tuple(self.frame.collect_schema().names())

    @property
    def at_hand(self) -> bool:
        """Return whether the frame is in memory or a scan of polars, not behind another engine."""
        return isinstance(self.frame, nw.DataFrame) or self.frame.implementation.is_polars()

    def with_missing(self, column: str) -> NarwhalsFrame:
        """Return the frame with one more column, in which every value is missing."""
        missing = nw.lit(None, nw.Float64).alias(column)
        return replace(self, frame=self.frame.with_columns(missing))

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        frame = self.frame.select(*columns)
        frame = frame if most is None else frame.head(most)
        frame = _with_doubles(_plain(frame))
        whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return [whole[name].to_list() for name in columns], False

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows in one scan."""
        with _as_data_error(self.name):
            frame = ready(self.frame, plan.columns)
            schema = frame.collect_schema()
            numbers = plan.numeric_columns
            for column in numbers:
                kind = schema[_held(plan, column)]
                check_numeric(column, kind, plan)
            if isinstance(self.frame, nw.DataFrame):  # a query would be run twice
                check_head(plan, lambda axes, rows: _head(plan, frame, axes, rows), (), limit)
            tables = _collected(_grouped(plan, frame, numbers))
            for table in tables:
                _check_size(plan, table, limit)
            _check_texts(plan, frame, tables[0])
            return in_stated_order(_cube(plan, tables, numbers, limit), _stated_order(self.frame))

    @property
    def streams(self) -> bool:
        """Return whether rows can be read in batches: of frames in memory, and scans of polars."""
        lazy = isinstance(self.frame, nw.LazyFrame)
        return (
            has_arrow() and self.at_hand and (not lazy or hasattr(self.frame.to_native(), _COLLECT))
        )

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows."""
        from fairgauge.scan._plain_arrow import plain_arrow

        with _as_data_error(self.name):
            frame = ready(self.frame, plan.columns)
            kept = [nw.col(_held(plan, axis.column)) for axis in plan.axes if not axis.bins]
            kept = [each.alias(f"fg_k{i}") for i, each in enumerate(kept)]
            numbers = _numbers(plan, frame)
            for part in _parts(frame.select(*kept, *numbers)):
                table = plain_arrow(part.to_arrow())
                yield from sql_batches(plan, table.to_batches(max_chunksize=BATCH))


def _stated_order(frame: Frame) -> dict[str, list[Any]]:
    """Return the categories of columns whose type states their order."""
    kinds = frame.collect_schema()
    stated = {name: [*each.categories] for name, each in kinds.items() if isinstance(each, nw.Enum)}
    if frame.implementation.is_pyarrow():
        table = frame.to_native()
        for field in table.schema:
            if getattr(field.type, "ordered", False) and table[field.name].num_chunks:
                stated[field.name] = table[field.name].chunk(0).dictionary.to_pylist()
    return stated


_COLLECT = "collect_batches"
"""The method of newer polars that reads a scan in batches."""


def _parts(frame: Frame) -> Iterator[Any]:
    """Yield the rows of a frame, some at a time where it is a scan."""
    native = frame.to_native()
    if hasattr(native, _COLLECT):
        return iter(native.collect_batches(chunk_size=BATCH, maintain_order=False))
    return iter([frame.collect() if isinstance(frame, nw.LazyFrame) else frame])


def open_by_narwhals(data: Any, name: str | None) -> Source:
    """Open a frame that has no scan of its own."""
    check_unique_names(own_names(data), "the frame")
    try:
        frame = nw.from_native(data)
    except TypeError:
        raise DataError(
            f"cannot audit data of type {type(data).__name__}; {ALLOWED_DATA}"
        ) from None
    shown = name or f"{str(frame.implementation).rpartition('.')[2].lower()} frame"
    if frame.implementation.is_pandas():
        from fairgauge.scan._pandas import PandasFrame

        return PandasFrame(shown, data)
    if frame.implementation.is_dask():
        from fairgauge.scan._pandas import DaskFrame

        return DaskFrame(shown, data)
    return NarwhalsFrame(shown, frame)


def own_names(data: object) -> list[str]:
    """Return the names of the columns of a frame that could have two of one name."""
    package = type(data).__module__.partition(".")[0]
    names = {"pandas": "columns", "dask": "columns", "pyarrow": "column_names"}.get(package)
    return [str(column) for column in getattr(data, names, ())] if names else []


@contextmanager
def _as_data_error(name: str) -> Iterator[None]:
    """Report what an engine could not do as an error of the data."""
    try:
        yield
    except FairgaugeError:
        raise
    except Exception as error:
        raise DataError(f"cannot count the {name}: {reason(error)}") from error


def ready(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the columns by number (names may hold wildcards), in a form that groups well."""
    names = frame.collect_schema().names()
    chosen = frame.select(
        *(nw.nth(names.index(column)).alias(f"fg_c{i}") for i, column in enumerate(columns))
    )
    chosen = _with_doubles(_plain(chosen))
    return chosen.lazy() if chosen.implementation.is_polars() else chosen


_SHORT = (nw.Float32, getattr(nw, "Float16", nw.Float32))  # which newer versions know


def _with_doubles(frame: Frame) -> Frame:
    """Return a frame with doubles in place of floats of less than double precision."""
    kinds = frame.collect_schema().items()
    names = [name for name, kind in kinds if kind in _SHORT]
    if not names:
        return frame
    if isinstance(frame, nw.DataFrame):
        made = {name: doubles(frame[name].to_numpy()) for name in names}
        engine = frame.implementation
        return frame.with_columns(
            *(nw.new_series(name, each, nw.Float64, backend=engine) for name, each in made.items())
        )
    if frame.implementation.is_polars():
        import polars as pl

        read = pl.col(names).map_batches(  # its expressions take four times as long
            lambda single: pl.Series(single.name, doubles(single.to_numpy())),
            return_dtype=pl.Float64,
            is_elementwise=True,
        )
        lazy: Frame = nw.from_native(frame.to_native().with_columns(read))
        return lazy
    return frame.with_columns(*(_double(nw.col(name)).alias(name) for name in names))


def native_with_doubles(frame: Any) -> Any:
    """Return a native frame with doubles in place of floats of less than double precision."""
    return _with_doubles(nw.from_native(frame)).to_native()


def _double(single: nw.Expr) -> nw.Expr:
    """Return floats of single precision as doubles, as `doubles` reads them."""
    wide = single.cast(nw.Float64)
    scale = wide * 0 + 1  # a column: polars divides by a plain number as times 1 / number
    for bound, places in reversed(SCALES):
        scale = nw.when(wide.abs() < bound).then(nw.lit(places)).otherwise(scale)
    near = (wide * scale).round() / scale
    return nw.when(near.cast(nw.Float32) == single).then(near).otherwise(wide)


def _plain(frame: Frame) -> Frame:
    """Return a frame of pyarrow or polars in types that every engine groups."""
    if frame.implementation.is_pyarrow():
        from fairgauge.scan._plain_arrow import plain_arrow

        table: Frame = nw.from_native(plain_arrow(frame.to_native()), eager_only=True)
        return table
    if not frame.implementation.is_polars():
        return frame
    import polars as pl

    native: Any = frame.to_native()
    made: list[Any] = []
    for name, kind in native.collect_schema().items():
        column = pl.col(name)
        if kind == pl.Datetime("ns") and kind.time_zone is None:  # polars hands over microseconds
            text = column.dt.strftime("%Y-%m-%dT%H:%M:%S%.9f")
            made.append(text.str.replace(NANOSECONDS, "$2"))
        elif str(kind).startswith("Extension("):
            stored = column.ext.storage()
            made.append(stored != 0 if "'arrow.bool8'" in str(kind) else stored)
    plain: Frame = nw.from_native(native.with_columns(made)) if made else frame
    return plain


_TEXTS = (nw.String, nw.Categorical, nw.Enum)
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def check_numeric(column: str, dtype: DType, plan: Plan | None = None) -> None:
    """Check that a type is one of numbers, or else of texts where they are read."""
    texts = _TEXTS if plan and column in plan.no_numbers else ()
    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown, *texts)):
        raise NotNumeric(column, dtype, plan)


def _numbers(plan: Plan, frame: Frame) -> list[nw.Expr]:
    """Return every numeric column as floats, null where missing or listed as no number."""
    read = [_number(plan, frame, column) for column in plan.numeric_columns]
    return [each.alias(f"fg_v{i}") for i, each in enumerate(read)]


def _number(plan: Plan, frame: Frame, column: str) -> nw.Expr:
    text = _text(plan, frame, column)
    name = _held(plan, column)
    number = as_number(name, by_text=_is_decimal_of_arrow(frame, name))
    if text is not None:
        plain = text.str.strip_chars().str.replace_all(r"^\+", "")
        number = nw.when(text.str.contains(_NUMBER)).then(plain).cast(nw.Float64)
    listed = [plain_number(name_of(value)) for value in plan.no_numbers.get(column, ())]
    codes = [float(each) for each in listed if each is not None]
    return nw.when(~number.is_in(codes)).then(number) if codes else number


def _is_decimal_of_arrow(frame: Frame, name: str) -> bool:
    """Return whether a column is of decimals whose cast to doubles misses the nearest ones."""
    arrow = frame.implementation.is_pyarrow()
    return arrow and str(frame.to_native().schema.field(name).type).startswith("decimal")


def _text(plan: Plan, frame: Frame, column: str) -> nw.Expr | None:
    """Return a column of texts that are read as numbers, None of another."""
    name = _held(plan, column)
    read = column in plan.no_numbers and frame.collect_schema()[name] in _TEXTS
    return nw.col(name).cast(nw.String) if read else None


def _wrong(plan: Plan, frame: Frame) -> dict[str, nw.Expr]:
    """Return for every column of texts whether one is neither a number nor listed as none."""
    listed = {c: [*map(name_of, values)] for c, values in plan.no_numbers.items()}
    texts = {column: _text(plan, frame, column) for column in listed}
    return {
        column: as_flag(~text.is_in(listed[column]) & ~text.str.contains(f"{_NUMBER}|^(?i)nan$"))
        for column, text in texts.items()
        if text is not None
    }


def _check_texts(plan: Plan, frame: Frame, table: Table) -> None:
    """Check that all texts are numbers, or listed as none."""
    for i, (column, flag) in enumerate(_wrong(plan, frame).items()):
        if table[f"fg_wrong{i}"].sum():
            name = _held(plan, column)
            found = frame.filter(flag == 1).select(name).unique().head(MOST_UNREADABLE)
            read = found.collect() if isinstance(found, nw.LazyFrame) else found
            raise UnreadableNumbers(plan, column, map(str, read[name].to_list()))


def _head(plan: Plan, frame: Frame, axes: Sequence[Axis], rows: int) -> list[list[object]]:
    """Return the different values that each axis has in the first rows."""
    head = frame.head(rows)
    read = head.collect() if isinstance(head, nw.LazyFrame) else head
    return [read[_held(plan, axis.column)].unique().to_list() for axis in axes]


def _check_size(plan: Plan, table: Table, limit: int) -> None:
    """Check that no axis has too many values, before the cells become Python values."""
    if len(table) <= limit:
        return
    held = {a: f"fg_k{i}" for i, a in enumerate(plan.axes) if a.limited}
    keys = {axis: table[name] for axis, name in held.items() if name in table.columns}
    many = {axis: key for axis, key in keys.items() if key.n_unique() > limit}
    check_values({axis: key.unique().to_list() for axis, key in many.items()}, (), limit)


def _grouped(plan: Plan, frame: Frame, numbers: tuple[str, ...]) -> list[Frame]:
    """Write one group-by for each table, all over the same prepared columns."""
    keys = [f"fg_k{i}" for i in range(len(plan.axes))]
    wrong = _wrong(plan, frame)
    prepared = frame.select(
        *(_key(plan, frame, axis).alias(key) for axis, key in zip(plan.axes, keys, strict=True)),
        *_numbers(plan, frame),
        *(flag.alias(f"fg_wrong{i}") for i, flag in enumerate(wrong.values())),
    )
    limited = [i for i, c in enumerate(numbers) if c in limited_columns(plan)]
    if limited:
        within = (_within(nw.col(f"fg_v{i}")).alias(f"fg_l{i}") for i in limited)
        prepared = prepared.with_columns(*within)
    sums = _sums(plan, numbers)
    if sums:
        prepared = prepared.with_columns(*(value.alias(name) for name, value in sums.items()))
    if prepared.implementation.is_polars() and len(plan.tables) > 1:
        prepared = nw.from_native(prepared.to_native().cache())  # or each table would scan again
    ranged = ranged_columns(plan)
    values = {column: nw.col(f"fg_v{i}") for i, column in enumerate(numbers)}
    totals = [
        nw.len().alias("fg_all"),
        *(nw.col(f"fg_wrong{i}").sum() for i in range(len(wrong))),
        *(nw.col(name).sum() for name in sums if name != "fg_fraction"),
        *(nw.col(name).max() for name in sums if name == "fg_fraction"),
        *(v.min().alias(f"fg_low{i}") for i, (c, v) in enumerate(values.items()) if c in ranged),
        *(v.max().alias(f"fg_high{i}") for i, (c, v) in enumerate(values.items()) if c in ranged),
    ]
    return [prepared.group_by(*(keys[i] for i in table)).agg(*totals) for table in plan.tables]


def _collected(tables: Sequence[Frame]) -> list[Table]:
    """Collect the tables together, so that the engine reads the rows once."""
    lazy = [table for table in tables if isinstance(table, nw.LazyFrame)]
    if not lazy:
        return [table for table in tables if isinstance(table, nw.DataFrame)]
    if lazy[0].implementation.is_polars():
        import polars as pl

        natives = [table.to_native() for table in lazy]
        return [nw.from_native(each) for each in pl.collect_all(natives, engine="streaming")]
    return [table.collect() for table in lazy]


def _held(plan: Plan, column: str) -> str:
    """Return the name under which `ready` keeps a column."""
    return f"fg_c{plan.columns.index(column)}"


def _key(plan: Plan, frame: Frame, axis: Axis) -> nw.Expr:
    if not axis.bins:
        return nw.col(_held(plan, axis.column))
    number = _number(plan, frame, axis.column)
    if axis.grid and axis.bounds:
        low, high = axis.bounds
        inside = (as_flag(number >= low) * as_flag(number <= high)) == 1
        return _grid_code(nw.when(inside).then(number), axis.grid, low, high)
    code = nw.lit(0)
    for point in axis.cuts:
        over = number >= point if axis.closed == "left" else number > point
        code = code + as_flag(over)
    return nw.when(~number.is_null()).then(code)


def _grid_code(number: nw.Expr, grid: int, low: float, high: float) -> nw.Expr:
    """Find the nearest edge, then distinguish below, on and above it."""
    nearest = ((number - low) / (high - low) * grid).round()
    steps = number * 0 + grid  # a column: polars divides by a plain number as times 1 / number
    edge = nearest * (high - low) / steps + low
    code = nearest * 2 + as_flag(number >= edge) + as_flag(number > edge)
    return nw.when(~number.is_null()).then(code).cast(nw.Int64)


def _moment(moment: Moment, numbers: Sequence[str]) -> nw.Expr:
    held = "fg_l" if moment.limited else "fg_v"
    x, y = (nw.col(f"{held}{numbers.index(c)}") for c in (moment.columns * 2)[:2])
    about = x - moment.centre if moment.centre else x
    return reduce(mul, (about if each == "x" else _factor(each, x, y) for each in moment.factors))


def _factor(factor: Factor, x: nw.Expr, y: nw.Expr) -> nw.Expr:
    if factor == "gap":
        return y - x
    if factor == "distance":
        return (y - x).abs()
    p, least = x if factor == "log" else 1 - x, nw.lit(LEAST_LOG)
    return nw.when(p > least).then(p).otherwise(least).log()


def _within(number: nw.Expr) -> nw.Expr:
    """Keep a number within what can be multiplied; missing stays missing."""
    least, most = nw.lit(-LARGEST), nw.lit(LARGEST)
    below = nw.when(number < least).then(least).otherwise(number)
    return nw.when(number > most).then(most).otherwise(below)


def as_number(column: str, *, by_text: bool = False) -> nw.Expr:
    """Return a column as floats, null where missing or NaN."""
    held = nw.col(column)
    number = (held.cast(nw.String) if by_text else held).cast(nw.Float64)
    return nw.when(~number.is_nan().fill_null(value=True)).then(number)


def as_flag(condition: nw.Expr) -> nw.Expr:
    """Return 1 or 0; engines disagree on what a comparison with a missing value is."""
    one, zero = nw.lit(1, nw.Int64), nw.lit(0, nw.Int64)
    return nw.when(condition.fill_null(value=False)).then(one).otherwise(zero)


def _sums(plan: Plan, numbers: tuple[str, ...]) -> dict[str, nw.Expr]:
    """Return the columns that are summed: 0 in rows that cannot be counted."""

    def finite(column: str | None) -> tuple[nw.Expr, nw.Expr] | None:
        if column is None:
            return None
        value = nw.col(f"fg_v{numbers.index(column)}")
        return value, as_flag((value > float("-inf")) & (value < float("inf")))

    cases, weight = finite(plan.count), finite(plan.weight)
    known = [each for each in (cases, weight) if each]
    counted = nw.lit(1, nw.Int64)
    for _, usable in known:
        counted = counted * usable

    def counted_only(value: nw.Expr) -> nw.Expr:
        return nw.when(counted == 1).then(value).otherwise(nw.lit(0.0)) if known else value

    found = {"fg_rows": counted} if known else {}
    if cases:
        found[f"fg_{plan.cases}"] = counted_only(cases[0])
        found["fg_no_count"] = nw.lit(1, nw.Int64) - cases[1]
        fractional = as_flag((cases[0] != cases[0].floor()) & (cases[0] < float("inf")))
        found["fg_fraction"] = nw.when(fractional == 1).then(cases[0])
    if weight:
        weighs = as_flag(weight[0] > 0)
        found["fg_n"] = counted_only(cases[0] * weighs if cases else weighs)
        times = None if cases is None else cases[0]
        for name in (each for each in WEIGHTS if each in plan.measures):
            times = weight[0] if times is None else times * weight[0]
            found[f"fg_{name}"] = counted_only(times)
        unweighted = nw.lit(1, nw.Int64) - weight[1]
        if cases:
            unweighted = nw.when(unweighted * cases[1] == 1).then(cases[0]).otherwise(nw.lit(0.0))
        found["fg_no_weight"] = unweighted
    for moment in plan.moments:
        value = _moment(moment, numbers)
        again = [weight] * (moment.power - 1) if weight else []
        for factor, _ in (*known, *again):
            value = value * factor
        for column in moment.columns:
            missing = nw.col(f"fg_v{numbers.index(column)}").is_null()
            value = nw.when(~missing).then(value).otherwise(nw.lit(0.0))
        found[f"fg_{moment.name}"] = counted_only(value)
    return found


def _cube(plan: Plan, tables: Sequence[Table], numbers: tuple[str, ...], limit: int) -> Cube:
    cells = [table.rows(named=False) for table in tables]
    names = [table.columns for table in tables]
    first = dict(zip(names[0], zip(*cells[0], strict=True), strict=True)) if cells[0] else {}

    def known(name: str) -> list[float]:
        return [float(value) for value in first.get(name, ()) if value is not None]

    seen = [
        Seen(c, min(known(f"fg_low{i}"), default=None), max(known(f"fg_high{i}"), default=None))
        for i, c in enumerate(numbers)
    ]
    check_numbers(plan, seen)
    rows = int(sum(known("fg_all")))
    fractional = max(known("fg_fraction"), default=None)
    check_counts(plan, fractional, sum(known(f"fg_{plan.cases}")), sum(known("fg_w")), rows)
    excluded = {
        Uncounted.NO_COUNT: int(sum(known("fg_no_count"))),
        Uncounted.NO_WEIGHT: int(sum(known("fg_no_weight"))),
    }
    counted = [
        _counted(plan, table, dict(zip(columns, zip(*found, strict=True), strict=True)))
        for table, columns, found in zip(plan.tables, names, cells, strict=True)
    ]
    ends = codes_at_ends(plan, seen)
    return build(plan, counted, rows=rows, excluded=excluded, limit=limit, ends=ends)


def _counted(plan: Plan, table: tuple[int, ...], cells: dict[str, tuple[Any, ...]]) -> Counted:
    rows = "fg_rows" if "fg_rows" in cells else "fg_all"
    sums = {m: list(cells[rows if m == "rows" else f"fg_{m}"]) for m in plan.measures}
    return Counted([cells[f"fg_k{i}"] for i in table], sums)
