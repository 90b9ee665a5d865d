"""Counted: what an engine counted, in its own values; and `build`, which makes a cube of it.

Clusters are kept as numbers, or as keyed hashes, never by their values: who is a cluster matters to
no number, only which cells belong together. Numbers follow from what the clusters hold, so that
neither the order of rows nor that of the values shows in them. Counts that are added up need one
name of a cluster in all of them: a hash under a key that is kept beside the rows, never with them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Codes, Cube, Sums, aggregate, reorder_levels, round_sums
from fairgauge.cube.plan import (
    GROUPED,
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
from fairgauge.enums import Role, Uncounted
from fairgauge.errors import DataError, Problem, display, quote, refuse, suggest
from fairgauge.question.category_words import means_missing
from fairgauge.question.features import Feature
from fairgauge.question.readers import is_finite
from fairgauge.question.recoding import Recoding
from fairgauge.question.specification import Spec
from fairgauge.start.records import dataclass, replace
from fairgauge.stats.sampling import rank_by_cells
from fairgauge.values import Value, name_of, spelling


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A value of each cell, as its position among some values; not all of them need occur."""

    values: Sequence[object]
    positions: Codes


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
    codes: dict[tuple[int, int], Codes] = {}
    unseen: list[tuple[str, str]] = []
    for a, axis in enumerate(plan.axes):
        columns = {i: counted[i].keys[own.index(a)] for i, own in enumerate(held) if a in own}
        raw = [*{(type(v), v) for each in columns.values() for v in each.values}]
        more = (known or {}).get(axis.column, ())
        levels[axis], code, missed = _encode(axis, raw, more, text=axis.column in texts)
        unseen += [(axis.column, value) for value in missed]
        if not axis.bins:
            check_levels(axis, levels[axis], limit)
        for i, each in columns.items():
            places = np.array([code[type(v), v] for v in each.values], dtype=np.int64)
            codes[i, a] = places[each.positions]
    tables = []
    for t, own in enumerate(plan.tables):
        i = 0 if together else t
        axes = tuple(plan.axes[a] for a in own)
        cells = np.array([codes[i, a] for a in own], dtype=np.int64).T
        tables.append(round_sums(plan, aggregate(axes, cells, counted[i].sums)))
    kept = {reason: int(n) for reason, n in sorted((excluded or {}).items()) if n}
    cube = Cube(plan, levels, tuple(tables), int(rows), kept, unseen=tuple(sorted(set(unseen))))
    return reorder_levels(cube, stated or {})


def _occurring(counted: Counted, of: str) -> Counted:
    # the cells that hold counted rows, with the values that these have
    held = np.flatnonzero(counted.sums[of])
    keys = []
    for column in counted.keys:
        places, positions = np.unique(column.positions[held], return_inverse=True)
        keys.append(Coded([column.values[i] for i in places.tolist()], positions))
    return Counted(keys, {m: sums[held] for m, sums in counted.sums.items()})


def _encode(
    axis: Axis, raw: Sequence[tuple[type, Any]], known: Sequence[Value], *, text: bool
) -> tuple[tuple[Value, ...], dict[tuple[type, object], int], list[str]]:
    # the sorted levels, the code of each value among them, and what no row has to recode
    if axis.bins:
        code = {key: -1 if key[1] is None or key[1] != key[1] else int(key[1]) for key in raw}
        return tuple(range(axis.bins)), code, []
    unseen: list[str] = []
    values = canonical_values([value for _, value in raw], text=text)
    if axis.recoding:
        unseen = axis.recoding.unseen(values)
        values = canonical_values(axis.recoding.apply(values), text=text)
    if axis.role is Role.CLUSTER:  # a blank identifies no one
        values = [None if isinstance(v, str) and not v.strip() else v for v in values]
    levels = sorted_levels([*values, *known])
    levels = reading_order(levels) if axis.role in GROUPED else levels
    position = {identity(level): i for i, level in enumerate(levels)} | {identity(None): -1}
    return levels, {k: position[identity(v)] for k, v in zip(raw, values, strict=True)}, unseen


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


CLUSTER_KEY = "FAIRGAUGE_CLUSTER_KEY"
"""The variable of the environment that holds the key: options are written into counts."""
NUMBERED = "numbered"
# 128 bits: under a shorter key, people who have the counts could try all keys on known ones
_SHORTEST_KEY = 16
_DIGITS = 32
_OF_KEY = 16
_CODE = re.compile(r"0[0-]*|-\d+|9[9-]+")
_FEWEST_OUTLYING, _TIMES_OUTLYING, _SHARE_OUTLYING = 20, 10, 0.05
"""Rows of an identifier that is no one's: so many, and so many times those of any other; of several
half as many times are enough, as sizes have no such gap below the largest, up to this share."""


