"""Published tables: categories, counts, rates and ratios as printed, and how many are selected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from fairgauge.plugins import is_total, means_missing
from fairgauge_check.printed_numbers import Printed, complement, is_dash, is_whole


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
    texts: tuple[tuple[ColumnRole, str], ...] = ()
    weighted: bool = False
    rate_unit: Fraction | None = None

    @property
    def name(self) -> str:
        """Return the categories as one name."""
        return " & ".join(filter(None, self.categories))

    @property
    def is_empty(self) -> bool:
        """Return whether a row is of 0 people, none of them selected: 0 of 0 has no rate."""
        chosen = self.selected is None or self.selected.value == 0
        return self.n is not None and self.n.value == 0 and chosen

    @property
    def withheld(self) -> bool:
        """Return whether words, not dashes alone, stand in the place of a number."""
        return any(not is_dash(text) for _, text in self.texts)

    def includes(self, other: PublishedRow) -> bool:
        """Return whether a total is of another row: its categories are all, blank or the same."""
        return all(
            not own or is_total(own) or own.casefold() == theirs.casefold()
            for own, theirs in zip(self.categories, other.categories, strict=True)
        )

    @property
    def may_be_reference(self) -> bool:
        """Return whether the row is of a known category: no check compares with any other."""
        return not any(map(means_missing, filter(None, self.categories)))

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
    def share(self) -> Fraction | None:
        """Return the selection rate of the counts, None without both or without people."""
        if self.n is None or self.selected is None or not self.n.exact:
            return None
        return self.selected.exact / self.n.exact

    @property
    def stated_rate(self) -> Fraction | None:
        """Return the selection rate of the counts, else as it is printed."""
        return self.share if self.share is not None or self.rate is None else self.rate.exact

    @property
    def printed_rates(self) -> list[Fraction]:
        """Return the rate as it is printed, unless its counts contradict it.

        Where it is withheld, it is that of the counts, rounded or cut off as others of its column.
        """
        share, unit = self.share, self.rate_unit
        if self.rate is not None:
            return [self.rate.exact] if share is None or self.rate.agrees(share) else []
        if share is None or unit is None:
            return []
        return [unit * at for at in dict.fromkeys((share // unit, (share + unit / 2) // unit))]

    @property
    def rate_range(self) -> tuple[Fraction, Fraction] | None:
        """Return the selection rates that the row allows: of its counts, else as printed."""
        if (share := self.share) is not None:
            return (share, share)
        return None if self.rate is None else (max(self.rate.low, Fraction(0)), self.rate.high)


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
    own : what a report of fairgauge states of its people, None of any other text.
    lost : the rows and lines with numbers that were not read.
    references : the categories that are asked for as reference.
    of_group : whether printed ratios mean a chosen group, so that of several references that fit
        them equally the one of most people is taken; else the one of the highest rate is.
    """

    name: str
    dimensions: tuple[str, ...]
    columns: Mapping[ColumnRole, str]
    rows: tuple[PublishedRow, ...]
    ignored: tuple[str, ...] = ()
    own: bool = False
    excludes: bool = False
    lost: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    of_group: bool = False

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
        rows = tuple(row.of_denials for row in self.rows)
        header = self.columns.get(ColumnRole.DENIAL_RATIO, "")
        columns = {**self.columns, ColumnRole.RATIO: header}
        return replace(self, rows=rows, columns=columns, of_group=True)

    @property
    def people(self) -> float | None:
        """Return how many people there are whose number is printed, of unknown category too.

        None where that of no group is printed.
        """
        numbers = [row.n.value for row in self.groups if row.n is not None]
        return sum(numbers) + (self.unknown or 0) if numbers else None

    @property
    def unknown(self) -> int | None:
        """Return how many people are of unknown category, None where that is not printed."""
        numbers = [row.n.value for row in self.of(RowKind.UNKNOWN) if row.n is not None]
        return int(sum(numbers)) if numbers else None

    @property
    def all_people_stated(self) -> bool:
        """Return whether the number of people of every group is printed."""
        return all(row.n is not None for row in self.groups)


@dataclass(frozen=True, slots=True)
class CountedCategory:
    """A category of a published table whose people are known.

    Attributes
    ----------
    row : as it is printed.
    n : its people.
    fewest, most : the least and the greatest number of selected people that its row allows; the
        same where that number is printed, or one number alone agrees with the printed rate.
    """

    row: PublishedRow
    n: int
    fewest: int
    most: int

    @property
    def name(self) -> str:
        """Return the name of the category."""
        return self.row.name

    @property
    def is_exact(self) -> bool:
        """Return whether the number of selected people is known."""
        return self.fewest == self.most

    @property
    def rate(self) -> float:
        """Return the selection rate: of the counts where these are known, else as printed."""
        if self.is_exact or self.row.rate is None:
            return self.fewest / self.n
        return self.row.rate.value

    @property
    def at_rate(self) -> CountedCategory:
        """Return the category with the one number of selected people nearest to its rate."""
        selected = min(max(round(self.rate * self.n), self.fewest), self.most)
        return replace(self, fewest=selected, most=selected)


def counted_categories(table: PublishedTable) -> list[CountedCategory]:
    r"""Return the categories with people that can be counted, the first of each name.

    Where the number of selected people is not printed, it is any whole number that agrees with the
    printed selection rate. A category whose people are not printed is not counted.

    Examples
    --------
    >>> from fairgauge_check.stated_columns import tables_of
    >>> from fairgauge_check.table_files import grids_of_text
    >>> text = "sex,n,selected,selection rate\nM,80,48,60%\nF,400,-,30%\nX,9,-,33.3%"
    >>> (table,) = tables_of(grids_of_text(text)[0])
    >>> [(each.fewest, each.most) for each in counted_categories(table)]
    [(48, 48), (118, 123), (3, 3)]
    """
    found: dict[str, CountedCategory] = {}
    for row in table.groups:
        selected = selected_people(row)
        if row.n is not None and selected is not None:
            found.setdefault(row.name, CountedCategory(row, int(row.n.value), *selected))
    return list(found.values())


def selected_people(row: PublishedRow) -> tuple[int, int] | None:
    """Return the least and the greatest number of selected people; None where nothing agrees."""
    if row.n is None or not is_whole(row.n.value) or row.n.value <= 0:
        return None
    n = int(row.n.value)
    if row.selected is not None:
        known = is_whole(row.selected.value) and 0 <= row.selected.value <= n
        return (int(row.selected.value),) * 2 if known else None
    if row.rate is None or row.weighted or not 0 <= row.rate.value <= 1:
        return None
    return _agreeing(row.rate, n)


def _agreeing(rate: Printed, n: int) -> tuple[int, int] | None:
    """Return the ends of the whole numbers whose share of ``n`` could be printed as a rate.

    From half a unit of the last place below it (rounded) to less than a unit above it (cut off).
    """
    fewest = max(math.ceil(rate.low * n), 0)
    most = min(math.ceil(rate.high * n) - 1, n)
    return (fewest, most) if fewest <= most else None
