"""Arrays: of numpy by name, which are counted without an engine, and arguments that hold values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, count
from typing import Any, ClassVar, TypeGuard, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Plan
from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.features import KEYS, MOST_STRATA
from fairgauge.question.option_types import COLUMN, COLUMNS, FEATURES, STRATA
from fairgauge.question.options import BY_NAME
from fairgauge.question.readers import items
from fairgauge.scan._cell_sums import join_parts, scan_batches
from fairgauge.scan._frames import open_frame
from fairgauge.scan._narwhals import own_names
from fairgauge.scan.row_codes import Batch, coded_whole, doubles, drop_codes, numbers_of_texts
from fairgauge.scan.source import Fetched, NotNumeric, Source, check_unique_names
from fairgauge.start.records import dataclass, field, replace
from fairgauge.stats.arrays import AnyArray, Integers
from fairgauge.values import Value, canonical, name_of


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays of one length and of one type each; ``held`` gives them by name.

    Of columns whose values have an order, ``stated_order`` has them in it; of those of a statistics
    package, ``codes`` has the labels by their codes.
    """

    held: Mapping[str, AnyArray]
    name: str = "arrays"
    stated_order: Mapping[str, Sequence[object]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    at_hand: ClassVar[bool] = True
    streams: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.held)

    def with_missing(self, column: str) -> Arrays:
        rows = len(next(iter(self.held.values())))
        return replace(self, held={**self.held, column: np.full(rows, np.nan)})

    def fetch(self, columns: list[str], most: int | None) -> Fetched:
        return [self.held[name][:most].tolist() for name in columns], False

    def count(self, plan: Plan, limit: int) -> Cube:
        parts = [scan_batches(plan, self.batches(plan), limit)]
        return join_parts(plan, parts, limit, stated=self.stated_order)

    def batches(self, plan: Plan) -> Iterator[Batch]:
        coded = {a.column: _code_array(self.held[a.column]) for a in plan.axes if not a.bins}
        yield Batch(
            {axis: coded[axis.column] for axis in plan.axes if not axis.bins},
            {column: self._numbers(column, plan) for column in plan.numeric_columns},
        )

    def _numbers(self, column: str, plan: Plan) -> NDArray[np.float64]:
        values = self.held[column]
        if values.dtype.kind != "O":
            return drop_codes(values.astype(np.float64), plan, column)
        texts, positions = _code_array(values)
        if column in plan.no_numbers and texts and isinstance(texts[0], str):
            numbers = numbers_of_texts(texts, plan, column)
        elif kinds := {type(each) for each in texts} - {int}:
            kind = "true/false" if kinds == {bool} else "text"
            raise NotNumeric(column, kind)
        else:
            numbers = np.array(texts, dtype=np.float64)
        return np.take(np.append(numbers, np.nan), positions)


def _code_array(values: AnyArray) -> tuple[Sequence[object], Integers]:
    # the different values, and the position of each row among them; -1 is missing
    if whole := coded_whole(values):
        return whole
    kind = values.dtype.kind
    if kind == "O":
        listed = values.tolist()
        known = [value for value in dict.fromkeys(listed) if value is not None]
        place = {value: i for i, value in enumerate(known)} | {None: -1}
        return known, np.array([*map(place.__getitem__, listed)], dtype=np.int32)
    different, positions = np.unique(values, return_inverse=True)
    if kind == "f" and len(different) and np.isnan(different[-1]):  # the greatest, and only one
        different = different[:-1]
        positions = np.where(positions == len(different), -1, positions)
    return different.tolist(), positions


Series = nw.Series[Any]
Frame = nw.DataFrame[Any]
Values = Series | AnyArray

# every array, Series and frame has one of them
_PROTOCOLS = ("__array__", "__arrow_c_array__", "__arrow_c_stream__")
_LARGEST_WHOLE = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class GivenArray:
    """An array in place of the name of a column: its option, and its own name if it has one."""

    path: str
    name: str | None
    values: Values


def open_arrays(
    data: object, options: Mapping[str, object]
) -> tuple[Source | None, dict[str, object]]:
    """Open the arrays among the options as columns, beside those of the data if there are data.

    The data are a frame, or themselves arrays by name. The options have the names of the columns in
    place of the arrays; the source is None where there are none.
    """
    collector = _Collector(alone=data is None)
    if isinstance(data, Mapping):
        collector.table(data)
        data = None
    written = {name: collector.option(name, value) for name, value in options.items()}
    if not collector.arrays:
        return None, dict(options)
    features = items(written.get("sensitive", ()))
    if collector.alone and features and all(isinstance(each, str) for each in features):
        raise SpecError(Problem("sensitive", _NO_COLUMNS))
    frame: Frame | None = None
    if data is not None:
        check_unique_names(own_names(data), "the frame")
        given = nw.from_native(data, eager_only=True, pass_through=True)
        if not isinstance(given, nw.DataFrame):
            raise DataError(
                f"{collector.arrays[0].path} is an array, which can stand beside a frame in memory "
                f"(pandas, polars or pyarrow) but not beside a {type(data).__name__}; give "
                "the name of a column"
            )
        frame = given
    _check_rows(collector.arrays, frame)
    names = _name_arrays(collector.arrays, frame)
    columns = {name: given.values for given, name in names.items()}
    placed = {option: _replace_arrays_by_names(value, names) for option, value in written.items()}
    return _columns_source(columns, frame), placed


