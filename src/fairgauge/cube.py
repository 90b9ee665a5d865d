"""Cube: the multi-way table of counts that everything is computed from. Cubes add up.

Counting rows in shards, in any order, and adding the cubes gives the cube of all rows: cubes of
one plan are a commutative monoid. A missing value is a level of its own (code -1), so what is
excluded, and why, can be told from the cube as well.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.errors import CubeError, DataError, quote
from fairgauge.plan import Axis, Plan
from fairgauge.values import Value, canonical, name_of, sort_key, typed_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Sums = NDArray[np.float64]

SCHEMA = "fairgauge.cube/1"
_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Counts of rows by some axes.

    Attributes
    ----------
    axes : the axes of the columns of ``codes``.
    codes : array of shape (cells, len(axes)): positions in the levels, -1 where missing.
    sums : for every measure of the plan, array of shape (cells,).
    """

    axes: tuple[Axis, ...]
    codes: Codes
    sums: Mapping[str, Sums]


@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """Counts of rows; add cubes of the same plan with ``+``.

    Attributes
    ----------
    plan : what was counted.
    levels : the values of every axis, sorted.
    tables : the counts.
    rows : physical rows read, excluded ones with them.
    excluded : rows that could not be counted at all, by reason.
    """

    plan: Plan
    levels: Mapping[Axis, tuple[Value, ...]]
    tables: tuple[Table, ...]
    rows: int
    excluded: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Cube) -> Cube:
        """Add the counts of two cubes of the same plan.

        Raises
        ------
        CubeError
            The cubes count different things; the message names the difference.
        """
        if not isinstance(other, Cube):
            return NotImplemented
        difference = self.plan.difference(other.plan)
        if difference:
            raise CubeError(f"the cubes count different things: {difference}")
        levels = {axis: _joined_levels(axis, self, other) for axis in self.plan.axes}
        tables = tuple(
            _settled(
                _aggregate(
                    mine.axes,
                    np.concatenate([_recode(mine, self, levels), _recode(theirs, other, levels)]),
                    {m: np.concatenate([mine.sums[m], theirs.sums[m]]) for m in mine.sums},
                )
            )
            for mine, theirs in zip(self.tables, other.tables, strict=True)
        )
        reasons = {*self.excluded, *other.excluded}
        excluded = {r: self.excluded.get(r, 0) + other.excluded.get(r, 0) for r in sorted(reasons)}
        return Cube(self.plan, levels, tables, self.rows + other.rows, excluded)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cube) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        cells = sum(len(table.codes) for table in self.tables)
        axes = ", ".join(f"{axis.role} {axis.column}" for axis in self.plan.axes)
        return f"<Cube of {self.rows:,} rows in {cells:,} cells: {axes}>"

    def marginal(self, axes: Sequence[Axis]) -> Table:
        """Return the counts by ``axes`` alone, from the smallest table that has them all.

        Raises
        ------
        CubeError
            No table of this cube has these axes together.
        """
        having = [table for table in self.tables if set(axes) <= set(table.axes)]
        if not having:
            wanted = " x ".join(f"{axis.role} {axis.column}" for axis in axes)
            raise CubeError(f"this cube does not hold {wanted}; count the data again with it")
        table = min(having, key=lambda each: len(each.codes))
        columns = [table.axes.index(axis) for axis in axes]
        return _aggregate(tuple(axes), table.codes[:, columns], table.sums)

    @property
    def cases(self) -> int:
        """Return the cases that the counted rows stand for."""
        sums = self.tables[0].sums
        return int(sums.get("n", sums["rows"]).sum())

    @property
    def digest(self) -> str:
        """Return a fingerprint of the counts: the same for the same rows in any order."""
        return _digest(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the cube as plain values."""
        return {
            "schema": SCHEMA,
            "plan": self.plan.to_dict(),
            "rows": self.rows,
            "excluded": dict(self.excluded),
            "levels": [list(self.levels[axis]) for axis in self.plan.axes],
            "tables": [
                {
                    "codes": table.codes.T.tolist(),
                    "sums": {m: _whole(sums) for m, sums in table.sums.items()},
                }
                for table in self.tables
            ],
        }

    def to_json(self) -> str:
        """Return the text of a ``.cube.json`` file, with its own digest."""
        found = self.to_dict()
        return json.dumps(found | {"digest": _digest(found)}, separators=(",", ":"))

    def save(self, path: str | Path) -> None:
        """Write a ``.cube.json`` file, whole or not at all."""
        from fairgauge.files import write_whole

        write_whole(path, self.to_json())


def read_cube(text: str, name: str) -> Cube:
    """Read the text of a ``.cube.json`` file.

    Raises
    ------
    CubeError
        The text is not a cube, is of another version, or was changed since it was written.
    """
    try:
        found = json.loads(text)
        schema = found["schema"]
    except (ValueError, KeyError, TypeError):
        raise CubeError(f"{quote(name)} is not a fairgauge cube file, or is cut off") from None
    if schema != SCHEMA:
        raise CubeError(f"{quote(name)} has format {quote(schema)}; this version reads {SCHEMA!r}")
    digest = found.pop("digest", None)
    if digest != _digest(found):
        raise CubeError(f"{quote(name)} was changed or damaged: its digest does not fit its counts")
    try:
        return _from_dict(found)
    except (KeyError, TypeError, ValueError):
        raise CubeError(f"{quote(name)} is not a fairgauge cube file") from None


def _from_dict(found: Mapping[str, Any]) -> Cube:
    plan = Plan.from_dict(found["plan"])
    levels = {a: tuple(each) for a, each in zip(plan.axes, found["levels"], strict=True)}
    tables = tuple(
        Table(
            tuple(plan.axes[i] for i in positions),
            np.array(each["codes"], dtype=np.int64).reshape(len(positions), -1).T,
            {m: np.array(sums, dtype=np.float64) for m, sums in each["sums"].items()},
        )
        for positions, each in zip(plan.tables, found["tables"], strict=True)
    )
    return Cube(plan, levels, tables, found["rows"], found["excluded"])


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What an engine counted for one table of a plan, in the engine's own values.

    Attributes
    ----------
    keys : for every axis of the table, the engine's value of each cell.
    sums : for every measure of the plan, array of shape (cells,).
    """

    keys: Sequence[Sequence[Any]]
    sums: Mapping[str, Sequence[float] | Sums]


def build(
    plan: Plan,
    counted: Sequence[Counted],
    *,
    rows: int,
    excluded: Mapping[str, int] | None = None,
    texts: Collection[str] = (),
    limit: int = 1_000,
    known: Mapping[str, Sequence[Value]] | None = None,
) -> Cube:
    """Make a cube of what an engine counted, in canonical values and order.

    Cells that hold no counted row are dropped. Sums of weights are rounded to 12 significant
    digits, so that the order of rows, in which engines differ, does not show.

    Parameters
    ----------
    texts : names of columns
        Columns of untyped text (CSV): numeric if all values are plain numbers.
    limit : int
        The most values that an axis may have.
    known : mapping of columns to values, optional
        Values that a column is known to have, though no row may have them.

    Raises
    ------
    DataError
        An axis has too many values, two values with one name, or values that are not plain.
    """
    counted = [_held(each) for each in counted]
    levels: dict[Axis, tuple[Value, ...]] = {}
    codes: dict[tuple[int, int], Codes] = {}
    for axis in plan.axes:
        holding = [i for i, table in enumerate(plan.tables) if plan.axes.index(axis) in table]
        columns = {i: counted[i].keys[plan.tables[i].index(plan.axes.index(axis))] for i in holding}
        more = (known or {}).get(axis.column, ())
        levels[axis], coded = _encode(axis, columns, more, texts=axis.column in texts)
        if not axis.bins:
            check_levels(axis, levels[axis], limit)
        codes |= {(i, plan.axes.index(axis)): each for i, each in coded.items()}
    tables = tuple(
        _settled(
            _aggregate(
                tuple(plan.axes[a] for a in positions),
                np.stack([codes[i, a] for a in positions], axis=-1)
                if positions
                else np.zeros((len(counted[i].sums["rows"]), 0), dtype=np.int64),
                {m: np.asarray(s, dtype=np.float64) for m, s in counted[i].sums.items()},
            )
        )
        for i, positions in enumerate(plan.tables)
    )
    kept = {reason: int(n) for reason, n in sorted((excluded or {}).items()) if n}
    return Cube(plan, levels, tables, int(rows), kept)


def _encode(
    axis: Axis, columns: Mapping[int, Sequence[Any]], known: Sequence[Value], *, texts: bool
) -> tuple[tuple[Value, ...], dict[int, Codes]]:
    """Give every value of an axis its code in the sorted levels."""
    try:
        raw = list({(type(value), value) for column in columns.values() for value in column})
    except TypeError:
        raise not_plain(axis) from None
    values: list[Value]
    if axis.bins:
        values = [canonical(value) for _, value in raw]
        levels: tuple[Value, ...] = tuple(range(axis.bins))
    else:
        values = _typed([value for _, value in raw], text=texts)
        levels = _sorted_levels([*values, *known])
    position = {_identity(level): i for i, level in enumerate(levels)}
    code = {
        key: -1 if value is None else position[_identity(value)]
        for key, value in zip(raw, values, strict=True)
    }
    coded = {
        i: np.fromiter((code[type(v), v] for v in column), dtype=np.int64, count=len(column))
        for i, column in columns.items()
    }
    return levels, coded


def not_plain(axis: Axis) -> DataError:
    """Return the error of an axis whose values are lists or objects."""
    return DataError(
        f"column {quote(axis.column)} ({axis.role}) holds values that are not plain "
        "(lists, objects); name a column of texts, numbers, dates or true and false"
    )


def levels_of(values: Iterable[Any], *, text: bool = False) -> tuple[Value, ...]:
    """Return the levels that raw values make; untyped text is numeric if all of it is."""
    return _sorted_levels(_typed(list(values), text=text))


def _typed(raw: Sequence[Any], *, text: bool) -> list[Value]:
    values = [canonical(value) for value in raw]
    if text and all(value is None or isinstance(value, str) for value in values):
        return typed_texts([value if isinstance(value, str) else None for value in values])
    return values


def _identity(value: Value) -> tuple[bool, Value]:
    return (isinstance(value, bool), value)  # True and 1 are equal in Python, not in data


def _sorted_levels(values: Sequence[Value]) -> tuple[Value, ...]:
    unique = {_identity(value): value for value in values if value is not None}
    return tuple(sorted(unique.values(), key=sort_key))


def check_levels(axis: Axis, levels: Iterable[Value], limit: int) -> None:
    """Check the values of an axis: not too many, and no two with one name.

    Raises
    ------
    DataError
        The column has more than ``limit`` values, or one value as two types.
    """
    levels = list(levels)
    if len(levels) > limit:
        raise DataError(
            f"column {quote(axis.column)} ({axis.role}) has more than {limit:,} different values; "
            "cut a numeric column into intervals "
            "(fairgauge.cut, --sensitive COL:40,60, --positive '>x'), or raise max_groups"
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


def _joined_levels(axis: Axis, one: Cube, other: Cube) -> tuple[Value, ...]:
    """Join the levels of two cubes; numbers become text where the other cube has texts.

    A column of a CSV file is text if any of its values is: one shard alone may have looked numeric.
    """
    levels = [*one.levels[axis], *other.levels[axis]]
    joined = _sorted_levels([_as_text(level) for level in levels] if _mixed(levels) else levels)
    if not axis.bins:
        try:
            check_levels(axis, joined, len(joined))
        except DataError as error:
            raise CubeError(str(error)) from None
    return joined


def _mixed(levels: Sequence[Value]) -> bool:
    return any(isinstance(level, str) for level in levels)


def _as_text(level: Value) -> Value:
    return level if isinstance(level, bool) or level is None else name_of(level)


def _recode(table: Table, cube: Cube, levels: Mapping[Axis, tuple[Value, ...]]) -> Codes:
    columns = []
    for i, axis in enumerate(table.axes):
        position = {_identity(level): p for p, level in enumerate(levels[axis])}
        read = _as_text if _mixed(levels[axis]) else _same
        mapping = np.array([*(position[_identity(read(v))] for v in cube.levels[axis]), -1])
        columns.append(mapping[table.codes[:, i]])  # code -1 reads the last entry
    return np.stack(columns, axis=-1) if columns else table.codes


def _same(level: Value) -> Value:
    return level


def _held(counted: Counted) -> Counted:
    """Return the cells that hold a counted row."""
    rows = np.asarray(counted.sums["rows"], dtype=np.float64)
    if rows.all():
        return counted
    held = np.flatnonzero(rows).tolist()
    sums = {m: np.asarray(s, dtype=np.float64)[held] for m, s in counted.sums.items()}
    return Counted([[column[i] for i in held] for column in counted.keys], sums)


def _settled(table: Table) -> Table:
    """Round sums that are not whole to 12 significant digits."""
    sums = {m: s if (s == np.floor(s)).all() else _rounded(s) for m, s in table.sums.items()}
    return Table(table.axes, table.codes, sums)


def _rounded(sums: Sums) -> Sums:
    return np.array([float(f"{each:.{_DIGITS}g}") for each in sums.tolist()])


def _aggregate(axes: tuple[Axis, ...], codes: Codes, sums: Mapping[str, Sums]) -> Table:
    """Sum the cells that have the same codes, and sort them."""
    if not axes:
        totals = {m: np.array([s.sum()]) for m, s in sums.items()}
        return Table(axes, np.zeros((1, 0), dtype=np.int64), totals)
    widths = codes.max(axis=0, initial=0) + 2
    if np.prod(widths.astype(float)) < 2**62:
        keys = np.zeros(len(codes), dtype=np.int64)
        for column, width in zip(codes.T, widths, strict=True):
            keys = keys * width + (column + 1)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        unique = codes[first]
    else:
        unique, inverse = np.unique(codes, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    summed = {
        m: np.bincount(inverse, weights=s, minlength=len(unique)).astype(np.float64)
        for m, s in sums.items()
    }
    return Table(axes, unique, summed)


def _whole(sums: Sums) -> list[int | float]:
    return [int(each) if each == int(each) else float(each) for each in sums.tolist()]


def _digest(found: Mapping[str, Any]) -> str:
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
