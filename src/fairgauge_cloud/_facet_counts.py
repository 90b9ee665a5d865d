"""Columns as codes, labels and predictions in, counts out; all after that is fairgauge's own.

A table is a mapping of names to columns, whatever held them. A block is a facet's value, or its
interval, that is compared with all other rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairgauge import Cube
from fairgauge.plugins import canonical, count_codes, matches, name_of

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionDtype

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Kind(StrEnum):
    """What the values of a column are, as a data frame would have it."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column: ``codes`` are positions in its values, in the order in which they first appear.

    A missing one is -1.
    """

    name: str
    kind: Kind
    codes: Codes
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def known(self) -> int:
        return int((self.codes >= 0).sum())

    @property
    def first(self) -> Any:
        """Return the value of the first row; NaN where it is missing, or without rows."""
        return self.levels[self.codes[0]] if len(self.codes) and self.codes[0] >= 0 else math.nan

    @property
    def levels_before_missing(self) -> int | None:
        """Return how many levels appear before the first missing value; None without any."""
        missing = np.flatnonzero(self.codes < 0)
        if not len(missing):
            return None
        return int(self.codes[: missing[0]].max(initial=-1)) + 1

    @property
    def used(self) -> tuple[Any, ...]:
        return tuple(self.levels[i] for i in self.held.tolist())

    @property
    def held(self) -> Codes:
        """Return the positions of the levels that occur, rising."""
        return np.flatnonzero(np.bincount(self.codes + 1, minlength=len(self.levels) + 1)[1:])

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats, NaN where missing; ValueError where one is no number."""
        values = np.array([*map(float, self.levels), math.nan])
        return values[self.codes]

    def relabel(self, levels: Sequence[object], kind: Kind) -> CodedColumn:
        """Return the column with other values for its levels; equal ones become one."""
        position: dict[tuple[object, object], int] = {}
        kept: list[object] = []
        moved = []
        for level in levels:
            at = position.setdefault(_level_key(level), len(kept))
            if at == len(kept):
                kept.append(level)
            moved.append(at)
        return CodedColumn(self.name, kind, np.array([*moved, -1])[self.codes], tuple(kept))


def from_series(series: pd.Series, name: object = None) -> CodedColumn:
    import pandas as pd

    codes, levels = pd.factorize(series)
    shown = str(series.name if name is None else name)
    return CodedColumn(
        shown, _kind_of(series.dtype), codes.astype(np.int64), tuple(levels.tolist())
    )


def from_frame(frame: pd.DataFrame) -> list[CodedColumn]:
    return [from_series(frame.iloc[:, i], name) for i, name in enumerate(frame.columns)]


def from_values(name: str, values: Iterable[object]) -> CodedColumn:
    """Read plain values: text, numbers, booleans and None, typed as a data frame types them."""
    position: dict[tuple[object, object], int] = {}
    levels: list[Any] = []
    codes = []
    for value in values:
        if value is None or value != value:
            codes.append(-1)
            continue
        at = position.setdefault(_level_key(value), len(levels))
        if at == len(levels):
            levels.append(value)
        codes.append(at)
    column = CodedColumn(name, Kind.TEXT, np.array(codes, dtype=np.int64), tuple(levels))
    kinds, missing = {type(level) for level in levels}, column.known < len(codes)
    if kinds <= {int, float}:
        if kinds == {int} and not missing:
            return column.relabel(levels, Kind.INTEGER)
        return column.relabel([*map(float, levels)], Kind.FLOAT)
    return column.relabel(levels, Kind.BOOLEAN) if kinds == {bool} and not missing else column


def _level_key(value: object) -> tuple[object, object]:
    if isinstance(value, (list, dict)):
        return (type(value), repr(value))
    return (isinstance(value, bool), value)


def _kind_of(dtype: np.dtype[np.generic] | ExtensionDtype) -> Kind:
    if dtype.name == "category":
        return Kind.CATEGORY
    if dtype.name in ("object", "str", "string"):
        return Kind.TEXT
    return {"b": Kind.BOOLEAN, "i": Kind.INTEGER, "u": Kind.INTEGER, "f": Kind.FLOAT}.get(
        dtype.kind, Kind.OTHER
    )


