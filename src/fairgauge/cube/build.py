"""Counted: what an engine counted, in its own values; and `build`, which makes a cube of it."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fairgauge.cube.cube import (
    Codes,
    Cube,
    Observed,
    Sums,
    aggregate,
    join_observed,
    observe_recoded,
    reorder_levels,
    round_sums,
)
from fairgauge.cube.plan import (
    GROUPED,
    OUTCOMES,
    Axis,
    Plan,
    canonical_values,
    check_levels,
    identity,
    nested_value_error,
    plan,
    reading_order,
    sorted_levels,
)
from fairgauge.enums import Observation, Role, Uncounted
from fairgauge.errors import Problem, display, quote, refuse, suggest
from fairgauge.question.features import Feature
from fairgauge.question.readers import is_finite
from fairgauge.question.specification import Spec
from fairgauge.start.records import dataclass
from fairgauge.stats.arrays import AnyArray
from fairgauge.values import Value, name_of


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A value of each cell, as its position among some values, -1 where it has none.

    Not all values need occur. Many whole numbers are an array, without Python's objects.
    """

    values: Sequence[object]
    positions: Codes


def whole_array(numbers: AnyArray) -> array[int]:
    """Return whole numbers as a sequence of values that holds no object of Python for each."""
    return array("q", numbers.astype(np.int64, copy=False).tobytes())


