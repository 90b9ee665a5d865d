"""Numbers as they are printed: with percent signs, thousands separators and footnote marks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

_FOOTNOTE = re.compile(r"[\s*†‡§¶#¹²³⁰⁴-⁹]+$|\s*\[\^?\w{1,2}\]$|\s*\([a-z]\)$|(?<=\d)\s*\(\w\)$")
_NAME_MARK = re.compile(r"([\s*†‡§¶¹²³⁰⁴-⁹]|\s*\[\^?\w{1,2}\]|\s+\(([a-z]|\d)\))+$")
_NUMBER = re.compile(r"[-+−]?(\d+(\.\d+)?|\.\d+)")
_GAPS = r"[,'’\u00a0\u2009\u202f ]"
_GROUPED = re.compile(rf"[-+−]?\d{{1,3}}({_GAPS}\d{{3}})+(\.\d+)?$")
_BLANK = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "n.a.", "."})
_STATED = re.compile(
    r"(excluded|omitted|suppressed|withheld|redacted|insufficient|too (few|small)|n/?a\b"
    r"|not (calculated|computed|reported|applicable|available|included|shown|required|meaningful)"
    r"|unavailable|confidential|pending|see\b|(n ?)?[<≤]|(fewer|less) than|under|below)[^,;]*"
)
_REFERENCE = re.compile(
    r"\s*\((ref\.?|reference|baseline|highest)( group| category)?\)$", re.IGNORECASE
)
_REFERENCE_WORD = re.compile(
    r"[\[(]?(ref\.?|reference|referent|baseline|benchmark|highest)( group| category| rate)?[\])]?",
    re.IGNORECASE,
)
_NOT_APPLICABLE = re.compile(r"n/?a\b[^a-z]*|not applicable")
_RANGE = re.compile(r"\s*[(\[]\s*[\d.]+\s*%?\s*(-|–|—|to|;|,\s)\s*[\d.]+\s*%?\s*[)\]]$")
"""A confidence interval behind a number."""
_REMARKED = re.compile(
    r"([-+−]?(?:\d*[.,]\d+(?:\s*%)?|\d+\s*%|[01](?=\s*[^\w\s(])))"
    r"(?:\s*[(\[].*[^\W\d_].*[)\]]|\s*[-–—,;:]?\s(?!to\b)[^\W\d_].*|\s*[^\w\s.,()\[\]–—%-]+)"
)
"""A share or ratio with a remark or a sign behind it."""
_MARKED = re.compile(r"[*†‡§]+")
_POINTER = re.compile(
    r"([<≤]|\b(than|under|below))\s*\d[\d.,]*\s*%?|[(\[]\w[)\]]"
    r"|\b(notes?|footnotes?|tables?|pages?|rows?|sections?)\s*\d{1,2}(?![\d.,])",
    re.IGNORECASE,
)
"""A bound, or a reference to a note, in the place of a number."""
_LONGEST = 100
"""The longest number that is read; a published count has no hundred digits."""
_DASH = re.compile(r"[-–—]+")


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its value, and how far the unrounded number may lie from it.

    Both are exact, because what is cut off may end at the printed place: 0.88 cut off is 0.88, and
    never 0.87.

    Attributes
    ----------
    text : as it is printed.
    exact : as a number; a percentage is a share (``"47.98 %"`` is 0.4798).
    unit : one unit of the last printed place, on the scale of ``exact``; 0 of a word.
    percent : whether a percent sign is printed.
    """

    text: str
    exact: Fraction
    unit: Fraction
    percent: bool = False

    def agrees(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Return whether a number, or one of a range, could be printed like this.

        A number that is cut off instead of rounded agrees too: both are in use.
        """
        high = low if high is None else high
        not_above = low < self.high if self.unit else low <= self.exact
        return not_above and self.low <= high

    @property
    def value(self) -> float:
        """Return the number as it is computed with elsewhere."""
        return float(self.exact)

    @property
    def margin(self) -> Fraction:
        """Return half a unit of the last printed place."""
        return self.unit / 2

    @property
    def low(self) -> Fraction:
        """Return the smallest number that is printed like this."""
        return self.exact - self.margin

    @property
    def high(self) -> Fraction:
        """Return the end below which all numbers are that are printed like this, cut off."""
        return self.exact + self.unit

    def as_percentage(self) -> Printed:
        """Return the same text read as a percentage without its sign."""
        return Printed(self.text, self.exact / 100, self.unit / 100, percent=True)


def complement(rate: Printed) -> Printed:
    """Return 1 minus a printed rate, which may be cut off instead of rounded.

    >>> float(complement(read_number("13.0%")).exact)
    0.87
    """
    return replace(rate, text=f"1 - {rate.text}", exact=1 - rate.exact, unit=2 * rate.unit)


def is_blank(text: str) -> bool:
    """Return whether a cell holds no number on purpose: empty, a dash, "n/a" or a footnote mark.

    Words that state why there is no number are such a cell as well.

    >>> is_blank(" — "), is_blank("N/A*"), is_blank("< 2% of applicants"), is_blank("0")
    (True, True, True, False)
    """
    return is_empty(text) or is_withheld(text)


def is_empty(text: str) -> bool:
    """Return whether a cell is empty, a dash or "n/a", with the mark of a footnote or without."""
    plain = text.strip().casefold()
    return plain in _BLANK or _bare(plain) in _BLANK or is_dash(plain)


def is_withheld(text: str) -> bool:
    """Return whether words, or the mark of a footnote, stand in the place of a number.

    >>> is_withheld("n < 10"), is_withheld("Excluded"), is_withheld("*"), is_withheld("10")
    (True, True, True, False)
    """
    plain = text.strip().casefold()
    return bool(_STATED.fullmatch(plain) or _MARKED.fullmatch(plain))


def is_suppressed(text: str) -> bool:
    """Return whether a mark or words state that a number is not printed; "n/a" alone does not.

    >>> is_suppressed("*"), is_suppressed("<0.17"), is_suppressed("n/a"), is_suppressed("-")
    (True, True, False, False)
    """
    return is_withheld(text) and not _NOT_APPLICABLE.fullmatch(text.strip().casefold())


def is_dash(text: str) -> bool:
    """Return whether a cell is a dash.

    >>> is_dash(" — "), is_dash("-5")
    (True, False)
    """
    return bool(_DASH.fullmatch(text.strip()))


@lru_cache(maxsize=1 << 16)
def read_number(text: str) -> Printed | None:
    """Read a printed number; None of a blank cell or of text that is no number.

    A comma with three digits behind it separates thousands, unless nothing but zero stands before
    it; any other comma is a decimal comma.

    Examples
    --------
    >>> [read_number(each).value for each in ("1,390", "47.98%", ".979*", "0,806", "1 390")]
    [1390.0, 0.4798, 0.979, 0.806, 1390.0]
    >>> read_number("0.98").unit
    Fraction(1, 100)
    >>> read_number("Female") is None
    True
    >>> read_number("30.0% (27.1-33.1)").value
    0.3
    """
    bare = _bare(_RANGE.sub("", _REFERENCE.sub("", text.strip())))
    bare = _REMARKED.sub(r"\1", bare) if _REMARKED.fullmatch(bare) else bare
    percent = bare.endswith("%")
    number = _bare(bare.rstrip("%").strip())
    if _GROUPED.match(number) and not number.lstrip("+-−").startswith("0"):
        number = re.sub(_GAPS, "", number)
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    if not _NUMBER.fullmatch(number) or len(number) > _LONGEST:
        return None
    places = len(number.partition(".")[2])
    scale = 100 if percent else 1
    exact = Fraction(number.replace("−", "-")) / scale
    return Printed(text.strip(), exact, Fraction(1, scale * 10**places), percent)


def read_ratio(text: str) -> Printed | None:
    """Read a printed ratio: a number, or a word for the reference, whose ratio is 1.

    >>> read_ratio("0.98").value, read_ratio("Reference*").value, read_ratio("Female")
    (0.98, 1.0, None)
    >>> [read_ratio(text).value for text in ("0.68 (below 4/5)", "0.68 – low", "1.2 ✓", ".7!")]
    [0.68, 0.68, 1.2, 0.7]
    """
    if _REFERENCE_WORD.fullmatch(_bare(text.strip())):
        return Printed(text.strip(), Fraction(1), Fraction(0))
    return read_number(text)


def has_number(text: str) -> bool:
    """Return whether text in the place of a number has one that is no bound, and no reference.

    >>> has_number("see note 0.84"), has_number("3OO"), has_number("withheld")
    (True, True, False)
    >>> has_number("< 2% of applicants"), has_number("see note 3"), has_number("N/A (1)")
    (False, False, False)
    """
    return bool(re.search(r"\d", _POINTER.sub("", text)))


def is_like_a_row(text: str) -> bool:
    """Return whether numbers stand beside each other in a text, as those of a row do.

    >>> is_like_a_row("Age 40 and over 1,390 (48%) 0.98"), is_like_a_row("Page 3 of 7")
    (True, False)
    """
    words = text.replace(" %", "%").split()
    numbers = [read_number(word.strip("()[]|")) is not None for word in words]
    return any(one and other for one, other in pairwise(numbers))


def is_whole(value: float) -> bool:
    """Return whether a count is a whole number.

    >>> is_whole(3.0), is_whole(3.5), is_whole(float("inf"))
    (True, False, False)
    """
    return math.isfinite(value) and value == int(value)


def without_marks(name: str) -> str:
    """Return the name of a category without the marks of footnotes behind it.

    >>> [without_marks(name) for name in ("White*", "Female (1)", "Asian [a]", "Age (40+)")]
    ['White', 'Female', 'Asian', 'Age (40+)']
    """
    return _NAME_MARK.sub("", name) or name


def _bare(text: str) -> str:
    """Return a text without the marks of footnotes behind it."""
    found = _FOOTNOTE.sub("", text)
    return text if found == text else _bare(found)
