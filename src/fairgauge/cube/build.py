"""Counted: what an engine counted, in its own values; and `build`, which makes a cube of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fairgauge.cube.cube import Codes, Cube, Sums, aggregate, reorder_levels, round_sums
from fairgauge.cube.levels import (
    GROUPED,
    canonical_values,
    check_levels,
    identity,
    nested_value_error,
    reading_order,
    sorted_levels,
)
from fairgauge.cube.plan import Axis, Plan, plan
from fairgauge.enums import Role, Uncounted
from fairgauge.errors import Problem, display, quote, refuse, suggest
from fairgauge.question.features import Feature
from fairgauge.question.readers import is_finite
from fairgauge.question.specification import Spec
from fairgauge.start.records import dataclass
from fairgauge.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A value of each cell, as its position among some values; not all of them need occur."""

    values: Sequence[object]
    positions: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What an engine counted for one table of a plan, or all, in the engine's own values.

    ``keys``: for every axis of the table (of all: of the plan), the engine's value of each cell.
    ``sums``: for every measure of the plan, array of shape (cells,).
    """

    keys: Sequence[Sequence[object] | Coded]
    sums: Mapping[str, Sequence[float] | Sums]


def build(
    plan: Plan,
    counted: Sequence[Counted],
    *,
    rows: int,
    excluded: Mapping[Uncounted, int] | None = None,
    texts: Collection[str] = (),
    limit: int = 1_000,
    known: Mapping[str, Sequence[Value]] | None = None,
) -> Cube:
    """Make a cube of what an engine counted, in canonical values and order.

    Cells that hold no counted row, or rows of count 0 alone, are omitted. Sums of weights are
    rounded to 12 significant digits, so that the order of rows, in which engines differ, does not
    show.

    ``counted``: list of Counted What was counted for each table, or one of all axes, of which every
        table is made.
    ``texts``: names of columns Columns of untyped text (CSV): numeric if all values are plain
        numbers.
    ``limit``: int The most values that an axis may have.
    ``known``: mapping of columns to values, optional Values that a column is known to have, though
        no row may have them.

    Raises ``DataError``: an axis has too many values, two values with one name, or values that are
        not plain.
    """
    of = "rows" if plan.weight else plan.cases
    counted = [_nonempty_cells(each, of) for each in counted]
    together = len(counted) < len(plan.tables)
    held = [tuple(range(len(plan.axes)))] if together else plan.tables
    levels: dict[Axis, tuple[Value, ...]] = {}
    codes: dict[tuple[int, int], Codes] = {}
    unseen: set[tuple[str, str]] = set()
    for a, axis in enumerate(plan.axes):
        columns = {
            i: each.keys[positions.index(a)]
            for i, (each, positions) in enumerate(zip(counted, held, strict=True))
            if a in positions
        }
        more = (known or {}).get(axis.column, ())
        levels[axis], coded, missed = _encode(axis, columns, more, texts=axis.column in texts)
        unseen |= {(axis.column, value) for value in missed}
        if not axis.bins:
            check_levels(axis, levels[axis], limit)
        codes |= {(i, a): each for i, each in coded.items()}
    sums = [{m: np.asarray(s, dtype=np.float64) for m, s in c.sums.items()} for c in counted]
    of_table = [0] * len(plan.tables) if together else range(len(plan.tables))
    tables = tuple(
        round_sums(
            plan,
            aggregate(
                tuple(plan.axes[a] for a in positions),
                np.stack([codes[i, a] for a in positions], axis=-1)
                if positions
                else np.zeros((len(sums[i]["rows"]), 0), dtype=np.int64),
                sums[i],
            ),
        )
        for i, positions in zip(of_table, plan.tables, strict=True)
    )
    kept = {reason: int(n) for reason, n in sorted((excluded or {}).items()) if n}
    cube = Cube(plan, levels, tables, int(rows), kept, unseen=frozenset(unseen))
    return reorder_levels(cube, {})


def _encode(
    axis: Axis,
    columns: Mapping[int, Sequence[object] | Coded],
    known: Sequence[Value],
    *,
    texts: bool,
) -> tuple[tuple[Value, ...], dict[int, Codes], list[str]]:
    # give every value of an axis its code in the sorted levels; with what no row has to recode
    unseen: list[str] = []
    if axis.bins:
        bins = {i: _bins(column) for i, column in columns.items()}
        return tuple(range(axis.bins)), bins, unseen
    try:
        coded = {i: _code_values(column) for i, column in columns.items()}
        raw = list({(type(v), v) for each in coded.values() for v in each.values})
    except TypeError:
        raise nested_value_error(axis) from None
    values = canonical_values([value for _, value in raw], text=texts)
    if axis.recoding:
        unseen = axis.recoding.unseen(values)
        values = canonical_values(axis.recoding.apply(values), text=texts)
    if axis.role is Role.CLUSTER:  # a blank identifies no one
        values = [None if isinstance(v, str) and not v.strip() else v for v in values]
    levels = sorted_levels([*values, *known])
    levels = reading_order(levels) if axis.role in GROUPED else levels
    position = {identity(level): i for i, level in enumerate(levels)}
    code = {
        key: -1 if value is None else position[identity(value)]
        for key, value in zip(raw, values, strict=True)
    }
    codes = {
        i: np.array([code[type(v), v] for v in each.values], dtype=np.int64)[each.positions]
        for i, each in coded.items()
    }
    return levels, codes, unseen


def _code_values(column: Sequence[object] | Coded) -> Coded:
    if isinstance(column, Coded):
        held, positions = np.unique(column.positions, return_inverse=True)
        return Coded([column.values[i] for i in held.tolist()], positions)
    place: dict[tuple[type, object], int] = {}
    found = (place.setdefault((type(value), value), len(place)) for value in column)
    positions = np.fromiter(found, dtype=np.int64, count=len(column))
    return Coded([value for _, value in place], positions)


def _bins(column: Sequence[object] | Coded) -> Codes:
    if isinstance(column, Coded):
        return _bins(column.values)[column.positions]
    found = np.array(column, dtype=np.float64)
    return np.where(np.isnan(found), -1.0, found).astype(np.int64)


def _nonempty_cells(counted: Counted, of: str) -> Counted:
    held = np.flatnonzero(np.asarray(counted.sums[of], dtype=np.float64))
    if len(held) == len(counted.sums[of]):
        return counted
    sums = {m: np.asarray(s, dtype=np.float64)[held] for m, s in counted.sums.items()}
    keys = [
        Coded(column.values, column.positions[held])
        if isinstance(column, Coded)
        else [column[i] for i in held.tolist()]
        for column in counted.keys
    ]
    return Counted(keys, sums)


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
    records = [
        (group, *key, float(cells.get(name, 0)))
        for group, cells in groups.items()
        for name, key in _CELLS.items()
    ]
    asked = Spec(
        label="label", prediction="prediction", positive=(1,), sensitive=(Feature(feature),)
    )
    keys = [[record[i] for record in records] for i in range(3)]
    rows = [record[3] for record in records]
    # a group, label or prediction that never occurs is still asked of
    known: dict[str, list[Value]] = {feature: [*groups], "label": [0, 1], "prediction": [0, 1]}
    return build(plan(asked), [Counted(keys, {"rows": rows})], rows=int(sum(rows)), known=known)
