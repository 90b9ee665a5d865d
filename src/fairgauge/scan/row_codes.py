"""Rows one batch after the other, as the positions of their values in levels that are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.build import whole_array
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis, Plan, canonical_values, nested_value_error
from fairgauge.enums import Observation, Role
from fairgauge.errors import DataError, quote
from fairgauge.question.recoding import Recodings
from fairgauge.scan.source import Readable, Source, UnreadableNumbers
from fairgauge.start.records import dataclass, field
from fairgauge.stats.arrays import AnyArray, Integers
from fairgauge.values import HALF, SCALES, Value, canonical, name_of, plain_number

_BOUNDS, _SCALES = np.array(SCALES).T


def doubles(values: AnyArray) -> NDArray[np.float64]:
    """Return numbers as doubles: of less than double precision what they stand for.

    >>> doubles(np.array([0.7, 1 / 3], dtype=np.float32)).tolist()
    [0.7, 0.3333333432674408]
    """
    wide = values.astype(np.float64, copy=False)
    if values.dtype.type not in (np.float32, np.float16):
        return wide
    size = np.abs(values)
    scale: Any = _SCALES[0]
    if np.fmax.reduce(size, initial=0.0) >= _BOUNDS[0]:
        scale = np.append(_SCALES, 1.0)[np.searchsorted(_BOUNDS, size, side="right")]
    if values.dtype.type is np.float16:
        scale = np.maximum(scale * HALF, 1.0)
    near = wide * scale
    np.rint(near, out=near)
    near /= scale
    with np.errstate(over="ignore"):
        np.copyto(wide, near, where=near.astype(values.dtype) == values)
    return wide


def sql_double(value: str, double: str = "DOUBLE", single: str = "FLOAT") -> str:
    """Write an expression of single precision as a double, as `doubles` reads it."""
    wide, near = _sql_near(value, double)
    return f"CASE WHEN CAST({near} AS {single}) = {value} THEN {near} ELSE {wide} END"


def sql_double_of_half(value: str) -> str:
    """Write an expression of half precision, which DuckDB holds in single precision, as a double.

    The decimal is what it stands for if it is nearer than half a step of half precision.
    """
    wide, near = _sql_near(value, "DOUBLE", HALF)
    step = f"greatest(pow(2, floor(log2(greatest(abs({wide}), 1e-9))) - 11), pow(2, -25))"
    return f"CASE WHEN abs({near} - {wide}) < {step} THEN {near} ELSE {wide} END"


def _sql_near(value: str, double: str, factor: float = 1.0) -> tuple[str, str]:
    wide = f"CAST({value} AS {double})"
    sizes = " ".join(
        f"WHEN abs({wide}) < {bound:.0e} THEN {max(scale * factor, 1.0):.0e}"
        for bound, scale in SCALES
    )
    scale = f"CAST(CASE {sizes} ELSE 1 END AS {double})"
    return wide, f"round({wide} * {scale}) / {scale}"


Array = NDArray[np.float64]


def read_rows(
    source: Source, columns: Sequence[str], most: int | None = None, recode: Recodings = ()
) -> dict[str, list[Value]]:
    """Read some columns of all rows, or of the first ``most``, in canonical values, recoded."""
    wanted = list(dict.fromkeys(columns))
    if not isinstance(source, Readable):
        raise DataError(f"the rows of {quote(source.name)} cannot be read, only counted")
    read, texts = source.fetch(wanted, most)
    found = {}
    for name, values in zip(wanted, read, strict=True):
        found[name] = canonical_values(values, text=texts)
    return found | {r.column: r.apply(found[r.column]) for r in recode if r.column in found}


def numbers_of(values: Sequence[Value]) -> Array:
    """Return numbers, NaN where there is none; texts are read as the scan of a file reads them.

    >>> numbers_of([1, "+0.5", " .5", "NaN", "a", None]).tolist()
    [1.0, 0.5, 0.5, nan, nan, nan]
    """
    plain = {*map(type, values)} <= {int, float, type(None)}
    read = values if plain else [_parse_number(value) for value in values]
    return np.array(read, dtype=np.float64)


def _parse_number(value: Value) -> float:
    if isinstance(value, str) and "_" in value:  # 1_0 is no number in a file
        return np.nan
    try:
        return np.nan if value is None else float(value)
    except ValueError:
        return np.nan


# the place of a value that no row may have
_ABSENT = -2
BATCH = 524_288
"""Rows of a batch, over which what is done once for each is spread."""
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# types of Arrow that numpy has too, with its names
_FLAT = {kind: kind for kind in _WHOLE} | {"float": "float32", "double": "float64"}
_EXACT = 2.0**53
WIDEST = 4_096
"""Whole numbers this far apart are positions as they are."""
# the same of records that are objects of Python
_RECORDS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows.

    ``keys``: for every axis of plain values the engine's own, and the position of each row, or -1.
    ``numbers``: for every column of numbers, NaN where missing.
    """

    keys: dict[Axis, tuple[Sequence[object], Integers]]
    numbers: dict[str, NDArray[np.float64]]

    def intervals(self, axis: Axis) -> Integers:
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


