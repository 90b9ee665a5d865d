"""Arrays given in place of column names: they become columns, and options then name these.

Rows are matched by position, as in scikit-learn. Beside a frame, or where one of them
is a Series, they become columns of that engine; lists and numpy arrays alone are counted by
numpy, which needs no optional library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import Any, TypeGuard, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import DataError, Problem, SpecError, quote
from fairgauge.question.features import KEYS, MOST_STRATA
from fairgauge.question.option_types import COLUMN, COLUMNS, FEATURES, STRATA
from fairgauge.question.options import BY_NAME
from fairgauge.scan._arrays import Arrays
from fairgauge.scan._frames import open_frame
from fairgauge.scan._narwhals import own_names
from fairgauge.scan._short_floats import doubles
from fairgauge.scan.source import Source, check_unique_names
from fairgauge.values import Value, canonical, name_of

Series = nw.Series[Any]
Frame = nw.DataFrame[Any]
Values = Series | NDArray[Any]

_PROTOCOLS = ("__array__", "__arrow_c_array__", "__arrow_c_stream__")
"""Every array, Series and frame has one of them."""
_LARGEST_WHOLE = 2**62
_MOST_ALIKE = 0.9
"""The share of labels in common from which two indexes are of the same rows, in other places."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenArray:
    """An array given in place of the name of a column.

    Attributes
    ----------
    path : the path of the option that holds it.
    name : its own name, or its key in a mapping; None where it has neither.
    values : one for each row.
    """

    path: str
    name: str | None
    values: Values


def open_arrays(
    data: object, options: Mapping[str, object]
) -> tuple[Source | None, dict[str, object]]:
    """Open the arrays among the options as columns, beside those of the data if there are data.

    The data are a frame, or themselves arrays by name.

    Returns
    -------
    source : the data with the arrays as columns; None where there are no arrays.
    options : the options, with the name of its column in place of every array.

    Raises
    ------
    SpecError
        An array has more than one dimension.
    DataError
        The arrays differ in length or have indexes of different rows, hold values of several types,
        or stand beside data that are not a frame in memory.
    """
    collector = _Collector(alone=data is None)
    if isinstance(data, Mapping):
        collector.table(data)
        data = None
    written = {name: collector.option(name, value) for name, value in options.items()}
    if not collector.arrays:
        return None, dict(options)
    if collector.alone and _names_alone(written.get("sensitive")):
        raise SpecError(Problem("sensitive", _NO_COLUMNS))
    frame = None if data is None else _frame_in_memory(data, collector.arrays[0])
    _check_rows(collector.arrays, frame)
    names = _names(collector.arrays, frame)
    columns = {name: given.values for given, name in names.items()}
    placed = {option: _with_names(value, names) for option, value in written.items()}
    return _source(columns, frame), placed


class _Collector:
    """Collects the arrays of options, and replaces each by a `GivenArray`."""

    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.arrays: list[GivenArray] = []

    def table(self, data: Mapping[object, object]) -> None:
        """Collect data that are arrays by name."""
        for name, values in data.items():
            self._array(values, f"data[{quote(name)}]", str(name))

    def option(self, name: str, value: object) -> object:
        """Return the value of an option with its arrays collected."""
        kind = BY_NAME[name].type if name in BY_NAME else None
        if kind is COLUMN and (_is_list(value) or _is_array(value)):
            return self._array(value, name)
        if kind is STRATA and _is_list(value) and self._holds_values(value):
            return self._array(value, name)
        return self._columns(value, name) if kind in (FEATURES, COLUMNS, STRATA) else value

    def _holds_values(self, value: Sequence[object]) -> bool:
        """Return whether a list is one value for each row, and not the columns of strata."""
        plain = all(isinstance(each, (str, int, float)) for each in value)
        names = all(isinstance(each, str) for each in value) and len(value) <= MOST_STRATA
        return plain and (self.alone or not names)

    def _columns(self, value: object, path: str) -> object:
        """Collect the arrays of an option that takes several columns."""
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
        """Collect the arrays of a mapping by names.

        A list is a set of values of a column of the data; without data, it is one for each row.
        """
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


def _names_alone(value: object) -> bool:
    """Return whether a value is the name of a column, or holds nothing but names."""
    return isinstance(value, str) or (
        _is_list(value) and len(value) > 0 and all(isinstance(each, str) for each in value)
    )


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_array(value: object) -> bool:
    """Return whether a value is an array, a Series or a frame, and no list or scalar."""
    return any(hasattr(value, name) for name in _PROTOCOLS) and not isinstance(value, np.generic)


def _plain_array(value: object, path: str) -> NDArray[Any]:
    """Return an array of one type: numbers, true and false, or texts, None where missing."""
    if _is_array(value) and not isinstance(value, np.ma.MaskedArray):
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.ndim == 1:
            return doubles(array) if array.dtype.kind == "f" else array
        value = [*array] if array.dtype.kind == "M" else array  # tolist() makes nanoseconds numbers
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if _is_list(listed) and set(map(type, listed)) <= _CANONICAL:  # of millions of values at once
        return _of_one_type(cast("list[Value]", [*listed]), path)
    if not _is_list(listed) or any(_is_list(each) or _is_array(each) for each in listed):
        features = path.startswith(("sensitive", "strata"))
        raise SpecError(
            Problem(path, _ONE_DIMENSION + (_OF_FEATURES if features else _OF_OUTCOMES))
        )
    return _of_one_type([canonical(each) for each in listed], path)


