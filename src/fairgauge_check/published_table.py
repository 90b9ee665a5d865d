"""Published tables: categories, counts, rates and ratios as they are printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from fairgauge.plugins import is_total
from fairgauge_check.printed_numbers import Printed, complement, is_suppressed, is_whole

Range: TypeAlias = tuple[Fraction, Fraction]
"""The smallest and the greatest number that is possible."""


class ColumnRole(StrEnum):
    """What a column of a published table holds."""

    CATEGORY = "category"
    N = "n"
    SELECTED = "selected"
    NOT_SELECTED = "not_selected"
    RATE = "rate"
    DENIAL_RATE = "denial_rate"
    RATIO = "ratio"
    DENIAL_RATIO = "denial_ratio"


RATIOS = (ColumnRole.RATIO, ColumnRole.DENIAL_RATIO)
"""Ratios of selection rates, and of the rates of those who are not selected."""


class RowKind(StrEnum):
    """What a row is about."""

    GROUP = "group"
    TOTAL = "total"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """A row of a published table.

    Attributes
    ----------
    number : its place in the table, 1 for the first below the header.
    categories : the value of every category column.
    kind : a group, a total, or people whose category is not known.
    n, selected, not_selected, rate, denial_rate, ratio, denial_ratio : the printed numbers, or what
        follows from the others where a table has no such column; None where nothing is printed.
    texts : what stands in the place of a number, such as "<10" or "see note", by column.
    weighted : whether its rate is weighted, so that it is not made of the number of people.
    rate_unit : one unit of the last place of the rates of its column, None without any.
    """

    number: int
    categories: tuple[str, ...]
    kind: RowKind = RowKind.GROUP
    n: Printed | None = None
    selected: Printed | None = None
    not_selected: Printed | None = None
    rate: Printed | None = None
    denial_rate: Printed | None = None
    ratio: Printed | None = None
    denial_ratio: Printed | None = None
    texts: Mapping[ColumnRole, str]
    weighted: bool = False
    rate_unit: Fraction | None = None

    @property
    def name(self) -> str:
        """Return the categories as one name."""
        return " & ".join(filter(None, self.categories))

    @property
    def is_empty(self) -> bool:
        """Return whether a row is of 0 people: 0 of 0 has no rate."""
        return self.n is not None and self.n.value == 0

    def withholds(self, *roles: ColumnRole) -> bool:
        """Return whether a mark or words state that a number of some columns is not printed."""
        return any(is_suppressed(self.texts.get(role, "")) for role in roles or self.texts)

    def includes(self, other: PublishedRow) -> bool:
        """Return whether a total is of another row: its categories are all, blank or the same."""
        return all(
            not own or is_total(own) or own.casefold() == theirs.casefold()
            for own, theirs in zip(self.categories, other.categories, strict=True)
        )

    @property
    def of_denials(self) -> PublishedRow:
        """Return the row of those who were not selected: all others."""
        denied, rate = self.not_selected, self.denial_rate
        if denied is None and self.n and self.selected:
            denied = replace(self.n, exact=self.n.exact - self.selected.exact)
        if rate is None and self.rate:
            rate = complement(self.rate)
        return replace(self, selected=denied, rate=rate, ratio=self.denial_ratio)

    @property
    def counts(self) -> tuple[int, int] | None:
        """Return the people and the selected ones, None where these are no possible counts."""
        if self.n is None or self.selected is None or not is_whole(self.n.value):
            return None
        possible = is_whole(self.selected.value) and 0 <= self.selected.value <= self.n.value
        return (int(self.n.value), int(self.selected.value)) if possible and self.n.value else None

    @property
    def share(self) -> Fraction | None:
        """Return the selection rate of the counts, None without both or without people."""
        if self.n is None or self.selected is None or not self.n.exact:
            return None
        return self.selected.exact / self.n.exact

    @property
    def stated_rate(self) -> Fraction | None:
        """Return the selection rate of the counts, else as it is printed; None if impossible."""
        rate = self.share if self.share is not None or self.rate is None else self.rate.exact
        return rate if rate is not None and 0 <= rate <= 1 else None

    @property
    def rates(self) -> list[Range]:
        """Return what the rate may be: of the counts or as the printed one allows, and as printed.

        Where no rate is printed beside those of other rows, it is rounded, or cut off, as they are.
        """
        share, rate, unit = self.share, self.rate, self.rate_unit
        found: list[Range] = []
        if share is not None:
            found.append((share, share))
            if rate is None and unit is not None:
                found.append((share // unit * unit, (share + unit / 2) // unit * unit))
        elif rate is not None:
            found.append((max(rate.low, Fraction(0)), rate.high))
        if rate is not None and (share is None or rate.agrees(share)):
            found.append((rate.exact, rate.exact))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A published table.

    Attributes
    ----------
    name : what it is called; the category columns where it has no name.
    dimensions : the headers of the category columns: ``("sex",)``, ``("sex", "race")``.
    columns : the header of every other column that is read.
    rows : its rows in order.
    ignored : the headers of columns of numbers that are not read.
    excludes : whether it is of a report of fairgauge that excludes groups.
    preset : the preset of that report.
    lost : rows, cells and columns with numbers that are not read.
    references : the categories that are asked for as reference.
    """

    name: str
    dimensions: tuple[str, ...]
    columns: Mapping[ColumnRole, str]
    rows: tuple[PublishedRow, ...]
    ignored: tuple[str, ...] = ()
    excludes: bool = False
    preset: str | None = None
    lost: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[PublishedRow, ...]:
        """Return the rows of groups."""
        return self.of(RowKind.GROUP)

    def of(self, kind: RowKind) -> tuple[PublishedRow, ...]:
        """Return the rows of a kind."""
        return tuple(row for row in self.rows if row.kind is kind)

    @property
    def of_denials(self) -> PublishedTable:
        """Return the table of those who were not selected, with the ratios of their rates."""
        return replace(self, rows=tuple(row.of_denials for row in self.rows))

    @property
    def people(self) -> float:
        """Return how many people there are whose number is printed, of unknown category too."""
        return sum(row.n.value for row in self.groups if row.n is not None) + (self.unknown or 0)

    @property
    def unknown(self) -> int | None:
        """Return how many people are of unknown category, None where that is not printed."""
        numbers = [row.n.value for row in self.of(RowKind.UNKNOWN) if row.n is not None]
        return int(sum(numbers)) if numbers else None

    def is_large(self, row: PublishedRow, share: float) -> bool:
        """Return whether a row has a share of the people, or may have."""
        return row.n is None or row.n.value >= share * self.people
