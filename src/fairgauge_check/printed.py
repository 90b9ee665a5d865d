"""Published tables as they are printed: numbers, rows of categories, and the tables of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.plugins import is_total

if TYPE_CHECKING:
    from fairgauge_check.table_files import Grid

Range: TypeAlias = tuple[Fraction, Fraction]
"""The smallest and the greatest number that is possible."""
_MARKS = "*†‡§¶¹²³⁰⁴⁵⁶⁷⁸⁹"
_NOTE = re.compile(r"(\[\^?\w{1,2}\]|\s\(([a-z]|\d)\))\Z")
_LONGEST_NOTE = len("[^12]")
_NUMBER = re.compile(r"[-+−]?(\d+(\.\d+)?|\.\d+)")
_GAPS = r"[,'’\u00a0\u2009\u202f ]"
_GROUPED = re.compile(rf"[-+−]?\d{{1,3}}({_GAPS}\d{{3}})+(\.\d+)?$")
_EMPTY = re.compile(r"[-–—]*|n/?\.?a\.?|nan|none|null|\.", re.IGNORECASE)
_REFERENCE = re.compile(
    r"[\[(]?(ref\.?|reference|referent|baseline|benchmark|highest)( group| category| rate)?[\])]?",
    re.IGNORECASE,
)
# a bound, or a reference to a note, in the place of a number
_POINTER = re.compile(
    r"([<≤]|\b(than|under|below))\s*\d[\d.,]*\s*%?|[(\[]\w[)\]]"
    r"|\b(notes?|footnotes?|tables?|pages?|rows?|sections?)\s*\d{1,2}(?![\d.,])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its value, and how far the unrounded number may lie from it.

    Both are exact, because what is cut off may end at the printed place: 0.88 cut off is 0.88, and
    never 0.87. ``exact`` is of one, and printed ``per`` so many (``"47.98 %"`` is 0.4798, per 100);
    ``unit`` is one of the last printed place on its scale, 0 of a word.
    """

    text: str
    exact: Fraction
    unit: Fraction
    per: int = 1

    def agrees(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Return whether a number, or one of a range, could be printed like this.

        A number that is cut off instead of rounded agrees too: both are in use.
        """
        high = low if high is None else high
        not_above = low < self.high if self.unit else low <= self.exact
        return not_above and self.low <= high

    @property
    def value(self) -> float:
        return float(self.exact)

    @property
    def low(self) -> Fraction:
        """Return the smallest number that is printed like this."""
        return self.exact - self.unit / 2

    @property
    def high(self) -> Fraction:
        """Return the end below which all numbers are that are printed like this, cut off."""
        return self.exact + self.unit

    @property
    def is_whole(self) -> bool:
        return abs(self.exact) <= 2**53 and self.exact.denominator == 1 and self.per == 1


def is_empty(text: str) -> bool:
    """Return whether a cell is empty, a dash or "n/a", with the mark of a footnote or without."""
    plain = text.strip()
    return _EMPTY.fullmatch(_strip_remark(plain) or plain) is not None


def _strip_marks(text: str, marks: str = _MARKS) -> str:
    end = len(text)
    while end and (text[end - 1] in marks or text[end - 1].isspace()):
        end -= 1
    return text[:end]


def _strip_remark(text: str) -> str:
    # without the marks of footnotes, a remark in brackets, or a confidence interval behind it
    text = _strip_marks(text, f"{_MARKS}#")
    opened = [at for at in (text.find("(", 1), text.find("[", 1)) if at > 0]
    return text[: min(opened)].rstrip() if opened and text.endswith((")", "]")) else text


@lru_cache(maxsize=1 << 16)
def read_number(text: str, *, decimal: bool = False) -> Printed | None:
    """Read a printed number; None of a blank cell or of text that is no number.

    A comma with three digits behind it separates thousands, unless nothing but zero stands before
    it or the number is ``decimal``, as rates and ratios are; any other comma is a decimal comma.

    >>> [read_number(each).value for each in ("1,390", "47.98%", ".979*", "0,806", "1 390")]
    [1390.0, 0.4798, 0.979, 0.806, 1390.0]
    """
    bare = _strip_remark(text.strip())
    percent = bare.endswith("%")
    number = _strip_remark(bare.rstrip("%").strip())
    if not decimal and _GROUPED.match(number) and not number.lstrip("+-−").startswith("0"):
        number = re.sub(_GAPS, "", number)
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    if not _NUMBER.fullmatch(number) or len(number) > 100:  # as no count has
        return None
    per, places = 100 if percent else 1, len(number.partition(".")[2])
    exact = Fraction(number.replace("−", "-")) / per
    return Printed(text.strip(), exact, Fraction(1, per * 10**places), per)


def read_ratio(text: str) -> Printed | None:
    """Read a printed ratio: a number, or a word for the reference, whose ratio is 1."""
    plain = text.strip()
    if _REFERENCE.fullmatch(_strip_remark(plain)) or _REFERENCE.fullmatch(plain):
        return Printed(plain, Fraction(1), Fraction(0))
    return read_number(text, decimal=True)


def has_number(text: str) -> bool:
    """Return whether text in the place of a number has one that is no bound, and no reference.

    >>> [has_number(text) for text in ("see note 0.84", "3OO", "< 2% of applicants", "see note 3")]
    [True, True, False, False]
    """
    return bool(re.search(r"\d", _POINTER.sub("", text)))


def is_like_a_row(text: str) -> bool:
    """Return whether numbers stand beside each other in a text, as those of a row do."""
    words = text.replace(" %", "%").split()
    numbers = [read_number(word.strip("()[]|")) is not None for word in words]
    return any(one and other for one, other in pairwise(numbers))


def strip_marks(name: str) -> str:
    """Return the name of a category without the marks of footnotes behind it."""
    rest = _strip_marks(name)
    while note := _NOTE.search(rest, max(0, len(rest) - _LONGEST_NOTE)):
        rest = _strip_marks(rest[: note.start()])
    return rest or name


class ColumnRole(StrEnum):
    """What a column of a published table holds."""

    GROUP = "group"
    N = "n"
    SELECTED = "selected"
    RATE = "rate"
    RATIO = "ratio"


class RowKind(StrEnum):
    """What a row is about."""

    GROUP = "group"
    TOTAL = "total"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """A row of a published table, with its printed numbers; None where none is printed.

    ``texts`` is what stands in the place of a number, such as "<10" or "see note", by column;
    ``weighted`` whether its rate is weighted, and so not made of the number of people;
    ``rate_unit`` one unit of the last place of the rates of its column.
    """

    number: int
    categories: tuple[str, ...]
    kind: RowKind = RowKind.GROUP
    n: Printed | None = None
    selected: Printed | None = None
    rate: Printed | None = None
    ratio: Printed | None = None
    texts: Mapping[ColumnRole, str]
    weighted: bool = False
    rate_unit: Fraction | None = None

    @property
    def name(self) -> str:
        return " & ".join(filter(None, self.categories))

    @property
    def people(self) -> float:
        return self.n.value if self.n else 0

    @property
    def printed_counts(self) -> list[tuple[ColumnRole, Printed]]:
        """Return the printed numbers of people, and of selected ones."""
        both = ((ColumnRole.N, self.n), (ColumnRole.SELECTED, self.selected))
        return [(role, printed) for role, printed in both if printed is not None]

    @property
    def impossible_counts(self) -> dict[ColumnRole, Printed]:
        """Return those of them that count nobody: not whole, negative, or more than there are."""
        most = math.inf if self.n is None else self.n.exact
        return {role: printed for role, printed in self.printed_counts
                if not (printed.is_whole and 0 <= printed.exact <= most)}  # fmt: skip

    def includes(self, other: PublishedRow) -> bool:
        """Return whether a total is of another row: its categories are all, blank or the same."""
        return all(
            not own or is_total(own) or own.casefold() == theirs.casefold()
            for own, theirs in zip(self.categories, other.categories, strict=True)
        )

    @property
    def counts(self) -> tuple[int, int] | None:
        """Return the people and the selected ones, None where these are no possible counts."""
        n, selected = self.n, self.selected
        if not (n and selected and n.is_whole and selected.is_whole and n.exact):
            return None
        return (int(n.exact), int(selected.exact)) if 0 <= selected.exact <= n.exact else None

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
        if share is None:
            return [(max(rate.low, Fraction(0)), rate.high), (rate.exact,) * 2] if rate else []
        found = [(share, share)]
        if rate is not None and rate.agrees(share):
            found.append((rate.exact, rate.exact))
        elif rate is None and unit is not None:
            found.append((share // unit * unit, (share + unit / 2) // unit * unit))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A published table, called by its category columns where it has no name.

    ``columns`` are the headers that are read, and ``ignored`` those of numbers that are not;
    ``lost`` are rows, cells and columns with numbers that are not read; ``references`` the
    categories that are asked for as reference. ``harm`` is whether those selected are harmed: then
    the lowest rate is the best one; None where a name suggests it, and nobody stated it.
    """

    grid: Grid
    name: str
    dimensions: tuple[str, ...]
    columns: Mapping[ColumnRole, str]
    rows: tuple[PublishedRow, ...]
    ignored: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    harm: bool | None = False

    @property
    def groups(self) -> tuple[PublishedRow, ...]:
        return self.of(RowKind.GROUP)

    def of(self, kind: RowKind) -> tuple[PublishedRow, ...]:
        return tuple(row for row in self.rows if row.kind is kind)

    @property
    def people(self) -> float:
        """Return how many people there are whose number is printed, of unknown category too."""
        return sum(row.people for row in self.groups) + (self.unknown or 0)

    @property
    def unknown(self) -> int | None:
        """Return how many people are of unknown category, None where that is not printed."""
        numbers = [row.n.value for row in self.of(RowKind.UNKNOWN) if row.n]
        return int(sum(numbers)) if numbers else None

    def favour(self, row: PublishedRow) -> Fraction:
        """Return the rate of a row, or its negative where those selected are harmed."""
        rate = row.stated_rate or Fraction(0)
        return -rate if self.harm else rate

    def is_large(self, row: PublishedRow, share: float) -> bool:
        """Return whether a row has a share of the people, or may have."""
        return row.n is None or row.n.value >= share * self.people
