"""Whether a report prints the same digits with the numbers that were computed again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fairgauge.render.formats import render
from fairgauge.results.report import Report
from fairgauge.results.verification import DifferentNumber

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.codec import Plain

FORMATS = ("text", "markdown", "html")
"""The formats whose every line is compared."""


def printed_differences(sealed: Plain, again: Plain, near: float) -> Iterator[DifferentNumber]:
    """Yield the lines that a report prints otherwise with numbers computed again.

    Numbers that hardly differ may still be rounded to different digits. The report is rendered
    twice, with its own numbers and with those computed again in their places.

    Parameters
    ----------
    sealed, again : the report, and the same computed again, as plain values.
    near : the largest relative difference of numbers that count as the same.
    """
    reports = [Report.from_dict(each) for each in (sealed, with_numbers(sealed, again, near))]
    for name in FORMATS:
        options = {} if name == "html" else {"full": True}
        one, other = (render(each, name, **options).splitlines() for each in reports)
        for i, (line, line_again) in enumerate(zip(one, other, strict=True), 1):
            if line != line_again:
                where = f"line {i} of the report as {name}"
                yield DifferentNumber(where, where, line.strip(), line_again.strip())


def with_numbers(sealed: Any, again: Any, near: float) -> Any:
    """Return a tree of plain values with the numbers of another that hardly differ.

    >>> with_numbers({"a": [1.0, "x"], "b": 2.0}, {"a": [1.01, "y"], "b": 3.0}, near=0.1)
    {'a': [1.01, 'x'], 'b': 2.0}
    """
    if isinstance(sealed, dict) and isinstance(again, dict):
        return {key: with_numbers(value, again.get(key), near) for key, value in sealed.items()}
    if isinstance(sealed, list) and isinstance(again, list) and len(sealed) == len(again):
        return [with_numbers(*pair, near) for pair in zip(sealed, again, strict=True)]
    numbers = isinstance(sealed, float) and isinstance(again, float)
    return again if numbers and math.isclose(sealed, again, rel_tol=near, abs_tol=near) else sealed
