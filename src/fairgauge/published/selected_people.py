"""How many people of a category are selected: as printed, or as many as its rounded rate allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairgauge.published.printed_numbers import is_whole

if TYPE_CHECKING:
    from fairgauge.published.printed_numbers import Printed
    from fairgauge.published.published_table import PublishedRow, PublishedTable


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


def counted_categories(table: PublishedTable) -> list[CountedCategory]:
    r"""Return the categories with people that can be counted, the first of each name.

    Where the number of selected people is not printed, it is any whole number that agrees with the
    printed selection rate. A category whose people are not printed is not counted.

    Examples
    --------
    >>> from fairgauge.published._column_roles import table_of
    >>> from fairgauge.published._table_files import grids_of_text
    >>> text = "sex  n  hired  rate\nMale  80  48  60%\nFemale  400  -  30%\nOther  9  -  33.3%"
    >>> table = table_of(grids_of_text(text)[0])
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
    if row.rate is None or not 0 <= row.rate.value <= 1:
        return None
    return _agreeing(row.rate, n)


def _agreeing(rate: Printed, n: int) -> tuple[int, int] | None:
    """Return the ends of the whole numbers whose share of ``n`` could be printed as a rate.

    From half a unit of the last place below it (rounded) to less than a unit above it (cut off).
    """
    fewest = max(math.ceil(rate.low * n), 0)
    most = min(math.ceil(rate.high * n) - 1, n)
    return (fewest, most) if fewest <= most else None
