"""Identifiers in counts: clusters are kept as numbers, or as keyed hashes, never by their values.

Who is a cluster matters to no number, only which cells belong together. Numbers follow from what
the clusters hold, so that neither the order of rows nor that of the values shows in them. Counts
that are added up need one name of a cluster in all of them: a hash under a key that is kept beside
the rows, never with the counts.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import Role
from fairgauge.errors import DataError
from fairgauge.question.category_words import means_missing
from fairgauge.question.recoding import Recoding
from fairgauge.stats.sampling import rank_by_cells
from fairgauge.values import Value, name_of, spelling

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
    names, ranks = _hash_clusters(cube.levels[axis], key) if key else _number_clusters(cube, axis)
    new = np.append(ranks, -1)  # code -1, a missing value, reads the last entry
    tables = tuple(table.recoded(axis, new) for table in cube.tables)
    how = f"key:{_hash(key, 'fairgauge')[:_OF_KEY]}" if key else NUMBERED
    return replace(
        cube,
        levels={**cube.levels, axis: names},
        tables=tables,
        clusters=how,
        spellings=spellings_of(cube.levels[axis]),
        placeholders=placeholders(
            cube.levels[axis], cube.cases_by_level[axis][:-1], cube.asked.recoding(axis.column)
        ),
    )


def spellings_of(identifiers: Sequence[Value]) -> int:
    """Return how many identifiers differ from another one in spelling alone.

    That is in case, blanks or encoding, or in zeros before a whole number or after its point.

    >>> spellings_of(["P7", "p7 ", "1001", "00001001", "1001.0", "1001.5"])
    3
    """
    if not any(isinstance(each, str) for each in identifiers):
        return 0
    return len(identifiers) - len({*map(without_spelling, identifiers)})


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
        if means_missing(value) and not re.search(r"[\d@]", name):
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
    order = np.argsort(np.array(hashes, dtype=f"U{_DIGITS}"))
    ranks = np.empty(len(hashes), dtype=np.int64)
    ranks[order] = np.arange(len(hashes))
    return tuple(sorted(hashes)), ranks


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
        others = np.delete(table.codes, at, axis=1)
        more = (each for name, each in table.sums.items() if name not in ("rows", "cases"))
        sums = [cases, *more]
        kind = _ranks_of_rows([*others.T[:, held], *(each[held] for each in sums)])
        clusters.append(table.codes[held, at])
        cells.append(kind + before)
        before += int(kind.max(initial=-1)) + 1
    return rank_by_cells(np.concatenate(clusters), np.concatenate(cells), len(cube.levels[axis]))


def _ranks_of_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    # two columns at a time are one of their ranks, which takes a tenth of the time of comparing
    # rows
    ranks: NDArray[np.int64] | None = None
    for column in columns:
        distinct, own = np.unique(column, return_inverse=True)
        both = own if ranks is None else ranks * len(distinct) + own
        ranks = both if ranks is None else np.unique(both, return_inverse=True)[1]
    assert ranks is not None
    return ranks


def clusters_alone(cube: Cube) -> int:
    """Return how many clusters hold what no other holds: their cells, and how often each."""
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None:
        return 0
    return int((np.bincount(_content(cube, axis, by_rows=True)) == 1).sum())