class _Collector:
    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.arrays: list[GivenArray] = []

    def table(self, data: Mapping[object, object]) -> None:
        for name, values in data.items():
            self._array(values, f"data[{quote(name)}]", str(name))

    def option(self, name: str, value: object) -> object:
        kind = BY_NAME[name].type if name in BY_NAME else None
        if kind is COLUMN and (_is_list(value) or _is_array(value)):
            return self._array(value, name)
        if kind is STRATA and _is_list(value) and self._holds_values(value):
            return self._array(value, name)
        return self._columns(value, name) if kind in (FEATURES, COLUMNS, STRATA) else value

    def _holds_values(self, value: Sequence[object]) -> bool:
        # whether a list is one value for each row, and not the columns of strata
        plain = all(isinstance(each, (str, int, float)) for each in value)
        names = all(isinstance(each, str) for each in value) and len(value) <= MOST_STRATA
        return plain and (self.alone or not names)

    def _columns(self, value: object, path: str) -> object:
        if isinstance(value, Mapping):
            return value if set(KEYS) & set(value) else self._mapping(value, path)
        if _is_array(value):
            check_unique_names(own_names(value), f"the frame given as {path}")
            frame = nw.from_native(value, eager_only=True, pass_through=True)
            if isinstance(frame, nw.DataFrame):
                columns = map(frame.get_column, frame.columns)
                return [self._array(each, path, str(each.name)) for each in columns]
            return self._array(value, path)
        if _is_list(value):
            if value and all(isinstance(each, (bool, int, float)) for each in value):
                return self._array(value, path)
            items = [self._columns(each, f"{path}[{i}]") for i, each in enumerate(value)]
            return [part for each in items for part in (each if _is_list(each) else [each])]
        return value

    def _mapping(self, value: Mapping[object, object], path: str) -> list[object]:
        # a list is a set of values of a column of the data; without data, it is one for each row
        items: list[object] = []
        for name, values in value.items():
            given = _is_array(values) or (self.alone and _is_list(values))
            place = f"{path}[{quote(name)}]"
            items.append(self._array(values, place, str(name)) if given else {name: values})
        return items

    def _array(self, value: object, path: str, name: str | None = None) -> GivenArray:
        series = nw.from_native(value, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            own = None if series.name in (None, "") else str(series.name)
            given = GivenArray(path, name or own, series)
        else:
            given = GivenArray(path, name, _plain_array(value, path))
        self.arrays.append(given)
        return given


_NO_COLUMNS = (
    "there are no data whose columns could be named; give values by the name of the feature, "
    "sensitive={'sex': [...]}, or data: fg.audit(frame, sensitive='sex')"
)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_array(value: object) -> bool:
    return any(hasattr(value, name) for name in _PROTOCOLS) and not isinstance(value, np.generic)


def _plain_array(value: object, path: str) -> AnyArray:
    # an array of one type: numbers, true and false, or texts, None where missing
    if _is_array(value) and not isinstance(value, np.ma.MaskedArray):
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.ndim == 1:
            return doubles(array) if array.dtype.kind == "f" else array
        value = [*array] if array.dtype.kind == "M" else array  # tolist() makes nanoseconds numbers
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if _is_list(listed) and set(map(type, listed)) <= _CANONICAL:  # of millions of values at once
        return _single_type_array(cast("list[Value]", [*listed]), path)
    if not _is_list(listed) or any(_is_list(each) or _is_array(each) for each in listed):
        raise SpecError(Problem(path, _ONE_DIMENSION))
    return _single_type_array([canonical(each) for each in listed], path)


# types whose values are in their one form
_CANONICAL = {str, bool, int, type(None)}
_ONE_DIMENSION = (
    "must have one dimension, with one value for each row: take one column of a table or an array "
    "(array[:, 0], frame['NAME']); of features name each, as in sensitive={'NAME': array[:, 0]}"
)


def _single_type_array(values: list[Value], path: str) -> AnyArray:
    known = [each for each in values if each is not None]
    types = {type(each): each for each in known}
    examples = {_value_kind(each): each for each in types.values()}
    if len(examples) > 1:
        listed = " and ".join(f"{kind} ({quote(examples[kind])})" for kind in sorted(examples))
        raise DataError(f"{path} holds values of several types, {listed}; convert them to one type")
    if "number" in examples:
        if len(known) < len(values) or float in types:
            return np.array([np.nan if each is None else each for each in values], dtype=float)
        if max(map(abs, cast("list[int]", known))) <= _LARGEST_WHOLE:
            return np.array(values, dtype=np.int64)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _value_kind(value: Value) -> str:
    if isinstance(value, bool):
        return "true/false"
    return "text" if isinstance(value, str) else "number"


def _check_rows(arrays: Sequence[GivenArray], frame: Frame | None) -> None:
    every: list[tuple[str, Values | Frame]] = [(each.path, each.values) for each in arrays]
    if frame is not None:
        every.insert(0, ("the data", frame))
    first, rows = every[0]
    for path, values in every:
        if len(values) != len(rows):
            raise DataError(
                f"{path} and {first} differ in length, {len(values):,} and {len(rows):,}; give one "
                "value for each row"
            )
    indexes = [
        (path, index)
        for path, values in every
        if not isinstance(values, np.ndarray) and (index := nw.maybe_get_index(values)) is not None
    ]
    for (before, one), (path, other) in combinations(indexes, 2):
        if one.equals(other):
            continue
        # predictions that were made into a Series are numbered from 0
        numbered = any([*each] == [*range(len(each))] for each in (one, other))
        if numbered and set(one) != set(other):
            continue
        raise DataError(
            f"the indexes of {before} and {path} differ, and rows are matched by position; take "
            "both from the same rows, in the same order, or, if they are, give values without an "
            "index (.to_numpy() or .reset_index(drop=True))"
        )


def _name_arrays(arrays: Sequence[GivenArray], frame: Frame | None) -> dict[GivenArray, str]:
    # where there is another array or column of its own name, as pandas gives to what it computes
    # from a column, the option's is taken; the name of a feature is the name of the feature
    names: dict[GivenArray, str] = {}
    for given in arrays:
        option = given.path.partition("[")[0]
        taken = set(names.values())
        if frame is not None:
            same = given.name in frame.columns and _canonical_list(given.values) == _canonical_list(
                frame[str(given.name)]
            )
            taken |= {each for each in frame.columns if each != given.name or not same}
        if given.name is not None and given.name not in taken:
            names[given] = given.name
        elif given.name is not None and not (option in BY_NAME and BY_NAME[option].type is COLUMN):
            raise DataError(
                f"{given.path} is named {quote(given.name)}, as is another array, or a column of "
                "the data with other values; rename one of them"
            )
        else:
            candidates = chain([option], (f"{option} {number}" for number in count(2)))
            names[given] = next(each for each in candidates if each not in taken)
    return names


def _canonical_list(values: Values) -> list[Value]:
    return [*map(canonical, values.to_list() if isinstance(values, nw.Series) else values)]


def _replace_arrays_by_names(value: object, names: Mapping[GivenArray, str]) -> object:
    if isinstance(value, list):
        return [_replace_arrays_by_names(each, names) for each in value]
    return names[value] if isinstance(value, GivenArray) else value


def _columns_source(columns: Mapping[str, Values], frame: Frame | None) -> Source:
    series = [each for each in columns.values() if isinstance(each, nw.Series)]
    if frame is None and not series:
        return Arrays(cast("Mapping[str, AnyArray]", columns))
    engine = series[0].implementation if frame is None else frame.implementation
    held = {name: _series_of_engine(name, values, engine) for name, values in columns.items()}
    if frame is None:
        return open_frame(nw.from_dict(held).to_native())
    return open_frame(nw.maybe_reset_index(frame).with_columns(**held).to_native())


def _series_of_engine(name: str, values: Values, engine: Any) -> Series:
    if isinstance(values, nw.Series):
        if values.implementation is engine:
            return nw.maybe_reset_index(values).alias(name)
        values = _single_type_array([canonical(each) for each in values.to_list()], name)
    plain = values.tolist() if values.dtype.kind == "O" else values
    return nw.new_series(name, plain, backend=engine)


def open_columns(
    columns: Mapping[str, Sequence[object]],
    name: str,
    codes: Mapping[str, Mapping[object, str]] | None = None,
) -> Source:
    """Open columns of plain values, some with labels of ``codes``; one of several types is text."""
    arrays = {}
    for column, values in columns.items():
        plain = [canonical(each) for each in values]
        kinds = {_value_kind(each) for each in plain if each is not None}
        if kinds == {"true/false", "number"} and {*plain} <= {None, 0, 1}:  # TRUE is 1 in a sheet
            plain = [None if each is None else int(each) for each in plain]
        elif len(kinds) > 1:
            plain = [None if each is None else name_of(each) for each in plain]
        arrays[column] = _single_type_array(plain, column)
    codes = codes or {}
    return Arrays(arrays, name, {c: [*of.values()] for c, of in codes.items()}, codes)
