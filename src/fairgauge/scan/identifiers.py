"""Identifiers of clusters and people: how counts name them, and which are probably no one's.

Counts hold clusters as numbers, or as keyed hashes, never by their values: who is a cluster matters
to no number, only which cells belong together. Numbers follow from what the clusters hold, so that
neither the order of rows nor that of the values shows in them. Counts that are added up need one
name of a cluster in all of them: a hash under a key that is kept beside the rows, never with them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube, Observed
from fairgauge.cube.plan import Axis
from fairgauge.enums import Observation, Role
from fairgauge.errors import DataError
from fairgauge.question.category_words import means_missing
from fairgauge.question.recoding import Recoding
from fairgauge.start.records import replace
from fairgauge.stats.arrays import AnyArray
from fairgauge.stats.sampling import rank_by_cells
from fairgauge.values import Value, name_of, spelling

CLUSTER_KEY = "FAIRGAUGE_CLUSTER_KEY"
"""The variable of the environment that holds the key: options are written into counts."""
NUMBERED = "numbered"
# 128 bits: under a shorter key, people who have the counts could try all keys on known ones
_SHORTEST_KEY = 16
_DIGITS, _OF_KEY = 32, 16
_CODE = re.compile(r"0[0-]*|-\d+|9[9-]+")
_NINES = [10.0**digits - 1 for digits in range(2, 19)]
_DIGIT = re.compile(r"[\d@]")
_FEWEST_OUTLYING, _TIMES_OUTLYING, _SHARE_OUTLYING = 20, 10, 0.05
"""Rows of an identifier that is no one's: so many, and so many times those of any other; of several
half as many times are enough, as sizes have no such gap below the largest, up to this share."""


def with_hidden_clusters(cube: Cube) -> Cube:
    """Return counts whose clusters are hashes under the key, or numbers where there is none."""
    key = os.environ.get(CLUSTER_KEY, "")
    if 0 < len(key) < _SHORTEST_KEY:
        raise DataError(
            f"{CLUSTER_KEY} has {len(key)} characters; a key that cannot be guessed has "
            f"{_SHORTEST_KEY} or more at random (openssl rand -hex 32)"
        )
    axis = cube.plan.axis(Role.CLUSTER)
    if axis is None or cube.clusters:
        return cube
    held, rows, recoding = cube.levels[axis], cube.cases_by_level[axis][:-1], cube.asked.recoding
    names: Any = range(1, len(held) + 1)
    if key:  # by their texts: a column may be numbers in one file and texts in another
        hashes = [_hash(key, f"cluster:{name_of(level)}")[:_DIGITS] for level in held]
        names, order = tuple(sorted(hashes)), np.argsort(hashes)
    else:
        # Cases come before rows, so that a column of counts orders clusters as repeated rows do.
        # Clusters that hold the same are interchangeable.
        has_cases = any("n" in table.sums for table in cube.tables)  # otherwise a row is a case
        order = np.lexsort([_content(cube, axis, m) for m in ("rows", "n")[: 1 + has_cases]])
    new = np.append(np.argsort(order), -1)  # code -1, a missing value, reads the last entry
    return replace(
        cube,
        levels={**cube.levels, axis: names},
        tables=tuple(table.recoded(axis, new) for table in cube.tables),
        clusters=f"key:{_hash(key, 'fairgauge')[:_OF_KEY]}" if key else NUMBERED,
        observed=(*cube.observed, *observe_identifiers(held, rows, recoding(axis.column))),
    )


def observe_identifiers(
    identifiers: Sequence[Value], rows: AnyArray, recoding: Recoding | None
) -> Iterator[Observed]:
    """Yield what the identifiers of persons or clusters show: spellings, and those of no one."""
    if str in {*map(type, identifiers)} and (spelt := spellings_of(identifiers)):
        yield Observed(Observation.SPELLINGS, rows=spelt)
    for value, n in placeholders(identifiers, rows, recoding):
        yield Observed(Observation.PLACEHOLDER, value=value, rows=n)


def spellings_of(identifiers: Sequence[Value]) -> int:
    """Return how many identifiers differ from another one in spelling alone.

    That is in case, blanks or encoding, in zeros before a whole number or after its point, or in
    signs, which others lack or of another kind. Of codes of letters in either case and digits, as a
    CRM makes them, the case counts.

    >>> spellings_of(["P7", "p7 ", "1001", "00001001", "1001.0", "1001.5"])
    3
    >>> spellings_of(["C-7", "C7", "02-34", "0234"]), spellings_of(["1-23", "12-3", "123"])
    (2, 0)
    >>> spellings_of(["12-34", "12 34", "56-78", "9-1-0"])
    1
    >>> spellings_of(["'007", "#08", "(0)9", "-6", "7", "8", "09", "6"])
    3
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