Table = dict[str, CodedColumn]
"""Columns of the same rows, by their names."""


UNIQUENESS_THRESHOLD = 0.05

NO_THRESHOLD = "Threshold values must be provided for continuous features"
NOT_A_THRESHOLD = (
    "Facet/label value provided must be a single numeric threshold for continuous data"
)
NO_ENDPOINTS = (
    "Only numeric, Timestamp and Timedelta endpoints are allowed when constructing an Interval."
)
NO_POSITIVE = (
    "'label' has not positive elements. Double-check if 'label' and 'positive_label_values'"
    "have correct data-types or values."
)


class DataType(Enum):
    """What a column is taken for."""

    CATEGORICAL = 0
    CONTINUOUS = 1


@dataclass(frozen=True, slots=True)
class HalfOpenInterval:
    """The numbers above ``low``, up to ``high``; prints itself as pandas does."""

    low: float | int
    high: float | int

    def __str__(self) -> str:
        """Return ``(40, 68]``; both ends are floats as soon as one is."""
        of = float if any(isinstance(end, float) for end in (self.low, self.high)) else int
        return f"({of(self.low)}, {of(self.high)}]"

    def holds(self, column: CodedColumn) -> Mask:
        """Return for every level of a numeric column whether it lies inside."""
        levels = np.array([*map(float, column.levels)])
        return (levels > self.low) & (levels <= self.high)


def data_type(column: CodedColumn, values: Sequence[object] | None) -> DataType:
    """Guess what a column is taken for, as smclarify guesses it."""
    several = isinstance(values, list) and len(values) > 1
    if column.kind in (Kind.CATEGORY, Kind.BOOLEAN, Kind.OTHER) or several:
        return DataType.CATEGORICAL
    if column.kind is Kind.FLOAT:
        return DataType.CONTINUOUS
    if column.kind is Kind.TEXT:  # numbers only where every value is there, and a whole one
        if (column.codes < 0).any():
            return DataType.CATEGORICAL
        try:
            _ = [*map(int, column.used)]
        except (TypeError, ValueError):
            return DataType.CATEGORICAL
    known = column.known
    varied = known > 0 and len(column.used) / known >= UNIQUENESS_THRESHOLD
    return DataType.CONTINUOUS if varied else DataType.CATEGORICAL


def guess_type(
    column: CodedColumn, values: Sequence[Any] | None
) -> tuple[DataType, CodedColumn, list[object] | None]:
    """Guess the type of a column; return it, the column and the listed values in that type."""
    listed = None if values is None else list(values)
    found = data_type(column, values)
    if found is DataType.CATEGORICAL:
        return found, column, listed
    if listed and not isinstance(listed[0], (int, float)):
        try:
            listed[0] = float(listed[0])
        except (TypeError, ValueError):
            raise ValueError(NOT_A_THRESHOLD) from None
    if column.kind not in (Kind.INTEGER, Kind.FLOAT):
        column = column.relabel([_level_number(level) for level in column.levels], Kind.INTEGER)
    return found, column, listed


def _level_number(level: Any) -> int | float:
    if isinstance(level, (int, float)):
        return level
    for of in (int, float):
        with suppress(ValueError):
            return of(level)
    raise ValueError(f"{level!r} is no number")


def _interval(
    thresholds: Sequence[object] | None, *columns: CodedColumn
) -> HalfOpenInterval | None:
    # the numbers above a threshold, up to the largest; None if that is nothing
    if not thresholds:
        raise ValueError(NO_THRESHOLD)
    levels = [_level_number(level) for each in columns for level in each.used]
    if not levels:
        return None
    if {type(level) for level in levels} > {int}:
        levels = [float(level) for level in levels]
    most = max(levels)
    low = thresholds[0]
    assert isinstance(low, (int, float))  # as `guess_type` returns it
    if abs(most) in thresholds:  # as smclarify tests it: an empty group, also for -threshold
        return None
    if isinstance(low, bool) and isinstance(most, bool):
        raise ValueError(NO_ENDPOINTS)  # noqa: TRY004 - as pandas does
    return HalfOpenInterval(min(low, most), max(low, most))