_CANONICAL = {str, bool, int, type(None)}
"""Types whose values are in their one form."""
_ONE_DIMENSION = "must have one dimension, with one value for each row; "
_OF_FEATURES = "name the columns of a table: sensitive={'NAME': table[:, 0]}"
_OF_OUTCOMES = (
    "take the only column of an array (.ravel()) or of a frame (frame['NAME']), and of the scores "
    "of predict_proba those of the positive class ([:, 1])"
)


def _of_one_type(values: list[Value], path: str) -> NDArray[Any]:
    known = [each for each in values if each is not None]
    types = {type(each): each for each in known}
    examples = {_kind(each): each for each in types.values()}
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


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "true/false"
    return "text" if isinstance(value, str) else "number"


def _frame_in_memory(data: object, given: GivenArray) -> Frame:
    check_unique_names(own_names(data), "the frame")
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    raise DataError(
        f"{given.path} is an array, which can stand beside a frame in memory (pandas, polars or "
        f"pyarrow) but not beside a {type(data).__name__}; give the name of a column"
    )


def _check_rows(arrays: Sequence[GivenArray], frame: Frame | None) -> None:
    """Check that all have the same length, and that no two indexes are those of different rows."""
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
    different: list[tuple[str, Any]] = []
    for path, values in every:
        index = _index(values)
        if index is not None and not any(index.equals(other) for _, other in different):
            different.append((path, index))
    for (before, one), (path, other) in combinations(different, 2):
        common = len(set(one) & set(other))
        reordered = common == len(set(one)) == len(set(other))
        apart = common <= _MOST_ALIKE * len(one)
        if not reordered and apart and (_is_default(one) or _is_default(other)):
            continue  # predictions that were made into a Series
        have = (
            "the same labels in different orders"
            if reordered
            else f"{common:,} of {len(one):,} labels in common, in other places"
            if not apart
            else f"{common:,} of {len(one):,} labels in common"
        )
        raise DataError(
            f"the indexes of {before} and {path} have {have}, and rows are matched by position; "
            "take both from the same rows, in the same order, or, if they are, give values "
            "without an index (.to_numpy() or .reset_index(drop=True))"
        )


def _is_default(index: Any) -> bool:
    """Return whether an index numbers the rows from 0, as it does where none was given."""
    return bool(index.equals(index.to_series().reset_index(drop=True).index))


def _index(values: Values | Frame) -> Any:
    """Return the index of a pandas Series or frame, None where there is none."""
    return None if isinstance(values, np.ndarray) else nw.maybe_get_index(values)


def _names(arrays: Sequence[GivenArray], frame: Frame | None) -> dict[GivenArray, str]:
    """Return the name of the column of each array: its own if it has one, else its option's.

    What pandas computes from a column keeps its name, so that names of labels, predictions and the
    like may not be theirs: where there is another array or column of that name, the option's is
    taken. The name of a feature is the name of the feature.
    """
    names: dict[GivenArray, str] = {}
    for given in arrays:
        option = given.path.partition("[")[0]
        taken = set(names.values())
        if frame is not None:
            others = (each for each in frame.columns if each != given.name)
            taken |= {*others, *_different(given, frame)}
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


def _different(given: GivenArray, frame: Frame) -> list[str]:
    """Return the name of an array if it is that of a column of the data with other values."""
    if given.name is None or given.name not in frame.columns:
        return []
    values = given.values.to_list() if isinstance(given.values, nw.Series) else given.values
    held = frame[given.name].to_list()
    return [] if [*map(canonical, values)] == [*map(canonical, held)] else [given.name]


def _with_names(value: object, names: Mapping[GivenArray, str]) -> object:
    if isinstance(value, list):
        return [_with_names(each, names) for each in value]
    return names[value] if isinstance(value, GivenArray) else value


def _source(columns: Mapping[str, Values], frame: Frame | None) -> Source:
    """Open columns, beside those of a frame if there is one."""
    series = [each for each in columns.values() if isinstance(each, nw.Series)]
    if frame is None and not series:
        return Arrays(cast("Mapping[str, NDArray[Any]]", columns))
    engine = series[0].implementation if frame is None else frame.implementation
    held = {name: _of_engine(name, values, engine) for name, values in columns.items()}
    if frame is None:
        table: Frame = nw.from_dict(held)
    else:
        table = nw.maybe_reset_index(frame).with_columns(**held)
    return open_frame(table.to_native())


def _of_engine(name: str, values: Values, engine: Any) -> Series:
    """Return values as a Series of an engine, without an index."""
    if isinstance(values, nw.Series):
        if values.implementation is engine:
            return nw.maybe_reset_index(values).alias(name)
        values = _of_one_type([canonical(each) for each in values.to_list()], name)
    plain = values.tolist() if values.dtype.kind == "O" else values
    return nw.new_series(name, plain, backend=engine)


def open_columns(columns: Mapping[str, Sequence[object]], name: str) -> Source:
    """Open columns of plain values; one of several types holds them as texts."""
    arrays = {}
    for column, values in columns.items():
        plain = [canonical(each) for each in values]
        if len({_kind(each) for each in plain if each is not None}) > 1:
            plain = [None if each is None else name_of(each) for each in plain]
        arrays[column] = _of_one_type(plain, column)
    return Arrays(arrays, name)