def cluster_key() -> bytes | None:
    """Return the key of hashes of clusters; None without one."""
    key = os.environ.get(CLUSTER_KEY, "")
    if key and len(key) < _SHORTEST_KEY:
        raise DataError(
            f"{CLUSTER_KEY} has {len(key)} characters; a key that cannot be guessed has "
            f"{_SHORTEST_KEY} or more at random (openssl rand -hex 32)"
        )
    return key.encode() or None


def with_hidden_clusters(cube: Cube, key: bytes | None) -> Cube:
    """Return counts whose clusters are hashes under ``key``, or numbers where there is none."""
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None or cube.clusters:
        return cube
    held, rows, recoding = cube.levels[axis], cube.cases_by_level[axis][:-1], cube.asked.recoding
    names, ranks = _hash_clusters(held, key) if key else _number_clusters(cube, axis)
    new = np.append(ranks, -1)  # code -1, a missing value, reads the last entry
    return replace(
        cube,
        levels={**cube.levels, axis: names},
        tables=tuple(table.recoded(axis, new) for table in cube.tables),
        clusters=f"key:{_hash(key, 'fairgauge')[:_OF_KEY]}" if key else NUMBERED,
        spellings=spellings_of(held),
        placeholders=placeholders(held, rows, recoding(axis.column)),
    )


def spellings_of(identifiers: Sequence[Value]) -> int:
    """Return how many identifiers differ from another one in spelling alone.

    That is in case, blanks or encoding, in zeros before a whole number or after its point, or in
    signs that others lack. Of codes of letters in either case and digits, as a CRM makes them, the
    case counts.

    >>> spellings_of(["P7", "p7 ", "1001", "00001001", "1001.0", "1001.5"])
    3
    >>> spellings_of(["C-7", "C7", "12-34", "1234"]), spellings_of(["1-23", "12-3", "123"])
    (2, 0)
    >>> spellings_of(["0035g00000AbCdE", "0035g00000AbCde"])
    0
    """
    if not any(isinstance(each, str) for each in identifiers):
        return 0
    names = {
        each if isinstance(each, str) and _CASED.fullmatch(each) else without_spelling(each)
        for each in identifiers
    }
    return len(identifiers) - len(names) + _count_unsigned(names)


_SIGN = re.compile(r"[-_/. ()]")
_SIGN_BESIDE_LETTER = re.compile(r"^\(|(?<=[a-z])[-_/. ()]+(?=\d)|(?<=\d)[-_/. ()]+(?=[a-z])")
_SIGN_OF_NUMBERS = re.compile(r"(?<=\d)[-_/. ()]+(?=\d)")
_FEWEST_UNSIGNED = 0.05


def _count_unsigned(names: set[str]) -> int:
    # how many also stand there without their signs, unless so few that these may be others: 1-23
    # and 12-3 are two, so that between numbers a sign counts where its place is not always the same
    signed = {name for name in names if _SIGN.search(name)}
    unsigned = names - signed
    if not signed or not unsigned:
        return 0
    joined = [_SIGN_BESIDE_LETTER.sub("", name) for name in signed]
    parts = [_SIGN_OF_NUMBERS.split(name) for name in joined]
    if len({tuple(map(len, each)) for each in parts if len(each) > 1}) == 1:
        joined = ["".join(each) for each in parts]
    found = sum(name in unsigned for name in joined)
    return found if found >= _FEWEST_UNSIGNED * min(len(signed), len(unsigned)) else 0


_CASED = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])\w{12,}", re.ASCII)


def without_spelling(value: Value) -> str:
    """Return the name of a value without what spellings of it differ in, zeros among them."""
    name = spelling(name_of(value))
    whole, _, decimals = name.partition(".")
    return whole.lstrip("0") or "0" if whole.isdecimal() and not decimals.strip("0") else name


