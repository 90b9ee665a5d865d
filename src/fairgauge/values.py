"""Values of columns: their one canonical form, their name for people, and matching across types.

A canonical value is ``str``, ``bool``, ``int``, ``float`` or ``None`` (missing), whatever engine it
came from: ``1.0`` is ``1``, ``-0.0`` is ``0``, NaN is missing, dates are ISO text,
and durations are hours, minutes and seconds: ``32:00:00``.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias, TypeGuard

from fairgauge.errors import quote

Value: TypeAlias = str | bool | int | float | None

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Plain values, as JSON has them."""

Saved: TypeAlias = Mapping[str, Any]
"""What a `to_dict` wrote, as it is read back: each reader knows the types of its fields."""

MISSING_NAME = "(missing)"

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_MOST_DIGITS = 15
_UUID = 16
_MIDNIGHT = "T00:00:00"
_TRUTHS = ("false", "true")


NANOSECONDS = r"(T00:00:00\.0{9}|\.0{9}|(\.\d{6})000)$"
"""What a moment that is written with nine places ends in and its one form does not; group 2 is."""


def canonical(raw: object) -> Value:
    """Return the one form of a raw value of any engine (missing is ``None``)."""
    if raw is None or isinstance(raw, (str, bool)) or type(raw) is int:
        return raw
    if hasattr(raw, "item") and not isinstance(raw, (bytes, Decimal)):  # numpy and Arrow scalars
        if (kind := type(raw).__name__) in ("datetime64", "timedelta64"):
            moment: Any = raw
            whole = moment.astype(f"{kind}[us]")
            return str(raw) if whole != raw and raw == raw else canonical(whole.item())
        raw = to_double(raw) if isinstance(raw.item(), float) else raw.item()
        if raw is None or isinstance(raw, (str, bool)):
            return raw
    if isinstance(raw, int):
        return int(raw)
    if isinstance(raw, (float, Decimal)):
        return _canonical_number(float(raw) if isinstance(raw, float) else raw)
    if isinstance(raw, (dt.date, dt.time)):  # datetimes are dates
        return None if raw != raw else _iso(raw)
    if isinstance(raw, bytes):
        # the text that bytes are, or that of a UUID, which some engines hold as its bytes
        if len(raw) == _UUID and not raw.decode("utf-8", "surrogateescape").isprintable():
            digits = raw.hex()
            return "-".join(digits[i:j] for i, j in pairwise((0, 8, 12, 16, 20, 32)))
        return raw.decode("utf-8", "backslashreplace")
    if isinstance(raw, dt.timedelta):
        return None if raw != raw else _duration_text(raw)
    if type(raw).__name__ in {"NAType", "NaTType"} or raw != raw:
        return None
    return str(raw)


SCALES = ((1e0, 1e7), (1e2, 1e5), (1e4, 1e3), (1e6, 1e1))
"""Of floats of single precision below each size, ten to the power of the decimal places."""
HALF = 1e-4
"""Of half precision there are four places fewer."""


def to_double(number: Any) -> float:
    """Return a number as a double; of less precision, the decimal that it stands for.

    `fairgauge.scan.row_codes` states which that is.
    """
    wide, kind = float(number), type(number)
    if kind.__name__ not in ("float32", "float16") or not math.isfinite(wide):
        return wide
    scale = next((scale for bound, scale in SCALES if abs(wide) < bound), 1.0)
    scale = max(scale * HALF, 1.0) if kind.__name__ == "float16" else scale
    near = round(wide * scale) / scale
    return near if kind(near) == number else wide


def _canonical_number(raw: float | Decimal) -> Value:
    if math.isnan(raw):
        return None
    if math.isinf(raw):
        return "Infinity" if raw > 0 else "-Infinity"
    whole = int(raw)
    return whole if raw == whole else float(raw)


def _iso(raw: dt.date | dt.time) -> str:
    if isinstance(raw, dt.datetime) and raw.tzinfo:
        # engines disagree on the zone that they show, and some on what is less than a microsecond
        return raw.astimezone(dt.UTC).isoformat(timespec="microseconds").replace(".000000", "")
    # engines disagree on date against midnight
    text = raw.isoformat()
    return text.removesuffix(_MIDNIGHT) if isinstance(raw, dt.datetime) else text


