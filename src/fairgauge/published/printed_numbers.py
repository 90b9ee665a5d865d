"""Numbers as they are printed: with percent signs, thousands separators and footnote marks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_FOOTNOTE = re.compile(r"[\s*†‡§¶#¹²³⁰⁴-⁹]+$|\s*\[\w{1,2}\]$|\s*\([a-z]\)$|(?<=\d)\s*\(\w\)$")
_NUMBER = re.compile(r"[-+−]?(\d+(\.\d+)?|\.\d+)")
_GAPS = r"[,'’\u00a0\u2009\u202f ]"
_GROUPED = re.compile(rf"[-+−]?\d{{1,3}}({_GAPS}\d{{3}})+(\.\d+)?$")
_BLANK = frozenset({"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "n.a.", "."})
_STATED = re.compile(
    r"(excluded|omitted|suppressed|withheld|redacted|insufficient|too (few|small)|n/?a\b"
    r"|not (calculated|computed|reported|applicable|available|included|shown|required|meaningful)"
    r"|[<≤]|(fewer|less) than|under|below)[^,;]*"
)
_REFERENCE = re.compile(
    r"\s*\((ref\.?|reference|baseline|highest)( group| category)?\)$", re.IGNORECASE
)
_MARKED = re.compile(r"^[*†‡§]+$")
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its value, and how far the unrounded number may lie from it.

    Attributes
    ----------
    text : as it is printed.
    value : as a number; a percentage is a share (``"47.98 %"`` is 0.4798).
    margin : half a unit of the last printed place, on the scale of ``value``.
    percent : whether a percent sign is printed.
    """

    text: str
    value: float
    margin: float
    percent: bool = False

    def agrees(self, low: float, high: float | None = None) -> bool:
        """Return whether a number, or one of a range, could be printed like this.

        A number that is cut off instead of rounded agrees too: both are in use.
        """
        high = low if high is None else high
        return low - 2 * self.margin - _SLACK < self.value < high + self.margin + _SLACK

    @property
    def low(self) -> float:
        """Return the smallest number that is printed like this."""
        return self.value - self.margin

    @property
    def high(self) -> float:
        """Return the largest number that is printed like this, rounded or cut off."""
        return self.value + 2 * self.margin

    def as_percentage(self) -> Printed:
        """Return the same text read as a percentage without its sign."""
        return Printed(self.text, self.value / 100, self.margin / 100, percent=True)


def is_blank(text: str) -> bool:
    """Return whether a cell holds no number on purpose: empty, a dash, "n/a" or a footnote mark.

    Words that state why there is no number are such a cell as well.

    >>> is_blank(" — "), is_blank("N/A*"), is_blank("< 2% of applicants"), is_blank("0")
    (True, True, True, False)
    """
    plain = text.strip().casefold()
    if plain in _BLANK or _MARKED.match(plain) or _bare(plain) in _BLANK:
        return True
    return is_withheld(text)


def is_withheld(text: str) -> bool:
    """Return whether words stand in the place of a number.

    >>> is_withheld("<10"), is_withheld("Excluded"), is_withheld(""), is_withheld("10")
    (True, True, False, False)
    """
    return bool(_STATED.fullmatch(text.strip().casefold()))


def read_number(text: str) -> Printed | None:
    """Read a printed number; None of a blank cell or of text that is no number.

    A comma with three digits behind it separates thousands, unless nothing but zero stands before
    it; any other comma is a decimal comma.

    Examples
    --------
    >>> [read_number(each).value for each in ("1,390", "47.98%", ".979*", "0,806", "1 390")]
    [1390.0, 0.4798, 0.979, 0.806, 1390.0]
    >>> read_number("0.98").margin
    0.005
    >>> read_number("Female") is None
    True
    """
    bare = _bare(_REFERENCE.sub("", text.strip()))
    percent = bare.endswith("%")
    number = _bare(bare.rstrip("%").strip())
    if _GROUPED.match(number) and not number.lstrip("+-−").startswith("0"):
        number = re.sub(_GAPS, "", number)
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    if not _NUMBER.fullmatch(number):
        return None
    value = float(number.replace("−", "-"))
    places = len(number.partition(".")[2])
    margin = 0.5 * 10.0**-places
    scale = 100 if percent else 1
    return Printed(text.strip(), round(value / scale, 12), margin / scale, percent)


def is_whole(value: float) -> bool:
    """Return whether a count is a whole number.

    >>> is_whole(3.0), is_whole(3.5), is_whole(float("inf"))
    (True, False, False)
    """
    return math.isfinite(value) and value == int(value)


def _bare(text: str) -> str:
    """Return a text without the marks of footnotes behind it."""
    found = _FOOTNOTE.sub("", text)
    return text if found == text else _bare(found)
