"""Levels: the different values of an axis, canonical, sorted and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Role
from fairgauge.errors import DataError, quote
from fairgauge.values import Value, canonical, name_of, sort_key, typed_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.cube.plan import Axis


def not_plain(axis: Axis) -> DataError:
    """Return the error of an axis whose values are lists or objects."""
    return DataError(
        f"column {quote(axis.column)} ({axis.role}) holds values that are not plain "
        "(lists, objects); name a column of texts, numbers, dates or true and false"
    )


def levels_of(values: Iterable[object], *, text: bool) -> tuple[Value, ...]:
    """Return the levels that raw values make; untyped text is numeric if all of it is."""
    return sorted_levels(typed(list(values), text=text))


def typed(raw: Sequence[object], *, text: bool) -> list[Value]:
    """Return raw values in canonical form; untyped text is numeric if all of it is."""
    values = [canonical(value) for value in raw]
    if text and all(value is None or isinstance(value, str) for value in values):
        return typed_texts([value if isinstance(value, str) else None for value in values])
    return values


def identity(value: Value) -> tuple[bool, Value]:
    """Return what distinguishes a value from all others as a key."""
    return (isinstance(value, bool), value)  # True and 1 are equal in Python, not in data


def sorted_levels(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the different values, sorted, without missing ones."""
    unique = {identity(value): value for value in values if value is not None}
    return tuple(sorted(unique.values(), key=sort_key))


def check_levels(axis: Axis, levels: Iterable[Value], limit: int) -> None:
    """Check the values of an axis: not too many (but of clusters), and no two with one name.

    Raises
    ------
    DataError
        The column has more than ``limit`` values, or one value as two types.
    """
    levels = list(levels)
    if axis.limited and len(levels) > limit:
        instead = (
            "cut a numeric column into intervals (fairgauge.cut, --sensitive COL:40,60, "
            "--positive '>x'), or raise max_groups"
        )
        if axis.role in (Role.PREDICTION, Role.CANDIDATE):
            scores = "name scores by score in place of prediction (--score COL)"
            instead = f"{scores}; {instead}"
        raise DataError(
            f"column {quote(axis.column)} ({axis.role}) has more than {limit:,} distinct values; "
            f"{instead}"
        )
    names: dict[str, Value] = {}
    for level in levels:
        name = name_of(level)
        if name in names:
            kinds = " and ".join(type(each).__name__ for each in (names[name], level))
            raise DataError(
                f"column {quote(axis.column)} holds {quote(name)} as two types ({kinds}); "
                "make the column one type"
            )
        names[name] = level
