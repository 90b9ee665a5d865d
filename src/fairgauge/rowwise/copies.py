"""Copies among rows: what shows that a table, or a part of it, was written twice."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import Role
from fairgauge.errors import DataError
from fairgauge.question.specification import Spec
from fairgauge.scan.row_codes import numbers_of
from fairgauge.scan.source import Readable, Source, can_look_at_rows, innermost

_Shown: TypeAlias = dict[str, int | str]
Copies: TypeAlias = tuple[tuple[str, int | str], ...]
"""What shows that rows are copies, by name."""

_MOST_COMPARED = 1_000_000
_FEWEST_ROWS = 30
"""Different rows, all of them of an even number by coincidence in one table of a billion."""
_LIKELY_ROUNDED = 5
"""What numbers of a few combinations are rounded to, rather than copies."""
# values up to which rows are compared though not every one can be a copy
_MOST_READ = 200_000
# of counts beside a name that stands again, how many would differ from the first, at least, and
# which part of these may
_WOULD_DIFFER, _HARDLY_DIFFER = 10, 0.1
_IN_ORDER = 0.8
"""Of copies, which part is in order."""
_FEW_COPIES = 3
_FEWEST_COUNTS = 4
_FEWEST_COMPARED, _UNSORTED, _FEWEST_IN_PLACE = 100, 1.1, 3
"""Runs of equal rows, beside different rows too, of an unsorted table, and their mean length."""


def find_copies(source: Source, cube: Cube, spec: Spec) -> Copies:
    """Return what shows that rows are copies, as in a file that was appended twice; by name."""
    # Where every row stands several times, the cells of the counts have a common divisor. Counts of
    # other rows hardly ever have one, so that rows are read only then, or where they are few. Of
    # people only those without an identifier count several times, and a cell may be odd.
    if spec.cluster or cube.min_cell is not None or cube.rows == 0:
        return ()  # rows of one cluster may be alike: intervals are of clusters
    # to read a lazy frame again is to compute it again, however few its rows are
    readable = type(getattr(innermost(source), "frame", None)).__name__ != "LazyFrame"
    first, unnamed = cube.tables[0], 0
    times_of = [int(n) for n in first.sums["rows"].tolist() if n > 0]
    divisor = math.gcd(*times_of)
    few = _MOST_READ // max(1, len(source.columns))
    if spec.count:
        small = readable and cube.rows <= (_MOST_COMPARED if divisor > 1 else few)
        columns = _values_of_columns(source) if small else {}
        return _pasted_counts(_drop_row_numbers(columns), spec.count)
    if spec.of_people:
        unnamed = cube.conflicts.get(spec.person or "", 0)
        several = unnamed and cube.rows - unnamed >= 2 * (cube.cases - unnamed)
        divisor = int(np.gcd(unnamed, cube.rows)) if several else 1
    if readable:
        most = 0 if spec.of_people else few
        features = (axis for axis in cube.plan.axes if axis.role is Role.FEATURE)
        alike = any(len({*cube.cases_by_level[axis][:-1].tolist()}) == 1 for axis in features)
        most = _MOST_COMPARED if divisor > 1 or alike else most
        if cube.rows <= most and (columns := _values_of_columns(source)):
            plain = _drop_row_numbers(columns)
            found = _copies([*plain.values()]) or _rows_of_every_group(plain, spec)
            if unnamed and found and "copied" not in found:
                found["unnamed"] = unnamed
            return tuple(found.items())
    combinations = math.prod(max(1, len(cube.levels[axis])) for axis in first.axes)
    if spec.of_people or not are_multiples(times_of, combinations, again=False):
        return ()
    return ("times", divisor), ("different", len(times_of)), ("cells", 1)


def _pasted_counts(columns: Mapping[str, Sequence[object]], count: str) -> Copies:
    # a table that stands several times, or a part of it: those of other people have other counts
    counts = columns.get(count, ())
    lines, share_of = Counter(zip(*columns.values(), strict=True)), Counter(counts)
    times = next(iter(lines.values()), 1)
    if times > 1 and {*lines.values()} == {times} and len(share_of) >= _FEWEST_COUNTS:
        return ("times", times), ("different", len(lines))
    others = [of for name, of in columns.items() if name != count]
    if not (counts and others):
        return ()
    first: dict[object, object] = {}
    names = zip(*others, strict=True)
    differ = [first.setdefault(name, n) != n for name, n in zip(names, counts, strict=True)]
    unlike = 1 - sum((n / len(counts)) ** 2 for n in share_of.values())
    expected = (len(counts) - len(first)) * unlike
    if expected < _WOULD_DIFFER or sum(differ) > _HARDLY_DIFFER * expected:
        return ()
    again = [(*line, n) for line, n in lines.items() if n > 1]
    place = [*columns].index(count)
    cases = np.nansum(numbers_of([line[place] for line in again]) * [line[-1] for line in again])
    return ("copied", int(cases)), ("different", len(again)), ("unit", "cases")


def _rows_of_every_group(columns: Mapping[str, Sequence[object]], spec: Spec) -> _Shown:
    # where each row stands once under every value of a feature, as after a join by something else
    features = {column for each in spec.recorded.values() for column in each.columns}
    for feature in features & {*columns} if len(columns) > 1 else ():
        groups = len({*columns[feature]})
        others = zip(*(columns[name] for name in columns if name != feature), strict=True)
        held: dict[object, set[object]] = {}
        for row, group in zip(others, columns[feature], strict=True):
            held.setdefault(row, set()).add(group)
        every = {len(each) for each in held.values()} == {groups} and groups > 1
        if every and _FEWEST_ROWS <= len(held) == len(columns[feature]) / groups:
            return {"times": groups, "by_group": 1, "different": len(held)}
    return {}


def _copies(columns: Sequence[Sequence[object]]) -> _Shown:
    if not columns:
        return {}
    held: dict[object, int] = {}
    rows = [held.setdefault(value, len(held)) for value in zip(*columns, strict=True)]
    return {**copies_of_rows(rows, [len({*column}) for column in columns])}


def copies_of_rows(rows: Sequence[int], different: Sequence[int]) -> dict[str, int]:
    """Return that all rows stand again, or that some do in the same order; by name.

    ``rows``: of each its place among those that differ, as they come; ``different``: the numbers of
    different values of the columns.
    """
    counted: dict[int, int] = {}
    for row in rows:
        counted[row] = counted.get(row, 0) + 1
    times_of = [*counted.values()]
    times, combinations = math.gcd(*times_of), math.prod(different)
    part = len(rows) // times
    # that equal rows follow each other, about as often each time, though the table is not sorted
    starts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    runs = [end - start for start, end in pairwise([*starts, len(rows)])]
    mean = len(rows) / len(runs)
    unsorted = len(runs) >= max(_FEWEST_COMPARED, _UNSORTED * len(times_of))
    alike = sum([(run - mean) ** 2 for run in runs]) / len(runs) < mean
    in_place = unsorted and mean >= _FEWEST_IN_PLACE and alike
    again = in_place or (times > 1 and rows[part:] == rows[:-part])
    found = {"times": times, "different": len(times_of)}
    if are_multiples(times_of, combinations, again=again) or _repeat_whole(rows, times):
        return found
    if in_place or (_stand_in_order(rows) and combinations > len(rows)):
        several = [n for n in times_of if n > 1]
        return {"times": times, "different": len(several), "copied": sum(several)}
    return {}


def are_multiples(times_of: Sequence[int], combinations: int, *, again: bool) -> bool:
    """Return whether every row stands several times, as rows of other people hardly do."""
    # Where combinations of values are few, all are repeated, and their numbers may be rounded or
    # balanced ones, unless the rows stand in the same order ``again``.
    times = math.gcd(*times_of)
    if times <= 1 or len(times_of) < _FEWEST_ROWS:
        return False
    rounded = times % _LIKELY_ROUNDED == 0 and not again
    few = combinations * times <= sum(times_of)
    return not (few and (len({*times_of}) == 1 or rounded))


def _values_of_columns(source: Source) -> dict[str, Sequence[object]]:
    # the values of all columns; none where one of them, asked for or not, is unreadable
    if not isinstance(source, Readable) or not can_look_at_rows(source):
        return {}
    try:
        columns = source.fetch([*source.columns], None)[0]
        return dict(zip(source.columns, map(_comparable, columns), strict=True))
    except DataError:
        return {}


def _drop_row_numbers(columns: Mapping[str, Sequence[object]]) -> dict[str, Sequence[object]]:
    return {name: of for name, of in columns.items() if not _numbers_rows(of)} or {**columns}


def _numbers_rows(values: Sequence[Any]) -> bool:
    # whether a column counts the rows, in whichever order, as 17 and JA-17 do
    if len({*values}) < len(values) or not all(isinstance(each, int | str) for each in values):
        return False
    if values and all(isinstance(each, str) for each in values):
        start = re.sub(r"-?\d{1,15}$", "", values[0])
        numbered = re.compile(rf"{re.escape(start)}(-?[0-9]{{1,15}})")
        values = [int(found[1]) if (found := numbered.fullmatch(e)) else e for e in values]
    numbers = numbers_of(values)
    whole = np.isfinite(numbers).all() and (numbers % 1 == 0).all()
    return bool(whole and np.ptp(numbers) == len(numbers) - 1 > 0)


def _comparable(values: Sequence[object]) -> list[object]:
    # NaN is not even equal to itself, and means that a value is missing
    try:
        found = [None if value != value else value for value in values]
        set(found)
    except (TypeError, ValueError):  # lists and the like
        return [*map(str, values)]
    return found


def _stand_in_order(rows: Sequence[int]) -> bool:
    # that nearly all rows that stand again follow each other as before
    most, before, again_before, stand, steps = -1, -1, False, 0, 0
    for row in rows:
        again = row <= most
        stand += again
        steps += again and again_before and row > before
        most, before, again_before = max(most, row), row, again
    return steps >= max(_FEWEST_ROWS, _IN_ORDER * stand)


def _repeat_whole(rows: Sequence[int], times: int) -> bool:
    # that a table of few combinations stands two or three times, row by row: numbers of rows may be
    # balanced, but their order is not, unless rows follow a pattern, which repeats further
    half = rows[: len(rows) // 2]
    if len([1 for row, following in pairwise(half) if row != following]) < _FEWEST_COMPARED:
        return False
    parts = [len(rows) // n for n in range(2, times + 1) if times % n == 0]
    least = min((part for part in parts if rows[part:] == rows[:-part]), default=0)
    return least * _FEW_COPIES >= len(rows)
