"""Readers of plain values: what is written for an option, turned into what it means.

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
from typing import Any, TypeVar

from fairgauge.errors import Problem, nearest, shown
from fairgauge.values import Value, canonical, sort_key

Word = TypeVar("Word", bound=StrEnum)
Problems = list[Problem]
Reader = Callable[[Any, str, Problems], Any]


def items(value: Any) -> list[Any]:
    """Return the items of a list, or a list of one value.

    >>> items(["a", "b"]), items("ab"), items(5)
    (['a', 'b'], ['ab'], [5])
    """
    if isinstance(value, AbstractSet):
        return sorted(value, key=lambda each: sort_key(canonical(each)))
    several = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return list(value) if several else [value]


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number; true and false are none."""
    if isinstance(value, bool) or not (isinstance(value, (int, float)) or hasattr(value, "item")):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def unknown_keys(table: Mapping[str, Any], allowed: Sequence[str], path: str) -> Problems:
    """Return a problem for every key of a table that it does not have."""
    return [
        Problem(
            f"{path}.{key}",
            f"unknown key.{nearest(key, allowed)} Allowed: {', '.join(allowed)}",
        )
        for key in table
        if key not in allowed
    ]


def read_column(value: Any, path: str, problems: Problems) -> str | None:
    """Read the name of a column."""
    if isinstance(value, str):
        return value
    problems.append(Problem(path, f"must be the name of a column, not {shown(value)}"))
    return None


def read_names(value: Any, path: str, problems: Problems) -> tuple[str, ...]:
    """Read a name, or a list of names."""
    every = items(value)
    for i, name in enumerate(every):
        if not isinstance(name, str):
            listed = isinstance(value, Sequence)
            message = f"must be a name{'' if listed else ' or a list of names'}, not {shown(name)}"
            problems.append(Problem(f"{path}[{i}]" if listed else path, message))
    return tuple(name for name in every if isinstance(name, str))


def read_value(value: Any, path: str, problems: Problems) -> Value:
    """Read one value of a column: text, a number, true or false."""
    compound = isinstance(value, Sized) and not isinstance(value, (str, bytes))
    meaning = None if compound else canonical(value)
    if meaning is None:
        what = "must not be missing" if not compound else f"must be one value, not {shown(value)}"
        problems.append(Problem(path, what))
    return meaning


def read_values(value: Any, path: str, problems: Problems) -> tuple[Value, ...]:
    """Read one value, or a list of at least one."""
    every = items(value)
    if not every:
        problems.append(Problem(path, "must hold at least one value"))
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    paths = [f"{path}[{i}]" if listed else path for i in range(len(every))]
    return tuple(read_value(each, at, problems) for each, at in zip(every, paths, strict=True))


def read_word(words: type[Word]) -> Callable[[Any, str, Problems], Word]:
    """Return the reader of a closed vocabulary."""

    def read(value: Any, path: str, problems: Problems) -> Word:
        if isinstance(value, str) and value in list(words):
            return words(value)
        problems.append(
            Problem(path, f"{shown(value)} is not allowed.{nearest(value, words)} {one_of(words)}")
        )
        return next(iter(words))

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
) -> Reader:
    """Return the reader of a number between two limits, which are allowed unless ``inside``."""
    what = f"must be {'a whole number' if whole else 'a number'} {_limits(low, high)}"

    def read(value: Any, path: str, problems: Problems) -> float | int:
        number = value.item() if hasattr(value, "item") and not isinstance(value, Sized) else value
        kinds = (int,) if whole else (int, float)
        fits = isinstance(number, kinds) and not isinstance(number, bool) and low <= number <= high
        if fits and not whole:
            fits = abs(number) <= sys.float_info.max
        if not fits or (inside and number in (low, high)):
            problems.append(Problem(path, f"{what}, not {shown(value)}"))
            return 1 if whole else 0.5
        return int(number) if whole else float(number)

    return read


def read_numbers(value: Any, path: str, problems: Problems) -> tuple[float, ...]:
    """Read a finite number, or a list of them; ascending, each once."""
    every = items(value)
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    read = read_number(inside=True)
    if not every:
        problems.append(Problem(path, "must hold at least one number"))
    return tuple(
        sorted(
            {
                read(each, f"{path}[{i}]" if listed else path, problems)
                for i, each in enumerate(every)
            }
        )
    )


def read_range(value: Any, path: str, problems: Problems) -> tuple[float, float]:
    """Read two ascending finite numbers."""
    every = items(value)
    if len(every) != 2 or not all(map(is_finite, every)) or not float(every[0]) < float(every[1]):
        message = f"must be two ascending numbers, [low, high], not {shown(value)}"
        problems.append(Problem(path, message))
        return (0.0, 1.0)
    return float(every[0]), float(every[1])


def _limits(low: float, high: float) -> str:
    if high < math.inf:
        return f"between {low:,.10g} and {high:,.10g}"
    return f"from {low:g} up" if low > -math.inf else "that is finite"
