"""Numbers as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

NO_BREAK = "\N{NO-BREAK SPACE}"

_SMALLEST_RATIO = _RARE = 0.001
_ROUNDING = 1e-15
_MOST_DECIMALS = 9


def percent(value: float | None) -> str:
    """Show a share in per cent, with one decimal; a rare one with two digits.

    >>> percent(0.1234), percent(0.00042), percent(3e-9), percent(1e-17)
    ('12.3%', '0.042%', '<0.0001%', '0.0%')
    """
    if value is None or math.isnan(value):
        return "-"
    if _ROUNDING < abs(value) < _RARE:
        return f"{100 * value:.2g}%" if abs(value) >= 1e-6 else "<0.0001%"
    return re.sub(r"^-(?=0\.0%$)", "", f"{value:.1%}")


def count(value: float | None) -> str:
    """Show a count with thousands separators; sums of weights keep one decimal."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def points(value: float) -> str:
    """Show a difference of shares in percentage points, with its sign.

    >>> points(-0.2424), points(0.0312), points(0.0)
    ('−24.2', '+3.1', '0.0')
    """
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else minus(text)


def amount(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Show a number with a few digits, or as a whole number where it has more before the point.

    >>> amount(0.12345), amount(12610.4), amount(262.0, 2), amount(1234.5, signed=True)
    ('0.123', '12,610', '262', '+1,234')
    >>> amount(-math.inf), amount(-0.5), amount(999.7), amount(1.12e-18)
    ('−infinity', '−0.5', '1,000', '0')
    """
    plus = "+" if signed else ""
    if math.isinf(value):
        return f"{'−' if value < 0 else plus}infinity"
    if abs(value) < _ROUNDING:
        return "0"
    large = round(abs(value)) >= 10**digits  # 999.7 would be 1e+03
    return minus(f"{value:{plus},.0f}" if large else f"{value:{plus}.{digits}g}")


def small_ratio(value: float) -> str:
    """Show a ratio with two digits; one that is next to nothing as below the smallest shown.

    >>> small_ratio(0.0848), small_ratio(1.3e-18)
    ('0.085', '<0.001')
    """
    return f"<{_SMALLEST_RATIO:g}" if 0 < value < _SMALLEST_RATIO else amount(value, 2)


def decimals_beside(value: float, limits: Collection[float], decimals: int) -> int:
    """Return how many decimals show a number on its own side of every limit.

    These are ``decimals`` unless rounding would put the number on a limit or beyond it; also where
    no number of them does, because it is the limit but for an error of computation.

    >>> decimals_beside(0.799, [0.8], 2), decimals_beside(0.793, [0.8], 2)
    (3, 2)
    >>> decimals_beside(0.8, [0.8], 2), decimals_beside(0.8 - 1e-15, [0.8], 2)
    (2, 2)
    """
    sides = [(value > limit, value < limit) for limit in limits]
    for digits in range(decimals, _MOST_DECIMALS + 1):
        rounded = round(value, digits)
        if sides == [(rounded > limit, rounded < limit) for limit in limits]:
            return digits
    return decimals


def minus(text: str) -> str:
    """Write a leading hyphen as a minus sign."""
    return f"−{text[1:]}" if text.startswith("-") else text


def probability(value: float | None, called: str = "p") -> str:
    """Show a p-value, on one line; nothing where there is none.

    >>> probability(0.0312).split(), probability(0.00001, "adj. p").split(), probability(None)
    (['p', '=', '0.031'], ['adj.', 'p', '<', '0.001'], '')
    """
    if value is None:
        return ""
    shown = "< 0.001" if value < 0.001 else f"= {value:.3f}" if called else f"{value:.3f}"
    return f"{called} {shown}".strip().replace(" ", NO_BREAK)


def numbered(number: float, unit: str = "rows") -> str:
    """Return a number of rows, or of people.

    >>> numbered(1), numbered(2000), numbered(1, "people")
    ('1 row', '2,000 rows', '1 person')
    """
    one = "person" if unit == "people" else re.sub("ies$", "y", unit).removesuffix("s")
    return f"{count(number)} {one if number == 1 else unit}"


def listing(words: Sequence[str], last: str = "and", most: int = 8) -> str:
    """Join words as a sentence does, and count those that are too many to name.

    >>> listing(["recall"]), listing(["recall", "accuracy"], "or"), listing(["a", "b", "c"], most=2)
    ('recall', 'recall or accuracy', 'a, b and 1 more')
    """
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most:,} more"
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
