"""Levels: the different values of an axis, canonical, sorted and checked."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from fairgauge.enums import Role
from fairgauge.errors import DataError, TooManyValues, form_of, quote
from fairgauge.question.options import flag_of
from fairgauge.values import (
    Value,
    canonical,
    is_number,
    name_of,
    plain_number,
    sort_key,
    typed_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.cube.plan import Axis

MANY_LEVELS = 20
"""Numbers, from which a column looks like one that is meant to be cut, if most are rare."""
MOST_READABLE = 40
"""Numbers, from more than which it does, however many rows each has."""
# the least whole number of nine digits, as those of people and of census tracts have
_IDENTIFIER = 10**8


def nested_value_error(axis: Axis) -> DataError:
    """Return the error of an axis whose values are lists or objects."""
    return DataError(
        f"column {quote(axis.column)} ({axis.role}) holds values that are not plain "
        "(lists, objects); name a column of texts, numbers, dates or true and false"
    )


def levels_of(axis: Axis, values: Iterable[object], *, text: bool) -> tuple[Value, ...]:
    """Return the levels that raw values make; untyped text is numeric if all of it is."""
    read = canonical_values(list(values), text=text)
    return sorted_levels(axis.recoding.apply(read) if axis.recoding else read)


def canonical_values(raw: Sequence[object], *, text: bool) -> list[Value]:
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


GROUPED = (Role.FEATURE, Role.STRATUM)
"""The roles whose values are shown in the order in which people read them."""
# a number that no letter precedes, as in a code; a minus is one where no number precedes it.
_NUMBER = re.compile(
    r"(?<![^\W_])(?:(?<![^\s(\[<>≤≥=])[-−](?=[\d∞i]))?"
    r"(?:\d{1,3}(?:[,'\u00a0\u202f]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|\d+(?:\.\d+)?|inf\b|∞)"
)
_BELOW = re.compile(r"[<≤]\W{0,3}\d|\b(?:under|below|less|fewer|younger|up to)\b", re.IGNORECASE)
_ABOVE = re.compile(r"[>≥]\W{0,3}\d|\d\W{0,2}\+|\b(?:over|above|more|older|least)\b", re.IGNORECASE)
_BAND = re.compile(
    rf"^[ (\[$€£~−-]*\d|\d\D{{1,5}}\d|{_BELOW.pattern}|{_ABOVE.pattern}", re.IGNORECASE
)


def reading_order(levels: Sequence[Value], stated: Sequence[Value] = ()) -> tuple[Value, ...]:
    """Return sorted levels in the order that their type states, else bands by their first number.

    Bands are such as "under 5", "5-17" and "75+": a value begins with a number, has two, or states
    on which side of one it is. Values of no number come last.

    >>> reading_order(["100+", "18-24", "5-17", "<5", "unknown"])
    ('<5', '5-17', '18-24', '100+', 'unknown')
    >>> reading_order(["high", "low", "other"], stated=["low", "medium", "high"])
    ('low', 'high', 'other')
    """
    place = {name_of(value): i for i, value in enumerate(stated)}
    numbers = {value: _numbers_in(name_of(value)) for value in levels if isinstance(value, str)}
    banded = any(found and _BAND.search(name) for name, found in numbers.items())

    def key(value: Value) -> tuple[int, list[float], int, list[float]]:
        at = place.get(name_of(value), len(place))
        if not isinstance(value, str) or not banded:
            return at, [], 0, []
        first, rest = numbers[value][:1] or [math.inf], numbers[value][1:]
        above = _ABOVE.search(value) is not None
        below = not above and (value[:1].isalpha() or _BELOW.search(value) is not None)
        return at, first, above - below, rest

    return tuple(sorted(levels, key=key))


def _numbers_in(text: str) -> list[float]:
    """Return the numbers in a text, infinite ones of intervals included.

    >>> _numbers_in("$25,000-$49,999"), _numbers_in("(-inf, 5]"), _numbers_in("A1")
    ([25000.0, 49999.0], [-inf, 5.0], [])
    """
    plain = (re.sub(r"[,'\u00a0\u202f]", "", each) for each in _NUMBER.findall(text))
    plain = (each.replace(".", "") if each.count(".") > 1 else each for each in plain)
    return [float(each.replace("−", "-").replace("∞", "inf")) for each in plain]


def quartiles(levels: Sequence[Value], rows: Sequence[float] | None = None) -> tuple[float, ...]:
    """Return cut points that make four intervals of about as many rows, where there are four.

    ``levels``: values of a column, in ascending order.
    ``rows``: the rows of each; the same of all by default.

    Returns
    -------
    cuts : tuple of float
        Values of the column, ascending; none where some of them are no numbers, or all are whole
        numbers of as many digits as identifiers have.

    >>> quartiles([20, 30, 40, 50, 60]), quartiles([20, 30, 40], [8, 1, 1]), quartiles(["a"])
    ((30, 40, 50), (20,), ())
    >>> quartiles([17031010100, 17031017400, 17031020100])
    ()
    """
    numbers: list[int | float] = []
    for each in levels:
        if not is_number(each):
            return ()
        numbers.append(each)
    if all(each >= _IDENTIFIER and float(each).is_integer() for each in numbers):
        return ()
    return cuts_of(numbers, rows or [1.0] * len(numbers), 4)


def cuts_of(values: Sequence[float], cases: Sequence[float], intervals: int) -> tuple[float, ...]:
    """Return cut points of ascending numbers into intervals of equally many cases, if they differ.

    >>> cuts_of([1, 2, 3, 4], [1, 1, 1, 7], 2), cuts_of([1, 2, 3, 4], [1, 1, 1, 1], 4)
    ((), (1, 2, 3))
    """
    below = list(accumulate(cases))
    at = [bisect_left(below, k * below[-1] / intervals) for k in range(1, intervals) if below]
    return tuple(dict.fromkeys(values[i] for i in at if values[i] < values[-1]))


def _remedy(axis: Axis, levels: Sequence[Value]) -> str:
    cuts = quartiles(sorted_levels(levels))
    if axis.role not in GROUPED:
        cut = "cut a numeric column into intervals (--positive '>x')"
        # some may be codes of missing ones, such as NA
        if axis.role is Role.LABEL and any(plain_number(name_of(v)) is not None for v in levels):
            cut += ", or, without a score, compare its mean (task='regression', --task regression)"
        if axis.role in (Role.PREDICTION, Role.CANDIDATE):
            return f"name scores by score in place of prediction (--score COL), or {cut}"
        return cut
    flag = "--strata" if axis.role is Role.STRATUM else "--sensitive"
    flag = "--control" if axis.control else flag
    if cuts:
        options = cut_options(axis.column, map(name_of, cuts), flag)
        named = f"name them so (--probabilities 'FEATURE: GROUP={axis.column}, ...')"
        other = f", or, if they are the probabilities of a group, {named}"
        between = axis.role is Role.FEATURE and 0 <= min(cuts) <= max(cuts) <= 1
        return f"cut its numbers into intervals, such as {options}{other * between}"
    return "choose a column of fewer values"


def cut_options(column: str, cuts: Iterable[str], flag: str = "--sensitive") -> str:
    """Return how a column is cut, on the command line and in Python.

    >>> cut_options("age", ["40", "60"])
    "--sensitive age:40,60 (fairgauge.cut('age', [40, 60]))"
    """
    listed = list(cuts)
    given = flag_of("sensitive", [{"column": column, "cuts": listed}], flag)
    return f"{given} (fairgauge.cut({column!r}, [{', '.join(listed)}]))"


def check_levels(axis: Axis, levels: Iterable[Value], limit: int) -> None:
    """Check the values of an axis: not too many (but of clusters), and no two with one name."""
    levels = list(levels)
    if axis.limited and len(levels) > limit:
        role = "control" if axis.control else axis.role
        raise TooManyValues(
            f"column {quote(axis.column)} ({role}) has more than {limit:,} distinct values; "
            f"{_remedy(axis, levels)}, or raise max_groups (--max-groups)"
        )
    names: dict[str, Value] = {}
    for level in levels:
        name = name_of(level)
        if name in names:
            shown = name if axis.limited else form_of(name)  # of a cluster
            kinds = " and ".join(type(each).__name__ for each in (names[name], level))
            raise DataError(
                f"column {quote(axis.column)} holds {quote(shown)} as two types ({kinds}); "
                "make the column one type"
            )
        names[name] = level
