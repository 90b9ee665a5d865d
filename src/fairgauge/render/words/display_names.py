"""Names of groups and columns are user data: made harmless, and fitted into tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fairgauge.errors import IMITATES
from fairgauge.render.words.numbers import listing
from fairgauge.results.scopes import function_at

_LONGEST = 120
_NARROW = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u259f]*"
)
"""Texts of Latin letters, and the signs of reports, which take one column each."""
_LEFT_TO_RIGHT = "\u200e"
_KEPT = "\u200c\u200d" + _LEFT_TO_RIGHT  # Persian and many emoji need joiners; none reorders
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
_BARE = re.compile(r"(?i)yes|no|true|false|[-+]?\d+([.:/-]\d+)*")
_UNSEEN = re.compile("^[ \u00a0]+|[ \u00a0]+$| {2,}")
BAND = re.compile(r"([(\[])(?!-inf,\sinf)(-inf|-?[\d.]+), (inf|-?[\d.]+)([)\]])")
"""A range of numbers as a group is named that was cut."""


def printable(text: object) -> str:
    r"""Show control characters, bidirectional overrides and other invisible ones as escapes.

    Right-to-left text is followed by a left-to-right mark, so that the numbers after it keep their
    places.

    >>> printable("a\x1b[31mb"), printable("evil\u202elive")
    ('a\\x1b[31mb', 'evil\\u202elive')
    """
    shown = str(text)
    if _NARROW.fullmatch(shown):  # most names, at a thirtieth of the time
        return shown
    hidden = {c for c in {*shown} - {*_KEPT} if unicodedata.category(c) in _INVISIBLE}
    shown = "".join(_escape(c) if c in hidden else c for c in shown)
    turned = any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in shown)
    return f"{shown.removesuffix(_LEFT_TO_RIGHT)}{_LEFT_TO_RIGHT}" if turned else shown


def called(name: object) -> str:
    r"""Return a name of the user as it is shown: harmless, and whole unless it is endless.

    Blanks that nobody would see are within quotation marks: they are all that two names differ in.
    So is what could be taken for a sentence, a mark or a verdict of ours.

    >>> called("Native Hawaiian or Other Pacific Islander"), called("White ")
    ('Native Hawaiian or Other Pacific Islander', '“White\xa0”')
    >>> called("White\N{NO-BREAK SPACE}")
    '“White\xa0”'

    Ranges of numbers are in words, those of an intersection, too.

    >>> called("(60, inf)"), called("Female & (-inf, 40]")
    ('above 60', 'Female & up to 40')
    """
    shown = shorten(printable(name), _LONGEST)
    if BAND.search(shown):
        spoken = function_at("fairgauge.render.grammar:spoken")()  # which names groups itself
        shown = " & ".join(spoken.band(part) or part for part in shown.split(" & "))
    alone = not (_UNSEEN.search(shown) or IMITATES.search(shown))
    return shown if alone else f"“{within_quotes(name)}”"


def within_quotes(name: object) -> str:
    r"""Return a name as `called` does, where quotation marks are around it already.

    >>> within_quotes("White ")
    'White\xa0'
    """
    # no page and no table takes these blanks away
    shown = shorten(printable(name), _LONGEST)
    return _UNSEEN.sub(lambda blanks: "\u00a0" * len(blanks[0]), shown)


def file_of(source: str) -> str:
    """Return the name of what was audited, without its folders; a frame has none.

    >>> file_of("/data/my loans.csv"), file_of("s3://bank/loans/"), file_of("polars frame")
    ('my loans.csv', 'loans', 'a table')
    >>> file_of("delta:loans as of version 1")
    'delta:loans as of version 1'
    >>> file_of("days/1.csv, days/2.csv, days/3.csv"), file_of("loans, old/2.csv")
    ('1.csv and 2 more', '2.csv')
    """
    if " " in source and not re.search(r"[./\\:]", source):
        return "a table"
    parts = source.split(", ")
    files = parts if all(re.search(r"\.\w+$", each) for each in parts) else [source]
    ends = (re.split(r"[/\\]", each.rstrip("/\\"))[-1] for each in files)
    names = [*dict.fromkeys(map(called, ends))]
    return listing(names, most=2 if len(names) == 2 else 1)


def group_called(group: object, feature: object, *, apart: bool = True) -> str:
    """Return a group with its feature, as a sentence names it.

    ``apart`` is whether names that are clear without their feature have it in brackets.

    >>> group_called("Female", "sex"), group_called("yes", "smoker")
    ('Female (sex)', 'smoker = yes')
    >>> group_called("(25, 40]", "age")
    'age above 25 to 40'
    >>> group_called("Female", "sex", apart=False)
    'Female'
    >>> group_called("Female", None)
    'Female'
    """
    if feature is None:  # of a rule that names a group which no feature has
        return called(group)
    if _BARE.fullmatch(str(group)):
        return f"{called(feature)} = {called(group)}"
    if BAND.fullmatch(str(group)):
        return f"{called(feature)} {called(group)}"
    return f"{called(group)} ({called(feature)})" if apart else called(group)


def groups_called(groups: Sequence[object], feature: object) -> str:
    """Return groups with their feature, which several have in brackets once.

    >>> groups_called(["Female"], "sex"), groups_called(["A", "C"], "region")
    ('Female (sex)', 'A and C (region)')
    """
    if len(groups) == 1:
        return group_called(groups[0], feature)
    return f"{listing([called(each) for each in groups])} ({called(feature)})"


def capitalised(text: str) -> str:
    """Return a sentence with a capital in front; symbols such as n and p stay as they are."""
    return text if text[1:2] in (" ", "-") else text[:1].upper() + text[1:]


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Return the terminal columns that a text takes."""
    if _NARROW.fullmatch(text):
        return len(text)
    from wcwidth import wcswidth  # its tables take as long to load as the words of a report

    return wcswidth(text)


def shorten(text: str, most: int) -> str:
    """Cut a text to at most ``most`` columns, keeping both of its ends, which distinguish names.

    >>> shorten("a very long name, number 17", 16)
    'a very lo…ber 17'
    """
    if 2 * len(text) <= most or width(text) <= most:
        return text
    end = _fitting(text[::-1], (most - 1) * 2 // 5)[::-1]
    return f"{_fitting(text, most - 1 - width(end))}…{end}"


def _fitting(text: str, most: int) -> str:
    kept = text[:most]
    while width(kept) > most:
        kept = kept[:-1]
    return kept
