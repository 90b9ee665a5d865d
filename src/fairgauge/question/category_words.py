"""The words of categories that are no groups: totals, and people of unknown category."""

from __future__ import annotations

import re

_TOTAL = re.compile(
    r"^((grand |sub-?)?(totals?|overall|sum)\b"
    r"|all($| (applicants|candidates|people|persons|groups|categories|races?|sexes|genders"
    r"|ethnicities|employees|individuals|participants)\b))",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(unknown|unspecified|undisclosed|undeclared|undetermined|missing|declined?|not (stated"
    r"|specified|known|disclosed|provided|reported|recorded|answered|available|identified"
    r"|determined)|prefer(red|s)? not|do(es)?( not|n['\u2019]?t) (wish|want)|cho(o?se|oses) not"
    r"|no (answer|response)|did not)\b|^(n/?a)$",
    re.IGNORECASE,
)

_MISSING_MARKERS = {
    *("na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "nat", "missing"),
    *("unknown", "not stated", "not available", "?", "-", "--", ".", ""),
}


def is_total(category: str) -> bool:
    """Return whether a category is that of all rows."""
    return bool(_TOTAL.match(category))


def is_unknown(category: str) -> bool:
    """Return whether a category is that of people whose category is not known."""
    return bool(_UNKNOWN.search(category))


def means_missing(value: object) -> bool:
    """Return whether a value of the data is a text that usually means that it is missing.

    >>> means_missing(" "), means_missing("Decline to answer"), means_missing("Female")
    (True, True, False)
    """
    if not isinstance(value, str):
        return False
    return value.strip().casefold() in _MISSING_MARKERS or is_unknown(value)
