"""Attack on protected tables of the same rows by different columns.

Tables by sex and by race have the same total, and the same number of every label. The cells of each
are sums of those of one table by all columns, which is not published; what the tables have in
common narrows the ranges of all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from fairgauge.errors import CubeError, quote
from fairgauge.stats.disclosure import disclosed, range_of_rounded, ranges_over_tables
from fairgauge.values import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairgauge.catalogue.cells import Array
    from fairgauge.cube.cube import CountTable, Cube
    from fairgauge.stats.disclosure import Mask

_MOST_CELLS = 2_000
"""Cells of the table by all columns, beyond which the programs take too long."""
Name = str | None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCounts:
    """A table of counts by columns, with the value of every cell; None is missing."""

    columns: tuple[str, ...]
    values: tuple[tuple[Name, ...], ...]

    @classmethod
    def of(cls, cube: Cube, table: CountTable) -> PublishedCounts:
        """Read the columns and values off a table of a cube."""
        names = [
            [*map(name_of, cube.levels[axis]), None] for axis in table.axes
        ]  # the code of a missing value is -1
        values = tuple(
            tuple(of[code] for of, code in zip(names, codes, strict=True))
            for codes in table.codes.tolist()
        )
        return cls(tuple(axis.column for axis in table.axes), values)

    @property
    def levels(self) -> dict[str, frozenset[Name]]:
        """Return the values of every column."""
        columns = zip(*self.values, strict=True)
        return dict(zip(self.columns, map(frozenset, columns), strict=True))


class OverlappingTables:
    """Tables of the same rows by different columns: the one to be published, and earlier ones.

    Parameters
    ----------
    table : the table to be published.
    earlier : those that were published, each with its published numbers.
    min_cell : the smallest number of persons that may be known of a cell.

    Raises
    ------
    CubeError
        The tables cannot be of the same rows, or have too many cells together.
    """

    def __init__(
        self,
        table: PublishedCounts,
        earlier: Sequence[tuple[PublishedCounts, Array]],
        min_cell: int,
    ) -> None:
        self._tables = (table, *(each for each, _ in earlier))
        self._published = [numbers for _, numbers in earlier]
        self._min_cell = min_cell
        self._levels = _common_levels(self._tables)
        size = math.prod(map(len, self._levels.values()))
        if size > _MOST_CELLS:
            raise CubeError(
                f"the tables have {size:,} combinations of values together, above {_MOST_CELLS:,}; "
                "count all columns together and protect that table"
            )

    def discloses(self, published: Array) -> bool:
        """Return whether the attacker learns a small number of any table or of its margins."""
        ranges = [
            range_of_rounded(numbers, self._min_cell) for numbers in (published, *self._published)
        ]
        low, high = (np.concatenate([each[end] for each in ranges]) for end in range(2))
        occurs = np.ones(self._occurring.shape[0])  # every value that is listed occurs
        targets = [
            np.concatenate([margin @ of for margin in margins])[self._may_be_small(each, margins)]
            for of, margins, each in zip(self._sums, self._margins, ranges, strict=True)
        ]
        found = ranges_over_tables(
            np.concatenate([*self._sums, self._occurring]),
            np.concatenate([low, occurs]),
            np.concatenate([high, np.full(len(occurs), np.inf)]),
            np.concatenate(targets),
        )
        return any(
            math.isnan(least) or bool(disclosed(np.array(least), np.array(most), self._min_cell))
            for least, most in found
        )

    def _may_be_small(self, ranges: tuple[Array, Array], margins: Sequence[Array]) -> Mask:
        """Return which sums of a table its own ranges allow to be small."""
        low, high = (np.concatenate([margin @ end for margin in margins]) for end in ranges)
        return np.asarray((low < self._min_cell) & (high >= 1))

    @cached_property
    def _cells(self) -> list[Mapping[str, Name]]:
        """Return the cells of the table by all columns."""
        return [
            dict(zip(self._levels, values, strict=True))
            for values in product(*(sorted(each, key=str) for each in self._levels.values()))
        ]

    @cached_property
    def _sums(self) -> list[Array]:
        """Return which cells of the table by all columns add up to the cells of every table."""
        return [
            _membership(
                [tuple(cell[column] for column in table.columns) for cell in self._cells],
                table.values,
            )
            for table in self._tables
        ]

    @cached_property
    def _margins(self) -> list[list[Array]]:
        """Return which cells of every table add up to its margins, and to the cells themselves."""
        return [list(_margins(table)) for table in self._tables]

    @cached_property
    def _occurring(self) -> Array:
        """Return which cells have each value of each column."""
        return np.concatenate(
            [
                _membership([(cell[column],) for cell in self._cells], [(v,) for v in values])
                for column, values in self._levels.items()
            ]
        )


def _margins(table: PublishedCounts) -> Iterator[Array]:
    places = range(len(table.columns))
    for kept in (at for size in places for at in combinations(places, size + 1)):
        parts = [tuple(values[i] for i in kept) for values in table.values]
        yield _membership(parts, list(dict.fromkeys(parts)))


def _membership(parts: Sequence[tuple[Name, ...]], sums: Sequence[tuple[Name, ...]]) -> Array:
    """Return which parts belong to which sum, by their values; shape (sums, parts)."""
    place = {values: i for i, values in enumerate(sums)}
    held = np.zeros((len(sums), len(parts)))
    for i, values in enumerate(parts):
        if values in place:
            held[place[values], i] = 1.0
    return held


def _common_levels(tables: Sequence[PublishedCounts]) -> dict[str, frozenset[Name]]:
    """Return the values of every column of some tables of the same rows."""
    levels: dict[str, frozenset[Name]] = {}
    for table in tables:
        for column, values in table.levels.items():
            if levels.setdefault(column, values) != values:
                known = sorted(map(str, levels[column] ^ values))
                raise CubeError(
                    f"what was published before is not of the same rows, or has other intervals: "
                    f"of {quote(column)}, {quote(known[0])} stands in one table alone"
                )
    return levels