def code_values(axis: Axis, column: Iterable[object]) -> Coded:
    """Return a value of each cell, coded: 1 and True are equal in Python, not in data."""
    place: dict[tuple[type, object], int] = {}
    try:
        positions = [place.setdefault((type(value), value), len(place)) for value in column]
    except TypeError:
        raise nested_value_error(axis) from None
    return Coded([value for _, value in place], np.array(positions, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What an engine counted for one table of a plan, or all, in the engine's own values.

    ``keys``: for every axis of the table (of all: of the plan), the engine's value of each cell.
    ``sums``: for every measure of the plan, array of shape (cells,).
    """

    keys: Sequence[Coded]
    sums: Mapping[str, Sums]


def build(
    plan: Plan,
    counted: Sequence[Counted],
    *,
    rows: int,
    excluded: Mapping[Uncounted, int] | None = None,
    texts: Collection[str] = (),
    limit: int = 1_000,
    known: Mapping[str, Sequence[Value]] | None = None,
    stated: Mapping[str, Sequence[object]] | None = None,
) -> Cube:
    """Make a cube of what an engine counted, in canonical values and order.

    Cells that hold no counted row, or rows of count 0 alone, are omitted. Sums of weights are
    rounded to 12 significant digits, so that the order of rows, in which engines differ, does not
    show.

    ``counted``: what was counted for each table, or once for all axes, of which each table is made.
    ``texts``: columns of untyped text (CSV): numeric if all values are plain numbers.
    ``limit``: the most values that an axis may have.
    ``known``: the values that columns are known to have, though no row may have them.
    ``stated``: the values of columns whose types state their order, in it.

    Raises ``DataError``: an axis has too many values, two values with one name, or values that are
        not plain.
    """
    of = "rows" if plan.weight else plan.cases
    counted = [_occurring(each, of) for each in counted]
    together = len(counted) < len(plan.tables)
    held = [tuple(range(len(plan.axes)))] if together else plan.tables
    levels: dict[Axis, tuple[Value, ...]] = {}
    codes: dict[tuple[int, int], object] = {}
    unseen: list[tuple[str, str]] = []
    recoded: list[tuple[int, int, _Names, Codes]] = []
    for a, axis in enumerate(plan.axes):
        columns = {i: counted[i].keys[own.index(a)] for i, own in enumerate(held) if a in own}
        more = (known or {}).get(axis.column, ())
        plain = axis.limited or axis.bins or axis.recoding or more or axis.column in texts
        if not plain and (found := _encode_identifiers(axis, columns.values())):
            levels[axis], places = found
            for (i, each), place_of in zip(columns.items(), places, strict=True):
                codes[i, a] = np.append(place_of, -1).astype(np.int32)[each.positions]
            continue
        raw = [*{(type(v), v) for each in columns.values() for v in each.values}]
        levels[axis], code, names, missed = _encode(axis, raw, more, text=axis.column in texts)
        unseen += [(axis.column, value) for value in missed]
        if not axis.bins:
            check_levels(axis, levels[axis], limit)
        for i, each in columns.items():
            place_of = np.array([*[code[type(v), v] for v in each.values], -1], dtype=np.int32)
            codes[i, a] = place_of[each.positions]  # -1 reads the last entry
        if names and axis.role in _LISTED:
            i, each = next(iter(columns.items()))
            place = {key: p for p, key in enumerate(raw)}
            before_it = np.array([*[place[type(v), v] for v in each.values], -1], dtype=np.int64)
            recoded.append((a, i, names, before_it[each.positions]))
    conditions = [a for a, axis in enumerate(plan.axes) if axis.role is Role.CONDITION]
    before = tuple(
        (plan.axes[a], names, aggregate(
            tuple(plan.axes[b] for b in (a, *conditions)),
            np.array([at, *(codes[i, b] for b in conditions)], dtype=np.int64).T, counted[i].sums,
        )) for a, i, names, at in recoded
    )  # fmt: skip
    tables = []
    for t, own in enumerate(plan.tables):
        i = 0 if together else t
        axes = tuple(plan.axes[a] for a in own)
        cells: Any = np.array([codes[i, a] for a in own], dtype=np.int32).T
        tables.append(round_sums(plan, aggregate(axes, cells, counted[i].sums)))
    kept = {reason: int(n) for reason, n in sorted((excluded or {}).items()) if n}
    observed = [Observed(Observation.UNSEEN, *each) for each in sorted(set(unseen))]
    observed += [] if conditions else observe_recoded(before, plan.cases)
    cube = Cube(
        plan, levels, tuple(tables), int(rows), kept, observed=join_observed([observed]),
        raw=before if conditions else (),
    )  # fmt: skip
    return reorder_levels(cube, stated or {})


def _occurring(counted: Counted, of: str) -> Counted:
    # the cells that hold counted rows, with the values that these have
    held = np.flatnonzero(counted.sums[of])
    keys = []
    for column in counted.keys:
        positions, values = column.positions[held], column.values
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[positions] = True
        if not occurs[:-1].all():
            positions = np.append(np.cumsum(occurs[:-1]) - 1, -1)[positions]
            if isinstance(values, array):
                values = whole_array(np.asarray(values)[occurs[:-1]])
            else:
                values = [values[i] for i in np.flatnonzero(occurs[:-1]).tolist()]
        keys.append(Coded(values, positions))
    return Counted(keys, {m: sums[held] for m, sums in counted.sums.items()})


def _encode_identifiers(axis: Axis, coded: Iterable[Coded]) -> tuple[Any, list[Codes]] | None:
    # the sorted levels of identifiers that are all whole numbers or all texts, and the codes of
    # each; a hundredth of what it costs to look at every one
    columns: list[Sequence[Any]] = [each.values for each in coded]
    if all(isinstance(each, array) for each in columns):
        numbers = np.concatenate([np.asarray(each) for each in columns])
        every, codes = np.unique(numbers, return_inverse=True)
        parts = np.split(codes, np.cumsum([len(each) for each in columns[:-1]]))
        return whole_array(every), parts
    if not {kind for each in columns for kind in {*map(type, each)}} <= {str, type(None)}:
        return None
    levels = sorted({text for each in columns for text in each if text is not None})
    if axis.role is Role.CLUSTER:  # a blank identifies no one
        levels = [text for text in levels if text.strip()]
    place = dict(zip(levels, range(len(levels)), strict=True))
    return tuple(levels), [np.array([place.get(v, -1) for v in each], np.int64) for each in columns]


def _encode(
    axis: Axis, raw: Sequence[tuple[type, Any]], known: Sequence[Value], *, text: bool
) -> tuple[tuple[Value, ...], dict[tuple[type, object], int], _Names, list[str]]:
    # the sorted levels, the code of each value among them; of a recoding the names of each value
    # before and after it, and what no row has to recode
    if axis.bins:
        code = {key: -1 if key[1] is None or key[1] != key[1] else int(key[1]) for key in raw}
        return tuple(range(axis.bins)), code, [], []
    unseen: list[str] = []
    names: _Names = []
    values = canonical_values([value for _, value in raw], text=text)
    if axis.recoding:
        unseen, given = axis.recoding.unseen(values), [*map(_name, values)]
        values = canonical_values(axis.recoding.apply(values), text=text)
        names = [*zip(given, map(_name, values), strict=True)]
    if axis.role is Role.CLUSTER:  # a blank identifies no one
        values = [None if isinstance(v, str) and not v.strip() else v for v in values]
    levels = sorted_levels([*values, *known])
    levels = reading_order(levels) if axis.role in GROUPED else levels
    position = {identity(level): i for i, level in enumerate(levels)} | {identity(None): -1}
    code = {k: position[identity(v)] for k, v in zip(raw, values, strict=True)}
    return levels, code, names, unseen


_LISTED = (*OUTCOMES, *GROUPED)
_Names: TypeAlias = list[tuple[str | None, str | None]]


def _name(value: Value) -> str | None:
    return None if value is None else name_of(value)


_CELLS = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}  # label, prediction


def confusion(feature: str, groups: Mapping[str, Mapping[str, int]]) -> Cube:
    """Make a cube of the confusion matrices of groups.

    Parameters
    ----------
    feature : str
        Name of the sensitive feature.
    groups : mapping of mappings
        For every group its ``tp``, ``fp``, ``fn`` and ``tn``, whole numbers, 0 or greater; those
        not given are 0.

    Raises
    ------
    SpecError
        An unknown cell, or a count that is not a whole number, 0 or greater.

    Examples
    --------
    >>> import fairgauge as fg
    >>> cube = fg.confusion("sex", {"F": {"tp": 50, "fp": 20, "fn": 10, "tn": 120},
    ...                             "M": {"tp": 20, "fp": 30, "fn": 0, "tn": 50}})
    >>> round(fg.audit(cube, metrics="vertex")["vertex.accuracy_difference", "sex", "F"].value, 2)
    0.15
    """
    problems = []
    for group, cells in groups.items():
        if not isinstance(cells, Mapping):
            message = f"must be a mapping of {', '.join(_CELLS)} to counts, not {display(cells)}"
            problems.append(Problem(f"{feature}.{group}", message))
            continue
        for name, count in cells.items():
            path = f"{feature}.{group}.{name}"
            if name not in _CELLS:
                message = f"unknown cell.{suggest(name, _CELLS)} Cells: {', '.join(_CELLS)}"
                problems.append(Problem(path, message))
            elif not (is_finite(count) and count >= 0 and float(count).is_integer()):
                message = f"must be a whole number, 0 or greater, not {quote(count)}"
                problems.append(Problem(path, message))
    refuse(problems)
    of = Spec(label="label", prediction="prediction", positive=(1,), sensitive=(Feature(feature),))
    asked, each_cell = plan(of), [(group, *cell) for group in groups for cell in _CELLS.values()]
    keys = [code_values(axis, (cell[i] for cell in each_cell)) for i, axis in enumerate(asked.axes)]
    rows = np.array([float(cells.get(name, 0)) for cells in groups.values() for name in _CELLS])
    # a group, label or prediction that never occurs is still asked of
    known: dict[str, list[Value]] = {feature: [*groups], "label": [0, 1], "prediction": [0, 1]}
    return build(asked, [Counted(keys, {"rows": rows})], rows=int(rows.sum()), known=known)
