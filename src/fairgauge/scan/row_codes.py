"""Rows one batch after the other, as the positions of their values in levels that are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.cube.levels import not_plain
from fairgauge.cube.plan import Axis, Plan
from fairgauge.enums import Role
from fairgauge.errors import DataError, quote
from fairgauge.scan._short_floats import doubles
from fairgauge.scan.row_access import numbers_of
from fairgauge.scan.source import UnreadableNumbers
from fairgauge.values import Value, canonical, name_of, plain_number

_ABSENT = -2
"""The place of a value that no row may have."""
BATCH = 524_288
"""Rows of a batch, over which what is done once for each is spread."""
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
_FLAT = {kind: kind for kind in (*_WHOLE, "uint64")} | {"float": "float32", "double": "float64"}
"""Types of Arrow that numpy has too, with its names."""
WIDEST = 4_096
"""Whole numbers this far apart are positions as they are."""
_RECORDS = 65_536
"""The same of records that are objects of Python."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows.

    Attributes
    ----------
    keys : for every axis of plain values the engine's own values, and the position of each row
        among them; -1 is a missing value.
    numbers : for every column of numbers, NaN where missing.
    """

    keys: dict[Axis, tuple[Sequence[object], NDArray[np.integer[Any]]]]
    numbers: dict[str, NDArray[np.float64]]

    def intervals(self, axis: Axis) -> NDArray[np.integer[Any]]:
        """Return the position of every row among the intervals of an axis."""
        numbers = self.numbers[axis.column]
        missing, found = np.isnan(numbers), axis.bins_of(numbers)
        return np.where(missing, -1, found) if missing.any() else found


@runtime_checkable
class Streamed(Protocol):
    """Data whose rows can be read in batches."""

    @property
    def streams(self) -> bool:
        """Return whether they can, with the libraries that are installed."""

    def batches(self, plan: Plan) -> Iterator[Batch]:
        """Yield the rows in any order, whose values had these levels when they were counted."""


def has_arrow() -> bool:
    """Return whether pyarrow, by which columns of most engines become codes, is installed."""
    return find_spec("pyarrow") is not None


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Some rows by the positions of their values in the levels of counts.

    Attributes
    ----------
    codes : for every axis the position of each row, -1 where missing.
    cases : what each row stands for, 0 where that is not known; None where each is one.
    scores : the scores, 0 where missing, times what each row stands for; None without any.
    numbers : for every column of numbers, NaN where missing.
    weights : the sampling weights, 0 where not known; None without any.
    """

    codes: dict[Axis, NDArray[np.integer[Any]]]
    cases: NDArray[np.float64] | None
    scores: NDArray[np.float64] | None = None
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None


def coded_rows(source: Streamed, cube: Cube) -> Iterator[CodedRows]:
    """Yield all rows by the positions of their values in the levels of counts of the same rows.

    Raises
    ------
    DataError
        A value is none of the levels: the data changed since they were counted.
    """
    places = {
        axis: PositionsInLevels(axis, cube.levels[axis]) for axis in cube.plan.axes if not axis.bins
    }
    score = cube.plan.axis(Role.SCORE)
    for batch in source.batches(cube.plan):
        codes: dict[Axis, NDArray[np.integer[Any]]] = {
            axis: places[axis].of(*found) for axis, found in batch.keys.items()
        }
        codes |= {axis: batch.intervals(axis) for axis in cube.plan.axes if axis.bins}
        cases, weights = (
            None if column is None else np.nan_to_num(batch.numbers[column], posinf=0.0, neginf=0.0)
            for column in (cube.plan.count, cube.plan.weight)
        )
        scores = None if score is None else np.nan_to_num(batch.numbers[score.column])
        if scores is not None and cases is not None:
            scores = scores * cases
        yield CodedRows(codes, cases, scores, batch.numbers, weights)


