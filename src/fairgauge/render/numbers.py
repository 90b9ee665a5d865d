"""Numbers as people read them."""

from __future__ import annotations

import math

NO_BREAK = "\N{NO-BREAK SPACE}"

_FEW_DIGITS = 0.0005
_MANY = 1000


def number(value: float | None, *, signed: bool = False) -> str:
    """Show a number with three decimals; more where one without a sign would else read as zero.

    >>> number(0.22844, signed=True), number(0.00012), number(-1e-9, signed=True), number(math.inf)
    ('+0.228', '0.00012', '-0.000', '∞')
    """
    if value is None or math.isnan(value):
        return "-"
    plus = "+" if signed and value > 0 else ""
    if math.isinf(value):
        return f"{plus or ('-' if value < 0 else '')}∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size < _FEW_DIGITS and not signed:
        return f"{value:.2g}"
    return f"{plus}{value:,.1f}" if size >= _MANY else f"{plus}{value:.3f}"


def percent(value: float | None) -> str:
    """Show a share in per cent."""
    return "-" if value is None or math.isnan(value) else f"{value:.1%}"


def count(value: float | None) -> str:
    """Show a count with thousands separators; sums of weights keep one decimal."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Show an interval in brackets; nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"[{number(low, signed=signed)}, {number(high, signed=signed)}]"


def percents(low: float | None, high: float | None) -> str:
    """Show an interval of a share; nothing where there is none."""
    return "" if low is None or high is None else f"[{percent(low)}, {percent(high)}]"


def points(value: float) -> str:
    """Show a difference of shares in percentage points, with its sign.

    >>> points(-0.2424), points(0.0312), points(0.0)
    ('−24.2', '+3.1', '0')
    """
    return minus(f"{100 * value:+.1f}") if value else "0"


def amount(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Show a number with a few digits, or as a whole number where it has more before the point.

    >>> amount(0.12345), amount(12610.4), amount(262.0, 2), amount(1234.5, signed=True)
    ('0.123', '12,610', '262', '+1,234')
    >>> amount(-math.inf), amount(-0.5)
    ('−infinity', '−0.5')
    """
    plus = "+" if signed else ""
    if math.isinf(value):
        return f"{'−' if value < 0 else plus}infinity"
    large = abs(value) >= 10**digits
    return minus(f"{value:{plus},.0f}" if large else f"{value:{plus}.{digits}g}")


def minus(text: str) -> str:
    """Write a leading hyphen as a minus sign."""
    return f"−{text[1:]}" if text.startswith("-") else text


def plural(count: float, one: str, many: str) -> str:
    """Return the word for a count: singular for exactly one."""
    return one if count == 1 else many


def probability(value: float | None, called: str = "p") -> str:
    """Show a p-value, on one line; nothing where there is none.

    >>> probability(0.0312).split(), probability(0.00001, "adj. p").split(), probability(None)
    (['p', '0.031'], ['adj.', 'p', '<', '0.001'], '')
    """
    if value is None:
        return ""
    shown = "< 0.001" if value < 0.001 else f"{value:.3f}"
    return f"{called} {shown}".strip().replace(" ", NO_BREAK)