def _duration_text(raw: dt.timedelta) -> str:
    # as a time of day, in the hours of all its days: SPSS and workbooks write both alike
    seconds, rest = divmod(abs(raw) // dt.timedelta(microseconds=1), 10**6)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return ("-" if raw.days < 0 else "") + text + (f".{rest:06}" if rest else "")


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def plain_number(text: str) -> int | float | None:
    """Read a text that is a plain number: no leading zeros, whole numbers of at most 15 digits.

    Longer whole numbers are identifiers, which must not merge; decimals of any length are numbers.
    """
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    if len(text.lstrip("-")) > _MOST_DIGITS and text.lstrip("-").isdigit():
        return None
    number = _canonical_number(float(text))
    return number if isinstance(number, (int, float)) else None


def typed_texts(texts: Sequence[str | None]) -> list[Value]:
    """Give texts of a file their type: numbers if every one is a plain number, else verbatim."""
    numbers = [None if text is None else plain_number(text) for text in texts]
    if all(number is not None or text is None for number, text in zip(numbers, texts, strict=True)):
        return list(numbers)
    return list(texts)


def spelling(name: str) -> str:
    r"""Return a name without what spellings differ in alone: case, blanks and encoding.

    One character may be encoded in several ways, and some are not seen, as a byte order mark.
    """
    if not name.isascii():
        seen = (each for each in name if unicodedata.category(each) != "Cf")
        name = unicodedata.normalize("NFKC", "".join(seen))
    return " ".join(name.split()).casefold()


def reading(name: str) -> Value:
    """Return what the spellings of one value share: its number, as of true, or its `spelling`."""
    return meaning(spelling(name))


def fold_accents(text: str) -> str:
    r"""Return a text without case and accents.

    >>> fold_accents("D\xc9SIST\xc9"), fold_accents("Wei\xdf")
    ('desiste', 'weiss')
    """
    if text.isascii():
        return text.lower()
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in letters if not unicodedata.combining(each))


_BLANKS = r"(?<!\d)\s|\s(?!\d)"
_DASHES = r"[\u2010-\u2015\u2212]|(?<=\w)_(?=\w)"
_HYPHENS = r"(?<=[^\W\d_]{2})(-| - )(?=[^\W\d_]{2})|(?<=[^\W\d_])(-| - )(?=\d)"
_FORMS_OF_NUMBERS = r"^0+(?=[1-9]\d*$)|(?<=\d),(?=\d{3}(?!\d))"


def compact_reading(name: str) -> Value:
    r"""Return what the spellings of one value share: no case, accents and blanks but in numbers.

    >>> [compact_reading(name) for name in ("26 \u2013 40", "Zone 1", "< 40", "1 2", "Caf\xe9.")]
    ['26-40', 'zone1', '<40', '1 2', 'cafe']
    >>> compact_reading("African-American"), compact_reading("A-B"), compact_reading("grade A-")
    ('africanamerican', 'a-b', 'gradea-')
    """
    text = fold_accents(spelling(name))
    dashed = re.sub(_DASHES, "-", text.rstrip(".") or text)
    return meaning(re.sub(_BLANKS, "", re.sub(_HYPHENS, "", re.sub(_FORMS_OF_NUMBERS, "", dashed))))


# a whole number, which may have zeros before it, marks around it, or decimals that are 0
_CODE = re.compile(r"[^\w-]*0*(\d+)([.,]0{1,2})?\W*")


def name_of(value: Value) -> str:
    """Return the name of a value as people see it."""
    if isinstance(value, str):
        return value
    if value is None:
        return MISSING_NAME
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(_canonical_number(value)) if isinstance(value, float) else str(value)


def sort_key(value: Value) -> tuple[int, float, str]:
    """Order values the same way whatever the order of rows: numbers, texts, then missing."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (0, float(value), name_of(value))
    return (1, 0.0, value)


def matches(asked: Value, level: Value) -> bool:
    """Return whether an asked value means a level of a column.

    1 matches 1, 1.0, "1", true and the texts "true" and "True", as files write it.
    """
    return is_one_of(level, (asked,))


def is_one_of(value: Value, asked: Iterable[Value]) -> bool:
    """Return whether a value is meant by one of those asked."""
    meant = meaning(value)
    return meant is not None and meant in [meaning(each) for each in asked]


@lru_cache(maxsize=1_024, typed=True)
def meaning(asked: Value) -> Value:
    """Return the number that an asked value means, else the value.

    It matches the same levels: "1" is no other text that is the number 1.
    """
    if isinstance(asked, bool):
        return int(asked)
    if isinstance(asked, float):
        return _canonical_number(asked)
    if not isinstance(asked, str):
        return asked
    if asked.lower() in _TRUTHS:
        return _TRUTHS.index(asked.lower())
    number = plain_number(asked)
    return asked if number is None else number


def match(asked: Value, levels: Iterable[Value]) -> Value:
    """Find the level that an asked value means."""
    found = [level for level in levels if level is not None and matches(asked, level)]
    if len(found) > 1:
        kinds = {bool: "true/false", int: "number", float: "number"}
        both = " and ".join(
            f"the {kinds.get(type(level), 'text')} {quote(name_of(level))}" for level in found[:3]
        )
        raise LookupError(
            f"{quote(name_of(asked))} is ambiguous: the column holds {both}; write it alike in all "
            "rows, or recode one as the other (recode)"
        )
    if not found:
        raise LookupError
    return found[0]


class AmbiguousJsonError(ValueError):
    """JSON that programs read in different ways, or not at all."""


def read_json(text: str) -> Any:
    """Return the values of a JSON text.

    Raises AmbiguousJsonError (it has a key twice, or holds NaN or an infinity, which JSON does
    not have) or ValueError (it is no JSON, or is nested too deeply).
    """
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON, as the hook of the standard library for its pairs."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise AmbiguousJsonError(f"the key {quote(key)} is given twice")
        found[key] = value
    return found


def _refuse(name: str) -> NoReturn:
    raise AmbiguousJsonError(f"{name} is no number of JSON")