class PositionsInLevels:
    """Where the values of one axis of plain values are in its levels."""

    def __init__(self, axis: Axis, levels: Sequence[Value]) -> None:
        self._axis = axis
        self._position = {name_of(level): i for i, level in enumerate(levels)}
        self._known: tuple[Sequence[object], NDArray[np.int32], bool] | None = None

    def of(
        self, values: Sequence[object], positions: NDArray[np.integer[Any]]
    ) -> NDArray[np.integer[Any]]:
        """Return the level of every row, from its position among the engine's values."""
        missing = self._place(None)  # the last entry, which position -1 reads
        # the values of one list only grow
        if (
            self._known is None
            or self._known[0] is not values
            or len(self._known[1]) != len(values) + 1
        ):
            places = [*map(self._place, values), missing]
            same = places == [*range(len(values)), -1]
            self._known = values, np.array(places, dtype=np.int32), same
        _, places_of, same = self._known
        found = positions if same else np.take(places_of, positions)
        if found.size and found.min() == _ABSENT:
            at = int(positions[np.argmin(found)])
            value = "missing values" if at < 0 else f"the value {quote(str(values[at]))}"
            raise DataError(
                f"column {quote(self._axis.column)} has {value}, which it had not when it was "
                "counted first: the data change while they are read; search a copy of them"
            )
        return found

    def _place(self, raw: object) -> int:
        value = canonical(raw)
        if self._axis.recoding:
            (value,) = self._axis.recoding.apply([value])
        if value is None:
            return -1
        place = self._position.get(name_of(value))
        if place is None and isinstance(value, str):  # a number of a file of texts
            place = self._position.get(name_of(plain_number(value)))
        return _ABSENT if place is None else place


def arrow_batch(plan: Plan, keys: Sequence[Any], numbers: Sequence[Any]) -> Batch:
    """Return a batch of Arrow arrays: of each axis of plain values, and of each numeric column."""
    plain = [axis for axis in plan.axes if not axis.bins]
    coded: dict[Axis, tuple[Sequence[object], NDArray[np.integer[Any]]]] = {}
    for axis, array in zip(plain, keys, strict=True):
        if str(array.type) in _WHOLE and not array.null_count and len(array):
            whole, _ = _flat(array)
            low, high = int(whole.min()), int(whole.max())
            if high - low < WIDEST:
                kind = np.promote_types(whole.dtype, np.int16)
                coded[axis] = range(low, high + 1), np.subtract(whole, low, dtype=kind)
                continue
        try:
            held = array if hasattr(array, "dictionary") else array.dictionary_encode()
        except NotImplementedError:  # Arrow's, of lists and structs
            raise not_plain(axis) from None
        positions, known = _flat(held.indices)
        positions = positions.astype(np.int32, copy=False)  # of polars unsigned
        positions = positions if known is None else np.where(known, positions, -1)
        coded[axis] = _levels(held.dictionary), positions
    return Batch(
        coded,
        {
            column: _doubles(array, plan, column)
            for column, array in zip(plan.numeric_columns, numbers, strict=True)
        },
    )


def _levels(array: Any) -> Sequence[object]:
    short = str(array.type) in ("float", "halffloat")
    levels: Sequence[object] = doubles(_flat(array)[0]).tolist() if short else array.to_pylist()
    return levels


def _doubles(array: Any, plan: Plan, column: str) -> NDArray[np.float64]:
    """Return an Arrow array as numbers, NaN where missing or listed as none."""
    kind = str(array.type)
    if kind.startswith(("string", "large_string", "dictionary")):  # of texts, which are listed
        held = array if hasattr(array, "dictionary") else array.dictionary_encode()
        positions, known = _flat(held.indices)
        positions = positions.astype(np.int32, copy=False)
        texts = numbers_of_texts(held.dictionary.to_pylist(), plan, column)
        found = np.append(texts, np.nan)[
            positions if known is None else np.where(known, positions, -1)
        ]
    else:
        if kind.startswith("decimal"):  # whose own cast misses the nearest double
            array = array.cast("string").cast("double")
        values, known = _flat(array)
        found = doubles(values)
        found = found if known is None else np.where(known, found, np.nan)
    return without_listed(found, plan, column)