Codes: TypeAlias = dict[Axis, Integers]


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Some rows by the positions of their values in the levels of counts.

    ``codes``: for every axis the position of each row, -1 where missing.
    ``cases``: what each row stands for, 0 where that is not known; None where each is one.
    ``scores``: the scores, 0 where missing, times what each row stands for; None without any.
    ``numbers``: for every column of numbers, NaN where missing.
    ``weights``: the sampling weights, 0 where not known; None without any.
    """

    codes: Codes
    cases: NDArray[np.float64] | None
    scores: NDArray[np.float64] | None = None
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None


def coded_rows(
    source: Streamed, cube: Cube, axes: Sequence[Axis] | None = None
) -> Iterator[CodedRows]:
    """Yield all rows by the positions of their values in the levels of counts of the same rows.

    Of some ``axes`` alone where these are given: clusters have other names in counts.
    """
    axes = cube.plan.axes if axes is None else axes
    places = {axis: PositionsInLevels(axis, cube.levels[axis]) for axis in axes if not axis.bins}
    for axis, levels in places.items():
        levels.leave_out(str(e.value) for e in cube.seen(Observation.UNSTATED, axis.column))
    score = cube.plan.axis(Role.SCORE)
    for batch in source.batches(cube.plan):
        codes: Codes = {axis: each.of(*batch.keys[axis]) for axis, each in places.items()}
        codes |= {axis: batch.intervals(axis) for axis in axes if axis.bins}
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

    def leave_out(self, names: Iterable[str]) -> None:
        """Read values that are no level as missing ones."""
        self._position = dict.fromkeys(names, -1) | self._position

    def of(self, values: Sequence[object], positions: Integers) -> Integers:
        """Return the level of every row, from its position among the engine's values."""
        missing = self._place(None)  # the last entry, which position -1 reads
        known = self._known  # the values of one list only grow
        if known is None or known[0] is not values or len(known[1]) != len(values) + 1:
            places = [*map(self._place, values), missing]
            same = places == [*range(len(values)), -1]
            self._known = known = values, np.array(places, dtype=np.int32), same
        _, places_of, same = known
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


def coded_whole(values: AnyArray) -> tuple[Sequence[object], Integers] | None:
    """Return truths, or whole numbers close together, as values and positions; else None."""
    if values.dtype.kind == "b":
        return [False, True], values.view(np.int8)
    if values.dtype.kind not in "iu" or not len(values):
        return None
    low, high = int(values.min()), int(values.max())
    if high - low >= WIDEST:
        return None
    least = np.array(low).astype(np.int16)  # both wrap around, and their difference fits
    return range(low, high + 1), np.subtract(values, least, dtype=np.int16, casting="unsafe")


def whole_numbers(different: object) -> Sequence[int] | None:
    """Return different numbers that are all whole as an array of int64; else None."""
    numbers = np.asarray(different)
    if numbers.dtype.kind == "f" and (numbers == np.floor(numbers)).all():
        return whole_array(numbers) if (np.abs(numbers) < _EXACT).all() else None
    signed = numbers.dtype.kind in "iu" and numbers.dtype != np.uint64
    return whole_array(numbers) if signed else None


