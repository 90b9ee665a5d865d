"""Frames of any engine that narwhals knows: read in batches, whose cells are summed by numpy."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from fairgauge.errors import DataError, FairgaugeError
from fairgauge.scan._cell_sums import join_parts, scan_batches
from fairgauge.scan.row_codes import BATCH, doubles, has_arrow, record_batches, sql_batches
from fairgauge.scan.source import ALLOWED_DATA, NotNumeric, check_unique_names
from fairgauge.start.records import dataclass, replace
from fairgauge.values import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from narwhals.stable.v2.dtypes import DType

    from fairgauge.cube.cube import Cube
    from fairgauge.cube.plan import Plan
    from fairgauge.scan.row_codes import Batch
    from fairgauge.scan.source import Fetched, Source

    Table = nw.DataFrame[Any]
    Frame = Table | nw.LazyFrame[Any]


@dataclass(frozen=True)
class NarwhalsFrame:
    name: str
    frame: Frame

    @property
    def columns(self) -> tuple[str, ...]:
        with _explain_frame_errors(self.name):
            return tuple(self.frame.collect_schema().names())

    @property
    def at_hand(self) -> bool:
        """Return whether the frame is in memory or a scan of polars, not behind another engine."""
        return isinstance(self.frame, nw.DataFrame) or self.frame.implementation.is_polars()

    def with_missing(self, column: str) -> NarwhalsFrame:
        return replace(self, frame=self.frame.with_columns(nw.lit(None, nw.Float64).alias(column)))

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        frame = self.frame.select(*columns)
        with _explain_frame_errors(self.name):
            frame = _decode_frame(frame if most is None else frame.head(most))
            whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
            return [_python_values(whole[name]) for name in columns], False

    def count(self, plan: Plan, limit: int) -> Cube:
        parts = [scan_batches(plan, self.batches(plan), limit)]
        return join_parts(plan, parts, limit, stated=self.stated_order)

    @property
    def stated_order(self) -> dict[str, list[Any]]:
        kinds = self.frame.collect_schema().items()
        stated = {name: [*kind.categories] for name, kind in kinds if isinstance(kind, nw.Enum)}
        if self.frame.implementation.is_pyarrow():
            table = self.frame.to_native()
            for field in table.schema:
                if getattr(field.type, "ordered", False) and table[field.name].num_chunks:
                    stated[field.name] = table[field.name].chunk(0).dictionary.to_pylist()
        return stated

    @property
    def streams(self) -> bool:
        eager = isinstance(self.frame, nw.DataFrame)
        in_parts = self.at_hand and (eager or hasattr(self.frame.to_native(), _COLLECT))
        return in_parts and has_arrow()

    def batches(self, plan: Plan) -> Iterator[Batch]:
        with _explain_frame_errors(self.name):
            frame = ready(self.frame, plan.columns)
            schema = frame.collect_schema()
            place = {column: f"fg_c{i}" for i, column in enumerate(plan.columns)}
            for column in plan.numeric_columns:
                check_numeric(column, schema[place[column]], plan)
            keys = [place[axis.column] for axis in plan.axes if not axis.bins]
            wanted = [*keys, *(place[column] for column in plan.numeric_columns)]
            if not has_arrow():
                whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
                values = [_python_values(whole[name]) for name in wanted]
                yield from record_batches(plan, zip(*values, strict=True))
                return
            from fairgauge.scan._plain_arrow import plain_arrow

            chosen = (nw.col(name).alias(f"fg_r{i}") for i, name in enumerate(wanted))
            for part in _frame_batches(frame.select(*chosen)):
                table = part.to_arrow()
                table = table if frame.implementation.is_pyarrow() else plain_arrow(table)
                yield from sql_batches(plan, table.to_batches(max_chunksize=BATCH))


def _python_values(column: nw.Series[Any]) -> list[Any]:
    short = column.dtype in _SHORT
    values: list[object] = doubles(column.to_numpy()).tolist() if short else column.to_list()
    return values


# the method of newer polars that reads a scan in batches
_COLLECT = "collect_batches"


def _frame_batches(frame: Frame) -> Iterator[Any]:
    native = frame.to_native()
    if frame.implementation.is_polars() and hasattr(native, _COLLECT):
        return iter(native.collect_batches(chunk_size=BATCH, maintain_order=False))
    return iter([frame.collect() if isinstance(frame, nw.LazyFrame) else frame])


def open_by_narwhals(data: Any, name: str | None) -> Source:
    check_unique_names(own_names(data), "the frame")
    try:
        frame = nw.from_native(data)
    except TypeError:
        kind = type(data).__name__
        raise DataError(f"cannot audit data of type {kind}; {ALLOWED_DATA}") from None
    shown = name or f"{str(frame.implementation).rpartition('.')[2].lower()} frame"
    if frame.implementation.is_pandas():
        from fairgauge.scan._pandas import PandasFrame

        return PandasFrame(shown, data)
    if frame.implementation.is_dask():
        from fairgauge.scan._pandas import DaskFrame

        return DaskFrame(shown, data)
    return NarwhalsFrame(shown, frame)


def own_names(data: object) -> list[str]:
    package = type(data).__module__.partition(".")[0]
    names = {"pandas": "columns", "dask": "columns", "pyarrow": "column_names"}.get(package)
    return [str(column) for column in getattr(data, names, ())] if names else []


@contextmanager
def _explain_frame_errors(name: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        as_it_is = isinstance(error, FairgaugeError) or not isinstance(error, Exception)
        if as_it_is and type(error).__name__ != "PanicException":
            raise  # what polars raises where its own checks fail is no Exception
        from fairgauge.scan._duckdb_relation import reason

        raise DataError(f"cannot count the {name}: {reason(error)}") from error


def ready(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the columns by number (names may hold wildcards), in a form that groups well."""
    names = frame.collect_schema().names()
    chosen = (nw.nth(names.index(column)).alias(f"fg_c{i}") for i, column in enumerate(columns))
    return _decode_frame(frame.select(*chosen))


_SHORT = (nw.Float32, getattr(nw, "Float16", nw.Float32))  # which newer versions know


def _decode_frame(frame: Frame) -> Frame:
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


def check_numeric(column: str, dtype: DType, plan: Plan | None = None) -> None:
    """Check that a type is one of numbers, or else of texts where they are read."""
    texts = _TEXTS if plan and column in plan.no_numbers else ()
    if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown, *texts)):
        raise NotNumeric(column, dtype)