def numbers_of_texts(texts: Sequence[Any], plan: Plan, column: str) -> NDArray[np.float64]:
    """Return different texts as numbers, NaN where one is listed as none.

    Raises
    ------
    UnreadableNumbers
        A text is neither.
    """
    values = [canonical(each) for each in texts]
    numbers = numbers_of(values)
    unread = {
        name_of(each)
        for each, number in zip(values, numbers, strict=True)
        if each is not None and np.isnan(number)
    }
    wrong = unread.difference(map(name_of, plan.no_numbers.get(column, ())))
    if wrong := {text for text in wrong if text.strip().lower() != "nan"}:
        raise UnreadableNumbers(plan, column, wrong)
    return numbers


def without_listed(numbers: NDArray[np.float64], plan: Plan, column: str) -> NDArray[np.float64]:
    """Return numbers, NaN where they are listed as none."""
    known = (plain_number(name_of(value)) for value in plan.no_numbers.get(column, ()))
    codes = [number for number in known if number is not None]
    return np.where(np.isin(numbers, codes), np.nan, numbers) if codes else numbers


def _flat(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the values of an Arrow array, and in which rows there is one; None for all.

    Arrow's own way to numpy imports pandas wherever that is installed, which takes longer than to
    count some million rows.
    """
    kind = _FLAT.get(str(array.type))
    bits, held = array.buffers() if kind else (None, None)
    if held is None:
        return array.to_numpy(zero_copy_only=False), None
    start, end = array.offset, array.offset + len(array)
    values = np.frombuffer(held, dtype=kind)[start:end]
    if bits is None or not array.null_count:
        return values, None
    first = start // 8
    known = np.unpackbits(np.frombuffer(bits, np.uint8)[first : -(-end // 8)], bitorder="little")
    return values, known[start - 8 * first :][: len(array)].view(np.bool_)


def sql_batches(plan: Plan, found: Iterator[Any]) -> Iterator[Batch]:
    """Yield batches of the record batches of the query of all rows: keys, then numbers."""
    keys = sum(not axis.bins for axis in plan.axes)
    for each in found:
        yield arrow_batch(plan, each.columns[:keys], each.columns[keys:])


def record_batches(plan: Plan, records: Iterator[Sequence[Any]]) -> Iterator[Batch]:
    """Yield batches of the records of the query of all rows, of an engine without Arrow."""
    plain = [axis for axis in plan.axes if not axis.bins]
    values: list[list[object]] = [[] for _ in plain]
    places: list[dict[object, int]] = [{} for _ in plain]
    while part := list(islice(records, _RECORDS)):
        columns = list(zip(*part, strict=True))
        keys: dict[Axis, tuple[Sequence[object], NDArray[np.integer[Any]]]] = {}
        for axis, column, known, place in zip(plain, columns, values, places, strict=False):
            held = [None if each != each else each for each in column]  # NaN is missing
            positions = [place.setdefault(each, len(place)) for each in held]
            known.extend(list(place)[len(known) :])
            keys[axis] = known, np.array(positions, dtype=np.int32)
        numbers = {
            name: _of_records(column, plan, name)
            for name, column in zip(plan.numeric_columns, columns[len(plain) :], strict=True)
        }
        yield Batch(keys, numbers)


def _of_records(values: Sequence[Any], plan: Plan, column: str) -> NDArray[np.float64]:
    if not any(isinstance(each, str) for each in values):
        return without_listed(np.array(values, dtype=np.float64), plan, column)
    place = {each: i for i, each in enumerate(dict.fromkeys(values))}
    found = numbers_of_texts([*place], plan, column)[[place[each] for each in values]]
    return without_listed(found, plan, column)