def arrow_batch(plan: Plan, keys: Sequence[Any], numbers: Sequence[Any]) -> Batch:
    """Return a batch of Arrow arrays: of each axis of plain values, and of each numeric column."""
    plain = [axis for axis in plan.axes if not axis.bins]
    coded: dict[Axis, tuple[Sequence[object], Integers]] = {}
    for axis, array in zip(plain, keys, strict=True):
        whole = str(array.type) in _FLAT and not array.null_count and coded_whole(_flat(array)[0])
        if whole:
            coded[axis] = whole
            continue
        try:
            levels, positions = _dictionary(array)
        except NotImplementedError:  # Arrow's, of lists and structs
            raise nested_value_error(axis) from None
        short = str(levels.type) in ("float", "halffloat")
        values = doubles(_flat(levels)[0]).tolist() if short else levels.to_pylist()
        coded[axis] = values, positions
    read = zip(plan.numeric_columns, numbers, strict=True)
    return Batch(coded, {column: _doubles(array, plan, column) for column, array in read})


def _dictionary(array: Any) -> tuple[Any, Integers]:
    # the different values of an array, and the position of each row among them; -1 is missing
    held = array if hasattr(array, "dictionary") else array.dictionary_encode()
    positions, known = _flat(held.indices)
    positions = positions.astype(np.int32, copy=False)  # of polars unsigned
    return held.dictionary, positions if known is None else np.where(known, positions, -1)


def _doubles(array: Any, plan: Plan, column: str) -> NDArray[np.float64]:
    kind = str(array.type)
    if kind.startswith(("string", "large_string", "dictionary")):  # of texts, which are listed
        texts, positions = _dictionary(array)
        numbers = numbers_of_texts(texts.to_pylist(), plan, column)
        found = np.append(numbers, np.nan)[positions]
    else:
        if kind.startswith("decimal"):  # whose own cast misses the nearest double
            array = array.cast("string").cast("double")
        values, known = _flat(array)
        found = doubles(values)
        found = found if known is None else np.where(known, found, np.nan)
    return drop_codes(found, plan, column)


def numbers_of_texts(texts: Sequence[object], plan: Plan, column: str) -> NDArray[np.float64]:
    """Return different texts as numbers, NaN where one is listed as none."""
    values = [canonical(each) for each in texts]
    numbers = numbers_of(values)
    read = zip(values, numbers, strict=True)
    unread = {name_of(each) for each, n in read if each is not None and np.isnan(n)}
    wrong = unread.difference(map(name_of, plan.no_numbers.get(column, ())))
    if wrong := {text for text in wrong if text.strip().lower() != "nan"}:
        raise UnreadableNumbers(plan, column, wrong)
    return numbers


def drop_codes(numbers: NDArray[np.float64], plan: Plan, column: str) -> NDArray[np.float64]:
    """Return numbers, NaN where they are listed as none."""
    known = (plain_number(name_of(value)) for value in plan.no_numbers.get(column, ()))
    codes = [number for number in known if number is not None]
    return np.where(np.isin(numbers, codes), np.nan, numbers) if codes else numbers


def _flat(array: Any) -> tuple[AnyArray, NDArray[np.bool_] | None]:
    # Arrow's own way to numpy imports pandas wherever that is installed, which takes longer than to
    # count some million rows
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


def record_batches(plan: Plan, records: Iterator[Sequence[object]]) -> Iterator[Batch]:
    """Yield batches of the records of the query of all rows, of an engine without Arrow."""
    plain = [axis for axis in plan.axes if not axis.bins]
    values: list[list[object]] = [[] for _ in plain]
    places: list[dict[object, int]] = [{} for _ in plain]
    while part := list(islice(records, _RECORDS)):
        columns = list(zip(*part, strict=True))
        keys: dict[Axis, tuple[Sequence[object], Integers]] = {}
        for axis, column, known, place in zip(plain, columns, values, places, strict=False):
            held = [None if each != each else each for each in column]  # NaN is missing
            positions = [place.setdefault(each, len(place)) for each in held]
            known.extend(list(place)[len(known) :])
            keys[axis] = known, np.array(positions, dtype=np.int32)
        read = zip(plan.numeric_columns, columns[len(plain) :], strict=True)
        yield Batch(keys, {name: _numbers_of_records(column, plan, name) for name, column in read})


def _numbers_of_records(values: Sequence[object], plan: Plan, column: str) -> NDArray[np.float64]:
    if not any(isinstance(each, str) for each in values):
        return drop_codes(np.array(values, dtype=np.float64), plan, column)
    place = {each: i for i, each in enumerate(dict.fromkeys(values))}
    found = numbers_of_texts([*place], plan, column)[[place[each] for each in values]]
    return drop_codes(found, plan, column)
