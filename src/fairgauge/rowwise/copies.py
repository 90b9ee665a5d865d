"""Copies among rows: what shows that a table, or a part of it, was written twice."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fairgauge.cube.cube import Cube
from fairgauge.enums import Role
from fairgauge.errors import DataError
from fairgauge.question.specification import Spec
from fairgauge.scan.row_codes import numbers_of
from fairgauge.scan.source import Readable, Source, can_look_at_rows
from fairgauge.stats.arrays import Index

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
    readable = not _is_lazy(source)
    first, unnamed = cube.tables[0], 0
    times_of = first.sums["rows"][first.sums["rows"] > 0].astype(np.int64)
    divisor = int(np.gcd.reduce(times_of))
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
    if spec.of_people or not _are_multiples(times_of, combinations, again=False):
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
    # that all rows stand again, or that some do in the same order
    if not columns:
        return {}
    values = zip(*columns, strict=True)
    # of each value among the different ones, as they come
    held: dict[object, int] = {}
    rows = np.array([held.setdefault(value, len(held)) for value in values])
    times_of = np.bincount(rows)
    times, repeated = int(np.gcd.reduce(times_of)), len(rows) - len(times_of)
    different = [len({*c}) for c in columns] if repeated else [1]
    combinations, part = math.prod(different), len(rows) // times
    # that equal rows follow each other, about as often each time, though the table is not sorted
    runs = np.diff(np.flatnonzero(np.diff(rows, prepend=-1, append=-1)))
    few = len(runs) < max(_FEWEST_COMPARED, _UNSORTED * (rows.max() + 1))
    in_place = not few and bool(runs.mean() >= _FEWEST_IN_PLACE and runs.var() < runs.mean())
    again = in_place or (times > 1 and np.array_equal(rows[part:], rows[:-part]))
    found: _Shown = {"times": times, "different": len(times_of)}
    if _are_multiples(times_of, combinations, again=again) or _repeat_whole(rows, times):
        return found
    if in_place or (_stand_in_order(rows) and combinations > len(rows)):
        several = times_of[times_of > 1]
        return found | {"copied": int(several.sum()), "different": len(several)}
    return {}


def _are_multiples(times_of: Index, combinations: int, *, again: bool) -> bool:
    # Where combinations of values are few, all are repeated, and their numbers may be rounded or
    # balanced ones, unless the rows stand in the same order ``again``.
    times = int(np.gcd.reduce(times_of))
    if times <= 1 or len(times_of) < _FEWEST_ROWS:
        return False
    rounded = times % _LIKELY_ROUNDED == 0 and not again
    few = combinations * times <= times_of.sum()
    return not (few and (np.ptp(times_of) == 0 or rounded))


def _is_lazy(source: Source) -> bool:
    # to read a lazy frame again is to compute it again, however few its rows are
    while (within := getattr(source, "source", None)) is not None:
        source = within
    return type(getattr(source, "frame", None)).__name__ == "LazyFrame"


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


def _stand_in_order(rows: Index) -> bool:
    # that nearly all rows that stand again follow each other as before
    again = np.diff(np.maximum.accumulate(rows), prepend=-1) == 0
    steps = np.count_nonzero((np.diff(rows) > 0) & again[1:] & again[:-1])
    return bool(steps >= max(_FEWEST_ROWS, _IN_ORDER * again.sum()))


def _repeat_whole(rows: Index, times: int) -> bool:
    # that a table of few combinations stands two or three times, row by row: numbers of rows may be
    # balanced, but their order is not, unless rows follow a pattern, which repeats further
    if np.count_nonzero(np.diff(rows[: len(rows) // 2])) < _FEWEST_COMPARED:
        return False
    parts = [len(rows) // n for n in range(2, times + 1) if times % n == 0]
    least = min((part for part in parts if np.array_equal(rows[part:], rows[:-part])), default=0)
    return least * _FEW_COPIES >= len(rows)
