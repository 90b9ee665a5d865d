"""Clarify's reading of a column: categories or numbers, and which of its values are meant.

These guesses are wrong on small tables and on labels stored as floats; they are kept here, and
only here, because old results depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from fairgauge_cloud._coded_column import CodedColumn, Kind, Mask, as_float, as_int

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
        ends = tuple(int(e) if isinstance(e, bool) else e for e in (self.low, self.high))
        if any(isinstance(end, float) for end in ends):
            ends = (float(self.low), float(self.high))
        return f"({ends[0]}, {ends[1]}]"

    def holds(self, column: CodedColumn) -> Mask:
        """Return for every level of a numeric column whether it lies inside."""
        levels = np.array([as_float(level) for level in column.levels])
        return (levels > self.low) & (levels <= self.high)


def data_type(column: CodedColumn, values: Sequence[object] | None) -> DataType:
    """Guess what a column is taken for, as smclarify guesses it."""
    several = isinstance(values, list) and len(values) > 1
    if column.kind in (Kind.CATEGORY, Kind.BOOLEAN, Kind.OTHER) or several:
        return DataType.CATEGORICAL
    if column.kind is Kind.FLOAT:
        return DataType.CONTINUOUS
    if column.kind is Kind.TEXT and not _all_integers(column):
        return DataType.CATEGORICAL
    known = column.known
    varied = known > 0 and len(column.used) / known >= UNIQUENESS_THRESHOLD
    return DataType.CONTINUOUS if varied else DataType.CATEGORICAL


def _all_integers(column: CodedColumn) -> bool:
    if (column.codes < 0).any():
        return False
    try:
        for level in column.used:
            as_int(level)
    except (TypeError, ValueError):
        return False
    return True


def as_type(
    column: CodedColumn, values: Sequence[object] | None
) -> tuple[DataType, CodedColumn, list[object] | None]:
    """Guess the type of a column; return it, the column and the listed values in that type."""
    listed = None if values is None else list(values)
    found = data_type(column, values)
    if found is DataType.CATEGORICAL:
        return found, column, listed
    if listed and not isinstance(listed[0], (int, float)):
        try:
            listed[0] = as_float(listed[0])
        except (TypeError, ValueError):
            raise ValueError(NOT_A_THRESHOLD) from None
    if column.kind not in (Kind.INTEGER, Kind.FLOAT):
        column = column.relabel([_number(level) for level in column.levels], Kind.INTEGER)
    return found, column, listed


def _number(level: object) -> int | float:
    if isinstance(level, (int, float)):
        return level
    try:
        return as_int(level)
    except ValueError:
        pass
    try:
        return as_float(level)
    except ValueError:
        raise ValueError(f"{level!r} is no number") from None


def interval(
    column: CodedColumn, thresholds: Sequence[object] | None, also: CodedColumn | None = None
) -> HalfOpenInterval | None:
    """Return the numbers above a threshold, up to the largest; None if that is nothing."""
    if not thresholds:
        raise ValueError(NO_THRESHOLD)
    columns = [each for each in (column, also) if each is not None]
    levels = [_number(level) for each in columns for level in each.used]
    if not levels:
        return None
    if {type(level) for level in levels} > {int}:
        levels = [float(level) for level in levels]
    most = max(levels)
    low = thresholds[0]
    assert isinstance(low, (int, float))  # as `as_type` returns it
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
    return equal_mask(column, converted(column, values))


def equal_mask(column: CodedColumn, values: Sequence[object]) -> Mask:
    """Return for every level whether it equals a listed value."""
    return np.array([any(_equal(level, v) for v in values) for level in column.levels], dtype=bool)


def _equal(level: object, value: object) -> bool:
    """Compare as a column of categories does: true is not 1."""
    return isinstance(level, bool) == isinstance(value, bool) and bool(level == value)


def converted(column: CodedColumn, values: Sequence[object]) -> list[object]:
    """Return listed values in the type of the column's first value."""
    of: type[Any] = type(column.first)
    plain = of is str or is_missing(column.first)  # numbers are numpy's there, never Python's
    if plain and isinstance(values[0], of):
        return list(values)
    try:
        return [of(value) for value in values]
    except ValueError as error:
        if "invalid literal for int()" in str(error):
            return [as_float(value) for value in values]
        raise ValueError(NO_POSITIVE) from None


def is_missing(value: object) -> bool:
    """Return whether a value means "none"."""
    return value is None or (isinstance(value, float) and math.isnan(value))
