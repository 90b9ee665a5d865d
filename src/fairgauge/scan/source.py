"""Source: data that can be counted, and what every engine must check while it counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fairgauge.errors import DataError, quote
from fairgauge.words import Role

if TYPE_CHECKING:
    from fairgauge.cube import Cube
    from fairgauge.plan import Plan


class Source(Protocol):
    """Data of one engine."""

    name: str
    columns: tuple[str, ...]

    def count(self, plan: Plan, limit: int) -> Cube:
        """Count the rows once; at most ``limit`` values on an axis."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an engine saw of a numeric column: its range, and a value that is not a number."""

    column: str
    low: float | None
    high: float | None
    unreadable: object = None


LEAST_LOG = 2.0**-52
"""Probabilities are kept this far from 0 in logarithms, as scikit-learn's log loss does."""


def check_numbers(plan: Plan, seen: list[Seen]) -> None:
    """Hold what was seen against what the plan allows.

    Raises
    ------
    DataError
        Text where numbers are needed, a score outside its range, a negative weight or count.
    """
    for each in seen:
        if each.unreadable is not None:
            raise DataError(
                f"column {quote(each.column)} must hold numbers, but has {quote(each.unreadable)}"
            )
        if each.low is None or each.high is None:
            continue
        if each.column in (plan.count, plan.weight) and each.low < 0:
            what = "count" if each.column == plan.count else "weight"
            raise DataError(
                f"column {quote(each.column)} is the {what}, but has the negative value {each.low:g}"
            )
        for axis in plan.axes:
            if axis.column == each.column and axis.bounds:
                _check_bounds(each, axis.bounds, axis.role)


def _check_bounds(seen: Seen, bounds: tuple[float, float], role: Role) -> None:
    low, high = bounds
    for value in (seen.low, seen.high):
        assert value is not None
        if math.isinf(value) or not low <= value <= high:
            what = "score" if role in (Role.PREDICTION, Role.SCORE) else str(role)
            raise DataError(
                f"column {quote(seen.column)} is the {what} and must lie in [{low:g}, {high:g}], "
                f"but has {value:g}; say score_range=(low, high) if that is its scale"
            )


def check_counts(plan: Plan, fractional: object, cases: float, weight: float, rows: int) -> None:
    """Check the column sums: whole counts, and something to count.

    Raises
    ------
    DataError
        No rows, a fractional count, counts or weights that sum to zero.
    """
    if rows == 0:
        raise DataError("the data have no rows")
    if fractional is not None:
        raise DataError(
            f"column {quote(plan.count)} is the count and must hold whole numbers, "
            f"but has {quote(fractional)}; sampling weights go to weight"
        )
    if plan.count and cases == 0:
        raise DataError(f"column {quote(plan.count)} is the count, and every count is 0 or missing")
    if plan.weight and weight == 0:
        raise DataError(f"column {quote(plan.weight)} is the weight, and the weights sum to 0")
