"""Readers of plain values: from what is written for an option to what it means.

A reader takes what is written in Python or in a specification file, the path to it and the problems
so far; it returns what the value means and adds what is wrong to the problems. What it returns
where there is a problem is never used: a specification with problems is not made.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Any, SupportsFloat, TypeGuard, TypeVar

from fairgauge.errors import Problem, nearest, shown
from fairgauge.values import Value, as_double, canonical, is_number, sort_key

Word = TypeVar("Word", bound=StrEnum)
Problems = list[Problem]
Reader = Callable[[object, str, Problems], object]


def items(value: object) -> list[object]:
    """Return the items of a list, or a list of one value.

    >>> items(["a", "b"]), items("ab"), items(5)
    (['a', 'b'], ['ab'], [5])
    """
    if isinstance(value, AbstractSet):
        return sorted(value, key=lambda each: sort_key(canonical(each)))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    return [value]


def controls_as_strata(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question about counts, in which the controls of a decomposition are strata.

    >>> controls_as_strata({"strata": "branch", "controls": ["dti:36"]})
    {'strata': ['branch', 'dti:36']}
    """
    asked = dict(asked)
    if (controls := asked.pop("controls", None)) is not None:
        asked["strata"] = [*items(asked.get("strata") or ()), *items(controls)]
    return asked


def is_finite(value: object) -> TypeGuard[SupportsFloat]:
    """Return whether a value is a finite number; true and false are none."""
    if not is_number(value) and not hasattr(value, "item"):  # numpy's scalars
        return False
    try:
        return isinstance(value, SupportsFloat) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def unknown_keys(table: Mapping[str, object], allowed: Sequence[str], path: str) -> Problems:
    """Return a problem for every key of a table that it does not have."""
    return [
        Problem(
            f"{path}.{key}", f"unknown key.{nearest(key, allowed)} Allowed: {', '.join(allowed)}"
        )
        for key in table
        if key not in allowed
    ]


def read_column(value: object, path: str, problems: Problems) -> str | None:
    """Read the name of a column."""
    if isinstance(value, str):
        return value
    problems.append(Problem(path, f"must be the name of a column, not {shown(value)}"))
    return None


def read_names(value: object, path: str, problems: Problems) -> tuple[str, ...]:
    """Read a name, or a list of names."""
    every = items(value)
    for i, name in enumerate(every):
        if not isinstance(name, str):
            listed = isinstance(value, Sequence)
            message = f"must be a name{'' if listed else ' or a list of names'}, not {shown(name)}"
            problems.append(Problem(f"{path}[{i}]" if listed else path, message))
    return tuple(name for name in every if isinstance(name, str))


def read_value(value: object, path: str, problems: Problems) -> Value:
    """Read one value of a column: text, a number, true or false."""
    compound = isinstance(value, Sized) and not isinstance(value, (str, bytes))
    meaning = None if compound else canonical(value)
    if meaning is None:
        what = "must not be missing" if not compound else f"must be one value, not {shown(value)}"
        problems.append(Problem(path, what))
    return meaning


def read_values(value: object, path: str, problems: Problems) -> tuple[Value, ...]:
    """Read one value, or a list of at least one."""
    every = items(value)
    if not every:
        problems.append(Problem(path, "must hold at least one value"))
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    paths = [f"{path}[{i}]" if listed else path for i in range(len(every))]
    return tuple(read_value(each, at, problems) for each, at in zip(every, paths, strict=True))


def read_word(words: type[Word]) -> Callable[[object, str, Problems], Word]:
    """Return the reader of a closed vocabulary."""
    read_name = one_name(tuple(words))

    def read(value: object, path: str, problems: Problems) -> Word:
        name = read_name(value, path, problems)
        return next(iter(words)) if name is None else words(name)

    return read


def one_name(names: Sequence[str]) -> Callable[[object, str, Problems], str | None]:
    """Return the reader of one of some names."""

    def read(value: object, path: str, problems: Problems) -> str | None:
        if isinstance(value, str) and value in names:
            return value
        close = nearest(value, names)
        problems.append(Problem(path, f"{shown(value)} is not allowed.{close} {one_of(names)}"))
        return None

    return read


def one_of(words: Sequence[str] | type[StrEnum]) -> str:
    """Return what is allowed, in words.

    >>> one_of(["pass", "fail", "ignore"])
    'Use pass, fail or ignore'
    """
    *others, last = list(words)
    return f"Use {', '.join(others)} or {last}"


def read_number(
    low: float = -math.inf, high: float = math.inf, *, inside: bool = False, whole: bool = False
) -> Callable[[object, str, Problems], float]:
    """Return the reader of a number between two limits, which are allowed unless ``inside``."""
    what = f"must be {_allowed(low, high, 'whole number' if whole else 'number')}"

    def fits(number: float) -> bool:
        if whole and not isinstance(number, int):
            return False
        if not whole and not abs(number) <= sys.float_info.max:
            return False
        return low < number < high if inside else low <= number <= high

    def read(value: object, path: str, problems: Problems) -> float:
        number = value.item() if hasattr(value, "item") and not isinstance(value, Sized) else value
        if is_number(number) and fits(number):
            return int(number) if whole else as_double(value)
        problems.append(Problem(path, f"{what}, not {shown(value)}"))
        return 1 if whole else 0.5

    return read


def read_numbers(value: object, path: str, problems: Problems) -> tuple[float, ...]:
    """Read a finite number, or a list of them; ascending, each once."""
    every = items(value)
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    read = read_number(inside=True)
    if not every:
        problems.append(Problem(path, "must hold at least one number"))
    paths = (f"{path}[{i}]" if listed else path for i in range(len(every)))
    return tuple(sorted({read(each, at, problems) for each, at in zip(every, paths, strict=True)}))


def read_range(value: object, path: str, problems: Problems) -> tuple[float, float]:
    """Read two ascending finite numbers."""
    every = items(value)
    ends = [as_double(end) for end in every if is_finite(end)]
    if len(every) == len(ends) == 2 and ends[0] < ends[1]:
        return ends[0], ends[1]
    problems.append(
        Problem(path, f"must be two ascending numbers, [low, high], not {shown(value)}")
    )
    return (0.0, 1.0)


def _allowed(low: float, high: float, noun: str) -> str:
    if high < math.inf:
        return f"a {noun} between {low:,.10g} and {high:,.10g}"
    return f"a {noun}, {low:g} or greater" if low > -math.inf else f"a finite {noun}"