def categories(column: CodedColumn, values: Sequence[object]) -> Mask:
    """Return for every level whether it is listed; listed values are converted if none matches."""
    mask = equal_mask(column, values)
    if mask[column.held].any():
        return mask
    return equal_mask(column, convert_listed(column, values))


def equal_mask(column: CodedColumn, values: Sequence[object]) -> Mask:
    """Return for every level whether it equals a listed value."""

    def equal(level: object, value: object) -> bool:  # as a column of categories: true is not 1
        return isinstance(level, bool) == isinstance(value, bool) and bool(level == value)

    return np.array([any(equal(level, v) for v in values) for level in column.levels], dtype=bool)


def matching(column: CodedColumn, values: Iterable[object]) -> Mask:
    """Return for every level whether it is a listed value, or its text, as in an audit."""
    meant = [canonical(value) for value in values]
    held = [any(matches(m, canonical(level)) for m in meant) for level in column.levels]
    return np.array(held, dtype=bool)


def convert_listed(column: CodedColumn, values: Sequence[Any]) -> list[object]:
    """Return listed values in the type of the column's first value."""
    of: type[Any] = type(column.first)
    # numbers are numpy's there, never Python's; a missing value is no type of its own
    plain = of is str or column.first != column.first
    if plain and isinstance(values[0], of):
        return list(values)
    try:
        return [of(value) for value in values]
    except ValueError as error:
        if "invalid literal for int()" in str(error):
            return [*map(float, values)]
        raise ValueError(NO_POSITIVE) from None