_SIGNS = re.compile(r"^[(/'#]+|(?<=[a-z\d])[-_/. ()]+(?=[a-z\d])")
_FEWEST_UNSIGNED = 0.05


def _count_unsigned(names: set[str]) -> int:
    # how many also stand there with other signs or without, unless so few that these may be others:
    # 1-23 and 12-3 are two, and 123 is neither
    signed = {name for name in names if _SIGNS.search(name)}
    unsigned, others = names - signed, len(signed) - len({_SIGNS.sub("-", name) for name in signed})
    if others and others >= _FEWEST_UNSIGNED * len(signed):
        return others
    joined = [(without_spelling(_SIGNS.sub("", name)), name) for name in signed]
    of = dict(joined)
    several = {plain for plain, name in joined if of[plain] != name}
    found = len((of.keys() & unsigned) - several)
    return found if found >= _FEWEST_UNSIGNED * min(len(signed), len(unsigned)) else 0


_CASED = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])\w{12,}", re.ASCII)


def without_spelling(value: Value) -> str:
    """Return the name of a value without what spellings of it differ in, zeros among them."""
    name = spelling(name_of(value))
    whole, _, decimals = name.partition(".")
    return whole.lstrip("0") or "0" if whole.isdecimal() and not decimals.strip("0") else name


def placeholders(
    identifiers: Sequence[Value], rows: AnyArray, recoding: Recoding | None
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
    repeated = np.flatnonzero(rows > 1)
    if not stated and {*map(type, identifiers)} == {int}:  # no words, and few codes
        numbers = np.array(identifiers, dtype=np.float64)[repeated]
        coded = (numbers <= 0) | np.isin(numbers, _NINES)
        plain = np.sort(rows[repeated[~coded]].astype(np.int64))[::-1]
        others, repeated = plain[: _few_of(len(identifiers)) + 1].tolist(), repeated[coded]
    for i in repeated.tolist():
        value, n, name = identifiers[i], int(rows[i]), name_of(identifiers[i])
        if name in stated:
            continue
        if not _DIGIT.search(name) and means_missing(value):  # which costs more
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
    gaps = [*pairwise(sizes[: _few_of(identifiers) + 1])]
    found = [i for i, (n, other) in enumerate(gaps, 1) if _is_far_above(n, other, min(i, 2))]
    return max(found, default=0)


def _few_of(identifiers: int) -> int:
    return max(1, int(_SHARE_OUTLYING * identifiers))


def _is_far_above(n: int, other: int, several: int = 1) -> bool:
    return n >= _FEWEST_OUTLYING and n * several > _TIMES_OUTLYING * other


def _hash(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def _content(cube: Cube, axis: Axis, measure: str) -> NDArray[np.int64]:
    clusters, cells, before = [], [], 0
    for table in (table for table in cube.tables if axis in table.axes):
        at, cases = table.axes.index(axis), table.sums.get(measure, table.sums["rows"])
        held = (table.codes[:, at] >= 0) & (cases > 0)
        others = np.delete(table.codes, at, axis=1).T
        sums = (each for name, each in table.sums.items() if name not in ("rows", "cases"))
        # two columns at a time are one of their ranks: a tenth of the time of comparing rows
        kind = np.zeros(1, dtype=np.int64)
        for column in (each[held] for each in (*others, cases, *sums)):
            distinct, own = np.unique(column, return_inverse=True)
            kind = np.unique(kind * len(distinct) + own, return_inverse=True)[1]
        clusters.append(table.codes[held, at])
        cells.append(kind + before)
        before += int(kind.max(initial=-1)) + 1
    return rank_by_cells(np.concatenate(clusters), np.concatenate(cells), len(cube.levels[axis]))


def clusters_alone(cube: Cube) -> int:
    """Return how many clusters hold what no other holds: their cells, and how often each."""
    axis = cube.plan.axis(Role.CLUSTER)
    return 0 if axis is None else int((np.bincount(_content(cube, axis, "rows")) == 1).sum())
