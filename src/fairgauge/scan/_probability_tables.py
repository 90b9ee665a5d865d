"""Probabilities of groups that stand in a table of their own, a row for each place or surname.

The table is read and checked before the rows are counted, and joined while they are. Keys are
compared as texts, so that ``01`` and ``1`` differ; only whole numbers that became floating-point,
as pandas writes them beside a missing one, are the integers that they were.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import DataError, Problem, SpecError, cells, listing, nearest, quote, refuse
from fairgauge.question.probabilities import Probabilities
from fairgauge.scan._sql import identifier
from fairgauge.scan.row_access import numbers_of, read_rows

if TYPE_CHECKING:
    from fairgauge.scan._duckdb_files import DuckFiles

Floats = NDArray[np.float64]

OUTSIDE, PARTLY_MISSING, OFF = -1, -2, -3
"""What is wrong with the probabilities of a row, in place of its cell."""
_INTEGER = r"^(-?\d+)\.0+$"
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """A table of probabilities by key, each key once.

    Attributes
    ----------
    file : its rows.
    on : the column of keys.
    columns : those of the probabilities.
    rows : the row of every key.
    p : array of shape (rows, groups)
    """

    file: DuckFiles
    on: str
    columns: tuple[str, ...]
    rows: dict[str, int]
    p: Floats

    def joined(self, relation: str, key: str, names: list[str]) -> str:
        """Return rows of DuckDB with the probabilities of their keys, in columns of some names."""
        written = self.file.written
        own = ", ".join(
            f"{written.number(column)} AS {name}"
            for column, name in zip(self.columns, names, strict=True)
        )
        return (
            f"(SELECT fg_rows.*, {', '.join(names)} FROM {relation} AS fg_rows LEFT JOIN (SELECT "
            f"{_text_of(written.key(self.on))} AS fg_key, {own} FROM {self.file.relation}) AS "
            f"fg_table ON {_text_of(key)} = fg_key)"
        )

    def beside(self, frame: Any, names: list[str]) -> Any:
        """Return a frame of narwhals with the probabilities of its keys."""
        import narwhals.stable.v2 as nw

        on = self.on
        keys: Any = frame.select(nw.col(on)).unique()
        lazy = isinstance(keys, nw.LazyFrame)
        keys = (keys.collect() if lazy else keys).filter(~nw.col(on).is_null())
        at = [self.rows.get(_key(value), -1) for value in keys[on].to_list()]
        found = np.append(self.p, np.full((1, self.p.shape[1]), np.nan), axis=0)[at]
        keys = keys.with_columns(
            *(
                nw.new_series(name, p.tolist(), nw.Float64, backend=keys.implementation)
                for name, p in zip(names, found.T, strict=True)
            )
        )
        return frame.join(keys.lazy() if lazy else keys, on=on, how="left")


def read_table(feature: Probabilities, path: str) -> ProbabilityTable:
    """Read and check the table of a feature, every problem at once.

    Raises
    ------
    SpecError
        A column is not there, a key is there twice, or the probabilities of a key are none.
    DataError
        The table cannot be read.
    """
    from fairgauge.scan._duckdb_files import DuckFiles
    from fairgauge.scan.input_files import open_files

    assert feature.table is not None
    assert feature.on is not None
    source, columns = open_files(feature.table), tuple(column for _, column in feature.columns)
    if not (isinstance(source, DuckFiles) and source.plain):
        raise DataError(
            f"the table of probabilities {quote(feature.table)} is neither a CSV nor a Parquet file"
        )
    absent = [name for name in (feature.on, *columns) if name not in source.columns]
    if absent:
        has = nearest(absent[0], source.columns) or f" It has {listing(source.columns)}"
        message = f"{quote(feature.table)} has no column {listing(absent)}.{has}"
        raise SpecError(Problem(f"{path}.table", message))
    (raw,), _ = source.fetch([feature.on], None)
    keys = [None if value is None else _key(value) for value in raw]
    rows: dict[str, int] = {}
    twice = []
    for row, key in enumerate(keys):
        if key is not None and rows.setdefault(key, row) != row:
            twice.append(key)
    read = read_rows(source, columns)
    p = np.stack([numbers_of(read[column]) for column in columns], axis=1)
    problems = []
    if twice:
        several = f", the first of {len(twice):,} keys that are" if len(twice) > 1 else ""
        message = (
            f"{quote(feature.on)} = {quote(twice[0])} is in {quote(feature.table)} twice{several}; "
            "each key has one row"
        )
        problems.append(Problem(f"{path}.table", message))
    for kind, wrong in wrong_rows(p, feature.tolerance).items():
        number = int(wrong.sum())
        if number:
            message = wrong_probabilities(kind, number, described(wrong, p, feature, kind), feature)
            problems.append(Problem(f"{path}.table", f"{quote(feature.table)}: {message}"))
    refuse(problems)
    return ProbabilityTable(source, feature.on, columns, rows, p)


def unmatched(feature: Probabilities, values: list[Any]) -> str:
    """Return that no row has a key of the table, with some of both; ``values`` are of the rows."""
    table = read_table(feature, "")
    theirs = cells(table.rows)
    ours = cells(_key(value) for value in values if value is not None)
    return (
        f"no row has a value of {quote(feature.on)} that is in {quote(feature.table)}: the data "
        f"have {ours}, the table {theirs}; keys are compared as texts, with leading zeros"
    )


def wrong_rows(p: Floats, tolerance: float) -> dict[int, NDArray[np.bool_]]:
    """Return in which rows probabilities are none, by what is wrong with them."""
    missing = np.isnan(p)
    whole = ~missing.any(axis=1)
    outside = whole & ((p < 0) | (p > 1)).any(axis=1)
    return {
        OUTSIDE: outside,
        PARTLY_MISSING: ~whole & ~missing.all(axis=1),
        OFF: whole & ~outside & (np.abs(p.sum(axis=1) - 1) > tolerance),
    }


def described(
    wrong: NDArray[np.bool_], p: Floats, feature: Probabilities, kind: int
) -> tuple[int, str] | None:
    """Return the first row that is wrong, and its probabilities."""
    found = np.flatnonzero(wrong)
    if not len(found):
        return None
    at = int(found[0])
    pairs = zip(feature.groups, p[at].tolist(), strict=True)
    shown = ", ".join(f"{g} {'missing' if np.isnan(v) else f'{v:.10g}'}" for g, v in pairs)
    total = "" if kind != OFF else f", which sum to {p[at].sum():.10g}"
    return at, shown + total


def wrong_probabilities(
    kind: int, rows: int, first: tuple[int, str] | None, feature: Probabilities
) -> str:
    """Return what is wrong with the probabilities of some rows, where, and what to do."""
    what, remedy = {
        OUTSIDE: ("{} below 0 or above 1", "a probability is between 0 and 1"),
        PARTLY_MISSING: (
            "some but not all of {} missing",
            "a row has all probabilities, or none where nothing is known of it",
        ),
        OFF: (
            "{} that do not sum to 1",
            (
                "name the column of every group; of probabilities that are "
                "rounded in print set tolerance, such as 0.001"
            ),
        ),
    }[kind]
    which = f"the first is row {first[0] + 1:,}, with {first[1]}" if first else ""
    number = f"{rows:,} {'row has' if rows == 1 else 'rows have'}"
    where = f" ({which})" if which else ""
    return f"{quote(feature.name)}: {number} {what.format('probabilities')}{where}; {remedy}"


def _key(value: object) -> str:
    return re.sub(_INTEGER, r"\1", str(value))


def _text_of(key: str) -> str:
    return f"regexp_replace(CAST({key} AS VARCHAR), '{_INTEGER}', '\\1')"


def part_names(feature: Probabilities) -> list[str]:
    """Return the names of the columns of single probabilities, as SQL."""
    return [identifier(f"{feature.name} (probability {i})") for i in range(len(feature.columns))]