OTHER_VALUES = -1


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A facet cut into blocks, which are called ``names`` in results.

    ``codes`` are the block of every row; `OTHER_VALUES` for other values, -2 for missing.
    """

    name: str
    names: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True, slots=True, eq=False)
class BinaryOutcome:
    """A label or a prediction, collapsed: which of the levels of its column are positive.

    ``text`` is the positive values, or the interval, as results write them.
    """

    column: CodedColumn
    positive: Mask
    of: DataType
    text: str

    @classmethod
    def of_states(cls, name: str, states: Codes) -> BinaryOutcome:
        """Return an outcome of 1 for positive rows, 0 for negative ones, -1 for missing ones."""
        column = CodedColumn(name, Kind.INTEGER, states, (0, 1))
        return cls(column, np.array([False, True]), DataType.CATEGORICAL, "1")

    @property
    def states(self) -> Codes:
        """Return 1 for positive rows, 0 for negative ones, -1 for missing ones."""
        return np.array([*self.positive.astype(np.int64), -1])[self.column.codes]


def facet_blocks(column: CodedColumn, values: Sequence[object] | None) -> Blocks:
    """Cut a facet into blocks: the listed values together, else one for every value."""
    found, column, listed = guess_type(column, values)
    if found is DataType.CONTINUOUS or listed:
        inside, text = _listed_or_above(column, listed, found)
        codes = np.append(np.where(inside, 0, OTHER_VALUES), -2)[column.codes]
        return Blocks(column.name, (text,), codes)
    used = column.held
    group_of = np.full(len(column.levels), OTHER_VALUES)
    group_of[used] = np.arange(len(used))
    names = [str(column.levels[i]) for i in used.tolist()]
    at = column.levels_before_missing
    if at is not None:  # smclarify makes an empty block of it
        group_of = np.where(group_of >= at, group_of + 1, group_of)
        names.insert(at, "nan")
    return Blocks(column.name, tuple(names), np.append(group_of, -2)[column.codes])


def _listed_or_above(
    column: CodedColumn, listed: list[object] | None, of: DataType, *also: CodedColumn
) -> tuple[Mask, str]:
    # which levels are listed, or above the threshold; and what results call these
    if of is DataType.CATEGORICAL:
        assert listed is not None
        return categories(column, listed), ",".join(map(str, listed))
    found = _interval(listed, column, *also)
    if found is None:
        return np.zeros(len(column.levels), bool), ""
    return found.holds(column), str(found)


def outcome(column: CodedColumn, values: Sequence[object]) -> tuple[BinaryOutcome, list[object]]:
    """Collapse a label; return it, and the listed values as they were understood."""
    found, column, listed = guess_type(column, values)
    assert listed is not None
    mask, text = _listed_or_above(column, listed, found)
    return BinaryOutcome(column, mask, found, text), listed


def read_prediction(
    column: CodedColumn, label: BinaryOutcome, listed: list[object]
) -> BinaryOutcome:
    found, column, values = guess_type(column, listed)
    assert values is not None
    if found is not label.of:
        message = "Predicted Label Column series datatype is not the same as Label Column series"
        raise ValueError(message)
    if found is DataType.CONTINUOUS:
        column = _match_label_type(column, label.column)
    mask, _ = _listed_or_above(column, values, found, label.column)
    made = BinaryOutcome(column, mask, found, label.text)
    if not (made.states == 1).any():
        message = (
            "No Label values are present in the predicted Label Column,"
            "Positive Predicted Index Series contains all False values"
        )
        raise ValueError(message)
    return made


def _match_label_type(column: CodedColumn, label: CodedColumn) -> CodedColumn:
    if not all(type(level) is int for level in label.used):
        return column
    if (column.codes < 0).any():
        raise ValueError("Cannot convert non-finite values (NA or inf) to integer")
    return column.relabel([*map(int, column.levels)], label.kind)


OTHERS = "(others)"


@dataclass(frozen=True, slots=True, eq=False)
class FacetQuestion:
    """What is counted: facets in blocks, a label, and what may go with it."""

    facets: tuple[Blocks, ...]
    label: BinaryOutcome | None = None
    prediction: BinaryOutcome | None = None
    strata: CodedColumn | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """Return a name of its own for every facet, also where a column is asked for twice."""
        names: list[str] = []
        for facet in self.facets:
            again = sum(each == facet.name or each.startswith(f"{facet.name} #") for each in names)
            names.append(f"{facet.name} #{again + 1}" if again else facet.name)
        return tuple(names)

    def block_names(self, facet: int) -> list[str]:
        """Return a name of its own for every block: 1 and "1" are two blocks."""
        return _make_distinct([name or "(nothing)" for name in self.facets[facet].names], [OTHERS])


def count_question(asked: FacetQuestion, profile: str = "clarify") -> Cube:
    """Count every row once; blocks that no row has can be asked about all the same."""
    columns: dict[str, tuple[Codes, Sequence[Any]]] = {}
    sensitive: list[dict[str, object]] = []
    for i, (axis, facet) in enumerate(zip(asked.axes, asked.facets, strict=True)):
        names, codes = asked.block_names(i), facet.codes
        if len(names) == 1:
            columns[axis] = (np.select([codes == -2, codes < 0], [-1, 1], codes), [*names, OTHERS])
            sensitive.append({"column": axis, "values": [names]})
        else:
            columns[axis] = (np.where(codes < 0, -1, codes), names)
            sensitive.append({"column": axis})
    question: dict[str, Any] = {"sensitive": sensitive, "profile": profile}
    for role, each in (("label", asked.label), ("prediction", asked.prediction)):
        if each is None:
            continue
        question[role] = name = _make_distinct([each.column.name], columns)[0]
        positive = each.text or "positive"
        columns[name] = (each.states, (f"not {positive}", positive))
        question["positive"] = [positive]
    if asked.strata is not None:
        question["strata"] = name = _make_distinct([asked.strata.name], columns)[0]
        strata = [name_of(canonical(level)) for level in asked.strata.levels]
        columns[name] = (asked.strata.codes, _make_distinct(strata))
    return count_codes(columns, **question)


def _make_distinct(names: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    # names of which no two are equal: two values of one name stay two
    made: list[str] = []
    for name in names:
        while name in (*made, *taken):
            name += " "
        made.append(name)
    return made