def placeholders(
    identifiers: Sequence[Value], rows: NDArray[Any], recoding: Recoding | None
) -> tuple[tuple[Value, int], ...]:
    """Return the identifiers that probably stand for unknown ones, with the rows of each.

    These are words such as "N/A", and codes such as 0 or 999999 of far more rows than others have.
    So are a few other identifiers of so many; they may be a person's, and are named by one empty
    text. None is one that a recoding states, such as one that is recoded to itself.
    """
    stated = recoding.names if recoding else ()
    words: list[tuple[Value, int]] = []
    codes: list[tuple[Value, int]] = []
    others: list[int] = []
    for i in np.flatnonzero(rows > 1).tolist():
        value, n, name = identifiers[i], int(rows[i]), name_of(identifiers[i])
        if name in stated:
            continue
        if not re.search(r"[\d@]", name) and means_missing(value):  # which costs more
            words.append((value, n))
        elif _CODE.fullmatch(name):
            codes.append((value, n))
        else:
            others.append(n)
    sizes = [*sorted(others, reverse=True), 1]
    if outlying := count_outlying(sizes, len(identifiers)):
        words.append(("", sum(sizes[:outlying])))
    return (*words, *(each for each in codes if _is_far_above(each[1], sizes[outlying])))


def count_outlying(sizes: Sequence[int], identifiers: int) -> int:
    """Return of how many identifiers the sizes, in falling order, are far above all others.

    >>> count_outlying([30, 1], 90), count_outlying([30] * 4 + [3, 1], 90)
    (1, 4)
    >>> count_outlying([30, 25, 11, 6, 3, 1], 90), count_outlying([30] * 6 + [1], 90)
    (0, 0)
    """
    few = max(1, int(_SHARE_OUTLYING * identifiers))
    gaps = [*pairwise(sizes[: few + 1])]
    found = [i for i, (n, other) in enumerate(gaps, 1) if _is_far_above(n, other, min(i, 2))]
    return max(found, default=0)


def _is_far_above(n: int, other: int, several: int = 1) -> bool:
    return n >= _FEWEST_OUTLYING and n * several > _TIMES_OUTLYING * other


def _hash(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _hash_clusters(
    levels: tuple[Value, ...], key: bytes
) -> tuple[tuple[Value, ...], NDArray[np.int64]]:
    # by their texts: a column may be numbers in one file and texts in another
    hashes = [_hash(key, f"cluster:{name_of(level)}")[:_DIGITS] for level in levels]
    rank = {each: i for i, each in enumerate(sorted(hashes))}
    return tuple(rank), np.array([rank[each] for each in hashes], dtype=np.int64)


def _number_clusters(cube: Cube, axis: Axis) -> tuple[tuple[Value, ...], NDArray[np.int64]]:
    # Cases come before rows, so that a column of counts orders clusters as repeated rows do.
    # Clusters that hold the same are interchangeable.
    count = len(cube.levels[axis])
    keys = [_content(cube, axis, by_rows=True)]
    if any("n" in table.sums for table in cube.tables):  # otherwise a row is a case
        keys.append(_content(cube, axis, by_rows=False))
    order = np.lexsort(keys)
    ranks = np.empty(count, dtype=np.int64)
    ranks[order] = np.arange(count)
    return tuple(range(1, count + 1)), ranks


def _content(cube: Cube, axis: Axis, *, by_rows: bool) -> NDArray[np.int64]:
    clusters, cells, before = [], [], 0
    for table in cube.tables:
        if axis not in table.axes:
            continue
        at = table.axes.index(axis)
        cases = table.sums["rows" if by_rows else "n" if "n" in table.sums else "rows"]
        held = (table.codes[:, at] >= 0) & (cases > 0)
        others = np.delete(table.codes, at, axis=1).T
        sums = (each for name, each in table.sums.items() if name not in ("rows", "cases"))
        kind = _ranks_of_rows(each[held] for each in (*others, cases, *sums))
        clusters.append(table.codes[held, at])
        cells.append(kind + before)
        before += int(kind.max(initial=-1)) + 1
    return rank_by_cells(np.concatenate(clusters), np.concatenate(cells), len(cube.levels[axis]))


def _ranks_of_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    # two columns at a time are one of their ranks: a tenth of the time of comparing rows
    ranks = np.zeros(1, dtype=np.int64)
    for column in columns:
        distinct, own = np.unique(column, return_inverse=True)
        ranks = np.unique(ranks * len(distinct) + own, return_inverse=True)[1]
    return ranks


def clusters_alone(cube: Cube) -> int:
    """Return how many clusters hold what no other holds: their cells, and how often each."""
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return 0
    return int((np.bincount(_content(cube, axis, by_rows=True)) == 1).sum())
